/* Heddle's side, by its public interface: the only file that knows it. See compare.h. */
#include <assert.h>
#include <heddle/heddle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "json.h"

struct heddle {
    struct hd_config *config[2]; /* as it is; with portable lane functions */
};

static void keep_line(void *user, const char *line, size_t length)
{
    struct outcome *out = user;
    if (out->count == out->capacity) {
        out->capacity = out->capacity ? 2 * out->capacity : 64;
        out->records = realloc(out->records, out->capacity * sizeof *out->records);
        assert(out->records);
    }
    struct record *r = &out->records[out->count++];
    if (!record_from_json(line, length, r)) {
        snprintf(out->error, sizeof out->error, "the trace is no JSON: %.*s", (int)length, line);
        out->count--;
    }
}

/*
 * Runs a program and returns the dump, or NULL with out->error set; without `traced` the device
 * takes its short ways. Each run has a device of its own, since addresses of code are part of its
 * end.
 */
static char *run(const struct hd_config *config, const struct program *p, const char *state,
                 bool traced, struct outcome *out)
{
    struct hd_error error = {0};
    struct hd_result result = {0};
    struct hd_device *device = hd_device_open(config, &error);
    struct hd_module *module =
        device ? hd_module_load_raw(device, p->words, p->count * 4, "program", &error) : NULL;
    struct hd_raw *raw =
        module ? hd_raw_create(module, state, strlen(state), "state", &error) : NULL;
    bool ran = raw && hd_raw_run(raw, traced ? keep_line : NULL, out, &result, &error);
    if (!ran || result.outcome != HD_DONE)
        snprintf(out->error, sizeof out->error, "%.300s", ran ? result.explanation : error.message);
    char *end = ran ? hd_raw_dump(raw) : NULL;
    hd_raw_destroy(raw);
    hd_module_unload(module);
    hd_device_close(device);
    return end;
}

struct heddle *heddle_open(void)
{
    struct heddle *h = calloc(1, sizeof *h);
    struct hd_error error = {0};
    assert(h);
    for (u32 i = 0; i < 2; i++) {
        h->config[i] = hd_config_create();
        if (!hd_config_load(h->config[i], hd_machine_for(NULL, 0, true), &error) ||
            (i && !hd_config_set(h->config[i], "exec.simd=portable", &error)))
            printf("%s\n", error.message);
    }
    return h;
}

void heddle_close(struct heddle *h)
{
    hd_config_destroy(h->config[0]);
    hd_config_destroy(h->config[1]);
    free(h);
}

bool heddle_run(struct heddle *h, const struct program *p, struct outcome *out)
{
    char *state = state_json(&p->start);
    char *end = run(h->config[0], p, state, true, out);
    if (end && !out->error[0]) {
        out->end = calloc(1, sizeof *out->end);
        assert(out->end);
        if (!state_from_json(end, out->end))
            snprintf(out->error, sizeof out->error, "the dump cannot be read");
    }
    for (u32 i = 0; i < 2 && !out->error[0]; i++) {
        char *again = run(h->config[i], p, state, false, out);
        if (again && strcmp(again, end) != 0)
            out->differs =
                i ? "another end without a trace, portable" : "another end without a trace";
        hd_free(again);
    }
    hd_free(end);
    free(state);
    return !out->error[0];
}

void outcome_free(struct outcome *out)
{
    for (u32 i = 0; i < out->count; i++)
        record_free(&out->records[i]);
    free(out->records);
    if (out->end)
        emu_free(out->end);
    free(out->end);
}
