/*
 * Fault injection: what bit flips in storage elements do to a program.
 *
 * A campaign runs a program several times in processes of its own, all forked from the caller at
 * the same point: once to record how it behaves without faults (the golden run), then again, and
 * this run forks a process at the cycle of each fault, which flips the bit and continues. So a
 * fault costs only the cycles from the flip until its fate is known.
 *
 *     struct hd_inject *inject = hd_inject_create(device, &plan, &error);
 *     hd_inject_run(inject, &host, &error);      calls host.run in the processes
 *     for (i = 0; hd_inject_fault(inject, i, &fault); i++) ...
 *
 * The device must have been opened with timing.live_state, use one thread and be ready for the
 * first launch; the calling process should have no other threads. Its own state does not change.
 *
 * A program that launches kernels itself (host.start in place of host.run) runs as a process of its
 * own. There, the code that opens the device calls hd_inject_join(), and hd_inject_launched() after each
 * launch. After its launch a forked process returns into the program, which goes on in a copy of its
 * folder until it ends; its exit code, or files that it has written, tell what became of the fault.
 */
#ifndef HEDDLE_INJECT_H
#define HEDDLE_INJECT_H

#include "heddle/heddle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What became of a fault; of several that apply, the last one. */
enum hd_effect {
    HD_EFFECT_NONE,   /* it has not been run */
    HD_EFFECT_MASKED, /* output and time are right, and so is all state that can still matter */
    HD_EFFECT_GRAY,   /* output and time are right, state or memory is not */
    HD_EFFECT_TIME,   /* the output is right, the number of cycles is not */
    HD_EFFECT_SDC,    /* the output is wrong: silent data corruption */
    HD_EFFECT_DUE,    /* detected: a fault of the guest, or a deadlock */
    HD_EFFECT_HANG,   /* a launch exceeds its limit of cycles */
    HD_EFFECTS
};
HD_API const char *hd_effect_name(enum hd_effect effect); /* "masked" */

struct hd_inject_plan {
    const char *structures; /* extended regular expression, matched against "unit.name" of storage
                             * elements; NULL: all */
    uint64_t faults;        /* at most */
    double half_width; /* above 0: stop when the failure rate is known within this, e.g. 0.01 */
    uint64_t seed;
    const char *model;     /* "bit", "burst:K", "stuck:CYCLES" or "word"; NULL: "bit" */
    const char *words;     /* how outputs are compared: "u32", "s32", "f32" or "f64"; NULL: "u32" */
    const char *list;      /* faults by name instead of random ones: the text of a table, or NULL */
    const char *list_name; /* for messages */
    double hang;           /* a launch hangs after this many times its cycles; 0: 2 */
    double audit;  /* share of early decisions that are checked by running to the end; 0: 1 % */
    uint32_t jobs; /* faults that run at the same time; 0: as many as the host has cores */
    int64_t only;  /* run only the fault with this id; below 0: all */
    uint64_t
        window;    /* 0: faults are followed to the end. Otherwise for so many cycles: then all bits
                       * that the model holds, and device memory, are compared */
    bool stratify; /* as many faults for each structure, instead of each bit */
    double tolerance; /* words that differ by at most this share of the right one are right */
    /* of programs that launch kernels themselves: */
    const char
        *folder; /* an empty one, for their files and what processes share; NULL: no program */
    const char *const
        *files; /* that the program writes and that are compared, in its folder; "-" is
                               * its standard output */
    uint32_t file_count;
    /* A file that keeps fates as they become known, or NULL. If it has those of the same campaign, which
     * was killed or stopped, the campaign goes on from there; it may be removed afterwards. */
    const char *keep;
};

