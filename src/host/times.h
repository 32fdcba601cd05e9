/* The simulated time of what a driver's device does. */
#ifndef HOST_TIMES_H
#define HOST_TIMES_H

#include "base/types.h"
#include "heddle/heddle.h"

#include <math.h>

/* Of a launch that has run. One in functional mode takes as long as if every core issued one warp
 * instruction per cycle. */
static inline u64 launch_picoseconds(const struct hd_machine_info *info,
                                     const struct hd_result *result)
{
    if (result->picoseconds)
        return result->picoseconds;
    u64 cycles = (result->warp_instructions + info->cores - 1) / info->cores;
    return (u64)((f64)cycles * 1e6 / info->core_mhz);
}

/* Of a copy within the device. GB/s are bytes per nanosecond. */
static inline u64 copy_device_picoseconds(const struct hd_machine_info *info, u64 bytes)
{
    return (u64)llround((f64)bytes / info->copy_gbps * 1e3);
}

/* Of a copy between host and device. */
static inline u64 copy_host_picoseconds(const struct hd_machine_info *info, u64 bytes)
{
    return (u64)llround(info->copy_ns * 1e3) + copy_device_picoseconds(info, bytes);
}

#endif
