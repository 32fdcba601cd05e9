/*
 * The integer functions of OpenCL C 1.2 (6.12.3) for every type, against 128-bit arithmetic of the
 * host: scalars and vectors of three, or with --all every width.
 */
#include "../rig.h"

typedef __int128 wide;

enum {
    ITEMS = 48 * 8,
    WIDTHS = 6
};
static const int widths[WIDTHS] = {1, 3, 2, 4, 8, 16};
static int width_count = 2;

static const struct type {
    const char *name;
    int bits;
    bool is_signed;
} types[] = {
    {"char", 8, true}, {"uchar", 8, false}, {"short", 16, true}, {"ushort", 16, false},
    {"int", 32, true}, {"uint", 32, false}, {"long", 64, true},  {"ulong", 64, false},
};
enum {
    TYPES = sizeof types / sizeof *types
};

static wide least(const struct type *type)
{
    return type->is_signed ? -((wide)1 << (type->bits - 1)) : 0;
}

static wide most(const struct type *type)
{
    return ((wide)1 << (type->bits - type->is_signed)) - 1;
}

static wide bounded(const struct type *type, wide value)
{
    return value < least(type) ? least(type) : value > most(type) ? most(type) : value;
}

static uint64_t bits_of(const struct type *type, wide value)
{
    return (uint64_t)value & (type->bits == 64 ? UINT64_MAX : ((uint64_t)1 << type->bits) - 1);
}

/* Rounds toward minus infinity, as a shift of the sum does. */
static wide half(wide value)
{
    return value >> 1;
}

static uint64_t leading_zeros(const struct type *type, wide a)
{
    uint64_t bits = bits_of(type, a);
    return bits ? (uint64_t)(__builtin_clzll(bits) - (64 - type->bits)) : (uint64_t)type->bits;
}

static uint64_t rotated(const struct type *type, wide a, wide b)
{
    int by = (int)(bits_of(type, b) % (uint64_t)type->bits);
    uint64_t bits = bits_of(type, a);
    return by ? bits_of(type, (wide)(bits << by | bits >> (type->bits - by))) : bits;
}

/* The last 24 bits, as a number. */
static wide cut(const struct type *type, wide value)
{
    uint32_t low = (uint32_t)value & 0xffffff;
    return type->is_signed && low & 0x800000 ? (wide)low - 0x1000000 : (wide)low;
}

/* FUNCTION(name, call, expected): of a, b, c; all results are of the type's width. */
#define FUNCTIONS(FUNCTION)                                                                 \
    FUNCTION(abs, "AS(abs(a))", a < 0 ? -a : a)                                             \
    FUNCTION(abs_diff, "AS(abs_diff(a, b))", a < b ? b - a : a - b)                         \
    FUNCTION(add_sat, "add_sat(a, b)", bounded(type, a + b))                                \
    FUNCTION(sub_sat, "sub_sat(a, b)", bounded(type, a - b))                                \
    FUNCTION(hadd, "hadd(a, b)", half(a + b))                                               \
    FUNCTION(rhadd, "rhadd(a, b)", half(a + b + 1))                                         \
    FUNCTION(clamp, "clamp(a, min(b, c), max(b, c))",                                       \
             a<(b < c ? b : c) ? (b < c ? b : c) : a>(b < c ? c : b) ? (b < c ? c : b) : a) \
    FUNCTION(clz, "clz(a)", leading_zeros(type, a))                                         \
    FUNCTION(mad_hi, "mad_hi(a, b, c)", ((a * b) >> type->bits) + c)                        \
    FUNCTION(mad_sat, "mad_sat(a, b, c)", bounded(type, a *b + c))                          \
    FUNCTION(max, "max(a, b)", a > b ? a : b)                                               \
    FUNCTION(min, "min(a, b)", a < b ? a : b)                                               \
    FUNCTION(mul_hi, "mul_hi(a, b)", (a * b) >> type->bits)                                 \
    FUNCTION(rotate, "rotate(a, b)", rotated(type, a, b))                                   \
    FUNCTION(popcount, "popcount(a)", __builtin_popcountll(bits_of(type, a)))               \
    FUNCTION(mul24, "MUL24(a, b, c)", cut(type, a) * cut(type, b))                          \
    FUNCTION(mad24, "MAD24(a, b, c)", cut(type, a) * cut(type, b) + c)

static uint64_t expected(const struct type *type, int which, wide a, wide b, wide c)
{
    int i = 0;
    if (type->bits == 64 && !type->is_signed && which == 9) /* a * b + c may need 129 bits */
        return b && (unsigned __int128)a >
                           ((unsigned __int128)UINT64_MAX - (uint64_t)c) / (uint64_t)b
                   ? UINT64_MAX
                   : (uint64_t)(a * b + c);
    if (type->bits == 64 && !type->is_signed && (which == 8 || which == 12))
        return (uint64_t)((unsigned __int128)a * (unsigned __int128)b >> 64) +
               (which == 8 ? (uint64_t)c : 0);
#define FUNCTION(name, call, result) \
    if (i++ == which)                \
        return bits_of(type, (wide)(result));
    FUNCTIONS(FUNCTION)
#undef FUNCTION
    return 0;
}

static const char *const names[] = {
#define FUNCTION(name, call, result) #name,
    FUNCTIONS(FUNCTION)
#undef FUNCTION
};
enum {
    COUNT = sizeof names / sizeof *names
};

