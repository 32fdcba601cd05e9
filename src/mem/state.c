/*
 * Storage elements of caches and of the memory side.
 *
 * An element is live if it has a visitor: its bits are in mem/ and can be flipped. The others are
 * counted: only their size is known.
 */
#include "mem/state.h"
#include "mem/cache_live.h"
#include "mem/l2.h"
#include "mem/packet_live.h"

enum {
    HEADER_BITS = 64 /* of a packet: 8 bytes before its data, as the network counts them */
};

static u32 floor_log2(u64 value)
{
    return 63 - (u32)__builtin_clzll(value);
}

/* All ways of a set are read and compared together. */
static struct array_shape beside_tags(const struct cache_state *cache, u32 bits)
{
    return (struct array_shape){.banks = cache->banks,
                                .access_bits = cache->config.ways * bits,
                                .read_ports = cache->ports == 2,
                                .write_ports = cache->ports == 2,
                                .compared = true};
}

/* The visitor of the last row, if there is one. */
static void visited(struct state_list *list, const struct cache_state *cache, state_visit_fn *visit,
                    state_hash_fn *hash)
{
    if (!visit)
        return;
    state_visit(list, visit, cache->which, cache->machine);
    state_hash_by(list, hash);
}

static void lines_state(struct state_list *list, const char *unit, const struct cache_state *cache,
                        u32 line_bits, u32 sectors)
{
    const struct cache_config *config = &cache->config;
    u64 lines = (u64)config->sets * config->ways;
    /* A line number without the set index. Numbers of sets that are not powers of two save fewer
     * bits. */
    u32 tag_bits = line_bits - MIN(line_bits, floor_log2(config->sets));
    u32 way_bits = config->ways > 1 ? state_index_bits(config->ways) : 0;

    const struct cache_visitors none = {0}, *visitors = cache->visitors ? cache->visitors : &none;
    state_hash_fn *covered = visitors->hash_lines ? state_hash_covered : NULL;

    state_add(list, unit, "tags", lines, tag_bits, STATE_COUNTED, "tags of lines");
    state_shape(list, beside_tags(cache, tag_bits));
    visited(list, cache, visitors->tags, visitors->hash_lines);
    state_add(list, unit, "valid", lines, sectors, STATE_COUNTED, "valid bits of sectors");
    state_shape(list, beside_tags(cache, sectors));
    visited(list, cache, visitors->valid, covered);
    if (config->write == WRITE_BACK) {
        state_add(list, unit, "dirty", lines, sectors, STATE_COUNTED, "dirty bits of sectors");
        state_shape(list, beside_tags(cache, sectors));
        visited(list, cache, visitors->dirty, covered);
    }
    if (config->fifo)
        state_add(list, unit, "next", config->sets, way_bits, STATE_COUNTED,
                  "the way to replace next");
    else
        state_add(list, unit, "order", lines, way_bits, STATE_COUNTED, "LRU order within a set");
    state_shape(list, beside_tags(cache, way_bits));
    if (!config->fifo)
        visited(list, cache, visitors->order, covered);
    state_add(list, unit, "data", lines, 8 * config->line_bytes, STATE_COUNTED, "data of lines");
    state_shape(list, (struct array_shape){.banks = cache->banks,
                                           .access_bits = cache->access_bits,
                                           .read_ports = cache->ports == 2,
                                           .write_ports = cache->ports == 2,
                                           .data = true});
    if (!cache->no_data)
        visited(list, cache, visitors->data, visitors->hash_data);
}

void cache_state(struct state_list *list, const char *unit, const struct cache_state *cache)
{
    const struct cache_config *config = &cache->config;
    u32 sectors = config->sectored ? MAX(config->line_bytes / SECTOR_BYTES, 1) : 1;
    u32 line_bits = cache->address_bits - MIN(cache->address_bits, floor_log2(config->line_bytes));
    if (!config->passing)
        lines_state(list, unit, cache, line_bits, sectors);
    state_add(list, unit, "mshrs", config->mshrs, 1 + line_bits + sectors, STATE_COUNTED,
              "MSHRs: valid, line number, sectors");
    state_shape(list, (struct array_shape){.searched = true});
    if (cache->visitors)
        visited(list, cache, cache->visitors->mshrs, cache->visitors->hash_mshrs);
    state_table(list, unit, "waiters", (u64)config->mshrs * config->merges, 1 + cache->waiter_bits,
                STATE_COUNTED, "requests that wait for a line in flight");
    if (cache->visitors)
        visited(list, cache, cache->visitors->waiters, cache->visitors->hash_waiters);
    state_table(list, unit, "miss_queue", cache->miss_queue, line_bits + sectors, STATE_COUNTED,
                "miss queue: line and sectors");
    if (cache->visitors)
        visited(list, cache, cache->visitors->misses, cache->visitors->hash_misses);
}

