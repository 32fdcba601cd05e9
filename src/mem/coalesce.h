/*
 * Coalescing: from lane addresses to transactions of the memory system.
 *
 * Rules
 *  line     one transaction for each line the lanes touch, whole lines for loads and the touched
 *           sectors for stores (Fermi and later with unsectored caches)
 *  sector   one transaction for each line the lanes touch, with the sectors they touch (caches with
 *           sectors)
 *  half     by halves of 16 lanes: one transaction for each 128-byte segment (32 for bytes, 64 for
 *           half-words), which is cut to its upper or lower half while the lanes touch only that
 *           half, down to 32 bytes (compute capability 1.2 and 1.3)
 * Transactions are in the order of the first lane that needs them.
 */
#ifndef MEM_COALESCE_H
#define MEM_COALESCE_H

#include "base/types.h"

enum coalesce_rule {
    COALESCE_LINE,
    COALESCE_SECTOR,
    COALESCE_HALF
};

enum {
    MAX_TRANSACTIONS = 16 * 64 /* a lane's texels; or its bytes, which may straddle lines */
};

struct transaction {
    u64 line;    /* address */
    u64 lanes;   /* that it serves */
    u32 sectors; /* 32-byte pieces of the line */
    bool full;   /* all bytes of the sectors are touched (stores) */
};

/* Adds transactions to those in the list, at most MAX_TRANSACTIONS in total. */
void coalesce(enum coalesce_rule rule, u32 line_bytes, const u64 *address, u64 lanes, u32 bytes,
              bool store, struct transaction *list, u32 *count);

/* The same for one run of lanes, starting at the address of its first lane. Fills an empty list and
 * returns the number of transactions. Not for COALESCE_HALF. */
struct run;
u32 coalesce_run(enum coalesce_rule rule, u32 line_bytes, u64 address, const struct run *run,
                 u32 bytes, bool store, struct transaction *list);

/*
 * Cycles that shared memory with `banks` banks of `bank_bytes` needs for the lanes: different words
 * in one bank take turns, equal words are read once. `parts`: the warp is served in this many equal
 * parts, one after the other. Accesses wider than a word are served 32 banks' worth at a time.
 */
u32 shared_cycles(const u64 *address, u64 lanes, u32 bytes, u32 banks, u32 bank_bytes, u32 parts,
                  u32 warp_size);
/* A fast check whether 32 lanes of one word each take one cycle on 32 banks: lane i of each group
 * of 16 is at first + i * apart. False: they may still take one cycle. */
bool shared_is_free(const u64 first[2], const i32 apart[2], u32 bytes);

#endif
