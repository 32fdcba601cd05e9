/*
 * Fault campaigns: what the parts share.
 *
 *     draw.c    which bits are flipped, and when
 *     list.c    faults from a table
 *     shadow.c  wrong values of registers beside the right ones
 *     untimed.c the block with a fault once more, without time
 *     golden.c  the run without faults: hashes of its state, its outputs
 *     touch.c   when the golden run read and wrote memory for the last time
 *     follow.c  a process with a fault: from the flip until its fate is known
 *     spawn.c   processes: of the golden run, which fork those of faults
 *     program.c programs that launch kernels themselves: joining, returning into them, their ends
 *     site.c    folders, descriptors and mappings of such programs
 *     judge.c   files of such programs, compared
 *     keep.c    verdicts in a file, for campaigns that are killed
 *     tally.c   counts, intervals, JSON
 *     inject.c  the public functions (heddle/inject.h)
 *
 * Invariants
 *  J1  Processes share the memory of struct ledger and struct touched only: each fault's process
 *      writes its own verdict, the golden run's process everything else, before any fault runs; the
 *      process of untimed.c writes verdicts before the launch, and so before any fault in it.
 *  J2  A verdict depends on the fault and the golden run only: not on other faults, their order or
 *      the number of processes at a time.
 *  J3  Processes of a campaign die with their parent; they write to no file that the caller, or the
 *      process they were forked from, has open. Those that do not return into a program end by
 *      _exit().
 */
#ifndef FAULT_CAMPAIGN_H
#define FAULT_CAMPAIGN_H

#include "base/arena.h"
#include "fault/process.h"
#include "gpu/device.h"
#include "gpu/time/live.h"
#include "heddle/inject.h"
#include <stdatomic.h>

enum {
    MOST_SAMPLES = 256,   /* of a golden run: when there are more, every second one is dropped */
    FIRST_INTERVAL = 256, /* cycles between samples at first */
    MOST_LAUNCHES = 4096,
    MOST_PATTERN = 64,       /* bits of one fault */
    MOST_STUCK = 1000000000, /* cycles */
};

/* A structure that the plan selects. */
struct fault_target {
    const struct state_row *row;
    const char *name; /* "unit.name" */
    u32 owners;       /* 0: its bits are counted only */
    u64 live;         /* bits of all owners that can be flipped, */
    u64 counted;      /* and those that cannot */
};

struct injection {
    u32 target;
    u32 owner;
    u64 entry;
    u32 bit;
    u64 pattern; /* bits from `bit` on */
    u32 launch;  /* from 0 */
    u64 cycle;
    u32 line; /* of the list that names it, from 1 */
};

enum decided {
    DECIDED_NOT,
    DECIDED_LATE,      /* the launch had ended */
    DECIDED_UNUSED,    /* the entry held nothing */
    DECIDED_DEAD,      /* nothing reads the bit before it is overwritten */
    DECIDED_CONVERGED, /* the state is the golden run's again, */
    DECIDED_WRITTEN,   /* but for words in memory that it does not touch any more */
    DECIDED_END,       /* it ran to the end */
    DECIDED_WINDOW,    /* the window has ended */
    DECIDED_VANISHED,  /* wrong values of registers were overwritten, or did not matter */
    DECIDED_UNTIMED,   /* its block has run to the end, without time */
};

/* Written by the fault's process. */
struct fault_verdict {
    u8 effect;  /* enum hd_effect */
    u8 decided; /* enum decided */
    bool audited, disagrees, crashed;
    u8 claim;      /* of a program's fault that is audited: what was decided, enum decided, */
    u8 claimed;    /* and the effect */
    bool same_end; /* of a program: the state at the end of the last launch is right */
    bool settled;  /* it is final, */
    bool kept;     /* and in the file (keep.c) */
    bool empty;    /* followed in a window: what was struck held nothing, and still does */
    _Atomic(u8) returned; /* the process has returned into its program, and parted from others */
    u32 launches;         /* of a program, so far */
    u32 parked; /* of a program: words that are wrong until the end of the launch; 0: it goes on */
    bool woken; /* it was parked */
    u64 full, memory; /* hashes at the end of the window */
    u64 cycles, wrong, first;
    f64 error;
    char output[48], detail[32], explanation[160];
};

