/* Variables, registers, parameters and initialisers: see parse.h and ast.h. */
#include "ir/texture.h"
#include "isa/ptx/parse.h"

static bool take_word(struct ptx_parser *p, const char **word)
{
    *word = ptx_intern(p, p->token.start + 1, p->token.length - 1);
    ptx_advance(p);
    return true;
}

/* After ".align". */
static bool alignment(struct ptx_parser *p, u32 *align)
{
    enum {
        LARGEST = 1 << 16
    };
    struct ptx_place place = p->token.place;
    u64 value;
    if (!ptx_integer(p, &value, 1, LARGEST, "an alignment, a power of two from 1 to 65536"))
        return false;
    if (!is_pow2(value))
        return ptx_error_at(p, place, "alignment %u, expected a power of two", (unsigned)value);
    *align = (u32)value;
    return true;
}

/* One attribute: ".managed" or ".unified(1, 2)". */
static bool attribute(struct ptx_parser *p)
{
    if (p->token.kind != TOKEN_DIRECTIVE)
        return ptx_expected(p, "an attribute such as .managed or .unified(a, b)");
    ptx_advance(p);
    if (!ptx_accept(p, '('))
        return true;
    do {
        struct ptx_constant ignored;
        if (!ptx_constant(p, &ignored))
            return false;
    } while (ptx_accept(p, ','));
    return ptx_take(p, ')', "',' or ')' in an attribute");
}

bool ptx_attributes(struct ptx_parser *p)
{
    ptx_advance(p);
    if (!ptx_take(p, '(', "'(' after .attribute"))
        return false;
    do {
        if (!attribute(p))
            return false;
    } while (ptx_accept(p, ','));
    return ptx_take(p, ')', "',' or ')' to end the attributes");
}

/* After ".ptr": the space and the alignment of the memory pointed to, which are ignored. */
static bool pointee(struct ptx_parser *p)
{
    u32 ignored;
    if (ptx_word_class(&p->token) == WORD_SPACE)
        ptx_advance(p);
    if (!ptx_token_is(&p->token, ".align"))
        return true;
    ptx_advance(p);
    return alignment(p, &ignored);
}

static bool qualifier(struct ptx_parser *p, struct ptx_declaration *declaration)
{
    if (ptx_token_is(&p->token, ".attribute"))
        return ptx_attributes(p);
    bool is_pointer = ptx_token_is(&p->token, ".ptr");
    ptx_advance(p);
    if (!is_pointer)
        return alignment(p, &declaration->align);
    declaration->is_pointer = true;
    return pointee(p);
}

/* Everything before the name: ".align 4 .global .v2 .f32" in any order. */
static bool head(struct ptx_parser *p, struct ptx_declaration *declaration)
{
    unsigned wanted = 1 << WORD_SPACE | 1 << WORD_TYPE | 1 << WORD_VECTOR | 1 << WORD_QUALIFIER;
    declaration->vector = 1;
    while (p->token.kind == TOKEN_DIRECTIVE) {
        switch (ptx_word_class(&p->token)) {
        case WORD_SPACE:
            if (declaration->space)
                return ptx_expected(p, "a type or a name (the state space is said already)");
            take_word(p, &declaration->space);
            break;
        case WORD_TYPE:
            if (declaration->type)
                return ptx_expected(p, "a name (the type is said already)");
            take_word(p, &declaration->type);
            break;
        case WORD_VECTOR:
            declaration->vector = (u32)(p->token.start[2] - '0');
            ptx_advance(p);
            break;
        case WORD_QUALIFIER:
            if (!qualifier(p, declaration))
                return false;
            break;
        default:
            return ptx_wrong_directive(p, wanted, "a type, .align or a name in the declaration");
        }
    }
    if (!declaration->space)
        return ptx_expected(p, "a state space such as .global or .reg");
    return declaration->type || ptx_expected(p, "a type such as .b32 before the name");
}

/* "[4][]", after the name. */
static bool dimensions(struct ptx_parser *p, struct ptx_declaration *declaration)
{
    u32 mark = p->numbers.count;
    u64 total = 1;
    while (p->token.kind == '[') {
        struct ptx_place place = p->token.place;
        u64 length = 0;
        ptx_advance(p);
        if (p->token.kind != ']' &&
            !ptx_integer(p, &length, 0, PTX_ELEMENTS, "an array length up to 2^40"))
            return false;
        if (!ptx_take(p, ']', "']' after an array length"))
            return false;
        if (__builtin_mul_overflow(total, MAX(length, 1), &total) || total > PTX_ELEMENTS)
            return ptx_error_at(p, place, "array of more than 2^40 elements, expected fewer");
        declaration->is_array = true;
        *vec_push(&p->numbers) = length;
    }
    declaration->dims = PTX_CUT(p, numbers, mark, &declaration->dim_count);
    return true;
}

