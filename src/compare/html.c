/*
 * A comparison as a page: self-contained, no scripts, light and dark, printable. Well-formed XML,
 * too. Parts of a whole (issue slots, energy) are stacked bars, one per run; other changes are bars
 * beside their numbers.
 */
#include "compare/runs.h"

#include "lab/chart.h"
#include <math.h>

enum {
    STACK = 640,  /* width of the longest stacked bar */
    LABELS = 170, /* width of the names of runs beside them */
    BAR = 18,     /* height of a stacked bar */
    STEP = 26,    /* from one bar to the next */
    CHANGE = 120, /* width of a bar of change, both directions */
    COLOURS = 8   /* classes c0 to c7 of chart_styles */
};

static const char style[] =
    ":root { color-scheme: light dark; --text: #1a1a1a; --back: #ffffff; --line: #d0d0d0; "
    "--quiet: #555555; --less: #009e73; --more: #d55e00; }\n"
    "@media (prefers-color-scheme: dark) { :root { --text: #e8e8e8; --back: #16181c; "
    "--line: #44474d; --quiet: #a8a8a8; } }\n"
    "@media print { :root { color-scheme: light; --text: #000; --back: #fff; --line: #bbb; "
    "--quiet: #444; } body { max-width: none; margin: 0; } section { break-inside: avoid; } "
    "rect { print-color-adjust: exact; } .scroll { overflow: visible; } }\n"
    "body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); "
    "max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }\n"
    "h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }\n"
    ".verdict { font-size: 1.1rem; font-weight: bold; } .quiet { color: var(--quiet); }\n"
    ".scroll { overflow-x: auto; } table { border-collapse: collapse; }\n"
    "th, td { padding: 0.2rem 0.6rem; border-bottom: 1px solid var(--line); text-align: right; "
    "vertical-align: top; white-space: nowrap; }\n"
    "th:first-child, td.text, th.text { text-align: left; }\n"
    "th:first-child { overflow-wrap: anywhere; white-space: normal; font-weight: normal; }\n"
    ".less { fill: var(--less); } .more { fill: var(--more); }\n"
    ".legend span { margin-right: 1rem; white-space: nowrap; }\n";

static void element(FILE *to, const char *open, const char *text, const char *close)
{
    fputs(open, to);
    xml_text(to, text);
    fputs(close, to);
}

/* ---- stacked bars ---- */

/* The rows that get a colour of their own, largest first; the others are drawn together. */
static u32 coloured(const struct run_comparison *c, const struct compare_section *section,
                    u32 *rows)
{
    u32 count = 0;
    for (u32 i = 0; i < section->rows.count; i++) {
        const struct compare_row *row = &section->rows.data[i];
        f64 most = 0;
        for (u32 r = 0; r < c->count; r++)
            most = MAX(most, row->values[r].number);
        u32 at = MIN(count, COLOURS - 1);
        for (; at; at--) {
            f64 other = 0;
            for (u32 r = 0; r < c->count; r++)
                other = MAX(other, section->rows.data[rows[at - 1]].values[r].number);
            if (other >= most)
                break;
            if (at < COLOURS - 1)
                rows[at] = rows[at - 1];
        }
        if (at < COLOURS - 1)
            rows[at] = i;
        count = MIN(count + 1, COLOURS - 1);
    }
    return count;
}

static f64 sum_of(const struct compare_section *section, u32 run)
{
    f64 sum = 0;
    for (u32 i = 0; i < section->rows.count; i++)
        sum += section->rows.data[i].values[run].number;
    return sum;
}

static f64 draw_part(FILE *to, const struct run_comparison *c, enum quantity quantity,
                     const char *name, f64 number, u32 colour, f64 x, f64 y, f64 scale)
{
    const struct compare_value value = {true, number, NULL};
    fprintf(to,
            "<rect class=\"c%u ours\" x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%d\"><title>",
            colour, x, y, MAX(number * scale, 0), BAR);
    xml_text(to, name);
    element(to, ": ", value_text(c->arena, quantity, &value), "</title></rect>\n");
    return x + number * scale;
}

