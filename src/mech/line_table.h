/*
 * Lines of memory by address: a hash table for mechanisms that follow what happens to each line. It
 * numbers the lines in the order in which it first sees them; what is known of a line is in an
 * array of its owner, at its number.
 *
 * Its size is fixed when it is made, so that nothing allocates in a tick. A line that does not fit
 * has no number.
 */
#ifndef MECH_LINE_TABLE_H
#define MECH_LINE_TABLE_H

#include "base/types.h"

#define LINE_TABLE_NONE UINT32_MAX

struct line_table {
    u64 *addresses; /* by number */
    u32 *places;    /* hashed by address: 1 + number; 0: free */
    u32 bits;       /* log2 of the number of places */
    u32 room;       /* most lines */
    u32 count;      /* lines in it: their numbers are below this */
};

/* An empty table with room for `lines` or more. The old one must have been freed. */
void line_table_make(struct line_table *table, u64 lines);
void line_table_free(struct line_table *table);
/* The number of a line, a new one if it has none. LINE_TABLE_NONE: there is no room. */
u32 line_table_number(struct line_table *table, u64 address);

#endif
