/*
 * The same program, thread by thread. Statements that look at other threads stand only where the
 * whole block is together, so a block runs statement by statement at that level and each thread
 * runs everything else alone (R1).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

enum {
    GROUP = 32
}; /* lanes that shuffle and vote together */

struct frame {
    u32 r[REGS_R];
    u64 d[REGS_D];
    u16 h[REGS_H];
    bool p[REGS_P];
    u32 local[LOCAL_WORDS];
    u32 result;
    u32 depth;
};

enum flow {
    GO_ON,
    BREAK,
    CONTINUE,
    LEAVE
};

struct thread {
    struct frame frame;
    u32 seeds[SEEDS];
    bool gone;
    u32 *out;
};

struct machine {
    const struct program *program;
    struct memory_image *memory;
    u32 tally[SHARED_COUNTERS];
    u32 boards[2][BOARD_WORDS];
    struct thread *threads;
    u32 count;
};

static u64 read(const struct frame *f, char kind, struct operand o)
{
    if (o.is_constant)
        return o.value;
    switch (kind) {
    case 'D':
        return f->d[o.reg];
    case 'H':
        return f->h[o.reg];
    case 'P':
        return f->p[o.reg];
    default:
        return f->r[o.reg];
    }
}

static void run_op(struct frame *f, const struct statement *s)
{
    const char *signature = op_rows[s->op].signature;
    u64 v[4] = {0};
    for (unsigned k = 0; signature[k + 2]; k++)
        v[k] = read(f, signature[k + 2], s->src[k]);
    u64 value = op_value(s->op, v[0], v[1], v[2]);
    switch (signature[0]) {
    case 'D':
        f->d[s->dst[0]] = value;
        break;
    case 'H':
        f->h[s->dst[0]] = (u16)value;
        break;
    case 'P':
        f->p[s->dst[0]] = value & 1;
        break;
    default:
        f->r[s->dst[0]] = (u32)value;
        break;
    }
}

static void run_atomic(struct machine *m, const struct frame *f, const struct statement *s)
{
    u32 *at = &m->memory->counters[s->op], x = f->r[s->src[0].reg];
    switch (s->op / 4) {
    case 0:
        *at += x;
        break;
    case 1:
        *at ^= x;
        break;
    case 2:
        *at = *at > x ? *at : x;
        break;
    default:
        *at = (int32_t)*at < (int32_t)x ? *at : x;
        break;
    }
}

static void derive(struct frame *f)
{
    for (u32 i = 0; i < REGS_D; i++)
        f->d[i] = (u64)f->r[i] * f->r[i + 1];
    for (u32 i = 0; i < REGS_H; i++)
        f->h[i] = (u16)f->r[i + 2];
    for (u32 i = 0; i < REGS_P; i++)
        f->p[i] = (int32_t)f->r[i + 3] < (int32_t)f->r[i + 4];
    for (u32 i = 0; i < LOCAL_WORDS; i++)
        f->local[i] = f->r[i % REGS_R];
}

static enum flow run_block(struct machine *m, struct thread *t, struct frame *f,
                           const struct block *block);

static u32 call(struct machine *m, struct thread *t, u32 index, u32 x, u32 y, u64 w, u32 depth)
{
    const struct function *fn = &m->program->functions[index];
    struct frame f = {.depth = depth};
    f.r[0] = x;
    f.r[1] = y;
    for (u32 i = 2; i < REGS_R; i++)
        f.r[i] = x * (2 * i + 1) + y;
    derive(&f);
    f.d[0] = w;
    if (fn->recursive && depth != 0)
        f.r[0] = call(m, t, index, f.r[2], f.r[0], f.d[1], depth - 1);
    if (run_block(m, t, &f, fn->body) == LEAVE)
        return f.result;
    return f.r[0] ^ f.r[1];
}

static enum flow run_loop(struct machine *m, struct thread *t, struct frame *f,
                          const struct statement *s)
{
    u32 trips = s->trips ? s->trips : f->r[s->src[0].reg] & 3;
    for (u32 i = 0; i < trips; i++) {
        enum flow flow = run_block(m, t, f, s->blocks[0]);
        if (flow == LEAVE)
            return LEAVE;
        if (flow == BREAK)
            break;
    }
    return GO_ON;
}

static enum flow run_copy(struct machine *m, struct thread *t, struct frame *f,
                          const struct statement *s)
{
    u32 from = s->src[0].reg, to = s->dst[0];
    u64 copy = s->op == 0 ? f->r[from] : s->op == 1 ? f->d[from] : f->p[from];
    enum flow flow = run_block(m, t, f, s->blocks[0]);
    if (flow != GO_ON)
        return flow;
    if (s->op == 0)
        f->r[to] ^= (u32)copy;
    else if (s->op == 1)
        f->d[to] ^= copy;
    else
        f->p[to] ^= (bool)copy;
    return GO_ON;
}

