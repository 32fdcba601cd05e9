/* Raw programs inside: hd_raw, and the writer of its trace. */
#ifndef GPU_RAW_H
#define GPU_RAW_H

#include "gpu/device.h"
#include "isa/si/state.h"
#include <stdio.h>

struct hd_raw {
    struct hd_module *module;
    struct arena *arena;
    struct si_state *state; /* at the start; what a wave left once its workgroup has run */
    VEC(u64) mapped;        /* addresses of the memory it has taken */
    bool ran;
};

/* Text that grows. */
struct raw_text {
    char *data;
    size_t length, capacity;
};

/* A line for each committed instruction. */
struct raw_trace {
    struct exec_watcher watcher; /* first: the engine knows the trace by it */
    hd_trace_fn *line;
    void *user;
    const u32 *waves; /* of the running workgroup: a warp's number in the state */
    u32 *depths;      /* by warp: the branch stack's depth before the instruction */
    struct raw_text text;
    struct raw_text lds, memory; /* what the instruction has stored so far, as elements */
};

struct raw_trace *raw_trace_create(hd_trace_fn *line, void *user);
/* Watches a workgroup, whose waves have these numbers in the state; they must stay. */
void raw_trace_group(struct raw_trace *trace, struct exec *exec, const struct si_state *state,
                     const u32 *waves, u32 count);
void raw_trace_destroy(struct raw_trace *trace);

#endif
