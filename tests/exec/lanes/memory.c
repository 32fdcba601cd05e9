/* Gather, scatter and address translation: exact bounds, alignment, wrap-around, masks. */
#include "harness.h"

#include "exec/warp.h"
#include <stdlib.h>

static const enum simd builds[] = {SIMD_PORTABLE, SIMD_AVX2};
static unsigned build_count(void)
{
    return simd_best() == SIMD_AVX2 ? 2 : 1;
}

static void test_gather_scatter(void **unused)
{
    u64 state = 51;
    u8 memory[4096], copy[4096];
    u32 lane_mask[LANES] __attribute__((aligned(32)));
    for (unsigned round = 0; round < 200; round++) {
        const struct lanes_memory *m = lanes_memory(builds[round % build_count()]);
        const u32 mask = round % 5 ? (u32)random_next(&state) : LANES_FULL;
        u32 offset[LANES], dst[LANES], src[LANES];
        lanes_expand(mask, lane_mask);
        for (unsigned i = 0; i < sizeof memory; i++)
            memory[i] = (u8)random_next(&state);
        for (unsigned i = 0; i < LANES; i++) {
            assert_int_equal(lane_mask[i], mask >> i & 1 ? ~0u : 0);
            /* Lanes outside the mask may hold anything, even what is far out of bounds. */
            offset[i] = mask >> i & 1 ? (u32)random_next(&state) % (sizeof memory - 3) : 0x7fffffff;
            dst[i] = src[i] = (u32)random_next(&state);
        }
        m->gather32(dst, memory, offset, mask, lane_mask);
        for (unsigned i = 0; i < LANES; i++) {
            u32 expected = src[i];
            if (mask >> i & 1)
                memcpy(&expected, memory + offset[i], 4);
            assert_int_equal(dst[i], expected);
        }
        memcpy(copy, memory, sizeof copy);
        for (unsigned i = 0; i < LANES; i++) /* later lanes win */
            if (mask >> i & 1)
                memcpy(copy + offset[i], &src[i], 4);
        m->scatter32(memory, offset, src, mask);
        assert_memory_equal(memory, copy, sizeof copy);
    }
}

static void check_translate64(u64 lo, u32 size, u32 bytes, i64 imm, const u64 *address, u32 mask)
{
    u32 low[LANES], high[LANES], offset[LANES];
    for (unsigned i = 0; i < LANES; i++)
        low[i] = (u32)address[i], high[i] = (u32)(address[i] >> 32);
    for (unsigned b = 0; b < build_count(); b++) {
        const u32 got =
            lanes_memory(builds[b])->translate64(offset, low, high, imm, lo, size, bytes, mask);
        for (unsigned i = 0; i < LANES; i++) {
            const u64 at = address[i] + (u64)imm;
            const bool inside =
                mask >> i & 1 && at >= lo && (u128)at + bytes <= (u128)lo + size && at % bytes == 0;
            if ((got >> i & 1) != inside || offset[i] != (inside ? at - lo : 0))
                fail_msg("address %llx%+lld in [%llx, +%x) bytes %u: %s, offset %x",
                         (unsigned long long)address[i], (long long)imm, (unsigned long long)lo,
                         size, bytes, got >> i & 1 ? "inside" : "outside", offset[i]);
        }
    }
}

static void test_translate64(void **unused)
{
    static const u64 bases[] = {0,          0x1000,     0x100000000,        0xfffffff0,
                                0x80000000, 0x10000002, 0xfffffffffffff000, 0x7f0000000004};
    static const u32 sizes[] = {0, 1, 3, 4, 8, 16, 64, 4096, 0x7fffffff};
    u64 state = 52;
    for (unsigned round = 0; round < 4000; round++) {
        const u64 lo = bases[random_next(&state) % ARRAY_LEN(bases)];
        u32 size = sizes[random_next(&state) % ARRAY_LEN(sizes)];
        if (lo + size < lo) /* an allocation may end at 2^64, not wrap around it */
            size = (u32)(0 - lo);
        const u32 bytes = 1u << random_next(&state) % 5;
        i64 imm = (i64)(random_next(&state) % 65) - 32;
        if (round % 7 == 0)
            imm = (i64)random_next(&state) >> random_next(&state) % 64;
        u64 address[LANES];
        for (unsigned i = 0; i < LANES; i++) {
            const u64 near = random_next(&state) & 1 ? lo : lo + size;
            address[i] = near + random_next(&state) % 65 - 32 - (u64)imm;
            if (i % 8 == 7)
                address[i] = random_value(&state);
            if (i % 8 == 6) /* right low word, wrong high word */
                address[i] += 1ull << (32 + random_next(&state) % 32);
        }
        check_translate64(lo, size, bytes, imm, address,
                          round & 1 ? LANES_FULL : (u32)random_next(&state));
    }
}

