/*
 * Relational, common, geometric and vector functions of OpenCL C 1.2 (6.12.4 to 6.12.7, 6.12.12),
 * atomics (6.12.11) and group copies (6.12.10), each against plain C of the host.
 */
#include "../rig.h"

#include <math.h>

enum {
    ITEMS = 256
};

static cl_program build(void **state, const char *text, const char *options)
{
    return rig_build(((struct rig *)*state)->context, text, options);
}

/* Runs a kernel of two buffers. */
static void run(void **state, cl_program program, const char *name, const void *in, size_t in_bytes,
                void *out, size_t out_bytes, size_t items, size_t block)
{
    struct rig *rig = *state;
    cl_int status;
    cl_mem a = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, in_bytes, (void *)in);
    cl_mem b = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, out_bytes, out);
    cl_kernel kernel = clCreateKernel(program, name, &status);
    OK(status);
    OK(clSetKernelArg(kernel, 0, sizeof a, &a));
    OK(clSetKernelArg(kernel, 1, sizeof b, &b));
    OK(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &items, block ? &block : NULL, 0, NULL,
                              NULL));
    rig_read(rig, b, out, 0, out_bytes);
    OK(clReleaseKernel(kernel));
    OK(clReleaseMemObject(a));
    OK(clReleaseMemObject(b));
}

/* ---- relational ---- */

#define RELATIONS(R)                        \
    R(isequal, x == y)                      \
    R(isnotequal, !(x == y))                \
    R(isgreater, isgreater(x, y))           \
    R(isgreaterequal, isgreaterequal(x, y)) \
    R(isless, isless(x, y))                 \
    R(islessequal, islessequal(x, y))       \
    R(islessgreater, islessgreater(x, y))   \
    R(isordered, !isunordered(x, y))        \
    R(isunordered, isunordered(x, y))
#define CLASSES(R)           \
    R(isfinite, isfinite(x)) \
    R(isinf, isinf(x))       \
    R(isnan, isnan(x))       \
    R(isnormal, is_normal)   \
    R(signbit, signbit(x))

/* Bits 0: of the scalar form, 1: of the vector form, which is -1. */
#define PAIR_TEXT(name, expected)                 \
    "r |= (ulong)(" #name "(x, y) == 1) << n++; " \
    "r |= (ulong)(" #name "((V)x, (V)y).s2 == -1) << n++; "
#define CLASS_TEXT(name, expected)             \
    "r |= (ulong)(" #name "(x) != 0) << n++; " \
    "r |= (ulong)(" #name "((V)x).s1 == -1) << n++; "
static const char relational_text[] =
    "kernel void k(global T *in, global ulong *out) { size_t i = get_global_id(0); "
    "T x = in[i / 16], y = in[i % 16]; ulong r = 0; int n = 0;\n" RELATIONS(PAIR_TEXT) CLASSES(
        CLASS_TEXT) "out[i] = r; }\n"
                    "kernel void pick(global T *in, global T *out) { size_t i = get_global_id(0);\n"
                    "V a = (V)in[i / 16], b = (V)in[i % 16]; I m = (I)(i & 1 ? -1 : 1, i & 2 ? -1 "
                    ": 0, "
                    "i & 4 ? (B)1 << (sizeof(B) * 8 - 1) : 0, 0);\n"
                    "vstore4(select(a, b, m), 3 * i, out); vstore4(bitselect(a, b, AS(m)), 3 * i + "
                    "1, out);\n"
                    "out[12 * i + 8] = select(a.x, b.x, (B)(i & 4)); out[12 * i + 9] = "
                    "bitselect(a.x, b.x, "
                    "AS1((B)i));\n"
                    "out[12 * i + 10] = any(m) + 2 * all(m); out[12 * i + 11] = any(m.s2) + 2 * "
                    "all((I)-1); }\n";

