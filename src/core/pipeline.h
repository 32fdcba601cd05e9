/*
 * The interface between a core and its pipeline.
 *
 * A core (core.c) holds blocks, warps, the records of instructions in flight and the clock. The
 * pipeline takes instructions from the instruction memory to write-back: one of the folders beside
 * this file, chosen by core.pipeline.
 *
 *     common   a scoreboard, operand collectors and banked registers; most machines
 *     gcn      the common stages with its own issue stage: schedulers take turns, and the scheduler
 *              whose turn it is issues to several units at once
 *     miaow    the compute unit of MIAOW, with the cycles of its RTL
 *
 * To add a pipeline, add a folder with such a table, a line in pipeline_list (pipeline.c) and its
 * name among the choices of core.pipeline (exec/core.def), in the same order. Nothing outside the
 * folder asks which pipeline a core has.
 */
#ifndef CORE_PIPELINE_H
#define CORE_PIPELINE_H

#include "core/core.h"

/* A block of logic for the area model, which has a cost for each kind. */
enum logic_kind {
    LOGIC_FETCH,  /* warp selection and next PCs; count: warps */
    LOGIC_QUEUE,  /* control of instruction buffers; count: warps */
    LOGIC_DECODE, /* count: decoders */
    LOGIC_ISSUE,  /* dependence checks and warp selection; count: warps */
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
    void (*begin)(struct core *core); /* a launch begins; core->exec and the scoreboards exist */
    void (*start_warp)(struct core *core, u32 slot);
    /* The warp of a slot has gone back to slots[].at: drops what it has between fetch and issue. */
    void (*restart)(struct core *core, u32 slot);

    /* ---- time ---- */
    /* Runs the clock edges before `end`, or until the core has stopped. */
    void (*run)(struct core *core, fs end);
    /* The earliest time at which a core with warps may have something to do; FS_NEVER: none. */
    fs (*next)(const struct core *core);
    /* Why a warp does not issue. */
    enum stall (*waits)(const struct core *core, u32 slot);

    /* ---- issue, as called by the common stages ---- */
    /* Schedulers issue in this cycle. */
    void (*issue)(struct core *core);
    /* Issue slots of a scheduler in cycles `since` to `until` - 1. */
    u64 (*slots)(const struct core *core, u32 scheduler, u64 since, u64 until);
    /* Warps of a scheduler whose unit is busy and will be free without an event; NULL: never
     * any. */
    u64 (*busy)(const struct core *core, u32 scheduler);
    /* An instruction has issued; NULL: the issue stage starts its unit itself. */
    void (*enter)(struct core *core, struct inflight *inflight);
    u8 accesses; /* memory accesses that a group of units can issue in a cycle */

    /* ---- properties ---- */
    /* Fills the zeroed entry of instruction i. */
    void (*time)(struct inst_time *time, const struct timed_code *code, u32 i);
    /* False: parameters contradict each other. */
    bool (*check)(const struct core_config *config, struct error *error);
    void (*storage)(struct state_list *list, const struct core_config *config);
    void (*logic)(struct logic_list *list, const struct core_config *config);
    /* Units whose published logic includes their flip-flops, NULL-terminated; NULL: none. */
    const char *const *enclosed;
    bool has_memory_system; /* there are a network, an L2 and DRAM behind the cores */
    bool content;           /* in armed launches its loads and stores carry data */
    bool traces_steps;      /* its stages trace the steps of instructions themselves */
    /* The name of a seam that the mechanism needs and the pipeline lacks; NULL: none. */
    const char *(*lacks)(const struct mechanism *mechanism, const void *params);
    /* With live state: whether an instruction is between fetch and issue, or its registers are about
     * to be released; NULL: never asked. */
    bool (*holds)(const struct core *core, u32 inst);
};

/* The pipeline of a machine. */
const struct pipeline *pipeline_of(const struct core_params *core);

#endif
