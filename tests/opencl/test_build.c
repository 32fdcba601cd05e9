/* Programs from source: options, logs, what is refused, what they tell. */
#include "programs.h"

#include <sys/stat.h>
#include <unistd.h>

#define ANSWER "kernel void answer(global int *out) { out[0] = VALUE; }"

static void refuses(void **state)
{
    const struct world *world = *state;
    const char *source = ANSWER, *none = NULL;
    cl_int status = 1;
    assert_null(clCreateProgramWithSource(NULL, 1, &source, NULL, &status));
    assert_int_equal(status, CL_INVALID_CONTEXT);
    assert_null(clCreateProgramWithSource(world->context, 0, &source, NULL, &status));
    assert_int_equal(status, CL_INVALID_VALUE);
    assert_null(clCreateProgramWithSource(world->context, 1, NULL, NULL, &status));
    assert_int_equal(status, CL_INVALID_VALUE);
    assert_null(clCreateProgramWithSource(world->context, 1, &none, NULL, &status));
    assert_int_equal(status, CL_INVALID_VALUE);
    assert_null(clCreateProgramWithBuiltInKernels(world->context, 1, &world->device, "x", &status));
    assert_int_equal(status, CL_INVALID_VALUE);

    cl_program program = from_source(world, source);
    cl_device_id wrong = (cl_device_id)program;
    assert_int_equal(clBuildProgram(NULL, 0, NULL, "", NULL, NULL), CL_INVALID_PROGRAM);
    assert_int_equal(clBuildProgram((cl_program)world->queue, 0, NULL, "", NULL, NULL),
                     CL_INVALID_PROGRAM);
    assert_int_equal(clBuildProgram(program, 1, NULL, "", NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clBuildProgram(program, 0, &world->device, "", NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, &status), CL_INVALID_VALUE);
    assert_int_equal(clBuildProgram(program, 1, &wrong, "", NULL, NULL), CL_INVALID_DEVICE);
    size_t count;
    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, NULL),
                     CL_INVALID_PROGRAM_EXECUTABLE);
    assert_int_equal(clGetProgramInfo(program, 0x7777, sizeof count, &count, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(build_status(program, world->device), CL_BUILD_NONE);
    assert_int_equal(binary_type(program, world->device), CL_PROGRAM_BINARY_TYPE_NONE);
    assert_string_equal(build_log(program, world->device), "");
    assert_null(clCreateKernel(program, "answer", &status));
    assert_int_equal(status, CL_INVALID_PROGRAM_EXECUTABLE);
    assert_cl(clReleaseProgram(program));
}

/* Strings in pieces, with and without lengths, with a zero that is counted. */
static void joins_strings(void **state)
{
    const struct world *world = *state;
    const char *pieces[] = {"kernel void answer(", "global int *out) { out[0] = 12345", "; }"};
    const size_t lengths[] = {strlen(pieces[0]) + 1, strlen(pieces[1]) - 2, 0};
    cl_int status;
    cl_program program = clCreateProgramWithSource(world->context, 3, pieces, lengths, &status);
    assert_cl(status);
    char source[256];
    assert_cl(clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof source, source, NULL));
    assert_string_equal(source, "kernel void answer(global int *out) { out[0] = 123; }");
    assert_cl(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
    assert_int_equal(answer_of(world, 0, program, "answer"), 123);
    assert_cl(clReleaseProgram(program));
}

/* Each device runs the program, whose queries give its properties. */
static void builds(void **state)
{
    const struct world *world = *state;
    cl_program program = built(world,
                               "kernel void answer(global int *out) { out[0] = 7; }\n"
                               "kernel void other(global int *out) { out[0] = 8; }",
                               "-cl-mad-enable");
    for (cl_uint i = 0; i < world->device_count; i++) {
        assert_int_equal(answer_of(world, i, program, "answer"), 7);
        assert_int_equal(answer_of(world, i, program, "other"), 8);
        assert_int_equal(build_status(program, world->devices[i]), CL_BUILD_SUCCESS);
        assert_int_equal(binary_type(program, world->devices[i]),
                         CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
        assert_string_equal(build_text(program, world->devices[i], CL_PROGRAM_BUILD_OPTIONS),
                            "-cl-mad-enable");
    }
    size_t kernels = 0;
    char names[64];
    cl_uint devices = 0;
    assert_cl(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof kernels, &kernels, NULL));
    assert_int_equal(kernels, 2);
    assert_cl(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof names, names, NULL));
    assert_string_equal(names, "answer;other");
    assert_cl(clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof devices, &devices, NULL));
    assert_int_equal(devices, world->device_count);
    assert_cl(clReleaseProgram(program));
}