static bool initializer(struct ptx_parser *p, struct ptx_initializer *out);

/* "name", "name + 4", "generic(name) + 4". */
static bool address_initializer(struct ptx_parser *p, struct ptx_initializer *out)
{
    out->kind = PTX_INIT_NAME;
    if (!ptx_name(p, &out->name, "a name"))
        return false;
    if (p->token.kind == '(' && !strcmp(out->name, "generic")) {
        out->is_generic = true;
        ptx_advance(p);
        if (!ptx_name(p, &out->name, "a variable or function in generic()"))
            return false;
        u64 inner;
        if (!ptx_addend(p, &inner) || !ptx_take(p, ')', "')' after generic(name"))
            return false;
        if (!ptx_addend(p, &out->value))
            return false;
        out->value += inner;
        return true;
    }
    return ptx_addend(p, &out->value);
}

static bool number_initializer(struct ptx_parser *p, struct ptx_initializer *out)
{
    struct ptx_constant constant;
    if (!ptx_constant(p, &constant))
        return false;
    if (p->token.kind == '(' && !constant.is_float) { /* 0xff00(name): one byte of an address */
        out->mask = constant.value;
        if (!out->mask)
            return ptx_error_at(p, out->place, "mask 0, expected the byte of the address to take");
        ptx_advance(p);
        return address_initializer(p, out) && ptx_take(p, ')', "')' after a masked address");
    }
    out->kind = constant.is_float ? PTX_INIT_FLOAT : PTX_INIT_INT;
    out->value = constant.value;
    out->is_single = constant.is_single;
    return true;
}

static bool list_initializer(struct ptx_parser *p, struct ptx_initializer *out)
{
    u32 mark = p->initializers.count;
    out->kind = PTX_INIT_LIST;
    if (!ptx_enter(p))
        return false;
    ptx_advance(p);
    if (p->token.kind != '}') {
        do {
            struct ptx_initializer item;
            if (!initializer(p, &item))
                return false;
            *vec_push(&p->initializers) = item;
        } while (ptx_accept(p, ','));
    }
    if (!ptx_take(p, '}', "',' or '}' to end the initialiser"))
        return false;
    p->depth--;
    out->items = PTX_CUT(p, initializers, mark, &out->item_count);
    return true;
}

static bool initializer(struct ptx_parser *p, struct ptx_initializer *out)
{
    *out = (struct ptx_initializer){.place = p->token.place};
    if (p->token.kind == '{')
        return list_initializer(p, out);
    if (p->token.kind == TOKEN_NAME && !ptx_token_is(&p->token, "WARP_SZ"))
        return address_initializer(p, out);
    return number_initializer(p, out);
}

/* A field of a sampler, as bits of its word. Values that are not known change nothing. */
static u32 sampler_field(u32 word, const char *field, const char *name, u64 value)
{
    static const struct {
        const char *name;
        enum sampler_address mode;
    } modes[] = {{"wrap", ADDRESS_WRAP},
                 {"mirror", ADDRESS_MIRROR},
                 {"clamp_ogl", ADDRESS_CLAMP},
                 {"clamp_to_edge", ADDRESS_CLAMP},
                 {"clamp_to_border", ADDRESS_BORDER}};
    if (!strcmp(field, "filter_mode"))
        return name && !strcmp(name, "linear") ? word | SAMPLER_LINEAR : word;
    if (!strcmp(field, "force_unnormalized_coords"))
        return value ? word & ~(u32)SAMPLER_NORMALIZED : word;
    if (strncmp(field, "addr_mode_", 10) || field[10] < '0' || field[10] > '2' || !name)
        return word;
    for (size_t i = 0; i < ARRAY_LEN(modes); i++)
        if (!strcmp(name, modes[i].name))
            word |= modes[i].mode * SAMPLER_ADDRESS << 3 * (field[10] - '0');
    return word;
}

/* "{ filter_mode = linear, ... }" of a texture, sampler or surface. Only a sampler's are kept: the
 * host describes the others. */
static bool opaque_initializer(struct ptx_parser *p, struct ptx_declaration *declaration)
{
    u32 word = SAMPLER_NORMALIZED;
    if (!ptx_take(p, '{', "'{' of a texture's or sampler's fields"))
        return false;
    while (p->token.kind == TOKEN_NAME) {
        const char *field, *name = NULL;
        struct ptx_constant value = {0};
        if (!ptx_name(p, &field, "a field") || !ptx_take(p, '=', "'=' after a field's name"))
            return false;
        bool read =
            p->token.kind == TOKEN_NAME ? ptx_name(p, &name, "a value") : ptx_constant(p, &value);
        if (!read)
            return false;
        word = sampler_field(word, field, name, value.value);
        if (!ptx_accept(p, ','))
            break;
    }
    declaration->init = arena_new(p->arena, struct ptx_initializer);
    *declaration->init = (struct ptx_initializer){.kind = PTX_INIT_INT, .value = word};
    return ptx_take(p, '}', "',' or '}' to end the fields");
}

