/*
 * Programs that launch kernels themselves.
 *
 *     caller -> program, without faults        its driver joins the campaign and records
 *     caller -> program, again                 its driver forks a process at each fault's cycle
 *               program -> fault, fault, ...   follow their launch; if their fate is not known at
 *                                              its end, they part from the program and return into it
 *
 * A program that has threads cannot be forked in a launch: only the thread that forks would go on. Then
 * each fault runs in a process of its own from the beginning.
 *
 * What processes share is in files of the folder: the plan, the ledger, and behind the ledger the faults.
 */
#include "base/text.h"
#include "fault/campaign.h"
#include "fault/site.h"
#include "gpu/api/api.h"
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    HOST_TIMES = 20,   /* the program's processor time without faults: more is a hang, */
    HOST_SECONDS = 10, /* after this */
    MORE_LAUNCHES = 16,
    PLAN_BYTES = 1 << 20,
};

static char *path_in(const struct hd_inject *inject, const char *name)
{
    char *path;
    if (asprintf(&path, "%s/%s", inject->folder, name) < 0)
        host_memory_exhausted();
    return path;
}

static char *place_of_fault(const struct hd_inject *inject, u64 id)
{
    char name[24];
    snprintf(name, sizeof name, "%" PRIu64, id);
    return path_in(inject, name);
}

struct injection *program_faults(const struct hd_inject *inject)
{
    return (struct injection *)(inject->ledger->verdicts + inject->capacity);
}

/* ---- what processes share ---- */

static size_t ledger_bytes(const struct hd_inject *inject)
{
    return sizeof(struct ledger) +
           inject->capacity * (sizeof(struct fault_verdict) + sizeof(struct injection) +
                               sizeof(struct shadow_end));
}

static bool map_ledger(struct hd_inject *inject, bool create, struct error *error)
{
    char *path = path_in(inject, "ledger");
    inject->ledger_bytes = ledger_bytes(inject);
    inject->ledger = site_map(path, inject->ledger_bytes, create, error);
    if (inject->ledger)
        inject->shadow_ends = (struct shadow_end *)(program_faults(inject) + inject->capacity);
    const bool ok =
        inject->ledger && (!create || site_reserve(path, 0, sizeof(struct ledger), error));
    free(path);
    return ok;
}

/* Takes the room that a range of faults needs. */
static bool reserve_faults(const struct hd_inject *inject, u64 from, u64 to, struct error *error)
{
    const size_t head = sizeof(struct ledger), one = sizeof(struct fault_verdict);
    const size_t faults = head + inject->capacity * one, fault = sizeof(struct injection);
    const size_t ends = faults + inject->capacity * fault, end = sizeof(struct shadow_end);
    char *path = path_in(inject, "ledger");
    const bool ok = site_reserve(path, head + from * one, (to - from) * one, error) &&
                    site_reserve(path, faults + from * fault, (to - from) * fault, error) &&
                    site_reserve(path, ends + from * end, (to - from) * end, error);
    free(path);
    return ok;
}

static bool write_plan(const struct hd_inject *inject, struct error *error)
{
    const struct hd_inject_plan *plan = &inject->plan;
    json_t *files = json_array();
    for (u32 i = 0; i < plan->file_count; i++)
        json_array_append_new(files, json_string(plan->files[i]));
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:I, s:f, s:f, s:f, s:i, s:I, s:I, s:I, s:b, s:o}", "structures",
        plan->structures ? plan->structures : "", "model", plan->model ? plan->model : "bit",
        "words", plan->words ? plan->words : "u32", "seed", (json_int_t)plan->seed, "hang",
        plan->hang, "audit", plan->audit, "tolerance", plan->tolerance, "jobs", (int)plan->jobs,
        "capacity", (json_int_t)inject->capacity, "only", (json_int_t)plan->only, "window",
        (json_int_t)plan->window, "stratify", (int)plan->stratify, "files", files);
    char *path = path_in(inject, "plan.json");
    const bool ok = json && json_dump_file(json, path, JSON_REAL_PRECISION(17)) == 0;
    json_decref(json);
    free(path);
    return ok || error_set(error, ERROR_SYSTEM, inject->folder, "cannot write the plan: %s",
                           strerror(errno));
}

bool program_share(struct hd_inject *inject, struct error *error)
{
    if (!map_ledger(inject, true, error) || !write_plan(inject, error))
        return false;
    inject->ledger->every = FIRST_INTERVAL;
    return true;
}