/* Diagnostics are the compiler's own, under a name that says nothing of us. */
static void tells_errors(void **state)
{
    const struct world *world = *state;
    cl_program program =
        from_source(world, "kernel void k(global int *out)\n{\n    out[0] = nothing;\n}\n");
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
    assert_string_equal(plain_log(program, world->device),
                        "program.cl:3:14: error: use of undeclared identifier 'nothing'\n"
                        "    out[0] = nothing;\n"
                        "             ^\n"
                        "1 error generated.\n");
    assert_int_equal(build_status(program, world->device), CL_BUILD_ERROR);
    assert_int_equal(binary_type(program, world->device), CL_PROGRAM_BINARY_TYPE_NONE);
    cl_int status;
    assert_null(clCreateKernel(program, "k", &status));
    assert_int_equal(status, CL_INVALID_PROGRAM_EXECUTABLE);
    /* It can be mended by an option. */
    assert_cl(clBuildProgram(program, 0, NULL, "-Dnothing=5", NULL, NULL));
    assert_int_equal(answer_of(world, 0, program, "k"), 5);
    assert_cl(clReleaseProgram(program));

    program = from_source(world, "int f(int);\nkernel void k(global int *o) { o[0] = f(1); }");
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
    assert_string_equal(build_log(program, world->device), "error: undefined reference to 'f'\n");
    assert_cl(clReleaseProgram(program));
}

static void tells_warnings(void **state)
{
    const struct world *world = *state;
    const char *source = "kernel void k(global int *out) { int x = 1 ? 2 : out; out[0] = x; }";
    cl_program program = built(world, source, "");
    assert_non_null(strstr(build_log(program, world->device), "program.cl:1:44: warning:"));
    assert_cl(clBuildProgram(program, 0, NULL, "", NULL, NULL)); /* also from the cache */
    assert_non_null(strstr(build_log(program, world->device), "program.cl:1:44: warning:"));
    assert_cl(clBuildProgram(program, 0, NULL, "-w", NULL, NULL));
    assert_string_equal(build_log(program, world->device), "");
    assert_int_equal(clBuildProgram(program, 0, NULL, "-Werror", NULL, NULL),
                     CL_BUILD_PROGRAM_FAILURE);
    assert_cl(clReleaseProgram(program));
}

static cl_int value_with(const struct world *world, const char *options)
{
    cl_program program = built(world, ANSWER, options);
    cl_int value = answer_of(world, 0, program, "answer");
    assert_cl(clReleaseProgram(program));
    return value;
}

static void knows_options(void **state)
{
    const struct world *world = *state;
    assert_int_equal(value_with(world, "-DVALUE=3"), 3);
    assert_int_equal(value_with(world, "  -D  VALUE=4\t-w "), 4);
    assert_int_equal(value_with(world, "-D VALUE"), 1);
    assert_int_equal(value_with(world, "-D \"VALUE=2 + 3\""), 5);
    assert_int_equal(value_with(world, "\"-D VALUE=9\" -DW\\ x=1"), 9);
    assert_int_equal(value_with(world, "'-DVALUE=\"abc\"[1]'"), 'b');
    assert_int_equal(value_with(world, "-DVALUE=\\\"xyz\\\"[0]"), 'x');
    assert_int_equal(value_with(world, "-DVALUE=__OPENCL_C_VERSION__ -cl-std=CL1.1"), 110);
    assert_int_equal(value_with(world, "-DVALUE=__OPENCL_VERSION__"), 120);
    assert_int_equal(value_with(world, "-cl-fast-relaxed-math -DVALUE=__FAST_RELAXED_MATH__"), 1);
    assert_int_equal(
        value_with(world, "-cl-single-precision-constant -cl-denorms-are-zero -cl-opt-disable "
                          "-cl-fp32-correctly-rounded-divide-sqrt -cl-strict-aliasing "
                          "-cl-mad-enable -cl-no-signed-zeros -cl-unsafe-math-optimizations "
                          "-cl-finite-math-only -Werror -cl-std=CL1.2 -cl-kernel-arg-info -g "
                          "-DVALUE=11"),
        11);
    static const char *const WRONG[] = {"-foo",
                                        "-D",
                                        "-I",
                                        "-cl-std=CL2.0",
                                        "-cl-std=",
                                        "-o /tmp/x",
                                        "x.c",
                                        "-Xclang",
                                        "-create-library",
                                        "-DVALUE=1 -O3",
                                        "-include /etc/x",
                                        "-DVALUE=1 -",
                                        "-cl-fast",
                                        "@file",
                                        "-enable-link-options"};
    cl_program program = from_source(world, ANSWER);
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++)
        assert_int_equal(clBuildProgram(program, 0, NULL, WRONG[i], NULL, NULL),
                         CL_INVALID_BUILD_OPTIONS);
    assert_int_equal(build_status(program, world->device), CL_BUILD_NONE);
    assert_cl(clReleaseProgram(program));
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* -I and #include mean the program's working directory; a folder's name may have a space. */
static void includes_files(void **state)
{
    const struct world *world = *state;
    char folder[] = "/tmp/heddle-test-XXXXXX", before[4096];
    assert_non_null(mkdtemp(folder));
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir("a b", 0700), 0);
    write_text("here.h", "#define HERE 20\n");
    write_text("a b/there.h", "#define THERE 3\n");
    const char *source = "#include \"here.h\"\n#include <there.h>\n"
                         "kernel void k(global int *out) { out[0] = HERE + THERE; }";
    cl_program program = built(world, source, "-I \"a b\"");
    assert_int_equal(answer_of(world, 0, program, "k"), 23);
    write_text("a b/there.h", "#define THERE 4\n"); /* the kept build no longer counts */
    assert_cl(clBuildProgram(program, 0, NULL, "-I 'a b'", NULL, NULL));
    assert_int_equal(answer_of(world, 0, program, "k"), 24);
    assert_int_equal(clBuildProgram(program, 0, NULL, "-Inowhere", NULL, NULL),
                     CL_BUILD_PROGRAM_FAILURE);
    assert_non_null(strstr(build_log(program, world->device), "'there.h' file not found"));
    assert_cl(clReleaseProgram(program));
    unlink("a b/there.h");
    unlink("here.h");
    rmdir("a b");
    assert_int_equal(chdir(before), 0);
    rmdir(folder);
}