/* One kernel for each type; each function has its own part of the results. */
static const char body[] =
    "#define V__(t, n) t##n\n#define V_(t, n) V__(t, n)\n#define V(t) V_(t, W)\n"
    "#define AS__(t, n) as_##t##n\n#define AS_(t, n) AS__(t, n)\n"
    "#if ONE\n#define LOAD(i, p) (p)[i]\n#define STORE(v, i, p) (p)[i] = (v)\n"
    "#else\n#define L__(n) vload##n\n#define L_(n) L__(n)\n#define S__(n) vstore##n\n"
    "#define S_(n) S__(n)\n#define LOAD(i, p) L_(W)(i, p)\n#define STORE(v, i, p) S_(W)(v, i, p)\n"
    "#endif\n"
    "#define CUT(x) ((x) << 8 >> 8)\n";

static void source(char *to, size_t size)
{
    size_t used = (size_t)snprintf(to, size, "%s", body);
    for (int t = 0; t < TYPES; t++) {
        bool word = types[t].bits == 32;
        used += (size_t)snprintf(
            to + used, size - used,
            "#undef AS\n#undef MUL24\n#undef MAD24\n#define AS AS_(%s, W)\n"
            "#define MUL24(a, b, c) %s\n#define MAD24(a, b, c) %s\n"
            "kernel void f_%s(global %s *x, global %s *y, global %s *z, global %s *out) {\n"
            " size_t i = get_global_id(0), n = get_global_size(0); V(%s) a = LOAD(i, x), "
            "b = LOAD(i, y), c = LOAD(i, z);\n",
            types[t].name, word ? "mul24(CUT(a), CUT(b))" : "a",
            word ? "mad24(CUT(a), CUT(b), c)" : "a", types[t].name, types[t].name, types[t].name,
            types[t].name, types[t].name, types[t].name);
        int which = 0;
#define FUNCTION(name, call, result) \
    used +=                          \
        (size_t)snprintf(to + used, size - used, " STORE(%s, i + n * %d, out);\n", call, which++);
        FUNCTIONS(FUNCTION)
#undef FUNCTION
        used += (size_t)snprintf(to + used, size - used, "}\n");
    }
    assert_true(used < size);
}

static wide number(const struct type *type, uint32_t *seed)
{
    uint32_t choice = rig_random(seed, 8);
    uint64_t bits = (uint64_t)rig_random(seed, UINT32_MAX) << 32 | rig_random(seed, UINT32_MAX);
    wide value = choice == 0   ? least(type)
                 : choice == 1 ? most(type)
                 : choice == 2 ? (wide)(bits >> 61)
                 : choice == 3 ? -(wide)(bits >> 61)
                               : (wide)(bits >> rig_random(seed, (uint32_t)type->bits));
    uint64_t low = bits_of(type, value);
    bool negative = type->is_signed && low >> (type->bits - 1);
    return negative ? (wide)low - ((wide)1 << type->bits) : (wide)low;
}

static void put(const struct type *type, uint8_t *column, int i, wide value)
{
    uint64_t bits = bits_of(type, value);
    memcpy(column + i * type->bits / 8, &bits, (size_t)type->bits / 8);
}

static void try_type(struct rig *rig, cl_program program, const struct type *type, int width)
{
    static wide in[3][ITEMS];
    static uint8_t columns[3][ITEMS * 8], out[COUNT * ITEMS * 8];
    char name[16];
    uint32_t seed = (uint32_t)(type->bits + type->is_signed);
    cl_int status;
    size_t bytes = ITEMS * (size_t)type->bits / 8, items = (size_t)(ITEMS / width);
    cl_mem buffers[4];
    snprintf(name, sizeof name, "f_%s", type->name);
    cl_kernel kernel = clCreateKernel(program, name, &status);
    OK(status);
    for (cl_uint k = 0; k < 4; k++) {
        for (int i = 0; k < 3 && i < ITEMS; i++)
            put(type, columns[k], i, in[k][i] = number(type, &seed));
        buffers[k] = rig_buffer(rig, k < 3 ? CL_MEM_COPY_HOST_PTR : 0,
                                k < 3 ? bytes : bytes * COUNT, k < 3 ? columns[k] : NULL);
        OK(clSetKernelArg(kernel, k, sizeof(cl_mem), &buffers[k]));
    }
    OK(clEnqueueNDRangeKernel(rig->queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL));
    rig_read(rig, buffers[3], out, 0, bytes * COUNT);
    int checked = type->bits == 32 ? COUNT : COUNT - 2; /* the last two are of 32 bits only */
    for (int f = 0; f < checked; f++)
        for (int i = 0; i < ITEMS; i++) {
            uint64_t got = 0;
            memcpy(&got, out + f * (int)bytes + i * type->bits / 8, (size_t)type->bits / 8);
            uint64_t right = expected(type, f, in[0][i], in[1][i], in[2][i]);
            if (got != right)
                print_error("%s of %s%d: %llx %llx %llx: got %llx, expected %llx\n", names[f],
                            type->name, width, (long long)in[0][i], (long long)in[1][i],
                            (long long)in[2][i], (long long)got, (long long)right);
            assert_true(got == right);
        }
    for (int k = 0; k < 4; k++)
        OK(clReleaseMemObject(buffers[k]));
    OK(clReleaseKernel(kernel));
}

static void functions(void **state)
{
    static char text[1 << 16];
    char options[64];
    for (int w = 0; w < width_count; w++) {
        source(text, sizeof text);
        snprintf(options, sizeof options, widths[w] == 1 ? "-DONE=1 -DW=" : "-DONE=0 -DW=%d",
                 widths[w]);
        cl_program program = rig_build(((struct rig *)*state)->context, text, options);
        for (int t = 0; t < TYPES; t++)
            try_type(*state, program, &types[t], widths[w]);
        OK(clReleaseProgram(program));
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--all"))
        width_count = WIDTHS;
    const struct CMUnitTest tests[] = {cmocka_unit_test(functions)};
    return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
