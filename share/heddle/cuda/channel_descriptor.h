/* Programs include this part by itself; it is all in one header here. */
#include "cuda_runtime.h"
