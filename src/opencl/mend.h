/*
 * What clang writes and does not mean, or means and cannot compile, changed in its text: in LLVM's
 * before code is made of it, and in PTX.
 */
#ifndef OPENCL_MEND_H
#define OPENCL_MEND_H

#include "base/types.h"
#include <stddef.h>

/*
 * OpenCL lets a kernel call another like a function, PTX does not, and clang forbids kernels to be
 * inlined there: that is turned around, for a second time through the optimizer. NULL: no kernel is
 * called; else free() it.
 */
char *mend_kernel_calls(const char *text, size_t *length);

/*
 * A null pointer to private or local memory is all ones on Southern Islands, and comes as a cast of
 * the generic one, for which there is no code without generic addresses. It is written out instead,
 * in its own place: that is shorter. True: there was one.
 */
bool mend_nulls(char *text);

/*
 * Options of relaxed mathematics come as flags of the program's own instructions, which stay, and
 * as attributes of functions. clang 14 gives these to the libraries' functions, too, and they hold
 * for all that is inlined: the code generator then folds (x + c) - c, by which a library rounds,
 * and the small differences that it computes in. So they are blanked. True: there was one;
 * `approximate`: division and square roots may be approximate.
 */
bool mend_relaxed(char *text, bool *approximate);

/*
 * clang 14 makes a field (bfe.u64) of the low bits of a 64-bit value shifted right with its sign
 * also where the field would reach beyond the value's end; copies of the sign then become zeros.
 * Such fields come from nothing else, and become the shift and the mask that were meant. Takes PTX,
 * which is freed, and gives PTX.
 */
char *mend_fields(char *code, size_t *bytes);

#endif
