/*
 * One instruction, backwards: from the bits of its results that are needed to those of its sources.
 *
 * An instruction is needed in a lane if one of its results is needed there. *Sinks* are needed in all
 * lanes that execute them: stores, atomics, branches, barriers, system calls.
 *  - Lanes that do not execute it neither need its sources nor overwrite its destination. Its guard,
 *    or EXEC, is needed in all lanes in which its result is, executing or not: an error there would
 *    write a register that must not be written, or not write one that must.
 *  - Loads need their addresses if they are needed. A store needs its address whatever becomes of its
 *    data: with a wrong one it would overwrite something else.
 *  - Data stored to shared memory are needed as the memory is; all other stores are output.
 *
 * Deviations
 *  - Instructions that exchange data between lanes need all lanes of their sources.
 *  - Registers indexed at run time: a read needs all registers from the named one on, a write
 *    overwrites none.
 *  - Local memory is not followed: what is stored there is needed.
 *  - Global memory is not followed, since other cores may read what a core has stored: a global store
 *    that is overwritten before it is read counts as needed.
 */
#include "avf/avf.h"
#include "ir/scalars.h"

/* ---- plans ---- */

static u64 constant_bits(const struct avf *a, struct operand o)
{
    const u32 *at = core_exec(a->core)->image->constants + (size_t)o.index * a->warp_size;
    return at[0] | (o.count == 2 ? (u64)at[a->warp_size] << 32 : 0);
}

/* Bits of the sources, if all bits of the results are needed; where a rule looks at no value. */
static void plan_sources(const struct avf *a, struct avf_inst *plan, const struct inst *inst)
{
    struct lane_need lane = {.result = {~0ull, ~0ull}};
    for (u32 k = 0; k < 3; k++)
        if (inst->src[k].kind == OPERAND_CONST)
            lane.value[k] = constant_bits(a, inst->src[k]);
    need_sources(inst, plan->need, &lane);
    for (u32 k = 0; k < ARRAY_LEN(plan->all); k++)
        plan->all[k] = k < 3 ? lane.source[k] : ~0ull;
}

void flow_plan(struct avf *a, u32 number)
{
    const struct program *program = core_exec(a->core)->image->program;
    const struct inst *inst = &program->insts[number];
    struct avf_inst *plan = &a->plan[number];
    const u32 flags = op_info[inst->op].flags;
    const bool relative = inst->op == OP_movrel_dst || inst->op == OP_movrel_both ||
                          inst->op == OP_smovrel_dst_b32 || inst->op == OP_smovrel_dst_b64;
    const bool stack = inst->op == OP_fork || inst->op == OP_join;
    plan->need = need_row_of(inst);
    plan->values = (u8)need_values(inst, plan->need);
    plan->sink = (flags & (OPF_STORE | OPF_ATOMIC | OPF_BRANCH | OPF_BARRIER | OPF_EFFECT) &&
                  inst->op != OP_prefetch && inst->op != OP_time) ||
                 inst->op == OP_ssetreg;
    plan->scalar = flags & OPF_SCALAR;
    plan->kills = !relative && !stack;
    plan->writes = (u8)inst_writes(inst, plan->to);
    plan->bits = (u16)(8 * (program_offset(program, number + 1) - program_offset(program, number)));
    for (u32 k = 0; k < ARRAY_LEN(inst->src); k++) {
        const u32 kind = inst->src[k].kind;
        plan->operands += kind == OPERAND_VECTOR ? inst->src[k].count : 0;
        if (kind == OPERAND_VECTOR || kind == OPERAND_MASK || kind == OPERAND_SCALAR)
            plan->sources |= 1u << k;
    }
    plan_sources(a, plan, inst);
}

/* Sources that are registers, masks or scalars. */
#define EACH_SOURCE(k, plan)                                            \
    for (u32 left_ = (plan)->sources, k = first_bit(left_ | 16); left_; \
         left_ &= left_ - 1, k = first_bit(left_ | 16))

/* ---- places ---- */

static inline u32 vector_at(const struct avf *a, u32 slot, u32 reg)
{
    return slot * a->registers + reg;
}

