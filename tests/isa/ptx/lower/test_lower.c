/*
 * Lowering: what code becomes, and what messages mistakes give.
 */
#include "isa/ptx/ptx.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define HEADER ".version 7.8\n.target sm_80\n.address_size 64\n"
#define REGISTERS                                                                             \
    ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .b16 %h<9>; " \
    ".reg .pred %p<9>;"

#define ENTRY HEADER ".entry k(.param .u64 a, .param .b8 s[24]) {\n"

static struct program *try_compile(const char *text, const struct ptx_params *params,
                                   struct error *error)
{
    *error = (struct error){0};
    return ptx_compile(text, strlen(text), "t.ptx", params,
                       &(struct ptx_target){.address_bits = 64}, error);
}

static struct program *compile_with(const char *text, bool optimize, u32 limit)
{
    struct ptx_params params = {.optimize = optimize, .max_registers = limit};
    struct error error;
    struct program *p = try_compile(text, &params, &error);
    if (!p)
        fail_msg("%s: %s\n%s", error.place, error.message, text);
    char message[300];
    if (!program_verify(p, message, sizeof message))
        fail_msg("%s\n%s", message, text);
    return p;
}

/* The body of a kernel, compiled one to one. */
static struct program *body(const char *statements)
{
    char text[8192];
    snprintf(text, sizeof text, "%s%s\n%s\nret;\n}\n", ENTRY, REGISTERS, statements);
    return compile_with(text, false, 255);
}

static const struct function *function_named(const struct program *p, const char *name)
{
    for (u32 i = 0; i < p->function_count; i++)
        if (!strcmp(p->functions[i].name, name))
            return &p->functions[i];
    fail_msg("no function %s", name);
    return NULL;
}

static u32 count_op(const struct program *p, enum op op)
{
    u32 count = 0;
    for (u32 i = 0; i < p->inst_count; i++)
        count += p->insts[i].op == op;
    return count;
}

/* ---- one instruction ---- */

static const struct {
    const char *ptx;
    const char *text; /* with registers as allocated */
} single[] = {
    {"add.s32 %r1, %r2, 5;", "add.b32 R0, 0, 5"},
    {"add.f32 %f1, %f2, 0f3F800000;", "add.f32 R0, 0, 0x3f800000"},
    {"add.rz.ftz.sat.f32 %f1, %f2, 1.0;", "add.f32.rz.ftz.sat R0, 0, 0x3f800000"},
    {"fma.rn.f64 %fd1, %fd2, 2.0, 0f40400000;",
     "fma.f64 R0:R1, 0x0, 0x4000000000000000, 0x4008000000000000"},
    {"mul.hi.u64 %rd1, %rd2, 3;", "mul.hi.u64 R0:R1, 0x0, 0x3"},
    {"mul.wide.s32 %rd1, %r1, -4;", "mul.wide.s32 R0:R1, 0, 0xfffffffc"},
    {"shr.b32 %r1, %r2, 3;", "shr.u32 R0, 0, 3"},
    {"shr.s64 %rd1, %rd2, 3;", "shr.s64 R0:R1, 0x0, 3"},
    {"setp.hs.and.u32 %p1|%p2, %r1, 7, !%p3;", "setp.u32.ge.and P0, P1, 0, 7, true"},
    {"setp.neu.f32 %p1, %f1, 0f00000000;", "setp.f32.neu P0, 0, 0"},
    {"set.gt.u32.f32 %r1, %f1, 0f00000000;", "set.f32.gt R0, 0, 0"},
    {"cvt.rni.ftz.f32.f32 %f1, %f2;", "cvt.f32.f32.integral.ftz R0, 0"},
    {"cvt.rzi.s32.f64 %r1, %fd1;", "cvt.s32.f64.rz R0, 0x0"},
    {"cvt.rn.f16x2.f32 %r1, %f1, %f2;", "cvt.f16x2.f32 R0, 0, 0"},
    {"mov.b64 {%r1, _}, %rd1;", "unpack.b64 R0, 0x0"},
    {"mov.b32 %r1, {%h1, %h2};", "pack.b32 R0, 0, 0"},
    {"mov.u32 %r1, %ctaid.y;", "mov.sreg R0, %ctaid_y"},
    {"mov.u64 %rd1, %clock64;", "mov.sreg R0:R1, %clock64"},
    {"lop3.b32 %r1, %r2, %r3, %r4, 0x96;", "lop3.b32 R0, 0, 0, 0, 0x96"},
    {"prmt.b32.f4e %r1, %r2, %r3, %r4;", "prmt.b32.f4e R0, 0, 0, 0"},
    {"shf.l.wrap.b32 %r1, %r2, %r3, 4;", "shf.l.b32.wrap R0, 0, 0, 4"},
    {"ld.param.u32 %r1, [s+4];", "ld.param.u32 R0, [12]"},
    {"ld.global.cg.v2.f32 {%f1, %f2}, [%rd1+16];", "ld.global.v2.f32.cg R0:R1, [R0:R1+16]"},
    {"ld.global.nc.L1::no_allocate.v2.f32 {%f1, %f2}, [%rd1+16];",
     "ld.global.v2.f32.nc R0:R1, [R0:R1+16]"},
    {"st.volatile.global.u8 [%rd1], 7;", "st.global.u8.volatile [R0:R1], 7"},
    {"st.global.v4.u32 [%rd1], {1, 2, 3, 4};", "st.global.v4.u32 [R0:R1], {1, 2, 3, 4}"},
    {"atom.acq_rel.gpu.global.cas.b64 %rd1, [%rd2], %rd3, 5;", NULL},
    {"red.shared.add.u32 [%r1], 1;", "atom.shared.add.u32 [R0], 1"},
    {"bar.sync 0;", "bar.sync 0"},
    {"barrier.sync 1, 64;", "bar.sync.unaligned 1, 64"},
    {"vote.sync.any.pred %p1, !%p2, -1;", "vote.any P0, !P0, 0xffffffff"},
    {"shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;", "shfl.bfly R0, P0, R0, 1, 31, 0xffffffff"},
    {"membar.gl;", "fence.device"},
    {"add.f32.sat.rz %f1, %f2, 1.0;", "add.f32.rz.sat R0, 0, 0x3f800000"}, /* any order */
    {"exit;", "exit"},
};

