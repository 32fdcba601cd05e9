/*
 * What the files of the mechanism `darsie` share: see darsie.c.
 */
#ifndef MECH_DARSIE_H
#define MECH_DARSIE_H

#include "core/mechanism.h"
#include "exec/values.h"

#define COMPONENT darsie
#define COMPONENT_DEF "mech/darsie.def"
#include "base/component_struct.h"

enum {
    STORES_OBEY,
    STORES_IGNORE
};
enum {
    SYNC_BRANCHES,
    SYNC_NONE
};

enum {
    DARSIE_RESULTS = 8,  /* vector registers that a shared instruction may write */
    DARSIE_SOURCES = 16, /* ids that it may read */
    DARSIE_TARGETS = 12, /* ids that it may write */
    DARSIE_WAYS = 1024,  /* nodes of a block's tree of ways, with sync=none */
    NO_VERSION = 0xffff,
    NO_ENTRY = 0xffff
};

/* Static properties of an instruction. An id is the number of a vector register, a mask or a
 * scalar, in this order. */
struct darsie_inst {
    bool marked;                /* redundant in the blocks of this launch */
    bool skips;                 /* marked, and may be skipped */
    bool load;                  /* a load of memory that stores may change */
    bool global;                /* such a load of memory that other blocks can write */
    bool branch;                /* warps may take different paths after it */
    bool barrier;               /* a barrier of all warps of the block */
    u8 number;                  /* of the barrier */
    bool tells;                 /* atomic, fence or volatile: blocks may communicate through it */
    u8 results;                 /* vector registers it writes */
    u8 sources, targets;        /* counts of the two lists */
    u16 source[DARSIE_SOURCES]; /* ids read */
    u16 target[DARSIE_TARGETS]; /* ids written */
};

/* An entry of a block's PC skip table: one execution of an instruction that warps skip. */
struct darsie_entry {
    u32 inst;
    u32 way;                      /* path of the warps that may use it (s->way) */
    u64 position;                 /* instructions on that way before this one */
    u64 to_pass;                  /* warps of the block that may still reach it */
    u64 waiting;                  /* of `to_pass`: warps that wait for it */
    u32 id;                       /* load id of its result: see darsie_loads.c */
    u16 inflight;                 /* of the leader; NO_INFLIGHT: not issued, or written */
    u8 leader;                    /* index of the warp in its block */
    u8 kind;                      /* enum values, of its operands */
    bool issued, written;         /* by the leader; `written` is the paper's LeaderWB */
    bool sync;                    /* a synchronisation point */
    u16 versions[DARSIE_RESULTS]; /* physical registers of its results */
    u32 masks[2][MAX_CHUNKS];     /* predicates it writes */
    u32 from[DARSIE_SOURCES];     /* load ids of the leader's sources */
};

/* A physical register of a block, and the version of a register that it holds. */
struct darsie_version {
    u64 users;    /* warps whose rename table maps to it */
    u16 reg;      /* the architectural register */
    u32 number;   /* versions of `reg` before this one */
    bool offered; /* an entry refers to it, or its leader has yet to write it */
};

/* A node of the tree of ways, the paths that warps have taken: see darsie_ways.c. */
struct darsie_way {
    u64 warps;  /* warps at this node */
    u32 parent; /* 0: none; of a free node: the next free one */
    u32 target; /* target of the branch that led here */
    u32 children;
    u32 entries; /* entries of the skip table for this way */
};

struct darsie_block {
    bool on;        /* the block has instructions to skip */
    u32 warps;      /* number of its warps */
    u64 live;       /* warps that have not ended */
    u64 live_slots; /* slots of `live` */
    u64 majority;   /* warps on the majority path */
    u64 arrived;    /* of `majority`: warps that wait after a branch */
    u64 since;      /* cycle of the first arrival */
    u64 stalled;    /* warps that do not fetch until their branch or barrier has taken effect */
    u32 open;       /* barriers of the whole block with waiting warps, one bit each */
    u32 way;        /* number of the majority's current way */
    u32 unacted;    /* stores that have issued and not accessed memory */
    u8 slots[CORE_WARPS];    /* by warp: its slot */
    u64 start[CORE_WARPS];   /* by warp: its instruction count at the start of its way */
    struct darsie_way *ways; /* DARSIE_WAYS nodes, from 1; NULL with sync=branches */
    u32 ways_free;           /* first free node, or 0 */
    u64 *used;               /* entries in use, one bit each */
    struct darsie_entry *entries;
    struct darsie_version *versions;
    u16 *freelist;
    u32 free_count, least_free;
    u32 *numbers; /* by register: versions allocated so far */
    u32 *values;  /* of physical registers, warp_size words each */
};

