/* Forms of ld and st: see memory.c. */
#ifndef SEMANTICS_MEMORY_H
#define SEMANTICS_MEMORY_H

#include "form.h"

struct text;

struct memory_form {
    const char *space; /* "global", "generic-shared", ... */
    const char *type, *qualifier;
    bool store;
    unsigned vector, bits, reg; /* elements, bits of one, bits of its register */
    char opcode[64];
};
typedef void memory_visit(void *user, const struct memory_form *form);
void memory_visit_forms(memory_visit *visit, void *user);
void memory_ptx(struct text *text);
int suite_memory(void);

#endif
