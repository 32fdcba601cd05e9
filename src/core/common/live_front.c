/*
 * Visitors of fetch and issue: see common/live.h.
 *
 * What a flip means
 *  - The fetch PC: instructions behind those in the buffer come from elsewhere; the warp executes
 *    them and goes on from there. If a branch is taken before, nothing happens.
 *  - A valid bit of a buffer: the instruction is skipped, or an old one is executed again.
 *  - A pending bit: an instruction waits for a result that never comes, or does not wait.
 *  - A path of the stack: other lanes, another PC (its lanes continue there), another reconvergence
 *    point. A PC without an instruction of the kernel is a fault.
 *  - A barrier: a warp waits for a barrier that it has not reached, or goes on; a counter releases
 *    the block too early, or never.
 */
#include "core/common/common.h"
#include "core/common/live.h"
#include "exec/scalars.h"

/* The slot of an entry; NULL: it has no warp that runs. */
static struct slot *slot_at(struct core *core, u64 s)
{
    const bool runs = core && s < CORE_WARPS && core->present >> s & 1 && !core->slots[s].ended;
    return runs ? &core->slots[s] : NULL;
}

/* ---- fetch ---- */

/* The instructions behind those in the buffer are others. */
static void derail(struct core *core, u32 s, u32 inst)
{
    struct slot *slot = &core->slots[s];
    slot->fetch_at = inst;
    slot->derailed = true;
    if (slot->buffered || core->issue.redirected >> s & 1 || slot->at == NO_INST) {
        fetch_want(core, s);
        return;
    }
    if (inst == WILD_INST) {
        live_wild(slot->warp, 0);
        core->stopped = true;
        return;
    }
    live_move(slot->warp, slot->warp->current, inst);
    live_resettle(core, s);
}

void live_visit_pc(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct core *core = owner;
    struct slot *slot = slot_at(core, entry);
    u64 pc = slot ? live_address(core, slot->fetch_at) : 0;
    if (walk_entry(walk, slot) && walk_field(walk, &pc, row->bits) && slot)
        derail(core, (u32)entry, live_inst(core, pc));
}

void live_visit_missing(struct state_walk *walk, const struct state_row *row, void *owner,
                        u64 entry)
{
    struct core *core = owner;
    struct slot *slot = slot_at(core, entry);
    u64 missing = slot ? (slot->barred & BARRED_MISSING) != 0 : 0;
    if (!walk_entry(walk, slot) || !walk_field(walk, &missing, row->bits) || !slot)
        return;
    slot->barred ^= BARRED_MISSING;
    fetch_want(core, (u32)entry);
}

void live_visit_fetch_turn(struct state_walk *walk, const struct state_row *row, void *owner,
                           u64 entry)
{
    struct core *core = owner;
    u64 last = core ? core->fetch.last % CORE_WARPS : 0;
    if (walk_entry(walk, core && core->present) && walk_field(walk, &last, row->bits) && core)
        core->fetch.last = (u32)last;
}

/* An instruction leaves the buffer without having been executed. */
static void lose_instruction(struct core *core, u32 s, u32 at)
{
    struct slot *slot = &core->slots[s];
    slot->buffered--;
    for (u32 i = at; i < slot->buffered; i++)
        slot->buffer[i] = slot->buffer[i + 1];
    slot->derailed = true;
    if (at || slot->at == NO_INST || core->issue.redirected >> s & 1)
        return;
    const u32 next = slot->buffered ? slot->buffer[0] : slot->fetch_at;
    if (next >= core->inst_count) {
        live_wild(slot->warp, 0);
        core->stopped = true;
        return;
    }
    live_move(slot->warp, slot->warp->current, next);
    live_resettle(core, s);
}

/* What the place held before is there again, behind the others. */
static void regain_instruction(struct core *core, u32 s)
{
    struct slot *slot = &core->slots[s];
    const u32 old = slot->buffer[slot->buffered];
    if (slot->buffered >= core->config.fetch->buffer || !slot->buffered ||
        live_inst(core, live_address(core, old)) == WILD_INST)
        return;
    slot->buffered++;
    slot->derailed = true;
    core->stats.fetch.instructions++;
    core->stats.fetch.buffered++;
}

