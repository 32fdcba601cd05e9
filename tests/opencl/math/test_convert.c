/*
 * Conversions of OpenCL C 1.2 (6.2.3): every pair of types, every rounding, saturated or not,
 * against MPFR. With --all every vector width, else scalars.
 */
#include "../rig.h"

#include <math.h>
#include <mpfr.h>

enum {
    ITEMS = 48 * 4,
    TYPES = 10,
    MODES = 10, /* roundings, then the same saturated */
    WIDTHS = 6
};
static const int widths[WIDTHS] = {1, 2, 3, 4, 8, 16};
static int width_count = 1;

static const struct type {
    const char *name;
    int bits;
    bool is_signed, is_real;
} types[TYPES] = {
    {"char", 8, true, false},     {"uchar", 8, false, false},  {"short", 16, true, false},
    {"ushort", 16, false, false}, {"int", 32, true, false},    {"uint", 32, false, false},
    {"long", 64, true, false},    {"ulong", 64, false, false}, {"float", 32, true, true},
    {"double", 64, true, true},
};
static const char *const suffixes[MODES] = {
    "", "_rte", "_rtz", "_rtp", "_rtn", "_sat", "_sat_rte", "_sat_rtz", "_sat_rtp", "_sat_rtn",
};

static mpfr_rnd_t rounding(const struct type *to, int mode)
{
    static const mpfr_rnd_t modes[] = {MPFR_RNDN, MPFR_RNDN, MPFR_RNDZ, MPFR_RNDU, MPFR_RNDD};
    return mode % 5 == 0 && !to->is_real ? MPFR_RNDZ : modes[mode % 5];
}

/* ---- numbers of a type, in its bits ---- */

static uint64_t mask(const struct type *type)
{
    return type->bits == 64 ? UINT64_MAX : ((uint64_t)1 << type->bits) - 1;
}

static void value_of(mpfr_t to, const struct type *type, uint64_t bits)
{
    float f;
    double d;
    uint32_t word = (uint32_t)bits;
    memcpy(&f, &word, 4);
    memcpy(&d, &bits, 8);
    if (type->is_real)
        mpfr_set_d(to, type->bits == 32 ? (double)f : d, MPFR_RNDN);
    else if (type->is_signed && bits >> (type->bits - 1) & 1)
        mpfr_set_sj(to, (intmax_t)(bits | ~mask(type)), MPFR_RNDN);
    else
        mpfr_set_uj(to, bits, MPFR_RNDN);
}

static uint64_t random_bits(const struct type *type, uint32_t *seed)
{
    uint64_t bits = (uint64_t)rig_random(seed, UINT32_MAX) << 32 | rig_random(seed, UINT32_MAX);
    uint32_t choice = rig_random(seed, 8);
    if (!type->is_real)
        return choice < 2   ? mask(type) >> (choice + rig_random(seed, (uint32_t)type->bits))
               : choice < 4 ? (bits >> rig_random(seed, 64)) & mask(type)
                            : bits & mask(type);
    static const double edges[] = {
        0.0,   -0.0,     0.5,       1.5,           2.5,      -0.5,     127.5,          -128.5,
        255.5, 32767.5,  65535.5,   0x1p31,        0x1p32,   0x1p63,   0x1p64,         -0x1p63,
        NAN,   INFINITY, -INFINITY, 0x1.fffffep30, 0x1p-149, 0x1p-130, 0x1.ffffffp127, 1e300};
    double d = choice == 0 ? edges[bits % (sizeof edges / sizeof *edges)]
                           : ldexp((double)(int64_t)bits, -(int)rig_random(seed, 80));
    float f = (float)d;
    uint32_t word;
    memcpy(&word, &f, 4);
    memcpy(&bits, &d, 8);
    return type->bits == 32 ? word : bits;
}

/* ---- what is to come out ---- */

static bool equal_real(const struct type *to, uint64_t got, double right, bool flushes)
{
    mpfr_t value;
    mpfr_init2(value, 64);
    value_of(value, to, got);
    double d = mpfr_get_d(value, MPFR_RNDN);
    mpfr_clear(value);
    if (isnan(right) || isnan(d))
        return isnan(right) && isnan(d);
    /* Where subnormal numbers count as zeros, one is as good as another. */
    return d == right || (flushes && fabs(d) < 0x1p-126 && fabs(right) <= 0x1p-126);
}

static bool right(const struct type *to, int mode, mpfr_t in, uint64_t got, bool flushes)
{
    mpfr_rnd_t rnd = rounding(to, mode);
    if (to->is_real) {
        double d = to->bits == 64 ? mpfr_get_d(in, rnd) : (double)mpfr_get_flt(in, rnd);
        return equal_real(to, got, d, flushes);
    }
    if (mpfr_nan_p(in))
        return mode < 5 || got == 0; /* undefined, or 0 if saturated */
    mpfr_t least, most, whole;
    mpfr_inits2(128, least, most, whole, (mpfr_ptr)NULL);
    mpfr_set_si_2exp(least, to->is_signed ? -1 : 0, to->bits - 1, MPFR_RNDN);
    mpfr_set_ui_2exp(most, 1, to->bits - to->is_signed, MPFR_RNDN);
    mpfr_sub_ui(most, most, 1, MPFR_RNDN);
    mpfr_rint(whole, in, rnd);
    bool inside = mpfr_cmp(whole, least) >= 0 && mpfr_cmp(whole, most) <= 0;
    if (mode >= 5 && !inside)
        mpfr_set(whole, mpfr_sgn(whole) < 0 ? least : most, MPFR_RNDN);
    uint64_t bits = mpfr_sgn(whole) < 0 ? (uint64_t)mpfr_get_sj(whole, MPFR_RNDN)
                                        : mpfr_get_uj(whole, MPFR_RNDN);
    mpfr_clears(least, most, whole, (mpfr_ptr)NULL);
    return (mode < 5 && !inside) || got == (bits & mask(to));
}