static void instructions_map(void **state)
{
    (void)state;
    u32 bad = 0;
    for (size_t i = 0; i < ARRAY_LEN(single); i++) {
        struct program *p = body(single[i].ptx);
        char text[300];
        if (p->inst_count != 2)
            fail_msg("'%s' became %u instructions", single[i].ptx, p->inst_count - 1);
        inst_text(p, 0, text, sizeof text);
        if (single[i].text && strcmp(text, single[i].text))
            bad++, print_error("'%s'\n became '%s'\n not    '%s'\n", single[i].ptx, text,
                               single[i].text);
        program_destroy(p);
    }
    assert_int_equal(bad, 0);
}

/* ---- messages ---- */

static const struct {
    const char *ptx, *place, *message;
} wrong[] = {
    {"movv.u32 %r1, %r2;", "t.ptx:6:1", "unknown instruction 'movv'; did you mean 'mov'?"},
    {"add.s33 %r1, %r2, %r3;", "t.ptx:6:1",
     "'.s33' is not a modifier of 'add' here; expected one of .u16, .s16, .u32, .s32, .u64, .s64, "
     ".u16x2, "
     ".s16x2, .sat, .cc, .rn, .rz, .rm, .rp, .ftz, .f32, .f64, .f16, .f16x2, .bf16, .bf16x2, "
     ".f32x2"},
    {"mul %r1, %r2, %r3;", "t.ptx:6:1",
     "'mul' needs another modifier; expected one of .lo, .hi, .wide, .rn, .rz, .rm, .rp, .ftz, "
     ".sat, "
     ".f32, .f64, .f16, .f16x2, .bf16, .bf16x2, .f32x2"},
    {"sqrt.f32 %f1, %f2;", "t.ptx:6:1",
     "'.f32' is not a modifier of 'sqrt' here; expected one of .approx, .rn, .rz, .rm, .rp"},
    {"add.s32 %r1, %rd2, %r3;", "t.ptx:6:14", "'%rd2' is .b64, but the instruction expects .s32"},
    {"add.f32 %f1, %f2, %fd3;", "t.ptx:6:19", "'%fd3' is .f64, but the instruction expects .f32"},
    {"add.u32 %f1, %r2, %r3;", "t.ptx:6:9", "'%f1' is .f32, but the instruction expects .u32"},
    {"add.s32 %r1, %r2;", "t.ptx:6:1", "add takes 3 operands, not 2"},
    {"add.s32 %r1, %x, 1;", "t.ptx:6:14", "'%x' is not declared"},
    {"add.s32 %r1, %r9, 1;", "t.ptx:6:14", "'%r9' is not declared"},
    {"mov.u32 %r1, 0f3F800000;", "t.ptx:6:14", "a float literal cannot be used as .u32"},
    {"setp.lt.b32 %p1, %r1, %r2;", "t.ptx:6:1",
     "untyped .b32 can only be compared with .eq and .ne"},
    {"cvt.f32.s32 %f1, %r1;", "t.ptx:6:1",
     "a conversion from .s32 to .f32 needs .rn, .rz, .rm or .rp"},
    {"cvt.s32.f32 %r1, %f1;", "t.ptx:6:1",
     "a conversion from .f32 to .s32 needs .rni, .rzi, .rmi or .rpi"},
    {"@%r1 mov.u32 %r1, 1;", "t.ptx:6:1", "expected a predicate, not '%r1'"},
    {"bra nowhere;", "t.ptx:6:5", "'nowhere' is not a label"},
    {"ld.shared.u32 %r1, [s];", "t.ptx:6:20",
     "'s' is in .param memory, but the instruction accesses .shared"},
    {"st.const.u32 [%rd1], %r1;", "t.ptx:6:1", "constant memory cannot be written"},
    {"ld.global.v2.u32 {%r1, %r2, %r3}, [%rd1];", "t.ptx:6:18", "expected 2 elements, not 3"},
    {"ld.global.u32 %r1, [%f1];", "t.ptx:6:20", "'%f1' is .f32: an address has 32 or 64 bits"},
    {"atom.global.and.s32 %r1, [%rd1], 1;", "t.ptx:6:1",
     "atom does not exist for .s32; it does for b32 b64"},
    {"call nothing;", "t.ptx:6:6", "'nothing' is not a function"},
    {"lop3.b32 %r1, %r1, %r2, %r3, 256;", "t.ptx:6:30",
     "expected an integer literal from 0 to 255"},
    {"mov.u32 %r1, %r2; mov.u32 %r1, %q; add.u32 %r1, %s, 1;", "t.ptx:6:32",
     "'%q' is not declared\nt.ptx:6:49: '%s' is not declared"},
};

