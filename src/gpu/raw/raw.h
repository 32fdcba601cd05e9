/* Raw programs: hd_raw, and its trace. */
#ifndef GPU_RAW_RAW_H
#define GPU_RAW_RAW_H

#include "gpu/launch/launch.h"
#include "isa/si/state.h"
#include <stdio.h>

struct hd_raw {
    struct hd_module *module;
    struct arena *arena;
    struct si_state *state;     /* initial state; final state of waves whose workgroup has run */
    VEC(u64) mapped;            /* addresses of its mappings */
    struct occupancy occupancy; /* of the largest workgroup, in timing mode */
    bool ran;
};

/* raw.c: sets a wave's registers from the state, and copies them back, with its PC at an
 * instruction. */
void raw_wave_in(struct warp *warp, const struct si_wave *wave);
void raw_wave_out(const struct warp *warp, struct si_wave *wave, u32 at);

/* time.c: whether a core can hold the workgroups; runs them in timing mode. */
bool raw_check_time(struct hd_raw *raw, const char *name, struct error *error);
void raw_run_timed(struct hd_raw *raw, hd_trace_fn *trace, void *user, struct hd_result *result);

/* Growing, terminated text. */
struct raw_text {
    char *data;
    size_t length, capacity;
};

void raw_add_bytes(struct raw_text *text, const char *bytes, size_t length);
void raw_add(struct raw_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A store of an instruction by one lane; an atomic may perform them in any order. */
struct raw_stored {
    u32 lane, order; /* order: among the stores of the instruction */
    enum space space;
    u64 address;
    u32 bytes;
    u8 data[16];
};
struct raw_stores {
    VEC(struct raw_stored) list;
};
void raw_store(struct raw_stores *stores, u32 lane, enum space space, u64 address, const u8 *data,
               u32 bytes);

/* An instruction whose results are in its warp's registers, for a trace line. */
struct raw_line {
    const struct warp *warp;
    u32 wave; /* index in the state */
    u32 inst;
    lane_set lanes; /* lanes of vector registers that it wrote */
    u32 moved;      /* the register it wrote, if M0 selects it */
    u32 depth;      /* of the branch stack before the instruction */
};
/* Appends the instruction's trace line to a text; empties the stores. */
void raw_line(struct raw_text *to, const struct raw_line *line, struct raw_stores *stores);
/* The current depth of the branch stack. */
u32 raw_depth(const struct warp *warp);

/* The trace of a functional run: one line per committed instruction. */
struct raw_trace {
    struct exec_watcher watcher; /* first member: the engine refers to the trace by it */
    hd_trace_fn *line;
    void *user;
    const u32 *waves; /* by warp of the running workgroup: index in the state */
    u32 *depths;      /* by warp: the branch stack's depth before the instruction */
    struct raw_text text;
    struct raw_stores stores; /* of the current instruction */
};

struct raw_trace *raw_trace_create(hd_trace_fn *line, void *user);
/* Traces a workgroup, whose waves have these indices in the state; the array must stay valid. */
void raw_trace_group(struct raw_trace *trace, struct exec *exec, const struct si_state *state,
                     const u32 *waves, u32 count);
void raw_trace_destroy(struct raw_trace *trace);

/* The trace of a run in timing mode, for a block_source: steps.c. `waves` by workgroup and warp. */
struct raw_steps *raw_steps_create(hd_trace_fn *line, void *user, const struct si_state *state,
                                   const u32 *const *waves);
void raw_steps_follow(struct raw_steps *steps, const struct launch_clock *clock);
struct core_watcher *raw_steps_watcher(struct raw_steps *steps, u32 core, struct exec *exec);
void raw_steps_take(struct raw_steps *steps, struct trace_buffer *of_core);
void raw_steps_destroy(struct raw_steps *steps);

#endif
