/*
 * Constant expressions, evaluated while they are read.
 *
 * An integer is signed or unsigned 64 bits. A literal is signed if it fits and has no U. Binary
 * operators make both sides unsigned if one is, except that shifts keep the left side's type and
 * take the count modulo 64, "%" is unsigned with a signed result, "~" is unsigned, comparisons and
 * logic give signed 0 or 1, and "?:" gives the chosen side unchanged. Where NVIDIA's assembler and
 * the ISA document differ ("&", "|", "^" and "?:" of signed operands) this follows the assembler.
 * Integers and floats do not mix; a 0f number stands alone.
 */
#include "base/text.h"
#include "isa/ptx/parse.h"

#include <math.h>
#include <stdlib.h>

static f64 as_f64(const struct ptx_constant *constant)
{
    f64 value;
    memcpy(&value, &constant->value, sizeof value);
    return value;
}

static struct ptx_constant from_f64(f64 value)
{
    struct ptx_constant constant = {.is_float = true};
    memcpy(&constant.value, &value, sizeof value);
    return constant;
}

static struct ptx_constant from_bool(bool value)
{
    return (struct ptx_constant){.value = value};
}

static bool integer_literal(struct ptx_parser *p, struct ptx_constant *out)
{
    if (!ptx_token_integer(&p->token, &out->value, &out->is_unsigned)) {
        char quoted[PTX_QUOTE];
        return ptx_error_at(p, p->token.place, "number %s is too large, expected at most 64 bits",
                            ptx_quote(&p->token, quoted));
    }
    out->is_unsigned |= out->value > INT64_MAX;
    ptx_advance(p);
    return true;
}

static u64 hex_digits(const char *c, size_t count)
{
    u64 value = 0;
    for (size_t i = 0; i < count; i++)
        value = value << 4 | (u64)(c[i] <= '9' ? c[i] - '0' : (c[i] | 32) - 'a' + 10);
    return value;
}

static bool float_literal(struct ptx_parser *p, struct ptx_constant *out)
{
    const struct ptx_token *token = &p->token;
    out->is_float = true;
    out->is_single = token->kind == TOKEN_SINGLE;
    if (out->is_single || (token->length > 1 && (token->start[1] | 32) == 'd')) {
        out->value = hex_digits(token->start + 2, token->length - 2);
    } else {
        char digits[512], quoted[PTX_QUOTE];
        f64 value = 0;
        bool fits = token->length < sizeof digits;
        if (fits) {
            memcpy(digits, token->start, token->length);
            digits[token->length] = '\0';
            fits = text_f64(digits, &value) == TEXT_OK && isfinite(value);
        }
        if (!fits)
            return ptx_error_at(p, token->place,
                                "number %s is too large, expected a double below 1.8e308",
                                ptx_quote(token, quoted));
        *out = from_f64(value);
    }
    ptx_advance(p);
    return true;
}

/* After '(': a cast "(.s64) x" or an expression in parentheses. */
static bool parenthesised(struct ptx_parser *p, struct ptx_constant *out);
static bool unary(struct ptx_parser *p, struct ptx_constant *out);

static bool primary(struct ptx_parser *p, struct ptx_constant *out)
{
    *out = (struct ptx_constant){0};
    struct ptx_token *token = &p->token;
    if (token->kind == TOKEN_DIRECTIVE && token->start[1] >= '0' && token->start[1] <= '9') {
        ptx_lex_fraction(&p->lexer, token);
        if (token->kind == TOKEN_BAD)
            return ptx_bad_token(p);
    }
    switch (token->kind) {
    case TOKEN_INTEGER:
        return integer_literal(p, out);
    case TOKEN_DOUBLE:
    case TOKEN_SINGLE:
        return float_literal(p, out);
    case TOKEN_NAME:
        if (!ptx_token_is(token, "WARP_SZ"))
            break;
        out->value = 32;
        ptx_advance(p);
        return true;
    case '(':
        if (!ptx_enter(p))
            return false;
        ptx_advance(p);
        if (!parenthesised(p, out))
            return false;
        p->depth--;
        return true;
    }
    return ptx_expected(p, "a number or constant expression");
}

static bool parenthesised(struct ptx_parser *p, struct ptx_constant *out)
{
    if (p->token.kind != TOKEN_DIRECTIVE || (p->token.start[1] >= '0' && p->token.start[1] <= '9'))
        return ptx_constant(p, out) && ptx_take(p, ')', "an operator or ')'");
    bool is_unsigned = ptx_token_is(&p->token, ".u64");
    if (!is_unsigned && !ptx_token_is(&p->token, ".s64"))
        return ptx_expected(p, "a number or a cast to .s64 or .u64");
    ptx_advance(p);
    if (!ptx_take(p, ')', "')' after the type of a cast"))
        return false;
    struct ptx_place place = p->token.place;
    if (!unary(p, out))
        return false;
    if (out->is_float)
        return ptx_error_at(p, place, "cast of a floating-point number, expected an integer");
    out->is_unsigned = is_unsigned;
    return true;
}

