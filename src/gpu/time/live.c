/* Bit flips and hashes of a device: see live.h. */
#include "gpu/time/live.h"
#include "core/live.h"
#include "core/mechanism.h"
#include "gpu/device.h"
#include "gpu/machine/storage.h"
#include "gpu/time/parts.h"
#include <stdlib.h>

enum {
    MOST_ENTRY_WORDS = 64 /* of 64 bits; longer entries count as used */
};

/* A row that is part of canonical hashes. */
struct hashed_row {
    const struct state_row *row;
    bool of_core;
    u32 first, owners; /* in live->owners */
};

struct live {
    struct timing *timing;
    struct state_list rows;
    struct hashed_row *hashed;
    void **owners; /* of these rows; cores are looked up */
    u32 hashed_count;
    struct strike *strikes; /* of the current or next launch */
    u32 count;
    u32 left; /* strikes that are not done; may be too high */
    u64 every, next_hash;
    live_hash_fn *take; /* NULL: nothing is hashed */
    bool full;          /* all bits, too */
    void *user;
    live_ask_fn *ask; /* NULL: none */
    void *ask_user;
    live_moment_fn *moment; /* NULL: none */
    void *moment_user;
};

/* ---- owners ---- */

u32 timing_owners(const struct timing *timing, const struct state_row *row)
{
    static const char *const located[] = {"core", "slice", "channel", "chip"};
    for (u32 i = 0; row->visit && i < ARRAY_LEN(located); i++)
        if (!strcmp(row->owner, located[i]))
            return (u32)row->copies;
    return 0;
}

static void *owner_of(const struct timing *timing, const struct state_row *row, u32 number)
{
    if (number >= timing_owners(timing, row))
        return NULL;
    if (!strcmp(row->owner, "core"))
        return timing->cores[number];
    if (!strcmp(row->owner, "slice"))
        return memory_system_slice(timing->memory_system, number);
    return !strcmp(row->owner, "channel") ? memory_system_channel(timing->memory_system, number)
                                          : (void *)timing->memory_system;
}

/* ---- creation ---- */

/* Rows that another one covers are left out. */
static void list_hashed(struct live *live)
{
    u32 count = 0;
    live->hashed = checked(calloc(live->rows.rows.count + 1, sizeof *live->hashed));
    for (u32 i = 0; i < live->rows.rows.count; i++) {
        const struct state_row *row = &live->rows.rows.data[i];
        const u32 owners = timing_owners(live->timing, row);
        const bool of_core = !strcmp(row->owner, "core");
        if (!owners || row->replaced || row->hash == state_hash_covered)
            continue;
        live->hashed[live->hashed_count++] = (struct hashed_row){row, of_core, count, owners};
        count += of_core ? 0 : owners;
    }
    live->owners = checked(calloc(count + 1, sizeof *live->owners));
}

/* When the memory side is there. */
static void find_owners(struct live *live)
{
    for (u32 i = 0; i < live->hashed_count; i++)
        for (u32 n = 0; !live->hashed[i].of_core && n < live->hashed[i].owners; n++)
            live->owners[live->hashed[i].first + n] =
                owner_of(live->timing, live->hashed[i].row, n);
}

/* Adds the rows of mechanisms whose bits can be flipped, but those that are rows of the register file
 * (less): these are there already. */
static void add_mechanisms(struct live *live)
{
    const struct hd_device *device = live->timing->device;
    struct state_list all = {0};
    storage_collect(&all, device->config); /* sizes may depend on the machine's */
    const u32 first = all.rows.count;
    for (u32 i = 0; i < device->mechanisms.count; i++)
        mechanism_storage(&all, device->config, device->mechanisms.uses[i].mechanism);
    for (u32 i = first; i < all.rows.count; i++) {
        const struct state_row *row = &all.rows.data[i];
        if (row->visit && row->visit != core_visit_registers)
            *vec_push(&live->rows.rows) = *row;
    }
    state_free(&all);
}

struct live *live_create(struct timing *timing)
{
    struct live *live = checked(calloc(1, sizeof *live));
    live->timing = timing;
    storage_collect(&live->rows, timing->device->config);
    add_mechanisms(live);
    list_hashed(live);
    find_owners(live);
    return live;
}

void live_destroy(struct live *live)
{
    if (!live)
        return;
    state_free(&live->rows);
    free(live->hashed);
    free(live->owners);
    free(live);
}

const struct state_list *timing_rows(const struct timing *timing)
{
    return timing->live ? &timing->live->rows : NULL;
}

/* ---- flips ---- */

