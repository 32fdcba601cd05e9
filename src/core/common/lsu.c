/*
 * The load/store unit: one instruction at a time is at its head, where it takes effect on memory.
 *
 * Accesses take effect in the order of this unit, each when its instruction reaches the head. Then
 * its transactions are sent, lsu.transactions_per_cycle in each cycle. Transactions for a
 * first-level data cache pass a pipe with the cache's latency and are looked up at its end; misses
 * go through a queue to the network. An access to shared memory occupies the head for one cycle
 * plus its bank conflicts. Constants, parameters and scalar loads have their own cache, which is
 * looked up at the head.
 *
 * Loads that hit are done at once; data from memory are written back through a port, at the
 * earliest two cycles after their arrival. Stores are done when their last transaction has left the
 * head; the warp counts those that are not acknowledged.
 *
 * Invariants
 *  L1  Every transaction holds a request until it is answered. An instruction is done when all its
 *      requests are answered; a plain store, when all of them have left the head.
 *  L2  While an atomic is in flight, loads and stores of the core to its 32-byte sector wait at the
 *      head, and take effect afterwards. Atomics do not wait: the network and the slice keep their
 *      order.
 */
#include "base/hot.h"
#include "core/common/content.h"
#include "core/common/lsu_tick.h"
#include "core/live.h"
#include "exec/memory_view.h"
#include "exec/texture.h"
#include "mem/stride.h"

/* ---- the head ---- */

/* Layout of local memory: word w of all lanes of a warp is contiguous, as in GPGPU-Sim. */
static u64 local_address(const struct core *core, u32 s, u32 lane, u64 address)
{
    const struct exec *exec = core->exec;
    u64 warp_bytes = (u64)align_up(MAX(exec->local_stride, 4), 4) * exec->image->warp_size;
    u64 warp = (u64)core->config.index * CORE_WARPS + s;
    return LOCAL_BASE + warp * align_up(warp_bytes, 128) +
           (address / 4 * exec->image->warp_size + lane) * 4 + address % 4;
}

static void list_local_accesses(struct core *core, struct inflight *inflight)
{
    struct lsu *lsu = core->lsu.unit;
    struct dyninst *f = &inflight->dyn;
    const u64 *address = dyninst_addresses(f);
    u64 at[MAX_LANES];
    u32 pieces = (f->bytes + 3) / 4, each = MIN(f->bytes, 4u);
    for (u32 k = 0; k < pieces; k++) {
        for (u64 set = f->local; set; set &= set - 1) {
            u32 lane = first_bit(set);
            at[lane] = local_address(core, core_home(core, inflight->slot, lane), lane,
                                     address[lane] + 4 * k);
        }
        coalesce(COALESCE_LINE, lsu->list_bytes, at, f->local, each, f->stores, lsu->list,
                 &lsu->count);
    }
}

/* Lanes that access the same address do so in different transactions: as many rounds as the most
 * lanes that share an address. */
static void list_atomics(struct core *core, const struct dyninst *f, enum coalesce_rule rule)
{
    struct lsu *lsu = core->lsu.unit;
    u64 rounds[MAX_LANES] = {0};
    u32 count = 0;
    for (u64 set = f->global; set; set &= set - 1) {
        const u32 lane = first_bit(set);
        u32 earlier = 0;
        for (u64 before = f->global & (bit(lane) - 1); before; before &= before - 1)
            earlier += f->address[first_bit(before)] == f->address[lane];
        rounds[earlier] |= bit(lane);
        count = MAX(count, earlier + 1);
    }
    for (u32 i = 0; i < count; i++) {
        u32 more = 0; /* a separate list: nothing is merged with earlier rounds */
        coalesce(rule, lsu->list_bytes, f->address, rounds[i], f->bytes, f->stores,
                 lsu->list + lsu->count, &more);
        lsu->count += more;
    }
}

/* Transactions of evenly spaced lanes that form one run, or two halves without a common line.
 * False: they do not. */
