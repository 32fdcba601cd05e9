/*
 * Where points run. An executor takes points and gives back how they ended; each kind is a file of
 * its own, executor_*.c, and a row of the table in executor.c.
 *
 *  E1  A point that was given is ended exactly once, unless the executor is closed before.
 *  E2  Results do not depend on the executor: all run the same command line.
 *  E3  What an executor has started dies with it, or is found again by the next one (Slurm).
 *  E4  Opening checks only; files are made when the first point starts.
 */
#ifndef LAB_EXECUTOR_H
#define LAB_EXECUTOR_H

#include "lab/outcome.h"
#include "lab/plan.h"

struct run_limits {
    f64 seconds; /* per point, 0: no limit */
    u64 bytes;   /* of host memory per point, 0: no limit */
};

struct executor_setup {
    const char *heddle; /* the command that runs points */
    const char *folder; /* of the campaign; NULL: it has none */
    u32 parallel;       /* points at a time, unless the text says otherwise */
    struct run_limits limits;
    const char *build;          /* hash of Heddle's files */
    const char *const *options; /* for the scheduler, NULL-terminated; or NULL */
    u32 pack;                   /* points per task of a scheduler; 0: chosen by the executor */
};

/* How a point ended. `log` is removed by the executor when the next one is asked for. */
struct ended_run {
    u64 number; /* of the point */
    struct outcome outcome;
    char *statistics; /* as statistics.h keeps them; owned by the receiver; or NULL */
    const char *log;  /* a file, or NULL */
    f64 seconds;
    const char *full; /* the folder of statistics, which had no room for them: the point has no
                         result. Else NULL */
};

struct executor {
    const struct executor_kind *kind;
};

struct executor_kind {
    const char *name, *form, *help; /* "local", "local[:N]" */
    bool needs_folder;
    /* `text`: what follows the colon, or "". NULL and an error on failure. */
    struct executor *(*open)(const struct executor_setup *setup, const char *text,
                             struct error *error);
    /* How many points it takes now. */
    u32 (*room)(const struct executor *executor);
    bool (*start)(struct executor *executor, const struct point *point, u64 number,
                  struct error *error);
    /* No more points come for now: those that were given are to run. May be NULL. */
    bool (*submit)(struct executor *executor, struct error *error);
    /* The next point that has ended, in `arena`; false: none for now, or an error. */
    bool (*next)(struct executor *executor, struct arena *arena, struct ended_run *run,
                 struct error *error);
    /* The last point that has ended is in the store: its files are not needed any more. May be NULL.
     */
    void (*forget)(struct executor *executor);
    /* Asks what runs to end; `now`: without delay. */
    void (*stop)(struct executor *executor, bool now);
    void (*close)(struct executor *executor);
};

/* Opens the executor of `text`: NAME or NAME:MORE. */
struct executor *executor_open(const struct executor_setup *setup, const char *text,
                               struct error *error);
/* All kinds, ending with NULL. */
extern const struct executor_kind *const executor_kinds[];

/* A word quoted for a shell, if necessary. */
const char *shell_quoted(struct arena *arena, const char *word);

#endif
