/* A DRAM channel: creation and explanations. See dram.h. */
#include "base/arena.h"
#include "mem/dram_channel.h"
#include <stdio.h>
#include <stdlib.h>

static bool allocate(struct dram *dram, const struct dram_params *params)
{
    /* Waiting, in banks, and with all commands issued. */
    dram->capacity = 2 * params->queue + params->banks + params->return_queue;
    u32 ring = 1;
    while (ring < params->return_queue)
        ring *= 2;
    dram->ring_mask = ring - 1;
    dram->ring = calloc(ring, sizeof(*dram->ring));
    dram->banks = calloc(params->banks, sizeof(*dram->banks));
    dram->groups = calloc(params->bank_groups, sizeof(*dram->groups));
    dram->requests = calloc(dram->capacity, sizeof(*dram->requests));
    dram->free = calloc(dram->capacity, sizeof(*dram->free));
    dram->seen = calloc(dram->capacity, sizeof(*dram->seen));
    for (u32 kind = 0; kind < KINDS; kind++)
        dram->lists[kind] = calloc(params->banks, sizeof(*dram->lists[kind]));
    return dram->ring && dram->banks && dram->groups && dram->requests && dram->free &&
           dram->seen && dram->lists[KIND_READ] && dram->lists[KIND_WRITE];
}

static void empty(struct dram *dram, u32 banks)
{
    for (u32 i = 0; i < banks; i++) {
        dram->banks[i].request = REQUEST_NONE;
        for (u32 kind = 0; kind < KINDS; kind++)
            dram->lists[kind][i] = (struct dram_list){REQUEST_NONE, REQUEST_NONE};
    }
    for (u32 i = dram->capacity; i-- > 0;)
        dram->free[dram->free_count++] = i;
}

static u32 bits_of(u32 power)
{
    return (u32)__builtin_ctz(power);
}

struct dram *dram_create(const struct dram_params *params, struct dram_stats *stats)
{
    struct dram *dram = calloc(1, sizeof(*dram));
    if (!dram || !allocate(dram, params)) {
        dram_destroy(dram);
        return NULL;
    }
    dram->stats = stats;
    dram->wake = dram->issue_due = dram->arrive_due = DRAM_NEVER;
    dram->column_due[KIND_READ] = dram->column_due[KIND_WRITE] = DRAM_NEVER;
    dram->activate_due = dram->precharge_due = DRAM_NEVER;
    dram->words = (params->banks + 63) / 64;
    dram->one = params->policy != 0;
    dram->serial = params->policy == 2;
    dram->apart = params->write_high > 0;
    dram->write_high = params->write_high;
    dram->write_low = params->write_low;
    dram->queue = params->queue;
    dram->return_queue = params->return_queue;
    dram->bank_mask = params->banks - 1;
    dram->group_mask = params->bank_groups - 1;
    dram->bank_bits = bits_of(params->banks);
    dram->row_bits = bits_of(params->row_bytes);
    dram->stripe_bits = bits_of(MIN(params->stripe_bytes, params->row_bytes));
    dram->burst_bytes = params->bus_bytes * params->burst;
    dram_set_timing(&dram->timing, params);
    empty(dram, params->banks);
    return dram;
}

void dram_destroy(struct dram *dram)
{
    if (!dram)
        return;
    free(dram->ring);
    free(dram->banks);
    free(dram->groups);
    free(dram->requests);
    free(dram->free);
    free(dram->seen);
    free(dram->hooks);
    free(dram->lists[KIND_READ]);
    free(dram->lists[KIND_WRITE]);
    free(dram);
}

void dram_add_hooks(struct dram *dram, const struct dram_hooks *hooks)
{
    const u32 count = dram->hook_count + 1;
    dram->hooks = checked(realloc(dram->hooks, count * sizeof *dram->hooks));
    dram->hooks[dram->hook_count] = *hooks;
    dram->hook_count = count;
    dram->hooked = true;
}

void dram_set_place(struct dram *dram, u32 channel, const struct address_map *map, const fs *time)
{
    dram->channel = channel;
    dram->map = map;
    dram->time = time;
}

bool dram_busy(const struct dram *dram)
{
    return dram->inside > 0;
}

/* What the request waits for. */
static const char *reason(const struct dram *dram, u32 index)
{
    const struct dram_request *request = &dram->requests[index];
    const struct dram_bank *bank = &dram->banks[request->bank];
    if (request->bursts == 0) {
        for (u32 i = dram->head; i != dram->arrived; i++) {
            if (dram->ring[i & dram->ring_mask].request == index)
                return "waits to leave";
        }
        return "waits for its data";
    }
    if (bank->request != index)
        return "waits for the bank";
    if (bank->open && bank->row == request->row)
        return dram->tail - dram->head >= dram->return_queue ? "waits for room in the return queue"
                                                             : "waits for a column command";
    return bank->open ? "waits for precharge" : "waits for activate";
}

bool dram_find(const struct dram *dram, u32 tag, char *text, size_t size)
{
    for (u32 i = 0; i < dram->capacity; i++) {
        const struct dram_request *request = &dram->requests[i];
        if (!request->live || request->tag != tag)
            continue;
        snprintf(text, size, "%s, bank %u row 0x%x, %s",
                 request->bursts ? "channel queue" : "channel return queue", request->bank,
                 request->row, reason(dram, i));
        return true;
    }
    return false;
}
