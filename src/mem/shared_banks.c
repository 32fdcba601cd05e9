/*
 * Bank conflicts of shared memory: see mem/coalesce.h.
 *
 * Rule: a warp is served in `parts` equal parts (2 for 32 lanes on 16 banks). A part whose lanes
 * access w words each (w rounded up to a power of two) is served in w passes of 1/w of its lanes,
 * so that a pass accesses no more words than a part of one-word lanes: 8-byte accesses of a warp
 * take two passes of half a warp, 16-byte accesses four (as in NVIDIA's guides for compute
 * capability 2.x and later). Within a pass, lanes that access the same word share it, and a bank
 * delivers one word per cycle; the pass takes as long as its busiest bank. A pass without lanes
 * takes no time.
 */
#include "mem/coalesce.h"

#include "mem/stride.h"

enum {
    MAX_BANKS = 64,
    MAX_WORDS = 2 * 64, /* in a pass: one word per lane, two if it straddles */
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

/* Adds a word; returns the number of words in its bank, or 0 if the word was there already. */
static inline u32 add_word(struct pass *pass, u64 word, u32 banks)
{
    u32 bank = (u32)(LIKELY(is_pow2(banks)) ? word & (banks - 1) : word % banks);
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

static u64 ones(u32 count)
{
    return count >= 64 ? UINT64_MAX : (1ull << count) - 1;
}

/*
 * Whether at most one word is accessed in each bank, checked by runs of lanes: each accesses one
 * word or consecutive ones. Two runs that share a bank may be identical (blocks narrower than a
 * warp). Otherwise false, although they might have no conflict.
 */
static bool conflict_free(const u64 *address, u64 lanes, u32 bytes, u32 banks, u32 bank_shift)
{
    enum {
        RUNS = 4
    };
    struct strides strides = strides_of(address, lanes, bytes);
    u64 word[RUNS], busy = 0;
    u32 length[RUNS], runs = 0;
    for (; lanes; runs++) {
        struct run run = run_at(&strides, (u32)__builtin_ctzll(lanes));
        u64 first = address[run.first] >> bank_shift;
        u32 words = (run.consecutive ? run.lanes : 1) * (bytes >> bank_shift);
        u32 bank = (u32)first & (banks - 1);
        if (runs == RUNS || words > banks || address[run.first] & ((1u << bank_shift) - 1))
            return false;
        u64 asked = ones(words) << bank;
        if (bank + words > banks)
            asked |= ones(bank + words - banks);
        asked &= ones(banks);
        bool known = false;
        for (u32 i = 0; i < runs; i++)
            known |= word[i] == first && length[i] == words;
        if (asked & busy && !known)
            return false;
        busy |= asked;
        word[runs] = first;
        length[runs] = words;
        lanes &= ~run_mask(&run);
    }
    return true;
}

/* Each group of 16 lanes is at equal or consecutive words: the most common case. */
bool shared_is_free(const u64 first[2], const i32 apart[2], u32 bytes)
{
    const u32 shift = (u32)__builtin_ctz(bytes);
    u32 asked[2];
    for (u32 g = 0; g < 2; g++) {
        const u32 bank = (u32)(first[g] >> shift) & 31, words = apart[g] ? 0xffff : 1;
        if ((apart[g] && (u32)apart[g] != bytes) || first[g] & (bytes - 1))
            return false;
        asked[g] = words << bank | (u32)((u64)words << bank >> 32);
    }
    return !(asked[0] & asked[1]) || (first[0] == first[1] && apart[0] == apart[1]);
}

/* The same for the addresses of 32 active lanes. */
static bool rows_are_free(const u64 *address, u32 bytes)
{
    const u64 first[] = {address[0], address[STRIDE_GROUP]};
    i32 apart[2];
    for (u32 g = 0; g < 2; g++) {
        const u64 *group = address + g * STRIDE_GROUP, step = group[1] - group[0];
        if ((step && step != bytes) || !evenly_apart(group, step))
            return false;
        apart[g] = (i32)step;
    }
    return shared_is_free(first, apart, bytes);
}

u32 shared_cycles(const u64 *address, u64 lanes, u32 bytes, u32 banks, u32 bank_bytes, u32 parts,
                  u32 warp_size)
{
    assert(is_pow2(bank_bytes) && banks <= MAX_BANKS && warp_size <= 64);
    u32 bank_shift = (u32)__builtin_ctz(bank_bytes), words = 1, cycles = 0;
    while (words << bank_shift < bytes)
        words *= 2;
    u32 group = MAX(warp_size / parts / words, 1);
    bool simple = bytes == words << bank_shift && is_pow2(banks);
    const bool rows = simple && words == 1 && banks == 32 && group == 32;
    for (u32 lane = 0; lane < warp_size; lane += group) {
        u64 pass = lanes >> lane & ones(group);
        if (!pass)
            continue;
        if (rows && pass == ones(32) && rows_are_free(address + lane, bytes)) {
            cycles++;
            continue;
        }
        cycles += simple && conflict_free(address + lane, pass, bytes, banks, bank_shift)
                      ? 1
                      : pass_cycles(address + lane, pass, bytes, banks, bank_shift);
    }
    return MAX(cycles, 1);
}
