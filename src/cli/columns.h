/* Text in aligned columns. */
#ifndef CLI_COLUMNS_H
#define CLI_COLUMNS_H

#include "base/arena.h"

enum {
    MAX_COLUMNS = 14
};

struct columns {
    struct arena *arena;
    u32 count;
    bool right[MAX_COLUMNS]; /* right-aligned, for numbers */
    VEC(const char *) cells; /* row by row */
};

void columns_row(struct columns *columns, const char *const *cells);
/* Prints and empties the columns; trailing blanks are omitted. */
void columns_print(struct columns *columns);

#endif
