/* A program as PTX. What each register holds at the start is interpret.c's business too. */
#include <string.h>

#include "../semantics/harness.h"
#include "program.h"

struct printer {
    struct text *t;
    const struct program *program;
    u32 labels;                /* next */
    u32 counters;              /* next loop counter of this function */
    u32 inner_end, inner_next; /* labels of the loop around */
};

static void line(struct printer *p, const char *text)
{
    text_add(p->t, "    %s\n", text);
}

static char register_letter(char kind)
{
    switch (kind) {
    case 'D':
        return 'd';
    case 'H':
        return 'h';
    case 'P':
        return 'p';
    default:
        return 'r';
    }
}

static void operand(struct printer *p, char kind, struct operand o)
{
    if (!o.is_constant)
        text_add(p->t, "%%%c%u", register_letter(kind), o.reg);
    else if (kind == 'F')
        text_add(p->t, "0f%08X", (u32)o.value);
    else
        text_add(p->t, "0x%llx", (unsigned long long)o.value);
}

static void guard(struct printer *p, const struct statement *s)
{
    text_add(p->t, "    ");
    if (s->guarded)
        text_add(p->t, "@%s%%p%u ", s->guard_negated ? "!" : "", s->guard);
}

/* Operand k of the signature: destinations, then sources. */
static void nth_operand(struct printer *p, const struct statement *s, unsigned k)
{
    const char *signature = op_rows[s->op].signature;
    if (k == 0)
        text_add(p->t, "%%%c%u", register_letter(signature[0]), s->dst[0]);
    else
        operand(p, signature[k + 1], s->src[k - 1]);
}

static void print_op(struct printer *p, const struct statement *s)
{
    const char *text = op_rows[s->op].text;
    unsigned count = (unsigned)strlen(op_rows[s->op].signature) - 1;
    guard(p, s);
    if (!strchr(text, ' ')) {
        text_add(p->t, "%s ", text);
        for (unsigned k = 0; k < count; k++) {
            text_add(p->t, "%s", k ? ", " : "");
            nth_operand(p, s, k);
        }
        text_add(p->t, ";\n");
        return;
    }
    for (const char *c = text; *c; c++) {
        if (*c == '$') {
            nth_operand(p, s, (unsigned)(*++c - '0'));
        } else if (*c == ';' && c[1]) { /* the next statement of the row */
            text_add(p->t, ";\n");
            guard(p, s);
            c++;
        } else {
            text_add(p->t, "%c", *c);
        }
    }
    text_add(p->t, "\n");
}

static void print_block(struct printer *p, const struct block *block);

static void print_if(struct printer *p, const struct statement *s)
{
    u32 otherwise = p->labels++, end = p->labels++;
    text_add(p->t, "    @%s%%p%u bra L%u;\n", s->guard_negated ? "" : "!", s->guard, otherwise);
    print_block(p, s->blocks[0]);
    if (s->blocks[1]) {
        text_add(p->t, "    bra L%u;\n", end);
        text_add(p->t, "L%u:\n", otherwise);
        print_block(p, s->blocks[1]);
        text_add(p->t, "L%u:\n", end);
    } else {
        text_add(p->t, "L%u:\n", otherwise);
    }
}

static void print_loop(struct printer *p, const struct statement *s)
{
    u32 counter = p->counters++, start = p->labels++, end = p->labels++;
    u32 outer_end = p->inner_end, outer_next = p->inner_next;
    if (s->trips)
        text_add(p->t, "    mov.u32 %%c%u, %u;\n", counter, s->trips);
    else
        text_add(p->t, "    and.b32 %%c%u, %%r%u, 3;\n", counter, s->src[0].reg);
    text_add(p->t,
             "L%u:\n    setp.eq.u32 %%q0, %%c%u, 0;\n    @%%q0 bra L%u;\n    sub.u32 %%c%u, %%c%u, "
             "1;\n",
             start, counter, end, counter, counter);
    p->inner_end = end;
    p->inner_next = start;
    print_block(p, s->blocks[0]);
    text_add(p->t, "    bra L%u;\nL%u:\n", start, end);
    p->inner_end = outer_end;
    p->inner_next = outer_next;
}

