/*
 * From OpenCL C to machine code, with clang and its libraries (base/toolchain.h).
 *
 *   source -> bitcode                        an object, to be linked later
 *   bitcode ... -> bitcode                   a library
 *   source or bitcode ... -> LLVM text -> PTX or a Southern Islands code object    an executable
 *
 * Names and arguments of kernels are read from the LLVM text. Results are kept in the cache.
 *
 * Called without the driver's lock; the inputs must not change meanwhile.
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
    enum code_target target;
    bool embedded;               /* embedded profile */
    cl_program_binary_type type; /* of the result */
    const char *source;          /* NULL: only link the inputs */
    const struct options *options;
    const struct compiler_header *headers; /* searched before all other headers */
    u32 header_count;
    const struct compiler_input *inputs;
    u32 input_count;
};

struct compiler_result {
    char *log;      /* the compiler's output; free() */
    char *compiler; /* name of the compiler and its library; free() */
    u8 *binary;     /* binary.h; NULL: the compilation failed; free() */
    size_t bytes;
};

void compiler_run(const struct compiler_job *job, struct compiler_result *result);

#endif
