/* Sources of profiles: see source.h. */
#include "report/source.h"

#include "base/text.h"
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SOURCE_LIMIT = 1 << 26
};

static u64 count_of(const json_t *json, const char *key)
{
    const json_t *value = json_object_get(json, key);
    return json_is_integer(value) ? (u64)json_integer_value(value) : 0;
}

static bool try_read(struct source *source, const char *path)
{
    struct error error = {0};
    size_t length;
    free(source->text);
    source->text = text_read_file(path, false, SOURCE_LIMIT, &length, &error);
    return source->text && length;
}

bool source_read(struct source *source, const char *file, const char *module, const char *folder)
{
    *source = (struct source){0};
    char *copy = strdup(module), *name = strdup(file), *beside = NULL, *below = NULL;
    bool anywhere = !folder;
    if (anywhere)
        folder = dirname(copy);
    if (asprintf(&below, "%s/%s", folder, file) < 0 ||
        asprintf(&beside, "%s/%s", folder, basename(name)) < 0)
        host_memory_exhausted();
    bool found = (file[0] == '/' && try_read(source, file)) ||
                 (anywhere && (try_read(source, file) || try_read(source, below))) ||
                 try_read(source, beside);
    free(copy);
    free(name);
    free(beside);
    free(below);
    if (!found) {
        free(source->text);
        return false;
    }
    for (char *at = source->text; *at; at++)
        source->count += *at == '\n';
    source->lines = checked(calloc(source->count + 1u, sizeof *source->lines));
    u32 count = 0;
    char *save = source->text;
    for (char *line; (line = strsep(&save, "\n"));)
        source->lines[count++] = line;
    source->count = count;
    return true;
}

void source_free(struct source *source)
{
    free(source->lines);
    free(source->text);
}

u32 place_line(const json_t *inst, size_t *length)
{
    const char *place = json_string_value(json_object_get(inst, "place"));
    const char *colon = place ? strrchr(place, ':') : NULL;
    *length = colon ? (size_t)(colon - place) : 0;
    return colon ? (u32)strtoul(colon + 1, NULL, 10) : 0;
}

char *place_main_file(const json_t *insts)
{
    const char *best = NULL;
    size_t best_length = 0;
    u64 best_issued = 0;
    size_t i;
    json_t *inst;
    json_array_foreach(insts, i, inst)
    {
        size_t length;
        u64 issued = count_of(inst, "issued");
        if (!place_line(inst, &length) || (best && issued <= best_issued))
            continue;
        best = json_string_value(json_object_get(inst, "place"));
        best_length = length;
        best_issued = issued;
    }
    return best ? strndup(best, best_length) : NULL;
}

bool place_in(const json_t *inst, const char *file, u32 *line)
{
    size_t length;
    *line = place_line(inst, &length);
    return *line && strlen(file) == length &&
           !strncmp(json_string_value(json_object_get(inst, "place")), file, length);
}
