/*
 * A window of time: which cores run in it, in which order and on which thread (timing.h).
 *
 * Cores that are awake have blocks, instructions in flight or requests that are not answered;
 * the others are not looked at. With several threads the memory system and the cores are jobs of one
 * round (base/workers.h). A core is run by the thread that ran it last, unless another has nothing
 * left to do: its state, some tens of kilobytes of which a window touches, is in that thread's
 * caches. Of the cores of a thread, those that issued most in their last window come first. The
 * memory system, which is the longest job, is the first one of the thread that also does what comes
 * between windows. Which thread runs a job does not matter to results: whatever a core, or the
 * memory system, touches in a window is its own, but for
 *  - the profile of instructions: one for each thread, added up when it is read;
 *  - views of the code for another MODE: made under a lock (exec/image.c);
 *  - the image of device memory, in launches with content: the memory system, which writes it, runs
 *    when all cores have.
 */
#include "base/guard.h"
#include "gpu/device.h"
#include "gpu/time/parts.h"
#include <stdlib.h>
#include <time.h>

enum {
    MEMORY_JOB = 0xffff,
    WORK_CLASSES = 64, /* cores are sorted by instructions up to this number */
    /* ns: a window on one thread that takes longer is followed by shared ones, until one of these
     * takes less. A round costs about 1 us. */
    LONG_ALONE = 4000,
    SHORT_SHARED = 2000
};
_Static_assert((u32)MEMORY_JOB <= WORKERS_JOBS, "a window is a round");

/* ---- cores that are awake ---- */

/* Blocks, instructions in flight and requests that are not answered keep a core awake. */
static bool is_idle(const struct core *core)
{
    const struct core_config *c = &core->config;
    if (LIKELY(core->block_count) || core->inflight.count)
        return false;
    u32 sent = c->requests->pushed;
    if (c->fetch_requests != c->requests)
        sent += c->fetch_requests->pushed;
    if (c->constant_requests != c->requests && c->constant_requests != c->fetch_requests)
        sent += c->constant_requests->pushed;
    return sent == c->replies->popped;
}

/* The clock of a core without work stands still. Between windows all states are open. */
void core_wake(struct timing *t, u32 core)
{
    if (t->cores[core]->clock.next < t->now)
        core_run(t->cores[core], t->now);
    bit_set(t->awake.set, core);
    t->awake.listed = false;
}

void list_awake(struct timing *t)
{
    if (LIKELY(t->awake.listed))
        return;
    t->awake.count = 0;
    FOR_MEMBERS(i, t->awake.set, t->awake.words)
        t->awake.list[t->awake.count++] = t->cores[i];
    t->awake.listed = true;
}

void windows_settle(struct timed_run *run)
{
    struct timing *t = run->timing;
    u64 all = 0;
    for (u32 k = 0; k < t->awake.count; k++) {
        const struct core *core = t->awake.list[k];
        const u32 i = core->config.index;
        const u64 issued = core->stats.issue.instructions - t->issued[i];
        t->issued[i] = core->stats.issue.instructions;
        t->work[i] = (u32)issued;
        all += issued;
        if (UNLIKELY(is_idle(core))) {
            bit_clear(t->awake.set, i);
            t->awake.listed = false;
        }
    }
    run->issued += all;
    list_awake(t);
}

/* ---- profiles ---- */

/* A core counts into the profile of the thread that runs it. */
static struct inst_profile *profile_of(const struct timed_run *run, u32 worker)
{
    const struct timing *t = run->timing;
    return worker ? (struct inst_profile *)(t->profiles.rows + (worker - 1) * t->profiles.stride)
                  : run->launch->profile;
}

/* Rows for all threads but the first; all are zero between launches. */
static void profiles_begin(struct timing *t)
{
    const u32 threads = workers_count(t->workers);
    t->profiles.stride =
        align_up(t->timed->inst_count * sizeof(struct inst_profile), HOST_LINE_PAIR);
    const size_t bytes = (threads - 1) * t->profiles.stride;
    if (bytes <= t->profiles.room)
        return;
    free(t->profiles.rows);
    free(t->profiles.used);
    t->profiles.rows = checked(aligned_alloc(HOST_LINE_PAIR, bytes));
    memset(t->profiles.rows, 0, bytes);
    t->profiles.used = checked(calloc(threads, sizeof *t->profiles.used));
    t->profiles.room = bytes;
}

