/* Makes programs from a seed. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

/* Registers of programs whose warps are alike, by what tells threads apart in them unless a branch
 * does. A statement writes one of its tier and reads those of its tier and of the tiers before. */
enum tier {
    TIER_BLOCK,
    TIER_X,
    TIER_ANY,
    TIERS
};
struct maker {
    struct program *program;
    u64 state;
    int budget;       /* statements left */
    u32 depth;        /* of nesting */
    bool may_leave;   /* the innermost loop is one each thread runs on its own */
    u32 loop_room;    /* loops that may still be nested: bounds the running time */
    bool uniform;     /* all threads of the block are here together */
    bool function;    /* inside a function: registers of its own, no collectives */
    bool alike;       /* = program->alike, and not in a function */
    enum tier tier;   /* of the statement */
    bool parted;      /* not all threads of the block may be here */
    u32 first_callee; /* functions from here on may be called: no cycles but through RECURSE */
};

enum {
    MOST_OF_TIER = 6
};

/* Registers of each tier. */
static const struct tier_registers {
    u8 count, list[MOST_OF_TIER];
} words_of[TIERS] = {{4, {4, 5, 6, 9}}, {3, {2, 3, 8}}, {3, {0, 1, 7}}},
  pairs_of[TIERS] = {{1, {4}}, {2, {2, 3}}, {2, {0, 1}}},
  halves_of[TIERS] = {{1, {2}}, {2, {0, 1}}, {3, {0, 1, 2}}},
  predicates_of[TIERS] = {{2, {1, 2}}, {1, {0}}, {2, {3, 4}}};

enum seed program_seed(const struct program *program, u32 r)
{
    static const enum seed seeds[] = {SEED_THREAD, SEED_WARP,  SEED_X, SEED_X, SEED_BLOCK,
                                      SEED_BLOCK,  SEED_BLOCK, SEED_Y, SEED_X, SEED_BLOCK};
    return program->alike ? seeds[r % (sizeof seeds / sizeof *seeds)] : SEED_THREAD;
}