struct darsie_slot {
    struct register_view view;
    struct darsie_core *darsie;
    u32 slot;
    u8 block, warp;
    bool on;      /* a warp of a block with instructions to skip */
    bool leaving; /* its shared registers are copied before it issues anything else */
    u32 way;      /* its way; valid on the majority path */
    u64 probed;   /* 1 + position of an instruction that was looked up without success */
    u64 private;  /* 1 + position of a marked instruction that it executes itself */
    u32 leading;  /* instructions in flight whose results will be shared */
    u64 waits;    /* cycle in which it began to wait after a branch or for an entry */
    u64 *apart;   /* by register: shared, one bit each */
    u16 *map;     /* rename table: version by register, or NO_VERSION */
    u32 *ids;     /* by id: load ids, see darsie_loads.c */
};

struct darsie_inflight {
    u16 entry;   /* the entry that it leads, or NO_ENTRY */
    bool copy;   /* a move injected by this mechanism */
    bool stores; /* counted in `unacted` */
    u16 versions[DARSIE_RESULTS];
    u8 shared; /* results that go to shared registers; 0: they go to the warp's own */
};

struct darsie_core {
    MECHANISM_STATE(darsie);
    struct core *core;
    bool on; /* the launch has marked instructions */
    u32 warp_size, width;
    u32 registers;     /* vector registers of a warp */
    u32 words;         /* 64-bit words of a set of registers */
    u32 id_count;      /* vector registers, masks and scalars of a warp */
    u32 entry_count;   /* skip table entries of a block */
    u32 entry_words;   /* 64-bit words of a set of entries */
    u32 version_count; /* physical registers of a block */
    u32 next_id;       /* see darsie_loads.c */
    u64 deadline;      /* first cycle at which a block's patience ends */
    u64 write_turn;    /* next free turn of the write ports: cycle * ports + port */
    u64 taking_part;   /* slots on a majority path */
    struct darsie_inst *insts;
    struct core_copy *copies; /* by register */
    void *memory;
    struct darsie_slot slots[CORE_WARPS];
    struct darsie_block blocks[CORE_BLOCKS];
    struct darsie_inflight *inflight; /* CORE_INFLIGHT */
};

static inline bool in_set(const u64 *set, u32 at)
{
    return set[at / 64] >> at % 64 & 1;
}
static inline void set_put(u64 *set, u32 at)
{
    set[at / 64] |= 1ull << at % 64;
}
static inline void set_take(u64 *set, u32 at)
{
    set[at / 64] &= ~(1ull << at % 64);
}
static inline struct darsie_block *block_of(struct darsie_core *d, const struct darsie_slot *s)
{
    return &d->blocks[s->block];
}
/* The slots of a set of warps of a block. */
static inline u64 slots_of(const struct darsie_block *b, u64 warps)
{
    u64 slots = 0;
    for (; warps; warps &= warps - 1)
        slots |= bit(b->slots[first_bit(warps)]);
    return slots;
}
/* Instructions that a warp has issued or skipped on its way. */
static inline u64 passed(const struct darsie_core *d, const struct darsie_block *b, u32 warp)
{
    return core_slot(d->core, b->slots[warp])->warp->instructions - b->start[warp];
}
#define EACH_ENTRY(e, d, b)                                    \
    for (u32 w_ = 0; w_ < (d)->entry_words; w_++)              \
        for (u64 set_ = (b)->used[w_]; set_; set_ &= set_ - 1) \
            for (struct darsie_entry *e = &(b)->entries[w_ * 64 + first_bit(set_)]; e; e = NULL)

/* darsie_cost.c: storage, energy and deviations. */
void darsie_storage(const void *params, struct state_list *list);
extern const struct energy_event darsie_events[];
extern const char *const darsie_deviations[];

