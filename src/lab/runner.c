/* Points on an executor: see runner.h. */
#include "lab/runner.h"

#include "base/text.h"
#include "heddle/heddle.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    TICK_MS = 200
};

/* A point that waits. */
struct waiting_point {
    u32 index;     /* in the survey */
    float seconds; /* expected; 0: unknown */
};

/* A point that runs. */
struct running_point {
    u32 index; /* in the survey */
    f64 started, expected;
};

struct runner {
    struct plan *plan;
    const struct survey *survey;
    struct store *store;
    struct executor *executor;
    const struct runner_options *options;
    struct runner_result *result;
    struct error *error;
    VEC(struct waiting_point) order; /* the longest first */
    VEC(u32) deferred;               /* points that other processes run, by index in the survey */
    VEC(struct running_point) running;
    u32 *running_at;   /* by index in the survey: where in `running` a point that runs is */
    u32 next;          /* in order */
    f64 known;         /* expected seconds of those that wait */
    u64 unknown;       /* those that wait without an expectation */
    f64 spent;         /* seconds of points that ended here */
    u32 peak;          /* most points that ran at a time */
    u64 failed_before; /* stored failures that are not run again */
    bool stopping;
};

static f64 now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (f64)time.tv_sec + (f64)time.tv_nsec * 1e-9;
}

/* ---- what waits ---- */

static bool runs_again(const struct runner *runner, const char *status)
{
    const char *retry = runner->options->retry;
    return retry && (!*retry || !strcmp(retry, status));
}

/* How long programs usually take, by program of the survey. */
static f64 *usual_durations(struct runner *runner)
{
    const struct survey *survey = runner->survey;
    f64 *seconds = checked(calloc(survey->programs.count + 1, sizeof *seconds));
    for (u32 i = 0; i < survey->programs.count; i++) {
        const struct survey_program *one = &survey->programs.data[i];
        seconds[i] = store_seconds(runner->store, one->workload, one->arguments);
        if (seconds[i] <= 0)
            seconds[i] = one->expected;
    }
    return seconds;
}

static bool consider(struct runner *runner, u32 index, f64 seconds)
{
    struct arena *arena = arena_create();
    struct stored_result stored;
    char key[SHA256_TEXT];
    enum stored_state state = STORED_NOTHING;
    surveyed_key(&runner->survey->points.data[index], key);
    if (!runner->options->force)
        state = store_find(runner->store, key, false, arena, &stored, runner->error);
    if (state == STORED_FAILED && runs_again(runner, stored.status))
        state = STORED_NOTHING;
    arena_destroy(arena);
    runner->result->stored += state != STORED_NOTHING;
    runner->failed_before += state == STORED_FAILED;
    if (runner->error->code != ERROR_NONE || state != STORED_NOTHING)
        return runner->error->code == ERROR_NONE;
    runner->known += seconds;
    runner->unknown += seconds <= 0;
    *(struct waiting_point *)vec_push(&runner->order) =
        (struct waiting_point){index, (float)seconds};
    return true;
}

static int longer(const void *a, const void *b)
{
    const struct waiting_point *first = a, *second = b;
    if (first->seconds != second->seconds)
        return first->seconds > second->seconds ? -1 : 1;
    return first->index < second->index ? -1 : 1;
}

static bool prepare(struct runner *runner)
{
    const struct survey *survey = runner->survey;
    f64 *seconds = usual_durations(runner);
    bool ok = true;
    for (u32 i = 0; ok && i < survey->points.count; i++)
        ok = consider(runner, i, seconds[survey->points.data[i].program]);
    free(seconds);
    runner->running_at = checked(calloc(survey->points.count + 1, sizeof *runner->running_at));
    if (runner->order.count)
        qsort(runner->order.data, runner->order.count, sizeof *runner->order.data, longer);
    return ok;
}

/* ---- starting ---- */

/* Whether a point is still to be run by this process: another may have done it, or be doing it. The
 * claim comes first: between a look at the results and a claim, another process could end its run. */
static bool is_ours(struct runner *runner, u32 index, const char *key, bool *ours)
{
    struct error *error = runner->error;
    if (!store_claim(runner->store, key, ours, error))
        return false;
    if (!*ours) {
        *vec_push(&runner->deferred) = index;
        return true;
    }
    struct arena *arena = arena_create();
    struct stored_result stored;
    enum stored_state state = STORED_NOTHING;
    if (!runner->options->force)
        state = store_find(runner->store, key, false, arena, &stored, error);
    const bool again = state == STORED_FAILED && runs_again(runner, stored.status);
    arena_destroy(arena);
    if (error->code == ERROR_NONE && (state == STORED_NOTHING || again))
        return true;
    *ours = false;
    runner->result->stored += error->code == ERROR_NONE;
    runner->failed_before += state == STORED_FAILED;
    return store_release(runner->store, key,
                         error->code == ERROR_NONE ? error : &(struct error){0}) &&
           error->code == ERROR_NONE;
}

