/* How a run ended: "done", or why it failed. */
#ifndef LAB_OUTCOME_H
#define LAB_OUTCOME_H

#include "base/arena.h"
#include <jansson.h>

/* Why a run was stopped from outside. */
enum stop_reason {
    NOT_STOPPED,
    STOPPED_LATE, /* it reached its time limit */
    STOPPED_LARGE /* it reached its memory limit */
};

struct ended_process {
    int status; /* of waitpid */
    enum stop_reason stopped;
    bool by_heddle; /* as in struct point: the exit code is not that of a program */
    bool report;    /* another command of Heddle: it launches nothing */
    bool remote;    /* started through another host's shell, whose own failure is exit code 255 */
    const char *log;
    const char *statistics; /* as statistics.h keeps them, or NULL */
};

struct outcome {
    const char *status;  /* "done", or one of outcome_reasons */
    const char *message; /* of a failure, else "" */
};

/* Reasons of failures with explanations, ending with NULLs. */
struct outcome_reason {
    const char *name, *help;
};
extern const struct outcome_reason outcome_reasons[];

struct outcome outcome_judge(struct arena *arena, const struct ended_process *process);
/* The reason with this name, or NULL. */
const struct outcome_reason *outcome_find(const char *name);

#endif
