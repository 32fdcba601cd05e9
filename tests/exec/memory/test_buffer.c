/*
 * Buffers: random descriptors and instructions against a model that walks lane by lane and byte by
 * byte; what is in range but in no memory, or misaligned, must fault.
 */
#include "rig.h"

#include "exec/bounds.h"
#include "exec/dyninst.h"
#include "ir/buffer.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const enum simd builds[] = {SIMD_PORTABLE, SIMD_AVX2};

enum {
    DESCRIPTOR = 8, /* scalars */
    SOFFSET = 12,
    M0 = SCALAR_M0,
    ADDRESS = 0, /* registers */
    DATA = 4
};

/* What the model knows of an instruction. */
struct plan {
    u32 words[4];
    u32 soffset, constant, flags;
};

/* A lane's address, and how many bytes from there on are in range. */
static u64 place(const struct plan *p, u32 lane, u32 v0, u32 v1, u64 *in_range)
{
    u64 base = p->words[0] | (u64)(p->words[1] & 0xffff) << 32;
    u64 stride = p->words[1] >> 16 & 0x3fff, records = p->words[2];
    u64 element = 2u << (p->words[3] >> 19 & 3), group = 8u << (p->words[3] >> 21 & 3);
    *in_range = UINT64_MAX;
    if (p->flags & BUFFER_ADDRESS)
        return base + p->soffset + p->constant + (v0 | (u64)v1 << 32);
    bool both = p->flags & BUFFER_INDEX && p->flags & BUFFER_OFFSET;
    bool tid = p->words[3] >> 23 & 1;
    u32 index = p->flags & BUFFER_INDEX ? v0 : 0;
    u32 offset = p->constant + (both ? v1 : p->flags & BUFFER_OFFSET ? v0 : 0);
    if (tid)
        index += lane;
    u64 at;
    if (p->words[1] >> 31) {
        u64 row = index / group, column = index % group;
        at = row * group * stride + offset / element * element * group + column * element +
             offset % element;
    } else {
        at = index * stride + offset;
    }
    if (stride == 0)
        *in_range = records > at + p->soffset ? records - at - p->soffset : 0;
    else if (index >= records || ((p->flags & BUFFER_INDEX || tid) && offset >= stride))
        *in_range = 0;
    return base + p->soffset + at;
}

static u32 below(u64 *state, u32 n)
{
    return (u32)(rig_random(state) % n);
}

/* A descriptor and a mode that let most lanes, not all, find their way. */
static struct plan make_plan(const struct rig *rig, u64 *state, u32 align)
{
    static const u32 modes[] = {0, BUFFER_INDEX, BUFFER_OFFSET, BUFFER_INDEX | BUFFER_OFFSET,
                                BUFFER_ADDRESS};
    struct plan p = {.constant = below(state, 256) & ~(align - 1),
                     .soffset = below(state, 2) ? below(state, 64) * 16 : 0,
                     .flags = modes[below(state, 5)]};
    u32 stride = below(state, 2) ? 0 : MAX(align, 4) * below(state, 20);
    bool swizzled = below(state, 2);
    u64 base = rig->address + (below(state, 4) ? 0 : 16 * below(state, 100));
    if (p.flags == BUFFER_ADDRESS)
        base = 16 * below(state, 8);
    p.words[0] = (u32)base;
    p.words[1] = (u32)(base >> 32) | stride << 16 | (u32)swizzled << 31;
    p.words[2] = stride ? below(state, 100) : below(state, RIG_BYTES);
    if (below(state, 4) == 0)
        p.words[2] = 0xffffffff;
    p.words[3] = below(state, 1 << 12) | (below(state, 16) | 2) << 19 | below(state, 2) << 23;
    return p;
}

static void set_scalars(struct rig *rig, const struct plan *p)
{
    for (u32 k = 0; k < 4; k++)
        *rig_scalar(rig, DESCRIPTOR + k) = p->words[k];
    *rig_scalar(rig, SOFFSET) = p->soffset;
}

