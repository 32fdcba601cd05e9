/*
 * Which compiler is chosen, and that what it makes fits its hidden arguments. Each case runs this
 * program anew (`test-opencl-toolchain build MACHINE`) with a PATH of its own, where compilers say
 * that they were called and then are the real ones. What is not installed is skipped.
 */
#include "cl.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROCM "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"

static char root[64]; /* of a case: bin/, runs, caches */
static char self[4096];
static const char *extra_source = ""; /* more kernels of the program that is built */

/* ---- the process that builds ---- */

/* Numbers, an offset and the number of dimensions come by hidden arguments; a null pointer to
 * local memory is not 0. */
static const char SOURCE[] =
    "kernel void k(global ulong *out, local int *place) {\n"
    "    local int *chosen = out[get_global_size(0)] ? place : 0;\n"
    "    size_t i = get_global_id(0) - get_global_offset(0);\n"
    "    out[i] = get_global_id(0) * 100 + get_work_dim() * 10 + (chosen == 0);\n"
    "}\n";

static int build_once(const char *more)
{
    enum {
        ITEMS = 192,
        OFFSET = 1000
    };
    static cl_context context; /* static: leak checkers see that they are held */
    static cl_command_queue queue;
    static cl_program program;
    static cl_kernel kernel;
    static cl_mem buffer;
    cl_platform_id platform;
    cl_device_id device;
    cl_int status;
    cl_ulong data[ITEMS + 1] = {0};
    const char *sources[] = {SOURCE, more};
    const size_t items = ITEMS, offset = OFFSET, block = 64;
    if (clGetPlatformIDs(1, &platform, NULL) ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        return 10;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    queue = clCreateCommandQueue(context, device, 0, &status);
    program = clCreateProgramWithSource(context, 2, sources, NULL, &status);
    if (clBuildProgram(program, 0, NULL, "", NULL, NULL))
        return 11;
    kernel = clCreateKernel(program, "k", &status);
    buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof data, data, &status);
    if (clSetKernelArg(kernel, 0, sizeof buffer, &buffer) || clSetKernelArg(kernel, 1, 64, NULL) ||
        clEnqueueNDRangeKernel(queue, kernel, 1, &offset, &items, &block, 0, NULL, NULL) ||
        clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL))
        return 12;
    for (cl_ulong i = 0; i < ITEMS; i++)
        if (data[i] != (OFFSET + i) * 100 + 11)
            return 13;
    return 0;
}

/* ---- cases ---- */

static const char *in_root(const char *name)
{
    static char path[4][128];
    static int next;
    char *result = path[next++ % 4];
    snprintf(result, sizeof path[0], "%s/%s", root, name);
    return result;
}

/* A program `name` that writes `said` and, of the library that it is given, a letter: R for AMD's,
 * L for libclc's, P for PTX's. Then it is `really`. */
static void write_tool(const char *name, char said, const char *really)
{
    char path[128];
    snprintf(path, sizeof path, "%s/bin/%s", root, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "#!/bin/sh\n{\nprintf %c\ncase \"$*\" in\n*/ocml.bc*) printf R;;\n"
            "*/amdgcn--amdhsa.bc*) printf L;;\n*/nvptx64--nvidiacl.bc*) printf P;;\nesac\n"
            "} >>%s/runs\nexec %s \"$@\"\n",
            said, root, really);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
}

static int set_up(void **state)
{
    strcpy(root, "/tmp/heddle-tools-XXXXXX");
    assert_non_null(mkdtemp(root));
    assert_int_equal(mkdir(in_root("bin"), 0700), 0);
    setenv("HEDDLE_FUNCTIONAL", "1", 1);
    unsetenv("HEDDLE_CLANG");
    unsetenv("HEDDLE_ROCM");
    setenv("PATH", in_root("bin"), 1);
    write_tool("clang-14", 'a', "/usr/bin/clang-14");
    return 0;
}

