/*
 * Sums of launches (base/sums.h): a file in the session's folder, mapped into this process and
 * updated by additions only. So a launch costs no system call, and the sums are complete however
 * the program ends.
 *
 * Each kernel of a device has a row of whole pages. Its space is reserved before it is mapped: a
 * full disk is an error here, not a signal later.
 */
#include "host/sums.h"

#include "base/arena.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

struct kernel_launches {
    const struct session_device *device;
    char *kernel;
    struct launch_sum *sum;
};

struct sums {
    const char *folder, *name;
    int file;  /* -1: not created yet */
    off_t end; /* size of the file in bytes */
    VEC(struct kernel_launches) rows;
};

struct sums *sums_create(const char *folder, const char *name)
{
    struct sums *sums = checked(calloc(1, sizeof *sums));
    sums->folder = folder;
    sums->name = name;
    sums->file = -1;
    return sums;
}

static bool open_file(struct sums *sums)
{
    char path[4096];
    if (sums->file >= 0)
        return true;
    snprintf(path, sizeof path, "%s/%s%ld.sums", sums->folder, sums->name, (long)getpid());
    sums->file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return sums->file >= 0;
}

struct launch_sum *sums_find(const struct sums *sums, const struct session_device *device,
                             const char *kernel)
{
    for (u32 i = 0; i < sums->rows.count; i++) {
        const struct kernel_launches *row = &sums->rows.data[i];
        if (row->device == device && !strcmp(row->kernel, kernel))
            return row->sum;
    }
    return NULL;
}

struct launch_sum *sums_add(struct sums *sums, const struct session_device *device,
                            const char *kernel, size_t counters, u64 *offset)
{
    size_t bytes =
        align_up(sizeof(struct launch_sum) + counters * sizeof(u64), (u64)sysconf(_SC_PAGESIZE));
    if (!open_file(sums) || posix_fallocate(sums->file, sums->end, (off_t)bytes) != 0)
        return NULL;
    void *sum = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, sums->file, sums->end);
    if (sum == MAP_FAILED)
        return NULL;
    *offset = (u64)sums->end;
    sums->end += (off_t)bytes;
    *(struct kernel_launches *)vec_push(&sums->rows) =
        (struct kernel_launches){device, checked(strdup(kernel)), sum};
    return sum;
}
