/*
 * The functions of share/heddle/opencl: exactly, or in units in the last place (ULP) against the
 * host's wider arithmetic. That every function of OpenCL 1.2 is there is builtins_defined's to
 * show.
 */
#include "programs.h"

#include <math.h>

enum {
    ITEMS = 512
};

/* Numbers where things go wrong, then any. */
static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int64_t whole(uint64_t *state)
{
    static const int64_t EDGES[] = {
        0,      1,         -1,        2,         127,       -128,       32767,
        -32768, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, UINT32_MAX, 0x7fffffff80000000,
        100};
    uint64_t choice = next(state);
    return choice % 2 ? EDGES[choice / 2 % (sizeof EDGES / sizeof *EDGES)] : (int64_t)next(state);
}

static double real(uint64_t *state)
{
    static const double EDGES[] = {0.0,    -0.0,   0.5,      -0.5,         1.5,    2.5,
                                   127.5,  -128.5, 65535.5,  2147483647.0, 9.3e18, -9.3e18,
                                   1.9e19, 1e-3,   INFINITY, -INFINITY,    NAN,    4294967295.5};
    uint64_t choice = next(state);
    if (choice % 2)
        return EDGES[choice / 2 % (sizeof EDGES / sizeof *EDGES)];
    return ldexp((double)(int64_t)next(state), (int)(next(state) % 64) - 70);
}

/* Runs `kernel` (one buffer: ITEMS records of `bytes`) on a device. */
static void run_items(const struct world *world, cl_uint device, cl_program program,
                      const char *kernel, void *data, size_t bytes)
{
    run_on(world, device, program, kernel, ITEMS, data, ITEMS * bytes);
}

/* ---- whole numbers ---- */

struct integers {
    int64_t a, b, c;
    int64_t mad_hi, mad_sat, rotate;
    uint64_t mad_hi_u, rotate_u;
    int32_t sub_sat, mad_hi_i;
};

static const char INTEGERS[] =
    "typedef struct { long a, b, c, mad_hi, mad_sat, rotate; ulong mad_hi_u, rotate_u;\n"
    "                 int sub_sat, mad_hi_i; } item;\n"
    "kernel void k(global item *items) {\n"
    "    global item *p = items + get_global_id(0);\n"
    "    p->mad_hi = mad_hi(p->a, p->b, p->c);\n"
    "    p->mad_hi_u = mad_hi((ulong)p->a, (ulong)p->b, (ulong)p->c);\n"
    "    p->mad_hi_i = mad_hi((int3)(int)p->a, (int3)(int)p->b, (int3)(int)p->c).z;\n"
    "    p->mad_sat = mad_sat(p->a, p->b, p->c);\n"
    "    p->rotate = rotate((long2)p->a, (long2)p->b).y;\n"
    "    p->rotate_u = rotate((ulong)p->a, (ulong)p->b);\n"
    "    p->sub_sat = sub_sat((int4)(int)p->a, (int4)(int)p->b).w;\n"
    "}";

static int64_t clamp(__int128 value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : (int64_t)value;
}

static void integers(void **state)
{
    const struct world *world = *state;
    cl_program program = built(world, INTEGERS, "");
    for (cl_uint device = 0; device < world->device_count; device++) {
        static struct integers items[ITEMS];
        uint64_t random = 1;
        for (int i = 0; i < ITEMS; i++)
            items[i] = (struct integers){whole(&random), whole(&random), whole(&random)};
        run_items(world, device, program, "k", items, sizeof *items);
        for (int i = 0; i < ITEMS; i++) {
            const struct integers *p = &items[i];
            __int128 product = (__int128)p->a * p->b;
            uint64_t turned = (uint64_t)p->a << (p->b & 63) | (uint64_t)p->a >> (-p->b & 63);
            assert_true(p->mad_hi == (int64_t)((uint64_t)(product >> 64) + (uint64_t)p->c));
            assert_true(p->mad_hi_u ==
                        (uint64_t)((unsigned __int128)(uint64_t)p->a * (uint64_t)p->b >> 64) +
                            (uint64_t)p->c);
            assert_true(p->mad_hi_i ==
                        (int32_t)((uint32_t)((int64_t)(int32_t)p->a * (int32_t)p->b >> 32) +
                                  (uint32_t)p->c));
            assert_true(p->mad_sat == clamp(product + p->c, INT64_MIN, INT64_MAX));
            assert_true((uint64_t)p->rotate == turned && p->rotate_u == turned);
            assert_true(p->sub_sat ==
                        clamp((int64_t)(int32_t)p->a - (int32_t)p->b, INT32_MIN, INT32_MAX));
        }
    }
    assert_cl(clReleaseProgram(program));
}

