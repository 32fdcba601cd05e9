/* Formulas: see formula.h. A recursive-descent parser, one function per precedence level. */
#include "lab/formula.h"

#include "base/text.h"
#include "lab/student.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>

enum formula_kind {
    NUMBER,
    NAME,
    NEGATE,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    MINIMUM,
    MAXIMUM,
    MEAN,     /* of a list */
    INTERVAL, /* half of its 95 % confidence interval */
    LIST      /* a value, and the rest of the list or NULL */
};

struct formula {
    enum formula_kind kind;
    f64 number;
    const char *name;
    struct text_place place; /* NAME */
    struct formula *a, *b;
};

struct formula_parser {
    struct arena *arena;
    const char *text, *at;
    struct text_place place;
    struct error *error;
    u32 depth;
};

const char *place_text(struct text_place place, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (place.line)
        snprintf(buffer, size, "%.200s:%u:%u", place.file, place.line, place.column);
    return buffer;
}

/* ---- tokens ---- */

static struct text_place place_of(const struct formula_parser *parser, const char *at)
{
    struct text_place place = parser->place;
    place.column += (u32)(at - parser->text);
    return place;
}

static void *expected(struct formula_parser *parser, const char *what)
{
    char where[256], found[64] = "the end";
    struct text_place place = place_of(parser, parser->at);
    place_text(place, where, sizeof where);
    size_t length = strcspn(parser->at, " \t\n");
    if (*parser->at)
        snprintf(found, sizeof found, "'%s'",
                 text_printable(parser->arena,
                                arena_strndup(parser->arena, parser->at, MIN(length, 20))));
    error_fill(parser->error, ERROR_INPUT, where, "expected %s, not %s", what, found);
    return NULL;
}

