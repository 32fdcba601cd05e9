/*
 * Results of a sweep as a page: for each column a small chart for each workload, with a curve for
 * each combination of the other axes; the values, which the page's script (sheet.js) filters, sorts
 * and draws in other ways; then the failures, and how to repeat the sweep.
 *
 * The horizontal axis is the first numeric axis with several values. If its values grow by a
 * factor, the scale is logarithmic. Without such an axis it is the longest other one, and there are
 * points only: lines between names would mean nothing.
 */
#include "heddle/heddle.h"
#include "lab/chart.h"
#include "lab/page.h"
#include "lab/sheet.h"

#include "base/text.h"
#include <math.h>
#include <stdlib.h>

enum {
    WIDTH = 300, /* of a panel's plot */
    HEIGHT = 170,
    LEFT = 62,
    TOP = 26,
    BELOW = 40,
    RIGHT = 16,
    MAX_PANELS = 64,
    MAX_CURVES = 16,
    MAX_TICKS = 10,
    MAX_FAILURES = 100,
    MAX_ROWS = 20000
};

extern const struct builtin_file lab_assets[]; /* sheet.js */

/* What is drawn against what. */
struct chart_layout {
    const struct sheet *sheet;
    const struct axis *x; /* NULL: the space has a single point for each panel */
    u32 x_group;          /* of axes */
    int panel_group;      /* of the programs */
    bool logarithmic, numeric;
    f64 low, high; /* of x, or of its logarithm */
};

/* One panel: the points with the panel's program. */
struct panel {
    const struct chart_layout *layout;
    FILE *to;
    u32 column, program; /* program: value of the panel's axis */
    f64 low, high, step;
};

/* ---- layout ---- */

static int group_of(const struct space *space, u32 axis)
{
    for (u32 i = 0; i < space->group_count; i++)
        if (axis >= space->groups[i].first &&
            axis < space->groups[i].first + space->groups[i].count)
            return (int)i;
    return -1;
}

static void scale(struct chart_layout *layout)
{
    const struct axis *x = layout->x;
    f64 low = INFINITY, high = -INFINITY;
    for (u32 i = 0; i < x->count; i++) {
        f64 value = layout->numeric ? x->numbers[i] : i;
        low = MIN(low, value);
        high = MAX(high, value);
    }
    layout->logarithmic = layout->numeric && low > 0 && high / low >= 8 && x->count > 2;
    layout->low = layout->logarithmic ? log2(low) : low;
    layout->high = layout->logarithmic ? log2(high) : high;
    if (layout->high <= layout->low)
        layout->high = layout->low + 1;
}

static struct chart_layout layout_of(const struct sheet *sheet)
{
    const struct space *space = sheet->space;
    struct chart_layout layout = {.sheet = sheet, .panel_group = -1};
    for (u32 pass = 0; pass < 2 && !layout.x; pass++)
        for (u32 i = 0; i < space->axis_count; i++) {
            const struct axis *axis = &space->axes[i];
            bool fits = !axis->kind->chooses_program && !axis->kind->repeats && axis->count > 1 &&
                        (pass || axis->numbers);
            if (fits && (!layout.x || (pass && axis->count > layout.x->count))) {
                layout.x = axis;
                layout.x_group = (u32)group_of(space, i);
                layout.numeric = !pass;
            }
        }
    for (u32 i = 0; i < space->axis_count; i++)
        if (space->axes[i].kind->chooses_program)
            layout.panel_group = group_of(space, i);
    if (layout.x && layout.panel_group == (int)layout.x_group)
        layout.panel_group = -1;
    if (layout.x)
        scale(&layout);
    return layout;
}

static f64 x_of(const struct chart_layout *layout, u32 value)
{
    f64 x = layout->numeric ? layout->x->numbers[value] : value;
    x = layout->logarithmic ? log2(x) : x;
    f64 inset = layout->numeric ? 0 : 30;
    return LEFT + inset + (WIDTH - 2 * inset) * (x - layout->low) / (layout->high - layout->low);
}

static f64 y_of(const struct panel *panel, f64 value)
{
    return TOP + HEIGHT * (panel->high - value) / (panel->high - panel->low);
}

/* The curve of a row: its values of all axes but x, programs and samples, as a number; the label,
 * if `label` is given. */