/* darsie_table.c: the skip table, its ports and leader election. */
void table_skip_fetch(struct darsie_core *d, u64 wanting, struct skip_fetch *answer);
/* Whether a marked instruction may be part of the fetch that begins at fetch_at. */
bool table_comes_along(const struct darsie_core *d, u32 slot, u32 inst);
void table_fetched(struct darsie_core *d, u32 slot, u32 inst, u32 count);
enum skip_answer table_skip(struct darsie_core *d, u32 slot, u32 inst);
/* A marked instruction issues: decides whether it leads. */
void table_issued(struct darsie_core *d, struct inflight *inflight);
/* The leader has written its result. */
void table_written(struct darsie_core *d, struct darsie_block *b, struct darsie_entry *e);
void table_remove(struct darsie_core *d, struct darsie_block *b, struct darsie_entry *e);
void table_flush(struct darsie_core *d, struct darsie_block *b);
/* A warp has taken a branch: it will not reach entries of other ways. */
void table_moved(struct darsie_core *d, struct darsie_block *b, u32 warp);
/* A warp will not reach any entry any more. */
void table_forget(struct darsie_core *d, struct darsie_block *b, u32 warp);
/* Warps that wait for an entry execute the instruction themselves. Returns whether there were
 * any. */
bool table_give_up(struct darsie_core *d, struct darsie_block *b);

/* darsie_rename.c: versions of registers, and the rename tables. */
void rename_start(struct darsie_core *d, struct darsie_slot *s);
void rename_end(struct darsie_core *d, struct darsie_slot *s);
/* Allocates physical registers for the results of an instruction; false: not enough are free. */
bool rename_take(struct darsie_core *d, struct darsie_block *b, const struct inst *code,
                 u16 *versions);
/* The versions are no longer offered (R2). */
void rename_give(struct darsie_core *d, struct darsie_block *b, const u16 *versions, u32 count);
/* Maps a register of the warp to a version. */
void rename_set(struct darsie_core *d, struct darsie_slot *s, u32 reg, u16 version);
/* Unmaps a register: the warp's own register has its value. */
void rename_clear(struct darsie_core *d, struct darsie_slot *s, u32 reg);
void rename_read(const struct register_view *view, const struct warp *warp, u32 reg, u32 *row);
void rename_whole(const struct register_view *view, struct warp *warp, u32 reg);
/* A shared register to be copied before an instruction may issue, or UINT32_MAX. */
u32 rename_needs(struct darsie_core *d, struct darsie_slot *s, u32 inst);
enum issue_answer rename_copy(struct darsie_core *d, u32 slot, u32 inst, u32 reg);
void rename_copied(struct darsie_core *d, const struct inflight *inflight);
void rename_places(struct darsie_core *d, const struct inflight *inflight, bool write,
                   struct places *places);

/* darsie_paths.c: the warps on the majority path. */
void paths_start_block(struct darsie_core *d, u32 block_slot);
void paths_end_block(struct darsie_core *d, u32 block_slot);
/* A branch, barrier or exit of a warp has taken effect. */
void paths_control(struct darsie_core *d, u32 slot, u32 inst);
/* A warp leaves the majority path. */
void paths_leave(struct darsie_core *d, struct darsie_slot *s);
/* Releases warps that have waited too long, or all if `stuck`. Returns whether there were any. */
bool paths_give_up(struct darsie_core *d, bool stuck);
/* Warps that wait for a branch or barrier in their buffer fetch again. */
void paths_unstall(struct darsie_core *d, struct darsie_block *b, u64 warps);

/* darsie_ways.c, for sync=none. All majority warps begin at the root of a new tree. */
void ways_start(struct darsie_core *d, struct darsie_block *b);
/* A warp has branched to `target`. False: no free node for its way. */
bool ways_move(struct darsie_core *d, struct darsie_slot *s, u32 target);
void ways_leave(struct darsie_core *d, struct darsie_slot *s);
/* An entry of the skip table for this way is allocated, or removed. */
void ways_entry(struct darsie_block *b, u32 way, bool made);
/* Warps at the ancestors of a way, which may still take it. */
u64 ways_before(const struct darsie_block *b, u32 way);

/* darsie_loads.c: when loads, and what depends on them, have the same results. */
void loads_issued(struct darsie_core *d, struct inflight *inflight);
void loads_acted(struct darsie_core *d, struct inflight *inflight);
/* Whether the warp's sources have the load ids of the entry's leader. */
bool loads_same(const struct darsie_core *d, const struct darsie_slot *s,
                const struct darsie_entry *e);
/* Whether a load may be skipped despite stores; LOADS_STALE: the warp has its own value. */
enum loads_answer {
    LOADS_FRESH,
    LOADS_STALE,
    LOADS_WAIT
};
enum loads_answer loads_compare(struct darsie_core *d, struct darsie_slot *s,
                                const struct darsie_entry *e);
/* Sets the load ids of an instruction's results: the entry's, or new ones (NULL). */
void loads_passed(struct darsie_core *d, struct darsie_slot *s, u32 inst,
                  const struct darsie_entry *e);

#endif
