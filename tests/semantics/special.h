/* Special registers, address spaces and instructions without a result: see special.c. */
#ifndef SEMANTICS_SPECIAL_H
#define SEMANTICS_SPECIAL_H

struct text;

typedef void special_visit(void *user, const char *opcode);
void special_visit_forms(special_visit *visit, void *user);
void special_ptx(struct text *text);
int suite_special(void);

#endif
