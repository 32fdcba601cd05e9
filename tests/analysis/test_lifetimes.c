/*
 * Lifetimes of definitions: small pieces of code with lifetimes counted by hand, and random code
 * against the definition taken literally, path by path. Random code with explicit EXEC: test_lanes.c.
 * Lifetimes of real kernels, observed: tests/mech/test_lifetimes.c.
 */
#include "analysis/lifetimes.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    INF = LIFE_UNBOUNDED
};

static struct operand v(u32 index)
{
    return operand_make(OPERAND_VECTOR, index, 1);
}

static struct operand pair(u32 index)
{
    return operand_make(OPERAND_VECTOR, index, 2);
}

static const struct operand p0 = {.kind = OPERAND_MASK, .index = 0, .count = 1};

#define MOV(to, from)                                             \
    {                                                             \
        .op = OP_mov_b32, .dst = {to}, .src = {from}, .vector = 1 \
    }
#define SET(to)                                                                       \
    {                                                                                 \
        .op = OP_mov_b32, .dst = {to}, .src = { {.kind = OPERAND_CONST, .count = 1} } \
    }
#define ADD(to, a, b)                                  \
    {                                                  \
        .op = OP_add_b32, .dst = {to}, .src = { a, b } \
    }
#define STORE(address, data)                             \
    {                                                    \
        .op = OP_st, .src = {address, data}, .vector = 1 \
    }
#define SETP(a)                                         \
    {                                                   \
        .op = OP_setp_u32, .dst = {p0}, .src = { a, a } \
    }
#define BRA(target)                 \
    {                               \
        .op = OP_bra, .imm = target \
    }
#define BRA_IF(target)                           \
    {                                            \
        .op = OP_bra, .imm = target, .guard = p0 \
    }

static struct lifetimes *lives(struct arena *arena, struct inst *insts, u32 count, u32 registers)
{
    const struct code code = {.insts = insts, .count = count, .vectors = registers, .masks = 1};
    return lifetimes_compute(arena, &code, cfg_build(arena, &code), NULL, NULL);
}

/* The lifetimes of first destinations, in order. */
static void expect(struct inst *insts, u32 count, u32 registers, const u16 *want)
{
    struct arena *arena = arena_create();
    const struct lifetimes *l = lives(arena, insts, count, registers);
    for (u32 i = 0; i < count; i++)
        if (l->life[i][0] != want[i])
            fail_msg("instruction %u: a lifetime of %u, expected %u", i, l->life[i][0], want[i]);
    arena_destroy(arena);
}
#define EXPECT(insts, registers, ...) \
    expect(insts, ARRAY_LEN(insts), registers, (const u16[ARRAY_LEN(insts)]){__VA_ARGS__})

static void straight_line(void **state)
{
    struct inst insts[] = {
        SET(v(0)),             /* read by 1, 2 */
        MOV(v(1), v(0)),       /* read by 2 */
        ADD(v(2), v(1), v(0)), /* read by 3, 4, 5 */
        STORE(v(2), v(2)),
        MOV(v(3), v(2)), /* never read */
        MOV(v(3), v(2)), /* read by 7 */
        SET(v(1)),       /* overwritten by 7 */
        MOV(v(1), v(3)),
        {.op = OP_exit},
    };
    EXPECT(insts, 4, 2, 1, 3, 0, 0, 2, 0, 0, 0);
}

/* The longer side counts. */
static void diamond(void **state)
{
    struct inst insts[] = {
        SET(v(0)),                                     /* 0: read by 1 and 8; by way of 3 to 5 */
        SETP(v(0)),      BRA_IF(6),         SET(v(1)), /* 3: read by 7 */
        SET(v(2)),                                     /* 4: read by 5 only on this side */
        MOV(v(3), v(2)), SET(v(1)),                    /* 6: both sides come here */
        MOV(v(3), v(1)), STORE(v(0), v(3)), {.op = OP_ret},
    };
    EXPECT(insts, 4, 8, 0, 0, 0, 1, 0, 1, 1, 0, 0);
    struct inst sides[] = {
        SET(v(0)),                                    /* read by 7, by way of 3 to 5 */
        SETP(v(1)),        BRA_IF(6),      SET(v(2)), /* 3: read by 7 */
        SET(v(3)),         BRA(7),         SET(v(2)), /* 6: read by 7 */
        STORE(v(0), v(2)), {.op = OP_ret},
    };
    EXPECT(sides, 4, 6, 0, 0, 3, 0, 0, 1, 0, 0);
}

