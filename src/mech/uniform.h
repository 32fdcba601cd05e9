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
    UNIFORM_RESULTS = 8, /* vector registers that a uniform instruction may write */
    NO_ENTRY = 0xffff    /* no entry of the scalar register file */
};

/* ---- the reuse buffer: uniform_irb.c ---- */

/* An instruction as the buffer identifies it: its operation and source values. */
struct irb_key {
    const struct inst *code; /* NULL: the instruction does not fit into an entry */
    u32 tag;                 /* low bits of its PC, in instructions */
    u64 source[IRB_SOURCES];
};

struct irb_entry {
    struct irb_key key; /* empty if key.code is NULL */
    u64 result;
    u64 used;    /* number of the probe that last touched it */
    u64 age;     /* age of the warp that wrote it, and */
    u8 slot;     /* its slot: together they identify the warp */
    bool parity; /* over source and result */
};

struct irb {
    u32 count; /* entries (irb_entries) */
    u64 probes;
    struct irb_entry entries[IRB_MOST];
};

enum irb_answer {
    IRB_MISS,
    IRB_MISMATCH, /* same tag, other operation or sources */
    IRB_ERROR,    /* the entry fails the parity check */
    IRB_HIT
};

/* The key of an instruction whose operands, all uniform, are in its record; they are read in
 * `lane`. */
struct irb_key irb_key(const struct dyninst *f, u32 lane, bool wide);
enum irb_answer irb_probe(struct irb *irb, const struct irb_key *key, bool parity,
                          const struct irb_entry **entry);
/* Writes a result. */
void irb_store(struct irb *irb, const struct irb_key *key, u64 result, u32 slot, u64 age);

/* ---- where uniform registers are ---- */

/* The registers of a slot. */
struct uniform_slot {
    struct register_view view;
    struct uniform_core *uniform;
    u32 slot;
    u64 *tokens;           /* by register: uniform, one bit each */
    u64 *masks;            /* by mask: uniform; not with explicit EXEC */
    u16 *entry;            /* by register: entry of the scalar register file, or NO_ENTRY */
    u64 *parity;           /* by register: parity of a uniform value */
    struct core_copy copy; /* the last copy, which may be in flight */
};

enum uniform_kind {
    KIND_OTHER,
    KIND_COMPUTE, /* a function of its operands, lane by lane */
    KIND_SPECIAL, /* a special register that is the same in all lanes */
    KIND_LOAD,
};

/* Static properties of an instruction. */
struct uniform_inst {
    u8 kind; /* enum uniform_kind */
    bool alu;
    bool vector;  /* does not go to the scalar unit */
    u8 vectors;   /* sources that are vector registers, one bit each */
    u8 registers; /* vector registers read and written */
};

/* An instruction in flight. */
struct uniform_inflight {
    bool watched;   /* the mechanism has seen it issue; false for injected instructions */
    bool uniform;   /* its results become uniform registers at write-back */
    bool load;      /* a load of one address: its results may become uniform */
    bool stores;    /* its result goes to the reuse buffer */
    u8 entry_count; /* entries of the scalar register file for its results, */
    u8 taken;       /* and which of them their registers did not have before, one bit each */
    u16 elsewhere;  /* reads not served by the register file's banks, one bit each */
    u16 entries[UNIFORM_RESULTS];
    struct irb_key key;
};

/* Live vector registers over time: uniform_cover.c. */
struct uniform_cover {
    u32 words;             /* 64-bit words of a set of registers */
    u64 *before;           /* by instruction: live before it */
    u64 *read;             /* by slot: registers that its warp will read again */
    u64 *now;              /* by slot: of `read`, registers without a pending write */
    u64 since[CORE_WARPS]; /* by slot: cycle up to which it has been counted */
    u64 active;            /* slots, one bit each */
};

struct uniform_core {
    MECHANISM_STATE(uniform);
    struct core *core;
    u32 lane, second; /* lanes that hold a uniform value and, with `protect`, its copy */
    u32 words;        /* 64-bit words of a set of registers */
    u32 mask_words;   /* 64-bit words of a set of masks */
    bool changes;     /* the mode is not observe */
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
    struct inflight removed; /* an instruction removed at issue */
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
/* Whether all sources of an instruction are uniform. */
bool uniform_sources(const struct uniform_core *u, const struct uniform_slot *s,
                     const struct inst *code);
/* Makes an instruction run with `ops` lane operations: on one lane, on two (protect), or on
 * none. */
void uniform_convert(struct uniform_core *u, struct inflight *inflight, struct uniform_inflight *t,
                     u32 ops);
/* Counts an instruction examined. */
void uniform_count(struct uniform_core *u, u32 slot, const struct uniform_inst *info, u32 lanes);

/* uniform_reuse.c */
/* Looks up an instruction in the reuse buffer; on a miss, `t` says what is to be stored. */
bool reuse_find(struct uniform_core *u, const struct core *core, struct inflight *inflight,
                struct uniform_inflight *t);
void reuse_store(struct uniform_core *u, const struct core *core, const struct inflight *inflight,
                 struct uniform_inflight *t);
/* If the slot's next instruction hits in the reuse buffer: writes its result and advances the
 * warp. */
bool reuse_remove(struct uniform_core *u, struct core *core, u32 slot, u32 inst);

/* uniform_place.c: registers become uniform, are read, and become ordinary again. */
void place_create(struct uniform_core *u);
void place_launch(struct uniform_core *u, bool begins);
/* A warp takes a slot, or leaves it. */
void place_start(struct uniform_core *u, u32 slot);
void place_end(struct uniform_core *u, u32 slot);
/* Reserves entries of the scalar register file for an instruction's results; false: not enough. */
bool place_reserve(struct uniform_core *u, u32 slot, const struct inst *code,
                   struct uniform_inflight *t);
/* The instruction's results are not written: gives back what place_reserve has taken. */
void place_release(struct uniform_core *u, const struct uniform_inflight *t);
/* The results of an instruction, in its record, become uniform registers. */
void place_set(struct uniform_core *u, struct inflight *inflight, const struct uniform_inflight *t);
/* A register becomes an ordinary one. */
void place_clear(struct uniform_core *u, u32 slot, u32 reg);

/* uniform_cover.c */
void cover_launch(struct uniform_core *u, bool begins);
/* Counts up to now; to be called before a slot's live or protected registers change. */
void cover_count(struct uniform_core *u, u32 slot);
/* The slot's warp has issued an instruction. */
void cover_moved(struct uniform_core *u, u32 slot);
/* A result of the slot's warp has been written. */
void cover_written(struct uniform_core *u, u32 slot);
void cover_end(struct uniform_core *u, u32 slot);

#endif
