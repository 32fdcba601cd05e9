/*
 * A sampled block of `sdmr` and its copy: what the block has overwritten, and what both have stored.
 *
 * Words are compared in the order in which a warp stores them. Which warp is ahead does not matter:
 * what one side has stored and the other not yet waits in the log of the warp. The checksum is the
 * same for any order of warps.
 *
 * Invariants
 *  S1  A log holds words of one side, those of `ahead`. When both sides have ended without a
 *      difference, all logs are empty and the counts are equal.
 *  S2  `before` has each byte that the block has stored, with its value from before the block's first
 *      store to it.
 */
#include "mech/sdmr.h"
#include <stdlib.h>

/* ---- samples: their memory is used again ---- */

struct sdmr_sample *sdmr_sample_take(struct sdmr_device *device, u64 number, u32 warps)
{
    struct sdmr_sample *sample = device->free;
    if (sample) {
        device->free = sample->next;
    } else {
        sample = checked(calloc(1, sizeof *sample));
        sample->before = memory_view_create();
        sample->own = memory_view_create();
        memory_view_set_base(sample->own, sample->before);
        sample->older = device->all;
        device->all = sample;
    }
    if (sample->warps < warps) {
        sample->logs = checked(realloc(sample->logs, warps * sizeof *sample->logs));
        memset(sample->logs + sample->warps, 0, (warps - sample->warps) * sizeof *sample->logs);
        sample->warps = warps;
    }
    *sample = (struct sdmr_sample){
        .number = number,
        .older = sample->older,
        .before = sample->before,
        .own = sample->own,
        .logs = sample->logs,
        .warps = sample->warps,
    };
    return sample;
}

void sdmr_sample_give(struct sdmr_device *device, struct sdmr_sample *sample)
{
    memory_view_clear(sample->before);
    memory_view_clear(sample->own);
    for (u32 w = 0; w < sample->warps; w++)
        sample->logs[w].first = sample->logs[w].end = 0;
    sample->next = device->free;
    device->free = sample;
}

/* Also those that a stopped launch has left. */
void sdmr_samples_drop(struct sdmr_device *device)
{
    device->free = NULL;
    for (struct sdmr_sample *sample = device->all; sample; sample = sample->older)
        sdmr_sample_give(device, sample);
}

void sdmr_samples_free(struct sdmr_device *device)
{
    for (struct sdmr_sample *sample; (sample = device->all);) {
        device->all = sample->older;
        for (u32 w = 0; w < sample->warps; w++)
            free(sample->logs[w].words);
        free(sample->logs);
        memory_view_destroy(sample->before);
        memory_view_destroy(sample->own);
        free(sample);
    }
}

/* ---- what a block overwrites ---- */

/* Keeps what bytes were before the block's first store to them (S2). Memory itself changes only after
 * this window. */
static void keep_before(struct sdmr *s, struct sdmr_sample *sample,
                        const struct memory_view_run *run)
{
    enum {
        PIECE = 64 /* bytes, as many as memory_view_collect can tell */
    };
    for (u32 at = 0; at < run->bytes; at += PIECE) {
        u8 *const to = run->to + at;
        const u32 bytes = MIN(run->bytes - at, PIECE);
        u8 kept[PIECE];
        const u64 has = memory_view_collect(sample->before, to, bytes, kept);
        memory_view_reserve(sample->before, bytes, bytes);
        for (u32 b = 0; b < bytes; b++)
            if (!(has >> b & 1)) {
                *memory_view_log(sample->before, to + b, 1) = to[b];
                s->stats->preimage_bytes++;
            }
    }
}

/* ---- comparison ---- */

void sdmr_differ(struct sdmr *s, struct sdmr_sample *sample)
{
    struct exec *exec = core_exec(s->core);
    if (sample->differs)
        return;
    sample->differs = true;
    s->device->found = true;
    s->stats->detected++;
    if (sample->struck && core_cycle(s->core) > sample->struck_at)
        s->stats->latency_cycles += core_cycle(s->core) - sample->struck_at;
    if (!s->params->stop || exec->stopped)
        return;
    fault_check(exec, exec->kernel->first,
                "block %llu and its copy on the checker, core %u, have stored different values "
                "(sdmr)",
                (unsigned long long)sample->number, core_config(s->core)->cores - 1);
    core_stop(s->core);
}

