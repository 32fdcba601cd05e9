/* A hash table with linear probing, at most half full. */
#include "mech/line_table.h"
#include "base/arena.h"
#include <stdlib.h>

enum {
    LEAST_BITS = 8,
    MOST_BITS = 28
};

void line_table_make(struct line_table *table, u64 lines)
{
    u32 bits = LEAST_BITS;
    while (bits < MOST_BITS && (u64)1 << (bits - 1) < lines)
        bits++;
    *table = (struct line_table){.bits = bits, .room = 1u << (bits - 1)};
    table->places = checked(calloc((size_t)1 << bits, sizeof *table->places));
    table->addresses = checked(calloc(table->room, sizeof *table->addresses));
}

void line_table_free(struct line_table *table)
{
    free(table->addresses);
    free(table->places);
    *table = (struct line_table){0};
}

u32 line_table_number(struct line_table *table, u64 address)
{
    if (!table->places)
        return LINE_TABLE_NONE;
    const u32 mask = (1u << table->bits) - 1;
    /* Fibonacci hashing: the upper bits of a product depend on all bits of the address */
    u32 at = (u32)(address * 0x9e3779b97f4a7c15ull >> (64 - table->bits));
    for (; table->places[at]; at = (at + 1) & mask)
        if (table->addresses[table->places[at] - 1] == address)
            return table->places[at] - 1;
    if (table->count == table->room)
        return LINE_TABLE_NONE;
    table->addresses[table->count] = address;
    table->places[at] = ++table->count;
    return table->count - 1;
}
