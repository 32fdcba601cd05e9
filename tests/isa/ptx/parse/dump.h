/* A PTX tree as text, for golden files. */
#ifndef TEST_PTX_DUMP_H
#define TEST_PTX_DUMP_H

#include "isa/ptx/ast.h"
#include <stdio.h>

void dump_module(FILE *out, const struct ptx_module *module);
void dump_operand(FILE *out, const struct ptx_operand *operand);

#endif
