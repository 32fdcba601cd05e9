/*
 * Loads and stores: the host address of each lane's bytes, and moving them.
 *
 * Every space has one routine that finds the lanes' bytes; after it all accesses are alike. The
 * fast path expects that the lanes of an access are in one region (a block's shared memory, a
 * warp's local memory, the allocation that this instruction used last): a vector translation gives
 * 32 offsets. Otherwise every lane is looked up by itself.
 *
 * All lanes (of a chunk) are checked before any data move, so that a faulting access moves nothing.
 */
#include "exec/bounds.h"
#include "exec/memory_view.h"
#include "exec/scalars.h"

static bool is_window(enum space space)
{
    return space == SPACE_SHARED || space == SPACE_LOCAL || space == SPACE_PARAM;
}

struct addresses access_addresses(const struct warp *warp, const struct step *step,
                                  const struct chunk *chunk, const struct inst *inst)
{
    const u32 *zeros = warp->exec->image->constants; /* constant 0 is 0 (P3 of ir/program.h) */
    struct addresses a = {zeros, zeros, inst->imm, false, inst->space, 0, UINT32_MAX};
    const unsigned limit = access_limit(inst);
    a.wide = !is_window(inst->space) && warp->exec->image->program->traits.address_bits != 32;
    if (step_has(step, 0)) {
        a.low = chunk_row(chunk, step, 0);
        if (inst->src[0].count > 1) {
            a.high = a.low + warp->exec->image->warp_size;
            a.wide = true;
        }
    }
    if (limit != SLOT_DST) {
        a.wide = true; /* where hardware compares with a limit, sums do not wrap */
        a.limit = step_scalar(warp, step, inst, limit, 0);
    }
    if (inst->space == SPACE_SHARED && !warp->exec->image->program->traits.window_faults)
        a.ignored = type_bytes(inst->type) - 1;
    return a;
}

/* The bits of a sum that count. */
static u64 address_bits(const struct addresses *a)
{
    return (a->wide ? UINT64_MAX : UINT32_MAX) & ~(u64)a->ignored;
}

u64 access_address(const struct addresses *a, u32 lane)
{
    u64 address = (a->low[lane] | (u64)a->high[lane] << 32) + (u64)a->add;
    return address & address_bits(a);
}

u64 access_all(const struct warp *warp, const struct addresses *a, u64 *address)
{
    return warp->exec->image->moves->join64(address, a->low, a->high, (u64)a->add, address_bits(a));
}

u32 access_within(const struct warp *warp, const struct addresses *addresses, u32 mask, u32 bytes)
{
    const struct exec *exec = warp->exec;
    const bool faults = exec->image->program->traits.window_faults;
    const u32 limit = addresses->limit;
    u64 end = limit;
    if (limit == UINT32_MAX || (!limit && !faults)) /* none, or never set */
        end = UINT64_MAX;
    if (!faults)
        end = MIN(end, warp->block->shared_bytes);
    if (LIKELY(end == UINT64_MAX || addresses->space != SPACE_SHARED))
        return mask;
    u32 inside = 0;
    for (u32 set = mask; set; set &= set - 1) {
        u32 lane = first_lane(set);
        inside |= (u32)(access_address(addresses, lane) + bytes <= end) << lane;
    }
    return inside;
}

static u8 *lane_local(const struct warp *warp, u32 lane)
{
    return warp->local + (size_t)lane * warp->exec->local_stride;
}

static u8 *within(u8 *base, u64 size, u64 offset, u64 bytes)
{
    return base && offset <= size && bytes <= size - offset ? base + offset : NULL;
}

u8 *lane_pointer(const struct warp *warp, u32 lane, enum space space, u64 address, u64 bytes)
{
    const struct exec *exec = warp->exec;
    switch (window_space(exec->image->windows, space, &address)) {
    case SPACE_SHARED:
        return within(warp->block->shared, warp->block->shared_bytes, address, bytes);
    case SPACE_LOCAL:
        return within(lane_local(warp, lane), exec->local_bytes, address, bytes);
    case SPACE_PARAM:
        return within((u8 *)exec->params, exec->param_bytes, address, bytes);
    default: {
        const struct allocation *found = memory_find(exec->memory, address, bytes);
        return found ? found->host + (address - found->address) : NULL;
    }
    }
}

