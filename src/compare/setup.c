/* What was given: versions, programs, machine, mechanisms and parameters. */
#include "compare/runs.h"

#include "base/text.h"

static const char *json_text(struct arena *arena, const json_t *value)
{
    if (json_is_string(value))
        return text_printable(arena, json_string_value(value));
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    const char *copy = text ? text_printable(arena, text) : "-";
    free(text);
    return copy;
}

/* ---- origin ---- */

/* A row of one text per run; "" is a missing value. */
static void origin_row(struct run_comparison *c, struct compare_section *section, const char *name,
                       const char *(*text_of)(struct run_comparison *, const struct compare_run *,
                                              u32),
                       u32 index)
{
    struct compare_row *row = section_row(c, section, name, QUANTITY_TEXT);
    for (u32 r = 0; r < c->count; r++) {
        const char *text = text_of(c, c->runs[r], index);
        if (*text)
            row_text(row, r, text_printable(c->arena, text));
    }
}

static const json_t *manifest_of(const struct compare_run *run)
{
    return json_object_get(run->document, "manifest");
}

static const char *version_of(struct run_comparison *c, const struct compare_run *run, u32 index)
{
    return string_in(manifest_of(run), "version");
}

static const char *seed_of(struct run_comparison *c, const struct compare_run *run, u32 index)
{
    const json_t *seed = json_object_get(manifest_of(run), "seed");
    return seed ? json_text(c->arena, seed) : "";
}

static const char *machine_of(struct run_comparison *c, const struct compare_run *run, u32 index)
{
    return string_in(json_object_get(run->document, "config"), "machine");
}

/* Mechanisms are components with a switch `on`. */
static const char *mechanisms_of(struct run_comparison *c, const struct compare_run *run, u32 index)
{
    const char *list = "", *name;
    json_t *component;
    const json_t *config = json_object_get(run->document, "config");
    json_object_foreach((json_t *)config, name,
                        component) if (json_is_true(json_object_get(component, "on"))) list =
        arena_printf(c->arena, "%s%s%s", list, *list ? ", " : "", name);
    return *list || !config ? list : "none";
}

static const json_t *item(const struct compare_run *run, const char *list, u32 index)
{
    return json_array_get(json_object_get(manifest_of(run), list), index);
}

/* "hotspot, sha256 5ce676f3..." of an input or a kernel source */
static const char *digest_text(struct run_comparison *c, const char *name, const json_t *from)
{
    enum {
        DIGITS = 12 /* of a hash, enough to tell files apart */
    };
    const char *hash = string_in(from, "sha256");
    return *hash ? arena_printf(c->arena, "%s%ssha256 %.*s", name, *name ? ", " : "", DIGITS, hash)
                 : name;
}

static const char *input_of(struct run_comparison *c, const struct compare_run *run, u32 index)
{
    return digest_text(c, string_in(item(run, "inputs", index), "path"),
                       item(run, "inputs", index));
}

static const char *source_of(struct run_comparison *c, const struct compare_run *run, u32 index)
{
    return digest_text(c, "", item(run, "programs", index));
}

static const char *options_of(struct run_comparison *c, const struct compare_run *run, u32 index)
{
    return string_in(item(run, "programs", index), "options");
}

static const char *compiler_of(struct run_comparison *c, const struct compare_run *run, u32 index)
{
    return string_in(item(run, "programs", index), "compiler");
}

static u32 longest(const struct run_comparison *c, const char *list)
{
    size_t most = 0;
    for (u32 r = 0; r < c->count; r++)
        most = MAX(most, json_array_size(json_object_get(manifest_of(c->runs[r]), list)));
    return (u32)most;
}

