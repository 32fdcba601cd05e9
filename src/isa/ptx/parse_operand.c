/* Operands of instructions: see parse.h and ast.h. */
#include "isa/ptx/parse.h"

/* Special registers whose ".x" belongs to the name; on any other register it selects a component.
 */
static bool is_special_vector(const char *name)
{
    static const char *const specials[] = {"%tid",           "%ntid",          "%ctaid",
                                           "%nctaid",        "%clusterid",     "%nclusterid",
                                           "%cluster_ctaid", "%cluster_nctaid"};
    for (size_t i = 0; i < ARRAY_LEN(specials); i++)
        if (!strcmp(name, specials[i]))
            return true;
    return false;
}

/* Selectors of video instructions: bytes or halves in any order, ".b3", ".h10", ".b7210". */
static bool is_selector(const struct ptx_token *token)
{
    if (token->length < 3 || token->length > 6 ||
        (token->start[1] != 'b' && token->start[1] != 'h'))
        return false;
    for (size_t i = 2; i < token->length; i++)
        if (token->start[i] < '0' || token->start[i] > '7')
            return false;
    return true;
}

/* The component that a ".x" selects, in its canonical spelling, or NULL. */
static const char *component_of(struct ptx_parser *p, const struct ptx_token *token)
{
    static const char *const components[][2] = {
        {".x", "x"}, {".y", "y"}, {".z", "z"}, {".w", "w"},
        {".r", "x"}, {".g", "y"}, {".b", "z"}, {".a", "w"},
    };
    for (size_t i = 0; i < ARRAY_LEN(components); i++)
        if (ptx_token_is(token, components[i][0]))
            return components[i][1];
    return is_selector(token) ? ptx_intern(p, token->start + 1, token->length - 1) : NULL;
}

/* A name with its ".x", if any. */
static bool named(struct ptx_parser *p, struct ptx_operand *operand)
{
    const char *start = p->token.start, *end = start + p->token.length;
    if (!ptx_name(p, &operand->name, "a name"))
        return false;
    if (p->token.kind != TOKEN_DIRECTIVE)
        return true;
    const char *component = component_of(p, &p->token);
    if (!component)
        return ptx_expected(p, "a component (.x, .y, .z, .w) or ',' or ';'");
    if (is_special_vector(operand->name) && p->token.length == 2) {
        char whole[32];
        size_t length = (size_t)(end - start);
        memcpy(whole, start, length);
        memcpy(whole + length, p->token.start, p->token.length);
        operand->name = ptx_intern(p, whole, length + p->token.length);
    } else {
        operand->component = component;
    }
    ptx_advance(p);
    return true;
}

/* Operands up to `close`, which is taken; the opening bracket was taken before. */
static bool items(struct ptx_parser *p, struct ptx_operand *operand, int close, const char *what)
{
    u32 mark = p->operands.count;
    if (!ptx_enter(p))
        return false;
    if (p->token.kind != close) {
        do {
            struct ptx_operand item;
            if (!ptx_operand(p, &item, false))
                return false;
            *vec_push(&p->operands) = item;
        } while (ptx_accept(p, ','));
    }
    if (!ptx_take(p, close, what))
        return false;
    p->depth--;
    operand->items = PTX_CUT(p, operands, mark, &operand->item_count);
    return true;
}

/* After '['. */
static bool address(struct ptx_parser *p, struct ptx_operand *operand)
{
    operand->kind = PTX_ADDRESS;
    if (p->token.kind == TOKEN_NAME && !ptx_token_is(&p->token, "WARP_SZ")) {
        if (!named(p, operand))
            return false;
        if (!ptx_addend(p, &operand->value))
            return false;
    } else {
        struct ptx_constant constant;
        struct ptx_place place = p->token.place;
        if (!ptx_constant(p, &constant))
            return false;
        if (constant.is_float)
            return ptx_error_at(p, place, "floating-point address, expected an integer or a name");
        operand->value = constant.value;
    }
    if (ptx_accept(p, ','))
        return items(p, operand, ']', "',' or ']' to end the address");
    return ptx_take(p, ']', "'+', ',' or ']' to end the address");
}