static void relations_of(void **state, bool is_double)
{
    static uint64_t got[ITEMS];
    double tiny = is_double ? 0x1p-1050 : 0x1p-140;
    double in[16] = {0,   -0.0, 1,  -1, INFINITY, -INFINITY, NAN,      -NAN,
                     1.5, 2,    -2, 3,  tiny,     -tiny,     0x1p-126, 1e30};
    float narrow[16];
    cl_device_fp_config config;
    OK(clGetDeviceInfo(((struct rig *)*state)->devices[0], CL_DEVICE_SINGLE_FP_CONFIG,
                       sizeof config, &config, NULL));
    bool flushes = !is_double && !(config & CL_FP_DENORM);
    for (int i = 0; i < 16; i++)
        narrow[i] = (float)in[i];
    cl_program program = build(
        state, relational_text,
        is_double ? "-DT=double -DV=double4 -DI=long4 -DB=long -DAS=as_double4 -DAS1=as_double"
                  : "-DT=float -DV=float4 -DI=int4 -DB=int -DAS=as_float4 -DAS1=as_float");
    run(state, program, "k", is_double ? (void *)in : narrow, is_double ? 128 : 64, got, sizeof got,
        ITEMS, 0);
    for (int i = 0; i < ITEMS; i++) {
        double x = in[i / 16], y = in[i % 16];
        bool is_normal = fabs(x) >= (is_double ? 0x1p-1022 : 0x1p-126) && isfinite(x);
        if (flushes && (fabs(x) == tiny || fabs(y) == tiny))
            continue;
        int n = 0;
#define CHECK(name, expected)                  \
    for (int form = 0; form < 2; form++, n++)  \
        if ((got[i] >> n & 1) != !!(expected)) \
            fail_msg("%s of %g %g, form %d is wrong", #name, x, y, form);
        RELATIONS(CHECK)
        CLASSES(CHECK)
    }
    OK(clReleaseProgram(program));
}

static void relations(void **state)
{
    relations_of(state, false);
    relations_of(state, true);
}

static void selections(void **state)
{
    static float got[ITEMS * 12];
    float in[16];
    for (int i = 0; i < 16; i++)
        in[i] = (float)(i + 1) * 1.25f;
    cl_program program = build(state, relational_text,
                               "-DT=float -DV=float4 -DI=int4 -DB=int -DAS=as_float4 "
                               "-DAS1=as_float");
    run(state, program, "pick", in, sizeof in, got, sizeof got, ITEMS, 0);
    for (int i = 0; i < ITEMS; i++) {
        float a = in[i / 16], b = in[i % 16], *p = &got[12 * i], mixed;
        int m[4] = {i & 1 ? -1 : 1, i & 2 ? -1 : 0, i & 4 ? INT32_MIN : 0, 0};
        uint32_t bits_a, bits_b, bits;
        memcpy(&bits_a, &a, 4), memcpy(&bits_b, &b, 4);
        for (int k = 0; k < 4; k++) {
            assert_true(p[k] == (m[k] < 0 ? b : a)); /* vectors: the highest bit */
            bits = (bits_a & ~(uint32_t)m[k]) | (bits_b & (uint32_t)m[k]);
            assert_memory_equal(&p[4 + k], &bits, 4);
        }
        assert_true(p[8] == (i & 4 ? b : a)); /* scalars: any */
        bits = (bits_a & ~(uint32_t)i) | (bits_b & (uint32_t)i);
        memcpy(&mixed, &bits, 4);
        assert_true(p[9] == mixed);
        assert_true(p[10] == (float)(m[0] < 0 || m[1] < 0 || m[2] < 0));
        assert_true(p[11] == (float)((m[2] < 0) + 2));
    }
    OK(clReleaseProgram(program));
}

/* ---- common and geometric ---- */

#define COMMON(F)                                                                \
    F("clamp(x, min(y, z), max(y, z))", fmin(fmax(x, fmin(y, z)), fmax(y, z)))   \
    F("degrees(x)", x *(180 / M_PI))                                             \
    F("max(x, y)", fmax(x, y))                                                   \
    F("min(x, y)", fmin(x, y))                                                   \
    F("mix(x, y, z)", x + (y - x) * z)                                           \
    F("radians(x)", x *(M_PI / 180))                                             \
    F("step(x, y)", y < x ? 0 : 1)                                               \
    F("sign(x)", x > 0 ? 1 : x < 0 ? -1 : 0)                                     \
    F("smoothstep((T)-1, (T)2, x)", smooth(x))                                   \
    F("dot((V)(x, y, z, x), (V)(y, z, x, x))", x *y + y * z + z * x + x * x)     \
    F("cross((V)(x, y, z, 7), (V)(z, x, y, 7)).x", y *y - z * x)                 \
    F("cross((V)(x, y, z, 7), (V)(z, x, y, 7)).z", x *x - y * z)                 \
    F("cross((V)(x, y, z, 7), (V)(z, x, y, 7)).w", 0)                            \
    F("length((V)(x, y, z, x))", sqrt(x *x * 2 + y * y + z * z))                 \
    F("distance((V)(x, y, z, x), (V)(y, z, x, x))",                              \
      sqrt((x - y) * (x - y) + (y - z) * (y - z) + (z - x) * (z - x)))           \
    F("normalize((V)(x, y, z, x)).y", y / sqrt(x * x * 2 + y * y + z * z))       \
    F("FAST(length)((V)(x, y, z, x))", sqrt(x *x * 2 + y * y + z * z))           \
    F("FAST(distance)((V)(x, y, z, x), (V)(y, z, x, x))",                        \
      sqrt((x - y) * (x - y) + (y - z) * (y - z) + (z - x) * (z - x)))           \
    F("FAST(normalize)((V)(x, y, z, x)).y", y / sqrt(x * x * 2 + y * y + z * z)) \
    F("length((V)(x, y, z, x) * BIG) / BIG", sqrt(x *x * 2 + y * y + z * z))     \
    F("length((V)(x, y, z, x) / BIG) * BIG", sqrt(x *x * 2 + y * y + z * z))     \
    F("normalize((V)(x, y, z, x) * BIG).y", y / sqrt(x * x * 2 + y * y + z * z))

static double smooth(double x)
{
    double t = fmin(fmax((x + 1) / 3, 0), 1);
    return t * t * (3 - 2 * t);
}

#define COMMON_TEXT(call, expected) "out[n++] = " call ";\n"
#define COMMON_COUNT(call, expected) +1
enum {
    COMMON_FORMS = 0 COMMON(COMMON_COUNT)
};
static const char common_text[] =
    "kernel void k(global T *in, global T *out) { size_t i = get_global_id(0); T x = in[3 * i], "
    "y = in[3 * i + 1], z = in[3 * i + 2]; int n = i * COUNT;\n" COMMON(COMMON_TEXT) "}\n";

/* Four times the rounding of the largest term: 7.4 has no limits for these. */
static void common_of(void **state, bool is_double)
{
    static double in[ITEMS * 3], got[ITEMS * COMMON_FORMS];
    static float in_float[ITEMS * 3], got_float[ITEMS * COMMON_FORMS];
    uint32_t seed = 5;
    char options[128];
    for (int i = 0; i < ITEMS * 3; i++) {
        in_float[i] = (float)((double)rig_random(&seed, UINT32_MAX) * 0x1p-30 - 2);
        in[i] = (double)in_float[i];
    }
    snprintf(options, sizeof options, "-DCOUNT=%d %s", COMMON_FORMS,
             is_double ? "-DT=double -DV=double4 -DFAST(f)=f -DBIG=0x1p600"
                       : "-DT=float -DV=float4 -DFAST(f)=fast_##f -DBIG=0x1p80f");
    cl_program program = build(state, common_text, options);
    run(state, program, "k", is_double ? (void *)in : in_float,
        is_double ? sizeof in : sizeof in_float, is_double ? (void *)got : got_float,
        is_double ? sizeof got : sizeof got_float, ITEMS, 0);
    double unit = is_double ? 0x1p-52 : 0x1p-23;
    for (int i = 0, n = 0; i < ITEMS; i++) {
        double x = in[3 * i], y = in[3 * i + 1], z = in[3 * i + 2];
        double scale = fmax(1, fmax(x * x, fmax(y * y, z * z)));
#define COMMON_CHECK(call, expected)                                                  \
    {                                                                                 \
        double right = (expected), value = is_double ? got[n] : (double)got_float[n]; \
        if (!(fabs(value - right) <= 8 * unit * fmax(scale, fabs(right))))            \
            fail_msg("%s of %a %a %a: %a, expected %a", call, x, y, z, value, right); \
        n++;                                                                          \
    }
        COMMON(COMMON_CHECK)
    }
    OK(clReleaseProgram(program));
}

static void common(void **state)
{
    common_of(state, false);
    common_of(state, true);
}

/* ---- vectors ---- */

static const char *const vector_types[] = {"char", "uchar", "short", "ushort", "int",
                                           "uint", "long",  "ulong", "float",  "double"};
static const size_t vector_sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};