static void mistakes_are_explained(void **state)
{
    (void)state;
    struct ptx_params params = {.optimize = true, .max_registers = 255};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        char text[2048];
        snprintf(text, sizeof text, "%s%s\n%s\nret;\n}\n", ENTRY, REGISTERS, wrong[i].ptx);
        struct error error;
        struct program *p = try_compile(text, &params, &error);
        if (p)
            fail_msg("'%s' was accepted", wrong[i].ptx);
        assert_string_equal(error.message, wrong[i].message);
        assert_string_equal(error.place, wrong[i].place);
    }
}

/* ---- several modules in one text ---- */

static const struct variable *variable_named(const struct program *p, const char *name)
{
    for (u32 i = 0; i < p->variable_count; i++)
        if (!strcmp(p->variables[i].name, name))
            return &p->variables[i];
    fail_msg("no variable %s", name);
    return NULL;
}

static void parts_are_linked(void **state)
{
    struct program *p = compile_with(
        HEADER ".file 1 \"first.cu\"\n"
               ".extern .func f;\n"
               ".extern .global .u32 shared[4];\n"
               ".weak .global .u32 weak = 1;\n"
               ".global .u32 own = 1;\n"
               ".global .u64 at = own;\n"
               ".weak .func g { .reg .u32 %r; mov.u32 %r, 1; ret; }\n"
               ".func local { ret; }\n"
               ".visible .entry k { .reg .u32 %r; .loc 1 7 1\nld.global.u32 %r, [shared]; call f; "
               "call local; call g; ret; }\n" HEADER ".file 1 \"second.cu\"\n"
               ".visible .global .u32 shared[4] = {1, 2, 3, 4};\n"
               ".weak .global .u32 weak = 2;\n"
               ".global .u32 own = 2;\n"
               ".global .u64 at = own;\n"
               ".func local { ret; }\n"
               ".visible .func g { ret; }\n"
               ".visible .func f { .loc 1 8 1\ncall local; ret; }\n",
        false, 255);
    assert_int_equal(p->function_count, 5); /* f, g, k, local twice */
    assert_false(variable_named(p, "shared")->is_extern);
    assert_int_equal(variable_named(p, "shared")->image[4], 2);
    assert_int_equal(variable_named(p, "weak")->image[0], 1);
    assert_int_equal(variable_named(p, "own")->image[0], 1);
    assert_int_equal(variable_named(p, "own@1")->image[0], 2);
    const struct variable *at = variable_named(p, "at@1");
    assert_ptr_equal(&p->variables[at->relocations[0].target], variable_named(p, "own@1"));
    assert_true(function_named(p, "local") != function_named(p, "local@1"));
    assert_false(function_named(p, "g") == function_named(p, "f"));
    bool first = false, second = false; /* each part's files are its own */
    for (u32 i = 0; i < p->location_count; i++) {
        const char *file = p->locations[i].file;
        first |= file && !strcmp(file, "first.cu") && p->locations[i].line == 7;
        second |= file && !strcmp(file, "second.cu") && p->locations[i].line == 8;
    }
    assert_true(first && second);
    program_destroy(p);
}

