/*
 * Visitors of the state registry: one function per storage element walks the bits of an entry, for
 * whatever is done with them.
 *
 *     static void visit_turn(struct state_walk *walk, const struct state_row *row, void *owner,
 *                            u64 entry)
 *     {
 *         struct core *core = owner;
 *         u64 last = core ? core->fetch.last : 0;
 *         if (walk_entry(walk, core) && walk_field(walk, &last, width))
 *             core->fetch.last = last;
 *     }
 *
 * Invariants
 *  V1  A visitor visits the same parts in the same order, whatever the entry holds: its bits have
 *      fixed places. What is not in use is visited as zeros, or as the old contents if they are
 *      still stored.
 *  V2  A flipped bit acts as in hardware as far as the model can tell; the visitor writes the
 *      changed value back, with all that follows from it (sets of ready warps, results computed
 *      from a flipped operand). No flip makes the simulator fail: what is impossible in a running
 *      program, such as a PC outside the code, becomes a fault of the guest or a hang.
 */
#ifndef BASE_STATE_WALK_H
#define BASE_STATE_WALK_H

#include "base/state.h"

enum walk_mode {
    WALK_COUNT, /* widths only; there is no owner */
    WALK_FLIP,  /* flips one bit */
    WALK_READ,  /* copies the bits */
    WALK_HASH,
};

struct state_walk {
    enum walk_mode mode;
    bool used;           /* the entry holds something that the machine may still read */
    bool dead;           /* WALK_FLIP: the bit has been read for the last time */
    bool canonical;      /* WALK_HASH: entries that are not in use are left out */
    u32 bits;            /* visited so far */
    u32 bit;             /* WALK_FLIP: the bit to flip */
    u64 *out;            /* WALK_READ */
    u64 hash;            /* WALK_HASH */
    const void *machine; /* WALK_COUNT: parameters of the owner */
};

/* Begins an entry. False: its parts need not be visited. */
static inline bool walk_entry(struct state_walk *walk, bool used)
{
    walk->used = used;
    return used || walk->mode != WALK_HASH || !walk->canonical;
}

/* Mixes a word into a hash: a multiplication by an odd constant, and its upper bits. */
static inline u64 hash_word(u64 hash, u64 word)
{
    hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;
    return hash ^ hash >> 32;
}

/* Mixes `count` words into a hash: sums of products of neighbouring words, each plus a key of its place,
 * as in UMAC's NH. Words at the end that do not fill 32 bytes are mixed one by one. */
u64 hash_words(u64 hash, const u32 *words, u32 count);

/* A part of up to 64 bits. True: a bit was flipped, and the caller writes the value back. */
static inline bool walk_field(struct state_walk *walk, u64 *value, u32 bits)
{
    const u32 at = walk->bits;
    walk->bits += bits;
    switch (walk->mode) {
    case WALK_FLIP:
        if (walk->bit - at >= bits)
            return false;
        *value ^= 1ull << (walk->bit - at);
        return true;
    case WALK_READ:
        for (u32 i = 0; i < bits; i++)
            walk->out[(at + i) / 64] |= (*value >> i & 1) << (at + i) % 64;
        return false;
    case WALK_HASH:
        walk->hash = hash_word(walk->hash, *value & ~0ull >> (64 - bits));
        return false;
    default:
        return false;
    }
}
/* Several words, in place; NULL: zeros that cannot be changed. True: a bit was flipped. */
bool walk_words(struct state_walk *walk, u32 *words, u32 count);

/* ---- one row ---- */

enum state_flip {
    FLIP_DONE,
    FLIP_DEAD,    /* nothing reads the bit before it is overwritten */
    FLIP_UNUSED,  /* the entry holds nothing */
    FLIP_COUNTED, /* the model does not hold the bit, or there is none */
};
/* Flips a bit of an owner's row: bit % row->bits of entry bit / row->bits. */
enum state_flip state_flip(const struct state_row *row, void *owner, u64 bit);
/* The bits of an entry, row->bits of them; those that are not backed are 0. False: it is not in
 * use. */
bool state_get(const struct state_row *row, void *owner, u64 entry, u64 *bits);
/* For rows that another row's function covers. */
state_hash_fn state_hash_covered;
/* Continues a hash with a row of an owner. The canonical hash leaves out what is not in use; it is
 * taken by the row's own function, if it has one. */
u64 state_hash(const struct state_row *row, void *owner, u64 hash, bool canonical);

#endif
