/*
 * Idempotent regions: small pieces of code with cuts by hand, and random code that runs again from the
 * start of its region at random moments: registers and memory must end as without. Random code with
 * explicit EXEC: test_lanes.c.
 */
#include "analysis/regions.h"
#include "ir/scalars.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct operand v(u32 index)
{
    return operand_make(OPERAND_VECTOR, index, 1);
}

static struct operand pair(u32 index)
{
    return operand_make(OPERAND_VECTOR, index, 2);
}

static const struct operand p0 = {.kind = OPERAND_MASK, .index = 0, .count = 1};

#define MOV(to, from)                                  \
    {                                                  \
        .op = OP_mov_b32, .dst = {to}, .src = { from } \
    }
#define SET(to)                                                                       \
    {                                                                                 \
        .op = OP_mov_b32, .dst = {to}, .src = { {.kind = OPERAND_CONST, .count = 1} } \
    }
#define ADD(to, a, b)                                  \
    {                                                  \
        .op = OP_add_b32, .dst = {to}, .src = { a, b } \
    }
#define LOAD(to, address, where)                                                        \
    {                                                                                   \
        .op = OP_ld, .dst = {to}, .src = {address}, .space = SPACE_##where, .vector = 1 \
    }
#define STORE(address, data, where)                                              \
    {                                                                            \
        .op = OP_st, .src = {address, data}, .space = SPACE_##where, .vector = 1 \
    }
#define SETP(a)                                         \
    {                                                   \
        .op = OP_setp_u32, .dst = {p0}, .src = { a, a } \
    }
#define BRA_IF(target)                           \
    {                                            \
        .op = OP_bra, .imm = target, .guard = p0 \
    }

enum {
    N = REGION_NONE,
    E = REGION_ENTRY,
    P = REGION_PATH,
    R = REGION_REGISTER,
    M = REGION_MEMORY,
    A = REGION_ALONE,
    F = REGION_AFTER
};

static void expect(struct code code, const u8 *want)
{
    struct arena *arena = arena_create();
    const struct regions *r = regions_compute(arena, &code, cfg_build(arena, &code), false);
    u32 counts[REGION_CUTS] = {0};
    for (u32 i = 0; i < code.count; i++) {
        counts[r->cut[i]]++;
        if (r->cut[i] != want[i])
            fail_msg("instruction %u: cut '%s', expected '%s'", i, region_cut_name(r->cut[i]),
                     region_cut_name(want[i]));
    }
    assert_memory_equal(counts, r->counts, sizeof counts);
    arena_destroy(arena);
}
#define EXPECT(list, ...)                                                                      \
    expect((struct code){.insts = (list), .count = ARRAY_LEN(list), .vectors = 8, .masks = 1}, \
           (const u8[ARRAY_LEN(list)]){__VA_ARGS__})

static void registers_that_were_read(void **state)
{
    struct inst insts[] = {
        ADD(v(2), v(0), v(1)), /* reads v0, v1 */
        MOV(v(3), v(2)),       /* v2 was written before it was read */
        MOV(v(2), v(3)),       /* so it may be overwritten */
        MOV(v(0), v(3)),       /* v0 may not */
        MOV(v(3), v(0)),       /* v3 was read, v0 was written */
        MOV(v(0), v(4)),       MOV(v(1), v(0)), {.op = OP_exit},
    };
    EXPECT(insts, E, N, N, R, R, R, N, A);
}

static void instructions_that_read_what_they_write(void **state)
{
    struct inst insts[] = {
        SET(v(0)),
        ADD(v(0), v(0), v(1)), /* alone */
        SET(v(2)),             /* begins a region */
        ADD(v(3), v(2), v(1)),
        {.op = OP_add_b32, .dst = {pair(4)}, .src = {v(3), v(5)}}, /* half of what it writes */
        ADD(v(1), v(1), v(1)),
        {.op = OP_bar},
        SET(v(1)),
        {.op = OP_exit},
    };
    EXPECT(insts, E, A, F, N, A, F, F, F, A);
}

/* Lanes without the guard keep what is read later; those with it overwrite what they have not read. */
static void guarded_writes(void **state)
{
    struct inst insts[] = {
        SETP(v(1)),      {.op = OP_mov_b32, .dst = {v(0)}, .src = {v(2)}, .guard = p0},
        MOV(v(3), v(0)), MOV(v(0), v(3)),
        {.op = OP_exit},
    };
    EXPECT(insts, E, N, N, R, A);
}

