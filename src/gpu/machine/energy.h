/*
 * The energy of launches, which the device reports with their statistics.
 *
 * These functions are defined in src/model, which knows the costs of events; they are declared here
 * because the device calls them. Energies are whole femtojoules, so that sums are exact:
 *
 *  E1  These sums are exact: the parts of a machine add up to its total, launches to the totals,
 *      samples to their launch, and instructions plus unattributed energy to the total.
 *  E2  An event's energy is its counter times its cost, rounded once; leakage is power times time,
 *      rounded once for each part. A sample's leakage is that since the last sample.
 *  E3  Nothing is counted just for energy while a launch runs.
 */
#ifndef GPU_MACHINE_ENERGY_H
#define GPU_MACHINE_ENERGY_H

#include "base/config.h"

struct energy_model;
struct inst_profile;
struct lane_use;
struct machine_stats;
struct mechanism_set;

enum {
    ENERGY_PARTS = 64 /* maximum of a machine with its mechanisms */
};

/* Energy by part, in fJ. */
struct energy_sum {
    u64 dynamic_fj[ENERGY_PARTS], static_fj[ENERGY_PARTS];
    u64 attributed_fj; /* energy attributed to instructions */
};

/* NULL: a mechanism's events are wrong. The set is the configuration's, and must live as long. */
struct energy_model *energy_create(const struct config *config, const struct mechanism_set *set,
                                   struct error *error);
void energy_destroy(struct energy_model *model);

/* The energy of counters; `mechanisms`: their counters, or NULL. Nothing is attributed to
 * instructions. */
void energy_of(const struct energy_model *model, const struct machine_stats *stats,
               const u8 *mechanisms, struct energy_sum *sum);
/* energy_of() plus attribution: adds each instruction's share of dynamic energy to `fj`, and to the
 * sum. */
void energy_attribute(const struct energy_model *model, const struct machine_stats *stats,
                      const u8 *mechanisms, const struct lane_use *uses,
                      const struct inst_profile *profile, u32 count, u64 *fj,
                      struct energy_sum *sum);
void energy_add(struct energy_sum *into, const struct energy_sum *from);
/* The energy between two sums of the same launch. */
void energy_between(struct energy_sum *into, const struct energy_sum *later,
                    const struct energy_sum *earlier);
u64 energy_total_fj(const struct energy_sum *sum);

/* 1234 fJ -> 1.234 */
json_t *energy_pj(u64 fj);
/*
 * Adds "energy.dynamic_pj", "energy.static_pj", "energy.total_pj", "energy.unattributed_pj",
 * "energy.parts.NAME.dynamic_pj" and ".static_pj" of all parts, and mean powers in W.
 */
void energy_json(json_t *into, const struct energy_model *model, const struct energy_sum *sum,
                 const struct machine_stats *stats);
/* Visits these sums in fJ, although their names end in "_pj"; `sum` may be NULL: zeros. */
void energy_each(const struct energy_model *model, const struct energy_sum *sum, count_fn *visit,
                 void *user);
/* Adds up the energies of launches as written by energy_json; false: not in this form. */
bool energy_total_json(json_t *totals, const json_t *launches, struct error *error);

#endif
