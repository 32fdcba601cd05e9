/* Slurm's own commands: see slurm.h. */
#include "lab/slurm.h"

#include "base/text.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    DEFAULT_ARRAY = 1001, /* Slurm's own default of MaxArraySize */
    LINE_BYTES = 512
};

/* A task that is in the queue. */
struct queued_task {
    u32 batch, task;
};

u32 slurm_array_size(void)
{
    char line[LINE_BYTES];
    unsigned size = DEFAULT_ARRAY;
    FILE *pipe = popen("scontrol show config 2>/dev/null", "re");
    while (pipe && fgets(line, sizeof line, pipe))
        if (sscanf(line, " MaxArraySize = %u", &size) == 1)
            break;
    if (pipe)
        pclose(pipe);
    return MAX(size, 2);
}

bool slurm_present(void)
{
    FILE *pipe = popen("sbatch --version >/dev/null 2>&1", "re");
    return pipe && pclose(pipe) == 0;
}

u32 slurm_submit_array(struct slurm *slurm, const struct slurm_batch *batch, u32 first, u32 count,
                       u32 pack, struct error *error)
{
    char line[LINE_BYTES] = "", throttle[32] = "", time[48] = "";
    const char *more = "";
    if (slurm->throttle)
        snprintf(throttle, sizeof throttle, "%%%u", slurm->throttle);
    if (slurm->limits.seconds > 0) /* the worker stops points itself, a minute earlier */
        snprintf(time, sizeof time, " --time=%.0f", slurm->limits.seconds * pack / 60 + 2);
    for (const char *const *option = slurm->options; option && *option; option++)
        more = arena_printf(slurm->arena, "%s %s", more, shell_quoted(slurm->arena, *option));
    const char *command =
        arena_printf(slurm->arena,
                     "sbatch --parsable --requeue --open-mode=append --job-name=%s --array=0-%u%s "
                     "--output=%s/out/%%A_%%a.txt%s%s %s/job.sh %u 2>&1",
                     shell_quoted(slurm->arena, batch->name), count - 1, throttle,
                     shell_quoted(slurm->arena, batch->folder), time, more,
                     shell_quoted(slurm->arena, batch->folder), first);
    FILE *pipe = popen(command, "re");
    bool read = pipe && fgets(line, sizeof line, pipe);
    int status = pipe ? pclose(pipe) : -1;
    u32 job = read && status == 0 ? (u32)strtoul(line, NULL, 10) : 0;
    line[strcspn(line, "\n")] = '\0';
    if (!job)
        error_fill(error, ERROR_SYSTEM, "", "sbatch: %s",
                   line[0] ? shown_text(slurm->arena, line, 300) : "no answer");
    return job;
}

bool slurm_look_at_queue(struct slurm *slurm)
{
    char line[LINE_BYTES];
    struct arena *arena = arena_create();
    const char *names = "";
    for (u32 i = 0; i < slurm->batches.count; i++)
        names = arena_printf(arena, "%s%s%s", names, i ? "," : "", slurm->batches.data[i].name);
    FILE *pipe =
        popen(arena_printf(
                  arena, "squeue -h -r -t PD,R,S,CF --name=%s -o '%%F %%K %%j' 2>/dev/null", names),
              "re");
    arena_destroy(arena);
    if (!pipe)
        return false;
    VEC(struct queued_task) found = {0};
    while (fgets(line, sizeof line, pipe)) {
        unsigned job, index;
        char name[LINE_BYTES];
        if (sscanf(line, "%u %u %s", &job, &index, name) != 3)
            continue;
        for (u32 i = 0; i < slurm->batches.count; i++)
            for (u32 k = 0; k < slurm->batches.data[i].job_count; k++)
                if (slurm->batches.data[i].job_numbers[k] == job) {
                    struct queued_task *one = vec_push(&found);
                    one->batch = i;
                    one->task = slurm->batches.data[i].first_task[k] + index;
                }
    }
    bool ok = pclose(pipe) == 0;
    for (u32 i = 0; ok && i < slurm->batches.count; i++)
        for (u32 task = 0; task < slurm->batches.data[i].tasks; task++)
            slurm->batches.data[i].absent[task] +=
                slurm->batches.data[i].absent[task] < SLURM_ABSENCES;
    for (u32 i = 0; ok && i < found.count; i++)
        if (found.data[i].task < slurm->batches.data[found.data[i].batch].tasks)
            slurm->batches.data[found.data[i].batch].absent[found.data[i].task] = 0;
    vec_free(&found);
    return ok;
}

