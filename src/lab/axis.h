/*
 * Axes: what a plan varies. Each kind of axis is a row of the table in axis.c, which knows how to
 * read its values and what a value changes in a run. A new kind is a new row.
 *
 *     axes:
 *       - {set: l1d.sets, values: [8, 16, 32]}     # also 8..64*2, 1..9+2
 *       - machine: [gtx480, titanx]
 *       - mechanism: [none, darsie, {uniform: {mode: intra}}]
 *       - workload: [hotspot, bfs --block 256, {id: big, workload: bfs, arguments: [...]}]
 *       - program: [./app 1024]
 *       - kernel: [saxpy.ptx --grid 4 --block 256 --arg zero:4K]
 *       - configuration: {base: {}, more: {set: {gpu.cores: 30}}}
 *       - {inject: structures, values: [registers, shared]}   # options of `heddle inject`
 *       - seed: 1..5
 *       - chip: chips.db:0..9                      # also a list, and files of maps
 */
#ifndef LAB_AXIS_H
#define LAB_AXIS_H

#include "lab/suite.h"

enum {
    AXIS_MAX_VALUES = 1 << 20
};

/* One run, as the values of the axes have chosen it. */
struct recipe {
    const char *machine; /* NULL: not chosen yet */
    struct text_place machine_place;
    const struct mechanism_list **mechanisms; /* in the order of the axes */
    u32 mechanism_count;
    const struct settings **settings; /* in the order of the axes; the last one wins */
    u32 settings_count;
    const struct settings **faults; /* likewise; of `heddle inject` (faults.h) */
    u32 faults_count;               /* 0: the program runs without faults */
    const char *chip;               /* as `heddle run --chip` takes it; NULL: none */
    struct text_place chip_place;
    const struct suite_row *row; /* the program */
};

struct axis_value {
    const char *label; /* in tables; two values of an axis have different labels */
    struct text_place place;
    union { /* by kind */
        const char *machine;
        const char *chip;
        struct settings settings;
        struct mechanism_list mechanisms;
        struct configuration configuration;
        struct suite_row row;
    };
};

struct axis {
    const struct axis_kind *kind;
    const char *name; /* the column of the table: "l1d.sets", "mechanism" */
    struct axis_value *values;
    u32 count;
    f64 *numbers; /* of the labels, if all are numbers, else NULL */
    struct text_place place;
};

struct axis_kind {
    const char *key;  /* in a plan file */
    const char *name; /* of the axis, unless the plan names it; NULL: by what it sets */
    bool chooses_program, chooses_machine, repeats; /* repeats: values are samples of one point */
    bool (*read)(const struct fields *fields, const struct lab_files *files,
                 const struct yaml *node, struct axis *axis);
    void (*apply)(const struct axis_value *value, struct recipe *recipe);
};

/* Reads an element of `axes`. */
bool axis_read(const struct fields *fields, const struct lab_files *files, const struct yaml *node,
               struct axis *axis);
/* Axes of what experiments write without `axes`. */
void axis_of_configurations(struct arena *arena, const struct configuration *list, u32 count,
                            struct axis *axis);
void axis_of_rows(struct arena *arena, const struct suite *suite, const bool *members,
                  struct axis *axis);
/* The number that a label stands for, if any: 8 and 0x8, 16K and 16384 are the same value. */
bool axis_number(const char *label, f64 *number);
/* The value with this label, or -1; numbers are equal if their values are. */
int axis_find(const struct axis *axis, const char *label);

#endif
