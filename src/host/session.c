/*
 * Choices of the environment, and records of what happens.
 *
 * HEDDLE_MACHINE, HEDDLE_SET, HEDDLE_MECH and HEDDLE_FUNCTIONAL choose the devices; HEDDLE_KERNELS,
 * HEDDLE_LAUNCHES and HEDDLE_FUNCTIONAL_UNTIL choose the launches in timing mode. With
 * HEDDLE_SESSION, a folder, events are appended to a file of this process there, one line of JSON
 * each (cli/session.h lists them). Launches have a line each up to LAUNCHES_RECORDED, those of
 * HEDDLE_LAUNCHES whatever their number, and all that failed; the others are summed up by kernel
 * (sums.c), so that a program with many launches is not slowed down and its file stays small.
 *
 * With HEDDLE_INJECT, a fault campaign runs the program (heddle/inject.h): the first device joins it.
 *
 * With HEDDLE_PROGRESS as well, the progress of launches is written there (progress.h).
 *
 *  S1  A line is written by one call, when its event has happened: a killed program loses only what
 *      was in progress.
 *  S2  While a launch runs, SIGINT and SIGTERM with default handling stop the launch first, and
 *      then take effect.
 */
#include "host/session.h"

#include "host/progress.h"
#include "host/sums.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/text.h"
#include "heddle/inject.h"
#include <fcntl.h>
#include <jansson.h>
#include <regex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    SIGNALS = 2,
    EXIT_NOT_JOINED = 125 /* of 'heddle run': any failure of Heddle's own */
};
static const int signals[SIGNALS] = {SIGINT, SIGTERM};

struct session {
    const char *folder;
    const char *name; /* of the driver, in names of files */
    _Atomic(struct session_device *) devices;
    int record; /* file in it, or -1 */
    bool has_kernels;
    regex_t kernels;
    u64 first, last;                   /* launches in timing mode */
    u64 recorded_first, recorded_last; /* launches recorded individually besides the first ones */
    struct sums *sums;
    struct progress progress;
    FILE *trace, *series;
    FILE *windows; /* HEDDLE_WINDOW_TIMES, or NULL */
    bool observes; /* a device uses trace and series */
    struct hd_inject
        *inject; /* HEDDLE_INJECT: a fault campaign has started this process; or NULL */
    const struct session_device *injected; /* the device of its faults */
    pthread_mutex_t lock; /* devices may launch concurrently, from different threads */
    u32 launching;        /* devices that are launching */

    bool wrong; /* the environment is wrong: there are no devices */
    bool caught[SIGNALS];
};

/* The session of this process, whose launches a signal stops, and the signal that arrived: file scope,
 * because handlers of signals, forks and failed assertions have no arguments of their own. */
static _Atomic(struct session *) current;
static volatile sig_atomic_t arrived;

static f64 seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (f64)now.tv_sec + (f64)now.tv_nsec * 1e-9;
}

static void complain(const char *variable, const char *message)
{
    fprintf(stderr, "heddle: %s: %s\n", variable, message);
}

static void write_line(const struct session *session, const char *line, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t step = write(session->record, line + done, length - done);
        if (step <= 0)
            break; /* a full disk loses records, not the program */
        done += (size_t)step;
    }
}