static void parts_that_disagree(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {HEADER ".visible .func f { ret; }\n" HEADER ".visible .func f { ret; }\n",
         "'f' is defined twice"},
        {HEADER ".visible .global .u32 v = 1;\n" HEADER ".visible .global .u32 v = 2;\n",
         "'v' is declared twice"},
        {HEADER ".global .u32 v = 1;\n" HEADER ".global .u64 at = w;\n",
         "'w' is not a global variable or a function"},
        {HEADER ".global .u32 v;\n" HEADER ".global .u64 at = v;\n",
         "'v' is not a global variable or a function"},
        {HEADER ".version 7.8\n.target sm_80\n.address_size 32\n",
         "address size 32, expected 64 as in the module before"},
    };
    for (u32 i = 0; i < ARRAY_LEN(rows); i++) {
        struct ptx_params params = {.max_registers = 255};
        struct error error;
        struct program *p = try_compile(rows[i].text, &params, &error);
        assert_null(p);
        if (!strstr(error.message, rows[i].message))
            fail_msg("%s: %s", rows[i].message, error.message);
    }
}

static void unsupported_is_collected(void **state)
{
    (void)state;
    struct program *p =
        compile_with(HEADER ".extern .func sinf(.param .f32 x);\n"
                            ".entry k() { .reg .f32 %f<3>; .reg .b32 %r<9>;\n"
                            "{ .param .f32 x; st.param.f32 [x], %f1; call sinf, (x); }\n"
                            "cp.async.wait_all;\n"
                            "@%p1 vadd4.u32.u32.u32 %r1, %r2, %r3, %r4; .reg .pred %p<2>;\n"
                            "ret; }\n.entry other() { ret; }\n",
                     true, 255);
    const struct function *k = function_named(p, "k");
    assert_int_equal(k->unsupported_count, 3);
    assert_int_equal(function_named(p, "other")->unsupported_count, 0);
    assert_string_equal(p->unsupported[k->unsupported[0]].text,
                        "call sinf, (x) (calls sinf, which has no definition in this module)");
    assert_string_equal(p->unsupported[k->unsupported[1]].place, "t.ptx:7:1");
    assert_string_equal(p->unsupported[k->unsupported[1]].text,
                        "cp.async.wait_all (asynchronous copy)");
    assert_int_equal(count_op(p, OP_unsupported), 3);
    program_destroy(p);
}

/* A cluster of one block is a block; larger ones are refused at the launch. */
static void clusters(void **state)
{
    (void)state;
    struct program *p =
        compile_with(HEADER ".entry one() .explicitcluster .reqnctapercluster 1, 1, 1\n"
                            "{ .reg .pred %p<2>; .reg .b64 %rd<3>; mov.pred %p1, "
                            "%is_explicit_cluster; cvta.shared::cluster.u64 %rd1, %rd2; ret; }\n"
                            ".entry two() .reqnctapercluster 1, 2 { ret; }\n",
                     true, 255);
    const struct function *two = function_named(p, "two");
    assert_int_equal(function_named(p, "one")->unsupported_count, 0);
    assert_int_equal(two->unsupported_count, 1);
    assert_string_equal(p->unsupported[two->unsupported[0]].text,
                        ".reqnctapercluster (clusters of several blocks)");
    program_destroy(p);
}

