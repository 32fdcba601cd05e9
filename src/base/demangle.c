/* Demangling: see demangle.h. A recursive descent over the grammar of the ABI, section 5.1. */
#include "base/demangle.h"

#include <stdlib.h>

enum {
    DEPTH_MOST = 32,
    SUBSTITUTIONS_MOST = 64,
    TEXT_MOST = 512 /* bytes of any text; a longer one is given up */
};

struct mangled {
    struct arena *arena;
    const char *at;
    u32 depth, count;
    const char *substitutions[SUBSTITUTIONS_MOST]; /* S_, S0_, S1_, ... */
    const char *arguments[SUBSTITUTIONS_MOST];     /* T_, T0_, ...: of the outermost template */
    u32 argument_count;
};

static const char *read_type(struct mangled *r);

static bool take(struct mangled *r, const char *text)
{
    const size_t length = strlen(text);
    if (strncmp(r->at, text, length) != 0)
        return false;
    r->at += length;
    return true;
}

static const char *bounded(const char *text)
{
    return text && strlen(text) <= TEXT_MOST ? text : NULL;
}

static const char *join(struct mangled *r, const char *a, const char *b, const char *c)
{
    return a && b && c ? bounded(arena_printf(r->arena, "%s%s%s", a, b, c)) : NULL;
}

static const char *remember(struct mangled *r, const char *text)
{
    if (!text || r->count == SUBSTITUTIONS_MOST)
        return NULL;
    r->substitutions[r->count++] = text;
    return text;
}

/* A number of base 36 and '_', as in S1Z_: -1 if only '_' is there, which means the first; then from 0. */
static i64 read_sequence(struct mangled *r)
{
    i64 value = -1;
    for (; (*r->at >= '0' && *r->at <= '9') || (*r->at >= 'A' && *r->at <= 'Z'); r->at++) {
        const int digit = *r->at <= '9' ? *r->at - '0' : *r->at - 'A' + 10;
        value = (value < 0 ? 0 : value) * 36 + digit;
        if (value > SUBSTITUTIONS_MOST)
            return SUBSTITUTIONS_MOST;
    }
    return take(r, "_") ? value : SUBSTITUTIONS_MOST;
}

static const char *nth(const char *const *list, u32 count, i64 sequence)
{
    const i64 index = sequence + 1;
    return index < (i64)count ? list[index] : NULL;
}

/* S_, St, Ss, ... */
static const char *read_substitution(struct mangled *r)
{
    static const char *const words[][2] = {
        {"t", "std"}, {"a", "std::allocator"}, {"b", "std::basic_string"}, {"s", "std::string"}};
    for (u32 i = 0; i < ARRAY_LEN(words); i++)
        if (take(r, words[i][0]))
            return words[i][1];
    return nth(r->substitutions, r->count, read_sequence(r));
}

/* 4fill */
static const char *read_source_name(struct mangled *r)
{
    u32 length = 0;
    for (; *r->at >= '0' && *r->at <= '9' && length <= TEXT_MOST; r->at++)
        length = length * 10 + (u32)(*r->at - '0');
    if (!length || length > TEXT_MOST || strnlen(r->at, length) < length)
        return NULL;
    const char *text = arena_strndup(r->arena, r->at, length);
    r->at += length;
    return strcmp(text, "_GLOBAL__N_1") != 0 ? text : "(anonymous namespace)";
}

/* L i 7 E */
static const char *read_literal(struct mangled *r)
{
    const bool is_bool = *r->at == 'b';
    const char *type = read_type(r);
    if (!type)
        return NULL;
    const bool negative = take(r, "n");
    const size_t length = strspn(r->at, "0123456789");
    if (!length || length > 20 || r->at[length] != 'E')
        return NULL;
    const char *digits = arena_strndup(r->arena, r->at, length);
    r->at += length + 1;
    if (is_bool)
        return strcmp(digits, "0") != 0 ? "true" : "false";
    return join(r, negative ? "-" : "", digits, "");
}

static const char *read_argument(struct mangled *r);

/* J ... E: a pack. */
static const char *read_pack(struct mangled *r, const char *all)
{
    while (all && !take(r, "E")) {
        const char *one = read_argument(r);
        all = *all && one && *one ? join(r, all, ", ", one) : one ? join(r, all, one, "") : NULL;
    }
    return all;
}

static const char *read_argument(struct mangled *r)
{
    const char *text = NULL;
    if (r->depth >= DEPTH_MOST)
        return NULL;
    r->depth++;
    if (take(r, "L"))
        text = read_literal(r);
    else if (take(r, "J"))
        text = read_pack(r, "");
    else if (*r->at != 'X')
        text = read_type(r);
    r->depth--;
    return text;
}

