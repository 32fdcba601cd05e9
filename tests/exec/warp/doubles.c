/* Weak stand-ins, used only where the library has no listing code linked in. */
#include "ir/program.h"

#include <stdio.h>

__attribute__((weak)) const struct function *program_function_at(const struct program *program,
                                                                 u32 inst)
{
    for (u32 i = 0; i < program->function_count; i++)
        if (inst >= program->functions[i].first && inst < program->functions[i].end)
            return &program->functions[i];
    return NULL;
}

__attribute__((weak)) char *inst_text(const struct program *program, u32 inst, char *buffer,
                                      size_t size)
{
    snprintf(buffer, size, "%s", op_info[program->insts[inst].op].text);
    return buffer;
}
