/*
 * Marks of redundant instructions: small kernels with the mark of every instruction said beside it.
 *
 * A line of PTX that ends in "//DR", "//CR", "//CY" or "//V" makes instructions that all have this
 * mark; every line that makes instructions says one, or "//-" where they differ.
 */
#include "analysis/redundancy.h"
#include "isa/ptx/ptx.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
#define KERNEL(body)                                                                \
    HEAD ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"                     \
         ".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %d<16>; .reg .f32 %f<8>;\n" \
         ".shared .align 4 .b8 tile[256];\n" body "}\n"

static struct program *compile(const char *text)
{
    const struct ptx_params params = {.optimize = false, .max_registers = 255};
    struct error error = {0};
    struct program *program = ptx_compile(text, strlen(text), "k.ptx", &params,
                                          &(struct ptx_target){.address_bits = 64}, &error);
    if (!program)
        print_error("%s\n", error.message);
    assert_non_null(program);
    return program;
}

/* The mark that a line of the text says, or NULL. */
static const char *said(const char *text, u32 line, char word[8])
{
    for (u32 n = 1; n < line && text; n++) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    if (!text)
        return NULL;
    const char *end = strchr(text, '\n'), *mark = strstr(text, "//");
    if (!mark || (end && mark > end))
        return NULL;
    snprintf(word, 8, "%.*s", (int)strcspn(mark + 2, " \n"), mark + 2);
    return word;
}

static void check(const char *text)
{
    struct program *program = compile(text);
    struct arena *arena = arena_create();
    const struct function *kernel = NULL;
    for (u32 f = 0; f < program->function_count; f++)
        if (program->functions[f].is_kernel)
            kernel = &program->functions[f];
    assert_non_null(kernel);
    const u8 *marks = redundancy_marks(arena, program, kernel);
    bool good = true;
    for (u32 i = kernel->first; i < kernel->end; i++) {
        char word[8], code[256];
        u32 line = program->locations[program->insts[i].location].text_line;
        if (!program->insts[i].location) /* the allocator's, around calls */
            continue;
        const char *expected = said(text, line, word), *mark = redundancy_name(marks[i]);
        inst_text(program, i, code, sizeof code);
        if (expected && (!strcmp(expected, mark) || !strcmp(expected, "-")))
            continue;
        print_error("line %u: %s: %s, expected %s\n", line, code, mark,
                    expected ? expected : "(nothing is said)");
        good = false;
    }
    arena_destroy(arena);
    program_destroy(program);
    assert_true(good);
}

static void test_seeds(void **state)
{
    (void)state;
    check(KERNEL("mov.u32 %r0, %ctaid.x; //DR\n"
                 "mov.u32 %r1, %ntid.y; //DR\n"
                 "mov.u32 %r2, %nctaid.z; //DR\n"
                 "mov.u32 %r3, %tid.x; //CR\n"
                 "mov.u32 %r4, %tid.y; //CY\n"
                 "mov.u32 %r5, %tid.z; //V\n"
                 "mov.u32 %r6, %laneid; //DR\n"
                 "mov.u32 %r7, %lanemask_lt; //DR\n"
                 "mov.u32 %r8, %warpid; //V\n"
                 "mov.u32 %r9, %clock; //V\n"
                 "mov.u32 %r10, %smid; //DR\n"
                 "mov.u64 %d0, %globaltimer; //V\n"
                 "mov.u64 %d1, %gridid; //DR\n"
                 "mov.u32 %r11, %envreg1; //DR\n"
                 "mov.u32 %r12, tile; //DR\n"
                 "ld.param.u64 %d2, [p]; //DR\n"
                 "mov.u32 %r13, 7; //DR\n"
                 "add.u32 %r14, %r3, %r0; //CR\n"
                 "add.u32 %r15, %r3, %r4; //CY\n"
                 "mad.lo.u32 %r16, %r0, %r1, %r5; //V\n"
                 "add.u32 %r17, %r30, 1; //DR\n" /* never written: zero */
                 "exit; //V\n"));
}