static void run_moves(struct machine *m, const struct thread *t, struct frame *f,
                      const struct statement *s)
{
    switch (s->kind) {
    case ST_LOAD:
        f->r[s->dst[0]] = m->memory->input[f->r[s->src[0].reg] & (INPUT_WORDS - 1)];
        break;
    case ST_LOCAL_ST:
        f->local[f->r[s->src[0].reg] & (LOCAL_WORDS - 1)] = f->r[s->src[2].reg];
        break;
    case ST_LOCAL_LD:
        f->r[s->dst[0]] = f->local[f->r[s->src[0].reg] & (LOCAL_WORDS - 1)];
        break;
    case ST_SEED:
        f->r[s->dst[0]] = t->seeds[s->op] * 0x9e3779b1u + s->other;
        break;
    case ST_OWN:
        f->r[s->dst[0]] = f->r[s->src[0].reg];
        break;
    case ST_PEEK:
        f->r[s->dst[0]] = m->boards[s->op][f->r[s->src[0].reg] & (BOARD_WORDS - 1)];
        break;
    case ST_ATOMIC_SH:
        m->tally[s->op] += f->r[s->src[0].reg];
        break;
    case ST_CARRY: {
        u64 sum = (u64)f->r[s->src[0].reg] + (u32)read(f, 'R', s->src[1]);
        f->r[s->dst[1]] = f->r[s->src[2].reg] + f->r[s->src[3].reg] + (u32)(sum >> 32);
        f->r[s->dst[0]] = (u32)sum;
        break;
    }
    default: {
        assert(s->kind == ST_UNPACK);
        u64 d = f->d[s->src[0].reg];
        f->r[s->dst[0]] = (u32)d;
        f->r[s->dst[1]] = (u32)(d >> 32);
        break;
    }
    }
}

static enum flow run_statement(struct machine *m, struct thread *t, struct frame *f,
                               const struct statement *s)
{
    bool taken = f->p[s->guard] != s->guard_negated;
    if (s->guarded && !taken)
        return GO_ON;
    switch (s->kind) {
    case ST_OP:
        run_op(f, s);
        return GO_ON;
    case ST_IF:
        if (taken)
            return run_block(m, t, f, s->blocks[0]);
        return s->blocks[1] ? run_block(m, t, f, s->blocks[1]) : GO_ON;
    case ST_LOOP:
        return run_loop(m, t, f, s);
    case ST_BREAK:
        return taken ? BREAK : GO_ON;
    case ST_CONTINUE:
        return taken ? CONTINUE : GO_ON;
    case ST_SWITCH:
        return run_block(m, t, f, s->blocks[f->r[s->src[0].reg] & 3]);
    case ST_COPY:
        return run_copy(m, t, f, s);
    case ST_ATOMIC:
        run_atomic(m, f, s);
        return GO_ON;
    case ST_CALL:
    case ST_CALL_ANY: {
        u32 which = s->kind == ST_CALL_ANY && !f->p[s->guard] ? s->other : s->op;
        f->r[s->dst[0]] = call(m, t, which, f->r[s->src[0].reg], (u32)read(f, 'R', s->src[1]),
                               f->d[s->src[2].reg], s->other % 3);
        return GO_ON;
    }
    case ST_RETURN:
        f->result = f->r[s->src[0].reg];
        return taken ? LEAVE : GO_ON;
    case ST_EXIT:
        if (taken)
            t->out[0] = f->r[s->src[0].reg];
        t->gone |= taken;
        return taken ? LEAVE : GO_ON;
    default:
        run_moves(m, t, f, s);
        return GO_ON;
    }
}

static enum flow run_block(struct machine *m, struct thread *t, struct frame *f,
                           const struct block *block)
{
    for (u32 i = 0; i < block->count; i++) {
        if (block->items[i].dead)
            continue;
        enum flow flow = run_statement(m, t, f, &block->items[i]);
        if (flow != GO_ON)
            return flow;
    }
    return GO_ON;
}

/* The lanes that go together with thread i: [*from, *to). */
static void group(const struct machine *m, u32 i, u32 *from, u32 *to)
{
    *from = i / GROUP * GROUP;
    *to = *from + GROUP < m->count ? *from + GROUP : m->count;
}

static void run_vote(struct machine *m, const struct statement *s, u32 i, const bool *votes)
{
    u32 from, to, ballot = 0;
    bool any = false, all = true;
    group(m, i, &from, &to);
    for (u32 j = from; j < to; j++) {
        any |= votes[j];
        all &= votes[j];
        ballot |= (u32)votes[j] << (j - from);
    }
    struct frame *f = &m->threads[i].frame;
    if (s->kind == ST_BALLOT)
        f->r[s->dst[0]] = ballot;
    else
        f->p[s->dst[0]] = s->other ? all : any;
}

