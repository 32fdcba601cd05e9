/*
 * Tests that are not lane by lane: memory, warps, special registers, rejected text.
 *
 * A suite prints what went wrong and returns the process's status. Each lists what it covers for
 * docs/coverage.md in the table of forms it walks.
 */
#ifndef SEMANTICS_SUITES_H
#define SEMANTICS_SUITES_H

#include "form.h"

typedef int suite_fn(void);
suite_fn *suite_find(const char *name);

/* Every op of the machine is reached by some form. */
int suite_ops(const struct forms *forms);

/* Calls `visit` with each form a suite tests: "ld.global.v2.u32". */
typedef void visit_fn(void *user, const char *suite, const char *opcode);
void suites_visit(visit_fn *visit, void *user);

#endif
