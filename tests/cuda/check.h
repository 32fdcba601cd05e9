/* Checks of test programs in CUDA C++: each that fails prints its line, and main returns 1. */
#ifndef TESTS_CUDA_CHECK_H
#define TESTS_CUDA_CHECK_H

#include <cstdio>

static int failures;

#define CHECK(condition)                                           \
    do {                                                           \
        if (!(condition)) {                                        \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            failures++;                                            \
        }                                                          \
    } while (0)
#define EXPECT(error, call)                                                                \
    do {                                                                                   \
        const cudaError_t got = call;                                                      \
        if (got != (error)) {                                                              \
            printf("%s:%d: %s is %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(got)); \
            failures++;                                                                    \
        }                                                                                  \
    } while (0)
#define OK(call) EXPECT(cudaSuccess, call)

static inline int done(const char *name)
{
    printf("%s: %s\n", name, failures ? "wrong" : "right");
    return failures != 0;
}

#endif
