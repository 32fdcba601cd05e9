/*
 * Bank conflicts of shared memory: see mem/coalesce.h.
 *
 * Rule: a warp is served in `parts` equal parts (2 for 32 lanes on 16 banks). A part whose lanes
 * ask for w words each (w rounded up to a power of two) is served in w passes of 1/w of its lanes,
 * so that a pass asks for no more words than a part of one-word lanes: 8-byte accesses of a warp
 * take two passes of half a warp, 16-byte accesses four (NVIDIA's guides say so for compute
 * capability 2.x and later). Within a pass, lanes that ask for the same word share it, and a bank
 * gives one word a cycle; the pass takes as long as its busiest bank. A pass without lanes takes
 * no time.
 */
#include "mem/coalesce.h"

#include "mem/stride.h"

enum {
    MAX_BANKS = 64,
    MAX_WORDS = 2 * 64, /* of a pass: a word a lane, two if it straddles */
    NO_WORD = 0xff
};

/* Words of each bank in one pass. */
struct pass {
    u64 words[MAX_WORDS];
    u8 chain[MAX_WORDS];
    u8 first[MAX_BANKS];
    u8 depth[MAX_BANKS];
    u32 count;
};

/* How many words its bank has with it; 0: it was there. */
static u32 add_word(struct pass *pass, u64 word, u32 banks)
{
    u32 bank = (u32)(is_pow2(banks) ? word & (banks - 1) : word % banks);
    for (u32 at = pass->first[bank]; at != NO_WORD; at = pass->chain[at])
        if (pass->words[at] == word)
            return 0;
    assert(pass->count < MAX_WORDS);
    pass->words[pass->count] = word;
    pass->chain[pass->count] = pass->first[bank];
    pass->first[bank] = (u8)pass->count++;
    return ++pass->depth[bank];
}

static u32 pass_cycles(const u64 *address, u64 lanes, u32 bytes, u32 banks, u32 bank_shift)
{
    struct pass pass; /* words and chains are not cleared */
    pass.count = 0;
    memset(pass.first, NO_WORD, sizeof pass.first);
    memset(pass.depth, 0, sizeof pass.depth);
    u32 cycles = 0;
    for (; lanes; lanes &= lanes - 1) {
        u64 at = address[__builtin_ctzll(lanes)];
        u64 last = (at + bytes - 1) >> bank_shift;
        for (u64 word = at >> bank_shift; word <= last; word++) {
            u32 depth = add_word(&pass, word, banks);
            cycles = MAX(cycles, depth);
        }
    }
    return cycles;
}

u32 shared_cycles(const u64 *address, u64 lanes, u32 bytes, u32 banks, u32 bank_bytes, u32 parts,
                  u32 warp_size)
{
    assert(is_pow2(bank_bytes) && banks <= MAX_BANKS && warp_size <= 64);
    u32 bank_shift = (u32)__builtin_ctz(bank_bytes), words = 1;
    while (words << bank_shift < bytes)
        words *= 2;
    u32 group = MAX(warp_size / parts / words, 1);
    u64 all = warp_size == 64 ? UINT64_MAX : (1ull << warp_size) - 1;
    /* Consecutive elements or one for all lanes, no more of them than a pass has banks for: each
     * pass takes a cycle. */
    if (lanes == all && warp_size % 2 == 0 && group * words <= banks &&
        address[0] % MAX(bytes, bank_bytes) == 0) {
        u64 step = address[1] - address[0];
        if ((step == 0 || step == bytes) && bytes == words << bank_shift &&
            evenly_apart(address, warp_size, step))
            return warp_size / group;
    }
    u32 cycles = 0;
    for (u32 lane = 0; lane < warp_size; lane += group) {
        u64 pass = lanes >> lane & (group == 64 ? UINT64_MAX : (1ull << group) - 1);
        if (pass)
            cycles += pass_cycles(address + lane, pass, bytes, banks, bank_shift);
    }
    return MAX(cycles, 1);
}
