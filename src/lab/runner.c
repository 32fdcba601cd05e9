/* Jobs as processes: see runner.h. */
#include "lab/runner.h"

#include "base/workers.h"
#include "heddle/heddle.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TICK_MS = 200,
    GRACE_SECONDS = 5, /* between SIGTERM and SIGKILL */
    STATISTICS_LIMIT = 1 << 30,
    LOG_LIMIT = 1 << 20,
    EXIT_OWN = 125 /* 125 to 127: `heddle run` itself failed */
};

struct job_slot {
    u32 job; /* NO_JOB: free */
    pid_t pid;
    f64 started, asked; /* times; asked: of the request to end, or 0 */
    bool late;          /* it was asked to end because of its time limit */
};

struct runner {
    struct plan *plan;
    struct store *store;
    const struct runner_options *options;
    struct error *error;
    char *folder; /* for statistics and logs */
    struct job_slot *slots;
    u32 *order; /* waiting jobs, the longest first */
    u32 next, count;
    u32 done, failed;
    f64 spent; /* seconds of jobs that ended here */
    u32 ended;
    int signal;
};

static f64 now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (f64)time.tv_sec + (f64)time.tv_nsec * 1e-9;
}

static char *file_of(const struct runner *runner, u32 job, const char *kind)
{
    char *path;
    if (asprintf(&path, "%s/%u.%s", runner->folder, job, kind) < 0)
        host_memory_exhausted();
    return path;
}

/* ---- stored results ---- */

/* Drops launches and profile, which are most of the text and not used by formulas. */
static json_t *kept(json_t *statistics)
{
    json_object_del(statistics, "launches");
    json_object_del(statistics, "sums");
    json_object_del(statistics, "profile");
    return statistics;
}

static bool look_up(struct runner *runner, struct job *job)
{
    char *text = store_get(runner->store, job->key, runner->error);
    if (!text)
        return runner->error->code == ERROR_NONE;
    json_t *statistics = json_loads(text, 0, NULL);
    free(text);
    if (!statistics)
        return true; /* unreadable: run it again */
    job->statistics = kept(statistics);
    job->state = JOB_DONE;
    runner->done++;
    return true;
}

struct sorted {
    u32 job;
    f64 seconds;
};

static int longer(const void *a, const void *b)
{
    const struct sorted *first = a, *second = b;
    if (first->seconds != second->seconds)
        return first->seconds > second->seconds ? -1 : 1;
    return first->job < second->job ? -1 : 1;
}

static bool prepare(struct runner *runner)
{
    struct plan *plan = runner->plan;
    struct sorted *list = checked(calloc(plan->jobs.count + 1, sizeof *list));
    bool ok = true;
    for (u32 i = 0; ok && i < plan->jobs.count; i++) {
        struct job *job = &plan->jobs.data[i];
        if (!runner->options->force)
            ok = look_up(runner, job);
        if (job->state != JOB_WAITING)
            continue;
        f64 seconds = store_seconds(runner->store, job->workload, job->arguments);
        if (seconds > 0)
            job->expected = seconds;
        list[runner->count++] = (struct sorted){i, job->expected};
    }
    qsort(list, runner->count, sizeof *list, longer);
    runner->order = checked(calloc(runner->count + 1, sizeof *runner->order));
    for (u32 i = 0; i < runner->count; i++)
        runner->order[i] = list[i].job;
    free(list);
    return ok;
}

/* ---- starting ---- */

/* HEDDLE_THREADS=auto means all cores of the host: jobs that run at a time share them. */
static void share_host(u32 jobs)
{
    const char *threads = getenv("HEDDLE_THREADS");
    char share[16];
    if (!threads || strcmp(threads, "auto") != 0)
        return;
    snprintf(share, sizeof share, "%u", MAX(workers_host_cores() / jobs, 1));
    setenv("HEDDLE_THREADS", share, 1);
}