static bool initialized(struct ptx_parser *p, struct ptx_declaration *declaration)
{
    if (!ptx_accept(p, '='))
        return true;
    size_t length = strlen(declaration->type);
    if (length > 3 && !strcmp(declaration->type + length - 3, "ref") && p->token.kind == '{')
        return opaque_initializer(p, declaration);
    declaration->init = arena_new(p->arena, struct ptx_initializer);
    return initializer(p, declaration->init);
}

bool ptx_group(struct ptx_parser *p, u32 *count)
{
    /* Not an expression: '>' ends it. */
    u64 value;
    bool is_unsigned;
    ptx_advance(p);
    if (p->token.kind != TOKEN_INTEGER)
        return ptx_expected(p, "the number of names in the group");
    if (!ptx_token_integer(&p->token, &value, &is_unsigned) || value > PTX_GROUP) {
        char quoted[PTX_QUOTE];
        return ptx_error_at(p, p->token.place, "group of %s is too large, expected at most %d",
                            ptx_quote(&p->token, quoted), PTX_GROUP);
    }
    ptx_advance(p);
    *count = (u32)value;
    return ptx_take(p, '>', "'>' after the number of names in the group");
}

bool ptx_expand(struct ptx_parser *p, struct ptx_place place, u32 count)
{
    p->expanded += count; /* cannot overflow: both are below 2^21 */
    return p->expanded <= PTX_EXPANDED ||
           ptx_error_at(p, place,
                        "groups of more than %d names, expected fewer (registers do not count)",
                        PTX_EXPANDED);
}

const char *ptx_group_name(struct ptx_parser *p, const char *prefix, u32 index)
{
    const char *name = arena_printf(p->arena, "%s%u", prefix, index);
    return ptx_intern(p, name, strlen(name));
}

/* "name<8>": registers stay one group, as there may be many; other names are declared one by
 * one. */
static bool group(struct ptx_parser *p, struct ptx_declaration *one)
{
    u32 count;
    if (!ptx_group(p, &count))
        return false;
    if (p->token.kind == '[' || p->token.kind == '=')
        return ptx_expected(p, "',' or ';' (a group has no array length or initialiser)");
    if (!strcmp(one->space, "reg")) {
        one->count = count;
        if (count) /* "%r<0>" declares nothing */
            *vec_push(&p->declarations) = *one;
        return true;
    }
    if (!ptx_expand(p, one->place, count))
        return false;
    for (u32 i = 0; i < count; i++) {
        struct ptx_declaration member = *one;
        member.name = ptx_group_name(p, one->name, i);
        *vec_push(&p->declarations) = member;
    }
    return true;
}

/* One name of a declaration and what follows it. */
static bool declarator(struct ptx_parser *p, const struct ptx_declaration *common)
{
    struct ptx_declaration one = *common;
    one.place = p->token.place;
    if (!ptx_name(p, &one.name, "the name of what is declared"))
        return false;
    if (p->token.kind == '<')
        return group(p, &one);
    if (!dimensions(p, &one) || !initialized(p, &one))
        return false;
    *vec_push(&p->declarations) = one;
    return true;
}

bool ptx_declaration(struct ptx_parser *p, struct ptx_linkage linkage)
{
    struct ptx_declaration common = {.is_extern = linkage.is_extern,
                                     .is_visible = linkage.is_visible,
                                     .is_weak = linkage.is_weak,
                                     .is_common = linkage.is_common,
                                     .part = ptx_part(p)};
    if (!head(p, &common))
        return false;
    do {
        if (!declarator(p, &common))
            return false;
    } while (ptx_accept(p, ','));
    return ptx_semicolon(p, "',', '=', '[' or ';' in the declaration");
}

bool ptx_parameters(struct ptx_parser *p)
{
    if (!ptx_take(p, '(', "'(' of a parameter list"))
        return false;
    if (p->token.kind != ')') {
        do {
            struct ptx_declaration one = {0};
            if (!head(p, &one))
                return false;
            one.place = p->token.place;
            if (strcmp(one.space, "param") != 0 && strcmp(one.space, "reg") != 0)
                return ptx_error_at(p, one.place, "parameter in .%s, expected .param or .reg",
                                    one.space);
            if (!ptx_name(p, &one.name, "the parameter's name") || !dimensions(p, &one))
                return false;
            *vec_push(&p->declarations) = one;
        } while (ptx_accept(p, ','));
    }
    return ptx_take(p, ')', "',' or ')' to end the parameters");
}
