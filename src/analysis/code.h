/*
 * Code as analyses see it: a run of instructions of one function, before or after register
 * allocation.
 *
 * A *location* is something that holds a value: vector registers are locations [0, vectors), mask
 * registers are locations [vectors, vectors + masks).
 *
 *  C1  Physical form: an operand of n registers names n locations.
 *  C2  Virtual form: an operand names one location whatever its count. The only exception is the
 *      data operand of a vector load or store, a texture fetch or atom_b128: it stands for a tuple of virtual
 *      registers, `inst.spare` is the index of the tuple (0: none), its own index is unused.
 *  C3  A definition under a guard does not kill: other lanes keep the old value.
 *
 * Locations are for code without explicit EXEC; for code with explicit EXEC see lane_liveness.h.
 */
#ifndef ANALYSIS_CODE_H
#define ANALYSIS_CODE_H

#include "ir/program.h"

#define TUPLE_MAX 8

struct tuple {
    u32 count;
    u32 registers[TUPLE_MAX];
};

struct code {
    struct inst *insts;
    u32 count;
    u32 base; /* branch targets and jump tables are relative to it */
    const struct jump_table *tables;
    const u32 *constants; /* the program's; needed with explicit EXEC */
    u32 vectors, masks;
    bool is_virtual;
    const struct tuple *tuples;
    bool explicit_exec;
};

#define REFS_MAX 72

/* Locations an instruction reads and writes. A guarded write also counts as a read (C3). */
struct refs {
    u32 reads[REFS_MAX], writes[REFS_MAX];
    u32 read_count, write_count;
    bool kills;
};

void inst_refs(const struct code *code, const struct inst *inst, struct refs *refs);

/* The code of a function of a finished program. */
struct code code_of(const struct program *program, const struct function *function);

/* Whether an instruction's tuple is its first result; otherwise it is its second source. */
static inline bool inst_loads_tuple(const struct inst *inst)
{
    return inst->op == OP_ld || inst->op == OP_tex || inst->op == OP_suld;
}
/* The operand a tuple stands for; NULL when the instruction has none. */
struct operand *inst_tuple_operand(struct inst *inst);

/* Whether control can continue with the next instruction. */
bool inst_falls_through(const struct inst *inst);

#endif
