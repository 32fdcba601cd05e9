/*
 * Reads an AMDHSA code object: header, segments, text. Names, metadata, relocations and source
 * lines have files of their own.
 */
#include "isa/si/codeobject_internal.h"

#include "base/text.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MACHINE_AMDGPU = 224,
    OSABI_HSA = 64,
    PAGE = 4096
};
/* Limit of zero-filled memory beyond the object's own size, against hostile files. */
#define MOST_ZEROS (256ull << 20)

/* EF_AMDGPU_MACH values of LLVM's AMDGPU usage guide, for messages. */
static const struct {
    u8 mach;
    const char *name;
} gpus[] = {
    {0x20, "gfx600"},  {0x21, "gfx601"},  {0x22, "gfx700"},  {0x23, "gfx701"},  {0x24, "gfx702"},
    {0x25, "gfx703"},  {0x26, "gfx704"},  {0x28, "gfx801"},  {0x29, "gfx802"},  {0x2a, "gfx803"},
    {0x2b, "gfx810"},  {0x2c, "gfx900"},  {0x2d, "gfx902"},  {0x2e, "gfx904"},  {0x2f, "gfx906"},
    {0x30, "gfx908"},  {0x31, "gfx909"},  {0x32, "gfx90c"},  {0x33, "gfx1010"}, {0x34, "gfx1011"},
    {0x35, "gfx1012"}, {0x36, "gfx1030"}, {0x37, "gfx1031"}, {0x38, "gfx1032"}, {0x39, "gfx1033"},
    {0x3a, "gfx602"},  {0x3b, "gfx705"},  {0x3c, "gfx805"},  {0x3d, "gfx1035"}, {0x3e, "gfx1034"},
    {0x3f, "gfx90a"},  {0x40, "gfx940"},  {0x41, "gfx1100"}, {0x42, "gfx1013"}, {0x43, "gfx1150"},
    {0x44, "gfx1103"}, {0x45, "gfx1036"}, {0x46, "gfx1101"}, {0x47, "gfx1102"}, {0x48, "gfx1200"},
    {0x4a, "gfx1151"}, {0x4b, "gfx941"},  {0x4c, "gfx942"},  {0x4e, "gfx1201"},
};

bool reader_fail(struct reader *reader, enum error_code code, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set(reader->error, code, reader->elf.name, "%s", text);
}

void reader_warn(struct reader *reader, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    if (reader->object->warning_count == WARNINGS) {
        reader->dropped_warnings++;
        return;
    }
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    reader->object->warnings[reader->object->warning_count++] = arena_strdup(reader->arena, text);
}

const char *reader_name(struct reader *reader, const char *name)
{
    /* not in the reader's arena: a file may cause any number of warnings */
    struct arena *arena = arena_create();
    char *shown = reader->shown[reader->shown_next++ % ARRAY_LEN(reader->shown)];
    const char *text = text_printable(arena, arena_strndup(arena, name, strnlen(name, 120)));
    snprintf(shown, sizeof reader->shown[0], "%s", text);
    arena_destroy(arena);
    return shown;
}

bool codeobject_recognized(const void *bytes, size_t length)
{
    return length >= SELFMAG && !memcmp(bytes, ELFMAG, SELFMAG);
}

/* Reports a file that is not ELF, with a guess at what it is. */
static bool fail_not_elf(struct reader *reader, const char *text, size_t length)
{
    size_t shown = MIN(length, (size_t)4096);
    const char *what = "";
    if (memmem(text, shown, ".version", 8) && memmem(text, shown, ".target", 7))
        what = "; it looks like PTX text";
    else if (length >= 8 && !memcmp(text, "!<arch>\n", 8))
        what = "; it is an archive of objects: link them first";
    else if (length >= 4 && !memcmp(text, "BC\xc0\xde", 4))
        what = "; it is LLVM bitcode: compile it first";
    else if (length >= 24 && !memcmp(text, "__CLANG_OFFLOAD_BUNDLE__", 24))
        what = "; it is an offload bundle: split it with clang-offload-bundler";
    return reader_fail(reader, ERROR_INPUT,
                       "not a code object: expected an ELF file for an AMD GPU, but %zu bytes "
                       "without an ELF header are given%s",
                       length, what);
}

