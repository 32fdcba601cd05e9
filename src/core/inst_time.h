/*
 * What timing has to know of an instruction: the pipe it takes, what it costs, and the registers
 * it looks at. Made for each instruction when a program is first launched on a machine.
 */
#ifndef CORE_INST_TIME_H
#define CORE_INST_TIME_H

#include "core/params.h"
#include "exec/image.h"

struct core_config;

enum {
    MAX_READS = 16,
    MAX_DEPENDENCES = 16,
    NEAR_WORDS = 3 /* of a scoreboard: registers 0 to 127 of most programs and all their masks */
};

/* Where an instruction goes from issue. */
enum pipe {
    PIPE_SP,
    PIPE_INT,
    PIPE_FP64,
    PIPE_SFU,
    PIPE_MEMORY,
    PIPE_SCALAR,
    PIPES
};

/* What an instruction is to a scheduler of the gcn pipeline, which issues one of each kind. */
enum turn_kind {
    TURN_VECTOR,   /* the vector unit of its warps */
    TURN_SCALAR,   /* the scalar unit of the core, and scalar loads */
    TURN_BRANCH,   /* jumps, taken or not */
    TURN_ACCESS,   /* lanes' accesses to memory */
    TURN_SHARED,   /* lanes' accesses to shared memory */
    TURN_INTERNAL, /* done in the warp's buffer: waits, barriers, ends; has no unit */
    TURN_KINDS
};

enum timing_flags {
    TIME_BRANCH = 1 << 0,   /* may change the PC */
    TIME_BARRIER = 1 << 1,  /* may wait for other warps or lanes */
    TIME_LOAD = 1 << 2,     /* its result comes from memory */
    TIME_FENCE = 1 << 3,    /* waits for the warp's accesses */
    TIME_COUNTERS = 1 << 4, /* waits for wait counters */
    TIME_DRAIN = 1 << 5,    /* reads or writes registers that are known only when it runs */
    TIME_SCALAR_MEMORY = 1 << 6,
    TIME_SERIAL = 1 << 7,        /* acts on what all cores share: done between windows */
    TIME_BLOCK_BARRIER = 1 << 8, /* what the warp stored before it must have acted */
    TIME_END = 1 << 9,           /* of the warp; miaow pipeline only */
    TIME_DATA = 1 << 10,         /* a wait counter covers the data it stores */
    TIME_NEAR = 1 << 11,         /* all registers it looks at are in `near` */
    TIME_RESTART = 1 << 12,      /* leaves its unit at work; miaow pipeline only */
};

/* What timing has to know of an instruction; made when a program is first launched. What each visit
 * of an instruction needs comes first. */
struct inst_time {
    u8 pipe;    /* enum pipe */
    bool plain; /* it waits for nothing but registers, and those of `near` */
    u16 flags;
    u16 latency, interval;
    u8 region_count; /* of registers it writes */
    bool reserves;   /* it reserves any */
    bool far_writes; /* it writes registers beyond `near` */
    u8 fetched;      /* instructions that a fetch of it brings, from `line` */
    u8 read_count;
    u8 read_depth;               /* accesses to the bank that has most of them */
    u8 result_count;             /* vector registers it writes */
    u8 kind;                     /* enum turn_kind */
    u64 near[NEAR_WORDS];        /* all bits it looks at in the first words of the scoreboard, */
    u64 near_writes[NEAR_WORDS]; /* those of them that it writes, */
    u64 near_reads[NEAR_WORDS];  /* and that it reads */
    u64 line;                    /* of the instruction cache */
    u64 result_banks;            /* where its results are in slot 0's group (collect_banks) */
    u64 read_banks[MAX_READS];   /* [n]: banks that are read more than n times, as result_banks */
    u16 reads[MAX_READS];        /* vector registers, one bank access each */
    u8 counter, counts;          /* enum wait_counter that covers its results, and by how much */
    u8 dependence_count;         /* words of the scoreboard it looks at, those it writes first */
    u8 write_count;              /* these; */
    u8 reserve_count; /* and of them, those it reserves: all, but for what counters cover */
    struct {
        u32 word;
        u64 bits;
    } dependences[MAX_DEPENDENCES];
};

/* A program on its way to be timed. */
struct timed_code {
    const struct program *program;
    const struct core_config *config;
    u32 scalar_base; /* the scoreboard's bit of scalar register, or mask, 0 */
};

/* All instructions of a program: an entry each. */
void time_program(struct inst_time *times, const struct image *image,
                  const struct core_config *config);
/* Of a mechanism's own instruction, for core_issue_own: where it goes and what it costs. */
void time_own(struct inst_time *time, const struct inst *inst, const struct core_config *config);
/* Words of a warp's scoreboard. */
u32 time_scoreboard_words(const struct program *program, const struct function *kernel);
/* The longest latency of any instruction, cycles. */
u32 time_longest(const struct core_config *config);

/* ---- steps of a pipeline's `time` ---- */

/* Pipe and kind. */
void time_place(struct inst_time *time, const struct inst *inst, const struct core_config *config);
/* Latency and interval in that pipe. */
void time_cost(struct inst_time *time, const struct inst *inst, const struct core_config *config);
void time_flags(struct inst_time *time, const struct inst *inst);
/* Registers that a pipeline takes as read or written beyond what the instruction names. */
struct implied {
    bool reads_exec, reads_scc, writes_scc;
    bool whole_masks; /* VCC and EXEC are one register each for the scoreboard */
};
/* The words of the scoreboard that it looks at. */
void time_registers(struct inst_time *time, const struct timed_code *code, const struct inst *inst,
                    struct implied implied);
/* The rest, after all others: banks, and the form that is quick to check. */
void time_finish(struct inst_time *time, const struct inst *inst, const struct core_config *config);

#endif