static void test_loads(void **state)
{
    (void)state;
    check(KERNEL("ld.param.u64 %d0, [p]; //DR\n"
                 "mov.u32 %r0, %tid.x; //CR\n"
                 "mov.u32 %r1, %tid.z; //V\n"
                 "mul.wide.u32 %d1, %r0, 4; //CR\n"
                 "add.u64 %d2, %d0, %d1; //CR\n"
                 "ld.global.u32 %r2, [%d0]; //DR\n"
                 "ld.global.u32 %r3, [%d2]; //CR\n"
                 "ld.u32 %r4, [%d2]; //CR\n"
                 "ld.volatile.global.u32 %r5, [%d0]; //V\n"
                 "ld.relaxed.gpu.global.u32 %r5, [%d0]; //V\n"
                 "ld.shared.u32 %r6, [tile + 4]; //DR\n"
                 "ld.shared.u32 %r7, [%r1]; //V\n"
                 "atom.global.add.u32 %r8, [%d0], 1; //V\n"
                 "add.u32 %r9, %r8, %r2; //V\n"
                 "add.u32 %r10, %r3, %r6; //CR\n"
                 "st.global.u32 [%d0], %r2; //V\n"
                 "ld.global.v2.u32 {%r11, %r12}, [%d2]; //CR\n"
                 "add.u32 %r13, %r12, 1; //CR\n"
                 "exit; //V\n"));
}

/* A generic load may be of local memory if the program makes such addresses. */
static void test_local(void **state)
{
    (void)state;
    check(KERNEL(".local .align 4 .b8 mine[16];\n"
                 "ld.param.u64 %d0, [p]; //DR\n"
                 "mov.u64 %d1, mine; //DR\n"
                 "st.local.u32 [%d1], 5; //V\n"
                 "ld.local.u32 %r0, [%d1]; //V\n"
                 "ld.u32 %r1, [%d0]; //DR\n"
                 "exit; //V\n"));
    check(KERNEL(".local .align 4 .b8 mine[16];\n"
                 "ld.param.u64 %d0, [p]; //DR\n"
                 "mov.u64 %d1, mine; //DR\n"
                 "cvta.local.u64 %d2, %d1; //DR\n"
                 "ld.u32 %r0, [%d2]; //V\n"
                 "ld.u32 %r1, [%d0]; //V\n"
                 "ld.global.u32 %r2, [%d0]; //DR\n"
                 "exit; //V\n"));
}

static void test_guards_and_selects(void **state)
{
    (void)state;
    check(KERNEL("mov.u32 %r0, %tid.x; //CR\n"
                 "mov.u32 %r1, %tid.z; //V\n"
                 "ld.param.u32 %r2, [n]; //DR\n"
                 "setp.lt.u32 %p0, %r0, %r2; //CR\n"
                 "setp.lt.u32 %p1, %r1, %r2; //V\n"
                 "setp.eq.u32 %p2, %r2, 3; //DR\n"
                 "mov.u32 %r3, 1; //DR\n"
                 "@%p0 mov.u32 %r3, 2; //V\n" /* never marked, but its result has a class: */
                 "add.u32 %r4, %r3, 1; //CR\n"
                 "mov.u32 %r5, 1; //DR\n"
                 "@!%p1 mov.u32 %r5, 2; //V\n"
                 "add.u32 %r6, %r5, 1; //V\n"
                 "mov.u32 %r7, %tid.y; //CY\n"
                 "@%p2 mov.u32 %r7, 2; //V\n" /* the old value stays in some lanes */
                 "add.u32 %r8, %r7, 1; //CY\n"
                 "selp.u32 %r9, 1, 2, %p0; //CR\n"
                 "selp.u32 %r10, 1, 2, %p1; //V\n"
                 "selp.u32 %r11, %r2, %r0, %p2; //CR\n"
                 "and.pred %p3, %p0, %p2; //CR\n"
                 "add.cc.u32 %r12, %r0, %r2; //CR\n"
                 "addc.u32 %r13, %r2, %r2; //CR\n" /* the carry is a location */
                 "vote.sync.any.pred %p4, %p2, 0xffffffff; //V\n"
                 "shfl.sync.idx.b32 %r14, %r2, 0, 31, 0xffffffff; //V\n"
                 "exit; //V\n"));
}

