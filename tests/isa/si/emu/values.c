/* Values at the edges, and the states programs start from. See gen.h. */
#include "gen.h"

#include <string.h>

u64 rng_next(struct rng *r)
{
    u64 z = r->state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

u32 rng_below(struct rng *r, u32 n)
{
    return (u32)(rng_next(r) >> 32) % n;
}

bool rng_chance(struct rng *r, u32 percent)
{
    return rng_below(r, 100) < percent;
}

static const u32 words[] = {
    0,
    1,
    2,
    3,
    31,
    32,
    63,
    64,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x10000,
    0x7fffff,
    0x800000,
    0xffffff,
    0x1000000,
    0x7fffffff,
    0x80000000,
    0x80000001,
    0xfffffffe,
    0xffffffff,
    0xaaaaaaaa,
    0x55555555,
    0x01010101,
    0x00ff00ff,
    /* f32: NaNs, infinities, subnormals, the largest, ones and halves and their neighbours */
    0x7f800000,
    0xff800000,
    0x7fc00000,
    0xffc00000,
    0x7f800001,
    0xff800001,
    0x7fffffff,
    0x7fa12345,
    0x00000001,
    0x80000001,
    0x007fffff,
    0x807fffff,
    0x00800000,
    0x80800000,
    0x00800001,
    0x00ffffff,
    0x7f7fffff,
    0xff7fffff,
    0x7f000000,
    0x7e800000,
    0x7e800001,
    0x3f800000,
    0xbf800000,
    0x3f7fffff,
    0x3f800001,
    0x3f000000,
    0xbf000000,
    0x3effffff,
    0x3fc00000,
    0x40200000,
    0xc0200000,
    0x40490fdb,
    0x4b000000,
    0x4b7fffff,
    0x4b800000,
    0x4effffff,
    0x4f000000,
    0xcf000000,
    0x4f7fffff,
    0x4f800000,
    0x437f0000,
    0x437f8000,
    0x43800000,
    0x43800001,
    0xc3800000,
    0x42fe0000,
    0x43000000,
    0xc2fc0000,
    0xc3160000,
    0x477fe000,
    0x477ff000,
    0x38800000,
    0x387fffff,
    0x33800000,
    0x33000001,
    /* f16 in the low half */
    0x7c00,
    0xfc00,
    0x7e00,
    0x7c01,
    0x0001,
    0x83ff,
    0x0400,
    0x7bff,
    0x3c00,
};

static const u64 pairs[] = {
    0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x8000000000000001,
    0x000fffffffffffff, 0x0010000000000000, 0x800fffffffffffff, 0x7ff0000000000000,
    0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000000, 0x7ff0000000000001,
    0x7ff4000000000000, 0xffffffffffffffff, 0x7fefffffffffffff, 0xffefffffffffffff,
    0x3ff0000000000000, 0xbff0000000000000, 0x3fefffffffffffff, 0x3ff0000000000001,
    0x3fe0000000000000, 0xbfe0000000000000, 0x4004000000000000, 0x41dfffffffc00000,
    0x41e0000000000000, 0xc1e0000000000000, 0x41efffffffe00000, 0x41f0000000000000,
    0x36a0000000000000, 0x3690000000000000, 0x380fffffffffffff, 0x3810000000000000,
    0x47efffffe0000000, 0x47effffff0000000, 0x47f0000000000000, 0x4340000000000000,
    0x7fd0000000000000, 0x7fe0000000000001, 0x0350000000000000, 0x7fb0000000000000,
    0x00000000ffffffff, 0x0000000080000000, 0x7fffffffffffffff, 0xffffffff00000000,
};

/* An exponent anywhere, a mantissa with few or many bits. */
static u32 random_float(struct rng *r)
{
    u32 mantissa = (u32)rng_next(r) & 0x7fffff;
    if (rng_chance(r, 40))
        mantissa &= 0x7f0000;
    u32 exponent = rng_chance(r, 60) ? 127 - 20 + rng_below(r, 40) : rng_below(r, 255);
    return rng_below(r, 2) << 31 | exponent << 23 | mantissa;
}

u32 edge_word(struct rng *r)
{
    u32 kind = rng_below(r, 10);
    if (kind < 6)
        return words[rng_below(r, sizeof words / sizeof *words)];
    return kind < 9 ? random_float(r) : (u32)rng_next(r);
}

u64 edge_pair(struct rng *r)
{
    u32 kind = rng_below(r, 10);
    if (kind < 6)
        return pairs[rng_below(r, sizeof pairs / sizeof *pairs)];
    if (kind == 9)
        return rng_next(r);
    u64 mantissa = rng_next(r) >> 12;
    if (rng_chance(r, 40))
        mantissa &= ~0ull << 44;
    u64 exponent = rng_chance(r, 60) ? 1023 - 40 + rng_below(r, 80) : rng_below(r, 2047);
    return (u64)rng_below(r, 2) << 63 | exponent << 52 | mantissa;
}

static void descriptor(struct wave *w, u32 at, u64 base, u32 stride, bool swizzle, u32 records,
                       u32 word3)
{
    w->scalars[at] = (u32)base;
    w->scalars[at + 1] = (u32)(base >> 32) | stride << 16 | (u32)swizzle << 31;
    w->scalars[at + 2] = records;
    w->scalars[at + 3] = word3;
}

/* Destination selects x y z w, or anything the hardware allows. */
static u32 selects(struct rng *r)
{
    static const u8 codes[] = {0, 1, 4, 5, 6, 7};
    u32 out = 0;
    if (rng_chance(r, 50))
        return 4 | 5 << 3 | 6 << 6 | 7 << 9;
    for (u32 i = 0; i < 4; i++)
        out |= (u32)codes[rng_below(r, 6)] << 3 * i;
    return out;
}

static void fill_descriptors(struct rng *r, struct wave *w)
{
    static const u8 data_formats[] = {1, 2, 3, 4, 5, 10, 11, 12, 13, 14};
    u32 dfmt = data_formats[rng_below(r, sizeof data_formats)];
    u32 nfmt = dfmt == 4 || dfmt == 11 || dfmt > 12 ? 4 + rng_below(r, 2) : rng_below(r, 6);
    if (nfmt >= 2 && nfmt <= 3)
        nfmt = 4;
    u32 format = selects(r) | nfmt << 12 | dfmt << 15;
    descriptor(w, S_RAW, DATA_ADDRESS, 0, false, 4096, format);
    descriptor(w, S_RECORDS, DATA_ADDRESS, 16 * (1 + rng_below(r, 3)), false, 40, format);
    descriptor(w, S_SWIZZLED, DATA_ADDRESS, 32, true, 100,
               format | 1u << 19 | rng_below(r, 4) << 21 | rng_below(r, 2) << 23);
    descriptor(w, S_FLAT, 0, 0, false, 0, format);
}

/* Anywhere below `end`, side by side, or all the same: machines have short ways for some. */
static void fill_addresses(struct rng *r, u32 *row, u32 end, u32 align, u32 base)
{
    u32 kind = rng_below(r, 10), start = rng_below(r, end);
    u32 step = kind < 4 ? align << rng_below(r, 2) : 0;
    for (u32 lane = 0; lane < LANES; lane++) {
        u32 at = kind < 6 ? (start + lane * step) % end : rng_below(r, end);
        row[lane] = base + (at & ~(align - 1));
    }
}

static void fill_vectors(struct rng *r, struct wave *w)
{
    for (u32 reg = 0; reg < PLAY_VECTORS; reg++)
        for (u32 lane = 0; lane < LANES; lane++)
            w->vectors[reg][lane] = edge_word(r);
    /* a third of the registers hold f64 in pairs */
    for (u32 reg = 16; reg < 28; reg += 2)
        for (u32 lane = 0; lane < LANES; lane++) {
            u64 pair = edge_pair(r);
            w->vectors[reg][lane] = (u32)pair;
            w->vectors[reg + 1][lane] = (u32)(pair >> 32);
        }
    for (u32 i = V_RESULT; i < V_AT1; i++)
        for (u32 lane = 0; lane < LANES; lane++)
            w->vectors[i][lane] = edge_word(r);
    for (u32 i = 0; i < 5; i++) /* beyond the descriptor's 4096 bytes once in a while */
        fill_addresses(r, w->vectors[V_AT1 + i], 4600, 1u << i, 0);
    fill_addresses(r, w->vectors[V_INDEX], 48, 1, 0);
    fill_addresses(r, w->vectors[V_FLAT], 4096, 16, (u32)DATA_ADDRESS);
    fill_addresses(r, w->vectors[V_LDS], LDS_USED + 64, 8, 0);
    fill_addresses(r, w->vectors[V_LDS1], LDS_USED + 16, 1, 0);
}

static u64 random_exec(struct rng *r, u32 threads)
{
    u64 all = threads == 64 ? ~0ull : (1ull << threads) - 1;
    switch (rng_below(r, 6)) {
    case 0:
        return rng_next(r) & all;
    case 1:
        return 1ull << rng_below(r, threads);
    default:
        return all;
    }
}

static void fill_wave(struct rng *r, struct wave *w)
{
    w->threads = rng_chance(r, 80) ? 64 : 1 + rng_below(r, 63);
    w->lds_bytes = LDS_USED;
    w->mode = 0x1c0;
    for (u32 i = 0; i < PLAY_SCALARS; i += 2) {
        u64 pair = rng_chance(r, 30) ? edge_pair(r) : (u64)edge_word(r) << 32 | edge_word(r);
        w->scalars[i] = (u32)pair;
        w->scalars[i + 1] = (u32)(pair >> 32);
    }
    u64 exec = random_exec(r, w->threads), vcc = rng_next(r);
    w->scalars[EXEC] = (u32)exec;
    w->scalars[EXEC + 1] = (u32)(exec >> 32);
    w->scalars[VCC] = (u32)vcc;
    w->scalars[VCC + 1] = (u32)(vcc >> 32);
    w->scalars[S_BASE] = (u32)DATA_ADDRESS;
    w->scalars[S_OFFSET] = 16;
    w->scalars[S_LIMIT] = rng_chance(r, 50) ? 0xffffffff : LDS_USED - 512;
    w->scalars[M0] = w->scalars[S_LIMIT];
    w->scc = rng_below(r, 2);
    fill_descriptors(r, w);
    fill_vectors(r, w);
}

void fill_state(struct rng *r, struct program *p, u32 waves, u32 groups)
{
    struct machine *m = &p->start;
    emu_init(m);
    m->wave_count = waves;
    for (u32 i = 0; i < waves; i++) {
        fill_wave(r, &m->waves[i]);
        m->waves[i].group = i % groups;
    }
    emu_region(m, DATA_ADDRESS, DATA_BYTES);
    emu_region(m, OTHER_ADDRESS, 256);
    for (u32 i = 0; i < DATA_BYTES; i += 4) {
        u32 word = edge_word(r);
        memcpy(m->regions[0].data + i, &word, 4);
    }
}
