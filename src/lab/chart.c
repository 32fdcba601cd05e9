/* Bar charts: see chart.h. Coordinates are SVG user units, which browsers show as pixels. */
#include "lab/chart.h"

#include <math.h>

enum {
    BAR = 11,       /* width of a bar */
    GAP = 16,       /* between programs */
    LEFT = 56,      /* x of the axis */
    TOP = 28,       /* room for the unit */
    NARROWEST = 38, /* minimum width of a program, for its name */
    HEIGHT = 240,   /* of the plot */
    BELOW = 34,     /* height of the program names */
    TICKS = 5
};

struct chart {
    FILE *to;
    const struct table *table;
    u32 *columns; /* columns that are drawn */
    u32 count;
    f64 low, high, step; /* range and tick distance of the axis */
};

void xml_text(FILE *to, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", to);
            break;
        case '<':
            fputs("&lt;", to);
            break;
        case '>':
            fputs("&gt;", to);
            break;
        case '"':
            fputs("&quot;", to);
            break;
        default:
            fputc(*text, to);
        }
}

/* Okabe and Ito's colours, which people with colour blindness can distinguish; the same for light
 * and dark pages except the first, which is too dark for the latter. */
void chart_styles(FILE *to)
{
    static const char *const colours[CHART_COLOURS] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                                       "#56b4e9", "#d55e00", "#8c8c3c", "#999999"};
    for (u32 i = 0; i < CHART_COLOURS; i++)
        fprintf(to, ".c%u { fill: %s; stroke: %s; }\n", i, colours[i], colours[i]);
    fputs(".theirs { fill-opacity: 0.2; stroke-width: 1.5; }\n"
          ".ours { stroke: none; }\n"
          ".curve { fill: none; stroke-width: 2; } .panels { display: flex; flex-wrap: wrap; "
          "gap: 0.5rem 1.5rem; }\n"
          ".grid { stroke: var(--line); }\n"
          ".axis { stroke: var(--text); }\n"
          "svg text { fill: var(--text); font-size: 12px; }\n"
          "@media (prefers-color-scheme: dark) { .c0 { fill: #3fa7e0; stroke: #3fa7e0; } "
          ".ours { stroke: none; } .curve { fill: none; } }\n",
          to);
}

/* ---- the axis ---- */

static void reach(struct chart *chart, f64 value)
{
    chart->low = MIN(chart->low, value);
    chart->high = MAX(chart->high, value);
}

static void reach_pair(struct chart *chart, struct published_number theirs, struct cell ours)
{
    if (theirs.given)
        reach(chart, theirs.value);
    if (ours.given)
        reach(chart, ours.value);
}

f64 chart_ticks(f64 *low, f64 *high)
{
    if (*high <= *low)
        *high = *low + 1;
    f64 raw = (*high - *low) / TICKS, power = pow(10, floor(log10(raw)));
    f64 step = (raw / power <= 1 ? 1 : raw / power <= 2 ? 2 : raw / power <= 5 ? 5 : 10) * power;
    *low = floor(*low / step) * step;
    *high = ceil(*high / step) * step;
    return step;
}

/* Finds the range of the axis. */
static void find_range(struct chart *chart)
{
    const struct table *table = chart->table;
    for (u32 i = 0; i < chart->count; i++) {
        const struct table_column *column = &table->columns[chart->columns[i]];
        for (u32 r = 0; r < table->row_count; r++)
            reach_pair(chart, column->column->rows[table->rows[r].index],
                       column->rows[table->rows[r].index]);
        reach_pair(chart, column->column->published_mean, column->mean);
    }
    chart->step = chart_ticks(&chart->low, &chart->high);
}

static f64 y_of(const struct chart *chart, f64 value)
{
    return TOP + HEIGHT * (chart->high - value) / (chart->high - chart->low);
}

static void draw_axis(const struct chart *chart, f64 width)
{
    fputs("<text x=\"4\" y=\"14\">", chart->to);
    xml_text(chart->to, chart->table->columns[chart->columns[0]].column->unit);
    fputs("</text>\n", chart->to);
    u32 steps = (u32)lround((chart->high - chart->low) / chart->step);
    for (u32 i = 0; i <= steps; i++) {
        f64 value = chart->low + i * chart->step;
        f64 y = y_of(chart, value);
        bool zero = fabs(value) < chart->step / 2;
        fprintf(chart->to, "<line class=\"%s\" x1=\"%d\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
                zero ? "axis" : "grid", LEFT, width, y, y);
        fprintf(chart->to, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", LEFT - 6,
                y + 4, zero ? 0 : value);
    }
}

/* ---- bars ---- */

