/*
 * Divergence: the tree of paths of a warp, a reconvergence stack whose entries may also wait.
 *
 * A branch whose lanes disagree turns the running leaf into a node that waits at the branch's
 * reconvergence point, with one child for each side that is not there already. The fall-through
 * side runs first (for a jump table or an indirect call: the side of the lowest lane). A leaf that
 * reaches its reconvergence point merges into its parent; a node whose last child is gone becomes a
 * leaf again. A call is a child that ends when all its lanes have returned.
 *
 * With this stack, lanes at a reconvergence point wait for their siblings. Programs written for
 * independent thread scheduling may need them to run: a lane that left a spin loop with the lock
 * waits there for lanes that spin until it unlocks. paths_release then splits the lanes that have
 * arrived from the node, so that they continue as its sibling and meet the others one level up. It
 * is used only when nothing else in the warp can run, or for a leaf that evidently spins: its
 * registers are the same from one iteration to the next (paths_spin), or it has looped for
 * launch.spin_release branches.
 *
 * The invariants are W1 to W4 of warp.h.
 */
#include "exec/reformed.h"

#include <stdlib.h>

void paths_clear(struct warp *warp)
{
    warp->path_used = warp->path_live = 0;
    warp->path_free = NO_PATH;
    warp->order_count = 0;
    warp->current = NO_PATH;
}

void paths_reset(struct warp *warp, lane_set mask, u32 pc, u32 rpc)
{
    paths_clear(warp);
    if (!warp->paths) {
        warp->path_capacity = 16;
        warp->paths = malloc(warp->path_capacity * sizeof *warp->paths);
        if (!warp->paths)
            host_memory_exhausted();
    }
    warp->paths[0] = (struct path){.mask = mask, .pc = pc, .rpc = rpc, .parent = NO_PATH};
    warp->path_used = warp->path_live = 1;
    warp->order[warp->order_count++] = 0;
    warp->current = 0;
    warp_set_active(warp);
}

static u32 path_new(struct warp *warp, const struct path *from)
{
    u32 index = warp->path_free;
    if (index != NO_PATH) {
        warp->path_free = warp->paths[index].parent;
    } else {
        if (warp->path_used == warp->path_capacity) {
            warp->path_capacity *= 2;
            warp->paths = realloc(warp->paths, warp->path_capacity * sizeof *warp->paths);
            if (!warp->paths)
                host_memory_exhausted();
        }
        index = warp->path_used++;
    }
    warp->paths[index] = *from;
    warp->path_live++;
    if (from->parent != NO_PATH)
        warp->paths[from->parent].children++;
    return index;
}

static void order_push(struct warp *warp, u32 path)
{
    assert(warp->order_count < MAX_LANES);
    warp->order[warp->order_count++] = path;
}

static void order_remove(struct warp *warp, u32 path)
{
    u32 i = warp->order_count;
    while (warp->order[--i] != path)
        ;
    if (LIKELY(i == --warp->order_count))
        return;
    memmove(&warp->order[i], &warp->order[i + 1], (warp->order_count - i) * sizeof *warp->order);
}

/* Removes a leaf that is done; nodes that waited for it become leaves or are removed as well. */
static void path_drop(struct warp *warp, u32 leaf)
{
    order_remove(warp, leaf);
    for (;;) {
        u32 parent = warp->paths[leaf].parent;
        warp->paths[leaf].parent = warp->path_free;
        warp->path_free = leaf;
        warp->path_live--;
        if (parent == NO_PATH || --warp->paths[parent].children)
            return;
        if (warp->paths[parent].mask) {
            order_push(warp, parent);
            return;
        }
        leaf = parent;
    }
}

void paths_remove(struct warp *warp, u32 leaf)
{
    path_drop(warp, leaf);
    if (warp->current == leaf)
        paths_select(warp);
}

/* Makes the topmost ready leaf the current one; false: there is none. */
bool paths_select(struct warp *warp)
{
    for (u32 i = warp->order_count; i-- > 0;)
        if (warp->paths[warp->order[i]].state == PATH_READY) {
            warp->current = warp->order[i];
            warp_set_active(warp);
            return true;
        }
    warp->current = NO_PATH;
    return false;
}

static bool room_for(struct warp *warp, u32 count)
{
    if (warp->path_live + count <= warp->exec->limits->path_limit)
        return true;
    struct path *leaf = warp_path(warp);
    fault_at(
        warp, leaf->pc, first_lane(leaf->mask), OUTCOME_STACK_OVERFLOW,
        "%u nested calls and divergent paths in one warp: infinite recursion? (launch.path_limit)",
        warp->path_live);
    return false;
}

