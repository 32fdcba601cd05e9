/*
 * PTX tree -> program: what the files lower*.c, optimize.c, regalloc*.c and layout.c share.
 *
 * One function at a time: statements become ir instructions on virtual registers (lower_*.c), are
 * simplified (optimize.c), get physical registers (regalloc.c) and are appended to the program
 * (layout.c).
 *
 *  W1  Virtual register 0 of every function is the stack pointer, physical register 0 once
 *      allocated; only functions that are called or call use it. In a kernel it is 0 outside call
 *      sequences, so a kernel's own frame has absolute addresses.
 *  W2  A function's frame: return values from 0, parameters, local variables, slots of values saved
 *      over calls or spilled. A callee's frame follows its caller's, and each size is a multiple of
 *      16 and of the largest alignment of a callee's variable.
 *  W3  Until layout, `inst.late` (enum late) says how an instruction depends on the frame size.
 *  W4  Branch targets are indices into the function's own instructions.
 */
#ifndef ISA_PTX_LOWER_H
#define ISA_PTX_LOWER_H

#include "analysis/code.h"
#include "isa/ptx/ast.h"
#include "isa/ptx/ptx.h"

enum late {
    LATE_NONE,
    LATE_OFFSET, /* imm += frame size */
    LATE_SIZE,   /* src[1] = constant: frame size */
};

enum symbol_kind {
    SYMBOL_REGISTERS, /* one, or a group */
    SYMBOL_VARIABLE,  /* global or const: index in program.variables */
    SYMBOL_SHARED,    /* offset in the block's shared memory */
    SYMBOL_LOCAL,     /* offset in the frame */
    SYMBOL_PARAM,     /* of a kernel: offset in the parameter block; of a function: in the frame */
    SYMBOL_ARGUMENT,  /* .param in a body: argument or result of a call */
    SYMBOL_FUNCTION,  /* index in program.functions */
    SYMBOL_LABEL,     /* index: its number */
    SYMBOL_TARGETS,   /* .branchtargets */
    SYMBOL_PROTOTYPE, /* .callprototype */
    SYMBOL_CALLTARGETS,
    SYMBOL_SAMPLER, /* declaration->init has its word */
    SYMBOL_OTHER,
};

struct symbol {
    enum symbol_kind kind;
    const char *name;
    const struct ptx_declaration *declaration;
    const struct ptx_statement *statement; /* TARGETS, PROTOTYPE */
    u32 index;
    u64 offset, size;
    u32 align;
    bool is_dynamic; /* shared: .extern, starts where static shared memory ends */
    /* ARGUMENT: */
    bool direct; /* its place is in the callee's frame (K1); else `offset` in its own frame */
    bool is_return;
    u32 position; /* among the arguments or results of `call` */
    const struct ptx_instruction *call;
    struct argument_use *use; /* while planning */
};

/* Names to pointers. */
struct name_table {
    struct name_entry {
        const char *name;
        void *value;
    } * entries;
    u32 count, capacity; /* capacity is a power of two or 0 */
};
void names_put(struct name_table *names, const char *name, void *value);
void *names_get(const struct name_table *names, const char *name, size_t length);
void names_free(struct name_table *names);
/* Where module scope has a name of a part; `length` bytes. */
struct lower;
struct name_table *names_of_part(struct lower *l, u32 part, const char *name, size_t length);

struct scope {
    struct scope *parent;
    struct name_table names;
};

/* A parameter or return value of a function, as callers and the callee place it. */
struct param_slot {
    const struct ptx_declaration *declaration;
    u32 offset, size, align;
};

struct signature {
    struct param_slot *returns, *params;
    u32 return_count, param_count;
    u32 bytes; /* of the argument block */
};

/* A function as module scope sees it. */
struct callable {
    const struct ptx_function *ast; /* the definition, or the first declaration */
    struct signature signature;     /* of functions; kernels use function.params */
    u32 *callees;                   /* from a scan of the text */
    u32 callee_count;
    bool calls_indirectly;
    u32 *shared; /* indices into lower.shared it names */
    u32 shared_count;
    bool names_dynamic;
    u64 own_align;
    u64 own_shared;  /* bytes of variables declared in its body */
    u64 shared_base; /* offset of the first of them */
    u64 dynamic_base;
    u64 shared_end; /* end of the shared memory it names */
};

