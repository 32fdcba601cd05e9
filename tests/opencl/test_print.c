/* printf from kernels: every conversion against a table, many work-items, a buffer that is full. */
#include "programs.h"

#include <unistd.h>

struct row {
    const char *call; /* arguments of printf */
    const char *text;
};

/* What C99 and OpenCL's vectors ask for. */
static const struct row ROWS[] = {
    {"\"plain\"", "plain"},
    {"\"\"", ""},
    {"\"%%|%5%\"", "%|%"},
    {"\"%d|%i\", 42, -42", "42|-42"},
    {"\"%5d|%-5d|%05d|%+d|% d\", 42, 42, 42, 42, 42", "   42|42   |00042|+42| 42"},
    {"\"%.3d|%8.3d|%-8.3d|\", 7, 7, 7", "007|     007|007     |"},
    {"\"%u|%o|%x|%X\", 4294967295u, 8u, 48879u, 48879u", "4294967295|10|beef|BEEF"},
    {"\"%#o|%#x|%#X\", 8, 255, 255", "010|0xff|0XFF"},
    {"\"%x|%u\", -1, -1", "ffffffff|4294967295"},
    {"\"%hhd|%hhu|%hhx\", (char)-1, (uchar)255, (char)-1", "-1|255|ff"},
    {"\"%hd|%hu\", (short)-32768, (ushort)65535", "-32768|65535"},
    {"\"%ld|%lu|%lx\", LONG_MIN, ULONG_MAX, 0x123456789abcdefUL",
     "-9223372036854775808|18446744073709551615|123456789abcdef"},
    {"\"%hhd\", 300", "44"},
    {"\"%f|%F\", 1.5f, -2.25", "1.500000|-2.250000"},
    {"\"%.0f|%.2f|%8.3f|%-8.1f|%+f\", 2.5f, 3.14159f, 1.0f, 1.0f, 1.0f",
     "2|3.14|   1.000|1.0     |+1.000000"},
    {"\"%e|%E|%.2e\", 12345.678, 0.00012, 1.0f", "1.234568e+04|1.200000E-04|1.00e+00"},
    {"\"%g|%G|%g|%#g\", 100000.0f, 1e-10, 1e10f, 1.0f", "100000|1E-10|1e+10|1.00000"},
    {"\"%a|%.1a|%A\", 1.0, 1.0f, 0.5", "0x1p+0|0x1.0p+0|0X1P-1"},
    {"\"%f|%f|%F|%e\", INFINITY, -INFINITY, INFINITY, NAN", "inf|-inf|INF|nan"},
    {"\"%5.1f|%05.1f\", INFINITY, -INFINITY", "  inf| -inf"},
    {"\"%f\", 0.1", "0.100000"},
    {"\"%.17g\", 0.1", "0.10000000000000001"},
    {"\"%c%c%3c|%-3c|\", 'a', (char)98, 'c', 'd'", "ab  c|d  |"},
    {"\"%s|%5s|%-5s|%.2s|%s\", \"one\", \"two\", \"six\", \"eight\", \"\"", "one|  two|six  |ei|"},
    {"\"%s %s\", words, words + 2", "hello llo"},
    {"\"%v4d\", (int4)(1, -2, 3, -4)", "1,-2,3,-4"},
    {"\"%v4hld|%v2hlx\", (int4)(1, 2, 3, 4), (int2)(255, 16)", "1,2,3,4|ff,10"},
    {"\"%v4hhd|%v3hhu\", (char4)(1, -1, 3, 4), (uchar3)(255, 2, 3)", "1,-1,3,4|255,2,3"},
    {"\"%v8hd|%v2hx\", (short8)(1, 2, 3, 4, 5, 6, 7, -8), (ushort2)(65535, 1)",
     "1,2,3,4,5,6,7,-8|ffff,1"},
    {"\"%v2ld|%v3lu\", (long2)(-1, 2), (ulong3)(1, 2, ULONG_MAX)", "-1,2|1,2,18446744073709551615"},
    {"\"%v4hlf|%5.1v2hlf|%.2v3hle\", (float4)(1, 2, 3, 4), (float2)(1, 2), (float3)(1, 2, 3)",
     "1.000000,2.000000,3.000000,4.000000|  1.0,  2.0|1.00e+00,2.00e+00,3.00e+00"},
    {"\"%v2lf|%v16hlg\", (double2)(0.5, 1e100), (float16)(7)",
     "0.500000,10000000000000000159028911097599180468360808563945281389781327557747838772170381060"
     "813469985856815104.000000|7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7"},
    {"\"%#v4hhx|%02v4hhx\", (uchar4)(1, 2, 3, 255), (uchar4)(1, 2, 3, 255)",
     "0x1,0x2,0x3,0xff|01,02,03,ff"},
    {"\"%d %s %d\", 1, \"mixed\", 2", "1 mixed 2"},
    {"\"%d%d\", 1", "1"},         /* too few arguments, */
    {"\"%d\", 1, 2", "1"},        /* too many */
    {"\"%y|%\", 1", "%y|%"},      /* and no conversions at all */
    {"\"%d\", out[0] == 0", "1"}, /* a truth is an int */
    {"\"%p\", (global int *)0", "(nil)"},
    {"\"%p\", (void *)0", "(nil)"},
    {"\"%s\", (void *)0", "(null)"},
    {"\"%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d\", 1, 2, 3, 4, 5, 6, 7, 8, 9, "
     "10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20",
     "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20"},
};
enum {
    ROW_COUNT = sizeof ROWS / sizeof *ROWS
};

