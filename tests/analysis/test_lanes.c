/*
 * Liveness and lifetimes with explicit EXEC.
 *
 * Liveness against what liveness means: overwriting what is dead changes nothing
 * that can be seen. Random code runs twice in a small interpreter; the second time every register
 * that is dead before an instruction gets random bits there, in all lanes. Stores must agree.
 *
 * Lifetimes against runs of the same code: no lane may read a value later than its definition says.
 *
 * Regions: code that runs again from the start of its region, at random moments, ends as without.
 */
#include "analysis/lifetimes.h"
#include "analysis/regions.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    INSTS = 40,
    VECTORS = 5,
    LANES = 8,
    STEPS = 300
};

struct sample {
    struct inst insts[INSTS];
    u32 constants[4]; /* all ones, then zeros, as pairs */
    struct code code;
    u64 seed;
};

static u32 pick(u64 *seed, u32 below)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)(*seed >> 33) % below;
}

static struct operand vector(u64 *seed)
{
    return operand_make(OPERAND_VECTOR, pick(seed, VECTORS), 1);
}

/* One of four pairs, VCC or EXEC. */
static struct operand pair(u64 *seed, bool source)
{
    static const u32 pairs[] = {0, 2, 4, SCALAR_VCC, SCALAR_EXEC, SCALAR_EXEC, SCALAR_EXEC};
    u32 which = pick(seed, 9);
    if (which >= ARRAY_LEN(pairs))
        return source ? operand_make(OPERAND_CONST, pick(seed, 8) ? 2 : 0, 2)
                      : operand_make(OPERAND_SCALAR, 0, 2);
    return operand_make(OPERAND_SCALAR, pairs[which], 2);
}

static struct operand mask(u64 *seed)
{
    static const u32 masks[] = {0, 1, 2, MASK_VCC};
    return operand_make(OPERAND_MASK, masks[pick(seed, 4)], 1);
}

static struct operand scalar(u64 *seed)
{
    return operand_make(OPERAND_SCALAR, 8 + pick(seed, 3), 1);
}

static struct inst pair_op(u64 *seed)
{
    static const u16 ops[] = {OP_sand_b64,      OP_sor_b64,      OP_sxor_b64,      OP_sandn2_b64,
                              OP_sand_saveexec, OP_sor_saveexec, OP_sand_saveexec, OP_smov_b64};
    struct inst inst = {.op = ops[pick(seed, ARRAY_LEN(ops))], .dst = {pair(seed, false)}};
    inst.src[0] = pair(seed, true);
    if (inst.op == OP_smov_b64)
        return inst;
    inst.src[1] = pair(seed, true);
    inst.dst[1] = operand_make(OPERAND_SCALAR, SCALAR_SCC, 1);
    if (inst.op == OP_sand_saveexec || inst.op == OP_sor_saveexec) {
        inst.dst[0] = operand_make(OPERAND_SCALAR, 2 * pick(seed, 3), 2);
        inst.src[1] = operand_make(OPERAND_SCALAR, SCALAR_EXEC, 2);
        inst.mods = MOD_EXEC;
    }
    return inst;
}

static struct inst random_inst(u64 *seed, u32 count, bool cross)
{
    switch (pick(seed, cross ? 14 : 12)) {
    case 0:
    case 1:
        return (struct inst){.op = OP_mov_b32, .dst = {vector(seed)}, .src = {vector(seed)}};
    case 2:
        return (struct inst){.op = OP_mov_b32, .dst = {vector(seed)}, .src = {scalar(seed)}};
    case 3:
    case 4:
        return (struct inst){
            .op = OP_add_b32, .dst = {vector(seed)}, .src = {vector(seed), vector(seed)}};
    case 5:
        return (struct inst){.op = OP_setp_u32,
                             .mods = pick(seed, 4) ? 0 : MOD_EXEC,
                             .dst = {mask(seed)},
                             .src = {vector(seed), vector(seed)}};
    case 6:
        return (struct inst){.op = OP_selp_b32,
                             .dst = {vector(seed)},
                             .src = {vector(seed), vector(seed), mask(seed)}};
    case 7:
        return (struct inst){.op = OP_st, .src = {vector(seed), vector(seed)}};
    case 8:
        return (struct inst){.op = OP_bra_if,
                             .key = (u8)pick(seed, 2),
                             .imm = pick(seed, count),
                             .src = {pair(seed, true)}};
    case 12:
        return (struct inst){.op = pick(seed, 2) ? OP_readlane : OP_readfirstlane,
                             .dst = {scalar(seed)},
                             .src = {vector(seed)}};
    case 13:
        return (struct inst){.op = OP_writelane, .dst = {vector(seed)}, .src = {scalar(seed)}};
    default:
        return pair_op(seed);
    }
}

