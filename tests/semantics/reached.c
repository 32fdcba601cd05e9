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

bool ops_mark(const char *ptx, size_t bytes, const char *name, bool *reached)
{
    struct error error = {0};
    struct ptx_params params = {.optimize = false, .max_registers = 255};
    struct program *program = ptx_compile(ptx, bytes, name, &params, &error);
    if (!program) {
        printf("  %s: %s %s\n", name, error.place, error.message);
        return false;
    }
    for (u32 i = 0; i < program->inst_count; i++)
        reached[program->insts[i].op] = true;
    program_destroy(program);
    return true;
}
