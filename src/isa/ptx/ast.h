/*
 * The syntax tree of a PTX module: the text as written, with places; only scopes are resolved.
 *
 * Invariants
 *  A1  Names are interned per module: equal strings are the same pointer. They hold no NUL.
 *  A2  Scopes, vectors, lists and initialisers nest at most PTX_NESTING deep, so that a recursive
 *      walk is safe.
 *  A3  A register group has at most PTX_GROUP registers; the product of an array's dimensions (0
 *      taken as 1) is at most PTX_ELEMENTS, so that sizes in bytes cannot overflow 64 bits.
 *  A4  Places are never 0:0.
 *  A5  A text may consist of several modules, one after the other, to be linked: each begins with its
 *      .version. `part` is the number of an item's module, from 0.
 */
#ifndef ISA_PTX_AST_H
#define ISA_PTX_AST_H

#include "base/arena.h"
#include "ir/inst.h"

enum {
    PTX_NESTING = 100,
    PTX_GROUP = 1 << 20
};
#define PTX_ELEMENTS (1ull << 40)

struct ptx_place {
    u32 line, column; /* from 1 */
};

enum ptx_operand_kind {
    PTX_NAME,    /* register, variable, label, function, special register ("%tid.x" whole) */
    PTX_INT,     /* value; is_unsigned when written with U */
    PTX_FLOAT,   /* double literal: bits in `value`; is_single: 0f form, f32 bits in `value` */
    PTX_ADDRESS, /* [base + offset]; base may be NULL (absolute); items: what follows the base after
                  * a comma, as in "[tex, sampler, {%f1, %f2}]" */
    PTX_VECTOR,  /* {a, b, ...} */
    PTX_PAIR,    /* p|q: items[0], items[1] */
    PTX_SINK,    /* _ */
    PTX_LIST,    /* (a, b, ...) of a call */
    PTX_SUM,     /* name + offset, as in "mov.u64 %rd1, table+16;" */
    PTX_ELEMENT, /* name[value], as in "ld.global.u32 %r1, table[4];": counted in elements */
};

struct ptx_operand {
    enum ptx_operand_kind kind;
    struct ptx_place place;
    bool negated;     /* !p; also "-%r" where PTX has it */
    const char *name; /* PTX_NAME, PTX_SUM, PTX_ELEMENT; PTX_ADDRESS: base name or NULL */
    u64 value;        /* PTX_INT, PTX_FLOAT; PTX_ADDRESS, PTX_SUM: offset (two's complement);
                       * PTX_ELEMENT: index */
    bool is_unsigned, is_single;
    /* ".x" of "%v.x" on a vector register or an address's base: "x", "y", "z", "w" (written r, g,
     * b, a too, which become these), a video selector as in "b0", "h10", "b3210", or NULL */
    const char *component;
    struct ptx_operand *items; /* PTX_VECTOR, PTX_PAIR, PTX_LIST, PTX_ADDRESS */
    u32 item_count;
};

struct ptx_instruction {
    struct ptx_place place;
    const char *text;  /* as written, without comments and ';', white space folded */
    const char *guard; /* register name or NULL */
    bool guard_negated;
    const char *opcode;     /* "ld" */
    const char **modifiers; /* "global", "v4", "f32": without dots; "::" kept: "shared::cta" */
    u32 modifier_count;
    struct ptx_operand *operands;
    u32 operand_count;
    const char *source_file; /* from the last .loc, or NULL */
    u32 source_line;
    u32 source_index; /* the number of that .file, 0 when none */
};

/* A declared name: variable, parameter or group of registers. */
struct ptx_declaration {
    struct ptx_place place;
    const char *name;
    u32 count;         /* .reg %r<8>: 8, declares %r0..%r7; otherwise 0 */
    const char *space; /* "reg", "param", "global", "const", "shared", "local", "tex"... */
    const char *type;  /* "b32", "f64", "pred", "texref"... */
    u32 vector;        /* 1, 2, 4 */
    u32 align;         /* 0 if not given */
    u64 *dims;         /* array dimensions as written; 0 for [] */
    u32 dim_count;
    bool is_array;
    bool is_extern, is_visible, is_weak, is_common;
    bool is_pointer; /* .ptr on a parameter */
    u32 part;        /* A5 */
    struct ptx_initializer *init;
};

enum ptx_initializer_kind {
    PTX_INIT_LIST,
    PTX_INIT_INT,
    PTX_INIT_FLOAT,
    PTX_INIT_NAME
};
struct ptx_initializer {
    enum ptx_initializer_kind kind;
    struct ptx_place place;
    u64 value; /* INT; FLOAT: double bits, or f32 bits when is_single; NAME: addend */
    bool is_single;
    const char *name; /* NAME: variable or function */
    bool is_generic;  /* generic(name) */
    u64 mask;         /* 0xFF(name): byte-selecting mask, 0 when absent */
    struct ptx_initializer *items;
    u32 item_count;
};

enum ptx_statement_kind {
    PTX_STATEMENT,
    PTX_LABEL,
    PTX_DECLARATION,
    PTX_SCOPE,
    PTX_PRAGMA,
    PTX_BRANCHTARGETS,
    PTX_CALLTARGETS,
    PTX_CALLPROTOTYPE
};

struct ptx_function;
struct ptx_statement {
    enum ptx_statement_kind kind;
    struct ptx_place place;
    const char *label;                  /* LABEL; name of TARGETS and PROTOTYPE; text of PRAGMA */
    struct ptx_instruction instruction; /* STATEMENT */
    struct ptx_declaration declaration; /* DECLARATION */
    struct ptx_statement *items;        /* SCOPE */
    u32 item_count;
    const char **targets; /* BRANCHTARGETS, CALLTARGETS */
    u32 target_count;
    struct ptx_function *prototype; /* CALLPROTOTYPE: params and returns only */
    u32 part;                       /* A5; of CALLPROTOTYPE and TARGETS at module level */
};

struct ptx_function {
    struct ptx_place place;
    const char *name;
    bool is_entry, is_extern, is_visible, is_weak;
    bool has_body, no_return;
    struct ptx_declaration *params, *returns; /* space "param" or "reg" */
    u32 param_count, return_count;
    u32 max_threads[3], required_threads[3], min_blocks, max_registers; /* 0 = not given */
    u32 required_cluster[3];                                            /* .reqnctapercluster */
    struct ptx_statement *body;
    u32 body_count;
    u32 part; /* A5 */
};

/* .alias name, target; */
struct ptx_alias {
    struct ptx_place place;
    const char *name, *target;
    u32 part; /* A5 */
};

struct ptx_module {
    const char *file;
    u32 part_count;
    u32 version_major, version_minor;
    const char *target; /* "sm_75" */
    u32 address_size;   /* 32 or 64; 0: the text does not say */
    struct ptx_declaration *variables;
    u32 variable_count;
    struct ptx_function *functions; /* definitions and declarations in order */
    u32 function_count;
    struct ptx_statement *prototypes; /* module-scope .callprototype and friends */
    u32 prototype_count;
    struct ptx_alias *aliases;
    u32 alias_count;
};

#endif
