/*
 * The PC skip tables of the mechanism `darsie`, one a block: who leads an instruction, who follows,
 * and who has to wait.
 *
 * Before fetch, warps whose next instruction is marked are looked up, as many different PCs in a
 * cycle as the tables have read ports; any number of warps may stand at each. If their block has an
 * entry whose leader has written its result, they skip the instruction; if it has not, they wait.
 * If there is no entry they fetch it, and after decode the first one becomes the leader.
 *
 * Invariants
 *  T1  An entry is for one execution of an instruction: that at `position` of the way `way`. Warps
 *      on that way which have not passed the position are in `to_pass`; of the others none will
 *      come to it. An entry that nobody will come to is removed.
 *  T2  A warp skips in program order: what it reads from then on is the entry's version.
 *  T3  Those in `waiting` do not fetch, or are held if they had fetched it; they go on when the
 *      entry is written (and all warps have come, if it is a synchronisation point) or removed.
 *  T5  A warp that was looked up and has no entry waits for its turn to fetch without being looked
 *      up again; a new entry tells those who wait at its PC.
 *  T4  Versions that are not written are offered as long as their leader is under way.
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
    if (e->issued && !e->written) { /* its leader goes on alone with the registers (T4) */
        d->inflight[e->inflight].entry = NO_ENTRY;
        return;
    }
    rename_give(d, b, e->versions, d->insts[e->inst].results);
}

/* The number of warps that will come has changed, or one of them has come. */
static void look_at(struct darsie_core *d, struct darsie_block *b, struct darsie_entry *e)
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
    look_at(d, b, e);
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
        look_at(d, b, e);
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
        look_at(d, b, e);
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

/* The warp stands before an entry that it cannot use yet. False: it need not wait. */
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

/* A branch or barrier before this place of its buffer has not issued, or has not taken effect: what
 * comes next, or what way the warp will have come then, is not known. */
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

/* Turns of the write ports, from this cycle on, that are taken. An election may wait for the next
 * cycle: a fetch of several instructions can. */
static u64 turns_taken(const struct darsie_core *d)
{
    const u64 now = core_cycle(d->core) * d->params->write_ports;
    return d->write_turn > now ? d->write_turn - now : 0;
}

/* As many as can be elected in this cycle and the next come along, up to a branch. */
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

/* PCs that have been looked up in this cycle. */
struct lookups {
    u32 count;
    u32 insts[64];
};

/* Whether a PC has been looked up, or there is a port left for it. */
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

static void skim_slot(struct darsie_core *d, u32 slot, struct lookups *l, struct skip_fetch *skim)
{
    const struct slot *from = core_slot(d->core, slot);
    struct darsie_slot *s = &d->slots[slot];
    struct darsie_block *b = block_of(d, s);
    if (behind_branch(d->core, slot, from->buffered)) {
        skim->hold |= bit(slot);
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
        skim->hold |= bit(slot);
        return;
    }
    struct darsie_entry *e = find(d, b, s, from->fetch_at, position);
    if (!e || (e->leader == s->warp && !e->issued)) {
        s->probed = position + 1;
        return;
    }
    if (e->written && !e->sync) {
        skim->skip |= bit(slot);
        return;
    }
    d->stats->leader_waits++;
    if (!wait_at(d, b, s, e)) {
        skim->skip |= bit(slot);
        return;
    }
    skim->hold |= bit(slot);
    core_hold_fetch(d->core, bit(slot));
}

void table_skim(struct darsie_core *d, u64 wanting, struct skip_fetch *skim)
{
    struct lookups l = {0};
    const u32 first = core_last_fetched(d->core) + 1;
    const u64 below = first < CORE_WARPS ? bit(first) - 1 : ~0ull;
    u64 marked = 0;
    for (u64 set = wanting & d->taking_part; set; set &= set - 1)
        marked |= (u64)d->insts[core_slot(d->core, first_bit(set))->fetch_at].skips
                  << first_bit(set);
    for (u64 set = marked & ~below; set; set &= set - 1)
        skim_slot(d, first_bit(set), &l, skim);
    for (u64 set = marked & below; set; set &= set - 1)
        skim_slot(d, first_bit(set), &l, skim);
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

/* Warps on the same way that have not come to a position, but this one. */
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

/* A turn of a write port for one more entry, if it comes in time. */
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

/* One of the instructions that have come to a buffer. */
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
        return; /* thrown away */
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

/* The warp takes an entry's result. */
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
    look_at(d, b, e);
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
    return SKIP_FETCH;
}

/* Of what the instruction reads. */
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

/* The warp executes a marked instruction itself, and for others if it was elected. */
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
        /* the warp stands behind it already */
        e = part ? find(d, b, s, f->inst, passed(d, b, s->warp) - 1) : NULL;
    }
    if (e && e->leader != s->warp) {
        e->to_pass &= ~bit(s->warp);
        e->waiting &= ~bit(s->warp);
        look_at(d, b, e);
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