void live_visit_buffer_valid(struct state_walk *walk, const struct state_row *row, void *owner,
                             u64 entry)
{
    struct core *core = owner;
    const u32 places = core ? core->config.fetch->buffer : 1, at = (u32)(entry % places);
    const u32 s = (u32)(entry / places);
    struct slot *slot = slot_at(core, s);
    u64 valid = slot ? at < slot->buffered : 0;
    if (!walk_entry(walk, slot && !slot->skipped) || !walk_field(walk, &valid, 1) || !slot ||
        slot->skipped)
        return;
    core->issue.clear &= ~bit(s);
    if (!valid)
        lose_instruction(core, s, at);
    else
        regain_instruction(core, s);
    if (!core->stopped)
        live_resettle(core, s);
}

/* ---- scoreboard ---- */

/* Scoreboard bit `number` of slot `s`; CORE_WARPS: no warp has this register. */
static void walk_pending(struct state_walk *walk, struct core *core, u32 s, u32 number)
{
    u64 *word = s != CORE_WARPS ? &core->slots[s].pending[number / 64] : NULL;
    u64 pending = word ? *word >> number % 64 & 1 : 0;
    if (!walk_entry(walk, word) || !walk_field(walk, &pending, 1) || !word)
        return;
    *word ^= bit(number % 64);
    live_resettle(core, s);
}

void live_visit_scoreboard(struct state_walk *walk, const struct state_row *row, void *owner,
                           u64 entry)
{
    struct core *core = owner;
    const u32 rows = core && core->exec ? core->registers->layout.rows : 0;
    u32 s = rows ? live_slot_of_frame(core, (u32)(entry / rows)) : CORE_WARPS;
    if (s != CORE_WARPS && (entry % rows >= core->exec->register_rows || core->slots[s].ended))
        s = CORE_WARPS;
    walk_pending(walk, core, s, rows ? (u32)(entry % rows) : 0);
}

void live_visit_scalar_scoreboard(struct state_walk *walk, const struct state_row *row, void *owner,
                                  u64 entry)
{
    struct core *core = owner;
    const u32 each = core && core->exec ? core->registers->layout.scalars : 0;
    u32 s = each ? live_slot_of_frame(core, (u32)(entry / each)) : CORE_WARPS;
    const u32 scalar = each ? (u32)(entry % each) : 0;
    if (s != CORE_WARPS && (scalar >= SCALAR_GENERAL_END || core->slots[s].ended ||
                            !core->exec->image->program->traits.explicit_exec))
        s = CORE_WARPS;
    const u32 base = s != CORE_WARPS ? time_scalar_base(core->exec->image->program) : 0;
    walk_pending(walk, core, s, base + scalar);
}

u64 live_hash_scoreboard(const struct state_row *row, void *owner, u64 hash)
{
    const struct core *core = owner;
    for (u64 set = core->exec ? core->present & ~core->ended : 0; set; set &= set - 1) {
        const struct slot *slot = &core->slots[first_bit(set)];
        for (u32 i = 0; i < core->issue.scoreboard_words; i++)
            if (slot->pending[i])
                hash = hash_word(hash_word(hash, first_bit(set) * 64 + i), slot->pending[i]);
    }
    return hash;
}

/* ---- order ---- */

void live_visit_last(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct core *core = owner;
    const u32 n = core ? core->config.issue->schedulers : 1;
    u32 *slot = core ? &core->issue.schedulers[entry].last : NULL;
    const bool used = slot && *slot < CORE_WARPS;
    u64 last = used ? *slot / n : 0;
    if (walk_entry(walk, used) && walk_field(walk, &last, row->bits) && used)
        *slot = MIN((u32)last * n + (u32)entry, CORE_WARPS - 1);
}