struct constant_key {
    u64 value;
    i64 addend;
    u32 target, index;
    u8 kind; /* 0 free, 1 one word, 2 two words, 3 variable, 4 function */
};

struct lower {
    struct arena *arena; /* scratch, for the whole lowering */
    const struct ptx_module *module;
    const struct ptx_params *params;
    const struct ptx_target *target;
    struct error *error;
    u32 error_count;
    struct program *program;
    struct scope globals; /* what is visible to all parts (A5 of ast.h) */
    struct part {
        struct scope own;         /* what it keeps to itself; its parent is `globals` */
        struct name_table linked; /* names that it shares, by any of their declarations */
    } * parts;                    /* NULL: there is one part, all of it in `globals` */
    struct name_table forms;      /* opcode -> first row of the table */
    struct callable *units;       /* by function index */
    struct symbol **shared;
    u32 shared_count;
    u32 frame_align; /* alignment of all frames (W2); 0: at most 16 */
    VEC(u32) constants;
    VEC(struct constant_fixup) fixups;
    struct constant_key *constant_table;
    u32 constant_used, constant_room;
    VEC(struct location) locations;
    VEC(struct unsupported) unsupported;
    VEC(const char *) warnings;
    VEC(struct inst) insts;
    VEC(struct jump_table) tables;
    VEC(struct block) blocks;
};

/* Registers of an address of this program. */
static inline u32 lower_address_words(const struct lower *l)
{
    return l->program->traits.address_bits == 32 ? 1 : 2;
}
static inline const struct windows *lower_windows(const struct lower *l)
{
    return windows_of(l->program->traits.address_bits);
}

struct label {
    const char *name;
    struct ptx_place place;
    u32 at; /* instruction, or NO_INST before it is placed */
};

struct vreg {
    u8 words; /* 1 or 2 */
    u8 type;  /* enum type as declared; TYPE_NONE for temporaries */
    bool no_spill;
    bool in_tuple; /* created for one tuple */
    bool at_entry; /* may be read before it is written */
};

struct fn {
    struct lower *l;
    u32 index; /* in program.functions */
    const struct ptx_function *ast;
    struct function *out;
    struct callable *unit;
    struct scope *scope;
    VEC(struct inst) insts;
    VEC(struct tuple) tuples; /* [0] unused */
    VEC(struct vreg) vregs;   /* [0] is the stack pointer */
    u32 masks;
    u32 carry; /* mask of CC.CF, or UINT32_MAX */
    VEC(struct label) labels;
    VEC(struct jump_table) tables;
    VEC(u32) unsupported;
    struct register_entry *registers; /* (symbol, index) -> virtual register */
    u32 register_used, register_room;
    u32 frame;      /* bytes so far */
    u32 param_copy; /* kernel: offset in the frame of a copy of the parameters, or UINT32_MAX */
    bool has_calls;
    u32 spill_bytes;
    u32 location;     /* of the current statement */
    u32 syscall_base; /* argument block of system calls in the frame, or UINT32_MAX */
};

/* A matched instruction. */
struct form;
struct match {
    const struct form *form;
    const struct ptx_instruction *in;
    enum type types[4];
    u32 type_count;
    u32 mods;
    u8 rounding;
    bool integral;                /* .rni and friends */
    bool rounded;                 /* the text has a rounding modifier */
    int compare, boolean, atomic; /* -1: not given */
    int space;                    /* -1: not given */
    u32 vector;
    struct operand guard;
};

typedef bool lower_fn(struct fn *fn, struct match *m);

/* How the op is selected by the types. */
enum select {
    SELECT_ONE,    /* op */
    SELECT_WIDTH,  /* op + 0, 1, 2: 16, 32, 64 bits */
    SELECT_SIGN,   /* as SELECT_WIDTH, + 3 if unsigned */
    SELECT_FLOAT,  /* op + 8 * (f16, f16x2, bf16, bf16x2, f32, f64) */
    SELECT_FLOAT5, /* op + (f32, f16, f16x2, bf16, bf16x2) */
    SELECT_64,     /* op + 1 when 64 bits wide */
    SELECT_COMPARE /* op + 2 * (u16, s16, u32, s32, u64, s64, f16, f16x2, bf16, bf16x2, f32, f64) */
};