/* Halves of a pair, and names that are used again. */
static void test_locations(void **state)
{
    (void)state;
    check(KERNEL("mov.u32 %r0, %tid.z; //V\n"
                 "mov.u32 %r1, %ctaid.x; //DR\n"
                 "mov.b64 %d0, {%r1, %r0}; //V\n"
                 "mov.b64 {%r2, %r3}, %d0; //V\n" /* an instruction has one mark */
                 "mov.b64 %d1, {%r1, %r1}; //DR\n"
                 "mov.b64 {%r4, %r5}, %d1; //DR\n"
                 "add.u32 %r1, %r0, 1; //V\n"
                 "add.u32 %r6, %r1, 1; //V\n"
                 "mov.u32 %r1, 4; //DR\n"
                 "add.u32 %r7, %r1, 1; //DR\n"
                 "ld.param.u64 %d2, [p]; //DR\n"
                 "st.global.u32 [%d2], %r7; //V\n"
                 "exit; //V\n"));
}

#define BRANCH(special)          \
    "mov.u32 %r0, " special "\n" \
    "ld.param.u32 %r1, [n]; //DR\n"

static void test_meeting(void **state)
{
    (void)state;
    check(KERNEL(BRANCH("%tid.z; //V") "mov.u32 %r3, 9; //DR\n"
                                       "setp.lt.u32 %p0, %r0, 3; //V\n"
                                       "@%p0 bra A; //V\n"
                                       "mov.u32 %r2, 1; //DR\n"
                                       "add.u32 %r4, %r2, 1; //DR\n"
                                       "bra B; //V\n"
                                       "A:\n"
                                       "mov.u32 %r2, 2; //DR\n"
                                       "B:\n"
                                       "add.u32 %r5, %r2, 1; //V\n"
                                       "add.u32 %r6, %r3, 1; //DR\n"
                                       "mov.u32 %r2, 7; //DR\n"
                                       "add.u32 %r7, %r2, 1; //DR\n"
                                       "exit; //V\n"));
    check(KERNEL(BRANCH("%tid.x; //CR") "setp.lt.u32 %p0, %r0, 3; //CR\n"
                                        "mov.u32 %r2, 1; //DR\n"
                                        "@%p0 bra B; //V\n"
                                        "mov.u32 %r2, 2; //DR\n"
                                        "B:\n"
                                        "add.u32 %r5, %r2, 1; //CR\n"
                                        "exit; //V\n"));
    check(KERNEL(BRANCH("%tid.z; //V") "setp.lt.u32 %p0, %r1, 3; //DR\n"
                                       "mov.u32 %r2, 1; //DR\n"
                                       "@%p0 bra B; //V\n"
                                       "mov.u32 %r2, 2; //DR\n"
                                       "B:\n"
                                       "add.u32 %r5, %r2, 1; //DR\n"
                                       "exit; //V\n"));
}

/* The ways meet inside of a region that is left by an early exit as well. */
static void test_early_exit(void **state)
{
    (void)state;
    check(KERNEL(BRANCH("%tid.z; //V") "setp.lt.u32 %p0, %r0, 3; //V\n"
                                       "setp.eq.u32 %p1, %r1, 3; //DR\n"
                                       "mov.u32 %r2, 1; //DR\n"
                                       "@%p0 bra B; //V\n"
                                       "mov.u32 %r2, 2; //DR\n"
                                       "@%p1 exit; //V\n"
                                       "B:\n"
                                       "add.u32 %r5, %r2, 1; //V\n"
                                       "exit; //V\n"));
    /* Threads that leave do not meet others again. */
    check(KERNEL(BRANCH("%tid.z; //V") "setp.lt.u32 %p0, %r0, 3; //V\n"
                                       "mov.u32 %r2, 1; //DR\n"
                                       "@%p0 bra OUT; //V\n"
                                       "mov.u32 %r2, 2; //DR\n"
                                       "bar.sync 0; //V\n"
                                       "add.u32 %r5, %r2, 1; //DR\n"
                                       "OUT: exit; //V\n"));
}

