/*
 * The host's side of `make demo`, knowing nothing of the simulator: makes inputs, computes what the
 * kernels should give, and compares.
 *
 *   host input floats|bytes COUNT SEED FILE
 *   host check mandelbrot WIDTH HEIGHT LIMIT FILE
 *   host check matmul N A B FILE
 *   host check histogram DATA FILE
 *   host picture WIDTH HEIGHT LIMIT FILE
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file's bytes, or an end with a message. */
static void *slurp(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        exit(1);
    }
    *bytes = (size_t)ftell(file);
    rewind(file);
    void *data = malloc(*bytes + 1);
    if (!data || fread(data, 1, *bytes, file) != *bytes) {
        perror(path);
        exit(1);
    }
    fclose(file);
    return data;
}

static int input(const char *kind, size_t count, uint32_t seed, const char *path)
{
    FILE *file = fopen(path, "wb");
    for (size_t i = 0; file && i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        float f = (float)(seed >> 8) / 16777216.0f;
        unsigned char b = (unsigned char)(seed >> 24 & seed >> 16);
        if (strcmp(kind, "floats") == 0)
            fwrite(&f, sizeof f, 1, file);
        else
            fwrite(&b, 1, 1, file);
    }
    return !file || fclose(file) != 0;
}

static int steps_of(int x, int y, int width, int height, int limit)
{
    float cr = fmaf((float)x, 3.0f / (float)width, -2.25f);
    float ci = fmaf((float)y, 2.4f / (float)height, -1.2f), zr = 0, zi = 0;
    for (int n = 0; n < limit; n++) {
        float r2 = zr * zr, i2 = zi * zi;
        if (!(r2 + i2 <= 4.0f))
            return n;
        zi = fmaf(2.0f * zr, zi, ci);
        zr = r2 - i2 + cr;
    }
    return limit;
}

static int check_mandelbrot(int width, int height, int limit, const char *path)
{
    size_t bytes;
    int *got = slurp(path, &bytes), wrong = bytes != (size_t)width * (size_t)height * 4;
    for (int i = 0; i < width * height && !wrong; i++)
        wrong = got[i] != steps_of(i % width, i / width, width, height, limit);
    free(got);
    return wrong;
}

static int check_matmul(int n, const char *a_path, const char *b_path, const char *path)
{
    size_t bytes;
    float *a = slurp(a_path, &bytes), *b = slurp(b_path, &bytes), *got = slurp(path, &bytes);
    int wrong = bytes != (size_t)n * (size_t)n * 4;
    for (int i = 0; i < n * n && !wrong; i++) {
        float sum = 0;
        for (int k = 0; k < n; k++)
            sum = fmaf(a[i / n * n + k], b[k * n + i % n], sum);
        wrong = got[i] != sum;
    }
    free(a);
    free(b);
    free(got);
    return wrong;
}

static int check_histogram(const char *data_path, const char *path)
{
    size_t count, bytes;
    unsigned char *data = slurp(data_path, &count);
    uint32_t *got = slurp(path, &bytes), want[256] = {0};
    for (size_t i = 0; i < count; i++)
        want[data[i]]++;
    int wrong = bytes != sizeof want || memcmp(got, want, sizeof want) != 0;
    free(data);
    free(got);
    return wrong;
}

/* 72 by 24 characters, darker where points leave later. */
static int picture(int width, int height, int limit, const char *path)
{
    static const char shades[] = " .:-=+*#%@";
    size_t bytes;
    int *steps = slurp(path, &bytes);
    for (int row = 0; row < 24; row++) {
        for (int column = 0; column < 72; column++) {
            int n = steps[(row * height / 24) * width + column * width / 72];
            int shade = n >= limit ? 9 : (int)(9 * log(1 + n) / log(1 + limit));
            putchar(shades[shade]);
        }
        putchar('\n');
    }
    free(steps);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "", *which = argc > 2 ? argv[2] : "";
    if (strcmp(what, "input") == 0 && argc == 6)
        return input(which, strtoul(argv[3], NULL, 10), (uint32_t)atoi(argv[4]), argv[5]);
    if (strcmp(what, "picture") == 0 && argc == 6)
        return picture(atoi(which), atoi(argv[3]), atoi(argv[4]), argv[5]);
    if (strcmp(which, "mandelbrot") == 0 && argc == 7)
        return check_mandelbrot(atoi(argv[3]), atoi(argv[4]), atoi(argv[5]), argv[6]);
    if (strcmp(which, "matmul") == 0 && argc == 7)
        return check_matmul(atoi(argv[3]), argv[4], argv[5], argv[6]);
    if (strcmp(which, "histogram") == 0 && argc == 5)
        return check_histogram(argv[3], argv[4]);
    fprintf(stderr, "usage: see the head of examples/demo/host.c\n");
    return 2;
}
