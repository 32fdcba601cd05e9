/*
 * Marks in code with explicit EXEC: small kernels with the mark of every instruction, and random
 * code of any flow against what marks promise.
 *
 * Warps of a few lanes run in a small interpreter from barrier to barrier. What a marked
 * instruction leaves in the registers it writes must be the same, in every lane, in all warps that
 * have come the same way since the last barrier.
 */
#include "analysis/redundancy.h"
#include "ir/scalars.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    INSTS = 40,
    VECTORS = 6,
    LANES = 8,
    WARPS = 3,
    STEPS = 300, /* of a warp in all */
    SEEN = 2048  /* a power of two, more than WARPS * STEPS */
};

struct sample {
    struct inst insts[INSTS];
    u32 constants[8]; /* all ones, zeros, 1, 3, as pairs */
    struct function function;
    struct program program;
    u64 seed;
};

/* v0 to v2 the thread, s8 the block, s9 what differs between warps, EXEC all lanes. */
static struct entry_state *entry_of(const void *kernel, const struct entry_launch *launch,
                                    struct arena *arena, struct error *error)
{
    static const struct entry_register registers[] = {
        {ENTRY_VECTOR, ENTRY_THREAD_X, 0, 0},
        {ENTRY_VECTOR, ENTRY_THREAD_Y, 1, 0},
        {ENTRY_VECTOR, ENTRY_THREAD_Z, 2, 0},
        {ENTRY_SCALAR, ENTRY_BLOCK_X, 8, 0},
        {ENTRY_SCALAR, ENTRY_BLOCK_INFO, 9, 0},
        {ENTRY_SCALAR, ENTRY_LANES_LO, SCALAR_EXEC, 0},
        {ENTRY_SCALAR, ENTRY_LANES_HI, SCALAR_EXEC + 1, 0},
    };
    (void)kernel;
    (void)launch;
    (void)error;
    struct entry_state *entry = arena_new(arena, struct entry_state);
    entry->registers = registers;
    entry->register_count = ARRAY_LEN(registers);
    return entry;
}

static void finish_sample(struct sample *s, u32 count)
{
    static const u32 constants[] = {UINT32_MAX, UINT32_MAX, 0, 0, 1, 0, 3, 0};
    memcpy(s->constants, constants, sizeof constants);
    s->function = (struct function){
        .name = "k", .is_kernel = true, .end = count, .registers = VECTORS, .entry = entry_of};
    s->program = (struct program){.insts = s->insts,
                                  .inst_count = count,
                                  .functions = &s->function,
                                  .function_count = 1,
                                  .constants = s->constants,
                                  .constant_count = ARRAY_LEN(s->constants),
                                  .traits = {.explicit_exec = true, .inst_bytes = 1}};
}

/* ---- by hand ---- */

#define V(n) operand_make(OPERAND_VECTOR, n, 1)
#define S(n) operand_make(OPERAND_SCALAR, n, 1)
#define S2(n) operand_make(OPERAND_SCALAR, n, 2)
#define M(n) operand_make(OPERAND_MASK, n, 1)
#define C(n) operand_make(OPERAND_CONST, n, 1)
#define EXEC S2(SCALAR_EXEC)
#define OPS(...)    \
    {               \
        __VA_ARGS__ \
    }
#define I(name, to, from, ...)                               \
    {                                                        \
        .op = OP_##name, .dst = to, .src = from, __VA_ARGS__ \
    }

struct line {
    struct inst inst;
    enum redundancy mark;
};

static void check(const struct line *lines, u32 count)
{
    struct sample s = {0};
    for (u32 i = 0; i < count; i++)
        s.insts[i] = lines[i].inst;
    finish_sample(&s, count);
    struct arena *arena = arena_create();
    const u8 *marks = redundancy_marks(arena, &s.program, &s.function);
    for (u32 i = 0; i < count; i++) {
        char text[256];
        if (marks[i] != lines[i].mark)
            print_error("%u: %s: %s, expected %s\n", i, inst_text(&s.program, i, text, sizeof text),
                        redundancy_name((enum redundancy)marks[i]), redundancy_name(lines[i].mark));
        assert_int_equal(marks[i], lines[i].mark);
    }
    arena_destroy(arena);
}