static void set_addresses(struct rig *rig, const struct plan *p, u64 *state, u32 align)
{
    bool wild = below(state, 20) == 0;
    for (u32 lane = 0; lane < 64; lane++) {
        u32 *v0 = rig_vector(rig, ADDRESS, lane), *v1 = rig_vector(rig, ADDRESS + 1, lane);
        u32 near = below(state, 2000) & ~(align - 1);
        *v0 = p->flags & BUFFER_INDEX ? below(state, 110) : near;
        *v1 = near % 128;
        if (p->flags == BUFFER_ADDRESS) {
            u64 to = rig->address + near;
            *v0 = (u32)to;
            *v1 = (u32)(to >> 32);
        }
        if (wild && below(state, 50) == 0)
            *v0 += below(state, 2) ? (u32)rig_random(state) : 1;
        if (wild && p->flags == BUFFER_ADDRESS && below(state, 50) == 0)
            *v1 += 1; /* the right place, 4 GB further */
    }
}

struct outcome_model {
    bool faults;
    u8 bytes[RIG_BYTES];
    u32 data[5][64];
};

static u8 *model_pointer(struct outcome_model *m, const struct rig *rig, u64 address, u32 bytes)
{
    if (address < rig->address || address - rig->address > RIG_BYTES - bytes)
        return NULL;
    return m->bytes + (address - rig->address);
}

/* Loads and stores of `words` words or of one narrow element. */
static void model_move(struct rig *rig, const struct plan *p, u64 lanes, enum type type, u32 words,
                       bool store, struct outcome_model *m)
{
    u32 bytes = MIN(type_bytes(type), 4u);
    for (u32 lane = 0; lane < 64; lane++) {
        if (!(lanes >> lane & 1))
            continue;
        u64 in_range, at = place(p, lane, *rig_vector(rig, ADDRESS, lane),
                                 *rig_vector(rig, ADDRESS + 1, lane), &in_range);
        for (u32 j = 0; j < words; j++) {
            u32 value = 0;
            bool inside = in_range == UINT64_MAX || in_range >= 4 * j + bytes;
            if (p->words[1] >> 16 & 0x3fff && !(p->flags & BUFFER_ADDRESS))
                inside = in_range;
            u8 *memory = model_pointer(m, rig, at + 4 * j, bytes);
            m->faults |= inside && (!memory || at % bytes);
            if (inside && memory && store)
                for (u32 k = 0; k < bytes; k++)
                    memory[k] = (u8)(m->data[j][lane] >> 8 * k);
            for (u32 k = 0; inside && memory && k < bytes; k++)
                value |= (u32)memory[k] << 8 * k;
            if (type == TYPE_S8)
                value = (u32)(i32)(i8)value;
            if (type == TYPE_S16)
                value = (u32)(i32)(i16)value;
            if (!store)
                m->data[j][lane] = value;
        }
    }
}

static u64 random_lanes(u64 *state)
{
    switch (below(state, 4)) {
    case 0:
        return rig_random(state);
    case 1:
        return 1ull << below(state, 64);
    default:
        return ~0ull;
    }
}

static void take_state(struct rig *rig, struct outcome_model *m)
{
    memset(m, 0, sizeof *m);
    memcpy(m->bytes, rig->bytes, RIG_BYTES);
    for (u32 j = 0; j < 5; j++)
        for (u32 lane = 0; lane < 64; lane++)
            m->data[j][lane] = *rig_vector(rig, DATA + j, lane);
}

static void compare_state(struct rig *rig, const struct outcome_model *m, u32 round)
{
    for (u32 j = 0; j < 5; j++)
        for (u32 lane = 0; lane < 64; lane++)
            if (m->data[j][lane] != *rig_vector(rig, DATA + j, lane))
                fail_msg("round %u: v%u lane %u: %08x, not %08x", round, DATA + j, lane,
                         *rig_vector(rig, DATA + j, lane), m->data[j][lane]);
    for (u32 i = 0; i < RIG_BYTES; i++)
        if (m->bytes[i] != rig->bytes[i])
            fail_msg("round %u: byte %u: %02x, not %02x", round, i, rig->bytes[i], m->bytes[i]);
}