static void test_loops(void **state)
{
    (void)state;
    /* As often as n says. */
    check(KERNEL(BRANCH("%tid.z; //V") "mov.u32 %r2, 0; //DR\n"
                                       "L:\n"
                                       "add.u32 %r3, %r2, 5; //DR\n"
                                       "add.u32 %r2, %r2, 1; //DR\n"
                                       "setp.lt.u32 %p0, %r2, %r1; //DR\n"
                                       "@%p0 bra L; //V\n"
                                       "add.u32 %r4, %r2, 1; //DR\n"
                                       "exit; //V\n"));
    /* A trip count that differs: the counter is the same only in the same iteration. */
    check(KERNEL(BRANCH("%tid.z; //V") "mov.u32 %r2, 0; //DR\n"
                                       "mov.u32 %r6, 4; //DR\n"
                                       "L:\n"
                                       "add.u32 %r3, %r2, 5; //DR\n"
                                       "add.u32 %r2, %r2, 1; //DR\n"
                                       "setp.lt.u32 %p0, %r2, %r0; //V\n"
                                       "@%p0 bra L; //V\n"
                                       "add.u32 %r4, %r2, 1; //V\n"
                                       "add.u32 %r5, %r3, 1; //V\n"
                                       "add.u32 %r7, %r6, 1; //DR\n"
                                       "exit; //V\n"));
    /* The test at the head. */
    check(KERNEL(BRANCH("%tid.x; //CR") "mov.u32 %r2, 0; //DR\n"
                                        "L:\n"
                                        "setp.ge.u32 %p0, %r2, %r0; //CR\n"
                                        "@%p0 bra OUT; //V\n"
                                        "add.u32 %r2, %r2, 1; //DR\n"
                                        "bra L; //V\n"
                                        "OUT:\n"
                                        "add.u32 %r4, %r2, 1; //CR\n"
                                        "exit; //V\n"));
    /* Two ways out of a loop; which one is taken when depends on a branch inside. */
    check(KERNEL(BRANCH("%tid.z; //V") "mov.u32 %r2, 0; //DR\n"
                                       "setp.lt.u32 %p0, %r0, 3; //V\n"
                                       "L:\n"
                                       "add.u32 %r2, %r2, 1; //DR\n"
                                       "setp.lt.u32 %p1, %r2, %r1; //DR\n"
                                       "setp.lt.u32 %p2, %r2, 9; //DR\n"
                                       "@%p0 bra A; //V\n"
                                       "@%p1 bra L; //V\n"
                                       "bra OUT; //V\n"
                                       "A:\n"
                                       "@%p2 bra L; //V\n"
                                       "OUT:\n"
                                       "add.u32 %r4, %r2, 1; //V\n"
                                       "exit; //V\n"));
}

/* Threads meet in each round but leave a loop in different ones, by one way out. */
static void test_rounds(void **state)
{
    (void)state;
    check(KERNEL(BRANCH("%tid.z; //V") "mov.u32 %r2, 0; //DR\n"
                                       "setp.lt.u32 %p0, %r0, 3; //V\n"
                                       "setp.lt.u32 %p1, %r1, 3; //DR\n"
                                       "L:\n"
                                       "add.u32 %r2, %r2, 1; //DR\n"
                                       "not.pred %p0, %p0; //V\n"
                                       "@%p0 bra J; //V\n"
                                       "@%p1 bra OUT; //V\n"
                                       "J:\n"
                                       "setp.lt.u32 %p2, %r2, 9; //DR\n"
                                       "@%p2 bra L; //V\n"
                                       "exit; //V\n"
                                       "OUT:\n"
                                       "bar.sync 0; //V\n"
                                       "add.u32 %r4, %r2, 1; //V\n"
                                       "add.u32 %r5, %r1, 1; //V\n"
                                       "exit; //V\n"));
    /* A loop around a loop: how often the inner one was run is in what it leaves. */
    check(KERNEL(BRANCH("%tid.z; //V") "mov.u32 %r2, 0; //DR\n"
                                       "mov.u32 %r3, 0; //DR\n"
                                       "O:\n"
                                       "add.u32 %r3, %r3, 1; //DR\n"
                                       "I:\n"
                                       "add.u32 %r2, %r2, 1; //V\n"
                                       "setp.lt.u32 %p0, %r2, %r0; //V\n"
                                       "@%p0 bra I; //V\n"
                                       "bar.sync 0; //V\n"
                                       "add.u32 %r4, %r2, 1; //V\n"
                                       "setp.lt.u32 %p1, %r3, %r1; //DR\n"
                                       "@%p1 bra O; //V\n"
                                       "exit; //V\n"));
}

