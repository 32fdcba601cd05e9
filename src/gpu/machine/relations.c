/*
 * Relations between parameters. A range (PARAM's minimum and maximum) is checked when a value is
 * set; everything that depends on several values is checked here, once a configuration is complete:
 * relations_check is called before a device is created, and before a machine is shown.
 *
 * Messages name the parameter, its value, and the allowed values.
 *
 * A cache's line may be longer or shorter than the L2's: requests are split (core/lsu.c,
 * core/requests.c).
 */
#include "gpu/machine/relations.h"

#include "core/stages.h"

#include "gpu/machine/config.h"
#include "gpu/machine/params.h"
#include <stdio.h>

/* ---- memory ---- */

bool relations_check_dram(const struct dram_params *params, struct error *error)
{
    const struct {
        const char *name;
        u32 value;
    } powers[] = {
        {"dram.banks", params->banks},
        {"dram.bank_groups", params->bank_groups},
        {"dram.row_bytes", params->row_bytes},
        {"dram.stripe_bytes", params->stripe_bytes},
    };
    for (u32 i = 0; i < ARRAY_LEN(powers); i++) {
        if (!is_pow2(powers[i].value))
            return error_set(error, ERROR_USAGE, powers[i].name,
                             "expected a power of two, found %u", powers[i].value);
    }
    if (params->bank_groups > params->banks)
        return error_set(error, ERROR_USAGE, "dram.bank_groups",
                         "expected at most dram.banks (%u), found %u", params->banks,
                         params->bank_groups);
    if (params->tRAS < params->tRCD)
        return error_set(error, ERROR_USAGE, "dram.tRAS",
                         "expected at least dram.tRCD (%u), found %u: a row cannot be closed "
                         "before it can be read",
                         params->tRCD, params->tRAS);
    if (params->tRC < params->tRAS)
        return error_set(error, ERROR_USAGE, "dram.tRC",
                         "expected at least dram.tRAS (%u), found %u: a bank cannot be activated "
                         "again before its row may be closed",
                         params->tRAS, params->tRC);
    if (params->write_high > params->queue)
        return error_set(error, ERROR_USAGE, "dram.write_high",
                         "expected at most dram.queue (%u), found %u", params->queue,
                         params->write_high);
    if (params->write_low > params->write_high ||
        (params->write_low && params->write_low == params->write_high))
        return error_set(error, ERROR_USAGE, "dram.write_low",
                         "expected less than dram.write_high (%u), found %u", params->write_high,
                         params->write_low);
    return true;
}

static bool check_cluster(const struct memory_system_params *params, struct error *error)
{
    const struct {
        const char *name;
        struct cluster_config config;
    } parts[] = {{"cluster_icache", CLUSTER_CONFIG(params->cluster_icache)},
                 {"cluster_constant", CLUSTER_CONFIG(params->cluster_constant)}};
    for (u32 p = 0; p < ARRAY_LEN(parts); p++) {
        if (parts[p].config.cache.line_bytes != params->l2->line_bytes)
            return error_set(error, ERROR_USAGE, "",
                             "%s.line_bytes is %u, but l2.line_bytes is %u: caches shared by a "
                             "cluster (gpu.cluster) must have the line size of the L2",
                             parts[p].name, parts[p].config.cache.line_bytes,
                             params->l2->line_bytes);
        if (memory_system_shared_delay(params, parts[p].config.latency) < 0)
            return error_set(error, ERROR_USAGE, "",
                             "%s.latency is %u network cycles: it includes two windows of %u "
                             "(network.window) and the lookup cycle and cannot be shorter",
                             parts[p].name, parts[p].config.latency, params->network->window);
    }
    return true;
}

bool relations_check_memory(const struct memory_system_params *params, struct error *error)
{
    const struct l2_params *l2 = params->l2;
    if (!relations_check_dram(params->dram, error))
        return false;
    if (!is_pow2(l2->line_bytes))
        return error_set(error, ERROR_USAGE, "", "l2.line_bytes is %u, not a power of two",
                         l2->line_bytes);
    if (!is_pow2(l2->interleave_bytes) || l2->interleave_bytes < l2->line_bytes)
        return error_set(error, ERROR_USAGE, "",
                         "l2.interleave_bytes is %u: expected a power of two, at least "
                         "l2.line_bytes (%u), so that a line lies in one channel",
                         l2->interleave_bytes, l2->line_bytes);
    if (!is_pow2(l2->slice_bytes) || l2->slice_bytes < l2->line_bytes)
        return error_set(error, ERROR_USAGE, "",
                         "l2.slice_bytes is %u: expected a power of two, at least l2.line_bytes "
                         "(%u), so that a line lies in one slice",
                         l2->slice_bytes, l2->line_bytes);
    if (memory_system_delay(params) < 0)
        return error_set(error, ERROR_USAGE, "",
                         "l2.latency is %u L2 cycles: it includes two windows of %u network cycles "
                         "(network.window) and cannot be shorter",
                         l2->latency, params->network->window);
    return params->cluster < 2 || check_cluster(params, error);
}

