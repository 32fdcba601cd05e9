/* Compiling with headers, linking, libraries, and binaries that go out and come back. */
#include "programs.h"

static cl_program compiled(const struct world *world, const char *source, const char *options)
{
    cl_program program = from_source(world, source);
    assert_cl(clCompileProgram(program, 0, NULL, options, 0, NULL, NULL, NULL, NULL));
    return program;
}

static cl_program linked(const struct world *world, const char *options, cl_uint count,
                         const cl_program *programs, cl_int expected)
{
    cl_int status = 1;
    cl_program program =
        clLinkProgram(world->context, 0, NULL, options, count, programs, NULL, NULL, &status);
    assert_int_equal(status, expected);
    return program;
}

#define USER "int twice(int); kernel void k(global int *out) { out[0] = twice(21); }"
#define USED "int twice(int x) { return FACTOR * x; }"

static void links(void **state)
{
    const struct world *world = *state;
    cl_program parts[] = {compiled(world, USER, ""), compiled(world, USED, "-DFACTOR=2")};
    assert_int_equal(binary_type(parts[0], world->device), CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    assert_int_equal(build_status(parts[0], world->device), CL_BUILD_SUCCESS);
    cl_int status;
    assert_null(clCreateKernel(parts[0], "k", &status));
    assert_int_equal(status, CL_INVALID_PROGRAM_EXECUTABLE);
    cl_program program = linked(world, "-cl-fast-relaxed-math", 2, parts, CL_SUCCESS);
    for (cl_uint i = 0; i < world->device_count; i++)
        assert_int_equal(answer_of(world, i, program, "k"), 42);
    assert_int_equal(binary_type(program, world->device), CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    assert_string_equal(build_text(program, world->device, CL_PROGRAM_BUILD_OPTIONS),
                        "-cl-fast-relaxed-math");
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_INVALID_OPERATION);
    assert_cl(clReleaseProgram(program));

    program = linked(world, "", 1, parts, CL_LINK_PROGRAM_FAILURE);
    assert_non_null(program);
    assert_string_equal(build_log(program, world->device),
                        "error: undefined reference to 'twice'\n");
    assert_cl(clReleaseProgram(program));
    cl_program both[] = {parts[0], parts[1], parts[1]};
    program = linked(world, "", 3, both, CL_LINK_PROGRAM_FAILURE);
    assert_non_null(strstr(build_log(program, world->device), "twice"));
    assert_cl(clReleaseProgram(program));
    assert_cl(clReleaseProgram(parts[0]));
    assert_cl(clReleaseProgram(parts[1]));
}

static void makes_libraries(void **state)
{
    const struct world *world = *state;
    cl_program used = compiled(world, USED, "-DFACTOR=3"), user = compiled(world, USER, NULL);
    cl_program more = compiled(world, "int thrice(int x) { return 3 * x; }", "");
    cl_program pair[] = {used, more};
    cl_program library = linked(world, "-create-library -enable-link-options -cl-no-signed-zeros",
                                2, pair, CL_SUCCESS);
    assert_int_equal(binary_type(library, world->device), CL_PROGRAM_BINARY_TYPE_LIBRARY);
    cl_program parts[] = {library, user};
    cl_program program = linked(world, NULL, 2, parts, CL_SUCCESS);
    assert_int_equal(answer_of(world, 0, program, "k"), 63);
    assert_cl(clReleaseProgram(program));
    /* A program that is ready is nothing to link. */
    program = built(world, "kernel void k(global int *out) { out[0] = 1; }", "");
    assert_null(linked(world, NULL, 1, &program, CL_INVALID_OPERATION));
    assert_cl(clReleaseProgram(program));
    assert_cl(clReleaseProgram(library));
    assert_cl(clReleaseProgram(used));
    assert_cl(clReleaseProgram(more));
    assert_cl(clReleaseProgram(user));
}

static void has_headers(void **state)
{
    const struct world *world = *state;
    cl_program headers[] = {from_source(world, "#include \"sub/b.h\"\n#define A (B + 1)\n"),
                            from_source(world, "#define B 10\n"),
                            from_source(world, "#error out of order\n")};
    const char *names[] = {"a.h", "sub/b.h", "bad.h"}, *out[] = {"../x.h"};
    cl_program program =
        from_source(world, "#include \"a.h\"\nkernel void k(global int *out) { out[0] = A; }");
    assert_cl(clCompileProgram(program, 0, NULL, "", 2, headers, names, NULL, NULL));
    cl_program ready = linked(world, "", 1, &program, CL_SUCCESS);
    assert_int_equal(answer_of(world, 0, ready, "k"), 11);
    assert_cl(clReleaseProgram(ready));
    /* Without the headers it does not compile, and an error in one names it. */
    assert_int_equal(clCompileProgram(program, 0, NULL, "", 0, NULL, NULL, NULL, NULL),
                     CL_COMPILE_PROGRAM_FAILURE);
    assert_int_equal(clCompileProgram(program, 0, NULL, "", 1, headers, out, NULL, NULL),
                     CL_COMPILE_PROGRAM_FAILURE);
    names[1] = "a.h";
    assert_int_equal(clCompileProgram(program, 0, NULL, "", 1, headers + 2, names, NULL, NULL),
                     CL_COMPILE_PROGRAM_FAILURE);
    assert_string_equal(plain_log(program, world->device),
                        "In file included from program.cl:1:\n"
                        "a.h:1:2: error: out of order\n"
                        "#error out of order\n ^\n"
                        "program.cl:2:43: error: use of undeclared identifier 'A'\n"
                        "kernel void k(global int *out) { out[0] = A; }\n"
                        "                                          ^\n"
                        "2 errors generated.\n");
    for (int i = 0; i < 3; i++)
        assert_cl(clReleaseProgram(headers[i]));
    assert_cl(clReleaseProgram(program));
}

static void refuses(void **state)
{
    const struct world *world = *state;
    cl_program program = from_source(world, USED), good = compiled(world, USED, "-DFACTOR=1");
    cl_program wrong = (cl_program)world->queue;
    const char *name = "a.h", *none = NULL;
    cl_device_id bad = (cl_device_id)program;
    assert_int_equal(clCompileProgram(NULL, 0, NULL, "", 0, NULL, NULL, NULL, NULL),
                     CL_INVALID_PROGRAM);
    assert_int_equal(clCompileProgram(program, 1, NULL, "", 0, NULL, NULL, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clCompileProgram(program, 0, NULL, "", 1, NULL, &name, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clCompileProgram(program, 0, NULL, "", 1, &good, NULL, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clCompileProgram(program, 0, NULL, "", 0, &good, &name, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clCompileProgram(program, 0, NULL, "", 1, &good, &none, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clCompileProgram(program, 1, &bad, "", 0, NULL, NULL, NULL, NULL),
                     CL_INVALID_DEVICE);
    assert_int_equal(
        clCompileProgram(program, 0, NULL, "-create-library", 0, NULL, NULL, NULL, NULL),
        CL_INVALID_COMPILER_OPTIONS);
    assert_null(linked(world, "-w", 1, &good, CL_INVALID_LINKER_OPTIONS));
    assert_null(linked(world, "-enable-link-options", 1, &good, CL_INVALID_LINKER_OPTIONS));
    assert_null(linked(world, "-DX", 1, &good, CL_INVALID_LINKER_OPTIONS));
    assert_null(linked(world, "", 0, NULL, CL_INVALID_VALUE));
    assert_null(linked(world, "", 1, NULL, CL_INVALID_VALUE));
    assert_null(linked(world, "", 1, &wrong, CL_INVALID_PROGRAM));
    cl_program parts[] = {good, program}; /* the second is not compiled */
    assert_null(linked(world, "", 2, parts, CL_INVALID_OPERATION));
    cl_int status;
    assert_null(clLinkProgram(NULL, 0, NULL, "", 1, &good, NULL, NULL, &status));
    assert_int_equal(status, CL_INVALID_CONTEXT);
    assert_null(clLinkProgram(world->context, 1, &bad, "", 1, &good, NULL, NULL, &status));
    assert_int_equal(status, CL_INVALID_DEVICE);
    assert_cl(clUnloadPlatformCompiler(world->platform));
    assert_cl(clReleaseProgram(program));
    assert_cl(clReleaseProgram(good));
}

/* ---- binaries ---- */

struct binaries {
    size_t sizes[DEVICES];
    unsigned char *data[DEVICES];
};

static void take_binaries(const struct world *world, cl_program program, struct binaries *binaries)
{
    size_t bytes = 0;
    memset(binaries, 0, sizeof *binaries);
    assert_cl(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof binaries->sizes,
                               binaries->sizes, &bytes));
    assert_int_equal(bytes, world->device_count * sizeof(size_t));
    for (cl_uint i = 0; i < world->device_count; i++)
        binaries->data[i] = malloc(binaries->sizes[i]);
    assert_cl(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binaries->data, binaries->data,
                               &bytes));
    assert_int_equal(bytes, world->device_count * sizeof(unsigned char *));
}

static cl_program from_binaries(const struct world *world, const struct binaries *binaries)
{
    cl_int status[DEVICES], result;
    cl_program program = clCreateProgramWithBinary(
        world->context, world->device_count, world->devices, binaries->sizes,
        (const unsigned char **)binaries->data, status, &result);
    assert_cl(result);
    for (cl_uint i = 0; i < world->device_count; i++)
        assert_cl(status[i]);
    return program;
}

static void free_binaries(struct binaries *binaries)
{
    for (int i = 0; i < DEVICES; i++)
        free(binaries->data[i]);
}

static void executables_return(void **state)
{
    const struct world *world = *state;
    struct binaries out, again;
    cl_program program =
        built(world, "kernel void k(global int *out) { out[0] = 77; }", "-cl-mad-enable");
    take_binaries(world, program, &out);
    assert_cl(clReleaseProgram(program));
    program = from_binaries(world, &out);
    assert_int_equal(binary_type(program, world->device), CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    assert_int_equal(build_status(program, world->device), CL_BUILD_NONE);
    assert_cl(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
    for (cl_uint i = 0; i < world->device_count; i++)
        assert_int_equal(answer_of(world, i, program, "k"), 77);
    take_binaries(world, program, &again);
    for (cl_uint i = 0; i < world->device_count; i++) {
        assert_int_equal(out.sizes[i], again.sizes[i]);
        assert_memory_equal(out.data[i], again.data[i], out.sizes[i]);
    }
    assert_int_equal(clCompileProgram(program, 0, NULL, "", 0, NULL, NULL, NULL, NULL),
                     CL_INVALID_OPERATION);
    free_binaries(&out);
    free_binaries(&again);
    assert_cl(clReleaseProgram(program));
}

/* An object is linked after its way through a file; alone, it can be built. */
static void objects_return(void **state)
{
    const struct world *world = *state;
    struct binaries out;
    cl_program used = compiled(world, USED, "-DFACTOR=4"), user = compiled(world, USER, "");
    take_binaries(world, used, &out);
    assert_cl(clReleaseProgram(used));
    cl_program parts[] = {user, from_binaries(world, &out)};
    assert_int_equal(binary_type(parts[1], world->device), CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    cl_program program = linked(world, "", 2, parts, CL_SUCCESS);
    assert_int_equal(answer_of(world, 0, program, "k"), 84);
    assert_cl(clReleaseProgram(program));
    free_binaries(&out);
    assert_cl(clReleaseProgram(parts[1]));
    assert_cl(clReleaseProgram(user));

    user = compiled(world, "kernel void k(global int *out) { out[0] = 9; }", "");
    take_binaries(world, user, &out);
    program = from_binaries(world, &out);
    assert_cl(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    assert_int_equal(answer_of(world, world->device_count - 1, program, "k"), 9);
    free_binaries(&out);
    assert_cl(clReleaseProgram(program));
    assert_cl(clReleaseProgram(user));
}

static void expect_bad(const struct world *world, const unsigned char *data, size_t bytes,
                       cl_int expected)
{
    cl_int status = 1, result = 1;
    assert_null(clCreateProgramWithBinary(world->context, 1, &world->device, &bytes, &data, &status,
                                          &result));
    assert_int_equal(result, expected);
    assert_int_equal(status, expected);
}

static void knows_bad_binaries(void **state)
{
    const struct world *world = *state;
    struct binaries out;
    cl_int result;
    cl_program program = built(world, "kernel void k(global int *out) { out[0] = 77; }", "");
    take_binaries(world, program, &out);
    unsigned char *data = out.data[0];
    expect_bad(world, data, 0, CL_INVALID_VALUE);
    expect_bad(world, NULL, 10, CL_INVALID_VALUE);
    for (size_t cut = 1; cut < out.sizes[0]; cut += 1 + out.sizes[0] / 50)
        expect_bad(world, data, out.sizes[0] - cut, CL_INVALID_BINARY);
    for (size_t at = 0; at < out.sizes[0]; at += 1 + out.sizes[0] / 200) {
        data[at] ^= 0x10;
        expect_bad(world, data, out.sizes[0], CL_INVALID_BINARY);
        data[at] ^= 0x10;
    }
    for (cl_uint i = 1; i < world->device_count; i++) /* another kind of machine's */
        if (out.sizes[i] != out.sizes[0])
            expect_bad(world, out.data[i], out.sizes[i], CL_INVALID_BINARY);
    assert_null(clCreateProgramWithBinary(NULL, 1, &world->device, out.sizes,
                                          (const unsigned char **)out.data, NULL, &result));
    assert_int_equal(result, CL_INVALID_CONTEXT);
    assert_null(clCreateProgramWithBinary(world->context, 0, &world->device, out.sizes,
                                          (const unsigned char **)out.data, NULL, &result));
    assert_int_equal(result, CL_INVALID_VALUE);
    free_binaries(&out);
    assert_cl(clReleaseProgram(program));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links),
        cmocka_unit_test(makes_libraries),
        cmocka_unit_test(has_headers),
        cmocka_unit_test(refuses),
        cmocka_unit_test(executables_return),
        cmocka_unit_test(objects_return),
        cmocka_unit_test(knows_bad_binaries),
    };
    return cmocka_run_group_tests(tests, world_open, world_close);
}
