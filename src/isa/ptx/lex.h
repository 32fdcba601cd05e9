/*
 * PTX tokens: text in, one token at a time out, nothing copied.
 *
 * Invariants
 *  L1  The lexer reads only [text, text + length); no terminator is needed, and a NUL is an
 *      ordinary wrong character (trailing NULs, as fat binaries have them, are not part of the
 *      text).
 *  L2  Every call either moves forward or returns TOKEN_END.
 *
 * A modifier or directive is one token with its dot and any "::" parts (".shared::cta", ".2d"), so
 * ".5" is one too: where a number is expected the parser asks ptx_lex_fraction to read it again.
 * Comments, "@@DWARF" lines of old compilers and line markers of a preprocessor are white space.
 */
#ifndef ISA_PTX_LEX_H
#define ISA_PTX_LEX_H

#include "isa/ptx/ast.h"

/* A punctuation character is its own kind; these come after the characters. */
enum ptx_token_kind {
    TOKEN_END = 256,
    TOKEN_BAD,       /* problem says why */
    TOKEN_NAME,      /* a name or opcode, "%" and "$" included */
    TOKEN_DIRECTIVE, /* ".entry", ".f32" */
    TOKEN_INTEGER,
    TOKEN_DOUBLE, /* 1.5, 0d3FF8000000000000 */
    TOKEN_SINGLE, /* 0f3FC00000 */
    TOKEN_STRING, /* quotes included */
    TOKEN_SHIFT_LEFT,
    TOKEN_SHIFT_RIGHT,
    TOKEN_LESS_EQUAL,
    TOKEN_GREATER_EQUAL,
    TOKEN_EQUAL,
    TOKEN_NOT_EQUAL,
    TOKEN_AND_AND,
    TOKEN_OR_OR,
};

struct ptx_token {
    int kind;
    struct ptx_place place;
    const char *start;
    size_t length;                  /* bytes */
    const char *problem, *expected; /* TOKEN_BAD: what was found, what is expected */
};

struct ptx_lexer {
    const char *at, *end;
    const char *line_start;
    u32 line;
};

void ptx_lex_start(struct ptx_lexer *lexer, const char *text, size_t length);
void ptx_lex(struct ptx_lexer *lexer, struct ptx_token *token);

/* Reads the last token, a directive that begins with ".<digit>", again as a number. */
void ptx_lex_fraction(struct ptx_lexer *lexer, struct ptx_token *token);

/* The value of TOKEN_INTEGER; false when it needs more than 64 bits. */
bool ptx_token_integer(const struct ptx_token *token, u64 *value, bool *is_unsigned);

/* Whether the token is exactly this word. */
bool ptx_token_is(const struct ptx_token *token, const char *word);

/* Copies text without comments and with each run of white space as one space; returns the length.
 * `to` has room for `length` bytes. */
size_t ptx_fold_space(char *to, const char *text, size_t length);

#endif
