/*
 * Workarounds for faults of clang's output: changes to the LLVM text before code generation, and to
 * PTX.
 */
#ifndef OPENCL_MEND_H
#define OPENCL_MEND_H

#include "opencl/opencl.h"

/*
 * OpenCL lets a kernel call another like a function, PTX does not, and clang forbids inlining of
 * kernels there: this reverses the attributes, for a second run of the optimizer. NULL: no kernel
 * is called; else malloc'd text.
 */
char *mend_kernel_calls(const char *text, size_t *length);

/*
 * A null pointer to private or local memory is all ones on Southern Islands. clang writes it as a
 * cast of the generic null pointer, for which there is no code without generic addresses. It is
 * replaced in place by its value, which is shorter. Returns whether there was one.
 */
bool mend_nulls(char *text);

/*
 * Options of relaxed mathematics become flags of the program's own instructions, which stay, and
 * attributes of functions. clang 14 gives these to the libraries' functions, too, and they apply to
 * everything inlined: the code generator then folds (x + c) - c, by which a library rounds, and the
 * small differences it computes with. So the attributes are blanked. Returns whether there was one;
 * `approximate`: division and square roots may be approximate.
 */
bool mend_relaxed(char *text, bool *approximate);

/*
 * clang 14 emits bfe.u64 for the low bits of a 64-bit value that is shifted right arithmetically,
 * even where the field reaches beyond the value's end; copies of the sign then become zeros. Such
 * fields have no other origin, and are replaced by the intended shift and mask. Takes PTX, which is
 * freed, and returns PTX.
 */
char *mend_fields(char *code, size_t *bytes);

/*
 * clang does not say in PTX which block size a kernel requires; with it, registers are allocated so
 * that such a block fits a core. Takes PTX, which is freed, and returns PTX.
 */
char *mend_block_sizes(char *code, size_t *bytes, const struct kernel_info *kernels, u32 count);

#endif
