/*
 * What the OpenCL driver reads of programs, on any bytes: binaries, LLVM's text, build options and
 * formats of printf. Each ends, stays inside its input, and what it returns keeps its promises. The
 * first byte chooses.
 */
#include "opencl/binary.h"
#include "opencl/format.h"
#include "opencl/llinfo.h"
#include "opencl/options.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check_kernels(const struct kernel_info *kernels, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        require(kernels[i].name && kernels[i].attributes);
        for (u32 k = 0; k < kernels[i].arg_count; k++)
            require(kernels[i].args[k].name && kernels[i].args[k].type);
    }
}

/* What is kept of a text says the same as all of it. */
static void text(struct arena *arena, const u8 *data, size_t size)
{
    u32 count, again;
    const struct kernel_info *kernels = llinfo_kernels(arena, (const char *)data, size, &count);
    check_kernels(kernels, count);
    if (!memchr(data, 0, size)) { /* as a compiler writes it */
        const char *kept = llinfo_extract(arena, (const char *)data, size);
        const struct kernel_info *copies = llinfo_kernels(arena, kept, strlen(kept), &again);
        require(again == count);
        for (u32 i = 0; i < count; i++) {
            require(!strcmp(kernels[i].name, copies[i].name));
            require(kernels[i].arg_count == copies[i].arg_count);
            require(!strcmp(kernels[i].attributes, copies[i].attributes));
        }
    }
    for (size_t at = 0; *llinfo_undefined(arena, (const char *)data, size, &at);)
        require(at <= size);
}

/* A binary as it comes, and one that holds these bytes as they went in. */
static void binary(struct arena *arena, const u8 *data, size_t size)
{
    struct binary read, made = {.type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE, .target = CODE_PTX};
    if (binary_read(&read, data, size))
        for (u32 i = 0; i < SECTION_COUNT; i++)
            require(read.sections[i].data + read.sections[i].bytes <= data + size);
    size_t half = size / 2, bytes;
    if (!half)
        return;
    made.sections[SECTION_CODE].data = data;
    made.sections[SECTION_CODE].bytes = half;
    made.sections[SECTION_KERNELS].data = data + half;
    made.sections[SECTION_KERNELS].bytes = size - half;
    u8 *file = binary_write(&made, &bytes);
    require(binary_read(&read, file, bytes));
    require(!memcmp(read.sections[SECTION_KERNELS].data, data + half, size - half));
    file[data[0] % bytes] ^= 1 << (data[size - 1] & 7);
    require(!binary_read(&read, file, bytes));
    free(file);
}

static void options(struct arena *arena, const u8 *data, size_t size)
{
    struct options parsed;
    const char *words = arena_strndup(arena, (const char *)data, size);
    for (u32 use = OPTIONS_COMPILE; use <= OPTIONS_BUILD; use++) {
        bool right = options_parse(&parsed, arena, words, use);
        require(right == !parsed.wrong);
        require(parsed.count <= strlen(words) + 1);
        for (u32 i = 0; i < parsed.count; i++) /* -D and -I take any word, others are listed */
            require(parsed.words[i][0] == '-' || (i && (!strcmp(parsed.words[i - 1], "-D") ||
                                                        !strcmp(parsed.words[i - 1], "-I"))));
    }
}

static char *some_text(void *user, u64 address)
{
    return strdup(address & 1 ? "" : "text");
}

static void format(struct arena *arena, const u8 *data, size_t size)
{
    struct format_out out = {.read_text = some_text};
    size_t half = size / 2;
    const char *form = arena_strndup(arena, (const char *)data, half);
    u8 *args = malloc(size - half + 1); /* of its own, so that a read beyond it is seen */
    require(args);
    memcpy(args, data + half, size - half);
    format_text(&out, form, args, size - half);
    vec_free(&out.text);
    free(args);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    static void (*const READERS[])(struct arena *, const u8 *, size_t) = {text, binary, options,
                                                                          format};
    if (!size)
        return 0;
    struct arena *arena = arena_create();
    READERS[data[0] % ARRAY_LEN(READERS)](arena, data + 1, size - 1);
    arena_destroy(arena);
    return 0;
}