struct form {
    const char *opcode;
    const char *modifiers; /* slots separated by blanks: "a|b|c", "?a|b" may be absent */
    const char *operands;  /* for lower_generic: see lower_generic.c */
    lower_fn *lower;
    u16 op;
    u8 select;
    u8 key;
    const char *why; /* unsupported: the reason */
};

/* lower_forms.c */
extern const struct form ptx_forms[];
extern const u32 ptx_form_count;
bool ptx_match(struct fn *fn, const struct ptx_instruction *in, struct match *m);
bool match_has(const struct match *m, const char *modifier);
enum op select_op(const struct form *form, enum type type);

/* lower_names.c */
struct symbol *scope_find(const struct fn *fn, const char *name);
struct symbol *scope_define(struct fn *fn, const char *name, enum symbol_kind kind,
                            struct ptx_place place);
/* The symbol of a register name, and its index in the group; NULL if the name is not a register. */
struct symbol *register_find(const struct fn *fn, const char *name, const char *component,
                             u32 *index);
u32 register_id(struct fn *fn, struct symbol *symbol, u32 index);
u32 vreg_new(struct fn *fn, u32 words, enum type type);
u32 mask_new(struct fn *fn);
enum type type_parse(const char *text);
bool declare(struct fn *fn, const struct ptx_declaration *declaration);
u64 declaration_size(const struct ptx_declaration *d);
u32 declaration_align(const struct ptx_declaration *d);
/* "%tid.x" -> enum special, or -1. */
int special_find(const char *name);
u32 special_words(int special);

