/* Advice about files that users often pass as kernels by mistake. */
#ifndef CLI_FOREIGN_H
#define CLI_FOREIGN_H

#include "base/arena.h"

/*
 * A sentence about a file that begins with `data`, or NULL if it may be a program that Heddle
 * loads. The name matters only for text that is not PTX.
 */
const char *foreign_code(struct arena *arena, const char *path, const char *data, size_t length);
/* foreign_code() for a file that has not been read; NULL also if it cannot be. */
const char *foreign_file(struct arena *arena, const char *path);

#endif
