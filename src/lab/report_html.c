/* Results as a page: see report.h. */
#include "heddle/heddle.h"
#include "lab/chart.h"
#include "lab/page.h"
#include "lab/report.h"

static void cell(FILE *to, struct arena *arena, const struct column *column, struct cell value)
{
    page_element(to, "<td>", cell_text(arena, value, column->digits), "</td>");
}

static struct cell theirs(struct published_number published)
{
    return (struct cell){published.value, published.given};
}

/* ---- the table ---- */

static void table_head(FILE *to, const struct table *table)
{
    fputs("<thead>\n<tr><th rowspan=\"2\" scope=\"col\">workload</th>", to);
    for (u32 c = 0; c < table->experiment->column_count; c++) {
        const struct column *column = table->columns[c].column;
        page_element(to, "<th colspan=\"2\" scope=\"colgroup\">", column->title, "");
        page_element(to, *column->unit ? ", " : "", column->unit, "</th>");
    }
    fputs("<th rowspan=\"2\" scope=\"col\" class=\"text\">remark</th></tr>\n<tr>", to);
    for (u32 c = 0; c < table->experiment->column_count; c++)
        fputs("<th scope=\"col\">published</th><th scope=\"col\">Heddle</th>", to);
    fputs("</tr>\n</thead>\n", to);
}

static void table_body(FILE *to, struct arena *arena, const struct table *table)
{
    fputs("<tbody>\n", to);
    for (u32 r = 0; r < table->row_count; r++) {
        const struct table_row *row = &table->rows[r];
        page_element(to, "<tr><th scope=\"row\">", row->row->id, "</th>");
        for (u32 c = 0; c < table->experiment->column_count; c++) {
            const struct table_column *column = &table->columns[c];
            cell(to, arena, column->column, theirs(column->column->rows[row->index]));
            cell(to, arena, column->column, column->rows[row->index]);
        }
        fputs("<td class=\"text\">", to);
        if (*row->failure)
            page_element(to, "<span class=\"failed\">failed</span>: ", row->failure,
                         *row->remark ? "; " : "");
        page_element(to, "", row->remark, "</td></tr>\n");
    }
    fputs("</tbody>\n", to);
}

static void table_foot(FILE *to, struct arena *arena, const struct table *table)
{
    fputs("<tfoot>\n", to);
    for (u32 group = 0; group < table->experiment->suite.group_count; group++) {
        if (!table->experiment->means[group])
            continue;
        page_element(to, "<tr><th scope=\"row\">mean of ",
                     table->experiment->suite.groups[group].name, "</th>");
        for (u32 c = 0; c < table->experiment->column_count; c++) {
            const struct table_column *column = &table->columns[c];
            cell(to, arena, column->column, theirs(column->column->groups[group]));
            cell(to, arena, column->column, column->groups[group]);
        }
        fputs("<td></td></tr>\n", to);
    }
    fputs("<tr><th scope=\"row\">mean</th>", to);
    for (u32 c = 0; c < table->experiment->column_count; c++) {
        const struct table_column *column = &table->columns[c];
        cell(to, arena, column->column, theirs(column->column->published_mean));
        cell(to, arena, column->column, column->mean);
    }
    fputs("<td></td></tr>\n<tr><th scope=\"row\">max</th>", to);
    for (u32 c = 0; c < table->experiment->column_count; c++) {
        const struct table_column *column = &table->columns[c];
        cell(to, arena, column->column, theirs(column->column->published_max));
        cell(to, arena, column->column, column->max);
    }
    fputs("<td></td></tr>\n</tfoot>\n", to);
}

static void print_table(FILE *to, struct arena *arena, const struct table *table)
{
    fputs("<h2>Published and measured values</h2>\n"
          "<div class=\"scroll\"><table>\n"
          "<caption>",
          to);
    for (u32 c = 0; c < table->experiment->column_count; c++) {
        const struct table_column *column = &table->columns[c];
        const char *counted = report_counted(arena, table, column);
        page_element(to, c ? "; " : "Means: ", column->column->title, ": ");
        xml_text(to, column->no_mean ? "none, a value is not positive"
                                     : mean_name(column->column->mean));
        page_element(to, *counted ? ", " : "", counted, "");
    }
    fputs("</caption>\n", to);
    table_head(to, table);
    table_body(to, arena, table);
    table_foot(to, arena, table);
    fputs("</table></div>\n", to);
}