static bool list_runs(struct core *core, const struct dyninst *f, enum coalesce_rule rule)
{
    struct lsu *lsu = core->lsu.unit;
    const u32 bytes = f->bytes, line = lsu->list_bytes, shift = (u32)__builtin_ctz(line);
    const u32 groups = core->config.core->warp_size / STRIDE_LANES;
    struct run run = {0, STRIDE_LANES, f->stride[0]};
    u64 end[DYNINST_GROUPS];
    bool one = true;
    for (u32 g = 0; g < groups; g++) {
        if (f->stride[g] && (u32)f->stride[g] != bytes)
            return false;
        end[g] = f->first[g] + bytes + (STRIDE_LANES - 1) * (u32)f->stride[g];
        one &= !g || (f->stride[g] == f->stride[0] &&
                      f->first[g] == (f->stride[0] ? end[g - 1] : f->first[0]));
    }
    if (rule == COALESCE_HALF)
        return false;
    if (one) {
        run.lanes *= groups;
        lsu->count = coalesce_run(rule, line, f->first[0], &run, bytes, f->stores, lsu->list);
        return true;
    }
    if (groups != 2 || ((end[0] - 1) >> shift >= f->first[1] >> shift &&
                        (end[1] - 1) >> shift >= f->first[0] >> shift))
        return false;
    lsu->count = coalesce_run(rule, line, f->first[0], &run, bytes, f->stores, lsu->list);
    run = (struct run){STRIDE_LANES, STRIDE_LANES, f->stride[1]};
    lsu->count +=
        coalesce_run(rule, line, f->first[1], &run, bytes, f->stores, lsu->list + lsu->count);
    return true;
}

static bool is_readonly(const struct core *core, const struct dyninst *f)
{
    if (UNLIKELY(f->code->op == OP_tex))
        return core->config.texture->cache == TEXTURE_BY_READONLY;
    return core->config.readonly->enabled && f->code->mods & MOD_READ_ONLY;
}

/* Whether the instruction itself asks to bypass the L1; volatile accesses must see what other cores
 * store. */
static bool is_far(const struct dyninst *f)
{
    return f->code->mods & (MOD_VOLATILE | MOD_FAR);
}

/* The line size for coalescing: a transaction lies in one line of the cache that it goes to, and in
 * one line of the L2, which receives it when no cache does. Loads that only the L2 serves fetch
 * sectors (CUDA programming guide, compute capability 2.x: 32-byte transactions). */
static u32 transaction_line(const struct core *core, const struct dyninst *f)
{
    const struct lsu_params *p = core->config.lsu;
    const bool l2_only = !core->config.l1d->global || (f->global && is_far(f));
    u32 line = MIN(core->config.l1d->line_bytes, core->config.l2_line_bytes);
    if (f->atomic || p->coalesce == COALESCE_SECTOR ||
        (l2_only && p->coalesce == COALESCE_LINE && !f->stores))
        return SECTOR_BYTES;
    return is_readonly(core, f) ? MIN(line, core->config.readonly->line_bytes) : line;
}

/* In the order of addresses, neighbours are in different banks of the L1 and leave together. (In that
 * of lanes, lanes that address the same sector of different lines would follow each other.) */
static void sort_by_address(struct transaction *list, u32 count)
{
    for (u32 i = 1; i < count; i++) {
        const struct transaction moved = list[i];
        u32 at = i;
        for (; at && list[at - 1].line > moved.line; at--)
            list[at] = list[at - 1];
        list[at] = moved;
    }
}

/* Transactions of a texture fetch: first those of the first texels of all lanes. The fetch occupies
 * the head while its texels are addressed. */
static COLD void list_texels(struct core *core, struct inflight *inflight)
{
    struct lsu *lsu = core->lsu.unit;
    const struct dyninst *f = &inflight->dyn;
    const u32 rate = core->config.texture->lanes_per_cycle;
    u64 texel[TEXTURE_TEXELS][MAX_LANES], lanes[TEXTURE_TEXELS] = {0};
    u32 turns = 0, texels = 0;
    for (u64 set = f->lanes; set; set &= set - 1) {
        const u32 lane = first_bit(set);
        u64 address[TEXTURE_TEXELS];
        const u32 count = dyninst_texels(f, lane, address);
        for (u32 k = 0; k < count; k++) {
            texel[k][lane] = address[k];
            lanes[k] |= bit(lane);
        }
        texels += count;
        turns += MAX((count + 3) / 4, 1);
    }
    for (u32 k = 0; k < TEXTURE_TEXELS && lanes[k]; k++)
        coalesce(COALESCE_LINE, lsu->list_bytes, texel[k], lanes[k], f->bytes, false, lsu->list,
                 &lsu->count);
    const u32 cycles = (turns + rate - 1) / rate;
    lsu->shared_until = core_cycle(core) + cycles - 1;
    core->stats.texture.instructions++;
    core->stats.texture.lanes += count_lanes(f->lanes);
    core->stats.texture.texels += texels;
    core->stats.texture.transactions += lsu->count;
    core->stats.texture.cycles += cycles;
}

