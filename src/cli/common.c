/* Functions shared by subcommands: see common.h. */
#include "cli/common.h"

#include "base/text.h"
#include "cli/output.h"
#include <stdlib.h>

int report(const struct command *command, const struct hd_error *error)
{
    complain(command, "%s%s%s", error->place, error->place[0] ? ": " : "", error->message);
    return EXIT_USAGE;
}

bool is_event_file(const char *path)
{
    const size_t length = strlen(path);
    return length > 6 && !strcmp(path + length - 6, ".jsonl");
}

/* Whether this option of heddle run makes it trace events. */
static bool traces_events(const struct command *command, const struct command_line *line,
                          const char *name)
{
    const char *trace = option_value(line, "--trace");
    if (strcmp(command->name, "run") != 0)
        return false;
    return trace ? !strcmp(name, "--trace") && is_event_file(trace)
                 : !strcmp(name, "--trace-window");
}

/* Applies --mech and, if `set`, --set, in the given order. */
static bool apply_options(const struct command *command, const struct command_line *line,
                          struct hd_config *config, bool set)
{
    struct hd_error error = {0};
    bool ok = true;
    for (u32 i = 0; ok && i < line->count; i++) {
        const struct given *given = &line->given[i];
        const char *name = given->option ? given->option->name : "";
        if (set && !strcmp(name, "--set"))
            ok = hd_config_set(config, given->value, &error);
        else if (!strcmp(name, "--mech"))
            ok = hd_config_mechanism(config, given->value, &error);
        else if (!strcmp(name, "--avf"))
            ok = hd_config_mechanism(config, "avf", &error);
        else if (traces_events(command, line, name))
            ok = hd_config_mechanism(config, "causes", &error);
        if (!ok)
            complain(command, "%s%s%s: %s", name, given->value ? " " : "",
                     given->value ? given->value : "", error.message);
    }
    return ok;
}

struct hd_config *open_config(const struct command *command, const struct command_line *line,
                              const char *machine)
{
    struct hd_config *config = hd_config_create();
    struct hd_error error = {0};
    /* twice: a machine file may name parameters of a mechanism that --mech loads */
    bool ok = apply_options(command, line, config, false);
    if (ok && machine && !hd_config_load(config, machine, &error)) {
        complain(command, "%s%s%s%s", option_value(line, "--machine") ? "--machine: " : "",
                 error.place, error.place[0] ? ": " : "", error.message);
        ok = false;
    }
    if (ok && apply_options(command, line, config, true))
        return config;
    hd_config_destroy(config);
    return NULL;
}

struct hd_config *open_checked_config(const struct command *command,
                                      const struct command_line *line, const char *machine)
{
    struct hd_config *config = open_config(command, line, machine);
    struct hd_error error = {0};
    if (!config || hd_config_check(config, &error))
        return config;
    report(command, &error);
    hd_config_destroy(config);
    return NULL;
}

/* Whether a --set before `index` has this key. */
static bool set_before(const struct command_line *line, u32 index, const char *key, size_t length)
{
    for (u32 i = 0; i < index; i++) {
        const struct given *given = &line->given[i];
        if (given->option && !strcmp(given->option->name, "--set") && given->value &&
            strcspn(given->value, "=") == length && !memcmp(given->value, key, length))
            return true;
    }
    return false;
}

void note_idle_settings(const struct command *command, const struct command_line *line,
                        const struct hd_config *config)
{
    struct arena *arena = arena_create();
    for (u32 i = 0; i < line->count; i++) {
        const struct given *given = &line->given[i];
        if (!given->option || strcmp(given->option->name, "--set") != 0 || !given->value)
            continue;
        const size_t length = strcspn(given->value, "=");
        if (set_before(line, i, given->value, length))
            continue;
        const char *key = arena_strndup(arena, given->value, length);
        char *missing = hd_config_missing(config, key);
        if (missing)
            complain(command, "note: --set %s has no effect on the simulation: it needs %s", key,
                     missing);
        hd_free(missing);
    }
    arena_destroy(arena);
}

void complain_endless(const struct command *command, const char *kernel, const char *text)
{
    complain(command,
             "kernel '%s': %s\n"
             "  Ctrl-C stops it, and statistics are complete up to that point; --max-instructions, "
             "--max-seconds or --set timing.max_cycles=N set a limit",
             kernel, text);
}

json_t *parse_own_json(char *text)
{
    json_error_t error;
    json_t *json = text ? json_loads(text, 0, &error) : NULL;
    if (!json)
        abort(); /* JSON from the library is always valid */
    hd_free(text);
    return json;
}

void print_json(FILE *to, const json_t *json)
{
    json_dumpf(json, to, JSON_INDENT(2) | JSON_ENCODE_ANY);
    fputc('\n', to);
}

int write_report(const struct command *command, const struct command_line *line, const char *name,
                 json_t *findings)
{
    const char *path = option_value(line, "--stats");
    struct error error = {0};
    struct output output;
    char text[2400];
    bool ok = !path || output_open(&output, path, &error);
    json_t *document = json_object();
    json_object_set_new(document, name, findings);
    if (ok && path) {
        print_json(output.stream, document);
        ok = output_commit(&output, &error);
    }
    json_decref(document);
    if (!ok)
        complain(command, "--stats: %s", error_text(&error, text, sizeof text));
    return ok ? EXIT_DONE : EXIT_USAGE;
}

int show_json(const struct command_line *line, char *text, void (*print)(const json_t *json))
{
    json_t *answer = parse_own_json(text);
    if (option_value(line, "--json"))
        print_json(stdout, answer);
    else
        print(answer);
    json_decref(answer);
    return EXIT_DONE;
}

struct hd_module *load_code(const struct command *command, struct hd_device *device,
                            const char *path, const struct code_file *code)
{
    struct hd_error error = {0};
    const char *name = strcmp(path, "-") ? path : "standard input";
    struct hd_module *module =
        code->raw ? hd_module_load_raw(device, code->data, code->length, name, &error)
                  : hd_module_load(device, code->data, code->length, name, &error);
    if (!module)
        report(command, &error);
    return module;
}

const char *field_text(struct arena *arena, const json_t *row, const char *name)
{
    const json_t *value = json_object_get(row, name);
    if (json_is_string(value))
        return json_string_value(value);
    if (!value || json_is_null(value))
        return "";
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    char *copy = arena_strdup(arena, text ? text : "");
    free(text);
    return copy;
}
