/*
 * What the files of the mechanism `uniform` share: see uniform.c.
 */
#ifndef MECH_UNIFORM_H
#define MECH_UNIFORM_H

#include "core/mechanism.h"

#define COMPONENT uniform
#define COMPONENT_DEF "mech/uniform.def"
#include "base/component_struct.h"

enum {
    DESIGN_TOKEN,
    DESIGN_SRF
};
enum {
    MODE_INTRA,
    MODE_INTER,
    MODE_COMBINED,
    MODE_OBSERVE
};

enum {
    IRB_MOST = 16,
    IRB_SOURCES = 3,
    IRB_TAG_BITS = 10,
    IRB_OPCODE_BITS = 8,
    SRF_MOST = 256,
    UNIFORM_RESULTS = 8, /* vector registers of one instruction that may become uniform */
    NO_ENTRY = 0xffff    /* of the scalar register file */
};

/* ---- the reuse buffer: uniform_irb.c ---- */

/* What an instruction is to the buffer: its operation and the values it works on. */
struct irb_key {
    const struct inst *code; /* NULL: it does not fit */
    u32 tag;                 /* low bits of its PC, in instructions */
    u64 source[IRB_SOURCES];
};

struct irb_entry {
    struct irb_key key; /* its code is NULL: the entry is empty */
    u64 result;
    u64 used;    /* number of the probe that last touched it */
    u64 age;     /* of the warp that left it, and */
    u8 slot;     /* where that was */
    bool parity; /* over source and result */
};

struct irb {
    u32 count; /* of entries */
    u64 probes;
    struct irb_entry entries[IRB_MOST];
};

enum irb_answer {
    IRB_MISS,
    IRB_MISMATCH, /* the tag is there, the rest is not */
    IRB_ERROR,    /* parity says that the entry is wrong */
    IRB_HIT
};

/* The key of an instruction whose operands, all uniform, are in its record; `lane` is one of them.
 */
struct irb_key irb_key(const struct dyninst *f, u32 lane, bool wide);
enum irb_answer irb_probe(struct irb *irb, const struct irb_key *key, bool parity,
                          const struct irb_entry **entry);
/* A result has come. */
void irb_store(struct irb *irb, const struct irb_key *key, u64 result, u32 slot, u64 age);

/* ---- where uniform registers are ---- */

/* Registers of a slot. */
struct uniform_slot {
    struct register_view view;
    struct uniform_core *uniform;
    u32 slot;
    u64 *tokens;           /* a bit for each register: uniform */
    u64 *masks;            /* the same for masks; only with implicit divergence */
    u16 *entry;            /* by register: in the scalar register file, or NO_ENTRY */
    u64 *parity;           /* of the value of a uniform register */
    struct core_copy copy; /* the last one, which may be under way */
};

enum uniform_kind {
    KIND_OTHER,
    KIND_COMPUTE, /* a function of its operands, lane by lane */
    KIND_SPECIAL, /* a special register that all lanes read alike */
    KIND_LOAD,
};

/* What an instruction can become; by instruction. */
struct uniform_inst {
    u8 kind; /* enum uniform_kind */
    bool alu;
    bool vector;  /* not for the scalar unit */
    u8 vectors;   /* sources (bits) that are vector registers */
    u8 registers; /* vector registers that it reads and writes */
};

/* An instruction under way. */
struct uniform_inflight {
    bool watched;   /* an instruction of the warp that this mechanism has seen issue */
    bool uniform;   /* its results are uniform registers from its write-back on */
    bool load;      /* of one address: its results may be */
    bool stores;    /* its result goes to the reuse buffer */
    u8 entry_count; /* entries of the scalar register file that its results go to */
    u16 elsewhere;  /* reads (bits) that the banks of the register file do not serve */
    u16 entries[UNIFORM_RESULTS];
    struct irb_key key;
};

/* Vector registers that will be read again, over time: uniform_cover.c. */
struct uniform_cover {
    u32 words;             /* of a set of registers */
    u64 *before;           /* by instruction: live before it */
    u64 *read;             /* by slot: will be read from where its warp stands on, */
    u64 *now;              /* and has been written */
    u64 since[CORE_WARPS]; /* cycle from which on a slot has not been counted */
    u64 active;            /* slots, bits */
};

struct uniform_core {
    MECHANISM_STATE(uniform);
    struct core *core;
    u32 lane, second; /* lanes that hold a uniform value; `second` is the copy's */
    u32 words;        /* of a set of registers, */
    u32 mask_words;   /* of masks */
    bool changes;     /* not observe */
    bool explicit_exec;
    struct uniform_inst *insts;
    struct uniform_slot slots[CORE_WARPS];
    struct uniform_inflight *inflight; /* CORE_INFLIGHT */
    struct irb irb;
    /* the scalar register file */
    u32 srf[SRF_MOST];
    u16 srf_free[SRF_MOST]; /* a stack */
    u32 srf_free_count;
    u32 srf_peak;
    struct uniform_cover cover;
    struct inflight removed; /* an instruction that goes no further than issue */
    u32 *removed_rows;
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

/* uniform.c */
/* All that an instruction reads is uniform. */
bool uniform_sources(const struct uniform_core *u, const struct uniform_slot *s,
                     const struct inst *code);
/* It runs on one lane, or not at all: `ops` are left. */
void uniform_convert(struct uniform_core *u, struct inflight *inflight, struct uniform_inflight *t,
                     u32 ops);
/* An instruction of a slot is looked at. */
void uniform_count(struct uniform_core *u, u32 slot, const struct uniform_inst *info, u32 lanes);

/* uniform_reuse.c */
/* Whether the reuse buffer has it; `t` says what is to be stored else. */
bool reuse_find(struct uniform_core *u, const struct core *core, struct inflight *inflight,
                struct uniform_inflight *t);
void reuse_store(struct uniform_core *u, const struct core *core, const struct inflight *inflight,
                 struct uniform_inflight *t);
/* The next instruction of a slot, if the reuse buffer has it: its result is written, and the warp
 * goes on. */
bool reuse_remove(struct uniform_core *u, struct core *core, u32 slot, u32 inst);

/* uniform_place.c: registers become uniform, are read, and cease to be. */
void place_create(struct uniform_core *u);
void place_launch(struct uniform_core *u, bool begins);
/* A warp takes a slot; or leaves it. */
void place_start(struct uniform_core *u, u32 slot);
void place_end(struct uniform_core *u, u32 slot);
/* Entries of the scalar register file for the results of an instruction; false: there are not enough.
 */
bool place_reserve(struct uniform_core *u, u32 slot, const struct inst *code,
                   struct uniform_inflight *t);
void place_release(struct uniform_core *u, u32 slot, const struct inst *code,
                   const struct uniform_inflight *t);
/* The results of an instruction, which are in its record, are uniform registers now. */
void place_set(struct uniform_core *u, struct inflight *inflight, const struct uniform_inflight *t);
/* A register is an ordinary one now. */
void place_clear(struct uniform_core *u, u32 slot, u32 reg);

/* uniform_cover.c */
void cover_launch(struct uniform_core *u, bool begins);
/* The set of a slot's live or protected registers changes behind this: counts up to now. */
void cover_count(struct uniform_core *u, u32 slot);
/* The slot's warp has gone on. */
void cover_moved(struct uniform_core *u, u32 slot);
/* A result of the slot's warp has been written. */
void cover_written(struct uniform_core *u, u32 slot);
void cover_end(struct uniform_core *u, u32 slot);

#endif
