/*
 * The energy of launches, as the device tells it beside their statistics.
 *
 * These functions are those of src/model, which knows what events cost; they are declared here
 * because the device calls them. Energies are whole femtojoules, so that sums are exact:
 *
 *  E1  The parts of a machine add up to its total, launches add up to the totals, samples to their
 *      launch, and instructions with what is not attributed to any to the total: exactly.
 *  E2  An event's energy is its counter times its cost, rounded once; leakage is power times time,
 *      rounded once for each part. Of a sample it is what has come since the last one.
 *  E3  Nothing is counted for energy's sake while a launch runs.
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
    ENERGY_PARTS = 64 /* of a machine with its mechanisms, at most */
};

/* By part, in fJ. */
struct energy_sum {
    u64 dynamic_fj[ENERGY_PARTS], static_fj[ENERGY_PARTS];
    u64 attributed_fj; /* to instructions */
};

/* NULL: a mechanism's events are wrong. The set is the configuration's, and lives as long. */
struct energy_model *energy_create(const struct config *config, const struct mechanism_set *set,
                                   struct error *error);
void energy_destroy(struct energy_model *model);

/* Of what has been counted; `mechanisms` are their counters, or NULL. Nothing is attributed. */
void energy_of(const struct energy_model *model, const struct machine_stats *stats,
               const u8 *mechanisms, struct energy_sum *sum);
/* The same, with each instruction's share of dynamic energy added to `fj`, and to the sum. */
void energy_attribute(const struct energy_model *model, const struct machine_stats *stats,
                      const u8 *mechanisms, const struct lane_use *uses,
                      const struct inst_profile *profile, u32 count, u64 *fj,
                      struct energy_sum *sum);
void energy_add(struct energy_sum *into, const struct energy_sum *from);
/* `later` has gone on from `earlier`. */
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
/* The sums of these in fJ, although their names end in "_pj"; `sum` may be NULL: zeros. */
void energy_each(const struct energy_model *model, const struct energy_sum *sum, count_fn *visit,
                 void *user);
/* The same of launches that energy_json told, into their totals; false: they are nothing such. */
bool energy_total_json(json_t *totals, const json_t *launches, struct error *error);

#endif
