/*
 * Functions of the CUDA runtime and driver API that Heddle does not have, so that a program which calls one is told,
 * instead of ending in the dynamic linker. Their parameters are not looked at.
 */
#include "cuda/runtime.h"

static cudaError_t refuse(const char *name)
{
    explain(name, "this function is not supported (docs/cuda.md lists what is)");
    return ended(cudaErrorNotSupported);
}

#define UNSUPPORTED(name)     \
    cudaError_t name(void);   \
    EXPORT(name)              \
    cudaError_t name(void)    \
    {                         \
        return refuse(#name); \
    }
#include "cuda/unsupported.def"
#undef UNSUPPORTED

#define UNSUPPORTED(name)     \
    cudaError_t name(void);   \
    EXPORT_DRIVER(name)       \
    cudaError_t name(void)    \
    {                         \
        return refuse(#name); \
    }
#include "cuda/unsupported_driver.def"
