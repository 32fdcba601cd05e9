/* Needed bits of registers and shared memory, backwards in time: see avf.h. */
#include "avf/avf.h"
#include <stdlib.h>

void tracked_create(struct tracked *t, u32 rows, u32 lanes)
{
    *t = (struct tracked){
        .lanes = lanes,
        .all = ~0ull >> (64 - lanes),
        .rows = checked(calloc(MAX(rows, 1u), sizeof *t->rows)),
        .need = checked(calloc(MAX((size_t)rows * lanes, 1u), sizeof *t->need)),
        .ends = checked(calloc(MAX((size_t)rows * lanes, 1u), sizeof *t->ends)),
    };
}

void tracked_destroy(struct tracked *t)
{
    free(t->rows);
    free(t->need);
    free(t->ends);
    *t = (struct tracked){0};
}

void tracked_reset(struct tracked *t, u32 first, u32 count, bool dead, u32 last)
{
    const lane_set set = dead ? 0 : t->all;
    for (struct tracked_row *r = &t->rows[first]; r < &t->rows[first + count]; r++) {
        r->some = r->full = r->unsure = r->live = set;
        r->last = last;
    }
}

static inline u32 ones(u32 bits)
{
    return count_lanes(bits);
}

static inline void fill_cells(u32 *cells, u32 lanes, u32 value)
{
    for (u32 lane = 0; lane < lanes; lane += CELLS)
        for (u32 i = 0; i < CELLS; i++)
            cells[lane + i] = value;
}

static inline u64 sum_cells(const u32 *cells, u32 lanes)
{
    u64 sum = 0;
    for (u32 lane = 0; lane < lanes; lane += CELLS)
        for (u32 i = 0; i < CELLS; i++)
            sum += cells[lane + i];
    return sum;
}

void tracked_mark(struct tracked *t, u32 first, u32 count, u32 cycle)
{
    for (u32 i = first; i < first + count; i++) {
        struct tracked_row *r = &t->rows[i];
        u32 *const ends = &t->ends[(size_t)i * t->lanes];
        r->since = cycle;
        if (r->full == t->all && t->lanes > 1) {
            fill_cells(ends, t->lanes, 32 * cycle);
            continue;
        }
        for (lane_set set = r->some; set; set &= set - 1)
            ends[first_lane(set)] = ones(tracked_bits(t, i, first_lane(set))) * cycle;
    }
}

static inline void count_live(struct tracked *t, struct tracked_row *r, u32 cycle)
{
    t->live += (u64)((i64)count_lanes(r->live) * (i32)(r->since - cycle)); /* may be negative */
    r->since = cycle;
}

void tracked_read(struct tracked *t, u32 row, lane_set lanes, u32 cycle, u32 number)
{
    struct tracked_row *r = &t->rows[row];
    if (!r->live)
        r->last = number;
    if (!(lanes & ~r->live))
        return;
    count_live(t, r, cycle);
    r->live |= lanes;
}

/* ACE bit cycles of lanes from `cycle` on. */
static u64 ace_of(const struct tracked *t, u32 row, lane_set lanes, u32 cycle)
{
    const struct tracked_row *r = &t->rows[row];
    const u32 *const ends = &t->ends[(size_t)row * t->lanes];
    u64 sum = 0, bits = 32ull * count_lanes(lanes & r->full);
    if (lanes == t->all && t->lanes > 1)
        sum = sum_cells(ends, t->lanes);
    else
        for (lane_set set = lanes; set; set &= set - 1)
            sum += ends[first_lane(set)];
    for (lane_set set = lanes & ~r->full; set; set &= set - 1)
        bits += ones(t->need[(size_t)row * t->lanes + first_lane(set)]);
    return sum - bits * cycle;
}

/* From here on (backwards) lanes are needed whatever comes behind the end of the log. */
static void decide(struct tracked *t, u32 row, lane_set lanes, u32 cycle)
{
    t->undecided += t->counts ? ace_of(t, row, lanes, cycle) : 0;
    t->rows[row].unsure &= ~lanes;
}

