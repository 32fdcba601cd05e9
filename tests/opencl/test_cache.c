/*
 * The compile cache: programs of several processes, a process that is killed while it compiles, a
 * limit, a folder that is not there. Each case has a cache of its own and runs this program anew
 * (`test-opencl-cache build VALUE`) with a compiler that counts its runs.
 */
#include "programs.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char root[64]; /* of this test: cache/, runs, clang */
static char self[4096];

/* ---- the process that builds ---- */

static int build_once(const char *value)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int status, data = -1;
    char options[64];
    const char *source = "kernel void k(global int *out) { out[0] = VALUE; }";
    snprintf(options, sizeof options, "-DVALUE=%s", value);
    if (clGetPlatformIDs(1, &platform, NULL) ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        return 10;
    /* The process ends with them: static, so that leak checkers see that they are held. */
    static cl_context context;
    static cl_command_queue queue;
    static cl_program program;
    static cl_kernel kernel;
    static cl_mem buffer;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    queue = clCreateCommandQueue(context, device, 0, &status);
    program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
    if (clBuildProgram(program, 0, NULL, options, NULL, NULL))
        return 11;
    kernel = clCreateKernel(program, "k", &status);
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof data, NULL, &status);
    const size_t one = 1;
    if (clSetKernelArg(kernel, 0, sizeof buffer, &buffer) ||
        clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL) ||
        clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof data, &data, 0, NULL, NULL))
        return 12;
    return data == atoi(value) ? 0 : 13;
}

/* ---- starting it ---- */

static pid_t start(const char *value)
{
    pid_t child = fork();
    if (child)
        return child;
    execl(self, self, "build", value, (char *)NULL);
    _exit(99);
}

static int end(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static const char *in_root(const char *name)
{
    static char path[4][128];
    static int next;
    char *result = path[next++ % 4];
    snprintf(result, sizeof path[0], "%s/%s", root, name);
    return result;
}

/* Runs of the compiler so far: it writes a byte each time. */
static long runs(void)
{
    struct stat info;
    return stat(in_root("runs"), &info) ? 0 : (long)info.st_size;
}

static long entries(const char *end_of_name, long *bytes)
{
    long count = 0;
    DIR *dir = opendir(in_root("cache"));
    struct dirent *entry;
    *bytes = 0;
    while (dir && (entry = readdir(dir))) {
        struct stat info;
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || !dot[1] || strcmp(dot, end_of_name))
            continue;
        count++;
        if (!fstatat(dirfd(dir), entry->d_name, &info, 0))
            *bytes += info.st_size;
    }
    if (dir)
        closedir(dir);
    return count;
}

static void write_script(const char *before)
{
    FILE *file = fopen(in_root("clang"), "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\nprintf x >>%s/runs\n%-7s\nexec clang-14 \"$@\"\n", root, before);
    assert_int_equal(fclose(file), 0);
    /* The same size and date: for the cache it is the same compiler. */
    const struct timespec times[2] = {{1000, 0}, {1000, 0}};
    assert_int_equal(chmod(in_root("clang"), 0700), 0);
    assert_int_equal(utimensat(AT_FDCWD, in_root("clang"), times, 0), 0);
}

static int set_up(void **state)
{
    strcpy(root, "/tmp/heddle-cache-XXXXXX");
    assert_non_null(mkdtemp(root));
    setenv("HEDDLE_CACHE_DIR", in_root("cache"), 1);
    setenv("HEDDLE_CLANG", in_root("clang"), 1);
    setenv("TMPDIR", root, 1);
    unsetenv("HEDDLE_CACHE_MB");
    write_script("");
    return 0;
}

static int tear_down(void **state)
{
    char command[256];
    unsetenv("TMPDIR");
    snprintf(command, sizeof command, "chmod -R u+w %s; rm -rf %s", root, root);
    return system(command);
}

/* ---- cases ---- */

static void keeps(void **state)
{
    long bytes;
    assert_int_equal(end(start("5")), 0);
    long first = runs();
    assert_true(first > 0);
    assert_int_equal(entries(".clc", &bytes), 1);
    assert_int_equal(end(start("5")), 0);
    assert_int_equal(runs(), first); /* the compiler did not run */
    assert_int_equal(end(start("6")), 0);
    assert_int_equal(runs(), 2 * first);
    assert_int_equal(entries(".clc", &bytes), 2);
}

