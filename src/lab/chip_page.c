/* Pages about chips: see chip_page.h. Coordinates are SVG user units. */
#include "lab/chip_page.h"

#include "lab/chart.h"
#include "lab/page.h"
#include <math.h>

enum {
    SHADES = 15, /* of a map, an odd number: the middle one is neutral */
    TILE = 7,    /* of the chip's map */
    WIDTH = 420, /* of a histogram */
    HEIGHT = 150,
    LEFT = 40,
    BELOW = 34,
    BINS = 24
};

/* ---- maps ---- */

/* Blue below, orange above, white in between: Okabe and Ito's colours. */
static void shade(FILE *to, u32 index)
{
    static const u8 low[] = {0x00, 0x72, 0xb2}, high[] = {0xd5, 0x5e, 0x00};
    const i32 middle = SHADES / 2, from = (i32)index - middle;
    const u8 *end = from < 0 ? low : high;
    f64 share = (f64)(from < 0 ? -from : from) / middle;
    fputc('#', to);
    for (u32 i = 0; i < 3; i++)
        fprintf(to, "%02x", (u32)(255 + share * (end[i] - 255)));
}

/* A grid of values from -reach to reach, one path for each shade; nothing where there is no number. */
static void draw_grid(FILE *to, const f32 *values, u32 columns, u32 rows, f64 reach, u32 width,
                      u32 height)
{
    for (u32 s = 0; s < SHADES; s++) {
        fputs("<path fill=\"", to);
        shade(to, s);
        fputs("\" d=\"", to);
        for (u32 i = 0; i < columns * rows; i++) {
            f64 at = (values[i] / reach + 1) / 2 * SHADES;
            if (!isnan(at) && (u32)fmin(fmax(at, 0), SHADES - 1) == s)
                fprintf(to, "M%u %uh%uv%uh-%uz", i % columns * width, i / columns * height, width,
                        height, width);
        }
        fputs("\"/>\n", to);
    }
}

static void draw_legend(FILE *to, u32 y, f64 reach, const char *unit)
{
    for (u32 s = 0; s < SHADES; s++) {
        fprintf(to, "<rect x=\"%u\" y=\"%u\" width=\"16\" height=\"10\" fill=\"", s * 16, y);
        shade(to, s);
        fputs("\"/>\n", to);
    }
    fprintf(to, "<text x=\"%d\" y=\"%u\">-%.3g to +%.3g %s</text>\n", SHADES * 16 + 8, y + 10,
            reach, reach, unit);
}

static void chip_map(FILE *to, const struct chips_facts *facts, const struct chip *chip,
                     const struct core_numbers *cores)
{
    const u32 side = MAP_SIDE * TILE;
    const struct file_plan *plan = &chip->plan;
    f64 sigma =
        variation_parts(&facts->variation, facts->variation.vth_sigma * facts->variation.threshold)
            .systematic;
    fprintf(to,
            "<h2>Chip %u: systematic threshold voltage</h2>\n<figure class=\"scroll\">\n<svg "
            "role=\"img\" aria-label=\"map of the threshold voltage\" width=\"%u\" height=\"%u\" "
            "viewBox=\"0 0 %u %u\">\n",
            chip->number, side, side + 20, side, side + 20);
    draw_grid(to, chip->map, MAP_SIDE, MAP_SIDE, 3 * sigma, TILE, TILE);
    draw_legend(to, side + 6, 3000 * sigma, "mV");
    for (u32 core = 0; core < plan->cores; core++) {
        const struct variation *variation = &facts->variation;
        struct chip_place a = file_place(plan, variation, core, 0, 0, 0);
        struct chip_place b =
            file_place(plan, variation, core, plan->banks - 1, plan->entries - 1, plan->words - 1);
        fprintf(to,
                "<rect fill=\"none\" stroke=\"#000000\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                "height=\"%.1f\"/>\n<text style=\"fill:#000000\" text-anchor=\"middle\" x=\"%.1f\" "
                "y=\"%.1f\">%u: %.2f</text>\n",
                a.x * side, a.y * side, (b.x - a.x) * side, (b.y - a.y) * side,
                (a.x + b.x) / 2 * side, b.y * side + 14, core, cores[core].frequency[PART_FILE]);
    }
    fputs("</svg>\n<figcaption>Rectangles are register files; beside each its core and frequency, "
          "relative to a chip without variation.</figcaption>\n</figure>\n",
          to);
}

