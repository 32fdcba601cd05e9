/*
 * A cycle of a DRAM channel: requests arrive, banks get their next request, one command is issued,
 * and data pass. See dram.h.
 *
 * Each rule "n cycles from command A to command B" is one addition when A is issued and one
 * comparison before B; dram.h names the rules and where they come from.
 */
#include "base/hot.h"
#include "mem/address.h"
#include "mem/dram_channel.h"

/* a - b, but at least 1, since two commands never share a cycle. */
static u32 less(u32 a, u32 b)
{
    return a > b ? a - b : 1;
}

void dram_set_timing(struct dram_timing *timing, const struct dram_params *params)
{
    bool groups = params->bank_groups > 1;
    u32 transfer = (params->burst + params->data_rate - 1) / params->data_rate;
    u32 ccd = MAX(params->tCCD, transfer);
    *timing = (struct dram_timing){
        .transfer = transfer,
        .ccd = ccd,
        .ccdl = groups ? params->tCCDL : 0,
        .rrd = params->tRRD,
        .ras = params->tRAS,
        .rp = params->tRP,
        .rc = params->tRC,
        .rtpl = groups ? params->tRTPL : 0,
        .data = {params->tCL, params->tWL},
        .activated = {params->tRCD, less(params->tRCD, params->tWL + 1)},
        /* 2: cycles in which the data bus changes direction. */
        .turn = {MAX(ccd, less(params->tCL + transfer + 2, params->tWL)),
                 MAX(ccd, params->tWL + transfer + params->tCDLR)},
        .close = {transfer, params->tWL + transfer + params->tWR},
    };
}

/* ---- Hooks ---- */

static struct dram_event event_of(const struct dram *dram, u64 cycle, u32 index)
{
    const struct dram_request *request = &dram->requests[index];
    const struct dram_seen *seen = &dram->seen[index];
    return (struct dram_event){
        .now = dram->time ? *dram->time : 0,
        .cycle = cycle,
        .arrived = request->entered,
        .address = dram->map ? address_from_channel(dram->map, dram->channel, seen->address)
                             : seen->address,
        .from = seen->from,
        .bytes = request->bytes,
        .bank = request->bank,
        .row = request->row,
        .channel = dram->channel,
        .tag = request->tag,
        .write = request->write,
    };
}

void dram_tell_arrived(struct dram *dram, u32 index, u64 address, const struct requester *from)
{
    dram->seen[index] = (struct dram_seen){.address = address, .from = *from};
    const struct dram_event event = event_of(dram, dram->now, index);
    for (u32 i = 0; i < dram->hook_count; i++)
        if (dram->hooks[i].arrived)
            dram->hooks[i].arrived(dram->hooks[i].user, &event);
}

/* A command for the request in service at a bank. */
static COLD void tell_command(struct dram *dram, u64 now, enum dram_command command, u32 number)
{
    const u32 index = dram->banks[number].request;
    if (UNLIKELY(dram->actual != NULL) && dram->actual[number].wrong) {
        if (command == DRAM_READ || command == DRAM_WRITE)
            dram->astray(dram->astray_user, index, &dram->actual[number]);
        else /* the controller is right again */
            dram->actual[number].wrong = false;
    }
    const bool first = !dram->seen[index].started;
    const struct dram_event event = event_of(dram, now, index);
    for (u32 i = 0; i < dram->hook_count; i++) {
        const struct dram_hooks *hooks = &dram->hooks[i];
        if (hooks->command)
            hooks->command(hooks->user, now, command, number, dram->banks[number].row);
        if (hooks->started && first)
            hooks->started(hooks->user, &event, &dram->seen[index].payload);
    }
    dram->seen[index].started = true;
}

static COLD void tell_served(struct dram *dram, u64 now, u32 index)
{
    const struct dram_event event = event_of(dram, now, index);
    for (u32 i = 0; i < dram->hook_count; i++)
        if (dram->hooks[i].served)
            dram->hooks[i].served(dram->hooks[i].user, &event, &dram->seen[index].payload);
}

static void tell(struct dram *dram, u64 now, enum dram_command command, u32 number)
{
    if (UNLIKELY(dram->hooked))
        tell_command(dram, now, command, number);
}

/* ---- Arriving requests ---- */

/* dram.h describes the bits. */
static u32 bank_of(const struct dram *dram, u64 address)
{
    if (!dram->bank_bits)
        return 0;
    u64 low = (address >> dram->stripe_bits) & 1;
    u64 high = address >> (dram->row_bits + 1);
    return (u32)((high << 1 | low) & dram->bank_mask);
}

