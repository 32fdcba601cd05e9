/* The emulator's own checks: 0 when all is well. */
#ifndef SI_SELF_H
#define SI_SELF_H

#include "gen.h"

int self_check(void);
/* known.c */
unsigned known_check(void); /* failures */
bool known_program(struct program *p, u32 index, u64 seed);

#endif