/* Adds children of `parent`, the first target on top. */
static void push_targets(struct warp *warp, const struct target *targets, u32 count,
                         struct path like, u32 skip_pc)
{
    for (u32 i = count; i-- > 0;) {
        if (targets[i].pc == skip_pc)
            continue;
        like.mask = targets[i].mask;
        like.pc = targets[i].pc;
        order_push(warp, path_new(warp, &like));
    }
}

/* paths_diverge if all but one target are the reconvergence point and the leaf is the topmost: it
 * waits there, and its only child runs. */
static void diverge_once(struct warp *warp, const struct target *target, u32 reconverge)
{
    const u32 index = warp->current;
    warp_path(warp)->pc = reconverge;
    const struct path child = {.mask = target->mask,
                               .pc = target->pc,
                               .rpc = reconverge,
                               .kind = PATH_BRANCH,
                               .parent = index};
    warp->current = warp->order[warp->order_count - 1] = path_new(warp, &child);
    warp_set_active(warp);
}

/*
 * The lanes of the current leaf go to `count` (two or more) different places. False: the launch was
 * stopped.
 */
bool paths_diverge(struct warp *warp, const struct target *targets, u32 count, u32 reconverge)
{
    if (!room_for(warp, count))
        return false;
    u32 index = warp->current;
    struct path *leaf = warp_path(warp);
    const bool top = warp->order[warp->order_count - 1] == index;
    if (top && count == 2 && leaf->rpc != reconverge &&
        (targets[0].pc == reconverge) != (targets[1].pc == reconverge)) {
        diverge_once(warp, &targets[targets[0].pc == reconverge], reconverge);
        return true;
    }
    struct path like = {.rpc = reconverge, .kind = PATH_BRANCH, .parent = index};
    order_remove(warp, index);
    if (leaf->rpc != reconverge) {
        leaf->pc = reconverge;
        push_targets(warp, targets, count, like, reconverge);
    } else {
        /* Its own reconvergence point: no need to nest. A side that is already there leaves the
         * leaf. */
        u32 first = targets[0].pc == reconverge ? 1 : 0;
        like.parent = leaf->parent;
        like.kind = leaf->kind;
        leaf->spins = leaf->gave_way = leaf->next_look = 0;
        leaf->hashed = false;
        leaf->mask = targets[first].mask;
        leaf->pc = targets[first].pc;
        push_targets(warp, targets + first + 1, count - first - 1, like, reconverge);
        order_push(warp, index);
    }
    return paths_select(warp);
}

bool paths_call(struct warp *warp, const struct target *targets, u32 count, u32 return_pc)
{
    if (!room_for(warp, count))
        return false;
    u32 index = warp->current;
    order_remove(warp, index);
    warp->paths[index].pc = return_pc;
    struct path like = {.rpc = NO_INST, .kind = PATH_CALL, .parent = index};
    push_targets(warp, targets, count, like, NO_INST);
    return paths_select(warp);
}

/* The current leaf has reached its reconvergence point, or has no lanes left. */
void paths_merge(struct warp *warp)
{
    path_drop(warp, warp->current);
    const u32 top = warp->order_count ? warp->order[warp->order_count - 1] : NO_PATH;
    if (UNLIKELY(top == NO_PATH || warp->paths[top].state != PATH_READY)) {
        paths_select(warp);
        return;
    }
    warp->current = top;
    warp_set_active(warp);
}

static void after_leaving(struct warp *warp)
{
    if (warp_path(warp)->mask)
        warp_set_active(warp);
    else
        paths_merge(warp);
}

void paths_exit(struct warp *warp, lane_set lanes)
{
    for (u32 i = warp->current; i != NO_PATH; i = warp->paths[i].parent)
        warp->paths[i].mask &= ~lanes;
    if (UNLIKELY(warp->reformed != NULL))
        reformed_exit(warp, lanes);
    else
        warp->live &= ~lanes;
    after_leaving(warp);
    cross_retry(warp);
    if (warp->block->barriers_used)
        barrier_exits(warp->block);
}

/* Lanes leave the nodes up to and including that of their call; from the kernel itself they
 * exit. */
