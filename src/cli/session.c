/* Records of a program's launches: see session.h. */
#include "cli/session.h"

#include "base/demangle.h"
#include "base/quantity.h"
#include "base/text.h"
#include "cli/breakdown.h"
#include "heddle/heddle.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static struct process_record *process_of(struct program_session *session, const char *name)
{
    for (u32 i = 0; i < session->processes.count; i++)
        if (!strcmp(session->processes.data[i].name, name))
            return &session->processes.data[i];
    struct process_record *process = vec_push(&session->processes);
    *process = (struct process_record){.name = strdup(name),
                                       .launches = json_array(),
                                       .seconds = json_array(),
                                       .builds = json_array(),
                                       .profiles = json_object()};
    return process;
}

static void set_running(struct process_record *process, const char *kernel, u64 blocks)
{
    free(process->running);
    process->running = kernel ? strdup(kernel) : NULL;
    process->blocks = blocks;
    process->progress = (struct launch_progress){0};
    free(process->note);
    process->note = NULL;
}

static bool is_done(const json_t *launch)
{
    const char *outcome = json_string_value(json_object_get(launch, "outcome"));
    return outcome && !strcmp(outcome, "done");
}

static void set_faulted(struct process_record *process, const json_t *of)
{
    const char *kernel = json_string_value(json_object_get(of, "kernel"));
    if (!process->faulted)
        process->faulted = strdup(kernel ? kernel : "");
}

static void take_launch(struct process_record *process, json_t *record)
{
    json_t *launch = json_object_get(record, "launch"), *number = json_object_get(record, "number");
    f64 ns = (f64)json_integer_value(json_object_get(record, "host_ns"));
    if (json_integer_value(number) > LAUNCHES_RECORDED)
        json_object_set(launch, "number", number); /* its index in the list is not its number */
    json_array_append(process->launches, launch);
    json_array_append_new(process->seconds, json_real(ns * 1e-9));
    if (!is_done(launch))
        set_faulted(process, launch);
}

static void take(struct process_record *process, json_t *record)
{
    const char *event = json_string_value(json_object_get(record, "event"));
    if (!event)
        return;
    if (!strcmp(event, "loaded")) {
        process->loaded = true;
        process->at = json_integer_value(json_object_get(record, "at"));
    } else if (!strcmp(event, "device")) {
        process->device = true;
    } else if (!strcmp(event, "unusable")) {
        process->unusable = true;
    } else if (!strcmp(event, "build")) {
        json_object_del(record, "event");
        json_array_append(process->builds, record);
    } else if (!strcmp(event, "start")) {
        set_running(process, json_string_value(json_object_get(record, "kernel")),
                    (u64)json_integer_value(json_object_get(record, "blocks")));
    } else if (!strcmp(event, "note")) {
        const char *text = json_string_value(json_object_get(record, "text"));
        free(process->note);
        process->note = text ? strdup(text) : NULL;
    } else if (!strcmp(event, "launch")) {
        set_running(process, NULL, 0);
        take_launch(process, record);
    } else if (!strcmp(event, "counters") || !strcmp(event, "sum")) {
        sums_take(&process->sums, record);
    } else if (!strcmp(event, "refused")) {
        set_running(process, NULL, 0);
        set_faulted(process, record);
    } else if (!strcmp(event, "bug")) {
        const char *text = json_string_value(json_object_get(record, "text"));
        if (!process->bug)
            process->bug = strdup(text ? text : "");
    } else if (!strcmp(event, "profile")) {
        char device[24];
        snprintf(device, sizeof device, "%lld",
                 (long long)json_integer_value(json_object_get(record, "device")));
        json_object_set(process->profiles, device, json_object_get(record, "profile"));
    }
}

/* Reads the sums of a process: those of "123.jsonl" are in "123.sums". */
static void read_sums(const struct program_session *session, struct process_record *process)
{
    char *path;
    if (asprintf(&path, "%s/%.*s.sums", session->folder, (int)strcspn(process->name, "."),
                 process->name) < 0)
        host_memory_exhausted();
    sums_read(&process->sums, path);
    free(path);
    const struct kernel_sum *sum = sums_running(&process->sums);
    if (sum || process->adding)
        set_running(process, sum ? sum->kernel : NULL, sum ? sum->head.blocks : 0);
    process->adding = sum != NULL;
}