/* Makes the list of transactions of the access at the head. */
static void make_list(struct core *core, struct inflight *inflight)
{
    struct lsu *lsu = core->lsu.unit;
    struct dyninst *f = &inflight->dyn;
    const struct lsu_params *p = core->config.lsu;
    enum coalesce_rule rule = COALESCE_LINE;
    lsu->list_bytes = transaction_line(core, f);
    if (p->coalesce == COALESCE_HALF && !f->atomic)
        rule = COALESCE_HALF;
    lsu->list_local = f->local != 0;
    if (f->local)
        list_local_accesses(core, inflight);
    if (f->global && f->atomic) {
        list_atomics(core, f, rule);
    } else if (UNLIKELY(f->code->op == OP_tex)) {
        list_texels(core, inflight);
    } else if (f->global && !(f->strided && list_runs(core, f, rule))) {
        coalesce(rule, lsu->list_bytes, dyninst_addresses(f), f->global, f->bytes, f->stores,
                 lsu->list, &lsu->count);
        if (f->pair)
            coalesce(rule, lsu->list_bytes, dyninst_second(f), f->global, f->bytes, f->stores,
                     lsu->list, &lsu->count);
    }
    if (core->config.l1d->banks > 1 && !f->atomic)
        sort_by_address(lsu->list, lsu->count);
    if (UNLIKELY(inflight->silent) && f->stores)
        lsu->count = 0;
    core->stats.texture.surface_accesses += f->code->op == OP_suld || f->code->op == OP_sust;
    core->stats.lsu.transactions += lsu->count;
    core->profile[f->inst].transactions += lsu->count;
    core->stats.lsu.memory_accesses++;
    if (f->local)
        core->stats.lsu.local_accesses++;
    else
        core->stats.lsu.global_accesses++;
    if (UNLIKELY(lsu->content != NULL))
        core_content_access(core, inflight);
}

/* Whether both elements of a pair have the same bank conflicts: their distance is the same in every
 * lane. */
static bool second_is_alike(const struct dyninst *f, const struct lsu_params *p)
{
    const u32 apart = (u32)(f->code->imm >> 32) - (u32)f->code->imm;
    return f->code->op != OP_atom_src2 && !(apart & (p->shared_bank_bytes - 1)) &&
           is_pow2(p->shared_banks);
}

/* An access to shared memory occupies the head for as long as its banks conflict. */
PART_OF void start_shared(struct core *core, struct inflight *inflight)
{
    const struct lsu_params *p = core->config.lsu;
    struct dyninst *f = &inflight->dyn;
    u32 cycles = core->lsu.unit->strided_parts;
    if (!(f->strided && f->bytes == core->lsu.unit->strided_bytes &&
          shared_is_free(f->first, f->stride, f->bytes) &&
          (cycles == 1 || shared_is_free(f->first + 2, f->stride + 2, f->bytes))))
        cycles = shared_cycles(dyninst_addresses(f), f->shared, f->bytes, p->shared_banks,
                               p->shared_bank_bytes, p->shared_parts, core->config.core->warp_size);
    if (f->pair && second_is_alike(f, p))
        cycles *= 2;
    else if (f->pair)
        cycles +=
            shared_cycles(dyninst_second(f), f->shared, f->bytes, p->shared_banks,
                          p->shared_bank_bytes, p->shared_parts, core->config.core->warp_size);
    cycles = MAX(cycles, 1);
    core->lsu.unit->shared_until = core_cycle(core) + cycles - 1;
    core->stats.lsu.shared_accesses++;
    core->stats.lsu.shared_conflict_cycles += cycles - 1;
    if (cycles > 1)
        core_trace(core, TRACE_CONFLICT, inflight->slot, f->inst, inflight_index(core, inflight),
                   cycles);
}

/* The memory view that the access reads, and that its stores go to. */
static COLD struct memory_view *view_of(struct core *core, struct inflight *inflight)
{
    struct memory_view *view = core->view;
    EACH_USE(use, &core->hooks, view)
        view = use->mechanism->view(use->state, core, inflight, view);
    return view;
}

