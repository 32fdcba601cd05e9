/* Sums of launches by kernel, for the wrapper to read: see sums.c. */
#ifndef HOST_SUMS_H
#define HOST_SUMS_H

#include "base/sums.h"
#include "host/session.h"

struct sums;

/* Uses a file of this process in `folder`; the strings must stay valid. Lives as long as the
 * process. */
struct sums *sums_create(const char *folder, const char *name);
/* The sum of a kernel; NULL: none yet. */
struct launch_sum *sums_find(const struct sums *sums, const struct session_device *device,
                             const char *kernel);
/* Adds a zeroed sum and gives its offset in the file; NULL: no room. */
struct launch_sum *sums_add(struct sums *sums, const struct session_device *device,
                            const char *kernel, size_t counters, u64 *offset);

#endif