static void test_seeds(void **state)
{
    (void)state;
    const struct line lines[] = {
        {I(add_b32, OPS(V(3)), OPS(V(0), C(4))), REDUNDANT_X},
        {I(add_b32, OPS(V(3)), OPS(V(1), V(0))), REDUNDANT_XY},
        {I(add_b32, OPS(V(3)), OPS(V(2), C(4))), REDUNDANT_NO},
        {I(mov_b32, OPS(V(3)), OPS(S(8))), REDUNDANT},
        {I(mov_b32, OPS(V(4)), OPS(S(9))), REDUNDANT_NO},
        {I(mov_b32, OPS(V(5)), OPS(S(20))), REDUNDANT}, /* never written: zero */
        {I(sadd_u32, OPS(S(10), S(SCALAR_SCC)), OPS(S(8), C(4))), REDUNDANT},
        {I(sadd_u32, OPS(S(11), S(SCALAR_SCC)), OPS(S(9), C(4))), REDUNDANT_NO},
        {I(saddc_u32, OPS(S(12), S(SCALAR_SCC)), OPS(S(8), S(8), S(SCALAR_SCC))), REDUNDANT_NO},
        {I(time, OPS(S2(14)), OPS(operand_none())), REDUNDANT_NO},
        {I(ld_scalar, OPS(S(16)), OPS(S2(6)), .space = SPACE_GLOBAL), REDUNDANT},
        {I(readfirstlane, OPS(S(17)), OPS(V(0))), REDUNDANT_X},
        {I(readlane, OPS(S(17)), OPS(V(3), S(9))), REDUNDANT_NO},
        {I(writelane, OPS(V(2)), OPS(S(8), S(8))), REDUNDANT_NO}, /* other lanes are unchanged */
        {I(smov_b32, OPS(S(17)), OPS(S(SCALAR_VCC + 1))), REDUNDANT},
        {I(setp_u32, OPS(M(MASK_VCC)), OPS(V(2), C(6)), .key = CMP_LT), REDUNDANT_NO},
        {I(smov_b32, OPS(S(17)), OPS(S(SCALAR_VCC + 1))), REDUNDANT_NO}, /* both halves */
        {I(ssetreg, OPS(S(SCALAR_MODE)), OPS(S(9))), REDUNDANT_NO},
        {I(add_f32, OPS(V(3)), OPS(V(0), V(0)), .mods = MOD_MODE), REDUNDANT_NO},
        {I(end, OPS(operand_none()), OPS(operand_none())), REDUNDANT_NO},
    };
    check(lines, ARRAY_LEN(lines));
}

/* The effect of EXEC on writes, and on values used when EXEC is full again. */
static void test_exec(void **state)
{
    (void)state;
    const struct line lines[] = {
        {I(mov_b32, OPS(V(3)), OPS(C(4))), REDUNDANT},
        {I(mov_b32, OPS(V(4)), OPS(C(4))), REDUNDANT},
        {I(setp_u32, OPS(M(MASK_VCC)), OPS(V(0), C(6)), .key = CMP_LT), REDUNDANT_X},
        {I(sand_saveexec, OPS(S2(0), S(SCALAR_SCC)), OPS(S2(SCALAR_VCC), EXEC), .mods = MOD_EXEC),
         REDUNDANT_X},
        {I(mov_b32, OPS(V(3)), OPS(C(6))), REDUNDANT_X}, /* in lanes that EXEC says */
        {I(mov_b32, OPS(V(2)), OPS(C(6))), REDUNDANT_NO},
        {I(smov_b64, OPS(EXEC), OPS(S2(0))), REDUNDANT},
        {I(add_b32, OPS(V(5)), OPS(V(3), C(4))), REDUNDANT_X},
        {I(add_b32, OPS(V(5)), OPS(V(2), C(4))), REDUNDANT_NO},
        {I(mov_b32, OPS(V(3)), OPS(C(6))), REDUNDANT}, /* all lanes */
        {I(add_b32, OPS(V(5)), OPS(V(3), V(4))), REDUNDANT},
        {I(end, OPS(operand_none()), OPS(operand_none())), REDUNDANT_NO},
    };
    check(lines, ARRAY_LEN(lines));
}