static bool writable(const struct warp *warp, enum space space, u64 address)
{
    if (space == SPACE_PARAM || space == SPACE_CONST)
        return false;
    if (space == SPACE_SHARED || space == SPACE_LOCAL)
        return true;
    const struct allocation *found = memory_find(warp->exec->memory, address, 1);
    return !found || !found->read_only;
}

/* Lane by lane, in any mixture of regions. */
static bool resolve_each(struct warp *warp, u32 pc, const struct addresses *addresses,
                         const struct chunk *chunk, u32 mask, u32 bytes, bool write,
                         struct access *access)
{
    enum space space = addresses->space;
    u32 align = access_align(warp_inst(warp, pc), bytes);
    u32 first = LANES * (u32)(chunk - warp->chunks);
    u32 bad = 0;
    for (u32 set = mask; set; set &= set - 1) {
        u32 lane = first_lane(set);
        u64 address = access_address(addresses, lane);
        access->at[lane] = lane_pointer(warp, first + lane, space, address, bytes);
        if (!access->at[lane] || address & (align - 1) ||
            (write && !writable(warp, space, address)))
            bad |= 1u << lane;
    }
    access->base = NULL;
    access->outside = 0;
    if (UNLIKELY(bad && warp->exec->bounds))
        bad = bounds_pass(warp, pc, chunk, addresses, bad, bytes, write, access);
    if (!bad)
        return true;
    u32 lane = first_lane(bad);
    fault_memory(warp, pc, first + lane, access_address(addresses, lane), bytes,
                 chunk_lanes(bad & (bad - 1), (unsigned)(chunk - warp->chunks)));
    return false;
}

/* Global, constant and generic addresses in the allocation used last. An access may be longer than
 * its alignment. */
static bool resolve_global(struct warp *warp, struct step *step, const struct addresses *addresses,
                           u32 align, u32 mask, u32 bytes, bool write, struct access *access)
{
    const struct exec *exec = warp->exec;
    u64 generation = *memory_generation(exec->memory);
    for (int attempt = 0; attempt < 2; attempt++) {
        const struct allocation *hint = step->hint;
        if (hint && step->hint_generation == generation && hint->size >= bytes &&
            !(write && hint->read_only)) {
            u32 found = exec->image->moves->translate64(
                access->offset, addresses->low, addresses->high, addresses->add, hint->address,
                (u32)hint->size - (bytes - align), align, mask);
            if (LIKELY(found == mask)) {
                access->base = hint->host;
                return true;
            }
        }
        u64 address = access_address(addresses, first_lane(mask));
        const struct allocation *next = memory_find(exec->memory, address, bytes);
        if (!next || (next == hint && step->hint_generation == generation))
            return false;
        step->hint = next;
        step->hint_generation = generation;
    }
    return false;
}

/* A space of `size` bytes that starts at `start`. */
static bool resolve_window(struct warp *warp, const struct addresses *addresses, u64 start,
                           u32 size, u32 mask, u32 bytes, struct access *access)
{
    const struct lanes_memory *moves = warp->exec->image->moves;
    if (size < bytes)
        return false;
    u32 found =
        start || addresses->wide
            ? moves->translate64(access->offset, addresses->low, addresses->high, addresses->add,
                                 start, size, bytes, mask)
            : moves->translate32(access->offset, addresses->low, addresses->add, size, bytes, mask);
    return found == mask;
}

static bool resolve_local(struct warp *warp, const struct addresses *addresses,
                          const struct chunk *chunk, u64 start, u32 mask, u32 bytes,
                          struct access *access)
{
    const struct exec *exec = warp->exec;
    if (!resolve_window(warp, addresses, start, exec->local_bytes, mask, bytes, access))
        return false;
    access->base = lane_local(warp, LANES * (u32)(chunk - warp->chunks));
    for (u32 lane = 0; lane < LANES; lane++)
        access->offset[lane] += lane * exec->local_stride;
    return true;
}

