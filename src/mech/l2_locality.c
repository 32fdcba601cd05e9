/*
 * How data in the L2 are used, as Tan (dissertation, 2016, section 7.1) measures it: how long lines
 * hold data that are not accessed again, which data are shared between blocks, how often lines are
 * accessed, and whether the instruction that is the first to access a line tells how often. An
 * observer: results and timing do not change.
 *
 * Seams: launch, launch_done, l1_access, packet; on the memory side launch_memory, l2_request,
 * l2_event, settle_memory.
 *
 * Invariants
 *  L1  A line is live from its first access since it was allocated to the last one before it
 *      leaves. An interval counts when the access at its end has come: nothing has to be foreseen.
 *  L2  Lines that hold data are counted by their events, so `held` is their number at any time.
 *  L3  Times are those of launches: between launches, and while a launch's last stores are on their
 *      way, the clock stands still.
 *  L4  A packet counts once, at the first read or write after l2_request has announced it: its own, or
 *      the write of an atomic that has waited for its line, while the packet still has to wait.
 */
#include "core/mechanism.h"
#include "mech/launch_time.h"
#include "mech/line_table.h"
#include <stdlib.h>

#define COMPONENT l2_locality
#define COMPONENT_DEF "mech/l2_locality.def"
#define COMPONENT_HELP "reuse of data in the L2"
#include "base/component_struct.h"
#include "base/component_table.h"

enum {
    CHUNK_BYTES = 128, /* section 7.1.2 */
    MOST_COUNT = 64    /* accesses that are told apart; more count as so many */
};

/* What accessed a chunk. */
enum sharing {
    SHARED_BY_NONE,
    SHARED_BY_ONE,   /* block */
    SHARED_ON_CORE,  /* several blocks of one core */
    SHARED_ON_CORES, /* blocks of several cores */
};
struct data_chunk {
    u32 block;
    u16 core;
    u8 sharing;
};

struct line_accesses {
    u32 accesses;
    u32 inst; /* that accessed it first */
};

/* A place of the L2. */
struct held_line {
    bool held;
    u64 accessed; /* time of its last access (L3) */
};

/* The packet that was announced last to a slice. */
struct asking {
    struct packet packet;
    bool counted;
};

struct l2_locality_device {
    u32 cores, slice_places, slices;
    u64 scratch, scratch_end; /* local memory of the launch that is in device memory */
    struct held_line *held;   /* by slice, then place */
    struct asking *asking;    /* by slice */
    struct launch_time time;
    struct line_table lines, chunks;
    struct line_accesses *uses; /* by number of the line, */
    struct data_chunk *chunk;   /* of the chunk */
    u64 untracked;
};

struct l2_locality {
    MECHANISM_STATE(l2_locality);
};

struct l2_locality_memory {
    MECHANISM_STATE(l2_locality);
    struct memory_system *system;
    u32 places, held;                         /* lines of the partition; those that hold data */
    u64 counted;                              /* time up to which `held_fs` is */
    u64 held_fs, live_fs, across_fs, line_fs; /* not yet in the statistics */
};

/* ---- launches ---- */

static void forget(struct l2_locality_device *d)
{
    line_table_free(&d->lines);
    line_table_free(&d->chunks);
    free(d->uses);
    free(d->chunk);
    d->uses = NULL;
    d->chunk = NULL;
}

static void create(void *state, struct core *core)
{
    struct l2_locality_device *d = mechanism_device(state);
    d->cores++;
}

/* Bytes that requests of the launch can name. */
static u64 bytes_of(const struct l2_locality_device *d, const struct core *core)
{
    const struct exec *exec = core_exec(core);
    const u64 warps = (u64)d->cores * core_config(core)->core->warps;
    return memory_used(exec->memory) + warps * core_warp_size(core) * exec->local_stride;
}

/* For the first core of a launch. */
static void launch(void *state, struct core *core, bool begins)
{
    struct l2_locality_device *d = mechanism_device(state);
    if (!begins || core_config(core)->index)
        return;
    enum {
        SPARE = 1024 /* lines of allocations that begin or end in the middle of a line */
    };
    const u64 used = bytes_of(d, core);
    const u64 scratch = core_exec(core)->entry_local_address;
    const struct allocation *a = scratch ? memory_find(core_exec(core)->memory, scratch, 1) : NULL;
    d->scratch = scratch;
    d->scratch_end = a ? a->address + a->size : 0;
    forget(d);
    line_table_make(&d->lines, used / core_config(core)->l2_line_bytes + SPARE);
    line_table_make(&d->chunks, used / CHUNK_BYTES + SPARE);
    d->uses = checked(calloc(d->lines.room, sizeof *d->uses));
    d->chunk = checked(calloc(d->chunks.room, sizeof *d->chunk));
    d->untracked = 0;
}

/* ---- sharing of data between blocks ---- */

