/*
 * Energy as a table: see energy.h. Parts stand in falling order of their energy; shares add up to
 * 100 %.
 */
#include "cli/energy.h"

#include "cli/breakdown.h"
#include <math.h>
#include <string.h>

enum {
    MAX_PARTS = 64
};

struct part {
    char name[64];
    f64 dynamic, leaked; /* pJ */
};

const char *energy_text(f64 pj, char *text, size_t size)
{
    static const char *const units[] = {"pJ", "nJ", "uJ", "mJ", "J"};
    u32 unit = 0;
    if (pj <= 0) {
        snprintf(text, size, "-");
        return text;
    }
    while (unit + 1 < ARRAY_LEN(units) && pj >= 999.5) {
        pj /= 1000;
        unit++;
    }
    int digits = pj < 9.995 ? 2 : pj < 99.95 ? 1 : 0;
    snprintf(text, size, "%.*f %s", digits, pj, units[unit]);
    return text;
}

static f64 number(const json_t *totals, const char *key)
{
    return json_number_value(json_object_get(totals, key));
}

/* "energy.parts.registers.dynamic_pj" -> "registers"; false: it is no such name. */
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

/* Those that took any, in falling order. */
static u32 find_parts(const json_t *totals, struct part *parts)
{
    const char *key;
    json_t *value;
    u32 count = 0;
    json_object_foreach((json_t *)totals, key, value)
    {
        char other[192];
        struct part part;
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
    struct part parts[MAX_PARTS];
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
    fprintf(to, "%.3g W in %s: dynamic %.3g W, static %.3g W; %s a thread instruction\n",
            number(totals, "energy.total_w"),
            time_text(number(totals, "timing.picoseconds") * 1e-12, time, sizeof time),
            number(totals, "energy.dynamic_w"), number(totals, "energy.static_w"),
            energy_text(number(totals, "energy.pj_per_thread_instruction"), each, sizeof each));
}
