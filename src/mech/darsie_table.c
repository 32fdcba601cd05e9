/*
 * The PC skip tables of the mechanism `darsie`, one per block: which warp leads an instruction,
 * which follow, and which have to wait.
 *
 * Before fetch, warps whose next instruction is marked are looked up: per cycle, as many different
 * PCs as the tables have read ports, each for any number of warps. If their block has an entry
 * whose leader has written its result, they skip the instruction; if the leader has not, they wait.
 * Without an entry they fetch it, and after decode the first one becomes the leader.
 *
 * Invariants
 *  T1  An entry is for one execution of an instruction: that at `position` of the way `way`. Warps
 *      on that way that have not passed the position are in `to_pass`; no other warp will reach it.
 *      An entry with empty `to_pass` is removed.
 *  T2  A warp skips in program order: from then on it reads the entry's version.
 *  T3  Warps in `waiting` do not fetch, or are held if they had fetched the instruction; they
 *      continue when the entry is written (and all warps have arrived, if it is a synchronisation
 *      point) or removed.
 *  T4  Versions that are not written are offered as long as their leader is in flight.
 *  T5  A warp that was looked up without finding an entry waits for fetch without another lookup; a
 *      new entry resets this (`probed`) for the warps at its PC.
 */
#include "mech/darsie.h"

static struct darsie_entry *find(const struct darsie_core *d, const struct darsie_block *b,
                                 const struct darsie_slot *s, u32 inst, u64 position)
{
    EACH_ENTRY(e, d, b)
    if (e->inst == inst && e->position == position && e->way == s->way)
        return e;
    return NULL;
}

static void release(struct darsie_core *d, struct darsie_block *b, struct darsie_entry *e)
{
    const u64 slots = slots_of(b, e->waiting), now = core_cycle(d->core);
    for (u64 set = slots; set; set &= set - 1)
        d->stats->leader_wait_cycles += now - d->slots[first_bit(set)].waits;
    e->waiting = 0;
    core_release(d->core, slots);
    core_release_fetch(d->core, slots);
}

void table_remove(struct darsie_core *d, struct darsie_block *b, struct darsie_entry *e)
{
    release(d, b, e);
    set_take(b->used, (u32)(e - b->entries));
    if (b->ways)
        ways_entry(b, e->way, false);
    d->stats->table_writes++;
    if (e->issued && !e->written) { /* its leader keeps the registers (T4) */
        d->inflight[e->inflight].entry = NO_ENTRY;
        return;
    }
    rename_give(d, b, e->versions, d->insts[e->inst].results);
}

/* To be called when `to_pass` or `waiting` has changed: removes or opens the entry if it is
 * time. */
static void update_entry(struct darsie_core *d, struct darsie_block *b, struct darsie_entry *e)
{
    if (!e->to_pass) {
        table_remove(d, b, e);
        return;
    }
    if (e->sync && !(e->to_pass & ~e->waiting))
        e->sync = false;
    if (e->waiting && e->written && !e->sync)
        release(d, b, e);
}

void table_written(struct darsie_core *d, struct darsie_block *b, struct darsie_entry *e)
{
    e->written = true;
    e->inflight = NO_INFLIGHT;
    d->stats->table_writes++;
    update_entry(d, b, e);
}

void table_flush(struct darsie_core *d, struct darsie_block *b)
{
    EACH_ENTRY(e, d, b)
    table_remove(d, b, e);
}

void table_forget(struct darsie_core *d, struct darsie_block *b, u32 warp)
{
    const u64 slot = bit(b->slots[warp]);
    EACH_ENTRY(e, d, b)
    {
        if (e->waiting >> warp & 1) {
            core_release(d->core, slot);
            core_release_fetch(d->core, slot);
        }
        e->waiting &= ~bit(warp);
        e->to_pass &= ~bit(warp);
        update_entry(d, b, e);
    }
}

void table_moved(struct darsie_core *d, struct darsie_block *b, u32 warp)
{
    EACH_ENTRY(e, d, b)
    {
        if (!(e->to_pass >> warp & 1) ||
            (ways_before(b, e->way) | b->ways[e->way].warps) >> warp & 1)
            continue;
        e->to_pass &= ~bit(warp);
        update_entry(d, b, e);
    }
}

bool table_give_up(struct darsie_core *d, struct darsie_block *b)
{
    bool any = false;
    EACH_ENTRY(e, d, b)
    {
        for (u64 set = e->waiting; set; set &= set - 1)
            d->slots[b->slots[first_bit(set)]].private = e->position + 1;
        any |= e->waiting != 0;
        release(d, b, e);
    }
    return any;
}

