/* Random programs: instructions of a mix inside branches, loops, calls and forks. See gen.h. */
#include "gen.h"

#include <assert.h>
#include <string.h>

/*                          scalar int float double cmp cross movrel exec mode smem buf fmt atom lds
 * ldsat ctl */
const struct mix mixes[] = {
    {"all", {10, 10, 10, 6, 6, 3, 2, 1, 2, 3, 4, 2, 2, 4, 3, 1}, 4, 4, 4, 2, 2, 2},
    {"scalar", {20, 2, 0, 0, 2, 2, 2, 2, 0, 3, 0, 0, 0, 0, 0, 1}, 8, 2, 6, 3, 2, 0},
    {"vector", {2, 20, 4, 0, 8, 4, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0}, 1, 8, 2, 1, 2, 0},
    {"float", {1, 2, 20, 10, 6, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0}, 1, 2, 1, 0, 0, 0},
    {"memory", {2, 4, 1, 0, 1, 1, 0, 1, 0, 6, 10, 6, 8, 8, 8, 0}, 2, 4, 2, 1, 0, 3},
    {"control", {4, 4, 1, 0, 6, 1, 0, 4, 0, 0, 1, 0, 0, 1, 0, 2}, 12, 12, 8, 6, 6, 4},
    {"straight", {8, 10, 8, 4, 6, 2, 1, 0, 1, 2, 4, 2, 2, 4, 3, 1}, 0, 0, 0, 0, 0, 0},
};
const u32 mix_count = sizeof mixes / sizeof *mixes;

enum {
    MAX_DEPTH_SI = 3,
    MAX_CALLS = 8,
    WORD_BUDGET = 700
};

struct builder {
    struct program *p;
    struct rng *r;
    const struct mix *mix;
    struct limits limits;
    u32 by_group[GROUPS][OPS], group_size[GROUPS];
    u32 calls[MAX_CALLS], call_count; /* words whose literal is a distance to a function */
    bool in_call;
};

static void one(struct builder *b, enum op op, u32 dst, u32 src0, u32 src1)
{
    struct insn n = insn_of(op);
    n.dst = dst;
    n.src[0] = src0;
    n.src[1] = src1;
    emit(b->p, &n);
}

static void with_literal(struct builder *b, enum op op, u32 dst, u32 src0, u32 literal)
{
    struct insn n = insn_of(op);
    n.dst = dst;
    n.src[0] = op == OP_s_mov_b32 ? LITERAL : src0;
    n.src[1] = op == OP_s_mov_b32 ? 0 : LITERAL;
    n.has_literal = true;
    n.literal = literal;
    emit(b->p, &n);
}

/* A branch whose distance is set later; returns its place. */
static u32 branch(struct builder *b, enum op op)
{
    struct insn n = insn_of(op);
    emit(b->p, &n);
    return b->p->count - 1;
}

static void land(struct builder *b, u32 place)
{
    b->p->words[place] = (b->p->words[place] & 0xffff0000) | (u16)(b->p->count - place - 1);
}

static void linear_addresses(struct builder *b, u32 reg)
{
    struct insn n = insn_of(OP_v_mbcnt_lo_u32_b32);
    n.dst = reg;
    n.format = F_VOP3;
    n.src[0] = 193;
    n.src[1] = 128;
    emit(b->p, &n);
    n.op = OP_v_mbcnt_hi_u32_b32;
    n.row = &rows[n.op];
    n.src[1] = 256 + reg;
    emit(b->p, &n);
    struct insn shift = insn_of(OP_v_lshlrev_b32);
    shift.dst = reg;
    shift.src[0] = reg == V_LDS ? 131 : 132;
    shift.src[1] = 256 + reg;
    emit(b->p, &shift);
}

/* Anew, from a register nothing restricts: addresses change while the program runs. */
static void refresh_addresses(struct builder *b)
{
    static const struct {
        u32 reg, mask;
    } which[] = {{V_AT4, 0xffc}, {V_AT16, 0xff0}, {V_AT8, 0xff8}, {V_INDEX, 0x1f},
                 {V_LDS, 0x5f8}, {V_LDS1, 0x5ff}, {V_AT1, 0x7ff}, {V_AT2, 0x7fe}};
    u32 i = rng_below(b->r, sizeof which / sizeof *which);
    if (rng_chance(b->r, 30)) { /* lanes side by side: 4, 8 or 16 bytes times their number */
        linear_addresses(b, rng_chance(b->r, 50) ? V_LDS : V_AT16);
        return;
    }
    struct insn n = insn_of(OP_v_and_b32);
    n.dst = which[i].reg;
    n.src[0] = LITERAL;
    n.has_literal = true;
    n.literal = which[i].mask;
    n.src[1] = 256 + rng_below(b->r, PLAY_VECTORS);
    emit(b->p, &n);
}

