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
    DARSIE_RESULTS = 8,  /* vector registers of one instruction that may be shared, */
    DARSIE_SOURCES = 16, /* registers and masks that it may read, */
    DARSIE_TARGETS = 12, /* and write */
    DARSIE_WAYS = 1024,  /* of a block, with sync=none */
    NO_VERSION = 0xffff,
    NO_ENTRY = 0xffff
};

/* What the mechanism knows of an instruction. */
struct darsie_inst {
    bool marked;                /* the same in all warps, in blocks of this launch; */
    bool skips;                 /* and it may be skipped */
    bool load;                  /* of memory that stores may change, */
    bool global;                /* and that other blocks see */
    bool branch;                /* warps may part behind it */
    bool barrier;               /* of all warps of the block, */
    u8 number;                  /* which */
    bool tells;                 /* atomic, fence or volatile: blocks may communicate by it */
    u8 results;                 /* vector registers it writes */
    u8 sources, targets;        /* registers and masks that it reads, and writes: */
    u16 source[DARSIE_SOURCES]; /* masks and scalars are counted behind all vector registers */
    u16 target[DARSIE_TARGETS];
};

/* An instruction that is being skipped: a line of a block's PC skip table. */
struct darsie_entry {
    u32 inst;
    u32 way;              /* how the warps that may use it have come; of their block */
    u64 position;         /* instructions on that way before it */
    u64 to_pass;          /* warps of the block that may still come to it, */
    u64 waiting;          /* and those of them that stand before it */
    u32 id;               /* of its result, where that depends on a load: see darsie_loads.c */
    u16 inflight;         /* of the leader; NO_INFLIGHT: it has not issued, or is done */
    u8 leader;            /* warp of the block */
    u8 kind;              /* enum values, of what it has read */
    bool issued, written; /* the leader has; `written` is LeaderWB */
    bool sync;            /* a synchronisation point */
    u16 versions[DARSIE_RESULTS];
    u32 masks[2][MAX_CHUNKS];
    u32 from[DARSIE_SOURCES]; /* ids of what the leader has read */
};

/* A physical register of a block, and the version of a register that it holds. */
struct darsie_version {
    u64 users;    /* warps whose rename table has it */
    u16 reg;      /* the register it is a version of, */
    u32 number;   /* and which */
    bool offered; /* an entry gives it out, or its leader has not written it */
};

/* How warps have come: see darsie_ways.c. */
struct darsie_way {
    u64 warps;  /* that stand there */
    u32 parent; /* 0: none; of a free one: the next */
    u32 target; /* where its last branch went */
    u32 children;
    u32 entries; /* of the skip table */
};

struct darsie_block {
    bool on;                 /* the block has instructions to skip */
    u32 warps;               /* of it */
    u64 live;                /* that have not ended, */
    u64 live_slots;          /* and their slots */
    u64 majority;            /* on the majority path, */
    u64 arrived;             /* and waiting behind a branch */
    u64 since;               /* cycle of the first arrival */
    u64 stalled;             /* do not fetch until a branch or barrier of theirs has taken effect */
    u32 open;                /* barriers of the whole block at which warps wait, bits */
    u32 way;                 /* that the majority has come; counts up */
    u32 unacted;             /* stores that were issued and have not acted */
    u8 slots[CORE_WARPS];    /* by warp */
    u64 start[CORE_WARPS];   /* by warp: instructions before its way began */
    struct darsie_way *ways; /* DARSIE_WAYS, from 1 on; NULL: with barriers behind branches */
    u32 ways_free;
    u64 *used; /* entries, bits */
    struct darsie_entry *entries;
    struct darsie_version *versions;
    u16 *freelist;
    u32 free_count, least_free;
    u32 *numbers; /* by register: versions made */
    u32 *values;  /* of physical registers, warp_size words each */
};

struct darsie_slot {
    struct register_view view;
    struct darsie_core *darsie;
    u32 slot;
    u8 block, warp;
    bool on;      /* a warp of a block with instructions to skip */
    bool leaving; /* its registers are to be copied before anything else */
    u32 way;      /* as in its block, while it is on the majority path */
    u64 probed;   /* 1 + the position of one that was looked up and has no entry */
    u64 private;  /* 1 + the position of a marked instruction that it executes itself */
    u32 leading;  /* tasks whose results are to be shared */
    u64 waits;    /* cycle since which it waits behind a branch or before an entry */
    u64 *apart;   /* a bit for each register: shared */
    u16 *map;     /* rename table: version by register, or NO_VERSION */
    u32 *ids;     /* by register, then by mask or scalar: see darsie_loads.c */
};

struct darsie_inflight {
    u16 entry;   /* that it leads, or NO_ENTRY */
    bool copy;   /* a move of the mechanism's own */
    bool stores; /* counted in `unacted` */
    u16 versions[DARSIE_RESULTS];
    u8 shared; /* results that go to shared registers; 0: to its own */
};

