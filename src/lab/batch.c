/* Points for workers: see batch.h. */
#include "lab/batch.h"

#include "base/text.h"
#include "lab/processes.h"
#include "lab/statistics.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    FILE_LIMIT = 1 << 30,
    LOG_LIMIT = 1 << 24,
    TICK_MS = 200
};

static json_t *words_json(const char *const *words)
{
    json_t *list = json_array();
    for (; *words; words++)
        json_array_append_new(list, json_string(*words));
    return list;
}

void batch_write_point(FILE *to, const struct point *point)
{
    json_t *line = json_object();
    json_object_set_new(line, "key", json_string(point->key));
    json_object_set_new(line, "words", words_json(point->words));
    json_object_set_new(line, "program", words_json(point->program));
    json_object_set_new(line, "by_heddle", json_boolean(point->by_heddle));
    json_object_set_new(line, "report", json_boolean(point->report));
    json_dumpf(line, to, JSON_COMPACT);
    fputc('\n', to);
    json_decref(line);
}

static const char **words_of(struct arena *arena, const json_t *list)
{
    const char **words = arena_array(arena, const char *, json_array_size(list) + 1);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *word = json_string_value(json_array_get(list, i));
        words[i] = arena_strdup(arena, word ? word : "");
    }
    return words;
}

static const char *result_path(struct arena *arena, const char *folder, const char *key,
                               const char *kind)
{
    return arena_printf(arena, "%s/results/%s.%s", folder, key, kind);
}

bool batch_read_result(const char *folder, const char *key, struct arena *arena,
                       struct ended_run *run)
{
    const char *log = result_path(arena, folder, key, "log");
    char *text = statistics_read(result_path(arena, folder, key, "json"));
    const char *status = text ? text_string(arena, text_member(text, "status")) : NULL;
    if (status) {
        const char *message = text_string(arena, text_member(text, "message"));
        const char *seconds = text_member(text, "seconds");
        const char *statistics = text_member(text, "statistics");
        run->outcome = (struct outcome){status, message ? message : ""};
        run->seconds = seconds ? strtod(seconds, NULL) : 0;
        if (statistics)
            run->statistics =
                checked(strndup(statistics, (size_t)(text_value_end(statistics) - statistics)));
        run->log = access(log, F_OK) == 0 ? log : NULL;
    }
    free(text);
    return status;
}

/* ---- the worker ---- */

struct batch_worker {
    const struct worker_setup *setup;
    struct executor *executor;
    struct arena *arena;
    VEC(struct point) points;
    u32 next, running;
    struct error *error;
};

/* Reads the points of the task that have no result (B2). */
static bool read_task(struct batch_worker *worker)
{
    const char *path = arena_printf(worker->arena, "%s/tasks/%llu.json", worker->setup->folder,
                                    (unsigned long long)worker->setup->task);
    size_t length;
    char *rest = NULL, *text = text_read_file(path, false, FILE_LIMIT, &length, worker->error);
    if (!text)
        return false;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        json_t *json = json_loads(line, 0, NULL);
        const char *key = json_string_value(json_object_get(json, "key"));
        struct point point = {.words = words_of(worker->arena, json_object_get(json, "words")),
                              .program = words_of(worker->arena, json_object_get(json, "program")),
                              .by_heddle = json_is_true(json_object_get(json, "by_heddle")),
                              .report = json_is_true(json_object_get(json, "report"))};
        if (key && strlen(key) == SHA256_TEXT - 1 && point.words[0]) {
            memcpy(point.key, key, sizeof point.key);
            if (access(result_path(worker->arena, worker->setup->folder, key, "json"), F_OK) != 0)
                *(struct point *)vec_push(&worker->points) = point;
        }
        json_decref(json);
    }
    free(text);
    return true;
}

static void copy_log(const struct batch_worker *worker, const char *key, const char *log)
{
    struct error ignored = {0};
    size_t length;
    char *text = text_read_file(log, false, LOG_LIMIT, &length, &ignored);
    FILE *file =
        text ? fopen(result_path(worker->arena, worker->setup->folder, key, "log"), "we") : NULL;
    if (file) {
        fwrite(text, 1, length, file);
        fclose(file);
    }
    free(text);
}

