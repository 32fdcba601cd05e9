/* See reached.h. */
#include "reached.h"

#include <stdio.h>

#include "ir/program.h"
#include "isa/ptx/ptx.h"

unsigned ops_count(void)
{
    return OP_COUNT;
}

const char *ops_name(unsigned op)
{
    return op_info[op].name;
}

bool ops_is_beyond_ptx(unsigned op)
{
    static const u16 others[] = {OP_ld2,        OP_st2,         OP_exch2,    OP_atom_src2,
                                 OP_buf_ld,     OP_buf_st,      OP_buf_atom, OP_movrel_src,
                                 OP_movrel_dst, OP_movrel_both, OP_swizzle,  OP_append};
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (others[i] == op)
            return true;
    return op_info[op].flags & OPF_SCALAR || (op >= OP_shl_wrap_b32 && op <= OP_lg2_clamp_f32);
}

bool ops_mark(const char *ptx, size_t bytes, const char *name, bool *reached)
{
    struct error error = {0};
    struct ptx_params params = {.optimize = false, .max_registers = 255};
    struct program *program =
        ptx_compile(ptx, bytes, name, &params, &(struct ptx_target){.address_bits = 64}, &error);
    if (!program) {
        printf("  %s: %s %s\n", name, error.place, error.message);
        return false;
    }
    for (u32 i = 0; i < program->inst_count; i++)
        reached[program->insts[i].op] = true;
    program_destroy(program);
    return true;
}