static void make_sample(struct sample *s, u64 seed)
{
    memset(s, 0, sizeof *s);
    s->seed = seed * 7919 + 3;
    u32 count = 6 + pick(&s->seed, INSTS - 6);
    bool cross = pick(&s->seed, 3) == 0;
    for (u32 i = 0; i + 1 < count; i++) {
        s->insts[i] = random_inst(&s->seed, count, cross);
        if (s->insts[i].op == OP_readlane)
            s->insts[i].src[1] = scalar(&s->seed);
        if (s->insts[i].op == OP_writelane)
            s->insts[i].src[1] = scalar(&s->seed);
    }
    s->insts[count - 1] = (struct inst){.op = OP_end};
    s->constants[0] = s->constants[1] = UINT32_MAX;
    s->code = (struct code){.insts = s->insts,
                            .count = count,
                            .constants = s->constants,
                            .vectors = VECTORS,
                            .explicit_exec = true};
}

struct machine {
    const struct sample *sample;
    u32 vectors[VECTORS][LANES];
    u32 scalars[SCALAR_COUNT];
    u32 stored[STEPS * LANES * 2];
    u32 stores;
};

static u64 get_pair(const struct machine *m, struct operand o)
{
    const u32 *words = o.kind == OPERAND_CONST ? m->sample->constants : m->scalars;
    u32 at = o.kind == OPERAND_MASK ? 2 * o.index : o.index;
    return words[at] | (u64)words[at + 1] << 32;
}

static void set_pair(struct machine *m, u32 at, u64 value)
{
    m->scalars[at] = (u32)value;
    m->scalars[at + 1] = (u32)(value >> 32);
}

static u64 exec_of(const struct machine *m)
{
    return m->scalars[SCALAR_EXEC] | (u64)m->scalars[SCALAR_EXEC + 1] << 32;
}

static u32 get(const struct machine *m, struct operand o, u32 lane)
{
    return o.kind == OPERAND_VECTOR ? m->vectors[o.index][lane] : m->scalars[o.index];
}

static void run_scalar(struct machine *m, const struct inst *inst)
{
    u64 a = get_pair(m, inst->src[0]), b = 0, exec = exec_of(m), result = a;
    if (inst->op != OP_smov_b64)
        b = get_pair(m, inst->src[1]);
    switch (inst->op) {
    case OP_sand_b64:
    case OP_sand_saveexec:
        result = a & b;
        break;
    case OP_sor_b64:
    case OP_sor_saveexec:
        result = a | b;
        break;
    case OP_sxor_b64:
        result = a ^ b;
        break;
    case OP_sandn2_b64:
        result = a & ~b;
        break;
    default:
        break;
    }
    bool saves = inst->mods & MOD_EXEC;
    set_pair(m, inst->dst[0].index, saves ? exec : result);
    if (saves)
        set_pair(m, SCALAR_EXEC, result);
    if (inst->op != OP_smov_b64)
        m->scalars[SCALAR_SCC] = result != 0;
}

