/*
 * Temporary folders: see temporary.h.
 *
 *  T1  The file is locked before it gets its name, so that a folder with that name and without a
 *      lock is never one that is being made.
 *  T2  Only folders of this user are looked at, and no symbolic link is followed.
 */
#include "base/temporary.h"

#include "base/arena.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char prefix[] = "heddle-", lock_name[] = "heddle.lock", new_name[] = "heddle.new";

/* A relative name would change its meaning with the program's folder. */
static const char *parent_folder(void)
{
    const char *where = getenv("TMPDIR");
    return where && *where == '/' ? where : "/tmp";
}

/* Locks a file in the folder; -1 if that is not possible. */
static int make_lock(const char *path, bool inherited)
{
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -1;
    int lock =
        openat(folder, new_name, O_RDWR | O_CREAT | O_EXCL | (inherited ? 0 : O_CLOEXEC), 0600);
    if (lock >= 0 && (flock(lock, LOCK_EX | LOCK_NB) != 0 ||
                      renameat(folder, new_name, folder, lock_name) != 0)) {
        close(lock);
        lock = -1;
    }
    close(folder);
    return lock;
}

bool temporary_create(struct temporary *folder, const char *parent, bool inherited,
                      struct error *error)
{
    parent = parent ? parent : parent_folder();
    *folder = (struct temporary){.lock = -1};
    if (asprintf(&folder->path, "%s/%sXXXXXX", parent, prefix) < 0)
        host_memory_exhausted();
    if (mkdtemp(folder->path)) {
        folder->lock = make_lock(folder->path, inherited);
        return true;
    }
    error_fill(error, ERROR_SYSTEM, parent, "cannot create a folder: %s", strerror(errno));
    free(folder->path);
    folder->path = NULL;
    return false;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    remove(path);
    return 0; /* go on: what cannot be removed stays */
}

static void remove_tree(const char *path)
{
    enum {
        FILES_OPEN = 8
    };
    nftw(path, remove_one, FILES_OPEN, FTW_DEPTH | FTW_PHYS);
}

void temporary_remove(struct temporary *folder)
{
    if (!folder->path)
        return;
    remove_tree(folder->path);
    if (folder->lock >= 0)
        close(folder->lock);
    free(folder->path);
    *folder = (struct temporary){.lock = -1};
}

/* Whether a folder is left over. Its lock is then ours: another sweep leaves it alone. */
static int take_left_over(int parent, const char *name)
{
    struct stat status;
    int lock = -1;
    const int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return -1;
    if (fstat(folder, &status) == 0 && status.st_uid == geteuid())
        lock = openat(folder, lock_name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    close(folder);
    if (lock < 0)
        return -1;
    if (fstat(lock, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        flock(lock, LOCK_EX | LOCK_NB) == 0)
        return lock;
    close(lock);
    return -1;
}

u32 temporary_sweep(const char *parent)
{
    parent = parent ? parent : parent_folder();
    DIR *folder = opendir(parent);
    u32 removed = 0;
    if (!folder)
        return 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (strncmp(entry->d_name, prefix, sizeof prefix - 1) != 0)
            continue;
        const int lock = take_left_over(dirfd(folder), entry->d_name);
        if (lock < 0)
            continue;
        char *path;
        if (asprintf(&path, "%s/%s", parent, entry->d_name) < 0)
            host_memory_exhausted();
        remove_tree(path);
        free(path);
        close(lock);
        removed++;
    }
    closedir(folder);
    return removed;
}
