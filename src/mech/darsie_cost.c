/*
 * Hardware costs of the mechanism `darsie`: its storage, the energy of an access to it, and the
 * deviations from the published design.
 *
 * Published structures have the published widths: 82 bits per entry of the PC skip table, 32 per
 * majority mask, 21 per entry of the rename and version tables, together 5.31 kB for a core of 32
 * blocks. What this design needs beyond that has rows of its own.
 */
#include "mech/darsie.h"

enum {
    BLOCKS = 32,        /* of a core, as published */
    PC_BITS = 48,       /* of a skip table entry, as published */
    WARP_BITS = 32,     /* one for each warp of a block */
    FLAG_BITS = 2,      /* IsLoad, LeaderWB */
    RENAME_BITS = 21,   /* register 8, physical register 8, version 5 */
    POSITION_BITS = 16, /* instructions since the last branch barrier */
    ID_BITS = 16,       /* of a load, among those whose values are in registers */
    ENTRIES = 8,        /* the published size, used where the parameter is unlimited */
    REGISTERS = 32
};

/* Entries of a row that the machine has listed already, or `absent`. */
static u64 entries_of(const struct state_list *list, const char *unit, const char *name, u64 absent)
{
    for (u32 i = 0; i < list->rows.count; i++)
        if (!strcmp(list->rows.data[i].unit, unit) && !strcmp(list->rows.data[i].name, name))
            return list->rows.data[i].entries;
    return absent;
}

void darsie_storage(const void *params, struct state_list *list)
{
    const struct darsie_params *p = params;
    const u32 entries = p->entries ? p->entries : ENTRIES;
    const u32 registers = p->registers ? p->registers : REGISTERS;
    const u32 version = state_index_bits(registers);
    const u64 warps = entries_of(list, "fetch", "pc", 64);
    const u64 vectors = entries_of(list, "issue", "scoreboard", 2048);
    const struct array_shape two = {.banks = BLOCKS, .read_ports = 1, .write_ports = 1};
    state_add(list, "darsie", "skip_table", (u64)BLOCKS * entries, PC_BITS + WARP_BITS + FLAG_BITS,
              STATE_LIVE, "PC skip tables, as published: PC, waiting warps, IsLoad, LeaderWB");
    state_shape(list, (struct array_shape){.banks = BLOCKS, .searched = true});
    state_add(list, "darsie", "majority", BLOCKS, WARP_BITS, STATE_LIVE,
              "majority path masks, as published");
    state_add(list, "darsie", "rename", (u64)BLOCKS * registers, RENAME_BITS, STATE_LIVE,
              "rename and version tables, as published: register, physical register, version");
    state_shape(list, two);
    state_add(list, "darsie", "rename_warps", vectors, 1 + version, STATE_LIVE,
              "rename table: valid and version, for each register of each warp; the published size "
              "has no entries per warp");
    state_shape(list, (struct array_shape){.banks = BLOCKS, .read_ports = 3, .write_ports = 1});
    state_add(list, "darsie", "skip_more", (u64)BLOCKS * entries,
              POSITION_BITS + WARP_BITS + state_index_bits(WARP_BITS) + 1 + 2 * version, STATE_LIVE,
              "additional fields of the PC skip tables: position, warps still to pass, leader, "
              "synchronisation point, versions of two results");
    state_add(list, "darsie", "users", (u64)BLOCKS * registers, WARP_BITS + 1, STATE_LIVE,
              "warps that read a version, and whether it is allocated: tells when it is free");
    state_add(list, "darsie", "freelist", (u64)BLOCKS * registers, version, STATE_LIVE,
              "free registers");
    state_add(list, "darsie", "positions", warps, POSITION_BITS, STATE_LIVE,
              "instructions of each warp since the last barrier after a branch");
    state_add(list, "darsie", "arrived", BLOCKS, WARP_BITS, STATE_LIVE,
              "warps that wait after a branch");
    if (p->masks)
        state_add(list, "darsie", "masks", (u64)BLOCKS * entries, WARP_BITS, STATE_LIVE,
                  "predicates of skipped instructions");
    if (!p->loads)
        return;
    state_add(list, "darsie", "stores", BLOCKS, 8, STATE_LIVE, "stores of the block in flight");
    state_add(list, "darsie", "load_ids", vectors, ID_BITS, STATE_LIVE,
              "the load that a register depends on, so that warps that loaded different values do "
              "not share results computed from them");
    state_shape(list, (struct array_shape){.read_ports = 3, .write_ports = 1});
}

const struct energy_event darsie_events[] = {
    {"probes", "skipping", ENERGY_SEARCH, .array = "darsie.skip_table"},
    {"elections", "skipping", ENERGY_SEARCH, .array = "darsie.skip_table"},
    {"table_writes", "skipping", ENERGY_WRITE, .array = "darsie.skip_table"},
    {"majority_writes", "skipping", ENERGY_WRITE, .array = "darsie.majority"},
    {"rename_reads", "renaming", ENERGY_READ, .array = "darsie.rename_warps"},
    {"rename_writes", "renaming", ENERGY_WRITE, .array = "darsie.rename_warps"},
    {"shared_reads", "renaming", ENERGY_READ, .array = "darsie.rename"},
    {"version_writes", "renaming", ENERGY_WRITE, .array = "darsie.rename"},
    {0},
};

const char *const darsie_deviations[] = {
    "A follower's rename table changes when the warp reaches the skipped instruction in program "
    "order, not when the instruction is skipped before fetch: earlier instructions may not have "
    "read their registers yet. The instruction buffer holds marks for skipped instructions.",
    "Marks are assumed to be known before fetch: unmarked instructions are not looked up in the "
    "skip table, and a marked instruction after an unresolved branch or barrier is not fetched "
    "until that is resolved. A fetch brings at most as many marked instructions as the table can "
    "accept in two cycles: an election may wait one cycle for a write port.",
    "The leader's rename table changes when its result is written, not when it is elected; until "
    "then its register is pending.",
    "Sharing requires that all warps have loaded the same values. In the paper, a store removes "
    "loads from the table; warps that come later then load another value, but instructions that "
    "depend on it are still marked. Here each register records the load it depends on, and only "
    "warps with the same loads share.",
    "While a store of the block is in flight, its loads are neither led nor followed. Stores to "
    "local memory do not count. Volatile accesses count as communication, like atomics and fences.",
    "An instruction that writes several registers needs all of them from the freelist. Predicates, "
    "which the paper does not mention, are kept in the entry and copied (masks).",
    "Where no entry, register or write port is free, each warp executes the instruction itself; so "
    "does the last warp that reaches it.",
    "An entry that takes the last free register is a synchronisation point.",
    "When a warp leaves the majority path, its shared registers are copied to its own by move "
    "instructions, one by one, before its next instruction. The same happens to a register of "
    "which it is about to write only some lanes.",
    "Warps leave the majority path if they wait too long after a branch for warps that wait for "
    "them (patience), or if nothing else makes progress.",
    "Instructions of Southern Islands that write scalar registers or masks are not skipped.",
    "Where each scheduler has its own banks, a shared register is in one bank among all of them, "
    "and all warps read it there.",
    NULL,
};