void paths_return(struct warp *warp, lane_set lanes)
{
    u32 call = warp->current;
    while (call != NO_PATH && warp->paths[call].kind != PATH_CALL)
        call = warp->paths[call].parent;
    if (call == NO_PATH) {
        paths_exit(warp, lanes);
        return;
    }
    for (u32 i = warp->current;; i = warp->paths[i].parent) {
        warp->paths[i].mask &= ~lanes;
        if (i == call)
            break;
    }
    after_leaving(warp);
}

/*
 * Splits lanes off the current leaf, in the middle of a block, as a separate leaf beneath it. The
 * rest of the block is then issued a second time.
 */
u32 paths_split(struct warp *warp, lane_set lanes)
{
    struct path like = *warp_path(warp);
    warp_path(warp)->mask &= ~lanes;
    like.mask = lanes;
    like.resume = true;
    const struct stretch *stretch = image_stretch(warp->exec->image, like.pc);
    for (u32 i = like.pc + 1; !warp->exec->by_dyninst && i < stretch->first + stretch->length; i++)
        account_inst(warp->exec, i, 1, 0);
    u32 index = path_new(warp, &like);
    order_push(warp, index);
    return index;
}

/* A leaf continues after the instruction it is at. */
void paths_advance(struct warp *warp, struct path *leaf)
{
    const struct image *image = warp->exec->image;
    leaf->pc++;
    if (UNLIKELY(leaf->stray)) {
        leaf->pc = leaf->stray - 1;
        leaf->stray = 0;
    }
    leaf->state = PATH_READY;
    leaf->resume = leaf->pc < image->program->inst_count &&
                   image->stretch_of[leaf->pc] == image->stretch_of[leaf->pc - 1];
}

/* The current leaf waits where it is. */
void paths_park(struct warp *warp, enum path_state state)
{
    warp_path(warp)->state = state;
    warp_path(warp)->resume = true;
    if (paths_select(warp))
        warp->exec->stats.path_switches++;
}

/* Moves the current leaf to the bottom, so that the others run first. */
void paths_rotate(struct warp *warp)
{
    u32 leaf = warp->current;
    order_remove(warp, leaf);
    memmove(&warp->order[1], &warp->order[0], warp->order_count * sizeof *warp->order);
    warp->order[0] = leaf;
    warp->order_count++;
    paths_select(warp);
    warp->exec->stats.path_switches += warp->current != leaf;
}

/* Lanes of a node that are in none of its children: they have arrived at its pc. */
static lane_set arrived_lanes(const struct warp *warp, u32 node)
{
    lane_set lanes = warp->paths[node].mask;
    for (u32 i = 0; i < warp->order_count; i++)
        for (u32 n = warp->order[i]; n != NO_PATH; n = warp->paths[n].parent)
            if (n != node && warp->paths[n].parent == node)
                lanes &= ~warp->paths[n].mask;
    return lanes;
}

static u32 add_place(struct target *places, u32 count, lane_set lanes, u32 pc)
{
    for (u32 i = 0; i < count; i++)
        if (places[i].pc == pc) {
            places[i].mask |= lanes;
            return count;
        }
    if (lanes)
        places[count++] = (struct target){lanes, pc};
    return count;
}

u32 paths_places(const struct warp *warp, struct target *places)
{
    u32 count = 0;
    for (u32 i = 0; i < warp->order_count; i++)
        for (u32 n = warp->order[i]; n != NO_PATH; n = warp->paths[n].parent) {
            const struct path *path = &warp->paths[n];
            if (path->kind == PATH_CALL || path->state != PATH_READY)
                return 0;
            count = add_place(places, count, path->children ? arrived_lanes(warp, n) : path->mask,
                              path->pc);
        }
    return count;
}

/* Lets the lanes that wait at the nearest reconvergence point continue; false: none wait. */
bool paths_release(struct warp *warp)
{
    for (u32 i = warp->order_count; i-- > 0;) {
        for (u32 n = warp->paths[warp->order[i]].parent; n != NO_PATH; n = warp->paths[n].parent) {
            lane_set lanes = arrived_lanes(warp, n);
            if (!lanes || warp->paths[n].pc == NO_INST)
                continue;
            warp->paths[n].mask &= ~lanes;
            struct path like = warp->paths[n];
            like.mask = lanes;
            like.children = 0;
            like.resume = false;
            like.state = PATH_READY;
            order_push(warp, path_new(warp, &like));
            warp->exec->stats.released_waits++;
            return true;
        }
    }
    return false;
}

/* ---- copies ---- */

