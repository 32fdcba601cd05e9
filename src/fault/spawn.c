/*
 * Processes of a campaign.
 *
 *     caller -> golden run                     once, records
 *     caller -> runner -> fault, fault, ...    the same run again; at each fault's cycle it forks
 */
#include "fault/campaign.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TICK_MS = 100,
    RETURN_MS = 2
};

static bool stopped(const struct hd_inject *inject)
{
    return atomic_load_explicit(&inject->ledger->stop, memory_order_relaxed);
}

/* ---- the runner ---- */

static void take_verdict(struct hd_inject *inject, u32 which)
{
    const struct fault_process process = inject->workers[which];
    struct fault_verdict *verdict = &inject->ledger->verdicts[process.id];
    const int status = process_reap(&process);
    inject->workers[which] = inject->workers[--inject->worker_count];
    if (verdict->parked)
        return; /* another process goes on */
    if (verdict->returned && verdict->effect == HD_EFFECT_NONE)
        program_judge(inject, process.id, status);
    else if (status || verdict->effect == HD_EFFECT_NONE)
        verdict->crashed = true;
    keep_settle(inject, process.id);
}

/* Kills what runs: the caller wants no more. */
static _Noreturn void give_up(struct hd_inject *inject)
{
    for (u32 i = 0; i < inject->worker_count; i++) {
        kill(inject->workers[i].pid, SIGKILL);
        process_reap(&inject->workers[i]);
    }
    _exit(0);
}

static bool all_returned(const struct hd_inject *inject)
{
    bool all = true;
    for (u32 i = 0; i < inject->worker_count; i++)
        all &= inject->ledger->verdicts[inject->workers[i].id].returned;
    return all;
}

void spawn_wait(struct hd_inject *inject, u32 most, bool launch_ended)
{
    struct pollfd *ends = checked(calloc(inject->worker_count + 1, sizeof *ends));
    while (inject->worker_count > most && !(launch_ended && all_returned(inject))) {
        const u32 count = inject->worker_count;
        for (u32 i = 0; i < count; i++)
            ends[i] = (struct pollfd){.fd = inject->workers[i].pipe, .events = POLLIN};
        poll(ends, count, launch_ended ? RETURN_MS : TICK_MS);
        if (stopped(inject))
            give_up(inject);
        for (u32 i = count; i-- > 0;) /* the last one takes the place of one that is removed */
            if (ends[i].revents)
                take_verdict(inject, i);
    }
    free(ends);
}

/* Forks the process of a fault; returns true in the child. */
bool spawn_again(struct hd_inject *inject, u64 id)
{
    struct fault_process process;
    spawn_wait(inject, inject->plan.jobs - 1, false);
    int pid = process_fork(&process, !inject->joined);
    if (pid < 0) { /* too many processes, perhaps: once more when all others have ended */
        spawn_wait(inject, 0, false);
        pid = process_fork(&process, !inject->joined);
    }
    if (pid < 0) {
        spawn_fail(inject, "cannot create a process for a fault: %s", strerror(errno));
        _exit(1);
    }
    if (pid == 0) {
        inject->role = ROLE_FAULT;
        inject->end = process.pipe;
        inject->worker_count = 0;
        follow_begin_fault(inject, id);
        return true;
    }
    process.id = id;
    inject->workers[inject->worker_count++] = process;
    return false;
}

static void settle(struct hd_inject *inject, u64 id, enum decided decided)
{
    inject->ledger->verdicts[id] =
        (struct fault_verdict){.effect = HD_EFFECT_MASKED, .decided = (u8)decided};
    keep_settle(inject, id);
}

/* Faults of a launch that has ended before their cycle: nothing is there to be flipped. */
static void skip_late(struct hd_inject *inject)
{
    for (u32 i = 0; i < inject->due.count; i++)
        if (!inject->due.data[i].done)
            settle(inject, inject->due_ids.data[i], DECIDED_LATE);
    inject->due.count = inject->due_ids.count = 0;
    for (; inject->next < inject->order_count; inject->next++) {
        const u64 id = inject->order[inject->next];
        if (inject->faults[id].launch > inject->launch)
            return;
        settle(inject, id, DECIDED_LATE);
    }
}

void spawn_fail(struct hd_inject *inject, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    inject->ledger->failed = true;
    vsnprintf(inject->ledger->message, sizeof inject->ledger->message, format, arguments);
    va_end(arguments);
}

/* Verdicts compare a run with another one: both must be the same without a fault. */
static void check_repeats(struct hd_inject *inject, u64 cycles)
{
    const struct ledger *ledger = inject->ledger;
    if (inject->launch >= ledger->launch_count || ledger->ends[inject->launch].cycle != cycles)
        spawn_fail(inject, "the program does not repeat itself: a launch took another number of "
                           "cycles in its second run");
}

/* Gives faults of the next window to the timing model, and those of earlier ones whose cores have not
 * ticked since. */
