/*
 * The driver API, libcuda.so.1: another form of the runtime's functions, which do the work.
 *
 *  D1  All contexts of a device are one: memory, modules and streams belong to the device. A context
 *      remembers its flags and is current in a thread, nothing more.
 *  D2  A result has the value of the runtime's error (result_of), and is not what cudaGetLastError
 *      returns.
 */
#ifndef CUDA_DRIVER_H
#define CUDA_DRIVER_H

#include "cuda.h"
#include "cuda/runtime.h"

/* Ends a function of the driver API with what one of the runtime has returned. */
CUresult result_of(cudaError_t status);
/* The device of the current context, or the reason why there is none. */
CUresult driver_enter(struct cuda_device **device);
/* Takes the current context's device as `device`, or returns from the function. */
#define DRIVER_ENTER(device)                              \
    LOCKED;                                               \
    struct cuda_device *device;                           \
    do {                                                  \
        const CUresult entered = driver_enter(&(device)); \
        if (entered != CUDA_SUCCESS)                      \
            return entered;                               \
    } while (0)
/* Returns from the function if there is no current context. */
CUresult driver_ready(void);
#define DRIVER(call)                                            \
    do {                                                        \
        const CUresult ready = driver_ready();                  \
        return ready == CUDA_SUCCESS ? result_of(call) : ready; \
    } while (0)

#endif