static void run_publish(struct machine *m, const struct statement *s)
{
    const struct frame *from = &m->threads[s->other].frame;
    m->boards[s->op][from->r[s->src[0].reg] & (BOARD_WORDS - 1)] = from->r[s->src[2].reg];
    for (u32 i = 0; i < m->count; i++) {
        struct frame *f = &m->threads[i].frame;
        f->r[s->dst[0]] = m->boards[s->op][f->r[s->src[3].reg] & (BOARD_WORDS - 1)];
    }
}

static void run_collective(struct machine *m, const struct statement *s)
{
    if (s->kind == ST_PUBLISH) {
        run_publish(m, s);
        return;
    }
    u32 *words = calloc(m->count, sizeof *words);
    bool *votes = calloc(m->count, sizeof *votes);
    assert(words && votes);
    for (u32 i = 0; i < m->count; i++) {
        words[i] = m->threads[i].frame.r[s->src[0].reg];
        votes[i] = m->threads[i].frame.p[s->guard];
    }
    for (u32 i = 0; i < m->count; i++) {
        u32 from, to, *dst = &m->threads[i].frame.r[s->dst[0]];
        group(m, i, &from, &to);
        u32 partner = from + ((i - from) ^ s->other);
        if (s->kind == ST_EXCHANGE)
            *dst = words[(i + s->other) % m->count];
        else if (s->kind == ST_SHUFFLE)
            *dst = words[partner < to ? partner : i];
        else
            run_vote(m, s, i, votes);
    }
    free(words);
    free(votes);
}

static bool has_collective(const struct statement *s)
{
    if (s->kind >= ST_EXCHANGE && s->kind <= ST_BALLOT)
        return true;
    for (unsigned k = 0; k < 4; k++)
        for (u32 i = 0; s->blocks[k] && i < s->blocks[k]->count; i++)
            if (has_collective(&s->blocks[k]->items[i]))
                return true;
    return false;
}

static void run_together(struct machine *m, const struct block *block)
{
    for (u32 k = 0; k < block->count; k++) {
        const struct statement *s = &block->items[k];
        if (s->dead)
            continue;
        if (s->kind >= ST_EXCHANGE && s->kind <= ST_BALLOT) {
            run_collective(m, s);
        } else if (s->kind == ST_LOOP && has_collective(s)) {
            for (u32 i = 0; i < s->trips; i++)
                run_together(m, s->blocks[0]);
        } else {
            for (u32 i = 0; i < m->count; i++)
                if (!m->threads[i].gone)
                    run_statement(m, &m->threads[i], &m->threads[i].frame, s);
        }
    }
}

static void start(const struct machine *m, struct thread *t)
{
    struct frame *f = &t->frame;
    *f = (struct frame){0};
    for (u32 i = 0; i < REGS_R; i++) {
        u32 x = t->seeds[program_seed(m->program, i)] * 0x9e3779b1u + i * 0x5bd1e995u;
        x ^= x >> 15;
        x *= 0x2c1b3c6du;
        f->r[i] = i % 3 == 0 ? x & 15 : x;
    }
    derive(f);
}

static void find_seeds(const struct program *p, struct thread *t, u32 block, u32 i)
{
    t->seeds[SEED_THREAD] = block * program_threads(p) + i;
    t->seeds[SEED_X] = i % p->block[0];
    t->seeds[SEED_Y] = i / p->block[0] % p->block[1];
    t->seeds[SEED_WARP] = i / GROUP;
    t->seeds[SEED_BLOCK] = block;
}

static void finish(const struct machine *m, struct thread *t)
{
    const struct frame *f = &t->frame;
    u32 at = 0;
    for (u32 i = 0; i < REGS_R; i++)
        t->out[at++] = f->r[i];
    for (u32 i = 0; i < REGS_D; i++) {
        t->out[at++] = (u32)f->d[i];
        t->out[at++] = (u32)(f->d[i] >> 32);
    }
    for (u32 i = 0; i < REGS_H; i++)
        t->out[at++] = f->h[i];
    for (u32 i = 0; i < REGS_P; i++)
        t->out[at++] = f->p[i];
    for (u32 i = 0; !m->program->exits && i < SHARED_COUNTERS; i++)
        t->out[at++] = m->tally[i];
}

void program_interpret(const struct program *program, struct memory_image *memory)
{
    struct machine m = {.program = program, .memory = memory, .count = program_threads(program)};
    m.threads = calloc(m.count, sizeof *m.threads);
    assert(m.threads);
    for (u32 b = 0; b < program->grid; b++) {
        memset(m.tally, 0, sizeof m.tally);
        memset(m.boards, 0, sizeof m.boards);
        for (u32 i = 0; i < m.count; i++) {
            u32 number = b * m.count + i;
            m.threads[i].gone = false;
            m.threads[i].out = memory->out + (size_t)number * OUT_WORDS;
            find_seeds(program, &m.threads[i], b, i);
            start(&m, &m.threads[i]);
        }
        run_together(&m, program->body);
        for (u32 i = 0; i < m.count; i++)
            if (!m.threads[i].gone)
                finish(&m, &m.threads[i]);
    }
    free(m.threads);
}