static void test_translate32(void **unused)
{
    static const u32 sizes[] = {0, 2, 4, 16, 4096, 49152, 0x7fffffff};
    u64 state = 53;
    for (unsigned round = 0; round < 3000; round++) {
        const u32 size = sizes[random_next(&state) % ARRAY_LEN(sizes)];
        const u32 bytes = 1u << random_next(&state) % 5, mask = (u32)random_next(&state);
        const i64 imm = round % 9 ? (i64)(random_next(&state) % 129) - 64
                                  : (i64)random_next(&state) >> random_next(&state) % 40;
        u32 address[LANES], offset[LANES];
        for (unsigned i = 0; i < LANES; i++)
            address[i] = (u32)(random_next(&state) & 1 ? 0 : size) +
                         (u32)(random_next(&state) % 65) - 32 - (u32)imm;
        const u32 got = lanes_memory(builds[round % build_count()])
                            ->translate32(offset, address, imm, size, bytes, mask);
        for (unsigned i = 0; i < LANES; i++) {
            const u32 at = address[i] + (u32)imm; /* wraps, as the guest's addition does */
            const bool far = imm > (i64)UINT32_MAX || imm < -(i64)UINT32_MAX;
            const bool inside = mask >> i & 1 && !far && (u64)at + bytes <= size && at % bytes == 0;
            assert_int_equal(got >> i & 1, inside);
            assert_int_equal(offset[i], inside ? at : 0);
        }
    }
}

/* A chunk whose rows are low and high words of addresses and the data. */
struct access_rig {
    _Alignas(32) u32 rows[3][LANES];
    struct chunk chunk;
    struct step step;
    struct inst inst;
};
enum {
    LOW,
    HIGH,
    DATA
};

static void rig_access(struct access_rig *rig, enum shape shape, i32 imm, bool wide)
{
    const bool load = shape == SHAPE_SHARED_LOAD || shape == SHAPE_GLOBAL_LOAD;
    rig->chunk.base = (u8 *)rig->rows;
    rig->chunk.lanes.stride = LANES;
    rig->chunk.active = rig->chunk.lanes.mask = LANES_FULL;
    rig->inst = (struct inst){.op = load ? OP_ld : OP_st, .imm = imm};
    rig->step = (struct step){.shape = (u8)shape, .words = 1, .wide = wide};
    rig->step.select[0] = rig->step.select[load ? SLOT_DST : 1] = ~0ull;
    rig->step.row[load ? SLOT_DST : 1] = DATA * sizeof rig->rows[0];
}

/* Runs it: done exactly when `all` lanes are right, else nothing has changed. */
static void check_access(struct access_rig *rig, enum simd simd, u8 *space, size_t bytes,
                         const u64 *offset, bool all)
{
    const bool load = rig->inst.op == OP_ld;
    u8 *const memory = malloc(bytes);
    u32 data[LANES];
    memcpy(memory, space, bytes);
    memcpy(data, rig->rows[DATA], sizeof data);
    for (unsigned i = 0; i < LANES && all; i++)
        memcpy(load ? (u8 *)&data[i] : memory + offset[i],
               load ? memory + offset[i] : (u8 *)&data[i], sizeof data[i]);
    assert_int_equal(lanes_loops(simd)->step(&rig->chunk, &rig->inst, &rig->step), all);
    assert_memory_equal(rig->rows[DATA], data, sizeof data);
    assert_memory_equal(space, memory, bytes);
    free(memory);
}

/* Offsets of words in `size` bytes, in a row or anywhere, a few of them wrong. */
static void draw_offsets(u64 *offset, u32 size, unsigned round, u64 *state)
{
    const u32 words = size / 4, room = words > LANES ? words - LANES : 1;
    const u64 first = random_next(state) % room * 4;
    for (unsigned i = 0; i < LANES; i++) {
        offset[i] = round & 32 ? first + 4 * i : random_next(state) % words * 4;
        if (round % 3 == 0 && random_next(state) % 40 == 0)
            offset[i] += random_next(state) & 1 ? size : 2;
    }
}

