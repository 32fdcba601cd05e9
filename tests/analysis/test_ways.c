/*
 * Marks against what they promise, on random code with any flow at all: loops with several entries,
 * ways out of the middle, barriers that threads come to unequally often.
 *
 * Threads of different warps, one lane each, run in a small interpreter from barrier to barrier.
 * What a marked instruction gives must be the same in all threads that have come the same way since
 * the last barrier. tid.z and the warp's number differ between threads, tid.x and tid.y in some
 * trials.
 */
#include "analysis/redundancy.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    INSTS = 36,
    VECTORS = 7,
    DIFFERING = 2, /* of them */
    MASKS = 4,
    THREADS = 4,
    STEPS = 400, /* of a thread in all */
    SEEN = 4096, /* a power of two, more than THREADS * STEPS */
    CONSTANTS = 8,
    WAYS = 4 /* of a jump table */
};

struct sample {
    struct inst insts[INSTS];
    u32 constants[CONSTANTS];
    u32 targets[WAYS];
    struct jump_table table;
    struct function function;
    struct program program;
    u64 seed;
    bool odd; /* everything in it may depend on everything */
};

static u32 pick(struct sample *s, u32 below)
{
    s->seed = s->seed * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)(s->seed >> 33) % below;
}

static struct operand vector(struct sample *s)
{
    return operand_make(OPERAND_VECTOR, pick(s, VECTORS), 1);
}

static struct operand mask(struct sample *s)
{
    return operand_make(OPERAND_MASK, pick(s, MASKS), 1);
}

static struct operand constant(struct sample *s)
{
    return operand_make(OPERAND_CONST, pick(s, CONSTANTS), 1);
}

/* Values differ between threads from the start: in the first registers. The others count. */
static struct operand counter(struct sample *s)
{
    return operand_make(OPERAND_VECTOR, DIFFERING + pick(s, VECTORS - DIFFERING), 1);
}

static struct inst random_branch(struct sample *s, u32 count)
{
    struct inst inst = {.op = OP_bra, .imm = DIFFERING + pick(s, count - DIFFERING)};
    if (!pick(s, 12))
        return (struct inst){.op = OP_brx, .src = {pick(s, 2) ? counter(s) : vector(s)}};
    if (pick(s, 8)) {
        inst.guard = mask(s);
        inst.guard.neg = pick(s, 2);
    }
    return inst;
}

static struct inst random_inst(struct sample *s, u32 count)
{
    struct inst inst = {.op = OP_add_b32, .dst = {counter(s)}};
    u32 dice = pick(s, 100);
    inst.src[0] = inst.dst[0];
    inst.src[1] = constant(s);
    if (dice < 25)
        return random_branch(s, count);
    if (dice < 45) {
        inst.op = OP_setp_u32;
        inst.key = pick(s, 2) ? CMP_LT : CMP_EQ;
        inst.dst[0] = mask(s);
        if (!inst.dst[0].index) /* the one mask that differs between threads in any case */
            inst.src[0] = operand_make(OPERAND_VECTOR, pick(s, DIFFERING), 1);
    } else if (dice < 57) {
        inst = (struct inst){.op = OP_bar};
        if (s->odd && !pick(s, 8))
            inst.guard = mask(s);
    } else if (dice < 58) {
        inst = (struct inst){.op = OP_exit, .guard = mask(s)};
    } else if (dice < 65) {
        inst.op = OP_selp_b32;
        inst.src[2] = mask(s);
    } else if (dice < 72) {
        inst.op = OP_mov_b32;
        inst.src[0] = s->odd ? vector(s) : constant(s);
        inst.src[1] = operand_none();
        if (s->odd && !pick(s, 4))
            inst.guard = mask(s);
    } else if (dice < 76) {
        inst.src[1] = counter(s);
    }
    return inst;
}

static void make_sample(struct sample *s, u64 seed)
{
    memset(s, 0, sizeof *s);
    s->seed = seed * 7919 + 3;
    s->odd = !pick(s, 4);
    u32 count = 8 + pick(s, INSTS - 8);
    static const u8 specials[DIFFERING] = {SPECIAL_warpid, SPECIAL_tid_x};
    for (u32 i = 0; i < count; i++)
        s->insts[i] = random_inst(s, count);
    for (u32 i = 0; i < DIFFERING; i++)
        s->insts[i] = (struct inst){.op = OP_sreg,
                                    .dst = {operand_make(OPERAND_VECTOR, i, 1)},
                                    .imm = pick(s, 4) ? specials[i] : SPECIAL_tid_y};
    s->insts[count - 1] = (struct inst){.op = OP_ret};
    for (u32 i = 0; i < CONSTANTS; i++)
        s->constants[i] = i;
    for (u32 i = 0; i < WAYS; i++)
        s->targets[i] = DIFFERING + pick(s, count - DIFFERING);
    s->table = (struct jump_table){s->targets, WAYS};
    s->function = (struct function){
        .name = "k", .is_kernel = true, .end = count, .registers = VECTORS, .masks = MASKS};
    s->program = (struct program){.insts = s->insts,
                                  .inst_count = count,
                                  .functions = &s->function,
                                  .function_count = 1,
                                  .constants = s->constants,
                                  .constant_count = CONSTANTS,
                                  .tables = &s->table,
                                  .table_count = 1,
                                  .traits = {.inst_bytes = 1}};
}

struct thread {
    u32 number, at, steps;
    u32 vectors[VECTORS];
    bool masks[MASKS], done;
    u64 way;
};

struct seen {
    u64 key;
    u32 value;
};

