/*
 * The host's side of `make bench`: inputs, the same kernels as plain single-threaded loops, a check
 * of the simulated results, and the cost of a command.
 *
 *   native inputs FILE COUNT SECOND  COUNT numbers; SECOND 0 gives a, 1 gives b
 *   native time KERNEL N [LIMIT]     seconds of the plain loop, best of three
 *   native check KERNEL N LIMIT FILE exits 0 when the file holds the kernel's result
 *   native graph ROW COLUMN DEPTH N  a graph of N nodes, few with many edges, half of them at depth
 * 3 native chain FILE COUNT STRIDE   word i holds the offset of word i + STRIDE, around native
 * measure COMMAND...        runs it; prints seconds and peak kilobytes on stderr
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static float next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / 16777216.0f;
}

/* a[i] and b[i] are drawn in turn. */
static void draw(float *a, float *b, size_t n)
{
    uint32_t state = 12345;
    for (size_t i = 0; i < n; i++) {
        a[i] = next_random(&state);
        b[i] = next_random(&state);
    }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void vecadd(const float *a, const float *b, float *c, int n)
{
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

__attribute__((noinline)) static void matmul(const float *a, const float *b, float *c, int n)
{
    for (int row = 0; row < n; row++)
        for (int col = 0; col < n; col++) {
            float acc = 0.0f;
            for (int k = 0; k < n; k++)
                acc += a[row * n + k] * b[k * n + col];
            c[row * n + col] = acc;
        }
}

__attribute__((noinline)) static void mandel(int *out, int n, float x0, float y0, float d,
                                             int maxit)
{
    for (int py = 0; py < n; py++)
        for (int px = 0; px < n; px++) {
            float cr = x0 + (float)px * d, ci = y0 + (float)py * d, zr = 0.0f, zi = 0.0f;
            int it = 0;
            while (it < maxit) {
                float r2 = zr * zr, i2 = zi * zi;
                if (r2 + i2 > 4.0f)
                    break;
                zi = 2.0f * zr * zi + ci;
                zr = r2 - i2 + cr;
                it++;
            }
            out[py * n + px] = it;
        }
}

/* Runs a kernel on fresh inputs; the result has n (vecadd) or n * n words. */
static void run(const char *kernel, int n, int limit, float *a, float *b, void *result)
{
    if (strcmp(kernel, "vecadd") == 0)
        vecadd(a, b, result, n);
    else if (strcmp(kernel, "matmul16") == 0)
        matmul(a, b, result, n);
    else
        mandel(result, n, -2.0f, -1.25f, 2.5f / (float)n, limit);
}

static size_t words_of(const char *kernel, int n)
{
    return strcmp(kernel, "vecadd") == 0 ? (size_t)n : (size_t)n * (size_t)n;
}

static int time_kernel(const char *kernel, int n, int limit)
{
    size_t words = words_of(kernel, n);
    float *a = malloc(words * 4), *b = malloc(words * 4);
    void *result = malloc(words * 4);
    double best = 1e9;
    draw(a, b, words);
    memset(result, 0, words * 4);
    for (int k = 0; k < 3; k++) {
        double begin = now();
        run(kernel, n, limit, a, b, result);
        double seconds = now() - begin;
        best = seconds < best ? seconds : best;
    }
    printf("%.6f\n", best);
    free(a);
    free(b);
    free(result);
    return 0;
}

/* Fused and unfused sums differ a little, and a few points on the edge of the set flip. */
static int close_enough(const char *kernel, const void *got, const void *want, size_t words)
{
    const float *gf = got, *wf = want;
    const int *gi = got, *wi = want;
    size_t different = 0;
    for (size_t i = 0; i < words; i++) {
        if (strcmp(kernel, "mandel") == 0)
            different += gi[i] != wi[i];
        else if (fabsf(gf[i] - wf[i]) > 1e-5f * fabsf(wf[i]))
            return 0;
    }
    return different <= words / 100;
}

static int check(const char *kernel, int n, int limit, const char *path)
{
    size_t words = words_of(kernel, n);
    float *a = malloc(words * 4), *b = malloc(words * 4);
    void *want = calloc(words, 4), *got = calloc(words, 4);
    FILE *file = fopen(path, "rb");
    draw(a, b, words);
    run(kernel, n, limit, a, b, want);
    int good =
        file && fread(got, 4, words, file) == words && close_enough(kernel, got, want, words);
    if (file)
        fclose(file);
    free(a);
    free(b);
    free(want);
    free(got);
    return !good;
}

static int inputs(const char *path, size_t n, int second)
{
    float *a = malloc(n * 4), *b = malloc(n * 4);
    FILE *file = fopen(path, "wb");
    draw(a, b, n);
    int good = file && fwrite(second ? b : a, 4, n, file) == n;
    good = file && fclose(file) == 0 && good;
    free(a);
    free(b);
    return !good;
}

static int measure(char **command)
{
    double begin = now();
    pid_t child = fork();
    if (child == 0) {
        execvp(command[0], command);
        _exit(127);
    }
    int status = 1;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) < 0)
        return 1;
    fprintf(stderr, "%.6f %ld\n", now() - begin, usage.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void write_words(const char *path, const uint32_t *words, size_t count)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(words, sizeof *words, count, file) != count || fclose(file)) {
        perror(path);
        exit(1);
    }
}

