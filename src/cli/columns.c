/* Text in aligned columns: see columns.h. */
#include "cli/columns.h"

#include <stdio.h>
#include <stdlib.h>

void columns_row(struct columns *columns, const char *const *cells)
{
    for (u32 c = 0; c < columns->count; c++)
        *vec_push(&columns->cells) = cells[c];
}

void columns_print(struct columns *columns)
{
    size_t width[MAX_COLUMNS] = {0};
    u32 count = columns->count;
    for (u32 i = 0; i < columns->cells.count; i++)
        width[i % count] = MAX(width[i % count], strlen(columns->cells.data[i]));
    for (u32 i = 0; i < columns->cells.count; i += count) {
        const char *line = "";
        for (u32 c = 0; c < count; c++)
            line = arena_printf(columns->arena, columns->right[c] ? "%s%s%*s" : "%s%s%-*s", line,
                                c ? "  " : "", (int)width[c], columns->cells.data[i + c]);
        size_t length = strlen(line);
        while (length && line[length - 1] == ' ')
            length--;
        printf("%.*s\n", (int)length, line);
    }
    vec_free(&columns->cells);
}
