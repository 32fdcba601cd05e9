/* Launches whose energy is looked at, and what events cost on their machine. */
#ifndef MODEL_ENERGY_RIG_H
#define MODEL_ENERGY_RIG_H

#include "gpu/device.h"
#include "gpu/machine/stats.h"
#include "model/energy.h"

#include <heddle/heddle.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifndef RIG_MECHANISMS
#define RIG_MECHANISMS mechanisms_built_in
#endif

enum {
    BLOCKS = 40,
    THREADS = 80
};

/* ---- launches ---- */

struct rig {
    struct hd_device *device;
    struct hd_module *module;
    hd_address memory;
    json_t *series; /* rows of samples */
};

static inline struct hd_config *config_of(const char *machine, const char *settings)
{
    struct hd_error error = {0};
    struct hd_config *config = config_with(RIG_MECHANISMS);
    if (!hd_config_load(config, machine, &error))
        fail_msg("%s", error.message);
    char *copy = strdup(settings), *rest = copy;
    for (char *one; (one = strtok_r(rest, " ", &rest));)
        if (!hd_config_set(config, one, &error))
            fail_msg("%s: %s", one, error.message);
    free(copy);
    return config;
}

static inline struct rig open_rig(const char *machine, const char *settings, const char *ptx)
{
    struct hd_error error = {0};
    struct hd_config *config = config_of(machine, settings);
    struct rig rig = {.device = hd_device_open(config, &error), .series = json_array()};
    hd_config_destroy(config);
    if (!rig.device)
        fail_msg("%s", error.message);
    rig.module = hd_module_load(rig.device, ptx, strlen(ptx), "k.ptx", &error);
    if (!rig.module)
        fail_msg("%s: %s", error.place, error.message);
    rig.memory = hd_alloc(rig.device, 4 * BLOCKS * THREADS, &error);
    assert_true(hd_fill(rig.device, rig.memory, &(u8){0}, 1, 4 * BLOCKS * THREADS, &error));
    return rig;
}

static inline void launch(struct rig *rig, u32 blocks, u32 threads)
{
    struct hd_error error = {0};
    struct hd_result result;
    struct hd_arg arg = {&rig->memory, sizeof rig->memory};
    if (!hd_launch(hd_kernel_at(rig->module, 0), (struct hd_dim){blocks, 1, 1},
                   (struct hd_dim){threads, 1, 1}, 0, &arg, 1, &result, &error))
        fail_msg("%s", error.message);
    assert_int_equal(result.outcome, HD_DONE);
}

static inline json_t *stats_of(const struct rig *rig)
{
    char *text = hd_stats_json(rig->device);
    json_t *json = json_loads(text, 0, NULL);
    hd_free(text);
    return json;
}

static inline void close_rig(struct rig *rig)
{
    hd_device_close(rig->device);
    json_decref(rig->series);
}

static inline u64 fj(const json_t *stats, const char *key)
{
    const json_t *value = json_object_get(stats, key);
    if (!json_is_number(value))
        fail_msg("there is no %s", key);
    return (u64)llround(json_number_value(value) * 1000);
}

static inline bool is_part(const char *key, const char *kind)
{
    size_t length = strlen(key), tail = strlen(kind);
    return !strncmp(key, "energy.parts.", 13) && length > tail &&
           !strcmp(key + length - tail, kind);
}

static inline u64 sum_parts(const json_t *stats, const char *kind)
{
    const char *key;
    json_t *value;
    u64 sum = 0;
    json_object_foreach((json_t *)stats, key, value) if (is_part(key, kind)) sum += fj(stats, key);
    return sum;
}

static inline void check_parts(const json_t *stats)
{
    assert_int_equal(sum_parts(stats, ".dynamic_pj"), fj(stats, "energy.dynamic_pj"));
    assert_int_equal(sum_parts(stats, ".static_pj"), fj(stats, "energy.static_pj"));
    assert_int_equal(fj(stats, "energy.dynamic_pj") + fj(stats, "energy.static_pj"),
                     fj(stats, "energy.total_pj"));
    assert_true(fj(stats, "energy.dynamic_pj") > 0 && fj(stats, "energy.static_pj") > 0);
}

static inline const json_t *launch_stats(const json_t *stats, size_t i)
{
    return json_object_get(json_array_get(json_object_get(stats, "launches"), i), "stats");
}

/* ---- what events cost ---- */

static inline json_t *costs_of(const char *machine, const char *settings)
{
    struct hd_error error = {0};
    struct hd_config *config = config_of(machine, settings);
    char *text = hd_energy_json(config, &error);
    if (!text)
        fail_msg("%s", error.message);
    json_t *json = json_loads(text, 0, NULL);
    hd_free(text);
    hd_config_destroy(config);
    return json;
}

/* pJ of the event of this counter and array (NULL: logic). */
static inline f64 pj_of(const json_t *costs, const char *counter, const char *kind,
                        const char *array)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(costs, "events"), i, row)
    {
        const char *own = json_string_value(json_object_get(row, "array"));
        if (!strcmp(json_string_value(json_object_get(row, "counter")), counter) &&
            !strcmp(json_string_value(json_object_get(row, "kind")), kind) &&
            (array ? own && !strcmp(own, array) : !own))
            return json_real_value(json_object_get(row, "pj"));
    }
    fail_msg("there is no event %s %s %s", counter, kind, array ? array : "");
    return 0;
}

static inline f64 mw_of(const json_t *costs, const char *what)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(costs, "leakage"), i,
                       row) if (!strcmp(json_string_value(json_object_get(row, "what")),
                                        what)) return json_real_value(json_object_get(row, "mw"));
    fail_msg("nothing leaks in %s", what);
    return 0;
}

static inline void expect(f64 found, f64 wanted)
{
    if (fabs(found - wanted) > 1e-12 * wanted)
        fail_msg("%.17g is not %.17g", found, wanted);
}

#endif
