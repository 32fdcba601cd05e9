/*
 * The compiler and libraries for OpenCL C.
 *
 * The compiler is the first of clang-16, clang-15, later versions in their order, `clang`, and
 * clang-14 that is on the PATH; for Southern Islands one with its own ld.lld. HEDDLE_CLANG names
 * another. It is combined with libclc, whose folder was found when Heddle was built, or, for
 * Southern Islands and from clang-15 on, with AMD's device libraries if they are installed
 * (HEDDLE_ROCM names their folder). Heddle's own library is searched in HEDDLE_DATA, beside the
 * driver (a build folder) and where Heddle is installed.
 *
 * Reasons for this order: the PTX of 15 and 16 is correct in all our tests. clang-14 moves loads
 * across barriers (share/heddle/opencl/barrier.cl prevents this) and drops signs (opencl/mend.h
 * corrects it). clang-19 reads char2 parameters wrongly: opencl/compiler.c refuses those.
 */
#ifndef BASE_TOOLCHAIN_H
#define BASE_TOOLCHAIN_H

#include "base/arena.h"
#include "base/hash.h"

/* What kernels are compiled to. The values are part of the format of program binaries
 * (opencl/binary.h). */
enum code_target {
    CODE_PTX = 1, /* with 64-bit addresses */
    CODE_SI,
    CODE_PTX32, /* with 32-bit addresses */
    CODE_TARGETS_END
};
/* For a machine with `lanes` per warp. */
enum code_target code_target_of(unsigned lanes, unsigned address_bits);
/* "64-bit PTX" */
const char *code_target_name(enum code_target target);

struct toolchain {
    const char *clang;   /* a name for the PATH, or a path */
    unsigned version;    /* 14 and later; 0: unknown */
    const char *linker;  /* folder of its ld.lld, for Southern Islands; NULL: not found */
    const char *name;    /* "clang-19 with libclc", for people and records */
    const char *driver;  /* file of the driver that calls the compiler, or NULL */
    const char *header;  /* builtins.h, included before each program */
    const char *library; /* builtins for the target, bitcode */
    const char *libclc;  /* NULL: `rocm` is used instead */
    const char *rocm;    /* folder of AMD's device libraries, or NULL */
};

/* `driver` may be NULL. Allocates in the arena. False: `missing` names what was not found; compiler
 * and name are set nevertheless. */
bool toolchain_find(struct toolchain *toolchain, struct arena *arena, const char *driver,
                    enum code_target target, const char **missing);
/* Adds what identifies this compiler and these libraries. */
void toolchain_identify(const struct toolchain *toolchain, struct sha256 *hash);

#endif
