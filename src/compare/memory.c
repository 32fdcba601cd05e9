/* The memory system, energy, and all other statistics. */
#include "compare/runs.h"

#include "base/quantity.h"

/* Whether `key` ends with `suffix`; the length of what is before it. */
static bool ends_with(const char *key, const char *suffix, size_t *before)
{
    const size_t length = strlen(key), after = strlen(suffix);
    *before = length - after;
    return length > after && !strcmp(key + length - after, suffix);
}

/* Visits the statistics of all runs, each name once. */
static void each_statistic(struct run_comparison *c, struct compare_section *section,
                           void (*visit)(struct run_comparison *c, struct compare_section *section,
                                         const char *key))
{
    for (u32 r = 0; r < c->count; r++) {
        const char *key;
        json_t *value;
        json_object_foreach(c->runs[r]->totals, key, value)
        {
            bool seen = false;
            for (u32 k = 0; k < r; k++)
                seen |= json_object_get(c->runs[k]->totals, key) != NULL;
            if (!seen)
                visit(c, section, key);
        }
    }
}

/* ---- memory ---- */

/* A share, its whole beside it. */
static void share_row(struct run_comparison *c, struct compare_section *section, const char *name,
                      const char *part, const char *whole)
{
    struct compare_row *row = section_row(c, section, name, QUANTITY_SHARE);
    for (u32 r = 0; r < c->count; r++) {
        f64 share;
        const json_t *totals = c->runs[r]->totals;
        if (!ratio_in(totals, part, whole, &share))
            continue;
        row_number(row, r, share);
        row->values[r].text =
            arena_printf(c->arena, "of %s", count_text(c->arena, (u64)number_in(totals, whole)));
    }
    row->weight = row_spread(c, row);
}

static void cache_row(struct run_comparison *c, struct compare_section *section, const char *key)
{
    size_t before;
    if (!ends_with(key, ".read_hits", &before))
        return;
    const char *cache = arena_strndup(c->arena, key, before);
    share_row(c, section, arena_printf(c->arena, "%s read hits", cache), key,
              arena_printf(c->arena, "%s.reads", cache));
}

/* Bytes that a counter stands for; `unit` is the parameter that says how many one is, or NULL. */
static void bytes_row(struct run_comparison *c, struct compare_section *section, const char *name,
                      const char *key, const char *unit)
{
    struct compare_row *row = section_row(c, section, name, QUANTITY_BYTES);
    for (u32 r = 0; r < c->count; r++) {
        const json_t *config = json_object_get(c->runs[r]->document, "config");
        f64 count, each = 1;
        if (number_of(json_object_get(c->runs[r]->totals, key), &count) &&
            (!unit || number_of(json_object_get(json_object_get(config, "network"), unit), &each)))
            row_number(row, r, count * each);
    }
    row->weight = row_relative(c, row);
}

void compare_memory(struct run_comparison *c)
{
    struct compare_section *section = section_add(c, "memory", "Memory", "");
    each_statistic(c, section, cache_row);
    bytes_row(c, section, "cores to L2, with headers", "network.request_flits", "flit_bytes");
    bytes_row(c, section, "L2 to cores, with headers", "network.reply_flits", "flit_bytes");
    bytes_row(c, section, "read from DRAM", "dram.read_bytes", NULL);
    bytes_row(c, section, "written to DRAM", "dram.write_bytes", NULL);
    share_row(c, section, "DRAM bus busy", "dram.bus_cycles", "dram.channel_cycles");
    struct compare_row *row =
        section_row(c, section, "latency of requests, cycles", QUANTITY_NUMBER);
    f64 latency;
    for (u32 r = 0; r < c->count; r++)
        if (ratio_in(c->runs[r]->totals, "lsu.latency_cycles", "lsu.replies", &latency))
            row_number(row, r, latency);
    row->weight = row_relative(c, row);
    section_sort(section, 0);
}

/* ---- energy ---- */

static void energy_row(struct run_comparison *c, struct compare_section *section, const char *name,
                       const char *first, const char *second)
{
    struct compare_row *row = section_row(c, section, name, QUANTITY_PJ);
    for (u32 r = 0; r < c->count; r++) {
        f64 pj, more = 0;
        if (!number_of(json_object_get(c->runs[r]->totals, first), &pj))
            continue;
        if (second)
            number_of(json_object_get(c->runs[r]->totals, second), &more);
        row_number(row, r, pj + more);
    }
    row->weight = row_spread(c, row);
}

static void part_row(struct run_comparison *c, struct compare_section *section, const char *key)
{
    static const char prefix[] = "energy.parts.";
    size_t before;
    if (strncmp(key, prefix, sizeof prefix - 1) != 0 || !ends_with(key, ".dynamic_pj", &before))
        return;
    const char *part = arena_strndup(c->arena, key, before);
    energy_row(c, section, part + sizeof prefix - 1, key,
               arena_printf(c->arena, "%s.static_pj", part));
}

static void kernel_energy_row(struct run_comparison *c, struct compare_section *section,
                              const char *name)
{
    struct compare_row *row = section_row(c, section, name, QUANTITY_PJ);
    for (u32 r = 0; r < c->count; r++) {
        const struct kernel_use *use = kernel_in(c->runs[r], name);
        if (use && use->timed)
            row_number(row, r, use->pj);
    }
    row->weight = row_spread(c, row);
}

void compare_energy(struct run_comparison *c)
{
    struct compare_section *section = section_add(c, "energy", "Energy of the whole machine", "");
    energy_row(c, section, "total", "energy.total_pj", NULL);
    energy_row(c, section, "dynamic", "energy.dynamic_pj", NULL);
    energy_row(c, section, "static", "energy.static_pj", NULL);
    section = section_add(c, "energy_parts", "Energy by part, dynamic and static", "part");
    section->stacked = true;
    each_statistic(c, section, part_row);
    section_sort(section, 0);
    section = section_add(c, "energy_kernels", "Energy by kernel", "kernel");
    each_kernel(c, section, kernel_energy_row);
    if (section->rows.count == 1) /* it is the total */
        section->rows.count = 0;
    section_sort(section, 0);
}

/* ---- statistics ---- */

static void statistic_row(struct run_comparison *c, struct compare_section *section,
                          const char *key)
{
    bool whole = true;
    size_t before;
    f64 number;
    for (u32 r = 0; r < c->count; r++) {
        const json_t *value = json_object_get(c->runs[r]->totals, key);
        whole &= !value || json_is_integer(value) || json_is_string(value);
    }
    struct compare_row *row = section_row(c, section, key,
                                          ends_with(key, "_pj", &before) ? QUANTITY_PJ
                                          : whole                        ? QUANTITY_COUNT
                                                                         : QUANTITY_NUMBER);
    for (u32 r = 0; r < c->count; r++)
        if (number_of(json_object_get(c->runs[r]->totals, key), &number))
            row_number(row, r, number);
    row->weight = row_relative(c, row);
    for (u32 r = 0; r < c->count; r++)
        if (!row->values[r].given)
            row->weight = -1; /* nothing to compare with: last */
}

void compare_statistics(struct run_comparison *c)
{
    struct compare_section *section =
        section_add(c, "statistics", "All statistics, by relative change", "statistic");
    each_statistic(c, section, statistic_row);
    section_sort(section, 0);
    if (c->options.kernel)
        section_note(c, section,
                     "counters and energies only: rates of selected kernels are not "
                     "in the files");
}