bool program_join(struct hd_inject *inject, struct error *error)
{
    return map_ledger(inject, false, error);
}

/* ---- the caller: running the program ---- */

static bool start(struct hd_inject *inject, const struct hd_inject_host *host, const char *place,
                  const char *role, struct fault_process *process, struct error *error)
{
    struct hd_error why = {0};
    char *job;
    if (!site_make(place, error))
        return false;
    if (asprintf(&job, "%s:%s", inject->folder, role) < 0)
        host_memory_exhausted();
    const i64 pid = host->start(host->user, place, job, &why);
    free(job);
    if (pid < 0)
        return error_set(error, (enum error_code)why.code, "", "%s", why.message);
    if (process_watch(process, (int)pid))
        return true;
    kill((int)pid, SIGKILL);
    waitpid((int)pid, NULL, 0);
    return error_set(error, ERROR_SYSTEM, "", "cannot wait for a process: %s", strerror(errno));
}

/* The last line that the program has written to standard error, for messages. */
static void last_words(const struct hd_inject *inject, char *text, size_t size)
{
    struct error ignored = {0};
    size_t length = 0;
    char *path = path_in(inject, "work/stderr");
    char *all = text_read_file(path, false, PLAN_BYTES, &length, &ignored);
    while (length && all[length - 1] == '\n')
        all[--length] = '\0';
    const char *line = length ? strrchr(all, '\n') : NULL;
    snprintf(text, size, "%s%.200s", length ? ": " : "", length ? (line ? line + 1 : all) : "");
    free(all);
    free(path);
}

static bool check_golden(struct hd_inject *inject, struct error *error)
{
    const struct ledger *ledger = inject->ledger;
    char why[256];
    last_words(inject, why, sizeof why);
    if (inject->stopped)
        return true;
    if (ledger->failed)
        return error_set(error, ERROR_INPUT, "", "the run without faults: %s", ledger->message);
    if (WIFSIGNALED(ledger->status))
        return error_set(error, ERROR_INPUT, "", "the run without faults was ended by signal %d%s",
                         WTERMSIG(ledger->status), why);
    if (WEXITSTATUS(ledger->status))
        return error_set(error, ERROR_INPUT, "", "the run without faults ended with exit code %d%s",
                         WEXITSTATUS(ledger->status), why);
    if (!ledger->joined)
        return error_set(error, ERROR_INPUT, "",
                         "the program did not use Heddle's OpenCL driver: expected a program that "
                         "'heddle run' runs%s",
                         why);
    return ledger->cycles || error_set(error, ERROR_INPUT, "",
                                       "no launch of the program has taken a cycle: it launched no "
                                       "kernel in timing mode");
}

static u64 child_ms(void)
{
    struct rusage use;
    getrusage(RUSAGE_CHILDREN, &use);
    return (u64)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000 +
           (u64)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1000;
}

/* Whether all files that are to be compared were written. */
static bool check_files(const struct hd_inject *inject, struct error *error)
{
    for (u32 i = 0; i < inject->plan.file_count && !inject->stopped; i++) {
        char name[4200];
        snprintf(name, sizeof name, "golden/cwd/%s", inject->plan.files[i]);
        char *path = path_in(inject, name);
        const bool exists = access(path, R_OK) == 0;
        free(path);
        if (!exists && strcmp(inject->plan.files[i], "-") != 0)
            return error_set(error, ERROR_USAGE, inject->plan.files[i],
                             "the run without faults did not write this file: expected a name "
                             "relative to the program's working folder, or - for standard output");
    }
    return true;
}

bool program_run_golden(struct hd_inject *inject, const struct hd_inject_host *host,
                        struct error *error)
{
    struct fault_process process;
    char *work = path_in(inject, "work"), *golden = path_in(inject, "golden");
    const u64 before = child_ms();
    bool ok = start(inject, host, work, "golden", &process, error);
    if (ok) {
        spawn_attend(inject, host, &process, 0);
        inject->ledger->status = process_reap(&process);
        inject->ledger->cpu_ms = child_ms() - before;
        ok = check_golden(inject, error);
        if (rename(work, golden) != 0 && ok)
            ok = error_set(error, ERROR_SYSTEM, work, "cannot rename: %s", strerror(errno));
        ok = ok && check_files(inject, error);
        inject->ledger->golden = ok;
    }
    free(work);
    free(golden);
    return ok;
}