/* A loop that a warp leaves when none of its lanes continues. */
static void test_loop(void **state)
{
    (void)state;
    const struct line lines[] = {
        {I(mov_b32, OPS(V(3)), OPS(C(2))), REDUNDANT},
        {I(smov_b32, OPS(S(10)), OPS(C(2))), REDUNDANT},
        {I(sadd_u32, OPS(S(10), S(SCALAR_SCC)), OPS(S(10), C(4))), REDUNDANT}, /* 2 */
        {I(add_b32, OPS(V(3)), OPS(V(3), C(4))), REDUNDANT_NO},
        {I(setp_u32, OPS(M(MASK_VCC)), OPS(V(3), V(2)), .key = CMP_LT), REDUNDANT_NO},
        {I(sand_b64, OPS(EXEC, S(SCALAR_SCC)), OPS(EXEC, S2(SCALAR_VCC))), REDUNDANT_NO},
        {I(bra_if, OPS(operand_none()), OPS(S(SCALAR_EXECZ)), .imm = 2), REDUNDANT_NO},
        {I(sadd_u32, OPS(S(11), S(SCALAR_SCC)), OPS(S(10), C(4))), REDUNDANT_NO},
        {I(smov_b32, OPS(S(12)), OPS(S(8))), REDUNDANT},
        {I(end, OPS(operand_none()), OPS(operand_none())), REDUNDANT_NO},
    };
    check(lines, ARRAY_LEN(lines));
}

/* Indirect jumps: nothing is known. */
static void test_jump(void **state)
{
    (void)state;
    const struct line lines[] = {
        {I(mov_b32, OPS(V(3)), OPS(C(2))), REDUNDANT_NO},
        {I(jump, OPS(operand_none()), OPS(S2(0))), REDUNDANT_NO},
    };
    check(lines, ARRAY_LEN(lines));
}

/* ---- random ---- */

static u32 pick(struct sample *s, u32 below)
{
    s->seed = s->seed * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)(s->seed >> 33) % below;
}

static struct operand pair(struct sample *s, bool source)
{
    static const u32 pairs[] = {0, 2, 4, SCALAR_VCC, SCALAR_EXEC, SCALAR_EXEC};
    u32 which = pick(s, 8);
    if (which >= ARRAY_LEN(pairs))
        return source ? operand_make(OPERAND_CONST, 2 * pick(s, 2), 2) : S2(0);
    return S2(pairs[which]);
}

static struct inst pair_op(struct sample *s)
{
    static const u16 ops[] = {OP_sand_b64,      OP_sor_b64,      OP_sxor_b64,      OP_sandn2_b64,
                              OP_sand_saveexec, OP_sor_saveexec, OP_sand_saveexec, OP_smov_b64};
    struct inst inst = {.op = ops[pick(s, ARRAY_LEN(ops))], .dst = {pair(s, false)}};
    inst.src[0] = pair(s, true);
    if (inst.op == OP_smov_b64)
        return inst;
    inst.src[1] = pair(s, true);
    inst.dst[1] = S(SCALAR_SCC);
    if (inst.op == OP_sand_saveexec || inst.op == OP_sor_saveexec) {
        inst.dst[0] = S2(2 * pick(s, 3));
        inst.src[1] = EXEC;
        inst.mods = MOD_EXEC;
    }
    return inst;
}

static struct inst random_branch(struct sample *s, u32 count)
{
    static const u32 tests[] = {SCALAR_SCC, SCALAR_VCCZ, SCALAR_EXECZ, 10, 11};
    return (struct inst){.op = OP_bra_if,
                         .key = (u8)pick(s, 2),
                         .imm = pick(s, count),
                         .src = {S(tests[pick(s, ARRAY_LEN(tests))])}};
}

