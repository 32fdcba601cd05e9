/*
 * A small OpenCL program for fault campaigns. It has open files, a shared mapping and a position in a
 * file when its kernel runs, and looks at them afterwards: a process with a fault that changed them for
 * another one would be noticed. What it does with the result is its first word:
 *
 *   check    ends with exit code 1 if a word is wrong
 *   write    writes the words to the file result and their sum to standard output
 *   crash    SIGSEGV if a word is wrong; spin: computes for ever then
 *   threads  as check, with a second thread
 *   outside  as check, and first creates the file that the second word names
 *   twice    as check, with a second launch that adds to the words of the first
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char source[] = "__kernel void work(__global uint *out, uint rounds) {\n"
                             "    uint value = 3 * (uint)get_global_id(0) + 1;\n"
                             "    for (uint i = 0; i < rounds; i++) value = value * 5 + 1;\n"
                             "    out[get_global_id(0)] += value;\n"
                             "}\n";

enum {
    WORDS = 32,
    ROUNDS = 40
};

static void need(cl_int status, const char *what)
{
    if (status == CL_SUCCESS)
        return;
    fprintf(stderr, "guest: %s: error %d\n", what, status);
    exit(9);
}

static void *sleep_on(void *unused)
{
    for (;;)
        pause();
    return unused;
}

/* The words of the result after some launches; the number that is wrong. */
static int run(unsigned *words, int launches)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int status;
    const char *text = source;
    unsigned rounds = ROUNDS;
    size_t global = WORDS;
    int wrong = 0;
    need(clGetPlatformIDs(1, &platform, NULL), "platform");
    need(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    need(status, "context");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
    need(status, "queue");
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
    need(status, "program");
    need(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
    cl_kernel kernel = clCreateKernel(program, "work", &status);
    need(status, "kernel");
    cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, WORDS * 4, words,
                                &status);
    need(status, "buffer");
    need(clSetKernelArg(kernel, 0, sizeof out, &out), "argument");
    need(clSetKernelArg(kernel, 1, sizeof rounds, &rounds), "argument");
    for (int i = 0; i < launches; i++)
        need(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &global, 0, NULL, NULL),
             "launch");
    need(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, WORDS * 4, words, 0, NULL, NULL), "read");
    for (unsigned i = 0; i < WORDS; i++) {
        unsigned value = 3 * i + 1;
        for (unsigned r = 0; r < ROUNDS; r++)
            value = value * 5 + 1;
        wrong += words[i] != value * (unsigned)launches;
    }
    return wrong;
}

/* What this process alone has done to its files and memory. */
static void look_at_files(int log, FILE *in, const int *shared)
{
    char line[32] = "", text[64] = "";
    if (write(log, "after\n", 6) != 6 || !fgets(line, sizeof line, in) ||
        strcmp(line, "two\n") != 0)
        exit(5);
    const int again = open("log", O_RDONLY);
    if (read(again, text, sizeof text - 1) < 0 || strcmp(text, "before\nafter\n") != 0)
        exit(6);
    if (*shared != 2)
        exit(7);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "check";
    const pid_t began = getpid();
    unsigned words[WORDS] = {0};
    char line[32];
    pthread_t thread;
    int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    FILE *in = fopen("guest.txt", "r");
    const int log = open("log", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (!in || log < 0 || write(log, "before\n", 7) != 7)
        return 4;
    setvbuf(in, NULL, _IONBF, 0); /* so that the position is the kernel's */
    if (!fgets(line, sizeof line, in))
        return 4;
    if (!strcmp(what, "outside") && open(argv[2], O_WRONLY | O_CREAT, 0600) < 0) {
        perror("guest");
        return 8;
    }
    if (!strcmp(what, "threads"))
        pthread_create(&thread, NULL, sleep_on, NULL);
    *shared = 1;
    const int wrong = run(words, strcmp(what, "twice") ? 1 : 2);
    ++*shared;
    look_at_files(log, in, shared);
    if (!strcmp(what, "crash") && wrong)
        raise(SIGSEGV);
    for (volatile bool on = wrong && !strcmp(what, "spin"); on;)
        continue;
    if (!strcmp(what, "liar") && getpid() != began)
        return 1;
    if (strcmp(what, "write") != 0)
        return wrong ? 1 : 0;
    const int result = open("result", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    double sum = 0;
    for (int i = 0; i < WORDS; i++)
        sum += words[i];
    printf("sum %.0f\n", sum);
    return write(result, words, sizeof words) == sizeof words ? 0 : 4;
}
