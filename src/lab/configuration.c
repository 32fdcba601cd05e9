/* Configurations: see configuration.h. */
#include "lab/configuration.h"

#include "base/text.h"
#include "lab/faults.h"
#include "variation/choice.h"

bool settings_read(const struct fields *fields, const struct yaml *node, struct settings *settings)
{
    if (!fields_kind(fields, node, YAML_MAP, node->key ? node->key : "settings"))
        return false;
    settings->list = arena_array(fields->arena, struct setting, node->count + 1);
    for (const struct yaml *child = node->first; child; child = child->next) {
        if (!fields_kind(fields, child, YAML_SCALAR, child->key))
            return false;
        settings->list[settings->count++] = (struct setting){
            arena_strdup(fields->arena, child->key), arena_strdup(fields->arena, child->text),
            fields_key_place(fields, child)};
    }
    return true;
}

/* Notes the name of a mechanism, which may be the path of a shared object. */
static void set_name(const struct fields *fields, struct chosen_mechanism *use, const char *name)
{
    const size_t length = strlen(name);
    const bool object = strchr(name, '/') || (length > 3 && !strcmp(name + length - 3, ".so"));
    use->name = name;
    use->file = object ? fields_path(fields, name) : NULL;
}

bool mechanisms_read(const struct fields *fields, const struct yaml *node,
                     struct mechanism_list *mechanisms)
{
    if (!fields_kind(fields, node, YAML_MAP, "mechanisms"))
        return false;
    mechanisms->list = arena_array(fields->arena, struct chosen_mechanism, node->count + 1);
    for (const struct yaml *child = node->first; child; child = child->next) {
        struct chosen_mechanism *use = &mechanisms->list[mechanisms->count++];
        set_name(fields, use, arena_strdup(fields->arena, child->key));
        use->place = fields_key_place(fields, child);
        bool bare = child->kind == YAML_SCALAR && !child->text[0]; /* uniform: */
        if (!bare && !settings_read(fields, child, &use->settings))
            return false;
    }
    return true;
}

static u32 count_of(const char *text, char sign)
{
    u32 count = 0;
    for (; *text; text++)
        count += *text == sign;
    return count;
}

/* NAME[:PARAMETER=VALUE,...] */
static bool parse_one(const struct fields *fields, const struct yaml *node, char *text,
                      struct chosen_mechanism *use)
{
    struct text_place place = fields_place(fields, node);
    char *colon = strchr(text, ':'), *rest = NULL;
    if (colon)
        *colon = '\0';
    set_name(fields, use, text);
    use->place = place;
    if (!*text)
        return fields_error(fields, node,
                            "expected none, or mechanisms as NAME[:PARAMETER=VALUE,...][+NAME...]");
    if (!colon)
        return true;
    use->settings.list = arena_array(fields->arena, struct setting, count_of(colon + 1, ',') + 1);
    for (char *word = strtok_r(colon + 1, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(word, '=');
        if (!equals || equals == word)
            return fields_error(fields, node, "'%s': expected PARAMETER=VALUE after '%s:'",
                                shown_text(fields->arena, word, 60), use->name);
        *equals = '\0';
        use->settings.list[use->settings.count++] = (struct setting){word, equals + 1, place};
    }
    return true;
}

bool mechanisms_parse(const struct fields *fields, const struct yaml *node,
                      struct mechanism_list *mechanisms)
{
    if (!strcmp(node->text, "none"))
        return true;
    char *rest = arena_strdup(fields->arena, node->text);
    mechanisms->list = arena_array(fields->arena, struct chosen_mechanism, count_of(rest, '+') + 1);
    for (char *text; (text = strsep(&rest, "+"));)
        if (!parse_one(fields, node, text, &mechanisms->list[mechanisms->count++]))
            return false;
    return true;
}

/* NAME[:PARAMETER=VALUE,...] */
static const char *use_text(struct arena *arena, const char *name, const struct settings *settings)
{
    for (u32 k = 0; k < settings->count; k++)
        name = arena_printf(arena, "%s%c%s=%s", name, k ? ',' : ':', settings->list[k].key,
                            settings->list[k].value);
    return name;
}

const char *mechanisms_text(struct arena *arena, const struct mechanism_list *mechanisms)
{
    const char *text = mechanisms->count ? "" : "none";
    for (u32 i = 0; i < mechanisms->count; i++)
        text =
            arena_printf(arena, "%s%s%s", text, i ? "+" : "",
                         use_text(arena, mechanisms->list[i].name, &mechanisms->list[i].settings));
    return text;
}

const char *mechanism_option(struct arena *arena, const struct chosen_mechanism *use)
{
    return use->file ? use_text(arena, use->file, &use->settings) : use->name;
}

const char *machine_path(const struct fields *fields, const char *machine)
{
    const size_t length = machine ? strlen(machine) : 0;
    const bool file =
        machine && (strchr(machine, '/') || (length > 5 && !strcmp(machine + length - 5, ".yaml")));
    return file ? fields_path(fields, machine) : machine;
}

const char *chip_path(const struct fields *fields, const char *chip)
{
    return !chip || chip_choice_is_drawn(chip) ? chip : fields_path(fields, chip);
}

bool configuration_read(const struct fields *fields, const struct yaml *node,
                        struct configuration *configuration)
{
    static const char *const keys[] = {"machine", "chip", "mechanisms", "set", "inject", NULL};
    *configuration = (struct configuration){.name = arena_strdup(fields->arena, node->key),
                                            .place = fields_key_place(fields, node)};
    if (!fields_name(fields, node, configuration->name, false))
        return false;
    if (node->kind == YAML_SCALAR && !node->text[0]) /* base: */
        return true;
    const struct yaml *mechanisms = yaml_get(node, "mechanisms"), *set = yaml_get(node, "set");
    const struct yaml *inject = yaml_get(node, "inject");
    if (!fields_map(fields, node, "a configuration", keys) ||
        !fields_text(fields, node, "machine", false, &configuration->machine))
        return false;
    if (!fields_text(fields, node, "chip", false, &configuration->chip))
        return false;
    configuration->machine = machine_path(fields, configuration->machine);
    configuration->chip = chip_path(fields, configuration->chip);
    return (!mechanisms || mechanisms_read(fields, mechanisms, &configuration->mechanisms)) &&
           (!set || settings_read(fields, set, &configuration->settings)) &&
           (!inject || faults_read(fields, inject, &configuration->faults));
}