struct trial {
    const struct sample *sample;
    const u8 *marks;
    u32 block[3]; /* tid.x and tid.y are the same in all threads if their marks hold */
    u32 epoch;    /* barriers */
    struct seen seen[SEEN];
    u64 compared, lies;
    u32 first; /* instruction with a lie */
};

static u64 mix(u64 hash, u64 value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
}

static u32 value_of(const struct trial *t, const struct thread *thread, struct operand o)
{
    return o.kind == OPERAND_CONST ? t->sample->constants[o.index] : thread->vectors[o.index];
}

static bool is_set(const struct thread *thread, struct operand o)
{
    return thread->masks[o.index] != o.neg;
}

static u32 special_of(const struct trial *t, const struct thread *thread, enum special special)
{
    bool x = redundancy_holds(REDUNDANT_X, t->block, 32);
    bool y = redundancy_holds(REDUNDANT_XY, t->block, 32);
    switch (special) {
    case SPECIAL_tid_x:
        return x ? 2 : thread->number * 2;
    case SPECIAL_tid_y:
        return y ? 3 : thread->number ^ 1;
    case SPECIAL_tid_z:
    case SPECIAL_warpid:
        return thread->number;
    default:
        return 4;
    }
}

static void judge(struct trial *t, const struct thread *thread, u32 at, u32 value)
{
    u64 key = mix(mix(thread->way, t->epoch), at) | 1;
    u32 place = key % SEEN;
    if (!redundancy_holds((enum redundancy)t->marks[at], t->block, 32))
        return;
    while (t->seen[place].key && t->seen[place].key != key)
        place = (place + 1) % SEEN;
    t->compared += t->seen[place].key != 0;
    if (t->seen[place].key && t->seen[place].value != value && !t->lies++)
        t->first = at;
    t->seen[place] = (struct seen){key, value};
}

static u32 result_of(const struct trial *t, const struct thread *thread, const struct inst *inst)
{
    u32 a = value_of(t, thread, inst->src[0]), b = value_of(t, thread, inst->src[1]);
    switch (inst->op) {
    case OP_setp_u32:
        return inst->key == CMP_LT ? a < b : a == b;
    case OP_selp_b32:
        return is_set(thread, inst->src[2]) ? a : b;
    case OP_mov_b32:
        return a;
    case OP_sreg:
        return special_of(t, thread, (enum special)inst->imm);
    default: /* small, so that comparisons are of use */
        return (a + b) % 8;
    }
}

/* To the next barrier, or to the end. */
static void run(struct trial *t, struct thread *thread)
{
    while (!thread->done) {
        const u32 at = thread->at++;
        const struct inst *inst = &t->sample->insts[at];
        bool runs = inst->guard.kind == OPERAND_NONE || is_set(thread, inst->guard);
        thread->way = mix(thread->way, at + 1);
        thread->done = ++thread->steps == STEPS;
        if (inst->op == OP_bra) {
            thread->at = runs ? (u32)inst->imm : thread->at;
        } else if (inst->op == OP_brx) {
            thread->at = t->sample->targets[value_of(t, thread, inst->src[0]) % WAYS];
        } else if (inst->op == OP_exit || inst->op == OP_ret) {
            thread->done |= runs;
        } else if (inst->op == OP_bar) {
            if (runs)
                return;
        } else if (runs) {
            u32 value = result_of(t, thread, inst);
            judge(t, thread, at, value);
            if (inst->dst[0].kind == OPERAND_MASK)
                thread->masks[inst->dst[0].index] = value;
            else
                thread->vectors[inst->dst[0].index] = value;
        }
    }
}

static void run_all(struct trial *t)
{
    struct thread threads[THREADS] = {0};
    for (bool any = true; any; t->epoch++) {
        any = false;
        for (u32 i = 0; i < THREADS; i++) {
            threads[i].number = i;
            threads[i].way = 0;
            run(t, &threads[i]);
            any |= !threads[i].done;
        }
    }
}

static void show(const struct trial *t, u64 seed)
{
    print_error("seed %u, block %u,%u,%u, first at %u\n", (u32)seed, t->block[0], t->block[1],
                t->block[2], t->first);
    for (u32 i = 0; i < t->sample->program.inst_count; i++) {
        char text[256];
        print_error("%-2s %3u  %s\n", redundancy_name((enum redundancy)t->marks[i]), i,
                    inst_text(&t->sample->program, i, text, sizeof text));
    }
}

static void test_promises(void **state)
{
    static const u32 blocks[][3] = {{64, 2, 1}, {16, 8, 1}, {4, 8, 4}};
    u64 compared = 0, marked = 0;
    const u64 *seeds = *state;
    for (u64 seed = seeds[0]; seed < seeds[0] + seeds[1]; seed++) {
        struct sample s;
        make_sample(&s, seed);
        struct arena *arena = arena_create();
        const u8 *marks = redundancy_marks(arena, &s.program, &s.function);
        for (u32 i = 0; i < s.program.inst_count; i++)
            marked += marks[i] != REDUNDANT_NO;
        for (u32 k = 0; k < ARRAY_LEN(blocks); k++) {
            struct trial t = {.sample = &s, .marks = marks};
            memcpy(t.block, blocks[k], sizeof t.block);
            run_all(&t);
            compared += t.compared;
            if (t.lies)
                show(&t, seed);
            assert_int_equal(t.lies, 0);
        }
        arena_destroy(arena);
    }
    if (seeds[1] >= 1000)
        assert_true(marked > seeds[1] && compared > 5 * seeds[1]); /* it is worth its time */
}

/* test-ways [FIRST COUNT] */
int main(int argc, char **argv)
{
    u64 seeds[2] = {0, 40000};
    for (int i = 1; i < MIN(argc, 3); i++)
        seeds[i - 1] = strtoull(argv[i], NULL, 0);
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_promises, seeds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