static u32 curve_of(const struct chart_layout *layout, const u32 *values, struct arena *arena,
                    const char **label)
{
    const struct space *space = layout->sheet->space;
    u32 curve = 0;
    for (u32 i = 0; i < space->group_count; i++) {
        const struct axis_group *group = &space->groups[i];
        const struct axis *axis = &space->axes[group->first];
        if (i == layout->x_group || (int)i == layout->panel_group || axis->kind->repeats)
            continue;
        curve = curve * group->length + values[group->first];
        if (label && group->length > 1)
            *label = arena_printf(arena, "%s%s%s", *label, **label ? ", " : "",
                                  axis->values[values[group->first]].label);
    }
    return curve;
}

static u32 curve_count(const struct chart_layout *layout)
{
    const struct space *space = layout->sheet->space;
    u64 count = 1;
    for (u32 i = 0; i < space->group_count; i++)
        if (i != layout->x_group && (int)i != layout->panel_group &&
            !space->axes[space->groups[i].first].kind->repeats)
            count *= space->groups[i].length;
    return (u32)MIN(count, MAX_CURVES);
}

/* Whether a row belongs to a panel; fills its values. */
static bool in_panel(const struct panel *panel, u32 row, u32 *values)
{
    const struct chart_layout *layout = panel->layout;
    const struct space *space = layout->sheet->space;
    space_values(space, layout->sheet->rows.data[row].point, values);
    return sheet_leads(layout->sheet, row) &&
           (layout->panel_group < 0 ||
            values[space->groups[layout->panel_group].first] == panel->program);
}

/* ---- a panel ---- */

static void find_range(struct panel *panel)
{
    const struct sheet *sheet = panel->layout->sheet;
    u32 values[SPACE_MAX_AXES];
    f64 low = INFINITY, high = -INFINITY;
    for (u32 r = 0; r < sheet->rows.count; r++) {
        if (!in_panel(panel, r, values))
            continue;
        struct sheet_mean mean = sheet_mean(sheet, r, panel->column);
        if (isnan(mean.value))
            continue;
        low = MIN(low, mean.value - mean.interval);
        high = MAX(high, mean.value + mean.interval);
    }
    if (low > high)
        low = high = 0;
    if (low > 0 && low < high / 2)
        low = 0; /* only close values deserve a cut axis */
    panel->low = low;
    panel->high = high;
    panel->step = chart_ticks(&panel->low, &panel->high);
}

static void draw_axes(const struct panel *panel)
{
    const struct chart_layout *layout = panel->layout;
    u32 steps = (u32)lround((panel->high - panel->low) / panel->step);
    for (u32 i = 0; i <= steps; i++) {
        f64 value = panel->low + i * panel->step, y = y_of(panel, value);
        fprintf(panel->to,
                "<line class=\"%s\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n"
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
                i ? "grid" : "axis", LEFT, LEFT + WIDTH, y, y, LEFT - 6, y + 4,
                fabs(value) < panel->step / 2 ? 0 : value);
    }
    u32 every = (layout->x->count + MAX_TICKS - 1) / MAX_TICKS;
    for (u32 i = 0; i < layout->x->count; i += every) {
        fprintf(panel->to, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", x_of(layout, i),
                TOP + HEIGHT + 16);
        xml_text(panel->to, layout->x->values[i].label);
        fputs("</text>\n", panel->to);
    }
    fprintf(panel->to, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", LEFT + WIDTH / 2,
            TOP + HEIGHT + 34);
    xml_text(panel->to, layout->x->name);
    fputs("</text>\n", panel->to);
}

static void draw_point(const struct panel *panel, f64 x, struct sheet_mean mean, u32 curve,
                       const char *label)
{
    f64 y = y_of(panel, mean.value);
    if (mean.interval > 0)
        fprintf(panel->to,
                "<line class=\"c%u\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
                curve % CHART_COLOURS, x, x, y_of(panel, mean.value - mean.interval),
                y_of(panel, mean.value + mean.interval));
    fprintf(panel->to, "<circle class=\"c%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>",
            curve % CHART_COLOURS, x, y);
    xml_text(panel->to, label);
    fprintf(panel->to, ": %.6g</title></circle>\n", mean.value);
}

