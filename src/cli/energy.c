/*
 * Energy as a table: see energy.h. Parts are in decreasing order of energy; shares add up to 100 %.
 */
#include "cli/energy.h"

#include "base/quantity.h"
#include "cli/breakdown.h"
#include <heddle/heddle.h>
#include <math.h>
#include <string.h>

enum {
    MAX_PARTS = 64
};

struct part_energy {
    char name[64];
    f64 dynamic, leaked; /* pJ */
};

static f64 number(const json_t *totals, const char *key)
{
    return json_number_value(json_object_get(totals, key));
}

/* "energy.parts.registers.dynamic_pj" -> "registers"; false: another kind of key. */
static bool part_name(const char *key, char name[64])
{
    static const char prefix[] = "energy.parts.", suffix[] = ".dynamic_pj";
    size_t length = strlen(key), before = sizeof prefix - 1, after = sizeof suffix - 1;
    if (strncmp(key, prefix, before) != 0 || length <= before + after ||
        strcmp(key + length - after, suffix) != 0)
        return false;
    snprintf(name, 64, "%.*s", (int)(length - before - after), key + before);
    return true;
}

/* Finds the parts with energy, in decreasing order. */
static u32 find_parts(const json_t *totals, struct part_energy *parts)
{
    const char *key;
    json_t *value;
    u32 count = 0;
    json_object_foreach((json_t *)totals, key, value)
    {
        char other[192];
        struct part_energy part;
        if (!part_name(key, part.name) || count == MAX_PARTS)
            continue;
        snprintf(other, sizeof other, "energy.parts.%s.static_pj", part.name);
        part.dynamic = json_number_value(value);
        part.leaked = number(totals, other);
        u32 at = count;
        if (part.dynamic + part.leaked <= 0)
            continue;
        for (; at && parts[at - 1].dynamic + parts[at - 1].leaked < part.dynamic + part.leaked;
             at--)
            parts[at] = parts[at - 1];
        parts[at] = part;
        count++;
    }
    return count;
}

static void print_row(FILE *to, const char *name, f64 dynamic, f64 leaked, u32 tenths)
{
    char a[32], b[32], c[32];
    fprintf(to, "%-22s %10s %10s %10s %5u.%u %%\n", name, energy_text(dynamic, a, sizeof a),
            energy_text(leaked, b, sizeof b), energy_text(dynamic + leaked, c, sizeof c),
            tenths / 10, tenths % 10);
}

void print_energy(FILE *to, const json_t *stats)
{
    const json_t *totals = json_object_get(stats, "totals");
    struct part_energy parts[MAX_PARTS];
    u64 sums[MAX_PARTS];
    u32 tenths[MAX_PARTS];
    if (!json_object_get(totals, "energy.total_pj"))
        return;
    u32 count = find_parts(totals, parts);
    for (u32 i = 0; i < count; i++)
        sums[i] = (u64)llround((parts[i].dynamic + parts[i].leaked) * 1000);
    shares(sums, count, tenths);
    fprintf(to, "\n%-22s %10s %10s %10s %7s\n", "energy", "dynamic", "static", "total", "share");
    for (u32 i = 0; i < count; i++)
        print_row(to, parts[i].name, parts[i].dynamic, parts[i].leaked, tenths[i]);
    print_row(to, "all", number(totals, "energy.dynamic_pj"), number(totals, "energy.static_pj"),
              1000);
    char time[32], each[32];
    fprintf(to, "%.3g W over %s: dynamic %.3g W, static %.3g W; %s per thread instruction\n",
            number(totals, "energy.total_w"),
            time_text(number(totals, "timing.picoseconds") * 1e-12, time, sizeof time),
            number(totals, "energy.dynamic_w"), number(totals, "energy.static_w"),
            energy_text(number(totals, "energy.pj_per_thread_instruction"), each, sizeof each));
}

/* ---- comparison with published values ---- */

