/*
 * What a plan comes down to: its distinct points, each with its key. Making it checks the whole
 * plan (P2 of plan.h). About 44 bytes are kept per point.
 */
#ifndef LAB_SURVEY_H
#define LAB_SURVEY_H

#include "lab/plan.h"

enum {
    SURVEY_NONE = UINT32_MAX
};

struct survey_program {
    const char *workload, *arguments;
    f64 expected; /* seconds, from the manifest of a workload; 0: unknown */
};

struct surveyed {
    u32 number;  /* of the first point with this key, in the plan */
    u32 program; /* in the survey */
    u8 key[SHA256_TEXT / 2];
};

struct survey {
    struct arena *arena;
    u64 wanted; /* points that are not excluded, equal ones included */
    u32 *of;    /* by number in the plan: index of the distinct point; SURVEY_NONE: not wanted */
    VEC(struct surveyed) points;
    VEC(struct survey_program) programs;
};

/* NULL and an error on failure. */
struct survey *survey_create(struct plan *plan, struct error *error);
void survey_destroy(struct survey *survey); /* NULL is fine */
/* The key as the store has it. */
void surveyed_key(const struct surveyed *point, char key[SHA256_TEXT]);

#endif