/* A side has stored a word: the other one has, too, or it waits for it in the log. */
static void compare_word(struct sdmr *s, struct sdmr_sample *sample, struct sdmr_log *log,
                         enum side side, const struct sdmr_word *word)
{
    if (log->first == log->end) {
        log->first = log->end = 0;
        log->ahead = side;
    }
    if (log->ahead != side) {
        const struct sdmr_word *other = &log->words[log->first++];
        s->stats->compared++;
        if (other->address != word->address || other->data != word->data ||
            other->bytes != word->bytes)
            sdmr_differ(s, sample);
        return;
    }
    if (log->end == log->room) { /* grows as memory views do */
        log->room = MAX(2 * log->room, 256);
        log->words = checked(realloc(log->words, log->room * sizeof *log->words));
    }
    log->words[log->end++] = *word;
}

/* A sum of these is the checksum: it does not depend on the order of warps and stores. */
static u64 mix(const struct sdmr_word *word, u32 warp)
{
    u64 x = word->address ^ (u64)word->data << 32 ^ (u64)warp << 56 ^ (u64)word->bytes << 61;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull; /* splitmix64 */
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

/* The device address of a byte of host memory: in the allocation of the lane that stored it. */
static bool address_of(const struct inflight *inflight, const u8 *host,
                       const struct allocation **found, u64 *address)
{
    struct dyninst *f = (struct dyninst *)&inflight->dyn; /* addresses of strided lanes are computed
                                                           * when asked for */
    const struct memory *memory = f->warp->exec->memory;
    const struct allocation *a = *found;
    for (lane_set set = f->global; !a || host < a->host || host >= a->host + a->size;
         set &= set - 1) {
        if (!set)
            return false;
        a = memory_find(memory, dyninst_addresses(f)[first_lane(set)], 1);
        if (f->pair && (!a || host < a->host || host >= a->host + a->size))
            a = memory_find(memory, dyninst_second(f)[first_lane(set)], 1);
    }
    *found = a;
    *address = a->address + (u64)(host - a->host);
    return true;
}

/* Takes the bytes of a run word by word. */
static void take_run(struct sdmr *s, struct sdmr_sample *sample, enum side side, u32 warp,
                     u64 address, const struct memory_view_run *run)
{
    for (u32 at = 0, bytes; at < run->bytes; at += bytes) {
        struct sdmr_word word = {.address = address + at};
        bytes = (u32)MIN(WORD - word.address % WORD, run->bytes - at);
        word.bytes = bytes;
        memcpy(&word.data, run->data + at, bytes);
        sample->count[side]++;
        sample->sum[side] += mix(&word, warp);
        *(side == SIDE_COPY ? &s->stats->copy_words : &s->stats->words) += 1;
        if (s->params->compare == SDMR_LOG)
            compare_word(s, sample, &sample->logs[warp], side, &word);
    }
}

void sdmr_stored(struct sdmr *s, struct sdmr_sample *sample, enum side side,
                 const struct inflight *inflight, const struct memory_view *view,
                 struct memory_view_mark mark)
{
    const u32 warp = core_slot(s->core, inflight->slot)->warp->index;
    const struct allocation *found = NULL;
    struct memory_view_run run;
    u64 address;
    for (struct memory_view_mark at = mark; memory_view_next(view, &at, &run);) {
        if (side == SIDE_BLOCK)
            keep_before(s, sample, &run);
        /* Private memory of threads is elsewhere for the copy, and no result. */
        if (address_of(inflight, run.to, &found, &address) && found->kind != ALLOC_LAUNCH)
            take_run(s, sample, side, warp, address, &run);
    }
}

void sdmr_close(struct sdmr *s, struct sdmr_sample *sample)
{
    bool differs = s->params->compare == SDMR_CHECKSUM &&
                   (sample->sum[SIDE_BLOCK] != sample->sum[SIDE_COPY] ||
                    sample->count[SIDE_BLOCK] != sample->count[SIDE_COPY]);
    for (u32 w = 0; w < sample->warps; w++)
        differs |= sample->logs[w].first != sample->logs[w].end; /* one side has stored more */
    if (differs)
        sdmr_differ(s, sample);
    s->stats->copies++;
    s->stats->silent_samples += !s->device->found;
}
