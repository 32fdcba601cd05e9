/*
 * heddle run -- PROGRAM: see program.h.
 *
 *  P1  The program finds Heddle's drivers and no other: OCL_ICD_VENDORS names a folder with only the
 *      OpenCL driver, and LD_LIBRARY_PATH begins with one where Heddle's library has the names of the
 *      CUDA runtimes. It runs in heddle's process group, with its standard streams; if heddle itself writes
 *      to standard output, the program's goes to standard error.
 *  P2  The resolved configuration goes to the driver as a machine file, so that it models exactly
 *      what --dump-config and the statistics say.
 *  P3  Statistics come from records that the driver flushes after each launch (session.h): however
 *      the program ends, they are complete up to there.
 *  P4  Signals are taken by sigtimedwait, so there is no handler and no global state. A terminal's
 *      signals reach the program directly; other signals are passed on to it.
 */
#include "cli/program.h"

#include "base/quantity.h"
#include "base/temporary.h"
#include "base/text.h"
#include "cli/annotate.h"
#include "cli/avf.h"
#include "cli/common.h"
#include "cli/energy.h"
#include "cli/session.h"
#include "cli/timeline.h"
#include "heddle/inject.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TICK_MS = 200,         /* between reads of the records */
    QUIET_TICKS = 5,       /* a shorter launch gets no progress line */
    EXIT_CANNOT_RUN = 126, /* as in shells */
    EXIT_NOT_FOUND = 127,
    PROGRAM_LIMIT = 1 << 28 /* largest program hashed for the manifest, in bytes */
};

/* A running program. */
struct child {
    struct run_command *run;
    struct arena *arena;
    const char *library; /* the OpenCL driver */
    const char *runtime; /* the CUDA runtime */
    const char *folder;  /* of the session */
    struct temporary temporary;
    const char *path;       /* of the program */
    const char *mechanisms; /* mechanism files that the driver loads */
    char **words;
    struct program_session session;
    pid_t pid;
    int status;    /* of waitpid */
    u32 ticks;     /* since the running launch began */
    u64 seen;      /* launches done at the last read */
    bool progress; /* the progress line is shown */
};

const char *find_beside(struct arena *arena, const char *build, const char *installed)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return NULL;
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    if (!slash)
        return NULL;
    *slash = '\0';
    const char *paths[] = {arena_printf(arena, "%s/%s", self, build),
                           arena_printf(arena, "%s/../%s", self, installed)};
    for (u32 i = 0; i < ARRAY_LEN(paths); i++)
        if (access(paths[i], F_OK) == 0)
            return paths[i];
    return NULL;
}

/* ---- the session's folder ---- */

static bool write_bytes(struct child *child, const char *name, const void *data, size_t bytes)
{
    const char *path = arena_printf(child->arena, "%s/%s", child->folder, name);
    FILE *file = fopen(path, "wbe");
    bool ok = file && fwrite(data, 1, bytes, file) == bytes;
    if (file && fclose(file) != 0)
        ok = false;
    if (!ok)
        complain(child->run->command, "%s: %s", path, strerror(errno));
    return ok;
}

static bool write_file(struct child *child, const char *name, const char *text)
{
    return write_bytes(child, name, text, strlen(text));
}

/* Heddle's CUDA runtime, which is also the driver API and the run-time compiler, under the names that
 * programs ask for. */
static bool link_runtimes(struct child *child)
{
    static const char *const names[] = {"libcudart.so.11.0", "libcudart.so.12",  "libcudart.so.13",
                                        "libcuda.so.1",      "libnvrtc.so.11.2", "libnvrtc.so.12",
                                        "libnvrtc.so.13"};
    char *whole = realpath(child->runtime, NULL);
    bool ok = whole && mkdir(arena_printf(child->arena, "%s/cuda", child->folder), 0700) == 0;
    for (u32 i = 0; ok && i < ARRAY_LEN(names); i++)
        ok = symlink(whole, arena_printf(child->arena, "%s/cuda/%s", child->folder, names[i])) == 0;
    free(whole);
    return ok;
}

