/* Sums of launches by kernel, for the wrapper to read: see sums.c. */
#ifndef OPENCL_SUMS_H
#define OPENCL_SUMS_H

#include "base/sums.h"
#include "opencl/opencl.h"

struct sums;

/* Uses a file of this process in `folder`, a string that must stay valid. Lives as long as the
 * process. */
struct sums *sums_create(const char *folder);
/* The sum of a kernel; NULL: none yet. */
struct launch_sum *sums_find(const struct sums *sums, cl_device_id device, const char *kernel);
/* Adds a zeroed sum and gives its offset in the file; NULL: no room. */
struct launch_sum *sums_add(struct sums *sums, cl_device_id device, const char *kernel,
                            size_t counters, u64 *offset);

#endif