static void run_lanes(struct machine *m, const struct inst *inst)
{
    u64 exec = exec_of(m), result = 0;
    for (u32 lane = 0; lane < LANES; lane++) {
        if (!(exec >> lane & 1))
            continue;
        u32 a = get(m, inst->src[0], lane), b = 0;
        if (inst->src[1].kind == OPERAND_VECTOR)
            b = get(m, inst->src[1], lane);
        u32 *to =
            inst->dst[0].kind == OPERAND_VECTOR ? &m->vectors[inst->dst[0].index][lane] : NULL;
        switch (inst->op) {
        case OP_mov_b32:
            *to = a;
            break;
        case OP_add_b32:
            *to = a + b;
            break;
        case OP_selp_b32:
            *to = get_pair(m, inst->src[2]) >> lane & 1 ? a : b;
            break;
        case OP_setp_u32:
            result |= (u64)(a < b) << lane;
            break;
        default: /* st */
            m->stored[m->stores++] = a + lane;
            m->stored[m->stores++] = b;
        }
    }
    if (inst->op != OP_setp_u32)
        return;
    set_pair(m, 2 * inst->dst[0].index, result);
    if (inst->mods & MOD_EXEC)
        set_pair(m, SCALAR_EXEC, result);
}

/* The instruction that follows; the code's count at the end. */
static u32 run_one(struct machine *m, u32 at)
{
    const struct inst *inst = &m->sample->insts[at];
    u64 exec = exec_of(m) & ((1u << LANES) - 1);
    switch (inst->op) {
    case OP_end:
        return m->sample->code.count;
    case OP_bra_if:
        return (get_pair(m, inst->src[0]) != 0) == inst->key ? (u32)inst->imm : at + 1;
    case OP_readlane:
        m->scalars[inst->dst[0].index] =
            m->vectors[inst->src[0].index][m->scalars[inst->src[1].index] % LANES];
        break;
    case OP_readfirstlane:
        m->scalars[inst->dst[0].index] =
            m->vectors[inst->src[0].index][exec ? __builtin_ctzll(exec) : 0];
        break;
    case OP_writelane:
        m->vectors[inst->dst[0].index][m->scalars[inst->src[1].index] % LANES] =
            m->scalars[inst->src[0].index];
        break;
    default:
        if (op_info[inst->op].flags & OPF_SCALAR)
            run_scalar(m, inst);
        else
            run_lanes(m, inst);
    }
    return at + 1;
}

/* Random bits in all that is dead; how much that is. */
static u32 spoil(struct machine *m, const struct lane_live *live, u64 *seed)
{
    u32 dead = 0;
    for (u32 v = 0; v < VECTORS; v++)
        for (u32 lane = 0; !lane_live_vector(live, v) && lane < LANES; lane++, dead++)
            m->vectors[v][lane] = pick(seed, 16);
    for (u32 s = 0; s < SCALAR_COUNT; s++) {
        bool tracked = s < SCALAR_EXEC || s == SCALAR_SCC;
        if (tracked && !lane_live_scalar(live, s))
            m->scalars[s] = pick(seed, 256);
    }
    return dead;
}

static u32 run(struct machine *m, const struct lane_live *before, u64 *seed)
{
    u32 dead = 0, at = 0;
    for (u32 step = 0; step < STEPS && at < m->sample->code.count; step++) {
        if (before)
            dead += spoil(m, &before[at], seed);
        at = run_one(m, at);
    }
    return dead;
}

static void set_random(struct machine *m, struct sample *s)
{
    memset(m, 0, sizeof *m);
    m->sample = s;
    for (u32 r = 0; r < VECTORS; r++)
        for (u32 lane = 0; lane < LANES; lane++)
            m->vectors[r][lane] = pick(&s->seed, 16);
    for (u32 k = 0; k < SCALAR_COUNT; k++)
        m->scalars[k] = pick(&s->seed, 256);
    set_pair(m, SCALAR_EXEC, 1 + pick(&s->seed, 255));
}

static void dead_is_dead(void **state)
{
    (void)state;
    struct sample *s = malloc(sizeof *s);
    struct machine *m = malloc(3 * sizeof *m);
    struct lane_live before[INSTS];
    u32 dead = 0, stores = 0, known = 0;
    for (u64 seed = 1; seed <= 20000; seed++) {
        make_sample(s, seed);
        struct arena *arena = arena_create();
        struct cfg *cfg = cfg_build(arena, &s->code);
        struct exec_flow *flow = exec_flow_compute(arena, &s->code, cfg, seed % 4 == 0);
        struct lane_liveness *liveness = lane_liveness_compute(arena, &s->code, cfg, flow);
        known += flow != NULL;
        for (u32 b = 0; b < cfg->count; b++) {
            struct lane_live live = liveness->out[b];
            for (u32 i = cfg->blocks[b].end; i-- > cfg->blocks[b].first; before[i] = live)
                lane_live_step(liveness, i, &live);
        }
        set_random(m, s);
        m[1] = m[2] = m[0];
        run(&m[1], NULL, NULL);
        dead += run(&m[2], before, &s->seed);
        stores += m[1].stores;
        assert_int_equal(m[1].stores, m[2].stores);
        assert_memory_equal(m[1].stored, m[2].stored, m[1].stores * sizeof(u32));
        arena_destroy(arena);
    }
    assert_true(dead > 100000 && stores > 10000 && known > 1000);
    free(s);
    free(m);
}

