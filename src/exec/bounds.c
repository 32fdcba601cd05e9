/* Out-of-bounds accesses that are reported instead of ending the launch: see bounds.h. */
#include "exec/bounds.h"

#include "base/config.h"
#include "exec/memory_view.h"
#include <inttypes.h>
#include <stdio.h>

struct bounds *bounds_create(void)
{
    return checked(calloc(1, sizeof(struct bounds)));
}

void bounds_forget(struct bounds *bounds)
{
    bounds->stats = (struct memory_stats){0};
    bounds->places.count = 0;
}

void bounds_destroy(struct bounds *bounds)
{
    if (!bounds)
        return;
    vec_free(&bounds->places);
    free(bounds->text);
    free(bounds);
}

bool bounds_dropped(const struct exec *exec, const u8 *at)
{
    const struct bounds *b = exec->bounds;
    return b && at >= b->scratch[0] && at < b->scratch[0] + sizeof b->scratch;
}

/* ---- counting ---- */

static struct outside_place *place_of(struct bounds *bounds, u32 inst)
{
    for (u32 i = 0; i < bounds->places.count; i++)
        if (bounds->places.data[i].inst == inst)
            return &bounds->places.data[i];
    struct outside_place *place = vec_push(&bounds->places);
    place->inst = inst;
    place->block = UINT64_MAX;
    bounds->stats.outside_places++;
    return place;
}

/* Adds accesses of lanes; keeps the lowest thread. */
static void add_place(struct outside_place *place, const struct outside_place *more)
{
    const u64 count = place->count + more->count;
    if (more->block < place->block || (more->block == place->block && more->thread < place->thread))
        *place = *more;
    place->count = count;
}

void bounds_add(struct bounds *sum, const struct bounds *core)
{
    const u64 places = sum->stats.outside_places;
    stats_add(&memory_component, &sum->stats, &core->stats);
    sum->stats.outside_places = places; /* place_of counts each once */
    for (u32 i = 0; i < core->places.count; i++)
        add_place(place_of(sum, core->places.data[i].inst), &core->places.data[i]);
}

static void count(struct warp *warp, u32 pc, u32 lane, u64 address, u32 bytes)
{
    const struct exec *exec = warp->exec;
    struct bounds *bounds = exec->bounds;
    const u16 flags = op_info[warp_inst(warp, pc)->op].flags;
    const u64 block = warp->block->number;
    const u32 thread = warp->index * exec->image->warp_size + lane;
    if (flags & OPF_ATOMIC && exec->by_dyninst && !bounds->checking)
        return; /* B3: it was counted when it was checked */
    *(flags & OPF_ATOMIC  ? &bounds->stats.outside_atomics
      : flags & OPF_STORE ? &bounds->stats.outside_stores
                          : &bounds->stats.outside_loads) += 1;
    const struct outside_place one = {pc, 1, block, thread, address, bytes};
    add_place(place_of(bounds, pc), &one);
}

/* ---- passing ---- */

/* A separate place, with the bytes that are inside an allocation. */
static u8 *fill_scratch(struct warp *warp, u32 slot, u64 address, u32 bytes, u32 inside,
                        const struct allocation *a)
{
    u8 *scratch = warp->exec->bounds->scratch[slot];
    memset(scratch, 0, bytes);
    if (!inside)
        return scratch;
    const u8 *from = a->host + (address - a->address);
    memcpy(scratch, from, inside);
    if (warp->memory_view)
        memory_view_overlay(warp->memory_view, from, inside, scratch);
    return scratch;
}

/* Where a lane acts; NULL: it does not pass. *outside: not on device memory. */
static u8 *pass_lane(struct warp *warp, u32 pc, u32 slot, u64 address, u32 bytes, bool write,
                     bool *outside)
{
    const struct memory *memory = warp->exec->memory;
    const struct inst *inst = warp_inst(warp, pc);
    const u32 align = op_info[inst->op].flags & OPF_SCALAR ? 4 : access_align(inst, bytes);
    const struct allocation *a = memory_find(memory, address, 1);
    const u32 inside = a ? (u32)MIN(a->size - (address - a->address), bytes) : 0;
    *outside = true;
    if (bytes > BOUNDS_LANE_BYTES || inside == bytes || address & (align - 1) ||
        !memory_has_address(memory, address) || (write && a && a->read_only))
        return NULL;
    if (!write)
        return fill_scratch(warp, slot, address, bytes, inside, a);
    if (!inside || op_info[inst->op].flags & OPF_ATOMIC)
        return fill_scratch(warp, slot, address, bytes, 0, NULL);
    *outside = false; /* the host pads allocations; guests never read the padding */
    return a->host + (address - a->address);
}

