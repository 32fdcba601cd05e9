/*
 * A launch as a trace of events: lines of JSON, one for each event (docs/events.md), which `heddle
 * why` and the pages of runs read.
 *
 * Invariants
 *  E1  Events of a core are in order of time, and so are those of a channel; lines of different ones
 *      are in order up to a window.
 *  E2  An instruction is described before the first event that names it.
 *  E3  With `longest`, the trace is that of each kernel's longest stall: all events of its core and of
 *      the memory side from EVENTS_BEFORE cycles before the stall until its end. Memory is bounded: of a
 *      stall with more than EVENTS_KEPT events the first are missing.
 */
#ifndef GPU_OBSERVE_EVENTS_H
#define GPU_OBSERVE_EVENTS_H

#include "gpu/observe/observer.h"

enum {
    EVENTS_FORMAT = 1,
    EVENTS_BEFORE = 1000, /* core cycles */
    EVENTS_KEPT = 1 << 20
};

struct events;

struct events *events_create(hd_bytes_fn *write, void *user, bool longest);
/* Writes the last bytes. */
void events_destroy(struct events *events);

/* `cycles`: core cycles of earlier launches. */
void events_launch(struct events *events, const struct observer_launch *launch, u64 cycles);
void events_note(struct events *events, const struct trace_event *seen);
/* All cores and channels have told what happened in a window. */
void events_window(struct events *events);
/* `now`: device time. */
void events_launch_end(struct events *events, fs now);

#endif
