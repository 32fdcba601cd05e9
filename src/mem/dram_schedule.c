/* Which request a bank works on next: row hits first or in order, writes shared or in drains. */
#include "mem/dram_channel.h"

void dram_enqueue(struct dram *dram, u32 index)
{
    struct dram_request *request = &dram->requests[index];
    u32 kind = dram->apart && request->write ? KIND_WRITE : KIND_READ;
    u32 place = dram->fcfs ? 0 : request->bank;
    struct dram_list *list = &dram->lists[kind][place];
    request->next = REQUEST_NONE;
    if (list->oldest == REQUEST_NONE)
        list->oldest = index;
    else
        dram->requests[list->youngest].next = index;
    list->youngest = index;
    bank_add(dram->waiting[kind], place);
    dram->queued[kind]++;
    dram->assign_due = true;
    if (kind == KIND_WRITE && dram->queued[kind] >= dram->write_high)
        dram->draining = true;
}

/* The oldest request for this row, or the oldest; it leaves the list. */
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
    if (before == REQUEST_NONE)
        list->oldest = requests[index].next;
    else
        requests[before].next = requests[index].next;
    if (list->youngest == index)
        list->youngest = before;
    return index;
}

/* The queue that is served now. */
static u32 kind_served(const struct dram *dram)
{
    if (!dram->apart)
        return KIND_READ;
    return dram->draining || !dram->queued[KIND_READ] ? KIND_WRITE : KIND_READ;
}

static void give(struct dram *dram, u32 kind, u32 place)
{
    struct dram_list *list = &dram->lists[kind][place];
    const struct dram_bank *bank = &dram->banks[place];
    u32 index = take(dram, list, !dram->fcfs && bank->open, bank->row);
    if (list->oldest == REQUEST_NONE)
        bank_remove(dram->waiting[kind], place);
    dram->queued[kind]--;
    if (kind == KIND_WRITE && dram->queued[kind] <= dram->write_low)
        dram->draining = false;
    dram->turn = (dram->turn + 1) & dram->bank_mask;
    dram_serve(dram, dram->requests[index].bank, index);
}

SPECIAL void assign(struct dram *dram, u32 kind, u32 words)
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
        give(dram, kind, bank);
        bank_remove(able, bank);
        /* Another bank can follow in the next cycle; with two queues the other may be served. */
        dram->assign_due = dram->apart || bank_any(able, words);
        return;
    }
}

void dram_assign(struct dram *dram)
{
    u32 kind = kind_served(dram);
    dram->assign_due = false; /* until a request enters or a bank is free */
    if (UNLIKELY(dram->fcfs)) {
        if (dram->queued[kind] && !dram->serving_count)
            give(dram, kind, 0);
    } else if (LIKELY(dram->words == 1)) {
        assign(dram, kind, 1);
    } else {
        assign(dram, kind, dram->words);
    }
}
