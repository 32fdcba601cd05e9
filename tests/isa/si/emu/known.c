/*
 * Small programs whose results are worked out by hand or by the host's compiler. The words were
 * made by llvm-mc from the text in the comments.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"
#include "self.h"

/* v_div_scale_f32 v2, s[0:1], v1, v1, v0; v_div_scale_f32 v3, vcc, v0, v1, v0; v_rcp_f32 v4, v2;
 * Newton's steps in v_fma_f32 and v_mul_f32; v_div_fmas_f32 v2, v2, v4, v5;
 * v_div_fixup_f32 v0, v2, v1, v0 */
static const u32 division32[] = {
    0xd2da0002, 0x04020301, 0xd2da6a03, 0x04020300, 0x7e085502, 0xd2960005, 0x23ca0902,
    0xd2960004, 0x04120905, 0x100a0903, 0xd2960006, 0x240e0b02, 0xd2960005, 0x04160906,
    0xd2960002, 0x240e0b02, 0xd2de0002, 0x04160902, 0xd2be0000, 0x04020302, 0xbf810000};
/* The same in f64: v[0:1] / v[2:3]. */
static const u32 division64[] = {
    0xd2dc0004, 0x04020502, 0x7e0c5f04, 0xd2980008, 0x23ca0d04, 0xd2980006, 0x041a1106, 0xd2980008,
    0x23ca0d04, 0xd2980006, 0x041a1106, 0xd2dc6a0a, 0x04020500, 0xd2ca0008, 0x00020d0a, 0xd2980004,
    0x242a1104, 0xd2e00004, 0x04220d04, 0xd2c00000, 0x04020504, 0xbf810000};
/* v[4:5] = v[0:1] + v[2:3]; v[6:7] = v[0:1] - v[2:3], by v_add_i32, v_addc_u32 and so on */
static const u32 carry[] = {0x4a080500, 0x500a0701, 0x4c0c0500, 0x520e0701, 0xbf810000};
/* v_cmp_gt_u32 vcc, 32, v0; s_and_saveexec_b64 s[2:3], vcc; v_mov_b32 v1, 7;
 * s_xor_b64 exec, exec, s[2:3]; v_mov_b32 v1, 9; s_or_b64 exec, exec, s[2:3];
 * v_readlane_b32 s4, v1, 31; v_readlane_b32 s5, v1, 32 */
static const u32 regions[] = {0x7d8800a0, 0xbe82246a, 0x7e020287, 0x89fe027e, 0x7e020289,
                              0x88fe027e, 0x02093f01, 0x020b4101, 0xbf810000};
/* s0 = 10; s1 = 0; do s1 += s0; while (--s0 != 0) */
static const u32 loop[] = {0xbe80038a, 0xbe810380, 0x81010001, 0x81808100,
                           0xbf018000, 0xbf85fffc, 0xbf810000};
/* s_swappc_b64 to { s_movk_i32 s1, 0x11; s_setpc_b64 s[6:7] }, then s_add_i32 s1, s1, 100 */
static const u32 call[] = {0xbe841f00, 0x80049804, 0x82058005, 0xbe862104, 0x8101ff01,
                           0x00000064, 0xbf810000, 0xb0010011, 0xbe802006};
/* lanes below 16 take v1 = 2, the others v1 = 1, v2 = 3, by s_cbranch_i_fork and s_cbranch_join */
static const u32 fork_join[] = {0x7d880090, 0xbe940380, 0xb8ea0003, 0x7e020281, 0x7e040283,
                                0xbf820001, 0x7e020282, 0xbe803214, 0xbf810000};
/* m0 = -1; v1 = v0 * 4; ds_write_b32 v1, v0; s_barrier; ds_add_rtn_u32 v3, v1, v0; s_barrier;
 * ds_read_b32 v4, v1 */
static const u32 lds[] = {0xbefc03c1, 0x34020082, 0xd8340000, 0x00000001, 0xbf8a0000, 0xd8800000,
                          0x03000001, 0xbf8a0000, 0xd8d80000, 0x04000001, 0xbf810000};
