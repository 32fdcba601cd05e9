/* Function bodies: labels, instructions, scopes and the directives among them. See parse.h. */
#include "isa/ptx/parse.h"

#include "base/text.h"

/* State that must be restored after an error. */
struct marks {
    u32 statements, operands, initializers, declarations, words, numbers, depth;
};

static struct marks mark_all(const struct ptx_parser *p)
{
    return (struct marks){p->statements.count,
                          p->operands.count,
                          p->initializers.count,
                          p->declarations.count,
                          p->words.count,
                          p->numbers.count,
                          p->depth};
}

static void cut_all(struct ptx_parser *p, const struct marks *marks)
{
    p->statements.count = marks->statements;
    p->operands.count = marks->operands;
    p->initializers.count = marks->initializers;
    p->declarations.count = marks->declarations;
    p->words.count = marks->words;
    p->numbers.count = marks->numbers;
    p->depth = marks->depth;
}

/* Whether the current '}' closes a vector or an initialiser, judging by the next token. */
static bool closes_a_list(const struct ptx_parser *p)
{
    struct ptx_lexer ahead = p->lexer;
    struct ptx_token next;
    ptx_lex(&ahead, &next);
    return next.kind == ',' || next.kind == ';' || next.kind == '|' || next.kind == ']';
}

/* After an error: past the ';' that ends the statement, or to the '}' that ends the scope. */
static void skip_statement(struct ptx_parser *p)
{
    for (u32 braces = 0; p->token.kind != TOKEN_END; ptx_advance(p)) {
        if (p->token.kind == '{') {
            braces++;
        } else if (p->token.kind == '}') {
            if (braces)
                braces--;
            else if (!closes_a_list(p))
                return;
        } else if (p->token.kind == ';' && !braces) {
            ptx_advance(p);
            return;
        }
    }
}

static bool guard(struct ptx_parser *p, struct ptx_instruction *instruction)
{
    if (!ptx_accept(p, '@'))
        return true;
    instruction->guard_negated = ptx_accept(p, '!');
    return ptx_name(p, &instruction->guard, "a predicate register after '@'");
}

static bool modifiers(struct ptx_parser *p, struct ptx_instruction *instruction)
{
    u32 mark = p->words.count;
    while (p->token.kind == TOKEN_DIRECTIVE) {
        *vec_push(&p->words) = ptx_intern(p, p->token.start + 1, p->token.length - 1);
        ptx_advance(p);
    }
    instruction->modifiers = PTX_CUT(p, words, mark, &instruction->modifier_count);
    return p->token.kind != TOKEN_BAD;
}

/* With debug information, clang 14 may put a label inside a call that only that information
 * uses. */
static void skip_debug_label(struct ptx_parser *p)
{
    if (p->token.kind != TOKEN_NAME || p->token.place.line == p->previous_line)
        return;
    struct ptx_lexer ahead = p->lexer;
    struct ptx_token next;
    ptx_lex(&ahead, &next);
    if (next.kind != ':')
        return;
    ptx_advance(p);
    ptx_advance(p);
}

static bool operands(struct ptx_parser *p, struct ptx_instruction *instruction)
{
    u32 mark = p->operands.count;
    bool in_call = !strcmp(instruction->opcode, "call");
    if (p->token.kind == ';')
        return true;
    if (p->token.kind == TOKEN_END || (p->token.kind < 128 && strchr(":,}])", p->token.kind)))
        return ptx_expected(p, "an operand or ';' after the opcode");
    do {
        struct ptx_operand operand;
        if (in_call)
            skip_debug_label(p);
        if (!ptx_operand(p, &operand, in_call))
            return false;
        *vec_push(&p->operands) = operand;
    } while (ptx_accept(p, ','));
    instruction->operands = PTX_CUT(p, operands, mark, &instruction->operand_count);
    return true;
}

/* The rest of an instruction whose guard (from `start`) and opcode were read. */
static bool instruction(struct ptx_parser *p, const char *start, struct ptx_instruction *out)
{
    if (!modifiers(p, out) || !operands(p, out))
        return false;
    size_t length = (size_t)(p->previous_end - start);
    char *text = arena_alloc_aligned(p->arena, length + 1, 1);
    ptx_fold_space(text, start, length);
    out->text = text;
    out->source_index = p->source_index;
    out->source_line = p->source_line;
    return ptx_semicolon(p, out->operand_count ? "',' or ';' after the operand"
                                               : "an operand or ';' after the opcode");
}

