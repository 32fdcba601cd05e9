/*
 * Suites: the programs of a paper, written once and referred to by its experiments.
 *
 *     suite: xiang
 *     title: programs of Xiang et al., ICS 2013
 *     workloads:
 *       - id: VA                       # what the paper calls it
 *         workload: vecadd             # one that comes with Heddle, or
 *         program: ./my_program        # any OpenCL program; without either: we have none
 *         arguments: [--elements, 262144]
 *         quick: [--elements, 4096]    # of --quick; without: --quick of the workload itself
 *         set: {launch.registers: 16}  # settings of the machine that this program needs
 *         input: (512, 512)            # as the paper gives it
 *         remark: text
 *     groups:
 *       memory_bound: [VA, FFT]
 */
#ifndef LAB_SUITE_H
#define LAB_SUITE_H

#include "base/text.h"
#include "lab/fields.h"

enum {
    SUITE_MAX_WORKLOADS = 64,
    SUITE_MAX_GROUPS = 64
};

/* Tables that scripts/embed made, each ending with a NULL name. */
struct lab_files {
    const struct builtin_file *experiments, *workloads;
};

/* KEY=VALUE, as --set takes it. */
struct setting {
    const char *key, *value;
    u32 line, column;
};

struct settings {
    struct setting *list;
    u32 count;
};

struct suite_row {
    const char *id;
    const char *workload, *program;  /* at most one; neither: only the published values are shown */
    const char **arguments, **quick; /* NULL-terminated */
    struct settings settings;
    const char *input, *remark; /* "" when there is none */
};

struct suite_group {
    const char *name;
    u64 members; /* a bit a row */
};

struct suite {
    const char *name, *title, *file;
    struct suite_row *rows;
    u32 count;
    struct suite_group *groups;
    u32 group_count;
};

/* A file's text; it is found beside `beside` (a path, or NULL), then among the built-in ones.
 * `name` has no path. The text lives in the arena. */
const char *lab_find(struct arena *arena, const struct lab_files *files, const char *beside,
                     const char *name, const char **file, size_t *length, struct error *error);

/* From its mapping, of a suite file or inside an experiment. */
bool suite_read(const struct fields *fields, const struct lab_files *files, const struct yaml *map,
                struct suite *suite);
/* The row with this id, or -1; the group with this name, or -1. */
int suite_find(const struct suite *suite, const char *id);
int suite_find_group(const struct suite *suite, const char *name);
/* "id" or a list of them as bits; an unknown one is an error. */
bool suite_members(const struct fields *fields, const struct suite *suite, const struct yaml *node,
                   u64 *members);
/* {a.b: 1, c.d: x} */
bool settings_read(const struct fields *fields, const struct yaml *node, struct settings *settings);

#endif
