/* What program.c and build.c share: creating programs and filling builds. */
#ifndef OPENCL_PROGRAM_H
#define OPENCL_PROGRAM_H

#include "opencl/opencl.h"

cl_program program_create(cl_context context, u32 device_count, const cl_device_id *devices);
/* Resets a build to its state before any build. */
void build_clear(struct build *build, cl_device_id device);
/* Gives a checked binary to the build, which frees it. */
void build_take(struct build *build, u8 *data, size_t bytes);

#endif