static void loop(void **state)
{
    struct inst insts[] = {
        SET(v(0)),             /* 0: read in all iterations */
        SET(v(1)),             /* 1: the counter, read once by 2 */
        ADD(v(2), v(1), v(0)), /* 2: inside an iteration */
        STORE(v(0), v(2)),
        ADD(v(1), v(1), v(0)), /* 4: read in the next iteration */
        SETP(v(1)),
        BRA_IF(2),
        SET(v(3)), /* 7: after the loop */
        STORE(v(3), v(1)),
        {.op = OP_ret},
    };
    EXPECT(insts, 4, INF, 3, 1, 0, INF, 0, 0, 1, 0, 0);
}

static void nested_loops(void **state)
{
    struct inst insts[] = {
        SET(v(0)),       /* 0: read by 1 in each outer iteration */
        MOV(v(1), v(0)), /* 1: read behind the inner loop, and live in it */
        MOV(v(2), v(0)), /* 2: read by 3 in each inner iteration */
        MOV(v(3), v(2)), /* 3: of one inner iteration */
        SETP(v(3)),      /* 4 */
        BRA_IF(3),       /* 5 */
        MOV(v(4), v(1)), /* 6: of one outer iteration */
        SETP(v(4)),      /* 7 */
        BRA_IF(1),       /* 8 */
        {.op = OP_ret},
    };
    EXPECT(insts, 5, INF, INF, INF, 1, 0, 0, 1, 0, 0, 0);
}

/* A guarded write kills nothing, and lets the old value through. */
static void guarded(void **state)
{
    struct inst insts[] = {
        SET(v(0)),                    /* 0: read by 3 where the guard was false */
        SETP(v(1)),        SET(v(0)), /* 2, guarded */
        STORE(v(1), v(0)), SET(v(0)), /* 4: dead, but 5 counts as a read of it */
        SET(v(0)),                    /* 5, guarded */
        {.op = OP_ret},
    };
    insts[2].guard = insts[5].guard = p0;
    EXPECT(insts, 2, 3, 0, 1, 0, 1, 0, 0);
}

/* A 64-bit value lives as long as any of its words. */
static void pairs(void **state)
{
    struct inst insts[] = {
        {.op = OP_add_b64, .dst = {pair(0)}, .src = {pair(2), pair(2)}}, /* words: 1 and 3 */
        MOV(v(4), v(0)),
        SET(v(0)),
        MOV(v(4), v(1)),
        {.op = OP_ret},
    };
    EXPECT(insts, 5, 3, 0, 0, 0, 0);
    struct arena *arena = arena_create();
    const struct lifetimes *l = lives(arena, insts, 5, 5);
    assert_int_equal(l->longest[0], 1);
    assert_int_equal(l->longest[1], 3);
    assert_int_equal(l->entry[2], 1); /* read before it is written */
    assert_int_equal(l->entry[4], 0);
    arena_destroy(arena);
}

/* In memory a value is in no register: only its ways there and back count. */
static void spills(void **state)
{
    struct inst insts[16];
    for (u32 i = 0; i < 16; i++)
        insts[i] = (struct inst)SET(v(3));
    insts[0] = (struct inst)SET(v(0));
    insts[1] = (struct inst)STORE(v(1), v(0));
    insts[13] = (struct inst){.op = OP_ld, .dst = {v(0)}, .src = {v(1)}, .vector = 1};
    insts[14] = (struct inst)STORE(v(2), v(0));
    insts[15] = (struct inst){.op = OP_ret};
    struct arena *arena = arena_create();
    const struct lifetimes *l = lives(arena, insts, 16, 4);
    assert_int_equal(l->life[0][0], 1);
    assert_int_equal(l->life[13][0], 1);
    assert_int_equal(l->entry[1], 14);
    arena_destroy(arena);
}