static int tear_down(void **state)
{
    char command[128];
    setenv("PATH", "/usr/bin:/bin", 1);
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

/* The status of a process that builds and runs on the machine. */
static int try_build(const char *machine)
{
    static int builds;
    char cache[32];
    int status;
    unlink(in_root("runs"));
    snprintf(cache, sizeof cache, "cache%d", builds++);
    setenv("HEDDLE_CACHE_DIR", in_root(cache), 1);
    setenv("HEDDLE_MACHINE", machine, 1);
    pid_t child = fork();
    if (!child) {
        execl(self, self, "build", extra_source, (char *)NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* `said`: what was called, to LLVM's text and then to code. */
static void builds_with(const char *machine, const char *said)
{
    char runs[16] = "";
    assert_int_equal(try_build(machine), 0);
    FILE *file = fopen(in_root("runs"), "r");
    assert_non_null(file);
    assert_true(fread(runs, 1, sizeof runs - 1, file) > 0);
    fclose(file);
    assert_string_equal(runs, said);
}

static void need_the_later(void)
{
    if (access("/usr/bin/clang-19", X_OK) || access("/usr/bin/ld.lld-19", X_OK))
        skip();
    write_tool("clang-19", 'b', "/usr/bin/clang-19");
    write_tool("ld.lld-19", 'l', "/usr/bin/ld.lld-19");
}

static void need_rocm(void)
{
    need_the_later();
    if (access(ROCM "/opencl.bc", R_OK))
        skip();
}

static void alone(void **state)
{
    builds_with("generic64", "aLa");
    builds_with("generic", "aPa");
}

static void takes_the_later(void **state)
{
    need_the_later();
    write_tool("clang-20", 'c', "/usr/bin/false");
    write_tool("clang", 'c', "/usr/bin/false");
    builds_with("generic", "bPb");
    setenv("HEDDLE_ROCM", in_root("nowhere"), 1);
    builds_with("generic64", "bLb");
    unlink(in_root("bin/ld.lld-19")); /* a code object is linked */
    builds_with("generic64", "aLa");
    builds_with("generic", "bPb");
}

static void prefers_16(void **state)
{
    need_the_later();
    write_tool("clang-15", 'd', "/usr/bin/clang-19");
    builds_with("generic", "dPd");
    write_tool("clang-16", 'c', "/usr/bin/clang-19");
    builds_with("generic", "cPc");
    setenv("HEDDLE_ROCM", in_root("nowhere"), 1);
    builds_with("generic64", "bLb"); /* there is no linker for the others */
}

static void takes_device_libraries(void **state)
{
    need_rocm();
    builds_with("generic64", "bRb");
}

/* What clang-19 makes of char2 arguments for PTX is wrong. */
static void refuses_pairs_of_bytes(void **state)
{
    need_the_later();
    setenv("HEDDLE_ROCM", in_root("nowhere"), 1);
    extra_source = "kernel void pair(global int *out, char2 a) { out[0] = a.x * 2 + a.y; }\n";
    builds_with("generic64", "bLb");
    assert_int_equal(try_build("generic"), 11 << 8); /* does not build */
    setenv("HEDDLE_CLANG", "clang-14", 1);
    builds_with("generic", "aPa");
    extra_source = "";
}

static void refuses_older_ones(void **state)
{
    write_tool("clang-13", 'o', "/usr/bin/clang-14");
    setenv("HEDDLE_CLANG", "clang-13", 1);
    assert_int_equal(try_build("generic"), 11 << 8); /* does not build */
    assert_int_not_equal(access(in_root("runs"), F_OK), 0);
}

static void asks_for_it(void **state)
{
    need_rocm();
    setenv("HEDDLE_CLANG", "clang-14", 1);
    builds_with("generic64", "aLa");
    builds_with("generic", "aPa");
    setenv("HEDDLE_CLANG", in_root("bin/clang-19"), 1);
    builds_with("generic64", "bRb");
    /* Not known to be a later one: with libclc, which any compiler reads. */
    write_tool("clang", 'c', "/usr/bin/clang-19");
    setenv("HEDDLE_CLANG", in_root("bin/clang"), 1);
    builds_with("generic64", "cLc");
}

/* Its folder shows its version. */
static void knows_folders(void **state)
{
    need_rocm();
    assert_int_equal(mkdir(in_root("llvm-19"), 0700), 0);
    assert_int_equal(mkdir(in_root("llvm-19/bin"), 0700), 0);
    assert_int_equal(rename(in_root("bin/clang-19"), in_root("llvm-19/bin/clang")), 0);
    assert_int_equal(symlink(in_root("llvm-19/bin/clang"), in_root("bin/newest")), 0);
    setenv("HEDDLE_CLANG", "newest", 1);
    builds_with("generic64", "bRb");
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "build"))
        return build_once(argv[2]);
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return 1;
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        CASE(alone),
        CASE(takes_the_later),
        CASE(prefers_16),
        CASE(takes_device_libraries),
        CASE(refuses_older_ones),
        CASE(refuses_pairs_of_bytes),
        CASE(asks_for_it),
        CASE(knows_folders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
