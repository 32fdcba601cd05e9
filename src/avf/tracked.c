/* Needed bits of registers and shared memory, backwards in time: see avf.h. */
#include "avf/avf.h"
#include <stdlib.h>

void tracked_create(struct tracked *t, u32 rows, u32 lanes)
{
    *t = (struct tracked){
        .lanes = lanes,
        .all = ~0ull >> (64 - lanes),
        /* writers, and what is safe, stay from pass to pass; all else is reset */
        .rows = checked(calloc(MAX(rows, 1u), sizeof *t->rows)),
        /* cells are written before they are read: most never */
        .need = checked(malloc(MAX((size_t)rows * lanes, 1u) * sizeof *t->need)),
        .ends = checked(malloc(MAX((size_t)rows * lanes, 1u) * sizeof *t->ends)),
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
        r->since = 0;
        r->split = r->split_safe = 0;
        r->even = true;
        r->even_need = ~0u;
        r->even_ends = 0;
    }
}

static inline u32 ones(u32 bits)
{
    return count_lanes(bits);
}

/* The row's cells get their own values, since they are about to differ. */
static void spread(struct tracked *t, u32 row)
{
    struct tracked_row *r = &t->rows[row];
    u32 *const need = &t->need[(size_t)row * t->lanes];
    u32 *const ends = &t->ends[(size_t)row * t->lanes];
    if (!r->even)
        return;
    for (u32 lane = 0; r->some && lane < t->lanes; lane++) {
        need[lane] = r->even_need;
        ends[lane] = r->even_ends;
    }
    r->even = false;
}

void tracked_mark(struct tracked *t, u32 first, u32 count, u32 cycle)
{
    for (u32 i = first; i < first + count; i++) {
        struct tracked_row *r = &t->rows[i];
        r->since = cycle;
        r->even_ends = ones(r->even_need) * cycle;
        for (lane_set set = r->even ? 0 : r->some; set; set &= set - 1)
            t->ends[(size_t)i * t->lanes + first_lane(set)] =
                ones(tracked_bits(t, i, first_lane(set))) * cycle;
    }
}

static inline void count_live(struct tracked *t, struct tracked_row *r, u32 cycle)
{
    t->live += (u64)((i64)count_lanes(r->live) * (i32)(r->since - cycle)); /* may be negative */
    r->since = cycle;
}

void tracked_read_more(struct tracked *t, u32 row, lane_set lanes, u32 cycle, u32 number)
{
    struct tracked_row *r = &t->rows[row];
    if (!r->live)
        r->last = number;
    count_live(t, r, cycle);
    r->live |= lanes;
}

