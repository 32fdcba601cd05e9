/* Commands that run plans: see laboratory.h. */
#include "lab/runner.h"

#include "base/text.h"
#include "cli/laboratory.h"
#include "cli/program.h"
#include <errno.h>
#include <sched.h>
#include <sys/stat.h>

extern const struct builtin_file builtin_experiments[], builtin_workloads[];

const struct lab_files laboratory_files = {builtin_experiments, builtin_workloads};

static const char *find_program_of(void *user, struct arena *arena, const char *name)
{
    return find_beside(arena, arena_printf(arena, "workloads/%s", name),
                       arena_printf(arena, HEDDLE_LIBEXECDIR "/heddle/workloads/%s", name));
}

static const char *find_kernels_of(void *user, struct arena *arena, const char *name)
{
    return find_beside(
        arena, arena_printf(arena, "workloads/%s.cl", name),
        arena_printf(arena, HEDDLE_DATADIR "/heddle/workloads/%s/%s.cl", name, name));
}

struct lab_host laboratory_host(struct arena *arena)
{
    return (struct lab_host){
        .heddle = "/proc/self/exe", /* the running executable, even if the file has been replaced */
        .driver = find_beside(arena, "libheddle-opencl.so", HEDDLE_LIBDIR "/libheddle-opencl.so"),
        .program = find_program_of,
        .kernels = find_kernels_of};
}

bool laboratory_limits(const struct command *command, const struct command_line *line,
                       u32 *parallel, struct run_limits *limits)
{
    const char *jobs = option_value(line, "--jobs"), *memory = option_value(line, "--max-memory");
    const char *seconds = option_value(line, "--max-seconds");
    cpu_set_t cores;
    u64 count = 1;
    if (sched_getaffinity(0, sizeof cores, &cores) == 0)
        count = (u64)CPU_COUNT(&cores);
    if (jobs && (text_u64(jobs, &count) != TEXT_OK || !count || count > 1024))
        return usage_error(command, "--jobs: '%s': expected 1 to 1024", jobs), false;
    if (seconds && (text_f64(seconds, &limits->seconds) != TEXT_OK || !(limits->seconds > 0)))
        return usage_error(command, "--max-seconds: '%s': expected a number of seconds", seconds),
               false;
    if (memory && (text_size(memory, &limits->bytes) != TEXT_OK || !limits->bytes))
        return usage_error(command, "--max-memory: '%s': expected a size, as in 512M or 4G",
                           memory),
               false;
    *parallel = (u32)count;
    return true;
}

bool laboratory_folder(const struct command *command, const char *option, const char *path)
{
    struct stat status;
    if (mkdir(path, 0777) == 0 ||
        (errno == EEXIST && stat(path, &status) == 0 && S_ISDIR(status.st_mode)))
        return true;
    complain(command, "%s %s: cannot create this folder: %s", option, path,
             errno == EEXIST ? "a file of that name exists" : strerror(errno));
    return false;
}

void laboratory_draw(void *user, const struct runner_progress *progress)
{
    fprintf(stderr, "\r\033[K%llu of %llu runs", (unsigned long long)progress->done,
            (unsigned long long)progress->total);
    if (progress->failed)
        fprintf(stderr, ", %llu failed", (unsigned long long)progress->failed);
    if (progress->left >= 3600)
        fprintf(stderr, ", about %.1f h left", progress->left / 3600);
    else if (progress->left >= 60)
        fprintf(stderr, ", about %.0f min left", progress->left / 60);
    else if (progress->left >= 0)
        fprintf(stderr, ", about %.0f s left", progress->left);
    if (*progress->label)
        fprintf(stderr, "  (%.60s%s)", progress->label, progress->running > 1 ? " and others" : "");
    fflush(stderr);
}

void laboratory_clear(void)
{
    fputs("\r\033[K", stderr);
}
