/* The rules of effects.def name parts of the machine that exist. */
#include "base/product.h"
#include "gpu/machine/effects.h"
#include "gpu/machine/params.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct component *component_named(const char *name, size_t length)
{
    for (const struct component *const *at = gpu_components; *at; at++)
        if (strlen((*at)->name) == length && !memcmp((*at)->name, name, length))
            return *at;
    fail_msg("no component %.*s", (int)length, name);
    return NULL;
}

static bool has_param(const struct component *component, const char *name, size_t length)
{
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    for (u32 i = 0; i < component->param_count; i++)
        if (!strcmp(component->params[i].name, word))
            return true;
    return product_find(component, word) != NULL;
}

/* Visits the words of "a|b". */
#define EACH_WORD(at, list) \
    for (const char *at = (list); *at; at += strcspn(at, "|"), at += *at == '|')

static void test_names(void **state)
{
    for (const struct effect_rule *rule = effect_rules; rule->components; rule++) {
        EACH_WORD(at, rule->components)
        {
            const struct component *component = component_named(at, strcspn(at, "|"));
            if (strcmp(rule->params, "*") == 0)
                continue;
            EACH_WORD(name, rule->params + (*rule->params == '!'))
            if (!has_param(component, name, strcspn(name, "|")))
                fail_msg("%s has no %.*s", component->name, (int)strcspn(name, "|"), name);
        }
        EACH_WORD(condition, rule->condition)
        {
            const size_t dot = strcspn(condition, "."), end = strcspn(condition, "!=>");
            const struct component *component = component_named(condition, dot);
            assert_true(end > dot && has_param(component, condition + dot + 1, end - dot - 1));
        }
    }
}

static void test_missing(void **state)
{
    static const struct {
        const char *setting, *key, *missing;
    } cases[] = {
        {"readonly.enabled=false", "readonly.sets",
         "readonly.enabled=true or texture.cache=readonly"},
        {"readonly.enabled=true", "readonly.sets", NULL},
        {"readonly.enabled=false", "readonly.enabled", NULL},
        {"readonly.enabled=false", "readonly.bytes",
         "readonly.enabled=true or texture.cache=readonly"},
        {"texture.cache=readonly", "readonly.bytes", NULL},
        {"l1d.global=false", "l1d.sets", NULL}, /* local memory uses it */
        {"gpu.cluster=1", "cluster_icache.ports", "gpu.cluster>1"},
        {"gpu.cluster=2", "cluster_icache.ports", NULL},
        {"issue.policy=lrr", "issue.group_size",
         "issue.policy=two_level or issue.policy=groups or fetch.policy=groups"},
        {"fetch.policy=groups", "issue.group_size", NULL},
        {"core.pipeline=miaow", "fetch.width", "core.pipeline!=miaow"},
        {"timing.functional=true", "dram.tCL", "timing.functional=false"},
        {"timing.functional=true", "timing.functional", NULL},
        {"timing.functional=true", "core.warps", NULL},
        {"gpu.cluster=1", "nothing", NULL},
        {"gpu.cluster=1", "no.thing", NULL},
    };
    struct arena *arena = arena_create();
    for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
        struct config *config = config_create(gpu_components);
        struct error error = {0};
        assert_true(config_set(config, cases[i].setting, &error));
        const char *missing = effects_missing(arena, config, cases[i].key);
        if (!missing != !cases[i].missing || (missing && strcmp(missing, cases[i].missing) != 0))
            fail_msg("%s, %s: %s", cases[i].setting, cases[i].key, missing ? missing : "NULL");
        config_destroy(config);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
