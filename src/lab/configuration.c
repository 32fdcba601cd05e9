/* Configurations: see configuration.h. */
#include "lab/configuration.h"

#include "base/text.h"

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

bool mechanisms_read(const struct fields *fields, const struct yaml *node,
                     struct mechanism_list *mechanisms)
{
    if (!fields_kind(fields, node, YAML_MAP, "mechanisms"))
        return false;
    mechanisms->list = arena_array(fields->arena, struct chosen_mechanism, node->count + 1);
    for (const struct yaml *child = node->first; child; child = child->next) {
        struct chosen_mechanism *use = &mechanisms->list[mechanisms->count++];
        use->name = arena_strdup(fields->arena, child->key);
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
    use->name = text;
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

const char *mechanisms_text(struct arena *arena, const struct mechanism_list *mechanisms)
{
    const char *text = mechanisms->count ? "" : "none";
    for (u32 i = 0; i < mechanisms->count; i++) {
        const struct chosen_mechanism *use = &mechanisms->list[i];
        text = arena_printf(arena, "%s%s%s", text, i ? "+" : "", use->name);
        for (u32 k = 0; k < use->settings.count; k++)
            text = arena_printf(arena, "%s%c%s=%s", text, k ? ',' : ':', use->settings.list[k].key,
                                use->settings.list[k].value);
    }
    return text;
}

bool mechanism_is_object(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 3 && !strcmp(name + length - 3, ".so"));
}

bool configuration_read(const struct fields *fields, const struct yaml *node,
                        struct configuration *configuration)
{
    static const char *const keys[] = {"machine", "mechanisms", "set", NULL};
    *configuration = (struct configuration){.name = arena_strdup(fields->arena, node->key),
                                            .place = fields_key_place(fields, node)};
    if (!fields_name(fields, node, configuration->name, false))
        return false;
    if (node->kind == YAML_SCALAR && !node->text[0]) /* base: */
        return true;
    const struct yaml *mechanisms = yaml_get(node, "mechanisms"), *set = yaml_get(node, "set");
    return fields_map(fields, node, "a configuration", keys) &&
           fields_text(fields, node, "machine", false, &configuration->machine) &&
           (!mechanisms || mechanisms_read(fields, mechanisms, &configuration->mechanisms)) &&
           (!set || settings_read(fields, set, &configuration->settings));
}
