/*
 * Attributes dynamic energy to instructions.
 *
 * The energy of an event is shared in proportion to each instruction's part in what causes the
 * event: lanes read, operations, transactions sent. Shares are differences of the running sum in
 * whole femtojoules, so that they always add up to the event's energy.
 */
#include "model/energy.h"

#include <stdlib.h>

static u64 ops_of(const struct lane_use *use, const struct lane_work_sum *work, enum lane_kind kind)
{
    return use->kind == kind ? work->ops : 0;
}

static u64 weight(enum energy_share share, const struct lane_use *use,
                  const struct inst_profile *profile)
{
    const struct lane_work_sum work = lanes_of_profile(use, profile);
    switch (share) {
    case SHARE_NONE:
        break;
    case SHARE_ISSUED:
        return profile->issued;
    case SHARE_READS:
        return work.reads;
    case SHARE_WRITES:
        return work.writes;
    case SHARE_SCALAR_READS:
        return work.scalar_reads;
    case SHARE_SCALAR_WRITES:
        return work.scalar_writes;
    case SHARE_SHARED_READS:
        return work.shared_reads;
    case SHARE_SHARED_WRITES:
        return work.shared_writes;
    case SHARE_INT:
        return ops_of(use, &work, LANE_INT);
    case SHARE_INT_MULTIPLIES:
        return use->multiplies ? work.ops : 0;
    case SHARE_FP32:
        return ops_of(use, &work, LANE_FP32);
    case SHARE_FP64:
        return ops_of(use, &work, LANE_FP64);
    case SHARE_SFU:
        return ops_of(use, &work, LANE_SFU);
    case SHARE_MEM:
        return ops_of(use, &work, LANE_MEM);
    case SHARE_SCALAR:
        return ops_of(use, &work, LANE_SCALAR);
    case SHARE_CONSTANT:
        return use->constant ? profile->issued : 0;
    case SHARE_TRANSACTIONS:
        return profile->transactions;
    }
    return 0;
}

/* Returns what has been shared: all of it, or nothing if all weights are 0. */
static u64 share_out(u64 energy, const u64 *weights, u32 count, u64 *fj)
{
    unsigned __int128 sum = 0, so_far = 0;
    u64 given = 0;
    for (u32 i = 0; i < count; i++)
        sum += weights[i];
    for (u32 i = 0; sum && i < count; i++) {
        so_far += weights[i];
        u64 until = (u64)(energy * so_far / sum);
        fj[i] += until - given;
        given = until;
    }
    return given;
}

void energy_attribute(const struct energy_model *model, const struct machine_stats *stats,
                      const u8 *mechanisms, const struct lane_use *uses,
                      const struct inst_profile *profile, u32 count, u64 *fj,
                      struct energy_sum *sum)
{
    u64 *weights = checked(calloc(MAX(count, 1), sizeof *weights));
    for (u32 r = 0; r < model->rows.count; r++) {
        const struct energy_row *row = &model->rows.data[r];
        u64 energy = energy_row_fj(row, stats, mechanisms);
        if (!energy || row->share == SHARE_NONE)
            continue;
        for (u32 i = 0; i < count; i++)
            weights[i] = profile[i].issued ? weight(row->share, &uses[i], &profile[i]) : 0;
        sum->attributed_fj += share_out(energy, weights, count, fj);
    }
    free(weights);
}