/* A program with kernels cannot be built again; then it can. */
static void waits_for_kernels(void **state)
{
    const struct world *world = *state;
    cl_int status;
    cl_program program = built(world, ANSWER, "-DVALUE=1");
    cl_kernel kernel = clCreateKernel(program, "answer", &status);
    assert_cl(status);
    assert_int_equal(clBuildProgram(program, 0, NULL, "-DVALUE=2", NULL, NULL),
                     CL_INVALID_OPERATION);
    assert_cl(clReleaseKernel(kernel));
    assert_cl(clBuildProgram(program, 0, NULL, "-DVALUE=2", NULL, NULL));
    assert_int_equal(answer_of(world, 0, program, "answer"), 2);
    assert_cl(clReleaseProgram(program));
}

struct heard {
    cl_program program;
    cl_build_status status;
    cl_device_id device;
    int times;
};

static void CL_CALLBACK hear(cl_program program, void *user)
{
    struct heard *heard = user;
    heard->program = program;
    heard->times++;
    heard->status = build_status(program, heard->device); /* calls are allowed here */
}

static void calls_back(void **state)
{
    const struct world *world = *state;
    struct heard heard = {.device = world->device};
    cl_program program = from_source(world, ANSWER);
    assert_cl(clBuildProgram(program, 0, NULL, "-DVALUE=1", hear, &heard));
    assert_ptr_equal(heard.program, program);
    assert_int_equal(heard.status, CL_BUILD_SUCCESS);
    /* A failure is reported by the callback only: the call itself succeeds. */
    assert_cl(clBuildProgram(program, 0, NULL, "-DVALUE=)", hear, &heard));
    assert_int_equal(heard.status, CL_BUILD_ERROR);
    assert_int_equal(heard.times, 2);
    assert_cl(clReleaseProgram(program));
}

/* One device of several: the others are left alone. */
static void builds_for_one(void **state)
{
    const struct world *world = *state;
    cl_program program = from_source(world, ANSWER);
    assert_cl(clBuildProgram(program, 1, &world->devices[world->device_count - 1], "-DVALUE=6",
                             NULL, NULL));
    assert_int_equal(answer_of(world, world->device_count - 1, program, "answer"), 6);
    if (world->device_count > 1)
        assert_int_equal(build_status(program, world->device), CL_BUILD_NONE);
    assert_cl(clReleaseProgram(program));
}