/* What has become of a fault in a register that was followed beside the run without faults: shadow.c. */
enum shadow_fate {
    SHADOW_NONE,     /* it was not followed */
    SHADOW_VANISHED, /* no value is wrong any more */
    SHADOW_MOVED,    /* it is the same as one that flips these bits in this cycle */
};
enum {
    SHADOW_WORDS = 16 /* most words that are wrong at a time */
};
struct shadow_word {
    u16 reg; /* of the warp */
    u8 lane;
    u32 wrong; /* bits */
};
struct shadow_set {
    u32 count;
    struct shadow_word words[SHADOW_WORDS];
};
/* Where a fault was moved, in the order of the program: the bits are wrong before the instruction that the
 * warp issues after `count` others. */
struct shadow_site {
    bool known;
    u32 warp, inst; /* of the block; the instruction */
    u64 block, count, cycle;
    struct shadow_set words;
};
struct shadow_end {
    u8 fate; /* enum shadow_fate */
    u32 count;
    u64 cycle;
    struct {
        u64 entry; /* of collect.registers */
        u32 wrong;
    } words[SHADOW_WORDS];
    struct shadow_site site;
    bool looked;      /* of a fault with a window: at the run without faults when it ends, with */
    u64 full, memory; /* these hashes: all bits, device memory */
    char story[480];  /* what has read it, and where its values went */
};

/* The state of the golden run at some moment. */
struct golden_sample {
    u32 launch;
    u64 cycle;
    fs time;                /* over all launches */
    u64 rows, rest, memory; /* hashes: gpu/time/live.h */
};

/* Shared by all processes of a campaign. */
struct ledger {
    atomic_bool stop; /* the caller wants no more */
    atomic_ullong done;
    /* of the golden run: */
    bool golden, failed;
    char message[512];     /* why it failed */
    bool joined, threaded; /* a program: it has opened the device; it has other threads */
    i32 status;            /* of a program: of waitpid */
    u64 cpu_ms;            /* of a program: its processor time */
    u64 from, to;          /* of a program: ids of faults that run now */
    bool reallocates;      /* of a program: it allocates or frees memory between launches */
    u64 every;             /* cycles between samples, about */
    u32 sample_count, launch_count;
    u64 cycles; /* of all launches */
    struct golden_sample samples[MOST_SAMPLES];
    struct golden_sample ends[MOST_LAUNCHES]; /* of launches; `cycle` is their number of cycles */
    struct fault_verdict verdicts[];          /* by id; of a program, faults come after them */
};

/* A piece of device memory, and what the golden run does with it. Shared by all processes. */
struct touched {
    u64 address, bytes;
    fs *reads;  /* by sector: the last window in which the L2 was read, plus 1; 0: it never was */
    fs *writes; /* the same by word of 4 bytes */
    u8 *final;  /* contents in the end */
    size_t room;
};

/* A word of memory that is not the golden run's. */
struct wrong_word {
    u64 address;
    u8 wrong[4], right[4];
};

enum role {
    ROLE_IDLE,   /* the caller's process */
    ROLE_GOLDEN, /* records */
    ROLE_SHADOW, /* runs without faults, and follows those of registers beside it */
    ROLE_RUNNER, /* runs without faults, and forks a process for each */
    ROLE_FAULT,
};

enum word_type {
    WORD_U32,
    WORD_S32,
    WORD_F32,
    WORD_F64
};

/* A fault's process. */
struct follow {
    u64 id;
    struct strike strikes[MOST_PATTERN];
    u32 strike_count;
    bool struck, audit;
    u32 check;     /* the next sample to compare */
    u32 tries;     /* comparisons so far */
    bool matched;  /* at the last one: to be confirmed */
    bool same_end; /* the state at the end of the last launch is the golden run's */
    u64 cycles;    /* of launches that have ended */
    bool armed;    /* the strikes were given to the timing model */
    bool of_core;  /* the bit is in a core: what is wrong in memory was stored */
    struct fault_verdict verdict;
    struct fault_verdict claim; /* of an audited fault: what was decided */
};

struct hd_inject {
    struct arena *arena;
    struct hd_device *device;
    const char *machine;        /* its name */
    struct hd_inject_plan plan; /* strings are copies */
    enum word_type words;
    u32 burst;  /* bits of the model; 0: "word" */
    u64 hold;   /* cycles for which they stay; 0: they are flipped once */
    u32 strata; /* structures with live bits, if faults are drawn for each; else 0 */
    VEC(struct fault_target) targets;
    u64 live_bits; /* of all targets */
    struct injection *faults;
    u64 capacity, drawn; /* drawn: faults that exist */
    bool stopped;
    struct ledger *ledger;
    size_t ledger_bytes;
    struct shadow_end *shadow_ends; /* by id; shared by all processes */
    struct shadows *shadows;        /* of this process; NULL: none */
    int outputs; /* file without a name: those of the golden run, one after the other */
    const u8 *golden_outputs; /* mapped */
    size_t golden_bytes, at;  /* at: of the next output */
    int kept;                 /* file of keep.c; -1: none */
    u64 noted;                /* faults that were done when it was written last */

