/*
 * Register allocation against an independent check.
 *
 * Random kernels are generated together with a description of what each line reads and writes.
 * Threads then walk the compiled code along random paths, carrying a tag for every value: a read
 * must find, in its physical registers, the tag of the virtual register the line names. No
 * liveness, webs or interference of the compiler's are used. Spill code and copies move tags.
 */
#include "analysis/lifetimes.h"
#include "isa/ptx/ptx.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    SINGLES = 24,
    PAIRS = 12,
    PREDICATES = 5,
    LINES_MAX = 600,
    TEXT_MAX = 1 << 16
};

struct value { /* a register as the text names it */
    char kind; /* 'r' one word, 'd' two, 'p' predicate */
    u32 index;
};

struct line {
    struct value dst[4], src[6]; /* sources in the order of the op's operands */
    u32 dst_count, src_count;
    int guard; /* predicate or -1 */
    bool is_move, is_branch;
};

struct generator {
    u64 seed;
    char text[TEXT_MAX];
    size_t used;
    u32 line; /* in the text, from 1 */
    struct line lines[LINES_MAX];
};

static u32 pick(struct generator *g, u32 below)
{
    g->seed = g->seed * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)(g->seed >> 33) % below;
}

static struct line *write_line(struct generator *g, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static struct line *write_line(struct generator *g, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g->used += (size_t)vsnprintf(g->text + g->used, TEXT_MAX - g->used, format, args);
    va_end(args);
    assert_true(g->used < TEXT_MAX - 200);
    g->text[g->used++] = '\n';
    g->text[g->used] = 0;
    struct line *line = &g->lines[++g->line];
    line->guard = -1;
    return line;
}

static void reads(struct line *line, char kind, u32 index)
{
    line->src[line->src_count++] = (struct value){kind, index};
}

static void writes(struct line *line, char kind, u32 index)
{
    line->dst[line->dst_count++] = (struct value){kind, index};
}

static void vector_line(struct generator *g, const char *guard, int predicate)
{
    u32 r[4], n = pick(g, 2) ? 4 : 2, first = pick(g, SINGLES), step = 1 + pick(g, 5);
    for (u32 i = 0; i < 4; i++)
        r[i] = (first + i * step) % SINGLES;
    bool load = pick(g, 2);
    struct line *line;
    if (n == 4 && load)
        line = write_line(g, "%sld.global.v4.b32 {%%r%u, %%r%u, %%r%u, %%r%u}, [%%base];", guard,
                          r[0], r[1], r[2], r[3]);
    else if (n == 4)
        line = write_line(g, "%sst.global.v4.b32 [%%base], {%%r%u, %%r%u, %%r%u, %%r%u};", guard,
                          r[0], r[1], r[2], r[3]);
    else if (load)
        line = write_line(g, "%sld.global.v2.b32 {%%r%u, %%r%u}, [%%base];", guard, r[0], r[1]);
    else
        line = write_line(g, "%sst.global.v2.b32 [%%base], {%%r%u, %%r%u};", guard, r[0], r[1]);
    line->guard = predicate;
    reads(line, 'd', PAIRS); /* %base */
    for (u32 i = 0; i < n; i++)
        load ? writes(line, 'r', r[i]) : reads(line, 'r', r[i]);
}

static void plain_line(struct generator *g)
{
    char guard[16] = "";
    int predicate = pick(g, 5) ? -1 : (int)pick(g, PREDICATES);
    if (predicate >= 0)
        snprintf(guard, sizeof guard, "@%%p%d ", predicate);
    u32 a = pick(g, SINGLES), b = pick(g, SINGLES), c = pick(g, SINGLES);
    u32 x = pick(g, PAIRS), y = pick(g, PAIRS), z = pick(g, PAIRS), p = pick(g, PREDICATES);
    struct line *line;
    switch (pick(g, 8)) {
    case 0:
    case 1:
        line = write_line(g, "%sadd.s32 %%r%u, %%r%u, %%r%u;", guard, a, b, c);
        writes(line, 'r', a);
        reads(line, 'r', b);
        reads(line, 'r', c);
        break;
    case 2:
        line = write_line(g, "%sadd.s64 %%d%u, %%d%u, %%d%u;", guard, x, y, z);
        writes(line, 'd', x);
        reads(line, 'd', y);
        reads(line, 'd', z);
        break;
    case 3:
        line = write_line(g, "%smul.wide.s32 %%d%u, %%r%u, %%r%u;", guard, x, b, c);
        writes(line, 'd', x);
        reads(line, 'r', b);
        reads(line, 'r', c);
        break;
    case 4:
        line = write_line(g, "%smov.b32 %%r%u, %%r%u;", guard, a, b);
        line->is_move = true;
        writes(line, 'r', a);
        reads(line, 'r', b);
        break;
    case 5:
        line = write_line(g, "%ssetp.lt.s32 %%p%u, %%r%u, %%r%u;", guard, p, b, c);
        writes(line, 'p', p);
        reads(line, 'r', b);
        reads(line, 'r', c);
        break;
    case 6:
        line = write_line(g, "%sselp.b32 %%r%u, %%r%u, %%r%u, %%p%u;", guard, a, b, c, p);
        writes(line, 'r', a);
        reads(line, 'r', b);
        reads(line, 'r', c);
        reads(line, 'p', p);
        break;
    default:
        vector_line(g, guard, predicate);
        return;
    }
    line->guard = predicate;
}

static void generate(struct generator *g, u64 seed, u32 blocks)
{
    *g = (struct generator){.seed = seed};
    write_line(g, ".version 7.0");
    write_line(g, ".target sm_75");
    write_line(g, ".address_size 64");
    write_line(g, ".entry k(.param .u64 a) {");
    write_line(g, ".reg .b32 %%r<%u>; .reg .b64 %%d<%u>; .reg .pred %%p<%u>; .reg .b64 %%base;",
               SINGLES, PAIRS, PREDICATES);
    writes(write_line(g, "ld.param.u64 %%base, [a];"), 'd', PAIRS);
    for (u32 b = 0; b < blocks; b++) {
        write_line(g, "L%u:", b);
        for (u32 i = 0, n = 1 + pick(g, 12); i < n; i++)
            plain_line(g);
        u32 p = pick(g, PREDICATES);
        struct line *line = write_line(g, "@%%p%u bra L%u;", p, pick(g, blocks));
        line->guard = (int)p;
        line->is_branch = true;
    }
    write_line(g, "ret;");
    write_line(g, "}");
}

/* ---- the walk ---- */

#define SLOTS 4096

struct thread {
    u32 tags; /* given out so far */
    u32 single[SINGLES], pair[PAIRS + 1][2], predicate[PREDICATES];
    u32 word[2048], mask[256], memory[SLOTS];
};

static u32 *named(struct thread *t, struct value v)
{
    return v.kind == 'r'   ? &t->single[v.index]
           : v.kind == 'd' ? t->pair[v.index]
                           : &t->predicate[v.index];
}

/* The k-th word or mask of all sources (or destinations) of an instruction, NULL for a constant. */
static u32 flatten(struct thread *t, const struct operand *operands, u32 count, u32 **places)
{
    u32 n = 0;
    for (u32 i = 0; i < count; i++) {
        struct operand o = operands[i];
        if (o.kind == OPERAND_MASK)
            places[n++] = &t->mask[o.index];
        else if (o.kind == OPERAND_VECTOR || o.kind == OPERAND_CONST)
            for (u32 w = 0; w < o.count; w++)
                places[n++] = o.kind == OPERAND_CONST ? NULL : &t->word[o.index + w];
    }
    return n;
}

static void check_reads(struct thread *t, const struct inst *inst, const struct line *line)
{
    u32 *places[64], n = flatten(t, inst->src, ARRAY_LEN(inst->src), places), at = 0;
    for (u32 i = 0; i < line->src_count; i++) {
        u32 *virtual = named(t, line->src[i]);
        for (u32 w = 0; w < (line->src[i].kind == 'd' ? 2u : 1u); w++, at++) {
            assert_true(at < n);
            assert_int_equal(places[at] ? *places[at] : 0, virtual[w]);
        }
    }
    assert_int_equal(at, n);
}

static void define(struct thread *t, const struct inst *inst, const struct line *line)
{
    u32 *places[64], n = flatten(t, inst->dst, ARRAY_LEN(inst->dst), places), at = 0;
    for (u32 i = 0; i < line->dst_count; i++) {
        u32 *virtual = named(t, line->dst[i]);
        for (u32 w = 0; w < (line->dst[i].kind == 'd' ? 2u : 1u); w++)
            *places[at++] = virtual[w] = ++t->tags;
    }
    if (line->is_move) /* the same value: both sides may share a register */
        *places[0] = *named(t, line->dst[0]) = *named(t, line->src[0]);
    assert_int_equal(at, n);
}

/* Spill code and inserted copies. Returns whether the instruction was one. */
static bool moves_tags(struct thread *t, const struct inst *inst, const struct line *line,
                       bool active)
{
    u32 *from[64], *to[64];
    bool memory = (inst->op == OP_ld || inst->op == OP_st) && inst->space == SPACE_LOCAL;
    bool copy = (inst->op == OP_mov_b32 || inst->op == OP_mov_b64) && !line->is_move;
    if (!memory && !copy)
        return false;
    u32 n = flatten(t, inst->op == OP_st ? &inst->src[1] : inst->dst, 1, to);
    if (copy)
        flatten(t, inst->src, 1, from);
    for (u32 w = 0; active && w < n; w++) {
        u32 *slot = &t->memory[inst->imm / 4 + w];
        if (inst->op == OP_st)
            *slot = to[w] ? *to[w] : 0;
        else if (memory)
            *to[w] = *slot;
        else
            *to[w] = *from[w];
    }
    return true;
}

static void walk(const struct program *p, struct generator *g, struct thread *t)
{
    const struct function *f = &p->functions[0];
    u32 at = f->first;
    for (u32 step = 0; step < 3000; step++) {
        const struct inst *inst = &p->insts[at];
        const struct line *line = &g->lines[p->locations[inst->location].text_line];
        if (inst->op == OP_ret)
            return;
        /* Whether the guard holds is chosen freely, but alike for all code of one line. */
        bool active = true;
        if (inst->guard.kind != OPERAND_NONE) {
            assert_true(line->guard >= 0);
            assert_int_equal(t->mask[inst->guard.index], t->predicate[line->guard]);
            active = (t->predicate[line->guard] * 2654435761u + g->seed) >> 7 & 1;
        }
        at++;
        if (moves_tags(t, inst, line, active))
            continue;
        if (line->is_branch) {
            at = pick(g, 2) ? (u32)inst->imm : at;
            continue;
        }
        check_reads(t, inst, line);
        if (active)
            define(t, inst, line);
    }
}

static struct program *compile_kinds(const char *text, u32 limit, bool optimize, u32 life_limit)
{
    struct ptx_params params = {
        .optimize = optimize, .max_registers = limit, .life_limit = life_limit};
    struct error error = {0};
    struct program *p = ptx_compile(text, strlen(text), "random.ptx", &params,
                                    &(struct ptx_target){.address_bits = 64}, &error);
    if (!p)
        fail_msg("%s: %s\n%s", error.place, error.message, text);
    char message[300];
    if (!program_verify(p, message, sizeof message))
        fail_msg("%s\n%s", message, text);
    return p;
}

static struct program *compile(const char *text, u32 limit, bool optimize)
{
    return compile_kinds(text, limit, optimize, 0);
}

static void check_random(u32 limit, u32 programs, u32 blocks, u32 life_limit)
{
    struct generator *g = malloc(sizeof *g);
    struct thread *t = malloc(sizeof *t);
    u32 spilled = 0;
    for (u32 seed = 1; seed <= programs; seed++) {
        generate(g, seed * 7919, 1 + seed % blocks);
        struct program *p = compile_kinds(g->text, limit, false, life_limit);
        const struct function *f = &p->functions[0];
        assert_true(f->registers <= limit);
        assert_true(f->frame_bytes <= SLOTS * 4);
        spilled += f->spill_bytes > 0;
        for (u32 path = 0; path < 12; path++) {
            memset(t, 0, sizeof *t);
            walk(p, g, t);
        }
        program_destroy(p);
    }
    if (limit == 16)
        assert_true(spilled > programs / 4);
    free(g);
    free(t);
}

static void values_keep_apart(void **state)
{
    (void)state;
    check_random(255, 150, 14, 0);
}

static void values_keep_apart_when_spilled(void **state)
{
    (void)state;
    check_random(16, 150, 14, 0);
}

/* With separate registers for short-lived and long-lived values. */
static void kinds_keep_apart(void **state)
{
    (void)state;
    check_random(255, 150, 14, 3);
    check_random(255, 50, 14, 10);
    check_random(16, 100, 14, 5);
}

/* Two long-lived values (an address, which is a pair, and %a) and a chain of short-lived ones, of which
 * two are live at a time. */
static void kinds_are_counted(void **state)
{
    (void)state;
    static const char text[] =
        ".version 7.0\n.target sm_75\n.address_size 64\n.entry k(.param .u64 p) {\n"
        ".reg .b32 %a, %s<9>; .reg .b64 %d;\n"
        "ld.param.u64 %d, [p];\nmov.u32 %a, 7;\n"
        "mov.u32 %s1, %tid.x;\nadd.u32 %s2, %s1, 1;\nmul.lo.u32 %s3, %s1, %s2;\n"
        "add.u32 %s4, %s2, %s3;\nmul.lo.u32 %s5, %s3, %s4;\nadd.u32 %s6, %s4, %s5;\n"
        "add.u32 %s7, %s6, %a;\nst.global.u32 [%d], %s7;\nret;\n}\n";
    static const struct {
        u32 life_limit, registers, short_registers, mixed;
    } cases[] = {
        {0, 5, 0, 0}, /* without kinds: what is mixed depends on the allocation */
        {3, 5, 2, 0},
        {100, 5, 5, 0}, /* all are short-lived */
    };
    for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
        struct program *p = compile_kinds(text, 255, false, cases[i].life_limit);
        struct arena *arena = arena_create();
        const struct code code = code_of(p, &p->functions[0]);
        const struct life_counts n = lifetimes_count(lifetimes_of(arena, p, &p->functions[0]),
                                                     &code, i ? cases[i].life_limit : 3);
        assert_int_equal(n.registers, cases[i].registers);
        if (i) {
            assert_int_equal(n.short_registers, cases[i].short_registers);
            assert_int_equal(n.mixed, cases[i].mixed);
        }
        arena_destroy(arena);
        program_destroy(p);
    }
}

