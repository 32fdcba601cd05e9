/* Addresses to channels and slices, and back. */
#include "mem/address.h"

/* Mixes all bits of a round's number: Fibonacci hashing, the upper half of a product with the
 * golden ratio's 64 bits. */
static u64 round_hash(u64 round)
{
    return (round * 0x9e3779b97f4a7c15ull) >> 32;
}

struct place address_hashed(const struct address_map *map, u64 address)
{
    u64 piece = address / map->piece, offset = address % map->piece;
    u32 units = map->channels * map->slices;
    u64 round = piece / units;
    u32 unit = (u32)((piece + round_hash(round)) % units);
    u32 slice = unit / map->channels;
    return (struct place){
        .channel = unit % map->channels,
        .slice = slice,
        .in_channel = (round * map->slices + slice) * map->piece + offset,
        .in_slice = round * map->piece + offset,
    };
}

u64 address_in_channel(const struct address_map *map, u32 slice, u64 in_slice)
{
    u32 piece = map->hashed ? map->piece : map->slice_piece;
    return (in_slice / piece * map->slices + slice) * piece + in_slice % piece;
}

u64 address_of(const struct address_map *map, const struct place *place)
{
    if (map->hashed) {
        u32 units = map->channels * map->slices;
        u32 unit = place->slice * map->channels + place->channel;
        u64 round = place->in_slice / map->piece;
        u64 turn = round_hash(round) % units;
        u64 piece = round * units + (unit + units - turn) % units;
        return piece * map->piece + place->in_slice % map->piece;
    }
    return address_from_channel(map, place->channel,
                                address_in_channel(map, place->slice, place->in_slice));
}

u64 address_from_channel(const struct address_map *map, u32 channel, u64 in_channel)
{
    u64 part = in_channel / map->piece, offset = in_channel % map->piece;
    if (!map->hashed)
        return (part * map->channels + channel) * map->piece + offset;
    struct place place = {.channel = channel,
                          .slice = (u32)(part % map->slices),
                          .in_slice = part / map->slices * map->piece + offset};
    return address_of(map, &place);
}