static bool is_known(const struct hd_inject *inject, u64 id)
{
    const struct fault_verdict *verdict = &inject->ledger->verdicts[id];
    return verdict->effect != HD_EFFECT_NONE || verdict->crashed;
}

/* The program once more, which forks the processes of faults ("runner"), or follows faults beside it
 * ("shadow"). */
static bool run_again(struct hd_inject *inject, const struct hd_inject_host *host, const char *role,
                      struct error *error)
{
    struct fault_process process;
    char *work = path_in(inject, "work");
    bool ok = start(inject, host, work, role, &process, error);
    if (ok) {
        spawn_attend(inject, host, &process, inject->ledger->to);
        const int status = process_reap(&process);
        if (!inject->stopped && !inject->ledger->failed && status != inject->ledger->status)
            spawn_fail(inject, "the program does not repeat itself: its second run without faults "
                               "ended otherwise");
        site_remove(work);
    }
    free(work);
    return ok;
}

/* A process of a fault has ended, which ran from the beginning. */
static void take_end(struct hd_inject *inject, const struct fault_process *process)
{
    struct fault_verdict *verdict = &inject->ledger->verdicts[process->id];
    const int status = process_reap(process);
    if (verdict->effect == HD_EFFECT_NONE && verdict->returned)
        program_judge(inject, process->id, status);
    else if (verdict->effect == HD_EFFECT_NONE)
        verdict->crashed = true;
    char *place = place_of_fault(inject, process->id);
    site_remove(place);
    free(place);
    keep_settle(inject, process->id);
}

static bool start_fault(struct hd_inject *inject, const struct hd_inject_host *host, u64 id,
                        struct error *error)
{
    char role[32], *place = place_of_fault(inject, id);
    struct fault_process *process = &inject->workers[inject->worker_count];
    snprintf(role, sizeof role, "%" PRIu64, id);
    const bool ok = start(inject, host, place, role, process, error);
    process->id = id;
    inject->worker_count += ok;
    free(place);
    return ok;
}

/* Waits until one process at least has ended. */
static void wait_for_one(struct hd_inject *inject, const struct hd_inject_host *host)
{
    const u32 count = inject->worker_count;
    struct pollfd *ends = checked(calloc(count + 1, sizeof *ends));
    for (u32 i = 0; i < count; i++)
        ends[i] = (struct pollfd){.fd = inject->workers[i].pipe, .events = POLLIN};
    while (inject->worker_count == count && !inject->stopped) {
        poll(ends, count, 100);
        keep_note(inject, false);
        if (host->progress &&
            !host->progress(host->user, atomic_load(&inject->ledger->done), inject->ledger->to))
            inject->stopped = true;
        for (u32 i = count; i-- > 0 && !inject->stopped;)
            if (ends[i].revents) {
                take_end(inject, &inject->workers[i]);
                inject->workers[i] = inject->workers[--inject->worker_count];
            }
    }
    free(ends);
}

/* Each fault that is left in a process of its own. */
static bool run_apart(struct hd_inject *inject, const struct hd_inject_host *host, u64 from, u64 to,
                      struct error *error)
{
    bool ok = true;
    for (u64 id = from; id < to && ok && !inject->stopped; id++) {
        if (is_known(inject, id) || (inject->plan.only >= 0 && (u64)inject->plan.only != id))
            continue;
        if (inject->worker_count == inject->plan.jobs)
            wait_for_one(inject, host);
        ok = inject->stopped || start_fault(inject, host, id, error);
    }
    while (inject->worker_count && !inject->stopped)
        wait_for_one(inject, host);
    for (u32 i = 0; i < inject->worker_count; i++) {
        kill(inject->workers[i].pid, SIGKILL);
        process_reap(&inject->workers[i]);
    }
    inject->worker_count = 0;
    return ok;
}

bool program_run_faults(struct hd_inject *inject, const struct hd_inject_host *host, u64 from,
                        u64 to, struct error *error)
{
    struct ledger *ledger = inject->ledger;
    if (!reserve_faults(inject, from, to, error))
        return false;
    memcpy(program_faults(inject) + from, inject->faults + from,
           (to - from) * sizeof *inject->faults);
    ledger->from = from;
    ledger->to = to;
    bool ok = ledger->threaded || !spawn_shadows(inject, from, to) ||
              run_again(inject, host, "shadow", error);
    ok = ok && (ledger->threaded || ledger->failed || run_again(inject, host, "runner", error));
    if (ok && !ledger->failed)
        ok = run_apart(inject, host, from, to, error);
    if (ok && ledger->failed)
        ok = error_set(error, ERROR_INPUT, "", "%s", ledger->message);
    return ok;
}