/* The same programs must also pass the checks when simplified. */
static void simplified_code_is_valid(void **state)
{
    (void)state;
    struct generator *g = malloc(sizeof *g);
    for (u32 seed = 1; seed <= 100; seed++) {
        generate(g, seed * 104729, 1 + seed % 9);
        struct program *p = compile(g->text, seed % 2 ? 255 : 16, true);
        program_destroy(p);
    }
    free(g);
}

/* A long function must not take long: about a second is the aim, generously bounded here. */
static void long_functions_compile(void **state)
{
    (void)state;
    size_t size = 1 << 21, used = 0;
    char *text = malloc(size);
    used +=
        (size_t)snprintf(text, size,
                         ".version 7.0\n.target sm_75\n.address_size 64\n.entry k(.param .u64 a) "
                         "{\n.reg .b32 %%r<20001>; .reg .b64 %%d; .reg .pred %%p;\n"
                         "ld.param.u64 %%d, [a];\nld.global.b32 %%r0, [%%d];\n"
                         "setp.eq.b32 %%p, %%r0, 0;\n");
    for (u32 i = 1; i <= 20000; i++) {
        u32 far = i > 60 ? i - 60 : 0;
        used += (size_t)snprintf(text + used, size - used, "add.s32 %%r%u, %%r%u, %%r%u;\n", i,
                                 i - 1, far);
        if (i % 50 == 0)
            used += (size_t)snprintf(text + used, size - used, "@%%p bra L%u;\nL%u:\n", i, i);
    }
    snprintf(text + used, size - used, "st.global.b32 [%%d], %%r20000;\nret;\n}\n");
    struct program *p = compile(text, 255, true);
    const struct function *f = &p->functions[0];
    assert_true(f->end - f->first >= 20400);
    assert_true(f->registers <= f->max_live + 1);
    program_destroy(p);
    free(text);
}

