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

/* What is known of a register. Several operands have the lowest of their tags. */
enum dac_tag {
    TAG_NONE,
    TAG_HIGH,   /* the upper half of a 64-bit affine value; the register before has TAG_AFFINE */
    TAG_AFFINE, /* affine: see exec/values.h */
    TAG_UNIFORM,
};

/* The result of an operation on affine sources that are not all uniform. */
enum dac_rule {
    RULE_NONE,   /* neither uniform nor affine */
    RULE_LINEAR, /* sum, difference, copy, select: affine */
    RULE_SCALE,  /* product, product and sum: affine if one factor is uniform */
    RULE_SHIFT,  /* left shift: affine if the count is uniform */
    RULE_THREAD, /* a coordinate of the thread */
};

/* Static properties of an instruction. */
struct dac_inst {
    u8 rule;
    bool pure;      /* each lane's results depend only on that lane's sources */
    bool removable; /* may be skipped if its sources are uniform or affine */
    bool load, compare;
    bool checked; /* the result is affine only if no lane wraps around: check its value */
    bool blocks;  /* no later instruction is skipped before it has issued */
};

enum {
    DAC_LANE = 3, /* the lane number follows the three coordinates */
    DAC_COORDINATES,
    DAC_CHANGES = 64
};

/* The tags of a slot after all issued instructions; with `ahead`, also after instructions in its
 * buffer. */
struct dac_view {
    u8 *tags;      /* by register */
    u64 *masks;    /* by mask: uniform, one bit each */
    bool ahead;    /* writes go to `changes`, not to `tags` and `masks` */
    bool full;     /* `changes` has overflowed: the tags are not known */
    bool no_masks; /* explicit EXEC: masks have no tags */
    bool warp;     /* SCOPE_WARP */
    u32 count;
    struct {
        u32 reg; /* number of the register or mask */
        bool mask;
        u8 tag;
    } changes[DAC_CHANGES];
};

/* The tags of an instruction's operands. */
struct dac_verdict {
    u8 sources; /* the lowest tag of its sources */
    u8 result;  /* tag of its first result */
};

/* dac_ideal_tags.c */
struct dac_inst dac_classify(const struct inst *inst, const struct inst_time *time,
                             bool changes_exec, bool loads);
/* `thread` has the tags of the threads' coordinates in the warp, and of the lane number
 * (DAC_LANE). */
struct dac_verdict dac_judge(const struct dac_view *view, const struct dac_inst *info,
                             const struct inst *inst, const u8 *thread);
/* Records that the instruction has written its results in all lanes. */
void dac_write(struct dac_view *view, const struct inst *inst, enum dac_tag result);

#endif