/* The warp waits for an entry that it cannot use yet. False: all have arrived, it need not wait. */
static bool wait_at(struct darsie_core *d, struct darsie_block *b, struct darsie_slot *s,
                    struct darsie_entry *e)
{
    e->waiting |= bit(s->warp);
    s->waits = core_cycle(d->core);
    d->stats->table_writes++;
    if (e->sync && !(e->to_pass & ~e->waiting)) {
        e->sync = false;
        if (e->written) {
            e->waiting &= ~bit(s->warp);
            release(d, b, e);
            return false;
        }
    }
    return true;
}

/* ---- before fetch ---- */

/* Whether a branch or barrier before this position of the buffer has not issued or not taken
 * effect: the next instruction, or the warp's way at that point, is not known. */
static bool behind_branch(const struct core *core, u32 s, u32 at)
{
    const struct slot *slot = core_slot(core, s);
    if ((core_branching(core) | core_waiting(core) | core_redirected(core)) >> s & 1)
        return true;
    for (u32 i = 0; i < at; i++)
        if (core_inst_time(core, slot->buffer[i])->flags & (TIME_BRANCH | TIME_BARRIER))
            return true;
    return false;
}

/* Write port turns already taken, counted from this cycle on. An election may use a turn of the
 * next cycle, since a fetch may bring several instructions. */
static u64 turns_taken(const struct darsie_core *d)
{
    const u64 now = core_cycle(d->core) * d->params->write_ports;
    return d->write_turn > now ? d->write_turn - now : 0;
}

/* A fetch brings as many marked instructions as can be elected in this cycle and the next, up to a
 * branch. */
bool table_comes_along(const struct darsie_core *d, u32 slot, u32 inst)
{
    const struct slot *to = core_slot(d->core, slot);
    u32 marked = 0;
    if (behind_branch(d->core, slot, to->buffered))
        return false;
    for (u32 i = to->fetch_at; i < inst; i++) {
        if (core_inst_time(d->core, i)->flags & (TIME_BRANCH | TIME_BARRIER))
            return false;
        marked += d->insts[i].skips;
    }
    return !d->params->write_ports || turns_taken(d) + marked < 2 * (u64)d->params->write_ports;
}

/* PCs looked up in this cycle. */
struct lookups {
    u32 count;
    u32 insts[64];
};

/* Whether a PC has been looked up in this cycle, or can be: a read port is free. */
static bool take_port(struct darsie_core *d, struct lookups *l, u32 inst)
{
    for (u32 i = 0; i < l->count; i++)
        if (l->insts[i] == inst)
            return true;
    if (l->count == (d->params->read_ports ? d->params->read_ports : ARRAY_LEN(l->insts))) {
        d->stats->port_waits++;
        return false;
    }
    l->insts[l->count++] = inst;
    d->stats->probes++;
    return true;
}

static void skip_fetch_slot(struct darsie_core *d, u32 slot, struct lookups *l,
                            struct skip_fetch *answer)
{
    const struct slot *from = core_slot(d->core, slot);
    struct darsie_slot *s = &d->slots[slot];
    struct darsie_block *b = block_of(d, s);
    if (behind_branch(d->core, slot, from->buffered)) {
        answer->hold |= bit(slot);
        if (core_branching(d->core) >> slot & 1)
            return;
        b->stalled |= bit(s->warp);
        core_hold_fetch(d->core, bit(slot));
        return;
    }
    const u64 position = passed(d, b, s->warp) + from->buffered;
    if (s->private == position + 1 || s->probed == position + 1)
        return;
    if (!take_port(d, l, from->fetch_at)) {
        answer->hold |= bit(slot);
        return;
    }
    struct darsie_entry *e = find(d, b, s, from->fetch_at, position);
    if (!e || (e->leader == s->warp && !e->issued)) {
        s->probed = position + 1;
        return;
    }
    if (e->written && !e->sync) {
        answer->skip |= bit(slot);
        return;
    }
    d->stats->leader_waits++;
    if (!wait_at(d, b, s, e)) {
        answer->skip |= bit(slot);
        return;
    }
    answer->hold |= bit(slot);
    core_hold_fetch(d->core, bit(slot));
}

void table_skip_fetch(struct darsie_core *d, u64 wanting, struct skip_fetch *answer)
{
    struct lookups l = {0};
    const u32 first = core_last_fetched(d->core) + 1;
    const u64 below = first < CORE_WARPS ? bit(first) - 1 : ~0ull;
    u64 marked = 0;
    for (u64 set = wanting & d->taking_part; set; set &= set - 1)
        marked |= (u64)d->insts[core_slot(d->core, first_bit(set))->fetch_at].skips
                  << first_bit(set);
    for (u64 set = marked & ~below; set; set &= set - 1)
        skip_fetch_slot(d, first_bit(set), &l, answer);
    for (u64 set = marked & below; set; set &= set - 1)
        skip_fetch_slot(d, first_bit(set), &l, answer);
}

