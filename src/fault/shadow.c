/*
 * Faults in registers whose effect is a wrong value and nothing else are followed beside the run without
 * faults, many in one run.
 *
 * Between the flip of a bit of a register and the moment at which a wrong value decides something - an
 * address, what is stored, a predicate - the run with the fault is the run without it but for some
 * registers of one warp. So these values are computed beside the right ones: whenever an instruction
 * of that warp reads a wrong register, its results are computed again with the wrong operands, and
 * those that differ are the next wrong registers. Either none is left, and the fault is masked, or a
 * wrong value is about to decide something. Then the fault is the same as one that flips, in this
 * cycle, all bits that are wrong: a process is forked there (spawn.c), and not earlier.
 *
 * Invariants
 *  H1  `now` has the wrong words of registers, `pending` those of results that are not written yet. Both
 *      are those of a run with the fault, which takes the same time.
 *  H2  The wrong words that a fault is moved with are those at the start of a cycle, as flips happen
 *      there, and no result is wrong then; `safe` is the last such state.
 *
 * Not followed: faults on pipelines that do not write back the common way (miaow), in code with explicit
 * EXEC, and together with mechanisms that fill seams.
 */
#include "core/live.h"
#include "exec/register_file.h"
#include "fault/campaign.h"
#include "gpu/time/parts.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

enum {
    PENDING = 4,     /* instructions with wrong results at a time */
    RESULT_ROWS = 8, /* most rows of results of an instruction that is followed */
};

struct shadow_pending {
    const struct inflight *inflight;
    struct shadow_set results;
};

struct shadow {
    u64 id;
    struct core *core;
    u32 slot, frame;
    u64 block; /* its number: the slot may get another one */
    struct shadow_set now;
    struct shadow_pending pending[PENDING];
    u32 pending_count;
    u64 changed;             /* the cycle of the last change; */
    struct shadow_set start; /* at its start, */
    u32 start_pending_count; /* and how many were pending then */
    u64 safe_cycle;
    struct shadow_set safe;
    u32 reader; /* the first instruction that has read it; NO_INST: none, */
    u64 read;   /* and its cycle */
    u32 steps;  /* instructions with wrong results */
};

struct shadows {
    struct hd_inject *inject;
    VEC(struct shadow) all;
    struct core_watch watch;
};

/* ---- sets ---- */

static bool set_add(struct shadow_set *set, u32 reg, u32 lane, u32 wrong)
{
    if (set->count == SHADOW_WORDS)
        return false;
    set->words[set->count++] = (struct shadow_word){(u16)reg, (u8)lane, wrong};
    return true;
}

static void set_remove(struct shadow_set *set, u32 reg, lane_set lanes)
{
    u32 kept = 0;
    for (u32 i = 0; i < set->count; i++)
        if (set->words[i].reg != reg || !(lanes >> set->words[i].lane & 1))
            set->words[kept++] = set->words[i];
    set->count = kept;
}

/* Whether it has a word of these registers in these lanes. */
static bool set_has(const struct shadow_set *set, u32 reg, u32 count, lane_set lanes)
{
    for (u32 i = 0; i < set->count; i++)
        if (set->words[i].reg - reg < count && set->words[i].reg >= reg &&
            lanes >> set->words[i].lane & 1)
            return true;
    return false;
}

static u32 set_bits(const struct shadow_set *set)
{
    u32 bits = 0;
    for (u32 i = 0; i < set->count; i++)
        bits += (u32)__builtin_popcount(set->words[i].wrong);
    return bits;
}

/* ---- ends ---- */

/* Call before a change. */
static void remember(struct shadow *shadow)
{
    const u64 cycle = core_cycle(shadow->core);
    if (shadow->changed == cycle)
        return;
    shadow->changed = cycle;
    shadow->start = shadow->now;
    shadow->start_pending_count = shadow->pending_count;
}