/* The program keeps the folder locked, too, in case it outlives this process. */
static bool make_folder(struct child *child)
{
    struct error error = {0};
    temporary_sweep(NULL);
    if (!temporary_create(&child->temporary, NULL, true, &error)) {
        complain(child->run->command, "%s: %s", error.place, error.message);
        return false;
    }
    const char *folder = child->folder = child->session.folder = child->temporary.path;
    char *config = hd_config_json(child->run->config);
    bool ok = mkdir(arena_printf(child->arena, "%s/vendors", folder), 0700) == 0 &&
              write_file(child, "vendors/heddle.icd",
                         arena_printf(child->arena, "%s\n", child->library)) &&
              link_runtimes(child) && write_file(child, "machine.json", config) &&
              (!child->run->chip ||
               write_bytes(child, "chip.maps", child->run->chip, child->run->chip_bytes));
    hd_free(config);
    return ok;
}

/* ---- the program ---- */

/* The file that execvp would execute; NULL: none. */
static const char *find_program(struct arena *arena, const char *name)
{
    if (strchr(name, '/'))
        return access(name, F_OK) == 0 ? name : NULL;
    const char *folders = getenv("PATH");
    for (const char *at = folders ? folders : "/bin:/usr/bin"; at;) {
        size_t length = strcspn(at, ":");
        const char *path =
            arena_printf(arena, "%.*s/%s", (int)MAX(length, 1), length ? at : ".", name);
        if (access(path, X_OK) == 0)
            return path;
        at = at[length] ? at + length + 1 : NULL;
    }
    return NULL;
}

static bool find_workload(struct child *child)
{
    struct request *request = &child->run->request;
    const char *name = request->workload;
    if (!workload_known(child->run->command, name))
        return false;
    child->path =
        find_beside(child->arena, arena_printf(child->arena, "workloads/%s", name),
                    arena_printf(child->arena, HEDDLE_LIBEXECDIR "/heddle/workloads/%s", name));
    if (!child->path)
        complain(child->run->command,
                 "--workload %s: its program was not found, neither beside this command nor in its "
                 "prefix: was Heddle built without the OpenCL loader?",
                 name);
    return child->path;
}

/* Builds the program's command line: a workload's own path and --quick come first. */
static bool find_words(struct child *child)
{
    struct request *request = &child->run->request;
    u32 count = 0, at = 0;
    while (request->program[count])
        count++;
    child->words = arena_array(child->arena, char *, count + 3);
    if (request->workload) {
        if (!find_workload(child))
            return false;
        child->words[at++] = (char *)child->path;
        if (request->quick)
            child->words[at++] = (char *)"--quick";
    } else {
        assert(count); /* a request has a program or a workload */
        child->path = find_program(child->arena, request->program[0]);
    }
    memcpy(child->words + at, request->program, count * sizeof *child->words);
    return true;
}

/* Records the program for the manifest. */
static void record_program(struct child *child)
{
    struct error error = {0};
    size_t length;
    char *data = child->path && child->run->inputs.wanted
                     ? text_read_file(child->path, true, PROGRAM_LIMIT, &length, &error)
                     : NULL;
    if (data)
        record_text(child->run, child->path, data, length);
    free(data);
}

/* The mechanism files that the driver has to load, as --mech did; their settings are in the machine
 * file. NULL after reporting one that cannot be passed on. */
static const char *mechanism_files(struct child *child)
{
    json_t *rows = parse_own_json(hd_config_plugins(child->run->config));
    const char *list = "";
    for (size_t i = 0; list && i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *path = json_string_value(json_object_get(row, "path"));
        char *whole = realpath(path, NULL); /* programs may change folder */
        const char *on = json_is_true(json_object_get(row, "on")) ? "true" : "false";
        if (whole && strpbrk(whole, ";\n")) {
            complain(child->run->command, "--mech %s: the path must not contain a semicolon", path);
            list = NULL;
        } else {
            list = arena_printf(child->arena, "%s%s%s:on=%s", list, *list ? ";" : "",
                                whole ? whole : path, on);
        }
        free(whole);
    }
    json_decref(rows);
    return list;
}

static bool draws_progress(const struct request *request)
{
    return !request->quiet && isatty(STDERR_FILENO);
}