static void test_barriers(void **state)
{
    (void)state;
    /* All warps reach the same barriers: values keep their classes across them. */
    check(KERNEL(BRANCH("%tid.x; //CR") "mov.u32 %r2, 0; //DR\n"
                                        "L:\n"
                                        "bar.sync 0; //V\n"
                                        "add.u32 %r3, %r2, %r0; //CR\n"
                                        "add.u32 %r2, %r2, 1; //DR\n"
                                        "setp.lt.u32 %p0, %r2, %r1; //DR\n"
                                        "@%p0 bra L; //V\n"
                                        "exit; //V\n"));
    /* Ways that differ before a barrier and meet there. */
    check(KERNEL(BRANCH("%tid.z; //V") "setp.lt.u32 %p0, %r0, 3; //V\n"
                                       "mov.u32 %r2, 1; //DR\n"
                                       "@%p0 bra B; //V\n"
                                       "mov.u32 %r2, 2; //DR\n"
                                       "B:\n"
                                       "bar.sync 0; //V\n"
                                       "add.u32 %r5, %r2, 1; //V\n"
                                       "add.u32 %r6, %r1, 1; //DR\n"
                                       "exit; //V\n"));
}

/* Warps that wait at one barrier in different rounds of a loop. */
static void test_barriers_out_of_step(void **state)
{
    (void)state;
    check(KERNEL(BRANCH("%tid.z; //V") "setp.lt.u32 %p0, %r0, 3; //V\n"
                                       "@%p0 bra B; //V\n"
                                       "bar.sync 0; //V\n"
                                       "B:\n"
                                       "mov.u32 %r2, 0; //DR\n"
                                       "L:\n"
                                       "bar.sync 0; //V\n"
                                       "add.u32 %r3, %r2, 1; //V\n"
                                       "add.u32 %r2, %r2, 1; //V\n"
                                       "setp.lt.u32 %p1, %r2, 9; //V\n"
                                       "@%p1 bra L; //V\n"
                                       "exit; //V\n"));
    /* A barrier in a loop that some threads leave early, and none after it: threads in the loop are
     * in step. */
    check(KERNEL(BRANCH("%tid.z; //V") "mov.u32 %r2, 0; //DR\n"
                                       "L:\n"
                                       "bar.sync 0; //V\n"
                                       "add.u32 %r3, %r2, 1; //DR\n"
                                       "add.u32 %r2, %r2, 1; //DR\n"
                                       "setp.lt.u32 %p1, %r2, %r0; //V\n"
                                       "@%p1 bra L; //V\n"
                                       "add.u32 %r4, %r2, 1; //V\n"
                                       "exit; //V\n"));
    /* Some threads exit in a loop; all others reach all barriers. */
    check(KERNEL(BRANCH("%tid.z; //V") "setp.lt.u32 %p0, %r0, 3; //V\n"
                                       "setp.eq.u32 %p1, %r1, 3; //DR\n"
                                       "mov.u32 %r2, 0; //DR\n"
                                       "L:\n"
                                       "bar.sync 0; //V\n"
                                       "add.u32 %r2, %r2, 1; //DR\n"
                                       "@%p0 bra J; //V\n"
                                       "@%p1 exit; //V\n"
                                       "J:\n"
                                       "setp.lt.u32 %p2, %r2, 9; //DR\n"
                                       "@%p2 bra L; //V\n"
                                       "bar.sync 0; //V\n"
                                       "add.u32 %r3, %r1, 1; //DR\n"
                                       "exit; //V\n"));
    /* A guard decides. */
    check(KERNEL(BRANCH("%tid.z; //V") "setp.lt.u32 %p0, %r0, 3; //V\n"
                                       "mov.u32 %r2, 0; //DR\n"
                                       "L:\n"
                                       "@%p0 bar.sync 0; //V\n"
                                       "add.u32 %r2, %r2, 1; //V\n"
                                       "setp.lt.u32 %p1, %r2, 9; //V\n"
                                       "@%p1 bra L; //V\n"
                                       "exit; //V\n"));
}