void timing_strike(struct timing *timing, struct strike *strikes, u32 count)
{
    struct live *live = timing->live;
    assert(live);
    live->strikes = strikes;
    live->count = live->left = count;
    for (u32 i = 0; i < count; i++) {
        strikes[i].done = strikes[i].held = false;
        strikes[i].until = 0;
    }
}

static u64 common_divisor(u64 a, u64 b)
{
    while (b) {
        const u64 rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Tries all entries, each once, in steps of about the golden ratio: entries that are in use are often
 * next to each other, and those at the edges must not be preferred. */
static void seek(const struct state_row *row, void *owner, struct strike *s)
{
    u64 step = row->entries * 618 / 1000 + 1;
    while (common_divisor(step, row->entries) != 1)
        step++;
    for (u64 n = 1; s->result == FLIP_UNUSED && n < row->entries; n++) {
        s->bit = (s->bit + step * row->bits) % state_owner_bits(row);
        s->result = state_flip(row, owner, s->bit);
    }
}

/* One cycle of a bit that is stuck; s->cycle becomes the next one. */
static void hold(struct live *live, struct strike *s, const struct state_row *row, void *owner)
{
    u64 bits[MOST_ENTRY_WORDS];
    const u32 bit = (u32)(s->bit % row->bits);
    const bool of_core = !strcmp(row->owner, "core");
    if (row->bits > 64 * MOST_ENTRY_WORDS) {
        s->result = FLIP_COUNTED;
        return;
    }
    s->until = s->until ? s->until : s->cycle + s->hold;
    const bool used = state_get(row, owner, s->bit / row->bits, bits);
    const bool value = bits[bit / 64] >> bit % 64 & 1;
    if (used && !s->held)
        s->value = !value;
    if (used && value != s->value) {
        const enum state_flip result = state_flip(row, owner, s->bit);
        s->result = s->held && s->result == FLIP_DONE ? FLIP_DONE : result;
        if (of_core)
            live_disturb(owner);
    } else if (!s->held) {
        s->result = FLIP_UNUSED;
    }
    s->held |= used;
    s->cycle = MAX(s->cycle, of_core ? core_cycle(owner) : 0) + 1;
    s->done = s->cycle >= s->until;
}

static void strike(struct live *live, struct strike *s)
{
    const struct state_row *row = state_find(&live->rows, s->element);
    void *owner = row ? owner_of(live->timing, row, s->owner) : NULL;
    s->done = true;
    if (live->ask && !s->until && !live->ask(live->ask_user, s))
        return;
    if (s->hold && owner) {
        hold(live, s, row, owner);
        return;
    }
    s->result = owner ? state_flip(row, owner, s->bit) : FLIP_COUNTED;
    if (s->seek && s->result == FLIP_UNUSED)
        seek(row, owner, s);
    if (owner && !strcmp(row->owner, "core"))
        live_disturb(owner);
}

void timing_watch_strikes(struct timing *timing, live_ask_fn *ask, void *user)
{
    timing->live->ask = ask;
    timing->live->ask_user = user;
}

void timing_strike_now(struct timing *timing, struct strike *strikes, u32 count)
{
    timing_strike(timing, strikes, count);
    for (u32 i = 0; i < count; i++)
        strike(timing->live, &strikes[i]);
}

bool timing_is_used(const struct timing *timing, const struct strike *s)
{
    const struct state_row *row = state_find(&timing->live->rows, s->element);
    void *owner = row ? owner_of(timing, row, s->owner) : NULL;
    u64 bits[MOST_ENTRY_WORDS];
    return owner &&
           (row->bits > 64 * MOST_ENTRY_WORDS || state_get(row, owner, s->bit / row->bits, bits));
}

static bool strikes_core(const struct live *live, const struct strike *s)
{
    const struct state_row *row = state_find(&live->rows, s->element);
    return row && !strcmp(row->owner, "core");
}

/* Called by a core: all flips that are due, in the order of the list, and the time of the next. */
static void strike_core(void *user, struct core *core)
{
    struct live *live = user;
    u64 next = UINT64_MAX;
    for (u32 i = 0; i < live->count && !core->stopped; i++) {
        struct strike *s = &live->strikes[i];
        if (s->done || s->owner != core->config.index || !strikes_core(live, s))
            continue;
        if (s->cycle <= core_cycle(core))
            strike(live, s);
        if (s->done && s->wait && s->result == FLIP_UNUSED) {
            s->done = false;
            s->cycle = core_cycle(core) + 1;
        }
        if (!s->done)
            next = MIN(next, s->cycle);
    }
    if (next != UINT64_MAX)
        core_call_at(core, core->began + next * core->clock.period, strike_core, live);
}

/* The time at which a strike takes effect. */
static fs time_of(const struct timing *t, const struct strike *s)
{
    const bool of_core = strikes_core(t->live, s) && s->owner < t->core_count;
    const struct core *core = of_core ? t->cores[s->owner] : t->cores[0];
    return core->began + s->cycle * core->clock.period;
}

bool timing_strike_due(const struct timing *timing, const struct strike *strike, fs end)
{
    return time_of(timing, strike) < end;
}

/* A core has one call: the first of its strikes, which asks for the next. */
static void call_at(struct live *live, struct core *core, fs time)
{
    if (core->at.call != strike_core || time < core->at.time)
        core_call_at(core, time, strike_core, live);
}

/* Flips before the end of the window: cores that run do theirs at the exact cycle. */
static void strike_window(struct timed_run *run, fs end)
{
    struct timing *t = run->timing;
    struct live *live = t->live;
    u32 left = 0;
    for (u32 i = 0; i < live->count; i++) {
        struct strike *s = &live->strikes[i];
        const bool of_core = strikes_core(live, s) && s->owner < t->core_count;
        const struct core *core = of_core ? t->cores[s->owner] : t->cores[0];
        const fs time = time_of(t, s);
        left += !s->done;
        if (s->done || time >= end)
            continue;
        if (of_core && core_next(core) < end && core->clock.next < end)
            call_at(live, t->cores[s->owner], MAX(time, core->clock.next));
        else
            strike(live, s);
        if (s->done && !of_core && s->wait && s->result == FLIP_UNUSED)
            s->done = false; /* in the next window */
    }
    live->left = left;
}

/* ---- hashes ---- */

static u64 hash_all_bits(const struct timing *timing)
{
    const struct live *live = timing->live;
    u64 hash = 0;
    for (u32 i = 0; i < live->rows.rows.count; i++) {
        const struct state_row *row = &live->rows.rows.data[i];
        for (u32 n = 0; n < timing_owners(timing, row); n++)
            hash = state_hash(row, owner_of(timing, row, n), hash_word(hash, n), false);
    }
    return hash;
}

u64 timing_hash(const struct timing *timing, bool canonical)
{
    const struct live *live = timing->live;
    u64 hash = 0;
    if (!canonical)
        return hash_all_bits(timing);
    for (u32 i = 0; i < live->hashed_count; i++) {
        const struct hashed_row *one = &live->hashed[i];
        for (u32 n = 0; n < one->owners; n++) {
            if (one->of_core && !timing->cores[n]->present && !one->row->shape.data)
                continue; /* an idle core holds nothing but lines of its caches */
            void *owner = one->of_core ? (void *)timing->cores[n] : live->owners[one->first + n];
            hash = state_hash(one->row, owner, hash_word(hash, n), true);
        }
    }
    return hash;
}

void timing_watch_hash(struct timing *timing, u64 every, live_hash_fn *take, void *user)
{
    struct live *live = timing->live;
    live->every = MAX(every, 1);
    live->take = take;
    live->user = user;
    live->next_hash = 0;
    live->full = true;
}

void timing_watch_canonical(struct timing *timing, u64 every, live_hash_fn *take, void *user)
{
    timing_watch_hash(timing, every, take, user);
    timing->live->full = false;
}

/* ---- windows ---- */

void timing_watch_moments(struct timing *timing, live_moment_fn *call, void *user)
{
    timing->live->moment = call;
    timing->live->moment_user = user;
}

void live_window(struct timed_run *run, fs end)
{
    struct timing *t = run->timing;
    struct live *live = t->live;
    const u64 cycle = t->now > run->start ? (t->now - run->start) / t->period : 0;
    if (live->take && cycle >= live->next_hash) {
        live->take(live->user, cycle, timing_hash(t, true), live->full ? timing_hash(t, false) : 0);
        live->next_hash = (cycle / live->every + 1) * live->every;
    }
    if (live->moment) {
        const struct live_moment moment = {.run = run, .cycle = cycle, .end = end};
        live->moment(live->moment_user, &moment);
    }
    if (live->left)
        strike_window(run, end);
}

void live_end(struct timed_run *run)
{
    struct live *live = run->timing->live;
    if (live->moment) {
        const struct live_moment moment = {
            .run = run,
            .cycle = (run->end - run->start) / run->timing->period,
            .end = run->timing->now,
            .ended = true,
        };
        live->moment(live->moment_user, &moment);
    }
    live->count = live->left = 0;
    live->next_hash = 0;
}
