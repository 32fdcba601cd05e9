/* Comparisons of made-up documents, so that every number is known. Quotes are written as '. */
#include "compare/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A machine with two issue slots per cycle; picoseconds: 1000 per cycle. */
#define TOTALS(cycles, issued, memory, more)                          \
    "{'timing.cycles': " #cycles ", 'timing.picoseconds': " #cycles   \
    "000, 'issue.issued': " #issued ", 'issue.idle_memory': " #memory \
    ", 'exec.warp_instructions': " #issued more "}"
#define LAUNCH(kernel, cycles, issued, memory)                                               \
    "{'kernel': '" kernel "', 'cycles': " #cycles ", 'seconds': " #cycles "e-9, 'outcome': " \
    "'done', 'stats': " TOTALS(cycles, issued, memory, "") "}"
#define DOCUMENT(manifest, config, launches, totals)                                           \
    "{'schema': 2, 'manifest': {" manifest "}, 'config': {" config "}, 'launches': [" launches \
    "], 'totals': " totals ", 'profile': []}"

#define BASE                                                                                       \
    DOCUMENT("'version': '1'", "'machine': 'm', 'l1d': {'sets': 4}", LAUNCH("k", 1000, 800, 1200), \
             TOTALS(1000, 800, 1200, ""))
#define FAST                                                                                     \
    DOCUMENT("'version': '1'", "'machine': 'm', 'l1d': {'sets': 8}", LAUNCH("k", 500, 800, 200), \
             TOTALS(500, 800, 200, ""))

enum {
    MOST = 4
};

struct fixture {
    struct arena *arena;
    struct compare_run *runs[MOST];
    u32 count;
    struct run_comparison *comparison;
};

