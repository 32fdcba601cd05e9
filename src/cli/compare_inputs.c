/* Inputs of heddle compare: see compare_inputs.h. */
#include "cli/compare_inputs.h"

#include "base/text.h"
#include "cli/common.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILE_LIMIT = 1 << 30
};

static const char campaign_file[] = "sweep.db";

/* ---- words ---- */

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_database(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char text[sizeof magic] = "";
    FILE *file = strcmp(path, "-") ? fopen(path, "rbe") : NULL;
    const bool read = file && fread(text, sizeof text, 1, file) == 1;
    if (file)
        fclose(file);
    return read && !memcmp(text, magic, sizeof magic);
}

/* Splits FILE#SELECTION at the first '#' after the name of something that exists; names may contain
 * the sign as well. */
static void parse_word(struct compare_inputs *inputs, const char *word)
{
    struct compare_input *input = vec_push(&inputs->list);
    *input = (struct compare_input){.word = text_printable(inputs->arena, word), .path = word};
    for (const char *at = strchr(word, '#'); at && access(word, F_OK) != 0 && !input->selection;
         at = strchr(at + 1, '#')) {
        const char *path = arena_strndup(inputs->arena, word, (size_t)(at - word));
        if (access(path, F_OK) != 0)
            continue;
        input->path = path;
        input->selection = at + 1;
    }
    if (is_folder(input->path)) {
        const char *path = arena_printf(inputs->arena, "%s/%s", input->path, campaign_file);
        input->path = access(path, F_OK) == 0 ? path : input->path;
    }
    input->database = is_database(input->path);
}

/* ---- labels ---- */

/* The name of a file without folder and ending; of a campaign, the name of its folder. */
static const char *short_name(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (slash && slash > path && !strcmp(name, campaign_file)) {
        const char *end = slash;
        while (end > path && end[-1] == '/')
            end--;
        const char *start = end;
        while (start > path && start[-1] != '/')
            start--;
        if (end > start && strncmp(start, ".", (size_t)(end - start)) != 0)
            return arena_strndup(arena, start, (size_t)(end - start));
    }
    const char *dot = strrchr(name, '.');
    const bool known = dot && dot > name && (!strcmp(dot, ".json") || !strcmp(dot, ".db"));
    return known ? arena_strndup(arena, name, (size_t)(dot - name)) : name;
}

enum label_kind {
    LABEL_SELECTION, /* "mechanism=darsie": only the selections differ */
    LABEL_SHORT,     /* "cache", "cache#mechanism=darsie" */
    LABEL_WHOLE
};

static const char *label_of(struct arena *arena, const struct compare_input *input,
                            enum label_kind kind)
{
    if (kind == LABEL_SELECTION)
        return input->selection;
    if (kind == LABEL_WHOLE)
        return input->word;
    const char *name = short_name(arena, input->path);
    return input->selection ? arena_printf(arena, "%s#%s", name, input->selection) : name;
}

/* Whether labels of a kind exist and tell the inputs apart. */
static bool labels_differ(const struct compare_inputs *inputs, enum label_kind kind)
{
    for (u32 i = 0; i < inputs->list.count; i++) {
        const struct compare_input *one = &inputs->list.data[i];
        if (kind == LABEL_SELECTION &&
            (!one->selection || strcmp(one->path, inputs->list.data[0].path) != 0))
            return false;
        for (u32 k = 0; k < i; k++)
            if (!strcmp(label_of(inputs->arena, one, kind),
                        label_of(inputs->arena, &inputs->list.data[k], kind)))
                return false;
    }
    return true;
}

static void set_labels(struct compare_inputs *inputs)
{
    enum label_kind kind = LABEL_SELECTION;
    while (kind < LABEL_WHOLE && !labels_differ(inputs, kind))
        kind++;
    for (u32 i = 0; i < inputs->list.count; i++)
        inputs->list.data[i].label =
            text_printable(inputs->arena, label_of(inputs->arena, &inputs->list.data[i], kind));
}

/* ---- reading ---- */

