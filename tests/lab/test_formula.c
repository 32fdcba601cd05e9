/* Formulas: values, what has none, and where mistakes are pointed at. */
#include "lab/formula.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct text_place here = {"f.yaml", 3, 10};

static bool lookup(void *user, const char *name, f64 *value)
{
    static const struct {
        const char *name;
        f64 value;
    } names[] = {{"a.x", 6}, {"b.x_2", -1.5}, {"zero", 0}, {"nan", NAN}, {"inf", INFINITY}};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!strcmp(names[i].name, name)) {
            *value = names[i].value;
            return true;
        }
    return false;
}

static void values(void **state)
{
    static const struct {
        const char *text;
        bool given;
        f64 value;
    } cases[] = {
        {"1", true, 1},
        {" 1.5e1 ", true, 15},
        {"1e-2", true, 0.01},
        {".5", true, 0.5},
        {"2 + 3 * 4", true, 14},
        {"(2 + 3) * 4", true, 20},
        {"2 - 3 - 4", true, -5},
        {"16 / 4 / 2", true, 2},
        {"-2 - -3", true, 1},
        {"--2", true, 2},
        {"2*-3", true, -6},
        {"100 * (a.x / 4 - 1)", true, 50},
        {"min(3, 1, 2)", true, 1},
        {"max(3, 1 + 4, 2)", true, 5},
        {"max(-b.x_2, min(a.x, 1))", true, 1.5},
        {"mean(1, 2, 6)", true, 3},
        {"mean(a.x) + 1", true, 7},
        {"interval(5, 5, 5)", true, 0},
        {"interval(0, 2)", true, 12.706}, /* t of 1 x sqrt(2 / 1 / 2) */
        {"interval(0, a.x * 0, 3)", true, 4.303},
        {"interval(1)", false, 0},
        {"mean(1, a.y)", false, 0},
        {"min", false, 0},
        {"a.y", false, 0},
        {"a.x / zero", false, 0},
        {"0 / 0", false, 0},
        {"nan", false, 0},
        {"inf", false, 0},
        {"1e308 * 10", false, 0},
        {"1 + a.y * 0", false, 0},
    };
    struct arena *arena = arena_create();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct error error = {0};
        f64 value = 0;
        struct formula *formula = formula_parse(arena, cases[i].text, here, &error);
        assert_non_null(formula);
        assert_int_equal(formula_value(formula, lookup, NULL, &value), cases[i].given);
        if (cases[i].given)
            assert_true(value == cases[i].value);
    }
    arena_destroy(arena);
}

static void mistakes(void **state)
{
    static const struct {
        const char *text, *place, *message;
    } cases[] = {
        {"", "f.yaml:3:10", "expected a number, a name or '(', not the end"},
        {"1 +", "f.yaml:3:13", "expected a number, a name or '(', not the end"},
        {"1 2", "f.yaml:3:12", "expected an operator (+ - * /) or the end, not '2'"},
        {"(1", "f.yaml:3:12", "expected ')', not the end"},
        {"a.b $ 2", "f.yaml:3:14", "expected an operator (+ - * /) or the end, not '$'"},
        {"1.2.3", "f.yaml:3:10", "expected a number, not '1.2.3'"},
        {"1e999", "f.yaml:3:10", "expected a number, not '1e999'"},
        {"exp(2)", "f.yaml:3:10",
         "expected min(, max(, mean( or interval(, the only functions, not 'exp(2)'"},
        {"min(1, 2", "f.yaml:3:18", "expected ',' or ')', not the end"},
        {"min()", "f.yaml:3:14", "expected a number, a name or '(', not ')'"},
        {"a.", "f.yaml:3:11", "expected an operator (+ - * /) or the end, not '.'"},
        {"1 < 2", "f.yaml:3:12", "expected an operator (+ - * /) or the end, not '<'"},
    };
    struct arena *arena = arena_create();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct error error = {0};
        assert_null(formula_parse(arena, cases[i].text, here, &error));
        assert_string_equal(error.place, cases[i].place);
        assert_string_equal(error.message, cases[i].message);
    }
    arena_destroy(arena);
}