static void become(const struct runner *runner, const struct job *job, u32 index, pid_t parent)
{
    char *statistics = file_of(runner, index, "json"), *log = file_of(runner, index, "log");
    u32 count = 0, own = 0, at;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    setpgid(0, 0);                    /* a terminal's Ctrl-C goes to the runner only */
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* R2 */
    if (getppid() != parent)
        _exit(EXIT_OWN);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int file = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (null < 0 || file < 0 || dup2(null, 0) < 0 || dup2(file, 1) < 0 || dup2(file, 2) < 0)
        _exit(EXIT_OWN);
    while (job->words[count])
        count++;
    while (job->program[own])
        own++;
    const char **words = checked(calloc(count + own + 4, sizeof *words));
    memcpy(words, job->words, count * sizeof *words);
    words[count++] = "--stats";
    words[count++] = statistics;
    if (own)
        words[count++] = "--";
    for (at = 0; at < own; at++)
        words[count++] = job->program[at];
    share_host(runner->options->parallel);
    execv(runner->plan->host->heddle, (char *const *)words);
    _exit(EXIT_OWN + 2);
}

static bool start(struct runner *runner, struct job_slot *slot)
{
    u32 index = runner->order[runner->next];
    struct job *job = &runner->plan->jobs.data[index];
    pid_t parent = getpid(), pid = fork();
    if (pid < 0)
        return error_set(runner->error, ERROR_SYSTEM, "", "cannot start a process: %s",
                         strerror(errno));
    if (pid == 0)
        become(runner, job, index, parent);
    setpgid(pid, pid); /* parent and child both set it: either may run first */
    *slot = (struct job_slot){.job = index, .pid = pid, .started = now()};
    runner->next++;
    return true;
}

/* ---- ending ---- */

/* The last line that a job printed: the program's own, if any, rather than heddle's. */
static const char *last_line(struct runner *runner, u32 index)
{
    struct arena *arena = runner->plan->arena;
    struct error error = {0};
    size_t length;
    char *path = file_of(runner, index, "log"), *rest = NULL;
    char *text = text_read_file(path, false, LOG_LIMIT, &length, &error);
    const char *last = "", *own = "";
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest)) {
        last = line;
        if (strncmp(line, "heddle", 6) != 0)
            own = line;
    }
    const char *copy = shown_text(arena, *own ? own : last, 300);
    free(text);
    free(path);
    return copy;
}

/* The outcome of the first launch that failed, or NULL. */
static const char *bad_launch(struct arena *arena, const json_t *statistics)
{
    const json_t *launches = json_object_get(statistics, "launches");
    for (size_t i = 0; i < json_array_size(launches); i++) {
        const json_t *launch = json_array_get(launches, i);
        const char *outcome = json_string_value(json_object_get(launch, "outcome"));
        const char *kernel = json_string_value(json_object_get(launch, "kernel"));
        if (!outcome || strcmp(outcome, "done") != 0)
            return arena_printf(arena, "kernel %s: %s", kernel ? kernel : "?",
                                outcome ? outcome : "?");
    }
    return NULL;
}

/* Sets the job's status, "done" or the kind of failure, and its message. */
static void judge(struct runner *runner, const struct job_slot *slot, int status,
                  json_t *statistics)
{
    struct job *job = &runner->plan->jobs.data[slot->job];
    struct arena *arena = runner->plan->arena;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    const char *launch = bad_launch(arena, statistics);
    job->message = last_line(runner, slot->job);
    if (slot->late) {
        job->status = "time-out";
        job->message = arena_printf(arena, "stopped after %g s", runner->options->max_seconds);
    } else if (code >= EXIT_OWN && code <= EXIT_OWN + 2) {
        job->status = "not run";
    } else if (launch) {
        job->status = "fault";
        job->message = launch;
    } else if (code >= 128) {
        job->status = "died";
        job->message = arena_printf(arena, "signal %d: %s", code - 128, job->message);
    } else if (code) {
        job->status = "wrong";
    } else if (!json_array_size(json_object_get(statistics, "launches"))) {
        job->status = "not run";
        job->message = "no kernel was launched";
    } else {
        job->status = "done";
        job->message = "";
    }
}