static void memory_that_was_read(void **state)
{
    struct inst insts[] = {
        STORE(v(0), v(1), GLOBAL),  LOAD(v(2), v(0), GLOBAL), STORE(v(0), v(2), SHARED),
        LOAD(v(3), v(0), SHARED),   STORE(v(0), v(3), LOCAL), STORE(v(0), v(3), GLOBAL),
        STORE(v(1), v(3), GLOBAL),  LOAD(v(4), v(0), CONST),  STORE(v(0), v(4), GLOBAL),
        LOAD(v(5), v(0), GENERIC),  STORE(v(0), v(4), LOCAL), LOAD(v(6), v(0), LOCAL),
        STORE(v(0), v(1), GENERIC), {.op = OP_exit},
    };
    EXPECT(insts, E, N, N, N, N, M, N, N, N, N, M, N, M, A);
}

static void loops_and_atomics(void **state)
{
    struct inst insts[] = {
        SET(v(0)),
        LOAD(v(1), v(2), GLOBAL), /* the loop comes back here: a basic block begins */
        SETP(v(1)),
        ADD(v(0), v(0), v(1)),
        BRA_IF(1),
        {.op = OP_atom, .dst = {v(4)}, .src = {v(2), v(0)}, .space = SPACE_GLOBAL},
        MOV(v(5), v(4)),
        {.op = OP_exit},
    };
    EXPECT(insts, E, P, N, A, F, P, F, A);
}

/* A side that reads v0 and one that does not: what follows may overwrite it in one of the cases. With
 * explicit EXEC the warp takes one side; without, each of them begins a region, and so does their end. */
static void ways_that_meet(void **state)
{
    struct inst insts[] = {
        SETP(v(1)), BRA_IF(3), MOV(v(2), v(0)), SET(v(3)), SET(v(0)), {.op = OP_exit},
    };
    struct inst written[] = {
        SETP(v(1)), BRA_IF(3), SET(v(0)), MOV(v(2), v(0)), SET(v(0)), {.op = OP_exit},
    };
    EXPECT(insts, E, N, P, P, N, A);
    EXPECT(written, E, N, P, P, R, A);
    expect((struct code){.insts = insts, .count = 6, .vectors = 8, .explicit_exec = true},
           (const u8[]){E, N, N, N, R, A});
    expect((struct code){.insts = written, .count = 6, .vectors = 8, .explicit_exec = true},
           (const u8[]){E, N, N, N, R, A});
}

#define EXEC_AND(with)                                        \
    {                                                         \
        .op = OP_sand_b64, .mods = 0,                         \
        .dst = {operand_make(OPERAND_SCALAR, SCALAR_EXEC, 2), \
                operand_make(OPERAND_SCALAR, SCALAR_SCC, 1)}, \
        .src = {operand_make(OPERAND_SCALAR, SCALAR_EXEC, 2), \
                operand_make(OPERAND_SCALAR, with, 2)},       \
    }
#define EXEC_SET(from)                                                            \
    {                                                                             \
        .op = OP_smov_b64, .dst = {operand_make(OPERAND_SCALAR, SCALAR_EXEC, 2)}, \
        .src = {operand_make(OPERAND_SCALAR, from, 2)},                           \
    }

/* What lanes have written under one EXEC, others may read under the next. */
static void explicit_exec(void **state)
{
    struct inst insts[] = {
        EXEC_AND(4),     /* reads and writes EXEC */
        SET(v(0)),       /* reads EXEC */
        EXEC_SET(6),     /* overwrites it */
        MOV(v(1), v(0)), /* in lanes that have not written v0 */
        MOV(v(0), v(2)), {.op = OP_end},
    };
    expect(
        (struct code){
            .insts = insts, .count = ARRAY_LEN(insts), .vectors = 8, .explicit_exec = true},
        (const u8[]){E, F, R, N, R, A});
}

/* ---- random code ---- */

enum {
    INSTS = 24,
    VECTORS = 4,
    CELLS = 4,
    STEPS = 80
};

static u32 pick(u64 *seed, u32 below)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)(*seed >> 33) % below;
}

struct machine {
    u32 vectors[VECTORS], mask;
    u32 memory[2][CELLS]; /* global, shared */
};