static struct inst make_inst(u32 op, enum type type, u32 vector, const struct plan *p)
{
    struct inst inst = {.op = (u16)op,
                        .type = (u8)type,
                        .vector = (u8)vector,
                        .imm = p->constant,
                        .key2 = (u8)p->flags,
                        .src = {operand_none(), S(DESCRIPTOR, 4), S(SOFFSET, 1)}};
    if (p->flags)
        inst.src[0] =
            V(ADDRESS,
              p->flags & BUFFER_ADDRESS || p->flags == (BUFFER_INDEX | BUFFER_OFFSET) ? 2 : 1);
    return inst;
}

static enum simd build_of(u32 round)
{
    return builds[round % 2 && simd_best() == SIMD_AVX2];
}

/* A rig for a random plan and an instruction that depends on it. */
static struct plan begin(struct rig *rig, u64 *state, u32 round, u32 align, struct inst like)
{
    rig_open(rig);
    struct plan p = make_plan(rig, state, align);
    struct inst inst = make_inst(like.op, like.type, like.vector, &p);
    inst.key = like.key;
    inst.dst[0] = like.dst[0];
    inst.src[3] = like.src[3];
    inst.imm |= like.imm;
    rig_start(rig, inst, true, build_of(round));
    rig->inner = round / 2 % 2;
    rig_fill(rig, state);
    set_scalars(rig, &p);
    set_addresses(rig, &p, state, align);
    return p;
}

struct count {
    u32 faults, partial, whole;
};

static void one_move(u64 *state, u32 round, struct count *count)
{
    static const enum type types[] = {TYPE_U8, TYPE_S8, TYPE_U16, TYPE_S16, TYPE_B32};
    enum type type = types[below(state, 5)];
    u32 words = type == TYPE_B32 ? 1 + below(state, 4) : 1;
    bool store = below(state, 2);
    struct inst like = {.op = store ? OP_buf_st : OP_buf_ld, .type = (u8)type, .vector = (u8)words};
    (store ? like.src : like.dst)[store ? 3 : 0] = V(DATA, words);
    struct rig rig;
    struct plan p = begin(&rig, state, round, MIN(type_bytes(type), 4u), like);
    static struct outcome_model m;
    take_state(&rig, &m);
    u64 lanes = random_lanes(state), in_range;
    model_move(&rig, &p, lanes, type, words, store, &m);
    u32 outside = 0;
    for (u32 lane = 0; lane < 64; lane++) {
        place(&p, lane, *rig_vector(&rig, ADDRESS, lane), *rig_vector(&rig, ADDRESS + 1, lane),
              &in_range);
        outside += in_range < 4 * words;
    }
    bool done = rig_run(&rig, lanes);
    if (done == m.faults)
        fail_msg("round %u: %s: %s", round, done ? "no fault" : "fault", rig.exec.fault.message);
    if (done)
        compare_state(&rig, &m, round);
    else
        assert_true(rig.exec.fault.outcome == OUTCOME_OUT_OF_BOUNDS ||
                    rig.exec.fault.outcome == OUTCOME_MISALIGNED);
    count->faults += !done;
    count->partial += done && outside && outside < 64;
    count->whole += done && !outside;
    rig_end(&rig);
}

static void moves(void **unused)
{
    u64 state = 7;
    struct count count = {0};
    for (u32 round = 0; round < 6000; round++)
        one_move(&state, round, &count);
    /* all three happen often enough to mean something */
    if (count.faults < 200 || count.partial < 200 || count.whole < 200)
        fail_msg("%u faults, %u partial, %u whole", count.faults, count.partial, count.whole);
}