/* Who wrote each lane of each register, and in which step. */
struct births {
    u32 inst[VECTORS][LANES]; /* NO_INST: it is there from the start */
    u32 step[VECTORS][LANES];
};

/* Lanes of the sources that an instruction reads. */
static u64 lanes_read(const struct machine *m, const struct inst *inst)
{
    const u64 exec = exec_of(m) & ((1u << LANES) - 1);
    if (inst->op == OP_readlane)
        return 1ull << m->scalars[inst->src[1].index] % LANES;
    return inst->op == OP_readfirstlane ? (exec ? exec & -exec : 1) : exec;
}

/* Checks the reads of an instruction; counts those of values that are short-lived. */
static void check_reads(const struct machine *m, const struct inst *inst, u32 step,
                        const struct births *births, const struct lifetimes *l, u32 counts[3])
{
    for (u64 set = lanes_read(m, inst); set; set &= set - 1)
        for (u32 k = 0; k < ARRAY_LEN(inst->src); k++) {
            const u32 lane = (u32)__builtin_ctzll(set), reg = inst->src[k].index;
            if (inst->src[k].kind != OPERAND_VECTOR)
                continue;
            const u32 by = births->inst[reg][lane];
            const u32 bound = by == NO_INST ? l->entry[reg] : l->life[by][0];
            const u32 life = by == NO_INST ? step + 1 : step - births->step[reg][lane];
            if (life > bound && bound != LIFE_UNBOUNDED)
                fail_msg("v%u of instruction %u lives %u instructions, expected at most %u", reg,
                         by, life, bound);
            counts[0] += bound != LIFE_UNBOUNDED;
            counts[1] += bound == LIFE_UNBOUNDED;
            counts[2] += life == bound;
        }
}

static void note_writes(const struct machine *m, const struct inst *inst, u32 at, u32 step,
                        u64 exec, struct births *births)
{
    if (inst->dst[0].kind != OPERAND_VECTOR)
        return;
    if (inst->op == OP_writelane)
        exec = 1ull << m->scalars[inst->src[1].index] % LANES;
    for (u64 set = exec; set; set &= set - 1) {
        births->inst[inst->dst[0].index][__builtin_ctzll(set)] = at;
        births->step[inst->dst[0].index][__builtin_ctzll(set)] = step;
    }
}

static void no_value_lives_longer(void **state)
{
    (void)state;
    struct sample *s = malloc(sizeof *s);
    struct machine *m = malloc(sizeof *m);
    u32 counts[3] = {0};
    for (u64 seed = 1; seed <= 20000; seed++) {
        make_sample(s, seed);
        struct arena *arena = arena_create();
        struct cfg *cfg = cfg_build(arena, &s->code);
        struct exec_flow *flow = exec_flow_compute(arena, &s->code, cfg, seed % 4 == 0);
        struct lane_liveness *liveness = lane_liveness_compute(arena, &s->code, cfg, flow);
        const struct lifetimes *l = lifetimes_compute(arena, &s->code, cfg, liveness, NULL);
        struct births births;
        memset(&births, 0xff, sizeof births);
        set_random(m, s);
        for (u32 step = 0, at = 0, next; step < STEPS && at < s->code.count; step++, at = next) {
            const u64 exec = exec_of(m) & ((1u << LANES) - 1);
            check_reads(m, &s->insts[at], step, &births, l, counts);
            next = run_one(m, at);
            note_writes(m, &s->insts[at], at, step, exec, &births);
        }
        arena_destroy(arena);
    }
    assert_true(counts[0] > 100000 && counts[1] > 100000 && counts[2] > 10000);
    free(s);
    free(m);
}