/* Every vload and vstore, from and to every space, at an address that only fits the element: all
 * elements go through all widths and come out as they went in. Shuffles turn them round. */
static const char vector_text[] =
    "#define STEP(n) vstore##n(vload##n(0, in + at), 0, mine + at); \\\n"
    "    vstore##n(vload##n(0, mine + at), 0, shared + at); \\\n"
    "    vstore##n(vload##n(0, shared + at), 0, out + at); at += n;\n"
    "kernel void k(global const T *in, global T *out) {\n"
    "    T mine[80]; local T shared[80]; int at = 1;\n"
    "    STEP(2) STEP(3) STEP(4) STEP(8) STEP(16)\n"
    "    out[0] = in[0];\n"
    "    V(T, 16) a = vload16(0, in + 1); V(U, 16) m;\n"
    "    for (int i = 0; i < 16; i++) ((U *)&m)[i] = 15 - i;\n"
    "    vstore16(shuffle(a, m), 0, out + at);\n"
    "    vstore16(shuffle2(a.lo, a.hi, m), 0, out + at + 16);\n"
    "    vstore4(shuffle(a, m.s5678), 0, out + at + 32);\n"
    "    vstore2(shuffle2(a.s0123, a.s4567, m.sd5 & (V(U, 2))(7)), 0, out + at + 36);\n"
    "}\n";

