/* The module level of the PTX parser, and its entry: see ptx.h, parse.h and ast.h. */
#include "isa/ptx/parse.h"

#include "base/text.h"
#include "isa/ptx/ptx.h"

#include <stdlib.h>

enum {
    OLDEST_VERSION = 2,
    NEWEST_VERSION = 9,
    LONGEST_TEXT = 1 << 28, /* bytes; a tree is some ten times its text */
};

/* A decimal number from `c`, moving it; at most `most`. */
static u32 decimal(const char **c, const char *end, u32 most)
{
    u32 value = 0;
    for (; *c < end && **c >= '0' && **c <= '9'; ++*c)
        value = MIN(value * 10 + (u32)(**c - '0'), most);
    return value;
}

static int by_index(const void *a, const void *b)
{
    u32 left = ((const struct ptx_file *)a)->index, right = ((const struct ptx_file *)b)->index;
    return (left > right) - (left < right);
}

/* .file may follow the code that refers to it, so file names are filled in at the part's end. */
static void resolve_files(const struct ptx_parser *p, struct ptx_statement *statements, u32 count,
                          const struct ptx_file **last)
{
    for (u32 i = 0; i < count; i++) {
        struct ptx_instruction *inst = &statements[i].instruction;
        if (statements[i].kind == PTX_SCOPE)
            resolve_files(p, statements[i].items, statements[i].item_count, last);
        if (statements[i].kind != PTX_STATEMENT || !inst->source_index)
            continue;
        if (!*last || (*last)->index != inst->source_index) {
            struct ptx_file key = {.index = inst->source_index};
            *last = bsearch(&key, p->files.data, p->files.count, sizeof key, by_index);
        }
        inst->source_file = *last ? (*last)->name : NULL;
    }
}

/* Every part has numbers of files of its own. */
static void end_part(struct ptx_parser *p)
{
    const struct ptx_file *last = NULL;
    if (p->files.count)
        qsort(p->files.data, p->files.count, sizeof p->files.data[0], by_index);
    for (u32 i = p->part_functions; p->files.count && i < p->functions.count; i++)
        resolve_files(p, p->functions.data[i].body, p->functions.data[i].body_count, &last);
    p->files.count = 0;
    p->part_functions = p->functions.count;
}

static bool version(struct ptx_parser *p)
{
    static const char expected[] = "a PTX version from 2.0 to 9.9, such as 7.0";
    ptx_advance(p);
    if (p->token.kind != TOKEN_DOUBLE)
        return ptx_expected(p, expected);
    const char *c = p->token.start, *end = c + p->token.length;
    u32 major = decimal(&c, end, 1000), minor = 0;
    if (c < end && *c == '.') {
        c++;
        minor = decimal(&c, end, 1000);
    }
    if (c != end || major < OLDEST_VERSION || major > NEWEST_VERSION)
        return ptx_expected(p, expected);
    end_part(p);
    p->module->part_count++;
    p->module->version_major = major;
    p->module->version_minor = minor;
    ptx_advance(p);
    return true;
}

static bool target(struct ptx_parser *p)
{
    struct ptx_place place = p->token.place;
    ptx_advance(p);
    do {
        const char *name;
        if (!ptx_name(p, &name, "an architecture such as sm_75"))
            return false;
        if (!strncmp(name, "sm_", 3) && !p->module->target)
            p->module->target = name;
    } while (ptx_accept(p, ','));
    return p->module->target ||
           ptx_error_at(p, place, ".target without architecture, expected one such as sm_75");
}

static bool address_size(struct ptx_parser *p)
{
    static const char expected[] = "an address size of 32 or 64";
    ptx_advance(p);
    struct ptx_place place = p->token.place;
    u64 bits;
    if (!ptx_integer(p, &bits, 32, 64, expected))
        return false;
    if (bits != 32 && bits != 64)
        return ptx_error_at(p, place, "address size %u, expected 32 or 64", (unsigned)bits);
    if (ptx_part(p) && p->module->address_size && p->module->address_size != bits)
        return ptx_error_at(p, place, "address size %u, expected %u as in the module before",
                            (unsigned)bits, p->module->address_size);
    p->module->address_size = (u32)bits;
    return true;
}