/* ---- a core ---- */

static bool refuse(struct error *error, const char *key, u32 value, const char *expected)
{
    error_set(error, ERROR_USAGE, "", "%s is %u: in timing mode it must be %s", key, value,
              expected);
    return false;
}

/* Every group of units gets its share of each kind of collector, at least one: as in collect.c. */
static bool check_collectors(const struct core_config *c, struct error *error)
{
    const struct collect_params *p = c->collect;
    const u32 groups = c->issue->sub_cores ? c->issue->schedulers : 1;
    u32 each = MAX(p->generic / groups, 1);
    if (!p->generic)
        each = MAX(p->sp / groups, 1) + MAX(p->sfu / groups, 1) + MAX(p->memory / groups, 1) +
               (p->fp64 ? MAX(p->fp64 / groups, 1) : 0);
    if (each * groups > CORE_COLLECTORS)
        return refuse(error, "the number of operand collectors", each * groups, "at most 64");
    return true;
}

/* ---- host memory ---- */

enum {
    NEEDS = 16,
    NEEDS_TOLD = 3,
    CORE_BYTES = 256 * 1024, /* per core without its caches, measured */
    PACKET_BYTES = 96,       /* per packet in a queue, with its time */
    WAITER_BYTES = 8,
    LINE_BYTES = 40, /* per cache line, besides its tag */
    TAG_BYTES = 4,
    TAG_GROUP = 16 /* tags of a set are padded to a multiple of it */
};
#define HOST_LIMIT (4ull << 30)

/* Host memory of a part of the model; only large parts are counted. */
struct need {
    const char *what;
    u64 bytes;
};

static u64 cache_bytes(struct cache_config c, u64 copies)
{
    const u64 lines = c.sets * ((u64)c.ways * LINE_BYTES + align_up(c.ways, TAG_GROUP) * TAG_BYTES);
    return copies * (lines + (u64)c.mshrs * (LINE_BYTES + (u64)c.merges * WAITER_BYTES));
}

/* Both networks: buffers of inputs and outputs, and the routers of a mesh or the crossbar. */
static u64 network_bytes(const struct memory_system_params *m)
{
    const struct network_params *n = m->network;
    const u64 ends = m->cores / n->cores_per_port + 1 + (u64)m->l2->channels * m->l2->slices;
    const u64 buffers = /* a mesh router has five inputs */
        n->kind ? 5 : 1;
    return 2 * ends * PACKET_BYTES *
           (buffers * n->buffer_flits + n->input_packets + n->output_packets);
}

static u32 list_needs(const struct core_config *c, const struct memory_system_params *m,
                      struct need *list)
{
    const u64 slices = (u64)m->l2->channels * m->l2->slices;
    const u64 clusters = m->cluster > 1 ? m->cores / m->cluster + 1 : 0;
    const struct need needs[] = {
        {"gpu.cores", (u64)c->cores * CORE_BYTES},
        {"the l1d caches", cache_bytes(CACHE_CONFIG(c->l1d, WRITE_EVICT), c->cores)},
        {"the readonly caches", cache_bytes(CACHE_CONFIG(c->readonly, WRITE_EVICT), c->cores)},
        {"the constant caches", cache_bytes(CACHE_CONFIG(c->constant, WRITE_EVICT), c->cores)},
        {"the icaches", cache_bytes(CACHE_CONFIG(c->icache, WRITE_EVICT), c->cores)},
        {"the cluster_icaches",
         cache_bytes(CACHE_CONFIG(m->cluster_icache, WRITE_EVICT), clusters)},
        {"the cluster_constant caches",
         cache_bytes(CACHE_CONFIG(m->cluster_constant, WRITE_EVICT), clusters)},
        {"the l2", cache_bytes(CACHE_CONFIG(m->l2, WRITE_BACK), slices)},
        {"the l2's queues", slices * PACKET_BYTES *
                                ((u64)m->l2->queue_in + m->l2->queue_out + m->l2->latency +
                                 2ull * m->l2->queue_dram + m->l2->miss_queue)},
        {"the network's buffers", network_bytes(m)},
        {"dram.queue and dram.return_queue",
         (u64)m->l2->channels * PACKET_BYTES * (3ull * m->dram->queue + m->dram->return_queue)},
    };
    _Static_assert(ARRAY_LEN(needs) <= NEEDS, "they fit");
    memcpy(list, needs, sizeof needs);
    return ARRAY_LEN(needs);
}