/* Values across calls are unbounded, and so is what functions leave each other (L4). */
static void calls(void **state)
{
    struct inst insts[] = {
        SET(v(0)), /* 0: the function reads it, and so does 3 */
        SET(v(1)), /* 1: read behind the call */
        {.op = OP_call, .imm = 6},
        STORE(v(1), v(0)),
        STORE(v(2), v(2)), /* what the function has written */
        {.op = OP_ret},
        MOV(v(3), v(0)), /* 6, the function: a value of its own */
        MOV(v(2), v(3)), /* 7: the caller reads it */
        MOV(v(4), v(3)), /* 8: nobody does */
        {.op = OP_ret},
    };
    struct function functions[] = {
        {.name = "kernel", .is_kernel = true, .first = 0, .end = 6, .registers = 5},
        {.name = "function", .first = 6, .end = 10, .registers = 5},
    };
    const struct program program = {
        .insts = insts, .inst_count = 10, .functions = functions, .function_count = 2};
    struct arena *arena = arena_create();
    const struct lifetimes *kernel = lifetimes_of(arena, &program, &functions[0]);
    assert_int_equal(kernel->life[0][0], INF);
    assert_int_equal(kernel->life[1][0], INF);
    const struct lifetimes *function = lifetimes_of(arena, &program, &functions[1]);
    assert_int_equal(function->life[0][0], 2);
    assert_int_equal(function->life[1][0], INF);
    assert_int_equal(function->life[2][0], 0);
    arena_destroy(arena);
}

/* Parts of a vector written under a smaller EXEC. */
static void partial_writes(void **state)
{
    struct operand exec = operand_make(OPERAND_SCALAR, SCALAR_EXEC, 2);
    struct operand saved = operand_make(OPERAND_SCALAR, 0, 2);
    struct operand scc = operand_make(OPERAND_SCALAR, SCALAR_SCC, 1);
    struct inst insts[] = {
        MOV(v(1), v(0)), /* 0: stays in lanes that 3 does not write; read by 7 */
        MOV(v(2), v(0)), /* 1: read in no lane, although 4 writes only some */
        {.op = OP_sand_saveexec, .mods = MOD_EXEC, .dst = {saved, scc}, .src = {saved, exec}},
        MOV(v(1), v(0)), /* 3: read by 7 */
        MOV(v(2), v(0)), /* 4: read by 5 only */
        STORE(v(0), v(2)),
        {.op = OP_sor_b64, .dst = {exec, scc}, .src = {exec, saved}},
        STORE(v(0), v(1)),
        {.op = OP_end},
    };
    static const u16 want[9] = {7, 0, 0, 4, 1};
    const struct code code = {
        .insts = insts, .count = 9, .vectors = 3, .masks = 0, .explicit_exec = true};
    struct arena *arena = arena_create();
    const struct cfg *cfg = cfg_build(arena, &code);
    const struct lane_liveness *lanes =
        lane_liveness_compute(arena, &code, cfg, exec_flow_compute(arena, &code, cfg, false));
    const struct lifetimes *l = lifetimes_compute(arena, &code, cfg, lanes, NULL);
    for (u32 i = 0; i < 9; i++)
        assert_int_equal(l->life[i][0], want[i]);
    assert_int_equal(l->entry[0], 8);
    const struct life_counts counts = lifetimes_count(l, &code, 4);
    assert_int_equal(counts.definitions, 4);
    assert_int_equal(counts.short_lived, 3);
    assert_int_equal(counts.unread, 1);
    assert_int_equal(counts.mixed, 1); /* 3 shares v1 with 0 */
    assert_int_equal(counts.registers, 3);
    assert_int_equal(counts.short_registers, 1);
    assert_true(lifetimes_is_mixed(l, &code, 3, 0, 4));
    assert_false(lifetimes_is_mixed(l, &code, 3, 0, 7));
    arena_destroy(arena);
}