static void add_running(struct runner *runner, u32 index, f64 expected)
{
    runner->running_at[index] = runner->running.count;
    *(struct running_point *)vec_push(&runner->running) =
        (struct running_point){index, now(CLOCK_MONOTONIC), expected};
    runner->peak = MAX(runner->peak, runner->running.count);
}

static void remove_running(struct runner *runner, u32 index)
{
    const struct running_point last = runner->running.data[--runner->running.count];
    runner->running.data[runner->running_at[index]] = last;
    runner->running_at[last.index] = runner->running_at[index];
}

static bool start(struct runner *runner, u32 index, f64 expected)
{
    const struct surveyed *surveyed = &runner->survey->points.data[index];
    struct arena *arena = arena_create();
    struct point point;
    bool ours = false;
    plan_command(runner->plan, surveyed->number, arena, &point);
    surveyed_key(surveyed, point.key);
    bool ok = is_ours(runner, index, point.key, &ours);
    if (ok && ours) {
        ok = runner->executor->kind->start(runner->executor, &point, surveyed->number,
                                           runner->error);
        if (ok)
            add_running(runner, index, expected);
        else
            store_release(runner->store, point.key, &(struct error){0});
    }
    arena_destroy(arena);
    return ok;
}

static bool start_waiting(struct runner *runner)
{
    const struct executor_kind *kind = runner->executor->kind;
    bool ok = true;
    for (u32 room = kind->room(runner->executor);
         ok && room && runner->next < runner->order.count && !runner->stopping;
         room = kind->room(runner->executor)) {
        const struct waiting_point *one = &runner->order.data[runner->next++];
        runner->known -= one->seconds;
        runner->unknown -= one->seconds <= 0;
        ok = start(runner, one->index, one->seconds);
    }
    return ok;
}

/* Looks again at points that other processes were running. */
static bool start_deferred(struct runner *runner)
{
    u32 count = runner->deferred.count;
    bool ok = true;
    for (u32 i = 0; ok && i < count && !runner->stopping; i++) {
        if (!runner->executor->kind->room(runner->executor))
            break;
        const u32 index = runner->deferred.data[0];
        memmove(runner->deferred.data, runner->deferred.data + 1,
                --runner->deferred.count * sizeof index);
        ok = start(runner, index, 0);
    }
    return ok;
}

/* ---- ending ---- */

static void keep_log(const struct runner *runner, const char *key, const char *log)
{
    enum {
        LOG_LIMIT = 1 << 24
    };
    struct error error = {0};
    size_t length;
    char *text = log && runner->options->logs
                     ? text_read_file(log, false, LOG_LIMIT, &length, &error)
                     : NULL;
    if (!text)
        return;
    char *path;
    if (asprintf(&path, "%s/%.16s.log", runner->options->logs, key) < 0)
        host_memory_exhausted();
    mkdir(runner->options->logs, 0777);
    FILE *file = fopen(path, "we");
    if (file) {
        fwrite(text, 1, length, file);
        fclose(file);
    }
    free(path);
    free(text);
}

/* Stores a result. Statistics of a run contain the configuration; a row without them, or of a report,
 * has it itself. */
static bool keep(struct runner *runner, const struct ended_run *run, struct point *point,
                 struct arena *arena)
{
    if ((!run->statistics || point->report) &&
        !plan_point(runner->plan, run->number, arena, point, runner->error))
        return false;
    struct stored_result result = {.version = hd_version(),
                                   .build = runner->plan->build,
                                   .workload = point->workload,
                                   .arguments = point->arguments,
                                   .machine = point->machine,
                                   .configuration = point->configuration,
                                   .status = run->outcome.status,
                                   .message = run->outcome.message,
                                   .statistics = run->statistics,
                                   .seconds = run->seconds};
    memcpy(result.key, point->key, sizeof result.key);
    return store_put(runner->store, &result, runner->error);
}

/* Takes a result of a point, or its failure. */
static bool take(struct runner *runner, const struct ended_run *run, struct point *point,
                 struct arena *arena)
{
    const bool done = !strcmp(run->outcome.status, "done");
    if (!done)
        keep_log(runner, point->key, run->log);
    bool ok = keep(runner, run, point, arena);
    runner->result->ran++;
    runner->result->failed += !done;
    runner->spent += run->seconds;
    if (!done && runner->options->fail_fast && !runner->stopping) {
        runner->result->cut_short = runner->stopping = true;
        runner->executor->kind->stop(runner->executor, false);
    }
    return ok;
}

/* Handles a point that has ended. One that was stopped with the runner has no result, nor has one for
 * whose statistics there was no room: all that follow would meet the same. */
static bool finish(struct runner *runner, const struct ended_run *run)
{
    struct arena *arena = arena_create();
    const u32 index = runner->survey->of[run->number];
    const bool stopped = runner->stopping && strcmp(run->outcome.status, "done") != 0;
    struct point point;
    bool ok = true;
    plan_command(runner->plan, run->number, arena, &point);
    surveyed_key(&runner->survey->points.data[index], point.key);
    remove_running(runner, index);
    if (stopped || run->full)
        ok = store_release(runner->store, point.key, runner->error);
    else
        ok = take(runner, run, &point, arena);
    if (ok && run->full && !stopped)
        ok = error_set(
            runner->error, ERROR_SYSTEM, run->full,
            "no room is left for the statistics of a run; TMPDIR may name another folder");
    arena_destroy(arena);
    return ok;
}

