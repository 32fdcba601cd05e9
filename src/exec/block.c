/*
 * Blocks: their memory, and turns of their warps.
 *
 * One piece of storage holds a block: its struct, its warps, masks, registers and shared memory,
 * the last three zero at the start so that runs are reproducible. Storage returns to a LIFO list:
 * ordinary blocks run to their end in one turn, and the next one finds warm memory. In timing mode,
 * masks and registers are in the core's register file instead (register_file.h).
 */
#include "base/arena.h"
#include "base/state_walk.h"
#include "exec/register_file.h"
#include "exec/warp.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
    LINE = 64,
    CLEARED_BY_KERNEL = 1024 * 1024
};

/* Masks and registers of a warp. */
static size_t warp_row_bytes(const struct exec *exec)
{
    size_t rows = exec->image->mask_rows + exec->image->own_rows + exec->register_rows;
    return rows * exec->image->warp_size * sizeof(u32);
}

static size_t arrival_bytes(const struct exec *exec)
{
    return align_up(BARRIERS * exec->warps * sizeof(lane_set), LINE);
}

static size_t uniform_bytes(const struct exec *exec)
{
    return UNIFORM_PARAMS * sizeof(u32) + exec->param_bytes;
}

/* The block itself, its warps, arrivals at barriers, uniforms. */
static size_t header_bytes(const struct exec *exec)
{
    return align_up(sizeof(struct thread_block), LINE) + exec->warps * sizeof(struct warp) +
           arrival_bytes(exec) + align_up(uniform_bytes(exec), LINE);
}

/* The masks and registers that are in a block's storage. */
static size_t own_row_bytes(const struct exec *exec)
{
    return exec->file ? 0 : exec->warps * warp_row_bytes(exec);
}

/* What must be zero when a block starts: masks, registers, shared memory. */
static size_t cleared_bytes(const struct exec *exec)
{
    return own_row_bytes(exec) + align_up(exec->shared_bytes, LINE);
}

static void prepare_tids(struct exec *exec)
{
    u32 lanes = exec->warps * exec->image->warp_size;
    for (unsigned d = 0; d < 3; d++)
        exec->tids[d] = checked(calloc(lanes, sizeof(u32)));
    for (u32 t = 0; t < lanes; t++) {
        exec->tids[0][t] = t % exec->dims[0];
        exec->tids[1][t] = t / exec->dims[0] % exec->dims[1];
        exec->tids[2][t] = t / exec->dims[0] / exec->dims[1];
    }
}

void exec_prepare(struct exec *exec, u32 most_resident)
{
    const struct program *program = exec->image->program;
    exec->threads = exec->dims[0] * exec->dims[1] * exec->dims[2];
    exec->warps = (exec->threads + exec->image->warp_size - 1) / exec->image->warp_size;
    exec->shared_bytes = exec->static_shared_bytes + exec->dynamic_shared_bytes;
    exec->local_stride = (u32)align_up(exec->local_bytes, 16);
    exec->register_rows = MAX(exec->kernel->total_registers, 1);
    exec->masks = MAX(exec->kernel->total_masks, 1);
    prepare_tids(exec);
    exec->guard_threads = checked(calloc(MAX(program->inst_count, 1), sizeof(u64)));
    exec->storage_bytes = header_bytes(exec) + cleared_bytes(exec);
    exec->local_storage_bytes =
        align_up((size_t)exec->warps * exec->image->warp_size * exec->local_stride, 4096);
    exec->free_storage = checked(calloc(most_resident, sizeof *exec->free_storage));
}

static void storage_destroy(const struct exec *exec, struct thread_block *block)
{
    for (u32 w = 0; w < exec->warps; w++)
        free(block->warps[w].paths);
    if (block->local)
        munmap(block->local, exec->local_storage_bytes);
    free(block->storage);
}

void exec_release(struct exec *exec)
{
    for (u32 i = 0; i < exec->free_count; i++)
        storage_destroy(exec, exec->free_storage[i]);
    for (unsigned d = 0; d < 3; d++)
        free(exec->tids[d]);
    free(exec->guard_threads);
    free(exec->free_storage);
}

/* Fills all uniforms except the block's own coordinates. */
static void fill_uniforms(const struct exec *exec, u32 *uniforms)
{
    memcpy(uniforms + UNIFORM_NTID, exec->dims, sizeof exec->dims);
    memcpy(uniforms + UNIFORM_NCTAID, exec->grid, sizeof exec->grid);
    memcpy(uniforms + UNIFORM_PARAMS, exec->params, exec->param_bytes);
}

static void chunk_create(struct chunk *chunk, const struct exec *exec,
                         const struct thread_block *block, u8 *rows, u32 first)
{
    chunk->lanes.stride = exec->image->warp_size;
    chunk->lanes.lane_mask = chunk->active_mask;
    chunk->base = rows;
    chunk_shared(chunk, block->shared, exec->shared_bytes);
    chunk->uniforms = (const u8 *)block->uniforms;
    chunk->uniform_bytes = (u32)uniform_bytes(exec);
    chunk->generation = memory_generation(exec->memory);
    chunk->local_bytes = exec->local_bytes;
    chunk->local_stride = exec->local_stride;
    for (unsigned d = 0; d < 3; d++)
        chunk->tids[d] = &exec->tids[d][first];
}