static char *quoted(const char *text)
{
    char *copy = strdup(text);
    for (char *at = copy; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    return copy;
}

static void add_run(struct fixture *f, const char *label, const char *text)
{
    struct error error = {0};
    char *json = quoted(text);
    f->runs[f->count] = compare_run_parse(f->arena, label, label, json, strlen(json), &error);
    if (!f->runs[f->count++])
        fail_msg("%s", error.message);
    free(json);
}

static struct run_comparison *compare(struct fixture *f, f64 ignore, const char *kernel)
{
    regex_t expression;
    struct compare_options options = {.top = 10, .ignore = ignore};
    if (kernel) {
        assert_int_equal(regcomp(&expression, kernel, REG_EXTENDED | REG_NOSUB), 0);
        options.kernel = &expression;
    }
    if (f->comparison)
        compare_free(f->comparison);
    f->comparison = compare_runs(f->arena, f->runs, f->count, options);
    if (kernel)
        regfree(&expression);
    return f->comparison;
}

static struct fixture start(const char *a, const char *b)
{
    struct fixture f = {.arena = arena_create()};
    add_run(&f, "a", a);
    add_run(&f, "b", b);
    return f;
}

static void finish(struct fixture *f)
{
    if (f->comparison)
        compare_free(f->comparison);
    for (u32 i = 0; i < f->count; i++)
        compare_run_free(f->runs[i]);
    arena_destroy(f->arena);
}

static const struct compare_section *section(const struct run_comparison *c, const char *name)
{
    for (u32 i = 0; i < c->sections.count; i++)
        if (!strcmp(c->sections.data[i].name, name))
            return &c->sections.data[i];
    fail_msg("no section %s", name);
    return NULL;
}

static const struct compare_row *row(const struct run_comparison *c, const char *in,
                                     const char *name)
{
    const struct compare_section *rows = section(c, in);
    for (u32 i = 0; i < rows->rows.count; i++)
        if (!strcmp(rows->rows.data[i].name, name))
            return &rows->rows.data[i];
    fail_msg("no row %s in %s", name, in);
    return NULL;
}

static char *text_of(void (*print)(FILE *, const struct run_comparison *),
                     const struct run_comparison *c)
{
    char *text;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    print(to, c);
    fclose(to);
    return text;
}

static void test_verdict(void **state)
{
    struct fixture f = start(BASE, FAST);
    const struct run_comparison *c = compare(&f, 0, NULL);
    assert_string_equal(c->verdicts[1],
                        "b is 2.00 times as fast as a: issue slots lost to memory fell from 600 to "
                        "100 cycles, 100 % of the difference");
    assert_true(compare_differ(c));
    finish(&f);
    f = start(FAST, BASE);
    assert_string_equal(compare(&f, 0, NULL)->verdicts[1],
                        "b takes 2.00 times as long as a: issue slots lost to memory rose from 100 "
                        "to 600 cycles, 100 % of the difference");
    finish(&f);
}

/* C2: the times of all uses of slots are the time of the run. */
static void test_slots_add_up(void **state)
{
    struct fixture f = start(BASE, FAST);
    const struct compare_section *slots = section(compare(&f, 0, NULL), "slots");
    f64 sums[2] = {0};
    assert_int_equal(slots->rows.count, 2);
    for (u32 i = 0; i < 2; i++)
        for (u32 r = 0; r < 2; r++)
            sums[r] += slots->rows.data[i].values[r].number;
    assert_true(sums[0] == 1000 && sums[1] == 500);
    assert_string_equal(slots->rows.data[0].name, "lost to memory"); /* the larger change */
    assert_int_equal(slots->shown, 1); /* as many cycles issued: kept for the bar only */
    finish(&f);
}

static void test_configuration(void **state)
{
    struct fixture f =
        start(DOCUMENT("", "'l1d': {'sets': 4, 'ways': 2}, 'idea': {'on': false, 'size': 1}", "",
                       TOTALS(10, 1, 1, "")),
              DOCUMENT("", "'l1d': {'sets': 8, 'ways': 2}, 'idea': {'on': false, 'size': 2}", "",
                       TOTALS(10, 1, 1, "")));
    const struct compare_section *config = section(compare(&f, 0, NULL), "configuration");
    assert_int_equal(config->rows.count, 1); /* not the size of what is off */
    assert_string_equal(config->rows.data[0].name, "l1d.sets");
    assert_string_equal(config->rows.data[0].values[1].text, "8");
    assert_int_equal(config->notes.count, 1);
    assert_non_null(strstr(config->notes.data[0], "1 parameter of mechanisms that are off"));
    assert_int_equal(f.comparison->sameness[1], SAME_RESULTS);
    assert_string_equal(f.comparison->verdicts[1],
                        "the statistics of a and b are identical; they differ in 1 parameter");
    assert_false(compare_differ(f.comparison));
    finish(&f);
}

static void test_sameness(void **state)
{
    static const struct {
        const char *other;
        f64 ignore;
        enum sameness sameness;
    } cases[] = {
        {BASE, 0, SAME_BYTES},
        {BASE " ", 0, SAME_DOCUMENT},
        {DOCUMENT("'version': '2'", "'machine': 'm', 'l1d': {'sets': 4}",
                  LAUNCH("k", 1000, 800, 1200), TOTALS(1000, 800, 1200, "")),
         0, SAME_RESULTS},
        /* 5 of 1205 slots, 0.00415 of them: just inside, and just outside */
        {DOCUMENT("'version': '1'", "'machine': 'm'", LAUNCH("k", 1000, 800, 1205),
                  TOTALS(1000, 800, 1205, "")),
         0.0042, SAME_ENOUGH},
        {DOCUMENT("'version': '1'", "'machine': 'm'", LAUNCH("k", 1000, 800, 1205),
                  TOTALS(1000, 800, 1205, "")),
         0.0041, SAME_NOT},
        /* a field that no table shows */
        {DOCUMENT("'version': '1'", "'machine': 'm', 'l1d': {'sets': 4}",
                  "{'kernel': 'k', 'registers_per_thread': 3, 'cycles': 1000, 'seconds': 1000e-9}",
                  TOTALS(1000, 800, 1200, "")),
         0, SAME_NOT},
        {FAST, 0.4, SAME_NOT},
    };
    for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f = start(BASE, cases[i].other);
        const struct run_comparison *c = compare(&f, cases[i].ignore, NULL);
        if (c->sameness[1] != cases[i].sameness)
            fail_msg("case %u: %s", i, sameness_name(c->sameness[1]));
        assert_int_equal(compare_differ(c), cases[i].sameness == SAME_NOT);
        finish(&f);
    }
}

static void test_kernel(void **state)
{
    struct fixture f =
        start(DOCUMENT("", "", LAUNCH("one", 100, 50, 150) "," LAUNCH("two", 900, 900, 900),
                       TOTALS(1000, 950, 1050, "")),
              DOCUMENT("", "", LAUNCH("one", 50, 50, 50) "," LAUNCH("two", 950, 950, 950),
                       TOTALS(1000, 1000, 1000, "")));
    const struct run_comparison *c = compare(&f, 0, "^one$");
    assert_true(row(c, "time", "core cycles")->values[0].number == 100);
    assert_true(row(c, "time", "core cycles")->values[1].number == 50);
    assert_int_equal(section(c, "kernels")->rows.count, 1);
    assert_int_equal(compare_run_launches(f.runs[0]), 1);
    assert_non_null(strstr(c->verdicts[1], "b is 2.00 times as fast as a"));
    /* all kernels again: nothing of the last selection is left */
    c = compare(&f, 0, NULL);
    assert_true(row(c, "time", "core cycles")->values[0].number == 1000);
    assert_int_equal(section(c, "kernels")->rows.count, 2);
    assert_non_null(strstr(c->verdicts[1], "takes exactly as long"));
    compare(&f, 0, "three");
    assert_int_equal(compare_run_launches(f.runs[0]), 0);
    finish(&f);
}