struct darsie_core {
    MECHANISM_STATE(darsie);
    struct core *core;
    bool on; /* the launch has marked instructions */
    u32 warp_size, width;
    u32 registers;     /* vector registers of a warp */
    u32 words;         /* of a set of them */
    u32 id_count;      /* of registers, masks and scalars */
    u32 entry_count;   /* of a block */
    u32 entry_words;   /* of a set of them */
    u32 version_count; /* of a block */
    u32 next_id;       /* see darsie_loads.c */
    u64 deadline;      /* cycle at which some block's patience ends */
    u64 write_turn;    /* of the write ports: the next one that is free */
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
/* Slots of warps of a block. */
static inline u64 slots_of(const struct darsie_block *b, u64 warps)
{
    u64 slots = 0;
    for (; warps; warps &= warps - 1)
        slots |= bit(b->slots[first_bit(warps)]);
    return slots;
}
/* Instructions of its way that a warp has issued or skipped. */
static inline u64 passed(const struct darsie_core *d, const struct darsie_block *b, u32 warp)
{
    return core_slot(d->core, b->slots[warp])->warp->instructions - b->start[warp];
}
#define EACH_ENTRY(e, d, b)                                    \
    for (u32 w_ = 0; w_ < (d)->entry_words; w_++)              \
        for (u64 set_ = (b)->used[w_]; set_; set_ &= set_ - 1) \
            for (struct darsie_entry *e = &(b)->entries[w_ * 64 + first_bit(set_)]; e; e = NULL)

/* darsie_cost.c: what it stands for. */
void darsie_storage(const void *params, struct state_list *list);
extern const struct energy_event darsie_events[];
extern const char *const darsie_deviations[];

/* darsie_table.c: the skip table, its ports, and who leads. */
void table_skim(struct darsie_core *d, u64 wanting, struct skip_fetch *skim);
/* Whether a marked instruction may come with the fetch of those from fetch_at on. */
bool table_comes_along(const struct darsie_core *d, u32 slot, u32 inst);
void table_fetched(struct darsie_core *d, u32 slot, u32 inst, u32 count);
enum skip_answer table_skip(struct darsie_core *d, u32 slot, u32 inst);
/* A marked instruction issues: does it lead? */
void table_issued(struct darsie_core *d, struct inflight *inflight);
/* Its leader's result is there. */
void table_written(struct darsie_core *d, struct darsie_block *b, struct darsie_entry *e);
void table_remove(struct darsie_core *d, struct darsie_block *b, struct darsie_entry *e);
void table_flush(struct darsie_core *d, struct darsie_block *b);
/* A warp has taken a branch: it will not come to entries of other ways. */
void table_moved(struct darsie_core *d, struct darsie_block *b, u32 warp);
/* A warp will not come to any entry any more. */
void table_forget(struct darsie_core *d, struct darsie_block *b, u32 warp);
/* Those who wait before an entry go on by themselves. True: there were some. */
bool table_give_up(struct darsie_core *d, struct darsie_block *b);

/* darsie_rename.c: versions of registers, and where warps find them. */
void rename_start(struct darsie_core *d, struct darsie_slot *s);
void rename_end(struct darsie_core *d, struct darsie_slot *s);
/* Registers for the results of an instruction; false: there are not enough. */
bool rename_take(struct darsie_core *d, struct darsie_block *b, const struct inst *code,
                 u16 *versions);
/* Nobody gives them out any more. */
void rename_give(struct darsie_core *d, struct darsie_block *b, const u16 *versions, u32 count);
/* The warp reads a register there from now on. */
void rename_set(struct darsie_core *d, struct darsie_slot *s, u32 reg, u16 version);
/* The warp's own register has its value. */
void rename_clear(struct darsie_core *d, struct darsie_slot *s, u32 reg);
void rename_read(const struct register_view *view, const struct warp *warp, u32 reg, u32 *row);
void rename_whole(const struct register_view *view, struct warp *warp, u32 reg);
/* A register to be copied before an instruction may issue, or UINT32_MAX. */
u32 rename_needs(struct darsie_core *d, struct darsie_slot *s, u32 inst);
enum issue_answer rename_copy(struct darsie_core *d, u32 slot, u32 inst, u32 reg);
void rename_copied(struct darsie_core *d, const struct inflight *inflight);
void rename_places(struct darsie_core *d, const struct inflight *inflight, bool write,
                   struct places *places);

/* darsie_paths.c: who is on the majority path. */
void paths_start_block(struct darsie_core *d, u32 block_slot);
void paths_end_block(struct darsie_core *d, u32 block_slot);
/* A branch, barrier or exit of a warp has taken effect. */
void paths_control(struct darsie_core *d, u32 slot, u32 inst);
/* A warp leaves the majority path. */
void paths_leave(struct darsie_core *d, struct darsie_slot *s);
/* Whoever waits too long goes on. True: somebody did. */
bool paths_give_up(struct darsie_core *d, bool stuck);

/* darsie_ways.c: without barriers behind branches. Majority warps begin a way together. */
void ways_start(struct darsie_core *d, struct darsie_block *b);
/* A warp has gone somewhere. False: there is no room to tell the way. */
bool ways_move(struct darsie_core *d, struct darsie_slot *s, u32 target);
void ways_leave(struct darsie_core *d, struct darsie_slot *s);
/* An entry of the skip table is made there, or removed. */
void ways_entry(struct darsie_block *b, u32 way, bool made);
/* Warps that may yet come that way. */
u64 ways_before(const struct darsie_block *b, u32 way);

/* darsie_loads.c: when results of loads, and what is made of them, are the same. */
void loads_issued(struct darsie_core *d, struct inflight *inflight);
void loads_acted(struct darsie_core *d, struct inflight *inflight);
/* Whether what a warp would read now is what an entry's leader has read. */
bool loads_same(const struct darsie_core *d, const struct darsie_slot *s,
                const struct darsie_entry *e);
/* Whether a load may be skipped as far as stores go; LOADS_STALE: the warp has its own value. */
enum loads_answer {
    LOADS_FRESH,
    LOADS_STALE,
    LOADS_WAIT
};
enum loads_answer loads_compare(struct darsie_core *d, struct darsie_slot *s,
                                const struct darsie_entry *e);
/* The warp has an entry's result, or one of its own (NULL). */
void loads_passed(struct darsie_core *d, struct darsie_slot *s, u32 inst,
                  const struct darsie_entry *e);

#endif