/* Words of a scalar or mask operand: the first one, and how many. Status bits that are derived from
 * VCC and EXEC are those. */
static u32 word_at(const struct avf *a, u32 slot, struct operand o, u32 *count)
{
    u32 index = o.index;
    *count = o.count;
    if (o.kind == OPERAND_MASK) {
        index *= a->chunks;
        *count = a->chunks;
    } else if (index == SCALAR_VCCZ || index == SCALAR_EXECZ) {
        index = index == SCALAR_VCCZ ? SCALAR_VCC : SCALAR_EXEC;
        *count = 2;
    }
    if (!*count) /* any of them */
        *count = a->scalars - index;
    assert(index + *count <= a->scalars);
    return slot * a->scalars + index;
}

static lane_set mask_bits(const struct avf *a, u32 word)
{
    lane_set bits = tracked_bits(&a->words, word, 0);
    if (a->chunks > 1)
        bits |= (lane_set)tracked_bits(&a->words, word + 1, 0) << 32;
    return bits;
}

/* ---- results ---- */

struct needed {
    lane_set any;  /* lanes in which a result is needed, */
    lane_set sure; /* and not only because the log ends */
    lane_set full; /* lanes in which all bits of all vector results are */
};

static void add_vectors(const struct avf *a, u32 slot, struct operand o, struct needed *needed)
{
    const u32 count = o.count ? o.count : a->registers - o.index;
    const struct tracked_row *r = &a->vectors.rows[vector_at(a, slot, o.index)];
    for (u32 i = 0; i < count; i++, r++) {
        needed->any |= r->some;
        needed->sure |= r->some & ~r->unsure;
        needed->full &= r->full;
    }
}

static void add_words(const struct avf *a, u32 slot, struct operand o, struct needed *needed)
{
    u32 count;
    const u32 first = word_at(a, slot, o, &count);
    const lane_set bits = o.kind == OPERAND_MASK ? mask_bits(a, first) : 0;
    assert(o.kind != OPERAND_MASK || count <= 2);
    for (u32 i = 0; i < count; i++) {
        const struct tracked_row *r = &a->words.rows[first + i];
        const lane_set lanes = !r->some                 ? 0
                               : o.kind == OPERAND_MASK ? bits & 0xffffffffull << 32 * i
                                                        : a->vectors.all;
        needed->any |= lanes;
        needed->sure |= r->unsure ? 0 : lanes;
    }
}

static struct needed needed_of(const struct avf *a, const struct avf_entry *e,
                               const struct avf_inst *plan)
{
    struct needed needed = {.full = ~0ull};
    for (u32 i = 0; i < plan->writes; i++)
        if (plan->to[i].kind == OPERAND_VECTOR)
            add_vectors(a, e->slot, plan->to[i], &needed);
        else if (plan->to[i].kind == OPERAND_MASK || plan->to[i].kind == OPERAND_SCALAR)
            add_words(a, e->slot, plan->to[i], &needed);
    return needed;
}

/* The last writer of a row, which holds its value when the rest of the log begins. */
static void note_writer(struct tracked_row *r, u32 inst, u32 number)
{
    if (r->next_known)
        return;
    r->next_known = true;
    r->next_writer = inst;
    r->next_number = number;
}

static void write_vectors(struct avf *a, const struct avf_entry *e, struct operand o)
{
    const u32 cycle = avf_cycles(a, e->written);
    for (u32 i = 0; i < o.count; i++) {
        const u32 row = vector_at(a, e->slot, o.index + i);
        struct tracked_row *r = &a->vectors.rows[row];
        const struct ended ended = tracked_write(&a->vectors, row, e->writes, cycle);
        if (!a->accounting)
            continue;
        avf_count_vector(a, &ended, e->inst, e->number, true);
        note_writer(r, e->inst, e->number);
    }
}

static void count_words(struct avf *a, const struct ended *ended)
{
    a->stats->scalar_ace += ended->ace;
}