/* .section .debug_info { ... }: debug data, skipped. Old compilers write lines of it after "@@". */
static bool section(struct ptx_parser *p)
{
    struct ptx_place place = p->token.place;
    ptx_advance(p);
    if (p->token.kind != TOKEN_DIRECTIVE && p->token.kind != TOKEN_NAME)
        return ptx_expected(p, "the section's name");
    p->mute = true;
    ptx_advance(p);
    if (p->token.kind == '{') {
        u32 braces = 0;
        do {
            braces += p->token.kind == '{';
            braces -= p->token.kind == '}';
            ptx_advance(p);
        } while (braces && p->token.kind != TOKEN_END);
        if (braces) {
            p->mute = false;
            return ptx_error_at(p, place,
                                "unterminated section, expected '}' before the file ends");
        }
    }
    p->mute = false;
    return p->token.kind != TOKEN_BAD || ptx_bad_token(p);
}

static bool alias(struct ptx_parser *p)
{
    struct ptx_alias one = {.part = ptx_part(p)};
    ptx_advance(p);
    one.place = p->token.place;
    if (!ptx_name(p, &one.name, "the alias's name") ||
        !ptx_take(p, ',', "',' between the alias and its function") ||
        !ptx_name(p, &one.target, "a function's name"))
        return false;
    *vec_push(&p->aliases) = one;
    return ptx_semicolon(p, "';' after .alias");
}

static bool module_directive(struct ptx_parser *p)
{
    if (ptx_token_is(&p->token, ".version"))
        return version(p);
    if (ptx_token_is(&p->token, ".target"))
        return target(p);
    if (ptx_token_is(&p->token, ".address_size"))
        return address_size(p);
    if (ptx_token_is(&p->token, ".file"))
        return ptx_file(p);
    if (ptx_token_is(&p->token, ".section"))
        return section(p);
    return alias(p);
}

static void linkage(struct ptx_parser *p, struct ptx_linkage *out)
{
    while (ptx_word_class(&p->token) == WORD_LINKAGE) {
        out->is_extern |= ptx_token_is(&p->token, ".extern");
        out->is_visible |= ptx_token_is(&p->token, ".visible");
        out->is_weak |= ptx_token_is(&p->token, ".weak");
        out->is_common |= ptx_token_is(&p->token, ".common");
        ptx_advance(p);
    }
}

static bool variables(struct ptx_parser *p, struct ptx_linkage link)
{
    u32 mark = p->declarations.count;
    if (!ptx_declaration(p, link))
        return false;
    for (u32 i = mark; i < p->declarations.count; i++)
        *vec_push(&p->variables) = p->declarations.data[i];
    p->declarations.count = mark;
    return true;
}

/* "name: .callprototype ..." outside functions. */
static bool module_prototype(struct ptx_parser *p)
{
    struct ptx_statement one = {.place = p->token.place, .part = ptx_part(p)};
    if (!ptx_name(p, &one.label, "a label"))
        return false;
    if (p->token.kind != ':')
        return ptx_error_at(p, one.place,
                            "found '%.40s' outside a function, expected a directive such as .entry "
                            "or .global",
                            one.label);
    ptx_advance(p);
    if (!ptx_at_labelled(p))
        return ptx_expected(p, ".callprototype, .calltargets or .branchtargets after the label");
    if (!ptx_labelled(p, &one))
        return false;
    *vec_push(&p->prototypes) = one;
    return true;
}