static void set_environment(const struct child *child)
{
    const struct request *request = &child->run->request;
    struct arena *arena = child->arena;
    const char *vendors = arena_printf(arena, "%s/vendors", child->folder);
    setenv("OCL_ICD_VENDORS", vendors, 1);
    setenv("OPENCL_VENDOR_PATH", vendors, 1); /* for older loaders */
    unsetenv("OCL_ICD_FILENAMES");
    const char *paths = getenv("LD_LIBRARY_PATH");
    setenv("LD_LIBRARY_PATH",
           arena_printf(arena, "%s/cuda%s%s", child->folder, paths && *paths ? ":" : "",
                        paths ? paths : ""),
           1);
    setenv("HEDDLE_SESSION", child->folder, 1);
    setenv("HEDDLE_MACHINE", arena_printf(arena, "%s/machine.json", child->folder), 1);
    static const char *const ours[] = {
        "HEDDLE_SET",         "HEDDLE_MECH",     "HEDDLE_FUNCTIONAL",   "HEDDLE_KERNELS",
        "HEDDLE_LAUNCHES",    "HEDDLE_TRACE",    "HEDDLE_TRACE_WINDOW", "HEDDLE_TRACE_EVENTS",
        "HEDDLE_TRACE_CORES", "HEDDLE_INTERVAL", "HEDDLE_CORE_ORDER",   "HEDDLE_FUNCTIONAL_UNTIL",
        "HEDDLE_THREADS",     "HEDDLE_PROGRESS", "HEDDLE_CHIP"};
    for (u32 i = 0; i < ARRAY_LEN(ours); i++)
        unsetenv(ours[i]);
    if (child->mechanisms[0])
        setenv("HEDDLE_MECH", child->mechanisms, 1);
    if (child->run->chip)
        setenv("HEDDLE_CHIP", arena_printf(arena, "%s/chip.maps", child->folder), 1);
    if (request->kernels)
        setenv("HEDDLE_KERNELS", request->kernels, 1);
    if (request->first_timed || request->last_timed)
        setenv("HEDDLE_LAUNCHES",
               arena_printf(
                   arena, "%llu-%llu", (unsigned long long)MAX(request->first_timed, 1),
                   (unsigned long long)(request->last_timed ? request->last_timed : UINT64_MAX)),
               1);
    if (request->functional_until)
        setenv("HEDDLE_FUNCTIONAL_UNTIL",
               arena_printf(arena, "%llu", (unsigned long long)request->functional_until), 1);
    if (request->timeline || request->trace_events) {
        setenv("HEDDLE_TRACE", arena_printf(arena, "%s/trace", child->folder), 1);
        setenv("HEDDLE_TRACE_WINDOW",
               request->trace_longest
                   ? "longest"
                   : arena_printf(arena, "%llu:%llu", (unsigned long long)request->trace_from,
                                  (unsigned long long)request->trace_to),
               1);
        if (request->trace_events)
            setenv("HEDDLE_TRACE_EVENTS", "1", 1);
        if (request->trace_cores)
            setenv("HEDDLE_TRACE_CORES", request->trace_cores, 1);
    }
    if (request->interval)
        setenv("HEDDLE_INTERVAL",
               arena_printf(arena, "%llu:%s/series", (unsigned long long)request->interval,
                            child->folder),
               1);
    if (draws_progress(request))
        setenv("HEDDLE_PROGRESS", "1", 1);
    if (request->core_order)
        setenv("HEDDLE_CORE_ORDER", request->core_order, 1);
    if (request->threads)
        setenv("HEDDLE_THREADS", request->threads, 1);
}

/* Starts the program; returns 0, or an exit code after an error message. The pipe closes on
 * exec. */
