/*
 * Where a program of a campaign runs: a folder of its own, outside of which it cannot write.
 *
 *     FOLDER/work/cwd      the program's working folder: copies of small files, links to others
 *     FOLDER/work/tmp      its TMPDIR
 *     FOLDER/work/stdout   and stderr
 *     FOLDER/golden        what the run without faults left of `work`
 *     FOLDER/NUMBER        the same as `work`, for a fault
 */
#ifndef FAULT_SITE_H
#define FAULT_SITE_H

#include "base/error.h"

/* Makes `to` with the working folder's entries. Files of at most 1 MB, up to 64 MB in all, are
 * copied; all others are symbolic links. */
bool site_make(const char *to, struct error *error);
/* Copies a tree: files, folders and symbolic links. */
bool site_copy(const char *from, const char *to, struct error *error);
void site_remove(const char *path);

/* Maps a file that processes share: a new one of that size, or one that exists and has it. NULL: an
 * error. Its room is taken by site_reserve(), so that a full disk is an error and not a signal
 * later. */
void *site_map(const char *path, size_t bytes, bool create, struct error *error);
bool site_reserve(const char *path, u64 at, u64 bytes, struct error *error);

/* From now on this process, and what it starts, can create and change files in these folders only
 * (Landlock), besides devices such as /dev/null. False: the kernel cannot do this. */
bool site_confine(const char *const *folders, u32 count);

/* A range of addresses that stays shared. */
struct site_kept {
    const void *start;
    size_t bytes;
};
/*
 * For a process that was forked from another one: it shares no open file, no memory and no folder
 * with it any more. Descriptors of files in `from` go to the copy in `to`; other files that can be
 * written get a copy without a name; pipes, sockets and terminals become /dev/null. `keep`: a
 * descriptor that stays.
 */
bool site_part(const char *from, const char *to, int keep, const struct site_kept *kept,
               u32 kept_count);

/* Opens a file, which is created if it is not there, for this process and those that it forks; -1: an
 * error. */
int site_lock(const char *path, struct error *error);

#endif
