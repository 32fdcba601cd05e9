/* Documents of statistics as text. */
#include "lab/statistics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const char document[] =
    "{ \"schema\" : 2,\n \"host\": {\"seconds\": [1.5, \"}\\\"\"]},\n"
    " \"config\": {\"core\": {\"count\": 15, \"on\": true}},\n"
    " \"launches\": [{\"kernel\": \"a\\u00e9 b\", \"outcome\": \"done\", \"stats\": {\"x\": [1, "
    "2]}},\n"
    "               {\"outcome\": \"limit\", \"kernel\": \"second\"}, {\"kernel\": \"third\"}],\n"
    " \"totals\": {\"timing.cycles\": 735, \"rate\": null, \"energy\": {\"a.b\": -1.25e-3},\n"
    "             \"large\": \"18446744073709551615\", \"text\": \"x\\\\\"}}\n";

static char *kept_of(const char *text)
{
    return statistics_kept(text, strlen(text));
}

/* Blanks and `host` are left out, wherever it stands; all else is there. */
static void kept(void **state)
{
    struct {
        const char *from, *to;
    } cases[] = {
        {"{\"a\": 1, \"host\": {\"b\": [1, 2]}, \"c\": \" x \"}", "{\"a\":1,\"c\":\" x \"}"},
        {"{\"host\": 1, \"a\": 2}", "{\"a\":2}"},
        {"{\"a\": 1, \"host\": \"}\"}\n", "{\"a\":1}"},
        {"{\"host\": []}", "{}"},
        {"{\"a\": {\"host\": 1}}", "{\"a\":{\"host\":1}}"},
    };
    for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
        char *text = kept_of(cases[i].from);
        assert_non_null(text);
        assert_string_equal(text, cases[i].to);
        free(text);
    }
    char *text = kept_of(document);
    json_t *whole = json_loads(document, 0, NULL), *rest = json_loads(text, 0, NULL);
    assert_int_equal(json_object_del(whole, "host"), 0);
    assert_true(json_equal(whole, rest));
    json_decref(whole);
    json_decref(rest);
    free(text);
}

/* What is cut off, or is no object, is nothing. */
static void refused(void **state)
{
    static const char *const bad[] = {"",       " ",  "[]",        "1",     "{",   "{\"a",
                                      "{\"a\\", "{]", "{\"a\":[}", "{} {}", "{}x", "x{}"};
    for (u32 i = 0; i < ARRAY_LEN(bad); i++)
        assert_null(kept_of(bad[i]));
    for (size_t i = 0; i + 2 < sizeof document; i++)
        assert_null(statistics_kept(document, i));
    assert_null(statistics_kept("{\0}", 3));
    char deep[400] = "";
    for (u32 i = 0; i < 65; i++)
        strcat(deep, "{\"a\":");
    assert_null(kept_of(deep));
}

/* Texts with matching brackets that are no JSON: nothing is read beyond their end. */
static void no_json(void **state)
{
    static const char *const odd[] = {
        "{\"a\"1}",           "{a:1}", "{\"launches\":[{\"a\"}]}", "{\"totals\":}",
        "{\"a\":\"b\"\"c\"}", "{,}",   "{\"launches\":[1,2]}"};
    for (u32 i = 0; i < ARRAY_LEN(odd); i++) {
        const char *const paths[] = {"a", "totals.a", "launches.a"};
        f64 values[ARRAY_LEN(paths)];
        struct arena *arena = arena_create();
        char *text = kept_of(odd[i]);
        assert_non_null(text);
        statistics_launches(arena, text);
        statistics_values(text, paths, ARRAY_LEN(paths), values);
        free(text);
        arena_destroy(arena);
    }
}

static void launches(void **state)
{
    struct arena *arena = arena_create();
    char *text = kept_of(document);
    struct launch_summary summary = statistics_launches(arena, text);
    assert_true(summary.count == 3 && summary.failed);
    assert_string_equal(summary.outcome, "limit");
    assert_string_equal(summary.kernel, "second");
    free(text);
    text = kept_of("{\"launches\": [{\"outcome\": \"done\"}, {\"outcome\": \"done\"}]}");
    summary = statistics_launches(arena, text);
    assert_true(summary.count == 2 && !summary.failed);
    free(text);
    text = kept_of("{\"launches\": [{\"kernel\": \"k\\u00e9\"}]}");
    summary = statistics_launches(arena, text);
    assert_true(summary.failed && !summary.outcome);
    assert_string_equal(summary.kernel, "k\xc3\xa9");
    free(text);
    assert_int_equal(statistics_launches(arena, NULL).count, 0);
    arena_destroy(arena);
}

/* A text gives the numbers that its tree gives, whichever is searched. */
static void numbers(void **state)
{
    static const struct {
        const char *path;
        f64 value; /* NAN: there is none */
    } cases[] = {{"timing.cycles", 735},
                 {"rate", NAN},
                 {"energy.a.b", -1.25e-3},
                 {"large", 18446744073709551615.0},
                 {"config.core.count", 15},
                 {"config.core.on", NAN},
                 {"schema", 2},
                 {"text", NAN},
                 {"host.seconds", NAN},
                 {"timing", NAN},
                 {"energy", NAN},
                 {"nothing.at.all", NAN}};
    const char *paths[64];
    f64 values[64];
    char *text = kept_of(document);
    json_t *tree = json_loads(text, 0, NULL);
    for (u32 i = 0; i < ARRAY_LEN(paths); i++)
        paths[i] = cases[i % ARRAY_LEN(cases)].path;
    for (u32 count = ARRAY_LEN(cases); count <= ARRAY_LEN(paths);
         count += ARRAY_LEN(paths) - ARRAY_LEN(cases)) {
        statistics_values(text, paths, count, values);
        for (u32 i = 0; i < count; i++) {
            const f64 expected = cases[i % ARRAY_LEN(cases)].value;
            f64 value = NAN;
            assert_true(isnan(expected) ? isnan(values[i]) : values[i] == expected);
            assert_int_equal(statistic_value(tree, paths[i], &value), !isnan(expected));
            assert_true(isnan(expected) || value == expected);
        }
    }
    statistics_values(NULL, paths, 2, values);
    assert_true(isnan(values[0]) && isnan(values[1]));
    json_decref(tree);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kept), cmocka_unit_test(refused),
                                       cmocka_unit_test(no_json), cmocka_unit_test(launches),
                                       cmocka_unit_test(numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