/* I ... E behind a name */
static const char *read_arguments(struct mangled *r, const char *name)
{
    const char *all = "", *list[SUBSTITUTIONS_MOST];
    u32 count = 0;
    while (all && !take(r, "E")) {
        const char *one = count < SUBSTITUTIONS_MOST ? read_argument(r) : NULL;
        if (!one)
            return NULL;
        all = *all && *one ? join(r, all, ", ", one) : join(r, all, one, "");
        list[count++] = one;
    }
    memcpy(r->arguments, list, count * sizeof *list);
    r->argument_count = count;
    const char *head = join(r, name, "<", all ? all : "");
    return all ? join(r, head, ">", "") : NULL;
}

/* N ... E */
static const char *read_nested(struct mangled *r)
{
    const char *name = NULL;
    r->at += strspn(r->at, "rVK");
    while (!take(r, "E")) {
        bool known = false; /* it is a substitution already */
        if (take(r, "S")) {
            known = true;
            name = name ? NULL : read_substitution(r);
        } else if (take(r, "I")) {
            name = name ? read_arguments(r, name) : NULL;
        } else {
            take(r, "L");
            const char *part = read_source_name(r);
            name = name ? join(r, name, "::", part) : part;
        }
        if (!name || (!known && *r->at != 'E' && !remember(r, name)))
            return NULL;
    }
    return name;
}

/* A name without what follows it; *template: it has arguments. */
static const char *read_name(struct mangled *r)
{
    const char *name;
    if (take(r, "N"))
        return read_nested(r);
    if (take(r, "St"))
        name = join(r, "std::", read_source_name(r), "");
    else if (take(r, "S"))
        name = read_substitution(r);
    else {
        take(r, "L"); /* of this file only */
        name = read_source_name(r);
    }
    if (name && *r->at == 'I') {
        if (!remember(r, name))
            return NULL;
        r->at++;
        name = read_arguments(r, name);
    }
    return name;
}

static const char *read_builtin(struct mangled *r)
{
    static const struct {
        const char *code, *name;
    } types[] = {
        {"v", "void"},
        {"b", "bool"},
        {"c", "char"},
        {"a", "signed char"},
        {"h", "unsigned char"},
        {"s", "short"},
        {"t", "unsigned short"},
        {"i", "int"},
        {"j", "unsigned int"},
        {"l", "long"},
        {"m", "unsigned long"},
        {"x", "long long"},
        {"y", "unsigned long long"},
        {"w", "wchar_t"},
        {"f", "float"},
        {"d", "double"},
        {"e", "long double"},
        {"n", "__int128"},
        {"o", "unsigned __int128"},
        {"Dh", "half"},
        {"Dn", "decltype(nullptr)"},
        {"Ds", "char16_t"},
        {"Di", "char32_t"},
    };
    for (u32 i = 0; i < ARRAY_LEN(types); i++)
        if (take(r, types[i].code))
            return types[i].name;
    return NULL;
}

/* What stands behind a type that a letter qualifies. */
static const char *suffix_of(char letter)
{
    switch (letter) {
    case 'P':
        return "*";
    case 'R':
        return "&";
    case 'O':
        return "&&";
    case 'K':
        return " const";
    case 'V':
        return " volatile";
    default:
        return NULL;
    }
}

static const char *read_type(struct mangled *r)
{
    const char *text = NULL, *suffix = suffix_of(*r->at);
    if (r->depth >= DEPTH_MOST)
        return NULL;
    r->depth++;
    if (suffix) {
        r->at++;
        text = remember(r, join(r, read_type(r), suffix, ""));
    } else if (take(r, "T")) {
        text = remember(r, nth(r->arguments, r->argument_count, read_sequence(r)));
    } else if (*r->at == 'S' && r->at[1] != 't') {
        const char *before = r->at;
        text = read_name(r);
        if (text && before[0] == 'S' && r->at[-1] == 'E')
            text = remember(r, text);
    } else if (*r->at == 'N' || *r->at == 'S' || (*r->at >= '0' && *r->at <= '9')) {
        text = remember(r, read_name(r));
    } else {
        text = read_builtin(r);
    }
    r->depth--;
    return text;
}

const char *demangle(struct arena *arena, const char *name)
{
    struct mangled r = {.arena = arena, .at = name};
    if (!name || !take(&r, "_Z"))
        return name;
    const char *text = read_name(&r);
    const char *part = strchr(name, '@');
    return text ? join(&r, text, part ? part : "", "") : name;
}
