/*
 * Files that are wrong in one place each, made from a good one: each check of the loader refuses
 * with its own message. Then files cut off and changed everywhere, which must not do harm.
 */
#include "objects.h"

#include "isa/si/msgpack.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct bytes good(void)
{
    return object_bytes("loader_rocm5.so");
}

/* Refuses `bytes` and frees them. */
static void refused(struct bytes bytes, const char *message)
{
    object_refused(&bytes, message);
    free(bytes.data);
}

static void warned(struct bytes bytes, const char *message)
{
    struct arena *arena = arena_create();
    object_warned(arena, &bytes, message);
    free(bytes.data);
    arena_destroy(arena);
}

static void err_not_elf(void **state)
{
    static const struct {
        const char *text;
        size_t size;
        const char *message;
    } cases[] = {
        {"", 0, "0 bytes without an ELF header"},
        {"\x7f"
         "EL",
         3, "3 bytes without an ELF header"},
        {".version 7.0\n.target sm_70\n", 26, "it looks like PTX text"},
        {"!<arch>\nx", 9, "it is an archive"},
        {"BC\xc0\xde", 4, "it is LLVM bitcode"},
        {"__CLANG_OFFLOAD_BUNDLE__1", 25, "it is an offload bundle"},
        {"\x7f"
         "ELF",
         4, "ends inside its header"},
        {"\x7f"
         "ELF\2\1\1\x40\3\0\0\0\0\0\0\0\0\0",
         18, "ELF file of 18 bytes ends inside its header of 64"},
        {"\x7f"
         "ELF\1\1\1\0\0\0\0\0\0\0\0\0",
         16, "a 32-bit ELF file: expected a 64-bit one"},
        {"\x7f"
         "ELF\0\1\1\0\0\0\0\0\0\0\0\0",
         16, "a malformed ELF file"},
        {"\x7f"
         "ELF\2\2\1\0\0\0\0\0\0\0\0\0",
         16, "ELF data encoding 2: expected little-endian"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        u8 *copy = malloc(MAX(cases[i].size, (size_t)1));
        memcpy(copy, cases[i].text, cases[i].size);
        refused((struct bytes){copy, cases[i].size}, cases[i].message);
    }
}

#define HEADER(field, value, message)      \
    do {                                   \
        struct bytes bytes = good();       \
        elf_header(&bytes)->field = value; \
        refused(bytes, message);           \
    } while (0)

static void err_header(void **state)
{
    HEADER(e_machine, EM_X86_64, "ELF machine 62 (x86-64): expected 224 (AMD GPU)");
    HEADER(e_machine, 250, "ELF machine 250: expected 224");
    HEADER(e_ident[EI_OSABI], 0, "code for the bare amdgcn-- ABI (0): expected AMDHSA (64)");
    HEADER(e_ident[EI_OSABI], 65, "code for the AMDPAL ABI (65)");
    HEADER(e_ident[EI_OSABI], 66, "code for the Mesa 3D ABI (66)");
    HEADER(e_ident[EI_OSABI], 9, "code for the unknown ABI (9)");
    HEADER(e_ident[EI_ABIVERSION], 0, "code object version 2 (ABI version 0)");
    HEADER(e_ident[EI_ABIVERSION], 5, "unknown ABI version 5: expected 1 to 4");
    HEADER(e_type, ET_REL, "a relocatable object file: link it first");
    HEADER(e_type, ET_EXEC, "ELF type 2: expected a shared object (3)");
    HEADER(e_flags, 0x2c, "code for gfx900 (ELF flags 0x2c)");
    HEADER(e_flags, 0xfe, "code for an unknown GPU (ELF flags 0xfe)");
    HEADER(e_phentsize, 32, "program headers have 32 bytes each, expected 56");
    HEADER(e_phoff, 1 << 20, "8 program headers at offset 0x100000 do not fit in the file");
    HEADER(e_phoff, UINT64_MAX - 8, "program headers at offset 0xfffffffffffffff7 do not fit");
    HEADER(e_phnum, 0xffff, "65535 program headers at offset 0x40 do not fit");
    HEADER(e_shentsize, 0, "section headers have 0 bytes each, expected 64");
    HEADER(e_shoff, UINT64_MAX, "section headers at offset 0xffffffffffffffff do not fit");
    HEADER(e_phnum, 0, "the file has no loadable segment");
}

#define LOAD(which, field, value, message)      \
    do {                                        \
        struct bytes bytes = good();            \
        elf_load(&bytes, which)->field = value; \
        refused(bytes, message);                \
    } while (0)

static void err_segments(void **state)
{
    LOAD(0, p_memsz, 1, "are more than the 0x1 in memory");
    LOAD(0, p_offset, 1 << 20, "program header 1: bytes 0x100000 + ");
    LOAD(0, p_offset, UINT64_MAX, "program header 1: bytes 0xffffffffffffffff + ");
    LOAD(2, p_vaddr, UINT64_MAX - 16, "exceed 64 bits");
    LOAD(2, p_vaddr, 0, "segments at 0x0 and 0x0 overlap");
    LOAD(2, p_vaddr, 1ull << 40, "segments span 0x");
    LOAD(2, p_memsz, 1ull << 40, "segments span 0x");
    LOAD(1, p_flags, PF_R, "the file has no executable segment");
    LOAD(2, p_flags, PF_R | PF_X, "two executable segments, at 0x");
}

static void err_text(void **state)
{
    struct bytes bytes = good();
    elf_section_of(&bytes, ".text")->sh_addr -= 0x1000;
    refused(bytes, "is not within the executable segment");
    bytes = good();
    elf_section_of(&bytes, ".text")->sh_size += 4;
    refused(bytes, "is not within the executable segment");
    bytes = good();
    elf_section_of(&bytes, ".text")->sh_size -= 2;
    refused(bytes, "expected non-zero multiples of 4");
    bytes = good();
    elf_section_of(&bytes, ".text")->sh_size = 0;
    refused(bytes, "expected non-zero multiples of 4");
}

static void err_symbols(void **state)
{
    struct bytes bytes = good();
    elf_section_of(&bytes, ".symtab")->sh_type = SHT_PROGBITS;
    elf_section_of(&bytes, ".dynsym")->sh_type = SHT_PROGBITS;
    elf_segment_of(&bytes, PT_DYNAMIC)->p_type = PT_NULL;
    refused(bytes, "no symbol table");
    bytes = good();
    elf_symbol_of(&bytes, "add.kd")->st_name = elf_symbol_of(&bytes, "many.kd")->st_name;
    refused(bytes, "two kernel descriptors are named many.kd");
    bytes = good();
    elf_symbol_of(&bytes, "add.kd")->st_value = 0x100000;
    refused(bytes, "add.kd: the kernel descriptor at 0x100000 is not within the");
    bytes = good(); /* the last 63 bytes of the read-only segment */
    elf_symbol_of(&bytes, "add.kd")->st_value = elf_load(&bytes, 0)->p_filesz - 63;
    refused(bytes, "is not within the");
    bytes = good();
    elf_symbol_of(&bytes, "add")->st_value = 8;
    warned(bytes, "function add at 0x8 is outside the code");
    bytes = good();
    elf_symbol_of(&bytes, "helper")->st_size = 0x10000;
    warned(bytes, "function helper overlaps the next one");
    bytes = good();
    elf_symbol_of(&bytes, "add.kd")->st_info = STT_NOTYPE;
    elf_symbol_of(&bytes, "many.kd")->st_info = STT_NOTYPE;
    elf_symbol_of(&bytes, "required.kd")->st_info = STT_NOTYPE;
    warned(bytes, "the file has no kernel");
}

/* Descriptor fields: offset, bytes, value. */
static void err_descriptor(void **state)
{
    static const struct {
        u32 offset, bytes;
        u64 value;
        const char *message;
    } cases[] = {
        {16, 8, 0, "add.kd: the entry at 0x"},
        {16, 8, 1ull << 63, "is not an instruction address in .text"},
        {16, 1, 0xc2, "is not an instruction address in .text"},
        {56, 2, 0x409, "requests warps of 32 lanes"},
        {56, 2, 0x7f, "6 user SGPRs (RSRC2), but the enabled properties need 15"},
        {52, 4, 31u << 1, "31 user SGPRs (RSRC2)"},
        {8, 4, 16, "argument 3 (by_value): bytes 16 + 4 are outside the 16 bytes"},
        {8, 4, 1 << 20, "kernel add: 1048576 bytes of arguments, at most 65536"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct bytes bytes = good();
        u8 *kd = elf_bytes_at(&bytes, elf_symbol_of(&bytes, "add.kd")->st_value);
        memcpy(kd + cases[i].offset, &cases[i].value, cases[i].bytes);
        refused(bytes, cases[i].message);
    }
    struct bytes bytes = good();
    u8 *kd = elf_bytes_at(&bytes, elf_symbol_of(&bytes, "add.kd")->st_value);
    kd[16] += 4;
    warned(bytes, "is not a multiple of 256");
}

static void sizes_of_the_descriptor_win(void **state)
{
    struct arena *arena = arena_create();
    struct bytes bytes = good();
    u8 *kd = elf_bytes_at(&bytes, elf_symbol_of(&bytes, "required.kd")->st_value);
    u32 lds = 1024, private = 64;
    memcpy(kd, &lds, 4);
    memcpy(kd + 4, &private, 4);
    struct code_object *object = object_warned(
        arena, &bytes,
        "kernel required: the metadata gives 512 bytes of shared memory, the descriptor 1024");
    assert_int_equal(object->warning_count, 2);
    assert_int_equal(codeobject_kernel(object, "required")->descriptor.lds_bytes, 1024);
    assert_int_equal(codeobject_kernel(object, "required")->descriptor.private_bytes, 64);
    kd = elf_bytes_at(&bytes, elf_symbol_of(&bytes, "many.kd")->st_value);
    kd[8] += 8;
    object = object_warned(arena, &bytes, "kernel many: the metadata gives 312 bytes of arguments");
    assert_int_equal(codeobject_kernel(object, "many")->kernarg_bytes, 320);
    memset(kd + 8, 0, 4); /* as compilers before 11 leave it: the metadata says it alone */
    object = object_warned(arena, &bytes, "512 bytes of shared memory");
    assert_int_equal(object->warning_count, 2);
    assert_int_equal(codeobject_kernel(object, "many")->kernarg_bytes, 312);
    free(bytes.data);
    arena_destroy(arena);
}

static Elf64_Dyn *dynamic(const struct bytes *bytes, i64 tag)
{
    Elf64_Dyn *entry = (Elf64_Dyn *)(bytes->data + elf_segment_of(bytes, PT_DYNAMIC)->p_offset);
    while (entry->d_tag != tag)
        if (entry++->d_tag == DT_NULL)
            fail_msg("no dynamic entry %lld", (long long)tag);
    return entry;
}

static Elf64_Rela *rela(const struct bytes *bytes)
{
    return (Elf64_Rela *)(bytes->data + elf_section_of(bytes, ".rela.dyn")->sh_offset);
}

static void err_relocations(void **state)
{
    struct bytes bytes = object_bytes("globals.so");
    dynamic(&bytes, DT_GNU_HASH)->d_tag = DT_REL;
    refused(bytes, "relocations without addends (DT_REL)");
    bytes = object_bytes("globals.so");
    dynamic(&bytes, DT_GNU_HASH)->d_tag = DT_PLTRELSZ;
    refused(bytes, "procedure linkage table (DT_JMPREL)");
    bytes = object_bytes("globals.so");
    dynamic(&bytes, DT_RELAENT)->d_un.d_val = 16;
    refused(bytes, "the relocation table at 0x");
    bytes = object_bytes("globals.so");
    dynamic(&bytes, DT_RELASZ)->d_un.d_val = 24ull << 32;
    refused(bytes, "is not within the file");
    bytes = object_bytes("globals.so");
    dynamic(&bytes, DT_RELA)->d_un.d_val = 1ull << 40;
    refused(bytes, "is not within the file");
    static const struct {
        u64 symbol, type;
        const char *message;
    } cases[] = {{0, 10, "relocation type 10 (REL32_LO) at 0x"},
                 {0, 99, "relocation type 99 (unknown) at 0x"},
                 {77, 3, "a relocation names symbol 77, but the table has 3 symbols"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        bytes = object_bytes("globals.so");
        rela(&bytes)->r_info = ELF64_R_INFO(cases[i].symbol, cases[i].type);
        refused(bytes, cases[i].message);
    }
    bytes = object_bytes("globals.so");
    rela(&bytes)->r_offset = elf_load(&bytes, 3)->p_vaddr + elf_load(&bytes, 3)->p_memsz - 7;
    refused(bytes, "a relocation changes 8 bytes at 0x");
    bytes = object_bytes("globals.so");
    Elf64_Sym *symbols = (Elf64_Sym *)(bytes.data + elf_section_of(&bytes, ".dynsym")->sh_offset);
    symbols[1].st_shndx = SHN_UNDEF;
    rela(&bytes)->r_info = ELF64_R_INFO(1ull, 3);
    refused(bytes, "globals is not defined in this file");
}

/* The good file with `more` zero bytes after it. */
static struct bytes longer(size_t more)
{
    struct bytes bytes = good();
    bytes.data = realloc(bytes.data, bytes.size + more);
    assert_non_null(bytes.data);
    memset(bytes.data + bytes.size, 0, more);
    bytes.size += more;
    return bytes;
}

/* What could make work or memory grow faster than the file. */
static void err_bounds(void **state)
{
    struct bytes bytes = longer(257 * sizeof(Elf64_Phdr));
    elf_header(&bytes)->e_phoff = bytes.size - 257 * sizeof(Elf64_Phdr);
    elf_header(&bytes)->e_phnum = 257;
    refused(bytes, "257 program headers, expected at most 256");
    const u32 count = 16385;
    bytes = longer(count * sizeof(Elf64_Sym));
    Elf64_Sym kernel = *elf_symbol_of(&bytes, "add.kd");
    Elf64_Shdr *table = elf_section_of(&bytes, ".symtab");
    table->sh_offset = bytes.size - count * sizeof kernel;
    table->sh_size = count * sizeof kernel;
    for (u32 i = 0; i < count; i++)
        memcpy(bytes.data + table->sh_offset + i * sizeof kernel, &kernel, sizeof kernel);
    refused(bytes, "16385 kernels, expected at most 16384");
    /* Names that are too long or not terminated are ignored. */
    bytes = longer(5000);
    Elf64_Sym *add = elf_symbol_of(&bytes, "add.kd");
    Elf64_Shdr *names = elf_section_of(&bytes, ".strtab");
    memcpy(bytes.data + bytes.size - 5000, bytes.data + names->sh_offset, names->sh_size);
    names->sh_offset = bytes.size - 5000;
    add->st_name = (u32)names->sh_size;
    memset(bytes.data + names->sh_offset + add->st_name, 'n', 4097);
    memcpy(bytes.data + names->sh_offset + add->st_name + 4094, ".kd", 4);
    names->sh_size = 5000;
    struct arena *arena = arena_create();
    assert_int_equal(object_warned(arena, &bytes, "describes add.kd")->kernel_count, 2);
    bytes.data[names->sh_offset + add->st_name + 4095] = 0; /* "...n.k": no descriptor either */
    assert_int_equal(object_warned(arena, &bytes, "describes add.kd")->kernel_count, 2);
    memcpy(bytes.data + names->sh_offset + add->st_name + 4092, ".kd", 4);
    assert_int_equal(object_warned(arena, &bytes, "describes add.kd")->kernel_count, 3);
    names->sh_size = add->st_name + 4095; /* cut before the end */
    assert_int_equal(object_warned(arena, &bytes, "describes add.kd")->kernel_count, 2);
    arena_destroy(arena);
    free(bytes.data);
}

/* Generated metadata instead of the file's. */
struct writer {
    u8 data[1024];
    size_t size;
};

static void put_byte(struct writer *w, u8 byte)
{
    w->data[w->size++] = byte;
}

static void put_string(struct writer *w, const char *text)
{
    put_byte(w, 0xd9);
    put_byte(w, (u8)strlen(text));
    memcpy(w->data + w->size, text, strlen(text));
    w->size += strlen(text);
}

/* Each letter of `shape` one value: {n and [n open a map or array of n, s takes a string of the
 * list, digits are small numbers, - is -1, t true, L a number of 33 bits, N nil, F a float. */
static struct bytes with_metadata(const char *shape, const char *const *strings)
{
    struct bytes bytes = object_bytes("tiny_v3.so");
    struct writer w = {.size = 0};
    for (const char *c = shape; *c; c++) {
        if (*c == '{')
            put_byte(&w, (u8)(0x80 | (*++c - '0')));
        else if (*c == '[')
            put_byte(&w, (u8)(0x90 | (*++c - '0')));
        else if (*c == 's')
            put_string(&w, *strings++);
        else if (*c == 'L')
            for (u32 i = 0; i < 9; i++)
                put_byte(&w, i == 0 ? 0xcf : i == 4 ? 1 : 0);
        else if (*c == 'F')
            for (u32 i = 0; i < 5; i++)
                put_byte(&w, i == 0 ? 0xca : 0);
        else
            put_byte(&w, *c == '-' ? 0xff : *c == 't' ? 0xc3 : *c == 'N' ? 0xc0 : (u8)(*c - '0'));
    }
    Elf64_Nhdr *note = (Elf64_Nhdr *)(bytes.data + elf_segment_of(&bytes, PT_NOTE)->p_offset);
    assert_true(w.size <= note->n_descsz);
    note->n_descsz = (u32)w.size;
    memcpy((u8 *)(note + 1) + 8, w.data, w.size);
    return bytes;
}
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void err_metadata(void **state)
{
#define K "amdhsa.kernels"
    refused(with_metadata("", WORDS("")), "metadata, byte 0: unexpected end");
    refused(with_metadata("[0", WORDS("")), "the metadata: expected a map, found an array");
    refused(with_metadata("{11", WORDS("")), "a key: expected a string, found a number");
    refused(with_metadata("{1s", WORDS(K)), "metadata, byte 17: unexpected end");
    refused(with_metadata("{1s[9", WORDS("amdhsa.printf")), "inside an array or map");
    refused(with_metadata("{1s7", WORDS(K)), "amdhsa.kernels: expected an array, found a number");
    refused(with_metadata("{1s[1t", WORDS(K)), "amdhsa.kernels: expected a map, found a bool");
    refused(with_metadata("{1s[1{1s5", WORDS(K, ".symbol")), ".symbol: expected a string");
    refused(with_metadata("{1s[1{1s5", WORDS(K, ".vgpr_count")), "a kernel without .symbol");
    refused(with_metadata("{1s[1{1sN", WORDS(K, ".args")), ".args: expected an array, found nil");
    refused(with_metadata("{1s[1{1s[1F", WORDS(K, ".args")),
            ".args: expected a map, found a float");
    refused(with_metadata("{1s[1{1s[1{1s5", WORDS(K, ".args", ".size")),
            "an argument without .value_kind");
    refused(with_metadata("{1s[1{1s[1{1s-", WORDS(K, ".args", ".size")),
            ".size: expected a number that is not negative, found a negative number");
    refused(with_metadata("{1s[1{1s[1{1sL", WORDS(K, ".args", ".offset")),
            ".offset: 4294967296 does not fit in 32 bits");
    refused(with_metadata("{1s[1{1s[1{1ss", WORDS(K, ".args", ".is_const", "yes")),
            ".is_const: expected a bool, found a string");
    refused(with_metadata("{1s[1{1s[212", WORDS(K, ".reqd_workgroup_size")),
            ".reqd_workgroup_size: expected three numbers");
    refused(with_metadata("{1s[1{2sss[1{3s8s1ss", WORDS(K, ".symbol", "tiny.kd", ".args", ".offset",
                                                        ".size", ".value_kind", "by_value")),
            "kernel tiny, argument 1 (by_value): bytes 8 + 1 are outside the 8 bytes");
    warned(with_metadata("{1s[0", WORDS(K)), "kernel tiny: the metadata does not describe it");
    warned(with_metadata("{1s[1{1ss", WORDS(K, ".symbol", "other.kd")),
           "the metadata describes other.kd, which is not in the file");
    warned(with_metadata("{1s[1{1ss", WORDS(K, ".symbol", "x")), "describes x, which is not in");
    warned(with_metadata("{1s[2{1ss{1ss", WORDS(K, ".symbol", "tiny.kd", ".symbol", "tiny.kd")),
           "describes tiny.kd twice");
    warned(with_metadata("{1s[1{2sss[1{1ss",
                         WORDS(K, ".symbol", "tiny.kd", ".args", ".value_kind", "strange")),
           "argument 1: unknown value kind 'strange'");
    struct bytes bytes = object_bytes("tiny_v3.so");
    elf_segment_of(&bytes, PT_NOTE)->p_type = PT_NULL;
    elf_section_of(&bytes, ".note")->sh_type = SHT_PROGBITS;
    warned(bytes, "no metadata (note AMDGPU of type 32)");
    static const u32 lengths[] = {0x10000, 0xffffffff, 0x80000000};
    for (size_t i = 0; i < 2 * ARRAY_LEN(lengths); i++) { /* of the name and of the data */
        bytes = object_bytes("tiny_v3.so");
        Elf64_Nhdr *note = (Elf64_Nhdr *)(bytes.data + elf_segment_of(&bytes, PT_NOTE)->p_offset);
        *(i % 2 ? &note->n_namesz : &note->n_descsz) = lengths[i / 2];
        warned(bytes, "no metadata (note AMDGPU of type 32)");
    }
    bytes = object_bytes("tiny_v3.so"); /* sections lead to it as well */
    elf_segment_of(&bytes, PT_NOTE)->p_type = PT_NULL;
    warned(bytes, NULL);
}

/* Words that a later compiler may add are passed over, however deep. */
static void unknown_metadata(void **state)
{
    struct arena *arena = arena_create();
    struct bytes bytes = with_metadata("{2s{1s[2{1sF[2tNs[1{3sss[1{4sss4s{1s[0s1s[1{0",
                                       WORDS("amdhsa.future", "deep", "deeper", K, ".symbol",
                                             "tiny.kd", ".args", ".value_kind", "by_value", ".size",
                                             ".odd", "odder", ".pointee_align", ".unknown"));
    struct code_object *object = object_warned(arena, &bytes, NULL);
    assert_int_equal(object->kernels[0].arg_count, 1);
    assert_int_equal(object->kernels[0].args[0].size, 4);
    assert_int_equal(object->kernels[0].args[0].pointee_align, 1);
    free(bytes.data);
    arena_destroy(arena);
}

/* MessagePack itself: every kind of value, and lengths that are not there. */
static void msgpack(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        enum msgpack_kind kind;
        u64 number;
        u32 length;
    } cases[] = {
        {"\x7f", 1, MSGPACK_UINT, 127, 0},
        {"\xe0", 1, MSGPACK_INT, (u64)-32, 0},
        {"\xcc\xff", 2, MSGPACK_UINT, 255, 0},
        {"\xcd\x01\x02", 3, MSGPACK_UINT, 0x102, 0},
        {"\xce\x01\x02\x03\x04", 5, MSGPACK_UINT, 0x1020304, 0},
        {"\xcf\x01\x02\x03\x04\x05\x06\x07\x08", 9, MSGPACK_UINT, 0x102030405060708, 0},
        {"\xd0\x80", 2, MSGPACK_INT, (u64)-128, 0},
        {"\xd1\x00\x05", 3, MSGPACK_UINT, 5, 0},
        {"\xd2\xff\xff\xff\xfe", 5, MSGPACK_INT, (u64)-2, 0},
        {"\xd3\xff\xff\xff\xff\xff\xff\xff\xff", 9, MSGPACK_INT, (u64)-1, 0},
        {"\xc2", 1, MSGPACK_BOOL, 0, 0},
        {"\xc3", 1, MSGPACK_BOOL, 1, 0},
        {"\xc0", 1, MSGPACK_NIL, 0, 0},
        {"\xca\x3f\x80\x00\x00", 5, MSGPACK_FLOAT, 0x3f800000, 0},
        {"\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00", 9, MSGPACK_FLOAT, 0x3ff0000000000000, 0},
        {"\xa2hi", 3, MSGPACK_STRING, 0, 2},
        {"\xd9\x01x", 3, MSGPACK_STRING, 0, 1},
        {"\xda\x00\x01x", 4, MSGPACK_STRING, 0, 1},
        {"\xdb\x00\x00\x00\x01x", 6, MSGPACK_STRING, 0, 1},
        {"\xc4\x01x", 3, MSGPACK_BINARY, 0, 1},
        {"\xc5\x00\x01x", 4, MSGPACK_BINARY, 0, 1},
        {"\xc6\x00\x00\x00\x01x", 6, MSGPACK_BINARY, 0, 1},
        {"\xc7\x01tx", 4, MSGPACK_BINARY, 0, 2},
        {"\xd4tx", 3, MSGPACK_BINARY, 0, 2},
        {"\xd8t0123456789abcdef", 18, MSGPACK_BINARY, 0, 17},
        {"\x93", 1, MSGPACK_ARRAY, 0, 3},
        {"\xdc\x01\x00", 3, MSGPACK_ARRAY, 0, 256},
        {"\xdd\x00\x01\x00\x00", 5, MSGPACK_ARRAY, 0, 65536},
        {"\x8f", 1, MSGPACK_MAP, 0, 15},
        {"\xde\x00\x10", 3, MSGPACK_MAP, 0, 16},
        {"\xdf\xff\xff\xff\xff", 5, MSGPACK_MAP, 0, UINT32_MAX},
    };
    struct msgpack_value value;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (size_t size = 0; size <= cases[i].size; size++) {
            u8 *copy = malloc(size + 1); /* so that a sanitizer sees a byte too many */
            u8 *exact = size ? realloc(copy, size) : copy;
            memcpy(exact, cases[i].bytes, size);
            struct msgpack in = {exact, size, 0};
            assert_int_equal(msgpack_next(&in, &value), size == cases[i].size);
            if (size == cases[i].size) {
                assert_int_equal(value.kind, cases[i].kind);
                assert_true(value.number == cases[i].number);
                assert_int_equal(value.length, cases[i].length);
                assert_int_equal(in.at, size);
                bool empty = value.kind != MSGPACK_ARRAY && value.kind != MSGPACK_MAP;
                assert_int_equal(msgpack_skip(&in, &value), empty);
            }
            free(exact);
        }
    struct msgpack in = {(const u8 *)"\xc1", 1, 0};
    assert_false(msgpack_next(&in, &value));
    in = (struct msgpack){(const u8 *)"\x92\x81\xa1k\x91\xc0\x05\x06", 8, 0};
    assert_true(msgpack_next(&in, &value) && msgpack_skip(&in, &value));
    assert_int_equal(in.at, 7); /* the 6 is not part of it */
}

static void broken_lines(void **state)
{
    struct bytes bytes = good();
    Elf64_Shdr *section = elf_section_of(&bytes, ".debug_line");
    bytes.data[section->sh_offset + 4] = 9; /* the version */
    warned(bytes, "source lines (.debug_line) cannot all be read: expected DWARF 2 to 5");
    bytes = good();
    section = elf_section_of(&bytes, ".debug_line");
    memset(bytes.data + section->sh_offset, 0xff, 12); /* 64-bit DWARF of 2^64 - 1 bytes */
    warned(bytes, "cannot all be read");
    bytes = good();
    section = elf_section_of(&bytes, ".debug_line");
    section->sh_flags |= SHF_COMPRESSED;
    warned(bytes, "source lines are compressed (-gz): ignored");
    /* Directories without a format would take no bytes: as many as one likes. */
    struct arena *arena = arena_create();
    bytes = good();
    section = elf_section_of(&bytes, ".debug_line");
    u8 *formats = bytes.data + section->sh_offset + 4 + 2 + 2 + 4 + 6 + 12;
    assert_int_equal(formats[0], 1);
    memcpy(formats, "\0\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10);
    struct code_object *object = object_warned(arena, &bytes, "cannot all be read");
    assert_int_equal(object->line_count, 0);
    free(bytes.data);
    arena_destroy(arena);
}

/* A file truncated anywhere is refused or, if only unneeded parts are missing, accepted. */
static void cut_off(void **state)
{
    struct bytes bytes = object_bytes("globals.so");
    for (size_t size = 0; size < bytes.size; size++) {
        struct arena *arena = arena_create();
        struct error error = {0};
        u8 *copy = malloc(MAX(size, (size_t)1));
        memcpy(copy, bytes.data, size);
        assert_null(codeobject_read(arena, copy, size, "x.so", &error));
        assert_true(error.message[0]);
        free(copy);
        arena_destroy(arena);
    }
    free(bytes.data);
}

/* Each byte set to a few others. What is taken can be loaded and described. */
static void changed(void **state)
{
    static const u8 masks[] = {0xff, 0x80, 0x01, 0x10};
    struct bytes bytes = object_bytes("globals.so");
    for (size_t at = 0; at < bytes.size; at++)
        for (size_t m = 0; m < ARRAY_LEN(masks); m++) {
            struct arena *arena = arena_create();
            struct error error = {0};
            bytes.data[at] ^= masks[m];
            struct code_object *object =
                codeobject_read(arena, bytes.data, bytes.size, "x.so", &error);
            if (object && object->high - object->low < 1 << 20) {
                u8 *image = malloc(object->high - object->low);
                codeobject_load(object, 0x1000, image);
                for (u32 i = 0; i < object->kernel_count; i++)
                    codeobject_describe_kernel(object, &object->kernels[i], arena);
                free(image);
            }
            assert_true(object || error.message[0]);
            bytes.data[at] ^= masks[m];
            arena_destroy(arena);
        }
    free(bytes.data);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(err_not_elf),      cmocka_unit_test(err_header),
        cmocka_unit_test(err_segments),     cmocka_unit_test(err_text),
        cmocka_unit_test(err_symbols),      cmocka_unit_test(err_descriptor),
        cmocka_unit_test(err_relocations),  cmocka_unit_test(err_metadata),
        cmocka_unit_test(unknown_metadata), cmocka_unit_test(sizes_of_the_descriptor_win),
        cmocka_unit_test(msgpack),          cmocka_unit_test(broken_lines),
        cmocka_unit_test(err_bounds),       cmocka_unit_test(cut_off),
        cmocka_unit_test(changed),
    };
    objects_folder = argv[argc - 1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