static void print_copy(struct printer *p, const struct statement *s)
{
    const char *type = s->op == 0 ? "b32" : s->op == 1 ? "b64" : "pred";
    char kind = "rdp"[s->op];
    text_add(p->t, "    {\n    .reg .%s %%u;\n    mov.%s %%u, %%%c%u;\n", type, type, kind,
             s->src[0].reg);
    print_block(p, s->blocks[0]);
    text_add(p->t, "    xor.%s %%%c%u, %%%c%u, %%u;\n    }\n", type, kind, s->dst[0], kind,
             s->dst[0]);
}

static void print_switch(struct printer *p, const struct statement *s)
{
    u32 first = p->labels, end = first + 4;
    p->labels += 5;
    text_add(p->t,
             "    and.b32 %%t0, %%r%u, 3;\nT%u: .branchtargets L%u, L%u, L%u, L%u;\n    brx.idx "
             "%%t0, T%u;\n",
             s->src[0].reg, first, first, first + 1, first + 2, first + 3, first);
    for (u32 k = 0; k < 4; k++) {
        text_add(p->t, "L%u:\n", first + k);
        print_block(p, s->blocks[k]);
        text_add(p->t, "    bra L%u;\n", end);
    }
    text_add(p->t, "L%u:\n", end);
}

/* The registers of enum seed. */
static const char *const seed_names[SEEDS] = {"%num", "%sx", "%sy", "%sw", "%sb"};

/* Address of word (register & mask) of a table into %a0. */
static void print_address(struct printer *p, const char *table, u32 reg, u32 mask)
{
    text_add(p->t,
             "    and.b32 %%t0, %%r%u, %u;\n    mul.wide.u32 %%a0, %%t0, 4;\n"
             "    mov.u64 %%a1, %s;\n    add.u64 %%a0, %%a0, %%a1;\n",
             reg, mask, table);
}

/* Address of word (register & 7) of a board into %a0. */
static void print_board(struct printer *p, u32 global, u32 reg)
{
    print_address(p, global ? "boards" : "board", reg, BOARD_WORDS - 1);
    if (global)
        text_add(p->t, "    sub.u64 %%a0, %%a0, %%a1;\n    add.u64 %%a0, %%a0, %%board;\n");
}

static void print_publish(struct printer *p, const struct statement *s)
{
    const char *space = s->op ? "global" : "shared";
    line(p, "bar.sync 0;");
    print_board(p, s->op, s->src[0].reg);
    text_add(p->t,
             "    setp.eq.u32 %%q0, %%lin, %u;\n    @%%q0 st.%s.u32 [%%a0], %%r%u;\n"
             "    bar.sync 0;\n",
             s->other, space, s->src[2].reg);
    print_board(p, s->op, s->src[3].reg);
    text_add(p->t, "    ld.%s.u32 %%r%u, [%%a0];\n", space, s->dst[0]);
}

static void print_atomic(struct printer *p, const struct statement *s)
{
    static const char *const ops[] = {"add.u32", "xor.b32", "max.u32", "min.s32"};
    guard(p, s);
    if (s->other)
        text_add(p->t, "atom.global.%s %%t1, [counters+%u], %%r%u;\n", ops[s->op / 4], s->op * 4,
                 s->src[0].reg);
    else
        text_add(p->t, "red.global.%s [counters+%u], %%r%u;\n", ops[s->op / 4], s->op * 4,
                 s->src[0].reg);
}

/* Arguments: two words, a pair, a depth. */
static void print_call(struct printer *p, const struct statement *s)
{
    u32 label = p->labels++;
    bool any = s->kind == ST_CALL_ANY;
    if (any)
        text_add(p->t,
                 "    mov.u64 %%a0, f%u;\n    mov.u64 %%a1, f%u;\n"
                 "    selp.b64 %%a0, %%a0, %%a1, %%p%u;\n",
                 s->op, s->other, s->guard);
    text_add(
        p->t,
        "    {\n    .param .b32 a0;\n    .param .b32 a1;\n    .param .b64 a2;\n    .param .b32 "
        "a3;\n    .param .b32 got;\n    st.param.b32 [a0], %%r%u;\n    st.param.b32 [a1], ",
        s->src[0].reg);
    operand(p, 'R', s->src[1]);
    text_add(p->t, ";\n    st.param.b64 [a2], %%d%u;\n    st.param.b32 [a3], %u;\n", s->src[2].reg,
             s->other % 3);
    if (any)
        text_add(p->t,
                 "    P%u: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _, .param "
                 ".b64 _, .param .b32 _);\n    call (got), %%a0, (a0, a1, a2, a3), P%u;\n",
                 label, label);
    else
        text_add(p->t, "    call (got), f%u, (a0, a1, a2, a3);\n", s->op);
    text_add(p->t, "    ld.param.b32 %%r%u, [got];\n    }\n", s->dst[0]);
}

