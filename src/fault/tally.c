/* Counts and rates of a campaign, with Wilson score intervals (Wilson, JASA 1927). */
#include "fault/campaign.h"
#include <jansson.h>
#include <math.h>

#define QUANTILE \
    1.959963984540054 /* of the normal distribution: 95 % lie within it on both sides */

void hd_wilson(uint64_t count, uint64_t total, double quantile, double *low, double *high)
{
    const f64 n = (f64)total, share = total ? (f64)count / n : 0, square = quantile * quantile;
    if (!total) {
        *low = 0;
        *high = 1;
        return;
    }
    const f64 middle = (share + square / (2 * n)) / (1 + square / n);
    const f64 half =
        quantile / (1 + square / n) * sqrt(share * (1 - share) / n + square / (4 * n * n));
    *low = count ? fmax(middle - half, 0) : 0; /* exactly: rounding must not show */
    *high = count < total ? fmin(middle + half, 1) : 1;
}

enum {
    FAILURES = 1u << HD_EFFECT_SDC | 1u << HD_EFFECT_DUE | 1u << HD_EFFECT_HANG
};

static bool fails(u32 effect)
{
    return FAILURES >> effect & 1;
}

/* Faults of a structure by effect. */
struct effect_counts {
    u64 of[HD_EFFECTS];
    u64 crashed, empty; /* empty: gray since an entry that held nothing has stayed so */
};

static struct effect_counts count_effects(const struct hd_inject *inject, u32 target, bool all)
{
    struct effect_counts counts = {0};
    for (u64 id = 0; id < inject->drawn; id++) {
        const struct fault_verdict *verdict = &inject->ledger->verdicts[id];
        if (!all && inject->faults[id].target != target)
            continue;
        counts.of[verdict->effect]++;
        counts.crashed += verdict->crashed;
        counts.empty += verdict->empty && verdict->effect == HD_EFFECT_GRAY;
    }
    return counts;
}

u64 tally_failures(const struct hd_inject *inject, u64 *total)
{
    const struct effect_counts counts = count_effects(inject, 0, true);
    u64 failures = 0;
    *total = 0;
    for (u32 e = HD_EFFECT_MASKED; e < HD_EFFECTS; e++) {
        *total += counts.of[e];
        failures += fails(e) ? counts.of[e] : 0;
    }
    return failures;
}

/* A share of all live bits when as many faults strike each structure: the mean of the structures' shares
 * by their bits. The interval adds the squares of those of the structures. */
struct strata_share {
    f64 share, low, high;
};

static struct strata_share strata_share(const struct hd_inject *inject, u32 effects)
{
    f64 share = 0, middle = 0, square = 0;
    for (u32 i = 0; i < inject->targets.count; i++) {
        const struct effect_counts counts = count_effects(inject, i, false);
        const f64 weight = (f64)inject->targets.data[i].live / (f64)inject->live_bits;
        u64 total = 0, count = 0;
        f64 low, high;
        for (u32 e = HD_EFFECT_MASKED; e < HD_EFFECTS; e++) {
            total += counts.of[e];
            count += effects >> e & 1 ? counts.of[e] : 0;
        }
        if (!inject->targets.data[i].live)
            continue;
        hd_wilson(count, total, QUANTILE, &low, &high);
        share += total ? weight * (f64)count / (f64)total : 0;
        middle += weight * (low + high) / 2;
        square += pow(weight * (high - low) / 2, 2);
    }
    return (struct strata_share){share, fmax(middle - sqrt(square), 0),
                                 fmin(middle + sqrt(square), 1)};
}

f64 tally_half_width(const struct hd_inject *inject)
{
    u64 total;
    f64 low, high;
    if (inject->strata) {
        const struct strata_share failures = strata_share(inject, FAILURES);
        return (failures.high - failures.low) / 2;
    }
    const u64 failures = tally_failures(inject, &total);
    hd_wilson(failures, total, QUANTILE, &low, &high);
    return (high - low) / 2;
}

/* Puts shares of all bits in the place of those of faults. */
static void weigh(const struct hd_inject *inject, json_t *share, u32 effects)
{
    const struct strata_share all = strata_share(inject, effects);
    if (!json_object_get(share, "share"))
        return;
    json_object_set_new(share, "share", json_real(all.share));
    json_object_set_new(share, "low", json_real(all.low));
    json_object_set_new(share, "high", json_real(all.high));
}

static json_t *share_json(u64 count, u64 total, bool rates)
{
    json_t *share = json_object();
    f64 low, high;
    json_object_set_new(share, "count", json_integer((json_int_t)count));
    if (!rates || !total)
        return share;
    hd_wilson(count, total, QUANTILE, &low, &high);
    json_object_set_new(share, "share", json_real((f64)count / (f64)total));
    json_object_set_new(share, "low", json_real(low));
    json_object_set_new(share, "high", json_real(high));
    return share;
}

/* A list of faults, or one of them, is no sample: it has counts, but no rates. Nor has a campaign
 * that was stopped, as it has followed faults of early cycles only. */
