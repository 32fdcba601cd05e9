/* Launches that are added up by kernel, for the wrapper to read: see sums.c. */
#ifndef OPENCL_SUMS_H
#define OPENCL_SUMS_H

#include "base/sums.h"
#include "opencl/opencl.h"

struct sums;

/* In a file of this process in the folder, which must stay. It lives as long as the process. */
struct sums *sums_create(const char *folder);
/* A kernel's; NULL: it has none yet. */
struct launch_sum *sums_find(const struct sums *sums, cl_device_id device, const char *kernel);
/* A new one, of zeros, and where it is in the file; NULL: there is no room for it. */
struct launch_sum *sums_add(struct sums *sums, cl_device_id device, const char *kernel,
                            size_t counters, u64 *offset);

#endif