static void print_collective(struct printer *p, const struct statement *s)
{
    switch (s->kind) {
    case ST_PUBLISH:
        print_publish(p, s);
        break;
    case ST_EXCHANGE:
        text_add(p->t,
                 "    st.shared.u32 [%%mine], %%r%u;\n    bar.sync 0;\n"
                 "    add.u32 %%t0, %%lin, %u;\n    rem.u32 %%t0, %%t0, %u;\n"
                 "    mul.wide.u32 %%a0, %%t0, 4;\n    mov.u64 %%a1, exchange;\n"
                 "    add.u64 %%a0, %%a0, %%a1;\n    ld.shared.u32 %%r%u, [%%a0];\n"
                 "    bar.sync 0;\n",
                 s->src[0].reg, s->other, program_threads(p->program), s->dst[0]);
        break;
    case ST_SHUFFLE: /* a lane that is not there has no value: keep the own one */
        text_add(p->t,
                 "    shfl.sync.bfly.b32 %%t1|%%q0, %%r%u, %u, 31, %%members;\n"
                 "    and.b32 %%t0, %%lin, 31;\n    xor.b32 %%t0, %%t0, %u;\n"
                 "    shr.u32 %%t0, %%members, %%t0;\n    and.b32 %%t0, %%t0, 1;\n"
                 "    setp.ne.u32 %%q0, %%t0, 0;\n    selp.b32 %%r%u, %%t1, %%r%u, %%q0;\n",
                 s->src[0].reg, s->other, s->other, s->dst[0], s->src[0].reg);
        break;
    case ST_VOTE:
        text_add(p->t, "    vote.sync.%s.pred %%p%u, %%p%u, %%members;\n", s->other ? "all" : "any",
                 s->dst[0], s->guard);
        break;
    default:
        text_add(p->t, "    vote.sync.ballot.b32 %%r%u, %%p%u, %%members;\n", s->dst[0], s->guard);
        break;
    }
}

static void print_leave(struct printer *p, const struct statement *s)
{
    u32 on = p->labels++;
    text_add(p->t, "    @%s%%p%u bra L%u;\n", s->guard_negated ? "" : "!", s->guard, on);
    if (s->kind == ST_RETURN)
        text_add(p->t, "    st.param.b32 [rv], %%r%u;\n    ret;\n", s->src[0].reg);
    else
        text_add(p->t, "    st.global.u32 [%%out], %%r%u;\n    exit;\n", s->src[0].reg);
    text_add(p->t, "L%u:\n", on);
}

static void print_simple(struct printer *p, const struct statement *s)
{
    switch (s->kind) {
    case ST_LOAD:
        print_address(p, "input", s->src[0].reg, INPUT_WORDS - 1);
        text_add(p->t, "    ld.global.u32 %%r%u, [%%a0];\n", s->dst[0]);
        break;
    case ST_LOCAL_ST:
        print_address(p, "scratch", s->src[0].reg, LOCAL_WORDS - 1);
        text_add(p->t, "    st.local.u32 [%%a0], %%r%u;\n", s->src[2].reg);
        break;
    case ST_LOCAL_LD:
        print_address(p, "scratch", s->src[0].reg, LOCAL_WORDS - 1);
        text_add(p->t, "    ld.local.u32 %%r%u, [%%a0];\n", s->dst[0]);
        break;
    case ST_SEED:
        text_add(p->t, "    mad.lo.u32 %%r%u, %s, 0x9e3779b1, %u;\n", s->dst[0], seed_names[s->op],
                 s->other);
        break;
    case ST_OWN:
        text_add(p->t, "    st.shared.u32 [%%mine], %%r%u;\n    ld.shared.u32 %%r%u, [%%mine];\n",
                 s->src[0].reg, s->dst[0]);
        break;
    case ST_PEEK:
        print_board(p, s->op, s->src[0].reg);
        text_add(p->t, "    ld.%s.u32 %%r%u, [%%a0];\n", s->op ? "global" : "shared", s->dst[0]);
        break;
    case ST_ATOMIC_SH:
        text_add(p->t, "    red.shared.add.u32 [tally+%u], %%r%u;\n", s->op * 4, s->src[0].reg);
        break;
    case ST_CARRY:
        text_add(p->t, "    add.cc.u32 %%t0, %%r%u, ", s->src[0].reg);
        operand(p, 'R', s->src[1]);
        text_add(p->t, ";\n    addc.u32 %%r%u, %%r%u, %%r%u;\n    mov.u32 %%r%u, %%t0;\n",
                 s->dst[1], s->src[2].reg, s->src[3].reg, s->dst[0]);
        break;
    case ST_UNPACK:
        text_add(p->t, "    mov.b64 {%%r%u, %%r%u}, %%d%u;\n", s->dst[0], s->dst[1], s->src[0].reg);
        break;
    default:
        text_add(p->t, "    @%s%%p%u bra L%u;\n", s->guard_negated ? "!" : "", s->guard,
                 s->kind == ST_BREAK ? p->inner_end : p->inner_next);
        break;
    }
}