/* Writes an event, which is consumed. */
static void tell(struct session *session, json_t *event)
{
    char *line =
        session->record >= 0 ? json_dumps(event, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(event);
    if (!line)
        return;
    size_t length = strlen(line);
    line[length++] = '\n'; /* replaces the terminating NUL */
    write_line(session, line, length);
    free(line);
}

/* ---- the environment ---- */

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static void read_choice(struct session *session)
{
    const char *kernels = environment("HEDDLE_KERNELS");
    const char *launches = environment("HEDDLE_LAUNCHES");
    const char *until = environment("HEDDLE_FUNCTIONAL_UNTIL");
    u64 count = 0;
    session->first = 1;
    session->last = UINT64_MAX;
    session->has_kernels = kernels;
    if (kernels && regcomp(&session->kernels, kernels, REG_EXTENDED | REG_NOSUB) != 0) {
        complain("HEDDLE_KERNELS", "expected a regular expression");
        session->wrong = true;
        session->has_kernels = false;
    }
    if (launches && !text_range(launches, &session->first, &session->last)) {
        complain("HEDDLE_LAUNCHES", "expected launch numbers, starting at 1: N, N-M, N- or -M");
        session->wrong = true;
    } else if (launches) {
        session->recorded_first = session->first;
        session->recorded_last = session->last;
    }
    if (until && text_u64(until, &count) != TEXT_OK) {
        complain("HEDDLE_FUNCTIONAL_UNTIL", "expected a number of launches");
        session->wrong = true;
    }
    if (count)
        session->first = MAX(session->first, count + 1);
}

static FILE *open_new(const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return file >= 0 ? fdopen(file, "wb") : NULL; /* it exists: another process has created it */
}

/* Called with the lock held: a device that launches is not closed. */
static bool read_progress(void *user, struct launch_progress *to)
{
    const struct session *session = user;
    for (struct session_device *at = session->devices; at; at = at->next) {
        if (!atomic_load(&at->launching))
            continue;
        hd_progress(at->device, &to->blocks_done, &to->blocks_total, &to->warp_instructions);
        hd_progress_time(at->device, &to->cycles, NULL);
        return true;
    }
    return false;
}

/* A fork must not copy the lock while the thread that writes progress holds it. */
static void before_fork(void)
{
    pthread_mutex_lock(&atomic_load(&current)->lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&atomic_load(&current)->lock);
}

static void show_progress(struct session *session)
{
    if (session->progress.folder && !session->progress.process)
        pthread_atfork(before_fork, after_fork, after_fork);
    progress_begin(&session->progress);
}

struct session *session_open(const char *name)
{
    struct session *session = checked(calloc(1, sizeof *session));
    session->name = name;
    const char *folder = environment("HEDDLE_SESSION");
    session->record = -1;
    pthread_mutex_init(&session->lock, NULL);
    read_choice(session);
    atomic_store(&current, session);
    if (!folder)
        return session;
    session->folder = checked(strdup(folder));
    session->sums = sums_create(session->folder, name);
    session->progress =
        (struct progress){.folder = environment("HEDDLE_PROGRESS") ? session->folder : NULL,
                          .name = name,
                          .lock = &session->lock,
                          .read = read_progress,
                          .user = session};
    char path[4096];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(path, sizeof path, "%s/%s%ld.jsonl", folder, name, (long)getpid());
    session->record = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    tell(session, json_pack("{s:s, s:I}", "event", "loaded", "at",
                            (json_int_t)now.tv_sec * 1000000000 + now.tv_nsec));
    return session;
}

typedef bool apply_fn(struct hd_config *config, const char *word, struct hd_error *error);

/* Applies each word of an environment variable. */
static bool apply_words(struct hd_config *config, const char *variable, const char *separators,
                        apply_fn *apply)
{
    struct hd_error error = {0};
    const char *value = environment(variable);
    char *words = value ? strdup(value) : NULL, *rest = NULL;
    bool ok = true;
    for (char *word = words ? strtok_r(words, separators, &rest) : NULL; ok && word;
         word = strtok_r(NULL, separators, &rest))
        if (!(ok = apply(config, word, &error)))
            complain(variable, error.message);
    free(words);
    return ok;
}

/* The chip whose maps are in the file HEDDLE_CHIP. */
static bool apply_chip(struct hd_config *config)
{
    const char *path = environment("HEDDLE_CHIP");
    struct error error = {0};
    struct hd_error own = {0};
    size_t bytes;
    char *data = path ? text_read_file(path, false, 1 << 28, &bytes, &error) : NULL;
    bool ok = !path || (data && hd_config_chip(config, data, bytes, path, &own));
    if (!ok)
        complain("HEDDLE_CHIP", data ? own.message : error.message);
    free(data);
    return ok;
}

static struct hd_config *open_config(const char *machine)
{
    struct hd_error error = {0};
    struct hd_config *config = hd_config_create();
    struct hd_machine_info info;
    const char *functional = environment("HEDDLE_FUNCTIONAL");
    /* mechanisms are applied twice: a machine file may name parameters of a loaded one */
    bool ok = apply_words(config, "HEDDLE_MECH", ";\n", hd_config_mechanism);
    if (ok && !(ok = hd_config_load(config, machine, &error)))
        complain("HEDDLE_MACHINE", error.message);
    ok = ok && apply_words(config, "HEDDLE_SET", ";\n", hd_config_set) &&
         apply_words(config, "HEDDLE_MECH", ";\n", hd_config_mechanism);
    if (ok && functional && strcmp(functional, "0") != 0)
        ok = hd_config_set(config, "timing.functional=true", &error);
    /* the driver's library and the compiler agree on the layout, whatever the code object's
     * metadata say */
    if (ok && hd_config_info(config, &info, &error) && info.lanes == 64)
        ok = hd_config_set(config, "si.hidden_args=driver", &error);
    ok = ok && apply_chip(config);
    if (ok && !(ok = hd_config_check(config, &error)))
        complain("HEDDLE_MACHINE", error.message);
    if (ok)
        return config;
    hd_config_destroy(config);
    return NULL;
}

bool session_configs(struct session *session, struct hd_config ***configs, u32 *count)
{
    const char *value = environment("HEDDLE_MACHINE");
    char *names = strdup(value ? value : "generic"), *rest = NULL;
    *configs = NULL;
    *count = 0;
    for (char *name = strtok_r(names, ",", &rest); name && !session->wrong;
         name = strtok_r(NULL, ",", &rest)) {
        struct hd_config *config = open_config(name);
        session->wrong = !config;
        *configs = checked(realloc(*configs, (*count + 1) * sizeof **configs));
        (*configs)[*count] = config;
        *count += config != NULL;
    }
    free(names);
    return !session->wrong;
}

/* ---- devices ---- */

static void write_bytes(void *user, const void *data, size_t bytes)
{
    fwrite(data, 1, bytes, user);
}

/* Sets up the trace and the time series, for the first device of the first process. */
static void observe(struct session *session, struct hd_device *device)
{
    const char *trace = environment("HEDDLE_TRACE"), *series = environment("HEDDLE_INTERVAL");
    const char *window = environment("HEDDLE_TRACE_WINDOW");
    unsigned long long from = 0, to = 0, interval = 0;
    struct hd_error error = {0};
    if (session->observes || (!trace && !series))
        return;
    session->observes = true;
    if (window)
        sscanf(window, "%llu:%llu", &from, &to);
    if (series && sscanf(series, "%llu", &interval) == 1 && strchr(series, ':'))
        session->series = open_new(strchr(series, ':') + 1);
    session->trace = trace ? open_new(trace) : NULL;
    const struct hd_observe what = {.trace = session->trace ? write_bytes : NULL,
                                    .trace_user = session->trace,
                                    .trace_events = environment("HEDDLE_TRACE_EVENTS") != NULL,
                                    .trace_cores = environment("HEDDLE_TRACE_CORES"),
                                    .trace_longest = window && !strcmp(window, "longest"),
                                    .trace_from = from,
                                    .trace_to = to,
                                    .interval = session->series ? interval : 0,
                                    .series = session->series ? write_bytes : NULL,
                                    .series_user = session->series};
    if ((session->trace || session->series) && !hd_observe(device, &what, &error))
        complain("HEDDLE_TRACE", error.message);
}

static void tell_note(void *user, const char *kernel, const char *text)
{
    struct session *session = user;
    pthread_mutex_lock(&session->lock);
    tell(session, json_pack("{s:s, s:o, s:o}", "event", "note", "kernel", text_json(kernel), "text",
                            text_json(text)));
    pthread_mutex_unlock(&session->lock);
}

/* A line for each window: between windows, memory, cores. */
static void write_window(void *user, const struct hd_window_times *times)
{
    fprintf(user, "%llu %llu", (unsigned long long)times->between,
            (unsigned long long)times->memory);
    for (u32 i = 0; i < times->core_count; i++)
        fprintf(user, " %llu", (unsigned long long)times->cores[i]);
    fputc('\n', user);
}

/* How the host simulates: no result depends on it. */
static void set_host(struct session *session, struct hd_device *device)
{
    struct hd_error error = {0};
    const char *order = environment("HEDDLE_CORE_ORDER"), *threads = environment("HEDDLE_THREADS");
    const char *windows = environment("HEDDLE_WINDOW_TIMES");
    if (order && !hd_set_core_order(device, order, &error))
        complain("HEDDLE_CORE_ORDER", error.message);
    if (threads && !hd_set_threads(device, threads, &error))
        complain("HEDDLE_THREADS", error.message);
    if (windows && !session->windows)
        session->windows = open_new(windows);
    if (session->windows)
        hd_measure_windows(device, write_window, session->windows);
}

/* A program that cannot join must not go on: it would run without faults. */
static void join_campaign(struct session *session, const struct session_device *device)
{
    struct hd_error error = {0};
    const char *job = environment("HEDDLE_INJECT");
    if (!job || session->inject)
        return;
    session->inject = hd_inject_join(device->device, job, &error);
    session->injected = device;
    if (session->inject)
        return;
    complain("HEDDLE_INJECT", error.message);
    _exit(EXIT_NOT_JOINED);
}

void session_device(struct session *session, struct session_device *device)
{
    _Atomic(struct session_device *) *last = &session->devices;
    pthread_mutex_lock(&session->lock);
    while (atomic_load(last))
        last = &atomic_load(last)->next;
    atomic_store(last, device);
    pthread_mutex_unlock(&session->lock);
    set_host(session, device->device);
    join_campaign(session, device);
    observe(session, device->device);
    hd_set_note(device->device, tell_note, session);
    tell(session,
         json_pack("{s:s, s:o}", "event", "device", "machine", text_json(device->machine)));
}

void session_unusable(struct session *session)
{
    tell(session, json_pack("{s:s}", "event", "unusable"));
}

/* Keeps the source under the compiler's name for it, beside the records, for listings; but not if
 * there are several sources. */
static void keep_source(struct session *session, const char *source)
{
    struct error error = {0};
    size_t length;
    char path[4096];
    snprintf(path, sizeof path, "%s/program.cl", session->folder);
    char *before = text_read_file(path, false, SIZE_MAX, &length, &error);
    if (before && strcmp(before, source) != 0)
        source = ""; /* listings would show lines of another program */
    FILE *file = fopen(path, "wbe");
    if (file) {
        fputs(source, file);
        fclose(file);
    }
    free(before);
}

void session_built(struct session *session, const char *source, const char *options,
                   const char *compiler, bool ok)
{
    struct sha256 hash;
    char digest[SHA256_TEXT];
    if (session->record < 0)
        return;
    sha256_start(&hash);
    sha256_add(&hash, source, strlen(source));
    sha256_text(&hash, digest);
    json_t *event = json_pack("{s:s, s:s, s:I, s:o, s:o, s:b}", "event", "build", "sha256", digest,
                              "bytes", (json_int_t)strlen(source), "options", text_json(options),
                              "compiler", text_json(compiler), "ok", ok);
    tell(session, event);
    keep_source(session, source);
}

/* ---- launches ---- */

bool session_timed(struct session *session, u64 number, const char *kernel)
{
    return number >= session->first && number <= session->last &&
           (!session->has_kernels || regexec(&session->kernels, kernel, 0, NULL, 0) == 0);
}

static void stop_launch(int number)
{
    const struct session *session = atomic_load(&current);
    arrived = number;
    for (struct session_device *at = session->devices; at; at = at->next)
        if (atomic_load(&at->launching))
            hd_interrupt(at->device);
}

static void catch_signals(struct session *session)
{
    for (u32 i = 0; i < SIGNALS; i++) {
        struct sigaction now;
        sigaction(signals[i], NULL, &now);
        session->caught[i] = now.sa_handler == SIG_DFL && !(now.sa_flags & SA_SIGINFO);
        if (session->caught[i])
            sigaction(signals[i], &(struct sigaction){.sa_handler = stop_launch}, NULL);
    }
}

static void leave_signals(struct session *session)
{
    for (u32 i = 0; i < SIGNALS; i++)
        if (session->caught[i])
            sigaction(signals[i], &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    if (arrived) {
        session_close(session);
        raise(arrived);
    }
}

static bool recorded(const struct session *session, u64 number)
{
    return number <= LAUNCHES_RECORDED ||
           (number >= session->recorded_first && number <= session->recorded_last);
}

/* Records the names of a device's counters, before its first sum. */
static void tell_counters(struct session *session, struct session_device *device)
{
    char *text = hd_counters_json(device->device);
    json_t *names = json_loads(text, 0, NULL);
    device->counters = json_array_size(names);
    tell(session, json_pack("{s:s, s:i, s:o}", "event", "counters", "device", (int)device->index,
                            "names", names));
    hd_free(text);
}

/* The sum for launches of a kernel; NULL: none, launches are recorded individually. */
static struct launch_sum *sum_of(struct session *session, struct session_device *device,
                                 const char *kernel)
{
    struct launch_sum *sum = sums_find(session->sums, device, kernel);
    u64 offset;
    if (sum)
        return sum;
    if (!device->counters)
        tell_counters(session, device);
    sum = sums_add(session->sums, device, kernel, device->counters, &offset);
    if (sum)
        tell(session,
             json_pack("{s:s, s:i, s:o, s:I}", "event", "sum", "device", (int)device->index,
                       "kernel", text_json(kernel), "offset", (json_int_t)offset));
    return sum;
}

void session_started(struct session *session, struct session_device *device, u64 number,
                     const char *kernel, u64 blocks)
{
    if (session->record < 0)
        return;
    pthread_mutex_lock(&session->lock);
    device->sum = recorded(session, number) ? NULL : sum_of(session, device, kernel);
    if (device->sum)
        device->sum->blocks = blocks;
    else
        tell(session, json_pack("{s:s, s:o, s:I}", "event", "start", "kernel", text_json(kernel),
                                "blocks", (json_int_t)blocks));
    device->started = seconds();
    atomic_store(&device->launching, true);
    show_progress(session);
    if (session->launching++ == 0)
        catch_signals(session); /* S2 */
    pthread_mutex_unlock(&session->lock);
}

static bool idle(const struct session_device *device)
{
    return !device->busy || !*device->busy;
}

static void tell_profiles(struct session *session)
{
    for (struct session_device *at = session->devices; at; at = at->next) {
        char *text = idle(at) ? hd_profile_json(at->device) : NULL;
        json_t *profile = text ? json_loads(text, 0, NULL) : NULL;
        if (profile)
            tell(session, json_pack("{s:s, s:i, s:o}", "event", "profile", "device", (int)at->index,
                                    "profile", profile));
        hd_free(text);
    }
}

static void tell_launch(struct session *session, struct session_device *device, u64 number)
{
    char *text = hd_launch_json(device->device, device->launches), *line;
    if (!text)
        return;
    u64 ns = (u64)((seconds() - device->started) * 1e9);
    /* `text` is JSON already */
    if (asprintf(&line, "{\"event\":\"launch\",\"number\":%llu,\"host_ns\":%llu,\"launch\":%s}\n",
                 (unsigned long long)number, (unsigned long long)ns, text) < 0)
        host_memory_exhausted();
    write_line(session, line, strlen(line));
    free(line);
    hd_free(text);
}

static void add_launch(struct session_device *device, const struct hd_result *result)
{
    struct launch_sum *sum = device->sum;
    hd_launch_add(device->device, device->launches, launch_sum_counts(sum), device->counters);
    sum->timed += result->picoseconds != 0;
    sum->host_ns += (u64)((seconds() - device->started) * 1e9);
    sum->launches++;
}

void session_launched(struct session *session, struct session_device *device, u64 number,
                      const struct hd_result *result)
{
    if (session->inject && device == session->injected)
        hd_inject_launched(session->inject, result);
    if (session->record >= 0) {
        pthread_mutex_lock(&session->lock);
        if (result && device->sum && result->outcome == HD_DONE)
            add_launch(device, result);
        else if (result)
            tell_launch(session, device, number);
        if (device->sum)
            device->sum->blocks = 0;
        atomic_store(&device->launching, false);
        if (--session->launching == 0)
            leave_signals(session);
        pthread_mutex_unlock(&session->lock);
    }
    if (result) /* the device need not keep the result any longer */
        hd_launch_forget(device->device, device->launches++);
}

void session_refused(struct session *session, const char *kernel)
{
    pthread_mutex_lock(&session->lock);
    tell(session, json_pack("{s:s, s:s}", "event", "refused", "kernel", kernel));
    pthread_mutex_unlock(&session->lock);
}

void session_bug(const char *text)
{
    struct session *session = atomic_load(&current);
    if (session)
        tell(session, json_pack("{s:s, s:s}", "event", "bug", "text", text));
}

void session_close(struct session *session)
{
    hd_inject_leave(session->inject);
    if (session->record >= 0)
        tell_profiles(session);
    for (struct session_device *at = session->devices; at; at = at->next)
        if (idle(at))
            hd_observe(at->device, NULL, NULL);
    if (session->trace)
        fclose(session->trace);
    if (session->series)
        fclose(session->series);
    if (session->windows)
        fclose(session->windows);
    session->trace = session->series = session->windows = NULL;
}
