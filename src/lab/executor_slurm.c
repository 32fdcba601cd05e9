/*
 * Points as array jobs of Slurm: --on slurm[:N], N tasks at a time.
 *
 *  M1  A batch is a folder with tasks and results (batch.h) and one or more array jobs, none longer
 *      than the cluster's MaxArraySize. Small points share a task.
 *  M2  Whether a point has ended is decided by its result file. Only when there is none, Slurm is
 *      asked whether its task still exists: squeue, which works without accounting.
 *  M3  Slurm itself requeues tasks after a failed node or preemption (--requeue), and the worker
 *      continues where it was. A task that has left the queue without all its results is submitted
 *      once more, then its points fail for the reason that sacct gives, or "node".
 *  M4  A runner that was killed leaves its jobs in the queue. The next one finds their folders, takes
 *      in their results and waits for those that still run instead of submitting them again.
 */
#include "base/text.h"
#include "lab/batch.h"
#include "lab/slurm.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern const struct executor_kind executor_slurm;

enum {
    MOST_POINTS = 1 << 20, /* in flight */
    TASKS_WISHED = 256,    /* with more points, tasks have several */
    ATTEMPTS = 2,          /* of a point, by submission */
    POLL_RESULTS_MS = 300, /* between looks at the results */
    POLL_QUEUE_MS = 3000   /* between looks at the queue */
};

static struct slurm *of(const struct executor *executor)
{
    return (struct slurm *)executor;
}

static f64 now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (f64)time.tv_sec + (f64)time.tv_nsec * 1e-9;
}

/* ---- points by key ---- */

static u32 *slot_of(struct slurm *slurm, const char *key)
{
    char digits[9] = {0};
    memcpy(digits, key, 8);
    u32 at = (u32)strtoul(digits, NULL, 16) & (slurm->table_size - 1);
    while (slurm->table[at] && strcmp(slurm->points.data[slurm->table[at] - 1].key, key) != 0)
        at = (at + 1) & (slurm->table_size - 1);
    return &slurm->table[at];
}

static struct slurm_point *find_point(struct slurm *slurm, const char *key)
{
    u32 *slot = slurm->table_size && strlen(key) == SHA256_TEXT - 1 ? slot_of(slurm, key) : NULL;
    return slot && *slot ? &slurm->points.data[*slot - 1] : NULL;
}

static struct slurm_point *add_point(struct slurm *slurm, const char *key)
{
    if (2 * (slurm->points.count + 1) > slurm->table_size) {
        free(slurm->table);
        slurm->table_size = MAX(2 * slurm->table_size, 1024);
        slurm->table = checked(calloc(slurm->table_size, sizeof *slurm->table));
        for (u32 i = 0; i < slurm->points.count; i++)
            *slot_of(slurm, slurm->points.data[i].key) = i + 1;
    }
    assert(slurm->points.data || slurm->points.count == slurm->points.capacity);
    struct slurm_point *point = vec_push(&slurm->points);
    memcpy(point->key, key, sizeof point->key);
    *slot_of(slurm, key) = slurm->points.count;
    return point;
}

/* ---- folders of earlier runners (M4) ---- */

static void read_task(struct slurm *slurm, u32 batch, u32 task)
{
    enum {
        TASK_LIMIT = 1 << 30
    };
    struct error ignored = {0};
    size_t length;
    char *rest = NULL, *path;
    if (asprintf(&path, "%s/tasks/%u.json", slurm->batches.data[batch].folder, task) < 0)
        host_memory_exhausted();
    char *text = text_read_file(path, false, TASK_LIMIT, &length, &ignored);
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest)) {
        json_t *json = json_loads(line, 0, NULL);
        const char *key = json_string_value(json_object_get(json, "key"));
        if (key && strlen(key) == SHA256_TEXT - 1) {
            struct slurm_point *point = find_point(slurm, key);
            point = point ? point : add_point(slurm, key);
            point->batch = batch;
            point->task = task;
            point->attempts = 1;
        }
        json_decref(json);
    }
    free(text);
    free(path);
}