void paths_keep(const struct warp *warp, struct paths_copy *copy)
{
    if (copy->capacity < warp->path_used) {
        free(copy->paths);
        copy->capacity = warp->path_capacity;
        copy->paths = malloc(copy->capacity * sizeof *copy->paths);
        if (!copy->paths)
            host_memory_exhausted();
    }
    memcpy(copy->paths, warp->paths, warp->path_used * sizeof *copy->paths);
    memcpy(copy->order, warp->order, warp->order_count * sizeof *copy->order);
    copy->used = warp->path_used;
    copy->free = warp->path_free;
    copy->live = warp->path_live;
    copy->current = warp->current;
    copy->order_count = warp->order_count;
    copy->live_lanes = warp->live;
}

void paths_go_back(struct warp *warp, const struct paths_copy *copy)
{
    assert(copy->used && warp->path_capacity >= copy->used);
    memcpy(warp->paths, copy->paths, copy->used * sizeof *copy->paths);
    memcpy(warp->order, copy->order, copy->order_count * sizeof *copy->order);
    warp->path_used = copy->used;
    warp->path_free = copy->free;
    warp->path_live = copy->live;
    warp->current = copy->current;
    warp->order_count = copy->order_count;
    warp->live = copy->live_lanes;
    warp_set_active(warp);
}

/* ---- lanes that wait ---- */

/* Continues the hash with registers that are not in their rows. */
static u64 view_hash(const struct warp *warp, u64 hash)
{
    u32 row[MAX_LANES];
    for (u32 r = 0; r < warp->exec->register_rows; r++) {
        if (!register_elsewhere(warp->registers, r))
            continue;
        warp->registers->read(warp->registers, warp, r, row);
        for (lane_set set = warp->active; set; set &= set - 1)
            hash = (hash ^ row[first_lane(set)]) * 0x100000001b3ull;
    }
    return hash;
}

static u64 register_hash(const struct warp *warp)
{
    const struct exec *exec = warp->exec;
    u64 hash = 0xcbf29ce484222325ull;
    for (u32 c = 0; c < exec->image->chunks; c++) {
        const struct chunk *chunk = &warp->chunks[c];
        for (u32 m = 0; m < exec->masks; m++) {
            u32 word = ((u32 *)chunk->base)[m / LANES * exec->image->warp_size + m % LANES];
            hash = (hash ^ (word & chunk->active)) * 0x100000001b3ull;
        }
        const u32 *registers = (u32 *)chunk->base + exec->image->mask_rows * exec->image->warp_size;
        for (u32 r = 0; !warp->map && r < exec->register_rows; r++)
            for (u32 set = chunk->active; set; set &= set - 1) {
                u32 word = registers[r * exec->image->warp_size + first_lane(set)];
                hash = (hash ^ word) * 0x100000001b3ull;
            }
    }
    return warp->registers ? view_hash(warp, hash) : hash;
}

/*
 * The current leaf has looped (or slept) `spins` times while other lanes of its warp wait. Every
 * launch.spin_branches it yields to other leaves; lanes at reconvergence points are released for it
 * only if it spins: if its registers are unchanged when it next branches to the same target as when
 * it yielded, or after launch.spin_release.
 */
void paths_spin(struct warp *warp)
{
    enum {
        ROUNDS = 16
    };
    struct path *leaf = warp_path(warp);
    const struct launch_params *limits = warp->exec->limits;
    u32 since = leaf->spins - leaf->gave_way;
    bool looks = leaf->hashed && since < ROUNDS;
    bool repeats = false;
    if (looks && leaf->spin_pc == leaf->pc) { /* one check: a hash costs as much as many steps */
        repeats = register_hash(warp) == leaf->spin_hash;
        looks = leaf->hashed = false;
    }
    if (repeats || leaf->spins >= limits->spin_release) {
        leaf->spins = leaf->gave_way = 0;
        leaf->next_look = limits->spin_branches;
        leaf->hashed = false;
        if (paths_release(warp))
            paths_select(warp);
    } else if (since >= limits->spin_branches) {
        leaf->gave_way = leaf->spins;
        leaf->next_look = leaf->spins + 1;
        leaf->hashed = true;
        leaf->spin_hash = register_hash(warp);
        leaf->spin_pc = leaf->pc;
        paths_rotate(warp);
    } else {
        leaf->next_look = looks ? leaf->spins + 1 : leaf->gave_way + limits->spin_branches;
    }
}
