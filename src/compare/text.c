/* A comparison as text for a terminal. */
#include "compare/runs.h"

/* Characters of UTF-8 text, for alignment. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += (*text & 0xc0) != 0x80;
    return width;
}

/* Cells of a table, row by row. */
struct text_table {
    const char **cells;
    u32 columns, rows;
};

static void print_cells(FILE *to, const struct text_table *table, const int *widths, u32 row)
{
    const char *const *cells = table->cells + (size_t)row * table->columns;
    u32 last = table->columns;
    while (last && !*cells[last - 1])
        last--;
    for (u32 c = 0; c < last; c++) {
        const bool left = c == 0 || c == table->columns - 1; /* the name and the detail */
        const int blanks = widths[c] - width_of(cells[c]);
        fprintf(to, "  %*s%s%*s", left ? 0 : blanks, "", cells[c],
                left && c + 1 < last ? blanks : 0, "");
    }
    fputc('\n', to);
}

static void print_table(FILE *to, const struct run_comparison *c, const struct text_table *table)
{
    int *widths = arena_array(c->arena, int, table->columns);
    for (u32 i = 0; i < table->rows * table->columns; i++)
        widths[i % table->columns] = MAX(widths[i % table->columns], width_of(table->cells[i]));
    for (u32 row = 0; row < table->rows; row++)
        print_cells(to, table, widths, row);
}

static void fill_row(const struct run_comparison *c, const struct compare_row *row,
                     const char **cells)
{
    *cells++ = row->name;
    for (u32 r = 0; r < c->count; r++) {
        *cells++ = value_text(c->arena, row->quantity, &row->values[r]);
        if (r)
            *cells++ = change_from(c->arena, row->quantity, &row->values[0], &row->values[r]);
    }
    *cells = row->detail;
}

static void print_rows(FILE *to, const struct run_comparison *c,
                       const struct compare_section *section)
{
    const u32 shown = section->shown;
    struct text_table table = {.columns = 2 * c->count + 1, .rows = shown + 1};
    table.cells = arena_array(c->arena, const char *, (size_t)table.columns *table.rows);
    const char **cells = table.cells;
    const bool numbers = section->rows.data[0].quantity != QUANTITY_TEXT;
    *cells++ = section->heading;
    for (u32 r = 0; r < c->count; r++) {
        *cells++ = c->runs[r]->label;
        if (r)
            *cells++ = numbers ? "change" : "";
    }
    *cells = "";
    for (u32 i = 0; i < shown; i++)
        fill_row(c, &section->rows.data[i], table.cells + (size_t)(i + 1) * table.columns);
    print_table(to, c, &table);
    if (section->more)
        fprintf(to, "  ... and %u more\n", section->more);
}

static void print_section(FILE *to, const struct run_comparison *c,
                          const struct compare_section *section)
{
    if (!section->shown && !section->notes.count)
        return;
    fprintf(to, "\n%s\n", section->title);
    if (section->shown)
        print_rows(to, c, section);
    for (u32 i = 0; i < section->notes.count; i++)
        fprintf(to, "  note: %s\n", section->notes.data[i]);
}

void compare_print_text(FILE *to, const struct run_comparison *c)
{
    for (u32 r = 0; r < c->count; r++)
        if (strchr(c->runs[r]->place, '/') && strcmp(c->runs[r]->label, c->runs[r]->place) != 0)
            fprintf(to, "%s: %s\n", c->runs[r]->label, c->runs[r]->place);
    enum sameness least = SAME_BYTES;
    for (u32 r = 1; r < c->count; r++) {
        fprintf(to, "%s\n", c->verdicts[r]);
        least = MAX(least, c->sameness[r]);
    }
    for (u32 i = 0; i < c->notes.count; i++)
        fprintf(to, "note: %s\n", c->notes.data[i]);
    for (u32 i = 0; i < c->sections.count; i++) {
        const struct compare_section *section = &c->sections.data[i];
        if (section->results ? least > SAME_RESULTS : least > SAME_DOCUMENT)
            print_section(to, c, section);
    }
}