/* Reads the array jobs of a batch. */
static void read_jobs(struct slurm *slurm, struct slurm_batch *batch)
{
    FILE *file = fopen(arena_printf(slurm->arena, "%s/jobs", batch->folder), "re");
    unsigned job, first, count;
    while (file && fscanf(file, "%u %u %u", &job, &first, &count) == 3) {
        u32 jobs = batch->job_count++;
        batch->job_numbers =
            checked(realloc(batch->job_numbers, batch->job_count * sizeof *batch->job_numbers));
        batch->first_task =
            checked(realloc(batch->first_task, batch->job_count * sizeof *batch->first_task));
        batch->job_numbers[jobs] = job;
        batch->first_task[jobs] = first;
    }
    if (file)
        fclose(file);
}

static u32 count_tasks(struct slurm *slurm, const char *folder)
{
    u32 count = 0;
    while (access(arena_printf(slurm->arena, "%s/tasks/%u.json", folder, count), F_OK) == 0)
        count++;
    return count;
}

static void read_batches(struct slurm *slurm)
{
    DIR *folder = opendir(slurm->folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (strncmp(entry->d_name, "batch-", 6) != 0)
            continue;
        struct slurm_batch *batch = vec_push(&slurm->batches);
        batch->folder = arena_printf(slurm->arena, "%s/%s", slurm->folder, entry->d_name);
        batch->name = arena_printf(slurm->arena, "heddle-%s", entry->d_name);
        batch->tasks = count_tasks(slurm, batch->folder);
        batch->absent = checked(calloc(batch->tasks + 1, 1));
        read_jobs(slurm, batch);
        for (u32 i = 0; i < batch->tasks; i++)
            read_task(slurm, slurm->batches.count - 1, i);
    }
    if (folder)
        closedir(folder);
}

static struct executor *open_slurm(const struct executor_setup *setup, const char *text,
                                   struct error *error)
{
    u64 throttle = 0;
    if (*text && (text_u64(text, &throttle) != TEXT_OK || !throttle || throttle > 1000000)) {
        error_fill(error, ERROR_USAGE, "", "'slurm:%s': expected slurm:N with N tasks at a time",
                   text);
        return NULL;
    }
    if (!slurm_present()) {
        error_fill(error, ERROR_NOT_FOUND, "", "slurm: sbatch cannot be run here");
        return NULL;
    }
    struct slurm *slurm = checked(calloc(1, sizeof *slurm));
    *slurm = (struct slurm){.base = {&executor_slurm},
                            .arena = arena_create(),
                            .heddle = setup->heddle,
                            .build = setup->build,
                            .options = setup->options,
                            .limits = setup->limits,
                            .throttle = (u32)throttle,
                            .pack = setup->pack,
                            .array_size = slurm_array_size()};
    slurm->folder = arena_printf(slurm->arena, "%s/slurm", setup->folder);
    read_batches(slurm);
    return &slurm->base;
}

/* ---- submitting ---- */

static u32 slurm_room(const struct executor *executor)
{
    const struct slurm *slurm = of(executor);
    return slurm->stopped ? 0 : MOST_POINTS - MIN(slurm->flying + slurm->pending, MOST_POINTS);
}

/* A point as a line of a task file. */
static const char *line_of(struct slurm *slurm, const struct point *point)
{
    char *text;
    size_t length;
    FILE *stream = checked(open_memstream(&text, &length));
    batch_write_point(stream, point);
    fclose(stream);
    const char *line = arena_strdup(slurm->arena, text);
    free(text);
    return line;
}