/* A visitor of the last row that needs the machine's parameters. */
static void located(struct state_list *list, const struct memory_system_params *params,
                    state_visit_fn *visit, state_hash_fn *hash)
{
    state_visit(list, visit, 0, params);
    state_hash_by(list, hash);
}

static void network_state(struct state_list *list, const struct memory_system_params *params)
{
    const struct network_params *network = params->network;
    u32 flit = 8 * network->flit_bytes;
    /* The largest packet is a whole L2 line with its header. */
    u32 packet = HEADER_BITS + 8 * params->l2->line_bytes;
    u64 ports = (params->cores + network->cores_per_port - 1) / network->cores_per_port +
                memory_system_clusters(params);
    u64 slices = (u64)params->l2->channels * params->l2->slices, ends = ports + slices;
    /* A crossbar has a buffer for each input of both networks; a mesh router has five in each. */
    enum {
        CROSSBAR,
        MESH
    };
    u64 buffers = network->kind == MESH ? 2 * 5 * ends : ends;
    state_owner(list, "chip", 1);
    state_add(list, "network", "entrances", ends * network->input_packets, packet, STATE_COUNTED,
              "packets that wait to enter, both directions");
    state_shape(list,
                (struct array_shape){
                    .banks = (u32)ends, .access_bits = flit, .read_ports = 1, .write_ports = 1});
    located(list, params, live_visit_entrances, live_hash_entrances);
    state_add(list, "network", "buffers", buffers * network->buffer_flits, flit, STATE_COUNTED,
              "flits in router buffers");
    state_shape(list,
                (struct array_shape){.banks = (u32)buffers, .read_ports = 1, .write_ports = 1});
    located(list, params, live_visit_flits, state_hash_covered);
    state_add(list, "network", "outlets", ends * network->output_packets, packet, STATE_COUNTED,
              "packets that wait to leave, both directions");
    state_shape(list,
                (struct array_shape){
                    .banks = (u32)ends, .access_bits = flit, .read_ports = 1, .write_ports = 1});
    located(list, params, live_visit_outlets, state_hash_covered);
    state_flops(list, "network", "turns", ends, state_index_bits(ends), STATE_COUNTED,
                "round-robin pointer of each output");
    if (network->kind == CROSSBAR)
        located(list, params, live_visit_turns, live_hash_turns);
}

/* Both caches of a cluster. */
static void cluster_state(struct state_list *list, const struct memory_system_params *params,
                          u64 memory_bytes)
{
    const struct cluster_config configs[] = {CLUSTER_CONFIG(params->cluster_icache),
                                             CLUSTER_CONFIG(params->cluster_constant)};
    static const char *const names[] = {"cluster_icache", "cluster_constant"};
    state_owner(list, "cluster", memory_system_clusters(params));
    for (u32 p = 0; p < CLUSTER_PARTS; p++) {
        const struct cluster_config *config = &configs[p];
        struct cache_state cache = {
            .config = config->cache,
            .miss_queue = config->miss_queue,
            .address_bits = state_index_bits(memory_bytes),
            /* The core, and the number of its request. */
            .waiter_bits = state_index_bits(params->cluster) + HEADER_BITS / 4,
            .banks = config->ports,
        };
        cache_state(list, names[p], &cache);
    }
}

/* Visitors of a slice's cache. */
#define L2_VISITOR(part)                                                                           \
    static void visit_l2_##part(struct state_walk *walk, const struct state_row *row, void *owner, \
                                u64 entry)                                                         \
    {                                                                                              \
        cache_walk_##part(walk, owner ? ((struct l2_slice *)owner)->cache : NULL, entry,           \
                          row->bits);                                                              \
    }
