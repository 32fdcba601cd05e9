/* program_verify must find what it is there to find: a good program, damaged in one place. */
#include "isa/ptx/ptx.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                           ".entry k(.param .u64 a) { .reg .b64 %d<3>; .reg .b32 %r<3>; "
                           ".reg .pred %p;\n"
                           "ld.param.u64 %d1, [a];\nadd.s64 %d2, %d1, 8;\nmov.u32 %r1, %tid.x;\n"
                           "setp.eq.s32 %p, %r1, 0;\n@%p bra END;\nst.global.u32 [%d2], %r1;\n"
                           "END: ret; }\n";

static struct program *good(void)
{
    struct ptx_params params = {.max_registers = 255};
    struct error error = {0};
    struct program *p = ptx_compile(text, sizeof text - 1, "t.ptx", &params,
                                    &(struct ptx_target){.address_bits = 64}, &error);
    char message[300];
    assert_non_null(p);
    assert_true(program_verify(p, message, sizeof message));
    return p;
}

enum damage {
    ODD_PAIR,
    MISSING_SOURCE,
    EXTRA_SOURCE,
    WRITTEN_CONSTANT,
    BEYOND_REGISTERS,
    INTO_BLOCK,
    WRONG_COUNT,
    WRONG_RECONVERGENCE,
    RUNS_OFF,
    NO_ONES,
    DAMAGES
};

static void damage(struct program *p, enum damage what)
{
    struct inst *add = &p->insts[1], *bra = &p->insts[4];
    switch (what) {
    case ODD_PAIR:
        add->dst[0].index = 1;
        break;
    case MISSING_SOURCE:
        add->src[1] = operand_none();
        break;
    case EXTRA_SOURCE:
        add->src[2] = add->src[0];
        break;
    case WRITTEN_CONSTANT:
        add->dst[0] = add->src[1];
        break;
    case BEYOND_REGISTERS:
        add->dst[0].index = 200;
        break;
    case INTO_BLOCK:
        bra->imm = 1;
        break;
    case WRONG_COUNT:
        p->blocks[0].unguarded++;
        break;
    case WRONG_RECONVERGENCE:
        p->blocks[0].reconverge = NO_INST;
        break;
    case RUNS_OFF:
        p->insts[p->inst_count - 1].guard = operand_make(OPERAND_MASK, 0, 1);
        p->blocks[p->block_count - 1].unguarded--;
        break;
    default:
        p->constants[1] = 1;
    }
}

static void damage_is_found(void **state)
{
    (void)state;
    for (int what = 0; what < DAMAGES; what++) {
        struct program *p = good();
        char message[300] = "";
        damage(p, (enum damage)what);
        if (program_verify(p, message, sizeof message))
            fail_msg("damage %d was not found", what);
        assert_true(message[0]);
        program_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(damage_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