static void draw_bar(const struct chart *chart, f64 x, struct cell cell, u32 colour, bool ours,
                     const char *where)
{
    if (!cell.given)
        return;
    const struct column *column = chart->table->columns[chart->columns[colour]].column;
    f64 zero = y_of(chart, MAX(chart->low, MIN(chart->high, 0))), y = y_of(chart, cell.value);
    fprintf(chart->to,
            "<rect class=\"c%u %s\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"><title>",
            colour % CHART_COLOURS, ours ? "ours" : "theirs", x, MIN(y, zero), BAR - 1,
            fabs(y - zero));
    xml_text(chart->to, where);
    fputs(", ", chart->to);
    xml_text(chart->to, column->title);
    fprintf(chart->to, ": %s %.*f ", ours ? "ours" : "theirs", (int)column->digits, cell.value);
    xml_text(chart->to, column->unit);
    fputs("</title></rect>\n", chart->to);
}

static f64 group_width(const struct chart *chart, u32 row)
{
    const struct table *table = chart->table;
    f64 width = 0;
    for (u32 i = 0; i < chart->count; i++) {
        const struct column *column = table->columns[chart->columns[i]].column;
        bool theirs = row == table->row_count ? column->published_mean.given
                                              : column->rows[table->rows[row].index].given;
        width += theirs ? 2 * BAR : BAR;
    }
    return width;
}

/* Draws the bars of one program (row below row_count) or of the mean; returns the x after them. */
static f64 draw_group(const struct chart *chart, f64 x, u32 row)
{
    const struct table *table = chart->table;
    bool mean = row == table->row_count;
    const char *name = mean ? "mean" : table->rows[row].row->id;
    f64 start = x, group = group_width(chart, row);
    x += (MAX(group, NARROWEST) - group) / 2;
    for (u32 i = 0; i < chart->count; i++) {
        const struct table_column *column = &table->columns[chart->columns[i]];
        u32 index = mean ? 0 : table->rows[row].index;
        struct published_number published =
            mean ? column->column->published_mean : column->column->rows[index];
        struct cell ours = mean ? column->mean : column->rows[index];
        if (published.given) {
            draw_bar(chart, x, (struct cell){published.value, true}, i, false, name);
            x += BAR;
        }
        draw_bar(chart, x, ours, i, true, name);
        x += BAR;
    }
    fprintf(chart->to, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\"%s>",
            start + MAX(group, NARROWEST) / 2, TOP + HEIGHT + 20,
            mean ? " font-weight=\"bold\"" : "");
    xml_text(chart->to, name);
    fputs("</text>\n", chart->to);
    return start + MAX(group, NARROWEST) + GAP;
}

static f64 width_of(const struct chart *chart)
{
    f64 width = LEFT + GAP;
    for (u32 row = 0; row <= chart->table->row_count; row++)
        width += MAX(group_width(chart, row), NARROWEST) + GAP;
    return width;
}

static void draw_legend(const struct chart *chart)
{
    fputs("<p class=\"legend\" aria-hidden=\"true\">", chart->to);
    for (u32 i = 0; i < chart->count; i++) {
        fprintf(chart->to,
                "<span><svg width=\"14\" height=\"12\"><rect class=\"c%u ours\" width=\"12\" "
                "height=\"12\"/></svg> ",
                i % CHART_COLOURS);
        xml_text(chart->to, chart->table->columns[chart->columns[i]].column->title);
        fputs("</span> ", chart->to);
    }
    fputs("<span><svg width=\"14\" height=\"12\"><rect class=\"c0 theirs\" x=\"1\" y=\"1\" "
          "width=\"10\" height=\"10\"/></svg> pale, with an outline: published</span></p>\n",
          chart->to);
}

void chart_svg(FILE *to, const struct table *table, u32 first, u32 number)
{
    struct chart chart = {
        .to = to,
        .table = table,
        .columns = checked(calloc(table->experiment->column_count, sizeof *chart.columns))};
    const char *unit = table->columns[first].column->unit;
    for (u32 i = first; i < table->experiment->column_count; i++)
        if (!strcmp(table->columns[i].column->unit, unit))
            chart.columns[chart.count++] = i;
    find_range(&chart);
    f64 width = width_of(&chart), x = LEFT + GAP;
    int height = TOP + HEIGHT + BELOW;
    fprintf(to,
            "<figure>\n<div class=\"scroll\"><svg role=\"img\" "
            "aria-labelledby=\"chart%u\" width=\"%.0f\" height=\"%d\" viewBox=\"0 0 %.0f %d\">\n"
            "<title id=\"chart%u\">",
            number, width, height, width, height, number);
    xml_text(to, table->experiment->title);
    fputs(*unit ? ", in " : "", to);
    xml_text(to, unit);
    fputs(": bars for each workload; the table below has the numbers</title>\n", to);
    draw_axis(&chart, width);
    for (u32 row = 0; row <= table->row_count; row++)
        x = draw_group(&chart, x, row);
    fputs("</svg></div>\n", to);
    draw_legend(&chart);
    fputs("</figure>\n", to);
    free(chart.columns);
}
