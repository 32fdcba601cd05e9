/* What the files that read a code object share. */
#ifndef ISA_SI_CODEOBJECT_INTERNAL_H
#define ISA_SI_CODEOBJECT_INTERNAL_H

#include "isa/si/codeobject.h"
#include "isa/si/elf_file.h"

enum {
    DESCRIPTOR_BYTES = 64,
    WARNINGS = 32, /* further ones are counted, not kept */
    /* limits that keep the work linear for hostile files */
    MOST_NAME = 4096, /* bytes of a symbol's name; longer ones are ignored */
    MOST_KERNELS = 16384,
    MOST_NOTES = 16 /* segments or sections searched for the metadata */
};

struct reader {
    struct arena *arena;
    struct elf_file elf;
    struct code_object *object;
    struct elf_symbols symbols;
    u32 dropped_warnings;
    char shown[2][512]; /* reader_name */
    u32 shown_next;
    struct error *error;
};

bool reader_fail(struct reader *reader, enum error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void reader_warn(struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A name from the file, printable and of limited length; valid for the next call, too, not
 * beyond. */
const char *reader_name(struct reader *reader, const char *name);

/* codeobject_symbols.c: functions, variables, kernels with their descriptors. */
bool read_symbols(struct reader *reader);
/* codeobject_relocate.c */
bool read_relocations(struct reader *reader);
/* descriptor.c */
struct kernel_descriptor descriptor_decode(const u8 bytes[DESCRIPTOR_BYTES]);
/* metadata.c: the note with the arguments. */
bool read_metadata(struct reader *reader);
/* lines.c: never fails; unreadable data cause a warning. */
void read_lines(struct reader *reader);

#endif
