/* OpenCL C's printf formats (6.12.13): text from a format and tagged arguments (print.c). */
#ifndef OPENCL_FORMAT_H
#define OPENCL_FORMAT_H

#include "base/arena.h"

enum format_kind { /* values as in builtins.cl */
    FORMAT_SIGNED = 1,
    FORMAT_UNSIGNED,
    FORMAT_FLOAT,
    FORMAT_POINTER
};

struct format_out {
    VEC(char) text; /* output is appended; not terminated */
    /* returns the malloc'd text at a device address */
    char *(*read_text)(void *user, u64 address);
    void *user;
};

void format_text(struct format_out *out, const char *format, const u8 *args, size_t bytes);

#endif