/* Registers of a kernel with 100 live values and these directives, on a core of 16,384 registers
 * whose warps get multiples of 512 of them (gtx285). */
static u32 registers_with(const char *directives)
{
    static char text[16384];
    size_t at =
        (size_t)snprintf(text, sizeof text,
                         ".version 7.8\n.target sm_80\n.address_size 64\n"
                         ".entry k(.param .u64 a) %s {\n.reg .b32 %%r<101>; .reg .b64 %%a;\n"
                         "ld.param.u64 %%a, [a];\n",
                         directives);
    for (u32 i = 0; i < 100; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "ld.global.u32 %%r%u, [%%a+%u];\n", i,
                               4 * i);
    for (u32 i = 0; i < 100; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "st.global.u32 [%%a+%u], %%r%u;\n",
                               4 * (99 - i), i);
    snprintf(text + at, sizeof text - at, "ret;\n}\n");
    const struct ptx_params params = {.max_registers = 255};
    const struct ptx_target target = {64, 16384, 512, 32};
    struct error error = {0};
    struct program *p = ptx_compile(text, strlen(text), "k.ptx", &params, &target, &error);
    assert_non_null(p);
    const u32 registers = p->functions[0].registers;
    program_destroy(p);
    return registers;
}

/* A block of the stated size must fit a core. */
static void blocks_of_stated_size_fit(void **state)
{
    (void)state;
    const u32 all = registers_with("");
    assert_true(all > 100);
    assert_int_equal(registers_with(".reqntid 64"), all);
    assert_int_equal(registers_with(".reqntid 128"), all); /* 4 warps: up to 128 */
    assert_int_equal(registers_with(".reqntid 256"), 64);
    assert_int_equal(registers_with(".reqntid 16, 16"), 64);
    assert_int_equal(registers_with(".reqntid 257"), 48); /* 9 warps: 1,820, three units */
    assert_int_equal(registers_with(".maxntid 256"), 64);
    assert_int_equal(registers_with(".maxntid 128 .minnctapersm 4"), 32);
    assert_int_equal(registers_with(".reqntid 128 .maxnreg 40"), 40);
    assert_int_equal(registers_with(".reqntid 1024"), 16);
    /* too large for any core: fewest registers */
    assert_int_equal(registers_with(".maxntid 65536, 65536, 65536 .minnctapersm 4000000000"), 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_keep_apart),
        cmocka_unit_test(values_keep_apart_when_spilled),
        cmocka_unit_test(kinds_keep_apart),
        cmocka_unit_test(kinds_are_counted),
        cmocka_unit_test(simplified_code_is_valid),
        cmocka_unit_test(long_functions_compile),
        cmocka_unit_test(blocks_of_stated_size_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
