/*
 * From OpenCL C to what a machine runs, by clang and its libraries (base/toolchain.h).
 *
 *   source -> bitcode                        an object, to be linked later
 *   bitcode ... -> bitcode                   a library
 *   source or bitcode ... -> LLVM text -> PTX or a Southern Islands code object    an executable
 *
 * The text is what kernels' names and arguments are read from. Results are kept in the cache.
 *
 * Without the driver's lock; everything given must stay as it is meanwhile.
 */
#ifndef OPENCL_COMPILER_H
#define OPENCL_COMPILER_H

#include "opencl/binary.h"
#include "opencl/opencl.h"
#include "opencl/options.h"

struct compiler_header {
    const char *name, *text;
};

struct compiler_input {
    const u8 *data; /* bitcode */
    size_t bytes;
};

struct compiler_job {
    bool si, embedded;           /* the device's code and profile */
    cl_program_binary_type type; /* what to make */
    const char *source;          /* NULL: only inputs are linked */
    const struct options *options;
    const struct compiler_header *headers; /* found before all others */
    u32 header_count;
    const struct compiler_input *inputs;
    u32 input_count;
};

struct compiler_result {
    char *log;      /* what the compiler said; free() */
    char *compiler; /* its name and that of its library; free() */
    u8 *binary;     /* binary.h; NULL: it failed; free() */
    size_t bytes;
};

void compiler_run(const struct compiler_job *job, struct compiler_result *result);

#endif