static void touch(struct l2_locality_device *d, u64 address, u32 block, u32 core)
{
    const u32 number = line_table_number(&d->chunks, address / CHUNK_BYTES);
    if (number == LINE_TABLE_NONE) {
        d->untracked++;
        return;
    }
    struct data_chunk *chunk = &d->chunk[number];
    if (chunk->sharing == SHARED_BY_NONE)
        *chunk = (struct data_chunk){block, (u16)core, SHARED_BY_ONE};
    else if (chunk->core != core)
        chunk->sharing = SHARED_ON_CORES;
    else if (chunk->block != block)
        chunk->sharing = MAX(chunk->sharing, SHARED_ON_CORE);
}

static void touch_sectors(struct l2_locality_device *d, u64 line, u32 sectors, u32 block, u32 core)
{
    /* local memory is a block's own: the next block has it at the same address */
    if (core_is_local(line) || (line >= d->scratch && line < d->scratch_end))
        return;
    for (; sectors; sectors &= sectors - 1)
        touch(d, line + first_bit(sectors) * SECTOR_BYTES, block, core);
}

static void l1_access(void *state, struct core *core, const struct l1_access *access)
{
    const struct warp *warp = core_slot(core, access->slot)->warp;
    touch_sectors(mechanism_device(state), access->line, access->sectors, (u32)warp->block->number,
                  core_config(core)->index);
}

static void packet(void *state, struct core *core, struct packet *packet)
{
    if (packet->client == CLIENT_DIRECT && packet->from.kind == REQUESTER_ACCESS)
        touch_sectors(mechanism_device(state), packet->address, packet->sectors, packet->from.block,
                      core_config(core)->index);
}

/* ---- accesses to the L2 ---- */

static bool is_data(const struct packet *packet)
{
    return packet->kind <= PACKET_ATOMIC && packet->client != CLIENT_FETCH &&
           packet->client != CLIENT_CONSTANT;
}

static void l2_request(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle)
{
    struct l2_locality_device *d = mechanism_device(memory);
    struct asking *asking = &d->asking[slice];
    /* it is announced again if it has to wait */
    if (packet_same(packet, &asking->packet) && packet->sent == asking->packet.sent &&
        packet->address == asking->packet.address)
        return;
    *asking = (struct asking){.packet = *packet};
}

/* L4. */
static bool is_access(const struct asking *asking, const struct cache_event *event)
{
    return !asking->counted && is_data(&asking->packet) &&
           (event->kind == CACHE_EVENT_READ || event->kind == CACHE_EVENT_WRITTEN);
}

static void count_access(struct l2_locality_device *d, struct asking *asking, u64 *accesses)
{
    const u32 number = line_table_number(&d->lines, asking->packet.address);
    asking->counted = true;
    ++*accesses;
    if (number == LINE_TABLE_NONE)
        d->untracked++;
    else if (!d->uses[number].accesses++)
        d->uses[number].inst = asking->packet.from.inst;
}

/* ---- lines over time ---- */

static void count_held(struct l2_locality_memory *m, u64 time)
{
    m->held_fs += (time - m->counted) * m->held;
    m->line_fs += (time - m->counted) * m->places;
    m->counted = time;
}

static void follow(struct l2_locality_memory *m, struct held_line *line, enum cache_event_kind kind)
{
    const struct l2_locality_device *d = mechanism_device(m);
    const u64 time = launch_time_at(&d->time, memory_system_now(m->system)); /* L3 */
    count_held(m, time);
    if (kind == CACHE_EVENT_DROPPED) {
        m->held -= line->held;
        line->held = false;
        return;
    }
    if (!line->held) {
        line->held = true;
        m->held++;
    } else if (kind != CACHE_EVENT_FILLED) {
        m->live_fs += time - line->accessed;
        m->across_fs += line->accessed < d->time.before ? time - line->accessed : 0;
    } else {
        return;
    }
    line->accessed = time;
}

static void l2_event(void *memory, u32 slice, const struct cache_event *event)
{
    struct l2_locality_memory *m = memory;
    struct l2_locality_device *d = mechanism_device(memory);
    struct asking *asking = &d->asking[slice];
    if (is_access(asking, event))
        count_access(d, asking, &m->stats->accesses);
    if (event->place != CACHE_NO_PLACE)
        follow(m, &d->held[slice * d->slice_places + event->place], event->kind);
}

static void create_memory(void *memory, struct memory_system *system, u32 partition, u32 slices)
{
    struct l2_locality_memory *m = memory;
    struct l2_locality_device *d = mechanism_device(memory);
    const struct l2_params *l2 = memory_system_l2(system);
    m->system = system;
    d->slice_places = l2->enabled ? l2->sets * l2->ways : 0;
    m->places = d->slice_places * slices;
    if (d->asking)
        return;
    d->slices = memory_system_slices(system);
    d->held = checked(calloc((size_t)d->slices * d->slice_places + 1, sizeof *d->held));
    d->asking = checked(calloc(d->slices, sizeof *d->asking));
}