static struct inst random_inst(u64 *seed, u32 count)
{
    const struct operand a = v(pick(seed, VECTORS)), b = v(pick(seed, VECTORS)),
                         to = v(pick(seed, VECTORS));
    const struct operand guard = pick(seed, 4) ? (struct operand){0} : p0;
    const u8 space = pick(seed, 3) ? SPACE_GLOBAL : SPACE_SHARED;
    switch (pick(seed, 9)) {
    case 0:
        return (struct inst){.op = OP_mov_b32, .dst = {to}, .src = {a}, .guard = guard};
    case 1:
    case 2:
        return (struct inst){.op = OP_add_b32, .dst = {to}, .src = {a, b}, .guard = guard};
    case 3:
    case 4:
        return (struct inst){
            .op = OP_ld, .dst = {to}, .src = {a}, .space = space, .vector = 1, .guard = guard};
    case 5:
    case 6:
        return (struct inst){.op = OP_st, .src = {a, b}, .space = space, .vector = 1};
    case 7:
        return (struct inst){.op = OP_setp_u32, .dst = {p0}, .src = {a, b}};
    default:
        return (struct inst){.op = OP_bra, .imm = pick(seed, count), .guard = p0};
    }
}

static u32 run_one(struct machine *m, const struct inst *inst, u32 at)
{
    const bool on = inst->guard.kind == OPERAND_NONE || m->mask;
    const u32 a = m->vectors[inst->src[0].index], b = m->vectors[inst->src[1].index];
    u32 *const to = &m->vectors[inst->dst[0].index];
    u32 *const cell = &m->memory[inst->space == SPACE_SHARED][a % CELLS];
    if (inst->op == OP_bra)
        return on ? (u32)inst->imm : at + 1;
    if (!on)
        return at + 1;
    switch (inst->op) {
    case OP_mov_b32:
        *to = a;
        break;
    case OP_add_b32:
        *to = 3 * a + b + 1;
        break;
    case OP_setp_u32:
        m->mask = a & 1;
        break;
    case OP_ld:
        *to = *cell;
        break;
    default:
        *cell = b;
    }
    return at + 1;
}

/* Runs; at random moments what has run since the last cut runs again. Returns how often. */
static u32 run(struct machine *m, const struct inst *insts, u32 count, const struct regions *r,
               u64 *seed)
{
    u32 again = 0, at = 0, step = 0, start = 0, started = 0, last = 0, tries = 0;
    while (at < count && step < STEPS) {
        if (r && step > started && !r->alone[last] && tries < 3 &&
            !pick(seed, r->cut[at] ? 4 : 8)) {
            tries++;
            at = start;
            step = started;
            again++;
        }
        if (r && r->cut[at]) {
            start = at;
            tries = step > started ? 0 : tries;
            started = step;
        }
        last = at;
        at = run_one(m, &insts[at], at);
        step++;
    }
    return again;
}

static void regions_run_again(void **state)
{
    u32 again = 0, moved = 0, regions = 0, length = 0;
    for (u64 number = 1; number <= 20000; number++) {
        u64 seed = number * 7919 + 3;
        struct inst insts[INSTS];
        const u32 count = 6 + pick(&seed, INSTS - 6);
        for (u32 i = 0; i + 1 < count; i++)
            insts[i] = random_inst(&seed, count);
        insts[count - 1] = (struct inst){.op = OP_exit};
        struct arena *arena = arena_create();
        const struct code code = {.insts = insts, .count = count, .vectors = VECTORS, .masks = 1};
        const struct regions *r = regions_compute(arena, &code, cfg_build(arena, &code), false);
        struct machine plain, other;
        for (u32 i = 0; i < sizeof plain / 4; i++)
            ((u32 *)&plain)[i] = pick(&seed, 100);
        other = plain;
        run(&plain, insts, count - 1, NULL, &seed);
        again += run(&other, insts, count - 1, r, &seed);
        if (memcmp(&plain, &other, sizeof plain))
            fail_msg("program %u ends differently when regions run again", (u32)number);
        moved += r->counts[REGION_REGISTER] + r->counts[REGION_MEMORY];
        regions += count - r->counts[REGION_NONE];
        length += count;
        arena_destroy(arena);
    }
    assert_true(again > 50000 && moved > 10000);
    assert_true(length > 5 * regions / 4); /* it does not cut everywhere */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_that_were_read),
        cmocka_unit_test(instructions_that_read_what_they_write),
        cmocka_unit_test(guarded_writes),
        cmocka_unit_test(memory_that_was_read),
        cmocka_unit_test(loops_and_atomics),
        cmocka_unit_test(ways_that_meet),
        cmocka_unit_test(explicit_exec),
        cmocka_unit_test(regions_run_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