static void print_statement(struct printer *p, const struct statement *s)
{
    switch (s->kind) {
    case ST_OP:
        print_op(p, s);
        break;
    case ST_IF:
        print_if(p, s);
        break;
    case ST_LOOP:
        print_loop(p, s);
        break;
    case ST_SWITCH:
        print_switch(p, s);
        break;
    case ST_COPY:
        print_copy(p, s);
        break;
    case ST_ATOMIC:
        print_atomic(p, s);
        break;
    case ST_CALL:
    case ST_CALL_ANY:
        print_call(p, s);
        break;
    case ST_EXCHANGE:
    case ST_PUBLISH:
    case ST_SHUFFLE:
    case ST_VOTE:
    case ST_BALLOT:
        print_collective(p, s);
        break;
    case ST_RETURN:
    case ST_EXIT:
        print_leave(p, s);
        break;
    default:
        print_simple(p, s);
        break;
    }
}

static void print_block(struct printer *p, const struct block *block)
{
    for (u32 i = 0; i < block->count; i++)
        if (!block->items[i].dead)
            print_statement(p, &block->items[i]);
}

static u32 count_loops(const struct block *block)
{
    u32 count = 0;
    for (u32 i = 0; block && i < block->count; i++) {
        count += block->items[i].kind == ST_LOOP;
        for (unsigned k = 0; k < 4; k++)
            count += count_loops(block->items[i].blocks[k]);
    }
    return count;
}

static void print_registers(struct printer *p, const struct block *body)
{
    text_add(p->t,
             "    .reg .b32 %%r<%u>;\n    .reg .b64 %%d<%u>;\n    .reg .b16 %%h<%u>;\n"
             "    .reg .pred %%p<%u>;\n    .reg .b32 %%c<%u>;\n    .reg .b32 %%t<2>;\n"
             "    .reg .b64 %%a<2>;\n    .reg .pred %%q<1>;\n"
             "    .local .align 4 .b8 scratch[%u];\n",
             REGS_R, REGS_D, REGS_H, REGS_P, count_loops(body) + 1, LOCAL_WORDS * 4);
}

/* From the word registers: the others, and local memory. */
static void print_derived(struct printer *p)
{
    for (u32 i = 0; i < REGS_D; i++)
        text_add(p->t, "    mul.wide.u32 %%d%u, %%r%u, %%r%u;\n", i, i, i + 1);
    for (u32 i = 0; i < REGS_H; i++)
        text_add(p->t, "    cvt.u16.u32 %%h%u, %%r%u;\n", i, i + 2);
    for (u32 i = 0; i < REGS_P; i++)
        text_add(p->t, "    setp.lt.s32 %%p%u, %%r%u, %%r%u;\n", i, i + 3, i + 4);
    for (u32 i = 0; i < LOCAL_WORDS; i++)
        text_add(p->t, "    st.local.u32 [scratch+%u], %%r%u;\n", 4 * i, i % REGS_R);
}

