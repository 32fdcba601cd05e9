/* Heddle's side, by its command: the only file that knows how a raw program is run. See compare.h.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "json.h"

struct heddle {
    char folder[64];
    const char *command;
};

struct heddle *heddle_open(const char *command)
{
    struct heddle *h = calloc(1, sizeof *h);
    assert(h);
    h->command = command;
    strcpy(h->folder, "/tmp/heddle-si-XXXXXX");
    if (!mkdtemp(h->folder)) {
        free(h);
        return NULL;
    }
    return h;
}

static const char *const files[] = {"prog.bin", "state.json", "end.json", "trace.jsonl", "log"};

static void path_of(const struct heddle *h, u32 i, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", h->folder, files[i]);
}

void heddle_close(struct heddle *h)
{
    char path[128];
    for (u32 i = 0; i < 5; i++) {
        path_of(h, i, path, sizeof path);
        unlink(path);
    }
    rmdir(h->folder);
    free(h);
}

static void write_file(const struct heddle *h, u32 i, const void *data, size_t bytes)
{
    char path[128];
    path_of(h, i, path, sizeof path);
    FILE *f = fopen(path, "wb");
    assert(f);
    fwrite(data, 1, bytes, f);
    fclose(f);
}

static char *read_whole(const struct heddle *h, u32 i)
{
    char path[128];
    path_of(h, i, path, sizeof path);
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    long bytes = ftell(f);
    rewind(f);
    char *text = calloc((size_t)bytes + 1, 1);
    assert(text);
    size_t got = fread(text, 1, (size_t)bytes, f);
    fclose(f);
    text[got] = 0;
    return text;
}

static bool read_trace(const char *text, struct outcome *out)
{
    while (*text) {
        const char *newline = strchr(text, '\n');
        size_t length = newline ? (size_t)(newline - text) : strlen(text);
        char mnemonic[128];
        if (out->count == out->capacity) {
            out->capacity = out->capacity ? 2 * out->capacity : 64;
            out->records = realloc(out->records, out->capacity * sizeof *out->records);
            assert(out->records);
        }
        if (!record_from_json(text, length, &out->records[out->count], mnemonic, sizeof mnemonic))
            return false;
        out->count++;
        text += length + (newline != NULL);
    }
    return true;
}

bool heddle_run(struct heddle *h, const struct program *p, struct outcome *out)
{
    char line[512];
    char *state = state_json(&p->start);
    write_file(h, 0, p->words, p->count * 4);
    write_file(h, 1, state, strlen(state));
    free(state);
    snprintf(line, sizeof line,
             "%s run %s/prog.bin --si-state %s/state.json --si-dump %s/end.json --si-trace "
             "%s/trace.jsonl >%s/log 2>&1",
             h->command, h->folder, h->folder, h->folder, h->folder, h->folder);
    if (system(line) != 0) {
        char *log = read_whole(h, 4);
        snprintf(out->error, sizeof out->error, "%s", log ? log : "no log");
        free(log);
        return false;
    }
    char *end = read_whole(h, 2), *trace = read_whole(h, 3);
    out->end = calloc(1, sizeof *out->end);
    assert(out->end);
    bool good = end && trace && state_from_json(end, out->end) && read_trace(trace, out);
    if (!good)
        snprintf(out->error, sizeof out->error, "the dump or the trace cannot be read");
    free(end);
    free(trace);
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