static struct thread_block *storage_create(struct exec *exec)
{
    void *storage = checked(aligned_alloc(LINE, align_up(exec->storage_bytes, LINE)));
    struct thread_block *block = storage;
    memset(storage, 0, header_bytes(exec));
    block->storage = storage;
    block->exec = exec;
    block->slot = exec->storages++;
    block->warps = (struct warp *)((u8 *)storage + align_up(sizeof *block, LINE));
    lane_set *arrived = (lane_set *)(block->warps + exec->warps);
    for (u32 b = 0; b < BARRIERS; b++)
        block->barriers[b].arrived = arrived + b * exec->warps;
    block->uniforms = (u32 *)((u8 *)arrived + arrival_bytes(exec));
    fill_uniforms(exec, block->uniforms);
    u8 *rows = (u8 *)storage + header_bytes(exec);
    block->shared = rows + own_row_bytes(exec);
    if (exec->local_storage_bytes) {
        block->local = mmap(NULL, exec->local_storage_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (block->local == MAP_FAILED)
            host_memory_exhausted();
    }
    for (u32 w = 0; w < exec->warps; w++) {
        struct warp *warp = &block->warps[w];
        warp->exec = exec;
        warp->block = block;
        warp->index = w;
        if (block->local)
            warp->local = block->local + (size_t)w * exec->image->warp_size * exec->local_stride;
        for (u32 c = 0; c < exec->image->chunks; c++)
            chunk_create(&warp->chunks[c], exec, block,
                         rows + w * warp_row_bytes(exec) + c * LANES * sizeof(u32),
                         w * exec->image->warp_size + c * LANES);
        warp->chunks[0].local = warp->local;
    }
    return block;
}

/* Clears local memory in guest memory: what another block has left in this one's slot. */
static void clear_entry_local(const struct exec *exec, const struct thread_block *block)
{
    if (!exec->entry_local_address)
        return;
    u64 bytes = (u64)exec->entry->local_bytes * exec->image->warp_size * exec->warps;
    u64 address = exec->entry_local_address + block->slot * bytes;
    const struct allocation *all = memory_find(exec->memory, address, bytes);
    memset(all->host + (address - all->address), 0, bytes);
}

static void clear_local(const struct exec *exec, struct thread_block *block)
{
    clear_entry_local(exec, block);
    if (exec->local_storage_bytes > CLEARED_BY_KERNEL)
        madvise(block->local, exec->local_storage_bytes, MADV_DONTNEED);
    else if (block->local)
        memset(block->local, 0, exec->local_storage_bytes);
}

static void start_warp(struct warp *warp)
{
    const struct exec *exec = warp->exec;
    u32 first = warp->index * exec->image->warp_size;
    u32 lanes = MIN(exec->threads - first, exec->image->warp_size);
    warp->registers = NULL;
    warp->map = NULL;
    warp->reformed = NULL;
    warp->kept = NULL;
    warp->state = WARP_READY;
    warp->members = lanes == MAX_LANES ? ~0ull : (1ull << lanes) - 1;
    warp->live = warp->members;
    warp->instructions = 0;
    warp->yield = warp->slept = false;
    warp->memory_view = NULL;
    warp->active = 0;
    warp->view = NULL;
    paths_reset(warp, warp->live, exec->kernel->first, NO_INST);
    if (!exec->image->program->traits.explicit_exec)
        return;
    wave_start(warp);
    warp_set_active(warp);
}

/* Completed barriers are clean already. */
static void reset_barriers(struct thread_block *block)
{
    for (u32 set = block->barriers_used; set; set &= set - 1) {
        struct barrier *barrier = &block->barriers[first_lane(set)];
        barrier->waiting = false;
        barrier->miscounted = 0;
        memset(barrier->arrived, 0, block->exec->warps * sizeof *barrier->arrived);
    }
    block->barriers_used = 0;
}

struct thread_block *block_start(struct exec *exec, u64 number, u32 core)
{
    struct thread_block *block;
    if (exec->free_count) {
        block = exec->free_storage[--exec->free_count];
        clear_local(exec, block);
    } else {
        block = storage_create(exec);
    }
    exec->image->moves->clear((u8 *)block->storage + header_bytes(exec), cleared_bytes(exec));
    block->number = number;
    block->core = core;
    block->done_warps = 0;
    block->warp_count = exec->warps;
    block->shared_bytes = exec->shared_bytes;
    reset_barriers(block);
    block->id[0] = (u32)(number % exec->grid[0]);
    block->id[1] = (u32)(number / exec->grid[0] % exec->grid[1]);
    block->id[2] = (u32)(number / exec->grid[0] / exec->grid[1]);
    memcpy(block->uniforms + UNIFORM_CTAID, block->id, sizeof block->id);
    for (u32 w = 0; w < exec->warps; w++) {
        if (exec->file)
            register_file_take(exec->file, &block->warps[w]);
        start_warp(&block->warps[w]);
    }
    return block;
}

void block_limit(struct thread_block *block, u32 warps, u32 shared_bytes)
{
    const struct exec *exec = block->exec;
    block->warp_count = warps;
    block->shared_bytes = shared_bytes;
    for (u32 w = 0; w < exec->warps; w++) {
        struct warp *warp = &block->warps[w];
        for (u32 c = 0; c < exec->image->chunks; c++)
            chunk_shared(&warp->chunks[c], block->shared, shared_bytes);
        if (w < warps)
            continue;
        warp->live = 0;
        warp->state = WARP_DONE;
        block->done_warps++;
        if (exec->file)
            register_file_give(exec->file, warp);
    }
}

void block_end(struct thread_block *block)
{
    for (u32 w = 0; block->exec->file && w < block->warp_count; w++)
        register_file_give(block->exec->file, &block->warps[w]);
    block->exec->last = NULL;
    block->exec->free_storage[block->exec->free_count++] = block;
}

static u64 hash_bytes(u64 hash, const void *data, size_t bytes)
{
    return hash_words(hash, data, (u32)(bytes / sizeof(u32)));
}

/* Continues the hash with what is neither a mask nor a register. */
static u64 state_hash_of(const struct warp *warp, u64 hash)
{
    const struct exec *exec = warp->exec;
    if (warp->local)
        hash = hash_bytes(hash, warp->local, (size_t)exec->image->warp_size * exec->local_stride);
    hash = hash_bytes(hash, &warp->live, sizeof warp->live);
    for (u32 i = 0; i < warp->order_count; i++)
        for (u32 n = warp->order[i]; n != NO_PATH; n = warp->paths[n].parent) {
            const struct path *path = &warp->paths[n];
            const u32 state[] = {path->pc, path->rpc, path->state, (u32)path->mask,
                                 (u32)(path->mask >> 32)};
            hash = hash_bytes(hash, state, sizeof state);
        }
    return hash;
}

/* The masks, and with them other rows in front of the registers. */
static size_t mask_bytes(const struct exec *exec)
{
    const size_t rows = exec->image->mask_rows + exec->image->own_rows;
    return rows * exec->image->warp_size * sizeof(u32);
}

u64 warp_hash_plain(const struct warp *warp)
{
    return state_hash_of(
        warp, hash_bytes(0xcbf29ce484222325ull, warp->chunks[0].base, mask_bytes(warp->exec)));
}

u64 warp_hash(const struct warp *warp)
{
    const struct exec *exec = warp->exec;
    u32 row[MAX_LANES];
    u64 hash = hash_bytes(0xcbf29ce484222325ull, warp->chunks[0].base,
                          warp->map ? mask_bytes(exec) : warp_row_bytes(exec));
    for (u32 r = 0; warp->registers && r < exec->register_rows; r++) {
        if (!register_elsewhere(warp->registers, r))
            continue;
        warp->registers->read(warp->registers, warp, r, row);
        hash = hash_bytes(hash, row, exec->image->warp_size * sizeof *row);
    }
    return state_hash_of(warp, hash);
}

bool block_unblock(struct thread_block *block)
{
    bool any = false;
    for (u32 w = 0; w < block->exec->warps; w++) {
        struct warp *warp = &block->warps[w];
        if (warp->state == WARP_WAITING && paths_release(warp)) {
            warp->state = WARP_READY;
            any = true;
        }
    }
    if (!any)
        fault_deadlock(block);
    return any;
}

/* Instructions that a warp may still issue before the launch's limit. */
static u64 allowance(const struct exec *exec, u64 wanted)
{
    u64 limit = exec->limits->max_instructions;
    if (!limit)
        return wanted;
    return exec->instructions < limit ? MIN(wanted, limit - exec->instructions) : 0;
}

bool block_turn(struct thread_block *block)
{
    struct exec *exec = block->exec;
    u64 budget = (u64)exec->limits->quantum * exec->warps, start = exec->instructions;
    bool ran = true, awake = true;
    while (awake && !exec->stopped && exec->instructions - start < budget) {
        ran = awake = false;
        for (u32 w = 0; w < exec->warps && !exec->stopped; w++) {
            struct warp *warp = &block->warps[w];
            if (warp->state != WARP_READY)
                continue;
            u64 quantum = allowance(exec, exec->limits->quantum);
            if (!quantum) {
                fault_stop(exec, OUTCOME_LIMIT,
                           "stopped after %llu warp instructions (launch.max_instructions)",
                           (unsigned long long)exec->limits->max_instructions);
                return false;
            }
            warp_run(warp, quantum);
            exec->last = warp;
            if (exec->poll)
                exec->poll(exec);
            ran = true;
            awake |= !warp->slept;
        }
        if (!ran && block->done_warps < exec->warps)
            awake = block_unblock(block);
    }
    return block->done_warps == exec->warps;
}
