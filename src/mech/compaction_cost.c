/*
 * What compaction stores. A warp has the home of each of its lanes, whose base a lane adds to the
 * number of a register; a stack has, for each entry, two addresses and the lanes of each warp of the
 * unit. There are as many stacks as the core has whole units, each with the entries that the model
 * allows. The logic that finds free lanes when warps are formed is not counted.
 */
#include "mech/compaction.h"

enum {
    ADDRESS_BITS = 32,
    WORD_BITS = 32,
    OFFSETS = 256 /* registers that an instruction can name */
};

void compaction_storage(const void *params, const char *unit, struct state_list *list)
{
    const struct compaction_params *p = params;
    const struct state_row *file = state_find(list, "collect.registers");
    const struct state_row *pages =
        state_find(list, "vgpr.registers"); /* miaow: one for each lane */
    const struct state_row *pcs = state_find(list, "fetch.pc");
    if (!(file || pages) ||
        !pcs) /* the machine has another kind of core, and refuses the mechanism */
        return;
    const u32 lanes = file ? file->shape.access_bits / WORD_BITS : pages->shape.banks;
    const u32 warps = (u32)pcs->entries;
    const u32 most = MIN(warps, p->warps);
    const u64 entries = (u64)STACK_ENTRIES * MAX(warps / most, 1u);
    state_table(list, unit, "homes", warps, lanes * state_index_bits(most), STATE_COUNTED,
                "the home of each lane of a warp");
    state_table(list, unit, "stack", entries * most, lanes, STATE_COUNTED,
                "lanes of the entries of stacks, by warp");
    state_table(list, unit, "ends", entries, 2 * ADDRESS_BITS, STATE_COUNTED,
                "first instructions of the entries, and those at which they end");
    if (pages)
        state_flops(list, unit, "busy", warps, OFFSETS, STATE_COUNTED,
                    "a busy bit for each register of a warp, by its offset");
    state_flops(list, unit, "waits", warps, 2, STATE_COUNTED,
                "whether a warp waits at a branch, and whether it has lanes");
}
