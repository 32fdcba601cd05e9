/*
 * The compile cache: see cache.h.
 *
 * A file:  "HeddleCC", u32 format, u32 files, u64 bytes of the log, u64 bytes of the binary, 64
 * digits: SHA-256 of all after them; then for each file its hash (64 digits), u32 length, path;
 * then log and binary.
 */
#include "opencl/cache.h"

#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    FORMAT = 1,
    DEFAULT_MB = 512,
    STALE_SECONDS = 3600, /* an incomplete file of this age has been abandoned */
    HASH_DIGITS = SHA256_TEXT - 1
};
static const size_t FILE_LIMIT = (size_t)1 << 30;
static const char MAGIC[8] = "HeddleCC";

struct cache_head {
    char magic[8];
    u32 format, files;
    u64 log, binary; /* bytes */
    char hash[HASH_DIGITS];
};

static const char *cache_folder(struct arena *arena)
{
    const char *set = getenv("HEDDLE_CACHE_DIR");
    if (set && *set)
        return set;
    set = getenv("XDG_CACHE_HOME");
    if (set && *set == '/')
        return arena_printf(arena, "%s/heddle", set);
    set = getenv("HOME");
    return set && *set == '/' ? arena_printf(arena, "%s/.cache/heddle", set) : NULL;
}

static u64 cache_limit(void)
{
    const char *set = getenv("HEDDLE_CACHE_MB");
    u64 value = DEFAULT_MB;
    if (set && *set && text_u64(set, &value) != TEXT_OK)
        value = DEFAULT_MB;
    return MIN(value, (u64)1 << 30) << 20;
}

static bool hash_file(const char *path, char text[SHA256_TEXT])
{
    struct error error = {0};
    size_t bytes;
    char *data = text_read_file(path, false, FILE_LIMIT, &bytes, &error);
    if (!data)
        return false;
    struct sha256 hash;
    sha256_start(&hash);
    sha256_add(&hash, data, bytes);
    sha256_text(&hash, text);
    free(data);
    return true;
}

/* ---- finding ---- */

/* Checks one included file and advances `at`. False: the entry is damaged or the file has
 * changed. */
static bool file_unchanged(struct arena *arena, const u8 **at, const u8 *end)
{
    u32 length;
    char now[SHA256_TEXT];
    if ((size_t)(end - *at) < HASH_DIGITS + sizeof length)
        return false;
    const u8 *hash = *at;
    memcpy(&length, *at + HASH_DIGITS, sizeof length);
    *at += HASH_DIGITS + sizeof length;
    if (length > (size_t)(end - *at))
        return false;
    const char *path = arena_strndup(arena, (const char *)*at, length);
    *at += length;
    return hash_file(path, now) && !memcmp(now, hash, HASH_DIGITS);
}

static bool read_entry(struct arena *arena, const u8 *data, size_t bytes, struct cache_entry *entry)
{
    struct cache_head head;
    if (bytes < sizeof head)
        return false;
    memcpy(&head, data, sizeof head);
    if (memcmp(head.magic, MAGIC, sizeof MAGIC) || head.format != FORMAT)
        return false;
    char text[SHA256_TEXT];
    struct sha256 hash;
    sha256_start(&hash);
    sha256_add(&hash, data + sizeof head, bytes - sizeof head);
    sha256_text(&hash, text);
    if (memcmp(text, head.hash, sizeof head.hash))
        return false;
    const u8 *at = data + sizeof head, *end = data + bytes;
    for (u32 i = 0; i < head.files; i++)
        if (!file_unchanged(arena, &at, end))
            return false;
    if (head.log > (u64)(end - at) || head.binary != (u64)(end - at) - head.log)
        return false;
    entry->log = arena_strndup(arena, (const char *)at, (size_t)head.log);
    entry->bytes = (size_t)head.binary;
    u8 *copy = arena_alloc(arena, entry->bytes + 1);
    memcpy(copy, at + head.log, entry->bytes);
    entry->binary = copy;
    return true;
}

bool cache_find(struct arena *arena, const char key[SHA256_TEXT], struct cache_entry *entry)
{
    *entry = (struct cache_entry){0};
    const char *folder = cache_folder(arena);
    if (!folder || !cache_limit())
        return false;
    const char *path = arena_printf(arena, "%s/%s.clc", folder, key);
    struct error error = {0};
    size_t bytes;
    char *data = text_read_file(path, false, FILE_LIMIT, &bytes, &error);
    bool found = data && read_entry(arena, (const u8 *)data, bytes, entry);
    free(data);
    if (found) /* record the time of the last use */
        utimensat(AT_FDCWD, path, NULL, 0);
    return found;
}