static bool apply_unary(struct ptx_parser *p, int op, struct ptx_place place,
                        struct ptx_constant *value)
{
    if (value->is_single)
        return ptx_error_at(p, place, "operator on a 0f number, expected the number alone");
    if (value->is_float) {
        if (op == '~' || op == '!')
            return ptx_error_at(p, place, "'%c' on a floating-point number, expected an integer",
                                op);
        if (op == '-')
            value->value ^= 1ull << 63;
        return true;
    }
    if (op == '-')
        value->value = -value->value;
    else if (op == '~')
        *value = (struct ptx_constant){.is_unsigned = true, .value = ~value->value};
    else if (op == '!')
        *value = from_bool(!value->value);
    return true;
}

static bool unary(struct ptx_parser *p, struct ptx_constant *out)
{
    int op = p->token.kind;
    if (op != '-' && op != '+' && op != '~' && op != '!')
        return primary(p, out);
    struct ptx_place place = p->token.place;
    if (!ptx_enter(p))
        return false;
    ptx_advance(p);
    if (!unary(p, out) || !apply_unary(p, op, place, out))
        return false;
    p->depth--;
    return true;
}

/* How tightly an operator binds, 0 when the token is none. */
static int precedence(int kind)
{
    switch (kind) {
    case '*':
    case '/':
    case '%':
        return 10;
    case '+':
    case '-':
        return 9;
    case TOKEN_SHIFT_LEFT:
    case TOKEN_SHIFT_RIGHT:
        return 8;
    case '<':
    case '>':
    case TOKEN_LESS_EQUAL:
    case TOKEN_GREATER_EQUAL:
        return 7;
    case TOKEN_EQUAL:
    case TOKEN_NOT_EQUAL:
        return 6;
    case '&':
        return 5;
    case '^':
        return 4;
    case '|':
        return 3;
    case TOKEN_AND_AND:
        return 2;
    case TOKEN_OR_OR:
        return 1;
    }
    return 0;
}

static bool apply_floats(struct ptx_parser *p, int op, struct ptx_place place,
                         struct ptx_constant *left, const struct ptx_constant *right)
{
    f64 a = as_f64(left), b = as_f64(right);
    switch (op) {
    case '+':
        *left = from_f64(a + b);
        return true;
    case '-':
        *left = from_f64(a - b);
        return true;
    case '*':
        *left = from_f64(a * b);
        return true;
    case '/':
        if (b == 0)
            return ptx_error_at(p, place, "division by zero, expected another divisor");
        *left = from_f64(a / b);
        return true;
    case '<':
        *left = from_bool(a < b);
        return true;
    case '>':
        *left = from_bool(a > b);
        return true;
    case TOKEN_LESS_EQUAL:
        *left = from_bool(a <= b);
        return true;
    case TOKEN_GREATER_EQUAL:
        *left = from_bool(a >= b);
        return true;
    case TOKEN_EQUAL:
        *left = from_bool(a == b);
        return true;
    case TOKEN_NOT_EQUAL:
        *left = from_bool(a != b);
        return true;
    }
    return ptx_error_at(p, place, "operator on floating-point numbers, expected integers");
}

/* a / b and a % b as PTX defines them; b is not 0. */
static struct ptx_constant divide(int op, u64 a, u64 b, bool is_unsigned)
{
    if (op == '%')
        return (struct ptx_constant){.value = a % b};
    if (is_unsigned)
        return (struct ptx_constant){.is_unsigned = true, .value = a / b};
    /* INT64_MIN / -1 wraps. */
    return (struct ptx_constant){.value = (i64)b == -1 ? -a : (u64)((i64)a / (i64)b)};
}

static struct ptx_constant shift(int op, const struct ptx_constant *left, u64 count)
{
    struct ptx_constant result = *left;
    count &= 63;
    if (op == TOKEN_SHIFT_LEFT)
        result.value <<= count;
    else if (left->is_unsigned)
        result.value >>= count;
    else
        result.value = (u64)((i64)left->value >> count);
    return result;
}

static bool less(u64 a, u64 b, bool is_unsigned)
{
    return is_unsigned ? a < b : (i64)a < (i64)b;
}