static void list_due(struct hd_inject *inject, fs end)
{
    u32 kept = 0;
    for (u32 i = 0; i < inject->due.count; i++)
        if (!inject->due.data[i].done) {
            inject->due.data[kept] = inject->due.data[i];
            inject->due_ids.data[kept++] = inject->due_ids.data[i];
        }
    bool more = kept != inject->due.count;
    inject->due.count = inject->due_ids.count = kept;
    while (inject->next < inject->order_count) {
        const u64 id = inject->order[inject->next];
        struct strike strike =
            follow_strike(inject, id, (u32)__builtin_ctzll(inject->faults[id].pattern));
        bool moved;
        strike.cycle = follow_cycle(inject, id, &moved);
        if (inject->faults[id].launch != inject->launch ||
            !timing_strike_due(inject->device->timing, &strike, end))
            break;
        *vec_push(&inject->due) = strike;
        *vec_push(&inject->due_ids) = id;
        inject->next++;
        more = true;
    }
    if (more)
        timing_strike(inject->device->timing, inject->due.data, inject->due.count);
}

/* Entries that are not in use are decided here; the others get a process. It flips the bits. */
bool spawn_ask(void *user, struct strike *strike)
{
    struct hd_inject *inject = user;
    if (inject->role != ROLE_RUNNER && inject->role != ROLE_SHADOW)
        return true;
    const u64 id = inject->due_ids.data[strike - inject->due.data];
    if (inject->role == ROLE_SHADOW) {
        if (timing_is_used(inject->device->timing, strike))
            shadow_ask(inject, id);
        return false;
    }
    if (inject->ledger->verdicts[id].decided == DECIDED_UNTIMED && !follow_audits(inject, id))
        keep_settle(inject, id);
    else if (inject->shadow_ends[id].fate == SHADOW_VANISHED && !follow_audits(inject, id))
        settle(inject, id, DECIDED_VANISHED);
    else if (!inject->hold && !inject->plan.window &&
             !timing_is_used(inject->device->timing, strike) && !follow_audits(inject, id))
        settle(inject, id, DECIDED_UNUSED);
    else if ((!inject->joined || program_can_fork(inject)) && spawn_again(inject, id)) {
        inject->follow.armed = true;
        timing_strike_now(inject->device->timing, inject->follow.strikes,
                          inject->follow.strike_count);
    } else if (inject->plan.window) {
        *vec_push(&inject->windows) = id;
    }
    return false;
}

/* The state of the run without faults where windows end. */
static void look_at_windows(struct hd_inject *inject, const struct live_moment *moment)
{
    u64 full = 0, memory = 0;
    u32 kept = 0;
    bool looked = false;
    for (u32 i = 0; i < inject->windows.count; i++) {
        const u64 id = inject->windows.data[i];
        struct shadow_end *end = &inject->shadow_ends[id];
        if (!moment->ended && moment->cycle < inject->faults[id].cycle + inject->plan.window) {
            inject->windows.data[kept++] = id;
            continue;
        }
        if (!looked) {
            full = timing_hash(inject->device->timing, false);
            memory = follow_memory(moment);
            looked = true;
        }
        end->full = full;
        end->memory = memory;
        end->looked = true;
    }
    inject->windows.count = kept;
}

void spawn_moment(struct hd_inject *inject, const struct live_moment *moment)
{
    if (stopped(inject))
        give_up(inject);
    if (inject->role == ROLE_SHADOW)
        shadow_moment(inject, moment->ended);
    if (moment->ended && inject->role == ROLE_SHADOW) {
        inject->due.count = inject->due_ids.count = 0;
        inject->launch++;
        while (inject->next < inject->order_count &&
               inject->faults[inject->order[inject->next]].launch < inject->launch)
            inject->next++;
        return;
    }
    if (inject->windows.count)
        look_at_windows(inject, moment);
    if (moment->ended) {
        check_repeats(inject, moment->cycle);
        skip_late(inject);
        inject->launch++;
        if (inject->joined) /* processes copy what the program has written so far */
            spawn_wait(inject, 0, true);
        return;
    }
    if (inject->role == ROLE_RUNNER && !inject->looked)
        untimed_decide(inject, moment);
    inject->looked = true;
    list_due(inject, moment->end);
}

/* ---- whole runs ---- */

/* The program's run in a process of its own, and what comes after it. */
static _Noreturn void run_here(struct hd_inject *inject, const struct hd_inject_host *host)
{
    struct hd_error error = {0};
    struct hd_result result = {.explanation = ""};
    struct ledger *ledger = inject->ledger;
    inject->launch = 0;
    inject->at = 0;
    if (inject->role == ROLE_GOLDEN)
        touch_record(inject);
    if (inject->role == ROLE_SHADOW)
        shadow_create(inject);
    const bool ok = host->run(host->user, inject, &result, &error);
    if (inject->role == ROLE_FAULT && ok)
        follow_end(inject, &result);
    if (inject->role == ROLE_FAULT) /* a launch was refused that the golden run made */
        _exit(1);
    if (!ok) {
        spawn_fail(inject, "%s", error.message);
    } else if (result.outcome != HD_DONE) {
        spawn_fail(inject, "%s", result.explanation);
    } else if (inject->launch > MOST_LAUNCHES) {
        spawn_fail(inject, "the program has too many launches");
    } else if (!ledger->golden) {
        ledger->launch_count = inject->launch;
        touch_finish(inject);
        ledger->golden = !ledger->failed && ledger->cycles;
        if (!ledger->cycles && !ledger->failed)
            spawn_fail(inject, "no launch has taken a cycle");
    }
    spawn_wait(inject, 0, false);
    _exit(0);
}

