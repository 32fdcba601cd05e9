/* Files and processes of one compilation: see process.h. */
#include "opencl/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

bool scratch_create(struct scratch *scratch)
{
    struct error error = {0};
    const bool ok = temporary_create(&scratch->temporary, NULL, false, &error);
    scratch->folder = scratch->temporary.path;
    return ok;
}

void scratch_destroy(struct scratch *scratch)
{
    temporary_remove(&scratch->temporary);
    scratch->folder = NULL;
}

const char *scratch_path(const struct scratch *scratch, struct arena *arena, const char *name)
{
    return arena_printf(arena, "%s/%s", scratch->folder, name);
}

/* Whether a relative path stays inside its folder. */
static bool stays(const char *name)
{
    if (!*name || *name == '/')
        return false;
    for (const char *at = name; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (!strncmp(at, "..", 2) && (!at[2] || at[2] == '/'))
            return false;
    }
    return true;
}

bool scratch_write(const struct scratch *scratch, const char *name, const void *data, size_t bytes)
{
    char path[PATH_MAX];
    if (!stays(name) || snprintf(path, sizeof path, "%s/%s", scratch->folder, name) >= PATH_MAX)
        return false;
    for (char *at = path + strlen(scratch->folder) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = 0;
        if (mkdir(path, 0700) && errno != EEXIST)
            return false;
    }
    FILE *file = fopen(path, "wbe");
    if (!file)
        return false;
    bool written = !bytes || fwrite(data, bytes, 1, file) == 1;
    return !fclose(file) && written;
}

/* The environment, with temporary files in the scratch folder, messages in English and no headers
 * from elsewhere. Free the array; its first entry is in the arena. */
static char **child_environment(const struct scratch *scratch, struct arena *arena)
{
    size_t count = 0, out = 0;
    while (environ && environ[count])
        count++;
    char **result = checked(malloc((count + 3) * sizeof *result));
    result[out++] = arena_printf(arena, "TMPDIR=%s", scratch->folder);
    result[out++] = arena_strdup(arena, "LC_ALL=C");
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "TMPDIR=", 7) && strncmp(environ[i], "LC_ALL=", 7) &&
            strncmp(environ[i], "CPATH=", 6) && strncmp(environ[i], "CCC_", 4))
            result[out++] = environ[i];
    result[out] = NULL;
    return result;
}

/* The exit code; 0 if the program ignores SIGCHLD, where only the output shows success. */
static int wait_for(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
}

int process_run(const struct scratch *scratch, const char *const *words, const char *input,
                const char *output)
{
    struct arena *arena = arena_create();
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, input ? input : "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    /* reset the signal settings that the program may have changed */
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    char **environment = child_environment(scratch, arena);
    pid_t child;
    int failure =
        posix_spawnp(&child, words[0], &files, &attributes, (char *const *)words, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    free(environment);
    arena_destroy(arena);
    if (failure) {
        errno = failure;
        return -1;
    }
    return wait_for(child);
}
