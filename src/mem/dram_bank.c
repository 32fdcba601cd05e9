/*
 * Commands of a DRAM channel: which bank may get which one when, and what follows from it.
 *
 * Each rule "n cycles from command A to command B" is one addition when A is issued and one
 * comparison before B; dram.h names the rules and where they come from.
 */
#include "mem/dram_channel.h"

/* a - b, but at least 1 as two commands never share a cycle. */
static u32 less(u32 a, u32 b)
{
    return a > b ? a - b : 1;
}

void dram_set_timing(struct dram_timing *timing, const struct dram_params *params)
{
    bool groups = params->bank_groups > 1;
    u32 transfer = (params->burst + params->data_rate - 1) / params->data_rate;
    *timing = (struct dram_timing){
        .transfer = transfer,
        .ccd = MAX(params->tCCD, transfer),
        .ccdl = groups ? params->tCCDL : 0,
        .rrd = params->tRRD,
        .ras = params->tRAS,
        .rp = params->tRP,
        .rc = params->tRC,
        .rtpl = groups ? params->tRTPL : 0,
        .data = {params->tCL, params->tWL},
        .activated = {params->tRCD, less(params->tRCD, params->tWL + 1)},
        /* 2: cycles in which the data bus changes its direction. */
        .turn = {less(params->tCL + transfer + 2, params->tWL),
                 params->tWL + transfer + params->tCDLR},
        .close = {transfer, params->tWL + transfer + params->tWR},
    };
}

static void tell(struct dram *dram, u64 now, enum dram_command command, u32 number)
{
    if (UNLIKELY(dram->hooks.command != NULL))
        dram->hooks.command(dram->hooks.user, now, command, number, dram->banks[number].row);
}

static struct dram_group *group_of(const struct dram *dram, u32 number)
{
    return &dram->groups[number & dram->group_mask];
}

/* Cycles from which banks and groups allow a command, without the channel's own rules. */

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

static void add_column(struct dram *dram, u32 number, u32 kind)
{
    u64 from = column_from(dram, number, kind);
    bank_add(dram->column[kind], number);
    lower(&dram->column_due[kind], from);
    lower(&dram->issue_due, MAX(from, dram->command[kind]));
}

static void add_closed(struct dram *dram, u32 number)
{
    u64 from = dram->banks[number].activate;
    bank_add(dram->closed, number);
    lower(&dram->activate_due, from);
    lower(&dram->issue_due, MAX(from, dram->activate));
}

static void add_conflict(struct dram *dram, u32 number)
{
    u64 from = precharge_from(dram, number);
    bank_add(dram->conflict, number);
    lower(&dram->precharge_due, from);
    lower(&dram->issue_due, from);
}

void dram_serve(struct dram *dram, u32 number, u32 index)
{
    struct dram_bank *bank = &dram->banks[number];
    const struct dram_request *request = &dram->requests[index];
    bank->request = index;
    bank_add(dram->serving, number);
    dram->serving_count++;
    if (!bank->open) {
        dram->stats->row_misses++;
        add_closed(dram, number);
    } else if (bank->row == request->row) {
        dram->stats->row_hits++;
        add_column(dram, number, request->write);
    } else {
        dram->stats->row_conflicts++;
        add_conflict(dram, number);
    }
}

/* The last burst is commanded: the bank is free, the request waits for its data. */
static void finish(struct dram *dram, u64 now, u32 number)
{
    struct dram_bank *bank = &dram->banks[number];
    u32 kind = dram->requests[bank->request].write;
    u64 last = now + dram->timing.data[kind] + dram->timing.transfer - 1;
    if (dram->arrived == dram->tail)
        dram->arrive_due = last;
    dram->ring[dram->tail++ & dram->ring_mask] = (struct dram_transfer){last, bank->request};
    dram->assign_due = true;
    bank->request = REQUEST_NONE;
    bank_remove(dram->column[kind], number);
    bank_remove(dram->serving, number);
    dram->serving_count--;
}

