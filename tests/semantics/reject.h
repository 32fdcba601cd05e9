/* Text that must be refused: see reject.c. */
#ifndef SEMANTICS_REJECT_H
#define SEMANTICS_REJECT_H

int suite_reject(void);

#endif