/* Scratch as compilers set it up: lane l's word w is word 64 w + l; no stride at all. */
static void scratch(void **unused)
{
    u64 state = 13;
    for (u32 round = 0; round < 400; round++) {
        bool by_register = round & 1, store = round & 2;
        u32 constant = 4 * below(&state, 16);
        struct inst inst = {
            .op = store ? OP_buf_st : OP_buf_ld,
            .type = TYPE_B32,
            .vector = 1,
            .imm = constant,
            .key2 = by_register ? BUFFER_OFFSET : 0,
            .src = {by_register ? V(ADDRESS, 1) : operand_none(), S(DESCRIPTOR, 4), S(SOFFSET, 1)}};
        (store ? inst.src : inst.dst)[store ? 3 : 0] = V(DATA, 1);
        struct rig rig;
        rig_open(&rig);
        rig_start(&rig, inst, true, build_of(round / 8));
        rig.inner = round & 4;
        rig_fill(&rig, &state);
        struct plan p = {
            .words = {(u32)rig.address, (u32)(rig.address >> 32) | 1u << 31, 0xffffffff, 0xe8f000},
            .soffset = 256 * below(&state, 4)};
        set_scalars(&rig, &p);
        u64 lanes = random_lanes(&state);
        static struct outcome_model m;
        take_state(&rig, &m);
        for (u32 lane = 0; lane < 64; lane++) {
            u32 *offset = rig_vector(&rig, ADDRESS, lane);
            *offset = 4 * below(&state, below(&state, 40) ? 30 : 70); /* 64 words are there */
            u32 word = (constant + (by_register ? *offset : 0)) / 4;
            u32 at = p.soffset + 256 * word + 4 * lane;
            if (!(lanes >> lane & 1))
                continue;
            m.faults |= at + 4 > RIG_BYTES;
            if (at + 4 <= RIG_BYTES && store)
                memcpy(m.bytes + at, &m.data[0][lane], 4);
            else if (at + 4 <= RIG_BYTES)
                memcpy(&m.data[0][lane], m.bytes + at, 4);
        }
        bool done = rig_run(&rig, lanes);
        assert_int_equal(done, !m.faults);
        if (done)
            compare_state(&rig, &m, round);
        rig_end(&rig);
    }
}

/* As a core in time does it: stores are seen when the core publishes them. */
static bool run_viewed(struct rig *rig, u64 lanes)
{
    struct memory_view *view = memory_view_create();
    rig->warp->memory_view = view;
    const bool done = rig_run(rig, lanes);
    rig->warp->memory_view = NULL;
    memory_view_publish(view);
    memory_view_destroy(view);
    return done;
}

/* Just below the end of the range, at it and beyond, with memory there all the same. */
static void end_of_range(void **unused)
{
    u64 state = 14;
    for (u32 round = 0; round < 400; round++) {
        u32 words = 1 + below(&state, 4), records = 4 * below(&state, 8) + 1000 + below(&state, 4);
        bool store = round & 4;
        struct inst inst = {.op = store ? OP_buf_st : OP_buf_ld,
                            .type = TYPE_B32,
                            .vector = (u8)words,
                            .imm = 4,
                            .key2 = BUFFER_OFFSET,
                            .src = {V(ADDRESS, 1), S(DESCRIPTOR, 4), S(SOFFSET, 1)}};
        (store ? inst.src : inst.dst)[store ? 3 : 0] = V(DATA, words);
        struct rig rig;
        rig_open(&rig);
        rig_start(&rig, inst, true, build_of(round));
        rig.inner = round & 2;
        rig_fill(&rig, &state);
        struct plan p = {.words = {(u32)rig.address + 8, (u32)(rig.address >> 32), records, 0},
                         .constant = 4,
                         .flags = BUFFER_OFFSET,
                         .soffset = 8};
        set_scalars(&rig, &p);
        for (u32 lane = 0; lane < 64; lane++)
            *rig_vector(&rig, ADDRESS, lane) = 4 * below(&state, 240);
        *rig_vector(&rig, ADDRESS, below(&state, 64)) = 4 * (238 + below(&state, 20));
        static struct outcome_model m;
        take_state(&rig, &m);
        u64 lanes = random_lanes(&state);
        model_move(&rig, &p, lanes, TYPE_B32, words, store, &m);
        assert_false(m.faults);
        assert_true(round % 4 == 0 ? run_viewed(&rig, lanes) : rig_run(&rig, lanes));
        compare_state(&rig, &m, round);
        rig_end(&rig);
    }
}