void spawn_attend(struct hd_inject *inject, const struct hd_inject_host *host,
                  const struct fault_process *process, u64 total)
{
    struct pollfd end = {.fd = process->pipe, .events = POLLIN};
    while (poll(&end, 1, TICK_MS) <= 0 || !end.revents) {
        keep_note(inject, false);
        if (host->progress &&
            !host->progress(host->user, atomic_load(&inject->ledger->done), total)) {
            atomic_store(&inject->ledger->stop, true);
            inject->stopped = true;
            if (inject->folder) /* it may be outside of launches */
                kill(process->pid, SIGKILL);
        }
    }
    keep_note(inject, true);
}

static int by_time(const void *a, const void *b, void *user)
{
    const struct hd_inject *inject = user;
    const u64 first = *(const u64 *)a, second = *(const u64 *)b;
    const struct injection *x = &inject->faults[first], *y = &inject->faults[second];
    if (x->launch != y->launch)
        return x->launch < y->launch ? -1 : 1;
    bool moved;
    const u64 a_cycle = follow_cycle(inject, first, &moved);
    const u64 b_cycle = follow_cycle(inject, second, &moved);
    if (a_cycle != b_cycle)
        return a_cycle < b_cycle ? -1 : 1;
    return first < second ? -1 : first > second;
}

bool spawn_shadows(const struct hd_inject *inject, u64 from, u64 to)
{
    for (u64 id = from; id < to && !inject->hold && !inject->plan.window; id++)
        if (!strcmp(inject->targets.data[inject->faults[id].target].name, "collect.registers") &&
            (inject->plan.only < 0 || (u64)inject->plan.only == id))
            return true;
    return false;
}

u64 *spawn_order(struct hd_inject *inject, u64 from, u64 to)
{
    u64 *order = checked(calloc(to - from + 1, sizeof *order));
    inject->order_count = 0;
    for (u64 id = from; id < to; id++)
        if (inject->plan.only < 0 ? !inject->ledger->verdicts[id].settled
                                  : (u64)inject->plan.only == id)
            order[inject->order_count++] = id;
    qsort_r(order, inject->order_count, sizeof *order, by_time, inject);
    return order;
}

bool spawn_run(struct hd_inject *inject, const struct hd_inject_host *host, enum role role,
               u64 from, u64 to, struct error *error)
{
    struct fault_process process;
    if (role == ROLE_RUNNER && spawn_shadows(inject, from, to) &&
        !spawn_run(inject, host, ROLE_SHADOW, from, to, error))
        return false;
    u64 *order = spawn_order(inject, from, to);
    inject->order = order;
    inject->next = 0;
    const int pid = process_fork(&process, true);
    if (pid == 0) {
        inject->role = role;
        run_here(inject, host);
    }
    free(order);
    inject->order = NULL;
    if (pid < 0)
        return error_set(error, ERROR_SYSTEM, "", "cannot create a process: %s", strerror(errno));
    spawn_attend(inject, host, &process, to);
    const bool ok = !process_reap(&process);
    if (inject->ledger->failed)
        return error_set(error, ERROR_INPUT, "", "%s%s",
                         role == ROLE_GOLDEN ? "the run without faults: " : "",
                         inject->ledger->message);
    if (!ok)
        return error_set(error, ERROR_SYSTEM, "",
                         "the process of the run without faults was ended: a bug, or the host is "
                         "out of memory");
    return true;
}

bool spawn_replay(struct hd_inject *inject, const struct hd_inject_host *host, u64 id,
                  struct error *error)
{
    struct fault_process process;
    struct hd_error ignored = {0};
    struct hd_result result = {.explanation = ""};
    const int pid = process_fork(&process, true);
    if (pid < 0)
        return error_set(error, ERROR_SYSTEM, "", "cannot create a process: %s", strerror(errno));
    if (pid == 0) {
        inject->role = ROLE_FAULT;
        inject->replays = true;
        inject->host = host;
        inject->launch = 0;
        inject->at = 0;
        follow_begin_fault(inject, id);
        host->run(host->user, inject, &result, &ignored);
        if (host->replayed)
            host->replayed(host->user);
        _exit(0);
    }
    spawn_attend(inject, host, &process, 0);
    return !process_reap(&process) || error_set(error, ERROR_SYSTEM, "", "the replay has failed");
}
