/*
 * The jobs of experiments: every configuration with every program, each once however many
 * experiments need it.
 *
 *  P1  A job's key is a hash of everything that its result depends on: the files of Heddle and of
 *      the program, the compiler of its kernels, its arguments, and the resolved configuration.
 *      Names of configurations and experiments are not part of it.
 *  P2  Machines, mechanisms, settings and statistics are checked here, before anything runs.
 */
#ifndef LAB_PLAN_H
#define LAB_PLAN_H

#include "base/hash.h"
#include "lab/experiment.h"
#include <jansson.h>

/* Paths of Heddle's parts. */
struct lab_host {
    const char *heddle; /* the command that runs a job */
    const char *driver; /* the OpenCL driver, which contains the simulator, too; or NULL */
    /* Paths of a workload's program and of the source of its kernels; NULL if absent. */
    const char *(*program)(void *user, struct arena *arena, const char *workload);
    const char *(*kernels)(void *user, struct arena *arena, const char *workload);
    void *user;
};

enum job_state {
    JOB_WAITING,
    JOB_DONE,
    JOB_FAILED
};

struct job {
    char key[SHA256_TEXT];
    const char *label;    /* "VA, intra", for progress */
    const char **words;   /* command line without --stats; NULL-terminated */
    const char **program; /* words after "--" */
    const char *workload, *arguments, *machine, *configuration;
    f64 expected; /* seconds; 0: unknown */
    enum job_state state;
    const char *status, *message; /* of JOB_FAILED */
    json_t *statistics;           /* of JOB_DONE: without launches and profile */
};

/* An experiment in a plan. */
struct planned {
    const struct experiment *experiment;
    const char *only; /* requested workload ids, or NULL: all */
    bool *members;    /* by row of the suite: it is selected */
    u32 *jobs;        /* [configuration * rows + row], or NO_JOB */
};
enum {
    NO_JOB = UINT32_MAX
};

struct plan {
    struct arena *arena;
    const struct lab_host *host;
    const struct lab_files *files;
    bool quick;
    char build[SHA256_TEXT];
    char compilers[2][SHA256_TEXT]; /* hashes of the compilers for PTX, and for Southern Islands */
    VEC(struct job) jobs;
    VEC(struct planned) experiments;
};

struct plan *plan_create(const struct lab_host *host, const struct lab_files *files, bool quick,
                         struct error *error);
void plan_destroy(struct plan *plan); /* NULL is fine */
/* `only`: ids separated by commas, or NULL for all. Rows of the suite without a program are left
 * out. */
bool plan_add(struct plan *plan, const struct experiment *experiment, const char *only,
              struct error *error);
/* The job of a configuration and a row, or NULL. */
struct job *plan_job(const struct plan *plan, const struct planned *planned, u32 configuration,
                     u32 row);
/* The command line of a job as a user would type it. */
const char *job_command(struct arena *arena, const struct job *job);
/* The command line of the experiment, with the options that affect its numbers. */
const char *planned_command(struct arena *arena, const struct plan *plan,
                            const struct planned *planned);

#endif