static struct inst random_inst(struct sample *s, u32 count)
{
    struct operand to = V(pick(s, 8) ? 3 + pick(s, VECTORS - 3) : pick(s, 3));
    struct operand a = V(pick(s, 4) ? 3 + pick(s, VECTORS - 3) : pick(s, 3));
    struct operand scalar = S(8 + pick(s, 4));
    switch (pick(s, 16)) {
    case 0:
    case 1:
    case 2:
        return (struct inst){.op = OP_add_b32, .dst = {to}, .src = {a, C(2 * pick(s, 4))}};
    case 3:
        return (struct inst){.op = OP_mov_b32, .dst = {to}, .src = {pick(s, 2) ? scalar : C(4)}};
    case 4:
    case 5:
        return (struct inst){.op = OP_setp_u32,
                             .key = CMP_LT,
                             .mods = pick(s, 4) ? 0 : MOD_EXEC,
                             .dst = {M(pick(s, 2) ? MASK_VCC : pick(s, 3))},
                             .src = {a, C(6)}};
    case 6:
        return (struct inst){.op = OP_selp_b32, .dst = {to}, .src = {a, C(4), M(MASK_VCC)}};
    case 7:
    case 8:
        return random_branch(s, count);
    case 9:
        return (struct inst){.op = OP_bar_whole};
    case 10:
        return (struct inst){.op = OP_readfirstlane, .dst = {S(10 + pick(s, 2))}, .src = {a}};
    case 11:
        return (struct inst){.op = OP_writelane, .dst = {to}, .src = {scalar, S(8 + pick(s, 4))}};
    case 12:
    case 13:
        return (struct inst){.op = OP_sadd_u32,
                             .dst = {S(10 + pick(s, 2)), S(SCALAR_SCC)},
                             .src = {scalar, C(2 * pick(s, 4))}};
    default:
        return pair_op(s);
    }
}

static void make_sample(struct sample *s, u64 seed)
{
    memset(s, 0, sizeof *s);
    s->seed = seed * 7919 + 3;
    u32 count = 8 + pick(s, INSTS - 8);
    for (u32 i = 0; i < count; i++)
        s->insts[i] = random_inst(s, count);
    s->insts[count - 1] = (struct inst){.op = OP_end};
    finish_sample(s, count);
}

struct warp {
    u32 number, at, steps;
    bool done;
    u64 way;
    u32 vectors[VECTORS][LANES];
    u32 scalars[SCALAR_COUNT];
};

struct trial {
    const struct sample *sample;
    const u8 *marks;
    u32 block[3];
    u32 epoch; /* barriers */
    struct seen {
        u64 key, value;
    } seen[SEEN];
    u64 compared, lies;
};