static void test_short_shared(void **unused)
{
    u64 state = 29;
    u8 space[1024];
    unsigned done = 0;
    for (unsigned i = 0; i < sizeof space; i++)
        space[i] = (u8)(i * 37 + 11);
    for (unsigned round = 0; round < 8000; round++) {
        const u32 size = round % 64 ? (u32)(random_next(&state) % 200) * 4 + 12 : round / 64 % 4;
        const i32 imm = (i32)(random_next(&state) % 33) * 4 - 64;
        const bool wide = round & 8;
        struct access_rig rig = {0};
        u64 offset[LANES];
        bool all = size >= 4;
        draw_offsets(offset, MAX(size, 4), round, &state);
        rig_access(&rig, round & 16 ? SHAPE_SHARED_LOAD : SHAPE_SHARED_STORE, imm, wide);
        chunk_shared(&rig.chunk, space, size);
        for (unsigned i = 0; i < LANES; i++) {
            u64 address = offset[i] - (u64)(i64)imm;
            if (round % 5 == 0 && i == round % 32)
                address += 1ull << 32;
            rig.rows[LOW][i] = (u32)address;
            rig.rows[HIGH][i] = (u32)(address >> 32);
            rig.rows[DATA][i] = (u32)random_next(&state);
            all &= offset[i] + 4 <= size && offset[i] % 4 == 0;
            /* Addresses from 2^31 on may be refused: they get a closer look elsewhere. */
            all &= !(wide && (rig.rows[HIGH][i] || rig.rows[LOW][i] >> 31));
        }
        check_access(&rig, builds[round % build_count()], space, sizeof space, offset, all);
        done += all;
    }
    assert_true(done > 1000 && done < 7000);
}

static void test_short_global(void **unused)
{
    static const u64 starts[] = {0x100000000, 0x1000000000, 0x1ffffff00, 0x2fffffc00};
    u64 state = 31;
    u8 space[1024];
    unsigned done = 0;
    for (unsigned i = 0; i < sizeof space; i++)
        space[i] = (u8)(i * 41 + 7);
    for (unsigned round = 0; round < 8000; round++) {
        const bool load = round & 8;
        struct allocation allocation = {
            .address = starts[random_next(&state) % ARRAY_LEN(starts)],
            .size = random_next(&state) % 250 * 4 + 4,
            .host = space,
            .read_only = random_next(&state) % 8 == 0,
        };
        const u64 generation = random_next(&state) % 16;
        const i32 imm = (i32)(random_next(&state) % 33) * 4 - 64;
        const u64 begin = allocation.address - (u64)(i64)imm;
        struct access_rig rig = {0};
        u64 offset[LANES];
        rig_access(&rig, load ? SHAPE_GLOBAL_LOAD : SHAPE_GLOBAL_STORE, imm, true);
        rig.chunk.generation = &generation;
        rig.step.hint = &allocation;
        rig.step.hint_generation = generation - (random_next(&state) % 8 == 0);
        draw_offsets(offset, (u32)allocation.size, round, &state);
        bool all = rig.step.hint_generation == generation && (load || !allocation.read_only) &&
                   begin >> 32 == (begin + allocation.size) >> 32; /* others take the long way */
        for (unsigned i = 0; i < LANES; i++) {
            if (round % 7 == 0 && i == round % 32)
                offset[i] += random_next(&state) & 1 ? 1ull << 32 : ~0xffull;
            const u64 address = begin + offset[i];
            rig.rows[LOW][i] = (u32)address;
            rig.rows[HIGH][i] = (u32)(address >> 32);
            rig.rows[DATA][i] = (u32)random_next(&state);
            all &= offset[i] < allocation.size && offset[i] + 4 <= allocation.size &&
                   offset[i] % 4 == 0;
        }
        check_access(&rig, builds[round % build_count()], space, sizeof space, offset, all);
        done += all;
    }
    assert_true(done > 1000 && done < 7000);
}

