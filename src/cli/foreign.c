/* Files that are not kernels: see foreign.h. */
#include "cli/foreign.h"

#include "cli/code.h"
#include <elf.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
    HEAD_BYTES = 1 << 16 /* enough to get past comments at the beginning of PTX */
};

static const char compile_it[] =
    "compile its source to PTX or to a code object for Southern Islands, as docs/compiling.md "
    "shows";

/* The first bytes of a kind of file. `advice` may contain the file's name once. */
struct magic {
    const char *bytes;
    size_t length;
    const char *what;
    const char *advice; /* NULL: compile_it */
};

#define MAGIC(bytes, what, advice)             \
    {                                          \
        bytes, sizeof(bytes) - 1, what, advice \
    }
static const struct magic magics[] = {
    MAGIC("\x50\xed\x55\xba", "a CUDA fat binary",
          "Heddle needs PTX, which 'cuobjdump -xptx all %s' extracts if it contains any"),
    MAGIC("\x03\x02\x23\x07", "SPIR-V", NULL),
    MAGIC("\x07\x23\x02\x03", "SPIR-V", NULL),
    MAGIC("BC\xc0\xde", "LLVM bitcode", NULL),
    MAGIC("\xde\xc0\x17\x0b", "LLVM bitcode", NULL),
    MAGIC("; ModuleID", "LLVM assembly", NULL),
    MAGIC("__CLANG_OFFLOAD_BUNDLE__", "a bundle of code for several GPUs",
          "split it with clang-offload-bundler; Heddle loads code for Southern Islands "
          "(-mcpu=tahiti)"),
    MAGIC("#!", "a script", "run a program that uses OpenCL with 'heddle run [options] -- %s'"),
};

/* Endings of names of text files. */
static const struct {
    const char *end, *what, *advice;
} sources[] = {
    {".cu", "CUDA source",
     "compile its kernels to PTX with 'nvcc -ptx %s', or with clang and share/heddle/cuda.h as "
     "docs/compiling.md shows; CUDA host programs are not supported yet"},
    {".cl", "OpenCL C source",
     "run the program that builds it with 'heddle run [options] -- PROGRAM'; to launch a kernel of "
     "%s on its own, compile it to PTX or to a code object for Southern Islands, as "
     "docs/compiling.md shows"},
    {".ll", "LLVM assembly", NULL},
};

static const char *tell(struct arena *arena, const char *path, const char *what, const char *advice)
{
    const char *text = "", *at = advice ? strstr(advice, "%s") : NULL;
    if (!advice)
        text = compile_it;
    else if (at) /* a program name without a slash would be searched in PATH */
        text =
            arena_printf(arena, "%.*s%s%s%s", (int)(at - advice), advice,
                         strstr(advice, "-- %s") && !strchr(path, '/') ? "./" : "", path, at + 2);
    else
        text = advice;
    return arena_printf(arena, "this is %s: %s", what, text);
}

/* Whether the host could execute the file. */
static bool is_executable(const char *data, size_t length)
{
    Elf64_Ehdr header;
    memcpy(&header, data, sizeof header);
    bool found = header.e_type == ET_EXEC;
    for (u32 i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        u64 at = header.e_phoff + (u64)i * sizeof segment;
        if (at > length || length - at < sizeof segment)
            break;
        memcpy(&segment, data + at, sizeof segment);
        found |= segment.p_type == PT_INTERP;
    }
    return found;
}

static const char *foreign_elf(struct arena *arena, const char *path, const char *data,
                               size_t length)
{
    Elf64_Ehdr header;
    if (length < sizeof header || data[EI_CLASS] != ELFCLASS64)
        return NULL;
    memcpy(&header, data, sizeof header);
    if (header.e_machine == EM_CUDA)
        return tell(arena, path, "a cubin, machine code for an NVIDIA GPU",
                    "Heddle needs PTX, which 'nvcc -ptx' produces from the source and 'cuobjdump "
                    "-xptx all' extracts from a program or fat binary that contains it");
    bool host = header.e_machine == EM_X86_64 || header.e_machine == EM_AARCH64;
    if (host && is_executable(data, length))
        return tell(arena, path, "a host program, not a kernel",
                    "if it uses OpenCL, run it with 'heddle run [options] -- %s'; CUDA host "
                    "programs are not supported yet");
    return NULL;
}

const char *foreign_code(struct arena *arena, const char *path, const char *data, size_t length)
{
    const char *name = strcmp(path, "-") ? path : "./FILE";
    if (length >= SELFMAG && !memcmp(data, ELFMAG, SELFMAG))
        return foreign_elf(arena, name, data, length);
    for (u32 i = 0; i < ARRAY_LEN(magics); i++)
        if (length >= magics[i].length && !memcmp(data, magics[i].bytes, magics[i].length))
            return tell(arena, name, magics[i].what, magics[i].advice);
    for (u32 i = 0; i < ARRAY_LEN(sources) && length && !code_is_ptx(data, length); i++)
        if (code_name_ends(path, sources[i].end))
            return tell(arena, name, sources[i].what, sources[i].advice);
    return NULL;
}

const char *foreign_file(struct arena *arena, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return NULL;
    FILE *file = fopen(path, "rbe");
    if (!file)
        return NULL;
    char *head = arena_alloc(arena, HEAD_BYTES);
    size_t length = fread(head, 1, HEAD_BYTES, file);
    fclose(file);
    return foreign_code(arena, path, head, length);
}