/* Puts a request into the list it waits in. */
PART_OF void enqueue(struct dram *dram, u32 index)
{
    struct dram_request *request = &dram->requests[index];
    u32 kind = dram->apart && request->write ? KIND_WRITE : KIND_READ;
    u32 place = dram->one ? 0 : request->bank;
    struct dram_list *list = &dram->lists[kind][place];
    if (list->oldest == REQUEST_NONE)
        list->oldest = index;
    else
        dram->requests[list->youngest].next = index;
    list->youngest = index;
    bank_add(dram->waiting[kind], place, dram->words);
    dram->queued[kind]++;
    if (kind == KIND_WRITE && dram->queued[kind] >= dram->write_high)
        dram->draining = true;
    /* a busy bank takes it when it is free */
    if (dram->apart || dram->one || !bank_in(dram->serving, place, dram->words)) {
        dram->assign_due = true;
        dram->wake = dram->now;
    }
}

HOT u32 dram_push(struct dram *dram, u64 address, u32 bytes, bool write, u32 tag)
{
    assert(dram_room(dram, write));
    u32 index = dram->free[--dram->free_count];
    dram->requests[index] = (struct dram_request){
        .entered = dram->now,
        .row = (u32)(address >> (dram->row_bits + dram->bank_bits)),
        .tag = tag,
        .next = REQUEST_NONE,
        .bytes = bytes,
        .bursts = MAX(1, (bytes + dram->burst_bytes - 1) / dram->burst_bytes),
        .bank = (u8)bank_of(dram, address),
        .write = write,
        .live = true,
    };
    enqueue(dram, index);
    dram->inside++;
    return index;
}

/* ---- Which commands wait ---- */

static struct dram_group *group_of(const struct dram *dram, u32 number)
{
    return &dram->groups[number & dram->group_mask];
}

/* First cycles in which banks and groups allow a command, without the channel's own rules. */

static u64 column_from(const struct dram *dram, u32 number, u32 kind)
{
    return MAX(dram->banks[number].column[kind], group_of(dram, number)->column);
}

static u64 precharge_from(const struct dram *dram, u32 number)
{
    return MAX(dram->banks[number].precharge, group_of(dram, number)->precharge);
}

static void lower(u64 *due, u64 cycle)
{
    *due = MIN(*due, cycle);
}

SPECIAL void add_column(struct dram *dram, u32 number, u32 kind, u32 words)
{
    u64 from = column_from(dram, number, kind);
    bank_add(dram->column[kind], number, words);
    lower(&dram->column_due[kind], from);
    lower(&dram->issue_due, MAX(from, dram->command[kind]));
}

SPECIAL void add_closed(struct dram *dram, u32 number, u32 words)
{
    u64 from = dram->banks[number].activate;
    bank_add(dram->closed, number, words);
    lower(&dram->activate_due, from);
    lower(&dram->issue_due, MAX(from, dram->activate));
}

SPECIAL void add_conflict(struct dram *dram, u32 number, u32 words)
{
    u64 from = precharge_from(dram, number);
    bank_add(dram->conflict, number, words);
    lower(&dram->precharge_due, from);
    lower(&dram->issue_due, from);
}

/* Removes a bank from a set of waiting banks (C4). */
SPECIAL void leave_set(u64 *set, u64 *due, u32 number, u32 words)
{
    bank_remove(set, number, words);
    if (!bank_any(set, words))
        *due = DRAM_NEVER;
}

/* ---- Choice of the next request: by policy, with shared or separate queues ---- */

/* A bank starts to serve a request, which can then get commands. */
SPECIAL void serve(struct dram *dram, u32 number, u32 index, u32 words)
{
    struct dram_bank *bank = &dram->banks[number];
    const struct dram_request *request = &dram->requests[index];
    bank->request = index;
    bank_add(dram->serving, number, words);
    dram->serving_count++;
    if (!bank->open) {
        dram->stats->row_misses++;
        add_closed(dram, number, words);
    } else if (bank->row == request->row) {
        dram->stats->row_hits++;
        add_column(dram, number, request->write, words);
    } else {
        dram->stats->row_conflicts++;
        add_conflict(dram, number, words);
    }
}

