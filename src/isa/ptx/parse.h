/*
 * Internals of the PTX parser: recursive descent with one token of lookahead.
 *
 * Parsing functions return false after reporting an error; the statement or module loop then skips
 * to a place from which it can resume. They never check the arena's limits: sizes are bounded by
 * the text, and depth by PTX_NESTING.
 *
 * Invariants
 *  S1  The stacks of unfinished lists (statements, operands, ...) are marked on entry and cut back
 *      to the mark on exit, also after an error, so that lists of lists share one growing array.
 *  S2  `depth` is the same after a statement as before, also after an error.
 *
 * Deviations: WARP_SZ is the number 32, as PTX defines it, whatever the machine's warps are.
 */
#ifndef ISA_PTX_PARSE_H
#define ISA_PTX_PARSE_H

#include "base/error.h"
#include "isa/ptx/lex.h"

enum {
    PTX_ERRORS = 20,
    PTX_QUOTE = 80,
    PTX_EXPANDED = 1 << 16, /* limit of names from groups that the tree holds one by one */
};

struct ptx_file {
    u32 index;
    const char *name;
};

struct ptx_name_slot {
    const char *name;
    u32 hash, length;
};

struct ptx_parser {
    struct arena *arena;
    struct ptx_module *module;
    struct ptx_lexer lexer;
    struct ptx_token token;   /* the current token */
    const char *previous_end; /* end of the token before `token` */
    u32 previous_line;
    u32 depth; /* nesting depth: at most PTX_NESTING */
    bool mute; /* inside skipped text: bad characters are ignored */

    struct error *error;
    u32 error_count;
    size_t error_used;            /* bytes of error->message */
    struct ptx_place error_place; /* of the last error: one error per place is enough */

    struct ptx_name_slot *names; /* hash table, open addressing */
    u32 name_count, name_capacity;

    u32 source_index, source_line; /* of the last .loc */
    u32 part_functions;            /* the first of the current part (A5) */
    u32 expanded;                  /* names so far, see PTX_EXPANDED */

    VEC(struct ptx_statement) statements;
    VEC(struct ptx_operand) operands;
    VEC(struct ptx_initializer) initializers;
    VEC(struct ptx_declaration) declarations, variables;
    VEC(struct ptx_function) functions;
    VEC(struct ptx_alias) aliases;
    VEC(struct ptx_statement) prototypes;
    VEC(struct ptx_file) files;
    VEC(const char *) words;
    VEC(u64) numbers;
};

/* The part that is being read (A5 of ast.h). */
static inline u32 ptx_part(const struct ptx_parser *p)
{
    return p->module->part_count ? p->module->part_count - 1 : 0;
}

/* parse_support.c: tokens, errors, names. */

void ptx_advance(struct ptx_parser *p);
/* Adds an error, unless there is one at this place already. The macros evaluate to false, for
 * `return ptx_error_at(...)` and for static analysers. */