/* Forms of newer machines are known, not mistakes; a selector of a video operand parses. */
static void newer_forms_are_unsupported(void **state)
{
    (void)state;
    static const char *const statements[] = {
        "cvt.rn.satfinite.e2m1x2.f32 %r1, %r2, %r3;",
        "cvt.rn.f16x2.e3m2x2 %r1, %r2;",
        "cvt.rz.satfinite.ue8m0x2.f32 %r1, %r2, %r3;",
        "cvt.rs.f16x2.f32 %r1, %r2, %r3, %r4;",
        "cvt.pack.sat.u4.s32.b32 %r1, %r2, %r3, %r4;",
        "fma.rn.oob.f16x2 %r1, %r2, %r3, %r4;",
        "red.global.max.noftz.v2.f16x2 [%rd1], {%r1, %r2};",
        "vadd.s32.u32.s32.sat %r1.b0, %r2.b1, %r3.h1, %r4;",
        "vset4.u32.s32.lt.add %r1, %r2.b7654, %r3.b3210, %r4;",
        "vabsdiff4.u32.u32.u32 %r1.b10, %r2, %r3, %r4;",
        "st.bulk.weak.shared::cta [%rd1], 64, 0;",
    };
    for (size_t i = 0; i < ARRAY_LEN(statements); i++) {
        char text[512];
        snprintf(text, sizeof text,
                 HEADER ".entry k() { .reg .b32 %%r<9>; .reg .b64 %%rd<4>;\n%s\nret; }\n",
                 statements[i]);
        struct program *p = compile_with(text, true, 255);
        if (function_named(p, "k")->unsupported_count != 1)
            fail_msg("'%s' is not unsupported", statements[i]);
        program_destroy(p);
    }
}

/* ---- calls ---- */

static const char recursion[] =
    HEADER ".func (.param .b32 out) fib(.param .b32 n)\n"
           "{ .reg .b32 %r<8>; .reg .pred %p<2>;\n"
           "  ld.param.b32 %r1, [n];\n"
           "  setp.lt.s32 %p1, %r1, 2;\n"
           "  mov.b32 %r5, %r1;\n"
           "  @%p1 bra DONE;\n"
           "  add.s32 %r2, %r1, -1;\n"
           "  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), fib, (a); "
           "ld.param.b32 %r3, [b]; }\n"
           "  add.s32 %r2, %r1, -2;\n"
           "  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), fib, (a); "
           "ld.param.b32 %r4, [b]; }\n"
           "  add.s32 %r5, %r3, %r4;\n"
           "DONE: st.param.b32 [out], %r5; ret; }\n"
           ".entry k(.param .u64 p) { .reg .b32 %r<3>; .reg .b64 %rd<2>;\n"
           "  ld.param.u64 %rd1, [p];\n"
           "  { .param .b32 a; .param .b32 b; st.param.b32 [a], 9; call.uni (b), fib, (a); "
           "ld.param.b32 %r2, [b]; }\n"
           "  st.global.b32 [%rd1], %r2; ret; }\n";

static void recursive_calls(void **state)
{
    (void)state;
    struct program *p = compile_with(recursion, false, 255);
    const struct function *fib = function_named(p, "fib"), *k = function_named(p, "k");
    assert_true(k->recursive);
    assert_int_equal(k->reachable_count, 2);
    assert_int_equal(count_op(p, OP_call), 3);
    /* out at 0, n at 4, two saved values; the first call saves n, the second the first result. */
    assert_int_equal(fib->frame_bytes, 16);
    assert_int_equal(k->total_frame_bytes, k->frame_bytes + fib->frame_bytes);
    /* Everything around a call: argument to the callee's frame, stack pointer up and down. */
    u32 call = 0;
    for (u32 i = k->first; i < k->end; i++)
        if (p->insts[i].op == OP_call)
            call = i;
    assert_int_equal(p->insts[call].imm, fib->first);
    assert_int_equal(p->insts[call - 1].op, OP_add_b32);
    assert_int_equal(p->insts[call - 1].dst[0].index, 0);
    assert_int_equal(p->constants[p->insts[call - 1].src[1].index], k->frame_bytes);
    assert_int_equal(p->insts[call + 1].op, OP_sub_b32);
    assert_int_equal(p->insts[call + 1].dst[0].index, 0);
    program_destroy(p);
}

/* A callee's variable is aligned as declared, whatever the caller. */
static void frames_are_aligned(void **state)
{
    (void)state;
    for (u32 align = 4; align <= 128; align *= 2) {
        char text[1024];
        snprintf(text, sizeof text,
                 HEADER ".func f() { .local .align %u .b8 v[128]; .reg .b64 %%rd<2>;\n"
                        "  mov.b64 %%rd1, v; st.local.u32 [%%rd1], 1; ret; }\n"
                        ".entry k() { .local .align 4 .b8 own[4]; .reg .b64 %%rd<2>;\n"
                        "  mov.b64 %%rd1, own; st.local.u32 [%%rd1], 1; call.uni f, (); ret; }\n",
                 align);
        struct program *p = compile_with(text, false, 255);
        u32 want = align > 16 ? align : 16;
        assert_int_equal(function_named(p, "k")->frame_bytes % want, 0);
        assert_true(function_named(p, "k")->frame_bytes <= 2 * want);
        program_destroy(p);
    }
}

