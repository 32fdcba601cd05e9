/* A bounded view of an ELF64 file: see elf_file.h. */
#include "isa/si/elf_file.h"

#include <inttypes.h>

bool elf_range(const struct elf_file *elf, u64 offset, u64 size, struct elf_bytes *bytes)
{
    if (offset > elf->size || size > elf->size - offset)
        return false;
    *bytes = (struct elf_bytes){elf->data + offset, size};
    return true;
}

struct elf_bytes elf_strings(struct elf_bytes bytes)
{
    const u8 *last = bytes.size ? memrchr(bytes.data, 0, bytes.size) : NULL;
    return last ? (struct elf_bytes){bytes.data, (u64)(last - bytes.data) + 1}
                : (struct elf_bytes){0};
}

const char *elf_string(const struct elf_bytes *table, u64 offset)
{
    return offset < table->size ? (const char *)table->data + offset : NULL;
}

Elf64_Phdr elf_segment(const struct elf_file *elf, u32 index)
{
    Elf64_Phdr segment;
    assert(index < elf->segment_count);
    memcpy(&segment, elf->data + elf->header.e_phoff + (u64)index * sizeof segment, sizeof segment);
    return segment;
}

Elf64_Shdr elf_section(const struct elf_file *elf, u32 index)
{
    Elf64_Shdr section;
    assert(index < elf->section_count);
    memcpy(&section, elf->data + elf->header.e_shoff + (u64)index * sizeof section, sizeof section);
    return section;
}

const char *elf_section_name(const struct elf_file *elf, const Elf64_Shdr *section)
{
    const char *name = elf_string(&elf->section_names, section->sh_name);
    return name ? name : "";
}

bool elf_find_section(const struct elf_file *elf, const char *name, Elf64_Shdr *section,
                      struct elf_bytes *bytes)
{
    for (u32 i = 0; i < elf->section_count; i++) {
        *section = elf_section(elf, i);
        if (section->sh_type != SHT_NOBITS && section->sh_type != SHT_NULL &&
            !strcmp(elf_section_name(elf, section), name))
            return elf_range(elf, section->sh_offset, section->sh_size, bytes);
    }
    return false;
}

bool elf_at(const struct elf_file *elf, u64 address, u64 size, struct elf_bytes *bytes)
{
    for (u32 i = 0; i < elf->segment_count; i++) {
        Elf64_Phdr segment = elf_segment(elf, i);
        if (segment.p_type != PT_LOAD || address < segment.p_vaddr)
            continue;
        u64 offset = address - segment.p_vaddr;
        if (offset <= segment.p_filesz && size <= segment.p_filesz - offset &&
            offset <= UINT64_MAX - segment.p_offset)
            return elf_range(elf, segment.p_offset + offset, size, bytes);
    }
    return false;
}

/* Checks a header table: `count` entries of `entry` bytes at `offset`, each as long as
 * `expected`. */
static bool check_table(const struct elf_file *elf, const char *what, u64 offset, u64 count,
                        u64 entry, u64 expected, struct error *error)
{
    struct elf_bytes bytes;
    if (!count)
        return true;
    if (entry != expected)
        return error_set(error, ERROR_INPUT, elf->name,
                         "ELF header: %ss have %" PRIu64 " bytes each, expected %" PRIu64, what,
                         entry, expected);
    if (!elf_range(elf, offset, count * expected, &bytes))
        return error_set(error, ERROR_INPUT, elf->name,
                         "ELF header: %" PRIu64 " %ss at offset 0x%" PRIx64
                         " do not fit in the file of %" PRIu64 " bytes",
                         count, what, offset, elf->size);
    return true;
}

bool elf_open(struct elf_file *elf, const u8 *data, u64 size, const char *name, struct error *error)
{
    *elf = (struct elf_file){.data = data, .size = size, .name = name};
    if (size < sizeof elf->header)
        return error_set(error, ERROR_INPUT, name,
                         "ELF file of %" PRIu64 " bytes ends inside its header of %zu", size,
                         sizeof elf->header);
    memcpy(&elf->header, data, sizeof elf->header);
    const Elf64_Ehdr *h = &elf->header;
    if (!check_table(elf, "program header", h->e_phoff, h->e_phnum, h->e_phentsize,
                     sizeof(Elf64_Phdr), error) ||
        !check_table(elf, "section header", h->e_shoff, h->e_shoff ? h->e_shnum : 0, h->e_shentsize,
                     sizeof(Elf64_Shdr), error))
        return false;
    if (h->e_phnum > ELF_SEGMENTS)
        return error_set(error, ERROR_INPUT, name, "%u program headers, expected at most %d",
                         h->e_phnum, ELF_SEGMENTS);
    elf->segment_count = h->e_phnum;
    elf->section_count = h->e_shoff ? h->e_shnum : 0;
    if (h->e_shstrndx < elf->section_count) {
        Elf64_Shdr names = elf_section(elf, h->e_shstrndx);
        if (elf_range(elf, names.sh_offset, names.sh_size, &elf->section_names))
            elf->section_names = elf_strings(elf->section_names);
    }
    return true;
}

