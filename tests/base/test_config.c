/* Configurations: values, machine files, inheritance, messages, dump and reload. */
#include "base/config.h"
#include "base/yaml.h"
#include "demo.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const struct component *const components[] = {&demo_component, NULL};

static const struct demo_params *params(const struct config *config)
{
    return config_params(config, &demo_component);
}

static void defaults_are_declared_values(void **state)
{
    struct config *config = config_create(components);
    const struct demo_params *p = params(config);
    assert_int_equal(p->count, 16);
    assert_true(p->memory == 4294967296u);
    assert_true(p->clock == 1.5);
    assert_true(p->fast);
    assert_int_equal(p->policy, 1);
    assert_string_equal(config_machine(config), "");
    config_destroy(config);
}

static void text_sets_values(void **state)
{
    static const char text[] = "machine: small\n"
                               "description: for a test\n"
                               "demo:\n"
                               "  count: 0x20\n"
                               "  memory: {value: 64M, source: stated, note: page 3}\n"
                               "  clock: 2.25\n"
                               "  fast: false\n"
                               "  policy: random\n";
    struct config *config = config_create(components);
    struct error error = {0};
    assert_true(config_load_text(config, text, sizeof text - 1, "t", &error));
    const struct demo_params *p = params(config);
    assert_int_equal(p->count, 32);
    assert_int_equal(p->memory, 64 << 20);
    assert_true(p->clock == 2.25);
    assert_false(p->fast);
    assert_int_equal(p->policy, 2);
    assert_string_equal(config_machine(config), "small");
    json_t *explain = config_explain_json(config);
    json_t *memory = json_array_get(json_object_get(explain, "values"), 1);
    assert_string_equal(json_string_value(json_object_get(memory, "from")), "small");
    assert_string_equal(json_string_value(json_object_get(memory, "source")), "stated");
    assert_string_equal(json_string_value(json_object_get(memory, "note")), "page 3");
    json_decref(explain);
    config_destroy(config);
}

