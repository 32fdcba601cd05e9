/*
 * A plan file: what to run, what to compute from the statistics, and, for an experiment of a paper,
 * what was published. docs/campaigns.md and docs/reproduce.md describe it; in short:
 *
 *     sweep: cache                       # or `experiment:`
 *     machine: gtx480                    # unless an axis or a configuration chooses it
 *     chip: chips.db:0                   # likewise; none by default
 *     set: {gpu.cores: 30}
 *     inject: {faults: 200}              # points are campaigns of faults: faults.h
 *     axes: [{set: l1d.sets, values: [8, 16]}, {workload: [bfs, hotspot]}]
 *     exclude: [{l1d.sets: 8, workload: bfs}]
 *     baseline: {l1d.sets: 8}
 *     columns: [timing.cycles, {name: gain, formula: baseline.timing.cycles / timing.cycles}]
 *
 * The space of a plan is the product of its `configurations`, its `axes`, and the workloads of its
 * `suite` or `workloads`, in this order. A plan without `axes` is an experiment: its columns
 * combine configurations, and have published values beside:
 *
 *     experiment: xiang-fig5
 *     title: text
 *     source: {paper: text, figure: 5}
 *     suite: xiang                       # suite-xiang.yaml, or `workloads:` as in a suite
 *     workloads: [VA, FFT]               # only these of the suite
 *     machine: gtx285                    # of all configurations that name no other
 *     set: {core.count: 30}              # of all configurations
 *     configurations:
 *       base: {}
 *       intra: {mechanisms: {uniform: {mode: intra}}, set: {key: value}, machine: name}
 *     columns:
 *       - name: intra
 *         formula: 100 * (base.timing.cycles / intra.timing.cycles - 1)
 *         unit: "%"
 *         mean: growth
 *         published: {RAY: 8.6, mean: 7.4}
 *     orderings:
 *       - check: intra <= combined
 *         on: mean
 *     remarks: {all: text, VA: text}
 *
 *  E1  Everything that can be checked without running anything is checked when it is read, except
 *      machines, mechanisms, settings and statistics, which depend on the build (plan.h).
 */
#ifndef LAB_EXPERIMENT_H
#define LAB_EXPERIMENT_H

#include "lab/space.h"

/* How the mean of a column is computed. */
enum mean_kind {
    MEAN_GEOMETRIC,  /* of the values, which must be positive */
    MEAN_GROWTH,     /* percent gained: geometric, of 1 + x / 100 */
    MEAN_SAVING,     /* percent saved: geometric, of 1 - x / 100 */
    MEAN_ARITHMETIC, /* of the values */
    MEAN_NONE
};

/* A published number; `given` says whether there is one. */
struct published_number {
    f64 value;
    bool given;
};

struct column {
    const char *name, *title, *unit, *text;
    struct formula *formula;
    enum mean_kind mean;
    u32 digits; /* after the decimal point */
    struct text_place place;
    struct published_number *rows;   /* by row of the suite */
    struct published_number *groups; /* means of the suite's groups */
    struct published_number published_mean, published_max, published_min;
};

/* The values that an ordering compares. */
enum ordering_place {
    ON_MEAN,
    ON_MAX,
    ON_MIN,
    ON_EACH, /* all of `members` */
};

struct ordering {
    const char *text, *on, *note;
    struct comparison *comparison;
    enum ordering_place place;
    const bool *members; /* by row of the suite */
};

struct remark {
    const char *id; /* NULL: applies to all */
    const char *text;
};

struct experiment {
    const char *name, *title, *paper, *figure, *file;
    const char *machine; /* of all runs, unless an axis chooses another; or NULL */
    struct text_place machine_place;
    const char *chip; /* of all runs, unless an axis or a configuration chooses another; or NULL */
    struct settings settings; /* of all runs */
    struct settings faults;   /* likewise: options of `heddle inject` */
    struct space space;
    bool tabular; /* an experiment: columns combine configurations, a row for each workload */
    bool has_baseline;
    i64 baseline[SPACE_MAX_AXES]; /* by group of axes: the value of the baseline; -1: any */
    const char *given;            /* as given by the user: a name or a path */
    struct suite suite;
    const bool *members; /* by row of the suite: it is in this experiment */
    bool *means;         /* by group of the suite: its mean is shown */
    struct configuration *configurations;
    u32 configuration_count;
    struct column *columns;
    u32 column_count;
    struct ordering *orderings;
    u32 ordering_count;
    struct remark *remarks;
    u32 remark_count;
};

/* Loads by name, or by path (anything with a slash or ending in .yaml, .yml or .json), into the
 * arena; NULL and an error on failure. */
struct experiment *experiment_load(struct arena *arena, const struct lab_files *files,
                                   const char *name_or_path, struct error *error);
/* Parses text; `file` is used in messages and, if `beside`, to look for suites first. The entry for
 * fuzzing. */
struct experiment *experiment_parse(struct arena *arena, const struct lab_files *files,
                                    const char *text, size_t length, const char *file, bool beside,
                                    struct error *error);

/* Reads a plan from its tree. `file`: as in experiment_parse. */
struct experiment *experiment_read(struct arena *arena, const struct lab_files *files,
                                   const struct yaml *map, const char *file, bool beside,
                                   struct error *error);

/* "geometric mean" */
const char *mean_name(enum mean_kind kind);
/* The configuration with this name (of `length` bytes), or NULL. */
const struct configuration *experiment_configuration(const struct experiment *experiment,
                                                     const char *name, size_t length);
/* The column with this name (of `length` bytes), or -1. */
int experiment_column(const struct experiment *experiment, const char *name, size_t length);

#endif