/* After a jump to an address everything may be read. */
static void unknown_code(void **state)
{
    struct operand scalar = operand_make(OPERAND_SCALAR, 0, 2);
    struct inst insts[] = {MOV(v(1), v(0)), MOV(v(1), v(0)), {.op = OP_jump, .src = {scalar}}};
    const struct code code = {.insts = insts, .count = 3, .vectors = 2, .explicit_exec = true};
    struct arena *arena = arena_create();
    const struct cfg *cfg = cfg_build(arena, &code);
    const struct lane_liveness *lanes =
        lane_liveness_compute(arena, &code, cfg, exec_flow_compute(arena, &code, cfg, false));
    const struct lifetimes *l = lifetimes_compute(arena, &code, cfg, lanes, NULL);
    assert_int_equal(l->life[0][0], 0);
    assert_int_equal(l->life[1][0], INF);
    arena_destroy(arena);
}

/* ---- random code ---- */

enum {
    INSTS_MAX = 50,
    VECTORS = 8
};

struct sample {
    struct inst insts[INSTS_MAX];
    struct code code;
    const struct cfg *cfg;
    u32 position[INSTS_MAX]; /* by block, in the order of the flow graph */
    u32 known[INSTS_MAX];    /* by instruction, of one location: its way + 1; 0: not known */
    u64 seed;
};

static u32 pick(struct sample *s, u32 below)
{
    s->seed = s->seed * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)(s->seed >> 33) % below;
}

static struct inst random_inst(struct sample *s, u32 count)
{
    struct inst inst = ADD(v(pick(s, VECTORS)), v(pick(s, VECTORS)), v(pick(s, VECTORS)));
    if (pick(s, 5) == 0)
        inst.guard = p0;
    switch (pick(s, 10)) {
    case 0:
        inst = (struct inst)BRA_IF(pick(s, count));
        break;
    case 1:
        inst = (struct inst)BRA(pick(s, count));
        break;
    case 2:
        inst.op = OP_add_b64;
        inst.dst[0] = pair(2 * pick(s, VECTORS / 2));
        inst.src[0] = inst.src[1] = pair(2 * pick(s, VECTORS / 2));
        break;
    case 3:
    case 4:
        return (struct inst)STORE(v(pick(s, VECTORS)), v(pick(s, VECTORS)));
    default:
        break;
    }
    return inst;
}

static void make_sample(struct sample *s, struct arena *arena, u64 seed)
{
    memset(s, 0, sizeof *s);
    s->seed = seed * 977 + 5;
    const u32 count = 4 + pick(s, INSTS_MAX - 4);
    for (u32 i = 0; i < count; i++)
        s->insts[i] = random_inst(s, count);
    s->insts[count - 1] = (struct inst){.op = OP_ret};
    s->code = (struct code){.insts = s->insts, .count = count, .vectors = VECTORS, .masks = 1};
    s->cfg = cfg_build(arena, &s->code);
    for (u32 b = 0; b < s->cfg->count; b++)
        s->position[b] = UINT32_MAX;
    for (u32 n = 0; n < s->cfg->order_count; n++)
        s->position[s->cfg->order[n]] = n;
}

static u32 followers(const struct sample *s, u32 at, u32 next[2])
{
    const struct inst *inst = &s->insts[at];
    u32 count = 0;
    if (inst->op == OP_bra)
        next[count++] = (u32)inst->imm;
    if (inst->op != OP_ret && (inst->op != OP_bra || inst->guard.kind != OPERAND_NONE))
        next[count++] = at + 1;
    return count;
}

static bool has(const u32 *list, u32 count, u32 location)
{
    for (u32 i = 0; i < count; i++)
        if (list[i] == location)
            return true;
    return false;
}