static bool item(struct ptx_parser *p)
{
    static const char expected[] = "a directive such as .entry, .func or .global";
    struct ptx_linkage link = {0};
    const char *ignored;
    linkage(p, &link);
    switch (ptx_word_class(&p->token)) {
    case WORD_MODULE:
        return module_directive(p);
    case WORD_FUNCTION:
        return ptx_function(p, link);
    case WORD_SPACE:
    case WORD_QUALIFIER:
        return variables(p, link);
    case WORD_STATEMENT:
        if (ptx_token_is(&p->token, ".loc"))
            return ptx_location(p);
        if (ptx_token_is(&p->token, ".pragma"))
            return ptx_pragma(p, &ignored);
        return ptx_expected(p, "a label and ':' before it");
    default:
        if (p->token.kind == TOKEN_DIRECTIVE)
            return ptx_wrong_directive(p,
                                       1 << WORD_MODULE | 1 << WORD_FUNCTION | 1 << WORD_SPACE |
                                           1 << WORD_LINKAGE | 1 << WORD_QUALIFIER,
                                       expected);
        if (p->token.kind == TOKEN_NAME)
            return module_prototype(p);
        return ptx_expected(p, expected);
    }
}

/* Whether parsing can resume at this directive after an error. */
static bool starts_an_item(const struct ptx_parser *p)
{
    enum ptx_word_class class = ptx_word_class(&p->token);
    return class == WORD_MODULE || class == WORD_FUNCTION || class == WORD_LINKAGE;
}

/* After an error at or after the current token: skips to the next item at module level. */
static void skip_item(struct ptx_parser *p, const char *start)
{
    if (p->token.start == start)
        ptx_advance(p); /* or the same error would be found again */
    for (u32 braces = 0; p->token.kind != TOKEN_END; ptx_advance(p)) {
        if (p->token.kind == '{') {
            braces++;
        } else if (p->token.kind == '}') {
            if (braces <= 1) {
                ptx_advance(p);
                ptx_accept(p, ';');
                return;
            }
            braces--;
        } else if (!braces && p->token.kind == ';') {
            ptx_advance(p);
            return;
        } else if (!braces && starts_an_item(p)) {
            return;
        }
    }
}

/* .version, then .target: without them nothing says which language this is. */
static void check_beginning(struct ptx_parser *p)
{
    if (!ptx_token_is(&p->token, ".version"))
        ptx_report_found(p, ".version as the first directive");
}

static void items(struct ptx_parser *p)
{
    check_beginning(p);
    while (p->token.kind != TOKEN_END) {
        const char *start = p->token.start;
        if (ptx_accept(p, ';'))
            continue;
        if (!item(p)) {
            p->depth = 0;
            p->statements.count = p->operands.count = p->initializers.count = 0;
            p->declarations.count = p->words.count = p->numbers.count = 0;
            skip_item(p, start);
        }
    }
    if (!p->module->target && !p->error_count)
        ptx_report(p, p->token.place, "no .target directive, expected one such as .target sm_75");
}

static void finish(struct ptx_parser *p)
{
    struct ptx_module *module = p->module;
    end_part(p);
    module->variables = PTX_CUT(p, variables, 0, &module->variable_count);
    module->functions = PTX_CUT(p, functions, 0, &module->function_count);
    module->prototypes = PTX_CUT(p, prototypes, 0, &module->prototype_count);
    module->aliases = PTX_CUT(p, aliases, 0, &module->alias_count);
}

static void release(struct ptx_parser *p)
{
    vec_free(&p->statements);
    vec_free(&p->operands);
    vec_free(&p->initializers);
    vec_free(&p->declarations);
    vec_free(&p->variables);
    vec_free(&p->functions);
    vec_free(&p->aliases);
    vec_free(&p->prototypes);
    vec_free(&p->files);
    vec_free(&p->words);
    vec_free(&p->numbers);
    free(p->names);
}

struct ptx_module *ptx_parse(struct arena *arena, const char *text, size_t length, const char *file,
                             struct error *error)
{
    if (length > LONGEST_TEXT) {
        error_set(error, ERROR_INPUT, file, "text of %zu bytes, expected at most %d", length,
                  LONGEST_TEXT);
        return NULL;
    }
    struct ptx_parser parser = {.arena = arena, .error = error};
    struct ptx_parser *p = &parser;
    p->module = arena_new(arena, struct ptx_module);
    p->module->file = text_printable(arena, file);
    ptx_lex_start(&p->lexer, text, length);
    p->token.start = text;
    ptx_advance(p);
    items(p);
    finish(p);
    release(p);
    return p->error_count ? NULL : p->module;
}