static void vectors(void **state)
{
    for (size_t t = 0; t < sizeof vector_types / sizeof *vector_types; t++) {
        static const char *const masks[] = {"uchar", "ushort", "", "uint", "", "", "", "ulong"};
        uint8_t in[80 * 8], out[80 * 8];
        char options[160];
        size_t size = vector_sizes[t], at = 34;
        for (size_t i = 0; i < sizeof in; i++)
            in[i] = (uint8_t)(i / size + 1 + i % size * 16), out[i] = 0;
        snprintf(options, sizeof options, "-DT=%s -DU=%s -DV(t,n)=V_(t,n) -DV_(t,n)=t##n",
                 vector_types[t], masks[size - 1]);
        cl_program program = build(state, vector_text, options);
        run(state, program, "k", in, 80 * size, out, 80 * size, 1, 1);
        assert_memory_equal(out, in, at * size);
        for (size_t i = 0; i < 16; i++) {
            assert_memory_equal(out + (at + i) * size, in + (16 - i) * size, size);
            assert_memory_equal(out + (at + 16 + i) * size, in + (16 - i) * size, size);
        }
        for (size_t i = 0; i < 4; i++)
            assert_memory_equal(out + (at + 32 + i) * size, in + (11 - i) * size, size);
        /* Of the first eight, 2 twice. */
        assert_memory_equal(out + (at + 36) * size, in + 3 * size, size);
        OK(clReleaseProgram(program));
    }
}

/* ---- upsample ---- */

