/*
 * Hardware costs of the mechanism `gr_guard`: its maps, the energy of an access to them, and the
 * deviations from the published design.
 *
 * The four maps and the bits of the reserved way have the published sizes: 2.629 KB for a register
 * file of 128 KB. What this design needs beyond that has rows of its own.
 */
#include "mech/gr_guard.h"

/* Sets of the L1: a power of two, from its lines and the bits of its LRU order, which number the
 * ways. */
static u64 sets_of_l1(const struct state_list *list)
{
    const struct state_row *tags = state_find(list, "l1d.tags"),
                           *order = state_find(list, "l1d.order");
    for (u64 ways = 2; tags && order && ways <= tags->entries; ways++) {
        const u64 sets = tags->entries / ways;
        if (state_index_bits(ways) == order->bits && sets * ways == tags->entries &&
            !(sets & (sets - 1)))
            return sets;
    }
    return 32; /* the published machine */
}

void guard_storage(const void *params, struct state_list *list)
{
    const struct gr_guard_params *p = params;
    const struct state_row *file = state_find(list, "collect.registers");
    const u64 bits = file ? file->entries * file->bits : 1 << 20;
    const u64 entries = bits / ENTRY_BITS, rows = entries / 8; /* warps of 32 */
    const struct array_shape banked = {.banks = 32, .read_ports = 1, .write_ports = 1};
    state_add(list, "gr_guard", "dead", rows, 1, STATE_LIVE, "dead map: registers without a value");
    state_shape(list, banked);
    state_add(list, "gr_guard", "faulty", entries, 1, STATE_LIVE, "faulty map: entries");
    state_shape(list, banked);
    state_add(list, "gr_guard", "patch", rows, 1, STATE_LIVE, "patch map: lent registers");
    state_shape(list, banked);
    state_add(list, "gr_guard", "index", rows, state_index_bits(rows) + 1, STATE_LIVE,
              "index map: the patch of a register, and whether it is a line of the L1");
    state_shape(list, banked);
    state_add(list, "gr_guard", "moved", rows, 8, STATE_LIVE,
              "entries of a register that are in its patch; not in the published size");
    state_shape(list, banked);
    state_add(list, "gr_guard", "lent", rows, 8, STATE_LIVE,
              "entries of a register that patch another; not in the published size");
    state_shape(list, banked);
    if (p->spill)
        state_add(list, "gr_guard", "lines", sets_of_l1(list), 1, STATE_LIVE,
                  "lines of the reserved way that hold registers");
}

const struct energy_event guard_events[] = {
    {"faulty_reads", "patching", ENERGY_READ, "gr_guard.faulty"},
    {"patch_reads", "patching", ENERGY_READ, "gr_guard.patch"},
    {"index_reads", "patching", ENERGY_READ, "gr_guard.index"},
    {"index_writes", "patching", ENERGY_WRITE, "gr_guard.index"},
    {"patch_writes", "patching", ENERGY_WRITE, "gr_guard.patch"},
    {"dead_writes", "patching", ENERGY_WRITE, "gr_guard.dead"},
    {"bank_searches", "patching", ENERGY_READ, "gr_guard.dead", .bits = 256},
    {"bank_searches", "patching", ENERGY_READ, "gr_guard.patch", .bits = 256},
    {"entry_searches", "patching", ENERGY_READ, "gr_guard.faulty", .bits = 256},
    {"spill_reads", "patching", ENERGY_READ, "l1d.data"},
    {"spill_writes", "patching", ENERGY_WRITE, "l1d.data"},
    {0},
};

const char *const guard_deviations[] = {
    "Dead bits cover the first two operands that are vector registers; a 64-bit operand has one "
    "bit for both of its registers.",
    "A warp whose threads have partly ended executes an instruction with all threads if all that "
    "are left execute it.",
    "A register that is live where the kernel begins is patched when its warp starts.",
    "A lent register keeps 8 bits that say which of its entries are lent, and each register 8 "
    "bits that say which of its entries are elsewhere: the text's maps do not tell, when a lent "
    "register becomes free again, where its own entries were written meanwhile.",
    "A write to some lanes of a register that is not dead keeps its patch: a new one would lose "
    "the other lanes.",
    "When a block has left the core, its registers are dead and unallocated, and their patches "
    "end.",
    "Accesses to a patch in the same bank wait for nothing but the access before them. A write to "
    "a "
    "patch in another bank blocks the reads of that bank for two cycles, one more than it needs.",
    "A register in a line of the L1 is read with the latency of a hit. The access takes no turn of "
    "the cache's port, and results that are written there do not wait.",
    "If no line of the reserved way is free, registers go to memory, of which only the latency is "
    "modelled (memory_cycles); the text says that at most 23 lines are needed.",
    "Dirty lines of local memory stay in the reserved way until they are evicted.",
    NULL,
};