/* Removes a request from its list; `before`: its predecessor, REQUEST_NONE: it is the oldest. */
static void unlink_request(struct dram *dram, struct dram_list *list, u32 before, u32 index)
{
    if (before == REQUEST_NONE)
        list->oldest = dram->requests[index].next;
    else
        dram->requests[before].next = dram->requests[index].next;
    if (list->youngest == index)
        list->youngest = before;
}

/* Removes the oldest request for this row, or the oldest, from the list. */
static u32 take(struct dram *dram, struct dram_list *list, bool prefer, u32 row)
{
    struct dram_request *requests = dram->requests;
    u32 before = REQUEST_NONE, index = list->oldest;
    if (prefer) {
        while (index != REQUEST_NONE && requests[index].row != row) {
            before = index;
            index = requests[index].next;
        }
        if (index == REQUEST_NONE) {
            before = REQUEST_NONE;
            index = list->oldest;
        }
    }
    unlink_request(dram, list, before, index);
    return index;
}

/* Removes the oldest request with an open row, or the oldest, from the list of all banks. */
static u32 take_hit(struct dram *dram, struct dram_list *list)
{
    u32 before = REQUEST_NONE, index = list->oldest;
    for (; index != REQUEST_NONE; before = index, index = dram->requests[index].next) {
        const struct dram_bank *bank = &dram->banks[dram->requests[index].bank];
        if (bank->open && bank->row == dram->requests[index].row)
            break;
    }
    if (index == REQUEST_NONE) {
        before = REQUEST_NONE;
        index = list->oldest;
    }
    unlink_request(dram, list, before, index);
    return index;
}

/* The queue that is served now. */
static u32 kind_served(const struct dram *dram)
{
    if (!dram->apart)
        return KIND_READ;
    return dram->draining || !dram->queued[KIND_READ] ? KIND_WRITE : KIND_READ;
}

SPECIAL void give(struct dram *dram, u32 kind, u32 place, u32 words)
{
    struct dram_list *list = &dram->lists[kind][place];
    const struct dram_bank *bank = &dram->banks[place];
    u32 index = UNLIKELY(dram->serial) ? take_hit(dram, list)
                                       : take(dram, list, !dram->one && bank->open, bank->row);
    if (list->oldest == REQUEST_NONE)
        bank_remove(dram->waiting[kind], place, words);
    dram->queued[kind]--;
    if (kind == KIND_WRITE && dram->queued[kind] <= dram->write_low)
        dram->draining = false;
    dram->turn = (dram->turn + 1) & dram->bank_mask;
    serve(dram, dram->requests[index].bank, index, words);
}

SPECIAL void give_next(struct dram *dram, u32 kind, u32 words)
{
    u64 able[BANK_WORDS];
    for (u32 i = 0; i < words; i++)
        able[i] = dram->waiting[kind][i] & ~dram->serving[i];
    for (u32 step = 0; step <= words; step++) {
        u32 base;
        u64 part = bank_part(dram, able, words, step, &base);
        if (!part)
            continue;
        u32 bank = base + (u32)__builtin_ctzll(part);
        give(dram, kind, bank, words);
        bank_remove(able, bank, words);
        /* Another bank can follow in the next cycle; with two queues, the other one may be
         * served. */
        dram->assign_due = dram->apart || bank_any(able, words);
        return;
    }
}

/* Gives one free bank its next request, if there is one; sets assign_due. */
SPECIAL void assign(struct dram *dram, u32 words)
{
    u32 kind = kind_served(dram);
    dram->assign_due = false; /* until a request arrives or a bank is free */
    if (LIKELY(!dram->one))
        give_next(dram, kind, words);
    else if (dram->queued[kind] && !dram->serving_count &&
             !(dram->serial && dram->arrived != dram->tail))
        give(dram, kind, 0, words);
}

/* ---- Commands ---- */

/* The last burst is commanded: the bank is free, and the request waits for its data. */
SPECIAL void finish(struct dram *dram, u64 now, u32 number, u32 kind, u32 words)
{
    struct dram_bank *bank = &dram->banks[number];
    u32 index = bank->request;
    u64 last = now + dram->timing.data[kind] + dram->timing.transfer - 1;
    if (dram->arrived == dram->tail)
        dram->arrive_due = last;
    dram->ring[dram->tail++ & dram->ring_mask] =
        (struct dram_transfer){last, index, dram->requests[index].tag};
    bank->request = REQUEST_NONE;
    leave_set(dram->column[kind], &dram->column_due[kind], number, words);
    bank_remove(dram->serving, number, words);
    /* for other free banks with waiting requests, assign_due was set before */
    if (dram->apart || dram->one || bank_in(dram->waiting[KIND_READ], number, words))
        dram->assign_due = true;
    dram->serving_count--;
}

