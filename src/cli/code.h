/* Program files: what a module or a raw program is read from. */
#ifndef CLI_CODE_H
#define CLI_CODE_H

#include "cli/options.h"

struct code_file {
    char *data; /* malloc'd: PTX text, an ELF file, or machine code */
    size_t length;
    bool raw;     /* machine code without a container: hd_module_load_raw */
    char *source; /* malloc'd: the file itself where that is not `data`, for the manifest */
    size_t source_length;
};

enum code_use {
    CODE_MODULE, /* something with kernels in it */
    CODE_RAW,    /* machine code, or assembly for it */
    CODE_EITHER, /* whichever the file's name and contents say */
};

/*
 * Reads a program; a .s file of assembly is assembled, "-" is standard input. False after printing
 * what is wrong.
 */
bool code_read(const struct command *command, const char *path, enum code_use use,
               struct code_file *code);
void code_free(struct code_file *code);
/* Whether the file's name says that it is a raw program: .s, .S or .bin. */
bool code_named_raw(const char *path);
/* Whether something stands before this end of a name. */
bool code_name_ends(const char *path, const char *end);
/* PTX begins with .version, behind white space and comments; compilers call it .s too. */
bool code_is_ptx(const char *data, size_t length);

/* assemble.c: the machine code of an assembly file, malloc'd; NULL after printing what is wrong. */
char *assemble(const struct command *command, const char *path, size_t *length);

#endif
