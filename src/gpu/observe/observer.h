/*
 * Observation of a running launch: a trace, for the Perfetto viewer or of events, and a time series
 * of all statistics.
 *
 * The loop over the windows of a launch calls, all serially between windows:
 *
 *     observer_begin    before the first window; observer_span gives the span to record
 *     observer_take     for each core in order, if it has recorded something; with observer_causes,
 *                       for each channel of the memory side after that, and observer_window
 *     observer_sample   when a window ends at or after observer_next
 *     observer_end      after the last window, whatever the outcome
 *
 * Invariants
 *  V1  Observation changes nothing: statistics are the same with and without an observer.
 *  V2  Samples are differences of what observer_sample and observer_end were given, so the rows of
 *      a launch add up to its statistics.
 *  V3  Memory does not grow with the length of a launch: bytes are written as they are produced.
 *  V4  Time continues from launch to launch without gaps, whatever `start` of a launch is.
 *
 * A sample is taken at the end of the first window that reaches its time, so intervals are exact
 * only up to a window's length; each sample states the cycles it covers.
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
    u32 cores;                         /* number of cores of the machine */
    u32 l1_mshrs, l1_latency, l2_line; /* of the machine; a line has l2_line bytes */
    fs start;                          /* start of the launch, device time */
    fs core_period;                    /* of the cores' nominal clock */
    u64 number;                        /* number of the launch on the device, from 0 */
    const struct energy_model *energy; /* NULL: samples have no energy */
    const u8 *mechanisms;              /* counters of mechanisms so far, or NULL */
};

struct observer *observer_create(const struct hd_observe *what);
/* Closes open slices and writes the last bytes. */
void observer_destroy(struct observer *observer);

void observer_begin(struct observer *observer, const struct observer_launch *launch);
/* The span [*from, *to) in which cores record events, device time; empty: none. */
void observer_span(const struct observer *observer, fs *from, fs *to);
/* Takes the events that a core has recorded, in order of time, and empties its list. */
void observer_take(struct observer *observer, struct trace_buffer *core);
/* Whether a core is traced, and whether the memory side is. */
bool observer_traces(const struct observer *observer, u32 core);
bool observer_causes(const struct observer *observer);
/* All cores, and all channels, have been taken. */
void observer_window(struct observer *observer);
/* A core has this many blocks from now on. */
void observer_blocks(struct observer *observer, u32 core, u32 blocks, fs now);
/* The time of the next sample; FS_NEVER: none. */
fs observer_next(const struct observer *observer);
/* `stats`: all of this launch up to `now`, timing.cycles and timing.picoseconds included. */
void observer_sample(struct observer *observer, fs now, const struct machine_stats *stats);
void observer_end(struct observer *observer, fs now, const struct machine_stats *stats);

#endif