void windows_profile(struct timed_run *run)
{
    const struct timing *t = run->timing;
    const u32 count = t->timed->inst_count;
    for (u32 w = 1; t->workers && w < workers_count(t->workers); w++) {
        struct inst_profile *own = profile_of(run, w);
        if (!t->profiles.used[w])
            continue;
        for (u32 i = 0; i < count; i++)
            inst_profile_add(&run->launch->profile[i], &own[i]);
        memset(own, 0, count * sizeof *own);
        t->profiles.used[w] = false;
    }
}

/* ---- begin ---- */

void windows_begin(struct timed_run *run)
{
    struct timing *t = run->timing;
    memset(t->awake.set, 0, t->awake.words * sizeof *t->awake.set);
    t->awake.listed = false;
    list_awake(t);
    memset(t->issued, 0, t->core_count * sizeof *t->issued);
    memset(t->work, 0, t->core_count * sizeof *t->work);
    t->measure.ended = 0;
    if (!t->workers)
        return;
    t->shares = false;
    workers_begin(t->workers);
    profiles_begin(t);
}

/* ---- order ---- */

/* Shuffles the jobs by xorshift64* of the seed and the window: any permutation will do. */
static void shuffle(struct timing *t)
{
    u64 state = t->device->core_order_seed * 0x9e3779b97f4a7c15ull + t->now + 1;
    for (u32 i = t->job_count; i-- > 1;) {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        u32 j = (u32)((state * 0x2545f4914f6cdd1dull >> 33) % (i + 1)), other = t->jobs[j];
        t->jobs[j] = t->jobs[i];
        t->jobs[i] = other;
    }
}

static void reverse(struct timing *t)
{
    for (u32 i = 0, j = t->job_count; i + 1 < j; i++) {
        const u32 other = t->jobs[--j];
        t->jobs[j] = t->jobs[i];
        t->jobs[i] = other;
    }
}

static bool has_work(const struct core *core, fs end)
{
    return core->present || core->inflight.count || port_next(core->config.replies) < end;
}

static u32 work_class(const struct timing *t, const struct core *core)
{
    return MIN(t->work[core->config.index], WORK_CLASSES - 1u);
}

static void add_cores(struct timing *t, fs end)
{
    for (u32 k = 0; k < t->awake.count; k++)
        if (has_work(t->awake.list[k], end))
            t->jobs[t->job_count++] = t->awake.list[k]->config.index;
}

/* The same, cores that have issued most in their last window first. */
static void add_by_work(struct timing *t, fs end)
{
    u32 next[WORK_CLASSES] = {0}, place = t->job_count; /* next: by class, how many; then where */
    for (u32 k = 0; k < t->awake.count; k++)
        next[work_class(t, t->awake.list[k])] += has_work(t->awake.list[k], end);
    for (u32 c = WORK_CLASSES; c-- > 0;) {
        const u32 count = next[c];
        next[c] = place;
        place += count;
    }
    for (u32 k = 0; k < t->awake.count; k++)
        if (has_work(t->awake.list[k], end))
            t->jobs[next[work_class(t, t->awake.list[k])]++] = t->awake.list[k]->config.index;
    t->job_count = place;
}

/* Lists what runs until `end`; `shared`: for several threads. */
static void list_jobs(struct timing *t, fs end, bool shared)
{
    const enum core_order order = t->device->core_order;
    t->job_count = 0;
    if (shared && order == ORDER_FORWARD) {
        t->jobs[t->job_count++] = MEMORY_JOB;
        add_by_work(t, end);
        return;
    }
    add_cores(t, end);
    if (UNLIKELY(order == ORDER_SHUFFLE))
        shuffle(t);
    t->jobs[t->job_count++] = MEMORY_JOB;
    if (UNLIKELY(order == ORDER_REVERSE))
        reverse(t);
}

/* ---- running ---- */

/* Within a window, states of mechanisms are open only to their owners (H1 of core/hooks.h). */
static void each_state(struct timing *t, void (*act)(const struct hooks *hooks))
{
    for (u32 i = 0; i < t->core_count; i++)
        act(&t->cores[i]->hooks);
    for (u32 i = 0; i < t->memory_hooks.count; i++)
        act(&t->memory_hooks.partitions[i]);
    act(&t->dispatcher_hooks);
}

static void run_core(struct core *core, fs end)
{
    if (GUARDED)
        hooks_open(&core->hooks);
    core_run(core, end);
    if (GUARDED)
        hooks_close(&core->hooks);
}

