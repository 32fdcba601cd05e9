/*
 * The emulator against what is known without it: the host's arithmetic, encodings that must come
 * back from the decoder, and small programs worked out by hand.
 */
#include "self.h"

#include <assert.h>
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"

static u32 failures;

static void expect(bool good, const char *what, u64 got, u64 want)
{
    if (!good && failures++ < 20)
        printf("self: %s: 0x%llx, expected 0x%llx\n", what, (unsigned long long)got,
               (unsigned long long)want);
}

static const int host_modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
static const enum rounding modes[] = {R_N, R_P, R_M, R_Z};

static void check_single(u32 a, u32 b, u32 c, u32 mode)
{
    volatile float x, y, z, sum, product, fused;
    u32 s, p, f;
    memcpy((void *)&x, &a, 4);
    memcpy((void *)&y, &b, 4);
    memcpy((void *)&z, &c, 4);
    fesetround(host_modes[mode]);
    sum = x + y;
    product = x * y;
    fused = fmaf(x, y, z);
    fesetround(FE_TONEAREST);
    memcpy(&s, (void *)&sum, 4);
    memcpy(&p, (void *)&product, 4);
    memcpy(&f, (void *)&fused, 4);
    u64 mine = num_add(K_F32, a, b, modes[mode]);
    expect(isnan(sum) ? fp_is_nan(K_F32, mine) : mine == s, "f32 add", mine, s);
    mine = num_mul(K_F32, a, b, modes[mode]);
    expect(isnan(product) ? fp_is_nan(K_F32, mine) : mine == p, "f32 multiply", mine, p);
    mine = num_fma(K_F32, a, b, c, 0, modes[mode]);
    expect(isnan(fused) ? fp_is_nan(K_F32, mine) : mine == f, "f32 fma", mine, f);
}

static void check_double(u64 a, u64 b, u64 c, u32 mode)
{
    volatile double x, y, z, sum, product, fused;
    volatile float narrow;
    u64 s, p, f;
    u32 n;
    memcpy((void *)&x, &a, 8);
    memcpy((void *)&y, &b, 8);
    memcpy((void *)&z, &c, 8);
    fesetround(host_modes[mode]);
    sum = x + y;
    product = x * y;
    fused = fma(x, y, z);
    narrow = (float)x;
    fesetround(FE_TONEAREST);
    memcpy(&s, (void *)&sum, 8);
    memcpy(&p, (void *)&product, 8);
    memcpy(&f, (void *)&fused, 8);
    memcpy(&n, (void *)&narrow, 4);
    u64 mine = num_add(K_F64, a, b, modes[mode]);
    expect(isnan(sum) ? fp_is_nan(K_F64, mine) : mine == s, "f64 add", mine, s);
    mine = num_mul(K_F64, a, b, modes[mode]);
    expect(isnan(product) ? fp_is_nan(K_F64, mine) : mine == p, "f64 multiply", mine, p);
    mine = num_fma(K_F64, a, b, c, 0, modes[mode]);
    expect(isnan(fused) ? fp_is_nan(K_F64, mine) : mine == f, "f64 fma", mine, f);
    mine = num_convert(K_F32, K_F64, a, modes[mode]);
    expect(isnan(narrow) ? fp_is_nan(K_F32, mine) : mine == n, "f64 to f32", mine, n);
}

static void check_arithmetic(struct rng *r)
{
    for (u32 i = 0; i < 20000; i++) {
        check_single(edge_word(r), edge_word(r), edge_word(r), i % 4);
        check_double(edge_pair(r), edge_pair(r), edge_pair(r), i % 4);
    }
}

/* Every row, many operands: what is encoded is what is decoded. */
static void check_encodings(struct rng *r)
{
    struct limits limits = {0, 0, PLAY_VECTORS, true};
    for (u32 i = 0; i < OPS * 40u; i++) {
        enum op op = (enum op)(i % OPS);
        struct insn n, back;
        u32 w[2] = {0}, again[2] = {0};
        if (!random_insn(r, op, &limits, &n))
            continue;
        u32 count = encode(&n, w);
        bool known = emu_decode((const u8 *)w, count * 4, &back);
        expect(known && back.op == op && back.size == count * 4, rows[op].name, w[0], op);
        if (known)
            encode(&back, again);
        expect(known && again[0] == w[0] && (count == 1 || again[1] == w[1]), rows[op].name,
               again[0], w[0]);
    }
    for (u32 i = 0; i < OPS; i++)
        for (u32 j = i + 1; j < OPS; j++)
            expect(rows[i].format != rows[j].format || rows[i].opcode != rows[j].opcode,
                   rows[i].name, i, j);
}

/* Random programs end, without a fault, whatever they do. */
static void check_programs(void)
{
    struct program *p = calloc(1, sizeof *p);
    assert(p);
    for (u32 i = 0; i < 300; i++) {
        generate(p, i, &mixes[i % mix_count]);
        p->start.code_base = 0x700000000ull;
        bool ended = emu_run(&p->start, 1000000);
        if (!ended)
            printf("self: program %u (%s): %s at %llu\n", i, p->what,
                   p->start.fault ? p->start.fault : "no end",
                   (unsigned long long)p->start.waves[0].pc);
        failures += !ended;
        emu_free(&p->start);
    }
    for (u32 op = 0; op < OPS; op++) {
        generate_edges(p, (enum op)op, 0x1c0, op);
        bool ended = emu_run(&p->start, 1000000);
        if (!ended)
            printf("self: edges of %s: %s\n", rows[op].name,
                   p->start.fault ? p->start.fault : "no end");
        failures += !ended;
        emu_free(&p->start);
    }
    free(p);
}

int self_check(void)
{
    struct rng r = {12345};
    failures = 0;
    check_arithmetic(&r);
    check_encodings(&r);
    check_programs();
    failures += known_check();
    printf("self: %u failures\n", failures);
    return failures != 0;
}
