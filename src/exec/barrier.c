/*
 * Block barriers: 16 named barriers per block, arrival lane by lane.
 *
 * A barrier without a thread count waits for every live thread of the block, so that lanes that
 * exit count as arrived. With a count, it completes when that many threads have arrived; a warp all
 * of whose live lanes have arrived then counts with all its lanes, as hardware counts warps, even
 * if it has fewer threads or some have exited. Warps that never arrive do not count, exited or not.
 * The first arrival determines the count.
 *
 * Lanes of a path arrive together and wait; other paths of the warp continue and arrive later.
 */
#include "exec/reformed.h"
#include "exec/register_file.h"

enum {
    KEY_SYNC,
    KEY_ARRIVE,
    KEY_AND,
    KEY_OR
};

/* Whether a counter of warps that bit flips have changed shows that all of them have arrived. */
static COLD bool seems_complete(const struct thread_block *block, const struct barrier *barrier)
{
    i32 missing = -barrier->miscounted;
    for (u32 w = 0; w < block->exec->warps; w++)
        missing += (block->warps[w].live & ~barrier->arrived[w]) != 0;
    return missing <= 0;
}

static bool is_complete(const struct thread_block *block, const struct barrier *barrier)
{
    const struct exec *exec = block->exec;
    if (UNLIKELY(barrier->miscounted))
        return seems_complete(block, barrier);
    if (!barrier->threads) {
        /* Warps run in order, so the last ones are most likely to be missing. */
        for (u32 w = exec->warps; w-- > 0;)
            if (block->warps[w].live & ~barrier->arrived[w])
                return false;
        return true;
    }
    u32 arrived = barrier->again;
    for (u32 w = 0; w < exec->warps; w++) {
        lane_set lanes = barrier->arrived[w];
        if (lanes)
            arrived += block->warps[w].live & ~lanes ? count_lanes(lanes) : exec->image->warp_size;
    }
    return arrived >= barrier->threads;
}

/* Writes the result of a reduction for the lanes that waited with this instruction. */
static void write_result(struct warp *warp, u32 pc, lane_set lanes, const struct barrier *barrier)
{
    const struct inst *inst = warp_inst(warp, pc);
    const struct step *step = &warp->exec->image->steps[pc];
    if (!step_has(step, SLOT_DST))
        return;
    bool value = inst->key == KEY_AND ? !barrier->zeros : barrier->ones != 0;
    for (u32 c = 0; c < warp->exec->image->chunks; c++) {
        u32 *to = chunk_row(&warp->chunks[c], step, SLOT_DST);
        u32 mask = lanes_of_chunk(lanes, c);
        if (inst->dst[0].kind == OPERAND_MASK) {
            *to = (*to & ~mask) | (value ? mask : 0);
            continue;
        }
        const bool mapped = warp->map && !warp->map->open;
        for (u32 set = mask; set; set &= set - 1)
            if (UNLIKELY(mapped))
                *register_word(warp, inst->dst[0].index, LANES * c + first_lane(set)) =
                    barrier->ones;
            else
                to[first_lane(set)] = barrier->ones;
    }
}

/* The same in the homes of the lanes. */
static void write_results(struct warp *warp, u32 pc, lane_set lanes, const struct barrier *barrier)
{
    lane_set group;
    for (lane_set left = lanes; left; left &= ~group) {
        group = warp_same_home(warp, left);
        write_result(warp_home(warp, first_lane(left)), pc, group, barrier);
    }
}

/* Releases all waiting paths; `running` is in the middle of its step. */
static void complete(struct thread_block *block, u32 number, const struct path *running)
{
    struct barrier *barrier = &block->barriers[number];
    for (u32 w = 0; w < block->exec->warps; w++) {
        struct warp *warp = &block->warps[w];
        if (!barrier->arrived[w] && !warp->reformed)
            continue;
        for (u32 i = 0; i < warp->order_count; i++) {
            struct path *path = &warp->paths[warp->order[i]];
            if (path->state != PATH_BARRIER || path->barrier != number)
                continue;
            write_results(warp, path->pc, path->mask, barrier);
            if (path == running)
                path->state = PATH_READY;
            else
                paths_advance(warp, path);
            if (warp->state == WARP_WAITING)
                warp->state = WARP_READY;
        }
        barrier->arrived[w] = 0;
    }
    barrier->waiting = false;
    barrier->miscounted = 0;
    block->barriers_used &= ~(1u << number);
}

