/* Breakdown of issue slots: see breakdown.h. */
#include "cli/breakdown.h"

#include <math.h>
#include <string.h>

enum {
    MAX_PARTS = 64
};

static u64 count_of(const json_t *stats, const char *key)
{
    const json_t *value = json_object_get(stats, key);
    return json_is_integer(value) ? (u64)json_integer_value(value) : 0;
}

static f64 percent(u64 part, u64 whole)
{
    return whole ? 100 * (f64)part / (f64)whole : 0;
}

void shares(const u64 *parts, u32 count, u32 *tenths)
{
    u64 total = 0;
    u32 left = 1000;
    f64 rest[MAX_PARTS];
    assert(count <= MAX_PARTS);
    for (u32 i = 0; i < count; i++)
        total += parts[i];
    for (u32 i = 0; i < count; i++) {
        f64 exact = total ? 1000 * (f64)parts[i] / (f64)total : 0;
        tenths[i] = (u32)exact;
        rest[i] = exact - tenths[i];
        left -= tenths[i];
    }
    while (total && left) { /* to the parts that lost most by rounding down */
        u32 most = 0;
        for (u32 i = 1; i < count; i++)
            if (rest[i] > rest[most])
                most = i;
        tenths[most]++;
        rest[most] = -1;
        left--;
    }
}

/* ---- output lines ---- */

/* The issued slots and the idle_ counters, with names without "issue.idle_". */
static u32 slot_parts(const json_t *totals, const char **names, u64 *parts)
{
    static const char prefix[] = "issue.idle_";
    const char *key;
    json_t *value;
    u32 count = 1;
    names[0] = "issued";
    parts[0] = count_of(totals, "issue.issued");
    json_object_foreach((json_t *)totals, key,
                        value) if (!strncmp(key, prefix, sizeof prefix - 1) && count < MAX_PARTS)
    {
        names[count] = key + sizeof prefix - 1;
        parts[count++] = (u64)json_integer_value(value);
    }
    return count;
}

/* Prints the non-zero parts in decreasing order. */
static void print_slots(FILE *to, const json_t *totals)
{
    const char *names[MAX_PARTS];
    u64 parts[MAX_PARTS];
    u32 tenths[MAX_PARTS], count = slot_parts(totals, names, parts);
    const char *comma = "";
    shares(parts, count, tenths);
    fprintf(to, "issue slots  ");
    for (u32 done = 0; done < count; done++) {
        u32 best = count;
        for (u32 i = 0; i < count; i++)
            if (names[i] && (best == count || parts[i] > parts[best]))
                best = i;
        if (tenths[best])
            fprintf(to, "%s%s %u.%u %%", comma, names[best], tenths[best] / 10, tenths[best] % 10);
        comma = ", ";
        names[best] = NULL;
    }
    fputc('\n', to);
}

/* Prints the instruction and the stall reason that cost most slots. */
static void print_top_stall(FILE *to, const json_t *stats)
{
    const json_t *best = NULL;
    const char *best_reason = "";
    u64 most = 0, slots = count_of(json_object_get(stats, "totals"), "issue.slots");
    size_t f, i;
    json_t *function, *inst, *value;
    const char *reason;
    json_array_foreach(json_object_get(stats, "profile"), f, function)
        json_array_foreach(json_object_get(function, "instructions"), i, inst)
            json_object_foreach(json_object_get(inst, "stalls"), reason,
                                value) if ((u64)json_integer_value(value) > most)
    {
        most = (u64)json_integer_value(value);
        best_reason = reason;
        best = inst;
    }
    if (!best)
        return;
    const char *place = json_string_value(json_object_get(best, "place"));
    fprintf(to, "top stall    %s, %.1f %% of the slots, at %s%s%s\n", best_reason,
            percent(most, slots), place ? place : "", place ? ": " : "",
            json_string_value(json_object_get(best, "text")));
}

