/*
 * Shared memory of a warp with scalars: loads, stores and pairs within limits, every atomic there
 * and through buffers, atomics between two places, swizzles, and loads to scalars.
 */
#include "rig.h"

#include "ir/buffer.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    DESCRIPTOR = 8, /* scalars */
    ADDRESS = 0,    /* registers */
    FIRST = 4,      /* of two data operands */
    SECOND = 8,
    RESULT = 12
};

static u32 below(u64 *state, u32 n)
{
    return (u32)(rig_random(state) % n);
}

static u64 random_lanes(u64 *state)
{
    return below(state, 3) ? ~0ull : rig_random(state);
}

/* What a run should leave behind. */
struct expected {
    u8 shared[RIG_SHARED];
    u32 result[4][64];
    bool faults;
};

static void take(struct rig *rig, struct expected *e)
{
    e->faults = false;
    memcpy(e->shared, rig->block->shared, RIG_SHARED);
    for (u32 j = 0; j < 4; j++)
        for (u32 lane = 0; lane < 64; lane++)
            e->result[j][lane] = *rig_vector(rig, RESULT + j, lane);
}

static void check(struct rig *rig, const struct expected *e, u64 lanes, const char *what)
{
    bool done = rig_run(rig, lanes);
    if (done == e->faults)
        fail_msg("%s: %s", what, done ? "no fault" : rig->exec.fault.message);
    if (!done)
        return;
    for (u32 j = 0; j < 4; j++)
        for (u32 lane = 0; lane < 64; lane++)
            if (e->result[j][lane] != *rig_vector(rig, RESULT + j, lane))
                fail_msg("%s: result %u, lane %u: %08x, not %08x", what, j, lane,
                         *rig_vector(rig, RESULT + j, lane), e->result[j][lane]);
    for (u32 i = 0; i < RIG_SHARED; i++)
        if (e->shared[i] != rig->block->shared[i])
            fail_msg("%s: byte %u: %02x, not %02x", what, i, rig->block->shared[i], e->shared[i]);
}

static u64 data_of(struct rig *rig, u32 reg, u32 lane, u32 bytes)
{
    u64 value = *rig_vector(rig, reg, lane);
    return bytes > 4 ? value | (u64)*rig_vector(rig, reg + 1, lane) << 32 : value;
}

static void set_result(struct expected *e, u32 first, u32 lane, u64 value, u32 bytes)
{
    e->result[first][lane] = (u32)value;
    if (bytes > 4)
        e->result[first + 1][lane] = (u32)(value >> 32);
}

/* Limits: 0 all ones, 1 in the middle, 2 beyond the space, 3 never set. */
static u32 limit_of(u32 kind)
{
    static const u32 limits[] = {0xffffffff, 504, 4096, 0};
    return limits[kind];
}

/* The model's memory at an address, NULL where nothing happens. */
static u8 *at_limit(struct expected *e, u64 address, u32 bytes, u32 limit, bool faulting)
{
    bool free = limit == 0xffffffff || (!limit && !faulting);
    if (!faulting) /* the low bits do not count */
        address -= address % bytes;
    if (!free && address + bytes > limit)
        return NULL;
    if (address + bytes > RIG_SHARED) {
        e->faults |= faulting;
        return NULL;
    }
    if (address % bytes)
        e->faults = true;
    return e->shared + address;
}

static void set_addresses(struct rig *rig, u64 *state, u32 align, u32 range)
{
    for (u32 lane = 0; lane < 64; lane++)
        *rig_vector(rig, ADDRESS, lane) = below(state, range) & ~(align - 1);
}

static enum simd build_of(u32 round)
{
    return round % 2 ? simd_best() : SIMD_PORTABLE;
}

