/* Code objects for tests: see objects.h. The committed files are trusted here. */
#include "objects.h"

#include "base/text.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

const char *objects_folder;

struct bytes object_bytes(const char *name)
{
    struct bytes bytes;
    struct error error = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/%s", objects_folder, name);
    bytes.data = (u8 *)text_read_file(path, false, 1 << 20, &bytes.size, &error);
    if (!bytes.data)
        fail_msg("%s: %s", path, error.message);
    return bytes;
}

struct code_object *object_open(struct arena *arena, const char *name)
{
    struct bytes bytes = object_bytes(name);
    struct error error = {0};
    struct code_object *object = codeobject_read(arena, bytes.data, bytes.size, name, &error);
    if (!object)
        fail_msg("%s: %s", name, error.message);
    memset(bytes.data, 0xaa, bytes.size); /* the object must have its own copy */
    free(bytes.data);
    return object;
}

void object_refused(const struct bytes *bytes, const char *message)
{
    struct arena *arena = arena_create();
    struct error error = {0};
    if (codeobject_read(arena, bytes->data, bytes->size, "x.so", &error))
        fail_msg("taken, but expected: %s", message);
    assert_string_equal(error.place, "x.so");
    if (!strstr(error.message, message))
        fail_msg("'%s', but expected: %s", error.message, message);
    arena_destroy(arena);
}

struct code_object *object_warned(struct arena *arena, const struct bytes *bytes,
                                  const char *message)
{
    struct error error = {0};
    struct code_object *object = codeobject_read(arena, bytes->data, bytes->size, "x.so", &error);
    if (!object)
        fail_msg("%s", error.message);
    bool found = !message;
    for (u32 i = 0; i < object->warning_count; i++) {
        if (!message)
            fail_msg("warning: %s", object->warnings[i]);
        found |= strstr(object->warnings[i], message) != NULL;
    }
    if (!found)
        fail_msg("no warning: %s", message);
    return object;
}

Elf64_Ehdr *elf_header(const struct bytes *bytes)
{
    return (Elf64_Ehdr *)bytes->data;
}

static Elf64_Phdr *segment(const struct bytes *bytes, u32 type, u32 which)
{
    Elf64_Phdr *list = (Elf64_Phdr *)(bytes->data + elf_header(bytes)->e_phoff);
    for (u32 i = 0; i < elf_header(bytes)->e_phnum; i++)
        if (list[i].p_type == type && !which--)
            return &list[i];
    fail_msg("no program header of type %u", type);
    return NULL;
}

Elf64_Phdr *elf_load(const struct bytes *bytes, u32 which)
{
    return segment(bytes, PT_LOAD, which);
}

Elf64_Phdr *elf_segment_of(const struct bytes *bytes, u32 type)
{
    return segment(bytes, type, 0);
}

Elf64_Shdr *elf_section_of(const struct bytes *bytes, const char *name)
{
    Elf64_Shdr *list = (Elf64_Shdr *)(bytes->data + elf_header(bytes)->e_shoff);
    const char *names = (char *)bytes->data + list[elf_header(bytes)->e_shstrndx].sh_offset;
    for (u32 i = 0; i < elf_header(bytes)->e_shnum; i++)
        if (!strcmp(names + list[i].sh_name, name))
            return &list[i];
    fail_msg("no section %s", name);
    return NULL;
}

Elf64_Sym *elf_symbol_of(const struct bytes *bytes, const char *name)
{
    const Elf64_Shdr *table = elf_section_of(bytes, ".symtab");
    const char *names = (char *)bytes->data + elf_section_of(bytes, ".strtab")->sh_offset;
    Elf64_Sym *list = (Elf64_Sym *)(bytes->data + table->sh_offset);
    for (u32 i = 0; i < table->sh_size / sizeof *list; i++)
        if (!strcmp(names + list[i].st_name, name))
            return &list[i];
    fail_msg("no symbol %s", name);
    return NULL;
}

u8 *elf_bytes_at(const struct bytes *bytes, u64 address)
{
    for (u32 i = 0;; i++) {
        const Elf64_Phdr *load = elf_load(bytes, i);
        if (address - load->p_vaddr < load->p_filesz)
            return bytes->data + load->p_offset + (address - load->p_vaddr);
    }
}

u8 *bytes_find(const struct bytes *bytes, const void *what, size_t size, const u8 *from)
{
    const u8 *start = from ? from : bytes->data;
    u8 *found = memmem(start, bytes->size - (size_t)(start - bytes->data), what, size);
    if (!found)
        fail_msg("the bytes are not there");
    return found;
}
