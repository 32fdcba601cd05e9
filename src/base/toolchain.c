/* Lookup of the compiler and its libraries: see toolchain.h. */
#include "base/toolchain.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef HEDDLE_LIBCLC
#define HEDDLE_LIBCLC "/usr/lib/clc"
#endif
/* The folder of Debian's package rocm-device-libs. */
#define ROCM_FOLDER "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"

static bool exists(const char *path)
{
    return !access(path, R_OK);
}

/* The folder of Heddle's library that has this file; NULL: none. Searched relative to the driver,
 * so that an installation can be moved. */
static const char *data_folder(struct arena *arena, const char *driver, const char *file)
{
    const char *set = getenv("HEDDLE_DATA"), *slash = driver ? strrchr(driver, '/') : NULL;
    const char *folders[] = {NULL, NULL};
    if (set && *set) {
        folders[0] = arena_printf(arena, "%s/opencl", set);
    } else if (driver) {
        const char *here = slash ? arena_strndup(arena, driver, (size_t)(slash - driver)) : ".";
        folders[0] = arena_printf(arena, "%s/share/heddle/opencl", here); /* in a build folder */
        folders[1] = arena_printf(arena, "%s/" HEDDLE_DATA_FROM_LIBRARY "/heddle/opencl", here);
    }
    for (u32 i = 0; i < ARRAY_LEN(folders); i++)
        if (folders[i] && exists(arena_printf(arena, "%s/%s", folders[i], file)))
            return folders[i];
    return NULL;
}

/* Finds a program on the PATH; a path is taken as it is. False: not found. */
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

/* The compiler's version from its name (clang-19) or the folder it is really in
 * (/usr/lib/llvm-19/bin/clang), without running it; 0: unknown. */
static unsigned version_of(const char *clang)
{
    static const char FOLDER[] = "/llvm-";
    char place[PATH_MAX];
    const char *slash = strrchr(clang, '/'), *dash = strrchr(slash ? slash : clang, '-');
    if (dash)
        return (unsigned)strtoul(dash + 1, NULL, 10);
    char *real = find_program(clang, place) ? realpath(place, NULL) : NULL;
    const char *folder = real ? strstr(real, FOLDER) : NULL;
    unsigned version = folder ? (unsigned)strtoul(folder + strlen(FOLDER), NULL, 10) : 0;
    free(real);
    return version;
}

enum {
    OLDEST = 14,
    ROCM_READER = 15 /* AMD's device libraries are bitcode of LLVM 15 */
};

/* The folder of the compiler's own linker, which is in a separate package; NULL: not installed. The
 * compiler itself would use any ld.lld that it finds, of another version. */
static const char *linker_folder(struct arena *arena, const char *clang)
{
    char place[PATH_MAX], name[32];
    snprintf(name, sizeof name, "ld.lld-%u", version_of(clang));
    char *real = find_program(name, place) ? realpath(place, NULL) : NULL;
    const char *folder =
        real ? arena_strndup(arena, real, (size_t)(strrchr(real, '/') - real)) : NULL;
    free(real);
    return folder;
}

static const char *choose_compiler(struct arena *arena, bool si)
{
    static const unsigned ORDER[] = {16, 15, 17, 18, 19, 20, 21, 22};
    const char *set = getenv("HEDDLE_CLANG");
    char place[PATH_MAX];
    if (set && *set)
        return set;
    for (u32 i = 0; i < ARRAY_LEN(ORDER); i++) {
        const char *clang = arena_printf(arena, "clang-%u", ORDER[i]);
        if (find_program(clang, place) && (!si || linker_folder(arena, clang)))
            return clang;
    }
    /* its folder shows its version */
    return version_of("clang") > OLDEST && (!si || linker_folder(arena, "clang")) ? "clang"
                                                                                  : "clang-14";
}

