/*
 * What a core asks of its pipeline.
 *
 * A core (core.c) holds blocks, warps, the records of instructions in flight and the clock. How an
 * instruction gets from the instruction memory to the registers is the pipeline's: one of the
 * folders beside this file, chosen by core.pipeline.
 *
 *     common   a scoreboard, operand collectors and banked registers; most machines
 *     gcn      the common stages behind an issue stage of its own: schedulers take turns, and one
 *              that has its turn issues to several units at once
 *     miaow    the compute unit of MIAOW, with the cycles of its RTL
 *
 * Another pipeline is a folder with such a table, its line in pipeline_list (pipeline.c) and its
 * name among the choices of core.pipeline (exec/core.def), in the same order. Nothing outside of
 * the folder asks which pipeline a core has.
 */
#ifndef CORE_PIPELINE_H
#define CORE_PIPELINE_H

#include "core/core.h"

/* A block of logic, for the area model, which knows what each kind costs. */
enum logic_kind {
    LOGIC_FETCH,  /* choice of a warp and next PCs; count: warps */
    LOGIC_QUEUE,  /* control of instruction buffers; count: warps */
    LOGIC_DECODE, /* count: decoders */
    LOGIC_ISSUE,  /* dependences and choice of a warp; count: warps */
    LOGIC_EXEC,   /* EXEC, VCC, SCC and M0 of warps; count: warps */
    LOGIC_SCALAR, /* count: scalar ALUs */
    LOGIC_INT,    /* count: lanes */
    LOGIC_FP32,
    LOGIC_FP64,
    LOGIC_SFU,
    LOGIC_CROSSBAR, /* count: crossbars of `in` times `out` wires */
};
struct logic {
    const char *unit, *name, *help;
    enum logic_kind kind;
    f64 count, in, out;
};
struct logic_list {
    VEC(struct logic) rows;
};

struct pipeline {
    const char *name;

    /* ---- a core ---- */
    void (*create)(struct core *core);
    void (*destroy)(struct core *core);
    void (*begin)(struct core *core); /* a launch: core->exec and the scoreboards are there */
    void (*start_warp)(struct core *core, u32 slot);

    /* ---- time ---- */
    /* Runs the core's edges before `end`, or until it has stopped. */
    void (*run)(struct core *core, fs end);
    /* The first time at which a core that is not empty has something to do; FS_NEVER: none. */
    fs (*next)(const struct core *core);
    /* Why a warp does not issue. */
    enum stall (*waits)(const struct core *core, u32 slot);

    /* ---- issue, where the common stages ask for it ---- */
    /* Schedulers issue in this cycle; `first` is served first where all do. */
    void (*issue)(struct core *core, u32 first);
    /* Issue slots of a scheduler in the cycles from `since` on, before `until`. */
    u64 (*slots)(const struct core *core, u32 scheduler, u64 since, u64 until);
    /* Warps of a scheduler whose unit is busy and becomes free by itself; NULL: none ever. */
    u64 (*busy)(const struct core *core, u32 scheduler);
    /* An instruction has issued; NULL: the issue stage starts its unit itself. */
    void (*enter)(struct core *core, struct inflight *inflight);
    u8 accesses; /* to memory that a group of units can issue in a cycle */

    /* ---- what it is made of ---- */
    /* Fills the entry of instruction i, which is zero. */
    void (*time)(struct inst_time *time, const struct timed_code *code, u32 i);
    /* False: its parameters contradict each other. */
    bool (*check)(const struct core_config *config, struct error *error);
    void (*storage)(struct state_list *list, const struct core_config *config);
    void (*logic)(struct logic_list *list, const struct core_config *config);
    /* Units whose published logic includes their flip-flops, NULL-terminated; NULL: none. */
    const char *const *enclosed;
    bool has_memory_system; /* a network, an L2 and DRAM are behind the cores */
    bool content;           /* its loads and stores carry data when a launch is armed */
    bool traces_steps;      /* its stages trace the steps of instructions themselves */
    /* A seam that a mechanism needs and that it does not have, by name; NULL: it has all. */
    const char *(*lacks)(const struct mechanism *mechanism, const void *params);
};

/* That of a machine. */
const struct pipeline *pipeline_of(const struct core_params *core);

#endif