/* Low bits of values shifted with their signs, which clang 14 gets wrong for PTX by itself. */
static void fields(void **state)
{
    const struct world *world = *state;
    cl_program program = built(world,
                               "typedef struct { long value, sign, middle, most; } item;\n"
                               "kernel void k(global item *items) {\n"
                               "    global item *p = items + get_global_id(0);\n"
                               "    p->sign = p->value >> 63 & 0xffffffffL;\n"
                               "    p->middle = p->value >> 40 & 0xffffffffL;\n"
                               "    p->most = p->value >> 33 & 0x7fffffffffffffffL;\n"
                               "}",
                               "");
    for (cl_uint device = 0; device < world->device_count; device++) {
        static struct {
            int64_t value, sign, middle, most;
        } items[ITEMS];
        uint64_t random = 1;
        for (int i = 0; i < ITEMS; i++)
            items[i].value = whole(&random);
        run_items(world, device, program, "k", items, sizeof *items);
        for (int i = 0; i < ITEMS; i++) {
            assert_true(items[i].sign == (items[i].value >> 63 & 0xffffffff));
            assert_true(items[i].middle == (items[i].value >> 40 & 0xffffffff));
            assert_true(items[i].most == (items[i].value >> 33 & INT64_MAX));
        }
    }
    assert_cl(clReleaseProgram(program));
}

/* ---- conversions ---- */

struct conversions {
    double x;
    int64_t n;
    int64_t sat_long, sat_rte;
    uint64_t sat_ulong;
    int32_t sat_int, sat_short;
    float up, down, zero, up_u;
    double up_d, down_d;
};

static const char CONVERSIONS[] =
    "typedef struct { double x; long n, sat_long, sat_rte; ulong sat_ulong; int sat_int, "
    "sat_short;\n"
    "                 float up, down, zero, up_u; double up_d, down_d; } item;\n"
    "kernel void k(global item *items) {\n"
    "    global item *p = items + get_global_id(0);\n"
    "    p->sat_long = convert_long_sat(p->x);\n"
    "    p->sat_rte = convert_long2_sat_rte((double2)p->x).y;\n"
    "    p->sat_ulong = convert_ulong_sat(p->x);\n"
    "    p->sat_int = convert_int4_sat_rtp((double4)p->x).z;\n"
    "    p->sat_short = convert_short3_sat_rtn((double3)p->x).z;\n"
    "    p->up = convert_float_rtp(p->n);\n"
    "    p->down = convert_float_rtn((int)p->n);\n"
    "    p->zero = convert_float8_rtz((long8)p->n).s7;\n"
    "    p->up_u = convert_float_rtp((uint)p->n);\n"
    "    p->up_d = convert_double_rtp((ulong)p->n);\n"
    "    p->down_d = convert_double_rtn(p->n);\n"
    "}";

static __int128 saturated(double x, double rounded, __int128 least, __int128 most)
{
    if (isnan(x))
        return 0;
    return rounded <= (double)least ? least : rounded >= (double)most ? most : (__int128)rounded;
}

/* The float nearest to an integer on one side of it. */
static float on_side(__int128 n, bool up)
{
    float y = (float)n;
    while (up ? (__int128)y < n : (__int128)y > n)
        y = nextafterf(y, up ? INFINITY : -INFINITY);
    return y;
}

static double on_side_d(__int128 n, bool up)
{
    double y = (double)n;
    while (up ? (__int128)y < n : (__int128)y > n)
        y = nextafter(y, up ? INFINITY : -INFINITY);
    return y;
}