struct hd_fault {
    uint64_t id;
    const char *structure; /* "collect.registers" */
    uint32_t owner;        /* number of the core or L2 slice */
    uint64_t entry;
    uint32_t bit;     /* of the entry; */
    uint64_t pattern; /* bits that are flipped, from `bit` on */
    uint32_t launch;  /* from 1 */
    uint64_t cycle;   /* of the launch */
    enum hd_effect effect;
    const char
        *decided;    /* how: "unused", "dead", "late", "converged", "written", "vanished", "window"
                              * or "end" */
    bool audited;    /* decided before the end, but run to it all the same; */
    bool disagrees;  /* and its fate was another one */
    bool crashed;    /* the simulator failed: a bug */
    uint64_t cycles; /* of all launches, if it ran to the end; else 0 */
    const char *output;      /* SDC: the first wrong output, */
    uint64_t wrong;          /* the number of wrong words in all outputs, */
    uint64_t first;          /* the first one in that output, */
    double error;            /* and the largest relative error */
    const char *detail;      /* DUE: the name of the outcome; gray in a window: "empty" if the entry
                              * holds nothing, then and at the end; or "" */
    const char *explanation; /* the launch's own, abridged; or "" */
    const char *story;       /* of a vector register: lines about what read it first, how many wrong
                              * results followed, and where they left the registers; or "" */
};

struct hd_inject;
HD_API struct hd_inject *hd_inject_create(struct hd_device *device,
                                          const struct hd_inject_plan *plan,
                                          struct hd_error *error);
HD_API void hd_inject_destroy(struct hd_inject *inject);

struct hd_inject_host {
    /* Runs the program from the beginning: all launches, up to the first that is not done. If all
     * are, gives every output, in the same order each time, to hd_inject_output. *result: of the
     * last launch. Must write no files. false: an error. */
    bool (*run)(void *user, struct hd_inject *inject, struct hd_result *result,
                struct hd_error *error);
    /* Called about ten times a second in the caller's process; false: stop, and keep what is done.
     * May be NULL. */
    bool (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
    /* In a process of hd_inject_replay, before it ends. May be NULL. */
    void (*replayed)(void *user);
    /* In place of run: starts the program in the folder `place`/cwd, with standard output and error
     * in the files stdout and stderr of `place`, and lets it give `job` to hd_inject_join(). The
     * process dies with this one. Returns its id, or -1 and an error. */
    int64_t (*start)(void *user, const char *place, const char *job, struct hd_error *error);
};
/* Runs the campaign. False: an error; what was done before it is kept. */
HD_API bool hd_inject_run(struct hd_inject *inject, const struct hd_inject_host *host,
                          struct hd_error *error);
/* Runs the program of host.run once more, in a process of its own, with one fault from its cycle to the
 * end; for traces. */
HD_API bool hd_inject_replay(struct hd_inject *inject, uint64_t id,
                             const struct hd_inject_host *host, struct hd_error *error);
/* An output: what a device address holds, or anything else (address 0). */
HD_API void hd_inject_output(struct hd_inject *inject, const char *name, hd_address address,
                             const void *data, size_t bytes);

/* ---- in the process of a program ---- */

/* Joins the campaign that has started this process; launches of the device belong to it. The device
 * stays in use as long as the process lives. */
HD_API struct hd_inject *hd_inject_join(struct hd_device *device, const char *job,
                                        struct hd_error *error);
/* After each launch in timing mode; result NULL: it was refused. True: this process has a fault. */
HD_API bool hd_inject_launched(struct hd_inject *inject, const struct hd_result *result);
/* The program ends: waits for the processes of faults. */
HD_API void hd_inject_leave(struct hd_inject *inject);
/* From now on this process, and what it starts, can write below these folders and to devices such as
 * /dev/null only. False: the host's kernel cannot do this (Landlock, Linux 5.13). */
HD_API bool hd_inject_confine(const char *const *folders, uint32_t count);

/* ---- results ---- */

/* Whether the program had other threads, so that each fault ran in a process from the beginning. */
HD_API bool hd_inject_threaded(const struct hd_inject *inject);

/* Faults in the order of their ids; false: there are no more. */
HD_API bool hd_inject_fault(const struct hd_inject *inject, uint64_t index, struct hd_fault *fault);
/* Counts and rates by structure and in total, with 95 % Wilson intervals; and what was run. Free
 * with hd_free. */
HD_API char *hd_inject_json(const struct hd_inject *inject);

/* The Wilson score interval of a share: `count` of `total`, for a normal quantile such as 1.96. */
HD_API void hd_wilson(uint64_t count, uint64_t total, double quantile, double *low, double *high);

#ifdef __cplusplus
}
#endif

#endif
