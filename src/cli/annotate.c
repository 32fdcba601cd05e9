/*
 * Annotated code: see annotate.h.
 *
 * A line's share is its part of all issue slots used or lost at instructions of the function, so
 * the shares of a function add up to 100 %. Lines are in program order.
 */
#include "cli/annotate.h"

#include "base/demangle.h"
#include "base/quantity.h"
#include "base/text.h"
#include "cli/energy.h"
#include "report/source.h"
#include <stdlib.h>

enum {
    BAR = 10,    /* characters of a full bar */
    GAP = 4,     /* largest run of empty lines that is printed between others */
    REASONS = 16 /* maximum of stall kinds */
};

/* Counts of a line or an instruction. */
struct annotation {
    u64 issued, threads, lost;
    u64 ace; /* bit cycles of needed values in vector registers */
    f64 pj;
    struct {
        const char *name;
        u64 slots;
    } stalls[REASONS];
    u32 reasons;
};

static u64 count_of(const json_t *json, const char *key)
{
    const json_t *value = json_object_get(json, key);
    return json_is_integer(value) ? (u64)json_integer_value(value) : 0;
}

static void add_stall(struct annotation *row, const char *name, u64 slots)
{
    u32 at = 0;
    while (at < row->reasons && strcmp(row->stalls[at].name, name) != 0)
        at++;
    if (at == REASONS)
        return;
    if (at == row->reasons) {
        row->stalls[at].name = name;
        row->reasons++;
    }
    row->stalls[at].slots += slots;
    row->lost += slots;
}

static void add(struct annotation *row, const json_t *inst)
{
    const char *reason;
    json_t *slots;
    row->issued += count_of(inst, "issued");
    row->threads += count_of(inst, "threads");
    row->ace += count_of(inst, "ace_bit_cycles");
    row->pj += json_number_value(json_object_get(inst, "energy_pj"));
    json_object_foreach(json_object_get(inst, "stalls"), reason, slots)
        add_stall(row, reason, (u64)json_integer_value(slots));
}

/* ---- printing ---- */

struct printer {
    FILE *to;
    bool energy;
    u64 ace; /* of the function; 0: not analysed */
};

/* Prints the columns of energy and vulnerability, if requested. */
static void print_columns(const struct printer *p, const char *energy, const char *ace)
{
    if (p->energy)
        fprintf(p->to, "%9s ", energy);
    if (p->ace)
        fprintf(p->to, "%8s ", ace);
}

static const char *ace_text(const struct printer *p, u64 ace, char *text, size_t size)
{
    snprintf(text, size, "%.1f %%", p->ace ? 100 * (f64)ace / (f64)p->ace : 0);
    return text;
}

/* "memory 120, raw 4": the two most expensive stall reasons. */
static const char *reasons_text(struct annotation *row, char *text, size_t size)
{
    text[0] = 0;
    for (u32 i = 0; i < MIN(row->reasons, 2); i++) {
        for (u32 k = i + 1; k < row->reasons; k++)
            if (row->stalls[k].slots > row->stalls[i].slots) {
                __typeof__(row->stalls[0]) other = row->stalls[i];
                row->stalls[i] = row->stalls[k];
                row->stalls[k] = other;
            }
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s %llu", i ? ", " : "", row->stalls[i].name,
                 (unsigned long long)row->stalls[i].slots);
    }
    return text;
}

static void print_headings(const struct printer *p, const char *where, const char *what)
{
    fprintf(p->to, "%*s ", BAR, "");
    print_columns(p, "energy", "ACE regs");
    fprintf(p->to, "%7s %10s %6s %10s  %-30s %10s  %s\n", "share", "issued", "lanes", "lost slots",
            "lost to", where, what);
}

static void print_row(const struct printer *p, struct annotation *row, u64 total, const char *where,
                      const char *what)
{
    char bar[BAR + 1] = "", reasons[128], energy[32] = "", ace[16];
    FILE *to = p->to;
    u64 slots = row->issued + row->lost;
    if (!slots) {
        fprintf(to, "%*s ", BAR, "");
        print_columns(p, "", "");
        fprintf(to, "%7s %10s %6s %10s  %-30s %10s  %s\n", "", "", "", "", "", where, what);
        return;
    }
    f64 share = (f64)slots / (f64)total;
    memset(bar, '#', (size_t)(share * BAR + 0.5));
    fprintf(to, "%-*s ", BAR, bar);
    print_columns(p, energy_text(row->pj, energy, sizeof energy),
                  ace_text(p, row->ace, ace, sizeof ace));
    fprintf(to, "%5.1f %% %10llu ", 100 * share, (unsigned long long)row->issued);
    if (row->issued)
        fprintf(to, "%6.1f", (f64)row->threads / (f64)row->issued);
    else
        fprintf(to, "%6s", "");
    fprintf(to, " %10llu  %-30s %10s  %s\n", (unsigned long long)row->lost,
            reasons_text(row, reasons, sizeof reasons), where, what);
}