/* Nothing is known after a call, and functions have no marks. */
static void test_calls(void **state)
{
    (void)state;
    check(HEAD ".func f() { ret; }\n"
               ".visible .entry k(.param .u32 n)\n{\n.reg .b32 %r<4>;\n"
               "ld.param.u32 %r0, [n]; //DR\n"
               "call f; //-\n"
               "add.u32 %r3, %r0, 1; //V\n"
               "ld.param.u32 %r1, [n]; //DR\n"
               "add.u32 %r2, %r1, 1; //DR\n"
               "exit; //V\n}\n");
}

/* A loop with two entries. */
static void test_irreducible(void **state)
{
    (void)state;
    check(KERNEL(BRANCH("%tid.z; //V") "setp.lt.u32 %p0, %r0, 3; //V\n"
                                       "mov.u32 %r2, 0; //DR\n"
                                       "@%p0 bra B; //V\n"
                                       "A:\n"
                                       "add.u32 %r2, %r2, 1; //V\n"
                                       "B:\n"
                                       "add.u32 %r2, %r2, 2; //V\n"
                                       "setp.lt.u32 %p1, %r2, 50; //V\n"
                                       "@%p1 bra A; //V\n"
                                       "exit; //V\n"));
}

static bool holds(enum redundancy mark, u32 x, u32 y, u32 z, u32 warp)
{
    return redundancy_holds(mark, (u32[]){x, y, z}, warp);
}

static void test_shapes(void **state)
{
    (void)state;
    assert_true(holds(REDUNDANT_X, 16, 16, 1, 32));
    assert_true(holds(REDUNDANT_X, 32, 32, 1, 32));
    assert_true(holds(REDUNDANT_X, 64, 4, 1, 64));
    assert_true(holds(REDUNDANT_X, 16, 4, 4, 32));
    assert_true(holds(REDUNDANT_X, 16, 1, 4, 32));
    assert_true(holds(REDUNDANT_X, 1, 64, 1, 32));
    assert_false(holds(REDUNDANT_X, 64, 4, 1, 32));
    assert_false(holds(REDUNDANT_X, 48, 2, 1, 32));
    assert_false(holds(REDUNDANT_X, 24, 4, 1, 32));
    assert_false(holds(REDUNDANT_X, 256, 1, 1, 32));
    assert_false(holds(REDUNDANT_X, 32, 1, 1, 32));
    assert_true(holds(REDUNDANT_XY, 4, 8, 4, 32));
    assert_true(holds(REDUNDANT_XY, 16, 4, 4, 64));
    assert_false(holds(REDUNDANT_XY, 16, 4, 4, 32));
    assert_false(holds(REDUNDANT_XY, 16, 2, 1, 32));
    assert_false(holds(REDUNDANT_XY, 5, 3, 4, 32));
    assert_false(holds(REDUNDANT_XY, 1u << 31, 2, 2, 32));
    for (u32 n = 1; n <= 64; n++) {
        assert_true(holds(REDUNDANT, n, 3, 2, 32));
        assert_false(holds(REDUNDANT_NO, n, 3, 2, 32));
    }
}

/* What the shapes promise: tid.x, or x and y, repeat in all whole warps. */
static void test_shapes_by_threads(void **state)
{
    (void)state;
    for (u32 x = 1; x <= 40; x++)
        for (u32 y = 1; y <= 9; y++)
            for (u32 z = 1; z <= 5; z++) {
                bool same[2] = {true, true};
                for (u32 t = 32; t < x * y * z / 32 * 32; t++) {
                    same[0] &= t % x == t % 32 % x;
                    same[1] &= t % (x * y) == t % 32 % (x * y);
                }
                if (holds(REDUNDANT_X, x, y, z, 32))
                    assert_true(same[0]);
                if (holds(REDUNDANT_XY, x, y, z, 32))
                    assert_true(same[1]);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_local),
        cmocka_unit_test(test_guards_and_selects),
        cmocka_unit_test(test_locations),
        cmocka_unit_test(test_meeting),
        cmocka_unit_test(test_early_exit),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_barriers_out_of_step),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_irreducible),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_shapes_by_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