static void conversions(void **state)
{
    const struct world *world = *state;
    cl_program program = built(world, CONVERSIONS, "");
    for (cl_uint device = 0; device < world->device_count; device++) {
        static struct conversions items[ITEMS];
        uint64_t random = 2;
        for (int i = 0; i < ITEMS; i++)
            items[i] = (struct conversions){.x = real(&random), .n = whole(&random)};
        run_items(world, device, program, "k", items, sizeof *items);
        for (int i = 0; i < ITEMS; i++) {
            const struct conversions *p = &items[i];
            double x = p->x;
            assert_true(p->sat_long == saturated(x, trunc(x), INT64_MIN, INT64_MAX));
            assert_true(p->sat_rte == saturated(x, rint(x), INT64_MIN, INT64_MAX));
            assert_true(p->sat_ulong == saturated(x, trunc(x), 0, UINT64_MAX));
            assert_true(p->sat_int == saturated(x, ceil(x), INT32_MIN, INT32_MAX));
            assert_true(p->sat_short == saturated(x, floor(x), INT16_MIN, INT16_MAX));
            assert_true(p->up == on_side(p->n, true));
            assert_true(p->down == on_side((int32_t)p->n, false));
            assert_true(p->zero == on_side(p->n, p->n < 0));
            assert_true(p->up_u == on_side((uint32_t)p->n, true));
            assert_true(p->up_d == on_side_d((uint64_t)p->n, true));
            assert_true(p->down_d == on_side_d(p->n, false));
        }
    }
    assert_cl(clReleaseProgram(program));
}

/* ---- half: every one of them loaded, and stored again from numbers around it ---- */

