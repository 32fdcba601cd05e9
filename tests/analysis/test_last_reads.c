/*
 * Last reads: on small programs by hand, and on kernels, whose dead registers are overwritten while
 * they run in tests/mech/test_gr_guard.c.
 */
#include "analysis/last_reads.h"
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

#define ADD(to, a, b)                                  \
    {                                                  \
        .op = OP_add_b32, .dst = {to}, .src = { a, b } \
    }
#define SETP(a)                                         \
    {                                                   \
        .op = OP_setp_u32, .dst = {p0}, .src = { a, a } \
    }
#define STORE(address, data)                             \
    {                                                    \
        .op = OP_st, .src = {address, data}, .vector = 1 \
    }
#define BRA_IF(target)                           \
    {                                            \
        .op = OP_bra, .imm = target, .guard = p0 \
    }
#define CALL                    \
    {                           \
        .op = OP_call, .imm = 4 \
    }
#define RET          \
    {                \
        .op = OP_ret \
    }
#define EXIT          \
    {                 \
        .op = OP_exit \
    }

/* The operands that are dead after each instruction, and the registers that are live at first. */
static void expect(struct inst *insts, u32 count, const struct function *functions,
                   u32 function_count, const u8 *want, u64 entry)
{
    struct arena *arena = arena_create();
    struct program program = {
        .insts = insts,
        .inst_count = count,
        .functions = (struct function *)functions,
        .function_count = function_count,
    };
    const struct last_reads *l = last_reads_of(arena, &program, &functions[0]);
    for (u32 i = 0; i < count; i++)
        if (l->dead[i] != want[i])
            fail_msg("instruction %u: operands %u are dead, expected %u", i, l->dead[i], want[i]);
    assert_int_equal(l->entry[0], entry);
    arena_destroy(arena);
}

#define KERNEL(last)                                                                        \
    {                                                                                       \
        .name = "k", .is_kernel = true, .first = 0, .end = last, .registers = 8, .masks = 1 \
    }

static void straight_line(void **state)
{
    struct inst insts[] = {
        ADD(v(2), v(0), v(1)), /* 0 is read again */
        ADD(v(3), v(2), v(0)), /* both end here */
        ADD(v(3), v(3), v(3)), /* its value does, but the register holds another one then */
        STORE(pair(4), v(3)),  EXIT,
    };
    const struct function functions[] = {KERNEL(5)};
    expect(insts, 5, functions, 1, (const u8[]){2, 3, 0, 3, 0}, 0x33);
    insts[4] = (struct inst)STORE(v(5), v(3)); /* half of the pair, and 3, are read again */
    struct inst more[] = {insts[0], insts[1], insts[2], insts[3], insts[4], EXIT};
    const struct function longer[] = {KERNEL(6)};
    expect(more, 6, longer, 1, (const u8[]){2, 3, 0, 0, 3, 0}, 0x33);
}

/* What a later turn of a loop reads is not dead; what one side of a branch reads is dead there. */
static void loops_and_branches(void **state)
{
    struct inst insts[] = {
        ADD(v(1), v(1), v(0)), /* 0 is read in the next turn */
        SETP(v(1)),
        BRA_IF(0),
        STORE(v(2), v(1)),
        EXIT,
    };
    const struct function functions[] = {KERNEL(5)};
    expect(insts, 5, functions, 1, (const u8[]){0, 0, 0, 3, 0}, 7);
    struct inst sides[] = {
        SETP(v(1)),
        BRA_IF(3),
        ADD(v(3), v(0), v(1)), /* the other side overwrites 1, and reads 0 */
        ADD(v(1), v(0), v(0)),
        STORE(v(2), v(1)),
        EXIT,
    };
    const struct function two[] = {KERNEL(6)};
    expect(sides, 6, two, 1, (const u8[]){0, 0, 2, 3, 3, 0}, 7);
}

/* What a caller reads after a call is not dead in the function, nor what the function reads. */
static void calls(void **state)
{
    struct inst insts[] = {
        ADD(v(2), v(0), v(1)), /* the function reads 0 */
        CALL,
        STORE(v(2), v(3)),
        EXIT,
        ADD(v(4), v(0), v(3)), /* the caller reads 3 */
        STORE(v(4), v(4)),
        RET,
    };
    const struct function functions[] = {
        KERNEL(4),
        {.name = "f", .first = 4, .end = 7, .registers = 8, .masks = 1},
    };
    expect(insts, 7, functions, 2, (const u8[]){2, 0, 0, 0, 0, 3, 0}, 0xb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_line),
        cmocka_unit_test(loops_and_branches),
        cmocka_unit_test(calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
