/* Program files: the sources of modules and raw programs. */
#ifndef CLI_CODE_H
#define CLI_CODE_H

#include "cli/options.h"

struct code_file {
    char *data; /* malloc'd: PTX text, an ELF file, or machine code */
    size_t length;
    bool raw;     /* machine code without a container: hd_module_load_raw */
    char *source; /* malloc'd: the file itself, if different from `data`, for the manifest */
    size_t source_length;
};

enum code_use {
    CODE_MODULE, /* a file with kernels */
    CODE_RAW,    /* machine code, or assembly for it */
    CODE_EITHER, /* decided by the file's name and contents */
};

/*
 * Reads a program; an assembly file (.s) is assembled, "-" is standard input. Prints an error and
 * returns false on failure.
 */
bool code_read(const struct command *command, const char *path, enum code_use use,
               struct code_file *code);
void code_free(struct code_file *code);
/* Whether the file's name says that it is a raw program: .s, .S or .bin. */
bool code_named_raw(const char *path);
/* Whether a path has this ending and more before it. */
bool code_name_ends(const char *path, const char *end);
/* Whether text is PTX: it begins with .version, after white space and comments; compilers name it
 * .s, too. */
bool code_is_ptx(const char *data, size_t length);

/* assemble.c: the malloc'd machine code of an assembly file; prints an error and returns NULL on
 * failure. */
char *assemble(const struct command *command, const char *path, size_t *length);

#endif