static u32 operand_value(const struct warp *warp, u32 pc, unsigned slot, u32 lane, u32 absent)
{
    const struct step *step = &warp->exec->image->steps[pc];
    const u32 *row = chunk_row(&warp->chunks[lane / LANES], step, slot);
    return row ? row[lane % LANES] : absent;
}

static void count_predicates(struct warp *warp, u32 pc, lane_set lanes, struct barrier *barrier)
{
    const struct inst *inst = warp_inst(warp, pc);
    const struct step *step = &warp->exec->image->steps[pc];
    if (!step_has(step, 2))
        return;
    for (u32 c = 0; c < warp->exec->image->chunks; c++) {
        u32 mask = lanes_of_chunk(lanes, c);
        u32 source = *chunk_row(&warp->chunks[c], step, 2) ^ (inst->src[2].neg ? LANES_FULL : 0);
        barrier->ones += count_lanes(source & mask);
        barrier->zeros += count_lanes(~source & mask);
    }
}

static void arrive(struct warp *warp, u32 pc, lane_set lanes, struct barrier *barrier)
{
    if (!barrier->waiting) {
        barrier->waiting = true;
        barrier->threads = operand_value(warp, pc, 1, first_lane(lanes), 0);
        barrier->again = barrier->ones = barrier->zeros = 0;
    }
    lane_set group;
    for (lane_set left = lanes; left; left &= ~group) {
        lane_set *arrived = &barrier->arrived[warp_home(warp, first_lane(left))->index];
        group = warp_same_home(warp, left);
        if (*arrived & group)
            barrier->again += count_lanes(*arrived & group);
        *arrived |= group;
    }
    count_predicates(warp, pc, lanes, barrier);
    if (UNLIKELY(warp->reformed !=
                 NULL)) /* a result goes to the rows of homes, of which it is one */
        reformed_unstage(warp);
}

/* Whether a barrier completes at once without any effect: the block has no other lanes, none has
 * arrived before, and the instruction has no result. */
static bool is_trivial(const struct warp *warp, const struct inst *inst, const struct step *step,
                       lane_set lanes)
{
    return warp->exec->warps == 1 && lanes == warp->live && lanes == warp->active &&
           !warp->block->barriers_used && inst->op == OP_bar && inst->key == KEY_SYNC &&
           !step_has(step, 1) && !step_has(step, SLOT_DST);
}

/* A barrier that others take part in, or that does not exist. */
static __attribute__((noinline)) enum outcome_step take_part(struct warp *warp, u32 pc,
                                                             lane_set lanes, u32 number)
{
    struct thread_block *block = warp->block;
    const struct inst *inst = warp_inst(warp, pc);
    if (number >= BARRIERS) {
        fault_at(warp, pc, first_lane(lanes), OUTCOME_TRAP,
                 "barrier %u does not exist: a block has %d", number, BARRIERS);
        return STEP_STOP;
    }
    struct barrier *barrier = &block->barriers[number];
    arrive(warp, pc, lanes, barrier);
    block->barriers_used |= 1u << number;
    if (inst->op == OP_bar && inst->key == KEY_ARRIVE) {
        if (is_complete(block, barrier))
            complete(block, number, NULL);
        return STEP_NEXT;
    }
    lane_set going = warp->active & ~lanes;
    if (going) { /* lanes whose guard is false continue separately */
        u32 leaf = paths_split(warp, going);
        paths_advance(warp, &warp->paths[leaf]);
        warp_set_active(warp);
    }
    struct path *path = warp_path(warp);
    path->state = PATH_BARRIER;
    path->barrier = (u8)number;
    if (is_complete(block, barrier)) {
        complete(block, number, path);
        return STEP_NEXT;
    }
    paths_park(warp, PATH_BARRIER);
    return STEP_PARK;
}

enum outcome_step barrier_step(struct warp *warp, u32 pc, lane_set lanes)
{
    const struct image *image = warp->exec->image;
    const u32 number = operand_value(warp, pc, 0, first_lane(lanes), 0);
    if (number < BARRIERS && is_trivial(warp, &image->program->insts[pc], &image->steps[pc], lanes))
        return STEP_NEXT;
    return take_part(warp, pc, lanes, number);
}

/* Lanes of the block have exited: barriers may be complete without them. */
void barrier_exits(struct thread_block *block)
{
    for (u32 set = block->barriers_used; set; set &= set - 1) {
        u32 number = first_lane(set);
        if (is_complete(block, &block->barriers[number]))
            complete(block, number, NULL);
    }
}
