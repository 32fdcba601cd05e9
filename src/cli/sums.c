/* Sums of launches: see sums.h. */
#include "cli/sums.h"

#include "base/config.h"
#include "cli/common.h"
#include <stdio.h>
#include <stdlib.h>

void sums_free(struct sum_list *sums)
{
    for (u32 i = 0; i < sums->list.count; i++) {
        free(sums->list.data[i].kernel);
        free(sums->list.data[i].counts);
    }
    vec_free(&sums->list);
    json_decref(sums->names);
}

static void device_key(const json_t *record, char key[24])
{
    snprintf(key, 24, "%lld", (long long)json_integer_value(json_object_get(record, "device")));
}

void sums_take(struct sum_list *sums, const json_t *record)
{
    const char *kernel = json_string_value(json_object_get(record, "kernel"));
    json_t *names = json_object_get(record, "names");
    char key[24];
    device_key(record, key);
    if (!sums->names)
        sums->names = json_object();
    if (names) {
        json_object_set(sums->names, key, names);
    } else if (kernel && json_object_get(sums->names, key)) {
        struct kernel_sum *sum = vec_push(&sums->list);
        *sum = (struct kernel_sum){.kernel = checked(strdup(kernel)),
                                   .names = json_object_get(sums->names, key),
                                   .offset =
                                       (u64)json_integer_value(json_object_get(record, "offset"))};
        sum->counts = checked(calloc(json_array_size(sum->names) + 1, sizeof *sum->counts));
    }
}

void sums_read(struct sum_list *sums, const char *path)
{
    FILE *file = sums->list.count ? fopen(path, "rbe") : NULL;
    for (u32 i = 0; file && i < sums->list.count; i++) {
        struct kernel_sum *sum = &sums->list.data[i];
        size_t count = json_array_size(sum->names);
        if (fseek(file, (long)sum->offset, SEEK_SET) != 0 ||
            fread(&sum->head, sizeof sum->head, 1, file) != 1 ||
            fread(sum->counts, sizeof *sum->counts, count, file) != count)
            sum->head = (struct launch_sum){0}; /* truncated file: no data */
    }
    if (file)
        fclose(file);
}

u64 sums_launches(const struct sum_list *sums)
{
    u64 count = 0;
    for (u32 i = 0; i < sums->list.count; i++)
        count += sums->list.data[i].head.launches;
    return count;
}

const struct kernel_sum *sums_running(const struct sum_list *sums)
{
    for (u32 i = 0; i < sums->list.count; i++)
        if (sums->list.data[i].head.blocks)
            return &sums->list.data[i];
    return NULL;
}

static bool ends_in_pj(const char *name)
{
    size_t length = strlen(name);
    return length > 3 && !strcmp(name + length - 3, "_pj");
}

/* The counters of a sum; functional launches have only some. */
static json_t *counters_json(const struct kernel_sum *sum)
{
    json_t *counters = json_object(), *name;
    size_t index;
    json_array_foreach(sum->names, index, name)
    {
        const char *key = json_string_value(name);
        u64 value = sum->counts[index];
        if (sum->head.timed || value || !strncmp(key, "exec.", 5))
            json_object_set_new(counters, key,
                                ends_in_pj(key) ? json_real((f64)value / 1000)
                                                : stats_number(value));
    }
    return counters;
}

/* The counters as the statistics of one launch, with rates. */
static json_t *with_rates(json_t *counters, const struct hd_config *config)
{
    json_t *launches = json_pack("[{s:o}]", "stats", counters);
    char *text = json_dumps(launches, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_t *stats = parse_own_json(hd_stats_total(config, text, strlen(text), NULL));
    json_decref(launches);
    free(text);
    return stats;
}

static void copy(json_t *row, const char *name, const json_t *stats, const char *key)
{
    json_t *value = json_object_get(stats, key);
    json_object_set_new(row, name, value ? json_incref(value) : json_integer(0));
}

static json_t *sum_json(const struct kernel_sum *sum, const struct hd_config *config)
{
    json_t *row = json_object(), *stats = with_rates(counters_json(sum), config);
    const json_t *ps = json_object_get(stats, "timing.picoseconds");
    json_object_set_new(row, "kernel", json_string(sum->kernel));
    json_object_set_new(row, "launches", stats_number(sum->head.launches));
    json_object_set_new(row, "timed", stats_number(sum->head.timed));
    copy(row, "cycles", stats, "timing.cycles");
    json_object_set_new(row, "seconds",
                        ps ? json_real((f64)json_integer_value(ps) * 1e-12) : json_null());
    copy(row, "warp_instructions", stats, "exec.warp_instructions");
    copy(row, "thread_instructions", stats, "exec.thread_instructions");
    json_object_set_new(row, "stats", stats);
    return row;
}

void sums_collect(const struct sum_list *sums, const struct hd_config *config, json_t *rows,
                  json_t *seconds)
{
    for (u32 i = 0; i < sums->list.count; i++) {
        const struct kernel_sum *sum = &sums->list.data[i];
        if (!sum->head.launches)
            continue; /* its only launch failed, and is listed with the launches */
        json_array_append_new(rows, sum_json(sum, config));
        json_array_append_new(seconds, json_real((f64)sum->head.host_ns * 1e-9));
    }
}