/* An access through a memory view: lanes in global memory use the view's. `space` is that of the
 * one region they are in, if there is one. */
static void view_access(const struct warp *warp, const struct addresses *addresses,
                        enum space space, u32 mask, u32 bytes, bool write, struct access *access)
{
    u32 global = access->base && (space == SPACE_GLOBAL || space == SPACE_GENERIC) ? mask : 0;
    for (u32 set = access->base ? 0 : mask & ~access->outside; set; set &= set - 1) {
        u64 address = access_address(addresses, first_lane(set));
        enum space at = window_space(warp->exec->image->windows, addresses->space, &address);
        if (at == SPACE_GENERIC || at == SPACE_GLOBAL)
            global |= set & -set;
    }
    if (global)
        memory_view_redirect(warp->memory_view, warp->exec->image->moves, access, global, bytes,
                             write);
}

bool access_find(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk,
                 const struct addresses *addresses, u32 mask, u32 bytes, bool write,
                 struct access *access)
{
    const struct exec *exec = warp->exec;
    enum space space = addresses->space;
    u64 start = 0;
    if (space == SPACE_GENERIC) {
        const u64 address = access_address(addresses, first_lane(mask));
        u64 offset = address;
        space = window_space(exec->image->windows, space, &offset);
        start = address - offset;
    }
    bool found = false;
    switch (space) {
    case SPACE_SHARED:
        access->base = warp->block->shared;
        found =
            resolve_window(warp, addresses, start, warp->block->shared_bytes, mask, bytes, access);
        break;
    case SPACE_LOCAL:
        found = resolve_local(warp, addresses, chunk, start, mask, bytes, access);
        break;
    case SPACE_PARAM:
        access->base = (u8 *)exec->params;
        found =
            !write && resolve_window(warp, addresses, 0, exec->param_bytes, mask, bytes, access);
        break;
    default:
        found = resolve_global(warp, step, addresses, access_align(warp_inst(warp, pc), bytes),
                               mask, bytes, write, access);
    }
    found = found || resolve_each(warp, pc, addresses, chunk, mask, bytes, write, access);
    if (UNLIKELY(warp->memory_view) && found)
        view_access(warp, addresses, space, mask, bytes, write, access);
    return found;
}

/* Makes `at` valid, however the lanes were found. */
void access_pointers(struct access *access, u32 mask)
{
    if (!access->base)
        return;
    for (u32 set = mask; set; set &= set - 1)
        access->at[first_lane(set)] = access->base + access->offset[first_lane(set)];
}

void access_apart(struct access *access, u32 mask)
{
    access_pointers(access, mask);
    access->base = NULL;
}

void lanes_clear(u32 *row, u32 stride, u32 words, u32 mask)
{
    for (u32 j = 0; j < words; j++)
        for (u32 set = mask; set; set &= set - 1)
            row[j * stride + first_lane(set)] = 0;
}

void access_record(struct warp *warp, const struct chunk *chunk, u32 lane,
                   const struct addresses *addresses, const struct access *access, u32 bytes)
{
    u64 address = access_address(addresses, lane);
    enum space space = window_space(warp->exec->image->windows, addresses->space, &address);
    if (UNLIKELY(bounds_dropped(warp->exec, access->at[lane])))
        return;
    struct exec_watcher *watcher = warp->exec->watcher;
    watcher->stored(watcher, warp, LANES * (u32)(chunk - warp->chunks) + lane, space, address,
                    access->at[lane], bytes);
}

