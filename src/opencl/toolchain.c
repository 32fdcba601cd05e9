/* Where the compiler and its libraries are: see toolchain.h. */
#include "opencl/toolchain.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef HEDDLE_LIBCLC
#define HEDDLE_LIBCLC "/usr/lib/clc"
#endif

static bool exists(const char *path)
{
    return !access(path, R_OK);
}

/* The folder of our library, which has this file; NULL: nowhere. It is looked for from the driver's
 * own place, so that an installation can be moved. */
static const char *data_folder(struct arena *arena, const char *file)
{
    const char *set = getenv("HEDDLE_DATA");
    const char *folders[] = {set && *set ? arena_printf(arena, "%s/opencl", set) : NULL, NULL,
                             NULL};
    Dl_info info;
    if (!folders[0] && dladdr((const void *)(uintptr_t)toolchain_find, &info) && info.dli_fname) {
        const char *slash = strrchr(info.dli_fname, '/');
        const char *here =
            slash ? arena_strndup(arena, info.dli_fname, (size_t)(slash - info.dli_fname)) : ".";
        folders[1] = arena_printf(arena, "%s/share/heddle/opencl", here); /* the build's */
        folders[2] = arena_printf(arena, "%s/" HEDDLE_DATA_FROM_LIBRARY "/heddle/opencl", here);
    }
    for (u32 i = 0; i < ARRAY_LEN(folders); i++)
        if (folders[i] && exists(arena_printf(arena, "%s/%s", folders[i], file)))
            return folders[i];
    return NULL;
}

bool toolchain_find(struct toolchain *toolchain, struct arena *arena, bool si, const char **missing)
{
    const char *clang = getenv("HEDDLE_CLANG");
    toolchain->clang = clang && *clang ? clang : "clang-14";
    const char *library = si ? "builtins-si.bc" : "builtins-ptx.bc";
    const char *folder = data_folder(arena, library);
    toolchain->libclc =
        si ? HEDDLE_LIBCLC "/amdgcn--amdhsa.bc" : HEDDLE_LIBCLC "/nvptx64--nvidiacl.bc";
    *missing = !folder ? library : toolchain->libclc;
    if (!folder || !exists(toolchain->libclc))
        return false;
    toolchain->library = arena_printf(arena, "%s/%s", folder, library);
    toolchain->header = arena_printf(arena, "%s/builtins.h", folder);
    *missing = toolchain->header;
    return exists(toolchain->header);
}

/* A file of a package is known by its place, size and date, which cost no reading. */
static void identify_file(const char *path, struct sha256 *hash)
{
    struct stat info = {0};
    stat(path, &info);
    const i64 facts[] = {(i64)info.st_size, (i64)info.st_mtim.tv_sec, (i64)info.st_mtim.tv_nsec};
    sha256_add(hash, path, strlen(path) + 1);
    sha256_add(hash, facts, sizeof facts);
}

/* Of a program on the PATH the one that will run. */
static void identify_program(const char *name, struct sha256 *hash)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/') || !path) {
        identify_file(name, hash);
        return;
    }
    while (*path) {
        size_t length = strcspn(path, ":");
        char candidate[PATH_MAX];
        snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, path, name);
        if (!access(candidate, X_OK)) {
            identify_file(candidate, hash);
            return;
        }
        path += length + (path[length] == ':');
    }
}

void toolchain_identify(const struct toolchain *toolchain, struct sha256 *hash)
{
    Dl_info driver; /* it decides on arguments, and changes what the compiler left */
    if (dladdr((const void *)(uintptr_t)toolchain_find, &driver) && driver.dli_fname)
        identify_file(driver.dli_fname, hash);
    identify_program(toolchain->clang, hash);
    identify_file(toolchain->header, hash);
    identify_file(toolchain->library, hash);
    identify_file(toolchain->libclc, hash);
}