/* A mask is written in the lanes that execute; with EXEC it becomes 0 in all others. */
static void write_words(struct avf *a, const struct avf_entry *e, struct operand o)
{
    u32 count;
    const u32 first = word_at(a, e->slot, o, &count), cycle = avf_cycles(a, e->written);
    const bool whole = o.kind == OPERAND_SCALAR || a->exec_masks;
    for (u32 i = 0; i < count; i++) {
        const u32 bits = whole ? ~0u : lanes_of_chunk(e->lanes, i);
        const struct ended ended = tracked_write_bits(&a->words, first + i, bits, cycle);
        if (a->accounting)
            count_words(a, &ended);
    }
}

static void write_results(struct avf *a, const struct avf_entry *e, const struct avf_inst *plan)
{
    for (u32 i = 0; plan->kills && i < plan->writes; i++)
        if (plan->to[i].kind == OPERAND_VECTOR)
            write_vectors(a, e, plan->to[i]);
        else if (plan->to[i].kind == OPERAND_MASK || plan->to[i].kind == OPERAND_SCALAR)
            write_words(a, e, plan->to[i]);
}

/* ---- sources ---- */

/* Needed bits of a register that the instruction reads: it has them in its collector. */
void flow_count_sources(struct avf *a, const u32 *bits, lane_set lanes)
{
    if (a->accounting)
        for (; lanes; lanes &= lanes - 1)
            a->source_bits += count_lanes(bits[first_lane(lanes)]);
}

static void need_words(struct avf *a, u32 word, u32 bits, bool unsure, const struct avf_entry *e)
{
    const u32 cycle = avf_cycles(a, e->issued);
    tracked_read(&a->words, word, 1, cycle, e->number);
    tracked_need(&a->words, word, bits != 0, bits, unsure, cycle);
}

static void need_mask(struct avf *a, const struct avf_entry *e, struct operand o, lane_set lanes,
                      lane_set unsure)
{
    u32 count;
    const u32 first = word_at(a, e->slot, o, &count);
    for (u32 i = 0; i < count; i++)
        need_words(a, first + i, lanes_of_chunk(lanes, i), lanes_of_chunk(unsure, i) != 0, e);
}

/* Registers of an operand are read in some lanes, whether they are needed or not. */
static void read_vectors(struct avf *a, const struct avf_entry *e, struct operand o, lane_set lanes)
{
    const u32 count = o.count ? o.count : a->registers - o.index;
    for (u32 i = 0; i < count; i++)
        tracked_read(&a->vectors, vector_at(a, e->slot, o.index + i), lanes, avf_cycles(a, e->read),
                     e->number);
}

/* The same bits of an operand in all these lanes. */
static void need_same(struct avf *a, const struct avf_entry *e, struct operand o, lane_set lanes,
                      u64 bits, lane_set unsure)
{
    u32 count = o.count ? o.count : a->registers - o.index;
    const u32 cycle = avf_cycles(a, e->read);
    if (!lanes || !bits)
        return;
    if (o.kind == OPERAND_MASK) {
        need_mask(a, e, o, lanes, unsure);
    } else if (o.kind == OPERAND_SCALAR) {
        const u32 first = word_at(a, e->slot, o, &count);
        for (u32 i = 0; i < count; i++)
            need_words(a, first + i, i == 1 && o.count == 2 ? (u32)(bits >> 32) : (u32)bits,
                       unsure == lanes, e);
    } else if (o.kind == OPERAND_VECTOR) {
        const u32 first = vector_at(a, e->slot, o.index);
        const u32 lane_count = lanes == a->vectors.all ? a->warp_size : count_lanes(lanes);
        for (u32 i = 0; i < count; i++) {
            const u32 word = i == 1 && count == 2 ? (u32)(bits >> 32) : (u32)bits;
            tracked_need(&a->vectors, first + i, lanes, word, unsure, cycle);
            a->source_bits += lane_count * (word == ~0u ? 32 : count_lanes(word));
        }
    }
}

