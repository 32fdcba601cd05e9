/* What the tests of lowering share. */
#ifndef TESTS_ISA_SI_LOWER_CHECK_H
#define TESTS_ISA_SI_LOWER_CHECK_H

#include "isa/si/si_program.h"

#define S_ENDPGM 0xbf810000u

/* Raw code as a program that verifies; fails the test otherwise. */
struct program *lower_words(const u32 *words, u32 count);
/* The first `size` bytes of the error's text when the code is refused; fails the test otherwise. */
void refuse_words(const u32 *words, u32 count, char *text, size_t size);
/* An instruction as ir, not as the machine's text. */
char *ir_text(const struct program *program, u32 inst, char *buffer, size_t size);
/* The whole file, malloc'd, with a 0 behind it; NULL when it cannot be read. */
char *read_whole(const char *path, size_t *length);

#endif
