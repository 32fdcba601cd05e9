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
static u32 choose_kind(struct dram *dram)
{
    if (!dram->apart)
        return KIND_READ;
    if (dram->draining)
        dram->draining = dram->queued[KIND_WRITE] > dram->write_low;
    else
        dram->draining = dram->queued[KIND_WRITE] >= dram->write_high;
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
    dram->turn = (dram->turn + 1) & dram->bank_mask;
    dram_serve(dram, dram->requests[index].bank, index);
}

bool dram_assign(struct dram *dram)
{
    u32 kind = choose_kind(dram);
    if (!dram->queued[kind])
        return false;
    if (dram->fcfs) {
        if (!dram->serving_count)
            give(dram, kind, 0);
        return false; /* the next can follow only after a command */
    }
    u64 able[BANK_WORDS], any = 0;
    for (u32 i = 0; i < dram->words; i++) {
        able[i] = dram->waiting[kind][i] & ~dram->serving[i];
        any |= able[i];
    }
    if (!any)
        return false;
    for (u32 step = 0; step <= dram->words; step++) {
        u32 base;
        u64 part = bank_part(dram, able, step, &base);
        if (!part)
            continue;
        give(dram, kind, base + (u32)__builtin_ctzll(part));
        return true;
    }
    assert(!"a set that is not empty has a first bank");
    return false;
}
