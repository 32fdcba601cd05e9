/*
 * Sides of branches that depend on thread numbers: small kernels in which the instructions on sides are
 * marked by hand, with "//S" at the end of their line.
 */
#include "analysis/sides.h"
#include "isa/ptx/ptx.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KERNEL(body)                                                         \
    ".version 7.0\n.target sm_70\n.address_size 64\n"                        \
    ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"                   \
    ".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %d<16>;\n"                \
    "ld.param.u64 %d0, [p];\nld.param.u32 %r0, [n];\nmov.u32 %r1, %tid.x;\n" \
    "mov.u32 %r2, %ctaid.x;\nld.global.u32 %r3, [%d0];\n" body               \
    "st.global.u32 [%d0], %r4;\nret;\n}\n"

static bool is_marked(const char *text, u32 line)
{
    for (u32 n = 1; n < line && text; n++) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    const char *mark = text ? strstr(text, "//S") : NULL, *end = text ? strchr(text, '\n') : NULL;
    return mark && mark < end;
}

static struct program *compile(const char *text)
{
    const struct ptx_params params = {.optimize = false, .max_registers = 255, .sides = true};
    struct error error = {0};
    struct program *program = ptx_compile(text, strlen(text), "k.ptx", &params,
                                          &(struct ptx_target){.address_bits = 64}, &error);
    if (!program)
        fail_msg("%s", error.message);
    return program;
}

/* Returns how many registers only sides use. */
static u32 check(const char *text)
{
    struct program *program = compile(text);
    struct arena *arena = arena_create();
    const struct function *kernel = &program->functions[0];
    const struct code code = code_of(program, kernel);
    const struct sides *sides = sides_find(arena, &code, cfg_build(arena, &code));
    assert_non_null(sides);
    for (u32 i = 0; i < code.count; i++) {
        const u32 line = program->locations[code.insts[i].location].text_line;
        if (code.insts[i].location && sides->inst[i] != is_marked(text, line))
            fail_msg("line %u: on a side: %u", line, sides->inst[i]);
    }
    u32 own = 0;
    for (u32 l = 0; l < code.vectors; l++)
        own += sides->location[l];
    arena_destroy(arena);
    program_destroy(program);
    return own;
}

static void conditions(void **state)
{
    /* by thread; two registers are used there only */
    assert_int_equal(
        check(KERNEL("setp.lt.u32 %p0, %r1, 4;\n@%p0 bra a;\nadd.u32 %r5, %r3, 1; //S\n"
                     "add.u32 %r6, %r5, 2; //S\nadd.u32 %r6, %r6, %r5; //S\nst.global.u32 [%d0], "
                     "%r6; //S\na:\n"
                     "mov.u32 %r4, %r3;\n")),
        2);
    /* by thread and parameter, both sides */
    assert_int_equal(
        check(KERNEL("add.u32 %r5, %r1, %r0;\nsetp.lt.u32 %p0, %r5, 4;\n@%p0 bra a;\n"
                     "mov.u32 %r4, 1; //S\nbra b; //S\na:\nmov.u32 %r4, 2; //S\nb:\n")),
        0);
    /* by data, by data and thread, by the block: no sides */
    check(KERNEL("setp.lt.u32 %p0, %r3, 4;\n@%p0 bra a;\nmov.u32 %r4, 1;\na:\n"));
    check(KERNEL(
        "add.u32 %r5, %r1, %r3;\nsetp.lt.u32 %p0, %r5, 4;\n@%p0 bra a;\nmov.u32 %r4, 1;\na:\n"));
    check(KERNEL("setp.lt.u32 %p0, %r2, 4;\n@%p0 bra a;\nmov.u32 %r4, 1;\na:\n"));
    /* a guard */
    check(KERNEL("setp.lt.u32 %p0, %r1, 4;\nmov.u32 %r4, 1;\n@%p0 add.u32 %r4, %r3, 1; //S\n"));
}

/* A value that depends on data through a branch is data (S3). */
static void through_branches(void **state)
{
    check(KERNEL(
        "mov.u32 %r5, %r1;\nsetp.lt.u32 %p0, %r3, 4;\n@%p0 bra a;\nadd.u32 %r5, %r5, 1;\na:\n"
        "setp.lt.u32 %p1, %r5, 4;\n@%p1 bra b;\nmov.u32 %r4, 1;\nb:\n"));
    /* so is one that a loop computes which data end */
    check(KERNEL(
        "mov.u32 %r5, %r1;\nmov.u32 %r6, 0;\na:\nadd.u32 %r5, %r5, 1;\nadd.u32 %r6, %r6, 1;\n"
        "setp.lt.u32 %p0, %r6, %r3;\n@%p0 bra a;\nsetp.lt.u32 %p1, %r5, 4;\n@%p1 bra b;\n"
        "mov.u32 %r4, 1;\nb:\n"));
    /* with constants it is known */
    check(KERNEL(
        "mov.u32 %r5, %r1;\nsetp.lt.u32 %p0, %r0, 4;\n@%p0 bra a;\nadd.u32 %r5, %r5, 1;\na:\n"
        "setp.lt.u32 %p1, %r5, 4;\n@%p1 bra b;\nmov.u32 %r4, 1; //S\nb:\n"));
}

/* Loops and early ends have no sides (S2); a side inside a loop is one. */
static void shapes(void **state)
{
    check(KERNEL(
        "mov.u32 %r5, %r1;\na:\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p0, %r5, 40;\n@%p0 bra a;\n"));
    check(KERNEL("setp.lt.u32 %p0, %r1, 4;\n@%p0 exit;\nmov.u32 %r4, 1;\n"));
    check(KERNEL("mov.u32 %r5, 0;\na:\nsetp.lt.u32 %p1, %r1, %r5;\n@%p1 bra b;\nadd.u32 %r4, %r3, "
                 "%r5; //S\nb:\n"
                 "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p0, %r5, 40;\n@%p0 bra a;\n"));
}

/* Code with jump tables or calls through a register is not analysed. */
static void jumps_to_computed_places(void **state)
{
    static const char *const kernels[] = {
        KERNEL("t: .branchtargets a, b;\nand.b32 %r5, %r1, 1;\nbrx.idx %r5, t;\na:\nmov.u32 %r4, "
               "1;\nb:\n"),
        KERNEL("q: .callprototype _ ();\ncall %d0, (), q;\nmov.u32 %r4, 1;\n"),
    };
    for (u32 i = 0; i < 2; i++) {
        struct program *program = compile(kernels[i]);
        struct arena *arena = arena_create();
        const struct code code = code_of(program, &program->functions[0]);
        assert_null(sides_find(arena, &code, cfg_build(arena, &code)));
        arena_destroy(arena);
        program_destroy(program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions),
        cmocka_unit_test(through_branches),
        cmocka_unit_test(shapes),
        cmocka_unit_test(jumps_to_computed_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
