/* What a machine's file says has been published about it: what is read, and what is refused. */
#include "base/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct component *const none[] = {NULL};

static bool load(struct config *config, const char *text, struct error *error)
{
    return config_load_text(config, text, strlen(text), "m.yaml", error);
}

static void test_read(void **state)
{
    struct config *config = config_create(none);
    struct error error = {0};
    assert_null(config_published(config)->source);
    assert_true(load(config,
                     "machine: m\n"
                     "published:\n"
                     "  source: a paper\n"
                     "  modules:\n"
                     "    simd: {each: 4, bits: 18147}\n"
                     "    files: {units: [sgpr, vgpr], mm2: 8.1, mw: 171.06, note: table 7, parts: "
                     "[registers]}\n"
                     "    core: {units: all, mm2: 15}\n",
                     &error));
    /* A clone keeps them, with text of its own. */
    struct config *clone = config_clone(config);
    config_destroy(config);
    const struct published_values *published = config_published(clone);
    assert_string_equal(published->source, "a paper");
    assert_int_equal(published->count, 3);
    const struct published_value *simd = &published->rows[0], *files = &published->rows[1],
                                 *core = &published->rows[2];
    assert_string_equal(simd->name, "simd");
    assert_int_equal(simd->each, 4);
    assert_int_equal(simd->bits, 18147);
    assert_true(published_value_has(simd, "simd"));
    assert_false(published_value_has(simd, "simf"));
    assert_true(files->mm2 == 8.1 && files->mw == 171.06 && !files->bits);
    assert_string_equal(files->note, "table 7");
    assert_int_equal(files->part_count, 1);
    assert_string_equal(files->parts[0], "registers");
    assert_null(simd->parts);
    assert_true(published_value_has(files, "vgpr") && published_value_has(files, "sgpr"));
    assert_false(published_value_has(files, "files"));
    assert_true(published_value_has(core, "anything"));
    config_destroy(clone);
}

/* A child is another machine; a machine that is loaded later has none of it. */
static void test_not_inherited(void **state)
{
    struct config *config = config_create(none);
    struct error error = {0};
    assert_true(load(config, "published: {source: a, modules: {x: {bits: 1}}}", &error));
    assert_int_equal(config_published(config)->count, 1);
    assert_true(load(config, "machine: other", &error));
    assert_null(config_published(config)->source);
    config_destroy(config);
}

static const struct {
    const char *text, *message;
} refused[] = {
    {"published: 3", "published: expected a mapping with 'source' and 'modules', not text"},
    {"published: {modules: {x: {bits: 1}}}", "published: 'source' is missing"},
    {"published: {source: a}",
     "published: 'modules' is missing: expected a mapping of names to values"},
    {"published: {source: [a], modules: {x: {bits: 1}}}",
     "published.source: expected text, not a list"},
    {"published: {source: a, module: {x: {bits: 1}}}",
     "published: unknown key 'module': did you mean 'modules'?"},
    {"published: {source: a, modules: {x: 4}}",
     "published.x: expected a mapping with bits, mm2 or mw, not text"},
    {"published: {source: a, modules: {x: {note: b}}}",
     "published.x: no values given: expected bits, mm2 or mw"},
    {"published: {source: a, modules: {x: {bit: 4}}}",
     "published.x: unknown key 'bit': did you mean 'bits'?"},
    {"published: {source: a, modules: {x: {bits: 4.5}}}",
     "published.x.bits: expected a whole number above 0 and up to 1e+15"},
    {"published: {source: a, modules: {x: {bits: -4}}}",
     "published.x.bits: expected a whole number above 0 and up to 1e+15"},
    {"published: {source: a, modules: {x: {each: 0, bits: 1}}}",
     "published.x.each: expected a whole number above 0 and up to 1e+06"},
    {"published: {source: a, modules: {x: {mm2: 3 mm2}}}",
     "published.x.mm2: expected a number above 0 and up to 1e+09"},
    {"published: {source: a, modules: {x: {mw: nan}}}",
     "published.x.mw: expected a number above 0 and up to 1e+09"},
    {"published: {source: a, modules: {x: {units: y, bits: 1}}}",
     "published.x.units: expected a list of names or 'all', not text"},
    {"published: {source: a, modules: {x: {parts: all, mw: 1}}}",
     "published.x.parts: expected a list of names, not text"},
    {"published: {source: a, modules: {x: {units: [[y]], bits: 1}}}",
     "published.x.units: expected a name, not a list"},
};

static void test_refused(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        struct config *config = config_create(none);
        struct error error = {0};
        assert_false(load(config, refused[i].text, &error));
        assert_int_equal(error.code, ERROR_INPUT);
        assert_string_equal(error.message, refused[i].message);
        assert_memory_equal(error.place, "m.yaml:1:", 9);
        config_destroy(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_not_inherited),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
