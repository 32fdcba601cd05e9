/*
 * Comparison of results at write-back (see rise.c).
 *
 * The result of the main instruction waits in the buffer. When the copy's arrives, the two are compared, and
 * the main one is written. If they differ, the instruction is fetched and executed a third time, and in
 * each lane the value that two of the three have is written.
 */
#include "mech/rise.h"

/* ---- results ---- */

static bool is_mask(const struct dyninst *dyn, u32 k)
{
    return dyn->code->dst[k].kind == OPERAND_MASK;
}

u32 rise_words(const struct dyninst *dyn)
{
    u32 words = 0;
    for (u32 k = 0; k < ARRAY_LEN(dyn->dst); k++)
        words += dyn->dst_rows[k];
    return MAX(words, 1u); /* masks fit into one */
}

/* Lanes in which a result of two records differs. A scalar belongs to all lanes. */
static lane_set differing(const struct dyninst *a, const struct dyninst *b, u32 k, u32 lanes)
{
    lane_set found = 0;
    if (!a->dst[k])
        return 0;
    const u32 words = a->dst_rows[k] * lanes;
    const bool same = !memcmp(a->dst[k], b->dst[k], words * sizeof *a->dst[k]); /* nearly always */
    for (u32 row = 0; !same && row < words; row += lanes)
        for (u32 i = 0; i < lanes; i++)
            found |= (lane_set)(a->dst[k][row + i] != b->dst[k][row + i]) << i;
    found &= a->writes | b->writes;
    for (u32 w = 0; !a->dst_rows[k] && w < a->plan->dst_words[k]; w++)
        if (a->dst[k][w] != b->dst[k][w])
            found |=
                is_mask(a, k) ? (lane_set)(a->dst[k][w] ^ b->dst[k][w]) << 32 * (w & 1) : ~0ull;
    return found;
}

/* The same of all that a record writes, including which lanes it writes. */
static lane_set differing_lanes(const struct dyninst *a, const struct dyninst *b, u32 lanes)
{
    return differing(a, b, 0, lanes) | differing(a, b, 1, lanes) | (a->writes ^ b->writes);
}

/* Lanes of a record get the results of another one. */
static void take_lanes(struct dyninst *to, const struct dyninst *from, lane_set set, u32 lanes)
{
    for (u32 k = 0; k < ARRAY_LEN(to->dst); k++) {
        for (u32 row = 0; row < to->dst_rows[k] * lanes; row += lanes)
            for (lane_set left = set; left; left &= left - 1)
                to->dst[k][row + first_lane(left)] = from->dst[k][row + first_lane(left)];
        for (u32 w = 0; !to->dst_rows[k] && to->dst[k] && w < to->plan->dst_words[k]; w++) {
            const u32 bits = is_mask(to, k) ? (u32)(set >> 32 * (w & 1)) : ~0u;
            to->dst[k][w] = (to->dst[k][w] & ~bits) | (from->dst[k][w] & bits);
        }
    }
    to->writes = (to->writes & ~set) | (from->writes & set);
}

/* ---- the third execution ---- */

static void detect(struct rise *r, const struct inflight *inflight, const char *why)
{
    const struct warp *warp = inflight->dyn.warp;
    r->stats->detected++;
    fault_check(core_exec(r->core), inflight->dyn.inst,
                "machine check: two executions of an instruction of warp %u in block %llu differ "
                "(rise), and %s",
                warp->index, (unsigned long long)warp->block->number, why);
    core_stop(r->core);
}

/* False: there is no room for it now. */
static bool repeat(struct rise *r, const struct inflight *main)
{
    if (core_slot(r->core, main->slot)->issued !=
        r->records[inflight_index(r->core, main)].issued) {
        detect(r, main, "its sources may have changed since");
        return true;
    }
    struct inflight *third = inflight_take(r->core);
    if (!third)
        return false;
    const u32 index = inflight_index(r->core, third), at = inflight_index(r->core, main);
    dyninst_again(&third->dyn, &main->dyn);
    third->injected = true;
    third->slot = main->slot;
    third->time = main->time;
    r->records[index] =
        (struct rise_record){.role = ROLE_THIRD, .main = (u16)at, .copy = NO_INFLIGHT};
    if (!rise_queue(r, third, core_cycle(r->core) + r->params->refetch)) {
        inflight_give(r->core, third);
        return false;
    }
    r->stats->repeated++;
    return true;
}