static void print_function(struct printer *p, u32 index)
{
    const struct function *f = &p->program->functions[index];
    text_add(p->t,
             ".func (.param .b32 rv) f%u(.param .b32 x, .param .b32 y, .param .b64 w, .param .b32 "
             "depth)\n{\n",
             index);
    print_registers(p, f->body);
    line(p, "ld.param.b32 %r0, [x];");
    line(p, "ld.param.b32 %r1, [y];");
    for (u32 i = 2; i < REGS_R; i++)
        text_add(p->t, "    mad.lo.u32 %%r%u, %%r0, %u, %%r1;\n", i, 2 * i + 1);
    print_derived(p);
    line(p, "ld.param.b64 %d0, [w];");
    if (f->recursive) {
        u32 end = p->labels++;
        text_add(p->t,
                 "    ld.param.b32 %%t0, [depth];\n    setp.eq.u32 %%q0, %%t0, 0;\n"
                 "    @%%q0 bra L%u;\n    sub.u32 %%t0, %%t0, 1;\n    {\n",
                 end);
        text_add(p->t,
                 "    .param .b32 a0;\n    .param .b32 a1;\n    .param .b64 a2;\n    .param .b32 "
                 "a3;\n    .param .b32 got;\n    st.param.b32 [a0], %%r2;\n    st.param.b32 [a1], "
                 "%%r0;\n    st.param.b64 [a2], %%d1;\n    st.param.b32 [a3], %%t0;\n"
                 "    call (got), f%u, (a0, a1, a2, a3);\n    ld.param.b32 %%r0, [got];\n    }\n"
                 "L%u:\n",
                 index, end);
    }
    print_block(p, f->body);
    text_add(p->t, "    xor.b32 %%t0, %%r0, %%r1;\n    st.param.b32 [rv], %%t0;\n    ret;\n}\n\n");
}

static void print_seeds(struct printer *p)
{
    text_add(p->t,
             "    .reg .b32 %%num, %%sx, %%sy, %%sw, %%sb;\n    mov.u32 %%sx, %%tid.x;\n"
             "    mov.u32 %%sy, %%tid.y;\n    mov.u32 %%sb, %%ctaid.x;\n"
             "    mad.lo.u32 %%num, %%sb, %u, %%lin;\n    shr.u32 %%sw, %%lin, 5;\n",
             program_threads(p->program));
}

/* Boards are zero at first. A block's in global memory begins at %board. */
static void print_boards(struct printer *p)
{
    text_add(p->t, "    mov.u64 %%board, boards;\n    mad.wide.u32 %%board, %%sb, %u, %%board;\n",
             4 * BOARD_WORDS);
    line(p, "setp.eq.u32 %q0, %lin, 0;");
    for (u32 i = 0; i < BOARD_WORDS; i++)
        text_add(p->t, "    @%%q0 st.shared.u32 [board+%u], 0;\n", 4 * i);
    line(p, "bar.sync 0;");
}

/* Word i of a thread starts as a mix of a seed and i; every third is small. */
static void print_start(struct printer *p)
{
    text_add(p->t, "    mov.u32 %%t0, %%tid.z;\n    mov.u32 %%t1, %%ntid.y;\n"
                   "    mov.u32 %%lin, %%tid.y;\n    mad.lo.u32 %%t0, %%t0, %%t1, %%lin;\n"
                   "    mov.u32 %%t1, %%ntid.x;\n    mov.u32 %%lin, %%tid.x;\n"
                   "    mad.lo.u32 %%lin, %%t0, %%t1, %%lin;\n");
    text_add(p->t,
             "    mov.u32 %%t0, %%ctaid.x;\n    mad.lo.u32 %%t1, %%t0, %u, %%lin;\n"
             "    ld.param.u64 %%out, [out];\n    mad.wide.u32 %%out, %%t1, %u, %%out;\n"
             "    activemask.b32 %%members;\n    mov.u64 %%a0, exchange;\n"
             "    mad.wide.u32 %%mine, %%lin, 4, %%a0;\n",
             program_threads(p->program), OUT_WORDS * 4);
    if (p->program->alike)
        print_seeds(p);
    for (u32 i = 0; i < REGS_R; i++) {
        text_add(p->t,
                 "    mad.lo.u32 %%r%u, %s, 0x9e3779b1, %u;\n    shr.u32 %%t0, %%r%u, 15;\n"
                 "    xor.b32 %%r%u, %%r%u, %%t0;\n    mul.lo.u32 %%r%u, %%r%u, 0x2c1b3c6d;\n",
                 i, p->program->alike ? seed_names[program_seed(p->program, i)] : "%t1",
                 i * 0x5bd1e995u, i, i, i, i, i);
        if (i % 3 == 0)
            text_add(p->t, "    and.b32 %%r%u, %%r%u, 15;\n", i, i);
    }
    print_derived(p);
    if (p->program->alike)
        print_boards(p);
    if (!p->program->exits) {
        text_add(p->t, "    mov.u32 %%t0, 0;\n    setp.eq.u32 %%q0, %%lin, 0;\n");
        for (u32 i = 0; i < SHARED_COUNTERS; i++)
            text_add(p->t, "    @%%q0 st.shared.u32 [tally+%u], %%t0;\n", 4 * i);
        line(p, "bar.sync 0;");
    }
}