/* The operators on two integers that cannot fail. */
static struct ptx_constant integer_result(int op, const struct ptx_constant *left,
                                          const struct ptx_constant *right)
{
    u64 a = left->value, b = right->value;
    bool is_unsigned = left->is_unsigned || right->is_unsigned;
    struct ptx_constant result = {.is_unsigned = is_unsigned};
    switch (op) {
    case '*':
        result.value = a * b;
        return result;
    case '+':
        result.value = a + b;
        return result;
    case '-':
        result.value = a - b;
        return result;
    case '&':
        result.value = a & b;
        return result;
    case '^':
        result.value = a ^ b;
        return result;
    case '|':
        result.value = a | b;
        return result;
    case TOKEN_SHIFT_LEFT:
    case TOKEN_SHIFT_RIGHT:
        return shift(op, left, b);
    case '<':
        return from_bool(less(a, b, is_unsigned));
    case '>':
        return from_bool(less(b, a, is_unsigned));
    case TOKEN_LESS_EQUAL:
        return from_bool(!less(b, a, is_unsigned));
    case TOKEN_GREATER_EQUAL:
        return from_bool(!less(a, b, is_unsigned));
    case TOKEN_EQUAL:
        return from_bool(a == b);
    case TOKEN_NOT_EQUAL:
        return from_bool(a != b);
    case TOKEN_AND_AND:
        return from_bool(a && b);
    case TOKEN_OR_OR:
        return from_bool(a || b);
    }
    return divide(op, a, b, is_unsigned);
}

static bool apply(struct ptx_parser *p, int op, struct ptx_place place, struct ptx_constant *left,
                  const struct ptx_constant *right)
{
    if (left->is_single || right->is_single)
        return ptx_error_at(p, place, "operator on a 0f number, expected the number alone");
    if (left->is_float != right->is_float)
        return ptx_error_at(p, place,
                            "operator between an integer and a floating-point number, expected two "
                            "of the same kind");
    if (left->is_float)
        return apply_floats(p, op, place, left, right);
    if (!right->value && (op == '/' || op == '%'))
        return ptx_error_at(p, place, "division by zero, expected another divisor");
    *left = integer_result(op, left, right);
    return true;
}

/* Operators that bind at least as tightly as `loosest`. */
static bool binary(struct ptx_parser *p, struct ptx_constant *left, int loosest)
{
    if (!unary(p, left))
        return false;
    for (;;) {
        int op = p->token.kind, binding = precedence(op);
        if (!binding || binding < loosest)
            return true;
        struct ptx_place place = p->token.place;
        ptx_advance(p);
        struct ptx_constant right;
        if (!binary(p, &right, binding + 1) || !apply(p, op, place, left, &right))
            return false;
    }
}

bool ptx_constant(struct ptx_parser *p, struct ptx_constant *out)
{
    if (!binary(p, out, 1))
        return false;
    if (p->token.kind != '?')
        return true;
    if (out->is_float)
        return ptx_error_at(p, p->token.place,
                            "floating-point condition, expected an integer before '?'");
    struct ptx_constant yes, no;
    if (!ptx_enter(p))
        return false;
    ptx_advance(p);
    if (!ptx_constant(p, &yes) || !ptx_take(p, ':', "':' of a conditional expression") ||
        !ptx_constant(p, &no))
        return false;
    p->depth--;
    *out = out->value ? yes : no;
    return true;
}

static bool starts_constant(const struct ptx_token *token)
{
    switch (token->kind) {
    case TOKEN_INTEGER:
    case TOKEN_DOUBLE:
    case TOKEN_SINGLE:
    case '(':
    case '-':
    case '+':
    case '~':
    case '!':
        return true;
    case TOKEN_DIRECTIVE: /* .5 */
        return token->start[1] >= '0' && token->start[1] <= '9';
    }
    return ptx_token_is(token, "WARP_SZ");
}

bool ptx_integer(struct ptx_parser *p, u64 *value, u64 low, u64 high, const char *what)
{
    struct ptx_place place = p->token.place;
    struct ptx_constant constant;
    if (!starts_constant(&p->token))
        return ptx_expected(p, what);
    if (!ptx_constant(p, &constant))
        return false;
    if (constant.is_float)
        return ptx_error_at(p, place, "floating-point number, expected %s", what);
    bool negative = !constant.is_unsigned && constant.value > INT64_MAX;
    if (negative || constant.value < low || constant.value > high)
        return ptx_error_at(
            p, place, "number %s%llu is out of range, expected %s", negative ? "-" : "",
            (unsigned long long)(negative ? -constant.value : constant.value), what);
    *value = constant.value;
    return true;
}

bool ptx_addend(struct ptx_parser *p, u64 *value)
{
    *value = 0;
    while (p->token.kind == '+' || p->token.kind == '-') {
        bool minus = p->token.kind == '-';
        ptx_advance(p);
        struct ptx_place place = p->token.place;
        struct ptx_constant constant;
        if (!starts_constant(&p->token))
            return ptx_expected(p, "a constant (only one register or name is added to)");
        /* NVIDIA's assembler takes everything after '+' as the constant: [a+1<<4] is a + 16 */
        if (!(minus ? binary(p, &constant, precedence('*')) : ptx_constant(p, &constant)))
            return false;
        if (constant.is_float)
            return ptx_error_at(p, place, "floating-point offset, expected an integer");
        *value += minus ? -constant.value : constant.value;
    }
    return true;
}