/* ---- after decode ---- */

static struct darsie_entry *free_entry(struct darsie_core *d, struct darsie_block *b)
{
    for (u32 w = 0; w < d->entry_words; w++) {
        const u32 at = w * 64 + (~b->used[w] ? first_bit(~b->used[w]) : 64);
        if (~b->used[w] && at < d->entry_count)
            return &b->entries[at];
    }
    return NULL;
}

/* Warps other than `warp` that may still reach a position of its way. */
static u64 still_to_pass(const struct darsie_core *d, const struct darsie_block *b, u32 warp,
                         u64 position)
{
    const u32 way = d->slots[b->slots[warp]].way;
    u64 set = (b->ways ? b->ways[way].warps : b->majority) & ~bit(warp);
    u64 left = b->ways ? ways_before(b, way) : 0;
    for (; set; set &= set - 1)
        left |= (u64)(passed(d, b, first_bit(set)) <= position) << first_bit(set);
    return left;
}

/* Takes a write port turn of this cycle or the next for a new entry; false: none is free. */
static bool take_write_port(struct darsie_core *d)
{
    const u64 taken = turns_taken(d);
    if (d->params->write_ports && taken >= 2 * (u64)d->params->write_ports)
        return false;
    d->write_turn = core_cycle(d->core) * d->params->write_ports + taken + 1;
    return true;
}

static void elect(struct darsie_core *d, struct darsie_slot *s, u32 inst, u64 position)
{
    struct darsie_block *b = block_of(d, s);
    struct darsie_stats *stats = d->stats;
    const struct darsie_inst *info = &d->insts[inst];
    const u64 to_pass = still_to_pass(d, b, s->warp, position);
    u64 *why = NULL;
    struct darsie_entry *e = NULL;
    u16 versions[DARSIE_RESULTS];
    if (!to_pass)
        why = &stats->private_last;
    else if (info->load && b->unacted)
        why = &stats->private_stores;
    else if (!(e = free_entry(d, b)))
        why = &stats->private_full;
    else if (b->free_count < info->results)
        why = &stats->private_registers;
    else if (!take_write_port(d))
        why = &stats->private_ports;
    else
        rename_take(d, b, &core_exec(d->core)->image->program->insts[inst], versions);
    if (why) {
        ++*why;
        return;
    }
    *e = (struct darsie_entry){
        .inst = inst,
        .way = s->way,
        .position = position,
        .to_pass = to_pass,
        .inflight = NO_INFLIGHT,
        .leader = s->warp,
        .sync = info->results && !b->free_count && !b->ways,
    };
    memcpy(e->versions, versions, info->results * sizeof *versions);
    for (u64 set = to_pass; set; set &= set - 1) { /* T5 */
        struct darsie_slot *other = &d->slots[b->slots[first_bit(set)]];
        other->probed = other->probed == position + 1 ? 0 : other->probed;
    }
    set_put(b->used, (u32)(e - b->entries));
    if (b->ways)
        ways_entry(b, s->way, true);
    stats->sync_points += e->sync;
    stats->table_writes++;
}

/* Looks up an instruction that has arrived in the buffer; elects the warp if there is no entry. */
static void decode(struct darsie_core *d, u32 slot, u32 at)
{
    struct darsie_slot *s = &d->slots[slot];
    const struct darsie_block *b = block_of(d, s);
    const u32 inst = core_slot(d->core, slot)->buffer[at];
    const u64 position = passed(d, b, s->warp) + at;
    if (!d->insts[inst].skips || s->private == position + 1)
        return;
    const struct darsie_entry *e = find(d, b, s, inst, position);
    d->stats->elections++;
    if (!e) {
        elect(d, s, inst, position);
    } else if (e->leader != s->warp || e->issued) {
        core_mark(d->core, slot, at);
        d->stats->dropped++;
    }
}

void table_fetched(struct darsie_core *d, u32 slot, u32 inst, u32 count)
{
    const struct slot *to = core_slot(d->core, slot);
    if (to->buffered < count || to->buffer[to->buffered - count] != inst)
        return; /* the fetch was discarded */
    for (u32 at = to->buffered - count; at < to->buffered && !behind_branch(d->core, slot, at);
         at++)
        decode(d, slot, at);
}

/* ---- in program order ---- */

static void copy_masks(const struct darsie_core *d, u32 slot, const struct darsie_entry *e)
{
    const struct warp *warp = core_slot(d->core, slot)->warp;
    const struct step *step = &warp->view->steps[e->inst];
    for (u32 k = 0; k < 2; k++)
        for (u32 c = 0; warp->view->insts[e->inst].dst[k].kind == OPERAND_MASK &&
                        c < core_exec(d->core)->image->chunks;
             c++)
            *chunk_row(&warp->chunks[c], step, SLOT_DST + k) = e->masks[k][c];
}