/* Groups of 16 words evenly apart, now and then one that is not; moved as they lie. */
static void test_even(void **unused)
{
    static const i32 distances[] = {0, 4, 8, -4, 12, 64};
    u64 state = 37;
    u8 memory[4096], copy[4096];
    unsigned even = 0;
    for (unsigned round = 0; round < 4000; round++) {
        const struct lanes_memory *m = lanes_memory(builds[round % build_count()]);
        u32 low[LANES], high[LANES], dst[LANES], src[LANES], first[EVEN_GROUPS];
        u32 apart[EVEN_GROUPS];
        i32 steps[EVEN_GROUPS];
        u8 *at[EVEN_GROUPS];
        for (unsigned g = 0; g < EVEN_GROUPS; g++) {
            steps[g] = distances[random_next(&state) % ARRAY_LEN(distances)];
            const u32 start = 1024 + (u32)(random_next(&state) % 256) * 4;
            at[g] = memory + start;
            for (unsigned i = 0; i < STRIDE_LANES; i++)
                low[STRIDE_LANES * g + i] = start + i * (u32)steps[g];
        }
        for (unsigned i = 0; i < LANES; i++) {
            high[i] = 7;
            src[i] = (u32)random_next(&state);
        }
        const bool odd = random_next(&state) % 2, with_high = round & 4;
        if (odd)
            *(random_next(&state) % 2 ? &low[2 + random_next(&state) % 14]
                                      : &high[random_next(&state) % LANES]) += 4;
        bool really = true;
        for (unsigned i = 0; i < LANES; i++) {
            const unsigned g = i / STRIDE_LANES * STRIDE_LANES;
            really &= low[i] == low[g] + (i - g) * (low[g + 1] - low[g]);
            really &= !with_high || high[i] == high[0];
        }
        assert_int_equal(m->find_strides(low, with_high ? high : NULL, first, apart), really);
        even += really;
        if (odd)
            continue;
        assert_int_equal(first[1], low[STRIDE_LANES]);
        assert_int_equal((i32)apart[1], steps[1]);
        for (unsigned i = 0; i < sizeof memory; i++)
            copy[i] = memory[i] = (u8)random_next(&state);
        m->load_strided(dst, (const u8 *const *)at, steps);
        for (unsigned i = 0; i < LANES; i++)
            assert_memory_equal(&dst[i], memory + low[i], sizeof *dst);
        for (unsigned i = 0; i < LANES; i++) /* later lanes win */
            memcpy(copy + low[i], &src[i], sizeof *src);
        m->store_strided(at, steps, src);
        assert_memory_equal(memory, copy, sizeof copy);
    }
    assert_true(even > 1500 && even < 3500);
}

/* ---- less common accesses, under any mask ---- */

enum {
    RARE_BYTES = 2048, /* of the space they are in */
    LOCAL_STRIDE = 64,
    LOCAL_BYTES = 48
};

struct rare_rig {
    _Alignas(32) u32 low[LANES], high[LANES], data[4][LANES], old[4][LANES];
    u8 memory[RARE_BYTES], expected[RARE_BYTES];
    struct allocation allocation;
    u64 generation;
    struct chunk chunk;
    struct step step;
    struct inst inst;
    u32 place[LANES]; /* in memory, of the lanes that are right */
    u32 right;        /* lanes */
};

/* Addresses in the space of the instruction, a few of them wrong. */
static void draw_places(struct rare_rig *rig, u32 bytes, u64 *state)
{
    const bool local = rig->inst.space == SPACE_LOCAL;
    const u32 size = local ? LOCAL_BYTES : RARE_BYTES, first = (u32)random_next(state) % 8;
    const bool in_a_row = !local && random_next(state) & 1;
    const u64 start = rig->inst.space == SPACE_GLOBAL ? rig->allocation.address : 0;
    for (u32 i = 0; i < LANES; i++) {
        u64 at = in_a_row ? (first + i) * bytes : random_next(state) % (size / bytes) * bytes;
        if (random_next(state) % 100 == 0)
            at += random_next(state) & 1 ? size : 1;
        const bool right = at % bytes == 0 && at + bytes <= size;
        rig->right |= (u32)right << i;
        rig->place[i] = (u32)at + (local ? i * LOCAL_STRIDE : 0);
        const u64 address = start + at - (u64)rig->inst.imm;
        rig->low[i] = (u32)address;
        rig->high[i] = (u32)(address >> 32);
    }
}

static void rig_rare(struct rare_rig *rig, enum shape shape, enum space space, u32 bytes,
                     u64 *state)
{
    *rig = (struct rare_rig){.allocation = {.address = 0x700000000, .size = RARE_BYTES}};
    for (u32 i = 0; i < RARE_BYTES; i++)
        rig->memory[i] = (u8)random_next(state);
    for (u32 i = 0; i < 4 * LANES; i++)
        rig->data[i / LANES][i % LANES] = (u32)random_next(state);
    const u32 mask = random_next(state) % 4
                         ? (u32)random_next(state) | 1u << random_next(state) % 32
                         : LANES_FULL;
    struct chunk *chunk = &rig->chunk;
    chunk->lanes.stride = LANES;
    chunk->lanes.lane_mask = chunk->active_mask;
    chunk->active = chunk->lanes.mask = mask;
    lanes_expand(mask, chunk->active_mask);
    chunk->generation = &rig->generation;
    chunk_shared(chunk, rig->memory, RARE_BYTES);
    chunk->local = rig->memory;
    chunk->local_bytes = LOCAL_BYTES;
    chunk->local_stride = LOCAL_STRIDE;
    rig->allocation.host = rig->memory;
    rig->inst = (struct inst){.space = (u8)space, .imm = -4 * (i64)(random_next(state) % 16)};
    rig->step = (struct step){.shape = (u8)shape,
                              .words = (u8)MAX(bytes / 4, 1),
                              .wide = space == SPACE_GLOBAL || random_next(state) & 1,
                              .hint = &rig->allocation};
    rig->step.row[0] = (uintptr_t)rig->low;
    rig->step.row[1] = (uintptr_t)rig->data;
    rig->step.row[SLOT_DST] = (uintptr_t)rig->old;
    draw_places(rig, bytes, state);
    memcpy(rig->expected, rig->memory, RARE_BYTES);
}