/* What a kernel writes to standard output; it lives until the next call. */
static const char *printed(const struct world *world, cl_uint device, cl_program program,
                           const char *kernel, size_t items, cl_int *data, size_t bytes)
{
    static char text[4 << 20];
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    int before = dup(1);
    dup2(fileno(file), 1);
    run_on(world, device, program, kernel, items, data, bytes);
    fflush(stdout);
    dup2(before, 1);
    close(before);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

static void formats(void **state)
{
    const struct world *world = *state;
    static char source[1 << 16];
    size_t used = (size_t)sprintf(source, "constant char words[] = \"hello\";\n");
    for (int i = 0; i < ROW_COUNT; i++)
        used += (size_t)sprintf(source + used,
                                "kernel void k%d(global int *out) { out[1] = printf(%s); }\n", i,
                                ROWS[i].call);
    cl_program program = built(world, source, "-Werror");
    for (cl_uint device = 0; device < world->device_count; device++)
        for (int i = 0; i < ROW_COUNT; i++) {
            char name[16];
            cl_int data[2] = {0, -7};
            snprintf(name, sizeof name, "k%d", i);
            const char *text = printed(world, device, program, name, 1, data, sizeof data);
            if (strcmp(text, ROWS[i].text))
                print_message("printf(%s) on device %u\n", ROWS[i].call, device);
            assert_string_equal(text, ROWS[i].text);
            assert_int_equal(data[1], 0);
        }
    assert_cl(clReleaseProgram(program));
}

/* Each work-item's line is whole, and none is lost. */
static void prints_from_many(void **state)
{
    const struct world *world = *state;
    enum {
        ITEMS = 1000
    };
    cl_program program = built(world,
                               "kernel void k(global int *out) {\n"
                               "    int i = get_global_id(0);\n"
                               "    if (i % 3)\n"
                               "        printf(\"item %d of %d\\n\", i, (int)get_global_size(0));\n"
                               "    out[i] = i % 3 ? 1 : 0;\n"
                               "}",
                               "");
    for (cl_uint device = 0; device < world->device_count; device++) {
        static cl_int data[ITEMS];
        bool seen[ITEMS] = {false};
        int lines = 0, item, length;
        const char *text = printed(world, device, program, "k", ITEMS, data, sizeof data);
        for (; sscanf(text, "item %d of 1000\n%n", &item, &length) == 1; text += length) {
            assert_in_range(item, 0, ITEMS - 1);
            assert_false(seen[item]);
            assert_true(item % 3);
            seen[item] = true;
            lines++;
        }
        assert_string_equal(text, "");
        assert_int_equal(lines, 666);
    }
    assert_cl(clReleaseProgram(program));
}

/* More than fits: printf says -1, what was printed before is there, and the next launch prints. */
static void fills_the_buffer(void **state)
{
    const struct world *world = *state;
    cl_program program = built(world,
                               "kernel void many(global int *out) {\n"
                               "    int lost = 0;\n"
                               "    for (int i = 0; i < 3000; i++)\n"
                               "        if (printf(\"%v16ld\\n\", (long16)(i)))\n"
                               "            lost++;\n"
                               "    atomic_add(out, lost);\n"
                               "}\n"
                               "kernel void few(global int *out) { out[0] = printf(\"few\\n\"); }",
                               "");
    for (cl_uint device = 0; device < world->device_count; device++) {
        cl_int lost = 0, lines = 0;
        const char *text = printed(world, device, program, "many", 4, &lost, sizeof lost);
        for (const char *at = text; (at = strchr(at, '\n')); at++)
            lines++;
        assert_true(lost > 0 && lines > 0);
        assert_int_equal(lost + lines, 12000);
        assert_string_equal(printed(world, device, program, "few", 1, &lost, sizeof lost), "few\n");
        assert_int_equal(lost, 0);
    }
    assert_cl(clReleaseProgram(program));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats),
        cmocka_unit_test(prints_from_many),
        cmocka_unit_test(fills_the_buffer),
    };
    return cmocka_run_group_tests(tests, world_open, world_close);
}