static void upsamples(void **state)
{
    static const char text[] =
        "kernel void k(global long *in, global long *out) { size_t i = get_global_id(0);\n"
        " long a = in[2 * i], b = in[2 * i + 1]; global long *p = out + 6 * i;\n"
        " p[0] = upsample((char)a, (uchar)b); p[1] = upsample((uchar)a, (uchar)b);\n"
        " p[2] = upsample((short2)(short)a, (ushort2)(ushort)b).y;\n"
        " p[3] = upsample((ushort3)(ushort)a, (ushort3)(ushort)b).z;\n"
        " p[4] = upsample((int)a, (uint)b); p[5] = upsample((uint4)(uint)a, (uint4)(uint)b).w; }\n";
    int64_t in[2 * ITEMS], out[6 * ITEMS];
    uint32_t seed = 3;
    rig_noise(&seed, in, sizeof in);
    cl_program program = build(state, text, "");
    run(state, program, "k", in, sizeof in, out, sizeof out, ITEMS, 0);
    for (int i = 0; i < ITEMS; i++) {
        int64_t a = in[2 * i], b = in[2 * i + 1], *p = out + 6 * i;
        assert_true(p[0] == (int16_t)((uint8_t)a << 8 | (uint8_t)b));
        assert_true(p[1] == ((uint8_t)a << 8 | (uint8_t)b));
        assert_true(p[2] == (int32_t)((uint32_t)(uint16_t)a << 16 | (uint16_t)b));
        assert_true(p[3] == ((int64_t)(uint16_t)a << 16 | (uint16_t)b));
        assert_true(p[4] == (int64_t)((uint64_t)a << 32 | (uint32_t)b) && p[5] == p[4]);
    }
    OK(clReleaseProgram(program));
}

/* ---- atomics: each work-item does all of them, on few places ---- */

static const char atomics_text[] =
    "kernel void k(global T *in, global T *out) {\n"
    "    local T mine[16]; int l = get_local_id(0); T g = get_global_id(0);\n"
    "    if (l < 16) mine[l] = in[l];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    #define ALL(p) OP(add)(p, g); OP(sub)(p + 1, g); OP(inc)(p + 2); OP(dec)(p + 3); \\\n"
    "        OP(min)(p + 4, (T)(g * 7 - 300)); OP(max)(p + 5, (T)(g * 7 - 300)); \\\n"
    "        OP(and)(p + 6, ~((T)1 << (g % 20))); OP(or)(p + 7, (T)1 << (g % 20)); \\\n"
    "        OP(xor)(p + 8, (T)1 << (g % 20)); \\\n"
    "        { T old, new = p[9]; do { old = new; new = OP(cmpxchg)(p + 9, old, old * 3 + 1); } "
    "\\\n"
    "          while (new != old); } \\\n"
    "        OP(add)(p + 11, OP(xchg)(p + 10, g + 1));\n"
    "    ALL(out) ALL(mine)\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (l < 16 && get_group_id(0) == 1) out[16 + l] = mine[l];\n"
    "}\n";

static void expect_atomics(int64_t *v, int64_t first, int64_t count, bool is_signed, bool is_long)
{
    uint64_t start = 1000, mask = is_long ? UINT64_MAX : UINT32_MAX;
    int64_t sum = 0;
    uint64_t chain = start;
    for (int64_t g = first; g < first + count; g++)
        sum += g, chain = (chain * 3 + 1) & mask;
    bool all = count >= 20;
    int64_t low = first * 7 - 300, high = (first + count - 1) * 7 - 300;
    v[0] = 1000 + sum, v[1] = 1000 - sum, v[2] = 1000 + count, v[3] = 1000 - count;
    v[4] = low < 1000 ? low : 1000, v[5] = high > 1000 ? high : 1000;
    if (!is_signed && low < 0) { /* those below 0 are the largest; the largest is -1's neighbour */
        int64_t g = 299 / 7;
        int64_t least = (g + 1) * 7 - 300 < 1000 ? (g + 1) * 7 - 300 : 1000;
        v[4] = least, v[5] = g * 7 - 300;
    }
    v[6] = all ? 1000 & ~0xfffff : 0, v[7] = all ? 1000 | 0xfffff : 0;
    uint64_t flips = 0;
    for (int64_t g = first; g < first + count; g++)
        flips ^= (uint64_t)1 << (g % 20);
    v[8] = (int64_t)(1000 ^ flips), v[9] = (int64_t)chain;
    v[10] = v[11] = 0; /* together: all that was exchanged */
}