/* Runs it, and compares memory and `result`, which hold what lane after lane should have done. */
static bool check_rare(struct rare_rig *rig, enum simd simd, u32 (*result)[LANES])
{
    const bool all = !(rig->chunk.lanes.mask & ~rig->right);
    u32 before[4][LANES];
    memcpy(before, rig->old, sizeof before);
    assert_int_equal(lanes_loops(simd)->step(&rig->chunk, &rig->inst, &rig->step), all);
    assert_memory_equal(rig->old, all ? result : before, sizeof before);
    if (all)
        assert_memory_equal(rig->memory, rig->expected, RARE_BYTES);
    return all;
}

static void test_short_rare(void **unused)
{
    static const enum space spaces[] = {SPACE_SHARED, SPACE_LOCAL, SPACE_GLOBAL};
    static const enum type types[2][3] = {{TYPE_U8, TYPE_U16, TYPE_B32},
                                          {TYPE_S8, TYPE_S16, TYPE_B32}};
    u64 state = 37;
    u32 done = 0;
    for (u32 round = 0; round < 6000; round++) {
        struct rare_rig rig;
        u32 result[4][LANES] = {0};
        const u32 bytes = 1u << random_next(&state) % 5;
        const bool sign = random_next(&state) & 1, load = random_next(&state) & 1;
        rig_rare(&rig, bytes < 4 ? SHAPE_NARROWS : SHAPE_WORDS, spaces[random_next(&state) % 3],
                 bytes, &state);
        rig.inst.op = load ? OP_ld : OP_st;
        rig.inst.type = (u8)types[sign][MIN(bytes / 2, 2u)];
        rig.inst.vector = (u8)MAX(bytes / 4, 1);
        for (u32 set = rig.chunk.lanes.mask & rig.right; set; set &= set - 1) {
            const u32 lane = (u32)__builtin_ctz(set);
            for (u32 j = 0; j < rig.step.words; j++) {
                u8 *at = rig.expected + rig.place[lane] + 4 * j;
                if (load)
                    result[j][lane] = load_narrow(at, MIN(bytes, 4u), sign);
                else
                    memcpy(at, &rig.data[j][lane], MIN(bytes, 4u));
            }
        }
        done += check_rare(&rig, builds[round % build_count()], result);
    }
    assert_true(done > 2000 && done < 5500);
}

static void test_short_atomics(void **unused)
{
    u64 state = 41;
    u32 done = 0;
    for (u32 round = 0; round < 4000; round++) {
        struct rare_rig rig;
        u32 result[4][LANES] = {0};
        const enum space space = random_next(&state) & 1 ? SPACE_SHARED : SPACE_GLOBAL;
        const bool is_float = random_next(&state) & 1;
        rig_rare(&rig, SHAPE_ATOMIC, space, 4, &state);
        rig.inst.op = OP_atom;
        rig.inst.key = ATOMIC_ADD;
        rig.inst.type = is_float ? TYPE_F32 : TYPE_U32;
        for (u32 set = rig.chunk.lanes.mask & rig.right; set; set &= set - 1) {
            const u32 lane = (u32)__builtin_ctz(set);
            u8 *at = rig.expected + rig.place[lane];
            u32 old, value = rig.data[0][lane];
            memcpy(&old, at, sizeof old);
            value = is_float ? atomic_add_f32(old, value, space == SPACE_GLOBAL) : old + value;
            memcpy(at, &value, sizeof value);
            result[0][lane] = old;
        }
        done += check_rare(&rig, builds[round % build_count()], result);
    }
    assert_true(done > 1500 && done < 3900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gather_scatter), cmocka_unit_test(test_translate64),
        cmocka_unit_test(test_translate32),    cmocka_unit_test(test_short_shared),
        cmocka_unit_test(test_short_global),   cmocka_unit_test(test_short_rare),
        cmocka_unit_test(test_short_atomics),  cmocka_unit_test(test_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
