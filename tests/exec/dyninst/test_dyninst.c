/* Dynamic instructions one by one: dropped ones, lanes of several warps, stores that others do not
 * see yet. */
#include "../warp/build.h"
#include "exec/memory_view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct build build_storage;
static struct ran ran;
static struct build *const b = &build_storage;

/* What stands in for the interpreter. */
static bool (*turn)(struct thread_block *block);
bool __real_block_turn(struct thread_block *block);
bool __wrap_block_turn(struct thread_block *block);
bool __wrap_block_turn(struct thread_block *block)
{
    if (!turn)
        return __real_block_turn(block);
    block->exec->by_dyninst = true;
    return turn(block);
}

static _Alignas(64) u32 rows[2][64 * 64];

static void finish(struct dyninst *f, struct memory_view *view)
{
    if (f->kind == DYNINST_ACCESS)
        dyninst_access(f, view);
    else
        dyninst_compute(f);
    if (f->kind == DYNINST_ACCESS && f->atomic)
        dyninst_atomic(f, f->global);
    dyninst_commit(f);
}

static bool step(struct warp *warp, struct memory_view *view)
{
    struct dyninst f = {.rows = rows[0]};
    const u32 inst = warp_next(warp);
    if (inst == NO_INST)
        return false;
    assert_true(dyninst_row_words(warp->exec->image) <= ARRAY_LEN(rows[0]));
    dyninst_issue(&f, warp, inst);
    finish(&f, view);
    return true;
}

static bool is_done(const struct thread_block *block)
{
    return block->done_warps == block->exec->warps;
}

static bool plainly(struct thread_block *block)
{
    for (u32 w = 0; w < block->exec->warps; w++)
        while (step(&block->warps[w], NULL))
            ;
    return is_done(block);
}

static void run_by(bool (*by)(struct thread_block *block), u32 threads, u32 warp_size)
{
    turn = by;
    build_run(b,
              &(struct run_options){
                  .grid = 1, .block = threads, .shared_bytes = 1024, .warp_size = warp_size},
              &ran);
    turn = NULL;
}

/* Arithmetic, masks, guards, a divergent branch, shared and global memory, an atomic. */
static void emit_mixture(void)
{
    build_start(b);
    SREG(0, tid_x);
    ADDRESS(2, 0);
    BINARY(mul_lo_b32, 4, R(0), K(77));
    COMPARE(0, CMP_LT, R(0), K(20));
    EMIT(.op = OP_add_b32, .dst = {R(4)}, .src = {R(4), K(1000)}, .guard = M(0));
    EMIT(.op = OP_mad_wide_u32, .dst = {RR(6)}, .src = {R(4), R(0), RR(2)});
    EMIT(.op = OP_selp_b32, .dst = {R(5)}, .src = {R(6), R(4), NOT(M(0))});
    u32 split = BRANCH(M(0));
    BINARY(xor_b32, 5, R(5), K(0x5555));
    u32 meet = build_label(b);
    build_target(b, split, meet, meet);
    BINARY(shl_b32, 8, R(0), K(2));
    EMIT(.op = OP_st, .src = {R(8), R(5)}, .space = SPACE_SHARED, .type = TYPE_U32, .vector = 1);
    EMIT(.op = OP_ld, .dst = {R(9)}, .src = {R(8)}, .space = SPACE_SHARED, .type = TYPE_U16,
         .vector = 1);
    STORE(2, 0, R(9));
    LOAD(10, 2, 0);
    EMIT(.op = OP_atom, .dst = {R(11)}, .src = {RR(2), R(10)}, .imm = 1024, .key = ATOMIC_ADD,
         .space = SPACE_GLOBAL, .type = TYPE_U32, .vector = 1);
    BINARY(add_b32, 11, R(11), R(7));
    STORE(2, 2048, R(11));
    EMIT(.op = OP_ret);
}

static u32 expected[4096];

static void expect_mixture(u32 threads, u32 warp_size)
{
    emit_mixture();
    run_by(NULL, threads, warp_size);
    assert_false(ran.exec.stopped);
    memcpy(expected, ran.words, sizeof expected);
    assert_int_not_equal(expected[3], 0);
}

static void as_interpreted(void **state)
{
    const u32 sizes[] = {32, 64};
    for (u32 i = 0; i < 2; i++) {
        expect_mixture(100, sizes[i]);
        run_by(plainly, 100, sizes[i]);
        assert_memory_equal(ran.words, expected, sizeof expected);
    }
}

/* ---- dropped ---- */

static size_t register_bytes(const struct exec *exec)
{
    return (exec->image->mask_rows + exec->image->own_rows + exec->register_rows) *
           exec->image->warp_size * sizeof(u32);
}

/* Everything but control flow issues twice; the first dynamic instruction is dropped behind its
 * compute. */