static void moves(void **unused)
{
    static const enum type types[] = {TYPE_U8,  TYPE_S8,  TYPE_U16, TYPE_S16,
                                      TYPE_B32, TYPE_B64, TYPE_B8,  TYPE_B16};
    u64 state = 21;
    for (u32 round = 0; round < 1500; round++) {
        enum type type = types[below(&state, 8)];
        u32 bytes = type_bytes(type), words = MAX(bytes / 4, 1);
        bool store = below(&state, 2), faulting = below(&state, 2);
        u32 limit = limit_of(below(&state, 4)), constant = below(&state, 64) & ~(bytes - 1);
        struct inst inst = {.op = store ? OP_st : OP_ld,
                            .type = (u8)type,
                            .vector = 1,
                            .space = SPACE_SHARED,
                            .imm = constant,
                            .src = {V(ADDRESS, 1)}};
        inst.src[store ? 2 : 1] = S(SCALAR_M0, 1);
        if (store)
            inst.src[1] = V(FIRST, words);
        else
            inst.dst[0] = V(RESULT, words);
        struct rig rig;
        rig_open(&rig);
        rig_start(&rig, inst, faulting, build_of(round));
        rig.inner = round / 2 % 2;
        rig_fill(&rig, &state);
        *rig_scalar(&rig, SCALAR_M0) = limit;
        set_addresses(&rig, &state, bytes, below(&state, 2) ? RIG_SHARED - 100 : RIG_SHARED + 8);
        if (below(&state, 4) == 0)
            *rig_vector(&rig, ADDRESS, below(&state, 64)) += 1;
        if (below(&state, 4) == 0) /* a sum that would wrap at 32 bits */
            *rig_vector(&rig, ADDRESS, below(&state, 64)) = 0u - 2 * bytes;
        struct expected e;
        take(&rig, &e);
        u64 lanes = random_lanes(&state);
        for (u32 lane = 0; lane < 64; lane++) {
            if (!(lanes >> lane & 1))
                continue;
            u64 value = 0, address = (u64)*rig_vector(&rig, ADDRESS, lane) + constant;
            u8 *at = at_limit(&e, address, bytes, limit, faulting);
            if (store) {
                value = data_of(&rig, FIRST, lane, bytes);
                if (at)
                    memcpy(at, &value, bytes);
                continue;
            }
            if (at)
                memcpy(&value, at, bytes);
            if (type == TYPE_S8)
                value = (u32)(i32)(i8)value;
            if (type == TYPE_S16)
                value = (u32)(i32)(i16)value;
            set_result(&e, 0, lane, value, bytes);
        }
        check(&rig, &e, lanes, "move");
        rig_end(&rig);
    }
}

/* Two and four bytes or half-words, each with a register of its own. */
static void narrow_vectors(void **unused)
{
    static const enum type types[] = {TYPE_U8, TYPE_S8, TYPE_B8, TYPE_U16, TYPE_S16, TYPE_B16};
    u64 state = 29;
    for (u32 round = 0; round < 400; round++) {
        enum type type = types[below(&state, 6)];
        const u32 bytes = type_bytes(type), elements = below(&state, 2) ? 2 : 4;
        const bool store = below(&state, 2), is_signed = type == TYPE_S8 || type == TYPE_S16;
        struct inst inst = {.op = store ? OP_st : OP_ld,
                            .type = (u8)type,
                            .vector = (u8)elements,
                            .space = SPACE_SHARED,
                            .src = {V(ADDRESS, 1), store ? V(FIRST, elements) : S(SCALAR_M0, 1)},
                            .dst = {V(RESULT, store ? 0 : elements)}};
        if (store)
            inst.src[2] = S(SCALAR_M0, 1);
        struct rig rig;
        rig_open(&rig);
        rig_start(&rig, inst, true, build_of(round));
        rig_fill(&rig, &state);
        *rig_scalar(&rig, SCALAR_M0) = UINT32_MAX;
        set_addresses(&rig, &state, bytes * elements, RIG_SHARED - 8);
        struct expected e;
        take(&rig, &e);
        u64 lanes = random_lanes(&state);
        for (u32 i = 0; i < 64 * elements; i++) { /* lanes in order: later ones win */
            u32 lane = i / elements, element = i % elements, word = 0;
            u8 *at = e.shared + *rig_vector(&rig, ADDRESS, lane) + element * bytes;
            if (!(lanes >> lane & 1))
                continue;
            if (store) {
                memcpy(at, rig_vector(&rig, FIRST + element, lane), bytes);
                continue;
            }
            memcpy(&word, at, bytes);
            u32 sign = is_signed && word >> (8 * bytes - 1) ? UINT32_MAX << 8 * bytes : 0;
            e.result[element][lane] = word | sign;
        }
        check(&rig, &e, lanes, "narrow vector");
        rig_end(&rig);
    }
}