static bool collect(struct runner *runner)
{
    bool ok = true;
    for (bool more = true; ok && more;) {
        struct arena *arena = arena_create();
        struct ended_run run = {0};
        more = runner->executor->kind->next(runner->executor, arena, &run, runner->error);
        ok = runner->error->code == ERROR_NONE;
        if (more)
            ok = finish(runner, &run);
        if (more && ok && runner->executor->kind->forget)
            runner->executor->kind->forget(runner->executor);
        free(run.statistics);
        arena_destroy(arena);
    }
    return ok;
}

/* ---- progress ---- */

/* Estimates the remaining time; points of unknown duration count as long as the average so far. */
static f64 seconds_left(const struct runner *runner)
{
    f64 usual = runner->result->ran ? runner->spent / (f64)runner->result->ran : 0;
    f64 sum = runner->known + (f64)runner->unknown * usual, time = now(CLOCK_MONOTONIC);
    bool known = runner->result->ran || runner->known > 0;
    for (u32 i = 0; i < runner->running.count; i++) {
        const struct running_point *one = &runner->running.data[i];
        known |= one->expected > 0;
        sum += MAX((one->expected > 0 ? one->expected : usual) - (time - one->started), 0.0);
    }
    return known ? sum / MAX(runner->peak, 1) : -1;
}

static void tell_progress(struct runner *runner, runner_tell *tell, void *user)
{
    struct runner_progress progress = {.done = runner->result->stored + runner->result->ran,
                                       .failed = runner->result->failed + runner->failed_before,
                                       .running = runner->running.count,
                                       .total = runner->survey->points.count,
                                       .left = seconds_left(runner),
                                       .label = ""};
    struct arena *arena = arena_create();
    const struct running_point *first = NULL;
    for (u32 i = 0; i < runner->running.count; i++)
        if (!first || runner->running.data[i].started < first->started)
            first = &runner->running.data[i];
    if (first) {
        u64 number = runner->survey->points.data[first->index].number;
        const struct planned *planned = plan_part(runner->plan, &number);
        progress.label = space_label(arena, &planned->experiment->space, number);
    }
    tell(user, &progress);
    arena_destroy(arena);
}

/* ---- the loop ---- */

/* Takes a signal; the second one ends the points at once. */
static void interrupted(struct runner *runner, int number)
{
    runner->executor->kind->stop(runner->executor, runner->result->signal);
    runner->result->signal = number;
    runner->stopping = true;
}

static bool loop(struct runner *runner, const sigset_t *set, runner_tell *tell, void *user)
{
    const struct timespec tick = {.tv_nsec = TICK_MS * 1000000l};
    const struct executor_kind *kind = runner->executor->kind;
    bool ok = true;
    f64 told = 0;
    for (;;) {
        if (ok && !runner->stopping)
            ok = start_waiting(runner) && start_deferred(runner) &&
                 (!kind->submit || kind->submit(runner->executor, runner->error));
        if (!ok && !runner->stopping) { /* results cannot be stored: stop */
            runner->stopping = true;
            kind->stop(runner->executor, false);
        }
        if (!runner->running.count && (!runner->deferred.count || runner->stopping))
            return ok;
        if (tell && now(CLOCK_MONOTONIC) - told >= TICK_MS * 1e-3) {
            told = now(CLOCK_MONOTONIC);
            tell_progress(runner, tell, user);
        }
        store_show_life(runner->store);
        int number = sigtimedwait(set, NULL, &tick);
        if (number == SIGINT || number == SIGTERM || number == SIGHUP)
            interrupted(runner, number);
        ok &= collect(runner);
    }
}

static void runner_free(struct runner *runner)
{
    vec_free(&runner->order);
    vec_free(&runner->deferred);
    vec_free(&runner->running);
    free(runner->running_at);
}

bool runner_run(struct plan *plan, const struct survey *survey, struct store *store,
                struct executor *executor, const struct runner_options *options, runner_tell *tell,
                void *user, struct runner_result *result, struct error *error)
{
    struct runner runner = {.plan = plan,
                            .survey = survey,
                            .store = store,
                            .executor = executor,
                            .options = options,
                            .result = result,
                            .error = error};
    static const int numbers[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP};
    sigset_t set, old;
    f64 start_time = now(CLOCK_PROCESS_CPUTIME_ID);
    *error = (struct error){0};
    *result = (struct runner_result){0};
    sigemptyset(&set);
    for (u32 i = 0; i < ARRAY_LEN(numbers); i++)
        sigaddset(&set, numbers[i]);
    sigprocmask(SIG_BLOCK, &set, &old);
    bool ok = prepare(&runner) && loop(&runner, &set, tell, user);
    result->failed += runner.failed_before;
    result->busy = now(CLOCK_PROCESS_CPUTIME_ID) - start_time;
    sigprocmask(SIG_SETMASK, &old, NULL);
    runner_free(&runner);
    return ok;
}