/* buffer_store_dword v0, off, s[0:3], s4 offset:8; buffer_load_dword v1, off, s[0:3], s4 offset:8
 */
static const u32 scratch[] = {0xe0700008, 0x04000000, 0xe0300008, 0x04000100, 0xbf810000};
/* v1, v3, v4 = v0 + v2 rounded to nearest, up, to zero, by s_setreg_imm32_b32 */
static const u32 rounding[] = {0x06020500, 0xba800801, 0x00000001, 0x06060500,
                               0xba800801, 0x00000003, 0x06080500, 0xbf810000};
/* v_trig_preop_f64 v[2:3], v[0:1], 0 and v[4:5], v[0:1], 1 */
static const u32 trig[] = {0xd2e80002, 0x00010100, 0xd2e80004, 0x00010300, 0xbf810000};
/* v_fract_f32 v1, v0; v_log_clamp_f32 v2, v0; v_rsq_legacy_f32 v3, v0; v_rcp_legacy_f32 v4, v0 */
static const u32 special[] = {0x7e024100, 0x7e044d00, 0x7e065b00, 0x7e085300, 0xbf810000};

static unsigned failures;

static void expect(const char *what, u32 lane, u64 got, u64 want)
{
    if (got != want && failures++ < 20)
        printf("known: %s, lane %u: 0x%llx, expected 0x%llx\n", what, lane, (unsigned long long)got,
               (unsigned long long)want);
}

static struct machine *begin(const u32 *code, size_t bytes, u32 waves)
{
    struct machine *m = malloc(sizeof *m);
    assert(m);
    emu_init(m);
    m->code = (const u8 *)code;
    m->code_bytes = (u32)bytes;
    m->code_base = 0x1234500000ull;
    m->wave_count = waves;
    for (u32 i = 0; i < waves; i++) {
        m->waves[i].mode = 0x1c0;
        m->waves[i].scalars[EXEC] = m->waves[i].scalars[EXEC + 1] = 0xffffffff;
        m->waves[i].lds_bytes = 4096;
        for (u32 lane = 0; lane < LANES; lane++)
            m->waves[i].vectors[0][lane] = lane + 64 * i;
    }
    return m;
}

static void finish(struct machine *m)
{
    if (!emu_run(m, 10000)) {
        printf("known: did not end: %s\n", m->fault ? m->fault : "");
        failures++;
    }
}

static void end(struct machine *m)
{
    emu_free(m);
    free(m);
}

static u64 pair(const struct wave *w, u32 reg, u32 lane)
{
    return (u64)w->vectors[reg + 1][lane] << 32 | w->vectors[reg][lane];
}

/* The whole sequence a compiler emits gives the correctly rounded quotient for any operands. */
static void check_division(struct rng *r)
{
    struct machine *m = begin(division32, sizeof division32, 1);
    struct wave *w = &m->waves[0];
    u32 a[LANES], b[LANES];
    w->mode = 0x1f0;
    for (u32 lane = 0; lane < LANES; lane++) {
        w->vectors[0][lane] = a[lane] = edge_word(r);
        w->vectors[1][lane] = b[lane] = edge_word(r);
    }
    finish(m);
    for (u32 lane = 0; lane < LANES; lane++) {
        float x, y, q;
        u32 want, got = w->vectors[0][lane];
        memcpy(&x, &a[lane], 4);
        memcpy(&y, &b[lane], 4);
        q = x / y;
        memcpy(&want, &q, 4);
        if (!isnan(q) || !fp_is_nan(K_F32, got))
            expect("f32 division", lane, got, want);
    }
    end(m);
}