/* NVIDIA's options are not errors; ignored ones are noted, also with code from the cache. */
static void ignores_nv_options(void **state)
{
    const struct world *world = *state;
    static const char OPTIONS[] = "-cl-nv-verbose -cl-nv-maxrregcount=32 -DVALUE=8 "
                                  "-cl-nv-opt-level 2 -cl-nv-verbose";
    static const char NOTES[] =
        "note: -cl-nv-verbose is ignored: it is an option of NVIDIA's compiler\n"
        "note: -cl-nv-maxrregcount=32 is ignored: it is an option of NVIDIA's compiler\n"
        "note: -cl-nv-opt-level is ignored: it is an option of NVIDIA's compiler\n"
        "note: -cl-nv-verbose is ignored: it is an option of NVIDIA's compiler\n";
    for (int i = 0; i < 2; i++) {
        cl_program program = built(world, ANSWER, OPTIONS);
        assert_int_equal(answer_of(world, 0, program, "answer"), 8);
        assert_string_equal(build_log(program, world->device), NOTES);
        assert_cl(clBuildProgram(program, 0, NULL, "-DVALUE=8", NULL, NULL));
        assert_string_equal(build_log(program, world->device), "");
        assert_cl(clReleaseProgram(program));
    }
}

/* Functions that no kernel reaches are ignored, except kernels, whatever calls them. */
static void drops_what_is_unused(void **state)
{
    const struct world *world = *state;
    static const char SOURCE[] =
        "int nowhere(int);\n"
        "float4 pixel(read_only image2d_t image, int2 at)\n"
        "{ return read_imagef(image, CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST, at); }\n"
        "float brightest(read_only image2d_t image) { return pixel(image, (int2)(0, 0)).x; }\n"
        "void other_machine(global int *out) { asm volatile(\"no such\" ::: \"memory\"); }\n"
        "int lost(int x) { return nowhere(x) + 1; }\n"
        "__attribute__((noinline)) int kept(int x) { return x * 7; }\n"
        "kernel void k(global int *out) { out[0] = kept(6); }\n";
    cl_program program = built(world, SOURCE, "");
    for (cl_uint i = 0; i < world->device_count; i++)
        assert_int_equal(answer_of(world, i, program, "k"), 42);
    assert_cl(clReleaseProgram(program));
    program = from_source(world, "kernel void k(global int *o) { asm volatile(\"no such\"); }");
    clBuildProgram(program, 0, NULL, "", NULL, NULL); /* PTX is checked later */
    cl_int status;
    assert_null(clCreateKernel(program, "k", &status));
    assert_cl(clReleaseProgram(program));
}

static void takes_assembly(void **state)
{
    const struct world *world = *state;
    static const char *const SOURCES[] = {
        /* PTX */
        "static inline uint lane(void)\n"
        "{ uint x; asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(x)); return x; }\n"
        "kernel void k(global int *out)\n"
        "{\n"
        "    uint r;\n"
        "    __asm__ __volatile__(\"{\\n\\t.reg .u32 t;\\n\\tbfe.u32 t, %1, 1, 3;\\n\\t\"\n"
        "                         \"add.u32 %0, t, %2;\\n\\t}\"\n"
        "                         : \"=r\"(r) : \"r\"(lane() + 14), \"n\"(5) : \"memory\");\n"
        "    asm volatile(\"membar.gl;\" ::: \"memory\");\n"
        "    out[0] = r;\n"
        "}\n",
        /* Southern Islands */
        "kernel void k(global int *out)\n"
        "{\n"
        "    uint r;\n"
        "    asm volatile(\"v_mbcnt_lo_u32_b32_e64 %0, -1, 12\" : \"=v\"(r));\n"
        "    out[0] = r;\n"
        "}\n"};
    for (cl_uint i = 0; i < world->device_count; i++) {
        char name[64];
        assert_cl(clGetDeviceInfo(world->devices[i], CL_DEVICE_NAME, sizeof name, name, NULL));
        cl_program program = from_source(world, SOURCES[strstr(name, "64") != NULL]);
        assert_cl(clBuildProgram(program, 1, &world->devices[i], "", NULL, NULL));
        assert_int_equal(answer_of(world, i, program, "k"), 12);
        assert_cl(clReleaseProgram(program));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses),
        cmocka_unit_test(joins_strings),
        cmocka_unit_test(builds),
        cmocka_unit_test(tells_errors),
        cmocka_unit_test(tells_warnings),
        cmocka_unit_test(knows_options),
        cmocka_unit_test(includes_files),
        cmocka_unit_test(waits_for_kernels),
        cmocka_unit_test(calls_back),
        cmocka_unit_test(builds_for_one),
        cmocka_unit_test(ignores_nv_options),
        cmocka_unit_test(drops_what_is_unused),
        cmocka_unit_test(takes_assembly),
    };
    return cmocka_run_group_tests(tests, world_open, world_close);
}
