/* Which ops of ir/ops.def some PTX text lowers to. Kept apart from the forms: it alone sees src. */
#ifndef SEMANTICS_REACHED_H
#define SEMANTICS_REACHED_H

#include <stdbool.h>
#include <stddef.h>

unsigned ops_count(void);
const char *ops_name(unsigned op);
/* Ops that only another instruction set lowers to; those on lanes have their references in
 * tests/exec/lanes, the others in the tests of that instruction set. */
bool ops_is_beyond_ptx(unsigned op);
/* Adds the ops of a module to `reached`; prints why and returns false when it does not compile. */
bool ops_mark(const char *ptx, size_t bytes, const char *name, bool *reached);

#endif