static bool number(struct ptx_parser *p, struct ptx_operand *operand)
{
    struct ptx_constant constant;
    if (!ptx_constant(p, &constant))
        return false;
    operand->kind = constant.is_float ? PTX_FLOAT : PTX_INT;
    operand->value = constant.value;
    operand->is_unsigned = constant.is_unsigned;
    operand->is_single = constant.is_single;
    return true;
}

/* name, name.x, name + 4, name[4], _ */
static bool name_operand(struct ptx_parser *p, struct ptx_operand *operand)
{
    if (ptx_token_is(&p->token, "_")) {
        operand->kind = PTX_SINK;
        ptx_advance(p);
        return true;
    }
    operand->kind = PTX_NAME;
    if (!named(p, operand))
        return false;
    if (p->token.kind == '+' || p->token.kind == '-') {
        operand->kind = PTX_SUM;
        return ptx_addend(p, &operand->value);
    }
    if (ptx_accept(p, '[')) {
        operand->kind = PTX_ELEMENT;
        return ptx_integer(p, &operand->value, 0, PTX_ELEMENTS, "an element's index") &&
               ptx_take(p, ']', "']' after an element's index");
    }
    return true;
}

/* '!' or '-' before a register negates it; before anything else it belongs to a number. */
static bool negated(struct ptx_parser *p, struct ptx_operand *operand)
{
    struct ptx_lexer ahead = p->lexer;
    struct ptx_token next;
    ptx_lex(&ahead, &next);
    if (next.kind != TOKEN_NAME || ptx_token_is(&next, "WARP_SZ"))
        return number(p, operand);
    ptx_advance(p);
    operand->kind = PTX_NAME;
    operand->negated = true;
    return named(p, operand);
}

static bool single(struct ptx_parser *p, struct ptx_operand *operand, bool in_call)
{
    switch (p->token.kind) {
    case '{':
        operand->kind = PTX_VECTOR;
        ptx_advance(p);
        return items(p, operand, '}', "',' or '}' to end the vector");
    case '[':
        ptx_advance(p);
        return address(p, operand);
    case '(':
        if (!in_call)
            return number(p, operand);
        operand->kind = PTX_LIST;
        ptx_advance(p);
        return items(p, operand, ')', "',' or ')' to end the list");
    case '!':
    case '-':
        return negated(p, operand);
    case TOKEN_NAME:
        return ptx_token_is(&p->token, "WARP_SZ") ? number(p, operand) : name_operand(p, operand);
    case '+':
    case '~':
    case TOKEN_INTEGER:
    case TOKEN_DOUBLE:
    case TOKEN_SINGLE:
        return number(p, operand);
    case TOKEN_DIRECTIVE:
        if (p->token.start[1] >= '0' && p->token.start[1] <= '9')
            return number(p, operand);
    }
    return ptx_expected(p, "an operand");
}

bool ptx_operand(struct ptx_parser *p, struct ptx_operand *operand, bool in_call)
{
    *operand = (struct ptx_operand){.place = p->token.place};
    if (!single(p, operand, in_call))
        return false;
    if (p->token.kind != '|')
        return true;
    if (operand->kind != PTX_NAME && operand->kind != PTX_SINK && operand->kind != PTX_VECTOR)
        return ptx_expected(p, "',' or ';' (only destinations form pairs)");
    ptx_advance(p);
    struct ptx_operand second = {.place = p->token.place};
    if (p->token.kind != TOKEN_NAME || !name_operand(p, &second))
        return ptx_expected(p, "a register after '|'");
    struct ptx_operand *pair = arena_array(p->arena, struct ptx_operand, 2);
    pair[0] = *operand;
    pair[1] = second;
    *operand = (struct ptx_operand){
        .kind = PTX_PAIR, .place = pair[0].place, .items = pair, .item_count = 2};
    return true;
}