static void print_occupancy(FILE *to, const json_t *stats)
{
    const json_t *totals = json_object_get(stats, "totals");
    const json_t *launches = json_object_get(stats, "launches");
    const json_t *last = json_array_get(launches, json_array_size(launches) - 1);
    const json_t *occupancy = json_object_get(last, "occupancy");
    fprintf(to, "occupancy    %.1f %% of the warp slots",
            percent(count_of(totals, "timing.warp_cycles"), count_of(totals, "timing.warp_slots")));
    if (json_array_size(launches) == 1 && json_is_object(occupancy))
        fprintf(to, "; at most %llu blocks per core, limited by %s",
                (unsigned long long)count_of(occupancy, "blocks_per_core"),
                json_string_value(json_object_get(occupancy, "limit")));
    fputc('\n', to);
}

static u64 count_in(const json_t *totals, const char *cache, const char *what)
{
    char name[48];
    snprintf(name, sizeof name, "%s.%s", cache, what);
    return count_of(totals, name);
}

/* Titles of caches, in the order of output. Other caches follow, with the names of their
 * components. */
static const struct {
    const char *name, *title;
    const char *shared; /* the cache that the cores of a cluster share instead, or NULL */
} titles[] = {
    {"l1d", "L1 data"},
    {"l2", "L2"},
    {"icache", "instructions", "cluster_icache"},
    {"cluster_icache", "cluster instructions"},
    {"constant", "constants", "cluster_constant"},
    {"cluster_constant", "cluster constants"},
    {"readonly", "read-only"},
};

static bool has_title(const char *name)
{
    for (u32 i = 0; i < ARRAY_LEN(titles); i++)
        if (!strcmp(titles[i].name, name))
            return true;
    return false;
}

/* ", L2 81.2 % of 640"; nothing for a cache that was not read. */
static void print_cache(FILE *to, const json_t *totals, const char *name, const char *title,
                        const char **comma)
{
    u64 all = count_in(totals, name, "reads");
    if (!all)
        return;
    fprintf(to, "%s%s %.1f %% of %llu", *comma, title,
            percent(count_in(totals, name, "read_hits"), all), (unsigned long long)all);
    *comma = ", ";
}

static void print_caches(FILE *to, const json_t *totals)
{
    static const char suffix[] = ".read_hits";
    const char *comma = "", *key;
    json_t *value;
    fprintf(to, "read hits    ");
    for (u32 i = 0; i < ARRAY_LEN(titles); i++)
        if (count_in(totals, titles[i].name, "read_hits") || !titles[i].shared ||
            !count_in(totals, titles[i].shared, "reads"))
            print_cache(to, totals, titles[i].name, titles[i].title, &comma);
    json_object_foreach((json_t *)totals, key, value)
    {
        char name[48];
        const size_t length = strlen(key);
        if (length < sizeof suffix || strcmp(key + length - (sizeof suffix - 1), suffix) != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(length - (sizeof suffix - 1)), key);
        if (!has_title(name))
            print_cache(to, totals, name, name, &comma);
    }
    fputs(*comma ? "\n" : "none\n", to);
}

static void print_dram(FILE *to, const json_t *totals)
{
    u64 bytes = count_of(totals, "dram.read_bytes") + count_of(totals, "dram.write_bytes");
    u64 requests = count_of(totals, "dram.reads") + count_of(totals, "dram.writes");
    f64 seconds = (f64)count_of(totals, "timing.picoseconds") * 1e-12;
    fprintf(to, "DRAM         ");
    if (requests)
        fprintf(
            to, "%.1f GB/s, bus busy %.1f %%, row hits %.1f %%\n",
            seconds > 0 ? (f64)bytes / seconds / 1e9 : 0,
            percent(count_of(totals, "dram.bus_cycles"), count_of(totals, "dram.channel_cycles")),
            percent(count_of(totals, "dram.row_hits"), requests));
    else
        fprintf(to, "not used\n");
}

void print_breakdown(FILE *to, const json_t *stats)
{
    const json_t *totals = json_object_get(stats, "totals");
    if (!json_object_get(totals, "timing.cycles"))
        return;
    fputc('\n', to);
    if (json_array_size(json_object_get(stats, "launches")) > 1)
        fprintf(to, "all launches:\n");
    print_slots(to, totals);
    print_top_stall(to, stats);
    print_occupancy(to, stats);
    print_caches(to, totals);
    print_dram(to, totals);
}