static json_t *read_statistics(struct runner *runner, u32 index)
{
    char *path = file_of(runner, index, "json");
    struct error error = {0};
    size_t length;
    char *text = text_read_file(path, false, STATISTICS_LIMIT, &length, &error);
    json_t *json = text ? json_loadb(text, length, 0, NULL) : NULL;
    json_object_del(json, "host"); /* the only part that differs between two runs */
    free(text);
    free(path);
    return json;
}

static bool keep(struct runner *runner, const struct job_slot *slot, const json_t *statistics)
{
    const struct job *job = &runner->plan->jobs.data[slot->job];
    char *text = statistics ? json_dumps(statistics, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    struct stored_result result = {.version = hd_version(),
                                   .build = runner->plan->build,
                                   .workload = job->workload,
                                   .arguments = job->arguments,
                                   .machine = job->machine,
                                   .configuration = job->configuration,
                                   .status = job->status,
                                   .message = job->message,
                                   .statistics = text,
                                   .seconds = now() - slot->started};
    memcpy(result.key, job->key, sizeof result.key);
    bool ok = store_put(runner->store, &result, runner->error);
    free(text);
    return ok;
}

static void forget_files(const struct runner *runner, u32 index)
{
    static const char *const kinds[] = {"json", "log"};
    for (u32 i = 0; i < ARRAY_LEN(kinds); i++) {
        char *path = file_of(runner, index, kinds[i]);
        unlink(path);
        free(path);
    }
}

static bool finish(struct runner *runner, struct job_slot *slot, int status)
{
    struct job *job = &runner->plan->jobs.data[slot->job];
    bool ok = true;
    if (!runner->signal) { /* the result of a job that was stopped with the runner is ignored */
        json_t *statistics = read_statistics(runner, slot->job);
        judge(runner, slot, status, statistics);
        ok = keep(runner, slot, statistics);
        bool done = !strcmp(job->status, "done");
        job->state = done ? JOB_DONE : JOB_FAILED;
        job->statistics = done ? kept(json_incref(statistics)) : NULL;
        json_decref(statistics);
        runner->done++;
        runner->failed += !done;
        runner->spent += now() - slot->started;
        runner->ended++;
    }
    forget_files(runner, slot->job);
    slot->job = NO_JOB;
    return ok;
}

/* ---- the loop ---- */

static void stop_late(struct runner *runner)
{
    f64 time = now();
    for (u32 i = 0; i < runner->options->parallel; i++) {
        struct job_slot *slot = &runner->slots[i];
        if (slot->job == NO_JOB)
            continue;
        f64 limit = runner->options->max_seconds;
        bool late = limit > 0 && time - slot->started >= limit;
        if (!slot->asked && (late || runner->signal)) {
            slot->late = late && !runner->signal;
            slot->asked = time;
            kill(-slot->pid, SIGTERM);
        } else if (slot->asked && time - slot->asked >= GRACE_SECONDS) {
            kill(-slot->pid, SIGKILL);
        }
    }
}

static bool reap(struct runner *runner)
{
    bool ok = true;
    for (u32 i = 0; i < runner->options->parallel; i++) {
        struct job_slot *slot = &runner->slots[i];
        int status;
        if (slot->job != NO_JOB && waitpid(slot->pid, &status, WNOHANG) == slot->pid)
            ok &= finish(runner, slot, status);
    }
    return ok;
}

static u32 running(const struct runner *runner)
{
    u32 count = 0;
    for (u32 i = 0; i < runner->options->parallel; i++)
        count += runner->slots[i].job != NO_JOB;
    return count;
}

/* Estimates the remaining time; jobs of unknown duration count as long as the average so far. */
static f64 seconds_left(const struct runner *runner)
{
    const struct job *jobs = runner->plan->jobs.data;
    f64 usual = runner->ended ? runner->spent / runner->ended : 0, sum = 0, time = now();
    bool known = runner->ended;
    for (u32 i = runner->next; i < runner->count; i++) {
        f64 expected = jobs[runner->order[i]].expected;
        known |= expected > 0;
        sum += expected > 0 ? expected : usual;
    }
    for (u32 i = 0; i < runner->options->parallel; i++)
        if (runner->slots[i].job != NO_JOB) {
            f64 expected = jobs[runner->slots[i].job].expected;
            known |= expected > 0;
            sum += MAX((expected > 0 ? expected : usual) - (time - runner->slots[i].started), 0.0);
        }
    return known ? sum / runner->options->parallel : -1;
}

static void tell_progress(const struct runner *runner, runner_tell *tell, void *user)
{
    struct runner_progress progress = {.done = runner->done,
                                       .failed = runner->failed,
                                       .running = running(runner),
                                       .total = runner->plan->jobs.count,
                                       .left = seconds_left(runner),
                                       .label = ""};
    f64 first = 0;
    for (u32 i = 0; i < runner->options->parallel; i++) {
        const struct job_slot *slot = &runner->slots[i];
        if (slot->job != NO_JOB && (!first || slot->started < first)) {
            first = slot->started;
            progress.label = runner->plan->jobs.data[slot->job].label;
        }
    }
    if (tell)
        tell(user, &progress);
}

/* Whether the next job is still to be run: another process may have done it in the meantime. */
static bool still_waiting(struct runner *runner)
{
    struct job *job = &runner->plan->jobs.data[runner->order[runner->next]];
    if (!runner->options->force && !look_up(runner, job))
        return false;
    if (job->state == JOB_WAITING)
        return true;
    runner->next++;
    return false;
}

static bool loop(struct runner *runner, const sigset_t *set, runner_tell *tell, void *user)
{
    const struct timespec tick = {.tv_nsec = TICK_MS * 1000000l};
    bool ok = true;
    for (;;) {
        for (u32 i = 0; ok && !runner->signal && i < runner->options->parallel; i++)
            while (ok && runner->slots[i].job == NO_JOB && runner->next < runner->count)
                if (still_waiting(runner))
                    ok = start(runner, &runner->slots[i]);
                else
                    ok = runner->error->code == ERROR_NONE;
        if (!running(runner))
            return ok;
        tell_progress(runner, tell, user);
        int number = sigtimedwait(set, NULL, &tick);
        if (number == SIGINT || number == SIGTERM || number == SIGHUP) {
            if (runner->signal) /* second signal */
                for (u32 i = 0; i < runner->options->parallel; i++)
                    if (runner->slots[i].job != NO_JOB)
                        kill(-runner->slots[i].pid, SIGKILL);
            runner->signal = number;
        }
        ok &= reap(runner);
        if (!ok && !runner->signal)
            runner->signal = SIGTERM; /* results cannot be stored: stop */
        stop_late(runner);
    }
}

static bool make_folder(struct runner *runner)
{
    const char *where = getenv("TMPDIR");
    if (asprintf(&runner->folder, "%s/heddle-lab-XXXXXX", where && *where ? where : "/tmp") < 0)
        host_memory_exhausted();
    if (mkdtemp(runner->folder))
        return true;
    error_fill(runner->error, ERROR_SYSTEM, runner->folder, "cannot create a folder: %s",
               strerror(errno));
    return false;
}

bool runner_run(struct plan *plan, struct store *store, const struct runner_options *options,
                runner_tell *tell, void *user, int *signal, struct error *error)
{
    struct runner runner = {.plan = plan, .store = store, .options = options, .error = error};
    sigset_t set, old;
    static const int numbers[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP};
    *error = (struct error){0};
    sigemptyset(&set);
    for (u32 i = 0; i < ARRAY_LEN(numbers); i++)
        sigaddset(&set, numbers[i]);
    runner.slots = checked(calloc(options->parallel, sizeof *runner.slots));
    for (u32 i = 0; i < options->parallel; i++)
        runner.slots[i].job = NO_JOB;
    sigprocmask(SIG_BLOCK, &set, &old);
    bool ok = prepare(&runner) && make_folder(&runner);
    if (ok) {
        ok = loop(&runner, &set, tell, user);
        rmdir(runner.folder);
    }
    *signal = ok ? runner.signal : 0;
    sigprocmask(SIG_SETMASK, &old, NULL);
    free(runner.folder);
    free(runner.order);
    free(runner.slots);
    return ok;
}