/* Bits of one lane of a result, as need_sources takes them. */
static u64 result_bits(const struct avf *a, u32 slot, struct operand o, u32 lane)
{
    if (o.kind == OPERAND_MASK)
        return mask_bits(a, slot * a->scalars + o.index * a->chunks) >> lane & 1;
    if (o.kind != OPERAND_VECTOR)
        return 0;
    const u32 row = vector_at(a, slot, o.index);
    u64 bits = tracked_bits(&a->vectors, row, lane);
    if (o.count == 2)
        bits |= (u64)tracked_bits(&a->vectors, row + 1, lane) << 32;
    return bits;
}

/* Values that a rule looks at: rows of the pool, in the order of the sources, masks as two words. */
struct kept_values {
    const u32 *rows[3];
    u64 constant[3];
};

static struct kept_values kept_values_of(const struct avf *a, const struct avf_entry *e,
                                         const struct inst *inst, const struct avf_inst *plan)
{
    struct kept_values values = {0};
    const u32 *at = a->pool + e->values;
    for (u32 k = 0; k < 3; k++) {
        if (inst->src[k].kind == OPERAND_CONST)
            values.constant[k] = constant_bits(a, inst->src[k]);
        if (!(plan->values >> k & 1))
            continue;
        values.rows[k] = at;
        at += inst->src[k].kind == OPERAND_MASK ? MAX_CHUNKS : inst->src[k].count * a->warp_size;
    }
    return values;
}

static u64 value_of(const struct avf *a, const struct kept_values *values, struct operand o, u32 k,
                    u32 lane)
{
    const u32 *row = values->rows[k];
    if (!row)
        return values->constant[k];
    if (o.kind == OPERAND_MASK)
        return (row[lane / 32] >> lane % 32 & 1) ^ o.neg;
    return row[lane] | (o.count == 2 ? (u64)row[a->warp_size + lane] << 32 : 0);
}

/* Bits of each source, lane by lane. */
struct source_bits {
    u32 words[3][2][MAX_LANES];
    u64 any[3];
};

/* Comparisons of words, as need_compare in needs.c: they are needed in all these lanes. */
static void find_compared(const struct inst *inst, const struct kept_values *values, lane_set lanes,
                          struct source_bits *bits)
{
    const u32 *const x = values->rows[0], *const y = values->rows[1];
    const bool equality = inst->key == CMP_EQ || inst->key == CMP_NE;
    u32 any = 0;
    for (lane_set set = lanes; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        const u32 differ =
            (x ? x[lane] : (u32)values->constant[0]) ^ (y ? y[lane] : (u32)values->constant[1]);
        const u32 highest = differ ? 1u << (31 - __builtin_clz(differ)) : 1;
        const u32 need = equality && differ ? highest : ~(highest - 1);
        bits->words[0][0][lane] = bits->words[1][0][lane] = need;
        any |= need;
    }
    bits->any[0] = bits->any[1] = any;
    bits->any[2] = ~0ull;
}

static void find_bits(const struct avf *a, const struct avf_entry *e, lane_set lanes,
                      struct source_bits *bits)
{
    const struct inst *inst = &a->insts[e->inst];
    const struct avf_inst *plan = &a->plan[e->inst];
    const struct kept_values values = kept_values_of(a, e, inst, plan);
    struct lane_need last = {0}, now = {0};
    bool known = false;
    if (plan->need.rule == NEED_COMPARE && plan->need.width == 32) {
        find_compared(inst, &values, lanes, bits);
        return;
    }
    for (u32 k = 0; k < 3; k++)
        bits->any[k] = 0;
    for (lane_set set = lanes; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        for (u32 k = 0; k < 2; k++)
            now.result[k] = result_bits(a, e->slot, inst->dst[k], lane);
        for (u32 k = 0; k < 3; k++)
            now.value[k] = value_of(a, &values, inst->src[k], k, lane);
        if (!known || memcmp(now.result, last.result, sizeof now.result) != 0 ||
            memcmp(now.value, last.value, sizeof now.value) != 0) {
            last = now;
            need_sources(inst, plan->need, &last);
            known = true;
        }
        for (u32 k = 0; k < 3; k++) {
            bits->words[k][0][lane] = (u32)last.source[k];
            bits->words[k][1][lane] = (u32)(last.source[k] >> 32);
            bits->any[k] |= last.source[k];
        }
    }
}