void access_move(const struct warp *warp, const struct chunk *chunk, u32 *row, u32 words, u32 mask,
                 struct access *access, bool write)
{
    const struct lanes_memory *moves = warp->exec->image->moves;
    const u32 stride = warp->exec->image->warp_size;
    if (UNLIKELY(!access->base)) {
        for (u32 set = mask; set; set &= set - 1)
            for (u32 j = 0; j < words; j++) {
                u32 *word = &row[j * stride + first_lane(set)];
                u8 *at = access->at[first_lane(set)] + 4 * j;
                memcpy(write ? at : (u8 *)word, write ? (u8 *)word : at, sizeof *word);
            }
        return;
    }
    if (write) {
        if (words == 1)
            moves->scatter32(access->base, access->offset, row, mask);
        else /* lane by lane: words may overlap, and later lanes win */
            for (u32 set = mask; set; set &= set - 1)
                for (u32 j = 0; j < words; j++)
                    memcpy(access->base + access->offset[first_lane(set)] + 4 * j,
                           &row[j * stride + first_lane(set)], sizeof *row);
        return;
    }
    _Alignas(32) u32 expanded[LANES];
    const u32 *lane_mask = chunk->lanes.lane_mask;
    if (UNLIKELY(mask != chunk->lanes.mask)) {
        lanes_expand(mask, expanded);
        lane_mask = expanded;
    }
    for (u32 j = 0; j < words; j++)
        moves->gather32(row + j * stride, access->base + 4 * j, access->offset, mask, lane_mask);
}

/*
 * Element by element: narrow elements, registers wider than the element, lanes in several regions.
 * The sources of a store are read and the destinations of a load written lane by lane.
 */
static void move_elements(const struct warp *warp, const struct inst *inst, u32 *row, u32 count,
                          u32 mask, struct access *access)
{
    u32 stride = warp->exec->image->warp_size;
    u32 elements = MAX(inst->vector, 1), bytes = type_bytes(inst->type);
    u32 registers = count / elements; /* per element */
    bool is_signed = loads_signed(inst);
    access_pointers(access, mask);
    for (u32 set = mask; set; set &= set - 1) {
        u32 lane = first_lane(set);
        for (u32 e = 0; e < elements; e++) {
            u8 *at = access->at[lane] + e * bytes;
            for (u32 r = 0; r < registers; r++) {
                u32 *word = &row[(e * registers + r) * stride + lane];
                u32 left = bytes > 4 * r ? MIN(bytes - 4 * r, 4u) : 0;
                if (inst->op == OP_st)
                    memcpy(at + 4 * r, word, left);
                else if (left)
                    *word = load_narrow(at + 4 * r, left, is_signed);
                else
                    *word = is_signed ? (u32)((i32)word[-(i32)stride] >> 31) : 0;
            }
        }
    }
}

/* move_elements() for bytes and half-words with one register each, in one region. */
static void move_narrows(const struct inst *inst, u32 *row, u32 stride, u32 mask,
                         const struct access *access)
{
    const u32 elements = MAX(inst->vector, 1);
    const bool byte = type_bytes(inst->type) == 1, is_signed = loads_signed(inst);
    const bool write = inst->op == OP_st;
    u8 *const base = access->base;
    for (u32 set = mask; set; set &= set - 1) {
        u8 *at = base + access->offset[first_lane(set)];
        u32 *word = row + first_lane(set);
        for (u32 e = 0; e < elements; e++, word += stride, at += byte ? 1 : 2) {
            if (write) {
                memcpy(at, word, 1);
                if (!byte)
                    memcpy(at + 1, (u8 *)word + 1, 1);
                continue;
            }
            u32 value = byte ? at[0] : at[0] | (u32)at[1] << 8;
            *word = !is_signed ? value : byte ? (u32)(i8)value : (u32)(i16)value;
        }
    }
}

static void spread(u32 *row, u32 value, u32 mask, const u32 *lane_mask)
{
    if (mask == LANES_FULL) {
        for (u32 lane = 0; lane < LANES; lane++)
            row[lane] = value;
        return;
    }
    /* as a choice: gcc makes exclusive ors of ands and ors, and then valgrind takes lanes that are
     * set for uninitialised if the row was */
    for (u32 lane = 0; lane < LANES; lane++)
        row[lane] = lane_mask[lane] ? value : row[lane];
}