static void pairs(void **unused)
{
    static const u32 ops[] = {OP_ld2, OP_st2, OP_exch2};
    u64 state = 22;
    for (u32 round = 0; round < 1500; round++) {
        u32 op = ops[below(&state, 3)], bytes = below(&state, 2) ? 4 : 8, words = bytes / 4;
        u32 limit = limit_of(below(&state, 4)), far = below(&state, 2) ? 1 : 64;
        u64 offsets[2] = {bytes * below(&state, 40), bytes * far * below(&state, 5)};
        bool faulting = below(&state, 2);
        struct inst inst = {.op = (u16)op,
                            .type = bytes == 8 ? TYPE_B64 : TYPE_B32,
                            .vector = 1,
                            .space = SPACE_SHARED,
                            .imm = (i64)(offsets[0] | offsets[1] << 32),
                            .src = {V(ADDRESS, 1)}};
        inst.src[op == OP_ld2 ? 1 : 3] = S(SCALAR_M0, 1);
        if (op != OP_ld2) {
            inst.src[1] = V(FIRST, words);
            inst.src[2] = V(SECOND, words);
        }
        if (op != OP_st2)
            inst.dst[0] = V(RESULT, 2 * words);
        struct rig rig;
        rig_open(&rig);
        rig_start(&rig, inst, faulting, build_of(round));
        rig.inner = round / 2 % 2;
        rig_fill(&rig, &state);
        *rig_scalar(&rig, SCALAR_M0) = limit;
        set_addresses(&rig, &state, bytes, below(&state, 2) ? 300 : RIG_SHARED);
        struct expected e;
        take(&rig, &e);
        u64 lanes = random_lanes(&state);
        for (u32 lane = 0; lane < 64; lane++)
            for (u32 k = 0; k < 2 && lanes >> lane & 1; k++) {
                u64 old = 0, value = data_of(&rig, k ? SECOND : FIRST, lane, bytes);
                u8 *at = at_limit(&e, *rig_vector(&rig, ADDRESS, lane) + offsets[k], bytes, limit,
                                  faulting);
                if (at)
                    memcpy(&old, at, bytes);
                if (at && op != OP_ld2)
                    memcpy(at, &value, bytes);
                if (op != OP_st2)
                    set_result(&e, k * words, lane, old, bytes);
            }
        check(&rig, &e, lanes, "pair");
        rig_end(&rig);
    }
}

static f64 number(u64 bits, u32 bytes)
{
    f64 wide;
    f32 narrow;
    u32 word = (u32)bits;
    memcpy(&wide, &bits, 8);
    memcpy(&narrow, &word, 4);
    return bytes == 8 ? wide : (f64)narrow;
}

/* What an atomic leaves in memory; `b` is compared or the mask where there are two operands. */
static u64 model(u32 key, u32 bytes, bool is_signed, u64 m, u64 v, u64 b)
{
    i64 sm = bytes == 8 ? (i64)m : (i32)m, sv = bytes == 8 ? (i64)v : (i32)v;
    f64 fm = number(m, bytes), fv = number(v, bytes), fb = number(b, bytes);
    bool less = is_signed ? sv < sm : v < m, more = is_signed ? sv > sm : v > m;
    switch (key) {
    case ATOMIC_ADD:
        return m + v;
    case ATOMIC_SUB:
        return m - v;
    case ATOMIC_RSUB:
        return v - m;
    case ATOMIC_MIN:
        return less ? v : m;
    case ATOMIC_MAX:
        return more ? v : m;
    case ATOMIC_AND:
        return m & v;
    case ATOMIC_OR:
        return m | v;
    case ATOMIC_XOR:
        return m ^ v;
    case ATOMIC_INC:
        return m >= v ? 0 : m + 1;
    case ATOMIC_DEC:
        return m == 0 || m > v ? v : m - 1;
    case ATOMIC_MSKOR:
        return (m & ~b) | v;
    case ATOMIC_CAS:
        return m == b ? v : m;
    case ATOMIC_FCAS:
        return fm == fb ? v : m;
    case ATOMIC_FMIN:
        return fv < fm ? v : m;
    case ATOMIC_FMAX:
        return fv > fm ? v : m;
    default:
        return v;
    }
}