/* Needed bits of a result if they are the same in all these lanes. */
static bool result_is_alike(const struct avf *a, u32 slot, struct operand o, lane_set lanes)
{
    if (o.kind == OPERAND_MASK) {
        const lane_set bits = mask_bits(a, slot * a->scalars + o.index * a->chunks) & lanes;
        return !bits || bits == lanes;
    }
    const struct tracked_row *r = &a->vectors.rows[vector_at(a, slot, o.index)];
    for (u32 i = 0; o.kind == OPERAND_VECTOR && i < MIN(o.count, 2u); i++, r++)
        if (lanes & r->some && lanes & ~r->full && (!r->even || lanes & ~r->some))
            return false;
    return true;
}

static bool value_is_alike(const struct avf *a, const u32 *row, struct operand o, lane_set lanes)
{
    if (!row)
        return true;
    if (o.kind == OPERAND_MASK) {
        const lane_set bits = (row[0] | (lane_set)row[1] << 32) & lanes;
        return !bits || bits == lanes;
    }
    const u32 first = first_lane(lanes);
    for (u32 i = 0; i < o.count; i++, row += a->warp_size)
        for (lane_set set = lanes; set; set &= set - 1)
            if (row[first_lane(set)] != row[first])
                return false;
    return true;
}

/* Whether results and values are the same in all these lanes: so are the bits of the sources. */
static bool lanes_are_alike(const struct avf *a, const struct avf_entry *e, lane_set lanes)
{
    const struct inst *inst = &a->insts[e->inst];
    const struct kept_values values = kept_values_of(a, e, inst, &a->plan[e->inst]);
    for (u32 k = 0; k < 2; k++)
        if (!result_is_alike(a, e->slot, inst->dst[k], lanes))
            return false;
    for (u32 k = 0; k < 3; k++)
        if (!value_is_alike(a, values.rows[k], inst->src[k], lanes))
            return false;
    return true;
}

/* The same bits of the sources in all lanes. */
static void need_alike(struct avf *a, const struct avf_entry *e, lane_set lanes, lane_set unsure,
                       const u64 *bits)
{
    const struct inst *inst = &a->insts[e->inst];
    const struct avf_inst *plan = &a->plan[e->inst];
    write_results(a, e, plan);
    EACH_SOURCE(k, plan)
    need_same(a, e, inst->src[k], lanes, bits[k], unsure);
}

static void need_each(struct avf *a, const struct avf_entry *e, lane_set lanes, lane_set unsure)
{
    struct source_bits bits;
    const struct inst *inst = &a->insts[e->inst];
    if (lanes_are_alike(a, e, lanes)) {
        find_bits(a, e, lanes & -lanes, &bits);
        const u64 same[4] = {bits.any[0], bits.any[1], bits.any[2], 0};
        need_alike(a, e, lanes, unsure, same);
        return;
    }
    find_bits(a, e, lanes, &bits);
    write_results(a, e, &a->plan[e->inst]);
    for (u32 k = 0; k < 3; k++) {
        const struct operand o = inst->src[k];
        if (o.kind != OPERAND_VECTOR) {
            need_same(a, e, o, lanes, bits.any[k], unsure);
            continue;
        }
        for (u32 i = 0; i < MIN(o.count, 2u); i++) {
            tracked_need_each(&a->vectors, vector_at(a, e->slot, o.index + i), lanes,
                              bits.words[k][i], unsure, avf_cycles(a, e->read));
            flow_count_sources(a, bits.words[k][i], lanes);
        }
    }
}

/* ---- kinds of instructions ---- */

/* The guard, and EXEC, of what would be written or not. */
static void need_guard(struct avf *a, const struct avf_entry *e, lane_set lanes, lane_set unsure)
{
    static const struct operand exec = {.kind = OPERAND_MASK, .index = MASK_EXEC};
    const struct inst *inst = &a->insts[e->inst];
    if (inst->guard.kind == OPERAND_MASK)
        need_mask(a, e, inst->guard, lanes & e->active, unsure);
    if (a->exec_masks && !a->plan[e->inst].scalar)
        need_mask(a, e, exec, lanes, unsure);
    if (!a->exec_masks)
        front_need_active(a, e, lanes, unsure);
}