static f64 part_pj(const json_t *totals, const char *name)
{
    f64 sum = 0;
    static const char *const kinds[] = {"dynamic", "static"};
    for (u32 i = 0; i < ARRAY_LEN(kinds); i++) {
        char key[192];
        snprintf(key, sizeof key, "energy.parts.%.64s.%s_pj", name, kinds[i]);
        sum += number(totals, key);
    }
    return sum;
}

static f64 cores_of(const json_t *area)
{
    const json_t *owner;
    size_t i;
    json_array_foreach(json_object_get(area, "owners"), i, owner)
    {
        const char *name = json_string_value(json_object_get(owner, "owner"));
        if (name && !strcmp(name, "core"))
            return number(owner, "copies");
    }
    return 1;
}

static void print_published_power(FILE *to, const json_t *stats, const json_t *area)
{
    const json_t *totals = json_object_get(stats, "totals"), *module, *part;
    const json_t *published = json_object_get(area, "published");
    f64 picoseconds = number(totals, "timing.picoseconds"), cores = cores_of(area);
    bool first = true;
    size_t i, p;
    if (!json_object_get(totals, "energy.total_pj") || picoseconds <= 0)
        return;
    json_array_foreach(json_object_get(published, "modules"), i, module)
    {
        f64 pj = 0;
        const json_t *parts = json_object_get(module, "parts");
        if (!json_is_array(parts) || !json_is_number(json_object_get(module, "mw")))
            continue;
        if (first)
            fprintf(to, "\n%-22s %10s %10s\n", "one core", "Heddle mW", "published");
        first = false;
        json_array_foreach(parts, p, part) pj += part_pj(totals, json_string_value(part));
        fprintf(to, "%-22s %10.1f %10.1f  %s\n", json_string_value(json_object_get(module, "name")),
                1000 * pj / picoseconds / cores, number(module, "mw"),
                json_string_value(json_object_get(module, "note")));
    }
}

/* ---- what mechanisms change ---- */

const char *change_text(struct arena *arena, const json_t *row)
{
    const json_t *replaced = json_object_get(row, "replaced_by");
    const json_t *powered = json_object_get(row, "powered_by");
    const char *text = "";
    if (replaced)
        return arena_printf(arena, "replaced by %s", json_string_value(replaced));
    if (json_object_get(row, "volts"))
        text = arena_printf(arena, "at %.3g V", number(row, "volts"));
    if (number(row, "rate") > 0 && number(row, "rate") != 1)
        text = arena_printf(arena, "%s, clock x %.4g", text, number(row, "rate"));
    if (powered)
        text = arena_printf(arena, "%s%sleaks by %s", text, text[0] ? ", " : "",
                            json_string_value(powered));
    if (number(row, "off") > 0)
        text = arena_printf(arena, "%s, %.3g %% without power", text, 100 * number(row, "off"));
    return text;
}

/* The elements whose costs mechanisms change. */
static void print_changes(FILE *to, const json_t *stats, const struct hd_config *config)
{
    char *text = hd_energy_json(config, NULL);
    json_t *costs = text ? json_loads(text, 0, NULL) : NULL, *row;
    struct arena *arena = arena_create();
    size_t i;
    if (json_object_get(json_object_get(stats, "totals"), "energy.total_pj"))
        json_array_foreach(json_object_get(costs, "leakage"), i, row)
        {
            const char *change = change_text(arena, row);
            if (change[0])
                fprintf(to, "%-22s %s\n", json_string_value(json_object_get(row, "what")), change);
        }
    arena_destroy(arena);
    json_decref(costs);
    hd_free(text);
}

void print_run_energy(FILE *to, const json_t *stats, const struct hd_config *config)
{
    print_energy(to, stats);
    print_changes(to, stats, config);
    char *text = hd_area_json(config);
    json_t *area = json_loads(text, 0, NULL);
    hd_free(text);
    print_published_power(to, stats, area);
    json_decref(area);
}