    const char *folder;      /* of a program; NULL: none */
    bool joined;             /* this is a process of the program */
    bool looked;             /* of a program: at the memory of this launch */
    const char *place, *own; /* of this process: the folder "work", or that of its fault */
    const struct hd_inject_host *host; /* of a replay */
    int end;                           /* of a fault's process: its pipe */

    /* of this process */
    enum role role;
    bool replays; /* it runs one fault to its end, whatever is known of it */
    u32 launch;   /* that runs, or is next */
    u64 next_sample;
    VEC(struct touched) touched;
    VEC(struct wrong_word) wrong;
    fs now;           /* start of the window */
    const u64 *order; /* ids of this round by launch and cycle */
    u64 order_count, next;
    VEC(struct strike) due; /* of the runner: first bits of faults whose moment has come, */
    VEC(u64) windows;       /* of the runner: ids of faults whose windows have not ended */
    VEC(u64) due_ids;       /* and their ids */
    struct fault_process *workers;
    u32 worker_count;
    struct follow follow;
};

/* draw.c: targets, from the rows that match; false: an error. */
bool draw_targets(struct hd_inject *inject, struct error *error);
bool draw_model(struct hd_inject *inject, struct error *error);
/* Faults from `drawn` on, up to `end`. The golden run is recorded. */
void draw_faults(struct hd_inject *inject, u64 end);

/* list.c: reads a table of faults. False: an error that names the line. */
struct injection_list {
    VEC(struct injection) rows;
};
bool list_read(const struct hd_inject *inject, const char *text, const char *name,
               struct injection_list *list, struct error *error);
/* Whether all launches exist; the golden run is recorded. */
bool list_check(const struct hd_inject *inject, struct error *error);

/* shadow.c: in the process that follows faults in registers. */
void shadow_create(struct hd_inject *inject);
/* In the cycle of a fault, whose entry is in use: begins to follow it. False: it cannot be. */
bool shadow_ask(struct hd_inject *inject, u64 id);
/* Between windows, and when a launch has ended. */
void shadow_moment(struct hd_inject *inject, bool ended);

/* untimed.c: at the start of a launch, in the process that runs without faults. */
void untimed_decide(struct hd_inject *inject, const struct live_moment *moment);

/* golden.c */
void golden_moment(struct hd_inject *inject, const struct live_moment *moment);
void golden_output(struct hd_inject *inject, const char *name, u64 address, const void *data,
                   size_t bytes);
/* The output at a place of the record, and the next place; false: there is none. */
struct golden_output {
    u64 bytes, address;
    char name[48];
};
bool golden_next(const struct hd_inject *inject, size_t *at, struct golden_output *output,
                 const u8 **data);
bool golden_map(struct hd_inject *inject, struct error *error);
struct golden_sample sample_take(const struct hd_inject *inject, const struct live_moment *moment);

/* touch.c: where memory has content (mem/content.h); otherwise `touched` stays empty. */
void touch_create(struct hd_inject *inject);
/* Whether the device's allocations are still those of touch_create(). */
bool touch_is_current(const struct hd_inject *inject);
void touch_destroy(struct hd_inject *inject);
/* Records accesses from now on. */
void touch_record(struct hd_inject *inject);
/* The golden run has ended. */
void touch_finish(struct hd_inject *inject);
/* Lists words that differ from the golden run's and that it neither reads nor writes from `now` on.
 * False: there are none, or too many, or it still touches one. */
bool touch_differences(struct hd_inject *inject, fs now);
/* Puts the right bytes, or the wrong ones, into memory. */
void touch_replace(struct hd_inject *inject, bool right);

