/* The parser's tokens, errors and names: see parse.h. */
#include "isa/ptx/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void ptx_advance(struct ptx_parser *p)
{
    p->previous_end = p->token.start + p->token.length;
    p->previous_line = p->token.place.line;
    ptx_lex(&p->lexer, &p->token);
    if (p->token.kind == TOKEN_BAD && !p->mute)
        ptx_bad_token(p);
}

bool ptx_bad_token(struct ptx_parser *p)
{
    char quoted[PTX_QUOTE];
    return ptx_error_at(p, p->token.place, "%s %s, expected %s", p->token.problem,
                        ptx_quote(&p->token, quoted), p->token.expected);
}

/* Adds a line to the message if it fits whole; the last bytes are kept for the closing line. */
static void add_error(struct ptx_parser *p, const char *line, size_t length)
{
    static const char more[] = "\nmore errors follow";
    struct error *error = p->error;
    size_t room = sizeof error->message - sizeof more - p->error_used;
    if (p->error_count <= PTX_ERRORS && length < room) {
        memcpy(error->message + p->error_used, line, length + 1);
        p->error_used += length;
    } else {
        memcpy(error->message + p->error_used, more, sizeof more);
        p->lexer.at = p->lexer.end; /* end of parsing: further errors would not be shown */
        p->error_count = PTX_ERRORS + 1;
    }
}

void ptx_report(struct ptx_parser *p, struct ptx_place place, const char *format, ...)
{
    bool again = p->error_count && p->error_place.line == place.line &&
                 p->error_place.column == place.column;
    if (again || p->error_count > PTX_ERRORS)
        return;
    p->error_place = place;
    p->error_count++;
    char line[600];
    int length = 0;
    if (p->error_count == 1) {
        error_set(p->error, ERROR_INPUT, NULL, "%s", "");
        snprintf(p->error->place, sizeof p->error->place, "%.200s:%u:%u", p->module->file,
                 place.line, place.column);
    } else {
        length = snprintf(line, sizeof line, "\n%.200s:%u:%u: ", p->module->file, place.line,
                          place.column);
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + length, sizeof line - (size_t)length, format, arguments);
    va_end(arguments);
    add_error(p, line, strlen(line));
}

const char *ptx_quote(const struct ptx_token *token, char buffer[PTX_QUOTE])
{
    enum {
        SHOWN = 40,
        LONGEST = PTX_QUOTE - 12
    }; /* room for an escape, "..." and quotes */
    if (token->kind == TOKEN_END)
        return "end of file";
    char *to = buffer;
    size_t i = 0;
    *to++ = '\'';
    for (; i < MIN(token->length, (size_t)SHOWN) && to - buffer < LONGEST; i++) {
        u8 c = (u8)token->start[i];
        if (c >= 32 && c < 127)
            *to++ = (char)c;
        else
            to += snprintf(to, 5, "\\x%02x", c);
    }
    snprintf(to, 5, "%s", i < token->length ? "...'" : "'");
    return buffer;
}

void ptx_report_found(struct ptx_parser *p, const char *what)
{
    char quoted[PTX_QUOTE];
    if (p->token.kind != TOKEN_BAD) /* a bad token has been reported already */
        ptx_report(p, p->token.place, "found %s, expected %s", ptx_quote(&p->token, quoted), what);
}

bool ptx_accept(struct ptx_parser *p, int kind)
{
    if (p->token.kind != kind)
        return false;
    ptx_advance(p);
    return true;
}

bool ptx_take(struct ptx_parser *p, int kind, const char *what)
{
    return ptx_accept(p, kind) || ptx_expected(p, what);
}

bool ptx_semicolon(struct ptx_parser *p, const char *what)
{
    if (ptx_accept(p, ';'))
        return true;
    ptx_report_found(p, what);
    return p->token.kind != TOKEN_BAD && p->token.place.line > p->previous_line;
}

bool ptx_enter(struct ptx_parser *p)
{
    if (p->depth == PTX_NESTING)
        return ptx_error_at(p, p->token.place,
                            "nested too deeply, expected at most %d levels of braces, brackets "
                            "and operators",
                            PTX_NESTING);
    p->depth++;
    return true;
}

static u32 hash_of(const char *text, size_t length)
{
    u32 hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (u8)text[i]) * 16777619u;
    return hash;
}

static void grow_names(struct ptx_parser *p)
{
    u32 capacity = p->name_capacity ? p->name_capacity * 2 : 256;
    struct ptx_name_slot *slots = checked(calloc(capacity, sizeof *slots));
    for (u32 i = 0; i < p->name_capacity; i++) {
        if (!p->names[i].name)
            continue;
        u32 at = p->names[i].hash & (capacity - 1);
        while (slots[at].name)
            at = (at + 1) & (capacity - 1);
        slots[at] = p->names[i];
    }
    free(p->names);
    p->names = slots;
    p->name_capacity = capacity;
}

const char *ptx_intern(struct ptx_parser *p, const char *text, size_t length)
{
    if (p->name_count >= p->name_capacity / 2)
        grow_names(p);
    u32 hash = hash_of(text, length);
    u32 at = hash & (p->name_capacity - 1);
    for (; p->names[at].name; at = (at + 1) & (p->name_capacity - 1))
        if (p->names[at].hash == hash && p->names[at].length == length &&
            !memcmp(p->names[at].name, text, length))
            return p->names[at].name;
    p->names[at] = (struct ptx_name_slot){arena_strndup(p->arena, text, length), hash, (u32)length};
    p->name_count++;
    return p->names[at].name;
}

bool ptx_name(struct ptx_parser *p, const char **name, const char *what)
{
    if (p->token.kind != TOKEN_NAME)
        return ptx_expected(p, what);
    *name = ptx_intern(p, p->token.start, p->token.length);
    ptx_advance(p);
    return true;
}

bool ptx_string(struct ptx_parser *p, const char **text, const char *what)
{
    if (p->token.kind != TOKEN_STRING)
        return ptx_expected(p, what);
    size_t length = p->token.length - 2, used = 0;
    char *copy = arena_strndup(p->arena, p->token.start + 1, length);
    for (size_t i = 0; i < length; i++) {
        if (copy[i] == '\\' && i + 1 < length && (copy[i + 1] == '\\' || copy[i + 1] == '"'))
            i++;
        copy[used++] = copy[i];
    }
    copy[used] = '\0';
    *text = copy;
    ptx_advance(p);
    return true;
}

void *ptx_cut(struct arena *arena, const void *data, size_t size, u32 *count, u32 mark, u32 *taken)
{
    u32 length = *count - mark;
    *count = mark;
    if (taken)
        *taken = length;
    if (!length)
        return NULL;
    void *copy = arena_alloc(arena, size * length);
    memcpy(copy, (const char *)data + size * mark, size * length);
    return copy;
}