static bool dropping(struct thread_block *block)
{
    for (u32 w = 0; w < block->exec->warps; w++) {
        struct warp *warp = &block->warps[w];
        u32 inst;
        while ((inst = warp_next(warp)) != NO_INST) {
            struct dyninst f = {.rows = rows[0]};
            const size_t bytes = register_bytes(block->exec);
            u8 *before = malloc(bytes);
            memcpy(before, warp->chunks[0].base, bytes);
            if (!(op_info[warp->view->insts[inst].op].flags & OPF_BRANCH)) {
                dyninst_issue(&f, warp, inst);
                dyninst_compute(&f);
                assert_memory_equal(before, warp->chunks[0].base, bytes); /* F1, F2 */
                warp_path(warp)->pc = inst;
            }
            step(warp, NULL);
            free(before);
        }
    }
    return is_done(block);
}

static void dropped(void **state)
{
    expect_mixture(100, 32);
    run_by(dropping, 100, 32);
    assert_memory_equal(ran.words, expected, sizeof expected);
}

/* A dynamic instruction carries its operands: what is written between issue and compute does not
 * matter. */
static bool changing(struct thread_block *block)
{
    struct warp *warp = &block->warps[0];
    struct dyninst f = {.rows = rows[0]};
    for (u32 i = 0; i < 1; i++)
        step(warp, NULL);
    dyninst_issue(&f, warp, warp_next(warp));
    u32 *r0 = vector_row(warp, &warp->chunks[0], 0);
    for (u32 lane = 0; lane < LANES; lane++)
        r0[lane] += 1000000;
    finish(&f, NULL);
    for (u32 lane = 0; lane < LANES; lane++)
        r0[lane] -= 1000000;
    while (step(warp, NULL))
        ;
    return is_done(block);
}

static void carried(void **state)
{
    build_start(b);
    SREG(0, tid_x);
    BINARY(mul_lo_b32, 4, R(0), R(0));
    ADDRESS(2, 0);
    STORE(2, 0, R(4));
    EMIT(.op = OP_ret);
    run_by(changing, 32, 32);
    for (u32 t = 0; t < 32; t++)
        assert_int_equal(ran.words[t], t * t);
}

/* ---- homes ---- */

static u32 shuffled; /* which lanes change places between two warps */

/* Two warps run in step; even and odd lanes of each make up groups. */
static bool by_homes(struct thread_block *block)
{
    struct warp *a = &block->warps[0], *c = &block->warps[1];
    struct warp *homes[2][MAX_LANES] = {{0}};
    const u32 lanes = block->exec->image->warp_size;
    for (u32 lane = 0; lane < lanes; lane++) {
        homes[0][lane] = shuffled >> lane % 32 & 1 ? a : c;
        homes[1][lane] = shuffled >> lane % 32 & 1 ? c : a;
    }
    for (;;) {
        const u32 inst = warp_next(a);
        assert_int_equal(inst, warp_next(c));
        if (inst == NO_INST)
            return is_done(block);
        const struct inst *code = &a->view->insts[inst];
        const u16 flags = op_info[code->op].flags;
        const bool may = ((flags & OPF_LANE) && code->dst[0].kind == OPERAND_VECTOR &&
                          code->dst[1].kind == OPERAND_NONE) ||
                         flags & (OPF_LOAD | OPF_STORE);
        if (!may) {
            step(a, NULL);
            step(c, NULL);
            continue;
        }
        struct dyninst f[2] = {{.rows = rows[0]}, {.rows = rows[1]}};
        for (u32 i = 0; i < 2; i++)
            dyninst_issue_homes(&f[i], homes[i], inst);
        dyninst_advance(a, inst);
        dyninst_advance(c, inst);
        for (u32 i = 0; i < 2; i++)
            finish(&f[i], NULL);
    }
}

/* Without the branch: groups need full masks. Local memory is each home's own. */
static void emit_straight(void)
{
    build_start(b);
    SREG(0, tid_x);
    ADDRESS(2, 0);
    BINARY(mul_lo_b32, 4, R(0), K(77));
    COMPARE(0, CMP_LT, R(0), K(50));
    EMIT(.op = OP_add_b32, .dst = {R(4)}, .src = {R(4), K(1000)}, .guard = M(0));
    EMIT(.op = OP_mad_wide_u32, .dst = {RR(6)}, .src = {R(4), R(0), RR(2)});
    EMIT(.op = OP_selp_b32, .dst = {R(5)}, .src = {R(6), R(4), NOT(M(0))});
    EMIT(.op = OP_st, .src = {K(8), R(5)}, .space = SPACE_LOCAL, .type = TYPE_U32, .vector = 1);
    EMIT(.op = OP_ld, .dst = {R(9)}, .src = {K(8)}, .space = SPACE_LOCAL, .type = TYPE_U32,
         .vector = 1);
    STORE(2, 0, R(9));
    LOAD(10, 2, 0);
    EMIT(.op = OP_atom, .dst = {R(11)}, .src = {RR(2), R(10)}, .imm = 1024, .key = ATOMIC_ADD,
         .space = SPACE_GLOBAL, .type = TYPE_U32, .vector = 1);
    BINARY(add_b32, 11, R(11), R(10));
    STORE(2, 2048, R(11));
    EMIT(.op = OP_ret);
}

