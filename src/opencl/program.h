/* What program.c and build.c share: making programs and filling what a build has made. */
#ifndef OPENCL_PROGRAM_H
#define OPENCL_PROGRAM_H

#include "opencl/opencl.h"

cl_program program_create(cl_context context, u32 device_count, const cl_device_id *devices);
/* As it was before anything was built. */
void build_clear(struct build *build, cl_device_id device);
/* A binary that is known to be right becomes the build's; it is freed with it. */
void build_take(struct build *build, u8 *data, size_t bytes);

#endif