/* A name: a label when ':' follows, an opcode otherwise. */
static bool label_or_instruction(struct ptx_parser *p, struct ptx_statement *statement)
{
    struct ptx_instruction *out = &statement->instruction;
    const char *start = p->token.start, *name;
    bool guarded = p->token.kind == '@';
    out->place = statement->place;
    if (!guard(p, out) || !ptx_name(p, &name, "an opcode"))
        return false;
    if (guarded || !ptx_accept(p, ':')) {
        statement->kind = PTX_STATEMENT;
        out->opcode = name;
        return instruction(p, start, out);
    }
    statement->label = name;
    if (ptx_at_labelled(p))
        return ptx_labelled(p, statement);
    statement->kind = PTX_LABEL;
    return true;
}

bool ptx_pragma(struct ptx_parser *p, const char **text)
{
    ptx_advance(p);
    if (!ptx_string(p, text, "a string after .pragma"))
        return false;
    while (ptx_accept(p, ',')) {
        const char *next;
        if (!ptx_string(p, &next, "a string after ','"))
            return false;
        *text = arena_printf(p->arena, "%s, %s", *text, next);
    }
    return ptx_semicolon(p, "',' or ';' after .pragma");
}

/* ", function_name label [+ offset], inlined_at file line column" after a .loc. */
static bool inlined_at(struct ptx_parser *p)
{
    const char *ignored;
    u64 number;
    while (ptx_accept(p, ',')) {
        if (ptx_token_is(&p->token, "function_name")) {
            ptx_advance(p);
            if (!ptx_name(p, &ignored, "a label after function_name") || !ptx_addend(p, &number))
                return false;
        } else if (ptx_token_is(&p->token, "inlined_at")) {
            ptx_advance(p);
            for (int i = 0; i < 3; i++)
                if (!ptx_integer(p, &number, 0, UINT32_MAX, "file, line and column as numbers"))
                    return false;
        } else {
            return ptx_expected(p, "function_name or inlined_at");
        }
    }
    return true;
}

bool ptx_location(struct ptx_parser *p)
{
    ptx_advance(p);
    u64 index, line, column;
    if (!ptx_integer(p, &index, 0, UINT32_MAX, "the file's number after .loc") ||
        !ptx_integer(p, &line, 0, UINT32_MAX, "a line number"))
        return false;
    if (p->token.kind == TOKEN_INTEGER &&
        !ptx_integer(p, &column, 0, UINT32_MAX, "a column number"))
        return false;
    p->source_index = (u32)index;
    p->source_line = (u32)line;
    return inlined_at(p);
}

bool ptx_file(struct ptx_parser *p)
{
    ptx_advance(p);
    u64 index, ignored;
    const char *name;
    if (!ptx_integer(p, &index, 0, UINT32_MAX, "the file's number after .file") ||
        !ptx_string(p, &name, "the file's name in quotes"))
        return false;
    if (p->token.kind == TOKEN_STRING) { /* clang: directory, then name */
        const char *directory = name;
        if (!ptx_string(p, &name, "the file's name in quotes"))
            return false;
        if (name[0] != '/' && strcmp(directory, ".") != 0)
            name = arena_printf(p->arena, "%s/%s", directory, name);
    }
    while (ptx_accept(p, ',')) /* time stamp and size */
        if (!ptx_integer(p, &ignored, 0, UINT64_MAX, "a number"))
            return false;
    *vec_push(&p->files) = (struct ptx_file){(u32)index, text_printable(p->arena, name)};
    return true;
}

/* A declaration may declare several names: one statement each. */
static bool declarations(struct ptx_parser *p, struct ptx_linkage linkage)
{
    u32 mark = p->declarations.count;
    if (!ptx_declaration(p, linkage))
        return false;
    for (u32 i = mark; i < p->declarations.count; i++) {
        struct ptx_statement *statement = vec_push(&p->statements);
        statement->kind = PTX_DECLARATION;
        statement->place = p->declarations.data[i].place;
        statement->declaration = p->declarations.data[i];
    }
    p->declarations.count = mark;
    return true;
}