/* Delays of the words of a file as they lie on the chip, the slowest of several rows together. */
static void file_map(FILE *to, const struct chip *chip, u32 core)
{
    enum {
        ROWS = 128
    };
    const struct file_plan *plan = &chip->plan;
    u32 across = file_plan_columns(plan) * plan->words, width = MAX(512 / across, 1);
    u32 down = plan->banks / file_plan_columns(plan) * plan->entries, rows = MIN(down, ROWS);
    f32 *values = checked(calloc((size_t)across * rows, sizeof *values));
    for (u32 bank = 0; bank < plan->banks; bank++)
        for (u32 entry = 0; entry < plan->entries; entry++)
            for (u32 word = 0; word < plan->words; word++) {
                u32 x = bank % file_plan_columns(plan) * plan->words + word;
                u32 y = (bank / file_plan_columns(plan) * plan->entries + entry) * rows / down;
                f32 *at = &values[y * across + x];
                u16 delay = chip->cores[core].delays[word_index(plan, bank, entry, word)];
                *at = fmaxf(*at, (f32)delay / DELAY_ONE);
            }
    f64 mean = 0, most = 0;
    for (u32 i = 0; i < across * rows; i++)
        mean += values[i] / (f64)((u64)across * rows);
    for (u32 i = 0; i < across * rows; i++) {
        values[i] -= (f32)mean;
        most = fmax(most, fabsf(values[i]));
    }
    fprintf(to,
            "<h2>Core %u of it: delays</h2>\n<figure class=\"scroll\">\n<svg role=\"img\" "
            "aria-label=\"map of delays\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\">\n",
            core, across * width, rows * 3 + 20, across * width, rows * 3 + 20);
    draw_grid(to, values, across, rows, most, width, 3);
    draw_legend(to, rows * 3 + 6, most, "of the nominal delay");
    fprintf(
        to,
        "</svg>\n<figcaption>The slowest of %u words that lie above each other, relative to the "
        "mean, %.3f. One column is a lane.</figcaption>\n</figure>\n",
        down / rows, mean);
    free(values);
}

/* V_min of the weakest cells of a core's first bank, where they lie: a column is a bit. */
static void vmin_map(FILE *to, const struct chip *chip, u32 core)
{
    const struct file_plan *plan = &chip->plan;
    const u32 bits = plan->words * CELLS_PER_WORD + plan->check_bits;
    const u32 width = MAX(512 / bits, 1), height = MAX(256 / plan->entries, 2);
    const struct chip_core *of = &chip->cores[core];
    f32 *values = checked(calloc((size_t)bits * plan->entries, sizeof *values)), most = 1e-3f;
    for (u32 i = 0; i < bits * plan->entries; i++)
        values[i] = NAN;
    for (u32 entry = 0; entry < plan->entries; entry++)
        for (u32 i = of->first[entry]; i < of->first[entry + 1]; i++) {
            f32 above = (f32)((f64)of->cells[i].vmin / VMIN_ONE - chip->floor);
            values[entry * bits + cell_bit(&of->cells[i])] = above;
            most = fmaxf(most, above);
        }
    fprintf(to,
            "<h2>Its first bank: V_min of the weakest cells</h2>\n<figure class=\"scroll\">\n<svg "
            "role=\"img\" aria-label=\"map of V_min\" width=\"%u\" height=\"%u\" viewBox=\"0 0 "
            "%u %u\">\n<rect fill=\"none\" stroke=\"#000000\" width=\"%u\" height=\"%u\"/>\n",
            bits * width, plan->entries * height + 20, bits * width, plan->entries * height + 20,
            bits * width, plan->entries * height);
    draw_grid(to, values, bits, plan->entries, most, width, height);
    draw_legend(to, plan->entries * height + 6, 1000 * most, "mV");
    fprintf(
        to,
        "</svg>\n<figcaption>Relative to %.3f V, below which V_min is not recorded (--keep): white "
        "cells. One row is an entry, one column a bit.</figcaption>\n</figure>\n",
        chip->floor);
    free(values);
}

/* ---- histograms ---- */

struct histogram {
    const char *title, *unit;
    size_t at; /* offset of an f64 in struct chip_numbers */
};

static f64 number_of(const struct chip_numbers *numbers, const struct histogram *what)
{
    return *(const f64 *)((const char *)numbers + what->at);
}