static void draw_stack(FILE *to, const struct run_comparison *c,
                       const struct compare_section *section, const u32 *rows, u32 count, u32 run,
                       f64 scale)
{
    const enum quantity quantity = section->rows.data[0].quantity;
    const f64 y = run * STEP;
    f64 x = LABELS, rest = sum_of(section, run);
    fprintf(to, "<text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">", LABELS - 8, y + BAR - 5);
    element(to, "", c->runs[run]->label, "</text>\n");
    for (u32 i = 0; i < count; i++) {
        const struct compare_row *row = &section->rows.data[rows[i]];
        x = draw_part(to, c, quantity, row->name, row->values[run].number, i, x, y, scale);
        rest -= row->values[run].number;
    }
    if (section->rows.count > count && rest > 0)
        draw_part(to, c, quantity, "others", rest, COLOURS - 1, x, y, scale);
}

static void print_stacks(FILE *to, const struct run_comparison *c,
                         const struct compare_section *section)
{
    u32 rows[COLOURS];
    const u32 count = coloured(c, section, rows);
    f64 most = 0;
    for (u32 r = 0; r < c->count; r++)
        most = MAX(most, sum_of(section, r));
    if (most <= 0)
        return;
    fprintf(to,
            "<figure><div class=\"scroll\"><svg role=\"img\" width=\"%d\" height=\"%u\" "
            "aria-label=\"",
            LABELS + STACK, c->count * STEP);
    element(to, "", section->title, ": a bar per run; the table has the numbers\">\n");
    for (u32 r = 0; r < c->count; r++)
        draw_stack(to, c, section, rows, count, r, STACK / most);
    fputs("</svg></div>\n<p class=\"legend\" aria-hidden=\"true\">", to);
    for (u32 i = 0; i <= count; i++) {
        const bool others = i == count;
        if (others && section->rows.count == count)
            break;
        fprintf(to,
                "<span><svg width=\"14\" height=\"12\"><rect class=\"c%u ours\" width=\"12\" "
                "height=\"12\"/></svg> ",
                others ? COLOURS - 1 : i);
        element(to, "", others ? "others" : section->rows.data[rows[i]].name, "</span> ");
    }
    fputs("</p></figure>\n", to);
}

/* ---- tables ---- */

/* The bar of a change: to the left in green if the value falls, to the right if it rises. */
static void change_bar(FILE *to, const struct compare_row *row, u32 run, f64 most)
{
    const f64 change = row->values[run].number - row->values[0].number;
    const f64 middle = CHANGE / 2.0;
    const f64 width = most > 0 ? fabs(change) / most * (middle - 1) : 0;
    fprintf(to, "<td><svg width=\"%d\" height=\"12\" aria-hidden=\"true\">", CHANGE);
    if (row->values[run].given && row->values[0].given && width > 0)
        fprintf(to, "<rect class=\"%s\" x=\"%.1f\" y=\"1\" width=\"%.1f\" height=\"10\"/>",
                change < 0 ? "less" : "more", change < 0 ? middle - width : middle, width);
    fprintf(to, "<line class=\"axis\" x1=\"%.0f\" x2=\"%.0f\" y1=\"0\" y2=\"12\"/></svg></td>",
            middle, middle);
}

/* Whether the changes of all rows can be drawn on one scale. */
static bool has_bars(const struct compare_section *section)
{
    for (u32 i = 0; i < section->rows.count; i++)
        if (section->rows.data[i].quantity == QUANTITY_TEXT ||
            section->rows.data[i].quantity != section->rows.data[0].quantity)
            return false;
    return section->rows.count && section->rows.data[0].quantity != QUANTITY_NUMBER &&
           strcmp(section->name, "statistics") != 0;
}

static void print_row(FILE *to, const struct run_comparison *c, const struct compare_row *row,
                      bool bars, f64 most)
{
    element(to, "<tr><th scope=\"row\">", row->name, "</th>");
    for (u32 r = 0; r < c->count; r++) {
        element(to, "<td>", value_text(c->arena, row->quantity, &row->values[r]), "</td>");
        if (!r)
            continue;
        element(to, "<td>", change_from(c->arena, row->quantity, &row->values[0], &row->values[r]),
                "</td>");
        if (bars)
            change_bar(to, row, r, most);
    }
    element(to, "<td class=\"text quiet\">", row->detail, "</td></tr>\n");
}

static void print_table(FILE *to, const struct run_comparison *c,
                        const struct compare_section *section)
{
    const bool bars = has_bars(section);
    f64 most = 0;
    for (u32 i = 0; i < section->rows.count; i++)
        most = MAX(most, row_spread(c, &section->rows.data[i]));
    element(to, "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">", section->heading,
            "</th>");
    for (u32 r = 0; r < c->count; r++) {
        element(to, "<th scope=\"col\">", c->runs[r]->label, "</th>");
        if (r)
            fprintf(to, "<th scope=\"col\"%s>%s</th>", bars ? " colspan=\"2\"" : "",
                    section->rows.data[0].quantity == QUANTITY_TEXT ? "" : "change");
    }
    fputs("<th></th></tr></thead>\n<tbody>\n", to);
    for (u32 i = 0; i < section->shown; i++)
        print_row(to, c, &section->rows.data[i], bars, most);
    fputs("</tbody>\n</table></div>\n", to);
    if (section->more)
        fprintf(to, "<p class=\"quiet\">... and %u more</p>\n", section->more);
}

static void print_section(FILE *to, const struct run_comparison *c,
                          const struct compare_section *section)
{
    if (!section->shown && !section->notes.count)
        return;
    element(to, "<section>\n<h2>", section->title, "</h2>\n");
    if (section->stacked && section->shown)
        print_stacks(to, c, section);
    if (section->shown)
        print_table(to, c, section);
    for (u32 i = 0; i < section->notes.count; i++)
        element(to, "<p class=\"quiet\">Note: ", section->notes.data[i], "</p>\n");
    fputs("</section>\n", to);
}

void compare_print_html(FILE *to, const struct run_comparison *c)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
          "<title>Comparison of runs - Heddle</title>\n<style>\n",
          to);
    fputs(style, to);
    chart_styles(to);
    fputs("</style>\n</head>\n<body>\n<main>\n<h1>Comparison of runs</h1>\n", to);
    for (u32 r = 1; r < c->count; r++)
        element(to, "<p class=\"verdict\">", c->verdicts[r], "</p>\n");
    for (u32 i = 0; i < c->notes.count; i++)
        element(to, "<p>Note: ", c->notes.data[i], "</p>\n");
    fputs("<ul>\n", to);
    for (u32 r = 0; r < c->count; r++) {
        element(to, "<li>", c->runs[r]->label, ": ");
        element(to, "<code>", c->runs[r]->place, r ? "</code></li>\n" : "</code>, baseline</li>\n");
    }
    fputs("</ul>\n", to);
    for (u32 i = 0; i < c->sections.count; i++)
        print_section(to, c, &c->sections.data[i]);
    fputs("</main>\n</body>\n</html>\n", to);
}