/* Values that meet: small numbers, zeros of both signs, NaN, infinity. */
static u64 value_like(u64 *state, u32 bytes)
{
    static const u32 words[] = {0,          1,          2,          0x7fffffff, 0x80000000,
                                0xffffffff, 0x3f800000, 0xbf800000, 0x7fc00001, 0x7f800000,
                                0xff800000, 0x00000001, 0x40000000};
    u64 high = words[below(state, ARRAY_LEN(words))];
    return bytes == 4 ? high : high << 32 | (below(state, 2) ? 0 : high);
}

struct trial {
    u32 key, bytes;
    bool is_signed, floats, returns, two;
};

static struct trial make_trial(u64 *state)
{
    struct trial t = {.key = below(state, ATOMIC_STORE + 1), .bytes = below(state, 2) ? 4 : 8};
    t.is_signed = below(state, 2);
    t.floats = t.key == ATOMIC_FMIN || t.key == ATOMIC_FMAX || t.key == ATOMIC_FCAS;
    t.returns = t.key != ATOMIC_STORE && below(state, 2);
    t.two = t.key == ATOMIC_CAS || t.key == ATOMIC_FCAS || t.key == ATOMIC_MSKOR;
    return t;
}

static enum type type_of(const struct trial *t)
{
    if (t->floats)
        return t->bytes == 8 ? TYPE_F64 : TYPE_F32;
    if (t->bytes == 8)
        return t->is_signed ? TYPE_S64 : TYPE_U64;
    return t->is_signed ? TYPE_S32 : TYPE_U32;
}

static void put(struct rig *rig, u32 reg, u32 lane, u64 value, u32 bytes)
{
    *rig_vector(rig, reg, lane) = (u32)value;
    if (bytes > 4)
        *rig_vector(rig, reg + 1, lane) = (u32)(value >> 32);
}

static void fill_values(struct rig *rig, u64 *state, u8 *memory, u32 size, u32 bytes)
{
    for (u32 i = 0; i < size; i += bytes) {
        u64 value = value_like(state, bytes);
        memcpy(memory + i, &value, bytes);
    }
    for (u32 lane = 0; lane < 64; lane++) {
        put(rig, FIRST, lane, value_like(state, bytes), bytes);
        put(rig, SECOND, lane, value_like(state, bytes), bytes);
    }
}

static void atomics(void **unused)
{
    u64 state = 23;
    for (u32 round = 0; round < 4000; round++) {
        struct trial t = make_trial(&state);
        u32 words = t.bytes / 4, limit = limit_of(below(&state, 4)),
            constant = 8 * below(&state, 4);
        bool faulting = below(&state, 2);
        struct inst inst = {.op = OP_atom,
                            .key = (u8)t.key,
                            .type = (u8)type_of(&t),
                            .vector = 1,
                            .space = SPACE_SHARED,
                            .imm = constant,
                            .src = {V(ADDRESS, 1), V(FIRST, words),
                                    t.two ? V(SECOND, words) : operand_none(), S(SCALAR_M0, 1)}};
        if (t.returns)
            inst.dst[0] = V(RESULT, words);
        struct rig rig;
        rig_open(&rig);
        rig_start(&rig, inst, faulting, build_of(round));
        rig.inner = round / 2 % 2;
        rig_fill(&rig, &state);
        fill_values(&rig, &state, rig.block->shared, RIG_SHARED, t.bytes);
        *rig_scalar(&rig, SCALAR_M0) = limit;
        set_addresses(&rig, &state, t.bytes, below(&state, 2) ? 64 : RIG_SHARED);
        struct expected e;
        take(&rig, &e);
        u64 lanes = random_lanes(&state);
        for (u32 lane = 0; lane < 64; lane++) {
            if (!(lanes >> lane & 1))
                continue;
            u64 old = 0, first = data_of(&rig, FIRST, lane, t.bytes);
            u64 second = data_of(&rig, SECOND, lane, t.bytes);
            u8 *at = at_limit(&e, (u64)*rig_vector(&rig, ADDRESS, lane) + constant, t.bytes, limit,
                              faulting);
            if (at) {
                memcpy(&old, at, t.bytes);
                u64 now = model(t.key, t.bytes, t.is_signed, old, t.two ? second : first, first);
                memcpy(at, &now, t.bytes);
            }
            if (t.returns)
                set_result(&e, 0, lane, old, t.bytes);
        }
        check(&rig, &e, lanes, "atomic");
        rig_end(&rig);
    }
}