/* Bits of the data that a store moves from each register. */
static u64 stored_bits(const struct inst *inst, u32 k)
{
    const u32 bytes = type_bytes(inst->type);
    return inst->op == OP_st && k == 1 && bytes < 4 ? (1ull << 8 * bytes) - 1 : ~0ull;
}

static void back_sink(struct avf *a, const struct avf_entry *e)
{
    const struct inst *inst = &a->insts[e->inst];
    const bool cross = op_info[inst->op].flags & OPF_CROSS;
    const bool followed = shared_is_followed(a, e);
    write_results(a, e, &a->plan[e->inst]);
    EACH_SOURCE(k, &a->plan[e->inst])
    {
        const bool data = followed && (k == 1 || (k == 2 && inst->op == OP_st2));
        need_same(a, e, inst->src[k],
                  cross  ? e->active
                  : data ? e->lanes & ~e->shared
                         : e->lanes,
                  stored_bits(inst, k), 0);
    }
    if (followed)
        shared_back_store(a, e);
    else if (e->shared)
        shared_back_other(a, e);
    if (inst->op == OP_fork || inst->op == OP_join)
        for (u32 i = 0; i < a->scalars; i++)
            need_words(a, e->slot * a->scalars + i, ~0u, false, e);
    need_guard(a, e, a->vectors.all, 0);
}

/* Of the whole warp: any bit of a result needs all sources, or the same bits of them. */
static void back_scalar(struct avf *a, const struct avf_entry *e, struct needed needed)
{
    const struct inst *inst = &a->insts[e->inst];
    const struct operand d = inst->dst[0];
    const bool rule = a->plan[e->inst].need.rule == NEED_BITWISE && d.kind == OPERAND_SCALAR &&
                      inst->src[0].count == d.count;
    u64 bits = ~0ull;
    u32 count;
    if (rule) {
        const u32 first = word_at(a, e->slot, d, &count);
        bits = tracked_bits(&a->words, first, 0);
        bits |= count > 1 ? (u64)tracked_bits(&a->words, first + 1, 0) << 32 : 0;
        if (inst->dst[1].kind == OPERAND_SCALAR) { /* SCC: whether the result is 0 */
            const u32 scc = word_at(a, e->slot, inst->dst[1], &count);
            bits |= tracked_bits(&a->words, scc, 0) ? ~0ull : 0;
        }
    }
    write_results(a, e, &a->plan[e->inst]);
    if (!needed.any)
        return;
    const lane_set unsure = needed.sure ? 0 : a->vectors.all;
    EACH_SOURCE(k, &a->plan[e->inst])
    need_same(a, e, inst->src[k], a->vectors.all, bits, unsure);
}

static void back_lanes(struct avf *a, const struct avf_entry *e, struct needed needed)
{
    const struct inst *inst = &a->insts[e->inst];
    const struct avf_inst *plan = &a->plan[e->inst];
    const lane_set run = needed.any & e->lanes, unsure = run & ~needed.sure;
    const bool open = inst->op == OP_movrel_src || inst->op == OP_movrel_both;
    need_guard(a, e, needed.any, needed.any & ~needed.sure);
    if (e->shared & run)
        shared_back_load(a, e, run, unsure);
    if (op_info[inst->op].flags & OPF_CROSS || open) {
        struct operand list[INST_REFS];
        const u32 count = inst_reads(inst, list);
        write_results(a, e, plan);
        for (u32 k = 0; run && k < count; k++)
            need_same(a, e, list[k], e->active, ~0ull, unsure == run ? e->active : 0);
    } else if (!run) {
        write_results(a, e, plan);
    } else if (plan->need.rule == NEED_ALL || (!plan->values && !(run & ~needed.full))) {
        need_alike(a, e, run, unsure, plan->all);
    } else {
        need_each(a, e, run, unsure);
    }
}

/* Counters of a unit: lanes that an instruction occupies, runs in and is needed in. */
struct unit_counters {
    u64 *busy, *active, *ace, *unchecked;
};

