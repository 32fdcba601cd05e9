/*
 * Names of C++ functions from their mangled form (Itanium C++ ABI), as kernels of CUDA have them: with
 * namespaces and template arguments, without parameters. "_ZN3own4fillIfLi7EEEvPT_" is "own::fill<float, 7>".
 *
 * Input is untrusted: depth, length and number of substitutions are bounded. A name that is not mangled, or
 * uses what is not known here (expressions, function types, operators), stays as it is.
 */
#ifndef BASE_DEMANGLE_H
#define BASE_DEMANGLE_H

#include "base/arena.h"

/* The name, or the arena's text. What follows '@' is kept. */
const char *demangle(struct arena *arena, const char *name);

#endif