/* The same through a buffer whose end is near. Data: the value, then what it is compared with. */
static void buffer_atomics(void **unused)
{
    u64 state = 24;
    for (u32 round = 0; round < 4000; round++) {
        struct trial t = make_trial(&state);
        if (t.key == ATOMIC_MSKOR)
            continue; /* there is none */
        u32 words = t.bytes / 4, size = 256;
        struct inst inst = {.op = OP_buf_atom,
                            .key = (u8)t.key,
                            .type = (u8)type_of(&t),
                            .vector = 1,
                            .key2 = BUFFER_OFFSET,
                            .src = {V(ADDRESS, 1), S(DESCRIPTOR, 4), operand_none(),
                                    V(FIRST, t.two ? 2 * words : words)}};
        if (t.returns)
            inst.dst[0] = V(RESULT, words);
        struct rig rig;
        rig_open(&rig);
        rig_start(&rig, inst, true, build_of(round));
        rig_fill(&rig, &state);
        fill_values(&rig, &state, rig.bytes, RIG_BYTES, t.bytes);
        for (u32 lane = 0; lane < 64; lane++)
            put(&rig, FIRST + words, lane, value_like(&state, t.bytes), t.bytes);
        u32 descriptor[4] = {(u32)rig.address, (u32)(rig.address >> 32), size, 0};
        for (u32 k = 0; k < 4; k++)
            *rig_scalar(&rig, DESCRIPTOR + k) = descriptor[k];
        set_addresses(&rig, &state, t.bytes, size + 32);
        static u8 memory[RIG_BYTES];
        memcpy(memory, rig.bytes, RIG_BYTES);
        struct expected e;
        take(&rig, &e);
        u64 lanes = random_lanes(&state);
        for (u32 lane = 0; lane < 64; lane++) {
            if (!(lanes >> lane & 1))
                continue;
            u64 old = 0, value = data_of(&rig, FIRST, lane, t.bytes);
            u64 compared = t.two ? data_of(&rig, FIRST + words, lane, t.bytes) : 0;
            u32 at = *rig_vector(&rig, ADDRESS, lane);
            if (at + t.bytes <= size) {
                memcpy(&old, memory + at, t.bytes);
                u64 now = model(t.key, t.bytes, t.is_signed, old, value, compared);
                memcpy(memory + at, &now, t.bytes);
            }
            if (t.returns)
                set_result(&e, 0, lane, old, t.bytes);
        }
        check(&rig, &e, lanes, "buffer atomic");
        assert_memory_equal(memory, rig.bytes, RIG_BYTES);
        rig_end(&rig);
    }
}

/* Both operands in memory: the distance is in the instruction, or in the address's upper bits. */
static void between_places(void **unused)
{
    u64 state = 25;
    for (u32 round = 0; round < 2000; round++) {
        struct trial t = make_trial(&state);
        if (t.two)
            continue; /* there are none */
        i32 distance = (i32)below(&state, 201) - 100;
        bool in_address = below(&state, 2);
        if (t.bytes == 8)
            distance &= ~1;
        struct inst inst = {.op = OP_atom_src2,
                            .key = (u8)t.key,
                            .type = (u8)type_of(&t),
                            .vector = 1,
                            .space = SPACE_SHARED,
                            .imm = in_address ? 0x8000 | below(&state, 0x8000)
                                              : (u32)distance & 0x7fff,
                            .src = {V(ADDRESS, 1), S(SCALAR_M0, 1)}};
        struct rig rig;
        rig_open(&rig);
        rig_start(&rig, inst, false, build_of(round));
        rig_fill(&rig, &state);
        fill_values(&rig, &state, rig.block->shared, RIG_SHARED, t.bytes);
        u32 limit = limit_of(below(&state, 4));
        *rig_scalar(&rig, SCALAR_M0) = limit;
        u32 end = limit ? MIN(limit, (u32)RIG_SHARED) : RIG_SHARED;
        set_addresses(&rig, &state, t.bytes, RIG_SHARED + 16);
        struct expected e;
        take(&rig, &e);
        u64 lanes = random_lanes(&state);
        for (u32 lane = 0; lane < 64; lane++) {
            i64 at = *rig_vector(&rig, ADDRESS, lane), from = at + 4 * distance;
            if (in_address)
                *rig_vector(&rig, ADDRESS, lane) |= (u32)distance << 17;
            if (!(lanes >> lane & 1) || at + t.bytes > end)
                continue;
            u64 old = 0, value = 0;
            memcpy(&old, e.shared + at, t.bytes);
            if (from >= 0 && from + t.bytes <= end)
                memcpy(&value, e.shared + from, t.bytes);
            u64 now = model(t.key, t.bytes, t.is_signed, old, value, 0);
            memcpy(e.shared + at, &now, t.bytes);
        }
        check(&rig, &e, lanes, "between places");
        rig_end(&rig);
    }
}