/* Reads how far the running launch is. What is left of the launch before is not taken for it. */
static void read_progress(const struct program_session *session, struct process_record *process)
{
    char *path;
    struct launch_progress now;
    if (!process->running)
        return;
    if (asprintf(&path, "%s/%.*s.progress", session->folder, (int)strcspn(process->name, "."),
                 process->name) < 0)
        host_memory_exhausted();
    FILE *file = fopen(path, "rbe");
    free(path);
    if (!file)
        return;
    if (fread(&now, sizeof now, 1, file) == 1 && now.blocks_total == process->blocks)
        process->progress = now;
    fclose(file);
}

static void read_process(struct program_session *session, struct process_record *process)
{
    char *path, *line = NULL;
    size_t size = 0;
    ssize_t length;
    if (asprintf(&path, "%s/%s", session->folder, process->name) < 0)
        host_memory_exhausted();
    FILE *file = fopen(path, "rbe");
    free(path);
    if (!file)
        return;
    fseek(file, process->offset, SEEK_SET);
    while ((length = getline(&line, &size, file)) > 0 && line[length - 1] == '\n') {
        json_t *record = json_loadb(line, (size_t)length, 0, NULL);
        process->offset += length;
        take(process, record);
        json_decref(record);
    }
    free(line);
    fclose(file);
    read_sums(session, process);
    read_progress(session, process);
}

void session_read(struct program_session *session)
{
    DIR *folder = opendir(session->folder);
    if (!folder)
        return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot && !strcmp(dot, ".jsonl"))
            read_process(session, process_of(session, entry->d_name));
    }
    closedir(folder);
}

u64 session_launches(const struct program_session *session)
{
    u64 count = 0;
    for (u32 i = 0; i < session->processes.count; i++)
        count += json_array_size(session->processes.data[i].launches) +
                 sums_launches(&session->processes.data[i].sums);
    return count;
}

const char *session_bug(const struct program_session *session)
{
    for (u32 i = 0; i < session->processes.count; i++)
        if (session->processes.data[i].bug)
            return session->processes.data[i].bug;
    return NULL;
}

const struct process_record *session_running(const struct program_session *session)
{
    for (u32 i = session->processes.count; i-- > 0;)
        if (session->processes.data[i].running)
            return &session->processes.data[i];
    return NULL;
}

const char *session_faulted(const struct program_session *session)
{
    for (u32 i = 0; i < session->processes.count; i++)
        if (session->processes.data[i].faulted)
            return session->processes.data[i].faulted;
    return NULL;
}

static int earlier(const void *a, const void *b)
{
    const struct process_record *first = a, *second = b;
    if (first->at != second->at)
        return first->at < second->at ? -1 : 1;
    return strcmp(first->name, second->name);
}

struct session_all session_collect(struct program_session *session, const struct hd_config *config)
{
    struct session_all all = {json_array(), json_array(), json_array(),
                              json_array(), json_array(), json_array()};
    if (session->processes.count)
        qsort(session->processes.data, session->processes.count, sizeof session->processes.data[0],
              earlier);
    for (u32 i = 0; i < session->processes.count; i++) {
        const struct process_record *process = &session->processes.data[i];
        json_array_extend(all.launches, process->launches);
        json_array_extend(all.seconds, process->seconds);
        json_array_extend(all.builds, process->builds);
        sums_collect(&process->sums, config, all.sums, all.sum_seconds);
        const char *device;
        json_t *profile;
        json_object_foreach(process->profiles, device, profile)
            json_array_extend(all.profile, profile);
    }
    return all;
}

void session_all_free(struct session_all *all)
{
    json_decref(all->launches);
    json_decref(all->seconds);
    json_decref(all->builds);
    json_decref(all->profile);
    json_decref(all->sums);
    json_decref(all->sum_seconds);
}

void session_free(struct program_session *session)
{
    for (u32 i = 0; i < session->processes.count; i++) {
        struct process_record *process = &session->processes.data[i];
        json_decref(process->launches);
        json_decref(process->seconds);
        json_decref(process->builds);
        json_decref(process->profiles);
        sums_free(&process->sums);
        free(process->running);
        free(process->faulted);
        free(process->bug);
        free(process->note);
        free(process->name);
    }
    vec_free(&session->processes);
}

/* ---- the table ---- */