static u64 mix(u64 hash, u64 value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

static u64 get_pair(const struct trial *t, const struct warp *w, struct operand o)
{
    const u32 *words = o.kind == OPERAND_CONST ? t->sample->constants : w->scalars;
    u32 at = o.kind == OPERAND_MASK ? 2 * o.index : o.index;
    return words[at] | (u64)words[at + 1] << 32;
}

static void set_pair(struct warp *w, u32 at, u64 value)
{
    w->scalars[at] = (u32)value;
    w->scalars[at + 1] = (u32)(value >> 32);
}

static u32 get(const struct trial *t, const struct warp *w, struct operand o, u32 lane)
{
    switch (o.kind) {
    case OPERAND_VECTOR:
        return w->vectors[o.index][lane];
    case OPERAND_CONST:
        return t->sample->constants[o.index];
    default:
        return w->scalars[o.index];
    }
}

static void run_pairs(const struct trial *t, struct warp *w, const struct inst *inst)
{
    u64 a = get_pair(t, w, inst->src[0]), b = get_pair(t, w, inst->src[1]);
    u64 exec = get_pair(t, w, EXEC), result = a;
    if (inst->op == OP_sand_b64 || inst->op == OP_sand_saveexec)
        result = a & b;
    if (inst->op == OP_sor_b64 || inst->op == OP_sor_saveexec)
        result = a | b;
    if (inst->op == OP_sxor_b64)
        result = a ^ b;
    if (inst->op == OP_sandn2_b64)
        result = a & ~b;
    bool saves = inst->mods & MOD_EXEC;
    set_pair(w, inst->dst[0].index, saves ? exec : result);
    if (saves)
        set_pair(w, SCALAR_EXEC, result);
    if (inst->op != OP_smov_b64)
        w->scalars[SCALAR_SCC] = result != 0;
}

static void run_lanes(const struct trial *t, struct warp *w, const struct inst *inst)
{
    u64 exec = get_pair(t, w, EXEC), result = 0;
    for (u32 lane = 0; lane < LANES; lane++) {
        u32 a = get(t, w, inst->src[0], lane), b = get(t, w, inst->src[1], lane);
        if (!(exec >> lane & 1))
            continue;
        if (inst->op == OP_setp_u32) {
            result |= (u64)(a < b) << lane;
            continue;
        }
        u32 value = inst->op == OP_add_b32 ? (a + b) % 8 : a;
        if (inst->op == OP_selp_b32 && !(get_pair(t, w, inst->src[2]) >> lane & 1))
            value = b;
        w->vectors[inst->dst[0].index][lane] = value;
    }
    if (inst->op != OP_setp_u32)
        return;
    set_pair(w, 2 * inst->dst[0].index, result);
    if (inst->mods & MOD_EXEC)
        set_pair(w, SCALAR_EXEC, result);
}

static void run_inst(const struct trial *t, struct warp *w, const struct inst *inst)
{
    u64 exec = get_pair(t, w, EXEC) & ((1u << LANES) - 1);
    switch (inst->op) {
    case OP_readfirstlane:
        w->scalars[inst->dst[0].index] =
            w->vectors[inst->src[0].index][exec ? __builtin_ctzll(exec) : 0];
        break;
    case OP_writelane:
        w->vectors[inst->dst[0].index][get(t, w, inst->src[1], 0) % LANES] =
            get(t, w, inst->src[0], 0);
        break;
    case OP_sadd_u32:
        w->scalars[inst->dst[0].index] =
            (get(t, w, inst->src[0], 0) + get(t, w, inst->src[1], 0)) % 8;
        w->scalars[SCALAR_SCC] = w->scalars[inst->dst[0].index] > 4;
        break;
    default:
        if (op_info[inst->op].flags & OPF_SCALAR)
            run_pairs(t, w, inst);
        else
            run_lanes(t, w, inst);
    }
}

static bool branches(const struct trial *t, const struct warp *w, const struct inst *inst)
{
    u32 value = w->scalars[inst->src[0].index];
    if (inst->src[0].index == SCALAR_VCCZ)
        value = !get_pair(t, w, S2(SCALAR_VCC));
    if (inst->src[0].index == SCALAR_EXECZ)
        value = !(get_pair(t, w, EXEC) & ((1u << LANES) - 1));
    return (value != 0) == inst->key;
}

/* All that it writes, in all lanes; of pairs those bits that are lanes. */
static u64 written_by(const struct warp *w, const struct inst *inst)
{
    struct operand list[INST_REFS];
    u64 value = 1;
    u32 count = inst_writes(inst, list);
    for (u32 k = 0; k < count; k++) {
        for (u32 lane = 0; list[k].kind == OPERAND_VECTOR && lane < LANES; lane++)
            value = mix(value, w->vectors[list[k].index][lane]);
        if (list[k].kind == OPERAND_MASK)
            value = mix(value, w->scalars[2 * list[k].index]);
        if (list[k].kind == OPERAND_SCALAR)
            value = mix(value, w->scalars[list[k].index]);
    }
    return value;
}

static void judge(struct trial *t, const struct warp *w, u32 at)
{
    u64 key = mix(mix(w->way, t->epoch), at) | 1, value = written_by(w, &t->sample->insts[at]);
    u32 place = key % SEEN;
    if (!redundancy_holds((enum redundancy)t->marks[at], t->block, LANES))
        return;
    while (t->seen[place].key && t->seen[place].key != key)
        place = (place + 1) % SEEN;
    t->compared += t->seen[place].key != 0;
    t->lies += t->seen[place].key && t->seen[place].value != value;
    t->seen[place] = (struct seen){key, value};
}

/* To the next barrier, or to the end. */
static void run(struct trial *t, struct warp *w)
{
    while (!w->done) {
        const u32 at = w->at++;
        const struct inst *inst = &t->sample->insts[at];
        w->way = mix(w->way, at + 1);
        w->done = inst->op == OP_end || ++w->steps == STEPS;
        if (inst->op == OP_bar_whole)
            return;
        if (inst->op == OP_end)
            continue;
        if (inst->op == OP_bra_if) {
            w->at = branches(t, w, inst) ? (u32)inst->imm : w->at;
            continue;
        }
        run_inst(t, w, inst);
        judge(t, w, at);
    }
}

static void start(const struct trial *t, struct warp *w, u32 number)
{
    w->number = number;
    for (u32 lane = 0; lane < LANES; lane++) {
        u32 thread = number * LANES + lane;
        w->vectors[0][lane] = thread % t->block[0];
        w->vectors[1][lane] = thread / t->block[0] % t->block[1];
        w->vectors[2][lane] = thread / t->block[0] / t->block[1];
    }
    w->scalars[8] = 5;
    w->scalars[9] = number;
    set_pair(w, SCALAR_EXEC, (1u << LANES) - 1);
}

static void run_all(struct trial *t)
{
    struct warp warps[WARPS] = {0};
    for (u32 i = 0; i < WARPS; i++)
        start(t, &warps[i], i);
    for (bool any = true; any; t->epoch++) {
        any = false;
        for (u32 i = 0; i < WARPS; i++) {
            warps[i].way = 0;
            run(t, &warps[i]);
            any |= !warps[i].done;
        }
    }
}

static void show(const struct trial *t, u64 seed)
{
    print_error("seed %u, block %u,%u,%u\n", (u32)seed, t->block[0], t->block[1], t->block[2]);
    for (u32 i = 0; i < t->sample->program.inst_count; i++) {
        char text[256];
        print_error("%-2s %3u  %s\n", redundancy_name((enum redundancy)t->marks[i]), i,
                    inst_text(&t->sample->program, i, text, sizeof text));
    }
}

static void test_promises(void **state)
{
    static const u32 blocks[][3] = {{24, 1, 1}, {4, 6, 1}, {2, 4, 3}, {3, 8, 1}};
    u64 compared = 0, marked = 0;
    const u64 *seeds = *state;
    for (u64 seed = seeds[0]; seed < seeds[0] + seeds[1]; seed++) {
        struct sample s;
        make_sample(&s, seed);
        struct arena *arena = arena_create();
        const u8 *marks = redundancy_marks(arena, &s.program, &s.function);
        for (u32 i = 0; i < s.program.inst_count; i++)
            marked += marks[i] != REDUNDANT_NO;
        for (u32 k = 0; k < ARRAY_LEN(blocks); k++) {
            struct trial t = {.sample = &s, .marks = marks};
            memcpy(t.block, blocks[k], sizeof t.block);
            run_all(&t);
            compared += t.compared;
            if (t.lies)
                show(&t, seed);
            assert_int_equal(t.lies, 0);
        }
        arena_destroy(arena);
    }
    if (seeds[1] >= 1000)
        assert_true(marked > seeds[1] && compared > 10 * seeds[1]); /* it is worth its time */
}

/* test-waves [FIRST COUNT] */
int main(int argc, char **argv)
{
    u64 seeds[2] = {0, 20000};
    for (int i = 1; i < MIN(argc, 3); i++)
        seeds[i - 1] = strtoull(argv[i], NULL, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_exec),
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_jump),
        cmocka_unit_test_prestate(test_promises, seeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
