/* Heddle's side, by its public interface: the only file that knows it. See compare.h. */
#include <assert.h>
#include <heddle/heddle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "json.h"

enum {
    PLAIN,
    PORTABLE, /* lane functions */
    TIMED,    /* machines, in turn */
    CONFIGS = TIMED + 3
};
static const char *const machines[CONFIGS] = {
    [TIMED] = "generic64",
    [TIMED + 1] = "tahiti",
    [TIMED + 2] = "miaow",
};

struct heddle {
    struct hd_config *config[CONFIGS];
};

/* The trace lines of each wave's instructions, in sequence. */
struct lines {
    char *text[MAX_WAVES];
    size_t length[MAX_WAVES];
};

static void lines_add(struct lines *lines, const char *line, size_t length)
{
    unsigned wave;
    if (sscanf(line, "{\"wave\":%u,", &wave) != 1) /* a step, which only time has */
        return;
    assert(wave < MAX_WAVES);
    char **text = &lines->text[wave];
    *text = realloc(*text, lines->length[wave] + length + 2);
    assert(*text);
    memcpy(*text + lines->length[wave], line, length);
    lines->length[wave] += length + 1;
    memcpy(*text + lines->length[wave] - 1, "\n", 2);
}

static bool lines_same(const struct lines *a, const struct lines *b)
{
    for (u32 i = 0; i < MAX_WAVES; i++)
        if (a->length[i] != b->length[i] ||
            (a->length[i] && memcmp(a->text[i], b->text[i], a->length[i]) != 0))
            return false;
    return true;
}

static void lines_free(struct lines *lines)
{
    for (u32 i = 0; i < MAX_WAVES; i++)
        free(lines->text[i]);
}

/* Who takes the trace: records, or lines alone. */
struct taker {
    struct outcome *out; /* NULL: lines alone */
    struct lines lines;
};

static void keep_line(void *user, const char *line, size_t length)
{
    struct taker *taker = user;
    struct outcome *out = taker->out;
    if (!out) {
        lines_add(&taker->lines, line, length);
        return;
    }
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
 * Runs a program and returns the dump, or NULL with out->error set; without a taker the device
 * takes its short ways. Each run has a device of its own, since addresses of code are part of its
 * end.
 */
static char *run(const struct hd_config *config, const struct program *p, const char *state,
                 struct taker *taker, struct outcome *out)
{
    struct hd_error error = {0};
    struct hd_result result = {0};
    struct hd_device *device = hd_device_open(config, &error);
    struct hd_module *module =
        device ? hd_module_load_raw(device, p->words, p->count * 4, "program", &error) : NULL;
    struct hd_raw *raw =
        module ? hd_raw_create(module, state, strlen(state), "state", &error) : NULL;
    bool ran = raw && hd_raw_run(raw, taker ? keep_line : NULL, taker, &result, &error);
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
    for (u32 i = 0; i < CONFIGS; i++) {
        static const char *const settings[CONFIGS] = {
            [PLAIN] = "timing.functional=true",
            [PORTABLE] = "exec.simd=portable",
            [TIMED + 1] = "issue.memory_order=scoreboard", /* programs here do not wait */
        };
        const char *machine = machines[i] ? machines[i] : hd_machine_for(NULL, 0, true);
        const char *setting = settings[i];
        h->config[i] = hd_config_create();
        if (!hd_config_load(h->config[i], machine, &error) ||
            (setting && !hd_config_set(h->config[i], setting, &error)) ||
            (i >= TIMED && !hd_config_set(h->config[i], "gpu.cores=2", &error)) ||
            (i == PORTABLE && !hd_config_set(h->config[i], settings[PLAIN], &error)))
            printf("%s\n", error.message);
    }
    return h;
}

void heddle_close(struct heddle *h)
{
    for (u32 i = 0; i < CONFIGS; i++)
        hd_config_destroy(h->config[i]);
    free(h);
}

/* Nothing a lone wave does depends on when it does it, but for atomics, whose lanes have no order.
 */
static bool has_order(const struct lines *lines)
{
    return !strstr(lines->text[0], "\"buffer_atomic") && !strstr(lines->text[0], "\"s_memtime");
}

/* In timing mode a wave does the same as in functional mode, in the same order, with the same final
 * state. */
static void run_timed(struct heddle *h, const struct program *p, struct outcome *out)
{
    struct program alone = *p;
    struct taker plain = {0}, timed = {0};
    alone.start.wave_count = 1;
    char *state = state_json(&alone.start);
    char *end = run(h->config[PLAIN], &alone, state, &plain, out);
    char *again =
        out->error[0] ? NULL : run(h->config[TIMED + p->seed % 3], &alone, state, &timed, out);
    if (again && has_order(&plain.lines)) {
        if (strcmp(again, end) != 0)
            out->differs = "another end in time";
        else if (!lines_same(&plain.lines, &timed.lines))
            out->differs = "other instructions in time";
    }
    hd_free(again);
    hd_free(end);
    free(state);
    lines_free(&plain.lines);
    lines_free(&timed.lines);
}

bool heddle_run(struct heddle *h, const struct program *p, struct outcome *out)
{
    char *state = state_json(&p->start);
    struct taker taker = {.out = out};
    char *end = run(h->config[PLAIN], p, state, &taker, out);
    if (end && !out->error[0]) {
        out->end = calloc(1, sizeof *out->end);
        assert(out->end);
        if (!state_from_json(end, out->end))
            snprintf(out->error, sizeof out->error, "the dump cannot be read");
    }
    for (u32 i = 0; i <= PORTABLE && !out->error[0]; i++) {
        char *again = run(h->config[i], p, state, NULL, out);
        if (again && strcmp(again, end) != 0)
            out->differs =
                i ? "another end without a trace, portable" : "another end without a trace";
        hd_free(again);
    }
    hd_free(end);
    free(state);
    if (!out->error[0] && !out->differs)
        run_timed(h, p, out);
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