static void atomics_of(void **state, bool is_signed, bool is_long)
{
    int64_t in[16], out[32], v[16];
    int32_t in_int[16], out_int[32];
    char options[128];
    for (int i = 0; i < 32; i++)
        in[i % 16] = in_int[i % 16] = out_int[i] = 1000, out[i] = 1000;
    snprintf(options, sizeof options, "-DT=%s%s -DOP(n)=%s##n", is_signed ? "" : "u",
             is_long ? "long" : "int", is_long ? "atom_" : "atomic_");
    cl_program program = build(state, atomics_text, options);
    run(state, program, "k", is_long ? (void *)in : in_int, is_long ? sizeof in : sizeof in_int,
        is_long ? (void *)out : out_int, is_long ? sizeof out : sizeof out_int, 128, 64);
    for (int part = 0; part < 2; part++) {
        int64_t first = part ? 64 : 0, count = part ? 64 : 128, sum = 0;
        expect_atomics(v, first, count, is_signed, is_long);
        for (int64_t g = first; g < first + count; g++)
            sum += g + 1;
        for (int i = 0; i < 10; i++) {
            int64_t got = is_long ? out[16 * part + i] : out_int[16 * part + i];
            int64_t right = is_long ? v[i] : (int32_t)v[i];
            if (got != right)
                fail_msg("%s, space %d, place %d: %lld, expected %lld", options, part, i,
                         (long long)got, (long long)right);
        }
        int64_t left = is_long ? out[16 * part + 10] : out_int[16 * part + 10];
        int64_t moved = is_long ? out[16 * part + 11] : out_int[16 * part + 11];
        assert_int_equal(left + moved, 1000 + 1000 + sum);
    }
    OK(clReleaseProgram(program));
}

static void atomics(void **state)
{
    for (int i = 0; i < 4; i++)
        atomics_of(state, i & 1, i & 2);
}

/* ---- group copies ---- */

static const char copies_text[] =
    "kernel void k(global T *in, global T *out) {\n"
    "    local T mine[70]; event_t e;\n"
    "    e = async_work_group_copy(mine, in, 35, 0);\n"
    "    e = async_work_group_strided_copy(mine + 35, in + 1, 35, 2, e);\n"
    "    prefetch(in, 10);\n"
    "    wait_group_events(1, &e);\n"
    "    e = async_work_group_copy(out, mine + 35, 35, 0);\n"
    "    wait_group_events(1, &e);\n"
    "    e = async_work_group_strided_copy(out + 35, mine, 35, 3, 0);\n"
    "    wait_group_events(1, &e);\n"
    "}\n";

static void copies(void **state)
{
    static const int counts[] = {1, 2, 3, 4, 8, 16};
    static uint8_t in[150 * 128], out[150 * 128];
    for (size_t t = 0; t < sizeof vector_types / sizeof *vector_types; t++)
        for (size_t w = 0; w < 6; w++) {
            char options[64];
            size_t size = vector_sizes[t] * (size_t)(counts[w] == 3 ? 4 : counts[w]);
            size_t used = vector_sizes[t] * (size_t)counts[w]; /* the fourth of three is nothing */
            if ((t + w) % 5) /* some of each, so that it stays quick */
                continue;
            for (size_t i = 0; i < sizeof in; i++)
                in[i] = (uint8_t)(i * 37 >> 3), out[i] = 0;
            snprintf(options, sizeof options, counts[w] == 1 ? "-DT=%s" : "-DT=%s%d",
                     vector_types[t], counts[w]);
            cl_program program = build(state, copies_text, options);
            run(state, program, "k", in, 150 * size, out, 150 * size, 32, 32);
            for (size_t i = 0; i < 35; i++) {
                assert_memory_equal(out + i * size, in + (1 + 2 * i) * size, used);
                assert_memory_equal(out + (35 + 3 * i) * size, in + i * size, used);
            }
            OK(clReleaseProgram(program));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relations), cmocka_unit_test(selections), cmocka_unit_test(common),
        cmocka_unit_test(vectors),   cmocka_unit_test(upsamples),  cmocka_unit_test(atomics),
        cmocka_unit_test(copies),
    };
    return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
