/* The emulator's own checks: 0 when all is well. */
#ifndef SI_SELF_H
#define SI_SELF_H

int self_check(void);
unsigned known_check(void); /* known.c: failures */

#endif
