/*
 * Relocations that are left for the loader, and loading itself. A linked code object has few or
 * none: pointers in initialized variables.
 */
#include "isa/si/codeobject_internal.h"

#include <inttypes.h>

/* LLVM's AMDGPU usage guide, relocation records. */
enum {
    R_AMDGPU_NONE = 0,
    R_AMDGPU_ABS32_LO = 1,
    R_AMDGPU_ABS32_HI = 2,
    R_AMDGPU_ABS64 = 3,
    R_AMDGPU_ABS32 = 6,
    R_AMDGPU_RELATIVE64 = 13
};

static const char *type_name(u32 type)
{
    static const char *const names[] = {
        "NONE",     "ABS32_LO", "ABS32_HI", "ABS64",         "REL32",
        "REL64",    "ABS32",    "GOTPCREL", "GOTPCREL32_LO", "GOTPCREL32_HI",
        "REL32_LO", "REL32_HI", "reserved", "RELATIVE64",    "REL16",
    };
    return type < ARRAY_LEN(names) ? names[type] : "unknown";
}

static bool in_segment(const struct code_object *object, u64 address, u64 bytes)
{
    for (u32 i = 0; i < object->segment_count; i++) {
        const struct code_segment *segment = &object->segments[i];
        if (address >= segment->address && address - segment->address <= segment->bytes &&
            bytes <= segment->bytes - (address - segment->address))
            return true;
    }
    return false;
}

/* The value of a relocation's symbol, and whether it moves with the object. */
static bool symbol_value(struct reader *reader, const struct elf_symbols *symbols, u32 index,
                         u64 *value, bool *relative)
{
    if (!index) {
        *value = 0;
        *relative = false;
        return true;
    }
    if (index >= symbols->count)
        return reader_fail(reader, ERROR_INPUT,
                           "a relocation names symbol %u, but the table has %u symbols", index,
                           symbols->count);
    Elf64_Sym symbol = elf_symbol(symbols, index);
    const char *name = elf_string(&symbols->names, symbol.st_name);
    if (symbol.st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol.st_info) != STB_WEAK)
        return reader_fail(reader, ERROR_INPUT,
                           "%s is not defined in this file, and a relocation needs it; a code "
                           "object must be linked from all its parts",
                           reader_name(reader, name ? name : "?"));
    *value = symbol.st_value;
    *relative = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS;
    return true;
}

static bool add_relocation(struct reader *reader, const struct elf_symbols *symbols,
                           const Elf64_Rela *entry)
{
    struct code_object *object = reader->object;
    u32 type = (u32)ELF64_R_TYPE(entry->r_info);
    u32 bytes = type == R_AMDGPU_RELATIVE64 || type == R_AMDGPU_ABS64 ? 8 : 4;
    struct code_relocation *made = &object->relocations[object->relocation_count];
    *made = (struct code_relocation){.address = entry->r_offset};
    switch (type) {
    case R_AMDGPU_NONE:
        return true;
    case R_AMDGPU_RELATIVE64:
    case R_AMDGPU_ABS64:
        made->kind = CODE_WORD64;
        break;
    case R_AMDGPU_ABS32:
    case R_AMDGPU_ABS32_LO:
        made->kind = CODE_WORD32_LO;
        break;
    case R_AMDGPU_ABS32_HI:
        made->kind = CODE_WORD32_HI;
        break;
    default:
        return reader_fail(reader, ERROR_UNSUPPORTED,
                           "relocation type %u (%s) at 0x%" PRIx64
                           " is not supported by loaders: expected RELATIVE64, ABS64 or ABS32",
                           type, type_name(type), (u64)entry->r_offset);
    }
    if (!in_segment(object, entry->r_offset, bytes))
        return reader_fail(reader, ERROR_INPUT,
                           "a relocation changes %u bytes at 0x%" PRIx64
                           ", which are in no loaded segment",
                           bytes, (u64)entry->r_offset);
    made->relative = true;
    if (type != R_AMDGPU_RELATIVE64 &&
        !symbol_value(reader, symbols, (u32)ELF64_R_SYM(entry->r_info), &made->value,
                      &made->relative))
        return false;
    made->value += (u64)entry->r_addend;
    object->relocation_count++;
    return true;
}

bool read_relocations(struct reader *reader)
{
    struct elf_dynamic dynamic;
    struct elf_symbols symbols = {0};
    if (!elf_dynamic(&reader->elf, &dynamic))
        return true;
    if (dynamic.has_rel || dynamic.jmprel_bytes)
        return reader_fail(reader, ERROR_UNSUPPORTED,
                           "relocations %s: expected DT_RELA only, as for AMD GPUs",
                           dynamic.has_rel ? "without addends (DT_REL)"
                                           : "of a procedure linkage table (DT_JMPREL)");
    if (!dynamic.rela_bytes)
        return true;
    struct elf_bytes table;
    if (dynamic.rela_entry != sizeof(Elf64_Rela) || dynamic.rela_bytes % sizeof(Elf64_Rela) ||
        !elf_at(&reader->elf, dynamic.rela, dynamic.rela_bytes, &table))
        return reader_fail(reader, ERROR_INPUT,
                           "the relocation table at 0x%" PRIx64 " (%" PRIu64 " bytes, %" PRIu64
                           " per entry) is not within the file, or does not have %zu-byte entries",
                           dynamic.rela, dynamic.rela_bytes, dynamic.rela_entry,
                           sizeof(Elf64_Rela));
    if (!elf_dynamic_symbols(&reader->elf, &symbols))
        symbols = (struct elf_symbols){0};
    u64 count = table.size / sizeof(Elf64_Rela);
    reader->object->relocations = arena_array(reader->arena, struct code_relocation, count);
    for (u64 i = 0; i < count; i++) {
        Elf64_Rela entry;
        memcpy(&entry, table.data + i * sizeof entry, sizeof entry);
        if (!add_relocation(reader, &symbols, &entry))
            return false;
    }
    return true;
}

void codeobject_load(const struct code_object *object, u64 base, u8 *image)
{
    memset(image, 0, object->high - object->low);
    for (u32 i = 0; i < object->segment_count; i++) {
        const struct code_segment *segment = &object->segments[i];
        if (segment->data_bytes)
            memcpy(image + (segment->address - object->low), segment->data, segment->data_bytes);
    }
    for (u32 i = 0; i < object->relocation_count; i++) {
        const struct code_relocation *relocation = &object->relocations[i];
        u64 value = relocation->value + (relocation->relative ? base : 0);
        if (relocation->kind == CODE_WORD32_HI)
            value >>= 32;
        memcpy(image + (relocation->address - object->low), &value,
               relocation->kind == CODE_WORD64 ? 8 : 4);
    }
}