/* The warps of a slot's scheduler that are older. */
static u32 rank_of(const struct core *core, u32 s)
{
    u32 rank = 0;
    for (u64 set = core->present; set; set &= set - 1)
        rank += core->issue.scheduler_of[first_bit(set)] == core->issue.scheduler_of[s] &&
                core->slots[first_bit(set)].age < core->slots[s].age;
    return rank;
}

void live_visit_age(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct core *core = owner;
    struct slot *slot = slot_at(core, entry);
    u64 rank = slot ? rank_of(core, (u32)entry) : 0;
    if (!walk_entry(walk, slot) || !walk_field(walk, &rank, row->bits) || !slot)
        return;
    for (u64 set = core->present; set; set &= set - 1) {
        const u32 s = first_bit(set);
        if (core->issue.scheduler_of[s] != core->issue.scheduler_of[entry] ||
            rank_of(core, s) != rank)
            continue;
        const u64 age = core->slots[s].age;
        core->slots[s].age = slot->age;
        slot->age = age;
        return;
    }
    walk->dead = true; /* no warp has this rank */
}

/* Slots from the oldest warp to the youngest: ages themselves are counts of warps so far. */
u64 live_hash_age(const struct state_row *row, void *owner, u64 hash)
{
    const struct core *core = owner;
    u8 order[CORE_WARPS];
    u32 count = 0;
    for (u64 set = core->present & ~core->ended; set; set &= set - 1) {
        u32 at = count++;
        for (; at && core->slots[order[at - 1]].age > core->slots[first_bit(set)].age; at--)
            order[at] = order[at - 1];
        order[at] = (u8)first_bit(set);
    }
    for (u32 i = 0; i < count; i++)
        hash = hash_word(hash, order[i]);
    return hash;
}

/* ---- divergence ---- */

/* A node continues elsewhere, or has a fault. */
static void move_path(struct core *core, u32 s, u32 node, u64 address)
{
    struct warp *warp = core->slots[s].warp;
    const u32 inst = live_inst(core, address);
    if (inst == WILD_INST) {
        live_wild(warp, address);
        core->stopped = true;
        return;
    }
    live_move(warp, node, inst);
}

void live_visit_stack(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct core *core = owner;
    const struct core_config *machine = live_machine(walk, core);
    const u32 lanes = machine->core->warp_size, pc_bits = live_widths(machine).pc;
    const u32 s = (u32)(entry / lanes), node = (u32)(entry % lanes);
    struct slot *slot = slot_at(core, s);
    struct path *path = slot && live_has_path(slot->warp, node) ? &slot->warp->paths[node] : NULL;
    u64 pc = path ? live_address(core, path->pc) : 0;
    u64 join = path ? live_address(core, path->rpc) : 0;
    u64 mask = path ? path->mask : 0;
    const u64 before = mask;
    if (!walk_entry(walk, path))
        return;
    const bool moved = walk_field(walk, &pc, pc_bits), joins = walk_field(walk, &join, pc_bits);
    const bool masked = walk_field(walk, &mask, lanes);
    if (!path || !(moved | joins | masked))
        return;
    if (moved)
        move_path(core, s, node, pc);
    if (joins) {
        path->rpc = live_inst(core, join);
        path->rpc = path->rpc == WILD_INST ? NO_INST : path->rpc;
    }
    if (masked)
        live_flip_lanes(slot->warp, node, mask ^ before);
    if (!core->stopped)
        live_resettle(core, s);
}

u64 live_hash_stack(const struct state_row *row, void *owner, u64 hash)
{
    const struct core *core = owner;
    for (u64 set = core->exec ? core->present & ~core->ended : 0; set; set &= set - 1) {
        const struct warp *warp = core->slots[first_bit(set)].warp;
        u64 seen = 0; /* nodes */
        hash = hash_word(hash, first_bit(set));
        for (u32 i = 0; i < warp->order_count; i++)
            for (u32 n = warp->order[i]; n != NO_PATH && !(seen >> n & 1);
                 n = warp->paths[n].parent) {
                const struct path *path = &warp->paths[n];
                seen |= bit(n);
                hash = hash_word(hash, (u64)path->rpc << 32 | path->pc);
                hash = hash_word(hash_word(hash, path->mask), (u64)n << 8 | path->state);
            }
    }
    return hash;
}