static struct unit_counters counters_of(struct avf_stats *s, u32 pipe)
{
    switch (pipe) {
    case PIPE_SP:
        return (struct unit_counters){&s->sp_busy, &s->sp_active, &s->sp_ace, &s->sp_unchecked};
    case PIPE_INT:
        return (struct unit_counters){&s->int_busy, &s->int_active, &s->int_ace, &s->int_unchecked};
    case PIPE_FP64:
        return (struct unit_counters){&s->fp64_busy, &s->fp64_active, &s->fp64_ace,
                                      &s->fp64_unchecked};
    case PIPE_SFU:
        return (struct unit_counters){&s->sfu_busy, &s->sfu_active, &s->sfu_ace, &s->sfu_unchecked};
    default:
        return (struct unit_counters){0};
    }
}

static void count_unit(struct avf *a, const struct avf_entry *e, lane_set ace)
{
    const struct unit_counters c = counters_of(a->stats, e->pipe);
    const struct units_params *u = core_config(a->core)->units;
    const u32 width = e->pipe == PIPE_FP64  ? u->fp64_lanes
                      : e->pipe == PIPE_SFU ? u->sfu_lanes
                                            : u->sp_lanes;
    if (!c.busy)
        return;
    const u64 cycles = MAX(e->interval, a->warp_size / width); /* at least one pass for all lanes */
    *c.busy += cycles * width;
    *c.active += count_lanes(e->lanes) * cycles * width / a->warp_size;
    *c.ace += count_lanes(ace) * cycles * width / a->warp_size;
    *c.unchecked += count_lanes(ace & ~e->checked) * cycles * width / a->warp_size;
}

void flow_back(struct avf *a, const struct avf_entry *e)
{
    const struct inst *inst = &a->insts[e->inst];
    const struct avf_inst *plan = &a->plan[e->inst];
    const struct needed needed = needed_of(a, e, plan);
    const lane_set ace = plan->sink     ? e->lanes
                         : plan->scalar ? (needed.any ? e->lanes : 0)
                                        : needed.any & e->lanes;
    const bool dead = !plan->sink && !(plan->scalar ? needed.any : ace);
    if (a->accounting) {
        a->stats->instructions++;
        a->stats->dead_instructions += dead;
        count_unit(a, e, ace);
        if (e->sent)
            packets_access(a, e, ace, plan->sink ? 0 : ace & ~needed.sure);
    }
    a->source_bits = 0;
    if (a->accounting && e->reads != NOTHING)
        reads_back(a, e, ace, plan->sink ? 0 : ace & ~needed.sure, needed.full);
    if (plan->sink)
        back_sink(a, e);
    else if (plan->scalar)
        back_scalar(a, e, needed);
    else
        back_lanes(a, e, needed);
    if (a->accounting)
        front_back(a, e,
                   dead                        ? FRONT_DEAD
                   : plan->sink || needed.sure ? FRONT_NEEDED
                                               : FRONT_UNDECIDED);
    EACH_SOURCE(k, plan)
    if (inst->src[k].kind == OPERAND_VECTOR)
        read_vectors(a, e, inst->src[k], e->lanes);
}

void flow_close(struct avf *a, u64 slots, u32 cycle, bool starts)
{
    for (; slots; slots &= slots - 1) {
        const u32 slot = first_bit(slots);
        for (u32 i = 0; i < a->registers; i++) {
            const u32 row = vector_at(a, slot, i);
            struct tracked_row *r = &a->vectors.rows[row];
            const struct ended ended = tracked_write(&a->vectors, row, a->vectors.all, cycle);
            if (!a->accounting)
                continue;
            avf_count_vector(a, &ended, starts ? NO_INST : r->writer, r->writer_number, false);
            if (starts)
                note_writer(r, NO_INST, 0);
        }
        for (u32 i = 0; i < a->scalars; i++) {
            const struct ended ended = tracked_write(&a->words, slot * a->scalars + i, 1, cycle);
            if (a->accounting)
                count_words(a, &ended);
        }
    }
}