static struct operand v(u32 index)
{
    return operand_make(OPERAND_VECTOR, index, 1);
}

/* What a write under a smaller EXEC leaves alive, and what not. */
static void regions(void **state)
{
    (void)state;
    struct operand exec = operand_make(OPERAND_SCALAR, SCALAR_EXEC, 2);
    struct operand saved = operand_make(OPERAND_SCALAR, 0, 2);
    struct operand scc = operand_make(OPERAND_SCALAR, SCALAR_SCC, 1);
    struct inst insts[] = {
        {.op = OP_sand_saveexec, .mods = MOD_EXEC, .dst = {saved, scc}, .src = {saved, exec}},
        {.op = OP_mov_b32, .dst = {v(1)}, .src = {v(0)}}, /* of both: v1 stays in other lanes */
        {.op = OP_mov_b32, .dst = {v(2)}, .src = {v(0)}}, /* read only where it is written */
        {.op = OP_st, .src = {v(0), v(2)}},
        {.op = OP_sor_b64, .dst = {exec, scc}, .src = {exec, saved}},
        {.op = OP_st, .src = {v(0), v(1)}},
        {.op = OP_end},
    };
    struct code code = {.insts = insts, .count = 7, .vectors = 3, .explicit_exec = true};
    struct arena *arena = arena_create();
    struct cfg *cfg = cfg_build(arena, &code);
    struct exec_flow *flow = exec_flow_compute(arena, &code, cfg, false);
    assert_non_null(flow);
    assert_true(flow->initial[0] && !flow->initial[1] && flow->initial[5]);
    struct lane_liveness *liveness = lane_liveness_compute(arena, &code, cfg, flow);
    assert_true(lane_live_vector(&liveness->in[0], 0));
    assert_true(lane_live_vector(&liveness->in[0], 1));
    assert_false(lane_live_vector(&liveness->in[0], 2));
    assert_null(exec_flow_compute(arena, &code, cfg, true));
    arena_destroy(arena);
}

/* Runs; at random moments what has run since the last cut runs again. Returns how often. */
static u32 run_again(struct machine *m, const struct regions *r, u64 *seed)
{
    u32 again = 0, at = 0, step = 0, start = 0, started = 0, stores = 0, last = 0, tries = 0;
    while (step < STEPS && at < m->sample->code.count) {
        if (step > started && !r->alone[last] && tries < 3 && !pick(seed, r->cut[at] ? 4 : 8)) {
            tries++;
            at = start;
            step = started;
            m->stores = stores; /* the same stores again */
            again++;
        }
        if (r->cut[at]) {
            start = at;
            tries = step > started ? 0 : tries;
            started = step;
            stores = m->stores;
        }
        last = at;
        at = run_one(m, at);
        step++;
    }
    return again;
}

static void regions_run_again(void **state)
{
    (void)state;
    struct sample *s = malloc(sizeof *s);
    struct machine *m = malloc(2 * sizeof *m);
    u32 again = 0, moved = 0, cuts = 0, insts = 0;
    for (u64 seed = 1; seed <= 20000; seed++) {
        make_sample(s, seed);
        struct arena *arena = arena_create();
        const struct regions *r =
            regions_compute(arena, &s->code, cfg_build(arena, &s->code), false);
        set_random(m, s);
        m[1] = m[0];
        run(&m[0], NULL, NULL);
        again += run_again(&m[1], r, &s->seed);
        if (memcmp(&m[0], &m[1], sizeof *m))
            fail_msg("seed %u ends differently when regions run again", (u32)seed);
        moved += r->counts[REGION_REGISTER];
        cuts += s->code.count - r->counts[REGION_NONE];
        insts += s->code.count;
        arena_destroy(arena);
    }
    assert_true(again > 20000 && moved > 10000 && 2 * insts > 3 * cuts);
    free(m);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_run_again),
        cmocka_unit_test(dead_is_dead),
        cmocka_unit_test(regions),
        cmocka_unit_test(no_value_lives_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