/* A parameter at a constant offset: the same words for every lane. */
static bool load_parameter(struct warp *warp, struct step *step, struct chunk *chunk,
                           const struct inst *inst, u32 mask, u32 bytes, u32 total)
{
    const struct exec *exec = warp->exec;
    if (inst->imm < 0 || (u64)inst->imm + total > exec->param_bytes || inst->imm & (total - 1))
        return false;
    u32 words = inst->dst[0].count, elements = MAX(inst->vector, 1);
    if (bytes < 4 ? elements != 1 || words != 1 : words * 4 != total)
        return false;
    u32 *row = chunk_row(chunk, step, SLOT_DST);
    for (u32 j = 0; j < words; j++) {
        u32 word =
            load_narrow(exec->params + inst->imm + 4 * j, MIN(bytes, 4u), loads_signed(inst));
        spread(row + j * exec->image->warp_size, word, mask, chunk->lanes.lane_mask);
    }
    return true;
}

/* One lane after the other, each reported to the observer of stores. */
static void store_recorded(struct warp *warp, const struct chunk *chunk, const struct inst *inst,
                           u32 *row, u32 mask, const struct addresses *addresses,
                           struct access *access)
{
    u32 total = type_bytes(inst->type) * MAX(inst->vector, 1);
    for (u32 set = mask; set; set &= set - 1) {
        move_elements(warp, inst, row, inst->src[1].count, set & -set, access);
        access_record(warp, chunk, first_lane(set), addresses, access, total);
    }
}

bool memory_step(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask)
{
    const struct inst *inst = warp_inst(warp, pc);
    if (inst->op == OP_ld2 || inst->op == OP_st2)
        return pair_step(warp, pc, step, chunk, mask);
    bool write = inst->op == OP_st;
    u32 bytes = type_bytes(inst->type), total = bytes * MAX(inst->vector, 1);
    if (inst->space == SPACE_PARAM && !step_has(step, 0) && !write &&
        load_parameter(warp, step, chunk, inst, mask, bytes, total))
        return true;
    struct addresses addresses = access_addresses(warp, step, chunk, inst);
    struct access access;
    u32 inside = access_within(warp, &addresses, mask, total);
    if (inside && !access_find(warp, pc, step, chunk, &addresses, inside, total, write, &access))
        return false;
    struct operand data = write ? inst->src[1] : inst->dst[0];
    u32 *row = chunk_row(chunk, step, write ? 1 : SLOT_DST);
    if (!row) /* a load into the sink: only its faults matter */
        return true;
    if (UNLIKELY(inside != mask) && !write)
        lanes_clear(row, chunk->lanes.stride, data.count, mask & ~inside);
    if (UNLIKELY(!inside))
        return true;
    if (write && exec_records(warp->exec))
        store_recorded(warp, chunk, inst, row, inside, &addresses, &access);
    else if (access.base && bytes < 4 && data.count * bytes == total)
        move_narrows(inst, row, chunk->lanes.stride, inside, &access);
    else if (UNLIKELY(!access.base || bytes < 4 || data.count * 4 != total))
        move_elements(warp, inst, row, data.count, inside, &access);
    else
        access_move(warp, chunk, row, data.count, inside, &access, write);
    return true;
}

static bool is_in_space(const struct warp *warp, u64 address, enum space space)
{
    u64 offset = address;
    const enum space window = window_space(warp->exec->image->windows, SPACE_GENERIC, &offset);
    if (window != SPACE_GENERIC)
        return space == window;
    const struct allocation *found = memory_find(warp->exec->memory, address, 1);
    bool constant = found && found->read_only && found->kind == ALLOC_VARIABLE;
    return constant ? space == SPACE_CONST : space == SPACE_GLOBAL;
}

void isspace_step(struct warp *warp, struct step *step, struct chunk *chunk,
                  const struct inst *inst, u32 mask)
{
    struct addresses addresses = access_addresses(warp, step, chunk, inst);
    u32 result = 0;
    for (u32 set = mask; set; set &= set - 1) {
        u32 lane = first_lane(set);
        u64 address = addresses.low[lane] | (u64)addresses.high[lane] << 32;
        result |= (u32)is_in_space(warp, address, inst->space) << lane;
    }
    u32 *to = chunk_row(chunk, step, SLOT_DST);
    if (to)
        *to = (*to & ~mask) | result;
}
