/*
 * Guest faults and outcomes of a launch. A fault is a value in the launch's outcome, never an error
 * of the API and never a crash.
 */
#ifndef EXEC_FAULT_H
#define EXEC_FAULT_H

#include "base/types.h"

enum outcome {
    OUTCOME_DONE,
    OUTCOME_OUT_OF_BOUNDS, /* "out_of_bounds" and so on in JSON */
    OUTCOME_USE_AFTER_FREE,
    OUTCOME_MISALIGNED,
    OUTCOME_READ_ONLY,      /* store to constants or code */
    OUTCOME_DEADLOCK,       /* a barrier or .sync that can never complete */
    OUTCOME_STACK_OVERFLOW, /* local memory or path tree exhausted */
    OUTCOME_BAD_CALL,       /* indirect target is not a function; jump table index out of range */
    OUTCOME_ASSERT,
    OUTCOME_TRAP,
    OUTCOME_HEAP,  /* free of memory that malloc did not return */
    OUTCOME_LIMIT, /* max_instructions or max_seconds */
    OUTCOME_INTERRUPTED,
    OUTCOME_CHECK, /* a mechanism has found that an assumption does not hold */
};

const char *outcome_name(enum outcome outcome);

struct fault {
    enum outcome outcome;
    u32 inst; /* index in the program */
    u32 block[3], thread[3];
    u64 address;
    u32 bytes;
    char message[4096]; /* the whole explanation, several lines */
};

#endif
