/* Code objects for tests: the committed files, and copies of them with bytes changed. */
#ifndef TESTS_ISA_SI_OBJECTS_H
#define TESTS_ISA_SI_OBJECTS_H

#include "isa/si/codeobject.h"
#include <elf.h>

struct bytes {
    u8 *data; /* malloc'd */
    size_t size;
};

/* `folder` is where the files are; set once by main. */
extern const char *objects_folder;

struct bytes object_bytes(const char *name);
/* Reads the committed file; fails the test when it cannot. */
struct code_object *object_open(struct arena *arena, const char *name);
/* The bytes must be refused with `message` in the text. */
void object_refused(const struct bytes *bytes, const char *message);
/* The bytes must be taken, with a warning that has `message` in it (NULL: none at all). */
struct code_object *object_warned(struct arena *arena, const struct bytes *bytes,
                                  const char *message);

Elf64_Ehdr *elf_header(const struct bytes *bytes);
Elf64_Phdr *elf_load(const struct bytes *bytes, u32 which); /* the n-th PT_LOAD */
Elf64_Phdr *elf_segment_of(const struct bytes *bytes, u32 type);
Elf64_Shdr *elf_section_of(const struct bytes *bytes, const char *name);
/* In .symtab. */
Elf64_Sym *elf_symbol_of(const struct bytes *bytes, const char *name);
/* The file's bytes of an address. */
u8 *elf_bytes_at(const struct bytes *bytes, u64 address);
/* The first place of these bytes in the file at or after `from`. */
u8 *bytes_find(const struct bytes *bytes, const void *what, size_t size, const u8 *from);

#endif