L2_VISITOR(tags)
L2_VISITOR(valid)
L2_VISITOR(dirty)
L2_VISITOR(order)
L2_VISITOR(data)
static u64 hash_l2_lines(const struct state_row *row, void *owner, u64 hash)
{
    return cache_hash_lines(((struct l2_slice *)owner)->cache, hash);
}
static u64 hash_l2_data(const struct state_row *row, void *owner, u64 hash)
{
    return cache_hash_data(((struct l2_slice *)owner)->cache, hash);
}
static const struct cache_visitors l2_visitors = {.hash_lines = hash_l2_lines,
                                                  .hash_data = hash_l2_data,
                                                  .tags = visit_l2_tags,
                                                  .valid = visit_l2_valid,
                                                  .dirty = visit_l2_dirty,
                                                  .order = visit_l2_order,
                                                  .data = visit_l2_data,
                                                  .mshrs = live_visit_l2_mshrs,
                                                  .waiters = live_visit_l2_waiters,
                                                  .misses = live_visit_misses,
                                                  .hash_mshrs = live_hash_l2_mshrs,
                                                  .hash_waiters = live_hash_l2_waiters,
                                                  .hash_misses = live_hash_misses};

static void l2_state(struct state_list *list, const struct memory_system_params *params,
                     u64 memory_bytes)
{
    const struct l2_params *l2 = params->l2;
    u64 slices = (u64)l2->channels * l2->slices;
    u32 packet = HEADER_BITS + 8 * l2->line_bytes;
    struct cache_state cache = {
        .config = CACHE_CONFIG(l2, WRITE_BACK),
        .miss_queue = l2->miss_queue,
        /* Only the slice's own bytes. */
        .address_bits = state_index_bits((memory_bytes + slices - 1) / slices),
        /* The core, and the number of its request. */
        .waiter_bits =
            state_index_bits(params->cores + memory_system_clusters(params)) + HEADER_BITS / 4,
        .access_bits = 8 * SECTOR_BYTES,
        .visitors = &l2_visitors,
        .machine = params,
    };
    state_owner(list, "slice", slices);
    if (l2->enabled)
        cache_state(list, "l2", &cache);
    state_table(list, "l2", "queue_in", l2->queue_in, packet, STATE_COUNTED,
                "packets at the input of the slice");
    located(list, params, live_visit_in, live_hash_in);
    state_table(list, "l2", "queue_dram", 2ull * l2->queue_dram, packet, STATE_COUNTED,
                "requests to and replies from DRAM");
    located(list, params, live_visit_to_dram, live_hash_to_dram);
    state_table(list, "l2", "queue_out", l2->queue_out, packet, STATE_COUNTED,
                "replies at the output of the slice");
    located(list, params, live_visit_out, live_hash_out);
}

static void dram_state(struct state_list *list, const struct memory_system_params *params,
                       u64 memory_bytes)
{
    const struct dram_params *dram = params->dram;
    u64 own = (memory_bytes + params->l2->channels - 1) / params->l2->channels;
    u64 rows = own / dram->banks / dram->row_bytes;
    u32 row_bits = state_index_bits(rows), bank_bits = state_index_bits(dram->banks);
    u32 column_bits = state_index_bits(dram->row_bytes / SECTOR_BYTES);
    u32 burst_bits = 8 * dram->bus_bytes * dram->burst;
    /* Separate queues for reads and writes have this size each. */
    u64 queue = (u64)dram->queue * (dram->write_high ? 2 : 1);
    enum {
        FRFCFS,
        FCFS
    };
    state_owner(list, "channel", params->l2->channels);
    state_add(list, "dram", "queue", queue, 2 + row_bits + bank_bits + column_bits, STATE_COUNTED,
              "requests: valid, direction, row, bank, column");
    located(list, params, live_visit_dram_queue, live_hash_dram_queue);
    /* Policies that prefer row hits search the queue; the oldest request is found without a
     * search. */
    state_shape(list, (struct array_shape){.searched = dram->policy != FCFS});
    state_table(list, "dram", "queue_data", queue, burst_bits, STATE_COUNTED, "data of a burst");
    located(list, params, live_visit_dram_data, state_hash_covered);
    state_table(list, "dram", "return_data", dram->return_queue, burst_bits, STATE_COUNTED,
                "data that wait to leave the channel");
    located(list, params, live_visit_dram_return, state_hash_covered);
    state_flops(list, "dram", "open_rows", dram->banks, 1 + row_bits, STATE_COUNTED,
                "whether a row is open in each bank, and which");
    located(list, params, live_visit_open_rows, live_hash_open_rows);
}

void mem_state(struct state_list *list, const struct memory_system_params *params, u64 memory_bytes)
{
    if (memory_system_clusters(params))
        cluster_state(list, params, memory_bytes);
    network_state(list, params);
    l2_state(list, params, memory_bytes);
    dram_state(list, params, memory_bytes);
}