static void check_division64(struct rng *r)
{
    struct machine *m = begin(division64, sizeof division64, 1);
    struct wave *w = &m->waves[0];
    u64 a[LANES], b[LANES];
    for (u32 lane = 0; lane < LANES; lane++) {
        a[lane] = edge_pair(r);
        b[lane] = edge_pair(r);
        w->vectors[0][lane] = (u32)a[lane];
        w->vectors[1][lane] = (u32)(a[lane] >> 32);
        w->vectors[2][lane] = (u32)b[lane];
        w->vectors[3][lane] = (u32)(b[lane] >> 32);
    }
    finish(m);
    for (u32 lane = 0; lane < LANES; lane++) {
        double x, y, q;
        u64 want, got = pair(w, 0, lane);
        memcpy(&x, &a[lane], 8);
        memcpy(&y, &b[lane], 8);
        q = x / y;
        memcpy(&want, &q, 8);
        if (!isnan(q) || !fp_is_nan(K_F64, got))
            expect("f64 division", lane, got, want);
    }
    end(m);
}

static void check_carry(struct rng *r)
{
    struct machine *m = begin(carry, sizeof carry, 1);
    struct wave *w = &m->waves[0];
    u64 a[LANES], b[LANES];
    for (u32 lane = 0; lane < LANES; lane++) {
        for (u32 reg = 0; reg < 4; reg++)
            w->vectors[reg][lane] = edge_word(r);
        a[lane] = pair(w, 0, lane);
        b[lane] = pair(w, 2, lane);
    }
    finish(m);
    u64 borrow = (u64)w->scalars[VCC + 1] << 32 | w->scalars[VCC];
    for (u32 lane = 0; lane < LANES; lane++) {
        expect("64-bit sum", lane, pair(w, 4, lane), a[lane] + b[lane]);
        expect("64-bit difference", lane, pair(w, 6, lane), a[lane] - b[lane]);
        expect("borrow", lane, borrow >> lane & 1, a[lane] < b[lane]);
    }
    end(m);
}

static void check_flow(void)
{
    struct machine *m = begin(regions, sizeof regions, 1);
    finish(m);
    for (u32 lane = 0; lane < LANES; lane++)
        expect("saveexec", lane, m->waves[0].vectors[1][lane], lane < 32 ? 7 : 9);
    expect("readlane", 31, m->waves[0].scalars[4], 7);
    expect("readlane", 32, m->waves[0].scalars[5], 9);
    end(m);
    m = begin(loop, sizeof loop, 1);
    finish(m);
    expect("loop", 0, m->waves[0].scalars[1], 55);
    end(m);
    m = begin(call, sizeof call, 1);
    finish(m);
    expect("call", 0, m->waves[0].scalars[1], 0x11 + 100);
    expect("return address", 0, m->waves[0].scalars[6], 0x34500000 + 16);
    end(m);
    m = begin(fork_join, sizeof fork_join, 1);
    finish(m);
    for (u32 lane = 0; lane < LANES; lane++) {
        expect("fork", lane, m->waves[0].vectors[1][lane], lane < 16 ? 2 : 1);
        expect("fork", lane, m->waves[0].vectors[2][lane], lane < 16 ? 0 : 3);
    }
    expect("stack", 0, m->waves[0].mode, 0x1c0);
    end(m);
}

static void check_memory(void)
{
    struct machine *m = begin(lds, sizeof lds, 2);
    finish(m);
    for (u32 wave = 0; wave < 2; wave++)
        for (u32 lane = 0; lane < LANES; lane++) {
            u32 i = lane + 64 * wave;
            expect("ds_add_rtn", i, m->waves[wave].vectors[3][lane], i);
            expect("ds_read", i, m->waves[wave].vectors[4][lane], 2 * i);
        }
    end(m);
    /* scratch as compilers set it up: elements of 4 bytes, 64 lanes side by side */
    m = begin(scratch, sizeof scratch, 1);
    emu_region(m, 0x10000, 0x10000);
    static const u32 words[] = {0x10000, 0x80000000 | 16 << 16, 0xffffffff, 0x00e8f000, 256};
    memcpy(m->waves[0].scalars, words, sizeof words);
    finish(m);
    for (u32 lane = 0; lane < LANES; lane++) {
        u32 stored;
        memcpy(&stored, m->regions[0].data + 256 + 8 * 64 + 4 * lane, 4);
        expect("swizzled store", lane, stored, lane);
        expect("swizzled load", lane, m->waves[0].vectors[1][lane], lane);
    }
    end(m);
}

