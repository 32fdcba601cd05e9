/*
 * What LLVM's text of a linked program says of its kernels: names, arguments, attributes; and what
 * it calls and nobody defines.
 *
 * The text comes from our compiler or, cut down by llinfo_extract, from a program's binary, so that
 * any text is accepted; what is not understood is left out.
 */
#ifndef OPENCL_LLINFO_H
#define OPENCL_LLINFO_H

#include "opencl/opencl.h"

/* The kernels in the order they stand there; all is of the arena. */
struct kernel_info *llinfo_kernels(struct arena *arena, const char *text, size_t bytes, u32 *count);
/* Only the lines that llinfo_kernels reads; of the arena, terminated. */
char *llinfo_extract(struct arena *arena, const char *text, size_t bytes);
/* The next function or variable from `at` on that is used and not defined, "" for none. `at` moves
 * on. */
const char *llinfo_undefined(struct arena *arena, const char *text, size_t bytes, size_t *at);

/*
 * The text without functions that no kernel reaches, and without declarations that only they need;
 * NULL, as the text can stay as it is: none of these functions names what is not defined or holds
 * assembly. What is left of a text keeps its order, so that code changes only where it must.
 */
char *llinfo_reachable(struct arena *arena, const char *text, size_t bytes, size_t *kept);

#endif