/* An access has faulted. True: a mechanism has taken the fault, and nothing has happened. */
static COLD bool fault_is_taken(struct core *core, struct inflight *inflight)
{
    bool taken = false;
    EACH_USE(use, &core->hooks, faulted)
        taken |= use->mechanism->faulted(use->state, core, inflight);
    if (!taken)
        return false;
    inflight->dyn.faulted = false;
    core->exec->stopped = false;
    core->exec->fault = (struct fault){0};
    return true;
}

static COLD void tell_stored(struct core *core, const struct inflight *inflight,
                             const struct memory_view *view, struct memory_view_mark mark)
{
    EACH_USE(use, &core->hooks, stored)
        use->mechanism->stored(use->state, core, inflight, view, mark);
}

/* An access that is annulled has no lanes. */
static COLD void annul(struct dyninst *f)
{
    f->lanes = f->writes = f->global = f->shared = f->local = f->constant = 0;
}

bool lsu_act(struct core *core, struct inflight *inflight)
{
    if (UNLIKELY(inflight->annulled))
        annul(&inflight->dyn);
    if (UNLIKELY(core->live != NULL))
        live_accesses(core, inflight);
    struct memory_view *view = core_hooked(core, SEAM_VIEW) ? view_of(core, inflight) : core->view;
    const struct memory_view_mark mark = memory_view_mark(view);
    if (!dyninst_access(&inflight->dyn, view) && !fault_is_taken(core, inflight)) {
        core->stopped = true;
        return false;
    }
    if (core_hooked(core, SEAM_STORED) && inflight->dyn.stores)
        tell_stored(core, inflight, view, mark);
    if (!--core->slots[inflight->slot].unacted)
        slot_counted(core, inflight->slot);
    return true;
}

/* The access at the head takes effect on memory. False: it has faulted. */
PART_OF bool start_current(struct core *core, struct inflight *inflight)
{
    struct lsu *lsu = core->lsu.unit;
    struct dyninst *f = &inflight->dyn;
    lsu->started = true;
    core->stats.lsu.instructions++;
    if (f->kind == DYNINST_ACCESS && !lsu_act(core, inflight))
        return false;
    inflight->outstanding = 1; /* the head itself, until everything is sent */
    lsu->count = lsu->next = 0;
    lsu->shared_until = 0;
    if (f->kind != DYNINST_ACCESS)
        return true;
    if (f->scalar) { /* scalar loads use the constant cache */
        f->constant |= f->global;
        f->global = 0;
        if (UNLIKELY(lsu->content != NULL))
            core_content_access(core, inflight);
    }
    lsu->constants = f->constant;
    core->stats.lsu.constant_accesses += lsu->constants;
    if (f->shared)
        start_shared(core, inflight);
    if (f->global | f->local)
        make_list(core, inflight);
    return true;
}

/* Sends a transaction on its way; *banks: what this cycle's transactions have used, one of each bank
 * of the L1 and one that bypasses it. False: there is no room. */
HOT static __attribute__((noinline)) bool send_transaction(struct core *core,
                                                           struct inflight *inflight,
                                                           const struct transaction *t, u64 *banks)
{
    struct lsu *lsu = core->lsu.unit;
    const struct l1d_params *l1 = core->config.l1d;
    const struct dyninst *f = &inflight->dyn;
    const bool readonly = is_readonly(core, f);
    const bool cached =
        !f->atomic && (readonly || (lsu->list_local ? l1->local : l1->global && !is_far(f)));
    const u32 latency = readonly ? core->config.readonly->latency : l1->latency;
    const u32 b = readonly ? READONLY_PIPE : (u32)(t->line / SECTOR_BYTES) % l1->banks;
    lsu->wanted_pipe = 0;
    if (f->stores && lsu->stores >= core->config.lsu->store_queue)
        return false;
    if (cached && ring_count(&lsu->pipes[b]) >= latency) {
        lsu->wanted_pipe = f->constant ? 0 : bit(b);
        return false;
    }
    if (*banks >> (cached ? b : DIRECT_BANK) & 1 || (!cached && !queue_room(core)))
        return false;
    struct lsu_request *request = lsu_request_take(lsu);
    if (!request)
        return false;
    *request = (struct lsu_request){
        .line = t->line,
        .lanes = t->lanes,
        .bytes = lsu->list_bytes,
        .sectors = t->sectors,
        .inflight = (u16)inflight_index(core, inflight),
        .slot = inflight->slot,
        .kind = f->atomic ? REQUEST_ATOMIC
                : f->stores
                    ? (core->issue.by_waitcnt && inflight->counted ? REQUEST_KEPT : REQUEST_STORE)
                    : REQUEST_LOAD,
        .full = t->full,
        .readonly = readonly,
        .local = lsu->list_local,
        .atomic_returns = f->atomic && f->code->dst[0].kind != OPERAND_NONE,
        .inst = f->inst,
    };
    u32 index = (u32)(request - lsu->requests);
    if (request->kind != REQUEST_STORE)
        inflight->outstanding++;
    if (request->kind != REQUEST_LOAD) {
        store_sent(core, request);
        if (UNLIKELY(lsu->content != NULL))
            core_content_store(core, inflight, request);
    }
    if (request->kind == REQUEST_ATOMIC)
        lsu->atomics[lsu->atomic_count++] = index;
    *banks |= bit(cached ? b : DIRECT_BANK);
    if (core_hooked(core, SEAM_SENT))
        lsu_tell_sent(core, inflight, index);
    if (!cached) {
        queue_push(core, index);
        return true;
    }
    pipe_push(core, b, index, latency);
    return true;
}