void ptx_report(struct ptx_parser *p, struct ptx_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define ptx_error_at(...) (ptx_report(__VA_ARGS__), false)
/* "found 'x', expected WHAT" at the current token. */
void ptx_report_found(struct ptx_parser *p, const char *what);
#define ptx_expected(p, what) (ptx_report_found(p, what), false)
/* Takes a token of this kind or reports that `what` was expected. */
bool ptx_take(struct ptx_parser *p, int kind, const char *what);
/* Takes a token of this kind if it is the current one. */
bool ptx_accept(struct ptx_parser *p, int kind);
/* Takes ';'. If it is missing at the end of a line, this is reported and parsing goes on as if it
 * were there. */
bool ptx_semicolon(struct ptx_parser *p, const char *what);
/* Reports a TOKEN_BAD. */
bool ptx_bad_token(struct ptx_parser *p);
/* One more level of nesting; leave by `p->depth--`. */
bool ptx_enter(struct ptx_parser *p);
/* The token in quotes as it may stand in a message: short, printable. */
const char *ptx_quote(const struct ptx_token *token, char buffer[PTX_QUOTE]);

const char *ptx_intern(struct ptx_parser *p, const char *text, size_t length);
/* Takes a name and gives its interned text. */
bool ptx_name(struct ptx_parser *p, const char **name, const char *what);
/* Takes a string: its contents with \\ and \" resolved. */
bool ptx_string(struct ptx_parser *p, const char **text, const char *what);

/* Moves the entries of a stack above `mark` into the arena. */
void *ptx_cut(struct arena *arena, const void *data, size_t size, u32 *count, u32 mark, u32 *taken);
#define PTX_CUT(p, stack, mark, taken) \
    ptx_cut((p)->arena, (p)->stack.data, sizeof *(p)->stack.data, &(p)->stack.count, mark, taken)

/* parse_words.c: directives. */

enum ptx_word_class {
    WORD_NONE,
    WORD_MODULE,    /* .version, .target, ... */
    WORD_LINKAGE,   /* .visible, ... */
    WORD_SPACE,     /* .reg, .global, ... */
    WORD_TYPE,      /* .b32, ... */
    WORD_VECTOR,    /* .v2, ... */
    WORD_QUALIFIER, /* .align, .ptr, .attribute */
    WORD_FUNCTION,  /* .entry, .func */
    WORD_TUNING,    /* .maxntid, ... : after a function's name */
    WORD_STATEMENT, /* .loc, .pragma, ... */
    WORD_CLASSES
};

enum ptx_word_class ptx_word_class(const struct ptx_token *token);
/* Reports a misplaced directive; for an unknown one, suggests the nearest of the `classes` (bits 1
 * << class). */
void ptx_report_directive(struct ptx_parser *p, unsigned classes, const char *expected);
#define ptx_wrong_directive(p, classes, expected) \
    (ptx_report_directive(p, classes, expected), false)

/* parse_constant.c: constant expressions. */

struct ptx_constant {
    bool is_float, is_single; /* single: 0f form, its bits in `value` */
    bool is_unsigned;
    u64 value; /* integer, or bits of the f64 */
};

bool ptx_constant(struct ptx_parser *p, struct ptx_constant *constant);
/* A constant that must be an integer in [low, high]. */
bool ptx_integer(struct ptx_parser *p, u64 *value, u64 low, u64 high, const char *what);
/* "+ 4 * 2 - 1" after a name: reads all terms and gives their sum. */
bool ptx_addend(struct ptx_parser *p, u64 *value);

/* parse_operand.c */

bool ptx_operand(struct ptx_parser *p, struct ptx_operand *operand, bool in_call);

/* parse_declaration.c */

struct ptx_linkage {
    bool is_extern, is_visible, is_weak, is_common;
};

/* A declaration from its state space to ';'; pushes onto `declarations`. */
bool ptx_declaration(struct ptx_parser *p, struct ptx_linkage linkage);
/* "(.param .b32 a, ...)"; pushes onto `declarations`. */
bool ptx_parameters(struct ptx_parser *p);
/* At '<': the number in "<8>". */
bool ptx_group(struct ptx_parser *p, u32 *count);
/* Counts names about to be made from a group. */
bool ptx_expand(struct ptx_parser *p, struct ptx_place place, u32 count);
/* prefix followed by the index, interned. */
const char *ptx_group_name(struct ptx_parser *p, const char *prefix, u32 index);
/* The list after .attribute. */
bool ptx_attributes(struct ptx_parser *p);

/* parse_function.c */

/* From .entry or .func to ';' or the end of the body. */
bool ptx_function(struct ptx_parser *p, struct ptx_linkage linkage);
/* After "label:", at .branchtargets, .calltargets or .callprototype. */
bool ptx_labelled(struct ptx_parser *p, struct ptx_statement *statement);
bool ptx_at_labelled(const struct ptx_parser *p);

/* parse_body.c */

/* Statements up to '}', which is taken. `owner` names what the brace closes. */
bool ptx_body(struct ptx_parser *p, struct ptx_place opened, const char *owner,
              struct ptx_statement **items, u32 *item_count);
bool ptx_pragma(struct ptx_parser *p, const char **text);
bool ptx_location(struct ptx_parser *p);
bool ptx_file(struct ptx_parser *p);

#endif