/* ---- kernels: one for each type to convert to, of one type to convert from ---- */

static void source(char *text, size_t size, const struct type *from, int width)
{
    size_t used = (size_t)snprintf(text, size, "#define store(v, i, p) (p)[i] = (v)\n");
    char w[12] = "";
    if (width > 1)
        snprintf(w, sizeof w, "%d", width);
    for (int t = 0; t < TYPES; t++) {
        const struct type *to = &types[t];
        used += (size_t)snprintf(text + used, size - used,
                                 "kernel void to_%s(global %s *in, global %s *out) { size_t i = "
                                 "get_global_id(0), n = get_global_size(0); %s%s x = ",
                                 to->name, from->name, to->name, from->name, w);
        used += (size_t)snprintf(text + used, size - used,
                                 width > 1 ? "vload%d(i, in);\n" : "in[i];\n", width);
        for (int mode = 0; mode < (to->is_real ? 5 : MODES); mode++)
            used += (size_t)snprintf(text + used, size - used,
                                     width > 1 ? "vstore%s(convert_%s%s%s(x), i + n * %d, out);\n"
                                               : "store%s(convert_%s%s%s(x), i + n * %d, out);\n",
                                     w, to->name, w, suffixes[mode], mode);
        used += (size_t)snprintf(text + used, size - used, "}\n");
    }
    assert_true(used < size);
}

static bool flushes_float(struct rig *rig)
{
    cl_device_fp_config config;
    OK(clGetDeviceInfo(rig->devices[0], CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL));
    return !(config & CL_FP_DENORM);
}

static void compare(struct rig *rig, const struct type *from, const struct type *to, int width,
                    const uint8_t *in, const uint8_t *out)
{
    bool flushes = flushes_float(rig) && (from->bits == 32 || to->bits == 32);
    mpfr_t value;
    mpfr_init2(value, 128);
    for (int mode = 0; mode < (to->is_real ? 5 : MODES); mode++)
        for (int i = 0; i < ITEMS; i++) {
            uint64_t bits = 0, got = 0;
            memcpy(&bits, in + i * from->bits / 8, (size_t)from->bits / 8);
            memcpy(&got, out + (mode * ITEMS + i) * to->bits / 8, (size_t)to->bits / 8);
            value_of(value, from, bits);
            bool good = right(to, mode, value, got, flushes);
            if (!good && flushes && from->is_real &&
                fabs(mpfr_get_d(value, MPFR_RNDN)) < 0x1p-126) {
                mpfr_set_zero(value, 1);
                good = right(to, mode, value, got, flushes);
            }
            if (!good)
                print_error("convert_%s%s of %s, width %d: %llx (%g) became %llx\n", to->name,
                            suffixes[mode], from->name, width, (long long)bits,
                            mpfr_get_d(value, MPFR_RNDN), (long long)got);
            assert_true(good);
        }
    mpfr_clear(value);
}

static void convert(struct rig *rig, cl_program program, const struct type *from, int width)
{
    static uint8_t in[ITEMS * 8], out[MODES * ITEMS * 8];
    uint32_t seed = (uint32_t)from->bits;
    for (int i = 0; i < ITEMS; i++) {
        uint64_t bits = random_bits(from, &seed);
        memcpy(in + i * from->bits / 8, &bits, (size_t)from->bits / 8);
    }
    cl_mem input = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, sizeof in, in);
    cl_mem output = rig_buffer(rig, 0, sizeof out, NULL);
    size_t items = (size_t)(ITEMS / width);
    for (int t = 0; t < TYPES; t++) {
        char name[16];
        cl_int status;
        snprintf(name, sizeof name, "to_%s", types[t].name);
        cl_kernel kernel = clCreateKernel(program, name, &status);
        OK(status);
        OK(clSetKernelArg(kernel, 0, sizeof input, &input));
        OK(clSetKernelArg(kernel, 1, sizeof output, &output));
        OK(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL));
        rig_read(rig, output, out, 0, sizeof out);
        compare(rig, from, &types[t], width, in, out);
        OK(clReleaseKernel(kernel));
    }
    OK(clReleaseMemObject(input));
    OK(clReleaseMemObject(output));
}

static void conversions(void **state)
{
    static char text[1 << 16];
    struct rig *rig = *state;
    for (int w = 0; w < width_count; w++)
        for (int f = 0; f < TYPES; f++) {
            source(text, sizeof text, &types[f], widths[w]);
            cl_program program = rig_build(rig->context, text, "");
            convert(rig, program, &types[f], widths[w]);
            OK(clReleaseProgram(program));
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(conversions)};
    if (argc > 1 && !strcmp(argv[1], "--all"))
        width_count = WIDTHS;
    return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