static void check_modes(void)
{
    struct machine *m = begin(rounding, sizeof rounding, 1);
    struct wave *w = &m->waves[0];
    w->vectors[0][0] = 0x3f800000; /* 1 + 2^-25 */
    w->vectors[2][0] = 0x33000000;
    finish(m);
    expect("to nearest", 0, w->vectors[1][0], 0x3f800000);
    expect("up", 0, w->vectors[3][0], 0x3f800001);
    expect("to zero", 0, w->vectors[4][0], 0x3f800000);
    expect("MODE", 0, w->mode, 0x1c3);
    end(m);
    /* 2/pi = 0.a2f9836e 4e441529 fc27... in hexadecimal: 53 bits, and the 53 after them */
    m = begin(trig, sizeof trig, 1);
    finish(m);
    w = &m->waves[0];
    expect("2/pi", 0, pair(w, 2, 0), 0x3fe45f306dc9c882ull);
    expect("2/pi, next bits", 0, pair(w, 4, 0), 0x3c94a7f09d5f47d4ull);
    end(m);
}

/* Where the names promise more, or less, than the document says. */
static void check_special(void)
{
    static const u32 table[][5] = {{0, 0, 0xff7fffff, 0x7f800000, 0},
                                   {0x80000000, 0, 0xff7fffff, 0xff800000, 0x80000000},
                                   {0x7f800000, 0x7fc00000, 0x7f800000, 0, 0},
                                   {0x3fc00000, 0x3f000000, 0x3f15c01a, 0x3f5105ec, 0x3f2aaaab},
                                   {0xa0000000, 0x3f800000, 0x7fc00000, 0x7fc00000, 0xdf000000}};
    struct machine *m = begin(special, sizeof special, 1);
    struct wave *w = &m->waves[0];
    for (u32 lane = 0; lane < sizeof table / sizeof *table; lane++)
        w->vectors[0][lane] = table[lane][0];
    finish(m);
    for (u32 lane = 0; lane < sizeof table / sizeof *table; lane++)
        for (u32 reg = 1; reg < 5; reg++)
            expect("fract, log_clamp, rsq_legacy, rcp_legacy", lane, w->vectors[reg][lane],
                   table[lane][reg]);
    end(m);
}

/* The sequences as programs to be compared, over values at the edges: false when there is none. */
bool known_program(struct program *p, u32 index, u64 seed)
{
    static const struct {
        const char *name;
        const u32 *words;
        u32 count;
    } list[] = {{"f32 division", division32, sizeof division32 / 4},
                {"f64 division", division64, sizeof division64 / 4},
                {"64-bit sums", carry, sizeof carry / 4},
                {"special values", special, sizeof special / 4}};
    struct rng r = {seed};
    if (index >= sizeof list / sizeof *list)
        return false;
    p->seed = seed;
    p->what = list[index].name;
    p->count = 0;
    fill_state(&r, p, 1, 1);
    struct wave *w = &p->start.waves[0];
    for (u32 lane = 0; lane < LANES; lane++)
        for (u32 reg = 0; reg < 4; reg += 2) {
            u64 value = index == 1 ? edge_pair(&r) : (u64)edge_word(&r) << 32 | edge_word(&r);
            w->vectors[reg][lane] = (u32)value;
            w->vectors[reg + 1][lane] = (u32)(value >> 32);
        }
    w->mode = seed % 2 ? 0x1f0 : 0x1c0;
    emit_getpc(p);
    for (u32 i = 0; i < list[index].count; i++)
        emit_words(p, list[index].words[i]);
    p->start.code = (const u8 *)p->words;
    p->start.code_bytes = p->count * 4;
    return true;
}

unsigned known_check(void)
{
    struct rng r = {99};
    failures = 0;
    for (u32 i = 0; i < 200; i++) {
        check_division(&r);
        check_division64(&r);
        check_carry(&r);
    }
    check_flow();
    check_memory();
    check_modes();
    check_special();
    return failures;
}
