/*
 * Which compiler and which libraries make code of OpenCL C.
 *
 * The compiler is the first of clang-16, clang-15, later versions in their order, `clang`, and
 * clang-14 that is on the PATH; for Southern Islands one with its own ld.lld. HEDDLE_CLANG names
 * another. It is joined with libclc, whose folder was found when Heddle was built, or, for Southern
 * Islands and from clang-15 on, with AMD's device libraries where they are installed (HEDDLE_ROCM
 * names their folder). Our own library is looked for in HEDDLE_DATA, beside the driver (a build
 * folder) and where Heddle is installed.
 *
 * Why in this order: the PTX of 15 and 16 is right in all our tests. clang-14 moves loads over
 * barriers (share/heddle/opencl/barrier.cl keeps it from that) and cuts off signs
 * (opencl/compiler.c mends it). clang-19 reads char2 parameters wrongly: compiler.c refuses those.
 */
#ifndef BASE_TOOLCHAIN_H
#define BASE_TOOLCHAIN_H

#include "base/arena.h"
#include "base/hash.h"

struct toolchain {
    const char *clang;   /* a name for the PATH, or a path */
    unsigned version;    /* 14 and later; 0: its name and place do not tell */
    const char *linker;  /* the folder of its ld.lld, for Southern Islands; NULL: not known */
    const char *name;    /* "clang-19 with libclc", for people and records */
    const char *driver;  /* the file that calls the compiler; NULL: none is known */
    const char *header;  /* builtins.h, which comes before each program */
    const char *library; /* builtins for the target, bitcode */
    const char *libclc;  /* NULL: ... */
    const char *rocm;    /* ... the folder of AMD's device libraries, else NULL */
};

/* `driver` may be NULL. All is of the arena. False: `missing` names what is not there; compiler and
 * name are known all the same. */
bool toolchain_find(struct toolchain *toolchain, struct arena *arena, const char *driver, bool si,
                    const char **missing);
/* Adds what tells this compiler and these libraries from others. */
void toolchain_identify(const struct toolchain *toolchain, struct sha256 *hash);

#endif