static void draw_curve(const struct panel *panel, u32 curve)
{
    const struct sheet *sheet = panel->layout->sheet;
    struct arena *arena = arena_create();
    u32 values[SPACE_MAX_AXES];
    char *line = NULL;
    size_t length;
    FILE *points = checked(open_memstream(&line, &length));
    u32 axis = sheet->space->groups[panel->layout->x_group].first;
    for (u32 r = 0; r < sheet->rows.count; r++) {
        if (!in_panel(panel, r, values) || curve_of(panel->layout, values, NULL, NULL) != curve)
            continue;
        struct sheet_mean mean = sheet_mean(sheet, r, panel->column);
        if (isnan(mean.value))
            continue;
        f64 x = x_of(panel->layout, values[axis]);
        fprintf(points, "%.1f,%.1f ", x, y_of(panel, mean.value));
        draw_point(panel, x, mean, curve,
                   space_label(arena, sheet->space, sheet->rows.data[r].point));
    }
    fclose(points);
    if (panel->layout->numeric && length)
        fprintf(panel->to, "<polyline class=\"c%u curve\" points=\"%s\"/>\n", curve % CHART_COLOURS,
                line);
    free(line);
    arena_destroy(arena);
}

static const char *program_name(const struct chart_layout *layout, u32 program)
{
    const struct space *space = layout->sheet->space;
    if (layout->panel_group < 0)
        return "";
    const struct axis_group *group = &space->groups[layout->panel_group];
    for (u32 i = 0; i < group->count; i++)
        if (space->axes[group->first + i].kind->chooses_program)
            return space->axes[group->first + i].values[program].label;
    return "";
}

static void draw_panel(struct panel *panel)
{
    const struct sheet_column *column = &panel->layout->sheet->columns[panel->column];
    const char *name = program_name(panel->layout, panel->program);
    int width = LEFT + WIDTH + RIGHT, height = TOP + HEIGHT + BELOW;
    find_range(panel);
    fprintf(panel->to, "<svg role=\"img\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n",
            width, height, width, height);
    page_element(panel->to, "<title>", column->name, "");
    page_element(panel->to, *name ? " of " : "", name, "</title>\n");
    fprintf(panel->to, "<text x=\"%d\" y=\"14\" font-weight=\"bold\">", LEFT);
    xml_text(panel->to, name);
    fputs("</text>\n", panel->to);
    draw_axes(panel);
    for (u32 i = 0; i < curve_count(panel->layout); i++)
        draw_curve(panel, i);
    fputs("</svg>\n", panel->to);
}

/* ---- columns ---- */

static void print_legend(FILE *to, const struct chart_layout *layout)
{
    const struct sheet *sheet = layout->sheet;
    struct arena *arena = arena_create();
    u32 count = curve_count(layout), values[SPACE_MAX_AXES];
    const char **labels = arena_array(arena, const char *, count + 1);
    for (u32 r = 0; r < sheet->rows.count; r++) {
        const char *label = "";
        space_values(sheet->space, sheet->rows.data[r].point, values);
        u32 curve = curve_of(layout, values, arena, &label);
        if (curve < count)
            labels[curve] = label;
    }
    fputs("<p class=\"legend\">", to);
    for (u32 i = 0; count > 1 && i < count; i++) {
        fprintf(to,
                "<span><svg width=\"14\" height=\"12\"><rect class=\"c%u ours\" width=\"12\" "
                "height=\"12\"/></svg> ",
                i % CHART_COLOURS);
        xml_text(to, labels[i] ? labels[i] : "");
        fputs("</span> ", to);
    }
    fputs("</p>\n", to);
    arena_destroy(arena);
}

static void print_charts(FILE *to, const struct chart_layout *layout)
{
    const struct sheet *sheet = layout->sheet;
    u32 panels = layout->panel_group < 0 ? 1 : sheet->space->groups[layout->panel_group].length;
    for (u32 c = 0; c < sheet->column_count; c++) {
        page_element(to, "<h2>", sheet->columns[c].heading, "</h2>\n");
        fputs("<figure>\n<div class=\"panels\">\n", to);
        for (u32 p = 0; p < MIN(panels, MAX_PANELS); p++)
            draw_panel(&(struct panel){.layout = layout, .to = to, .column = c, .program = p});
        fputs("</div>\n", to);
        print_legend(to, layout);
        fputs("</figure>\n", to);
    }
    if (panels > MAX_PANELS)
        fprintf(to, "<p class=\"quiet\">The first %d of %u programs are shown.</p>\n", MAX_PANELS,
                panels);
}

/* ---- tables ---- */