static void draw_histogram(FILE *to, const struct chips_facts *facts,
                           const struct chip_numbers *numbers, const struct histogram *what,
                           u32 colour)
{
    f64 low = INFINITY, high = -INFINITY, most = 0;
    u32 bins[BINS] = {0};
    for (u32 i = 0; i < facts->count; i++) {
        low = fmin(low, number_of(&numbers[i], what));
        high = fmax(high, number_of(&numbers[i], what));
    }
    f64 step = chart_ticks(&low, &high);
    for (u32 i = 0; i < facts->count; i++) {
        f64 at = (number_of(&numbers[i], what) - low) / (high - low) * BINS;
        u32 *bin = &bins[(u32)fmin(fmax(at, 0), BINS - 1)];
        most = fmax(most, ++*bin);
    }
    page_element(to, "<figure>\n<figcaption>", what->title, "</figcaption>\n");
    fprintf(to, "<svg role=\"img\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n<title>",
            WIDTH + LEFT, HEIGHT + BELOW, WIDTH + LEFT, HEIGHT + BELOW);
    page_element(to, "", what->title, "</title>\n");
    f64 width = (f64)(WIDTH - LEFT) / BINS;
    for (u32 i = 0; i < BINS; i++)
        if (bins[i])
            fprintf(to,
                    "<rect class=\"c%u ours\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                    "height=\"%.1f\"><title>%u chips</title></rect>\n",
                    colour % CHART_COLOURS, LEFT + i * width,
                    HEIGHT - (HEIGHT - 16) * bins[i] / most, width - 1,
                    (HEIGHT - 16) * bins[i] / most, bins[i]);
    fprintf(to, "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>\n", LEFT, WIDTH,
            HEIGHT, HEIGHT);
    fprintf(to, "<text x=\"%d\" y=\"16\" text-anchor=\"end\">%.0f</text>\n", LEFT - 6, most);
    const u32 ticks = (u32)lround((high - low) / step);
    for (u32 i = 0; i <= ticks; i++)
        fprintf(to, "<text text-anchor=\"middle\" x=\"%.1f\" y=\"%d\">%.4g</text>\n",
                LEFT + (f64)i / ticks * (WIDTH - LEFT), HEIGHT + 14, low + i * step);
    fprintf(to, "<text x=\"%d\" y=\"%d\">", LEFT, HEIGHT + 30);
    page_element(to, "", what->unit, "</text>\n</svg>\n</figure>\n");
}

static void histograms(FILE *to, const struct chips_facts *facts,
                       const struct chip_numbers *numbers)
{
#define OF(field) offsetof(struct chip_numbers, field)
    static const char relative[] = "relative to a chip without variation";
    const struct histogram all[] = {
        {"frequency: all in one cycle", relative, OF(frequency[PART_FILE])},
        {"frequency: slow arrays of vectors in two cycles", relative, OF(frequency[PART_ARRAY])},
        {"frequency: slow sub-banks in two cycles", relative, OF(frequency[PART_SUB_BANK])},
        {"frequency: slow registers in two cycles", relative, OF(frequency[PART_REGISTER])},
        {"fastest over slowest core", "ratio", OF(between)},
        {"V_min of the weakest cell", "V", OF(vmin)},
        {"supply at which 1 % of cells fail", "V", OF(one_percent)},
    };
#undef OF
    fprintf(to, "<h2>All %u chips</h2>\n<div class=\"panels\">\n", facts->count);
    for (u32 i = 0; i < ARRAY_LEN(all); i++)
        draw_histogram(to, facts, numbers, &all[i], i);
    fputs("</div>\n", to);
}

void chip_page(FILE *to, const struct chips_facts *facts, const struct chip *chip,
               const struct core_numbers *cores, const struct chip_numbers *numbers)
{
    const struct variation *variation = &facts->variation;
    page_begin(to, "Chips", "Chips that differ");
    page_element(to, "<p>Machine <code>", facts->machine, "</code>");
    fprintf(to,
            ", %u nm, %.2f V; threshold %.2f V, sigma/mu %.1f %%, of the length %.1f %%; random to "
            "systematic %s of %s; range %.2g of the chip's width; seed %llu.</p>\n",
            variation->nm, variation->volts, variation->threshold, 100 * variation->vth_sigma,
            100 * variation->leff_sigma, facts->ratio,
            variation->of_variance ? "variance" : "sigma", variation->range,
            (unsigned long long)facts->seed);
    chip_map(to, facts, chip, cores);
    file_map(to, chip, 0);
    vmin_map(to, chip, 0);
    histograms(to, facts, numbers);
    page_end(to);
}