static u32 pick_group(struct builder *b)
{
    u32 total = 0;
    for (u32 g = 0; g < GROUPS; g++)
        total += b->mix->group[g];
    u32 at = rng_below(b->r, total);
    for (u32 g = 0; g < GROUPS; g++) {
        if (at < b->mix->group[g])
            return g;
        at -= b->mix->group[g];
    }
    return G_SCALAR;
}

static void idle(struct builder *b)
{
    static const enum op ops[] = {OP_s_nop, OP_s_waitcnt, OP_s_sleep, OP_s_setprio,
                                  OP_s_icache_inv};
    struct insn n = insn_of(ops[rng_below(b->r, 5)]);
    n.imm = n.op == OP_s_waitcnt ? 0 : (u16)rng_below(b->r, 4);
    emit(b->p, &n);
}

static void plain(struct builder *b)
{
    u32 group = pick_group(b);
    struct insn n;
    if (group == G_CONTROL) {
        idle(b);
        return;
    }
    if (b->group_size[group] == 0)
        return;
    enum op op = (enum op)b->by_group[group][rng_below(b->r, b->group_size[group])];
    if (!random_insn(b->r, op, &b->limits, &n))
        return;
    if (group >= G_BUFFER && group <= G_LDSATOMIC && rng_chance(b->r, 30))
        refresh_addresses(b);
    if (group == G_MOVREL)
        one(b, OP_s_mov_b32, M0, 128 + rng_below(b->r, 8), 0);
    if (n.lds)
        one(b, OP_s_mov_b32, M0, S_LIMIT, 0);
    emit(b->p, &n);
    if (group == G_MOVREL)
        one(b, OP_s_mov_b32, M0, S_LIMIT, 0);
    /* or soon no lane would be left */
    bool narrows = group == G_EXEC || (group == G_COMPARE && n.row->opcode & 0x10);
    if (narrows && rng_chance(b->r, 75))
        one(b, OP_s_mov_b64, EXEC, 193, 0);
}

static void block(struct builder *b, u32 depth, u32 length);

static void some_compare(struct builder *b, bool vector)
{
    struct insn n;
    enum op op = vector ? (enum op)(OP_v_cmp_lt_i32 + rng_below(b->r, 6))
                        : (enum op)(OP_s_cmp_eq_i32 + rng_below(b->r, 12));
    random_insn(b->r, op, &b->limits, &n);
    if (vector && n.format == F_VOP3)
        n.dst = VCC;
    emit(b->p, &n);
}

static void if_scalar(struct builder *b, u32 depth)
{
    static const enum op ops[] = {OP_s_cbranch_scc0, OP_s_cbranch_scc1, OP_s_cbranch_vccz,
                                  OP_s_cbranch_vccnz};
    u32 which = rng_below(b->r, 4);
    some_compare(b, which >= 2);
    u32 over = branch(b, ops[which]);
    block(b, depth + 1, 3);
    if (rng_chance(b->r, 50)) {
        u32 out = branch(b, OP_s_branch);
        land(b, over);
        block(b, depth + 1, 3);
        over = out;
    }
    land(b, over);
}

static void if_vector(struct builder *b, u32 depth)
{
    u32 saved = S_SAVED + 2 * depth;
    some_compare(b, true);
    one(b, OP_s_and_saveexec_b64, saved, VCC, 0);
    bool skip = rng_chance(b->r, 50);
    u32 over = skip ? branch(b, OP_s_cbranch_execz) : 0;
    block(b, depth + 1, 3);
    if (skip)
        land(b, over);
    if (rng_chance(b->r, 50)) { /* the others */
        one(b, OP_s_xor_b64, EXEC, EXEC, saved);
        block(b, depth + 1, 3);
    }
    one(b, OP_s_mov_b64, EXEC, saved, 0);
}

static void loop(struct builder *b, u32 depth)
{
    u32 counter = S_COUNTER + depth;
    struct insn less = insn_of(OP_s_addk_i32);
    less.dst = counter;
    less.imm = 0xffff;
    one(b, OP_s_mov_b32, counter, 129 + rng_below(b->r, 3), 0);
    u32 top = b->p->count;
    block(b, depth + 1, 4);
    emit(b->p, &less);
    struct insn test = insn_of(OP_s_cmpk_lg_i32);
    test.dst = counter;
    emit(b->p, &test);
    u32 back = branch(b, OP_s_cbranch_scc1);
    b->p->words[back] = (b->p->words[back] & 0xffff0000) | (u16)(top - back - 1);
}