static bool slurm_start(struct executor *executor, const struct point *point, u64 number,
                        struct error *error)
{
    struct slurm *slurm = of(executor);
    struct slurm_point *own = find_point(slurm, point->key);
    if (!slurm->asked && slurm->batches.count) { /* once: what earlier runners left in the queue */
        slurm_look_at_queue(slurm);
        slurm->asked = now();
    }
    own = own ? own : add_point(slurm, point->key);
    own->number = number;
    own->line = line_of(slurm, point);
    if (own->state == KNOWN && own->attempts) {
        const struct slurm_batch *batch = &slurm->batches.data[own->batch];
        const char *result =
            arena_printf(slurm->arena, "%s/results/%s.json", batch->folder, point->key);
        if (!batch->absent[own->task] || access(result, F_OK) == 0) {
            own->state = FLYING;
            slurm->flying++;
            return true;
        }
    }
    own->state = PENDING;
    own->attempts = 0;
    own->arrived = false;
    slurm->pending++;
    return true;
}

static bool write_batch_file(struct slurm *slurm, const struct slurm_batch *batch)
{
    char here[4096];
    json_t *json = json_object();
    json_object_set_new(json, "build", json_string(slurm->build));
    json_object_set_new(json, "seconds", json_real(slurm->limits.seconds));
    json_object_set_new(json, "bytes", json_integer((json_int_t)slurm->limits.bytes));
    bool ok = json_dump_file(json, arena_printf(slurm->arena, "%s/batch.json", batch->folder),
                             JSON_INDENT(1)) == 0;
    json_decref(json);
    FILE *script = fopen(arena_printf(slurm->arena, "%s/job.sh", batch->folder), "we");
    if (!ok || !script || !getcwd(here, sizeof here))
        return false;
    fprintf(script,
            "#!/bin/sh\n"
            "# $1: the first task of this array job\n"
            "cd %s || exit 125\n"
            "exec %s sweep worker %s $(($1 + SLURM_ARRAY_TASK_ID))\n",
            shell_quoted(slurm->arena, here), shell_quoted(slurm->arena, slurm->heddle),
            shell_quoted(slurm->arena, batch->folder));
    return fclose(script) == 0;
}

/* Writes the files of the tasks and numbers the points. */
static bool write_tasks(struct slurm *slurm, u32 index, u32 pack)
{
    struct slurm_batch *batch = &slurm->batches.data[index];
    FILE *file = NULL;
    u32 count = 0;
    bool ok = true;
    for (u32 i = 0; ok && i < slurm->points.count; i++) {
        struct slurm_point *point = &slurm->points.data[i];
        if (point->state != PENDING)
            continue;
        if (count % pack == 0) {
            if (file)
                ok = fclose(file) == 0;
            file =
                fopen(arena_printf(slurm->arena, "%s/tasks/%u.json", batch->folder, batch->tasks++),
                      "we");
        }
        ok = ok && file && fputs(point->line, file) >= 0;
        point->batch = index;
        point->task = batch->tasks - 1;
        count++;
    }
    if (file && fclose(file) != 0)
        ok = false;
    batch->absent = checked(calloc(batch->tasks + 1, 1));
    return ok;
}

/* Submits the tasks of a batch as arrays that are not too long (M1). */
static bool submit_arrays(struct slurm *slurm, struct slurm_batch *batch, u32 pack,
                          struct error *error)
{
    const char *path = arena_printf(slurm->arena, "%s/jobs", batch->folder);
    for (u32 first = 0; first < batch->tasks; first += slurm->array_size - 1) {
        u32 count = MIN(batch->tasks - first, slurm->array_size - 1);
        u32 job = slurm_submit_array(slurm, batch, first, count, pack, error);
        FILE *file = job ? fopen(path, "ae") : NULL;
        if (!job)
            return false;
        if (!file || fprintf(file, "%u %u %u\n", job, first, count) < 0 || fclose(file) != 0)
            return error_set(error, ERROR_SYSTEM, path, "cannot be written");
    }
    read_jobs(slurm, batch);
    return true;
}

