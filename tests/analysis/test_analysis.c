/*
 * Flow graphs, dominators, post-dominators and liveness against definitions taken literally: a
 * block dominates another if removing it cuts the way there; a location is live if a path reads it
 * before writing it. Random code, small enough for the slow way.
 */
#include "analysis/liveness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    INSTS_MAX = 60,
    VECTORS = 10,
    MASKS = 3
};

struct sample {
    struct inst insts[INSTS_MAX];
    u32 targets[4];
    struct jump_table table;
    struct code code;
    u64 seed;
};

static u32 pick(struct sample *s, u32 below)
{
    s->seed = s->seed * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)(s->seed >> 33) % below;
}

static struct operand vector(u32 index, u32 count)
{
    return operand_make(OPERAND_VECTOR, index, count);
}

static struct inst random_inst(struct sample *s, u32 count)
{
    struct inst inst = {.op = OP_add_b32, .vector = 1};
    if (pick(s, 4) == 0)
        inst.guard = operand_make(OPERAND_MASK, pick(s, MASKS), 1);
    switch (pick(s, 9)) {
    case 0:
        inst.op = OP_bra;
        inst.imm = pick(s, count);
        break;
    case 1:
        inst.op = pick(s, 3) ? OP_brx : OP_exit;
        inst.src[0] = vector(pick(s, VECTORS), 1);
        break;
    case 2:
        inst.op = OP_setp_u32;
        inst.dst[0] = operand_make(OPERAND_MASK, pick(s, MASKS), 1);
        inst.src[0] = vector(pick(s, VECTORS), 1);
        break;
    case 3:
        inst.op = OP_add_b64;
        inst.dst[0] = vector(pick(s, VECTORS / 2) * 2, 2);
        inst.src[0] = vector(pick(s, VECTORS / 2) * 2, 2);
        break;
    default:
        inst.dst[0] = vector(pick(s, VECTORS), 1);
        inst.src[0] = vector(pick(s, VECTORS), 1);
    }
    return inst;
}

static void make_sample(struct sample *s, u64 seed)
{
    memset(s, 0, sizeof *s);
    s->seed = seed * 977 + 5;
    u32 count = 4 + pick(s, INSTS_MAX - 4);
    for (u32 i = 0; i < count; i++)
        s->insts[i] = random_inst(s, count);
    s->insts[count - 1] = (struct inst){.op = OP_ret};
    for (u32 i = 0; i < 4; i++)
        s->targets[i] = pick(s, count);
    s->table = (struct jump_table){s->targets, 4};
    s->code = (struct code){
        .insts = s->insts, .count = count, .tables = &s->table, .vectors = VECTORS, .masks = MASKS};
}

/* Instructions that can follow; `exits` tells whether the end can. */
static u32 followers(const struct sample *s, u32 at, u32 *next, bool *exits)
{
    const struct inst *inst = &s->insts[at];
    bool guarded = inst->guard.kind != OPERAND_NONE;
    u32 count = 0;
    *exits = inst->op == OP_ret || inst->op == OP_exit;
    if (inst->op == OP_bra)
        next[count++] = (u32)inst->imm;
    for (u32 i = 0; inst->op == OP_brx && i < 4; i++)
        next[count++] = s->targets[i];
    bool jumps = inst->op == OP_bra || inst->op == OP_brx || *exits;
    if (!jumps || guarded)
        next[count++] = at + 1;
    return count;
}

/* Whether instruction `to` (or the exit: count) can be reached from `from` without `avoid`. */
static bool reaches(const struct sample *s, u32 from, u32 to, u32 avoid)
{
    bool seen[INSTS_MAX + 1] = {0};
    u32 stack[INSTS_MAX * 8], depth = 0;
    if (from == avoid)
        return false;
    stack[depth++] = from;
    seen[from] = true;
    while (depth) {
        u32 at = stack[--depth], next[8];
        bool exits;
        if (at == to)
            return true;
        u32 n = followers(s, at, next, &exits);
        if (exits && to == s->code.count)
            return true;
        for (u32 i = 0; i < n; i++) {
            if (next[i] == avoid || seen[next[i]])
                continue;
            seen[next[i]] = true;
            stack[depth++] = next[i];
        }
    }
    return false;
}

/* G3 gives endless loops an exit the definition does not know: blocks that lead there are left out.
 */
static bool always_exits(const struct sample *s, const struct cfg *cfg, u32 from)
{
    for (u32 b = 0; b < cfg->count; b++)
        if (reaches(s, from, cfg->blocks[b].first, NO_INST) &&
            !reaches(s, cfg->blocks[b].first, s->code.count, NO_INST))
            return false;
    return true;
}