/* With memory.bounds=warn: words beyond the buffer read as zero and are not written, and each lane
 * that has one counts. */
static void beyond_memory(void **unused)
{
    u64 state = 15;
    for (u32 round = 0; round < 200; round++) {
        const bool store = round & 1, viewed = round & 2;
        const u32 words = 1 + below(&state, 4);
        struct inst inst = {.op = store ? OP_buf_st : OP_buf_ld,
                            .type = TYPE_B32,
                            .vector = (u8)words,
                            .key2 = BUFFER_ADDRESS,
                            .src = {V(ADDRESS, 2), S(DESCRIPTOR, 4), S(SOFFSET, 1)}};
        (store ? inst.src : inst.dst)[store ? 3 : 0] = V(DATA, words);
        struct rig rig;
        rig_open(&rig);
        rig_start(&rig, inst, true, build_of(round));
        rig_fill(&rig, &state);
        rig.exec.bounds = bounds_create();
        for (u32 k = 0; k < 4; k++)
            *rig_scalar(&rig, DESCRIPTOR + k) = 0;
        *rig_scalar(&rig, SOFFSET) = 0;
        static struct outcome_model m;
        take_state(&rig, &m);
        const u64 lanes = random_lanes(&state);
        u64 outside = 0;
        for (u32 lane = 0; lane < 64; lane++) {
            const u32 at = RIG_BYTES - 128 + 4 * below(&state, 64);
            *rig_vector(&rig, ADDRESS, lane) = (u32)(rig.address + at);
            *rig_vector(&rig, ADDRESS + 1, lane) = (u32)((rig.address + at) >> 32);
            outside += (lanes >> lane & 1) && at + 4 * words > RIG_BYTES;
            for (u32 j = 0; j < words && lanes >> lane & 1; j++) {
                const bool inside = at + 4 * j < RIG_BYTES;
                if (!store)
                    m.data[j][lane] = 0;
                if (inside && store)
                    memcpy(m.bytes + at + 4 * j, &m.data[j][lane], 4);
                else if (inside)
                    memcpy(&m.data[j][lane], m.bytes + at + 4 * j, 4);
            }
        }
        assert_true(viewed ? run_viewed(&rig, lanes) : rig_run(&rig, lanes));
        compare_state(&rig, &m, round);
        const struct memory_stats *stats = &rig.exec.bounds->stats;
        assert_int_equal(store ? stats->outside_stores : stats->outside_loads, outside);
        assert_int_equal(stats->outside_places, outside != 0);
        *rig_vector(&rig, ADDRESS, 3) = 16; /* nowhere near: a fault as ever */
        *rig_vector(&rig, ADDRESS + 1, 3) = 0;
        assert_false(rig_run(&rig, 8));
        assert_int_equal(rig.exec.fault.outcome, OUTCOME_OUT_OF_BOUNDS);
        bounds_destroy(rig.exec.bounds);
        rig_end(&rig);
    }
}

/* The destination may be the address; the status word follows the data. */
static void overlap_and_status(void **unused)
{
    struct rig rig;
    rig_open(&rig);
    struct inst inst = {.op = OP_buf_ld,
                        .type = TYPE_B32,
                        .vector = 4,
                        .key2 = BUFFER_ADDRESS | BUFFER_STATUS,
                        .dst = {V(0, 5)},
                        .src = {V(0, 2), S(DESCRIPTOR, 4), operand_make(OPERAND_CONST, 0, 1)}};
    rig_start(&rig, inst, true, simd_best());
    u64 state = 11;
    rig_fill(&rig, &state);
    for (u32 k = 0; k < 4; k++)
        *rig_scalar(&rig, DESCRIPTOR + k) = 0;
    u32 at[64];
    for (u32 lane = 0; lane < 64; lane++) {
        at[lane] = 4 * below(&state, RIG_BYTES / 4 - 4);
        *rig_vector(&rig, 0, lane) = (u32)(rig.address + at[lane]);
        *rig_vector(&rig, 1, lane) = (u32)((rig.address + at[lane]) >> 32);
    }
    assert_true(rig_run(&rig, ~0ull));
    for (u32 lane = 0; lane < 64; lane++)
        for (u32 j = 0; j < 5; j++) {
            u32 word = 0;
            if (j < 4)
                memcpy(&word, rig.bytes + at[lane] + 4 * j, 4);
            assert_int_equal(*rig_vector(&rig, j, lane), word);
        }
    rig_end(&rig);
}

