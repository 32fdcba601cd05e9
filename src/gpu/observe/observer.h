/*
 * What a device tells while a launch runs: a Perfetto trace and a time series of all statistics.
 *
 * The loop over the windows of a launch calls, all serially between windows:
 *
 *     observer_begin    before the first window; observer_span says what cores shall note
 *     observer_take     for each core in order, when it has noted something
 *     observer_sample   when a window ends at or after observer_next
 *     observer_end      after the last window, whatever the outcome
 *
 * Invariants
 *  V1  Nothing here changes what the machine does: with and without an observer all statistics are
 *      the same.
 *  V2  Samples are differences of what observer_sample and observer_end were given, so the rows of
 *      a launch add up to its statistics.
 *  V3  Memory does not grow with the length of a launch: bytes leave as they are made.
 *  V4  Time goes on from launch to launch without gaps, whatever `start` of a launch is.
 *
 * A sample is taken at the end of the first window that reaches its time, so samples are as far
 * apart as was asked for only up to a window's length; each says which cycles it covers.
 */
#ifndef GPU_OBSERVE_OBSERVER_H
#define GPU_OBSERVE_OBSERVER_H

#include "core/trace.h"
#include "heddle/heddle.h"
#include "ir/program.h"

struct energy_model;
struct observer;
struct machine_stats;

struct observer_launch {
    const char *kernel;
    const struct program *program;
    u64 code_address; /* of the program in device memory */
    u32 grid[3], block[3];
    u32 cores;                         /* of the machine */
    fs start;                          /* when the launch begins, device time */
    fs core_period;                    /* of the cores' nominal clock */
    u64 number;                        /* of the launch on the device, from 0 */
    const struct energy_model *energy; /* NULL: samples have no energy */
    const u8 *mechanisms;              /* their counters so far, or NULL */
};

struct observer *observer_create(const struct hd_observe *what);
/* What was left open is closed and the last bytes are handed over. */
void observer_destroy(struct observer *observer);

void observer_begin(struct observer *observer, const struct observer_launch *launch);
/* [*from, *to) of which cores note observations, device time; empty: none. */
void observer_span(const struct observer *observer, fs *from, fs *to);
/* Takes what a core has noted, in order of time; its list is empty afterwards. */
void observer_take(struct observer *observer, struct trace_buffer *core);
/* When the next sample is due; FS_NEVER: none is wanted. */
fs observer_next(const struct observer *observer);
/* `stats`: all of this launch up to `now`, timing.cycles and timing.picoseconds included. */
void observer_sample(struct observer *observer, fs now, const struct machine_stats *stats);
void observer_end(struct observer *observer, fs now, const struct machine_stats *stats);

#endif
