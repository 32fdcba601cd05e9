/*
 * A CUDA program without a compiler for CUDA: it registers its kernels itself, as compilers' code does
 * before main, from PTX packed in the way that a word asks for.
 *
 *   guest KERNELS.ptx [plain|lz4|zstd|several|linked|linked2|code|damaged] [wild]
 */
#include "cuda_runtime_api.h"
#include "fat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    N = 1000,
    BLOCK = 128
};

/* What compilers make of `vecadd<<<grid, block>>>(a, b, c, n)`. */
static void vecadd(const float *a, const float *b, float *c, int n)
{
    void *args[] = {&a, &b, &c, &n};
    struct dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    if (__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream) == cudaSuccess)
        cudaLaunchKernel((const void *)vecadd, grid, block, args, shared_bytes, stream);
}

static struct {
    uint32_t magic, version;
    const void *data;
    const void *const *linked;
} wrapper = {0x466243b1, 1, NULL, NULL};

static void make(const char *path, const char *how)
{
    static struct fat fat;
    static const void *list[3];
    const char *text = fat_file(path);
    fat_begin(&fat);
    if (!strcmp(how, "several")) {
        fat_ptx(&fat, "not for this device", 30, FAT_PLAIN);
        fat_code(&fat, 61);
        fat_ptx(&fat, text, 52, FAT_ZSTD);
        fat_ptx(&fat, "nor this", 90, FAT_PLAIN);
    } else if (!strcmp(how, "code")) {
        fat_code(&fat, 80);
    } else {
        fat_ptx(&fat, text, 52,
                !strcmp(how, "lz4")    ? FAT_LZ4
                : !strcmp(how, "zstd") ? FAT_ZSTD
                                       : FAT_PLAIN);
    }
    if (!strcmp(how, "damaged"))
        fat.data[24] ^= 0x40; /* the size of the payload */
    free((char *)text);
    wrapper.data = fat.data;
    if (!strncmp(how, "linked", strlen("linked"))) {
        list[0] = fat.data;
        list[1] = !strcmp(how, "linked2") ? fat.data : NULL;
        wrapper.version = 2;
        wrapper.linked = list;
    }
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, (const char *)vecadd, NULL, "vecadd", -1, NULL, NULL, NULL, NULL,
                           NULL);
    __cudaRegisterFatBinaryEnd(handle);
}

static int check(cudaError_t status, const char *what)
{
    if (status != cudaSuccess)
        printf("guest: %s: %s\n", what, cudaGetErrorName(status));
    return status != cudaSuccess;
}

static int add(int wild)
{
    float a[N], b[N], c[N], *device[3];
    for (int i = 0; i < N; i++) {
        a[i] = (float)i;
        b[i] = (float)(3 * i);
    }
    for (int i = 0; i < 3; i++)
        if (check(cudaMalloc((void **)&device[i], sizeof a), "malloc"))
            return 1;
    if (check(cudaMemcpy(device[0], a, sizeof a, cudaMemcpyHostToDevice), "copy") ||
        check(cudaMemcpy(device[1], b, sizeof b, cudaMemcpyHostToDevice), "copy"))
        return 1;
    struct dim3 grid = {(N + BLOCK - 1) / BLOCK, 1, 1}, block = {BLOCK, 1, 1};
    if (__cudaPushCallConfiguration(grid, block, 0, NULL) == 0)
        vecadd(device[0], device[1], wild ? (float *)16 : device[2], N);
    if (check(cudaGetLastError(), "launch") || check(cudaDeviceSynchronize(), "synchronize"))
        return 1;
    if (check(cudaMemcpy(c, device[2], sizeof c, cudaMemcpyDeviceToHost), "copy"))
        return 1;
    for (int i = 0; i < N; i++)
        if (c[i] != 4.0f * (float)i) {
            printf("guest: %d is %g\n", i, c[i]);
            return 1;
        }
    for (int i = 0; i < 3; i++)
        if (check(cudaFree(device[i]), "free"))
            return 1;
    return 0;
}

int main(int count, char **words)
{
    if (count < 2)
        return 2;
    make(words[1], count > 2 ? words[2] : "plain");
    const int wrong = add(count > 3);
    if (!wrong)
        puts("guest: right");
    return wrong;
}