/* Edges of a node: 2 / u^(3/4), up to 64, with u drawn evenly. */
static int graph(char **files, uint32_t nodes)
{
    uint32_t state = 12345, edges = 0;
    uint32_t *row = calloc(nodes + 1, sizeof *row), *depth = calloc(nodes, sizeof *depth);
    uint32_t *column = calloc(nodes, 64 * sizeof *column);
    for (uint32_t v = 0; v < nodes; v++) {
        float many = 2.0f / powf(next_random(&state) + 1e-6f, 0.75f);
        for (uint32_t e = 0; e < (many > 64.0f ? 64u : (uint32_t)many); e++)
            column[edges++] = (uint32_t)(next_random(&state) * (float)nodes);
        row[v + 1] = edges;
        depth[v] = next_random(&state) < 0.5f ? 3 : next_random(&state) < 0.6f ? UINT32_MAX : 1;
    }
    write_words(files[0], row, nodes + 1);
    write_words(files[1], column, edges);
    write_words(files[2], depth, nodes);
    free(row);
    free(column);
    free(depth);
    return 0;
}

static int chain(const char *file, uint32_t count, uint32_t stride)
{
    uint32_t *words = calloc(count, sizeof *words);
    for (uint32_t i = 0; i < count; i++)
        words[i] = (i + stride) % count * 4;
    write_words(file, words, count);
    free(words);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 5 && strcmp(argv[1], "inputs") == 0)
        return inputs(argv[2], strtoul(argv[3], NULL, 10), atoi(argv[4]));
    if (argc >= 4 && strcmp(argv[1], "time") == 0)
        return time_kernel(argv[2], atoi(argv[3]), argc > 4 ? atoi(argv[4]) : 0);
    if (argc >= 6 && strcmp(argv[1], "check") == 0)
        return check(argv[2], atoi(argv[3]), atoi(argv[4]), argv[5]);
    if (argc >= 6 && strcmp(argv[1], "graph") == 0)
        return graph(argv + 2, (uint32_t)strtoul(argv[5], NULL, 0));
    if (argc >= 5 && strcmp(argv[1], "chain") == 0)
        return chain(argv[2], (uint32_t)strtoul(argv[3], NULL, 0),
                     (uint32_t)strtoul(argv[4], NULL, 0));
    if (argc >= 3 && strcmp(argv[1], "measure") == 0)
        return measure(argv + 2);
    fprintf(stderr, "usage: see the head of bench/native.c\n");
    return 2;
}
