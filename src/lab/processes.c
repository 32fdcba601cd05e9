/* Points as processes: see processes.h. */
#include "lab/processes.h"

#include "base/temporary.h"
#include "base/text.h"
#include "lab/statistics.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    GRACE_SECONDS = 5, /* between SIGTERM and SIGKILL */
    EXIT_NOT_STARTED = 125,
    FULL_BYTES = 1 << 20, /* less free space than this explains missing statistics */
    MEMORY_DEPTH = 8      /* of a tree of processes whose memory is added up */
};

struct process_slot {
    bool used;
    bool by_heddle, report; /* as in struct point */
    u64 number;
    pid_t pid;
    f64 started, asked; /* times; asked: of the request to end, or 0 */
    enum stop_reason stopped;
};

struct processes {
    struct executor base;
    const char *heddle, *wrapper, *campaign;
    struct run_limits limits;
    struct temporary folder; /* for statistics and logs; made when the first point starts */
    struct process_slot *slots;
    u32 count;
};

static struct processes *of(const struct executor *executor)
{
    return (struct processes *)executor;
}

static f64 now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (f64)time.tv_sec + (f64)time.tv_nsec * 1e-9;
}

static const char *file_of(const struct processes *processes, struct arena *arena, u32 slot,
                           const char *kind)
{
    return arena_printf(arena, "%s/%u.%s", processes->folder.path, slot, kind);
}

struct executor *processes_open(const struct executor_kind *kind,
                                const struct executor_setup *setup, u32 parallel,
                                const char *wrapper)
{
    struct processes *processes = checked(calloc(1, sizeof *processes));
    *processes = (struct processes){.base = {kind},
                                    .heddle = setup->heddle,
                                    .wrapper = wrapper,
                                    .campaign = setup->folder,
                                    .limits = setup->limits,
                                    .count = parallel};
    processes->slots = checked(calloc(parallel, sizeof *processes->slots));
    return &processes->base;
}

/* Makes the folder of statistics and logs, and removes those that killed runners have left. */
static bool make_folder(struct processes *processes, struct error *error)
{
    /* other hosts see the campaign's folder only */
    const char *parent = processes->wrapper ? processes->campaign : NULL;
    if (processes->folder.path)
        return true;
    temporary_sweep(parent);
    return temporary_create(&processes->folder, parent, true, error);
}

u32 processes_room(const struct executor *executor)
{
    u32 count = 0;
    for (u32 i = 0; i < of(executor)->count; i++)
        count += !of(executor)->slots[i].used;
    return count;
}

/* ---- starting ---- */

/* The whole command line of a point. */
static const char **words_of(const struct processes *processes, struct arena *arena,
                             const struct point *point, u32 slot)
{
    u32 count = 0, own = 0;
    while (point->words[count])
        count++;
    while (point->program[own])
        own++;
    const char **words = arena_array(arena, const char *, count + own + 4);
    memcpy(words, point->words, count * sizeof *words);
    words[count++] = "--stats";
    words[count++] = file_of(processes, arena, slot, "json");
    if (own)
        words[count++] = "--";
    memcpy(words + count, point->program, own * sizeof *words);
    return words;
}

/* `text` with every `name` replaced. */
static const char *replaced(struct arena *arena, const char *text, const char *name,
                            const char *value)
{
    const char *result = "", *at;
    for (; (at = strstr(text, name)); text = at + strlen(name))
        result = arena_printf(arena, "%s%.*s%s", result, (int)(at - text), text, value);
    return arena_printf(arena, "%s%s", result, text);
}

/* The shell's text that runs a point through the user's command. */
static const char *wrapped(const struct processes *processes, struct arena *arena,
                           const char **words, u32 slot)
{
    char folder[4096], number[16];
    const char *line =
        arena_printf(arena, "cd %s && exec %s",
                     shell_quoted(arena, getcwd(folder, sizeof folder) ? folder : "."),
                     shell_quoted(arena, processes->heddle));
    for (words++; *words; words++)
        line = arena_printf(arena, "%s %s", line, shell_quoted(arena, *words));
    line = shell_quoted(arena, line);
    snprintf(number, sizeof number, "%u", slot);
    const char *text = replaced(arena, processes->wrapper, "{slot}", number);
    /* a single command replaces the shell, so that it dies with the runner */
    const char *first = text[strcspn(text, ";|&\n")] ? "" : "exec ";
    return strstr(text, "{}")
               ? arena_printf(arena, "%s%s", first, replaced(arena, text, "{}", line))
               : arena_printf(arena, "%s%s %s", first, text, line);
}

/* What a child needs, prepared by its parent. */
struct child_setup {
    const char *path, **words, *log;
    pid_t parent;
    sigset_t signals;
};

