/* Folders, descriptors and mappings of programs in campaigns: see site.h. */
#include "fault/site.h"

#include "base/arena.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
    MOST_COPIED = 1 << 20,  /* bytes of a file of the working folder; larger ones are linked */
    MOST_IN_ALL = 64 << 20, /* bytes of all of them */
    MOST_DESCRIPTORS = 1 << 16
};

/* ---- trees ---- */

static bool copy_bytes(int from, int to)
{
    static const size_t step = 1 << 20;
    ssize_t done;
    off_t at = 0;
    while ((done = copy_file_range(from, &at, to, NULL, step, 0)) > 0)
        continue;
    if (done == 0)
        return true;
    char *buffer = checked(malloc(step)); /* between file systems that do not copy */
    while ((done = pread(from, buffer, step, at)) > 0) {
        if (write(to, buffer, (size_t)done) != done) {
            done = -1;
            break;
        }
        at += done;
    }
    free(buffer);
    return done == 0;
}

static bool copy_file(const char *from, const char *to, mode_t mode)
{
    const int in = open(from, O_RDONLY | O_CLOEXEC);
    const int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode | 0200);
    bool ok = out >= 0 && copy_bytes(in, out);
    const int why = errno;
    if (out >= 0 && close(out) != 0)
        ok = false;
    if (in >= 0)
        close(in);
    errno = why;
    return ok;
}

static bool copy_link(const char *from, const char *to)
{
    char target[4096];
    const ssize_t length = readlink(from, target, sizeof target - 1);
    if (length < 0)
        return false;
    target[length] = '\0';
    return symlink(target, to) == 0;
}

static bool failed(struct error *error, const char *path)
{
    return error_set(error, ERROR_SYSTEM, path, "cannot copy: %s", strerror(errno));
}

bool site_copy(const char *from, const char *to, struct error *error)
{
    struct stat status;
    if (lstat(from, &status) != 0)
        return failed(error, from);
    if (S_ISLNK(status.st_mode))
        return copy_link(from, to) || failed(error, to);
    if (S_ISREG(status.st_mode))
        return copy_file(from, to, status.st_mode & 0777) || failed(error, to);
    if (!S_ISDIR(status.st_mode))
        return true; /* a pipe or socket: programs do not share it */
    DIR *folder = mkdir(to, 0700) == 0 ? opendir(from) : NULL;
    bool ok = folder;
    for (struct dirent *entry; ok && (entry = readdir(folder));) {
        char *inner, *outer;
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        if (asprintf(&inner, "%s/%s", from, entry->d_name) < 0 ||
            asprintf(&outer, "%s/%s", to, entry->d_name) < 0)
            host_memory_exhausted();
        ok = site_copy(inner, outer, error);
        free(inner);
        free(outer);
    }
    if (!folder)
        failed(error, to);
    else
        closedir(folder);
    return ok;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    remove(path);
    return 0;
}

void site_remove(const char *path)
{
    enum {
        FILES_OPEN = 8
    };
    nftw(path, remove_one, FILES_OPEN, FTW_DEPTH | FTW_PHYS);
}

/* An entry of the working folder. */
static bool take_entry(const char *own, const char *cwd, const char *name, u64 *copied,
                       struct error *error)
{
    struct stat status;
    char *from, *to;
    if (asprintf(&from, "%s/%s", own, name) < 0 || asprintf(&to, "%s/%s", cwd, name) < 0)
        host_memory_exhausted();
    bool ok = stat(from, &status) == 0;
    const bool copies = ok && S_ISREG(status.st_mode) && status.st_size <= MOST_COPIED &&
                        *copied + (u64)status.st_size <= MOST_IN_ALL && access(from, R_OK) == 0;
    if (copies) {
        ok = copy_file(from, to, status.st_mode & 0777) || failed(error, to);
        *copied += (u64)status.st_size;
    } else {
        ok = symlink(from, to) == 0 || failed(error, to);
    }
    free(from);
    free(to);
    return ok;
}