static u64 next(struct maker *m)
{
    u64 z = m->state += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static u32 below(struct maker *m, u32 n)
{
    return (u32)((next(m) >> 32) % n);
}

static void *pool(struct program *p, size_t bytes)
{
    if (p->pool_count == p->pool_capacity) {
        p->pool_capacity = p->pool_capacity ? 2 * p->pool_capacity : 64;
        p->pool = realloc(p->pool, p->pool_capacity * sizeof *p->pool);
        assert(p->pool);
    }
    void *memory = calloc(1, bytes ? bytes : 1);
    assert(memory);
    return p->pool[p->pool_count++] = memory;
}

static u64 constant(struct maker *m, char kind)
{
    static const u64 edges[] = {0,          1,          2,          3,          31,
                                32,         0xff,       0x7fff,     0x8000,     0xffff,
                                0x7fffffff, 0x80000000, 0xffffffff, 0x12345678, 0xdeadbeefcafef00d};
    static const u32 floats[] = {0,          0x80000000, 0x3f800000, 0x40490fdb, 0xbf000000,
                                 0x7f800000, 1,          0x7f7fffff, 0x00800000, 0x4b000001};
    u64 value = below(m, 3) ? edges[below(m, sizeof edges / sizeof *edges)] : next(m);
    switch (kind) {
    case 'I':
        return below(m, 40);
    case 'F':
        return floats[below(m, sizeof floats / sizeof *floats)];
    case 'H':
        return value & 0x7fff;
    case 'D':
        return value;
    default:
        return value & 0xffffffff;
    }
}

/* Of the statement's tier; a source may be of one before it. */
static u32 of_tier(struct maker *m, const struct tier_registers *of, bool source)
{
    enum tier tier = source && below(m, 2) ? below(m, m->tier + 1) : m->tier;
    return of[tier].list[below(m, of[tier].count)];
}

static u32 some_register(struct maker *m, char kind, bool source)
{
    switch (kind) {
    case 'D':
        return m->alike ? of_tier(m, pairs_of, source) : below(m, REGS_D);
    case 'H':
        return m->alike ? of_tier(m, halves_of, source) : below(m, REGS_H);
    case 'P':
        return m->alike ? of_tier(m, predicates_of, source) : below(m, REGS_P);
    default:
        return m->alike ? of_tier(m, words_of, source) : below(m, REGS_R);
    }
}

static struct operand some_operand(struct maker *m, char kind, bool may_be_constant)
{
    struct operand o = {.reg = some_register(m, kind, true)};
    o.is_constant =
        kind == 'I' || (may_be_constant && kind != 'P' && kind != 'r' && below(m, 4) == 0);
    if (o.is_constant)
        o.value = constant(m, kind);
    return o;
}

static void make_op(struct maker *m, struct statement *s)
{
    s->op = below(m, op_count);
    const char *p = op_rows[s->op].signature;
    s->dst[0] = some_register(m, *p, false);
    bool one = strchr(op_rows[s->op].text, ' ') != NULL; /* own statements take registers */
    p += 2;
    for (unsigned k = 0; *p; p++, k++)
        s->src[k] = some_operand(m, *p, k > 0 && !one);
}

static struct block *make_block(struct maker *m, u32 most);

static struct block *make_inner(struct maker *m, u32 most, bool uniform)
{
    struct maker inner = *m;
    inner.depth++;
    inner.uniform = m->uniform && uniform;
    inner.parted = m->parted || m->tier != TIER_BLOCK;
    struct block *block = make_block(&inner, most);
    m->state = inner.state;
    m->budget = inner.budget;
    return block;
}

static void make_loop(struct maker *m, struct statement *s)
{
    bool uniform = m->uniform && below(m, 2);
    s->trips = uniform || below(m, 3) == 0 ? 1 + below(m, MAX_TRIPS) : 0;
    s->src[0] = some_operand(m, 'R', false);
    bool outer = m->may_leave;
    m->may_leave = !uniform;
    m->loop_room--;
    s->blocks[0] = make_inner(m, 5, uniform);
    m->loop_room++;
    m->may_leave = outer;
}

/* What only programs have whose warps are alike. */
static enum statement_kind some_alike(struct maker *m)
{
    if (m->uniform && !m->program->exits && below(m, 3) == 0)
        return ST_PUBLISH;
    static const enum statement_kind kinds[] = {ST_SEED, ST_SEED, ST_OWN, ST_PEEK, ST_PEEK};
    return kinds[below(m, 5)];
}

static enum statement_kind some_kind(struct maker *m)
{
    if (m->alike && below(m, 5) == 0)
        return some_alike(m);
    u32 dice = below(m, 100);
    bool deep = m->depth >= MAX_DEPTH || m->budget < 4;
    if (m->uniform && !m->program->exits && dice < 9) {
        static const enum statement_kind collective[] = {ST_EXCHANGE, ST_SHUFFLE, ST_VOTE,
                                                         ST_BALLOT};
        return collective[below(m, 4)];
    }
    if (dice < 60)
        return ST_OP;
    if (!deep && dice < 70)
        return ST_IF;
    if (!deep && dice < 76 && m->loop_room > 0)
        return ST_LOOP;
    if (!deep && dice < 79)
        return below(m, 3) ? ST_COPY : ST_SWITCH;
    if (dice < 82)
        return m->may_leave ? (below(m, 2) ? ST_BREAK : ST_CONTINUE) : ST_CARRY;
    if (dice < 85)
        return ST_LOAD;
    if (dice < 88)
        return ST_LOCAL_ST;
    if (dice < 91)
        return ST_LOCAL_LD;
    if (dice < 93)
        return ST_ATOMIC;
    if (dice < 94)
        return m->function ? ST_ATOMIC : ST_ATOMIC_SH;
    if (dice < 96)
        return m->first_callee < FUNCTIONS ? (below(m, 3) ? ST_CALL : ST_CALL_ANY) : ST_UNPACK;
    if (dice < 97)
        return m->function ? ST_RETURN : ST_UNPACK;
    if (dice < 98 && m->program->exits && !m->function)
        return ST_EXIT;
    return ST_UNPACK;
}

/* Most statements that all threads come to are of the whole block, others of few threads. */
static enum tier some_tier(struct maker *m)
{
    u32 dice = below(m, 10);
    if (m->parted)
        return dice < 1 ? TIER_BLOCK : dice < 4 ? TIER_X : TIER_ANY;
    return dice < 5 ? TIER_BLOCK : dice < 8 ? TIER_X : TIER_ANY;
}

static void make_statement(struct maker *m, struct statement *s)
{
    m->budget--;
    if (m->alike)
        m->tier = some_tier(m);
    s->kind = some_kind(m);
    s->guard = some_register(m, 'P', false);
    s->guard_negated = below(m, 2);
    s->dst[0] = some_register(m, 'R', false);
    s->dst[1] = (s->dst[0] + 1 + below(m, REGS_R - 1)) % REGS_R;
    for (unsigned k = 0; k < 4; k++)
        s->src[k] = some_operand(m, 'R', k == 1);
    switch (s->kind) {
    case ST_OP:
        make_op(m, s);
        s->guarded = below(m, 5) == 0;
        break;
    case ST_IF:
        s->blocks[0] = make_inner(m, 5, false);
        s->blocks[1] = below(m, 2) ? make_inner(m, 5, false) : NULL;
        break;
    case ST_LOOP:
        make_loop(m, s);
        break;
    case ST_COPY:
        s->op = below(m, 3);
        s->src[0].reg = some_register(m, "RDP"[s->op], true);
        s->dst[0] = some_register(m, "RDP"[s->op], false);
        s->blocks[0] = make_inner(m, 5, false);
        break;
    case ST_SWITCH:
        for (unsigned k = 0; k < 4; k++)
            s->blocks[k] = make_inner(m, 3, false);
        break;
    case ST_ATOMIC:
        s->op = below(m, COUNTERS);
        s->guarded = below(m, 3) == 0;
        s->other = below(m, 2); /* atom with an unused result, or red */
        break;
    case ST_ATOMIC_SH:
        s->op = below(m, SHARED_COUNTERS);
        break;
    case ST_CALL:
    case ST_CALL_ANY:
        s->op = m->first_callee + below(m, FUNCTIONS - m->first_callee);
        s->other = m->first_callee + below(m, FUNCTIONS - m->first_callee);
        s->src[2] = some_operand(m, 'D', false);
        break;
    case ST_UNPACK:
        s->src[0] = some_operand(m, 'D', false);
        break;
    case ST_EXCHANGE:
        s->other = 1 + below(m, 40);
        break;
    case ST_SEED:
        s->op = m->tier == TIER_BLOCK ? SEED_BLOCK : m->tier == TIER_X ? SEED_X : below(m, SEEDS);
        s->other = (u32)next(m);
        break;
    case ST_PEEK:
        s->op = below(m, 2);
        break;
    case ST_PUBLISH:
        s->op = below(m, 2);
        s->other = below(m, program_threads(m->program));
        break;
    case ST_SHUFFLE:
        s->other = 1 + below(m, 31);
        break;
    case ST_VOTE:
        s->other = below(m, 2);
        s->dst[0] = some_register(m, 'P', false);
        break;
    default:
        break;
    }
}

static struct block *make_block(struct maker *m, u32 most)
{
    struct block *block = pool(m->program, sizeof *block);
    u32 count = 1 + below(m, most);
    block->items = pool(m->program, count * sizeof *block->items);
    for (u32 i = 0; i < count && m->budget > 0; i++)
        make_statement(m, &block->items[block->count++]);
    return block;
}

struct program *program_generate(u64 seed, bool alike)
{
    static const u32 alike_shapes[][3] = {
        {16, 16, 1}, {8, 8, 1},  {32, 4, 1}, {16, 8, 1}, {8, 4, 4},  {4, 4, 8},  {32, 2, 1},
        {48, 2, 1},  {24, 3, 1}, {17, 5, 1}, {64, 2, 1}, {64, 4, 1}, {96, 1, 1}, {128, 1, 1},
        {16, 4, 4},  {2, 2, 32}, {4, 32, 1}, {1, 64, 1}, {8, 12, 1}, {16, 2, 5}};
    static const u32 shapes[][3] = {{32, 1, 1}, {1, 1, 1},  {31, 1, 1},  {33, 1, 1},
                                    {64, 1, 1}, {96, 1, 1}, {100, 1, 1}, {5, 7, 1},
                                    {8, 3, 3},  {16, 4, 1}, {128, 1, 1}, {3, 5, 9}};
    struct program *p = calloc(1, sizeof *p);
    assert(p);
    p->seed = seed;
    struct maker m = {.program = p, .state = seed * 0x2545f4914f6cdd1dull + 99};
    const u32 *shape = alike ? alike_shapes[below(&m, sizeof alike_shapes / sizeof *alike_shapes)]
                             : shapes[below(&m, sizeof shapes / sizeof *shapes)];
    p->alike = alike;
    memcpy(p->block, shape, sizeof p->block);
    p->grid = 1 + below(&m, 3);
    p->exits = below(&m, 4) == 0;
    for (u32 k = FUNCTIONS; k-- > 0;) {
        m.function = true;
        m.uniform = false;
        m.depth = 2;
        m.loop_room = 1;
        m.first_callee = k + 1;
        m.budget = 14;
        p->functions[k].recursive = below(&m, 3) == 0;
        p->functions[k].body = make_block(&m, 8);
    }
    m.alike = alike;
    m.function = false;
    m.uniform = true;
    m.depth = 0;
    m.loop_room = 2;
    m.first_callee = 0;
    m.budget = 20 + (int)below(&m, 60);
    p->body = make_block(&m, 40);
    return p;
}

void program_free(struct program *program)
{
    for (size_t i = 0; i < program->pool_count; i++)
        free(program->pool[i]);
    free(program->pool);
    free(program);
}

static size_t collect(const struct block *block, struct statement **list, size_t at)
{
    for (u32 i = 0; block && i < block->count; i++) {
        if (list)
            list[at] = &block->items[i];
        at++;
        for (unsigned k = 0; k < 4; k++)
            at = collect(block->items[i].blocks[k], list, at);
    }
    return at;
}

size_t program_statements(const struct program *program, struct statement **list)
{
    size_t at = collect(program->body, list, 0);
    for (u32 k = 0; k < FUNCTIONS; k++)
        at = collect(program->functions[k].body, list, at);
    return at;
}
