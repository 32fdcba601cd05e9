/* Parameters of process variation and the floor plan: see variation.h. */
#include "variation/variation.h"

#include "base/text.h"
#include <math.h>

static const struct variation_node nodes[] = {
#define NODE(nm, volts, threshold, vth, leff, source) {nm, volts, threshold, vth, leff, source},
#include "variation/nodes.def"
#undef NODE
};

/* Tan 2016, sections 5.1.1 and 6.4. */
static const f64 default_range = 0.5;
/* Tan 2016, section 6.3.5: 0.94 mm2 are 0.36 % of the chip. Assumed for all nodes. */
static const f64 default_chip_mm2 = 0.94 / 0.0036;
/* CACTI 7, tech_params: a cell of six transistors is 10 by 14.6 feature sizes. The read port of a
 * cell of eight makes it wider by CACTI's pitch of a further port, 5. */
static const f64 cell_width_f = 15, cell_height_f = 14.6;

const struct variation_node *variation_nodes(u32 *count)
{
    *count = ARRAY_LEN(nodes);
    return nodes;
}

const struct variation_node *variation_node(u32 nm)
{
    for (u32 i = 0; i < ARRAY_LEN(nodes); i++)
        if (nodes[i].nm == nm)
            return &nodes[i];
    return NULL;
}

void variation_default(struct variation *variation, const struct variation_node *node)
{
    *variation = (struct variation){.nm = node->nm,
                                    .volts = node->volts,
                                    .nominal = node->volts,
                                    .threshold = node->threshold,
                                    .vth_sigma = node->vth_sigma,
                                    .leff_sigma = node->leff_sigma,
                                    .random = 1,
                                    .systematic = 1,
                                    .range = default_range,
                                    .leff_correlation = 1,
                                    .celsius = 67,
                                    .chip_mm2 = default_chip_mm2};
}

static bool inside(f64 value, f64 low, f64 high, const char *what, const char *place,
                   struct error *error)
{
    return (value >= low && value <= high) ||
           error_set(error, ERROR_USAGE, place, "%s is %g: expected %g to %g", what, value, low,
                     high);
}

bool variation_check(const struct variation *variation, const char *place, struct error *error)
{
    return inside(variation->volts, variation->threshold + 0.1, 2, "the supply in volts", place,
                  error) &&
           inside(variation->threshold, 0.05, 1, "the threshold in volts", place, error) &&
           inside(variation->vth_sigma, 0.001, 0.3, "sigma/mu of the threshold", place, error) &&
           inside(variation->leff_sigma, 0.001, 0.15, "sigma/mu of the length", place, error) &&
           inside(variation->random / variation->systematic, 0.01, 100,
                  "the ratio of random to systematic parts", place, error) &&
           inside(variation->range, 0.01, 1, "the correlation range in chip widths", place,
                  error) &&
           inside(variation->leff_correlation, 0, 1, "the correlation of length and threshold",
                  place, error) &&
           inside(variation->celsius, -50, 200, "the temperature in degrees", place, error) &&
           inside((u32)variation->failures, 0, FAILURES_WRITE, "the kind of failures", place,
                  error) &&
           inside(variation->chip_mm2, 1, 1e4, "the chip's area in mm2", place, error);
}

bool variation_ratio(struct variation *variation, const char *text, struct error *error)
{
    const char *colon = strchr(text, ':');
    char first[32];
    size_t length = colon ? (size_t)(colon - text) : sizeof first;
    f64 a = 0, b = 0;
    if (length < sizeof first) {
        memcpy(first, text, length);
        first[length] = 0;
        if (text_f64(first, &a) == TEXT_OK && text_f64(colon + 1, &b) == TEXT_OK && a > 0 &&
            b > 0 && isfinite(a) && isfinite(b)) {
            variation->random = a;
            variation->systematic = b;
            return true;
        }
    }
    return error_set(error, ERROR_USAGE, "",
                     "'%.40s' is no ratio: expected RANDOM:SYSTEMATIC, two numbers above 0, such "
                     "as 1:4, 1:1 or 4:1",
                     text);
}

struct sigma_parts variation_parts(const struct variation *variation, f64 total)
{
    f64 a = variation->random, b = variation->systematic;
    if (variation->of_variance)
        return (struct sigma_parts){total * sqrt(a / (a + b)), total * sqrt(b / (a + b))};
    return (struct sigma_parts){total * a / hypot(a, b), total * b / hypot(a, b)};
}

/*
 * Cores stand in the smallest square grid of tiles that has a place for each, as Fermi's 16 places
 * for 15 cores; a register file is in the middle of its tile. Banks of one vector register lie side
 * by side, the others above each other, without anything between them.
 */
struct chip_place file_place(const struct file_plan *plan, const struct variation *variation,
                             u32 core, u32 bank, u32 entry, u32 word)
{
    const u32 columns = file_plan_columns(plan), side = (u32)ceil(sqrt(plan->cores));
    const u32 rows = plan->banks / columns * plan->entries,
              row = bank / columns * plan->entries + entry;
    const u32 column = bank % columns * plan->words + word, tile = core / side;
    f64 feature = variation->nm * 1e-6 / sqrt(variation->chip_mm2); /* in chip widths */
    f64 width = CELLS_PER_WORD * cell_width_f * feature, height = cell_height_f * feature;
    f64 x = (core % side + 0.5) / side, y = (tile + 0.5) / side; /* the middle of the tile */
    return (struct chip_place){x + (column + 0.5 - columns * plan->words * 0.5) * width,
                               y + (row + 0.5 - rows * 0.5) * height};
}
