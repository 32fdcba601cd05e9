/*
 * The points of plans: everything that experiments and sweeps run.
 *
 *  P1  A point's key is a hash of everything that its result depends on: the files of Heddle and of
 *      the program, files among its arguments, the compiler of its kernels, its arguments, the
 *      objects of its mechanisms, the resolved configuration and the maps of the chip. Names of axes, configurations and
 *      plans are not part of it.
 *  P2  Machines, mechanisms, settings and statistics are checked here, before anything runs.
 *  P3  Points are made one at a time from their number; a plan keeps nothing per point.
 */
#ifndef LAB_PLAN_H
#define LAB_PLAN_H

#include "base/toolchain.h"
#include "lab/experiment.h"
#include <jansson.h>

/* Paths of Heddle's parts. */
struct lab_host {
    const char *heddle; /* the command that runs a point */
    const char *driver; /* the OpenCL driver, which contains the simulator, too; or NULL */
    /* Paths of a workload's program and of the source of its kernels; NULL if absent. */
    const char *(*program)(void *user, struct arena *arena, const char *workload);
    const char *(*kernels)(void *user, struct arena *arena, const char *workload);
    void *user;
};

/* One run. */
struct point {
    char key[SHA256_TEXT];
    const char **words;   /* command line without --stats; NULL-terminated */
    const char **program; /* words after "--" */
    const char *workload, *arguments, *machine, *configuration;
    bool
        by_heddle; /* its exit code is Heddle's own: of a kernel file, a report, or a campaign of faults */
    bool report; /* no run: another command of Heddle, whose findings are the statistics */
};

/* An experiment or a sweep in a plan. */
struct planned {
    const struct experiment *experiment;
    const char *only; /* requested workload ids, or NULL: all */
    bool *members;    /* by row of the suite: it is selected */
    u64 first;        /* number of its first point in the plan */
};

struct plan {
    struct arena *arena;
    const struct lab_host *host;
    const struct lab_files *files;
    bool quick;
    char build[SHA256_TEXT];
    char compilers[CODE_TARGETS_END][SHA256_TEXT]; /* hashes of the compilers, by target */
    VEC(struct planned) experiments;
    u64 count; /* points, unwanted ones included */
    struct resolver *resolver;
};

struct plan *plan_create(const struct lab_host *host, const struct lab_files *files, bool quick,
                         struct error *error);
void plan_destroy(struct plan *plan); /* NULL is fine */
/* `only`: ids separated by commas, or NULL for all. */
bool plan_add(struct plan *plan, const struct experiment *experiment, const char *only,
              struct error *error);
/* The statistics that columns may use, as hd_stats_table_json has them, and those of mechanisms in
 * shared objects that the plan names. NULL and an error: one cannot be loaded. */
json_t *plan_statistics(const struct experiment *experiment, struct error *error);
/* Whether any point is a campaign of faults. */
bool plan_injects(const struct experiment *experiment);
/* The experiment of a point; `number` becomes the point's number in its space. */
const struct planned *plan_part(const struct plan *plan, u64 *number);
/* Whether a point is to be run: it is not excluded, its workload is selected and exists. */
bool plan_wants(const struct plan *plan, u64 number);
/* Makes a wanted point in `arena`, but for its key and its configuration: they take a hundred times
 * as long. */
void plan_command(const struct plan *plan, u64 number, struct arena *arena, struct point *point);
/* Makes a wanted point in `arena`. */
bool plan_point(struct plan *plan, u64 number, struct arena *arena, struct point *point,
                struct error *error);
/* The duration of a wanted point in seconds, judging by its workload's manifest; 0: unknown. */
f64 plan_expected(const struct plan *plan, u64 number, struct arena *arena);
/* The number of a configuration and a row of an experiment. */
u64 plan_number(const struct planned *planned, u32 configuration, u32 row);
/* The command line of a point as a user would type it. */
const char *point_command(struct arena *arena, const struct point *point);
/* The command line of the experiment, with the options that affect its numbers. */
const char *planned_command(struct arena *arena, const struct plan *plan,
                            const struct planned *planned);

#endif