/* lower_operand.c */
/* Reports an error; its value is false, as for error_set. */
#define lower_error(...) (lower_fail(__VA_ARGS__), error_false())
void lower_fail(struct lower *l, struct ptx_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
struct operand const_words(struct lower *l, u64 value, u32 words);
struct operand const_address(struct lower *l, enum relocation_kind kind, u32 target, i64 addend);
/* Whether a constant is patched with an address when the program is loaded. */
bool const_is_address(const struct lower *l, struct operand o);
struct operand vreg_operand(const struct fn *fn, u32 id);
bool operand_is_register(const struct fn *fn, const struct ptx_operand *o);
/* How a register must match `type`: in size, or, for ld, st and cvt, be at least as wide. */
enum type_fit {
    FIT_EXACT,
    FIT_WIDER
};
bool lower_source(struct fn *fn, const struct ptx_operand *o, enum type type, enum type_fit fit,
                  struct operand *out);
bool lower_dest(struct fn *fn, const struct ptx_operand *o, enum type type, enum type_fit fit,
                struct operand *out);
bool lower_mask_source(struct fn *fn, const struct ptx_operand *o, struct operand *out);
bool lower_mask_dest(struct fn *fn, const struct ptx_operand *o, struct operand *out);
bool lower_immediate(struct fn *fn, const struct ptx_operand *o, enum type type, u64 *bits);
bool lower_integer(struct fn *fn, const struct ptx_operand *o, i64 lo, i64 hi, i64 *value);
/* The address of a symbol as a value of 4 or 8 bytes in a fresh register or constant. */
bool lower_symbol_value(struct fn *fn, const struct ptx_operand *o, u32 words, bool generic,
                        struct operand *out);
/* Byte offset of name[index]. */
u64 element_offset(const struct fn *fn, const struct ptx_operand *o);
bool operand_count_is(struct fn *fn, const struct ptx_instruction *in, u32 min, u32 max);

/* lower_emit.c */
struct inst *emit(struct fn *fn, const struct match *m, enum op op);
struct inst *emit_plain(struct fn *fn, enum op op); /* no guard */
bool lower_unsupported_text(struct fn *fn, const struct ptx_instruction *in, const char *why);
u32 tuple_new(struct fn *fn, const u32 *registers, u32 count);
struct operand frame_base(const struct fn *fn);
void frame_access(struct fn *fn, enum op op, struct operand data, enum type type, i64 offset,
                  enum late late);

/* lower_memory.c */
struct address {
    struct operand base;
    i64 imm;
    u8 space;
    u8 late; /* enum late */
};
bool lower_address(struct fn *fn, const struct match *m, const struct ptx_operand *o,
                   struct address *out);
struct inst *emit_access(struct fn *fn, const struct match *m, enum op op,
                         const struct address *address);
/* The elements of a vector operand: {a, b}, or a vector register by name. */
bool vector_items(struct fn *fn, const struct match *m, const struct ptx_operand *o,
                  struct ptx_operand *items);
/* The low word of a register of two. */
struct operand pair_low(struct fn *fn, struct operand wide);
/* The registers that a load writes: those wanted, or others of the right size, moved afterwards. */
struct load_results {
    struct operand wanted[TUPLE_MAX];
    u32 parts[TUPLE_MAX];
};
bool load_results(struct fn *fn, const struct match *m, const struct ptx_operand *items,
                  struct load_results *results);
/* After the load has been emitted: its operands, and the moves. */
void load_finish(struct fn *fn, const struct match *m, const struct load_results *results);
/* A stored element in a register of its own size. */
bool stored_element(struct fn *fn, const struct match *m, const struct ptx_operand *o,
                    struct operand *out);
/* The tuple of a vector store: elements that occur twice or are constants get copies. */
u32 stored_tuple(struct fn *fn, const struct operand *items, u32 count);
bool store_space(struct fn *fn, const struct match *m, const struct address *address);

/* lower_wide.c: registers of 128 bits */
bool wide_operand(struct fn *fn, const struct ptx_operand *o, bool is_dest, struct operand *half);
bool wide_mov(struct fn *fn, struct match *m);
bool wide_ld(struct fn *fn, struct match *m);
bool wide_st(struct fn *fn, struct match *m);

/* handlers named by the table */
lower_fn lower_generic, lower_carry, lower_mov, lower_set, lower_cvt, lower_cvta, lower_isspacep,
    lower_ld, lower_st, lower_atom, lower_prefetch, lower_fence, lower_bra, lower_brx, lower_call,
    lower_ret, lower_exit, lower_bar, lower_barrier_warp, lower_vote, lower_shfl, lower_match,
    lower_redux, lower_elect, lower_lop3, lower_dp, lower_nothing, lower_unsupported,
    lower_nanosleep, lower_absdiff, lower_f32x2, lower_cvt_pack, lower_policy, lower_keyed,
    lower_mov_vector, lower_minmax3, lower_bar_red, lower_tex, lower_surface, lower_query;

/* lower_call.c */
/* Whether a declared function is provided by the machine: op syscall calls it. */
bool is_syscall(const struct callable *unit);
bool signature_layout(struct lower *l, const struct ptx_function *ast, struct signature *s);
bool function_prologue(struct fn *fn);
/* Decides which .param variables of a scope are places in the callee's frame (K1). */
void arguments_plan(struct fn *fn, const struct ptx_statement *items, u32 count);
bool argument_address(struct fn *fn, struct symbol *symbol, struct ptx_place place, i64 *offset,
                      enum late *late);

/* lower_module.c */
bool module_declare(struct lower *l);
bool module_shared(struct lower *l);

/* lower_body.c */
bool lower_body(struct fn *fn);

/* optimize.c, regalloc.c, layout.c */
struct code fn_code(const struct fn *fn);
void optimize(struct fn *fn);
bool allocate_registers(struct fn *fn);
bool layout_function(struct fn *fn);
bool layout_finish(struct lower *l);

/* Rebuilding a function's code with insertions and deletions. */
struct rewrite {
    struct fn *fn;
    VEC(struct inst) out;
    u32 *map; /* old index -> new index; one more entry than there are instructions */
    u32 count;
};
struct rewrite rewrite_begin(struct fn *fn);
void rewrite_mark(struct rewrite *r, u32 old); /* `old` is replaced by what is added next */
struct inst *rewrite_add(struct rewrite *r, const struct inst *inst);
void rewrite_end(struct rewrite *r);

#endif