/* A symbol table section with its string table. */
static bool symbol_section(const struct elf_file *elf, u32 type, struct elf_symbols *symbols)
{
    for (u32 i = 0; i < elf->section_count; i++) {
        Elf64_Shdr section = elf_section(elf, i);
        if (section.sh_type != type || section.sh_link >= elf->section_count)
            continue;
        Elf64_Shdr names = elf_section(elf, section.sh_link);
        if (!elf_range(elf, section.sh_offset, section.sh_size, &symbols->table) ||
            !elf_range(elf, names.sh_offset, names.sh_size, &symbols->names) ||
            section.sh_size / sizeof(Elf64_Sym) > UINT32_MAX)
            continue;
        symbols->names = elf_strings(symbols->names);
        symbols->count = (u32)(section.sh_size / sizeof(Elf64_Sym));
        return true;
    }
    return false;
}

bool elf_dynamic(const struct elf_file *elf, struct elf_dynamic *dynamic)
{
    struct elf_bytes bytes = {0};
    *dynamic = (struct elf_dynamic){0};
    for (u32 i = 0; i < elf->segment_count && !bytes.data; i++) {
        Elf64_Phdr segment = elf_segment(elf, i);
        if (segment.p_type == PT_DYNAMIC)
            elf_range(elf, segment.p_offset, segment.p_filesz, &bytes);
    }
    for (u64 at = 0; at + sizeof(Elf64_Dyn) <= bytes.size; at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        memcpy(&entry, bytes.data + at, sizeof entry);
        u64 value = entry.d_un.d_val;
        switch (entry.d_tag) {
        case DT_NULL:
            return true;
        case DT_SYMTAB:
            dynamic->symtab = value;
            break;
        case DT_STRTAB:
            dynamic->strtab = value;
            break;
        case DT_STRSZ:
            dynamic->strtab_bytes = value;
            break;
        case DT_HASH:
            dynamic->hash = value;
            break;
        case DT_RELA:
            dynamic->rela = value;
            break;
        case DT_RELASZ:
            dynamic->rela_bytes = value;
            break;
        case DT_RELAENT:
            dynamic->rela_entry = value;
            break;
        case DT_JMPREL:
            dynamic->jmprel = value;
            break;
        case DT_PLTRELSZ:
            dynamic->jmprel_bytes = value;
            break;
        case DT_REL:
            dynamic->has_rel = true;
            break;
        default:
            break;
        }
    }
    return bytes.data;
}

/* The number of symbols is in the hash table only. */
bool elf_dynamic_symbols(const struct elf_file *elf, struct elf_symbols *symbols)
{
    struct elf_dynamic dynamic;
    struct elf_bytes hash;
    *symbols = (struct elf_symbols){0};
    if (symbol_section(elf, SHT_DYNSYM, symbols))
        return true;
    if (!elf_dynamic(elf, &dynamic) || !dynamic.symtab || !dynamic.hash ||
        !elf_at(elf, dynamic.hash, 8, &hash))
        return false;
    memcpy(&symbols->count, hash.data + 4, 4);
    if (!elf_at(elf, dynamic.symtab, (u64)symbols->count * sizeof(Elf64_Sym), &symbols->table) ||
        !elf_at(elf, dynamic.strtab, dynamic.strtab_bytes, &symbols->names))
        return false;
    symbols->names = elf_strings(symbols->names);
    return true;
}

bool elf_symbols(const struct elf_file *elf, struct elf_symbols *symbols)
{
    *symbols = (struct elf_symbols){0};
    return symbol_section(elf, SHT_SYMTAB, symbols) || elf_dynamic_symbols(elf, symbols);
}

Elf64_Sym elf_symbol(const struct elf_symbols *symbols, u32 index)
{
    Elf64_Sym symbol;
    assert(index < symbols->count);
    memcpy(&symbol, symbols->table.data + (u64)index * sizeof symbol, sizeof symbol);
    return symbol;
}