static void say(struct shadow_end *end, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say(struct shadow_end *end, const char *format, ...)
{
    const size_t used = strlen(end->story);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(end->story + used, sizeof end->story - used, format, arguments);
    va_end(arguments);
}

/* `reader`: the instruction that decides something; NO_INST: none does. */
static void tell(const struct shadow *shadow, struct shadow_end *end, u32 reader)
{
    char place[160];
    const struct exec *exec = shadow->core->exec;
    *end->story = '\0';
    if (shadow->reader != NO_INST) {
        fault_place_text(exec, shadow->reader, place, sizeof place);
        say(end, "first read in cycle %" PRIu64 ": %s\n", shadow->read, place);
    }
    if (shadow->steps)
        say(end, "wrong results of registers: %u\n", shadow->steps);
    if (reader != NO_INST) {
        fault_place_text(exec, reader, place, sizeof place);
        say(end, "leaves the registers in cycle %" PRIu64 ": %s\n", core_cycle(shadow->core),
            place);
    } else if (end->fate == SHADOW_VANISHED) {
        say(end, "no register was wrong any more in cycle %" PRIu64 "\n", core_cycle(shadow->core));
    }
}

static void end_at(struct shadows *shadows, u32 at, enum shadow_fate fate, u32 reader)
{
    struct shadow *shadow = &shadows->all.data[at];
    struct shadow_end *end = &shadows->inject->shadow_ends[shadow->id];
    const struct register_file *file = shadow->core->registers;
    const u32 lanes = shadow->core->config.core->warp_size;
    remember(shadow);
    end->fate = (u8)fate;
    tell(shadow, end, reader);
    const bool now = !shadow->start_pending_count && set_bits(&shadow->start) <= MOST_PATTERN;
    end->cycle = now ? shadow->changed : shadow->safe_cycle;
    const struct shadow_set *set = now ? &shadow->start : &shadow->safe;
    end->count = fate == SHADOW_MOVED ? set->count : 0;
    for (u32 i = 0; i < end->count; i++) {
        const struct shadow_word *word = &set->words[i];
        end->words[i].entry =
            (u64)(shadow->frame * file->layout.rows + word->reg) * lanes + word->lane;
        end->words[i].wrong = word->wrong;
    }
    *shadow = shadows->all.data[--shadows->all.count];
}

/* ---- an instruction issues ---- */

/* Whether another instruction of the warp is about to write one of these words. */
static bool is_pending(const struct shadow *shadow, const struct shadow_set *set,
                       const struct inflight *reader, const struct inflight *writer)
{
    const struct core *core = shadow->core;
    for (u32 i = 0; i < CORE_INFLIGHT; i++) {
        const struct inflight *other = &core->inflight.all[i];
        if (core->inflight.free[i / 64] >> i % 64 & 1 || other->slot != shadow->slot ||
            other == reader || other == writer)
            continue;
        for (u32 k = 0; k < 2; k++)
            if (other->dyn.dst_rows[k] &&
                set_has(set, other->dyn.to[k], other->dyn.dst_rows[k], other->dyn.writes))
                return true;
    }
    return false;
}

/* What is wrong before an instruction that issues, in the order of the program. */
static void find_site(const struct shadow *shadow, const struct inflight *reader,
                      struct shadow_site *site)
{
    const struct warp *warp = shadow->core->slots[shadow->slot].warp;
    bool known = !is_pending(shadow, &shadow->now, reader, NULL);
    site->words = shadow->now;
    for (u32 i = 0; i < shadow->pending_count; i++) {
        const struct shadow_pending *one = &shadow->pending[i];
        known &= !is_pending(shadow, &one->results, reader, one->inflight);
        for (u32 w = 0; w < one->results.count; w++) {
            const struct shadow_word *word = &one->results.words[w];
            known &= set_add(&site->words, word->reg, word->lane, word->wrong);
        }
    }
    site->warp = warp->index;
    site->inst = reader->dyn.inst;
    site->block = shadow->block;
    site->count = warp->instructions - 1; /* the reader is counted */
    site->cycle = core_cycle(shadow->core);
    site->known = known;
}

static bool reads(const struct dyninst *f, const struct shadow_set *set, lane_set lanes)
{
    bool any = false;
    for (u32 k = 0; k < ARRAY_LEN(f->code->src); k++)
        if (f->code->src[k].kind == OPERAND_VECTOR)
            any |= set_has(set, f->code->src[k].index, f->code->src[k].count, lanes);
    return any;
}

/* Makes operands wrong, or right again, and computes. */
static bool compute(struct dyninst *f, const struct shadow_set *set)
{
    u32 *operand;
    for (u32 row = 0; (operand = live_operand(f, row)); row++)
        for (u32 i = 0; i < set->count; i++)
            if (set->words[i].reg == live_operand_register(f, row))
                operand[set->words[i].lane] ^= set->words[i].wrong;
    return live_redo(f);
}

struct results {
    u32 rows[RESULT_ROWS][MAX_LANES];
    u32 scalars[DYNINST_SCALARS];
};

static void take_results(const struct dyninst *f, u32 lanes, struct results *results)
{
    u32 n = 0;
    for (u32 k = 0; k < 2; k++)
        for (u32 j = 0; j < f->dst_rows[k]; j++)
            memcpy(results->rows[n++], f->dst[k] + j * lanes, lanes * sizeof(u32));
    memcpy(results->scalars, f->scalars, sizeof results->scalars);
}

/* The wrong results of an instruction; false: it decides more than values of registers. */
static bool wrong_results(struct dyninst *f, const struct shadow *shadow, struct shadow_set *wrong)
{
    const u32 lanes = shadow->core->config.core->warp_size, words = lanes * (u32)sizeof(u32);
    struct results right, other, again;
    if (f->kind != DYNINST_COMPUTE || f->plan->kind != PLAN_LANES || f->homes || f->faulted ||
        f->committed || f->dst_rows[0] + f->dst_rows[1] > RESULT_ROWS || !live_operand(f, 0))
        return false;
    take_results(f, lanes, &right);
    if (!compute(f, &shadow->now))
        return false;
    take_results(f, lanes, &other);
    compute(f, &shadow->now);
    take_results(f, lanes, &again);
    bool ok = !memcmp(right.scalars, other.scalars, sizeof right.scalars);
    for (u32 k = 0, n = 0; k < 2; k++)
        for (u32 j = 0; j < f->dst_rows[k]; j++, n++) {
            ok &= !memcmp(right.rows[n], again.rows[n], words);
            for (u32 lane = 0; lane < lanes && ok; lane++)
                if (f->writes >> lane & 1 && right.rows[n][lane] != other.rows[n][lane])
                    ok = set_add(wrong, f->to[k] + j, lane,
                                 right.rows[n][lane] ^ other.rows[n][lane]);
        }
    return ok;
}

/* False: the fault must be moved here. */
static bool follow_issue(struct shadow *shadow, struct inflight *inflight)
{
    struct shadow_pending one = {.inflight = inflight};
    if (shadow->reader == NO_INST) {
        shadow->reader = inflight->dyn.inst;
        shadow->read = core_cycle(shadow->core);
    }
    if (!wrong_results(&inflight->dyn, shadow, &one.results) || shadow->pending_count == PENDING)
        return false;
    if (!one.results.count)
        return true;
    remember(shadow);
    if (!shadow->start_pending_count && !shadow->pending_count &&
        set_bits(&shadow->start) <= MOST_PATTERN) {
        shadow->safe = shadow->start;
        shadow->safe_cycle = shadow->changed;
    }
    shadow->pending[shadow->pending_count++] = one;
    shadow->steps++;
    return true;
}

/* Whether an instruction may write registers of other lanes or warps of its block at once (F3 of
 * dyninst.h). */
static bool is_wide(const struct slot *slot, const struct inflight *inflight)
{
    return (inflight->dyn.plan->kind == PLAN_WHOLE &&
            inflight->dyn.code->dst[0].kind != OPERAND_NONE) ||
           (inflight->time->flags & TIME_END && slot->warp->block->barriers_used);
}

static void on_issue(void *user, struct core *core, struct inflight *inflight)
{
    struct shadows *shadows = user;
    const struct dyninst *f = &inflight->dyn;
    const bool by_lane = f->plan->kind == PLAN_LANES || f->plan->kind == PLAN_ACCESS;
    const bool wide = is_wide(&core->slots[inflight->slot], inflight);
    for (u32 i = shadows->all.count; i-- > 0;) {
        struct shadow *shadow = &shadows->all.data[i];
        if (shadow->core != core)
            continue;
        const bool own = shadow->slot == inflight->slot;
        if (wide && core->slots[shadow->slot].block == core->slots[inflight->slot].block)
            end_at(shadows, i, SHADOW_MOVED, NO_INST);
        else if (own && reads(f, &shadow->now, by_lane ? f->lanes : ~0ull) &&
                 !follow_issue(shadow, inflight)) {
            find_site(shadow, inflight, &shadows->inject->shadow_ends[shadow->id].site);
            end_at(shadows, i, SHADOW_MOVED, f->inst);
        }
    }
}

/* ---- results are written ---- */

/* False: too many words are wrong. */
static bool follow_write(struct shadow *shadow, const struct inflight *inflight)
{
    const struct dyninst *f = &inflight->dyn;
    bool ok = true;
    u32 at = 0;
    while (at < shadow->pending_count && shadow->pending[at].inflight != inflight)
        at++;
    remember(shadow);
    for (u32 k = 0; k < 2; k++)
        for (u32 j = 0; j < f->dst_rows[k]; j++)
            set_remove(&shadow->now, f->to[k] + j, f->writes);
    if (at == shadow->pending_count)
        return true;
    const struct shadow_set *results = &shadow->pending[at].results;
    for (u32 i = 0; i < results->count && ok; i++)
        ok = set_add(&shadow->now, results->words[i].reg, results->words[i].lane,
                     results->words[i].wrong);
    shadow->pending[at] = shadow->pending[--shadow->pending_count];
    return ok;
}

static void on_write(void *user, struct core *core, const struct inflight *inflight)
{
    struct shadows *shadows = user;
    if (inflight->dyn.kind > DYNINST_ACCESS)
        return;
    for (u32 i = shadows->all.count; i-- > 0;) {
        struct shadow *shadow = &shadows->all.data[i];
        if (shadow->core != core || shadow->slot != inflight->slot)
            continue;
        if (!follow_write(shadow, inflight))
            end_at(shadows, i, SHADOW_MOVED, NO_INST);
        else if (!shadow->now.count && !shadow->pending_count)
            end_at(shadows, i, SHADOW_VANISHED, NO_INST);
    }
}

/* ---- the run ---- */

bool shadow_ask(struct hd_inject *inject, u64 id)
{
    const struct injection *fault = &inject->faults[id];
    if (strcmp(inject->targets.data[fault->target].name, "collect.registers") != 0)
        return false; /* its owner may be a part of the memory system, and no core */
    struct core *core = inject->device->timing->cores[fault->owner];
    const u32 lanes = core->config.core->warp_size, rows = core->registers->layout.rows;
    if (!rows || !core->exec || core->detours & DETOUR_SEAMS || core->registers->mapped ||
        core->exec->image->program->traits.explicit_exec)
        return false;
    const u32 row = (u32)(fault->entry / lanes), frame = row / rows, reg = row % rows;
    const u32 s = live_slot_of_frame(core, frame);
    if (s == CORE_WARPS || core->slots[s].ended || reg >= core->exec->register_rows)
        return false;
    struct shadow *shadow = vec_push(&inject->shadows->all);
    *shadow = (struct shadow){.id = id,
                              .core = core,
                              .slot = s,
                              .frame = frame,
                              .block = core->slots[s].warp->block->number,
                              .changed = UINT64_MAX,
                              .reader = NO_INST,
                              .safe_cycle = fault->cycle};
    set_add(&shadow->now, reg, (u32)(fault->entry % lanes), (u32)(fault->pattern << fault->bit));
    shadow->safe = shadow->now;
    core->watch = &inject->shadows->watch;
    return true;
}

void shadow_moment(struct hd_inject *inject, bool ended)
{
    struct shadows *shadows = inject->shadows;
    for (u32 i = shadows->all.count; i-- > 0;) {
        const struct shadow *shadow = &shadows->all.data[i];
        const struct core *core = shadow->core;
        const struct slot *slot = &core->slots[shadow->slot];
        if (ended || !(core->present >> shadow->slot & 1) || slot->ended ||
            slot->warp->block->number != shadow->block)
            end_at(shadows, i, SHADOW_VANISHED, NO_INST);
    }
}

void shadow_create(struct hd_inject *inject)
{
    inject->shadows = checked(calloc(1, sizeof *inject->shadows));
    inject->shadows->inject = inject;
    inject->shadows->watch = (struct core_watch){inject->shadows, on_issue, on_write};
}
