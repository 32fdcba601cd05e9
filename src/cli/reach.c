/*
 * Why a program did not reach Heddle: what its ELF file tells about the runtimes it uses.
 *
 * The file is the program that was started. If that starts another one, nothing is known of that.
 */
#include "cli/program.h"

#include "base/text.h"
#include <elf.h>
#include <stdlib.h>

enum {
    LIMIT = 1 << 30 /* largest program that is looked at, in bytes */
};

struct program_file {
    const u8 *data;
    size_t bytes;
};

/* `bytes` bytes at an offset; NULL: they are not all in the file. */
static const void *part(const struct program_file *file, u64 offset, u64 bytes)
{
    return offset <= file->bytes && bytes <= file->bytes - offset ? file->data + offset : NULL;
}

static const Elf64_Phdr *segment(const struct program_file *file, const Elf64_Ehdr *header,
                                 u32 type)
{
    for (u32 i = 0; i < header->e_phnum; i++) {
        const Elf64_Phdr *at = part(file, header->e_phoff + (u64)i * sizeof *at, sizeof *at);
        if (at && at->p_type == type)
            return at;
    }
    return NULL;
}

/* The section of a name; NULL: there is none. */
static const Elf64_Shdr *section(const struct program_file *file, const Elf64_Ehdr *header,
                                 const char *name)
{
    const u64 size = sizeof(Elf64_Shdr);
    const Elf64_Shdr *names = part(file, header->e_shoff + header->e_shstrndx * size, size);
    for (u32 i = 0; names && i < header->e_shnum; i++) {
        const Elf64_Shdr *at = part(file, header->e_shoff + i * size, size);
        const char *text = at ? part(file, names->sh_offset + at->sh_name, strlen(name) + 1) : NULL;
        if (text && !memcmp(text, name, strlen(name) + 1))
            return at;
    }
    return NULL;
}

/* Whether a dynamic entry of a kind (DT_NEEDED, DT_RPATH) has a string that begins with `prefix`. */
static bool names(const struct program_file *file, const Elf64_Ehdr *header, i64 kind,
                  const char *prefix)
{
    const Elf64_Shdr *dynamic = section(file, header, ".dynamic");
    const Elf64_Shdr *strings = section(file, header, ".dynstr");
    const u64 count = dynamic && strings ? dynamic->sh_size / sizeof(Elf64_Dyn) : 0;
    for (u64 i = 0; i < count; i++) {
        const Elf64_Dyn *at =
            part(file, dynamic->sh_offset + i * sizeof(Elf64_Dyn), sizeof(Elf64_Dyn));
        if (!at || at->d_tag != kind)
            continue;
        const char *text = part(file, strings->sh_offset + at->d_un.d_val, strlen(prefix));
        if (text && !strncmp(text, prefix, strlen(prefix)))
            return true;
    }
    return false;
}

static const char *reason(const struct program_file *file)
{
    const Elf64_Ehdr *header = part(file, 0, sizeof *header);
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64)
        return "no program that it started loaded a driver of Heddle's.";
    const bool kernels = section(file, header, ".nv_fatbin"); /* device code of CUDA */
    if (!segment(file, header, PT_INTERP))
        return "it is linked statically and cannot load a driver.";
    if (kernels && names(file, header, DT_NEEDED, "libcudart.so") &&
        names(file, header, DT_RPATH, ""))
        return "it has a DT_RPATH, which comes before Heddle's folder: link it with "
               "-Wl,--enable-new-dtags, or remove the entry (chrpath -d).";
    if (kernels && !names(file, header, DT_NEEDED, "libcudart.so"))
        return "its CUDA runtime is linked statically, which is what nvcc does unless it is told "
               "otherwise. Build it with 'nvcc -cudart shared' (CMake: "
               "-DCMAKE_CUDA_RUNTIME_LIBRARY=Shared), or with 'clang++ ... -lcudart'.";
    return "it loaded neither the OpenCL driver nor the CUDA runtime. It may use neither, or may "
           "look for them in its own way.";
}

const char *unreached_reason(const char *path)
{
    struct error error = {0};
    struct program_file file = {0};
    char *data = path ? text_read_file(path, false, LIMIT, &file.bytes, &error) : NULL;
    file.data = (const u8 *)data;
    const char *text = reason(&file);
    free(data);
    return text;
}