/* ---- the rest ---- */

static void print_charts(FILE *to, const struct table *table)
{
    u32 number = 0;
    for (u32 c = 0; c < table->experiment->column_count; c++) {
        bool drawn = false;
        for (u32 k = 0; k < c; k++)
            drawn |= !strcmp(table->columns[k].column->unit, table->columns[c].column->unit);
        if (!drawn)
            chart_svg(to, table, c, number++);
    }
}

static void print_orderings(FILE *to, const struct table *table)
{
    if (!table->experiment->ordering_count)
        return;
    fputs("<h2>Orderings</h2>\n"
          "<div class=\"scroll\"><table>\n"
          "<thead><tr><th scope=\"col\">reproduced</th><th class=\"text\" "
          "scope=\"col\">ordering</th><th class=\"text\" scope=\"col\">on</th><th class=\"text\" "
          "scope=\"col\">values</th></tr></thead>\n"
          "<tbody>\n",
          to);
    for (u32 i = 0; i < table->experiment->ordering_count; i++) {
        const struct table_ordering *one = &table->orderings[i];
        fprintf(to, "<tr><td class=\"text%s\">%s</td>", one->verdict == VERDICT_NO ? " no" : "",
                verdict_name(one->verdict));
        page_element(to, "<td class=\"text\"><code>", one->ordering->text, "</code>");
        page_element(to, *one->ordering->note ? "<br/>" : "", one->ordering->note, "</td>");
        page_element(to, "<td class=\"text\">", one->ordering->on, "</td>");
        page_element(to, "<td class=\"text\">", one->detail, "</td></tr>\n");
    }
    fputs("</tbody>\n</table></div>\n", to);
}

static void print_provenance(FILE *to, struct arena *arena, const struct table *table)
{
    const struct experiment *experiment = table->experiment;
    fputs("<h2>How to repeat this</h2>\n"
          "<ul>\n",
          to);
    page_element(to, "<li>Heddle ", hd_version(), ", ");
    page_element(to, "build <code>", arena_strndup(arena, table->plan->build, 16),
                 "</code></li>\n");
    page_element(to, "<li><code>", planned_command(arena, table->plan, table->planned),
                 "</code></li>\n");
    for (u32 i = 0; i < experiment->configuration_count; i++) {
        page_element(to, "<li>configuration <code>", experiment->configurations[i].name,
                     "</code>: ");
        xml_text(to, report_configuration(arena, experiment, i));
        fputs("</li>\n", to);
    }
    for (u32 i = 0; i < experiment->column_count; i++) {
        page_element(to, "<li>", experiment->columns[i].title, " = ");
        page_element(to, "<code>", experiment->columns[i].text, "</code></li>\n");
    }
    fputs("</ul>\n<details><summary>One command for each workload</summary>\n<ul>\n", to);
    for (u32 r = 0; r < table->row_count; r++) {
        page_element(to, "<li>", table->rows[r].row->id, ": ");
        page_element(to, "<code>", table->rows[r].command, "</code></li>\n");
    }
    fputs("</ul></details>\n", to);
}

void report_html(FILE *to, const struct table *table)
{
    struct arena *arena = arena_create();
    const struct experiment *experiment = table->experiment;
    page_begin(to, experiment->name, experiment->title);
    page_element(to, "<p class=\"quiet\">", experiment->paper, "");
    page_element(to, *experiment->figure ? ", " : "", experiment->figure, ". ");
    page_element(to, "Machine ", report_machines(arena, experiment), "; ");
    fprintf(to, "%s sizes.</p>\n", table->plan->quick ? "quick" : "full");
    print_charts(to, table);
    print_table(to, arena, table);
    print_orderings(to, table);
    bool any = false;
    for (u32 i = 0; i < experiment->remark_count; i++)
        if (!experiment->remarks[i].id) {
            fputs(any ? "" : "<h2>Remarks</h2>\n", to);
            any = true;
            page_element(to, "<p>", experiment->remarks[i].text, "</p>\n");
        }
    print_provenance(to, arena, table);
    page_end(to);
    arena_destroy(arena);
}
