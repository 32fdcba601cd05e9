/*
 * Where an address lives: which channel, which slice of it, and at which address there.
 *
 * Consecutive: pieces of `interleave_bytes` go round the channels (a division, so that their number
 * need not be a power of two); in a channel, what has come to it lies densely, and pieces of
 * `slice_bytes` of that go round its slices. With 2 slices the slice is one bit of the address in
 * the channel: log2(slice_bytes).
 * Hashed: pieces of `interleave_bytes` go round all slices of all channels, and each round begins
 * at a slice that a hash of its number names, so that no stride stays on few slices.
 *
 * Invariants
 *  A1  address_of(address_place(a)) = a: no two addresses share a place.
 *  A2  Bytes of one L2 line lie in one slice, side by side:
 *      gpu/machine/relations.c checks the sizes.
 */
#ifndef MEM_ADDRESS_H
#define MEM_ADDRESS_H

#include "base/types.h"

struct address_map {
    u32 channels, slices;   /* slices: of a channel */
    u32 piece, slice_piece; /* powers of two */
    bool hashed;
};

struct place {
    u32 channel, slice; /* slice: within the channel */
    u64 in_channel;     /* the channel's own bytes, counted densely */
    u64 in_slice;       /* the slice's own bytes */
};

struct place address_hashed(const struct address_map *map, u64 address);

static inline struct place address_place(const struct address_map *map, u64 address)
{
    if (map->hashed)
        return address_hashed(map, address);
    /* shifts and masks for what are powers of two */
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
/* The inverse, of channel, slice and in_slice. */
u64 address_of(const struct address_map *map, const struct place *place);
/* The inverse, of channel and in_channel. */
u64 address_from_channel(const struct address_map *map, u32 channel, u64 in_channel);
/* The address within the channel of a slice's own address. */
u64 address_in_channel(const struct address_map *map, u32 slice, u64 in_slice);

#endif