/* Whatever a file of the cache holds, the program is built. */
static void survives_damage(void **state)
{
    long bytes, first;
    assert_int_equal(end(start("5")), 0);
    first = runs();
    for (int i = 0; i < 6; i++) {
        DIR *dir = opendir(in_root("cache"));
        struct dirent *entry;
        while ((entry = readdir(dir))) {
            if (!strstr(entry->d_name, ".clc"))
                continue;
            int file = openat(dirfd(dir), entry->d_name, O_RDWR);
            off_t length = lseek(file, 0, SEEK_END);
            if (i == 0)
                assert_int_equal(ftruncate(file, 0), 0);
            else if (i == 1)
                assert_int_equal(ftruncate(file, length / 2), 0);
            else
                assert_int_equal(pwrite(file, "\xff\xff\xff", 3, length * (i - 2) / 4), 3);
            close(file);
        }
        closedir(dir);
        assert_int_equal(end(start("5")), 0);
        assert_int_equal(runs(), (i + 2) * first);
        assert_int_equal(entries(".clc", &bytes), 1);
    }
}

/* Many processes at once, each program several times: all succeed, and nothing is left
 * incomplete. */
static void serves_many(void **state)
{
    enum {
        PROCESSES = 8
    };
    pid_t children[PROCESSES];
    long bytes;
    for (int i = 0; i < PROCESSES; i++) {
        char value[16];
        snprintf(value, sizeof value, "%d", 100 + i % 3);
        children[i] = start(value);
    }
    for (int i = 0; i < PROCESSES; i++)
        assert_int_equal(end(children[i]), 0);
    assert_int_equal(entries(".clc", &bytes), 3);
    assert_int_equal(entries(".tmp", &bytes), 0);
    long before = runs();
    assert_int_equal(end(start("101")), 0);
    assert_int_equal(runs(), before);
}

/* Killed while the compiler runs: the next one builds, and its result is kept. */
static void survives_kill(void **state)
{
    long bytes;
    write_script("sleep 1");
    pid_t child = start("7");
    const struct timespec pause = {0, 5000000};
    for (int i = 0; i < 2000 && !runs(); i++)
        nanosleep(&pause, NULL);
    assert_int_equal(runs(), 1);
    kill(child, SIGKILL);
    assert_int_equal(end(child), -SIGKILL);
    assert_int_equal(entries(".clc", &bytes), 0);
    write_script("");
    assert_int_equal(end(start("7")), 0);
    assert_int_equal(entries(".clc", &bytes), 1);
    long before = runs();
    assert_int_equal(end(start("7")), 0);
    assert_int_equal(runs(), before);
}

/* What was used longest ago goes first. */
static void has_a_limit(void **state)
{
    char value[16], folder[128];
    long bytes;
    setenv("HEDDLE_CACHE_MB", "1", 1);
    assert_int_equal(end(start("1")), 0);
    assert_int_equal(end(start("2")), 0);
    /* Half a megabyte that was used long ago, and so much of today's that it must go. */
    static const char zeros[600000];
    snprintf(folder, sizeof folder, "%s/cache", root);
    for (int i = 0; i < 2; i++) {
        snprintf(value, sizeof value, "%s%d.clc", "x", i);
        int dir = open(folder, O_RDONLY), file = openat(dir, value, O_WRONLY | O_CREAT, 0600);
        assert_int_equal(write(file, zeros, sizeof zeros), sizeof zeros);
        close(file);
        const struct timespec old[2] = {{1000 + i, 0}, {1000 + i, 0}};
        assert_int_equal(utimensat(dir, value, old, 0), 0);
        close(dir);
    }
    assert_int_equal(end(start("3")), 0);
    assert_int_equal(entries(".clc", &bytes), 4); /* x0 went, x1 fits */
    assert_true(bytes <= 1 << 20);
    long before = runs();
    assert_int_equal(end(start("1")), 0);
    assert_int_equal(runs(), before);
    setenv("HEDDLE_CACHE_MB", "0", 1); /* none at all */
    assert_int_equal(end(start("1")), 0);
    assert_true(runs() > before);
}

/* No folder, no cache; the program does not notice. */
static void does_without(void **state)
{
    setenv("HEDDLE_CACHE_DIR", "/proc/nowhere", 1);
    assert_int_equal(end(start("5")), 0);
    long first = runs();
    assert_int_equal(end(start("5")), 0);
    assert_int_equal(runs(), 2 * first);
}

/* The driver leaves nothing in the folder for temporary files. */
static void cleans_up(void **state)
{
    assert_int_equal(end(start("5")), 0);
    DIR *dir = opendir(root);
    struct dirent *entry;
    while ((entry = readdir(dir)))
        assert_false(!strncmp(entry->d_name, "heddle-", 7));
    closedir(dir);
}

/* A missing compiler is reported in the log, not by a crash. */
static void misses_the_compiler(void **state)
{
    setenv("HEDDLE_CLANG", "/nowhere/clang", 1);
    assert_int_equal(end(start("5")), 11);
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "build"))
        return build_once(argv[2]);
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return 1;
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        CASE(keeps),       CASE(survives_damage), CASE(serves_many), CASE(survives_kill),
        CASE(has_a_limit), CASE(does_without),    CASE(cleans_up),   CASE(misses_the_compiler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