static void swizzles(void **unused)
{
    u64 state = 26;
    for (u32 round = 0; round < 500; round++) {
        u32 pattern = below(&state, 0x10000);
        if (pattern >> 15)
            pattern &= 0x80ff;
        u32 to = below(&state, 2) ? RESULT : FIRST;
        struct inst inst = {
            .op = OP_swizzle, .imm = pattern, .dst = {V(to, 1)}, .src = {V(FIRST, 1)}};
        struct rig rig;
        rig_open(&rig);
        rig_start(&rig, inst, true, SIMD_PORTABLE);
        rig_fill(&rig, &state);
        u32 before[64], old[64];
        for (u32 lane = 0; lane < 64; lane++) {
            before[lane] = *rig_vector(&rig, FIRST, lane);
            old[lane] = *rig_vector(&rig, to, lane);
        }
        u64 lanes = random_lanes(&state);
        assert_true(rig_run(&rig, lanes));
        for (u32 lane = 0; lane < 64; lane++) {
            u32 and = pattern % 32, or = pattern / 32 % 32, xor = pattern / 1024 % 32;
            u32 from = lane / 32 * 32 + (((lane % 32 & and) | or) ^ xor);
            if (pattern >= 0x8000)
                from = lane / 4 * 4 + (pattern / (1u << 2 * (lane % 4))) % 4;
            u32 wanted = lanes >> from & 1 ? before[from] : 0;
            assert_int_equal(*rig_vector(&rig, to, lane), lanes >> lane & 1 ? wanted : old[lane]);
        }
        rig_end(&rig);
    }
}

static void scalar_loads(void **unused)
{
    u64 state = 27;
    u32 faults = 0, cut = 0;
    for (u32 round = 0; round < 2000; round++) {
        bool buffer = below(&state, 2);
        u32 words = 1u << below(&state, 5), constant = below(&state, 256) * 4;
        u32 stride = below(&state, 2) ? 0 : 1 + below(&state, 40), records = below(&state, 1200);
        bool by_register = below(&state, 2);
        struct inst inst = {
            .op = buffer ? OP_ld_scalar_buffer : OP_ld_scalar,
            .imm = by_register ? 0 : constant,
            .dst = {S(32, words)},
            .src = {S(DESCRIPTOR, buffer ? 4 : 2), by_register ? S(20, 1) : operand_none()}};
        struct rig rig;
        rig_open(&rig);
        rig_start(&rig, inst, true, SIMD_PORTABLE);
        rig_fill(&rig, &state);
        u64 base = rig.address + below(&state, 1000);
        if (below(&state, 8) == 0)
            base += RIG_BYTES - 1500;
        u32 descriptor[4] = {(u32)base, (u32)(base >> 32) | stride << 16, records, 0};
        if (!buffer)
            descriptor[1] = (u32)(base >> 32);
        for (u32 k = 0; k < 4; k++)
            *rig_scalar(&rig, DESCRIPTOR + k) = descriptor[k];
        u32 offset = by_register ? below(&state, 1000) : constant;
        *rig_scalar(&rig, 20) = offset;
        u64 size = buffer ? (stride ? (u64)stride * records : records) : UINT32_MAX;
        u64 start = base / 4 * 4 + offset / 4 * 4 - rig.address;
        bool faulty = false, done = rig_run(&rig, ~0ull);
        for (u32 k = 0; k < words; k++) {
            u32 value = 0;
            if (offset / 4 * 4 + 4 * k + 4 > size)
                cut++;
            else if (start + 4 * k + 4 > RIG_BYTES)
                faulty = true;
            else
                memcpy(&value, rig.bytes + start + 4 * k, 4);
            if (done)
                assert_int_equal(*rig_scalar(&rig, 32 + k), value);
        }
        assert_int_equal(done, !faulty);
        faults += faulty;
        rig_end(&rig);
    }
    assert_true(faults > 20 && cut > 200);
}