static bool complain_of(const struct compare_inputs *inputs, const struct error *error)
{
    char text[2400];
    complain(inputs->command, "%s", error_text(error, text, sizeof text));
    return false;
}

static bool read_file(struct compare_inputs *inputs, struct compare_input *input)
{
    struct error error = {0};
    size_t length;
    if (input->selection) {
        complain(inputs->command, "%s: only points of a results file can be selected with '#'",
                 input->word);
        return false;
    }
    char *text = text_read_file(input->path, true, FILE_LIMIT, &length, &error);
    if (text)
        input->run =
            compare_run_parse(inputs->arena, input->label, input->path, text, length, &error);
    free(text);
    return input->run || complain_of(inputs, &error);
}

static bool open_database(struct compare_inputs *inputs, struct compare_input *input)
{
    struct error error = {0};
    input->sweep = compare_sweep_open(inputs->arena, input->path, input->selection, &error);
    if (!input->sweep)
        return complain_of(inputs, &error);
    input->sweep->label = input->label;
    return true;
}

/* The run of a results file of which one point is selected. */
static bool read_point(struct compare_inputs *inputs, struct compare_input *input)
{
    struct error error = {0};
    const char *status = "";
    const u32 point = input->sweep->points.data[0];
    input->run = compare_sweep_run(inputs->arena, input->sweep, point, &status, &error);
    if (input->run)
        return true;
    if (error.code != ERROR_NONE)
        return complain_of(inputs, &error);
    complain(inputs->command, "%s: the point %s has no result (%s)", input->word,
             compare_point_name(inputs->arena, input->sweep, point, NULL), status);
    return false;
}

/* Whether runs or sweeps are compared; false after a message: some inputs are one, some the
 * other. */
static bool decide(struct compare_inputs *inputs)
{
    const struct compare_input *single = NULL, *several = NULL;
    for (u32 i = 0; i < inputs->list.count; i++) {
        const struct compare_input *one = &inputs->list.data[i];
        if (one->sweep && one->sweep->points.count != 1)
            several = one;
        else if (!one->sweep)
            single = one;
    }
    inputs->sweeps = several;
    if (!several || !single)
        return true;
    complain(
        inputs->command, "%s is one run, but %s has %u points: choose one, as in '%s#%s'",
        single->word, several->word, several->sweep->points.count, several->path,
        compare_point_name(inputs->arena, several->sweep, several->sweep->points.data[0], NULL));
    return false;
}

static bool take_words(struct compare_inputs *inputs, const struct command_line *line)
{
    u32 dashes = 0;
    for (u32 i = 0; i < line->count; i++)
        if (!line->given[i].option) {
            parse_word(inputs, line->given[i].value);
            dashes += !strcmp(line->given[i].value, "-");
        }
    if (inputs->list.count < inputs->least) {
        usage_error(inputs->command, "expected at least %s statistics file%s or results file%s",
                    inputs->least > 1 ? "two" : "one", inputs->least > 1 ? "s" : "",
                    inputs->least > 1 ? "s" : "");
        return false;
    }
    if (dashes > 1) {
        usage_error(inputs->command, "standard input ('-') can be read only once");
        return false;
    }
    set_labels(inputs);
    return true;
}

bool compare_inputs_read(struct compare_inputs *inputs, const struct command_line *line)
{
    if (!take_words(inputs, line))
        return false;
    for (u32 i = 0; i < inputs->list.count; i++) {
        struct compare_input *input = &inputs->list.data[i];
        if (!(input->database ? open_database : read_file)(inputs, input))
            return false;
    }
    if (!decide(inputs))
        return false;
    for (u32 i = 0; !inputs->sweeps && i < inputs->list.count; i++)
        if (inputs->list.data[i].sweep && !read_point(inputs, &inputs->list.data[i]))
            return false;
    return true;
}

void compare_inputs_close(struct compare_inputs *inputs)
{
    for (u32 i = 0; i < inputs->list.count; i++) {
        compare_run_free(inputs->list.data[i].run);
        compare_sweep_close(inputs->list.data[i].sweep);
    }
    vec_free(&inputs->list);
}