void compare_origin(struct run_comparison *c)
{
    struct compare_section *section = section_add(c, "origin", "What was run", "");
    section->results = false;
    origin_row(c, section, "Heddle version", version_of, 0);
    origin_row(c, section, "machine", machine_of, 0);
    origin_row(c, section, "mechanisms", mechanisms_of, 0);
    origin_row(c, section, "seed", seed_of, 0);
    for (u32 i = 0; i < longest(c, "inputs"); i++)
        origin_row(c, section, arena_printf(c->arena, "input file %u", i + 1), input_of, i);
    for (u32 i = 0; i < longest(c, "programs"); i++) {
        const char *which = arena_printf(c->arena, "kernel source %u", i + 1);
        origin_row(c, section, which, source_of, i);
        origin_row(c, section, arena_printf(c->arena, "%s: options", which), options_of, i);
        origin_row(c, section, arena_printf(c->arena, "%s: compiler", which), compiler_of, i);
    }
    for (u32 r = 0; r < c->count; r++)
        if (!manifest_of(c->runs[r]))
            section_note(c, section, "%s has no manifest: version and programs are not known",
                         c->runs[r]->label);
}

/* ---- configuration ---- */

/* Whether a component is a mechanism that no run has switched on. */
static bool is_off(const struct run_comparison *c, const char *component)
{
    bool mechanism = false;
    for (u32 r = 0; r < c->count; r++) {
        const json_t *config = json_object_get(c->runs[r]->document, "config");
        const json_t *on = json_object_get(json_object_get(config, component), "on");
        mechanism |= json_is_boolean(on);
        if (json_is_true(on))
            return false;
    }
    return mechanism;
}

/* Whether the parameter differs between any two of the runs. */
static bool parameter_differs(const struct run_comparison *c, const char *component,
                              const char *name)
{
    const json_t *first = NULL;
    for (u32 r = 0; r < c->count; r++) {
        const json_t *config = json_object_get(c->runs[r]->document, "config");
        const json_t *value = json_object_get(json_object_get(config, component), name);
        if (r && (!first != !value || (first && !json_equal(first, value))))
            return true;
        first = value;
    }
    return false;
}

static void parameter_row(struct run_comparison *c, struct compare_section *section,
                          const char *component, const char *name)
{
    struct compare_row *row =
        section_row(c, section, arena_printf(c->arena, "%s.%s", component, name), QUANTITY_TEXT);
    for (u32 r = 0; r < c->count; r++) {
        const json_t *config = json_object_get(c->runs[r]->document, "config");
        const json_t *value = json_object_get(json_object_get(config, component), name);
        if (value)
            row_text(row, r, json_text(c->arena, value));
    }
}

/* Visits a component of one run's configuration: parameters that an earlier run has as well were
 * visited there. Returns how many differ but belong to a mechanism that is off. */
static u32 component_rows(struct run_comparison *c, struct compare_section *section, u32 run,
                          const char *component, const json_t *params)
{
    const bool off = is_off(c, component);
    const char *name;
    json_t *value;
    u32 idle = 0;
    json_object_foreach((json_t *)params, name, value)
    {
        bool seen = false;
        for (u32 r = 0; r < run; r++) {
            const json_t *config = json_object_get(c->runs[r]->document, "config");
            seen |= json_object_get(json_object_get(config, component), name) != NULL;
        }
        if (seen || !parameter_differs(c, component, name))
            continue;
        if (off)
            idle++;
        else
            parameter_row(c, section, component, name);
    }
    return idle;
}

void compare_configuration(struct run_comparison *c)
{
    struct compare_section *section =
        section_add(c, "configuration", "Configuration: parameters that differ", "parameter");
    section->results = false;
    u32 idle = 0;
    for (u32 r = 0; r < c->count; r++) {
        const json_t *config = json_object_get(c->runs[r]->document, "config");
        const char *component;
        json_t *params;
        if (!config)
            section_note(c, section, "%s has no configuration", c->runs[r]->label);
        json_object_foreach((json_t *)config, component, params) if (json_is_object(params)) idle +=
            component_rows(c, section, r, component, params);
    }
    if (idle)
        section_note(c, section,
                     "%u parameter%s of mechanisms that are off differ%s, too, and %s no effect",
                     idle, idle > 1 ? "s" : "", idle > 1 ? "" : "s", idle > 1 ? "have" : "has");
}