/* The function comes after the end; where is known when it is laid down. */
static void call(struct builder *b)
{
    if (b->in_call || b->call_count == MAX_CALLS)
        return;
    one(b, OP_s_getpc_b64, S_CALL, 0, 0);
    with_literal(b, OP_s_add_u32, S_CALL, S_CALL, 0);
    b->calls[b->call_count++] = b->p->count - 1;
    one(b, OP_s_addc_u32, S_CALL + 1, S_CALL + 1, 128);
    one(b, OP_s_swappc_b64, S_RETURN, S_CALL, 0);
}

static void functions(struct builder *b)
{
    b->in_call = true;
    for (u32 i = 0; i < b->call_count; i++) {
        u32 literal = b->calls[i];
        b->p->words[literal] = 4 * (b->p->count - (literal - 1)); /* getpc gave the add's address */
        block(b, MAX_DEPTH_SI, 3);
        one(b, OP_s_setpc_b64, 0, S_RETURN, 0);
    }
}

/* Lanes take both paths, one after the other; s0-s3 hold the path that waits. */
static void fork_join(struct builder *b, u32 depth)
{
    u32 saved = S_SAVED + 2 * depth;
    struct limits before = b->limits;
    some_compare(b, true);
    one(b, OP_s_mov_b64, saved, EXEC, 0);
    u32 place;
    if (rng_chance(b->r, 50)) {
        struct insn n = insn_of(OP_s_cbranch_i_fork);
        n.dst = VCC;
        emit(b->p, &n);
        place = b->p->count - 1;
    } else {
        one(b, OP_s_getpc_b64, S_CALL, 0, 0);
        with_literal(b, OP_s_add_u32, S_CALL, S_CALL, 0);
        place = b->p->count - 1;
        one(b, OP_s_addc_u32, S_CALL + 1, S_CALL + 1, 128);
        one(b, OP_s_cbranch_g_fork, 0, VCC, S_CALL);
    }
    bool indirect = b->p->words[place] == 0;
    b->limits.scalar_first = 8;
    block(b, MAX_DEPTH_SI, 3);
    u32 over = branch(b, OP_s_branch);
    if (indirect)
        b->p->words[place] = 4 * (b->p->count - (place - 1));
    else
        land(b, place);
    block(b, MAX_DEPTH_SI, 3);
    land(b, over);
    one(b, OP_s_cbranch_join, 0, S_CSP, 0);
    one(b, OP_s_mov_b64, EXEC, saved, 0);
    b->limits = before;
}

static void structure(struct builder *b, u32 depth)
{
    const struct mix *m = b->mix;
    u32 at = rng_below(b->r, 100);
    if (at < m->if_scalar) {
        if_scalar(b, depth);
        return;
    }
    at -= m->if_scalar;
    if (at < m->if_vector) {
        if_vector(b, depth);
        return;
    }
    at -= m->if_vector;
    if (at < m->loop) {
        loop(b, depth);
        return;
    }
    at -= m->loop;
    if (at < m->call) {
        call(b);
        return;
    }
    at -= m->call;
    if (at < m->fork_join)
        fork_join(b, depth);
    else if (depth == 0 && at - m->fork_join < m->barrier)
        branch(b, OP_s_barrier);
}

static void block(struct builder *b, u32 depth, u32 length)
{
    for (u32 i = 0; i < 1 + rng_below(b->r, 2 * length); i++) {
        if (depth < MAX_DEPTH_SI && b->p->count < WORD_BUDGET)
            structure(b, depth);
        plain(b);
    }
}

static void collect_groups(struct builder *b)
{
    for (u32 op = 0; op < OPS; op++) {
        enum group g = rows[op].group;
        b->by_group[g][b->group_size[g]++] = op;
    }
}

void generate(struct program *p, u64 seed, const struct mix *mix)
{
    struct rng r = {seed};
    struct builder b = {.p = p, .r = &r, .mix = mix, .limits = {0, 0, PLAY_VECTORS, true}};
    static const u8 wave_counts[] = {1, 1, 1, 2, 3, 4};
    memset(p->words, 0, sizeof p->words);
    p->seed = seed;
    p->what = mix->name;
    p->count = 0;
    u32 waves = wave_counts[rng_below(&r, 6)];
    fill_state(&r, p, waves, waves > 1 && rng_chance(&r, 40) ? 2 : 1);
    collect_groups(&b);
    emit_getpc(p);
    block(&b, 0, mix->loop || mix->if_scalar ? 14 : 60);
    branch(&b, OP_s_endpgm);
    functions(&b);
    p->start.code = (const u8 *)p->words;
    p->start.code_bytes = p->count * 4;
}
