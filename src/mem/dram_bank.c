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

void dram_serve(struct dram *dram, u32 number, u32 index)
{
    struct dram_bank *bank = &dram->banks[number];
    const struct dram_request *request = &dram->requests[index];
    bank->request = index;
    bank_add(dram->serving, number);
    dram->serving_count++;
    if (bank->open && bank->row == request->row) {
        dram->stats->row_hits++;
        bank_add(dram->column[request->write], number);
        return;
    }
    if (bank->open)
        dram->stats->row_conflicts++;
    else
        dram->stats->row_misses++;
    bank_add(dram->row, number);
}

/* The last burst is commanded: the bank is free, the request waits for its data. */
static void finish(struct dram *dram, u64 now, u32 number)
{
    struct dram_bank *bank = &dram->banks[number];
    u32 kind = dram->requests[bank->request].write;
    dram->ring[dram->tail++ & dram->ring_mask] = (struct dram_transfer){
        .last = now + dram->timing.data[kind] + dram->timing.transfer - 1,
        .request = bank->request,
    };
    bank->request = REQUEST_NONE;
    bank_remove(dram->column[kind], number);
    bank_remove(dram->serving, number);
    dram->serving_count--;
}

static void column(struct dram *dram, u64 now, u32 number)
{
    const struct dram_timing *timing = &dram->timing;
    struct dram_bank *bank = &dram->banks[number];
    struct dram_group *group = &dram->groups[number & dram->group_mask];
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

static bool issue_column(struct dram *dram, u64 now, u64 *wake)
{
    u64 able[BANK_WORDS], any = 0;
    if (dram->tail - dram->head >= dram->return_queue)
        return false; /* dram_pop wakes */
    for (u32 i = 0; i < dram->words; i++)
        able[i] = 0;
    for (u32 kind = 0; kind < KINDS; kind++) {
        bool late = dram->command[kind] > now;
        u64 held = 0;
        for (u32 i = 0; i < dram->words; i++) {
            u64 set = dram->column[kind][i];
            held |= set;
            able[i] |= late ? 0 : set;
        }
        if (held && late)
            *wake = MIN(*wake, dram->command[kind]);
        else
            any |= held;
    }
    for (u32 step = 0; any && step <= dram->words; step++) {
        u32 base;
        for (u64 part = bank_part(dram, able, step, &base); part; part &= part - 1) {
            u32 number = base + (u32)__builtin_ctzll(part);
            const struct dram_bank *bank = &dram->banks[number];
            u64 own = bank->column[dram->requests[bank->request].write];
            u64 from = MAX(own, dram->groups[number & dram->group_mask].column);
            if (from <= now) {
                column(dram, now, number);
                return true;
            }
            *wake = MIN(*wake, from);
        }
    }
    return false;
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
    bank_remove(dram->row, number);
    bank_add(dram->column[request->write], number);
    dram->stats->activates++;
    tell(dram, now, DRAM_ACTIVATE, number);
}

static void precharge(struct dram *dram, u64 now, u32 number)
{
    struct dram_bank *bank = &dram->banks[number];
    tell(dram, now, DRAM_PRECHARGE, number);
    bank->open = false;
    bank->activate = MAX(bank->activate, now + dram->timing.rp);
    dram->stats->precharges++;
}

static bool issue_row(struct dram *dram, u64 now, u64 *wake)
{
    for (u32 step = 0; step <= dram->words; step++) {
        u32 base;
        for (u64 part = bank_part(dram, dram->row, step, &base); part; part &= part - 1) {
            u32 number = base + (u32)__builtin_ctzll(part);
            const struct dram_bank *bank = &dram->banks[number];
            u64 from = bank->open
                           ? MAX(bank->precharge, dram->groups[number & dram->group_mask].precharge)
                           : MAX(bank->activate, dram->activate);
            if (from > now) {
                *wake = MIN(*wake, from);
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
    return false;
}

bool dram_issue(struct dram *dram, u64 now, u64 *wake)
{
    return issue_column(dram, now, wake) || issue_row(dram, now, wake);
}