static bool directive(struct ptx_parser *p, struct ptx_statement *statement, bool *keep)
{
    static const char expected[] = "an instruction, a label or a declaration";
    unsigned wanted = 1 << WORD_SPACE | 1 << WORD_STATEMENT | 1 << WORD_QUALIFIER;
    *keep = false;
    switch (ptx_word_class(&p->token)) {
    case WORD_SPACE:
        return declarations(p, (struct ptx_linkage){0});
    case WORD_QUALIFIER: /* ".align 4 .shared ..." */
        if (ptx_token_is(&p->token, ".ptr"))
            return ptx_expected(p, expected);
        return declarations(p, (struct ptx_linkage){0});
    case WORD_LINKAGE:
        if (!ptx_token_is(&p->token, ".extern"))
            return ptx_expected(p, expected);
        ptx_advance(p);
        return declarations(p, (struct ptx_linkage){.is_extern = true});
    case WORD_STATEMENT:
        if (ptx_token_is(&p->token, ".loc"))
            return ptx_location(p);
        if (ptx_at_labelled(p))
            return ptx_expected(p, "a label and ':' before it");
        *keep = true;
        statement->kind = PTX_PRAGMA;
        return ptx_pragma(p, &statement->label);
    case WORD_MODULE:
        if (ptx_token_is(&p->token, ".file"))
            return ptx_file(p);
        return ptx_expected(p, expected);
    default:
        return ptx_wrong_directive(p, wanted, expected);
    }
}

/* One statement; pushed onto the stack unless the tree does not keep it. */
static bool statement(struct ptx_parser *p)
{
    struct ptx_statement one = {.place = p->token.place};
    bool keep = true, right;
    if (p->token.kind == ';') {
        ptx_advance(p);
        return true;
    }
    if (p->token.kind == '{') {
        if (!ptx_enter(p))
            return false;
        ptx_advance(p);
        one.kind = PTX_SCOPE;
        right = ptx_body(p, one.place, NULL, &one.items, &one.item_count);
        p->depth--;
    } else if (p->token.kind == TOKEN_NAME || p->token.kind == '@') {
        right = label_or_instruction(p, &one);
    } else if (p->token.kind == TOKEN_DIRECTIVE) {
        right = directive(p, &one, &keep);
    } else {
        return ptx_expected(p, "an instruction, a label, a declaration or '}'");
    }
    if (right && keep)
        *vec_push(&p->statements) = one;
    return right;
}

/* Whether the directive is allowed only outside functions: the body's '}' is missing. */
static bool leaves_the_function(const struct ptx_parser *p)
{
    if (p->token.kind != TOKEN_DIRECTIVE)
        return false;
    if (!ptx_token_is(&p->token, ".visible") && !ptx_token_is(&p->token, ".weak"))
        return ptx_word_class(&p->token) == WORD_FUNCTION;
    struct ptx_lexer ahead = p->lexer;
    struct ptx_token next;
    ptx_lex(&ahead, &next);
    return ptx_word_class(&next) == WORD_FUNCTION || ptx_word_class(&next) == WORD_SPACE;
}

bool ptx_body(struct ptx_parser *p, struct ptx_place opened, const char *owner,
              struct ptx_statement **items, u32 *item_count)
{
    u32 first = p->statements.count;
    while (p->token.kind != '}') {
        struct marks marks = mark_all(p);
        if (p->token.kind == TOKEN_END || leaves_the_function(p)) {
            char quoted[PTX_QUOTE];
            p->statements.count = first;
            return ptx_error_at(p, p->token.place,
                                "found %s, expected '}' to end the %s%s%s opened at %u:%u",
                                ptx_quote(&p->token, quoted), owner ? "body of '" : "scope",
                                owner ? owner : "", owner ? "'" : "", opened.line, opened.column);
        }
        if (!statement(p)) {
            cut_all(p, &marks);
            if (leaves_the_function(p))
                return false;
            skip_statement(p);
        }
    }
    ptx_advance(p);
    *items = PTX_CUT(p, statements, first, item_count);
    return true;
}
