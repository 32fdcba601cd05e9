/* Internals of the comparison: a run with what sections need of it, and how sections are filled. */
#ifndef COMPARE_RUNS_H
#define COMPARE_RUNS_H

#include "base/hash.h"
#include "compare/compare.h"

enum {
    MAX_REASONS = 32, /* kinds of issue slots: issued and stall reasons */
    DOCUMENT_SCHEMA = 2
};

/* Issue slots by what happened in them. */
struct slot_use {
    const char *names[MAX_REASONS]; /* "issued", "memory", ... */
    f64 slots[MAX_REASONS];
    u32 count;
    f64 total;
};

/* All launches of a kernel. */
struct kernel_use {
    const char *name;
    u64 launches, timed;
    f64 cycles, seconds;
    f64 pj; /* energy */
    struct slot_use slots;
};

struct compare_run {
    const char *label, *place;
    u32 points; /* of a sweep that stands for its runs; 0: this is one run */
    json_t *document;
    char sha256[SHA256_TEXT]; /* of the document's text */
    /* What the options select; set by run_select. */
    json_t *totals; /* statistics by name, owned */
    VEC(struct kernel_use) kernels;
    struct slot_use slots;
    u64 launches;
    f64 cycles, seconds;
    bool timed;          /* some selected launch has a time */
    const char *stopped; /* "kernel k: out_of_bounds": the first launch that did not end; NULL */
};

/* Applies --kernel: fills the fields that depend on it. False: no launch matches. */
bool run_select(struct arena *arena, struct compare_run *run, const regex_t *kernel);

/* A field of an object: "" or 0 if it is missing or of another type. */
const char *string_in(const json_t *object, const char *key);
f64 number_in(const json_t *object, const char *key);
/* A number, or a count in a string ("0x..."); false: neither. */
bool number_of(const json_t *value, f64 *number);
/* num / den of two statistics; false: one is missing, or den is 0. */
bool ratio_in(const json_t *stats, const char *num, const char *den, f64 *ratio);

/* What a run knows of a kernel; NULL: it has not launched it. */
const struct kernel_use *kernel_in(const struct compare_run *run, const char *name);
/* Calls `visit` for each kernel of any run, once. */
void each_kernel(struct run_comparison *c, struct compare_section *section,
                 void (*visit)(struct run_comparison *c, struct compare_section *section,
                               const char *name));

f64 slots_named(const struct slot_use *use, const char *name);
void slots_add(struct slot_use *use, const char *name, f64 slots);

/* ---- sections ---- */

/* A comparison without sections. */
struct run_comparison *comparison_start(struct arena *arena, struct compare_run *const *runs,
                                        u32 count, struct compare_options options);
/* Chooses the rows that are shown. */
void comparison_choose_rows(struct run_comparison *c);

struct compare_section *section_add(struct run_comparison *c, const char *name, const char *title,
                                    const char *heading);
/* A new row without values. The pointer is valid until the next row. */
struct compare_row *section_row(struct run_comparison *c, struct compare_section *section,
                                const char *name, enum quantity quantity);
void row_number(struct compare_row *row, u32 run, f64 number);
void row_text(struct compare_row *row, u32 run, const char *text);
void section_note(struct run_comparison *c, struct compare_section *section, const char *format,
                  ...) __attribute__((format(printf, 3, 4)));
void comparison_note(struct run_comparison *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The largest difference from the baseline of any run: absolute, or relative to the larger value.
 * A missing number counts as 0. */
f64 row_spread(const struct run_comparison *c, const struct compare_row *row);
f64 row_relative(const struct run_comparison *c, const struct compare_row *row);
/* The run whose value is farthest from the baseline. */
u32 row_farthest(const struct run_comparison *c, const struct compare_row *row);
/* Sorts rows from `first` on by weight. */
void section_sort(struct compare_section *section, u32 first);

/* ---- time ---- */

/* Times are written in cycles if all runs have the same core clock, else in seconds. */
enum quantity time_quantity(const struct run_comparison *c);
/* The time of a run, or of a number of its issue slots, in that quantity. */
f64 run_time(const struct run_comparison *c, const struct compare_run *run);
f64 slot_time(const struct run_comparison *c, const struct compare_run *run, f64 slots);
/* "memory 2 009 -> 1 181": the use of slots that changed most in the direction of the whole, between
 * the baseline and run `r`; "" if nothing changed. */
const char *main_reason(const struct run_comparison *c, const struct slot_use *from,
                        const struct slot_use *to, u32 r);
/* The part that changed most in the direction of `sign`, of those not in the set `taken`;
 * MAX_REASONS: none. `change`: its difference in time. */
u32 largest_change(const struct run_comparison *c, const struct slot_use *from,
                   const struct slot_use *to, u32 r, f64 sign, u32 taken, f64 *change);

/* A ratio of at least 1 with enough digits to see that it is not 1. */
const char *ratio_text(struct arena *arena, f64 ratio);
/* A value as text, and its change from the baseline's. */
const char *value_text(struct arena *arena, enum quantity quantity,
                       const struct compare_value *value);
const char *change_from(struct arena *arena, enum quantity quantity,
                        const struct compare_value *from, const struct compare_value *to);

/* ---- the parts of a comparison, in order ---- */
void compare_origin(struct run_comparison *c);
void compare_configuration(struct run_comparison *c);
void compare_time(struct run_comparison *c);
void compare_kernels(struct run_comparison *c);
void compare_launches(struct run_comparison *c);
void compare_slots(struct run_comparison *c);
void compare_memory(struct run_comparison *c);
void compare_energy(struct run_comparison *c);
void compare_lines(struct run_comparison *c);
void compare_statistics(struct run_comparison *c);
void compare_verdicts(struct run_comparison *c);

#endif
