/* Forms of atom and red: see atomic.c. */
#ifndef SEMANTICS_ATOMIC_H
#define SEMANTICS_ATOMIC_H

#include "form.h"

struct text;

struct atomic_form {
    const char *space, *op; /* "generic-shared", "add.noftz" */
    char type[8];
    bool red;
    unsigned bits;
    char opcode[64];
};
typedef void atomic_visit(void *user, const struct atomic_form *form);
void atomic_visit_forms(atomic_visit *visit, void *user);
void atomic_ptx(struct text *text);
int suite_atomic(void);

#endif