static void print_end(struct printer *p)
{
    u32 at = 0;
    for (u32 i = 0; i < REGS_R; i++, at += 4)
        text_add(p->t, "    st.global.u32 [%%out+%u], %%r%u;\n", at, i);
    for (u32 i = 0; i < REGS_D; i++, at += 8)
        text_add(p->t,
                 "    mov.b64 {%%t0, %%t1}, %%d%u;\n    st.global.u32 [%%out+%u], %%t0;\n    "
                 "st.global.u32 [%%out+%u], %%t1;\n",
                 i, at, at + 4);
    for (u32 i = 0; i < REGS_H; i++, at += 4)
        text_add(p->t, "    cvt.u32.u16 %%t0, %%h%u;\n    st.global.u32 [%%out+%u], %%t0;\n", i,
                 at);
    for (u32 i = 0; i < REGS_P; i++, at += 4)
        text_add(p->t, "    selp.u32 %%t0, 1, 0, %%p%u;\n    st.global.u32 [%%out+%u], %%t0;\n", i,
                 at);
    if (!p->program->exits) {
        line(p, "bar.sync 0;");
        for (u32 i = 0; i < SHARED_COUNTERS; i++, at += 4)
            text_add(p->t,
                     "    ld.shared.u32 %%t0, [tally+%u];\n    st.global.u32 [%%out+%u], %%t0;\n",
                     4 * i, at);
    }
    text_add(p->t, "    ret;\n}\n");
}

static void mark_calls(const struct block *block, bool *used)
{
    for (u32 i = 0; block && i < block->count; i++) {
        const struct statement *s = &block->items[i];
        if (s->dead)
            continue;
        if (s->kind == ST_CALL || s->kind == ST_CALL_ANY)
            used[s->op] = true;
        if (s->kind == ST_CALL_ANY)
            used[s->other] = true;
        for (unsigned k = 0; k < 4; k++)
            mark_calls(s->blocks[k], used);
    }
}

/* Functions some live statement calls; a function calls only later ones and itself. */
static void print_functions(struct printer *p)
{
    bool used[FUNCTIONS] = {false};
    mark_calls(p->program->body, used);
    for (u32 k = 0; k < FUNCTIONS; k++)
        if (used[k])
            mark_calls(p->program->functions[k].body, used);
    for (u32 k = 0; k < FUNCTIONS; k++)
        if (used[k])
            text_add(p->t,
                     ".func (.param .b32 rv) f%u(.param .b32 x, .param .b32 y, .param .b64 w, "
                     ".param .b32 depth);\n",
                     k);
    for (u32 k = 0; k < FUNCTIONS; k++) {
        p->counters = 0;
        if (used[k])
            print_function(p, k);
    }
}

char *program_print(const struct program *program)
{
    struct text text = {0};
    struct printer p = {.t = &text, .program = program};
    text_add(&text,
             "// seed %llu, grid %u, block %u,%u,%u\n" PTX_HEADER
             ".visible .global .align 4 .b8 input[%u];\n.visible .global .align 4 .b8 "
             "counters[%u];\n",
             (unsigned long long)program->seed, program->grid, program->block[0], program->block[1],
             program->block[2], INPUT_WORDS * 4, COUNTERS * 4);
    if (program->alike)
        text_add(&text, ".global .align 4 .b8 boards[%u];\n", MAX_BLOCKS * BOARD_WORDS * 4);
    text_add(&text, "\n");
    print_functions(&p);
    p.counters = 0;
    text_add(&text, ".visible .entry random(.param .u64 out)\n{\n");
    print_registers(&p, program->body);
    text_add(&text,
             "    .reg .b32 %%lin, %%members;\n    .reg .b64 %%out, %%mine;\n"
             "    .shared .align 4 .b8 exchange[%u];\n    .shared .align 4 .b8 tally[%u];\n",
             4 * program_threads(program), 4 * SHARED_COUNTERS);
    if (program->alike)
        text_add(&text, "    .reg .b64 %%board;\n    .shared .align 4 .b8 board[%u];\n",
                 4 * BOARD_WORDS);
    print_start(&p);
    print_block(&p, program->body);
    print_end(&p);
    return text.data;
}
