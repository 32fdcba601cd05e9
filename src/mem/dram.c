/* A DRAM channel: its requests and its time. See dram.h for what it does. */
#include "mem/dram_channel.h"
#include <stdio.h>
#include <stdlib.h>

bool dram_check(const struct dram_params *params, struct error *error)
{
    const struct {
        const char *name;
        u32 value;
    } powers[] = {
        {"dram.banks", params->banks},
        {"dram.bank_groups", params->bank_groups},
        {"dram.row_bytes", params->row_bytes},
        {"dram.stripe_bytes", params->stripe_bytes},
    };
    for (u32 i = 0; i < ARRAY_LEN(powers); i++) {
        if (!is_pow2(powers[i].value))
            return error_set(error, ERROR_USAGE, powers[i].name,
                             "expected a power of two, found %u", powers[i].value);
    }
    if (params->bank_groups > params->banks)
        return error_set(error, ERROR_USAGE, "dram.bank_groups",
                         "expected at most dram.banks (%u), found %u", params->banks,
                         params->bank_groups);
    if (params->write_high > params->queue)
        return error_set(error, ERROR_USAGE, "dram.write_high",
                         "expected at most dram.queue (%u), found %u", params->queue,
                         params->write_high);
    if (params->write_low > params->write_high ||
        (params->write_low && params->write_low == params->write_high))
        return error_set(error, ERROR_USAGE, "dram.write_low",
                         "expected less than dram.write_high (%u), found %u", params->write_high,
                         params->write_low);
    return true;
}

static bool allocate(struct dram *dram, const struct dram_params *params)
{
    /* Waiting, in banks, commanded. */
    dram->capacity = 2 * params->queue + params->banks + params->return_queue;
    u32 words = (dram->capacity + 63) / 64, ring = 1;
    while (ring < params->return_queue)
        ring *= 2;
    dram->ring_mask = ring - 1;
    dram->ring = calloc(ring, sizeof(*dram->ring));
    dram->banks = calloc(params->banks, sizeof(*dram->banks));
    dram->groups = calloc(params->bank_groups, sizeof(*dram->groups));
    dram->requests = calloc(dram->capacity, sizeof(*dram->requests));
    dram->free = calloc(words, sizeof(*dram->free));
    for (u32 kind = 0; kind < KINDS; kind++)
        dram->lists[kind] = calloc(params->banks, sizeof(*dram->lists[kind]));
    return dram->ring && dram->banks && dram->groups && dram->requests && dram->free &&
           dram->lists[KIND_READ] && dram->lists[KIND_WRITE];
}

static void empty(struct dram *dram, u32 banks)
{
    for (u32 i = 0; i < banks; i++) {
        dram->banks[i].request = REQUEST_NONE;
        for (u32 kind = 0; kind < KINDS; kind++)
            dram->lists[kind][i] = (struct dram_list){REQUEST_NONE, REQUEST_NONE};
    }
    for (u32 i = 0; i < dram->capacity; i++)
        dram->free[i / 64] |= 1ull << i % 64;
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
    dram->words = (params->banks + 63) / 64;
    dram->fcfs = params->policy == 1;
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
    free(dram->lists[KIND_READ]);
    free(dram->lists[KIND_WRITE]);
    free(dram);
}

void dram_set_hooks(struct dram *dram, const struct dram_hooks *hooks)
{
    dram->hooks = *hooks;
}

bool dram_room(const struct dram *dram, bool write)
{
    return dram->queued[dram->apart && write ? KIND_WRITE : KIND_READ] < dram->queue;
}

/* dram.h says which bits are what. */
static void place(const struct dram *dram, u64 address, struct dram_request *request)
{
    u32 bank = 0;
    if (dram->bank_bits) {
        u64 low = (address >> dram->stripe_bits) & 1;
        u64 high = address >> (dram->row_bits + 1);
        bank = (u32)((high << 1 | low) & dram->bank_mask);
    }
    request->bank = (u8)bank;
    request->row = (u32)(address >> (dram->row_bits + dram->bank_bits));
}

void dram_push(struct dram *dram, u64 address, u32 bytes, bool write, u32 tag)
{
    assert(dram_room(dram, write));
    while (!dram->free[dram->free_word])
        dram->free_word++;
    u64 *word = &dram->free[dram->free_word];
    u32 index = dram->free_word * 64 + (u32)__builtin_ctzll(*word);
    *word &= *word - 1;
    struct dram_request *request = &dram->requests[index];
    *request = (struct dram_request){
        .entered = dram->now,
        .tag = tag,
        .bytes = bytes,
        .bursts = MAX(1, (bytes + dram->burst_bytes - 1) / dram->burst_bytes),
        .write = write,
        .live = true,
    };
    place(dram, address, request);
    dram_enqueue(dram, index);
    dram->inside++;
    dram->wake = dram->now;
    if (UNLIKELY(dram->hooks.enqueued != NULL))
        dram->hooks.enqueued(dram->hooks.user, dram->now, tag);
}

/* A request's last data pass in this cycle. */
static void arrive(struct dram *dram, u64 now, const struct dram_request *request)
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
    if (UNLIKELY(dram->hooks.served != NULL))
        dram->hooks.served(dram->hooks.user, now, request->tag);
}

static void work(struct dram *dram, u64 now)
{
    if (dram->assign_due)
        dram_assign(dram);
    if (now >= dram->issue_due)
        dram_issue(dram, now);
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

void dram_tick(struct dram *dram)
{
    u64 now = dram->now;
    if (now >= dram->wake)
        work(dram, now);
    dram->now = now + 1;
    dram->stats->channel_cycles++;
}

bool dram_done(const struct dram *dram, u32 *tag)
{
    if (dram->head == dram->arrived)
        return false;
    *tag = dram->requests[dram->ring[dram->head & dram->ring_mask].request].tag;
    return true;
}

void dram_pop(struct dram *dram)
{
    assert(dram->head != dram->arrived);
    if (dram->tail - dram->head == dram->return_queue && dram->serving_count)
        dram->wake = dram->issue_due = dram->now; /* there is room for an answer again */
    u32 index = dram->ring[dram->head++ & dram->ring_mask].request;
    dram->requests[index].live = false;
    dram->free[index / 64] |= 1ull << index % 64;
    dram->free_word = MIN(dram->free_word, index / 64);
}

bool dram_busy(const struct dram *dram)
{
    return dram->inside > 0;
}

u64 dram_next(const struct dram *dram)
{
    if (dram->wake == DRAM_NEVER)
        return UINT64_MAX;
    return dram->wake > dram->now ? dram->wake - dram->now : 0;
}

void dram_skip(struct dram *dram, u64 cycles)
{
    assert(cycles <= dram_next(dram));
    dram->now += cycles;
    dram->stats->channel_cycles += cycles;
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
        return dram->tail - dram->head >= dram->return_queue
                   ? "waits for a place in the return queue"
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
