/*
 * The format of binaries that clGetProgramInfo(CL_PROGRAM_BINARIES) returns and the compile cache
 * keeps: a header, then sections. A compiled object or a library holds LLVM bitcode; an executable
 * holds the code that the machine runs and the description of its kernels (llinfo.h).
 *
 *   bytes 0-7   "HeddleCL"
 *   u32         version of this format
 *   u32         cl_program_binary_type
 *   u32         enum code_target (base/toolchain.h)
 *   u32         0
 *   u64[3]      bytes of each section
 *   64 digits   SHA-256 of all before it, with the sections after it
 *   ...         the sections
 *
 * The hash guards against damage, not against malice: an attacker who can supply a binary can
 * supply code as well. The code is checked again when it is loaded.
 */
#ifndef OPENCL_BINARY_H
#define OPENCL_BINARY_H

#include "base/toolchain.h"

enum binary_section {
    SECTION_BITCODE,
    SECTION_CODE,
    SECTION_KERNELS, /* text, not terminated */
    SECTION_COUNT
};

struct binary {
    u32 type;   /* cl_program_binary_type */
    u32 target; /* enum code_target */
    struct {
        const u8 *data;
        size_t bytes;
    } sections[SECTION_COUNT];
};

/* Returns malloc'd bytes. */
u8 *binary_write(const struct binary *binary, size_t *bytes);
/* False: not a binary of this driver, or damaged. The sections point into `data`. */
bool binary_read(struct binary *binary, const void *data, size_t bytes);

#endif