void tracked_need(struct tracked *t, u32 row, lane_set lanes, u32 bits, lane_set unsure, u32 cycle)
{
    struct tracked_row *r = &t->rows[row];
    const lane_set fresh = lanes & ~r->full;
    if (bits == ~0u && lanes & r->unsure & ~unsure)
        decide(t, row, lanes & r->unsure & ~unsure, cycle);
    if (!fresh || !bits)
        return;
    if (t->lanes == 1) {
        t->ends[row] =
            (r->some ? t->ends[row] : 0) + ones(bits & ~(r->some ? t->need[row] : 0)) * cycle;
        t->need[row] = bits | (r->some ? t->need[row] : 0);
        r->some = 1;
        r->full = t->need[row] == ~0u;
        r->unsure |= unsure & 1;
        return;
    }
    u32 *const need = &t->need[(size_t)row * t->lanes];
    u32 *const ends = &t->ends[(size_t)row * t->lanes];
    if (fresh == t->all && !r->some) { /* mostly */
        fill_cells(ends, t->lanes, ones(bits) * cycle);
        if (bits != ~0u)
            fill_cells(need, t->lanes, bits);
    } else {
        for (lane_set set = fresh; set; set &= set - 1) {
            const u32 lane = first_lane(set);
            const bool more = r->some >> lane & 1;
            const u32 old = more ? need[lane] : 0;
            ends[lane] = (more ? ends[lane] : 0) + ones(bits & ~old) * cycle;
            need[lane] = old | bits;
            if (need[lane] == ~0u)
                r->full |= 1ull << lane;
        }
    }
    r->some |= fresh;
    r->full |= bits == ~0u ? fresh : 0;
    r->unsure |= fresh & unsure;
}

void tracked_need_each(struct tracked *t, u32 row, lane_set lanes, const u32 *bits, lane_set unsure,
                       u32 cycle)
{
    struct tracked_row *r = &t->rows[row];
    u32 *const need = &t->need[(size_t)row * t->lanes];
    u32 *const ends = &t->ends[(size_t)row * t->lanes];
    for (lane_set set = lanes & ~r->full; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        const bool more = r->some >> lane & 1;
        const u32 old = more ? need[lane] : 0, fresh = bits[lane] & ~old;
        if (!fresh)
            continue;
        ends[lane] = (more ? ends[lane] : 0) + ones(fresh) * cycle;
        need[lane] = old | fresh;
        r->some |= 1ull << lane;
        r->unsure |= unsure & 1ull << lane;
        if (need[lane] == ~0u)
            r->full |= 1ull << lane;
    }
}

struct ended tracked_write(struct tracked *t, u32 row, lane_set lanes, u32 cycle)
{
    struct tracked_row *r = &t->rows[row];
    const lane_set needed = lanes & r->some;
    struct ended ended = {.was_read = (r->live & lanes) != 0, .last = r->last};
    if (needed && t->counts)
        ended.ace = ace_of(t, row, needed, cycle);
    if (needed & r->unsure)
        decide(t, row, needed & r->unsure, cycle);
    count_live(t, r, cycle);
    r->live &= ~lanes;
    r->some &= ~lanes;
    r->full &= ~lanes;
    r->unsure &= ~lanes;
    return ended;
}

struct ended tracked_write_bits(struct tracked *t, u32 row, u32 bits, u32 cycle)
{
    struct tracked_row *r = &t->rows[row];
    const u32 old = tracked_bits(t, row, 0), left = old & ~bits;
    if (!left || !(old & bits))
        return left ? (struct ended){0} : tracked_write(t, row, 1, cycle);
    struct ended ended = {.was_read = true, .last = r->last};
    const u32 ends = (u32)((u64)t->ends[row] * ones(old & bits) / ones(old));
    ended.ace = ends - (u64)ones(old & bits) * cycle;
    t->undecided += r->unsure ? ended.ace : 0;
    t->ends[row] -= ends;
    t->need[row] = left;
    r->full = 0;
    return ended;
}