/* The warp takes the result of an entry, or, if `stale`, has loaded its own. */
static void follow(struct darsie_core *d, struct darsie_slot *s, struct darsie_entry *e, bool stale)
{
    const struct darsie_inst *info = &d->insts[e->inst];
    struct darsie_block *b = block_of(d, s);
    struct darsie_stats *stats = d->stats;
    for (u32 i = 0; i < info->results && !stale; i++)
        rename_set(d, s, b->versions[e->versions[i]].reg, e->versions[i]);
    copy_masks(d, s->slot, e);
    loads_passed(d, s, e->inst, stale ? NULL : e);
    stats->skipped++;
    stats->skipped_loads += info->load;
    *(e->kind == VALUES_UNIFORM  ? &stats->skipped_uniform
      : e->kind == VALUES_AFFINE ? &stats->skipped_affine
                                 : &stats->skipped_other) += 1;
    e->to_pass &= ~bit(s->warp);
    update_entry(d, b, e);
}

enum skip_answer table_skip(struct darsie_core *d, u32 slot, u32 inst)
{
    struct darsie_slot *s = &d->slots[slot];
    struct darsie_block *b = block_of(d, s);
    const bool part = d->taking_part >> slot & 1;
    const u64 position = part ? passed(d, b, s->warp) : 0;
    struct darsie_entry *e = part ? find(d, b, s, inst, position) : NULL;
    const bool full = core_slot(d->core, slot)->warp->active == core_all_lanes(d->core);
    if (e && full && (!e->written || e->sync)) {
        if (!wait_at(d, b, s, e))
            return SKIP_WAIT;
        core_hold(d->core, bit(slot));
        return SKIP_WAIT;
    }
    if (e && full && loads_same(d, s, e)) {
        const enum loads_answer answer = loads_compare(d, s, e);
        if (answer == LOADS_WAIT)
            return SKIP_WAIT;
        follow(d, s, e, answer == LOADS_STALE);
        return SKIP_DONE;
    }
    if (e) {
        s->private = position + 1;
        d->stats->private_values += full;
    }
    d->stats->refetched++;
    paths_unstall(d, b,
                  bit(s->warp)); /* the buffer is dropped, and branches and barriers with it */
    return SKIP_FETCH;
}

/* Whether the operands are uniform, affine or other: enum values. */
static u8 kind_of(const struct darsie_core *d, const struct dyninst *f)
{
    u8 kind = VALUES_UNIFORM;
    for (u32 k = 0; k < 4; k++)
        if (f->code->src[k].kind == OPERAND_VECTOR && f->src[k] && f->src_rows[k]) {
            const u32 words = f->src_rows[k] == 2 ? 2 : 1;
            const u8 one =
                (u8)values_of(f->src[k], words, core_all_lanes(d->core), d->width, d->warp_size);
            kind = MAX(kind, one);
        } else if (f->code->src[k].kind == OPERAND_LANEID) {
            kind = MAX(kind, (u8)VALUES_AFFINE);
        }
    return kind;
}

/* The warp executes a marked instruction, as the leader if it was elected. */
void table_issued(struct darsie_core *d, struct inflight *inflight)
{
    const struct dyninst *f = &inflight->dyn;
    struct darsie_inflight *t = &d->inflight[inflight_index(d->core, inflight)];
    struct darsie_slot *s = &d->slots[inflight->slot];
    struct darsie_block *b = block_of(d, s);
    const struct darsie_inst *info = &d->insts[f->inst];
    struct darsie_entry *e = NULL;
    const bool part = d->taking_part >> inflight->slot & 1;
    if (info->skips) {
        d->stats->private_paths += !part;
        /* the warp's position already includes this instruction */
        e = part ? find(d, b, s, f->inst, passed(d, b, s->warp) - 1) : NULL;
    }
    if (e && e->leader != s->warp) {
        e->to_pass &= ~bit(s->warp);
        e->waiting &= ~bit(s->warp);
        update_entry(d, b, e);
        e = NULL;
    }
    if (e && f->lanes != core_all_lanes(d->core)) {
        table_remove(d, b, e);
        e = NULL;
    }
    if (e) {
        for (u32 i = 0; i < info->sources; i++)
            e->from[i] = s->ids[info->source[i]];
        e->issued = true;
        e->inflight = (u16)inflight_index(d->core, inflight);
        e->kind = kind_of(d, f);
        t->entry = (u16)(e - b->entries);
        t->shared = info->results;
        s->leading += info->results != 0;
        memcpy(t->versions, e->versions, sizeof t->versions);
        d->stats->led++;
    }
    loads_passed(d, s, f->inst, NULL);
    if (e)
        e->id = info->targets ? s->ids[info->target[0]] : 0;
}
