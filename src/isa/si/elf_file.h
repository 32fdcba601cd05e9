/*
 * A bounded view of an ELF64 file for code objects: everything is checked against the bytes of the
 * file before use, and nothing is allocated by a claimed size. For this reason, and because a code
 * object uses only five fixed structures of ELF, libelf is not used.
 */
#ifndef ISA_SI_ELF_FILE_H
#define ISA_SI_ELF_FILE_H

#include "base/arena.h"
#include "base/error.h"
#include <elf.h>

enum {
    ELF_SEGMENTS = 256 /* maximum of program headers; linkers create about ten */
};

/* A range of the file. */
struct elf_bytes {
    const u8 *data; /* NULL when there are none */
    u64 size;
};

struct elf_file {
    const u8 *data;
    u64 size;
    const char *name; /* for messages */
    Elf64_Ehdr header;
    u32 segment_count, section_count;
    struct elf_bytes section_names;
};

/* An array of symbols with their names. */
struct elf_symbols {
    struct elf_bytes table, names; /* names: elf_strings */
    u32 count;
};

/* Entries of the dynamic section; 0 if absent. */
struct elf_dynamic {
    u64 symtab, strtab, strtab_bytes, hash;
    u64 rela, rela_bytes, rela_entry;
    u64 jmprel, jmprel_bytes;
    bool has_rel; /* relocations without addends */
};

/* Checks the header and both header tables. `data` must outlive `elf`. */
bool elf_open(struct elf_file *elf, const u8 *data, u64 size, const char *name,
              struct error *error);

Elf64_Phdr elf_segment(const struct elf_file *elf, u32 index);
Elf64_Shdr elf_section(const struct elf_file *elf, u32 index);
/* Name of a section; "" when it has none that can be read. */
const char *elf_section_name(const struct elf_file *elf, const Elf64_Shdr *section);
/* The first section of that name with its bytes inside the file; false when there is none. */
bool elf_find_section(const struct elf_file *elf, const char *name, Elf64_Shdr *section,
                      struct elf_bytes *bytes);

/* Bytes [offset, offset + size) of the file; false when they are not all there. */
bool elf_range(const struct elf_file *elf, u64 offset, u64 size, struct elf_bytes *bytes);
/* The bytes that the file holds for addresses [address, address + size). */
bool elf_at(const struct elf_file *elf, u64 address, u64 size, struct elf_bytes *bytes);
/* The part of a string table in which every string is terminated. */
struct elf_bytes elf_strings(struct elf_bytes bytes);
/* A string of elf_strings(), or NULL. Takes constant time. */
const char *elf_string(const struct elf_bytes *table, u64 offset);

/* .symtab, else .dynsym, else the dynamic section's symbols. False: there are none. */
bool elf_symbols(const struct elf_file *elf, struct elf_symbols *symbols);
bool elf_dynamic_symbols(const struct elf_file *elf, struct elf_symbols *symbols);
Elf64_Sym elf_symbol(const struct elf_symbols *symbols, u32 index);
/* False when there is no dynamic segment. */
bool elf_dynamic(const struct elf_file *elf, struct elf_dynamic *dynamic);

#endif