bool site_make(const char *to, struct error *error)
{
    static const char *const parts[] = {"", "/cwd", "/tmp"};
    char *own = getcwd(NULL, 0), *cwd = NULL;
    bool ok = own || failed(error, "the working folder");
    u64 copied = 0;
    for (u32 i = 0; ok && i < ARRAY_LEN(parts); i++) {
        free(cwd);
        if (asprintf(&cwd, "%s%s", to, parts[i]) < 0)
            host_memory_exhausted();
        ok = mkdir(cwd, 0700) == 0 || failed(error, cwd);
    }
    free(cwd);
    if (asprintf(&cwd, "%s/cwd", to) < 0)
        host_memory_exhausted();
    DIR *folder = ok ? opendir(own) : NULL;
    if (ok && !folder)
        ok = failed(error, own);
    for (struct dirent *entry; ok && (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            ok = take_entry(own, cwd, entry->d_name, &copied, error);
    if (folder)
        closedir(folder);
    free(cwd);
    free(own);
    return ok;
}

/* ---- shared files ---- */

void *site_map(const char *path, size_t bytes, bool create, struct error *error)
{
    struct stat status;
    const int file =
        open(path, O_RDWR | O_CLOEXEC | (create ? O_CREAT | O_EXCL : 0), S_IRUSR | S_IWUSR);
    void *map = MAP_FAILED;
    if (file >= 0 && create && ftruncate(file, (off_t)bytes) != 0)
        error_set(error, ERROR_SYSTEM, path, "cannot write: %s", strerror(errno));
    else if (file < 0)
        error_set(error, ERROR_SYSTEM, path, "cannot open: %s", strerror(errno));
    else if (fstat(file, &status) != 0 || (u64)status.st_size != bytes)
        error_set(error, ERROR_INPUT, path, "is of another build of Heddle");
    else if ((map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)) == MAP_FAILED)
        error_set(error, ERROR_SYSTEM, path, "cannot map: %s", strerror(errno));
    if (file >= 0)
        close(file);
    return map == MAP_FAILED ? NULL : map;
}

bool site_reserve(const char *path, u64 at, u64 bytes, struct error *error)
{
    const int file = open(path, O_RDWR | O_CLOEXEC);
    const int why = file < 0 ? errno : posix_fallocate(file, (off_t)at, (off_t)bytes);
    if (file >= 0)
        close(file);
    return !why || error_set(error, ERROR_SYSTEM, path, "cannot write: %s", strerror(why));
}

/* ---- confinement ---- */

static const u64 landlock_writes = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                   LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                   LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                   LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                   LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
/* Access rights of a file that is no folder. */
static const u64 landlock_file = LANDLOCK_ACCESS_FS_WRITE_FILE;

static void allow(int rules, const char *path, u64 access)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = access,
                                              .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent_fd < 0)
        return;
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
}

bool site_confine(const char *const *folders, u32 count)
{
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/tty"};
    const struct landlock_ruleset_attr attributes = {.handled_access_fs = landlock_writes};
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
    if (rules < 0)
        return false;
    for (u32 i = 0; i < count; i++)
        allow(rules, folders[i], landlock_writes);
    for (u32 i = 0; i < ARRAY_LEN(devices); i++)
        allow(rules, devices[i], landlock_file);
    const bool ok = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                    syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    close(rules);
    return ok;
}

/* ---- descriptors ---- */

struct parting {
    const char *from, *to;
    size_t from_length;
};

/* The path of a file in the copy; NULL: it is elsewhere. */
static char *moved(const struct parting *parting, const char *path)
{
    char *result;
    if (strncmp(path, parting->from, parting->from_length) != 0 ||
        (path[parting->from_length] != '/' && path[parting->from_length]))
        return NULL;
    if (asprintf(&result, "%s%s", parting->to, path + parting->from_length) < 0)
        host_memory_exhausted();
    return result;
}

/* A copy of an open file that has no name. */
static int copy_open(int fd)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const int in = open(path, O_RDONLY | O_CLOEXEC), out = memfd_create("heddle-copy", MFD_CLOEXEC);
    if (in >= 0 && out >= 0)
        copy_bytes(in, out);
    if (in >= 0)
        close(in);
    return out;
}