/* What is refused, and the exact words. */
static const struct {
    const char *text, *message;
} bad_texts[] = {
    {"demo: {cuont: 3}", "t:1:8: unknown parameter 'demo.cuont': did you mean 'count'?"},
    {"demo: {zzzzzzzzz: 3}", "t:1:8: unknown parameter 'demo.zzzzzzzzz'"},
    {"dmeo: {count: 3}", "t:1:1: unknown component 'dmeo': did you mean 'demo'?"},
    {"demo.count: 3", "t:1:1: unknown key 'demo.count': write values below their component, as in "
                      "'demo: {count: value}'"},
    {"demo: {count: 0}", "t:1:15: demo.count: '0' is out of range: expected 1 to 1024 cores"},
    {"demo: {count: -1}", "t:1:15: demo.count: '-1' is out of range: expected 1 to 1024 cores"},
    {"demo: {count: 1025}", "t:1:15: demo.count: '1025' is out of range: expected 1 to 1024 cores"},
    {"demo: {count: 99999999999999999999}", "t:1:15: demo.count: '99999999999999999999' is out of "
                                            "range: expected 1 to 1024 cores"},
    {"demo: {count: many}", "t:1:15: demo.count: expected an integer, 1 to 1024 cores, not 'many'"},
    {"demo: {count: 4K}", "t:1:15: demo.count: expected an integer, 1 to 1024 cores, not '4K'"},
    {"demo:\n  count:\n", "t:2:3: demo.count: expected an integer, 1 to 1024 cores, not nothing"},
    {"demo: {count: [1, 2]}", "t:1:15: demo.count: expected one value, not a list"},
    {"demo: {count: {source: stated}}", "t:1:15: demo.count: 'value' is missing"},
    {"demo: {count: {value: 3, source: guessed}}",
     "t:1:34: demo.count: source 'guessed' is unknown: expected stated, derived, inherited or "
     "assumed"},
    {"demo: {count: {value: 3, nots: x}}", "t:1:26: demo.count: unknown field 'nots': did you mean "
                                           "'note'?: expected value, source and note"},
    {"demo: {clock: nan}", "t:1:15: demo.clock: expected a number, 0.1 to 10 GHz, not 'nan'"},
    {"demo: {clock: 10.5}", "t:1:15: demo.clock: '10.5' is out of range: expected 0.1 to 10 GHz"},
    {"demo: {clock: 1,5}", "t:1:17: unknown parameter 'demo.5'"},
    {"demo: {fast: yes}", "t:1:14: demo.fast: expected true or false, not 'yes'"},
    {"demo: {policy: randon}", "t:1:16: demo.policy: 'randon' is not one of its choices, "
                               "oldest|round_robin|random: did you mean 'random'?"},
    {"demo: {rates: [1, 2.5]}",
     "t:1:15: demo.rates: value 2: '2.5' is out of range: expected 0.5 to 2 GHz"},
    {"demo: {rates: [1, fast]}",
     "t:1:15: demo.rates: value 2: expected a number, 0.5 to 2 GHz, not 'fast'"},
    {"demo: {rates: {value: [1, 1, 1, 1]}}", "t:1:23: demo.rates: expected at most 3 values"},
    {"demo:\n  rates:\n  - 1\n  - '1,2'\n",
     "t:4:6: demo.rates: expected a number in the list, not text"},
    {"demo: {rates: [[1]]}", "t:1:16: demo.rates: expected a number in the list, not a list"},
    {"demo: {rates: {value: {a: 1}}}",
     "t:1:23: demo.rates: expected a list of values, not a mapping"},
    {"demo: {count: {value: [3]}}", "t:1:23: demo.count: expected one value, not a list"},
    {"demo: {count: 3, count: 4}", "t:1:18: duplicate key 'count': first given in line 1"},
    {"demo: 3", "t:1:7: component demo: expected a mapping of parameters to values, not text"},
    {"- demo", "t:1:1: a machine file is a mapping of components to their values, not a list"},
    {"hello", "t:1:1: a machine file is a mapping of components to their values, not text"},
    {"machine: [a]", "t:1:10: machine: expected text, not a list"},
    {"machine: a/b", "t:1:10: machine: 'a/b' is not a name: expected letters, digits, '-', '_' and "
                     "'.'"},
    {"parent: ../x", "t:1:9: parent: '../x' is not a name: expected letters, digits, '-', '_' and "
                     "'.'"},
    {"parent: genric", "t:1:9: there is no machine 'genric': did you mean 'generic'?"},
    {"parent: nothing-like-it",
     "t:1:9: there is no machine 'nothing-like-it': 'heddle machines' lists them"},
    {"demo: &a {count: 3}", "t:1:10: anchors and aliases are not supported: write the value"},
    {"demo: *a", "t:1:8: anchors and aliases are not supported: write the value"},
    {"demo: !!map {count: 3}", "t:1:13: tags are not supported: write the plain value"},
    {"demo: {}\n---\ndemo: {}", "t:2:1: expected one document in a file"},
    {"? [a]\n: b", "t:1:3: a key must be a word, not a list or mapping"},
    {"[[[[[[[[[[[[[[[[[[", "t:1:17: nested too deeply"},
    {"demo: {count: 3\x01}", "t:1:16: control characters are not allowed"},
    {"demo: {count: 3\xff}", "t:1:16: this is not UTF-8 text"},
    {"demo: {policy: 'a''\n b'}",
     "t:1:17: quotes inside single-quoted text of several lines: write it in double quotes"},
    {"demo: {policy: \"a\\0b\"}", "t:1:17: control characters are not allowed"},
};

static void bad_texts_are_explained(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(bad_texts); i++) {
        struct config *config = config_create(components);
        struct error error = {0};
        char text[2400];
        if (config_load_text(config, bad_texts[i].text, strlen(bad_texts[i].text), "t", &error))
            fail_msg("accepted: %s", bad_texts[i].text);
        assert_string_equal(error_text(&error, text, sizeof text), bad_texts[i].message);
        assert_int_equal(params(config)->count, 16);
        config_destroy(config);
    }
}