static void dominators_agree(void **state)
{
    (void)state;
    struct sample *s = malloc(sizeof *s);
    for (u64 seed = 1; seed <= 200; seed++) {
        make_sample(s, seed);
        struct arena *arena = arena_create();
        struct cfg *cfg = cfg_build(arena, &s->code);
        for (u32 b = 0; b < cfg->count; b++) {
            u32 first = cfg->blocks[b].first;
            bool reachable = reaches(s, 0, first, NO_INST);
            bool can_exit = always_exits(s, cfg, first);
            assert_int_equal(reachable, cfg->blocks[b].enter != 0);
            for (u32 a = 0; a < cfg->count; a++) {
                u32 other = cfg->blocks[a].first;
                if (reachable && a != b)
                    assert_int_equal(cfg_dominates(cfg, a, b), !reaches(s, 0, first, other));
                if (!can_exit || a == b)
                    continue;
                bool found = false;
                for (u32 up = cfg->blocks[b].ipdom; up != NO_BLOCK; up = cfg->blocks[up].ipdom)
                    found |= up == a;
                assert_int_equal(found, !reaches(s, first, s->code.count, other));
            }
        }
        arena_destroy(arena);
    }
    free(s);
}

/* Every location at every instruction, the slow way. */
static bool is_live(const struct sample *s, u32 from, u32 location)
{
    bool seen[INSTS_MAX] = {0};
    u32 stack[INSTS_MAX * 8], depth = 0;
    stack[depth++] = from;
    seen[from] = true;
    while (depth) {
        u32 at = stack[--depth], next[8];
        struct refs refs;
        inst_refs(&s->code, &s->insts[at], &refs);
        bool killed = false, exits;
        for (u32 i = 0; i < refs.read_count; i++)
            if (refs.reads[i] == location)
                return true;
        for (u32 i = 0; refs.kills && i < refs.write_count; i++)
            killed |= refs.writes[i] == location;
        u32 n = killed ? 0 : followers(s, at, next, &exits);
        for (u32 i = 0; i < n; i++) {
            if (!seen[next[i]]) {
                seen[next[i]] = true;
                stack[depth++] = next[i];
            }
        }
    }
    return false;
}

static void liveness_agrees(void **state)
{
    (void)state;
    struct sample *s = malloc(sizeof *s);
    u32 live_count = 0, dead_count = 0;
    for (u64 seed = 1; seed <= 150; seed++) {
        make_sample(s, seed);
        struct arena *arena = arena_create();
        struct cfg *cfg = cfg_build(arena, &s->code);
        struct liveness *live = liveness_compute(arena, &s->code, cfg);
        struct live_set set = live_set_create(VECTORS + MASKS);
        for (u32 b = 0; b < cfg->count; b++) {
            live_set_at_end(&set, live, b);
            for (u32 i = cfg->blocks[b].end; i-- > cfg->blocks[b].first;) {
                struct refs refs;
                inst_refs(&s->code, &s->insts[i], &refs);
                live_set_step(&set, &refs);
                for (u32 k = 0; k < VECTORS + MASKS; k++) {
                    bool slow = is_live(s, i, k);
                    slow ? live_count++ : dead_count++;
                    assert_int_equal(live_set_has(&set, k), slow);
                }
            }
            struct live_set start = live_set_create(VECTORS + MASKS);
            live_set_at_start(&start, live, b);
            assert_int_equal(start.count, set.count);
            live_set_free(&start);
        }
        live_set_free(&set);
        arena_destroy(arena);
    }
    assert_true(live_count > 1000 && dead_count > 1000);
    free(s);
}

static void loops_have_depth(void **state)
{
    (void)state;
    struct inst insts[] = {
        {.op = OP_nop},           {.op = OP_nop}, {.op = OP_bra, .imm = 2},
        {.op = OP_bra, .imm = 1}, {.op = OP_ret},
    };
    insts[2].guard = insts[3].guard = operand_make(OPERAND_MASK, 0, 1);
    struct code code = {.insts = insts, .count = 5, .masks = 1};
    struct arena *arena = arena_create();
    struct cfg *cfg = cfg_build(arena, &code);
    assert_int_equal(cfg->blocks[cfg->block_of[0]].loop_depth, 0);
    assert_int_equal(cfg->blocks[cfg->block_of[1]].loop_depth, 1);
    assert_int_equal(cfg->blocks[cfg->block_of[2]].loop_depth, 2);
    assert_int_equal(cfg->blocks[cfg->block_of[4]].loop_depth, 0);
    arena_destroy(arena);
}

/* G3: a loop without a way out still has post-dominators. */
static void endless_loops(void **state)
{
    (void)state;
    struct inst insts[] = {{.op = OP_bra, .imm = 2}, {.op = OP_nop}, {.op = OP_bra, .imm = 0}};
    insts[0].guard = operand_make(OPERAND_MASK, 0, 1);
    struct code code = {.insts = insts, .count = 3, .masks = 1};
    struct arena *arena = arena_create();
    struct cfg *cfg = cfg_build(arena, &code);
    assert_int_equal(cfg->count, 3);
    assert_int_equal(cfg->blocks[0].ipdom, 2);
    assert_int_equal(cfg->blocks[2].ipdom, NO_BLOCK);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dominators_agree),
        cmocka_unit_test(liveness_agrees),
        cmocka_unit_test(loops_have_depth),
        cmocka_unit_test(endless_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
