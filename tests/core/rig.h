/*
 * One core by itself, for unit tests of its stages: made from a machine's parameters, between two
 * ports that the test holds the other ends of. Its code is a few instructions made by hand, which
 * no test runs: they are timed, and stages are called directly.
 */
#ifndef TEST_CORE_RIG_H
#define TEST_CORE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/config.h"
#include "core/common/common.h"

enum {
    RIG_INSTS = 16,
    RIG_REGISTERS = 128, /* vector registers of its kernel, unless a test says otherwise */
};

struct rig {
    struct config *config;
    struct core_config machine; /* as the core was made from it */
    struct port requests, replies;
    struct core *core;
    /* what it runs, as far as it is looked at */
    struct inst insts[RIG_INSTS];
    struct inst_time times[RIG_INSTS];
    struct function kernel;
    struct program program;
    struct image image;
    struct exec exec;
};

/* A configuration: a machine, and settings separated by blanks. */
struct config *rig_config(const char *machine, const char *settings);
/* A core of that machine; no launch has begun. */
void rig_open(struct rig *rig, const char *machine, const char *settings);
void rig_close(struct rig *rig);
/* A launch of the instructions in rig->insts begins; `explicit_exec`: they are code with EXEC. */
void rig_begin(struct rig *rig, bool explicit_exec);
/* Times of an instruction: `rig->times[i]` by the pipeline's own function. */
const struct inst_time *rig_time(struct rig *rig, u32 i);

/* ---- instructions ---- */

static inline struct operand vector(u32 index, u32 count)
{
    return operand_make(OPERAND_VECTOR, index, count);
}
static inline struct operand scalar(u32 index, u32 count)
{
    return operand_make(OPERAND_SCALAR, index, count);
}
static inline struct operand mask(u32 index)
{
    return operand_make(OPERAND_MASK, index, 1);
}

#endif