/* Text from strangers: as deep as it may be, and one more. */
static void nesting(void **state)
{
    struct arena *arena = arena_create();
    struct error error = {0};
    for (u32 depth = 1; depth <= FORMULA_MAX_DEPTH; depth++) {
        char text[4 * FORMULA_MAX_DEPTH] = "";
        for (u32 i = 0; i < depth; i++)
            strcat(text, "(");
        strcat(text, "1");
        for (u32 i = 0; i < depth; i++)
            strcat(text, ")");
        bool fits = 2 * depth < FORMULA_MAX_DEPTH; /* a bracket and the sum in it */
        assert_int_equal(formula_parse(arena, text, here, &error) != NULL, fits);
    }
    char *text = calloc(1, FORMULA_MAX_BYTES + 2);
    memset(text, '1', FORMULA_MAX_BYTES + 1);
    assert_null(formula_parse(arena, text, here, &error));
    for (u32 i = 0; i < FORMULA_MAX_BYTES - 1; i++)
        text[i] = i % 2 ? '+' : '1';
    text[FORMULA_MAX_BYTES - 1] = '\0';
    struct formula *formula = formula_parse(arena, text, here, &error);
    f64 value;
    assert_non_null(formula);
    assert_true(formula_value(formula, lookup, NULL, &value));
    assert_true(value == FORMULA_MAX_BYTES / 2);
    free(text);
    arena_destroy(arena);
}

struct visited {
    char names[64];
    u32 column;
};

static bool visit(void *user, const char *name, struct text_place place)
{
    struct visited *visited = user;
    strcat(visited->names, name);
    strcat(visited->names, " ");
    visited->column = place.column;
    return strcmp(name, "stop") != 0;
}

static void names(void **state)
{
    struct arena *arena = arena_create();
    struct error error = {0};
    struct visited visited = {0};
    assert_true(
        formula_names(formula_parse(arena, "b + max(1, a.c) * 2", here, &error), visit, &visited));
    assert_string_equal(visited.names, "b a.c ");
    assert_int_equal(visited.column, 21);
    visited = (struct visited){0};
    assert_false(
        formula_names(formula_parse(arena, "a + stop + b", here, &error), visit, &visited));
    assert_string_equal(visited.names, "a stop ");
    arena_destroy(arena);
}

static void comparisons(void **state)
{
    struct arena *arena = arena_create();
    struct error error = {0};
    struct comparison *chain = comparison_parse(arena, "a <= b < c", here, &error);
    assert_non_null(chain);
    assert_int_equal(chain->count, 3);
    assert_true(comparison_holds(chain, (f64[]){1, 1, 2}));
    assert_false(comparison_holds(chain, (f64[]){1, 2, 2}));
    assert_false(comparison_holds(chain, (f64[]){2, 1, 3}));
    struct comparison *down = comparison_parse(arena, "2 * a > b >= c", here, &error);
    assert_true(comparison_holds(down, (f64[]){3, 2, 2}));
    assert_false(comparison_holds(down, (f64[]){2, 2, 2}));
    assert_false(comparison_holds(down, (f64[]){3, 2, 2.1}));
    assert_string_equal(comparison_sign(down->kinds[0]), ">");
    assert_string_equal(comparison_sign(down->kinds[1]), ">=");
    assert_null(comparison_parse(arena, "a + b", here, &error));
    assert_string_equal(error.message, "expected an operator, or one of < <= > >=, not the end");
    assert_null(comparison_parse(arena, "a <", here, &error));
    assert_null(comparison_parse(arena, "a = b", here, &error));
    assert_non_null(comparison_parse(arena, "1<2<3<4<5<6<7<8", here, &error));
    assert_null(comparison_parse(arena, "1<2<3<4<5<6<7<8<9", here, &error));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values), cmocka_unit_test(mistakes),    cmocka_unit_test(nesting),
        cmocka_unit_test(names),  cmocka_unit_test(comparisons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
