/*
 * What the files of the mechanism `rise` share: see rise.c.
 */
#ifndef MECH_RISE_H
#define MECH_RISE_H

#include "core/mechanism.h"

#define COMPONENT rise
#define COMPONENT_DEF "mech/rise.def"
#include "base/component_struct.h"

enum {
    RISE_BLOCK, /* the parameter `level` */
    RISE_WARP
};

enum {
    RISE_TIMER_BITS = 10,
    RISE_TIMER_MOST = (1 << RISE_TIMER_BITS) - 1,
    RISE_WAITING = 16,   /* copies that wait for a scheduler's turn */
    RISE_SET = 4096 / 64 /* words of a set of cores */
};

/* What an instruction in flight is. */
enum rise_role {
    ROLE_NONE, /* executed once */
    ROLE_MAIN, /* has a copy */
    ROLE_COPY,
    ROLE_THIRD, /* after a failed comparison */
    ROLE_GUEST, /* was executed before or is at the same time, by other lanes: struct rise_guest */
};

/* An instruction in flight. */
struct rise_record {
    u8 role;
    /* of a main instruction, or a guest: */
    bool due;      /* it has reached write-back; */
    u8 words;      /* its result takes this many registers of the buffer, */
    bool buffered; /* and has them; */
    bool differs;  /* the comparison has failed; */
    bool closed;   /* the results are the same, or were corrected */
    u16 copy;      /* NO_INFLIGHT: it has gone */
    u64 issued;    /* instructions that the warp had issued, itself included */
    /* of a copy or third execution: */
    u16 main;
};

/* Results for a slot's next instruction that lanes of another instruction compute, or lanes without a thread. */
enum rise_guest_state {
    GUEST_NONE,
    GUEST_COMPUTES, /* in the units, with its host */
    GUEST_WAITS,    /* its results are in the buffer */
    GUEST_LOST,     /* they found no room there */
    GUEST_STRAY,    /* not compared any more, but still in the units */
};
struct rise_guest {
    struct dyninst dyn;
    u8 state;       /* enum rise_guest_state */
    bool inside;    /* its host is the instruction itself */
    bool joined;    /* the instruction has issued, and compares its own results with these */
    u16 words;      /* of the buffer */
    lane_set lanes; /* that are computed */
};

/* Copies that are about to issue. */
struct rise_queue {
    u32 count;
    struct {
        u16 inflight;
        u64 from; /* the first cycle in which it may issue */
    } at[RISE_WAITING];
};

struct rise {
    MECHANISM_STATE(rise);
    struct core *core;
    struct rise_record records[CORE_INFLIGHT];
    struct rise_queue queues[CORE_SCHEDULERS];
    u32 buffered;              /* registers of the buffer in use */
    u32 left[CORE_BLOCKS];     /* instructions that the block still executes twice */
    u32 warp_left[CORE_WARPS]; /* the same of a warp (level=warp) */
    bool whole[CORE_BLOCKS];   /* the block is redundant throughout */
    /* rise_partial.c: */
    struct rise_guest guests[CORE_WARPS]; /* by slot of the thread's own warp */
    u8 hosted[CORE_INFLIGHT]; /* the slot whose guest computes in this instruction; NO_SLOT: none */
    u64 paired;               /* slots that are to issue with a guest, */
    u8 partner[CORE_WARPS];   /* of this slot; */
    u64 next;                 /* slots that are to issue next, because their guest has */
    u32 *rows;                /* of the guests' records */
    bool fewer;               /* the core is expected to get fewer blocks than others, */
    bool chosen;              /* and its redundant block has been chosen */
};

/* The dispatcher's. */
struct rise_dispatcher {
    MECHANISM_STATE(rise);
    bool drawn;
    u64 more[RISE_SET]; /* cores that are expected to get one more block */
};

/* A memory controller's. */
struct rise_memory {
    MECHANISM_STATE(rise);
    u64 until;      /* the sample ends with this cycle; */
    u64 sum, count; /* latencies in it */
    u32 latency;    /* the last sample's mean */
};

/* rise_compare.c: at write-back. */
/* Registers of the buffer that an instruction's result takes. */
u32 rise_words(const struct dyninst *dyn);
enum write_back_answer rise_write_back(void *state, struct core *core, struct inflight *inflight);
/* rise.c: the copy or third execution of an instruction, which is in the record, waits for its turn. False:
 * there is no room. */
bool rise_queue(struct rise *r, struct inflight *inflight, u64 from);

/* rise_partial.c: partners. */
enum {
    NO_SLOT = 0xff
};
/* Whether the mechanism executes instructions of a slot twice anyhow. */
bool rise_is_redundant(struct rise *r, u32 slot);
void rise_partial_launch(struct rise *r, bool begins);
/* A warp has started in a slot. */
void rise_partial_start(struct rise *r, u32 slot);
/* An instruction issues: it may be host, or have a guest. */
void rise_partial_issue(struct rise *r, struct inflight *inflight);
/* The next instruction of a slot issues without a guest. */
void rise_partial_pass(struct rise *r, u32 slot);
/* A host is at write-back. */
void rise_partial_due(struct rise *r, u32 index);
/* An instruction has retired; its warp may issue the next one. */
void rise_partial_retired(struct rise *r, const struct inflight *inflight);
void rise_pick(void *state, struct core *core, u32 scheduler, struct pick *pick);
/* The warp of a slot gets a random permutation of lanes. */
void rise_shuffle(struct rise *r, u32 slot);

/* rise_memory.c: at memory controllers. */
/* Equation 3.1: redundant cycles for a request that waited, at a controller with this latency. */
u32 rise_cycles(const struct rise_params *p, u64 waited, u32 latency);
bool rise_dram(void *memory, u32 channel, struct dram_hooks *hooks);

/* rise_cost.c */
void rise_storage(const void *params, struct state_list *list);
extern const struct energy_event rise_events[];
extern const char *const rise_deviations[];

#endif