SPECIAL void column(struct dram *dram, u64 now, u32 number, u32 kind, u32 words)
{
    const struct dram_timing *timing = &dram->timing;
    struct dram_bank *bank = &dram->banks[number];
    struct dram_group *group = group_of(dram, number);
    struct dram_request *request = &dram->requests[bank->request];
    tell(dram, now, kind == KIND_WRITE ? DRAM_WRITE : DRAM_READ, number);
    dram->command[kind] = now + timing->ccd;
    dram->command[!kind] = now + timing->turn[kind];
    group->column = now + timing->ccdl;
    if (kind == KIND_READ)
        group->precharge = now + timing->rtpl;
    bank->precharge = MAX(bank->precharge, now + timing->close[kind]);
    dram->stats->bus_cycles += timing->transfer;
    if (--request->bursts == 0)
        finish(dram, now, number, kind, words);
}

SPECIAL void activate(struct dram *dram, u64 now, u32 number, u32 words)
{
    const struct dram_timing *timing = &dram->timing;
    struct dram_bank *bank = &dram->banks[number];
    const struct dram_request *request = &dram->requests[bank->request];
    bank->open = true;
    bank->row = request->row;
    bank->activate = now + timing->rc;
    bank->precharge = now + timing->ras;
    bank->column[KIND_READ] = now + timing->activated[KIND_READ];
    bank->column[KIND_WRITE] = now + timing->activated[KIND_WRITE];
    dram->activate = now + timing->rrd;
    leave_set(dram->closed, &dram->activate_due, number, words);
    add_column(dram, number, request->write, words);
    dram->stats->activates++;
    tell(dram, now, DRAM_ACTIVATE, number);
}

SPECIAL void precharge(struct dram *dram, u64 now, u32 number, u32 words)
{
    struct dram_bank *bank = &dram->banks[number];
    tell(dram, now, DRAM_PRECHARGE, number);
    bank->open = false;
    bank->activate = MAX(bank->activate, now + dram->timing.rp);
    leave_set(dram->conflict, &dram->precharge_due, number, words);
    add_closed(dram, number, words);
    dram->stats->precharges++;
}

/* First cycles in which a set can get commands (C4). */

static u64 column_due(const struct dram *dram, u32 kind)
{
    return MAX(dram->column_due[kind], dram->command[kind]);
}

static u64 activate_due(const struct dram *dram)
{
    return MAX(dram->activate_due, dram->activate);
}

/* No request can get its last command: dram_pop wakes the channel. */
static bool return_full(const struct dram *dram)
{
    return dram->tail - dram->head >= dram->return_queue;
}

SPECIAL bool issue_column(struct dram *dram, u64 now, u32 words)
{
    bool due[KINDS];
    u64 able[BANK_WORDS], first = DRAM_NEVER;
    for (u32 kind = 0; kind < KINDS; kind++)
        due[kind] = column_due(dram, kind) <= now;
    if ((!due[KIND_READ] && !due[KIND_WRITE]) || return_full(dram))
        return false;
    for (u32 i = 0; i < words; i++)
        able[i] = (due[KIND_READ] ? dram->column[KIND_READ][i] : 0) |
                  (due[KIND_WRITE] ? dram->column[KIND_WRITE][i] : 0);
    for (u32 step = 0; step <= words; step++) {
        u32 base;
        for (u64 part = bank_part(dram, able, words, step, &base); part; part &= part - 1) {
            u32 number = base + (u32)__builtin_ctzll(part);
            u32 kind = bank_in(dram->column[KIND_WRITE], number, words);
            u64 from = column_from(dram, number, kind);
            if (from <= now) {
                column(dram, now, number, kind, words);
                return true;
            }
            lower(&first, from);
        }
    }
    for (u32 kind = 0; kind < KINDS; kind++) {
        if (due[kind])
            dram->column_due[kind] = first;
    }
    return false;
}