/* Several launches of a kernel are compared one by one, and in a sum. */
static void test_launches(void **state)
{
    struct fixture f = start(
        DOCUMENT("", "", LAUNCH("k", 100, 1, 1) "," LAUNCH("k", 100, 1, 1), TOTALS(200, 2, 2, "")),
        DOCUMENT("", "", LAUNCH("k", 100, 1, 1) "," LAUNCH("k", 150, 1, 1), TOTALS(250, 2, 2, "")));
    const struct run_comparison *c = compare(&f, 0, NULL);
    assert_int_equal(section(c, "launches")->rows.count, 1);
    assert_true(row(c, "launches", "k, launch 2 of it")->values[1].number == 150);
    assert_string_equal(row(c, "kernels", "k")->values[1].text, "2 launches");
    finish(&f);
}

/* Runs with different clocks are compared in seconds. */
static void test_clocks(void **state)
{
    struct fixture f = start(DOCUMENT("", "", "",
                                      "{'timing.cycles': 100, 'timing.picoseconds': 100000, "
                                      "'issue.issued': 1, 'issue.idle_raw': 1}"),
                             DOCUMENT("", "", "",
                                      "{'timing.cycles': 100, 'timing.picoseconds': 50000, "
                                      "'issue.issued': 1, 'issue.idle_raw': 1}"));
    const struct run_comparison *c = compare(&f, 0, NULL);
    assert_int_equal(row(c, "slots", "issued")->quantity, QUANTITY_SECONDS);
    assert_non_null(strstr(c->verdicts[1], "from 50.0 ns to 25.0 ns, 50 % of the difference"));
    finish(&f);
}

#define LINE(issued, memory)                                        \
    "{'pc': 8, 'place': 'k.cl:3', 'text': 'ld', 'issued': " #issued \
    ", 'threads': 1, 'energy_pj': 1.5, 'stalls': {'memory': " #memory "}}"
static void test_lines(void **state)
{
#define PROFILE(cycles, issued, memory, lines)                                                \
    "{'schema': 2, 'launches': [], 'totals': " TOTALS(                                        \
        cycles, issued, memory, "") ", 'profile': [{'function': 'k', 'instructions': [" lines \
                                    "]}]}"
    struct fixture f = start(PROFILE(1000, 800, 1200, LINE(10, 600) "," LINE(5, 100)),
                             PROFILE(500, 800, 200, LINE(10, 100)));
    const struct run_comparison *c = compare(&f, 0, NULL);
    const struct compare_row *line = row(c, "lines", "k.cl:3 in k");
    assert_true(line->values[0].number == 357.5 && line->values[1].number == 55);
    assert_string_equal(line->detail, "memory 350 -> 50");
    assert_true(row(c, "line_energy", "k.cl:3 in k")->values[0].number == 3);
    finish(&f);
}

/* What a store keeps of a run: totals only. Nothing is invented for the rest. */
static void test_totals_only(void **state)
{
    struct fixture f = start("{'schema': 2, 'totals': " TOTALS(1000, 800, 1200, "") "}",
                             "{'schema': 2, 'totals': " TOTALS(500, 800, 200, "") "}");
    const struct run_comparison *c = compare(&f, 0, NULL);
    assert_non_null(strstr(c->verdicts[1], "b is 2.00 times as fast as a"));
    assert_int_equal(section(c, "kernels")->rows.count, 0);
    assert_non_null(strstr(c->notes.data[0], "a has no launches: only its totals are compared"));
    finish(&f);
}

static void test_functional(void **state)
{
    struct fixture f = start(BASE, "{'schema': 2, 'launches': [], 'totals': "
                                   "{'exec.warp_instructions': 1600}}");
    const struct run_comparison *c = compare(&f, 0, NULL);
    assert_string_equal(c->verdicts[1], "b and a cannot be compared in time: b has none; it issues "
                                        "2 times the warp instructions");
    assert_int_equal(section(c, "slots")->rows.count, 0);
    finish(&f);
}