const char *slurm_accounted(struct slurm *slurm, const struct slurm_point *point)
{
    static const struct {
        const char *state, *reason;
    } states[] = {{"OUT_OF_ME", "memory"}, {"TIMEOUT", "time-out"}, {"NODE_FAIL", "node"}};
    const struct slurm_batch *batch = &slurm->batches.data[point->batch];
    char line[LINE_BYTES] = "";
    u32 job = 0;
    for (u32 k = 0; k < batch->job_count; k++)
        if (batch->first_task[k] <= point->task)
            job = k;
    if (!batch->job_count)
        return NULL;
    FILE *pipe = popen(arena_printf(slurm->arena, "sacct -X -n -P -o State -j %u_%u 2>/dev/null",
                                    batch->job_numbers[job], point->task - batch->first_task[job]),
                       "re");
    bool known = pipe && fgets(line, sizeof line, pipe);
    if (pipe)
        pclose(pipe);
    for (u32 i = 0; known && i < ARRAY_LEN(states); i++)
        if (!strncmp(line, states[i].state, strlen(states[i].state)))
            return states[i].reason;
    return NULL;
}

void slurm_cancel(struct slurm *slurm, const struct slurm_batch *batch)
{
    for (u32 k = 0; k < batch->job_count; k++) {
        FILE *pipe = popen(
            arena_printf(slurm->arena, "scancel --quiet %u >/dev/null 2>&1", batch->job_numbers[k]),
            "re");
        if (pipe)
            pclose(pipe);
    }
}

/* ---- what is left in a folder ---- */

static u32 count_results(const char *folder)
{
    DIR *results = opendir(folder);
    u32 count = 0;
    for (struct dirent *entry; results && (entry = readdir(results));) {
        size_t length = strlen(entry->d_name);
        count += length > 5 && !strcmp(entry->d_name + length - 5, ".json");
    }
    if (results)
        closedir(results);
    return count;
}

/* How many tasks a job's number stands for: 12_3 is one, 12_[4-9,11%2] are seven. */
static u32 tasks_in(const char *number)
{
    const char *at = strchr(number, '[');
    u32 count = 0;
    if (!at)
        return 1;
    do {
        char *end;
        const unsigned long first = strtoul(at + 1, &end, 10);
        const unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        count += (u32)(last >= first ? last - first + 1 : 1);
        at = end;
    } while (*at == ',');
    return count;
}

/* Counts tasks by their state, as sacct and squeue name it. */
static void count_tasks(struct slurm_left *left, const char *state, u32 tasks)
{
    static const char *const running[] = {"RUNNING", "COMPLETING"};
    static const char *const queued[] = {"PENDING",   "CONFIGURING", "SUSPENDED",
                                         "PREEMPTED", "REQUEUED",    "REQUEUE_HOLD"};
    for (u32 i = 0; i < ARRAY_LEN(running); i++)
        if (!strncmp(state, running[i], strlen(running[i]))) {
            left->running += tasks;
            return;
        }
    for (u32 i = 0; i < ARRAY_LEN(queued); i++)
        if (!strncmp(state, queued[i], strlen(queued[i]))) {
            left->queued += tasks;
            return;
        }
    if (strncmp(state, "COMPLETED", 9) != 0)
        left->failed += tasks;
}

/* Runs a command that prints lines of NUMBER|STATE; false: it failed or printed nothing. */
static bool ask(struct slurm_left *left, const char *command)
{
    char line[LINE_BYTES];
    struct slurm_left counted = *left;
    FILE *pipe = popen(command, "re");
    u32 lines = 0;
    while (pipe && fgets(line, sizeof line, pipe)) {
        char *bar = strchr(line, '|');
        if (!bar)
            continue;
        *bar = '\0';
        count_tasks(&counted, bar + 1, tasks_in(line));
        lines++;
    }
    if (!pipe || pclose(pipe) != 0 || !lines)
        return false;
    *left = counted;
    return true;
}

/* The numbers of a batch's array jobs, with commas. */
static const char *job_list(struct arena *arena, const char *batch, const char *list)
{
    FILE *file = fopen(arena_printf(arena, "%s/jobs", batch), "re");
    unsigned job, first, count;
    while (file && fscanf(file, "%u %u %u", &job, &first, &count) == 3)
        list = arena_printf(arena, "%s%s%u", list, *list ? "," : "", job);
    if (file)
        fclose(file);
    return list;
}

struct slurm_left slurm_left_in(const char *campaign_folder)
{
    struct arena *arena = arena_create();
    struct slurm_left left = {0};
    const char *jobs = "", *names = "";
    DIR *folder = opendir(arena_printf(arena, "%s/slurm", campaign_folder));
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (strncmp(entry->d_name, "batch-", 6) != 0)
            continue;
        const char *batch = arena_printf(arena, "%s/slurm/%s", campaign_folder, entry->d_name);
        names =
            arena_printf(arena, "%s%sheddle-%s", names, left.batches++ ? "," : "", entry->d_name);
        left.results += count_results(arena_printf(arena, "%s/results", batch));
        jobs = job_list(arena, batch, jobs);
    }
    if (folder)
        closedir(folder);
    /* squeue refuses numbers of jobs that it has forgotten; names are always accepted */
    if (*jobs &&
        !ask(&left, arena_printf(arena, "sacct -X -n -P -o JobID,State -j %s 2>/dev/null", jobs)))
        ask(&left, arena_printf(arena, "squeue -h -r -o '%%i|%%T' --name=%s 2>/dev/null", names));
    arena_destroy(arena);
    return left;
}
