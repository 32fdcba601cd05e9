/*
 * A launch as tracks of a Perfetto trace.
 *
 *     GPU             a thread with a slice for each launch; counters
 *     core N          a process
 *       block slot S  a thread: a slice for each block that was there
 *       warp slot S   a thread: a slice for each warp, and in it one for each time it could not
 *                     issue
 *       requests      tracks with a slice for each memory request, as many as are in flight at once
 *
 * Invariants
 *  TR1  Every slice that begins ends, at the latest with its launch.
 *  TR2  Each core is a sequence of its own, since only events of one core are in order.
 *  TR3  A slice that began before the traced span is left out.
 */
#ifndef GPU_OBSERVE_TRACE_H
#define GPU_OBSERVE_TRACE_H

#include "gpu/observe/observer.h"

struct trace;

enum trace_counter {
    TRACE_IPC,
    TRACE_WARPS,
    TRACE_L1_HITS,
    TRACE_L2_HITS,
    TRACE_DRAM,
    TRACE_POWER,
    TRACE_COUNTERS
};

struct trace *trace_create(hd_bytes_fn *write, void *user);
/* Open launches are closed at their last event. */
void trace_destroy(struct trace *trace);

/* `time` and the times of events are trace time, which continues from launch to launch. */
void trace_launch(struct trace *trace, const struct observer_launch *launch, fs time);
void trace_note(struct trace *trace, const struct trace_event *seen, fs time);
/* Counter values from `time` on. */
void trace_count(struct trace *trace, fs time, const f64 values[TRACE_COUNTERS]);
void trace_launch_end(struct trace *trace, fs time);

#endif