static void choose(struct toolchain *toolchain, struct arena *arena, bool si)
{
    const char *folder = getenv("HEDDLE_ROCM");
    folder = folder && *folder ? folder : ROCM_FOLDER;
    toolchain->clang = choose_compiler(arena, si);
    toolchain->version = version_of(toolchain->clang);
    toolchain->linker = si ? linker_folder(arena, toolchain->clang) : NULL;
    if (si && toolchain->version >= ROCM_READER &&
        exists(arena_printf(arena, "%s/opencl.bc", folder)))
        toolchain->rocm = folder;
    const char *slash = strrchr(toolchain->clang, '/');
    toolchain->name = arena_printf(arena, "%s with %s", slash ? slash + 1 : toolchain->clang,
                                   toolchain->rocm ? "AMD's device libraries" : "libclc");
}

/* The libraries of a target: ours, and libclc's. */
static const struct target_files {
    const char *name, *library, *libclc;
} target_files[CODE_TARGETS_END] = {
    [CODE_PTX] = {"64-bit PTX", "builtins-ptx.bc", HEDDLE_LIBCLC "/nvptx64--nvidiacl.bc"},
    [CODE_SI] = {"Southern Islands code", "builtins-si.bc", HEDDLE_LIBCLC "/amdgcn--amdhsa.bc"},
    [CODE_PTX32] = {"32-bit PTX", "builtins-ptx32.bc", HEDDLE_LIBCLC "/nvptx--nvidiacl.bc"},
};

enum code_target code_target_of(unsigned lanes, unsigned address_bits)
{
    return lanes == 64 ? CODE_SI : address_bits == 32 ? CODE_PTX32 : CODE_PTX;
}

const char *code_target_name(enum code_target target)
{
    return target_files[target].name;
}

bool toolchain_find(struct toolchain *toolchain, struct arena *arena, const char *driver,
                    enum code_target target, const char **missing)
{
    *toolchain = (struct toolchain){.driver = driver};
    choose(toolchain, arena, target == CODE_SI);
    const char *library = toolchain->rocm ? "builtins-rocm.bc" : target_files[target].library;
    const char *folder = data_folder(arena, driver, library);
    toolchain->libclc = toolchain->rocm ? NULL : target_files[target].libclc;
    *missing = !folder ? library : toolchain->libclc;
    if (!folder || (toolchain->libclc && !exists(toolchain->libclc)))
        return false;
    toolchain->library = arena_printf(arena, "%s/%s", folder, library);
    toolchain->header = arena_printf(arena, "%s/builtins.h", folder);
    *missing = toolchain->header;
    return exists(toolchain->header);
}

/* Identifies a file by path, size and date, which need no reading. */
static void identify_file(const char *path, struct sha256 *hash)
{
    struct stat info = {0};
    stat(path, &info);
    const i64 facts[] = {(i64)info.st_size, (i64)info.st_mtim.tv_sec, (i64)info.st_mtim.tv_nsec};
    sha256_add(hash, path, strlen(path) + 1);
    sha256_add(hash, facts, sizeof facts);
}

/* Identifies the program that will run. */
static void identify_program(const char *name, struct sha256 *hash)
{
    char place[PATH_MAX];
    if (find_program(name, place))
        identify_file(place, hash);
}

void toolchain_identify(const struct toolchain *toolchain, struct sha256 *hash)
{
    if (toolchain->driver) /* it chooses the arguments, and patches the compiler's output */
        identify_file(toolchain->driver, hash);
    identify_program(toolchain->clang, hash);
    const char *const files[] = {toolchain->header, toolchain->library, toolchain->libclc};
    for (u32 i = 0; i < ARRAY_LEN(files); i++)
        if (files[i])
            identify_file(files[i], hash);
    static const char *const parts[] = {"opencl.bc", "ocml.bc", "ockl.bc"};
    for (u32 i = 0; toolchain->rocm && i < ARRAY_LEN(parts); i++) {
        char part[PATH_MAX];
        snprintf(part, sizeof part, "%s/%s", toolchain->rocm, parts[i]);
        identify_file(part, hash);
    }
}
