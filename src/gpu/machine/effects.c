/* Parameters without effect: see effects.h. */
#include "gpu/machine/effects.h"

#include "base/text.h"

const struct effect_rule effect_rules[] = {
#define NEEDS(components, params, condition) {components, params, condition},
#include "gpu/machine/effects.def"
#undef NEEDS
    {0},
};

/* Whether a word is in "a|b|c". */
static bool listed(const char *list, const char *word, size_t length)
{
    for (; *list; list += strcspn(list, "|"), list += *list == '|')
        if (strcspn(list, "|") == length && !memcmp(list, word, length))
            return true;
    return false;
}

static bool covers(const struct effect_rule *rule, const char *key)
{
    const char *dot = strchr(key, '.'), *name = dot + 1, *params = rule->params;
    if (!listed(rule->components, key, (size_t)(dot - key)))
        return false;
    if (!strcmp(params, "*"))
        return true;
    return *params == '!' ? !listed(params + 1, name, strlen(name))
                          : listed(params, name, strlen(name));
}

/* One alternative of a condition: "key=value", "key!=value" or "key>number". */
static bool holds(struct arena *arena, const struct config *config, const char *text, size_t length)
{
    const char *condition = arena_strndup(arena, text, length);
    const size_t key_length = strcspn(condition, "!=>");
    const char *key = arena_strndup(arena, condition, key_length), *op = condition + key_length;
    const char *value = config_value_text(arena, config, key);
    u64 number, bound;
    assert(value); /* effects.def names parameters that exist; a test checks it */
    if (*op == '>')
        return text_u64(value, &number) == TEXT_OK && text_u64(op + 1, &bound) == TEXT_OK &&
               number > bound;
    return *op == '=' ? !strcmp(value, op + 1) : strcmp(value, op + 2) != 0;
}

static bool any_holds(struct arena *arena, const struct config *config, const char *condition)
{
    for (const char *at = condition; *at; at += strcspn(at, "|"), at += *at == '|')
        if (holds(arena, config, at, strcspn(at, "|")))
            return true;
    return false;
}

/* "a=1|b=2" as "a=1 or b=2" */
static const char *alternatives(struct arena *arena, const char *condition)
{
    const char *text = "";
    for (const char *at = condition; *at; at += strcspn(at, "|"), at += *at == '|')
        text =
            arena_printf(arena, "%s%s%.*s", text, *text ? " or " : "", (int)strcspn(at, "|"), at);
    return text;
}

const char *effects_missing(struct arena *arena, const struct config *config, const char *key)
{
    const char *dot = strchr(key, '.');
    if (!dot)
        return NULL;
    const char *on = arena_printf(arena, "%.*s.on", (int)(dot - key), key);
    const char *value = config_value_text(arena, config, on);
    if (value && !strcmp(value, "false") && strcmp(dot, ".on") != 0)
        return arena_printf(arena, "%s=true", on);
    for (const struct effect_rule *rule = effect_rules; rule->components; rule++)
        if (covers(rule, key) && !any_holds(arena, config, rule->condition))
            return alternatives(arena, rule->condition);
    return NULL;
}
