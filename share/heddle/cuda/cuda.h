/* The driver API is not part of Heddle; programs include this for types and the version. */
#ifndef HEDDLE_CUDA_DRIVER_H
#define HEDDLE_CUDA_DRIVER_H
#include "cuda_runtime.h"
#ifndef CUDA_VERSION
#define CUDA_VERSION CUDART_VERSION
#endif
#endif