/* Whether a value in a location before an instruction is ever read. */
static bool is_live(const struct sample *s, u32 at, u32 location, u8 *seen)
{
    struct refs refs;
    u32 next[2];
    if (seen[at]++)
        return false;
    inst_refs(&s->code, &s->insts[at], &refs);
    if (has(refs.reads, refs.read_count, location))
        return true;
    if (refs.kills && has(refs.writes, refs.write_count, location))
        return false;
    const u32 count = followers(s, at, next);
    for (u32 k = 0; k < count; k++)
        if (is_live(s, next[k], location, seen))
            return true;
    return false;
}

/* The longest way from before an instruction to the last read of a location; 0: none. */
static u32 way(struct sample *s, u32 at, u32 location)
{
    struct refs refs;
    u32 next[2], longest = 0;
    if (s->known[at])
        return s->known[at] - 1;
    inst_refs(&s->code, &s->insts[at], &refs);
    const bool killed = refs.kills && has(refs.writes, refs.write_count, location);
    const u32 count = killed ? 0 : followers(s, at, next);
    for (u32 k = 0; k < count; k++) {
        const u32 from = s->position[s->cfg->block_of[at]];
        const u32 to = s->position[s->cfg->block_of[next[k]]];
        const bool new_block = next[k] == s->cfg->blocks[s->cfg->block_of[next[k]]].first;
        u32 rest;
        if (new_block && to <= from) {
            u8 seen[INSTS_MAX] = {0};
            rest = is_live(s, next[k], location, seen) ? INF : 0;
        } else {
            rest = way(s, next[k], location);
        }
        longest = MAX(longest, rest == INF ? INF : rest ? rest + 1 : 0);
    }
    if (has(refs.reads, refs.read_count, location))
        longest = MAX(longest, 1u);
    s->known[at] = longest + 1;
    return longest;
}

static void definitions_agree(void **state)
{
    struct sample *s = malloc(sizeof *s);
    u32 bounded = 0, unbounded = 0, dead = 0;
    for (u64 seed = 1; seed <= 3000; seed++) {
        struct arena *arena = arena_create();
        make_sample(s, arena, seed);
        const struct lifetimes *l = lifetimes_compute(arena, &s->code, s->cfg, NULL, NULL);
        for (u32 i = 0; i < s->code.count; i++) {
            u32 next[2], longest = 0;
            const struct operand to = s->insts[i].dst[0];
            if (to.kind != OPERAND_VECTOR || s->position[s->cfg->block_of[i]] == UINT32_MAX)
                continue;
            for (u32 r = to.index; r < to.index + to.count; r++) {
                memset(s->known, 0, sizeof s->known);
                assert_int_equal(followers(s, i, next), 1);
                const u32 b = s->cfg->block_of[i + 1];
                u8 seen[INSTS_MAX] = {0};
                const bool back =
                    b != s->cfg->block_of[i] && s->position[b] <= s->position[s->cfg->block_of[i]];
                const u32 found = !back                        ? way(s, i + 1, r)
                                  : is_live(s, i + 1, r, seen) ? (u32)INF
                                                               : 0;
                longest = MAX(longest, found);
            }
            if (l->life[i][0] != longest)
                fail_msg("seed %llu, instruction %u: %u, expected %u", (unsigned long long)seed, i,
                         l->life[i][0], longest);
            *(longest == INF ? &unbounded : longest ? &bounded : &dead) += 1;
        }
        arena_destroy(arena);
    }
    assert_true(bounded > 5000 && unbounded > 5000 && dead > 1000);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_line),
        cmocka_unit_test(diamond),
        cmocka_unit_test(loop),
        cmocka_unit_test(nested_loops),
        cmocka_unit_test(guarded),
        cmocka_unit_test(pairs),
        cmocka_unit_test(spills),
        cmocka_unit_test(calls),
        cmocka_unit_test(partial_writes),
        cmocka_unit_test(unknown_code),
        cmocka_unit_test(definitions_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
