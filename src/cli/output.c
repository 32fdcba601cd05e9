/* Atomic output files: see output.h. */
#include "cli/output.h"

#include "base/arena.h"
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool refuse(struct error *error, const char *path, const char *what)
{
    return error_set(error, ERROR_SYSTEM, path, "cannot write: %s", what);
}

/* Whether the directory of a path exists and is writable. */
static bool directory_ok(const char *path, struct error *error)
{
    char *copy = strdup(path);
    const char *directory = dirname(copy);
    struct stat status;
    bool ok = false;
    if (stat(directory, &status) != 0)
        error_set(error, ERROR_SYSTEM, path, "cannot write: directory '%.200s': %s", directory,
                  strerror(errno));
    else if (!S_ISDIR(status.st_mode))
        error_set(error, ERROR_SYSTEM, path, "cannot write: '%.200s' is not a directory",
                  directory);
    else if (access(directory, W_OK | X_OK) != 0)
        error_set(error, ERROR_SYSTEM, path, "cannot write: directory '%.200s': %s", directory,
                  strerror(errno));
    else
        ok = true;
    free(copy);
    return ok;
}

bool output_check(const char *path, struct error *error)
{
    struct stat status;
    if (!strcmp(path, "-"))
        return true;
    if (!path[0])
        return refuse(error, path, "the name is empty");
    if (path[strlen(path) - 1] == '/')
        return refuse(error, path, "this names a directory: expected a file");
    if (stat(path, &status) != 0)
        return errno == ENOENT ? directory_ok(path, error) : refuse(error, path, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return refuse(error, path, "this is a directory: expected a file");
    if (access(path, W_OK) != 0)
        return refuse(error, path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return true;
    char *real = realpath(path, NULL);
    bool ok = real ? directory_ok(real, error) : refuse(error, path, strerror(errno));
    free(real);
    return ok;
}

/* The absolute name of a file that exists or could be created; else NULL. */
static char *absolute(const char *path)
{
    char *real = realpath(path, NULL);
    if (real)
        return real;
    char *copy = strdup(path), *whole = NULL;
    const char *slash = strrchr(path, '/');
    char *directory = realpath(dirname(copy), NULL);
    if (directory && asprintf(&whole, "%s/%s", directory, slash ? slash + 1 : path) < 0)
        host_memory_exhausted();
    free(directory);
    free(copy);
    return whole;
}

bool output_same(const char *a, const char *b)
{
    struct stat status;
    if (!strcmp(a, "-") || !strcmp(b, "-"))
        return !strcmp(a, b);
    if (stat(a, &status) == 0 && !S_ISREG(status.st_mode))
        return false;
    char *first = absolute(a), *second = absolute(b);
    bool same = first && second && !strcmp(first, second);
    free(first);
    free(second);
    return same;
}

/* The mode of the file that is replaced, or of a new file by open(). */
static mode_t target_mode(const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0)
        return status.st_mode & 07777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static bool open_temporary(struct output *output, struct error *error)
{
    if (asprintf(&output->temporary, "%s.XXXXXX", output->path) < 0)
        host_memory_exhausted();
    int file = mkostemp(output->temporary, O_CLOEXEC);
    if (file >= 0) {
        fchmod(file, target_mode(output->path));
        output->stream = fdopen(file, "wb");
        if (output->stream)
            return true;
        close(file);
        unlink(output->temporary);
    }
    refuse(error, output->path, strerror(errno));
    free(output->temporary);
    free(output->path);
    return false;
}

bool output_open(struct output *output, const char *path, struct error *error)
{
    *output = (struct output){0};
    if (!strcmp(path, "-")) {
        output->stream = stdout;
        return true;
    }
    struct stat status;
    bool exists = stat(path, &status) == 0;
    char *real = realpath(path, NULL);
    output->path = real ? real : strdup(path);
    if (!exists || S_ISREG(status.st_mode))
        return open_temporary(output, error);
    output->stream = fopen(path, "wbe");
    if (output->stream)
        return true;
    refuse(error, path, strerror(errno));
    free(output->path);
    return false;
}

bool output_commit(struct output *output, struct error *error)
{
    if (!output->path) {
        if (fflush(stdout) == 0 && !ferror(stdout))
            return true;
        clearerr(stdout); /* reported once */
        return refuse(error, "standard output", strerror(errno));
    }
    bool ok = fflush(output->stream) == 0 && !ferror(output->stream);
    int reason = errno;
    if (fclose(output->stream) != 0 && ok) {
        ok = false;
        reason = errno;
    }
    if (ok && output->temporary && rename(output->temporary, output->path) != 0) {
        ok = false;
        reason = errno;
    }
    if (!ok) {
        refuse(error, output->path, strerror(reason));
        if (output->temporary)
            unlink(output->temporary);
    }
    free(output->temporary);
    free(output->path);
    return ok;
}

void output_discard(struct output *output)
{
    if (!output->path)
        return;
    fclose(output->stream);
    if (output->temporary)
        unlink(output->temporary);
    free(output->temporary);
    free(output->path);
}