/* A descriptor of its own in the place of one that is shared with the process it was forked from. */
static bool part_descriptor(const struct parting *parting, int fd, const char *target)
{
    struct stat status;
    const int flags = fcntl(fd, F_GETFL), own = fcntl(fd, F_GETFD);
    char self[64];
    if (flags < 0 || fstat(fd, &status) != 0)
        return true;
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    const bool reads = (flags & O_ACCMODE) == O_RDONLY;
    const bool memory = S_ISCHR(status.st_mode) && major(status.st_rdev) == 1;
    int fresh = -1;
    if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) {
        const off_t at = lseek(fd, 0, SEEK_CUR);
        char *copy = moved(parting, target);
        if (copy)
            fresh = open(copy, (flags & ~(O_CREAT | O_TRUNC | O_EXCL)) | O_CLOEXEC);
        if (fresh < 0)
            fresh = reads ? open(self, O_RDONLY | O_CLOEXEC) : copy_open(fd);
        free(copy);
        if (fresh >= 0 && at > 0)
            lseek(fresh, at, SEEK_SET);
    } else if (memory) { /* /dev/null and its like have no state */
        return true;
    } else {
        fresh = open("/dev/null", (flags & O_ACCMODE) | O_CLOEXEC);
    }
    if (fresh < 0) {
        close(fd);
        return false;
    }
    const bool ok = dup3(fresh, fd, own & FD_CLOEXEC ? O_CLOEXEC : 0) >= 0;
    fcntl(fd, F_SETFL, flags);
    close(fresh);
    return ok;
}

static bool part_descriptors(const struct parting *parting, int keep)
{
    int *list = checked(calloc(MOST_DESCRIPTORS, sizeof *list));
    DIR *folder = opendir("/proc/self/fd");
    u32 count = 0;
    bool ok = folder;
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (*entry->d_name != '.' && atoi(entry->d_name) != dirfd(folder) &&
            count < MOST_DESCRIPTORS)
            list[count++] = atoi(entry->d_name);
    if (folder)
        closedir(folder);
    for (u32 i = 0; i < count; i++) {
        char self[64], target[4096];
        snprintf(self, sizeof self, "/proc/self/fd/%d", list[i]);
        const ssize_t length = readlink(self, target, sizeof target - 1);
        if (list[i] == keep || length < 0)
            continue;
        target[length] = '\0';
        ok &= part_descriptor(parting, list[i], target);
    }
    free(list);
    return ok;
}

/* ---- mappings ---- */

static bool is_kept(u64 from, u64 to, const struct site_kept *kept, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        const u64 start = (u64)(uintptr_t)kept[i].start;
        if (from < start + kept[i].bytes && to > start)
            return true;
    }
    return false;
}

/* Replaces a shared mapping by private memory with the same contents. */
static bool part_mapping(u64 from, u64 to)
{
    void *at = (void *)(uintptr_t)from; // NOLINT(performance-no-int-to-ptr)
    const size_t bytes = to - from;
    void *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return false;
    memcpy(copy, at, bytes);
    return mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) != MAP_FAILED;
}

static bool part_mappings(const struct site_kept *kept, u32 kept_count)
{
    enum {
        MOST = 256
    };
    u64 ranges[MOST][2];
    u32 count = 0;
    char line[4352], rights[8];
    unsigned long long from, to;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%llx-%llx %7s", &from, &to, rights) == 3 && rights[1] == 'w' &&
            rights[3] == 's' && !is_kept(from, to, kept, kept_count) && count < MOST) {
            ranges[count][0] = from;
            ranges[count++][1] = to;
        }
    if (!maps)
        return false;
    fclose(maps);
    bool ok = count < MOST;
    for (u32 i = 0; i < count; i++)
        ok &= part_mapping(ranges[i][0], ranges[i][1]);
    return ok;
}

/* ---- parting ---- */

static bool part_folder(const struct parting *parting)
{
    char *own = getcwd(NULL, 0), *copy = own ? moved(parting, own) : NULL;
    const bool ok = !copy || chdir(copy) == 0;
    free(own);
    free(copy);
    return ok;
}

bool site_part(const char *from, const char *to, int keep, const struct site_kept *kept,
               u32 kept_count)
{
    const struct parting parting = {from, to, strlen(from)};
    struct error error = {0};
    char *tmp;
    if (!site_copy(from, to, &error))
        return false;
    if (asprintf(&tmp, "%s/tmp", to) < 0)
        host_memory_exhausted();
    setenv("TMPDIR", tmp, 1);
    free(tmp);
    return part_descriptors(&parting, keep) && part_mappings(kept, kept_count) &&
           part_folder(&parting);
}

int site_lock(const char *path, struct error *error)
{
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) {
        error_set(error, ERROR_SYSTEM, path, "cannot be opened: %s", strerror(errno));
    } else if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        error_set(error, ERROR_INPUT, path, "another campaign writes it");
        close(file);
        return -1;
    }
    return file;
}