/* ---- storing ---- */

/* Creates a folder and its parents. */
static bool make_folder(const char *folder)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s", folder) >= PATH_MAX)
        return false;
    for (char *at = path + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = 0;
        mkdir(path, 0700);
    }
    return !mkdir(path, 0700) || errno == EEXIST;
}

struct cache_bytes {
    u8 *data;
    u32 count, capacity;
};

static void append(struct cache_bytes *out, const void *data, size_t bytes)
{
    if (out->capacity - out->count < bytes)
        out->data = vec_grow(out->data, &out->capacity, out->count + (u32)bytes, 1);
    if (bytes)
        memcpy(out->data + out->count, data, bytes);
    out->count += (u32)bytes;
}

/* The entry as malloc'd bytes; NULL: an included file cannot be read any more. */
static u8 *write_entry(const struct cache_entry *entry, const char *const *files, u32 count,
                       size_t *bytes)
{
    struct cache_head head = {.format = FORMAT, .files = count, .log = strlen(entry->log)};
    head.binary = entry->bytes;
    memcpy(head.magic, MAGIC, sizeof MAGIC);
    struct cache_bytes out = {0};
    append(&out, &head, sizeof head);
    for (u32 i = 0; i < count; i++) {
        char text[SHA256_TEXT];
        const u32 length = (u32)strlen(files[i]);
        if (!hash_file(files[i], text)) {
            vec_free(&out);
            return NULL;
        }
        append(&out, text, HASH_DIGITS);
        append(&out, &length, sizeof length);
        append(&out, files[i], length);
    }
    append(&out, entry->log, head.log);
    append(&out, entry->binary, entry->bytes);
    char text[SHA256_TEXT];
    struct sha256 hash;
    sha256_start(&hash);
    sha256_add(&hash, out.data + sizeof head, out.count - sizeof head);
    sha256_text(&hash, text);
    memcpy(out.data + offsetof(struct cache_head, hash), text, HASH_DIGITS);
    *bytes = out.count;
    return out.data;
}

static bool write_whole(int file, const u8 *data, size_t bytes)
{
    while (bytes) {
        ssize_t written = write(file, data, bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        data += written;
        bytes -= (size_t)written;
    }
    return true;
}

struct kept_file {
    char name[NAME_MAX + 1];
    struct timespec used;
    u64 bytes;
};

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const struct kept_file *)a)->used,
                          *y = &((const struct kept_file *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length > tail && !strcmp(name + length - tail, end);
}

/* Removes the least recently used entries until the rest fits, and abandoned files. Another process
 * may do the same concurrently: missing files are ignored. */
static void evict(const char *folder, u64 limit)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    VEC(struct kept_file) files = {0};
    u64 total = 0;
    struct dirent *entry;
    while ((entry = readdir(dir))) {
        struct stat info;
        bool temporary = ends_with(entry->d_name, ".tmp");
        if ((!temporary && !ends_with(entry->d_name, ".clc")) ||
            fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW))
            continue;
        if (temporary) {
            if (time(NULL) - info.st_mtime > STALE_SECONDS)
                unlinkat(dirfd(dir), entry->d_name, 0);
            continue;
        }
        struct kept_file *file = vec_push(&files);
        snprintf(file->name, sizeof file->name, "%s", entry->d_name);
        file->used = info.st_mtim;
        file->bytes = (u64)info.st_size;
        total += file->bytes;
    }
    if (total > limit) {
        qsort(files.data, files.count, sizeof *files.data, by_use);
        for (u32 i = 0; i < files.count && total > limit; i++) {
            unlinkat(dirfd(dir), files.data[i].name, 0);
            total -= files.data[i].bytes;
        }
    }
    closedir(dir);
    vec_free(&files);
}

void cache_store(const char key[SHA256_TEXT], const struct cache_entry *entry,
                 const char *const *files, u32 file_count)
{
    struct arena *arena = arena_create();
    const char *folder = cache_folder(arena);
    u64 limit = cache_limit();
    size_t bytes = 0;
    u8 *data = folder && limit && make_folder(folder)
                   ? write_entry(entry, files, file_count, &bytes)
                   : NULL;
    if (data && bytes <= limit) {
        char *temporary = arena_printf(arena, "%s/XXXXXX.tmp", folder);
        int file = mkostemps(temporary, 4, O_CLOEXEC);
        if (file >= 0) {
            bool written = write_whole(file, data, bytes);
            written = !close(file) && written;
            if (!written || rename(temporary, arena_printf(arena, "%s/%s.clc", folder, key)))
                unlink(temporary);
            evict(folder, limit);
        }
    }
    free(data);
    arena_destroy(arena);
}