static f64 gigabytes(u64 bytes)
{
    return (f64)bytes / (1u << 30);
}

/* Moves the largest element of a list to its front. */
static void bring_largest(struct need *list, u32 count)
{
    for (u32 i = 1; i < count; i++)
        if (list[i].bytes > list[0].bytes) {
            const struct need first = list[0];
            list[0] = list[i];
            list[i] = first;
        }
}

static bool check_host_memory(const struct core_config *c, const struct memory_system_params *m,
                              struct error *error)
{
    struct need list[NEEDS];
    const u32 count = list_needs(c, m, list);
    u64 sum = 0;
    for (u32 i = 0; i < count; i++)
        sum += list[i].bytes;
    if (sum <= HOST_LIMIT)
        return true;
    char largest[256] = "";
    for (u32 i = 0; i < NEEDS_TOLD; i++) {
        bring_largest(list + i, count - i);
        const size_t used = strlen(largest);
        if (list[i].bytes > HOST_LIMIT / 64)
            snprintf(largest + used, sizeof largest - used, "%s%s %.1f GB", i ? ", " : "",
                     list[i].what, gigabytes(list[i].bytes));
    }
    return error_set(error, ERROR_USAGE, "",
                     "in timing mode this machine needs about %.1f GB of host memory, but at most "
                     "%.0f GB are allowed; most of it: %s",
                     gigabytes(sum), gigabytes(HOST_LIMIT), largest);
}

/* ---- the whole configuration ---- */

static bool check_time(const struct config *config, struct error *error)
{
    const struct core_config c = core_config_of(config);
    const struct memory_system_params memory = memory_system_params_of(config);
    if (c.core->warps > CORE_WARPS)
        return refuse(error, "core.warps", c.core->warps, "at most 64");
    if (c.core->blocks > CORE_BLOCKS)
        return refuse(error, "core.blocks", c.core->blocks, "at most 64");
    if (c.issue->sub_cores && (c.collect->banks < c.issue->schedulers))
        return refuse(error, "collect.banks", c.collect->banks, "at least one per scheduler");
    const struct pipeline *pipeline = pipeline_of(c.core);
    if (!check_collectors(&c, error) || (pipeline->check && !pipeline->check(&c, error)))
        return false;
    if (time_longest(&c) > WHEEL - 64)
        return refuse(error, "the longest latency of all passes through a unit", time_longest(&c),
                      "at most 4032: more lanes or shorter intervals");
    if (!is_pow2(c.lsu->shared_bank_bytes))
        return refuse(error, "lsu.shared_bank_bytes", c.lsu->shared_bank_bytes, "4, 8 or 16");
    const struct {
        const char *key;
        u32 bytes, most; /* most: eight bits for the sectors of a miss */
    } lines[] = {
        {"l1d.line_bytes", c.l1d->line_bytes, 256},
        {"readonly.line_bytes", c.readonly->line_bytes, 256},
        {"icache.line_bytes", c.icache->line_bytes, 1024},
        {"constant.line_bytes", c.constant->line_bytes, 1024},
        {"l2.line_bytes", memory.l2->line_bytes, 1024},
    };
    for (u32 i = 0; i < ARRAY_LEN(lines); i++)
        if (!is_pow2(lines[i].bytes) || lines[i].bytes > lines[i].most)
            return refuse(error, lines[i].key, lines[i].bytes,
                          lines[i].most == 256 ? "a power of two, at most 256" : "a power of two");
    return relations_check_memory(&memory, error) && check_host_memory(&c, &memory, error);
}

bool relations_check(const struct config *config, struct error *error)
{
    const struct core_params *core = config_params(config, &core_component);
    const struct gpu_params *gpu = config_params(config, &gpu_component);
    const struct timing_params *timing = config_params(config, &timing_component);
    if (!config_settled(config, error))
        return false;
    if (core->warp_size != 32 && core->warp_size != 64)
        return error_set(error, ERROR_USAGE, "", "core.warp_size is %u: expected 32 or 64",
                         core->warp_size);
    if (gpu->address_bits != 32 && gpu->address_bits != 64)
        return error_set(error, ERROR_USAGE, "", "gpu.address_bits is %u: expected 32 or 64",
                         gpu->address_bits);
    if (gpu->address_bits == 32 && core->warp_size == 64)
        return error_set(
            error, ERROR_USAGE, "",
            "gpu.address_bits is 32, but warps have 64 lanes (core.warp_size): machines "
            "for Southern Islands code have 64-bit addresses");
    return timing->functional || check_time(config, error);
}
