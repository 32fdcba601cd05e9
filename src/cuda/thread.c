/* What the runtime knows of the calling thread, and the errors it returns. */
#include "cuda/runtime.h"

static _Thread_local cudaError_t last, before; /* R4 */
static _Thread_local int current;

int *thread_device(void)
{
    return &current;
}

cudaError_t ended(cudaError_t status)
{
    before = last;
    if (status != cudaSuccess)
        last = status;
    return status;
}

void ended_elsewhere(void)
{
    last = before;
}

EXPORT(cudaGetLastError)
cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = last;
    last = cudaSuccess;
    return error;
}

EXPORT(cudaPeekAtLastError)
cudaError_t cudaPeekAtLastError(void)
{
    return last;
}

static const struct {
    cudaError_t value;
    const char *name, *text;
} errors[] = {
#define HEDDLE_ERROR(name, value, text) {name, #name, text},
#include "heddle_errors.def"
#undef HEDDLE_ERROR
};

EXPORT(cudaGetErrorName)
const char *cudaGetErrorName(cudaError_t error)
{
    for (u32 i = 0; i < ARRAY_LEN(errors); i++)
        if (errors[i].value == error)
            return errors[i].name;
    return "unrecognized error code";
}

EXPORT(cudaGetErrorString)
const char *cudaGetErrorString(cudaError_t error)
{
    for (u32 i = 0; i < ARRAY_LEN(errors); i++)
        if (errors[i].value == error)
            return errors[i].text;
    return "unrecognized error code";
}