static bool slurm_submit(struct executor *executor, struct error *error)
{
    struct slurm *slurm = of(executor);
    static const char *const folders[] = {"tasks", "results", "out"};
    if (!slurm->pending)
        return true;
    u32 pack = slurm->pack ? slurm->pack : (slurm->pending + TASKS_WISHED - 1) / TASKS_WISHED;
    char *folder = arena_printf(slurm->arena, "%s/batch-XXXXXX", slurm->folder);
    if ((mkdir(slurm->folder, 0777) != 0 && errno != EEXIST) || !mkdtemp(folder))
        return error_set(error, ERROR_SYSTEM, folder, "cannot be created: %s", strerror(errno));
    chmod(folder, 0777);
    struct slurm_batch *batch = vec_push(&slurm->batches);
    u32 index = slurm->batches.count - 1;
    batch->folder = folder;
    batch->name = arena_printf(slurm->arena, "heddle-%s", strrchr(folder, '/') + 1);
    bool ok = true;
    for (u32 i = 0; ok && i < ARRAY_LEN(folders); i++)
        ok = mkdir(arena_printf(slurm->arena, "%s/%s", folder, folders[i]), 0777) == 0;
    if (!ok || !write_batch_file(slurm, batch) || !write_tasks(slurm, index, pack))
        return error_set(error, ERROR_SYSTEM, folder, "cannot be written: %s", strerror(errno));
    if (!submit_arrays(slurm, batch, pack, error))
        return false;
    for (u32 i = 0; i < slurm->points.count; i++)
        if (slurm->points.data[i].state == PENDING) {
            slurm->points.data[i].state = FLYING;
            slurm->points.data[i].attempts++;
            slurm->pending--;
            slurm->flying++;
        }
    return true;
}

/* ---- results ---- */

/* Notes which results there are. */
static void look_at_results(struct slurm *slurm)
{
    struct arena *arena = arena_create();
    for (u32 i = 0; i < slurm->batches.count; i++) {
        DIR *folder = opendir(arena_printf(arena, "%s/results", slurm->batches.data[i].folder));
        for (struct dirent *entry; folder && (entry = readdir(folder));) {
            char key[SHA256_TEXT] = "";
            if (strlen(entry->d_name) != SHA256_TEXT - 1 + strlen(".json") ||
                strcmp(entry->d_name + SHA256_TEXT - 1, ".json") != 0)
                continue;
            memcpy(key, entry->d_name, SHA256_TEXT - 1);
            struct slurm_point *point = find_point(slurm, key);
            if (point && point->batch == i)
                point->arrived = true;
        }
        if (folder)
            closedir(folder);
    }
    slurm->next = 0;
    arena_destroy(arena);
}

/* Removes the result that the runner has stored (B3). */
static void slurm_forget(struct executor *executor)
{
    struct slurm *slurm = of(executor);
    if (!slurm->taken)
        return;
    unlink(slurm->taken);
    memcpy(slurm->taken + strlen(slurm->taken) - strlen("json"), "log", sizeof "log");
    unlink(slurm->taken);
    free(slurm->taken);
    slurm->taken = NULL;
}

static bool take_result(struct slurm *slurm, struct slurm_point *point, struct arena *arena,
                        struct ended_run *run)
{
    const char *folder = slurm->batches.data[point->batch].folder;
    if (!batch_read_result(folder, point->key, arena, run)) {
        point->arrived = false; /* not readable: another look */
        return false;
    }
    run->number = point->number;
    point->state = ENDED;
    slurm->flying--;
    slurm->unstored |= slurm->taken != NULL;
    free(slurm->taken);
    if (asprintf(&slurm->taken, "%s/results/%s.json", folder, point->key) < 0)
        host_memory_exhausted();
    return true;
}

/* A point whose task is gone: it is submitted once more, or has failed (M3). */
static bool take_lost(struct slurm *slurm, struct slurm_point *point, struct ended_run *run)
{
    if (!slurm->stopped && point->attempts < ATTEMPTS && point->line) {
        point->state = PENDING;
        slurm->flying--;
        slurm->pending++;
        return false;
    }
    const char *reason = slurm->stopped ? NULL : slurm_accounted(slurm, point);
    *run = (struct ended_run){
        .number = point->number,
        .outcome = {reason ? reason : "node",
                    slurm->stopped ? "cancelled" : "its task left Slurm's queue without a result"}};
    point->state = ENDED;
    slurm->flying--;
    return true;
}

