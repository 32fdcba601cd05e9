#include "laws.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct book {
    const json_t *stats;
    char *why;
    size_t size;
    bool broken;
};

static long long value(struct book *book, const char *name)
{
    const json_t *v = json_object_get(book->stats, name);
    if (!v && !book->broken) {
        book->broken = true;
        snprintf(book->why, book->size, "there is no statistic %s", name);
    }
    return (long long)json_number_value(v);
}

/* Names with spaces between; those after " - " are taken off. */
static long long sum(struct book *book, const char *names)
{
    char name[64];
    long long total = 0, sign = 1;
    int length;
    for (; sscanf(names, "%63s%n", name, &length) == 1; names += length) {
        if (strcmp(name, "-") == 0)
            sign = -1;
        else
            total += sign * value(book, name);
    }
    return total;
}

static void equal(struct book *book, const char *left, const char *right)
{
    long long a = sum(book, left), b = sum(book, right);
    if (a == b || book->broken)
        return;
    book->broken = true;
    snprintf(book->why, book->size, "%s = %lld, but %s = %lld", left, a, right, b);
}

static void cache_laws(struct book *book, const char *cache)
{
    char left[128], right[256];
    snprintf(left, sizeof left, "%s.reads", cache);
    snprintf(right, sizeof right, "%s.read_hits %s.read_merges %s.read_misses", cache, cache,
             cache);
    equal(book, left, right);
    snprintf(left, sizeof left, "%s.writes", cache);
    snprintf(right, sizeof right, "%s.write_hits %s.write_misses", cache, cache);
    equal(book, left, right);
}

bool laws_hold(const json_t *launch, char *why, size_t size)
{
    struct book book = {json_object_get(launch, "stats"), why, size, false};
    struct book *const b = &book;
    equal(b, "issue.slots",
          "issue.issued issue.idle_empty issue.idle_fetch issue.idle_branch issue.idle_barrier "
          "issue.idle_raw issue.idle_waw issue.idle_memory issue.idle_wait issue.idle_unit "
          "issue.idle_collector issue.idle_held");
    equal(b, "issue.instructions", "exec.warp_instructions");
    equal(b, "issue.instructions", "timing.warp_instructions");
    equal(b, "issue.threads", "exec.thread_instructions");
    equal(b, "timing.blocks", "exec.blocks");
    /* every instruction fetched is issued, thrown away or left */
    equal(b, "fetch.instructions", "issue.instructions fetch.flushed fetch.left");
    /* every request is answered once */
    equal(b, "lsu.requests", "lsu.replies");
    /* in the network, but for those that the caches of a cluster have answered */
    equal(b, "lsu.requests",
          "network.request_packets cluster_icache.reads cluster_constant.reads "
          "- cluster_icache.read_misses cluster_constant.read_misses");
    equal(b, "network.request_packets", "network.reply_packets");
    equal(b, "lsu.replies",
          "lsu.latency_below_128 lsu.latency_below_256 lsu.latency_below_512 "
          "lsu.latency_below_1024 lsu.latency_below_2048 lsu.latency_above");
    static const char *const caches[] = {
        "icache", "l1d", "constant", "readonly", "cluster_icache", "cluster_constant", "l2"};
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++)
        cache_laws(b, caches[i]);
    if (sum(b, "l2.reads l2.writes")) /* it is on; an atomic reads and writes */
        equal(b, "l2.reads l2.writes - l2.atomics", "network.request_packets");
    equal(b, "l1d.fills", "l1d.read_misses");
    equal(b, "constant.fills", "constant.read_misses");
    equal(b, "cluster_icache.fills", "cluster_icache.read_misses");
    equal(b, "cluster_constant.fills", "cluster_constant.read_misses");
    equal(b, "dram.reads dram.writes", "dram.row_hits dram.row_misses dram.row_conflicts");
    equal(b, "dram.reads", "l2.dram_reads");
    equal(b, "dram.writes", "l2.dram_writes");
    return !book.broken;
}

/* The first number of one object that the other has otherwise. */
static bool same_numbers(const json_t *a, const json_t *b, const char *where, char *why,
                         size_t size)
{
    const char *name;
    const json_t *x;
    json_object_foreach((json_t *)a, name, x)
    {
        const json_t *y = json_object_get(b, name);
        if (json_equal(x, y))
            continue;
        if (json_is_object(x))
            return same_numbers(x, y, name, why, size);
        snprintf(why, size, "%s %s is %.17g in one run and %.17g in the other", where, name,
                 json_number_value(x), json_number_value(y));
        return false;
    }
    return true;
}

bool laws_same_counts(const json_t *a, const json_t *b, char *why, size_t size)
{
    const json_t *from = json_object_get(a, "launches"), *to = json_object_get(b, "launches");
    snprintf(why, size, "the launches differ");
    for (size_t i = 0; i < json_array_size(from); i++)
        if (!same_numbers(json_array_get(from, i), json_array_get(to, i), "launch", why, size))
            return false;
    return json_array_size(from) == json_array_size(to) && json_array_size(from);
}

bool laws_same_work(const json_t *a, const json_t *b, char *why, size_t size)
{
    const char *name;
    const json_t *x;
    const json_t *from = json_object_get(a, "totals"), *to = json_object_get(b, "totals");
    json_object_foreach((json_t *)from, name, x)
    {
        const json_t *y = json_object_get(to, name);
        if (strncmp(name, "exec.", 5) != 0 || json_number_value(x) == json_number_value(y))
            continue;
        snprintf(why, size, "%s is %.0f without time and %.0f with it", name, json_number_value(x),
                 json_number_value(y));
        return false;
    }
    return true;
}