/* Every way to write a scalar. */
static void scalars_of_every_style(void **state)
{
    static const char *const styles[][2] = {
        {"plain words", "plain words"},
        {"'it''s ''quoted'''", "it's 'quoted'"},
        {"''", ""},
        {"''''", "'"},
        {"''''''''''''''''''''''''''''''''''''''''", "'''''''''''''''''''"},
        {"\"a\\tb\\u00e4 \\\"c\\\"\"", "a\tb\xc3\xa4 \"c\""},
        {"'two\n  lines'", "two lines"},
        {"two\n  lines", "two lines"},
        {">\n  two\n  lines\n", "two lines\n"},
        {"|\n  two\n  lines\n", "two\nlines\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(styles); i++) {
        struct arena *arena = arena_create();
        struct error error = {0};
        char text[256];
        snprintf(text, sizeof text, "first: 1\nkey: %s\nlast: [a, {b: c}]\n", styles[i][0]);
        struct yaml *tree = yaml_parse(arena, text, strlen(text), "t", &error);
        assert_non_null(tree);
        assert_string_equal(yaml_get(tree, "key")->text, styles[i][1]);
        assert_int_equal(yaml_get(tree, "last")->count, 2);
        arena_destroy(arena);
    }
}

static void broken_yaml_has_a_place(void **state)
{
    struct config *config = config_create(components);
    struct error error = {0};
    static const char text[] = "demo:\n  count: 3\n fast: true\n";
    assert_false(config_load_text(config, text, sizeof text - 1, "t", &error));
    assert_int_equal(strncmp(error.place, "t:3:", 4), 0);
    assert_int_equal(strncmp(error.message, "YAML: ", 6), 0);
    config_destroy(config);
}

static void limits_hold(void **state)
{
    struct config *config = config_create(components);
    struct error error = {0};
    size_t size = (1 << 20) + 1;
    char *text = malloc(size);
    memset(text, ' ', size);
    assert_false(config_load_text(config, text, size, "t", &error));
    assert_non_null(strstr(error.message, "1048577 bytes: at most 1048576"));
    for (size_t i = 0; i + 1 < size; i += 2)
        memcpy(text + i, "a,", 2);
    memcpy(text, "[[", 2);
    assert_false(config_load_text(config, text, size - 1, "t", &error));
    assert_string_equal(error.message, "too many values");
    size_t used = 0;
    for (int i = 0; i < 5000; i++)
        used += (size_t)sprintf(text + used, "k%d: 1\n", i);
    assert_false(config_load_text(config, text, used, "t", &error));
    assert_string_equal(error.message, "too many keys in one mapping");
    free(text);
    config_destroy(config);
}

static void settings_override(void **state)
{
    struct config *config = config_create(components);
    struct error error = {0};
    assert_true(config_set(config, "demo.count=7", &error));
    assert_true(config_set(config, "demo.wide=0xffffffffffffffff", &error));
    assert_int_equal(params(config)->count, 7);
    assert_true(params(config)->wide == UINT64_MAX);
    static const char *const bad[][2] = {
        {"demo.count",
         "'demo.count' is not a setting: expected key=value, as in core.warp_size=32"},
        {"=3", "'=3' is not a setting: expected key=value, as in core.warp_size=32"},
        {"demo.coutn=3", "unknown parameter 'demo.coutn': did you mean 'demo.count'?"},
        {"count=3", "unknown parameter 'count': did you mean 'demo.count'?"},
        {"demo.zzzzzzzzz=3", "unknown parameter 'demo.zzzzzzzzz': 'heddle params' lists them"},
        {"core.clock=3",
         "unknown parameter 'core.clock': there is no component 'core'; a mechanism in a shared "
         "object must be loaded first, with --mech"},
        {"demo.count=", "demo.count: expected an integer, 1 to 1024 cores, not nothing"},
        {"demo.wide=18446744073709551616",
         "demo.wide: '18446744073709551616' is out of range: expected 0 to 18446744073709551615"},
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_false(config_set(config, bad[i][0], &error));
        assert_string_equal(error.message, bad[i][1]);
    }
    assert_int_equal(params(config)->count, 7);
    config_destroy(config);
}

static void dump_loads_again(void **state)
{
    struct config *config = config_create(components), *other = config_create(components);
    struct error error = {0};
    static const char *const settings[] = {"demo.count=3",       "demo.wide=0xfedcba9876543210",
                                           "demo.clock=0.1",     "demo.fast=false",
                                           "demo.policy=oldest", "demo.rates=0.5,1.25"};
    assert_true(config_load_machine(config, "generic", &error));
    for (size_t i = 0; i < ARRAY_LEN(settings); i++)
        assert_true(config_set(config, settings[i], &error));
    json_t *first = config_json(config);
    static const size_t styles[] = {JSON_COMPACT, JSON_INDENT(2)};
    for (size_t i = 0; i < ARRAY_LEN(styles); i++) {
        char *text = json_dumps(first, styles[i]);
        assert_true(config_load_text(other, text, strlen(text), "dump", &error));
        json_t *second = config_json(other);
        assert_true(json_equal(first, second));
        assert_string_equal(config_machine(other), "generic");
        json_decref(second);
        free(text);
    }
    json_decref(first);
    config_destroy(config);
    config_destroy(other);
}

/* All ways to write a list; an empty one is a list too. */
static void lists_are_read(void **state)
{
    struct config *config = config_create(components);
    struct error error = {0};
    const struct demo_params *p = params(config);
    assert_int_equal(p->rates_count, 0);
    assert_true(config_set(config, "demo.rates=1,0.5,2", &error));
    assert_int_equal(p->rates_count, 3);
    assert_true(p->rates[0] == 1 && p->rates[1] == 0.5 && p->rates[2] == 2);
    /* What is wrong changes nothing. */
    assert_false(config_set(config, "demo.rates=1,0.4", &error));
    assert_false(config_set(config, "demo.rates=1,", &error));
    assert_false(config_set(config, "demo.rates=1,1,1,1", &error));
    assert_int_equal(p->rates_count, 3);
    struct config *clone = config_clone(config);
    assert_int_equal(params(clone)->rates_count, 3);
    assert_true(params(clone)->rates[2] == 2);
    config_destroy(clone);
    assert_true(config_set(config, "demo.rates=", &error));
    assert_int_equal(p->rates_count, 0);
    static const char *const texts[] = {
        "demo: {rates: [2, 0.5]}",
        "demo:\n  rates:\n  - 2\n  - 0.5\n",
        "demo: {rates: {value: [2, 0.5], source: stated, note: all of them}}",
        "demo: {rates: '2,0.5'}",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        assert_true(config_load_text(config, texts[i], strlen(texts[i]), "t", &error));
        p = params(config);
        assert_int_equal(p->rates_count, 2);
        assert_true(p->rates[0] == 2 && p->rates[1] == 0.5);
    }
    assert_true(config_load_text(config, "demo: {rates: []}", 17, "t", &error));
    assert_int_equal(params(config)->rates_count, 0);
    config_destroy(config);
}

static void differences_are_found(void **state)
{
    struct config *a = config_create(components), *b = config_create(components);
    struct error error = {0};
    assert_true(config_set(b, "demo.policy=oldest", &error));
    assert_true(config_set(b, "demo.rates=1", &error));
    json_t *diff = config_diff_json(a, b), *none = config_diff_json(a, a);
    json_t *expected = json_loads("[{\"key\": \"demo.policy\", \"unit\": \"\", \"a\": "
                                  "\"round_robin\", \"b\": \"oldest\"}, {\"key\": "
                                  "\"demo.rates\", \"unit\": \"GHz\", \"a\": [], \"b\": [1.0]}]",
                                  0, NULL);
    assert_true(json_equal(json_object_get(diff, "values"), expected));
    assert_int_equal(json_array_size(json_object_get(none, "values")), 0);
    json_decref(expected);
    json_decref(diff);
    json_decref(none);
    config_destroy(a);
    config_destroy(b);
}

static void clone_is_equal_and_separate(void **state)
{
    struct config *config = config_create(components);
    struct error error = {0};
    assert_true(config_set(config, "demo.count=3", &error));
    struct config *clone = config_clone(config);
    json_t *a = config_explain_json(config), *b = config_explain_json(clone);
    assert_true(json_equal(a, b));
    json_decref(a);
    json_decref(b);
    assert_true(config_set(clone, "demo.count=4", &error));
    config_destroy(clone);
    assert_int_equal(params(config)->count, 3);
    config_destroy(config);
}

/* ---- files ---- */

static char directory[] = "/tmp/heddle-test-XXXXXX";

static void write_machine(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int make_files(void **state)
{
    if (!mkdtemp(directory))
        return -1;
    write_machine("base.yaml", "demo: {count: 2, clock: 3, policy: oldest}\n");
    write_machine("middle.yaml", "machine: middle\nparent: base\ndemo: {count: 4}\n");
    write_machine("top.yaml", "parent: middle\ndemo: {fast: false}\n");
    write_machine("a.yaml", "parent: b\n");
    write_machine("b.yaml", "parent: c\n");
    write_machine("c.yaml", "parent: a\n");
    write_machine("self.yaml", "parent: self\n");
    write_machine("orphan.yaml", "machine: orphan\nparent: nobody-here\n");
    write_machine("broken.yaml", "demo: {count: 2\n");
    write_machine("plain", "demo: {count: 5}\n");
    write_machine("empty.yaml", "");
    write_machine("comment.yaml", "# nothing\n");
    return 0;
}

static int remove_files(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    unsetenv("HEDDLE_MACHINE_PATH");
    return system(command);
}

static bool load_file(struct config *config, const char *name, struct error *error)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return config_load_machine(config, path, error);
}

static void files_inherit(void **state)
{
    struct config *config = config_create(components);
    struct error error = {0};
    assert_true(load_file(config, "top.yaml", &error));
    const struct demo_params *p = params(config);
    assert_int_equal(p->count, 4);
    assert_true(p->clock == 3.0);
    assert_int_equal(p->policy, 0);
    assert_false(p->fast);
    assert_true(p->wide == 1);
    assert_string_equal(config_machine(config), "top");
    json_t *explain = config_explain_json(config);
    json_t *parents = json_object_get(explain, "parents");
    assert_int_equal(json_array_size(parents), 2);
    assert_string_equal(json_string_value(json_array_get(parents, 0)), "middle");
    json_t *count = json_array_get(json_object_get(explain, "values"), 0);
    assert_string_equal(json_string_value(json_object_get(count, "from")), "middle");
    assert_true(json_is_true(json_object_get(count, "inherited")));
    json_t *fast = json_array_get(json_object_get(explain, "values"), 4);
    assert_true(json_is_false(json_object_get(fast, "inherited")));
    json_decref(explain);
    /* A machine replaces the whole configuration, not only what it names. */
    assert_true(load_file(config, "empty.yaml", &error));
    assert_int_equal(params(config)->count, 16);
    assert_true(load_file(config, "comment.yaml", &error));
    assert_true(load_file(config, "plain", &error));
    assert_int_equal(params(config)->count, 5);
    config_destroy(config);
}

static void bad_files_are_explained(void **state)
{
    struct config *config = config_create(components);
    struct error error = {0};
    assert_false(load_file(config, "a.yaml", &error));
    assert_string_equal(error.message, "machines inherit from each other: a -> b -> c -> a");
    assert_non_null(strstr(error.place, "/c.yaml:1:9"));
    assert_false(load_file(config, "self.yaml", &error));
    assert_string_equal(error.message, "machines inherit from each other: self -> self");
    assert_false(load_file(config, "orphan.yaml", &error));
    assert_string_equal(error.message,
                        "there is no machine 'nobody-here': 'heddle machines' lists them");
    assert_non_null(strstr(error.place, "/orphan.yaml:2:9"));
    assert_false(load_file(config, "none.yaml", &error));
    assert_string_equal(error.message, "cannot open: No such file or directory");
    assert_false(config_load_machine(config, "/tmp/", &error));
    assert_string_equal(error.message, "this is a directory: expected a file");
    config_destroy(config);
}

static void path_adds_directories(void **state)
{
    struct config *config = config_create(components);
    struct error error = {0};
    char path[128];
    snprintf(path, sizeof path, "/nonexistent::%s", directory);
    setenv("HEDDLE_MACHINE_PATH", path, 1);
    assert_true(config_load_machine(config, "middle", &error));
    assert_int_equal(params(config)->count, 4);
    json_t *machines = config_machines_json(components), *machine;
    size_t i;
    bool generic = false, middle = false, broken = false;
    json_array_foreach(machines, i, machine)
    {
        const char *name = json_string_value(json_object_get(machine, "name"));
        if (!strcmp(name, "generic"))
            generic = json_object_get(machine, "description") != NULL;
        if (!strcmp(name, "middle"))
            middle = !strcmp(json_string_value(json_object_get(machine, "parent")), "base");
        if (!strcmp(name, "broken"))
            broken = json_object_get(machine, "error") != NULL;
    }
    assert_true(generic && middle && broken);
    json_decref(machines);
    unsetenv("HEDDLE_MACHINE_PATH");
    assert_false(config_load_machine(config, "middle", &error));
    config_destroy(config);
}

/* ---- statistics ---- */

static void statistics_are_json(void **state)
{
    struct demo_stats a = {.hits = 3, .misses = 1, .accesses = 4}, b = {.hits = UINT64_MAX - 3};
    json_t *object = json_object();
    stats_json(object, &demo_component, &a);
    char *text = json_dumps(object, 0);
    assert_string_equal(text, "{\"demo.hits\": 3, \"demo.misses\": 1, \"demo.accesses\": 4, "
                              "\"demo.hit_rate\": 0.75}");
    free(text);
    stats_json(object, &demo_component, &b);
    text = json_dumps(object, 0);
    assert_string_equal(text, "{\"demo.hits\": \"0xfffffffffffffffc\", \"demo.misses\": 0, "
                              "\"demo.accesses\": 0, \"demo.hit_rate\": null}");
    free(text);
    json_decref(object);
    stats_add(&demo_component, &b, &a);
    assert_true(b.hits == UINT64_MAX);
    assert_true(b.misses == 1 && b.accesses == 4);
}

static void components_may_come_later(void **state)
{
    static const struct param late_params[] = {{.name = "size",
                                                .type = PARAM_U32,
                                                .initial = 5,
                                                .min = 1,
                                                .max = 9,
                                                .unit = "",
                                                .help = ""}};
    static const struct component late = {
        .name = "late", .help = "", .params = late_params, .param_count = 1, .params_size = 4};
    struct error error;
    struct config *with = config_create(components), *without = config_create(components);
    assert_true(config_set(with, "demo.count=3", &error));
    assert_false(config_set(with, "late.size=3", &error));
    config_add(with, &late);
    assert_int_equal(*(const u32 *)config_params(with, &late), 5);
    assert_int_equal(params(with)->count, 3); /* what was there stays */
    assert_true(config_set(with, "late.size=3", &error));
    struct config *clone = config_clone(with);
    assert_int_equal(*(const u32 *)config_params(clone, &late), 3);
    static const char text[] = "late: {size: 7}";
    assert_true(config_load_text(with, text, sizeof text - 1, "t", &error));
    assert_int_equal(*(const u32 *)config_params(with, &late), 7);
    assert_false(config_load_text(without, text, sizeof text - 1, "t", &error));
    assert_non_null(strstr(error.message, "must be loaded first, with --mech"));
    json_t *diff = config_diff_json(without, with), *back = config_diff_json(with, without);
    json_t *expected =
        json_pack("[{s:s, s:s, s:n, s:i}]", "key", "late.size", "unit", "", "a", "b", 7);
    assert_true(json_equal(json_object_get(diff, "values"), expected));
    assert_int_equal(json_array_size(json_object_get(back, "values")), 1);
    json_decref(expected);
    json_decref(diff);
    json_decref(back);
    config_destroy(clone);
    config_destroy(with);
    config_destroy(without);
}

static void tables_are_json(void **state)
{
    json_t *table = config_params_table_json(components);
    assert_int_equal(json_array_size(table), 7);
    json_t *row = json_array_get(table, 5);
    assert_string_equal(json_string_value(json_object_get(row, "key")), "demo.policy");
    assert_string_equal(json_string_value(json_object_get(row, "default")), "round_robin");
    json_decref(table);
    table = stats_table_json(components);
    assert_int_equal(json_array_size(table), 4);
    row = json_array_get(table, 3);
    assert_string_equal(json_string_value(json_object_get(row, "denominator")), "demo.accesses");
    json_decref(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_declared_values),
        cmocka_unit_test(text_sets_values),
        cmocka_unit_test(bad_texts_are_explained),
        cmocka_unit_test(scalars_of_every_style),
        cmocka_unit_test(broken_yaml_has_a_place),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(settings_override),
        cmocka_unit_test(dump_loads_again),
        cmocka_unit_test(lists_are_read),
        cmocka_unit_test(differences_are_found),
        cmocka_unit_test(clone_is_equal_and_separate),
        cmocka_unit_test(files_inherit),
        cmocka_unit_test(bad_files_are_explained),
        cmocka_unit_test(path_adds_directories),
        cmocka_unit_test(statistics_are_json),
        cmocka_unit_test(components_may_come_later),
        cmocka_unit_test(tables_are_json),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