static bool is_sample(const struct hd_inject *inject)
{
    return !inject->plan.list && inject->plan.only < 0 && !inject->stopped;
}

static void add_counts(const struct hd_inject *inject, json_t *to,
                       const struct effect_counts *counts)
{
    const bool rates = is_sample(inject);
    json_t *effects = json_object();
    u64 total = 0, failures = 0;
    for (u32 e = HD_EFFECT_MASKED; e < HD_EFFECTS; e++)
        total += counts->of[e];
    for (u32 e = HD_EFFECT_MASKED; e < HD_EFFECTS; e++) {
        failures += fails(e) ? counts->of[e] : 0;
        json_object_set_new(effects, hd_effect_name(e), share_json(counts->of[e], total, rates));
    }
    json_object_set_new(to, "faults", json_integer((json_int_t)total));
    json_object_set_new(to, "outcomes", effects);
    json_object_set_new(to, "failures", share_json(failures, total, rates));
    if (inject->plan.window)
        json_object_set_new(to, "empty", json_integer((json_int_t)counts->empty));
}

static json_t *structures_json(const struct hd_inject *inject)
{
    json_t *rows = json_array();
    for (u32 i = 0; i < inject->targets.count; i++) {
        const struct fault_target *target = &inject->targets.data[i];
        const struct effect_counts counts = count_effects(inject, i, false);
        json_t *row = json_object();
        json_object_set_new(row, "structure", json_string(target->name));
        json_object_set_new(row, "owner", json_string(target->row->owner));
        json_object_set_new(row, "copies", json_integer((json_int_t)target->row->copies));
        json_object_set_new(row, "live_bits", json_integer((json_int_t)target->live));
        json_object_set_new(row, "counted_bits", json_integer((json_int_t)target->counted));
        if (target->live)
            add_counts(inject, row, &counts);
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *golden_json(const struct hd_inject *inject)
{
    const struct ledger *ledger = inject->ledger;
    json_t *golden = json_object(), *launches = json_array();
    for (u32 i = 0; i < ledger->launch_count; i++)
        json_array_append_new(launches, json_integer((json_int_t)ledger->ends[i].cycle));
    json_object_set_new(golden, "cycles", json_integer((json_int_t)ledger->cycles));
    json_object_set_new(golden, "launch_cycles", launches);
    json_object_set_new(golden, "samples", json_integer(ledger->sample_count));
    return golden;
}

static json_t *plan_json(const struct hd_inject *inject)
{
    const struct hd_inject_plan *plan = &inject->plan;
    json_t *json = json_object();
    json_object_set_new(json, "structures", json_string(plan->structures ? plan->structures : ""));
    json_object_set_new(json, "model", json_string(plan->model ? plan->model : "bit"));
    json_object_set_new(json, "seed", json_integer((json_int_t)plan->seed));
    if (plan->window)
        json_object_set_new(json, "window", json_integer((json_int_t)plan->window));
    json_object_set_new(json, "stratified", json_boolean(inject->strata));
    json_object_set_new(json, "list", json_boolean(plan->list));
    json_object_set_new(json, "half_width", json_real(plan->half_width));
    json_object_set_new(json, "hang", json_real(plan->hang));
    json_object_set_new(json, "confidence", json_real(0.95));
    return json;
}

/* Faults that were decided early and run to the end all the same. */
static json_t *audit_json(const struct hd_inject *inject)
{
    u64 audited = 0, disagree = 0;
    for (u64 id = 0; id < inject->drawn; id++) {
        audited += inject->ledger->verdicts[id].audited;
        disagree += inject->ledger->verdicts[id].disagrees;
    }
    return json_pack("{s:I, s:I}", "faults", (json_int_t)audited, "disagree", (json_int_t)disagree);
}

char *hd_inject_json(const struct hd_inject *inject)
{
    const struct effect_counts counts = count_effects(inject, 0, true);
    u64 counted = 0;
    json_t *json = json_object(), *total = json_object();
    for (u32 i = 0; i < inject->targets.count; i++)
        counted += inject->targets.data[i].counted;
    json_object_set_new(total, "live_bits", json_integer((json_int_t)inject->live_bits));
    json_object_set_new(total, "counted_bits", json_integer((json_int_t)counted));
    add_counts(inject, total, &counts);
    for (u32 e = HD_EFFECT_MASKED; e < HD_EFFECTS && inject->strata; e++)
        weigh(inject, json_object_get(json_object_get(total, "outcomes"), hd_effect_name(e)),
              1u << e);
    if (inject->strata)
        weigh(inject, json_object_get(total, "failures"), FAILURES);
    json_object_set_new(json, "plan", plan_json(inject));
    json_object_set_new(json, "golden", golden_json(inject));
    json_object_set_new(json, "complete", json_boolean(!inject->stopped));
    json_object_set_new(json, "crashed", json_integer((json_int_t)counts.crashed));
    json_object_set_new(json, "audit", audit_json(inject));
    json_object_set_new(json, "structures", structures_json(inject));
    json_object_set_new(json, "total", total);
    char *text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    json_decref(json);
    return text;
}
