/* Where the compiler and its libraries are: see toolchain.h. */
#include "opencl/toolchain.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef HEDDLE_LIBCLC
#define HEDDLE_LIBCLC "/usr/lib/clc"
#endif
/* Where Debian's package rocm-device-libs puts them. */
#define ROCM_FOLDER "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"

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

/* Where a program on the PATH is, into `place`; a path is what it is. False: nowhere. */
static bool find_program(const char *name, char place[PATH_MAX])
{
    const char *path = getenv("PATH");
    if (strchr(name, '/') || !path) {
        snprintf(place, PATH_MAX, "%s", name);
        return !access(place, X_OK);
    }
    while (*path) {
        size_t length = strcspn(path, ":");
        snprintf(place, PATH_MAX, "%.*s/%s", (int)length, path, name);
        if (!access(place, X_OK))
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

/* The compiler's version by its name (clang-19) or the folder that it really lies in
 * (/usr/lib/llvm-19/bin/clang), without running it; 0: neither tells. */
static unsigned long version_of(const char *clang)
{
    static const char FOLDER[] = "/llvm-";
    char place[PATH_MAX];
    const char *slash = strrchr(clang, '/'), *dash = strrchr(slash ? slash : clang, '-');
    if (dash)
        return strtoul(dash + 1, NULL, 10);
    char *real = find_program(clang, place) ? realpath(place, NULL) : NULL;
    const char *folder = real ? strstr(real, FOLDER) : NULL;
    unsigned long version = folder ? strtoul(folder + strlen(FOLDER), NULL, 10) : 0;
    free(real);
    return version;
}

/* The compiler, and AMD's device libraries if they are there and it can read them: they are
 * bitcode of LLVM 15. */
static void choose_compiler(struct toolchain *toolchain, struct arena *arena, bool si)
{
    const char *set = getenv("HEDDLE_CLANG"), *folder = getenv("HEDDLE_ROCM");
    char place[PATH_MAX];
    folder = folder && *folder ? folder : ROCM_FOLDER;
    const bool rocm = si && exists(arena_printf(arena, "%s/opencl.bc", folder));
    toolchain->clang = set && *set ? set : "clang-14";
    if (rocm && !(set && *set) && find_program("clang-19", place) &&
        find_program("ld.lld-19", place))
        toolchain->clang = "clang-19";
    toolchain->rocm = rocm && version_of(toolchain->clang) >= 15 ? folder : NULL;
}

bool toolchain_find(struct toolchain *toolchain, struct arena *arena, bool si, const char **missing)
{
    choose_compiler(toolchain, arena, si);
    const char *library = toolchain->rocm ? "builtins-rocm.bc"
                          : si            ? "builtins-si.bc"
                                          : "builtins-ptx.bc";
    const char *folder = data_folder(arena, library);
    toolchain->libclc = toolchain->rocm ? NULL
                        : si            ? HEDDLE_LIBCLC "/amdgcn--amdhsa.bc"
                                        : HEDDLE_LIBCLC "/nvptx64--nvidiacl.bc";
    *missing = !folder ? library : toolchain->libclc;
    if (!folder || (toolchain->libclc && !exists(toolchain->libclc)))
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
    char place[PATH_MAX];
    if (find_program(name, place))
        identify_file(place, hash);
}

void toolchain_identify(const struct toolchain *toolchain, struct sha256 *hash)
{
    Dl_info driver; /* it decides on arguments, and changes what the compiler left */
    if (dladdr((const void *)(uintptr_t)toolchain_find, &driver) && driver.dli_fname)
        identify_file(driver.dli_fname, hash);
    identify_program(toolchain->clang, hash);
    identify_file(toolchain->header, hash);
    identify_file(toolchain->library, hash);
    if (toolchain->libclc)
        identify_file(toolchain->libclc, hash);
    static const char *const parts[] = {"opencl.bc", "ocml.bc", "ockl.bc"};
    for (u32 i = 0; toolchain->rocm && i < ARRAY_LEN(parts); i++) {
        char part[PATH_MAX];
        snprintf(part, sizeof part, "%s/%s", toolchain->rocm, parts[i]);
        identify_file(part, hash);
    }
}