/* follow.c */
void follow_begin_fault(struct hd_inject *inject, u64 id);
/* Compares the golden run's outputs with themselves, but for the words that are wrong. */
void follow_written(const struct hd_inject *inject, struct fault_verdict *verdict);
/* A hash of device memory, with what caches have not written to it yet. */
u64 follow_memory(const struct live_moment *moment);
/* Faults with windows: compares them with the run without faults. */
void follow_resolve(struct hd_inject *inject, u64 from, u64 to);
/* Whether a fault that is decided early runs to the end all the same. */
bool follow_audits(const struct hd_inject *inject, u64 id);
/* Its bits, for the timing model. */
struct strike follow_strike(const struct hd_inject *inject, u64 id, u32 bit);
/* The cycle in which it strikes, and whether it was moved there (shadow.c). */
u64 follow_cycle(const struct hd_inject *inject, u64 id, bool *moved);
void follow_moment(struct hd_inject *inject, const struct live_moment *moment);
void follow_output(struct hd_inject *inject, const char *name, const void *data, size_t bytes);
/* The program has ended. Does not return. */
_Noreturn void follow_end(struct hd_inject *inject, const struct hd_result *result);

/* keep.c: takes over what a campaign that was killed has left, and keeps what is done from now on. */
bool keep_open(struct hd_inject *inject, struct error *error);
/* A verdict is final; in any process. */
void keep_settle(struct hd_inject *inject, u64 id);
/* In the caller's process: appends new ones, if they are many, or all. */
void keep_note(struct hd_inject *inject, bool all);
void keep_close(struct hd_inject *inject);

/* spawn.c */
/* Ids in the order of their moments. */
u64 *spawn_order(struct hd_inject *inject, u64 from, u64 to);
/* Whether any of these faults may be followed beside the run (shadow.c). */
bool spawn_shadows(const struct hd_inject *inject, u64 from, u64 to);
/* Waits until at most `most` faults run; or, with `launch_ended`, until all have returned into their
 * programs. */
void spawn_wait(struct hd_inject *inject, u32 most, bool launch_ended);
/* Waits for a process, and tells the caller of progress. */
void spawn_attend(struct hd_inject *inject, const struct hd_inject_host *host,
                  const struct fault_process *process, u64 total);
/* Forks the process of a fault; true in the child. */
bool spawn_again(struct hd_inject *inject, u64 id);
bool spawn_replay(struct hd_inject *inject, const struct hd_inject_host *host, u64 id,
                  struct error *error);
void spawn_fail(struct hd_inject *inject, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Called by the timing model in the cycle of a fault (live_ask_fn). */
bool spawn_ask(void *user, struct strike *strike);
void spawn_moment(struct hd_inject *inject, const struct live_moment *moment);
/* Runs the program in a process of its own, as the golden run or with faults [from, to). */
bool spawn_run(struct hd_inject *inject, const struct hd_inject_host *host, enum role role,
               u64 from, u64 to, struct error *error);

/* The next fault's turn has come, in processes of programs that run one fault from the beginning. */
void follow_arm(struct hd_inject *inject);
/* What a launch's outcome means; false: nothing, it was done. */
bool follow_outcome(struct fault_verdict *verdict, const struct hd_result *result);
/* The fault's own end is known here; does not return. */
_Noreturn void follow_conclude(struct hd_inject *inject, enum hd_effect effect);
/* Counts words that differ. */
void compare_words(const struct hd_inject *inject, struct fault_verdict *verdict, const char *name,
                   const u8 *data, const u8 *golden, size_t bytes);

/* Only words in memory differ, which the launch does not touch any more: the process ends, and another
 * one begins at the end of the launch with these words. False: it must go on. */
bool program_park(struct hd_inject *inject);

/* program.c */
bool program_share(struct hd_inject *inject, struct error *error);
/* In the program's process: opens what the caller shares. */
bool program_join(struct hd_inject *inject, struct error *error);
/* Runs the program once: without faults, or faults [from, to). */
bool program_run_golden(struct hd_inject *inject, const struct hd_inject_host *host,
                        struct error *error);
bool program_run_faults(struct hd_inject *inject, const struct hd_inject_host *host, u64 from,
                        u64 to, struct error *error);
/* A launch of a fault's process has ended: the program goes on, in its own folder. */
void program_return(struct hd_inject *inject);
/* In the program's process, about to fork: whether it can. */
bool program_can_fork(struct hd_inject *inject);
/* A fault's process has ended, and its fate is not known. */
void program_judge(struct hd_inject *inject, u64 id, int status);
/* Faults of a program as all processes see them. */
struct injection *program_faults(const struct hd_inject *inject);

/* judge.c: compares a place with the golden one; true: files differ, and *verdict tells where. */
bool judge_files(const struct hd_inject *inject, const char *place, struct fault_verdict *verdict);

/* tally.c */
/* Half the width of the interval of the failure rate. */
f64 tally_half_width(const struct hd_inject *inject);
u64 tally_failures(const struct hd_inject *inject, u64 *total);

#endif