static void print_table(FILE *to, const struct sheet *sheet)
{
    u32 values[SPACE_MAX_AXES], shown = 0;
    fputs("<h2>Values</h2>\n<div class=\"scroll\"><table class=\"values\">\n<thead><tr>", to);
    for (u32 a = 0; a < sheet->space->axis_count; a++)
        if (!sheet->space->axes[a].kind->repeats)
            page_element(to, "<th scope=\"col\" class=\"text\">", sheet->space->axes[a].name,
                         "</th>");
    for (u32 c = 0; c < sheet->column_count; c++)
        page_element(to, "<th scope=\"col\">", sheet->columns[c].heading, "</th>");
    fputs("<th scope=\"col\" class=\"text\">status</th></tr></thead>\n<tbody>\n", to);
    for (u32 r = 0; r < sheet->rows.count && shown < MAX_ROWS; r++) {
        if (!sheet_leads(sheet, r))
            continue;
        shown++;
        fputs("<tr>", to);
        space_values(sheet->space, sheet->rows.data[r].point, values);
        for (u32 a = 0; a < sheet->space->axis_count; a++)
            if (!sheet->space->axes[a].kind->repeats)
                page_element(to, "<td class=\"text\">",
                             sheet->space->axes[a].values[values[a]].label, "</td>");
        for (u32 c = 0; c < sheet->column_count; c++) {
            struct sheet_mean mean = sheet_mean(sheet, r, c);
            if (isnan(mean.value))
                fputs("<td>-</td>", to);
            else if (mean.samples > 1)
                fprintf(to, "<td data-v=\"%.17g\">%.6g &#177; %.2g</td>", mean.value, mean.value,
                        mean.interval);
            else
                fprintf(to, "<td data-v=\"%.17g\">%.6g</td>", mean.value, mean.value);
        }
        page_element(to, "<td class=\"text\">", sheet->rows.data[r].status, "</td></tr>\n");
    }
    fputs("</tbody>\n</table></div>\n", to);
    if (shown == MAX_ROWS)
        fprintf(to, "<p class=\"quiet\">The first %d rows; the CSV file has all.</p>\n", MAX_ROWS);
}

static void print_failures(FILE *to, const struct sheet *sheet)
{
    struct arena *arena = arena_create();
    u32 shown = 0;
    if (sheet->failed)
        fprintf(to, "<h2>Failed points: %llu</h2>\n<ul>\n", (unsigned long long)sheet->failed);
    for (u32 r = 0; sheet->failed && r < sheet->rows.count && shown < MAX_FAILURES; r++) {
        const struct sheet_row *row = &sheet->rows.data[r];
        if (!*row->message)
            continue;
        shown++;
        page_element(to, "<li>", space_label(arena, sheet->space, row->point), ": ");
        page_element(to, "<span class=\"failed\">", row->status, "</span>: ");
        page_element(to, "", row->message, "</li>\n");
    }
    fputs(sheet->failed ? "</ul>\n" : "", to);
    arena_destroy(arena);
}

static void print_provenance(FILE *to, const struct sheet *sheet)
{
    struct arena *arena = arena_create();
    fputs("<h2>How to repeat this</h2>\n<ul>\n", to);
    page_element(to, "<li>Heddle ", hd_version(), ", ");
    page_element(to, "build <code>", arena_strndup(arena, sheet->plan->build, 16),
                 "</code></li>\n");
    page_element(to, "<li><code>", planned_command(arena, sheet->plan, sheet->planned),
                 "</code></li>\n");
    for (u32 c = 0; c < sheet->column_count; c++) {
        page_element(to, "<li>", sheet->columns[c].name, " = ");
        page_element(to, "<code>", sheet->columns[c].text, "</code></li>\n");
    }
    fputs("</ul>\n", to);
    arena_destroy(arena);
}

void sheet_html(FILE *to, const struct sheet *sheet)
{
    struct chart_layout layout = layout_of(sheet);
    page_begin(to, sheet->experiment->name, sheet->experiment->title);
    fprintf(to, "<p class=\"quiet\">%u points, %s sizes.</p>\n", sheet->rows.count,
            sheet->plan->quick ? "quick" : "full");
    if (layout.x)
        print_charts(to, &layout);
    print_table(to, sheet);
    print_failures(to, sheet);
    print_provenance(to, sheet);
    page_script(to, lab_assets[0].text);
    page_end(to);
}
