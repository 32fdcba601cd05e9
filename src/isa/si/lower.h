/* What the files that lower Southern Islands instructions share. */
#ifndef ISA_SI_LOWER_H
#define ISA_SI_LOWER_H

#include "ir/program.h"
#include "isa/si/codeobject.h"
#include "isa/si/si.h"

/* Index of a constant-pool entry of one or two words, by its value: open addressing. */
struct pool_slot {
    u32 words[2];
    u32 index, count; /* count 0: free */
};

/*
 * A program under construction. Branch targets are addresses until a function is complete; insts,
 * offsets, sizes and texts have the same length.
 */
struct lowering {
    struct program *program;
    struct arena *arena;
    const struct code_object *object; /* NULL: raw */
    u64 low;                          /* address of program->load[0] */
    struct error *error;
    VEC(struct inst) insts;
    VEC(u32) offsets;
    VEC(u8) sizes;
    VEC(const char *) texts;
    VEC(u32) constants;
    struct pool_slot *pool;
    u32 pool_room, pool_count;
    VEC(struct unsupported) unsupported;
    VEC(struct location) locations;
    VEC(struct block) blocks;
    VEC(const char *) warnings;
    /* of the current function: */
    VEC(u32) function_unsupported;
    u32 registers, scalars; /* one more than the highest one it names */
};

/* lower_operand.c */
struct operand lower_constant(struct lowering *l, const u32 *words, u32 count);
/* The operand for an ir signature letter; *why is set if ir cannot express it. */
struct operand lower_operand(struct lowering *l, const struct si_inst *in,
                             const struct si_operand *from, char letter, const char **why);

/*
 * lower_inst.c: lowers one instruction. Returns NULL, or why it cannot be executed; `out` is then
 * incomplete. The imm of a branch is its target's address.
 */
const char *lower_inst(struct lowering *l, const struct si_inst *in, struct inst *out);
/* lower_memory.c: DS, MUBUF, MTBUF and the loads of SMRD. */
const char *lower_shared(struct lowering *l, const struct si_inst *in, struct inst *out);
const char *lower_buffer(struct lowering *l, const struct si_inst *in, struct inst *out);
const char *lower_scalar_load(struct lowering *l, const struct si_inst *in, struct inst *out);

/* lower.c: lower_function() lowers a run of code to function->first to end; lowering_finish() makes
 * the program. */
struct lowering *lowering_begin(const char *file, struct error *error);
void lowering_free(struct lowering *l); /* and the program, if it is not finished */
bool lower_function(struct lowering *l, struct function *function, u64 address, u64 bytes);
void lowering_warn(struct lowering *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct program *lowering_finish(struct lowering *l); /* NULL: an error */
/* Decodes one instruction: redecode of struct program. */
redecode_fn lower_again;

/* lower_calls.c: finds the callees of functions, and whether they may be entered in the middle. */
void lower_calls(struct program *program);

#endif