static void skip_space(struct formula_parser *parser)
{
    while (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\n')
        parser->at++;
}

static bool take(struct formula_parser *parser, char sign)
{
    skip_space(parser);
    if (*parser->at != sign)
        return false;
    parser->at++;
    return true;
}

static struct formula *node(struct formula_parser *parser, enum formula_kind kind,
                            struct formula *a, struct formula *b)
{
    struct formula *formula = arena_new(parser->arena, struct formula);
    *formula = (struct formula){.kind = kind, .a = a, .b = b};
    return formula;
}

/* ---- precedence levels ---- */

static struct formula *parse_sum(struct formula_parser *parser);

static struct formula *parse_number(struct formula_parser *parser)
{
    const char *start = parser->at;
    const char *at = start + strspn(start, "0123456789.");
    if ((*at == 'e' || *at == 'E') &&
        isdigit((unsigned char)at[1 + (at[1] == '+' || at[1] == '-')]))
        at += 1 + strspn(at + 1, "+-0123456789");
    struct formula *formula = node(parser, NUMBER, NULL, NULL);
    const char *text = arena_strndup(parser->arena, start, (size_t)(at - start));
    if (text_f64(text, &formula->number) != TEXT_OK || !isfinite(formula->number))
        return expected(parser, "a number");
    parser->at = at;
    return formula;
}

static const struct {
    const char *name;
    enum formula_kind kind;
} functions[] = {{"min", MINIMUM}, {"max", MAXIMUM}, {"mean", MEAN}, {"interval", INTERVAL}};

/* min(a, b, ...) */
static struct formula *parse_call(struct formula_parser *parser, enum formula_kind kind)
{
    const bool pairs = kind == MINIMUM || kind == MAXIMUM;
    struct formula *formula = NULL, **end = &formula;
    do {
        struct formula *argument = parse_sum(parser);
        if (!argument)
            return NULL;
        if (pairs) {
            formula = formula ? node(parser, kind, formula, argument) : argument;
        } else {
            *end = node(parser, LIST, argument, NULL);
            end = &(*end)->b;
        }
    } while (take(parser, ','));
    if (!take(parser, ')'))
        return expected(parser, "',' or ')'");
    return pairs ? formula : node(parser, kind, formula, NULL);
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static struct formula *parse_name(struct formula_parser *parser)
{
    const char *start = parser->at, *at = start;
    while (is_word(*at) || (*at == '.' && is_word(at[1])))
        at++;
    char *name = arena_strndup(parser->arena, start, (size_t)(at - start));
    parser->at = at;
    skip_space(parser);
    if (*parser->at == '(') {
        u32 i = 0;
        while (i < ARRAY_LEN(functions) && strcmp(name, functions[i].name) != 0)
            i++;
        if (i == ARRAY_LEN(functions)) {
            parser->at = start;
            return expected(parser, "min(, max(, mean( or interval(, the only functions");
        }
        parser->at++;
        return parse_call(parser, functions[i].kind);
    }
    struct formula *formula = node(parser, NAME, NULL, NULL);
    formula->name = name;
    formula->place = place_of(parser, start);
    return formula;
}

static struct formula *parse_value(struct formula_parser *parser)
{
    skip_space(parser);
    char c = *parser->at;
    if (isdigit((unsigned char)c) || c == '.')
        return parse_number(parser);
    if (isalpha((unsigned char)c) || c == '_')
        return parse_name(parser);
    if (parser->depth >= FORMULA_MAX_DEPTH)
        return expected(parser, "less nesting");
    struct formula *formula;
    parser->depth++;
    if (take(parser, '-')) {
        formula = parse_value(parser);
        formula = formula ? node(parser, NEGATE, formula, NULL) : NULL;
    } else if (take(parser, '(')) {
        formula = parse_sum(parser);
        if (formula && !take(parser, ')'))
            formula = expected(parser, "')'");
    } else {
        formula = expected(parser, "a number, a name or '('");
    }
    parser->depth--;
    return formula;
}

static struct formula *parse_product(struct formula_parser *parser)
{
    struct formula *formula = parse_value(parser);
    while (formula) {
        bool times = take(parser, '*');
        if (!times && !take(parser, '/'))
            break;
        struct formula *right = parse_value(parser);
        formula = right ? node(parser, times ? MULTIPLY : DIVIDE, formula, right) : NULL;
    }
    return formula;
}

static struct formula *parse_sum(struct formula_parser *parser)
{
    if (parser->depth >= FORMULA_MAX_DEPTH)
        return expected(parser, "less nesting");
    parser->depth++;
    struct formula *formula = parse_product(parser);
    while (formula) {
        bool plus = take(parser, '+');
        if (!plus && !take(parser, '-'))
            break;
        struct formula *right = parse_product(parser);
        formula = right ? node(parser, plus ? ADD : SUBTRACT, formula, right) : NULL;
    }
    parser->depth--;
    return formula;
}

static bool begin(struct formula_parser *parser, struct arena *arena, const char *text,
                  struct text_place place, struct error *error)
{
    *parser = (struct formula_parser){arena, text, text, place, error, 0};
    if (strlen(text) <= FORMULA_MAX_BYTES)
        return true;
    return expected(parser, "a shorter formula");
}

struct formula *formula_parse(struct arena *arena, const char *text, struct text_place place,
                              struct error *error)
{
    struct formula_parser parser;
    if (!begin(&parser, arena, text, place, error))
        return NULL;
    struct formula *formula = parse_sum(&parser);
    if (formula && *parser.at)
        return expected(&parser, "an operator (+ - * /) or the end");
    return formula;
}

/* ---- values ---- */

static f64 combined(enum formula_kind kind, f64 a, f64 b)
{
    switch (kind) {
    case ADD:
        return a + b;
    case SUBTRACT:
        return a - b;
    case MULTIPLY:
        return a * b;
    case DIVIDE:
        return b == 0 ? NAN : a / b;
    case MINIMUM:
        return a < b ? a : b;
    default:
        return a > b ? a : b;
    }
}

/* The mean of a list, or half of its interval. Each value is computed once (Welford, 1962), so that
 * lists in lists take no longer than their text. */
static bool value_of_list(const struct formula *formula, formula_lookup *lookup, void *user,
                          f64 *value)
{
    f64 one, mean = 0, squares = 0;
    u32 count = 0;
    for (const struct formula *at = formula->a; at; at = at->b) {
        if (!formula_value(at->a, lookup, user, &one))
            return false;
        const f64 off = one - mean;
        mean += off / ++count;
        squares += off * (one - mean);
    }
    *value = formula->kind == MEAN ? mean : count > 1 ? half_interval(squares, count) : NAN;
    return isfinite(*value);
}

bool formula_value(const struct formula *formula, formula_lookup *lookup, void *user, f64 *value)
{
    f64 a, b;
    if (formula->kind == MEAN || formula->kind == INTERVAL)
        return value_of_list(formula, lookup, user, value);
    if (formula->kind == NUMBER) {
        *value = formula->number;
        return true;
    }
    if (formula->kind == NAME)
        return lookup(user, formula->name, value) && isfinite(*value);
    if (!formula_value(formula->a, lookup, user, &a))
        return false;
    if (formula->kind == NEGATE) {
        *value = -a;
        return true;
    }
    if (!formula_value(formula->b, lookup, user, &b))
        return false;
    *value = combined(formula->kind, a, b);
    return isfinite(*value);
}

bool formula_names(const struct formula *formula, formula_visit *visit, void *user)
{
    if (formula->kind == NAME)
        return visit(user, formula->name, formula->place);
    return (!formula->a || formula_names(formula->a, visit, user)) &&
           (!formula->b || formula_names(formula->b, visit, user));
}

/* ---- comparisons ---- */

const char *comparison_sign(enum comparison_kind kind)
{
    static const char *const signs[] = {"<", "<=", ">", ">="};
    return signs[kind];
}

struct comparison *comparison_parse(struct arena *arena, const char *text, struct text_place place,
                                    struct error *error)
{
    struct formula_parser parser;
    if (!begin(&parser, arena, text, place, error))
        return NULL;
    struct comparison *comparison = arena_new(arena, struct comparison);
    for (;;) {
        struct formula *side = parse_sum(&parser);
        if (!side)
            return NULL;
        comparison->sides[comparison->count++] = side;
        skip_space(&parser);
        bool less = take(&parser, '<');
        if (!less && !take(&parser, '>'))
            break;
        if (comparison->count == COMPARISON_MAX_SIDES)
            return expected(&parser, "fewer sides");
        bool equal = *parser.at == '=';
        parser.at += equal;
        comparison->kinds[comparison->count - 1] =
            (less ? COMPARE_LESS : COMPARE_GREATER) + (equal ? 1 : 0);
    }
    if (*parser.at || comparison->count < 2)
        return expected(&parser, "an operator, or one of < <= > >=");
    return comparison;
}

bool comparison_holds(const struct comparison *comparison, const f64 *values)
{
    for (u32 i = 0; i + 1 < comparison->count; i++) {
        f64 a = values[i], b = values[i + 1];
        bool holds = comparison->kinds[i] == COMPARE_LESS         ? a < b
                     : comparison->kinds[i] == COMPARE_LESS_EQUAL ? a <= b
                     : comparison->kinds[i] == COMPARE_GREATER    ? a > b
                                                                  : a >= b;
        if (!holds)
            return false;
    }
    return true;
}
