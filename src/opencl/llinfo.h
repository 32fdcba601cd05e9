/*
 * Kernel descriptions from the LLVM text of a linked program: names, arguments, attributes; and
 * undefined functions that it calls.
 *
 * The text comes from the compiler or, reduced by llinfo_extract, from a program's binary, so any
 * text is accepted; what is not understood is ignored.
 */
#ifndef OPENCL_LLINFO_H
#define OPENCL_LLINFO_H

#include "opencl/opencl.h"

/* The kernels in the order of the text; allocated in the arena. */
struct kernel_info *llinfo_kernels(struct arena *arena, const char *text, size_t bytes, u32 *count);
/* The lines that llinfo_kernels reads, terminated, in the arena. */
char *llinfo_extract(struct arena *arena, const char *text, size_t bytes);
/* The next function or variable from `at` on that is used and not defined, "" for none. Advances
 * `at`. */
const char *llinfo_undefined(struct arena *arena, const char *text, size_t bytes, size_t *at);

/*
 * The text without functions that no kernel reaches, and without declarations that only they need;
 * NULL if the text can stay unchanged: none of these functions names an undefined symbol or
 * contains assembly. The order is kept, so that code changes only where it must.
 */
char *llinfo_reachable(struct arena *arena, const char *text, size_t bytes, size_t *kept);

#endif