static void indirect_calls(void **state)
{
    (void)state;
    struct program *p = compile_with(
        HEADER ".func (.reg .f32 %out) one(.reg .f32 %in) { add.f32 %out, %in, 1.0; ret; }\n"
               ".func (.reg .f32 %out) two(.reg .f32 %in) { add.f32 %out, %in, 2.0; ret; }\n"
               ".global .u64 table[2] = {one, two};\n"
               ".entry k(.param .u64 p) { .reg .b64 %rd<4>; .reg .f32 %f<3>; .reg .pred %q;\n"
               "proto: .callprototype (.reg .f32 _) _ (.reg .f32 _);\n"
               "ld.param.u64 %rd1, [p]; ld.global.f32 %f1, [%rd1];\n"
               "ld.global.u64 %rd2, [table+8];\n"
               "setp.gt.f32 %q, %f1, 0f00000000;\n"
               "@%q call (%f2), %rd2, (%f1), proto;\n"
               "st.global.f32 [%rd1], %f2; ret; }\n",
        false, 255);
    const struct function *k = function_named(p, "k");
    assert_true(k->recursive); /* depth unknown */
    assert_true(k->calls_indirectly);
    assert_int_equal(k->reachable_count, 3);
    assert_true(function_named(p, "two")->address_taken);
    assert_int_equal(p->variables[0].relocation_count, 2);
    assert_int_equal(p->variables[0].relocations[1].kind, RELOC_FUNCTION);
    assert_int_equal(count_op(p, OP_calli), 1);
    assert_int_equal(count_op(p, OP_bra), 1); /* around the guarded call */
    program_destroy(p);
}

static void system_calls(void **state)
{
    (void)state;
    struct program *p = compile_with(
        HEADER ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
               ".global .b8 text[3] = {104, 105, 0};\n"
               ".entry k() { .reg .b64 %rd<4>; .reg .b32 %r<2>;\n"
               "mov.u64 %rd1, text;\n"
               "{ .param .b64 x; .param .b64 y; .param .b32 z; st.param.b64 [x], %rd1; "
               "st.param.b64 [y], 0; call.uni (z), vprintf, (x, y); ld.param.b32 %r1, [z]; }\n"
               "ret; }\n",
        false, 255);
    assert_int_equal(p->function_count, 2);
    const struct function *k = function_named(p, "k");
    assert_int_equal(k->end - k->first, 6);
    const struct inst *stores = &p->insts[k->first + 1];
    assert_int_equal(stores[0].imm, 8);
    assert_int_equal(stores[1].imm, 16);
    assert_int_equal(stores[2].op, OP_syscall);
    assert_int_equal(stores[2].imm, 0);
    assert_int_equal(stores[3].imm, 0);
    assert_int_equal(k->frame_bytes, 64);
    assert_false(k->recursive);
    assert_int_equal(k->unsupported_count, 0);
    program_destroy(p);
}

static void jump_tables(void **state)
{
    (void)state;
    struct program *p = body("ts: .branchtargets A, B, A;\n"
                             "brx.idx %r1, ts;\n"
                             "A: mov.u32 %r2, 1; bra C;\n"
                             "B: mov.u32 %r2, 2;\n"
                             "C: st.global.u32 [%rd1], %r2;");
    assert_int_equal(p->table_count, 1);
    assert_int_equal(p->tables[0].count, 3);
    assert_int_equal(p->tables[0].targets[0], 1);
    assert_int_equal(p->tables[0].targets[1], 3);
    assert_int_equal(p->tables[0].targets[2], 1);
    assert_int_equal(p->blocks[0].reconverge, 4);
    program_destroy(p);
}

/* ---- memory layout ---- */

static void shared_memory_layout(void **state)
{
    (void)state;
    struct program *p = compile_with(
        HEADER ".shared .align 4 .b8 both[20];\n.extern .shared .align 16 .b8 dyn[];\n"
               ".func f() { .reg .b32 %r<2>; ld.shared.u32 %r1, [both]; ld.shared.u32 %r1, [dyn]; "
               "ret; }\n"
               ".entry k1() { .shared .b8 own[100]; .reg .b32 %r<2>; ld.shared.u32 %r1, [own]; "
               "call f; ret; }\n"
               ".entry k2() { .shared .b8 mine[8]; .reg .b32 %r<2>; ld.shared.u32 %r1, [mine]; "
               "call f; ret; }\n"
               ".entry k3() { .shared .b8 a[8]; .reg .b32 %r<2>; ld.shared.u32 %r1, [a+4]; "
               "ld.shared.u32 %r1, [dyn+4]; ret; }\n"
               ".entry k4() { ret; }\n",
        false, 255);
    /* `both` is common to k1 and k2 and comes first; their own follow; dyn starts after the larger.
     */
    assert_int_equal(function_named(p, "k1")->total_shared_bytes, 128);
    assert_int_equal(function_named(p, "k2")->total_shared_bytes, 128);
    /* k3 reaches nothing common: its own start at 0, and its dynamic array at 16. */
    const struct function *k3 = function_named(p, "k3");
    assert_int_equal(p->insts[k3->first].imm, 4);
    assert_int_equal(p->insts[k3->first + 1].imm, 16 + 4);
    assert_int_equal(k3->total_shared_bytes, 16);
    assert_int_equal(function_named(p, "k4")->total_shared_bytes, 0);
    assert_int_equal(p->insts[function_named(p, "k1")->first].imm, 20);
    assert_int_equal(p->insts[function_named(p, "f")->first + 1].imm, 128);
    program_destroy(p);
}

