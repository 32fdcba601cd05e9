/* Registers of 128 bits and atomics on vectors: see wide.c. */
#ifndef SEMANTICS_WIDE_H
#define SEMANTICS_WIDE_H

struct text;

typedef void wide_visit(void *user, const char *opcode);
void wide_visit_forms(wide_visit *visit, void *user);
void wide_ptx(struct text *text);
int suite_wide(void);

#endif
