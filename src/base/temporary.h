/*
 * Temporary folders that do not outlive their users.
 *
 * A folder in $TMPDIR, or in a folder that other hosts see, holds a file that its process keeps locked. The lock goes with the last process
 * that has it open, however that ends: a folder without a lock is left over from a killed run,
 * and the next run removes it (temporary_sweep).
 */
#ifndef BASE_TEMPORARY_H
#define BASE_TEMPORARY_H

#include "base/error.h"

struct temporary {
    char *path; /* NULL: none */
    int lock;   /* -1: the file system has no locks; the folder is then never swept */
};

/* Makes a folder in `parent`; NULL: in $TMPDIR. With `inherited`, programs that this process starts
 * keep it locked as well. */
bool temporary_create(struct temporary *folder, const char *parent, bool inherited,
                      struct error *error);
/* Removes the folder with all that is in it. Nothing happens to a folder that was not made. */
void temporary_remove(struct temporary *folder);
/* Removes folders in `parent`, or in $TMPDIR, that are this user's and not locked; returns how
 * many. */
u32 temporary_sweep(const char *parent);

#endif