/* The first line that lanes still need, and all lanes that need it. */
static u64 constant_line(struct dyninst *f, u32 line_bytes, u64 *line)
{
    const u64 mask = ~(u64)(line_bytes - 1);
    if (f->strided && !(f->stride[0] | f->stride[1]) && f->first[0] == f->first[1]) {
        *line = f->first[0] & mask; /* the common case */
        return f->constant;
    }
    const u64 *address = dyninst_addresses(f);
    u64 same = 0;
    *line = address[first_bit(f->constant)] & mask;
    for (u64 set = f->constant; set; set &= set - 1)
        if ((address[first_bit(set)] & mask) == *line)
            same |= set & -set;
    return same;
}

/* Looks up lines of the constant cache, one per cycle. False: not all lanes are served yet. */
static bool send_constant(struct core *core, struct inflight *inflight)
{
    struct lsu *lsu = core->lsu.unit;
    struct dyninst *f = &inflight->dyn;
    const struct constant_params *p = core->config.constant;
    struct cache_out out;
    u64 line, same = constant_line(f, p->line_bytes, &line);
    u32 all = (u32)((1ull << p->line_bytes / SECTOR_BYTES) - 1);
    if (!p->perfect) {
        if (!port_room_for(core->config.constant_requests, requests_needed(core, p->line_bytes))) {
            core->stats.constant.stalls_queue++;
            return false;
        }
        const enum cache_result result =
            cache_read(lsu->constant, line, all, inflight_index(core, inflight), &out);
        if (cache_refuses(result))
            return false;
        if (UNLIKELY(lsu->content != NULL))
            core_content_constant(core, inflight, line, all, result, &out);
        inflight->outstanding += result != CACHE_HIT;
        if (result == CACHE_MISS) {
            const struct requester from =
                requester_of(core, inflight->slot, f->inst, REQUESTER_ACCESS);
            requests_read(core, CLIENT_CONSTANT, line, p->line_bytes, out.sectors, out.mshr, &from);
        }
    }
    f->constant &= ~same;
    return !f->constant;
}

/* The head has sent everything: the access waits for replies, or is done. */
PART_OF void leave_head(struct core *core, struct inflight *inflight)
{
    struct lsu *lsu = core->lsu.unit;
    const struct dyninst *f = &inflight->dyn;
    lsu->current = NO_INFLIGHT;
    core->lsu.held--;
    lsu->started = false;
    inflight->sent = true;
    if (core_hooked(core, SEAM_SENT))
        lsu_tell_sent(core, inflight, NO_TRANSACTION);
    /* data from shared memory, or from the constant cache, arrive after its latency */
    u32 cycles = 0;
    if ((f->kind == DYNINST_ACCESS && f->shared && f->loads) ||
        (UNLIKELY(core->issue.by_waitcnt) && inflight->counted &&
         inflight->time->kind == TURN_SHARED)) /* these stay in order */
        cycles = core->config.lsu->shared_latency + 1;
    else if (f->kind == DYNINST_ACCESS && lsu->constants)
        cycles = core->config.constant->latency - 1;
    if (cycles && inflight->outstanding == 1) {
        inflight->outstanding = 0;
        wheel_add(core, inflight, cycles);
        return;
    }
    part_done(core, inflight_index(core, inflight), false);
}