static void kernel_parameters(void **state)
{
    (void)state;
    struct program *p =
        compile_with(HEADER ".entry k(.param .u8 a, .param .u64 b, .param .align 4 .b8 c[12], "
                            ".param .f64 d, .param .v4 .f32 e) { ret; }\n",
                     true, 255);
    const struct function *k = function_named(p, "k");
    const u32 offsets[] = {0, 8, 16, 32, 48};
    for (u32 i = 0; i < 5; i++)
        assert_int_equal(k->params[i].offset, offsets[i]);
    assert_int_equal(k->param_bytes, 64);
    assert_true(k->params[2].is_array);
    assert_int_equal(k->params[2].size, 12);
    program_destroy(p);
}

static void images(void **state)
{
    (void)state;
    struct program *p = compile_with(
        HEADER ".global .align 8 .f64 d[2][2] = {{1.5}, {0d4000000000000000, 3}};\n"
               ".const .b32 n[] = {1, -2, 0x30};\n"
               ".global .u64 ptr = generic(d)+8;\n.global .b8 zero[100000000] = {0};\n"
               ".global .align 8 .b8 packed[9] = {7, 0xFF(d), 0xFF00(d), 0xFF0000(d), "
               "0xFF000000(d), 0xFF00000000(d), 0xFF0000000000(d), 0xFF000000000000(d), "
               "0xFF00000000000000(d)};\n",
        true, 255);
    const f64 *d = (const f64 *)p->variables[0].image;
    assert_true(d[0] == 1.5 && d[1] == 0 && d[2] == 2 && d[3] == 3);
    const i32 *n = (const i32 *)p->variables[1].image;
    assert_int_equal(p->variables[1].size, 12);
    assert_true(n[0] == 1 && n[1] == -2 && n[2] == 0x30);
    assert_int_equal(p->variables[2].relocations[0].addend, 8);
    assert_int_equal(p->variables[2].relocations[0].bytes, 8);
    assert_null(p->variables[3].image);
    assert_int_equal(p->variables[4].relocation_count, 1);
    assert_int_equal(p->variables[4].relocations[0].offset, 1);
    assert_int_equal(p->variables[4].relocations[0].bytes, 8);
    program_destroy(p);
}

/* ---- optimisation and allocation ---- */

static const char vecadd[] = HEADER
    ".entry vecadd(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {\n" REGISTERS
    "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c];\n"
    "ld.param.u32 %r1, [n]; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "mad.lo.s32 %r5, %r2, %r3, %r4; setp.ge.s32 %p1, %r5, %r1; @%p1 bra END;\n"
    "cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd4, %rd2; mul.wide.s32 %rd5, %r5, 4;\n"
    "add.s64 %rd6, %rd4, %rd5; add.s64 %rd7, %rd6, 64; ld.global.f32 %f1, [%rd7+-60];\n"
    "mov.u32 %r6, 5; add.u32 %r7, %r6, 1;\n"
    "st.global.f32 [%rd1], %f1;\nEND: ret; }\n";

static void one_to_one_when_asked(void **state)
{
    (void)state;
    struct program *p = compile_with(vecadd, false, 255);
    assert_int_equal(p->inst_count, 20);
    assert_int_equal(count_op(p, OP_mov_b64), 2);
    program_destroy(p);
}