static int start(struct child *child, const sigset_t *mask)
{
    int ends[2], reason = 0;
    if (pipe2(ends, O_CLOEXEC) != 0 || (child->pid = fork()) < 0) {
        complain(child->run->command, "cannot start a process: %s", strerror(errno));
        return EXIT_OWN;
    }
    if (child->pid == 0) {
        sigprocmask(SIG_SETMASK, mask, NULL);
        signal(SIGPIPE, SIG_DFL);
        if (request_takes_stdout(&child->run->request))
            dup2(STDERR_FILENO, STDOUT_FILENO);
        set_environment(child);
        if (child->path)
            execv(child->path, child->words);
        reason = child->path ? errno : ENOENT;
        ssize_t written = write(ends[1], &reason, sizeof reason);
        (void)written;
        _exit(EXIT_CANNOT_RUN);
    }
    close(ends[1]);
    ssize_t length = read(ends[0], &reason, sizeof reason);
    close(ends[0]);
    if (length != sizeof reason)
        return EXIT_DONE;
    waitpid(child->pid, NULL, 0);
    complain(child->run->command, "%s: %s", child->words[0], strerror(reason));
    return reason == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* ---- while the program runs ---- */

static void clear_progress(struct child *child)
{
    if (child->progress)
        fputs("\r\033[K", stderr);
    child->progress = false;
}

static void show_notes(struct child *child)
{
    for (u32 i = 0; i < child->session.processes.count; i++) {
        struct process_record *process = &child->session.processes.data[i];
        if (!process->note || !process->running)
            continue;
        clear_progress(child);
        complain_endless(child->run->command, process->running, process->note);
        free(process->note);
        process->note = NULL;
    }
}

/* How many launches the program will make is not known: the share is that of the running one. */
static void draw_progress(const struct process_record *process, u64 launch, f64 elapsed)
{
    const struct launch_progress *now = &process->progress;
    fprintf(stderr, "\r\033[K%.40s: launch %llu, ", process->running, (unsigned long long)launch);
    if (now->blocks_total)
        fprintf(stderr, "%llu of %llu blocks (%.0f %%), ", (unsigned long long)now->blocks_done,
                (unsigned long long)now->blocks_total,
                100 * (f64)now->blocks_done / (f64)now->blocks_total);
    else
        fprintf(stderr, "%llu blocks, ", (unsigned long long)process->blocks);
    if (now->cycles) {
        char cycles[24];
        fprintf(stderr, "%s cycles, ", amount_text((f64)now->cycles, cycles, sizeof cycles));
    }
    fprintf(stderr, "%.0f s elapsed", elapsed);
    if (now->blocks_done && now->blocks_total > now->blocks_done)
        fprintf(stderr, ", about %.0f s left",
                elapsed * (f64)(now->blocks_total - now->blocks_done) / (f64)now->blocks_done);
}

/* Shows a progress line while a launch takes long; it is cleared, since programs print, too. */
static void show_progress(struct child *child)
{
    session_read(&child->session);
    show_notes(child);
    const struct process_record *process = session_running(&child->session);
    u64 done = session_launches(&child->session);
    if (!process || done != child->seen) {
        clear_progress(child);
        child->ticks = 0;
        child->seen = done;
        return;
    }
    if (++child->ticks < QUIET_TICKS)
        return;
    draw_progress(process, done + 1, child->ticks * TICK_MS * 1e-3);
    child->progress = true;
}

static void wait_for(struct child *child, const sigset_t *set)
{
    bool draws = draws_progress(&child->run->request);
    const struct timespec tick = {.tv_nsec = TICK_MS * 1000000};
    while (waitpid(child->pid, &child->status, WNOHANG) == 0) {
        siginfo_t info = {0};
        int number = sigtimedwait(set, &info, &tick);
        bool from_terminal = info.si_code > 0 && (number == SIGINT || number == SIGQUIT);
        if (number > 0 && number != SIGCHLD && !from_terminal)
            kill(child->pid, number);
        else if (number < 0 && draws)
            show_progress(child);
    }
    clear_progress(child);
}

/* ---- afterwards ---- */

/* Whether the program itself has said why it launched nothing: a workload that was asked for help
 * or given a wrong option, or a program stopped by a signal. */
static bool ended_on_purpose(const struct child *child)
{
    enum {
        WORKLOAD_USAGE = 2
    };
    if (WIFSIGNALED(child->status)) {
        int number = WTERMSIG(child->status);
        return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
    }
    int code = WEXITSTATUS(child->status);
    return child->run->request.workload && (code == EXIT_DONE || code == WORKLOAD_USAGE);
}

/* Explains why no kernel of the program ran on Heddle. */
static void explain_reach(const struct child *child)
{
    bool loaded = false, device = false;
    for (u32 i = 0; i < child->session.processes.count; i++) {
        loaded |= child->session.processes.data[i].loaded;
        device |= child->session.processes.data[i].device;
    }
    if (session_launches(&child->session) || ended_on_purpose(child))
        return;
    const char *name = child->words[0];
    if (!loaded)
        complain(child->run->command, "%s did not use Heddle: %s", name,
                 unreached_reason(child->path));
    else if (!device)
        complain(
            child->run->command,
            "%s found Heddle but opened no device of it: it may require another platform, another "
            "type of device (Heddle's are GPUs) or another machine, or have stopped earlier.",
            name);
    else
        complain(child->run->command, "%s launched no kernel", name);
}

/* Explains a crash that may be Heddle's. False: there was none, or it was late enough. */
static bool explain_crash(const struct child *child)
{
    const char *bug = session_bug(&child->session), *name = child->words[0];
    const struct process_record *process = session_running(&child->session);
    int number = WIFSIGNALED(child->status) ? WTERMSIG(child->status) : 0;
    bool crash = number == SIGABRT || number == SIGSEGV || number == SIGBUS || number == SIGFPE ||
                 number == SIGILL;
    if (bug)
        complain(child->run->command,
                 "%s was ended by an assertion inside Heddle's driver: %s. This is a bug in "
                 "Heddle, not in the program: please report it with the command line, the program "
                 "and 'heddle --version', unless it does not occur without a mechanism that --mech "
                 "loads from a file of your own.",
                 name, bug);
    else if (crash && process)
        complain(
            child->run->command,
            "%s was ended by signal %d (%s) while Heddle ran its kernel '%s'. Unless another "
            "thread of the program is the cause, or the host is out of memory, this is a bug in "
            "Heddle: please report it with the command line, the program and 'heddle --version', "
            "unless it does not occur without a mechanism that --mech loads from a file of your "
            "own.",
            name, number, strsignal(number), process->running);
    else if (crash && !session_launches(&child->session))
        complain(child->run->command, "%s was ended by signal %d (%s) before it launched a kernel",
                 name, number, strsignal(number));
    else
        return false;
    return true;
}

/* Reports launches stopped by a signal, which ends the program before the driver can. */
static void explain_interrupted(const struct child *child, const json_t *launches)
{
    bool any = false;
    for (size_t i = 0; i < json_array_size(launches); i++) {
        const json_t *launch = json_array_get(launches, i), *fault;
        const char *outcome = json_string_value(json_object_get(launch, "outcome"));
        if (!outcome || strcmp(outcome, "interrupted") != 0)
            continue;
        fault = json_object_get(launch, "fault");
        complain(child->run->command, "kernel '%s': %s",
                 json_string_value(json_object_get(launch, "kernel")),
                 json_string_value(json_object_get(fault, "message")));
        any = true;
    }
    if (any)
        complain(child->run->command, "interrupted; statistics are complete up to here");
}

static json_t *statistics_of(struct child *child, const struct session_all *all)
{
    struct hd_error error = {0};
    json_t *both = json_copy(all->launches);
    json_array_extend(both, all->sums);
    char *launches = json_dumps(both, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(both);
    char *totals = hd_stats_total(child->run->config, launches, strlen(launches), &error);
    free(launches);
    if (!totals) {
        report(child->run->command, &error);
        return NULL;
    }
    json_t *stats = json_object();
    json_object_set(stats, "launches", all->launches);
    if (json_array_size(all->sums))
        json_object_set(stats, "sums", all->sums);
    json_object_set_new(stats, "totals", parse_own_json(totals));
    json_object_set(stats, "profile", all->profile);
    return stats;
}

static bool write_stats(struct child *child, const json_t *stats, const struct session_all *all,
                        f64 wall_seconds)
{
    struct run_command *run = child->run;
    if (!run->request.stats && !run->request.report)
        return true;
    char *text = json_dumps(stats, JSON_INDENT(2));
    bool ok = write_statistics(
        run, &(struct statistics_of){&run->request, &run->inputs, run->config, run->line, text,
                                     all->builds, all->seconds, all->sum_seconds, wall_seconds,
                                     hd_threads(run->device), child->folder});
    free(text);
    return ok;
}

/* Whether a process has found no device that it can use, and none has found one. */
static bool lacked_device(const struct child *child)
{
    bool lacked = false, device = false;
    for (u32 i = 0; i < child->session.processes.count; i++) {
        lacked |= child->session.processes.data[i].unusable;
        device |= child->session.processes.data[i].device;
    }
    return lacked && !device;
}

/* The program's exit code; if that is 0, EXIT_FAULT if a launch faulted, and EXIT_OWN if there was no
 * device for it. */
static int exit_code(const struct child *child)
{
    const struct request *request = &child->run->request;
    int own =
        WIFSIGNALED(child->status) ? 128 + WTERMSIG(child->status) : WEXITSTATUS(child->status);
    if (!own && !request->keep_exit_code && lacked_device(child)) {
        if (!request->quiet)
            complain(child->run->command,
                     "the program cannot use this machine (see above), but ended with exit code 0; "
                     "--keep-exit-code passes that code on");
        return EXIT_OWN;
    }
    const char *kernel = own ? NULL : session_faulted(&child->session);
    if (!kernel || request->keep_exit_code)
        return own;
    if (!request->quiet)
        complain(child->run->command,
                 "kernel '%s' failed (see above), but the program ended with exit code 0; "
                 "--keep-exit-code passes that code on",
                 kernel);
    return EXIT_FAULT;
}

static int finish(struct child *child, f64 wall_seconds)
{
    struct run_command *run = child->run;
    session_read(&child->session);
    struct session_all all = session_collect(&child->session, run->config);
    json_t *stats = statistics_of(child, &all);
    bool ok = stats && timeline_copy(run, child->folder);
    ok = ok && write_stats(child, stats, &all, wall_seconds);
    if (!explain_crash(child))
        explain_reach(child);
    explain_interrupted(child, all.launches);
    if (stats && !run->request.quiet)
        print_kernels(stats, &all);
    if (stats && run->request.energy)
        print_run_energy(stderr, stats, run->config);
    if (stats && run->request.avf)
        print_avf(stderr, stats);
    if (stats && run->request.annotate)
        print_annotated(stderr, stats, child->folder, run->request.energy);
    json_decref(stats);
    session_all_free(&all);
    return ok && !session_bug(&child->session) ? exit_code(child) : EXIT_OWN;
}

static f64 seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (f64)(now.tv_sec - start->tv_sec) + (f64)(now.tv_nsec - start->tv_nsec) * 1e-9;
}

static int run_child(struct child *child)
{
    sigset_t set, old;
    struct timespec began;
    sigemptyset(&set);
    static const int numbers[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (u32 i = 0; i < ARRAY_LEN(numbers); i++)
        sigaddset(&set, numbers[i]);
    sigprocmask(SIG_BLOCK, &set, &old);
    clock_gettime(CLOCK_MONOTONIC, &began);
    int code = start(child, &old);
    if (code)
        return code;
    wait_for(child, &set);
    return finish(child, seconds_since(&began));
}

/* The driver and the command line. */
static bool find_parts(struct child *child)
{
    child->library =
        find_beside(child->arena, "libheddle-opencl.so", HEDDLE_LIBDIR "/libheddle-opencl.so");
    child->runtime = find_beside(child->arena, "libheddle-cudart.so",
                                 HEDDLE_LIBDIR "/heddle/libheddle-cudart.so");
    if (!child->library)
        complain(child->run->command,
                 "the OpenCL driver, libheddle-opencl.so, was not found, neither beside this "
                 "command nor in its prefix: was Heddle built without the OpenCL headers?");
    if (!child->runtime)
        complain(child->run->command, "the CUDA runtime, libheddle-cudart.so, was not found, "
                                      "neither beside this command nor in its prefix");
    return child->library && child->runtime && find_words(child);
}

int program_run(struct run_command *run)
{
    const struct request *request = &run->request;
    struct child child = {.run = run, .arena = request->arena};
    if (!find_parts(&child) || !check_outputs(run))
        return EXIT_OWN;
    if (request->dump_config && !write_json(run, "--dump-config", request->dump_config,
                                            parse_own_json(hd_config_json(run->config))))
        return EXIT_OWN;
    record_program(&child);
    child.mechanisms = mechanism_files(&child);
    int code = child.mechanisms && make_folder(&child) ? run_child(&child) : EXIT_OWN;
    session_free(&child.session);
    temporary_remove(&child.temporary);
    return code;
}

/* ---- programs that are started several times ---- */

struct child *guest_open(struct run_command *run)
{
    struct child *child = arena_new(run->request.arena, struct child);
    *child = (struct child){.run = run, .arena = run->request.arena};
    bool ok = find_parts(child);
    if (ok && !child->path) {
        complain(run->command, "%s: %s", child->words[0], strerror(ENOENT));
        ok = false;
    }
    if (!ok)
        return NULL;
    record_program(child);
    child->mechanisms = mechanism_files(child);
    char *whole = realpath(child->path, NULL); /* it will run in other folders */
    child->path = whole ? arena_strdup(child->arena, whole) : child->path;
    free(whole);
    if (!child->mechanisms || !make_folder(child)) {
        guest_close(child);
        return NULL;
    }
    whole = realpath(child->folder, NULL);
    child->folder = whole ? arena_strdup(child->arena, whole) : child->folder;
    free(whole);
    return child;
}

const char *guest_folder(const struct child *child)
{
    return child->folder;
}

/* Where the driver keeps compiled kernels (opencl/cache.c), so that they are compiled once. */
static const char *compile_cache(struct arena *arena)
{
    const char *set = getenv("HEDDLE_CACHE_DIR"), *home = getenv("HOME");
    if (set && *set)
        return set;
    set = getenv("XDG_CACHE_HOME");
    if (set && *set == '/')
        return arena_printf(arena, "%s/heddle", set);
    return home && *home == '/' ? arena_printf(arena, "%s/.cache/heddle", home) : "/dev/null";
}

/* In the new process. Returns only if it fails. */
static void become(const struct child *child, const char *place, const char *job)
{
    struct arena *arena = child->arena; /* the folder above has what processes share */
    const char *const folders[] = {arena_printf(arena, "%s/..", place), compile_cache(arena)};
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int out = open(arena_printf(arena, "%s/stdout", place), O_WRONLY | O_CREAT, 0600);
    const int err = open(arena_printf(arena, "%s/stderr", place), O_WRONLY | O_CREAT, 0600);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(nothing, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    close(out);
    close(err);
    set_environment(child);
    unsetenv("HEDDLE_SESSION");
    unsetenv("HEDDLE_PROGRESS");
    setenv("HEDDLE_INJECT", job, 1);
    setenv("TMPDIR", arena_printf(arena, "%s/tmp", place), 1);
    if (chdir(arena_printf(arena, "%s/cwd", place)) != 0)
        return;
    hd_inject_confine(folders, ARRAY_LEN(folders));
    execv(child->path, child->words);
}

i64 guest_start(struct child *child, const char *place, const char *job, struct hd_error *error)
{
    int ends[2], reason = 0;
    pid_t pid = -1;
    if (pipe2(ends, O_CLOEXEC) == 0)
        pid = fork();
    if (pid == 0) {
        become(child, place, job);
        reason = errno;
        ssize_t written = write(ends[1], &reason, sizeof reason);
        (void)written;
        _exit(EXIT_CANNOT_RUN);
    }
    if (pid > 0) {
        close(ends[1]);
        const ssize_t length = read(ends[0], &reason, sizeof reason);
        close(ends[0]);
        if (length != sizeof reason)
            return pid;
        waitpid(pid, NULL, 0);
    }
    error->code = HD_ERROR_SYSTEM;
    snprintf(error->message, sizeof error->message, "cannot start %.200s: %s", child->words[0],
             strerror(pid > 0 ? reason : errno));
    return -1;
}

void guest_close(struct child *child)
{
    temporary_remove(&child->temporary);
}

/* ---- devices ---- */

static void print_device(const struct hd_machine_info *info)
{
    printf("%-14s %5u %5u %8.0f %10.1f %9u %8u  %s\n", info->name, info->cores, info->lanes,
           info->core_mhz, (f64)info->memory_bytes / (1 << 30), info->block_shared_bytes / 1024,
           info->kernel_threads,
           info->lanes == 64          ? "Southern Islands"
           : info->address_bits == 32 ? "PTX, 32 bits"
                                      : "PTX");
}

int program_devices(struct run_command *run)
{
    const char *machine = option_value(run->line, "--machine");
    json_t *machines = machine ? NULL : parse_own_json(hd_machines_json());
    int code = EXIT_DONE;
    printf("%-14s %5s %5s %8s %10s %9s %8s  %s\n", "device", "cores", "lanes", "MHz", "memory GB",
           "local KB", "threads", "code");
    for (size_t i = 0; code == EXIT_DONE && (machine ? i == 0 : i < json_array_size(machines));
         i++) {
        const json_t *row = json_array_get(machines, i);
        const char *name = machine ? machine : json_string_value(json_object_get(row, "name"));
        struct hd_config *config = open_config(run->command, run->line, name);
        struct hd_machine_info info;
        if (config && hd_config_info(config, &info, NULL))
            print_device(&info);
        else
            code = EXIT_USAGE;
        hd_config_destroy(config);
    }
    json_decref(machines);
    return code;
}