/* Becomes the point. The child of vfork() shares the parent's memory: it makes system calls only. */
static void become(const struct child_setup *child)
{
    sigprocmask(SIG_SETMASK, &child->signals, NULL);
    signal(SIGPIPE, SIG_DFL);
    setpgid(0, 0);                    /* a terminal's Ctrl-C goes to the runner only */
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* a point dies with its runner */
    if (getppid() != child->parent)
        _exit(EXIT_NOT_STARTED);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int file = open(child->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (null < 0 || file < 0 || dup2(null, 0) < 0 || dup2(file, 1) < 0 || dup2(file, 2) < 0)
        _exit(EXIT_NOT_STARTED);
    execv(child->path, (char *const *)child->words);
    _exit(EXIT_NOT_STARTED + 2);
}

/* Starts a child: its number, or -1.
 * A copy of the runner's page tables would cost more than all the rest of a short point, and
 * posix_spawn cannot set a parent-death signal. */
static pid_t start_child(const struct child_setup *child)
{
    pid_t pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */
    if (pid == 0)
        become(child); /* NOLINT(clang-analyzer-unix.Vfork) */
    return pid;
}

bool processes_start(struct executor *executor, const struct point *point, u64 number,
                     struct error *error)
{
    struct processes *processes = of(executor);
    u32 at = 0;
    if (!make_folder(processes, error))
        return false;
    struct arena *arena = arena_create();
    while (processes->slots[at].used)
        at++;
    struct child_setup child = {.path = processes->heddle,
                                .words = words_of(processes, arena, point, at),
                                .log = file_of(processes, arena, at, "log"),
                                .parent = getpid()};
    sigemptyset(&child.signals);
    if (processes->wrapper) {
        const char *shell[] = {"sh", "-c", wrapped(processes, arena, child.words, at), NULL};
        child.path = "/bin/sh";
        child.words = arena_array(arena, const char *, ARRAY_LEN(shell));
        memcpy(child.words, shell, sizeof shell);
    }
    unlink(file_of(processes, arena, at, "json")); /* of the point before */
    pid_t pid = start_child(&child);
    arena_destroy(arena);
    if (pid < 0)
        return error_set(error, ERROR_SYSTEM, "", "cannot start a process: %s", strerror(errno));
    setpgid(pid, pid);
    processes->slots[at] = (struct process_slot){.used = true,
                                                 .by_heddle = point->by_heddle,
                                                 .report = point->report,
                                                 .number = number,
                                                 .pid = pid,
                                                 .started = now()};
    return true;
}

/* ---- limits ---- */

/* Resident memory of a process and those it has started, in bytes. */
static u64 memory_of(pid_t pid, u32 depth)
{
    char path[64], text[4096];
    unsigned long long size, resident = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file || fscanf(file, "%llu %llu", &size, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    u64 sum = resident * (u64)sysconf(_SC_PAGESIZE);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    file = depth ? fopen(path, "re") : NULL;
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    for (char *at = text, *end; (pid = (pid_t)strtol(at, &end, 10)) > 0; at = end)
        sum += memory_of(pid, depth - 1);
    return sum;
}

static void stop_slot(struct process_slot *slot, enum stop_reason reason)
{
    slot->stopped = reason;
    slot->asked = now();
    kill(-slot->pid, SIGTERM);
}

static void enforce_limits(struct processes *processes)
{
    const struct run_limits *limits = &processes->limits;
    f64 time = now();
    for (u32 i = 0; i < processes->count; i++) {
        struct process_slot *slot = &processes->slots[i];
        if (!slot->used)
            continue;
        if (slot->asked && time - slot->asked >= GRACE_SECONDS)
            kill(-slot->pid, SIGKILL);
        else if (!slot->asked && limits->seconds > 0 && time - slot->started >= limits->seconds)
            stop_slot(slot, STOPPED_LATE);
        else if (!slot->asked && limits->bytes &&
                 memory_of(slot->pid, MEMORY_DEPTH) > limits->bytes)
            stop_slot(slot, STOPPED_LARGE);
    }
}

/* ---- ending ---- */

/* Whether the folder of statistics has no room for those of one more point. */
static bool is_full(const struct processes *processes)
{
    struct statvfs status;
    return statvfs(processes->folder.path, &status) == 0 &&
           (u64)status.f_bavail * status.f_frsize < FULL_BYTES;
}

bool processes_next(struct executor *executor, struct arena *arena, struct ended_run *run,
                    struct error *error)
{
    struct processes *processes = of(executor);
    enforce_limits(processes);
    for (u32 i = 0; i < processes->count; i++) {
        struct process_slot *slot = &processes->slots[i];
        int status;
        if (!slot->used || waitpid(slot->pid, &status, WNOHANG) != slot->pid)
            continue;
        slot->used = false;
        *run =
            (struct ended_run){.number = slot->number,
                               .statistics = statistics_read(file_of(processes, arena, i, "json")),
                               .log = file_of(processes, arena, i, "log"),
                               .seconds = now() - slot->started};
        const struct ended_process process = {.status = status,
                                              .stopped = slot->stopped,
                                              .by_heddle = slot->by_heddle,
                                              .report = slot->report,
                                              .remote = processes->wrapper,
                                              .log = run->log,
                                              .statistics = run->statistics};
        run->outcome = outcome_judge(arena, &process);
        if (status && !slot->stopped && !run->statistics && is_full(processes))
            run->full = arena_strdup(arena, processes->folder.path);
        return true;
    }
    return false;
}

void processes_stop(struct executor *executor, bool at_once)
{
    struct processes *processes = of(executor);
    for (u32 i = 0; i < processes->count; i++) {
        struct process_slot *slot = &processes->slots[i];
        if (slot->used && at_once)
            kill(-slot->pid, SIGKILL);
        else if (slot->used && !slot->asked)
            stop_slot(slot, NOT_STOPPED);
    }
}

void processes_close(struct executor *executor)
{
    struct processes *processes = of(executor);
    temporary_remove(&processes->folder);
    free(processes->slots);
    free(processes);
}