/* ACE bit cycles from `cycle` on, of lanes that are needed. */
static u64 ace_of(const struct tracked *t, u32 row, lane_set lanes, u32 cycle)
{
    const struct tracked_row *r = &t->rows[row];
    const u32 *const ends = &t->ends[(size_t)row * t->lanes];
    if (r->even)
        return count_lanes(lanes) * ((u64)r->even_ends - (u64)ones(r->even_need) * cycle);
    u64 sum = 0, bits = 32ull * count_lanes(lanes & r->full);
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

/* Cells need more bits: those of each, or the same of all. Returns the lanes that do. */
static lane_set need_cells(struct tracked *t, u32 row, lane_set lanes, const u32 *each, u32 same,
                           u32 cycle)
{
    struct tracked_row *r = &t->rows[row];
    u32 *const need = &t->need[(size_t)row * t->lanes];
    u32 *const ends = &t->ends[(size_t)row * t->lanes];
    const lane_set some = r->some;
    lane_set full = 0, changed = 0;
    for (lane_set set = lanes; set; set &= set - 1) {
        const u32 lane = first_lane(set), bits = each ? each[lane] : same;
        const bool more = some >> lane & 1;
        const u32 old = more ? need[lane] : 0, fresh = bits & ~old;
        if (!fresh)
            continue;
        ends[lane] = (more ? ends[lane] : 0) + (fresh == ~0u ? 32 : ones(fresh)) * cycle;
        need[lane] = old | fresh;
        changed |= set & -set;
        full |= need[lane] == ~0u ? set & -set : 0;
    }
    r->some |= changed;
    r->full |= full;
    return changed;
}

void tracked_need_more(struct tracked *t, u32 row, lane_set lanes, u32 bits, lane_set unsure,
                       u32 cycle)
{
    struct tracked_row *r = &t->rows[row];
    const lane_set fresh = lanes & ~r->full;
    if (bits == ~0u && lanes & r->unsure & ~unsure)
        decide(t, row, lanes & r->unsure & ~unsure, cycle);
    if (!fresh || !bits)
        return;
    r->unsure |= fresh & unsure;
    if (r->even && (!r->some || r->some == fresh)) { /* mostly */
        const u32 old = r->some ? r->even_need : 0;
        r->even_ends = (r->some ? r->even_ends : 0) + ones(bits & ~old) * cycle;
        r->even_need = old | bits;
        r->some = fresh;
        r->full = r->even_need == ~0u ? fresh : 0;
        return;
    }
    spread(t, row);
    need_cells(t, row, fresh, NULL, bits, cycle);
}

void tracked_need_each(struct tracked *t, u32 row, lane_set lanes, const u32 *bits, lane_set unsure,
                       u32 cycle)
{
    struct tracked_row *r = &t->rows[row];
    lane_set certain = 0;
    for (lane_set set = lanes & r->unsure & ~unsure; set; set &= set - 1)
        certain |= bits[first_lane(set)] == ~0u ? set & -set : 0;
    if (certain)
        decide(t, row, certain, cycle);
    if (!(lanes & ~r->full))
        return;
    spread(t, row);
    r->unsure |= unsure & need_cells(t, row, lanes & ~r->full, bits, 0, cycle);
}

struct ended tracked_write(struct tracked *t, u32 row, lane_set lanes, u32 cycle)
{
    struct tracked_row *r = &t->rows[row];
    const lane_set needed = lanes & r->some;
    struct ended ended = {.was_read = (r->live & lanes) != 0, .last = r->last};
    if (needed && t->counts)
        ended.ace = ace_of(t, row, needed, cycle);
    ended.safe = r->split_safe + (r->safe ? ended.ace : 0);
    ended.ace += r->split;
    r->split = r->split_safe = 0;
    if (needed & r->unsure)
        decide(t, row, needed & r->unsure, cycle);
    count_live(t, r, cycle);
    r->live &= ~lanes;
    r->some &= ~lanes;
    r->full &= ~lanes;
    r->unsure &= ~lanes;
    r->even |= !r->some;
    return ended;
}

void tracked_turn(struct tracked *t, u32 row, u32 cycle)
{
    struct tracked_row *r = &t->rows[row];
    const u64 ace = t->counts && r->some ? ace_of(t, row, r->some, cycle) : 0;
    t->undecided +=
        t->counts && r->unsure & r->some ? ace_of(t, row, r->unsure & r->some, cycle) : 0;
    r->split += ace;
    r->split_safe += r->safe ? ace : 0;
    r->safe = !r->safe;
    r->even_ends = ones(r->even_need) * cycle;
    for (lane_set set = r->even ? 0 : r->some; set; set &= set - 1)
        t->ends[(size_t)row * t->lanes + first_lane(set)] =
            ones(tracked_bits(t, row, first_lane(set))) * cycle;
}

struct ended tracked_write_bits(struct tracked *t, u32 row, u32 bits, u32 cycle)
{
    struct tracked_row *r = &t->rows[row];
    const u32 old = tracked_bits(t, row, 0), left = old & ~bits;
    if (!left || !(old & bits))
        return left ? (struct ended){0} : tracked_write(t, row, 1, cycle);
    assert(t->lanes == 1);
    spread(t, row);
    struct ended ended = {.was_read = true, .last = r->last};
    const u32 ends = (u32)((u64)t->ends[row] * ones(old & bits) / ones(old));
    ended.ace = ends - (u64)ones(old & bits) * cycle;
    t->undecided += r->unsure ? ended.ace : 0;
    t->ends[row] -= ends;
    t->need[row] = left;
    r->full = 0;
    return ended;
}
