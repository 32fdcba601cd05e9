/* Heddle's side, by its public interface: the only file that knows it. See compare.h. */
#include <assert.h>
#include <heddle/heddle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "json.h"

struct heddle {
    struct hd_device *device;
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

static bool run(struct heddle *h, const void *code, size_t bytes, const char *state,
                struct outcome *out)
{
    struct hd_error error = {0};
    struct hd_result result = {0};
    struct hd_module *module = hd_module_load_raw(h->device, code, bytes, "program", &error);
    struct hd_raw *raw =
        module ? hd_raw_create(module, state, strlen(state), "state", &error) : NULL;
    bool ran = raw && hd_raw_run(raw, keep_line, out, &result, &error);
    if (!ran || result.outcome != HD_DONE)
        snprintf(out->error, sizeof out->error, "%.300s", ran ? result.explanation : error.message);
    char *end = ran ? hd_raw_dump(raw) : NULL;
    if (end) {
        out->end = calloc(1, sizeof *out->end);
        assert(out->end);
        if (!state_from_json(end, out->end))
            snprintf(out->error, sizeof out->error, "the dump cannot be read");
    }
    hd_free(end);
    hd_raw_destroy(raw);
    hd_module_unload(module);
    return !out->error[0];
}

struct heddle *heddle_open(const char *const *settings)
{
    struct hd_error error = {0};
    struct heddle *h = calloc(1, sizeof *h);
    struct hd_config *config = hd_config_create();
    assert(h && config);
    bool good = hd_config_load(config, hd_machine_for(NULL, 0, true), &error);
    for (; good && *settings; settings++)
        good = hd_config_set(config, *settings, &error);
    h->device = good ? hd_device_open(config, &error) : NULL;
    hd_config_destroy(config);
    if (!h->device) {
        printf("%s\n", error.message);
        free(h);
        return NULL;
    }
    return h;
}

void heddle_close(struct heddle *h)
{
    hd_device_close(h->device);
    free(h);
}

bool heddle_run(struct heddle *h, const struct program *p, struct outcome *out)
{
    char *state = state_json(&p->start);
    bool good = run(h, p->words, p->count * 4, state, out);
    free(state);
    return good;
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
