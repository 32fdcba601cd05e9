/*
 * Temporary folders: see temporary.h.
 *
 *  T1  A folder is locked before it gets its name: until then it is hidden. A hidden folder whose
 *      process was killed has no lock, and is empty or has an unlocked file. One that is being made
 *      may look like that for a moment: if it is then taken for left over, its maker makes another.
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

enum {
    TRIES = 100 /* to make a folder that others take for left over */
};

static const char prefix[] = "heddle-", hidden[] = ".heddle-", lock_name[] = "heddle.lock";

/* A relative name would change its meaning with the program's folder. */
static const char *parent_folder(void)
{
    const char *where = getenv("TMPDIR");
    return where && *where == '/' ? where : "/tmp";
}

/* Locks a file in the folder. -1: the file system has no locks, or, with *lost set, the folder was
 * taken for left over. */
static int make_lock(const char *path, bool inherited, bool *lost)
{
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int lock = folder < 0 ? -1
                          : openat(folder, lock_name,
                                   O_RDWR | O_CREAT | O_EXCL | (inherited ? 0 : O_CLOEXEC), 0600);
    *lost = lock < 0;
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0) {
        *lost = errno == EWOULDBLOCK;
        close(lock);
        lock = -1;
    }
    if (folder >= 0)
        close(folder);
    return lock;
}

/* Makes a locked folder. False: *lost says that it was taken for left over; else errno says why. */
static bool make_folder(struct temporary *folder, const char *parent, bool inherited, bool *lost)
{
    char *new_path;
    *lost = false;
    if (asprintf(&new_path, "%s/%sXXXXXX", parent, hidden) < 0)
        host_memory_exhausted();
    bool made = mkdtemp(new_path);
    if (made) {
        folder->lock = make_lock(new_path, inherited, lost);
        const char *name = new_path + strlen(parent) + 1 + sizeof hidden - 1;
        if (asprintf(&folder->path, "%s/%s%s", parent, prefix, name) < 0)
            host_memory_exhausted();
        *lost = *lost || rename(new_path, folder->path) != 0; /* or the name is in use */
        made = !*lost;
    }
    if (*lost)
        rmdir(new_path);
    free(new_path);
    if (made)
        return true;
    const int reason = errno;
    if (folder->lock >= 0)
        close(folder->lock);
    free(folder->path);
    *folder = (struct temporary){.lock = -1};
    errno = reason;
    return false;
}

bool temporary_create(struct temporary *folder, const char *parent, bool inherited,
                      struct error *error)
{
    parent = parent ? parent : parent_folder();
    bool lost = true;
    *folder = (struct temporary){.lock = -1};
    for (u32 i = 0; i < TRIES && lost; i++)
        if (make_folder(folder, parent, inherited, &lost))
            return true;
    return error_set(error, ERROR_SYSTEM, parent, "cannot create a folder: %s", strerror(errno));
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
        const bool new = !strncmp(entry->d_name, hidden, sizeof hidden - 1);
        if (!new &&strncmp(entry->d_name, prefix, sizeof prefix - 1) != 0)
            continue;
        if (new &&unlinkat(dirfd(folder), entry->d_name, AT_REMOVEDIR) == 0) {
            removed++; /* it was empty */
            continue;
        }
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