/* Straight to shared memory: M0's low half, the constant, 4 bytes a lane. */
static void to_shared(void **unused)
{
    for (u32 faulting = 0; faulting < 2; faulting++) {
        struct rig rig;
        rig_open(&rig);
        struct inst inst = {.op = OP_buf_ld,
                            .type = TYPE_S8,
                            .vector = 1,
                            .imm = 4,
                            .key2 = BUFFER_LDS | BUFFER_OFFSET,
                            .src = {V(0, 1), S(DESCRIPTOR, 4), operand_none(), S(M0, 1)}};
        rig_start(&rig, inst, faulting, SIMD_PORTABLE);
        u64 state = 12;
        rig_fill(&rig, &state);
        struct plan p = {.words = {(u32)rig.address, (u32)(rig.address >> 32), RIG_BYTES, 0}};
        set_scalars(&rig, &p);
        u32 start = RIG_SHARED - 4 * 60; /* the last lanes fall off the end */
        *rig_scalar(&rig, M0) = (start - 4) | 0xabcd0000;
        u8 before[RIG_SHARED];
        memcpy(before, rig.block->shared, sizeof before);
        for (u32 lane = 0; lane < 64; lane++)
            *rig_vector(&rig, 0, lane) = lane * 3;
        assert_int_equal(rig_run(&rig, ~1ull), !faulting);
        for (u32 lane = 1; lane < 60; lane++) {
            u32 word = (u32)(i32)(i8)rig.bytes[lane * 3 + 4];
            memcpy(before + start + 4 * lane, &word, 4);
        }
        assert_memory_equal(before, rig.block->shared, sizeof before);
        rig_end(&rig);
    }
}

/* What an explanation must say. */
static void explained(void **unused)
{
    struct rig rig;
    rig_open(&rig);
    struct inst inst = {.op = OP_buf_ld,
                        .type = TYPE_B32,
                        .vector = 1,
                        .dst = {V(DATA, 1)},
                        .key2 = BUFFER_OFFSET,
                        .src = {V(0, 1), S(DESCRIPTOR, 4)}};
    rig_start(&rig, inst, true, SIMD_PORTABLE);
    struct plan p = {.words = {(u32)rig.address, (u32)(rig.address >> 32), 2 * RIG_BYTES, 0}};
    set_scalars(&rig, &p);
    *rig_vector(&rig, 0, 5) = RIG_BYTES + 8;
    assert_false(rig_run(&rig, ~0ull));
    assert_int_equal(rig.exec.fault.outcome, OUTCOME_OUT_OF_BOUNDS);
    assert_int_equal(rig.exec.fault.address, rig.address + RIG_BYTES + 8);
    assert_non_null(strstr(rig.exec.fault.message, "8 bytes past the end of buffer 2 'data'"));
    assert_non_null(strstr(rig.exec.fault.message, "stride 0, 32768 bytes"));
    *rig_vector(&rig, 0, 5) = 2;
    assert_false(rig_run(&rig, ~0ull));
    assert_int_equal(rig.exec.fault.outcome, OUTCOME_MISALIGNED);
    assert_non_null(strstr(rig.exec.fault.message, "multiple of 4"));
    *rig_vector(&rig, 0, 5) = 2 * RIG_BYTES - 3; /* out of the descriptor's range: no fault */
    assert_true(rig_run(&rig, ~0ull));
    rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves),         cmocka_unit_test(scratch),
        cmocka_unit_test(to_shared),     cmocka_unit_test(overlap_and_status),
        cmocka_unit_test(explained),     cmocka_unit_test(end_of_range),
        cmocka_unit_test(beyond_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