void live_visit_special(struct state_walk *walk, const struct state_row *row, void *owner,
                        u64 entry)
{
    struct core *core = owner;
    struct slot *slot = slot_at(core, entry);
    const bool used = slot && core->exec->image->program->traits.explicit_exec;
    u64 vcc = used ? scalar_pair(slot->warp, SCALAR_VCC) : 0;
    u64 scc = used ? *scalar_word(slot->warp, SCALAR_SCC) : 0;
    u64 m0 = used ? *scalar_word(slot->warp, SCALAR_M0) : 0;
    if (!walk_entry(walk, used))
        return;
    if (walk_field(walk, &vcc, live_machine(walk, core)->core->warp_size) && used)
        scalar_set_pair(slot->warp, SCALAR_VCC, vcc);
    if (walk_field(walk, &scc, 1) && used)
        *scalar_word(slot->warp, SCALAR_SCC) = (u32)scc;
    if (walk_field(walk, &m0, 32) && used)
        *scalar_word(slot->warp, SCALAR_M0) = (u32)m0;
}

void live_visit_counters(struct state_walk *walk, const struct state_row *row, void *owner,
                         u64 entry)
{
    struct core *core = owner;
    struct slot *slot = slot_at(core, entry);
    struct waits *waits = slot && core->issue.by_waitcnt ? &core->issue.waits[entry] : NULL;
    u64 vector = waits ? waits->vector.count : 0, data = waits ? waits->data : 0;
    u64 others = waits ? waits->shared.count + (u64)waits->scalars : 0;
    const u64 before = others;
    if (!walk_entry(walk, waits))
        return;
    if (walk_field(walk, &vector, VM_BITS) && waits)
        waits->vector.count = (u8)vector;
    if (walk_field(walk, &data, EXP_BITS) && waits)
        waits->data = (u8)data;
    if (walk_field(walk, &others, LGKM_BITS) && waits)
        waits->scalars = (u8)(waits->scalars + others - before);
    if (waits && walk->mode == WALK_FLIP)
        live_resettle(core, (u32)entry);
}

/* ---- barriers ---- */

void live_visit_barrier(struct state_walk *walk, const struct state_row *row, void *owner,
                        u64 entry)
{
    struct core *core = owner;
    struct slot *slot = slot_at(core, entry);
    u64 waits = slot && live_waits(slot->warp);
    if (!walk_entry(walk, slot) || !walk_field(walk, &waits, row->bits) || !slot)
        return;
    live_flip_waiting(slot->warp);
    live_resettle(core, (u32)entry);
}

/* Warps of a block that have arrived at its first barrier in use. */
static struct barrier *barrier_of(const struct core *core, u64 place, u64 *arrived)
{
    struct thread_block *block = core && place < CORE_BLOCKS ? core->blocks[place].block : NULL;
    *arrived = 0;
    if (!block)
        return NULL;
    const u32 number = block->barriers_used ? first_bit(block->barriers_used) : 0;
    struct barrier *barrier = &block->barriers[number];
    for (u32 w = 0; w < block->warp_count; w++)
        *arrived += barrier->arrived[w] != 0;
    *arrived += (u64)(i64)barrier->miscounted;
    return barrier;
}

void live_visit_arrived(struct state_walk *walk, const struct state_row *row, void *owner,
                        u64 entry)
{
    struct core *core = owner;
    u64 arrived, before;
    struct barrier *barrier = barrier_of(core, entry, &arrived);
    before = arrived;
    if (!walk_entry(walk, barrier) || !walk_field(walk, &arrived, row->bits) || !barrier)
        return;
    live_miscount(core, (u32)entry, (i32)(arrived - before));
}
