/* The trace and the time series of a run: see timeline.h. */
#include "cli/timeline.h"

#include "cli/common.h"
#include <stdlib.h>

static void write_trace(void *user, const void *data, size_t bytes)
{
    struct timeline *timeline = &((struct run_command *)user)->timeline;
    if (timeline->has_trace)
        fwrite(data, 1, bytes, timeline->trace.stream);
    if (timeline->events.to)
        fwrite(data, 1, bytes, timeline->events.to);
}

/* Writes a CSV cell: strings, which are kernel names, are quoted. */
static void write_cell(FILE *to, const json_t *value)
{
    if (json_is_string(value)) {
        fputc('"', to);
        for (const char *at = json_string_value(value); *at; at++) {
            if (*at == '"')
                fputc('"', to);
            fputc(*at, to);
        }
        fputc('"', to);
    } else if (json_is_integer(value))
        fprintf(to, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        fprintf(to, "%.17g", json_real_value(value));
}

static void write_headings(FILE *to, json_t *row)
{
    const char *key, *comma = "";
    json_t *value;
    json_object_foreach(row, key, value)
    {
        fprintf(to, "%s%s", comma, key);
        comma = ",";
    }
    fputc('\n', to);
}

static void write_cells(FILE *to, json_t *row)
{
    const char *key, *comma = "";
    json_t *value;
    json_object_foreach(row, key, value)
    {
        fputs(comma, to);
        write_cell(to, value);
        comma = ",";
    }
    fputc('\n', to);
}

/* Keeps a row for the page. */
static void keep_row(struct run_command *run, const void *data, size_t bytes)
{
    json_t *row = json_loadb(data, bytes, 0, NULL);
    series_add(&run->over_time, run->request.arena, row);
    json_decref(row);
}

static void write_row(void *user, const void *data, size_t bytes)
{
    struct run_command *run = user;
    struct timeline *timeline = &run->timeline;
    watch_clear(run->watch);
    if (run->request.report)
        keep_row(run, data, bytes);
    if (!timeline->has_series)
        return;
    if (!timeline->csv) {
        fwrite(data, 1, bytes, timeline->series.stream);
        return;
    }
    json_t *row = json_loadb(data, bytes, 0, NULL);
    if (!timeline->headed)
        write_headings(timeline->series.stream, row);
    timeline->headed = true;
    write_cells(timeline->series.stream, row);
    json_decref(row);
}

static bool open_one(struct run_command *run, const char *option, const char *path,
                     struct output *output, bool *has)
{
    struct error error = {0};
    if (!path || open_output(run, output, path, &error)) {
        *has = path;
        return true;
    }
    complain(run->command, "%s: %s: %s", option, error.place, error.message);
    return false;
}

static bool close_one(struct run_command *run, const char *option, struct output *output, bool *has)
{
    struct error error = {0};
    bool had = *has;
    *has = false;
    if (!had || commit_output(run, output, &error))
        return true;
    complain(run->command, "%s: %s: %s", option, error.place, error.message);
    return false;
}

static bool close_files(struct run_command *run)
{
    struct timeline *timeline = &run->timeline;
    bool ok = close_one(run, "--trace", &timeline->trace, &timeline->has_trace);
    if (timeline->events.to)
        fclose(timeline->events.to);
    timeline->events.to = NULL;
    return close_one(run, "--interval", &timeline->series, &timeline->has_series) && ok;
}

/* Nothing is written after all. */
static void discard_files(struct run_command *run)
{
    struct timeline *timeline = &run->timeline;
    if (timeline->has_trace)
        discard_output(run, &timeline->trace);
    if (timeline->has_series)
        discard_output(run, &timeline->series);
    timeline->has_trace = timeline->has_series = false;
    if (timeline->events.to)
        fclose(timeline->events.to);
    free(timeline->events.text);
    timeline->events.to = NULL;
    timeline->events.text = NULL;
}

static bool open_files(struct run_command *run)
{
    const struct request *request = &run->request;
    struct timeline *timeline = &run->timeline;
    if (!open_one(run, "--trace", request->timeline, &timeline->trace, &timeline->has_trace))
        return false;
    if (!open_one(run, "--interval", request->series, &timeline->series, &timeline->has_series)) {
        discard_files(run);
        return false;
    }
    if (request->trace_events && request->report && request->trace_window)
        timeline->events.to =
            checked(open_memstream(&timeline->events.text, &timeline->events.length));
    const char *dot = request->series ? strrchr(request->series, '.') : NULL;
    timeline->csv = dot && !strcmp(dot, ".csv");
    return true;
}

bool timeline_open(struct run_command *run)
{
    const struct request *request = &run->request;
    struct timeline *timeline = &run->timeline;
    if (!open_files(run))
        return false;
    const bool rows = timeline->has_series || request->interval;
    const bool traced = timeline->has_trace || timeline->events.to;
    if (!traced && !rows)
        return true;
    struct hd_error error = {0};
    const struct hd_observe what = {.trace = traced ? write_trace : NULL,
                                    .trace_user = run,
                                    .trace_events = request->trace_events,
                                    .trace_cores = request->trace_cores,
                                    .trace_longest = request->trace_longest,
                                    .trace_from = request->trace_from,
                                    .trace_to = request->trace_to,
                                    .interval = request->interval,
                                    .series = rows ? write_row : NULL,
                                    .series_user = run};
    if (hd_observe(run->device, &what, &error) || report(run->command, &error) == EXIT_DONE)
        return true;
    discard_files(run);
    return false;
}

bool timeline_close(struct run_command *run)
{
    hd_observe(run->device, NULL, NULL);
    return close_files(run);
}

/* Copies a file line by line; it may not exist. */
static void copy(struct run_command *run, const char *folder, const char *name, hd_bytes_fn *give)
{
    char *line = NULL, *path;
    size_t size = 0;
    ssize_t length;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        host_memory_exhausted();
    FILE *file = fopen(path, "rbe");
    while (file && (length = getline(&line, &size, file)) > 0)
        give(run, line, (size_t)length);
    if (file)
        fclose(file);
    free(line);
    free(path);
}

bool timeline_copy(struct run_command *run, const char *folder)
{
    if (!open_files(run))
        return false;
    if (run->timeline.has_trace || run->timeline.events.to)
        copy(run, folder, "trace", write_trace);
    if (run->request.interval)
        copy(run, folder, "series", write_row);
    return close_files(run);
}