static const char *gpu_name(u32 mach)
{
    for (size_t i = 0; i < ARRAY_LEN(gpus); i++)
        if (gpus[i].mach == mach)
            return gpus[i].name;
    return NULL;
}

/* Checks the first 16 bytes: class, byte order and OS ABI. */
static bool check_ident(struct reader *reader, const u8 *ident)
{
    if (ident[EI_CLASS] != ELFCLASS64)
        return reader_fail(reader, ERROR_INPUT,
                           "a %s ELF file: expected a 64-bit one, as compiled for "
                           "amdgcn-amd-amdhsa",
                           ident[EI_CLASS] == ELFCLASS32 ? "32-bit" : "malformed");
    if (ident[EI_DATA] != ELFDATA2LSB)
        return reader_fail(reader, ERROR_INPUT, "ELF data encoding %u: expected little-endian (1)",
                           ident[EI_DATA]);
    return true;
}

static bool check_abi(struct reader *reader)
{
    const Elf64_Ehdr *header = &reader->elf.header;
    u32 osabi = header->e_ident[EI_OSABI], version = header->e_ident[EI_ABIVERSION];
    if (osabi != OSABI_HSA)
        return reader_fail(reader, ERROR_UNSUPPORTED,
                           "code for the %s ABI (%u): expected AMDHSA (64); compile for the target "
                           "amdgcn-amd-amdhsa",
                           osabi == 65   ? "AMDPAL"
                           : osabi == 66 ? "Mesa 3D"
                           : osabi == 0  ? "bare amdgcn--"
                                         : "unknown",
                           osabi);
    if (version == 0)
        return reader_fail(
            reader, ERROR_UNSUPPORTED,
            "code object version 2 (ABI version 0), whose kernel descriptions have another format: "
            "expected version 3 to 6; compile with -mcode-object-version=4");
    if (version > 4)
        return reader_fail(reader, ERROR_UNSUPPORTED,
                           "unknown ABI version %u: expected 1 to 4 (code object versions 3 to 6)",
                           version);
    reader->object->version = version + 2;
    return true;
}

static bool check_header(struct reader *reader)
{
    const Elf64_Ehdr *header = &reader->elf.header;
    if (header->e_machine != MACHINE_AMDGPU)
        return reader_fail(reader, ERROR_INPUT,
                           "ELF machine %u%s: expected 224 (AMD GPU); compile kernels with -target "
                           "amdgcn-amd-amdhsa -mcpu=tahiti",
                           header->e_machine,
                           header->e_machine == EM_X86_64    ? " (x86-64)"
                           : header->e_machine == EM_AARCH64 ? " (AArch64)"
                           : header->e_machine == EM_CUDA    ? " (NVIDIA CUDA)"
                                                             : "");
    u32 mach = header->e_flags & 0xff;
    const char *gpu = gpu_name(mach);
    if (mach != 0x20 && mach != 0x21 && mach != 0x3a)
        return reader_fail(reader, ERROR_UNSUPPORTED,
                           "code for %s (ELF flags 0x%x): expected Southern Islands: gfx600 "
                           "(-mcpu=tahiti), gfx601 or gfx602",
                           gpu ? gpu : "an unknown GPU", header->e_flags);
    reader->object->gpu = gpu;
    if (header->e_type == ET_REL)
        return reader_fail(reader, ERROR_INPUT,
                           "a relocatable object file: link it first, with ld.lld -shared FILE.o "
                           "-o FILE.so");
    if (header->e_type != ET_DYN)
        return reader_fail(reader, ERROR_INPUT, "ELF type %u: expected a shared object (3)",
                           header->e_type);
    return check_abi(reader);
}