/* ---- functions ---- */

static struct annotation total_of(const json_t *insts)
{
    struct annotation all = {0};
    size_t i;
    json_t *inst;
    json_array_foreach(insts, i, inst) add(&all, inst);
    return all;
}

static void print_code(const struct printer *p, const json_t *insts, u64 total)
{
    size_t i;
    json_t *inst;
    print_headings(p, "address", "code");
    json_array_foreach(insts, i, inst)
    {
        struct annotation row = {0};
        char address[24];
        snprintf(address, sizeof address, "0x%llx", (unsigned long long)count_of(inst, "pc"));
        add(&row, inst);
        print_row(p, &row, total, address, json_string_value(json_object_get(inst, "text")));
    }
}

static void print_lines(const struct printer *p, const struct source *source,
                        struct annotation *rows, u32 first, u32 last, u64 total)
{
    u32 empty = 0;
    for (u32 line = first; line <= last; line++) {
        char number[16];
        struct annotation *row = &rows[line - first];
        bool used = row->issued + row->lost;
        snprintf(number, sizeof number, "%u", line);
        if (used && empty > GAP)
            fprintf(p->to, "%*s ...\n", BAR, "");
        for (u32 k = line - empty; used && empty <= GAP && k < line; k++) {
            snprintf(number, sizeof number, "%u", k);
            print_row(p, &rows[k - first], total, number, source->lines[k - 1]);
        }
        empty = used ? 0 : empty + 1;
        snprintf(number, sizeof number, "%u", line);
        if (used)
            print_row(p, row, total, number, line <= source->count ? source->lines[line - 1] : "");
    }
}

/* Prints the lines of one file; code inlined from other files has one line. */
static void print_source(const struct printer *p, const json_t *insts, const char *file,
                         const struct source *source, u64 total)
{
    u32 first = UINT32_MAX, last = 0, line;
    struct annotation others = {0};
    size_t i;
    json_t *inst;
    json_array_foreach(insts, i, inst) if (place_in(inst, file, &line) && line <= source->count)
    {
        first = MIN(first, line);
        last = MAX(last, line);
    }
    print_headings(p, "line", file);
    struct annotation *rows = checked(calloc(last >= first ? last - first + 1u : 1u, sizeof *rows));
    json_array_foreach(insts, i, inst) add(
        place_in(inst, file, &line) && line <= source->count ? &rows[line - first] : &others, inst);
    if (last)
        print_lines(p, source, rows, first, last, total);
    if (others.issued + others.lost)
        print_row(p, &others, total, "", "(elsewhere)");
    free(rows);
}

static void print_function(struct printer *p, const json_t *function, const char *folder)
{
    const json_t *insts = json_object_get(function, "instructions");
    const char *module = json_string_value(json_object_get(function, "module"));
    char *file = place_main_file(insts);
    struct source source;
    const struct annotation all = total_of(insts);
    const u64 total = all.issued + all.lost;
    p->ace = all.ace;
    struct arena *arena = arena_create();
    fprintf(p->to, "\n%s of %s: %llu issue slots\n",
            demangle(arena, json_string_value(json_object_get(function, "function"))), module,
            (unsigned long long)total);
    arena_destroy(arena);
    if (file && source_read(&source, file, module, folder)) {
        print_source(p, insts, file, &source, total);
        source_free(&source);
    } else
        print_code(p, insts, total);
    free(file);
}

void print_annotated(FILE *to, const json_t *stats, const char *folder, bool energy)
{
    struct printer printer = {to, energy, 0};
    const json_t *rest =
        json_object_get(json_object_get(stats, "totals"), "energy.unattributed_pj");
    char text[32];
    size_t i;
    json_t *function;
    json_array_foreach(json_object_get(stats, "profile"), i, function)
        print_function(&printer, function, folder);
    if (energy && rest)
        fprintf(to,
                "\n"
                "%*s %9s (not attributed: leakage, and events that belong to no "
                "instruction)\n",
                BAR, "", energy_text(json_number_value(rest), text, sizeof text));
}