static void column(struct dram *dram, u64 now, u32 number)
{
    const struct dram_timing *timing = &dram->timing;
    struct dram_bank *bank = &dram->banks[number];
    struct dram_group *group = group_of(dram, number);
    struct dram_request *request = &dram->requests[bank->request];
    u32 kind = request->write;
    tell(dram, now, kind == KIND_WRITE ? DRAM_WRITE : DRAM_READ, number);
    dram->command[kind] = now + timing->ccd;
    dram->command[!kind] = now + MAX(timing->ccd, timing->turn[kind]);
    group->column = now + timing->ccdl;
    if (kind == KIND_READ)
        group->precharge = now + timing->rtpl;
    bank->precharge = MAX(bank->precharge, now + timing->close[kind]);
    dram->stats->bus_cycles += timing->transfer;
    if (--request->bursts == 0)
        finish(dram, now, number);
}

static void activate(struct dram *dram, u64 now, u32 number)
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
    bank_remove(dram->closed, number);
    add_column(dram, number, request->write);
    dram->stats->activates++;
    tell(dram, now, DRAM_ACTIVATE, number);
}

static void precharge(struct dram *dram, u64 now, u32 number)
{
    struct dram_bank *bank = &dram->banks[number];
    tell(dram, now, DRAM_PRECHARGE, number);
    bank->open = false;
    bank->activate = MAX(bank->activate, now + dram->timing.rp);
    bank_remove(dram->conflict, number);
    add_closed(dram, number);
    dram->stats->precharges++;
}

/* From when a set can get commands; a set without banks never. */

SPECIAL u64 column_due(const struct dram *dram, u32 kind, u32 words)
{
    if (!bank_any(dram->column[kind], words) || dram->tail - dram->head >= dram->return_queue)
        return DRAM_NEVER; /* dram_pop wakes */
    return MAX(dram->column_due[kind], dram->command[kind]);
}

SPECIAL u64 activate_due(const struct dram *dram, u32 words)
{
    return bank_any(dram->closed, words) ? MAX(dram->activate_due, dram->activate) : DRAM_NEVER;
}

SPECIAL u64 precharge_due(const struct dram *dram, u32 words)
{
    return bank_any(dram->conflict, words) ? dram->precharge_due : DRAM_NEVER;
}

SPECIAL bool issue_column(struct dram *dram, u64 now, u32 words)
{
    bool due[KINDS];
    u64 able[BANK_WORDS], first = DRAM_NEVER;
    for (u32 kind = 0; kind < KINDS; kind++)
        due[kind] = column_due(dram, kind, words) <= now;
    if (!due[KIND_READ] && !due[KIND_WRITE])
        return false;
    for (u32 i = 0; i < words; i++)
        able[i] = (due[KIND_READ] ? dram->column[KIND_READ][i] : 0) |
                  (due[KIND_WRITE] ? dram->column[KIND_WRITE][i] : 0);
    for (u32 step = 0; step <= words; step++) {
        u32 base;
        for (u64 part = bank_part(dram, able, words, step, &base); part; part &= part - 1) {
            u32 number = base + (u32)__builtin_ctzll(part);
            u32 kind = dram->requests[dram->banks[number].request].write;
            u64 from = column_from(dram, number, kind);
            if (from <= now) {
                column(dram, now, number);
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
    bool may_open = activate_due(dram, words) <= now, may_close = precharge_due(dram, words) <= now;
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
                precharge(dram, now, number);
            else
                activate(dram, now, number);
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

SPECIAL void issue(struct dram *dram, u64 now, u32 words)
{
    if (!issue_column(dram, now, words))
        issue_row(dram, now, words);
    u64 columns = MIN(column_due(dram, KIND_READ, words), column_due(dram, KIND_WRITE, words));
    u64 rows = MIN(activate_due(dram, words), precharge_due(dram, words));
    dram->issue_due = MAX(MIN(columns, rows), now + 1);
}

void dram_issue(struct dram *dram, u64 now)
{
    if (LIKELY(dram->words == 1))
        issue(dram, now, 1);
    else
        issue(dram, now, dram->words);
}
