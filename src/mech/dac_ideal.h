/*
 * What the files of the mechanism `dac_ideal` share: see dac_ideal.c.
 */
#ifndef MECH_DAC_IDEAL_H
#define MECH_DAC_IDEAL_H

#include "core/mechanism.h"

#define COMPONENT dac_ideal
#define COMPONENT_DEF "mech/dac_ideal.def"
#include "base/component_struct.h"

enum {
    SCOPE_BLOCK,
    SCOPE_WARP
};
enum {
    RESULTS_ANY,
    RESULTS_AFFINE
};

/* What is known of a register. Of several operands the least holds. */
enum dac_tag {
    TAG_NONE,
    TAG_HIGH,   /* with the register before it, it is an affine value of 64 bits */
    TAG_AFFINE, /* values.h */
    TAG_UNIFORM,
};

/* What an operation makes of affine sources, when not all are uniform. */
enum dac_rule {
    RULE_NONE,   /* something else */
    RULE_LINEAR, /* sums, differences, copies, one of two: affine */
    RULE_SCALE,  /* a product, and something added: affine if one factor is uniform */
    RULE_SHIFT,  /* to the left: affine by a uniform count */
    RULE_THREAD, /* a coordinate of the thread */
};

/* What an instruction is here. */
struct dac_inst {
    u8 rule;
    bool pure;      /* its results follow from its sources, lane by lane */
    bool removable; /* if they are uniform or affine */
    bool load, compare;
    bool checked; /* that its result is affine depends on the values: they may wrap around */
    bool blocks;  /* nothing behind it is passed over before it has issued */
};

enum {
    DAC_LANE = 3, /* behind the coordinates of a thread: the number of its lane */
    DAC_COORDINATES,
    DAC_CHANGES = 64
};

/* Tags of a slot, as they are when its warp has issued all before; or `ahead`, behind instructions
 * that stand in its buffer. */
struct dac_view {
    u8 *tags;      /* by register */
    u64 *masks;    /* bits: uniform */
    bool ahead;    /* changes go to the list, */
    bool full;     /* which may have no room */
    bool no_masks; /* explicit EXEC: masks are as any scalars */
    bool warp;     /* SCOPE_WARP */
    u32 count;
    struct {
        u32 reg; /* or mask, */
        bool mask;
        u8 tag;
    } changes[DAC_CHANGES];
};

/* An instruction under tags. */
struct dac_verdict {
    u8 sources; /* the least of their tags */
    u8 result;  /* of its results, the first one's */
};

/* dac_ideal_tags.c */
struct dac_inst dac_classify(const struct inst *inst, const struct inst_time *time,
                             bool changes_exec, bool loads);
/* `thread`: what coordinates of threads are in its warp; and the number of a lane (DAC_LANE). */
struct dac_verdict dac_judge(const struct dac_view *view, const struct dac_inst *info,
                             const struct inst *inst, const u8 *thread);
/* The instruction has written its results, all lanes of them. */
void dac_write(struct dac_view *view, const struct inst *inst, enum dac_tag result);

#endif