/* Writes the fields of a result as an object; statistics are JSON already. */
static bool print_result(FILE *file, const struct ended_run *run)
{
    json_t *result = json_object();
    json_object_set_new(result, "status", json_string(run->outcome.status));
    json_object_set_new(result, "message", text_json(run->outcome.message));
    json_object_set_new(result, "seconds", json_real(run->seconds));
    char *text = checked(json_dumps(result, JSON_COMPACT | JSON_REAL_PRECISION(17)));
    text[strlen(text) - 1] = '\0'; /* its bracket comes last */
    bool ok = fputs(text, file) >= 0 &&
              (!run->statistics || fprintf(file, ",\"statistics\":%s", run->statistics) > 0) &&
              fputc('}', file) >= 0;
    free(text);
    json_decref(result);
    return ok;
}

/* Writes a result under another name and renames it (B1). */
static bool write_result(struct batch_worker *worker, const struct ended_run *run)
{
    const char *key = worker->points.data[run->number].key;
    const char *path = result_path(worker->arena, worker->setup->folder, key, "json");
    const char *other = arena_printf(worker->arena, "%s.%ld", path, (long)getpid());
    if (strcmp(run->outcome.status, "done") != 0)
        copy_log(worker, key, run->log);
    FILE *file = fopen(other, "we");
    bool ok = file && print_result(file, run) && fflush(file) == 0 && fsync(fileno(file)) == 0;
    if (file && fclose(file) != 0)
        ok = false;
    if (ok && rename(other, path) == 0)
        return true;
    unlink(other);
    return error_set(worker->error, ERROR_SYSTEM, path, "cannot be written: %s", strerror(errno));
}

/* Runs until all points have ended, or a signal has ended them. */
static bool work(struct batch_worker *worker, const sigset_t *set, int *signal)
{
    const struct executor_kind *kind = worker->executor->kind;
    const struct timespec tick = {.tv_nsec = TICK_MS * 1000000l};
    bool ok = true;
    for (;;) {
        while (ok && !*signal && worker->next < worker->points.count &&
               kind->room(worker->executor)) {
            ok = kind->start(worker->executor, &worker->points.data[worker->next], worker->next,
                             worker->error);
            worker->next++;
            worker->running += ok;
        }
        if (!worker->running)
            return ok;
        int number = sigtimedwait(set, NULL, &tick);
        if (number > 0 && number != SIGCHLD) {
            kind->stop(worker->executor, *signal);
            *signal = number;
        }
        struct ended_run run = {0};
        while (kind->next(worker->executor, worker->arena, &run, worker->error)) {
            worker->running--;
            if (run.full)
                ok = error_set(worker->error, ERROR_SYSTEM, run.full,
                               "no room is left for the statistics of a run");
            else if (!*signal || !strcmp(run.outcome.status, "done"))
                ok &= write_result(worker, &run);
            free(run.statistics);
            run.statistics = NULL;
        }
    }
}

/* Reads batch.json. A Heddle other than the runner's would give other results. */
static bool read_batch(struct batch_worker *worker, struct run_limits *limits)
{
    const char *path = arena_printf(worker->arena, "%s/batch.json", worker->setup->folder);
    json_error_t ignored;
    json_t *batch = json_load_file(path, 0, &ignored);
    const char *build = json_string_value(json_object_get(batch, "build"));
    limits->seconds = json_number_value(json_object_get(batch, "seconds"));
    limits->bytes = (u64)json_integer_value(json_object_get(batch, "bytes"));
    bool ok = build && !strcmp(build, worker->setup->build);
    if (!build)
        error_fill(worker->error, ERROR_INPUT, path, "cannot be read");
    else if (!ok)
        error_fill(worker->error, ERROR_INPUT, path,
                   "this host's Heddle is not the one that planned the sweep");
    json_decref(batch);
    return ok;
}

bool batch_work(const struct worker_setup *setup, int *signal, struct error *error)
{
    struct batch_worker worker = {.setup = setup, .arena = arena_create(), .error = error};
    struct executor_setup local = {.heddle = setup->heddle, .parallel = setup->parallel};
    static const int numbers[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP};
    sigset_t set, old;
    sigemptyset(&set);
    for (u32 i = 0; i < ARRAY_LEN(numbers); i++)
        sigaddset(&set, numbers[i]);
    sigprocmask(SIG_BLOCK, &set, &old);
    *signal = 0;
    bool ok = read_batch(&worker, &local.limits) && read_task(&worker) &&
              (worker.executor = executor_open(&local, "local", error));
    if (ok) {
        ok = work(&worker, &set, signal);
        worker.executor->kind->close(worker.executor);
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    vec_free(&worker.points);
    arena_destroy(worker.arena);
    return ok;
}
