/* Register allocation: what regalloc*.c share. See regalloc.c. */
#ifndef ISA_PTX_REGALLOC_H
#define ISA_PTX_REGALLOC_H

#include "analysis/liveness.h"
#include "isa/ptx/lower.h"

#define NO_COLOR UINT32_MAX

/* A location (a web of a virtual register or mask) in the interference graph. */
struct node {
    u32 *neighbours;
    u32 neighbour_count;
    u32 group;
    u8 words;
    bool no_spill;
    u8 offset; /* words from its group's base */
    u32 hint;  /* a location it is copied from or to, or NO_COLOR */
    u32 color;
    f64 cost; /* of keeping it in memory: uses weighed by loop depth */
};

/* Nodes with fixed relative places: a pair, a tuple, or just one register. */
struct group {
    u32 *members;
    u32 count;
    u8 align; /* of its base, a power of two */
    u8 span;  /* words from the base to the end of the last member */
    bool is_mask;
};

struct graph {
    struct arena *arena;
    struct fn *fn;
    struct code code;
    struct cfg *cfg;
    struct liveness *live;
    struct node *nodes; /* by location */
    u32 node_count;
    struct group *groups;
    u32 group_count;
    u32 max_live, max_masks;
    bool reserve_first; /* register 0 is the stack pointer */
    bool too_large;     /* too many edges for memory: allocation fails */
};

/* regalloc_webs.c: one virtual register for each group of definitions that share uses. */
void split_webs(struct fn *fn);
/* regalloc_calls.c: saves registers that are live across calls. */
void save_across_calls(struct fn *fn);
/* regalloc_ahead.c: spills where the live values far exceed the registers; false if there are too
 * many live masks. */
bool spill_ahead(struct fn *fn, u32 limit);
/* regalloc_graph.c */
void graph_build(struct graph *g, struct arena *arena, struct fn *fn);
/* Makes groups of tuples; false when copies had to be added and the graph must be built anew. */
bool graph_group(struct graph *g);
/* regalloc_color.c: colours one class with at most `limit` registers, few if possible, and sets
 * `used`. False if it cannot; the nodes to spill are then marked in `spill` (vectors only; or
 * NULL). */
bool graph_color(struct graph *g, bool masks, u32 limit, u32 *used, u8 *spill);
/* The same with separate registers for short-lived and long-lived values (analysis/lifetimes.h):
 * those of long-lived ones come first. With a limit of 0, for values that are used only on sides of
 * branches that depend on the thread (analysis/sides.h): those come last. False if they do not fit;
 * nothing is spilled. */
bool graph_color_kinds(struct graph *g, u32 limit, u32 life_limit, u32 *used);
/* regalloc_spill.c */
void spill_webs(struct fn *fn, const u8 *spill);

#endif