/* In each lane, two of the three executions have to agree. */
static void vote(struct rise *r, struct inflight *main, const struct inflight *third)
{
    const u32 lanes = core_warp_size(r->core);
    const struct rise_record *own = &r->records[inflight_index(r->core, main)];
    const struct rise_guest *guest = own->role == ROLE_GUEST ? &r->guests[main->slot] : NULL;
    const struct dyninst *copy = guest ? &guest->dyn : &core_inflight(r->core, own->copy)->dyn;
    const lane_set checked = guest ? guest->lanes : ~0ull;
    const lane_set wrong = differing_lanes(&main->dyn, &third->dyn, lanes) & checked;
    const lane_set copy_wrong = differing_lanes(copy, &third->dyn, lanes) & checked;
    if (wrong & copy_wrong) {
        detect(r, main, "a third one agrees with neither");
        return;
    }
    r->stats->corrected += count_lanes((wrong | copy_wrong) & core_all_lanes(r->core));
    take_lanes(&main->dyn, copy, wrong, lanes);
}

/* ---- write-back ---- */

static enum write_back_answer write_main(struct rise *r, const struct inflight *inflight)
{
    struct rise_record *own = &r->records[inflight_index(r->core, inflight)];
    own->due = true;
    if (!own->buffered) {
        if (r->buffered + own->words > r->params->buffers) {
            r->stats->buffer_waits++;
            return WRITE_BACK_HOLD;
        }
        own->buffered = true;
        r->buffered += own->words;
        r->stats->buffer_words += own->words * count_lanes(inflight->dyn.writes);
    }
    return own->closed ? WRITE_BACK_COMMIT : WRITE_BACK_HOLD;
}

/* Compares lanes of a main instruction, or of one with a guest, with those of its other execution. */
static void compare(struct rise *r, const struct inflight *main, const struct dyninst *copy,
                    lane_set checked)
{
    struct rise_record *own = &r->records[inflight_index(r->core, main)];
    const u32 lanes = count_lanes(main->dyn.lanes & checked);
    r->stats->compared++;
    r->stats->compared_words += lanes * own->words;
    r->stats->checked_lanes += lanes;
    own->differs = (differing_lanes(&main->dyn, copy, core_warp_size(r->core)) & checked) != 0;
    own->closed = !own->differs;
    r->stats->mismatches += own->differs;
}

static enum write_back_answer write_copy(struct rise *r, const struct inflight *inflight)
{
    struct rise_record *copy = &r->records[inflight_index(r->core, inflight)];
    struct rise_record *own = &r->records[copy->main];
    const struct inflight *main = core_inflight(r->core, copy->main);
    if (own->closed)
        return WRITE_BACK_DROP;
    if (!own->buffered || copy->differs) /* a third execution is under way */
        return WRITE_BACK_HOLD;
    if (!own->differs)
        compare(r, main, &inflight->dyn, ~0ull);
    if (own->closed)
        return WRITE_BACK_DROP;
    copy->differs = repeat(r, main);
    return WRITE_BACK_HOLD;
}

/* A result of which other lanes have computed some words. */
static enum write_back_answer write_guest(struct rise *r, const struct inflight *inflight)
{
    struct rise_record *own = &r->records[inflight_index(r->core, inflight)];
    const struct rise_guest *guest = &r->guests[inflight->slot];
    if (guest->state == GUEST_LOST || own->closed)
        return WRITE_BACK_COMMIT;
    if ((guest->state == GUEST_COMPUTES && !guest->inside) || own->due)
        return WRITE_BACK_HOLD; /* its host is on its way; or a third execution is */
    if (!own->differs)
        compare(r, inflight, &guest->dyn, guest->lanes);
    if (own->closed)
        return WRITE_BACK_COMMIT;
    own->due = repeat(r, inflight);
    return WRITE_BACK_HOLD;
}

enum write_back_answer rise_write_back(void *state, struct core *core, struct inflight *inflight)
{
    struct rise *r = state;
    struct rise_record *own = &r->records[inflight_index(core, inflight)];
    rise_partial_due(r, inflight_index(core, inflight));
    switch ((enum rise_role)own->role) {
    case ROLE_MAIN:
        return write_main(r, inflight);
    case ROLE_COPY:
        return write_copy(r, inflight);
    case ROLE_GUEST:
        return write_guest(r, inflight);
    case ROLE_THIRD:
        vote(r, core_inflight(core, own->main), inflight);
        r->records[own->main].closed = true;
        return WRITE_BACK_DROP;
    default:
        return WRITE_BACK_COMMIT;
    }
}