static void launch_memory(void *memory, const struct exec *exec, bool begins, fs now)
{
    struct l2_locality_memory *m = memory;
    struct l2_locality_device *d = mechanism_device(memory);
    if (!begins)
        return;
    if (now != d->time.began) /* the first partition */
        launch_time_begin(&d->time, now);
    m->counted = d->time.before;
    m->held_fs = m->live_fs = m->across_fs = m->line_fs =
        0; /* those of the last stores of the launch before */
}

static void settle_memory(void *memory, fs now)
{
    struct l2_locality_memory *m = memory;
    struct l2_locality_device *d = mechanism_device(memory);
    count_held(m, MAX(launch_time_at(&d->time, now), m->counted));
    d->time.settled = now;
    launch_sum_take(&m->line_fs, &m->stats->line_ps);
    launch_sum_take(&m->held_fs, &m->stats->held_ps);
    launch_sum_take(&m->live_fs, &m->stats->live_ps);
    launch_sum_take(&m->across_fs, &m->stats->across_ps);
}

/* ---- sums ---- */

static void count_chunks(const struct l2_locality_device *d, struct l2_locality_stats *stats)
{
    stats->chunks += d->chunks.count;
    for (u32 i = 0; i < d->chunks.count; i++) {
        stats->chunks_one += d->chunk[i].sharing == SHARED_BY_ONE;
        stats->chunks_core += d->chunk[i].sharing == SHARED_ON_CORE;
        stats->chunks_cores += d->chunk[i].sharing == SHARED_ON_CORES;
    }
}

/* By instruction that accessed them first: lines with each number of accesses. */
static void count_similar(const struct l2_locality_device *d, u32 insts,
                          struct l2_locality_stats *stats)
{
    u32(*const lines)[MOST_COUNT + 2] = checked(calloc(insts, sizeof *lines));
    for (u32 i = 0; i < d->lines.count; i++)
        if (d->uses[i].inst < insts)
            lines[d->uses[i].inst][MIN(d->uses[i].accesses, (u32)MOST_COUNT)]++;
    for (u32 i = 0; i < insts; i++) {
        u32 usual = 1;
        for (u32 n = 2; n <= MOST_COUNT; n++)
            usual = lines[i][n] > lines[i][usual] ? n : usual;
        stats->instructions += lines[i][usual] != 0;
        stats->similar += lines[i][usual];
        stats->near += lines[i][usual - 1] + lines[i][usual] + lines[i][usual + 1];
    }
    free(lines);
}

static void launch_done(void *const *states, u32 count, struct exec *exec)
{
    struct l2_locality *first = states[0];
    const struct l2_locality_device *d = mechanism_device(first);
    u32 most = 0;
    count_chunks(d, first->stats);
    first->stats->lines += d->lines.count;
    first->stats->untracked += d->untracked;
    for (u32 i = 0; i < d->lines.count; i++) {
        const u32 accesses = d->uses[i].accesses;
        first->stats->lines_0 += accesses == 1;
        first->stats->lines_1 += accesses == 2;
        first->stats->lines_more += accesses > 2;
        most = MAX(most, accesses);
    }
    first->stats->most_accesses += most;
    count_similar(d, exec->image->program->inst_count, first->stats);
}

static void destroy_device(void *device)
{
    struct l2_locality_device *d = device;
    forget(d);
    free(d->held);
    free(d->asking);
}

static const char *const deviations[] = {
    "Empty lines are told apart from dead ones (held_share); the text's dead time has both, as "
    "95.6 % "
    "of the time of all lines, also of programs that use few lines.",
    "Blocks and accesses are those of a launch: blocks of two launches are not told apart as "
    "blocks "
    "of a program, and a line that two launches access counts in each.",
    "Instruction lines and constants take part in the time of lines, not in the other counts.",
    "Where caches are between cores and L2, accesses of the L2 are those that miss in them.",
    NULL,
};

const struct mechanism l2_locality_mechanism = {
    MECHANISM_NAMED(l2_locality,
                    "measures dead lines of the L2, sharing of data by blocks, and reuse"),
    .source = "J. Tan, \"Architectural approaches to design reliable and energy-efficient GPUs\", "
              "dissertation, University of Houston, 2016, chapter 7",
    .deviations = deviations,
    .state_size = sizeof(struct l2_locality),
    .no_operands = true,
    .one_thread = true, /* a line is shared by blocks of all cores */
    .device_size = sizeof(struct l2_locality_device),
    .destroy_device = destroy_device,
    .optional = 1u << SEAM_L1_ACCESS | 1u << SEAM_PACKET,
    .create = create,
    .launch = launch,
    .launch_done = launch_done,
    .l1_access = l1_access,
    .packet = packet,
    .memory_size = sizeof(struct l2_locality_memory),
    .create_memory = create_memory,
    .launch_memory = launch_memory,
    .l2_request = l2_request,
    .l2_event = l2_event,
    .settle_memory = settle_memory,
};