static void run_straight(bool (*by)(struct thread_block *block), u32 warp_size)
{
    turn = by;
    build_run(b,
              &(struct run_options){
                  .grid = 1, .block = 2 * warp_size, .local_bytes = 64, .warp_size = warp_size},
              &ran);
    turn = NULL;
    assert_false(ran.exec.stopped);
}

static void homes(void **state)
{
    const u32 sizes[] = {32, 64}, sets[] = {0x55555555, 0xffff0000, 0xffffffff, 0x8421f0c3};
    for (u32 i = 0; i < 2; i++) {
        emit_straight();
        run_straight(NULL, sizes[i]);
        memcpy(expected, ran.words, sizeof expected);
        for (u32 k = 0; k < ARRAY_LEN(sets); k++) {
            shuffled = sets[k];
            run_straight(by_homes, sizes[i]);
            assert_memory_equal(ran.words, expected, sizeof expected);
        }
    }
}

/* ---- addresses ---- */

static struct dyninst seen;

static bool look(struct thread_block *block)
{
    struct warp *warp = &block->warps[0];
    for (u32 inst; (inst = warp_next(warp)) != NO_INST;) {
        struct dyninst f = {.rows = rows[0]};
        dyninst_issue(&f, warp, inst);
        if (f.stores)
            seen = f;
        finish(&f, NULL);
    }
    return is_done(block);
}

/* Generic addresses: lanes below 8 to shared memory, below 16 to local, others to the buffer. */
static void sorted(void **state)
{
    build_start(b);
    SREG(0, tid_x);
    ADDRESS(2, 0);
    EMIT(.op = OP_mad_wide_u32, .dst = {RR(4)},
         .src = {R(0), K(4), build_constant64(b, windows_64.shared)});
    EMIT(.op = OP_mad_wide_u32, .dst = {RR(6)},
         .src = {R(0), K(4), build_constant64(b, windows_64.local)});
    COMPARE(0, CMP_LT, R(0), K(8));
    COMPARE(1, CMP_LT, R(0), K(16));
    EMIT(.op = OP_mov_b64, .dst = {RR(2)}, .src = {RR(6)}, .guard = M(1));
    EMIT(.op = OP_mov_b64, .dst = {RR(2)}, .src = {RR(4)}, .guard = M(0));
    EMIT(.op = OP_st, .src = {RR(2), R(0)}, .space = SPACE_GENERIC, .type = TYPE_U32, .vector = 1);
    EMIT(.op = OP_ret);
    turn = look;
    build_run(b,
              &(struct run_options){.grid = 1, .block = 32, .shared_bytes = 64, .local_bytes = 64},
              &ran);
    turn = NULL;
    assert_false(ran.exec.stopped);
    assert_int_equal(seen.shared, 0xff);
    assert_int_equal(seen.local, 0xff00);
    assert_int_equal(seen.global, 0xffff0000);
    assert_int_equal(seen.bytes, 4);
    for (u32 lane = 0; lane < 16; lane++)
        assert_int_equal(seen.address[lane], 4 * lane);
    for (u32 lane = 17; lane < 32; lane++)
        assert_int_equal(seen.address[lane], seen.address[16] + 4 * (lane - 16));
    for (u32 t = 0; t < 32; t++)
        assert_int_equal(ran.words[t], t < 16 ? 0 : t);
}

/* ---- views ---- */

/* Lanes 0 to 3 of an access at these places. */
static struct access access_at(u8 *const places[4])
{
    struct access access = {.base = NULL};
    for (u32 lane = 0; lane < 4; lane++)
        access.at[lane] = places[lane];
    return access;
}

static void store(struct memory_view *view, u8 *to, u32 bytes, const void *data)
{
    struct access access = access_at((u8 *[4]){to});
    memory_view_redirect(view, lanes_memory(SIMD_PORTABLE), &access, 1, bytes, true);
    memcpy(access.at[0], data, bytes);
}

static u64 load(struct memory_view *view, u8 *from, u32 bytes)
{
    struct access access = access_at((u8 *[4]){from});
    u64 value = 0;
    memory_view_redirect(view, lanes_memory(SIMD_PORTABLE), &access, 1, bytes, false);
    memcpy(&value, access.at[0], bytes);
    return value;
}

