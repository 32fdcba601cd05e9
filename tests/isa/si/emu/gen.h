/*
 * Random Southern Islands programs and the states they start from.
 *
 * Invariants
 *  G1  Every encoding is one the ISA allows: one scalar or literal a vector instruction, aligned
 *      scalar tuples, no literal in VOP3, and so on.
 *  G2  No program faults: addresses come from registers that only the generator's own instructions
 *      write, and lie in a region or out of the descriptor's range.
 *  G3  Every loop ends: its counter is a scalar nothing else writes.
 *  G4  Barriers stand where all waves of a group come.
 *
 * Registers: v0-v31 and s0-s63 are the program's to play with; the rest has a fixed use.
 */
#ifndef SI_GEN_H
#define SI_GEN_H

#include "emu.h"

enum {
    PLAY_VECTORS = 32,
    PLAY_SCALARS = 64,
    /* scalars */
    S_RAW = 64,     /* descriptor: bytes, stride 0 */
    S_RECORDS = 68, /* descriptor with a stride */
    S_SWIZZLED = 72,
    S_FLAT = 76, /* for addr64: base 0 */
    S_BASE = 80, /* pair: the data region */
    S_OFFSET = 82,
    S_COUNTER = 83, /* and 84, 85: loops by depth */
    S_CSP = 86,     /* 0 */
    S_ZERO_EXEC = 87,
    S_SAVED = 88, /* pairs by depth: EXEC */
    S_CALL = 96,  /* pair: target; then the pair it returns to */
    S_RETURN = 98,
    S_LIMIT = 100, /* what M0 is for LDS */
    S_PC = 102,    /* pair: where the code is; every program begins with this s_getpc_b64 */
    /* vectors: byte offsets by alignment */
    V_RESULT = 32,
    V_AT1 = 44,
    V_AT2 = 45,
    V_AT4 = 46,
    V_AT8 = 47,
    V_AT16 = 48,
    V_INDEX = 49,
    V_WITHIN = 50, /* follows V_INDEX: offset within a record */
    V_FLAT = 52,   /* pair: an address */
    V_LDS = 54,    /* 8-aligned */
    V_LDS1 = 55,
    V_LAST = 60,

    DATA_BYTES = 0x2000,
    LDS_USED = 2048,
    MAX_PROGRAM = 4096 /* words */
};

#define DATA_ADDRESS 0x100000ull
#define OTHER_ADDRESS 0x300000ull

u32 rng_below(struct rng *r, u32 n);
bool rng_chance(struct rng *r, u32 percent);

/* Weights of the mix, by group, and of the structures around the instructions. */
struct mix {
    const char *name;
    u8 group[GROUPS];
    u8 if_scalar, if_vector, loop, call, fork_join, barrier;
};
extern const struct mix mixes[];
extern const u32 mix_count;

struct program {
    u64 seed;
    const char *what; /* the mix or the instruction */
    u32 words[MAX_PROGRAM], count;
    struct machine start;
};

/* encode.c: the words of `n`, from its fields; returns how many. */
u32 encode(const struct insn *n, u32 *words);
void emit(struct program *p, const struct insn *n);
void emit_words(struct program *p, u32 word);
struct insn insn_of(enum op op);
void emit_getpc(struct program *p); /* into S_PC */

/* values.c */
u32 edge_word(struct rng *r);
u64 edge_pair(struct rng *r);
void fill_state(struct rng *r, struct program *p, u32 waves, u32 groups);

/* instruction.c: a random instruction of a row. `limits` keeps destinations where they may be. */
struct limits {
    u32 scalar_first; /* destinations s[scalar_first, PLAY_SCALARS) */
    u32 vector_first, vector_end;
    bool special; /* may write VCC */
};
bool random_insn(struct rng *r, enum op op, const struct limits *limits, struct insn *out);

/* program.c */
void generate(struct program *p, u64 seed, const struct mix *mix);
/* driver.c: many forms of one instruction under one MODE. */
void generate_edges(struct program *p, enum op op, u32 mode, u64 seed);

#endif
