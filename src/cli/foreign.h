/* Files that are often given for a kernel and are none: what they are, and what to do instead. */
#ifndef CLI_FOREIGN_H
#define CLI_FOREIGN_H

#include "base/arena.h"

/*
 * A sentence about a file of which `data` is the beginning, or NULL when it may be a program that
 * Heddle loads. A name decides only what is text and not PTX.
 */
const char *foreign_code(struct arena *arena, const char *path, const char *data, size_t length);
/* The same of a file that has not been read; NULL when it cannot be, too. */
const char *foreign_file(struct arena *arena, const char *path);

#endif
