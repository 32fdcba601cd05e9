/* Sets as words with a bit for each member. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include "base/types.h"

static inline void bit_set(u64 *mask, u32 bit)
{
    mask[bit / 64] |= 1ull << bit % 64;
}
static inline void bit_clear(u64 *mask, u32 bit)
{
    mask[bit / 64] &= ~(1ull << bit % 64);
}
/* Runs the statement after it for each bit of a word. */
#define FOR_BITS(bit, word)                                                           \
    for (u64 bits_ = (word), bit; bits_ && (bit = (u64)__builtin_ctzll(bits_), true); \
         bits_ &= bits_ - 1)
static inline bool any_bit(const u64 *mask, u32 words)
{
    for (u32 w = 0; w < words; w++)
        if (mask[w])
            return true;
    return false;
}
/* Each set bit of the words in order, as they are when the loop comes to the word. */
#define FOR_MEMBERS(i, mask, words)               \
    for (u32 word_ = 0; word_ < (words); word_++) \
        for (u64 bits_ = (mask)[word_], i;        \
             bits_ && (i = word_ * 64 + (u32)__builtin_ctzll(bits_), true); bits_ &= bits_ - 1)

#endif