/* The sum of all launches of a kernel. */
struct kernel_row {
    const char *name;
    u64 launches, timed, warp_instructions, thread_instructions, cycles, faults, interrupted;
    u64 timed_instructions; /* warp instructions of timed launches */
    f64 seconds, host_seconds;
};

static u64 number(const json_t *launch, const char *key)
{
    return (u64)json_integer_value(json_object_get(launch, key));
}

static struct kernel_row *row_of(struct kernel_row *rows, u32 *count, const json_t *launch)
{
    const char *name = json_string_value(json_object_get(launch, "kernel"));
    u32 at = 0;
    while (at < *count && strcmp(rows[at].name, name ? name : "") != 0)
        at++;
    if (at == *count)
        rows[(*count)++] = (struct kernel_row){.name = name ? name : ""};
    return &rows[at];
}

/* Adds a launch, or a sum of launches. */
static void add_launch(struct kernel_row *row, const json_t *launch, const json_t *host_seconds)
{
    const json_t *seconds = json_object_get(launch, "seconds");
    bool sum = json_object_get(launch, "launches");
    row->launches += sum ? number(launch, "launches") : 1;
    row->warp_instructions += number(launch, "warp_instructions");
    row->thread_instructions += number(launch, "thread_instructions");
    row->cycles += number(launch, "cycles");
    row->host_seconds += json_number_value(host_seconds);
    const char *outcome = json_string_value(json_object_get(launch, "outcome"));
    if (outcome && !strcmp(outcome, "interrupted"))
        row->interrupted++;
    else
        row->faults += !sum && !is_done(launch);
    if (json_is_number(seconds)) {
        row->timed += sum ? number(launch, "timed") : 1;
        row->timed_instructions += number(launch, "warp_instructions");
        row->seconds += json_number_value(seconds);
    }
}

static void gather(struct kernel_row *rows, u32 *count, const json_t *launches,
                   const json_t *seconds)
{
    for (size_t i = 0; i < json_array_size(launches); i++) {
        const json_t *launch = json_array_get(launches, i);
        add_launch(row_of(rows, count, launch), launch, json_array_get(seconds, i));
    }
}

/* Names as in the source, unless that makes two alike. */
static void show_names(struct arena *arena, struct kernel_row *rows, u32 count)
{
    const char **shown = arena_array(arena, const char *, count + 1);
    for (u32 i = 0; i < count; i++)
        shown[i] = demangle(arena, rows[i].name);
    for (u32 i = 0; i < count; i++) {
        bool alone = true;
        for (u32 k = 0; k < count; k++)
            alone &= k == i || strcmp(shown[i], shown[k]) != 0;
        rows[i].name = alone ? shown[i] : rows[i].name;
    }
}

void print_kernels(const json_t *stats, const struct session_all *all)
{
    struct arena *arena = arena_create();
    struct kernel_row *rows = arena_array(
        arena, struct kernel_row, json_array_size(all->launches) + json_array_size(all->sums) + 1);
    u32 count = 0;
    gather(rows, &count, all->launches, all->seconds);
    gather(rows, &count, all->sums, all->sum_seconds);
    int width = 6;
    show_names(arena, rows, count);
    for (u32 i = 0; i < count; i++)
        width = MAX(width, (int)strlen(rows[i].name));
    if (count)
        fprintf(stderr, "%-*s %8s %12s %14s %12s %10s %7s %10s\n", width, "kernel", "launches",
                "warp instr.", "thread instr.", "cycles", "time", "IPC", "host time");
    for (u32 i = 0; i < count; i++) {
        const struct kernel_row *row = &rows[i];
        char time[32];
        fprintf(stderr, "%-*s %8llu %12llu %14llu ", width, row->name,
                (unsigned long long)row->launches, (unsigned long long)row->warp_instructions,
                (unsigned long long)row->thread_instructions);
        if (row->timed)
            fprintf(stderr, "%12llu %10s %7.3f", (unsigned long long)row->cycles,
                    time_text(row->seconds, time, sizeof time),
                    row->cycles ? (f64)row->timed_instructions / (f64)row->cycles : 0);
        else
            fprintf(stderr, "%12s %10s %7s", "-", "-", "-");
        fprintf(stderr, " %8.3f s%s\n", row->host_seconds,
                row->faults        ? "  (faulted, see above)"
                : row->interrupted ? "  (interrupted)"
                                   : "");
    }
    print_breakdown(stderr, stats);
    arena_destroy(arena);
}
