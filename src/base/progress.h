/*
 * Progress of a launch in another process: the OpenCL driver writes it to the file PID.progress of the
 * session's folder (cli/session.h), several times a second, if HEDDLE_PROGRESS is set.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include "base/types.h"

struct launch_progress {
    u64 blocks_done, blocks_total;
    u64 warp_instructions;
    u64 cycles; /* core clock; 0 in functional mode */
};

#endif