u32 bounds_pass(struct warp *warp, u32 pc, const struct chunk *chunk,
                const struct addresses *addresses, u32 bad, u32 bytes, bool write,
                struct access *access)
{
    const u32 first = LANES * (u32)(chunk - warp->chunks);
    u32 left = 0;
    for (u32 set = bad; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        u64 address = access_address(addresses, lane);
        const enum space space =
            window_space(warp->exec->image->windows, addresses->space, &address);
        bool outside = false;
        u8 *at = NULL;
        if (space == SPACE_GLOBAL || space == SPACE_GENERIC || (space == SPACE_CONST && !write))
            at = pass_lane(warp, pc, lane, address, bytes, write, &outside);
        access->at[lane] = at;
        access->outside |= at && outside ? 1u << lane : 0;
        left |= at ? 0 : 1u << lane;
    }
    if (left) /* the launch stops here: what it would have done is not reported */
        return left;
    for (u32 set = bad; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        count(warp, pc, first + lane, access_address(addresses, lane), bytes);
    }
    return 0;
}

const u8 *bounds_pass_scalar(struct warp *warp, u32 pc, u64 address, u32 bytes)
{
    bool outside;
    const u8 *at = pass_lane(warp, pc, 0, address, bytes, false, &outside);
    if (at)
        count(warp, pc, warp->active ? first_lane(warp->active) : 0, address, bytes);
    return at;
}

/* ---- report ---- */

static int by_inst(const void *a, const void *b)
{
    const struct outside_place *x = a, *y = b;
    return x->inst < y->inst ? -1 : x->inst > y->inst;
}

static void tell(const struct exec *exec, const struct outside_place *place, FILE *to)
{
    const u16 flags = op_info[exec->image->program->insts[place->inst].op].flags;
    char text[1024];
    u32 block[3] = {(u32)(place->block % exec->grid[0]),
                    (u32)(place->block / exec->grid[0] % exec->grid[1]),
                    (u32)(place->block / exec->grid[0] / exec->grid[1])};
    u32 thread[3] = {place->thread % exec->dims[0], place->thread / exec->dims[0] % exec->dims[1],
                     place->thread / exec->dims[0] / exec->dims[1]};
    fprintf(to, "%sout of bounds: %" PRIu64 " %s%s of %u bytes in global memory, ",
            place == exec->bounds->places.data ? "" : "\n", place->count,
            flags & OPF_ATOMIC  ? "atomic"
            : flags & OPF_STORE ? "write"
                                : "read",
            place->count > 1 ? "s" : "", place->bytes);
    fprintf(to, "tolerated (memory.bounds=warn); the first at 0x%" PRIx64, place->address);
    fault_near_text(exec, place->address, place->bytes, text, sizeof text);
    fprintf(to, "%s", text);
    fault_place_text(exec, place->inst, text, sizeof text);
    fprintf(to, "\n  at %s\n  in kernel %s, block (%u,%u,%u), thread (%u,%u,%u)", text,
            exec->kernel->name, block[0], block[1], block[2], thread[0], thread[1], thread[2]);
}

const char *bounds_text(const struct exec *exec)
{
    struct bounds *bounds = exec->bounds;
    size_t length;
    if (!bounds || !bounds->places.count)
        return "";
    free(bounds->text);
    FILE *to = open_memstream(&bounds->text, &length);
    if (!to)
        host_memory_exhausted();
    qsort(bounds->places.data, bounds->places.count, sizeof *bounds->places.data, by_inst);
    for (u32 i = 0; i < bounds->places.count; i++)
        tell(exec, &bounds->places.data[i], to);
    fclose(to);
    return bounds->text;
}