SPECIAL bool issue_row(struct dram *dram, u64 now, u32 words)
{
    bool may_open = activate_due(dram) <= now, may_close = dram->precharge_due <= now;
    u64 able[BANK_WORDS], first = DRAM_NEVER;
    if (!may_open && !may_close)
        return false;
    for (u32 i = 0; i < words; i++)
        able[i] = (may_open ? dram->closed[i] : 0) | (may_close ? dram->conflict[i] : 0);
    for (u32 step = 0; step <= words; step++) {
        u32 base;
        for (u64 part = bank_part(dram, able, words, step, &base); part; part &= part - 1) {
            u32 number = base + (u32)__builtin_ctzll(part);
            const struct dram_bank *bank = &dram->banks[number];
            u64 from = bank->open ? precharge_from(dram, number) : bank->activate;
            if (from > now) {
                lower(&first, from);
                continue;
            }
            if (bank->open)
                precharge(dram, now, number, words);
            else
                activate(dram, now, number, words);
            dram->turn = (number + 1) & dram->bank_mask;
            return true;
        }
    }
    if (may_open)
        dram->activate_due = first;
    if (may_close)
        dram->precharge_due = first;
    return false;
}

/* Issues at most one command; sets issue_due. */
SPECIAL void issue(struct dram *dram, u64 now, u32 words)
{
    if (!issue_column(dram, now, words))
        issue_row(dram, now, words);
    u64 next = MIN(activate_due(dram), dram->precharge_due);
    if (!return_full(dram))
        next = MIN(next, MIN(column_due(dram, KIND_READ), column_due(dram, KIND_WRITE)));
    dram->issue_due = MAX(next, now + 1);
}

/* ---- Bit flips ---- */

void dram_move(struct dram *dram, u32 index, u32 number)
{
    struct dram_request *request = &dram->requests[index];
    const u32 kind = dram->apart && request->write ? KIND_WRITE : KIND_READ;
    const u32 place = dram->one ? 0 : request->bank;
    struct dram_list *list = &dram->lists[kind][place];
    u32 before = REQUEST_NONE;
    for (u32 i = list->oldest; i != index; i = dram->requests[i].next)
        before = i;
    unlink_request(dram, list, before, index);
    if (list->oldest == REQUEST_NONE)
        bank_remove(dram->waiting[kind], place, dram->words);
    dram->queued[kind]--;
    request->next = REQUEST_NONE;
    request->bank = (u8)number;
    enqueue(dram, index);
}

void dram_reclassify(struct dram *dram, u32 number)
{
    const u32 words = dram->words;
    const struct dram_bank *bank = &dram->banks[number];
    if (bank->request == REQUEST_NONE)
        return;
    for (u32 kind = 0; kind < KINDS; kind++)
        leave_set(dram->column[kind], &dram->column_due[kind], number, words);
    leave_set(dram->closed, &dram->activate_due, number, words);
    leave_set(dram->conflict, &dram->precharge_due, number, words);
    if (!bank->open)
        add_closed(dram, number, words);
    else if (bank->row == dram->requests[bank->request].row)
        add_column(dram, number, dram->requests[bank->request].write, words);
    else
        add_conflict(dram, number, words);
}

/* ---- A cycle ---- */

/* A request's last data pass in this cycle. */
PART_OF void arrive(struct dram *dram, u64 now, const struct dram_request *request)
{
    struct dram_stats *stats = dram->stats;
    dram->inside--;
    if (request->write) {
        stats->writes++;
        stats->write_bytes += request->bytes;
    } else {
        stats->reads++;
        stats->read_bytes += request->bytes;
    }
    stats->queue_cycles += now + 1 - request->entered;
    if (dram->serial)
        dram->assign_due = true;
    if (UNLIKELY(dram->hooked))
        tell_served(dram, now, (u32)(request - dram->requests));
}

SPECIAL void work(struct dram *dram, u64 now, u32 words)
{
    if (dram->assign_due)
        assign(dram, words);
    if (now >= dram->issue_due)
        issue(dram, now, words);
    while (now >= dram->arrive_due) {
        u32 index = dram->ring[dram->arrived++ & dram->ring_mask].request;
        dram->arrive_due = dram->arrived == dram->tail
                               ? DRAM_NEVER
                               : dram->ring[dram->arrived & dram->ring_mask].last;
        arrive(dram, now, &dram->requests[index]);
    }
    u64 wake = dram->assign_due ? now + 1 : dram->issue_due;
    dram->wake = MIN(wake, dram->arrive_due);
}

HOT void dram_work(struct dram *dram, u64 now)
{
    if (LIKELY(dram->words == 1))
        work(dram, now, 1);
    else
        work(dram, now, dram->words);
}