static void simplification(void **state)
{
    (void)state;
    struct program *p = compile_with(vecadd, true, 255);
    /* Gone: both cvta (the first shares its register), the added 64, two dead lines, ld of c. */
    assert_int_equal(count_op(p, OP_mov_b64), 0);
    assert_int_equal(count_op(p, OP_mov_b32), 0);
    assert_int_equal(count_op(p, OP_add_b32), 0);
    assert_int_equal(count_op(p, OP_add_b64), 1);
    assert_int_equal(p->inst_count, 14);
    for (u32 i = 0; i < p->inst_count; i++)
        if (p->insts[i].op == OP_ld && p->insts[i].space == SPACE_GLOBAL)
            assert_int_equal(p->insts[i].imm, 4);
    program_destroy(p);
}

/* What must not be simplified: guards, several definitions, reads before writes, 32-bit sums. */
static void simplification_is_careful(void **state)
{
    (void)state;
    struct program *p = compile_with(
        HEADER ".entry k(.param .u64 a) {\n" REGISTERS
               "ld.param.u64 %rd1, [a]; ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0;\n"
               "mov.u32 %r2, 7; @%p1 mov.u32 %r2, %r1; st.global.u32 [%rd1], %r2;\n"
               "LOOP: st.global.u32 [%rd1+4], %r3; add.u32 %r4, %r1, 1; mov.u32 %r3, %r4;\n"
               "add.u32 %r5, %r1, 16; ld.shared.u32 %r6, [%r5]; st.global.u32 [%rd1+8], %r6;\n"
               "ld.global.u32 %r7, [%rd1+12]; @!%p1 bra LOOP; ret; }\n",
        true, 255);
    assert_true(count_op(p, OP_mov_b32) >= 2); /* %r2; %r3 may share %r4's register */
    assert_int_equal(count_op(p, OP_add_b32), 2);
    assert_int_equal(count_op(p, OP_ld), 4);
    for (u32 i = 0; i < p->inst_count; i++)
        if (p->insts[i].op == OP_ld && p->insts[i].space == SPACE_SHARED)
            assert_int_equal(p->insts[i].imm, 0);
    program_destroy(p);
}

static void spills_below_the_limit(void **state)
{
    (void)state;
    char text[8192];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   HEADER ".entry k(.param .u64 a) { .reg .b64 %%d<2>; .reg .b32 "
                                          "%%r<50>; ld.param.u64 %%d1, [a];\n");
    for (u32 i = 0; i < 40; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "ld.global.u32 %%r%u, [%%d1+%u];\n", i, 4 * i);
    for (u32 i = 0; i < 40; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "st.global.u32 [%%d1+%u], %%r%u;\n", 4 * i, 39 - i);
    snprintf(text + used, sizeof text - used, "ret; }\n");
    struct program *p = compile_with(text, true, 255);
    assert_int_equal(p->functions[0].max_live, 42);
    assert_int_equal(p->functions[0].registers, 42);
    assert_int_equal(p->functions[0].spill_bytes, 0);
    program_destroy(p);
    p = compile_with(text, true, 16);
    assert_true(p->functions[0].registers <= 16);
    assert_true(p->functions[0].spill_bytes >= 26 * 4);
    assert_true(p->functions[0].frame_bytes >= p->functions[0].spill_bytes);
    assert_int_equal(p->warning_count, 0);
    program_destroy(p);
}

static void listing_shows_blocks(void **state)
{
    (void)state;
    struct program *p = compile_with(recursion, false, 255);
    struct listing_options options = {.kernel = "k", .live = true, .source = true};
    char *text = program_listing(p, &options);
    assert_non_null(strstr(text, "function fib: "));
    assert_non_null(strstr(text, "kernel k: "));
    assert_non_null(strstr(text, "block 0 -> "));
    assert_non_null(strstr(text, "; reconverges at 0x"));
    assert_non_null(strstr(text, " live: R0"));
    assert_non_null(strstr(text, "t.ptx:7"));
    assert_non_null(strstr(text, "<fib>"));
    free(text);
    program_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_map),
        cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(parts_are_linked),
        cmocka_unit_test(parts_that_disagree),
        cmocka_unit_test(unsupported_is_collected),
        cmocka_unit_test(clusters),
        cmocka_unit_test(newer_forms_are_unsupported),
        cmocka_unit_test(recursive_calls),
        cmocka_unit_test(frames_are_aligned),
        cmocka_unit_test(indirect_calls),
        cmocka_unit_test(system_calls),
        cmocka_unit_test(jump_tables),
        cmocka_unit_test(shared_memory_layout),
        cmocka_unit_test(kernel_parameters),
        cmocka_unit_test(images),
        cmocka_unit_test(one_to_one_when_asked),
        cmocka_unit_test(simplification),
        cmocka_unit_test(simplification_is_careful),
        cmocka_unit_test(spills_below_the_limit),
        cmocka_unit_test(listing_shows_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