static void run_memory(struct timing *t, fs end)
{
    for (u32 i = 0; GUARDED && i < t->memory_hooks.count; i++)
        hooks_open(&t->memory_hooks.partitions[i]);
    memory_system_run(t->memory_system, end);
    for (u32 i = 0; GUARDED && i < t->memory_hooks.count; i++)
        hooks_close(&t->memory_hooks.partitions[i]);
}

static void run_job(struct timed_run *run, u32 job)
{
    struct timing *t = run->timing;
    if (job == MEMORY_JOB)
        run_memory(t, run->window_end);
    else
        run_core(t->cores[job], run->window_end);
}

/* A job of a round. */
static void run_shared(void *user, u32 job, u32 worker)
{
    struct timed_run *run = user;
    struct timing *t = run->timing;
    if (job == MEMORY_JOB) {
        run_job(run, job);
        return;
    }
    /* Threads share the lines of these two: they are written only when they change. */
    if (UNLIKELY(t->home[job] != worker))
        t->home[job] = (u16)worker;
    if (UNLIKELY(!t->profiles.used[worker]))
        t->profiles.used[worker] = true;
    t->cores[job]->profile = profile_of(run, worker);
    run_job(run, job);
    t->cores[job]->profile = run->launch->profile;
}

/* Nanoseconds. */
static u64 time_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

static u64 processor_time(void)
{
    return time_of(CLOCK_THREAD_CPUTIME_ID);
}

/* run_jobs with the time of each. */
static COLD void run_measured(struct timed_run *run)
{
    struct timing *t = run->timing;
    u64 now = processor_time();
    struct hd_window_times times = {.cores = t->measure.cores,
                                    .core_count = t->core_count,
                                    .between = t->measure.ended ? now - t->measure.ended : 0};
    memset(t->measure.cores, 0, t->core_count * sizeof *t->measure.cores);
    for (u32 k = 0; k < t->job_count; k++) {
        run_job(run, t->jobs[k]);
        const u64 then = now;
        now = processor_time();
        if (t->jobs[k] == MEMORY_JOB)
            times.memory = now - then;
        else
            t->measure.cores[t->jobs[k]] = now - then;
    }
    t->measure.take(t->measure.user, &times);
    t->measure.ended = processor_time();
}

/* All in order, on this thread. */
static void run_in_order(struct timed_run *run)
{
    struct timing *t = run->timing;
    if (UNLIKELY(t->device->core_order != ORDER_FORWARD || t->measure.take)) {
        list_jobs(t, run->window_end, false);
        if (t->measure.take)
            run_measured(run);
        else
            for (u32 k = 0; k < t->job_count; k++)
                run_job(run, t->jobs[k]);
        return;
    }
    for (u32 k = 0; k < t->awake.count; k++)
        if (has_work(t->awake.list[k], run->window_end))
            run_core(t->awake.list[k], run->window_end);
    run_memory(t, run->window_end);
}

/* What the threads share: all jobs, but the memory system is not among them where it writes what
 * cores read, or has nothing to do. */
static void run_on_threads(struct timed_run *run)
{
    struct timing *t = run->timing;
    const bool alone = t->content || memory_system_next(t->memory_system) >= run->window_end;
    list_jobs(t, run->window_end, true);
    for (u32 k = 0; k < t->job_count; k++) {
        const u32 job = t->jobs[k];
        if (job != MEMORY_JOB)
            workers_add(t->workers, t->home[job], job);
        else if (!alone)
            workers_add(t->workers, 0, job);
    }
    workers_run(t->workers, run_shared, run);
    if (alone)
        run_memory(t, run->window_end);
}

/* Runs a window on the threads, if it is worth it: the last one tells. How long windows take does
 * not follow from what is issued: most of those of a program that waits for memory issue next to
 * nothing. */
static void run_on_threads_if_long(struct timed_run *run)
{
    struct timing *t = run->timing;
    const u64 from = time_of(CLOCK_MONOTONIC);
    const bool shared = t->shares || t->share_all;
    if (shared)
        run_on_threads(run);
    else
        run_in_order(run);
    t->shares = time_of(CLOCK_MONOTONIC) - from >= (shared ? SHORT_SHARED : LONG_ALONE);
}

void window_run(struct timed_run *run, fs end)
{
    struct timing *t = run->timing;
    run->window_end = end;
    if (GUARDED)
        each_state(t, hooks_close);
    if (t->workers && !t->measure.take)
        run_on_threads_if_long(run);
    else
        run_in_order(run);
    if (GUARDED)
        each_state(t, hooks_open);
}
