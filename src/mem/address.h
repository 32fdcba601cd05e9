/*
 * Address mapping: the channel of an address, its slice in the channel, and the address there.
 *
 * Consecutive: pieces of `interleave_bytes` are distributed over the channels in turn (a division,
 * so that the number of channels need not be a power of two). A channel's pieces are contiguous in
 * it, and pieces of `slice_bytes` of these are distributed over its slices in turn. With 2 slices,
 * the slice is one bit of the address in the channel: log2(slice_bytes).
 * Hashed: pieces of `interleave_bytes` are distributed in turn over all slices of all channels, and
 * each round starts at a slice given by a hash of its number, so that no stride stays on few
 * slices.
 *
 * Invariants
 *  A1  address_of(address_place(a)) = a: no two addresses share a place.
 *  A2  The bytes of an L2 line are contiguous in one slice: gpu/machine/relations.c checks the
 *      sizes.
 */
#ifndef MEM_ADDRESS_H
#define MEM_ADDRESS_H

#include "base/types.h"

struct address_map {
    u32 channels, slices;   /* slices: per channel */
    u32 piece, slice_piece; /* powers of two */
    bool hashed;
};

struct place {
    u32 channel, slice; /* slice: within the channel */
    u64 in_channel;     /* address among the channel's own bytes, contiguous */
    u64 in_slice;       /* address among the slice's own bytes */
};

struct place address_hashed(const struct address_map *map, u64 address);

static inline struct place address_place(const struct address_map *map, u64 address)
{
    if (map->hashed)
        return address_hashed(map, address);
    /* shifts and masks for powers of two */
    u32 shift = (u32)__builtin_ctz(map->piece), slice_shift = (u32)__builtin_ctz(map->slice_piece);
    u64 piece = address >> shift, round = piece / map->channels;
    u64 in_channel = round << shift | (address & (map->piece - 1));
    u64 part = in_channel >> slice_shift, slice_round = part / map->slices;
    return (struct place){
        .channel = (u32)(piece - round * map->channels),
        .slice = (u32)(part - slice_round * map->slices),
        .in_channel = in_channel,
        .in_slice = slice_round << slice_shift | (in_channel & (map->slice_piece - 1)),
    };
}
/* The inverse, from channel, slice and in_slice. */
u64 address_of(const struct address_map *map, const struct place *place);
/* The inverse, from channel and in_channel. */
u64 address_from_channel(const struct address_map *map, u32 channel, u64 in_channel);
/* The address within the channel, from a slice's own address. */
u64 address_in_channel(const struct address_map *map, u32 slice, u64 in_slice);

#endif