static bool slurm_next(struct executor *executor, struct arena *arena, struct ended_run *run,
                       struct error *error)
{
    struct slurm *slurm = of(executor);
    if ((now() - slurm->looked) * 1e3 >= POLL_RESULTS_MS) {
        look_at_results(slurm);
        slurm->looked = now();
    }
    for (; slurm->next < slurm->points.count; slurm->next++) {
        struct slurm_point *point = &slurm->points.data[slurm->next];
        if (point->state == FLYING && point->arrived && take_result(slurm, point, arena, run))
            return true;
    }
    bool asks = slurm->flying && (now() - slurm->asked) * 1e3 >= POLL_QUEUE_MS;
    if (asks && !slurm->stopped) {
        slurm_look_at_queue(slurm);
        slurm->asked = now();
    }
    for (u32 i = 0; (asks || slurm->stopped) && i < slurm->points.count; i++) {
        struct slurm_point *point = &slurm->points.data[i];
        bool lost = slurm->stopped ||
                    slurm->batches.data[point->batch].absent[point->task] >= SLURM_ABSENCES;
        if (point->state == FLYING && lost && !point->arrived && take_lost(slurm, point, run))
            return true;
    }
    return false;
}

/* ---- ending ---- */

static void slurm_stop(struct executor *executor, bool at_once)
{
    struct slurm *slurm = of(executor);
    slurm->stopped = true;
    for (u32 i = 0; i < slurm->batches.count; i++)
        slurm_cancel(slurm, &slurm->batches.data[i]);
}

/* Whether a task has points that this runner has taken. */
static bool is_ours(const struct slurm *slurm, u32 batch, u32 task)
{
    for (u32 i = 0; i < slurm->points.count; i++) {
        const struct slurm_point *point = &slurm->points.data[i];
        if (point->batch == batch && point->task == task && point->state == ENDED)
            return true;
    }
    return false;
}

/* Whether nothing of a batch is awaited, here or by a runner with another plan. */
static bool finished(const struct slurm *slurm, u32 batch)
{
    for (u32 i = 0; i < slurm->points.count; i++) {
        const struct slurm_point *point = &slurm->points.data[i];
        if (point->batch != batch || !point->attempts)
            continue;
        bool queued = !slurm->batches.data[batch].absent[point->task];
        if (point->state == FLYING ||
            (point->state == KNOWN && queued && !is_ours(slurm, batch, point->task)))
            return false;
    }
    return true;
}

/* Removes the folders of batches whose points have all ended, unless a result could not be stored. */
static void slurm_close(struct executor *executor)
{
    struct slurm *slurm = of(executor);
    const bool stored = !slurm->taken && !slurm->unstored;
    if (slurm->batches.count)
        slurm_look_at_queue(slurm);
    for (u32 i = 0; i < slurm->batches.count; i++) {
        struct slurm_batch *batch = &slurm->batches.data[i];
        FILE *pipe = stored && finished(slurm, i)
                         ? popen(arena_printf(slurm->arena, "rm -rf -- %s",
                                              shell_quoted(slurm->arena, batch->folder)),
                                 "re")
                         : NULL;
        if (pipe)
            pclose(pipe);
        free(batch->absent);
        free(batch->first_task);
        free(batch->job_numbers);
    }
    rmdir(slurm->folder);
    free(slurm->taken);
    vec_free(&slurm->batches);
    vec_free(&slurm->points);
    free(slurm->table);
    arena_destroy(slurm->arena);
    free(slurm);
}

const struct executor_kind executor_slurm = {
    .name = "slurm",
    .form = "slurm[:N]",
    .help = "array jobs of Slurm, at most N tasks at a time",
    .needs_folder = true,
    .open = open_slurm,
    .room = slurm_room,
    .start = slurm_start,
    .submit = slurm_submit,
    .next = slurm_next,
    .forget = slurm_forget,
    .stop = slurm_stop,
    .close = slurm_close,
};