/* ---- the program's process ---- */

bool program_can_fork(struct hd_inject *inject)
{
    DIR *tasks = opendir("/proc/self/task");
    u32 count = 0;
    while (tasks && readdir(tasks))
        count++;
    if (tasks)
        closedir(tasks);
    if (count <= 3) /* with . and .. */
        return true;
    inject->ledger->threaded = true;
    inject->next = inject->order_count;
    return false;
}

static void limit_host(const struct hd_inject *inject)
{
    struct rusage use;
    struct rlimit limit;
    getrusage(RUSAGE_SELF, &use);
    getrlimit(RLIMIT_CPU, &limit);
    const rlim_t most = (rlim_t)use.ru_utime.tv_sec + (rlim_t)use.ru_stime.tv_sec + HOST_SECONDS +
                        HOST_TIMES * inject->ledger->cpu_ms / 1000;
    limit.rlim_cur = MIN(limit.rlim_max, most);
    setrlimit(RLIMIT_CPU, &limit);
}

/* Leaves what it shares with the process it was forked from. */
static void part(struct hd_inject *inject)
{
    char *place = place_of_fault(inject, inject->follow.id);
    const struct site_kept kept = {inject->ledger, inject->ledger_bytes};
    if (!inject->own) {
        inject->own = place;
        if (!site_part(inject->place, place, inject->end, &kept, 1)) {
            spawn_fail(inject, "cannot make the folder of a fault: %s", strerror(errno));
            _exit(1);
        }
        site_confine(&inject->own, 1);
    } else {
        free(place);
    }
    limit_host(inject);
}

void program_return(struct hd_inject *inject)
{
    struct follow *follow = &inject->follow;
    struct fault_verdict *verdict = &inject->ledger->verdicts[follow->id];
    const struct ledger *ledger = inject->ledger;
    if (inject->launch > MORE_LAUNCHES + inject->plan.hang * ledger->launch_count) {
        follow->verdict.cycles = follow->cycles;
        follow_conclude(inject, HD_EFFECT_HANG);
    }
    if (!verdict->returned)
        part(inject);
    verdict->launches = inject->launch;
    verdict->cycles = follow->cycles;
    verdict->same_end = follow->same_end;
    verdict->claim = follow->claim.decided;
    verdict->claimed = follow->claim.effect;
    verdict->returned = true;
}

/* ---- parking ---- */

/* The file of a parked fault's words. */
static char *words_path(const struct hd_inject *inject, u64 id)
{
    char name[32];
    snprintf(name, sizeof name, "%" PRIu64 ".words", id);
    return path_in(inject, name);
}

bool program_park(struct hd_inject *inject)
{
    struct fault_verdict *verdict = &inject->ledger->verdicts[inject->follow.id];
    char *path = words_path(inject, inject->follow.id);
    FILE *file = verdict->returned ? NULL : fopen(path, "wbe");
    bool ok = file && fwrite(inject->wrong.data, sizeof *inject->wrong.data, inject->wrong.count,
                             file) == inject->wrong.count;
    if (file && fclose(file) != 0)
        ok = false;
    if (!ok)
        unlink(path);
    free(path);
    if (!ok)
        return false;
    verdict->parked = inject->wrong.count;
    _exit(0);
}

/* In the new process: the words are wrong now. */
static void unpark(struct hd_inject *inject)
{
    struct follow *follow = &inject->follow;
    struct fault_verdict *verdict = &inject->ledger->verdicts[follow->id];
    char *path = words_path(inject, follow->id);
    struct error error = {0};
    struct wrong_word word;
    FILE *file = fopen(path, "rbe");
    for (u32 i = 0; i < verdict->parked; i++)
        if (!file || fread(&word, sizeof word, 1, file) != 1 ||
            !memory_write(inject->device->memory, word.address, word.wrong, sizeof word.wrong,
                          &error)) {
            spawn_fail(inject, "cannot read the words of a fault: %s", strerror(errno));
            _exit(1);
        }
    fclose(file);
    unlink(path);
    free(path);
    verdict->parked = 0;
    verdict->woken = true;
    follow->armed = follow->struck = true;
    follow->same_end = false;
    program_return(inject);
}