static double half_value(uint32_t bits)
{
    int exponent = (int)(bits >> 10 & 31);
    double fraction = bits & 1023;
    double value = exponent == 31  ? (fraction ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(fraction + 1024, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

static const char HALF[] = "kernel void load(global float *out) {\n"
                           "    size_t i = get_global_id(0);\n"
                           "    global half *in = (global half *)(out + 65536);\n"
                           "    out[i] = vload_half(i, in);\n"
                           "}\n"
                           "#define STORE(name, type)                                  \\\n"
                           "    kernel void name(global ushort *out) {                 \\\n"
                           "        size_t i = get_global_id(0), n = get_global_size(0); \\\n"
                           "        type x = ((global type *)(out + 8 * n))[i];        \\\n"
                           "        private ushort here[16];                           \\\n"
                           "        local ushort there[1024 * 2];                      \\\n"
                           "        size_t place = get_local_id(0);                    \\\n"
                           "        global half *to = (global half *)out;              \\\n"
                           "        vstore_half(x, i, to);                             \\\n"
                           "        vstore_half_rte(x, i, to + n);                     \\\n"
                           "        vstore_half_rtz(x, i, to + 2 * n);                 \\\n"
                           "        vstore_half_rtp(x, i, to + 3 * n);                 \\\n"
                           "        vstore_half_rtn(x, i, to + 4 * n);                 \\\n"
                           "        vstorea_half3_rtn((type##3)x, 1, (private half *)here);  \\\n"
                           "        out[5 * n + i] = here[6];                          \\\n"
                           "        vstore_half2_rtp((type##2)x, place, (local half *)there); \\\n"
                           "        out[6 * n + i] = there[place * 2 + 1];             \\\n"
                           "        vstorea_half8_rtz((type##8)x, 1, (private half *)here); \\\n"
                           "        out[7 * n + i] = here[15];                         \\\n"
                           "    }\n"
                           "STORE(store_float, float)\n"
                           "STORE(store_double, double)\n"
                           "kernel void wide(global ushort *out) {\n"
                           "    float3 x = vload_half3(0, (global half *)out);\n"
                           "    vstore_half3(x, 1, (global half *)out);\n"
                           "    vstorea_half4((float4)(x, 7), 2, (global half *)out);\n"
                           "    vstore_half2(convert_double2(x.yz), 6, (global half *)out);\n"
                           "}";

/* What a number becomes: 'e' to the nearest, the even one in the middle; 'z' towards 0, 'p' up,
 * 'n' down. Every step is exact. */
static uint16_t half_of(double x, char mode)
{
    const uint16_t sign = signbit(x) ? 0x8000 : 0, most = 0x7bff, infinite = 0x7c00;
    double size = fabs(x);
    int exponent;
    if (isinf(x) || x == 0)
        return sign | (x == 0 ? 0 : infinite);
    frexp(size, &exponent);
    exponent = exponent - 1 < -14 ? -14 : exponent - 1;
    if (exponent > 15)
        return sign | (mode == 'e' || mode == (sign ? 'n' : 'p') ? infinite : most);
    double units = ldexp(size, 10 - exponent), rest = units - floor(units);
    uint16_t bits = (uint16_t)(((exponent + 14) << 10) + (int)units);
    if (mode == 'e' ? rest > 0.5 || (rest == 0.5 && bits & 1)
                    : rest > 0 && mode == (sign ? 'n' : 'p'))
        bits++; /* to the next power of two, too, or infinity */
    return sign | bits;
}

enum {
    STORED = 4096
};

/* Halves and what lies in the middle, each with its neighbours of the type, then any number. */
static void numbers_near_halves(double numbers[STORED], bool is_float)
{
    static const double OTHERS[] = {0x1p-149, 0x1p-127,        0x1p-126, 0x1p-1074, 0x1p-1022,
                                    65519.99, 0x1.fffffep+127, 1e300,    INFINITY,  NAN};
    static const int FRACTIONS[] = {0, 1, 2, 511, 512, 1022, 1023};
    uint64_t random = 3;
    int n = 0;
    for (int exponent = 0; exponent < 31; exponent++)
        for (int k = 0; k < 7 * 2 * 3 * 2; k++) {
            uint32_t bits = (uint32_t)(exponent << 10 | FRACTIONS[k % 7]);
            double x = half_value(bits), after = bits == 0x7bff ? 65536 : half_value(bits + 1);
            double towards = k / 14 % 3 == 1 ? INFINITY : -INFINITY;
            x = k / 7 % 2 ? (x + after) / 2 : x;
            if (k / 14 % 3)
                x = is_float ? (double)nextafterf((float)x, (float)towards) : nextafter(x, towards);
            numbers[n++] = k / 42 ? -x : x;
        }
    for (size_t i = 0; i < 2 * sizeof OTHERS / sizeof *OTHERS; i++)
        numbers[n++] = i % 2 ? -OTHERS[i / 2] : OTHERS[i / 2];
    for (; n < STORED; n++)
        numbers[n] = n % 3 ? ldexp((double)(int64_t)next(&random), (int)(next(&random) % 64) - 100)
                           : real(&random);
}

static void check_stores(const uint16_t (*out)[STORED], const double *numbers, bool is_float)
{
    for (int i = 0; i < STORED; i++)
        for (int mode = 0; mode < 8; mode++) {
            double x = is_float ? (double)(float)numbers[i] : numbers[i];
            uint16_t got = out[mode][i];
            if (isnan(x) ? (got & 0x7fff) <= 0x7c00 : got != half_of(x, "eezpnnpz"[mode]))
                fail_msg("%s %a, mode %c: %#x, not %#x", is_float ? "float" : "double", x,
                         "eezpnnpz"[mode], got, half_of(x, "eezpnnpz"[mode]));
        }
}

static void halves(void **state)
{
    const struct world *world = *state;
    enum {
        ALL = 65536
    };
    cl_program program = built(world, HALF, "");
    for (cl_uint device = 0; device < world->device_count; device++) {
        static struct {
            float out[ALL];
            uint16_t in[ALL];
        } load;
        for (uint32_t i = 0; i < ALL; i++)
            load.in[i] = (uint16_t)i;
        run_on(world, device, program, "load", ALL, &load, sizeof load);
        for (uint32_t i = 0; i < ALL; i++)
            assert_true(load.out[i] == half_value(i) ||
                        (isnan(load.out[i]) && isnan(half_value(i))));
        static struct {
            uint16_t out[8][STORED];
            float in[STORED];
        } floats;
        static struct {
            uint16_t out[8][STORED];
            double in[STORED];
        } doubles;
        static double numbers[STORED];
        numbers_near_halves(numbers, true);
        for (int i = 0; i < STORED; i++)
            floats.in[i] = (float)numbers[i];
        run_on(world, device, program, "store_float", STORED, &floats, sizeof floats);
        check_stores(floats.out, numbers, true);
        numbers_near_halves(doubles.in, false);
        run_on(world, device, program, "store_double", STORED, &doubles, sizeof doubles);
        check_stores(doubles.out, doubles.in, false);
        uint16_t few[16] = {0x3c00, 0x4000, 0x4200};
        run_on(world, device, program, "wide", 1, few, sizeof few);
        static const uint16_t EXPECTED[16] = {0x3c00, 0x4000, 0x4200, 0x3c00, 0x4000, 0x4200, 0, 0,
                                              0x3c00, 0x4000, 0x4200, 0x4700, 0x4000, 0x4200, 0, 0};
        assert_memory_equal(few, EXPECTED, sizeof few);
    }
    assert_cl(clReleaseProgram(program));
}

/* ---- real functions ---- */

struct reals {
    double x, sinh, cosh, tgamma, sin, ldexp;
    float y, tgamma_f, native_sin, native_exp2, native_log, half_cos, native_powr;
};

static const char REALS[] =
    "typedef struct { double x, sinh, cosh, tgamma, sin, ldexp; float y, tgamma_f, native_sin,\n"
    "                 native_exp2, native_log, half_cos, native_powr; } item;\n"
    "kernel void k(global item *items) {\n"
    "    global item *p = items + get_global_id(0);\n"
    "    p->sinh = sinh((double2)p->x).y;\n"
    "    p->cosh = cosh(p->x);\n"
    "    p->tgamma = tgamma((double3)p->x).z;\n"
    "    p->sin = sin(p->x);\n"
    "    p->ldexp = ldexp((double2)p->x, STEP(get_global_id(0))).y;\n"
    "    p->tgamma_f = tgamma(p->y);\n"
    "    p->native_sin = native_sin((float4)p->y).w;\n"
    "    p->native_exp2 = native_exp2(p->y);\n"
    "    p->native_log = native_log(fabs(p->y));\n"
    "    p->half_cos = half_cos((float16)p->y).sf;\n"
    "    p->native_powr = native_powr(fabs(p->y), 1.5f);\n"
    "}";

/* How far a result is off, in ULP of its type (24 or 53 bits). */
static double ulps(double got, long double exact, int bits)
{
    double rounded = bits == 24 ? (double)(float)exact : (double)exact;
    if (isnan((double)exact) || isinf(rounded))
        return isnan((double)exact) ? !isnan(got) * 1e9 : (got != rounded) * 1e9;
    int exponent;
    frexpl(exact, &exponent);
    exponent = exponent < (bits == 24 ? -125 : -1021) ? (bits == 24 ? -125 : -1021) : exponent;
    return isnan(got) ? 1e9 : (double)(fabsl(got - exact) / ldexpl(1, exponent - bits));
}

/* Relaxed mathematics is of the program's own operations: what functions round with, and the small
 * differences they compute in, must not be folded where a sign or a value is known. */
static void relaxed(void **state)
{
    static const char *const OPTIONS[] = {"-cl-unsafe-math-optimizations", "-cl-fast-relaxed-math"};
    const struct world *world = *state;
    for (int o = 0; o < 2; o++) {
        cl_program program =
            built(world,
                  "typedef struct { double x, rint, cos, fmod; float y, sin; } item;\n"
                  "kernel void k(global item *items) {\n"
                  "    global item *p = items + get_global_id(0);\n"
                  "    p->rint = rint(fabs(p->x));\n"
                  "    p->cos = cos(fabs(p->x));\n"
                  "    p->fmod = fmod(fabs(p->x), 0.7);\n"
                  "    p->sin = sin(p->y);\n"
                  "}",
                  OPTIONS[o]);
        for (cl_uint device = 0; device < world->device_count; device++) {
            static struct {
                double x, rint, cos, fmod;
                float y, sin;
            } items[ITEMS];
            uint64_t random = 6;
            for (int i = 0; i < ITEMS; i++) {
                items[i].x = (double)(int64_t)next(&random) * 0x1p-63 * (i + 1);
                items[i].y = (float)items[i].x;
            }
            run_items(world, device, program, "k", items, sizeof *items);
            for (int i = 0; i < ITEMS; i++) {
                assert_true(items[i].rint == rint(fabs(items[i].x)));
                assert_true(ulps(items[i].cos, cosl(items[i].x), 53) <= 4);
                assert_true(items[i].fmod == fmod(fabs(items[i].x), 0.7));
                assert_true(ulps(items[i].sin, sinl(items[i].y), 24) <= 4);
            }
        }
        assert_cl(clReleaseProgram(program));
    }
}

/* OpenCL leaves native functions' error to the machine; the bound is our own, to find mistakes. */
static bool near(float got, double exact)
{
    return fabs(got - exact) <= ldexp(1, -20) * fmax(1, fabs(exact));
}

static void reals(void **state)
{
    const struct world *world = *state;
    cl_program program = built(world, REALS, "-D'STEP(i)=(int)(((i) - 256) * 9)'");
    for (cl_uint device = 0; device < world->device_count; device++) {
        static struct reals items[ITEMS];
        uint64_t random = 4;
        for (int i = 0; i < ITEMS; i++) {
            double any = (double)(int64_t)next(&random) * 0x1p-63;
            items[i].x = i % 3 == 0 ? real(&random) : any * (i % 3 == 1 ? 30 : 750);
            items[i].y = (float)(any * 3);
        }
        run_items(world, device, program, "k", items, sizeof *items);
        for (int i = 0; i < ITEMS; i++) {
            const struct reals *p = &items[i];
            assert_true(ulps(p->sinh, sinhl(p->x), 53) <= 4);
            assert_true(ulps(p->cosh, coshl(p->x), 53) <= 4);
            assert_true(ulps(p->sin, sinl(p->x), 53) <= 4);
            double moved = ldexp(p->x, (i - 256) * 9);
            assert_true(p->ldexp == moved || (isnan(moved) && isnan(p->ldexp)));
            if (fabs(p->x) < 170)
                assert_true(ulps(p->tgamma, tgammal(p->x), 53) <= 16);
            assert_true(ulps(p->tgamma_f, tgammal(p->y), 24) <= 16);
            assert_true(near(p->native_sin, sin(p->y)));
            assert_true(near(p->native_exp2, exp2(p->y)));
            assert_true(near(p->native_log, log(fabs((double)p->y))));
            assert_true(near(p->native_powr, pow(fabs((double)p->y), 1.5)));
            assert_true(ulps(p->half_cos, cosl(p->y), 24) <= 8192);
        }
    }
    assert_cl(clReleaseProgram(program));
}

/* Quiet, and not a number, whatever their codes are. */
static void nans(void **state)
{
    const struct world *world = *state;
    cl_program program = built(
        world,
        "typedef struct { ulong code, of_double, of_double3; uint of_float, of_float4; } item;\n"
        "kernel void k(global item *items) {\n"
        "    global item *p = items + get_global_id(0);\n"
        "    p->of_double = as_ulong(nan(p->code));\n"
        "    p->of_double3 = as_ulong(nan((ulong3)(1, 2, p->code)).z);\n"
        "    p->of_float = as_uint(nan((uint)p->code));\n"
        "    p->of_float4 = as_uint4(nan((uint4)(1, 2, 3, (uint)p->code))).w;\n"
        "}",
        "");
    for (cl_uint device = 0; device < world->device_count; device++) {
        static struct {
            uint64_t code, of_double, of_double3;
            uint32_t of_float, of_float4;
        } items[ITEMS];
        const uint64_t quiet = UINT64_C(0x7ff8) << 48;
        const uint32_t quiet_float = 0x7fc00000;
        uint64_t random = 5;
        for (int i = 0; i < ITEMS; i++)
            items[i].code = i ? (uint64_t)whole(&random) : 0;
        run_items(world, device, program, "k", items, sizeof *items);
        for (int i = 0; i < ITEMS; i++) {
            assert_true((items[i].of_double & quiet) == quiet);
            assert_true((items[i].of_double3 & quiet) == quiet);
            assert_true((items[i].of_float & quiet_float) == quiet_float);
            assert_true((items[i].of_float4 & quiet_float) == quiet_float);
        }
    }
    assert_cl(clReleaseProgram(program));
}

/* ---- 64-bit atomics, copies ---- */

static const char ATOMICS[] =
    "kernel void k(global long *out) {\n"
    "    local long sum;\n"
    "    local ulong most;\n"
    "    long i = get_global_id(0);\n"
    "    if (get_local_id(0) == 0) { sum = 0; most = 0; }\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    atom_add(&sum, i << 33);\n"
    "    atom_max(&most, (ulong)-i);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (get_local_id(0) == 0) { atom_add(out, sum); atom_max((global ulong *)out + 1, most); "
    "}\n"
    "    atom_min(out + 2, -(i << 32));\n"
    "    atom_inc(out + 3);\n"
    "    atom_dec(out + 4);\n"
    "    atom_or(out + 5, 1L << (i % 64));\n"
    "    atom_and(out + 6, ~(1L << (i % 64)));\n"
    "    atom_xor(out + 7, i);\n"
    "    long old = out[8], seen;\n"
    "    while ((seen = atom_cmpxchg(out + 8, old, old + (1L << 40))) != old) old = seen;\n"
    "    atom_xchg(out + 9, 77L << 40);\n"
    "    atom_sub(out + 10, 1L << 35);\n"
    "}";

static void atomics(void **state)
{
    const struct world *world = *state;
    cl_program program = built(world, ATOMICS, "");
    for (cl_uint device = 0; device < world->device_count; device++) {
        int64_t out[11] = {0};
        out[6] = -1;
        run_on(world, device, program, "k", 192, out, sizeof out);
        assert_true(out[0] == (int64_t)(191 * 96) << 33);
        assert_true(out[1] == -1 && out[2] == -((int64_t)191 << 32));
        assert_true(out[3] == 192 && out[4] == -192);
        assert_true(out[5] == -1 && out[6] == 0 && out[7] == 0);
        assert_true(out[8] == (int64_t)192 << 40 && out[9] == (int64_t)77 << 40);
        assert_true(out[10] == -((int64_t)192 << 35));
    }
    assert_cl(clReleaseProgram(program));
}

static const char COPIES[] =
    "kernel void k(global int4 *out) {\n"
    "    local int3 here[40];\n"
    "    event_t event = async_work_group_copy(here, (global int3 *)out, 40, 0);\n"
    "    wait_group_events(1, &event);\n"
    "    event = async_work_group_strided_copy((global int3 *)out + 40, here, 20, 2, 0);\n"
    "    wait_group_events(1, &event);\n"
    "    prefetch((global int3 *)out, 1);\n"
    "}";

static void copies(void **state)
{
    const struct world *world = *state;
    cl_program program = built(world, COPIES, "");
    for (cl_uint device = 0; device < world->device_count; device++) {
        int32_t out[80][4];
        for (int i = 0; i < 80 * 4; i++)
            out[i / 4][i % 4] = i;
        run_on(world, device, program, "k", 24, out, sizeof out);
        for (int i = 0; i < 80; i++)
            for (int c = 0; c < 3; c++)
                assert_int_equal(out[i][c], i < 40 || i % 2 ? 4 * i + c : 4 * (i / 2 - 20) + c);
    }
    assert_cl(clReleaseProgram(program));
}

/* A kernel may call another, and inline functions may stay functions. */
static void calls(void **state)
{
    const struct world *world = *state;
    cl_program program = built(world,
                               "inline int square(int x) __attribute__((noinline));\n"
                               "inline int square(int x) { return x * x; }\n"
                               "kernel void leaf(global int *out) { out[0] = square(5); }\n"
                               "kernel void k(global int *out) { leaf(out); out[0] += 2; }",
                               "");
    for (cl_uint device = 0; device < world->device_count; device++) {
        assert_int_equal(answer_of(world, device, program, "k"), 27);
        assert_int_equal(answer_of(world, device, program, "leaf"), 25);
    }
    assert_cl(clReleaseProgram(program));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers), cmocka_unit_test(fields), cmocka_unit_test(conversions),
        cmocka_unit_test(halves),   cmocka_unit_test(reals),  cmocka_unit_test(atomics),
        cmocka_unit_test(copies),   cmocka_unit_test(calls),  cmocka_unit_test(nans),
        cmocka_unit_test(relaxed),
    };
    return cmocka_run_group_tests(tests, world_open, world_close);
}