static int by_address(const void *a, const void *b)
{
    const struct code_segment *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static bool read_segment(struct reader *reader, u32 index, const Elf64_Phdr *header)
{
    struct code_object *object = reader->object;
    struct code_segment *segment = &object->segments[object->segment_count];
    struct elf_bytes bytes;
    if (header->p_filesz > header->p_memsz)
        return reader_fail(reader, ERROR_INPUT,
                           "program header %u: 0x%" PRIx64 " bytes in the file are more than the "
                           "0x%" PRIx64 " in memory",
                           index, (u64)header->p_filesz, (u64)header->p_memsz);
    if (!elf_range(&reader->elf, header->p_offset, header->p_filesz, &bytes))
        return reader_fail(reader, ERROR_INPUT,
                           "program header %u: bytes 0x%" PRIx64 " + 0x%" PRIx64
                           " are outside the file of 0x%" PRIx64 " bytes",
                           index, (u64)header->p_offset, (u64)header->p_filesz, reader->elf.size);
    if (header->p_vaddr > UINT64_MAX - header->p_memsz)
        return reader_fail(reader, ERROR_INPUT,
                           "program header %u: addresses 0x%" PRIx64 " + 0x%" PRIx64
                           " exceed 64 bits",
                           index, (u64)header->p_vaddr, (u64)header->p_memsz);
    if (!header->p_memsz)
        return true;
    *segment = (struct code_segment){.address = header->p_vaddr,
                                     .bytes = header->p_memsz,
                                     .data = bytes.data,
                                     .data_bytes = bytes.size,
                                     .access = header->p_flags & 7};
    object->segment_count++;
    return true;
}

static bool read_segments(struct reader *reader)
{
    struct code_object *object = reader->object;
    object->segments = arena_array(reader->arena, struct code_segment, reader->elf.segment_count);
    for (u32 i = 0; i < reader->elf.segment_count; i++) {
        Elf64_Phdr header = elf_segment(&reader->elf, i);
        if (header.p_type == PT_LOAD && !read_segment(reader, i, &header))
            return false;
    }
    if (!object->segment_count)
        return reader_fail(reader, ERROR_INPUT, "the file has no loadable segment");
    qsort(object->segments, object->segment_count, sizeof *object->segments, by_address);
    for (u32 i = 1; i < object->segment_count; i++) {
        const struct code_segment *a = &object->segments[i - 1], *b = a + 1;
        if (b->address < a->address + a->bytes)
            return reader_fail(reader, ERROR_INPUT,
                               "segments at 0x%" PRIx64 " and 0x%" PRIx64 " overlap", a->address,
                               b->address);
    }
    const struct code_segment *last = &object->segments[object->segment_count - 1];
    object->low = object->segments[0].address & ~(u64)(PAGE - 1);
    object->high = last->address + last->bytes;
    if (object->high - object->low > reader->elf.size + MOST_ZEROS)
        return reader_fail(reader, ERROR_INPUT,
                           "segments span 0x%" PRIx64 " bytes of addresses, more than the "
                           "file's size and 0x%llx",
                           object->high - object->low, MOST_ZEROS);
    return true;
}

/* Finds the code: .text, or all of the executable segment if sections are stripped. */
static bool read_text(struct reader *reader)
{
    struct code_object *object = reader->object;
    const struct code_segment *code = NULL;
    for (u32 i = 0; i < object->segment_count; i++)
        if (object->segments[i].access & CODE_EXECUTE) {
            if (code)
                return reader_fail(reader, ERROR_UNSUPPORTED,
                                   "two executable segments, at 0x%" PRIx64 " and 0x%" PRIx64
                                   ": expected one",
                                   code->address, object->segments[i].address);
            code = &object->segments[i];
        }
    if (!code)
        return reader_fail(reader, ERROR_INPUT, "the file has no executable segment");
    u64 start = code->address, bytes = code->data_bytes;
    Elf64_Shdr section;
    struct elf_bytes unused;
    if (elf_find_section(&reader->elf, ".text", &section, &unused)) {
        start = section.sh_addr;
        bytes = section.sh_size;
    }
    if (start < code->address || start - code->address > code->data_bytes ||
        bytes > code->data_bytes - (start - code->address))
        return reader_fail(reader, ERROR_INPUT,
                           ".text at 0x%" PRIx64 " + 0x%" PRIx64
                           " is not within the executable segment at 0x%" PRIx64 " + 0x%" PRIx64,
                           start, bytes, code->address, code->data_bytes);
    if (start % 4 || bytes % 4 || !bytes)
        return reader_fail(reader, ERROR_INPUT,
                           ".text at 0x%" PRIx64 " with 0x%" PRIx64
                           " bytes: expected non-zero multiples of 4",
                           start, bytes);
    object->text_address = start;
    object->text_bytes = bytes;
    object->text = code->data + (start - code->address);
    return true;
}

/* Reads the strings of .comment: the compilers whose code is inside. */
static void read_producer(struct reader *reader)
{
    enum {
        MOST = 16
    };
    struct code_producer *producer = &reader->object->producer;
    Elf64_Shdr section;
    struct elf_bytes bytes;
    if (!elf_find_section(&reader->elf, ".comment", &section, &bytes))
        return;
    const char **idents = arena_array(reader->arena, const char *, MOST);
    bytes = elf_strings(bytes);
    for (u64 at = 0; at < bytes.size && producer->ident_count < MOST;) {
        const char *text = elf_string(&bytes, at);
        if (*text)
            idents[producer->ident_count++] = text;
        at += strlen(text) + 1;
    }
    producer->idents = idents;
}

static bool read_object(struct reader *reader, const void *bytes, size_t length)
{
    if (!codeobject_recognized(bytes, length))
        return fail_not_elf(reader, bytes, length);
    if (length < EI_NIDENT)
        return reader_fail(reader, ERROR_INPUT, "ELF file of %zu bytes ends inside its header",
                           length);
    u8 *copy = arena_alloc(reader->arena, length);
    memcpy(copy, bytes, length);
    if (!check_ident(reader, copy) ||
        !elf_open(&reader->elf, copy, length, reader->elf.name, reader->error) ||
        !check_header(reader) || !read_segments(reader) || !read_text(reader) ||
        !read_symbols(reader) || !read_metadata(reader) || !read_relocations(reader))
        return false;
    read_producer(reader);
    read_lines(reader);
    return true;
}

struct code_object *codeobject_read(struct arena *arena, const void *bytes, size_t length,
                                    const char *file, struct error *error)
{
    struct code_object *object = arena_new(arena, struct code_object);
    struct reader reader = {.arena = arena, .object = object, .error = error};
    object->file = reader.elf.name = text_printable(arena, file);
    object->warnings = arena_array(arena, const char *, WARNINGS + 1);
    if (!read_object(&reader, bytes, length))
        return NULL;
    if (reader.dropped_warnings)
        object->warnings[object->warning_count++] =
            arena_printf(arena, "and %u more warnings", reader.dropped_warnings);
    return object;
}

static int compare_name(const void *name, const void *kernel)
{
    return strcmp(name, ((const struct code_kernel *)kernel)->name);
}

const struct code_kernel *codeobject_kernel(const struct code_object *object, const char *name)
{
    return object->kernel_count ? bsearch(name, object->kernels, object->kernel_count,
                                          sizeof *object->kernels, compare_name)
                                : NULL;
}

const struct code_function *codeobject_function_at(const struct code_object *object, u64 address)
{
    u32 low = 0, high = object->function_count;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (object->functions[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return NULL;
    const struct code_function *function = &object->functions[low - 1];
    return address - function->address < function->size ? function : NULL;
}

bool codeobject_line(const struct code_object *object, u64 address, const char **file, u32 *line)
{
    u32 low = 0, high = object->line_count;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (object->lines[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || address >= object->lines[low - 1].end)
        return false;
    *file = object->files[object->lines[low - 1].file];
    *line = object->lines[low - 1].line;
    return true;
}