/* The launch has ended: faults that are parked go on. True in a process of one. */
static bool wake_parked(struct hd_inject *inject)
{
    for (u64 i = 0; i < inject->order_count; i++) {
        const u64 id = inject->order[i];
        if (!inject->ledger->verdicts[id].parked)
            continue;
        if (spawn_again(inject, id)) {
            unpark(inject);
            return true;
        }
    }
    return false;
}

bool hd_inject_launched(struct hd_inject *inject, const struct hd_result *result)
{
    struct fault_verdict *verdict = &inject->follow.verdict;
    if (inject->role == ROLE_GOLDEN) {
        inject->ledger->launch_count = inject->launch;
        touch_finish(inject);
        if (inject->launch > MOST_LAUNCHES)
            spawn_fail(inject, "the program has too many launches");
        else if (result && result->outcome != HD_DONE)
            spawn_fail(inject, "%s", result->explanation);
    }
    if (inject->role == ROLE_RUNNER) {
        if (wake_parked(inject))
            return true;
        spawn_wait(inject, 0, true); /* as in spawn_moment */
        return false;
    }
    if (inject->role != ROLE_FAULT || (!inject->follow.struck && !inject->follow.armed))
        return inject->role == ROLE_FAULT;
    verdict->cycles = inject->follow.cycles;
    if (!result) {
        snprintf(verdict->detail, sizeof verdict->detail, "refused");
        snprintf(verdict->explanation, sizeof verdict->explanation,
                 "the program tried a launch that cannot run");
        follow_conclude(inject, HD_EFFECT_DUE);
    }
    if (follow_outcome(verdict, result))
        follow_conclude(inject, (enum hd_effect)verdict->effect);
    return true;
}

void hd_inject_leave(struct hd_inject *inject)
{
    if (inject && inject->role == ROLE_RUNNER)
        spawn_wait(inject, 0, false);
}

bool hd_inject_confine(const char *const *folders, uint32_t count)
{
    return site_confine(folders, count);
}

bool hd_inject_threaded(const struct hd_inject *inject)
{
    return inject->ledger->threaded;
}

/* ---- its end ---- */

static enum hd_effect effect_of_end(const struct hd_inject *inject, const char *place, int status,
                                    struct fault_verdict *verdict)
{
    const struct ledger *ledger = inject->ledger;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
        snprintf(verdict->detail, sizeof verdict->detail, "host");
        snprintf(verdict->explanation, sizeof verdict->explanation,
                 "the program, outside of launches, took more than %d times its processor time",
                 HOST_TIMES);
        return HD_EFFECT_HANG;
    }
    if (WIFSIGNALED(status)) {
        snprintf(verdict->detail, sizeof verdict->detail, "signal_%d", WTERMSIG(status));
        snprintf(verdict->explanation, sizeof verdict->explanation,
                 "the program was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
        return HD_EFFECT_DUE;
    }
    const bool differs = judge_files(inject, place, verdict);
    if (status != ledger->status) {
        if (!verdict->wrong++)
            snprintf(verdict->output, sizeof verdict->output, "exit code");
        snprintf(verdict->detail, sizeof verdict->detail, "exit_%d", WEXITSTATUS(status));
    }
    if (differs || status != ledger->status)
        return HD_EFFECT_SDC;
    if (verdict->cycles != ledger->cycles || verdict->launches != ledger->launch_count)
        return HD_EFFECT_TIME;
    return verdict->same_end ? HD_EFFECT_MASKED : HD_EFFECT_GRAY;
}

void program_judge(struct hd_inject *inject, u64 id, int status)
{
    struct fault_verdict *verdict = &inject->ledger->verdicts[id];
    char *place = place_of_fault(inject, id);
    const enum hd_effect effect = effect_of_end(inject, place, status, verdict);
    verdict->audited = verdict->claim != DECIDED_NOT;
    verdict->disagrees = verdict->audited && effect != (enum hd_effect)verdict->claimed;
    verdict->decided = verdict->audited ? verdict->claim
                       : verdict->woken ? DECIDED_WRITTEN
                                        : DECIDED_END;
    if (verdict->audited && !verdict->disagrees)
        verdict->cycles = 0; /* an audit is not to be seen (J2) */
    verdict->effect = (u8)effect;
    site_remove(place);
    free(place);
}
