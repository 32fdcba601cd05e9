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
    bool right[MAX_COLUMNS]; /* numbers */
    VEC(const char *) cells; /* row by row */
};

void columns_row(struct columns *columns, const char *const *cells);
/* Prints and empties them; blanks at the end of a line are left out. */
void columns_print(struct columns *columns);

#endif
