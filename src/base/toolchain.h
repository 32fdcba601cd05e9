/*
 * Where the compiler, its libraries and ours are.
 *
 * The compiler is clang-14 with libclc, whose folder was found when Heddle was built; for Southern
 * Islands clang-19 (with ld.lld-19) and AMD's device libraries, when all are installed.
 * HEDDLE_CLANG names another compiler: the device libraries go with clang-15 and later ones.
 * HEDDLE_ROCM names their folder. Our own library is looked for in HEDDLE_DATA, beside the driver
 * (a build folder) and where Heddle is installed.
 */
#ifndef OPENCL_TOOLCHAIN_H
#define OPENCL_TOOLCHAIN_H

#include "base/arena.h"
#include "base/hash.h"

struct toolchain {
    const char *clang;   /* a name for the PATH, or a path */
    const char *header;  /* builtins.h, which comes before each program */
    const char *library; /* builtins for the target, bitcode */
    const char *libclc;  /* NULL: ... */
    const char *rocm;    /* ... the folder of AMD's device libraries, else NULL */
};

/* All is of the arena. False: `missing` names what is not there. */
bool toolchain_find(struct toolchain *toolchain, struct arena *arena, bool si,
                    const char **missing);
/* Adds what tells this compiler and these libraries from others. */
void toolchain_identify(const struct toolchain *toolchain, struct sha256 *hash);

#endif
