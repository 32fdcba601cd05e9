/* Internals of loscache: loscache.c (cores), loscache_l2.c (slices), loscache_cost.c. */
#ifndef MECH_LOSCACHE_H
#define MECH_LOSCACHE_H

#include "core/mechanism.h"
#include "mech/launch_time.h"
#include "mech/line_table.h"

#define COMPONENT loscache
#define COMPONENT_DEF "mech/loscache.def"
#include "base/component_struct.h"

enum {
    LOSCACHE_ENTRIES = 64,
    LOSCACHE_MOST = 63, /* a count has 6 bits */
    LOSCACHE_BITS = 6,
    LOSCACHE_IDEAL = 1,
    LOSCACHE_COMPARE_FIRST = 1
};

/*
 * Payloads. A request carries a prediction (0: none), 6 bits. While it is in its slice, two more bits
 * say what its answer will do. The answer carries one bit. The count of a line is asked for by a note
 * with the number of the table's entry, and comes back with 6 bits.
 */
enum {
    PAYLOAD_COUNT = 63,
    PAYLOAD_EARLY = 1 << 6, /* the tag of a gated line was hit */
    PAYLOAD_LAST = 1 << 7,  /* the line is gated when the answer leaves */
    PAYLOAD_ENTRY_SHIFT = 8,
    PAYLOAD_NOTE = 1 << 16 /* of this mechanism, not of another one that sends notes */
};

/* ---- cores ---- */

struct loscache_entry {
    u32 inst;
    u64 address; /* of the line that it accessed first */
    u8 count;    /* read back */
    u8 added;    /* by early gating */
    bool known;
};

enum loscache_phase {
    PHASE_PREDICTING,
    PHASE_READING, /* counts are being read back */
    PHASE_NORMAL
};

struct loscache {
    MECHANISM_STATE(loscache);
    struct core *core;
    enum loscache_phase phase;
    bool chosen;    /* the core has a predictor, */
    bool running;   /* and it may not be changed any more */
    u32 candidates; /* blocks of which it was drawn */
    u32 place;      /* of the predictor block, */
    u32 number;     /* and its number */
    u32 accesses;   /* of the prediction phase */
    u32 used;       /* entries */
    u32 asked, answered;
    struct loscache_entry entries[LOSCACHE_ENTRIES];
};

/* ---- slices ---- */

/* A place of the L2. */
struct loscache_line {
    u64 address;  /* device address of its data, or of those that were gated */
    u64 accessed; /* last, in launch time */
    u8 count;
    u8 predicted; /* last prediction; 0: none */
    bool held;    /* it holds data */
    bool powered;
    bool gated;  /* only its tag is left: of `address` */
    bool due;    /* to be gated, and */
    bool listed; /* in the list of such lines */
};

struct loscache_slice {
    struct loscache_memory *memory;
    struct packet asks;          /* the packet that was announced last, */
    struct packet *announced;    /* where it is, */
    bool counted;                /* whether it has accessed its line, */
    bool denied;                 /* and whether it was refused a line */
    struct loscache_line *lines; /* by place */
    u32 *due;                    /* places with `listed` */
    u32 due_count;
};

struct loscache_memory {
    MECHANISM_STATE(loscache);
    struct memory_system *system;
    struct loscache_slice *slices;
    u32 first, slice_count, sets, ways; /* first: number of the first slice */
    u32 powered;                        /* lines; in ideal gating, unused */
    struct launch_time time;
    u64 counted_to; /* launch time up to which sums are */
    u64 line_fs, powered_fs;
    bool gating; /* a line is being dropped because it is gated */
    /* the oracle: launch in which the last access to a line was predicted to be the last; 0: none */
    struct line_table table;
    u32 *closed;
    u32 launch;
    u64 closed_now, early_now, late_now; /* predictions of this launch */
};

void loscache_create_memory(void *memory, struct memory_system *system, u32 partition, u32 slices);
void loscache_destroy_memory(void *memory);
bool loscache_l2(void *memory, u32 slice, struct cache_hooks *hooks);
void loscache_launch_memory(void *memory, const struct exec *exec, bool begins, fs now);
void loscache_l2_request(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle);
void loscache_l2_reply(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle);
void loscache_l2_event(void *memory, u32 slice, const struct cache_event *event);
void loscache_l2_free(void *memory, u32 slice, fs now, u64 cycle);
void loscache_settle_memory(void *memory, fs now);

/* ---- costs ---- */

void loscache_storage(const void *params, struct state_list *list);
extern const struct energy_event loscache_events[];
extern const struct energy_power loscache_powers[];
extern const char *const loscache_deviations[];

#endif
