/*
 * Timing properties of an instruction: its pipe, its cost, and the registers it depends on. They
 * are computed for each instruction when a program is first launched on a machine.
 */
#ifndef CORE_INST_TIME_H
#define CORE_INST_TIME_H

#include "core/params.h"
#include "exec/image.h"

struct core_config;

enum {
    MAX_READS = 16,
    MAX_DEPENDENCES = 16,
    NEAR_WORDS = 3 /* of the scoreboard: registers 0 to 127 of most programs and all their masks */
};

/* Where an instruction goes after issue. */
enum pipe {
    PIPE_SP,
    PIPE_INT,
    PIPE_FP64,
    PIPE_SFU,
    PIPE_MEMORY,
    PIPE_SCALAR,
    PIPES
};

/* The kind of an instruction for a scheduler of the gcn pipeline, which issues one of each kind. */
enum turn_kind {
    TURN_VECTOR,   /* the vector unit of its scheduler */
    TURN_SCALAR,   /* the scalar unit of the core, and scalar loads */
    TURN_BRANCH,   /* jumps, taken or not */
    TURN_ACCESS,   /* lanes' accesses to memory */
    TURN_SHARED,   /* lanes' accesses to shared memory */
    TURN_INTERNAL, /* handled in the warp's buffer, without a unit: waits, barriers, ends */
    TURN_KINDS
};

enum timing_flags {
    TIME_BRANCH = 1 << 0,   /* may change the PC */
    TIME_BARRIER = 1 << 1,  /* may wait for other warps or lanes */
    TIME_LOAD = 1 << 2,     /* its result comes from memory */
    TIME_FENCE = 1 << 3,    /* waits for the warp's accesses */
    TIME_COUNTERS = 1 << 4, /* waits for wait counters */
    TIME_DRAIN = 1 << 5,    /* the registers it reads or writes are known only when it executes */
    TIME_SCALAR_MEMORY = 1 << 6,
    TIME_SERIAL = 1 << 7,        /* acts on state that all cores share: performed between windows */
    TIME_BLOCK_BARRIER = 1 << 8, /* the warp's earlier accesses must have taken effect */
    TIME_END = 1 << 9,           /* ends the warp; miaow pipeline only */
    TIME_DATA = 1 << 10,         /* a wait counter covers the data it stores */
    TIME_NEAR = 1 << 11,         /* all registers it depends on are in `near` */
    TIME_RESTART = 1 << 12,      /* leaves its unit's counter running; miaow pipeline only */
    TIME_CUT = 1 << 13, /* a region begins with it that can run again: it waits until its warp has
                         * nothing in flight (core_cut) */
};

/* Timing properties of an instruction. Members that every issue needs come first. */
struct inst_time {
    u8 pipe;    /* enum pipe */
    bool plain; /* it waits only for registers, all of them in `near` */
    u16 flags;
    u16 latency, interval;
    u8 region_count; /* operands it writes: regions that it takes in a region scoreboard */
    bool reserves;   /* it reserves registers in the scoreboard */
    bool far_writes; /* it reserves registers beyond `near` */
    u8 fetched;      /* instructions that a fetch of it brings, all from `line` */
    u8 read_count;
    u8 read_depth;               /* accesses to its most accessed bank */
    u8 result_count;             /* vector registers it writes */
    u8 kind;                     /* enum turn_kind */
    u64 near[NEAR_WORDS];        /* its dependences in the first words of the scoreboard, */
    u64 near_writes[NEAR_WORDS]; /* those of them that it reserves, */
    u64 near_reads[NEAR_WORDS];  /* and those that it reads */
    u64 line;                    /* its line of the instruction cache */
    u64 result_banks;            /* banks of its results in slot 0's group (collect_banks) */
    u64 read_banks[MAX_READS];   /* [n]: banks that it reads more than n times, as result_banks */
    u16 reads[MAX_READS];        /* vector registers, one per bank access */
    u8 counter, counts;          /* enum wait_counter that covers its results, and by how much it
                                  * counts */
    u8 dependence_count;         /* scoreboard words it depends on; those it writes come first */
    u8 write_count;              /* number of words it writes, */
    u8 reserve_count; /* and of these, words it reserves: all but those that a wait counter
                       * covers */
    struct {
        u32 word;
        u64 bits;
    } dependences[MAX_DEPENDENCES];
};

/* A program whose timing properties are being computed. */
struct timed_code {
    const struct program *program;
    const struct core_config *config;
    u32 scalar_base; /* scoreboard bit of scalar register 0, or mask 0 */
};

/* Fills one entry for each instruction of a program. */
void time_program(struct inst_time *times, const struct image *image,
                  const struct core_config *config);
/* For a mechanism's own instruction (core_issue_own): its pipe and cost only. */
void time_own(struct inst_time *time, const struct inst *inst, const struct core_config *config);
/* The scoreboard bit of scalar register 0, or mask 0; vector registers come before. */
u32 time_scalar_base(const struct program *program);
/* Registers of a warp in its scoreboard. */
u32 time_scoreboard_bits(const struct program *program, const struct function *kernel);
/* The longest latency of any instruction, cycles. */
u32 time_longest(const struct core_config *config);

/* ---- steps of a pipeline's `time` ---- */

/* Pipe and kind. */
void time_place(struct inst_time *time, const struct inst *inst, const struct core_config *config);
/* Latency and interval in that pipe. */
void time_cost(struct inst_time *time, const struct inst *inst, const struct core_config *config);
void time_flags(struct inst_time *time, const struct inst *inst);
/* Registers that a pipeline treats as read or written in addition to the instruction's operands. */
struct implied {
    bool reads_exec, reads_scc, writes_scc;
    bool whole_masks; /* for the scoreboard, VCC and EXEC are one register each */
};
/* The scoreboard words that the instruction depends on. */
void time_registers(struct inst_time *time, const struct timed_code *code, const struct inst *inst,
                    struct implied implied);
/* Last step: banks, and the members that make checks fast. */
void time_finish(struct inst_time *time, const struct inst *inst, const struct core_config *config);

#endif
