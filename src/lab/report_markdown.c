/* Results as Markdown, for documents: see report.h. */
#include "lab/report.h"

static void text(FILE *to, const char *from)
{
    for (; *from; from++) {
        if (*from == '|' || *from == '<' || *from == '*')
            fputc('\\', to);
        fputc(*from, to);
    }
}

static void pair(FILE *to, struct arena *arena, const struct table_column *column,
                 struct published_number published, struct cell ours)
{
    const struct cell theirs = {published.value, published.given};
    fprintf(to, " %s | %s |", theirs.given ? cell_text(arena, theirs, column->column->digits) : "",
            cell_text(arena, ours, column->column->digits));
}

static void head(FILE *to, const struct table *table)
{
    const u32 count = table->experiment->column_count;
    fputs("| |", to);
    for (u32 c = 0; c < count; c++) {
        const struct column *column = table->columns[c].column;
        fputc(' ', to);
        text(to, column->title);
        fprintf(to, "%s", *column->unit ? ", " : "");
        text(to, column->unit);
        fputs(": published | Heddle |", to);
    }
    fputs("\n|---|", to);
    for (u32 c = 0; c < count; c++)
        fputs("---:|---:|", to);
    fputc('\n', to);
}

static void rows(FILE *to, struct arena *arena, const struct table *table)
{
    const u32 count = table->experiment->column_count;
    for (u32 r = 0; r < table->row_count; r++) {
        const struct table_row *row = &table->rows[r];
        fprintf(to, "| %s%s |", row->row->id, *row->failure ? " (failed)" : "");
        for (u32 c = 0; c < count; c++)
            pair(to, arena, &table->columns[c], table->columns[c].column->rows[row->index],
                 table->columns[c].rows[row->index]);
        fputc('\n', to);
    }
    for (u32 group = 0; group < table->experiment->suite.group_count; group++) {
        if (!table->experiment->means[group])
            continue;
        fprintf(to, "| *%s* |", table->experiment->suite.groups[group].name);
        for (u32 c = 0; c < count; c++)
            pair(to, arena, &table->columns[c], table->columns[c].column->groups[group],
                 table->columns[c].groups[group]);
        fputc('\n', to);
    }
    fputs("| **mean** |", to);
    for (u32 c = 0; c < count; c++)
        pair(to, arena, &table->columns[c], table->columns[c].column->published_mean,
             table->columns[c].mean);
    fputs("\n| max |", to);
    for (u32 c = 0; c < count; c++)
        pair(to, arena, &table->columns[c], table->columns[c].column->published_max,
             table->columns[c].max);
    fputc('\n', to);
}

void report_markdown(FILE *to, const struct table *table)
{
    struct arena *arena = arena_create();
    const struct experiment *experiment = table->experiment;
    fprintf(to, "### %s: ", experiment->name);
    text(to, experiment->title);
    fprintf(to, "\n\n%s%s%s; machine %s, %s sizes.\n\n", experiment->paper,
            *experiment->figure ? ", " : "", experiment->figure, report_machines(arena, experiment),
            table->plan->quick ? "quick" : "full");
    head(to, table);
    rows(to, arena, table);
    fputs(experiment->ordering_count ? "\n"
                                       "| ordering | on | reproduced | values |\n"
                                       "|---|---|---|---|\n"
                                     : "",
          to);
    for (u32 i = 0; i < experiment->ordering_count; i++) {
        const struct table_ordering *one = &table->orderings[i];
        fprintf(to, "| `%s` | %s | %s | ", one->ordering->text, one->ordering->on,
                one->verdict == VERDICT_NO ? "**no**" : verdict_name(one->verdict));
        text(to, one->detail);
        fputs(" |\n", to);
    }
    arena_destroy(arena);
}