static void view_overlaps(void **state)
{
    _Alignas(8) u8 memory[64] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct memory_view *view = memory_view_create(), *other = memory_view_create();
    assert_true(memory_view_empty(view));
    store(view, memory + 2, 2, &(u16){0xaabb});
    assert_false(memory_view_empty(view));
    assert_int_equal(load(view, memory, 8), 0x08070605aabb0201); /* some of its bytes */
    assert_int_equal(load(view, memory + 3, 1), 0xaa);
    assert_int_equal(load(view, memory + 4, 4), 0x08070605); /* the same sector, no overlap */
    assert_int_equal(load(other, memory, 8), 0x0807060504030201);
    store(view, memory + 3, 4, &(u32){0x11223344}); /* later ones win */
    store(view, memory + 2, 1, &(u8){0x99});
    assert_int_equal(load(view, memory, 8), 0x0811223344990201);
    assert_int_equal(memory[2], 3);
    memory_view_publish(view);
    assert_true(memory_view_empty(view));
    assert_int_equal(load(other, memory, 8), 0x0811223344990201);
    assert_int_equal(load(view, memory, 8), 0x0811223344990201);
    memory_view_destroy(view);
    memory_view_destroy(other);
}

/* Lanes side by side share an entry; lanes at one place: the last one wins. */
static void view_lanes(void **state)
{
    u32 memory[8] = {0};
    u8 *const m = (u8 *)memory;
    struct memory_view *view = memory_view_create();
    struct access access = access_at((u8 *[4]){m, m + 4, m + 4, m + 8});
    memory_view_redirect(view, lanes_memory(SIMD_PORTABLE), &access, 15, 4, true);
    for (u32 lane = 0; lane < 4; lane++)
        memcpy(access.at[lane], &(u32){lane + 1}, 4);
    assert_int_equal(load(view, m + 4, 4), 3);
    memory_view_publish(view);
    assert_int_equal(memory[0], 1);
    assert_int_equal(memory[1], 3);
    assert_int_equal(memory[2], 4);
    memory_view_destroy(view);
}

static void view_rewinds(void **state)
{
    u32 memory[8] = {0};
    u8 *const m = (u8 *)memory;
    struct memory_view *view = memory_view_create();
    store(view, m, 4, &(u32){1});
    const struct memory_view_mark mark = memory_view_mark(view);
    store(view, m + 4, 4, &(u32){2}); /* goes on where the first one ended */
    store(view, m + 16, 4, &(u32){3});
    memory_view_rewind(view, mark);
    store(view, m + 20, 4, &(u32){4});
    memory_view_publish(view);
    assert_int_equal(memory[0], 1);
    assert_int_equal(memory[1], 0);
    assert_int_equal(memory[4], 0);
    assert_int_equal(memory[5], 4);
    memory_view_destroy(view);
}

/* Warp 1, on a core of its own, reads what warp 0 stores: only from the publication on. */
static bool on_two_cores(struct thread_block *block)
{
    struct memory_view *views[2] = {memory_view_create(), memory_view_create()};
    struct warp *first = &block->warps[0], *second = &block->warps[1];
    while (step(first, views[0]))
        ;
    for (u32 i = 0; i < 5; i++) /* with its first load */
        step(second, views[1]);
    memory_view_publish(views[0]);
    while (step(second, views[1]))
        ;
    memory_view_publish(views[1]);
    for (u32 i = 0; i < 2; i++)
        memory_view_destroy(views[i]);
    return is_done(block);
}

static void seen_late(void **state)
{
    build_start(b);
    SREG(0, tid_x);
    BINARY(and_b32, 1, R(0), K(31));
    ADDRESS(2, 1);
    LOAD(4, 2, 0); /* 0, until warp 0 has stored and published */
    BINARY(add_b32, 5, R(0), K(7));
    STORE(2, 0, R(5));
    LOAD(6, 2, 0); /* its own store */
    EMIT(.op = OP_mad_lo_b32, .dst = {R(7)}, .src = {R(6), K(1000), R(4)});
    ADDRESS(8, 0);
    STORE(8, 512, R(7));
    EMIT(.op = OP_ret);
    run_by(on_two_cores, 64, 32);
    for (u32 t = 0; t < 64; t++)
        assert_int_equal(ran.words[128 + t], (t + 7) * 1000);
    for (u32 t = 0; t < 32; t++)
        assert_int_equal(ran.words[t], t + 32 + 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_interpreted), cmocka_unit_test(dropped),
        cmocka_unit_test(carried),        cmocka_unit_test(homes),
        cmocka_unit_test(sorted),         cmocka_unit_test(view_overlaps),
        cmocka_unit_test(view_lanes),     cmocka_unit_test(view_rewinds),
        cmocka_unit_test(seen_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