static void test_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{", "not JSON"},
        {"[]", "not a statistics file"},
        {"{'schema': '2', 'totals': {}}", "not a statistics file"},
        {"{'schema': 3, 'totals': {}}", "schema 3, but this version of Heddle reads 2"},
        {"{'schema': 1, 'totals': {}}", "schema 1, but"},
        {"{'schema': 2}", "expected an object 'totals'"},
        {"{'schema': 2, 'totals': {}, 'launches': 5}", "'launches': expected a list of objects"},
        {"{'schema': 2, 'totals': {}, 'profile': [5]}", "'profile': expected a list of objects"},
        {"{'schema': 2, 'schema': 2, 'totals': {}}", "not JSON"},
    };
    struct arena *arena = arena_create();
    for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
        struct error error = {0};
        char *json = quoted(cases[i].text);
        assert_null(compare_run_parse(arena, "x", "x.json", json, strlen(json), &error));
        assert_string_equal(error.place, "x.json");
        if (!strstr(error.message, cases[i].message))
            fail_msg("case %u: %s", i, error.message);
        free(json);
    }
    struct error error = {0};
    static const char database[32] = "SQLite format 3";
    assert_null(compare_run_parse(arena, "x", "x.db", database, sizeof database, &error));
    assert_non_null(strstr(error.message, "a results database"));
    arena_destroy(arena);
}

/* Fields of a wrong type are missing fields. */
static void test_odd_types(void **state)
{
    struct fixture f = start(
        BASE, "{'schema': 2, 'manifest': 3, 'config': {'l1d': 5, 'x': []}, 'launches': [{'kernel': "
              "7, 'stats': [], 'seconds': 'x', 'outcome': {}}, {}], 'sums': [{}], 'totals': "
              "{'timing.cycles': '0xffffffffffffffff', 'issue.issued': [], 'issue.idle_raw': -5, "
              "'a': null}, 'profile': [{'instructions': 5}, {'function': 3, 'instructions': [4, "
              "{}]}]}");
    const struct run_comparison *c = compare(&f, 0, NULL);
    char *text = text_of(compare_print_text, c), *page = text_of(compare_print_html, c);
    json_t *json = compare_json(c);
    assert_true(json_is_object(json) && strlen(text) && strlen(page));
    json_decref(json);
    free(text);
    free(page);
    finish(&f);
}

/* Names from files are text: markup is escaped, control characters are shown. */
static void test_names(void **state)
{
    struct fixture f =
        start(DOCUMENT("", "", LAUNCH("k<T>\\u001b[31m", 100, 50, 150), TOTALS(100, 50, 150, "")),
              DOCUMENT("", "", LAUNCH("k<T>\\u001b[31m", 90, 50, 130), TOTALS(90, 50, 130, "")));
    const struct run_comparison *c = compare(&f, 0, NULL);
    char *text = text_of(compare_print_text, c), *page = text_of(compare_print_html, c);
    assert_null(strchr(text, '\033'));
    assert_null(strchr(page, '\033'));
    assert_non_null(strstr(text, "k<T>\\x1b[31m"));
    assert_null(strstr(page, "k<T>"));
    assert_non_null(strstr(page, "k&lt;T&gt;"));
    free(text);
    free(page);
    finish(&f);
}

/* More than two: each against the first. */
static void test_three(void **state)
{
    struct fixture f = start(BASE, FAST);
    add_run(&f, "c", BASE);
    const struct run_comparison *c = compare(&f, 0, NULL);
    assert_int_equal(c->sameness[1], SAME_NOT);
    assert_int_equal(c->sameness[2], SAME_BYTES);
    assert_true(row(c, "time", "core cycles")->values[2].number == 1000);
    json_t *json = compare_json(c);
    const json_t *runs = json_object_get(json, "runs");
    assert_int_equal(json_array_size(runs), 3);
    assert_true(json_number_value(json_object_get(json_array_get(runs, 1), "speedup")) == 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(runs, 2), "sameness")),
                        "same_bytes");
    json_decref(json);
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdict),       cmocka_unit_test(test_slots_add_up),
        cmocka_unit_test(test_configuration), cmocka_unit_test(test_sameness),
        cmocka_unit_test(test_kernel),        cmocka_unit_test(test_launches),
        cmocka_unit_test(test_clocks),        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_totals_only),   cmocka_unit_test(test_functional),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_odd_types),
        cmocka_unit_test(test_names),         cmocka_unit_test(test_three),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