/* Whoever keeps a record gets each lane's own bytes, in the order they are written. */
struct record {
    struct exec_watcher watcher;
    u32 count, lane[256], size[256], space[256];
    u64 address[256], value[256];
};

static void keep(struct exec_watcher *watcher, struct warp *warp, u32 lane, enum space space,
                 u64 address, const u8 *bytes, u32 size)
{
    struct record *r = (struct record *)watcher;
    r->lane[r->count] = lane;
    r->space[r->count] = space;
    r->address[r->count] = address;
    r->size[r->count] = size;
    r->value[r->count] = 0;
    memcpy(&r->value[r->count++], bytes, MIN(size, 8u));
}

static void recorded(void **unused)
{
    static const struct operand none = {0};
    const struct inst insts[] = {
        {.op = OP_st, .type = TYPE_B32, .space = SPACE_SHARED, .src = {V(0, 1), V(FIRST, 1)}},
        {.op = OP_st2,
         .type = TYPE_B32,
         .space = SPACE_SHARED,
         .imm = 64ll << 32,
         .src = {V(0, 1), V(FIRST, 1), V(SECOND, 1)}},
        {.op = OP_atom,
         .key = ATOMIC_EXCH,
         .type = TYPE_U32,
         .space = SPACE_SHARED,
         .src = {V(0, 1), V(FIRST, 1)}},
        {.op = OP_buf_st,
         .type = TYPE_U16,
         .key2 = BUFFER_OFFSET,
         .src = {V(0, 1), S(DESCRIPTOR, 4), none, V(FIRST, 1)}},
        {.op = OP_buf_st,
         .type = TYPE_B32,
         .vector = 2,
         .key2 = BUFFER_OFFSET,
         .src = {V(0, 1), S(DESCRIPTOR, 4), none, V(FIRST, 2)}},
        {.op = OP_buf_atom,
         .key = ATOMIC_EXCH,
         .type = TYPE_U32,
         .key2 = BUFFER_OFFSET,
         .src = {V(0, 1), S(DESCRIPTOR, 4), none, V(FIRST, 1)}},
    };
    u64 state = 28;
    for (u32 round = 0; round < 2 * ARRAY_LEN(insts); round++) {
        const u32 i = round / 2, first = round % 2 ? 36 : 4; /* lanes of either chunk */
        struct rig rig;
        struct record r = {.watcher = {.stored = keep}};
        rig_open(&rig);
        rig_start(&rig, insts[i], true, SIMD_PORTABLE);
        rig_fill(&rig, &state);
        rig.exec.watcher = &r.watcher;
        u32 descriptor[4] = {(u32)rig.address, (u32)(rig.address >> 32), 0xffffffff, 0};
        for (u32 k = 0; k < 4; k++)
            *rig_scalar(&rig, DESCRIPTOR + k) = descriptor[k];
        for (u32 lane = 0; lane < 64; lane++)
            *rig_vector(&rig, 0, lane) = 8; /* all the same: the last lane's value would show */
        assert_true(rig_run(&rig, 0xfull << first));
        bool shared = insts[i].space == SPACE_SHARED, two = insts[i].op == OP_st2;
        u32 size = type_bytes(insts[i].type) * MAX(insts[i].vector, 1);
        assert_int_equal(r.count, two ? 8 : 4);
        for (u32 k = 0; k < r.count; k++) {
            u32 lane = first + (two ? k / 2 : k), second = two && k % 2;
            u64 value = *rig_vector(&rig, second ? SECOND : FIRST, lane);
            if (size == 2)
                value &= 0xffff;
            if (size == 8)
                value |= (u64)*rig_vector(&rig, FIRST + 1, lane) << 32;
            assert_int_equal(r.lane[k], lane);
            assert_int_equal(r.size[k], size);
            assert_int_equal(r.space[k], shared ? SPACE_SHARED : SPACE_GLOBAL);
            assert_int_equal(r.address[k], 8 + (shared ? 64 * second : rig.address));
            assert_int_equal(r.value[k], value);
        }
        rig_end(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves),          cmocka_unit_test(pairs),
        cmocka_unit_test(atomics),        cmocka_unit_test(buffer_atomics),
        cmocka_unit_test(between_places), cmocka_unit_test(swizzles),
        cmocka_unit_test(scalar_loads),   cmocka_unit_test(recorded),
        cmocka_unit_test(narrow_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