/* True: the access at the head has nothing left to send. */
PART_OF bool work(struct core *core, struct inflight *inflight)
{
    struct lsu *lsu = core->lsu.unit;
    u64 banks = 0;
    for (u32 n = 0; n < core->config.lsu->transactions_per_cycle && lsu->next < lsu->count; n++) {
        if (!send_transaction(core, inflight, &lsu->list[lsu->next], &banks))
            break;
        lsu->next++;
    }
    if (inflight->dyn.kind == DYNINST_ACCESS && inflight->dyn.constant)
        send_constant(core, inflight);
    return lsu->next == lsu->count && core_cycle(core) >= lsu->shared_until &&
           !(inflight->dyn.kind == DYNINST_ACCESS && inflight->dyn.constant);
}

void lsu_take_next(struct core *core)
{
    struct lsu *lsu = core->lsu.unit;
    const u32 later = core->collect.access_groups & ~0u << lsu->turn;
    const u32 g = core->groups == 1 ? 0 : first_bit(later ? later : core->collect.access_groups);
    struct latch *latch = &core->collect.group[g].collected[PIPE_MEMORY];
    lsu->current = (u16)latch_first(latch);
    latch_pop(latch);
    core->lsu.held++;
    if (!latch->count)
        core->collect.access_groups &= ~(1u << g);
    core->collect.stuck = 0;
    lsu->turn = g + 1;
}

/* Whether an atomic in flight holds back an access of lanes at these addresses (L2). */
static bool meets_atomic(const struct lsu *lsu, const struct dyninst *f, const u64 *address)
{
    for (u32 i = 0; i < lsu->atomic_count; i++) {
        const struct lsu_request *a = &lsu->requests[lsu->atomics[i]];
        const u64 at = a->line + (u64)SECTOR_BYTES * (u32)__builtin_ctz(a->sectors);
        for (u64 set = f->global; set; set &= set - 1)
            if (address[first_bit(set)] < at + SECTOR_BYTES &&
                address[first_bit(set)] + f->bytes > at)
                return true;
    }
    return false;
}

static COLD bool waits_for_atomic(const struct lsu *lsu, struct dyninst *f)
{
    if (f->kind != DYNINST_ACCESS || f->atomic || !f->global)
        return false;
    return meets_atomic(lsu, f, dyninst_addresses(f)) ||
           (f->pair && meets_atomic(lsu, f, dyninst_second(f)));
}

HOT void lsu_work_head(struct core *core)
{
    struct inflight *inflight = core_inflight(core, core->lsu.unit->current);
    if (!core->lsu.unit->started) {
        if (UNLIKELY(core->lsu.unit->atomic_count) &&
            waits_for_atomic(core->lsu.unit, &inflight->dyn)) {
            core->stats.lsu.stall_cycles++;
            return;
        }
        if (!start_current(core, inflight))
            return;
    }
    if (work(core, inflight))
        leave_head(core, inflight);
    else
        core->stats.lsu.stall_cycles++;
}

bool lsu_blocked(const struct core *core)
{
    return core->lsu.held == 1 && head_is_blocked(core->lsu.unit);
}

u64 lsu_due_again(const struct core *core)
{
    const struct lsu *lsu = core->lsu.unit;
    u64 due = UINT64_MAX;
    for (u64 set = lsu->pipes_used & ~lsu->pipes_stalled; set; set &= set - 1)
        due = MIN(due, ring_head(&lsu->pipes[first_bit(set)])->ready);
    return due;
}

void lsu_charge(struct core *core, u64 cycles)
{
    const struct lsu *lsu = core->lsu.unit;
    charge_refused(lsu, lsu->pipes_used & lsu->pipes_stalled, cycles);
    core->stats.lsu.stall_cycles += head_is_blocked(lsu) ? cycles : 0;
}

bool lsu_request_of(const struct core *core, u32 s, struct packet *packet)
{
    const struct lsu *lsu = core->lsu.unit;
    for (u32 i = 0; i < lsu->fresh; i++) {
        const struct lsu_request *request = &lsu->requests[i];
        if (!request->bytes || request->slot != s)
            continue;
        *packet = (struct packet){.address = request->line,
                                  .tag = i,
                                  .core = (u16)core->config.index,
                                  .client = CLIENT_DIRECT};
        return true;
    }
    return false;
}
