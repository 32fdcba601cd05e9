/* Program files: see code.h. */
#include "cli/code.h"

#include "base/text.h"
#include "cli/foreign.h"
#include <ctype.h>
#include <elf.h>
#include <stdlib.h>

enum {
    CODE_LIMIT = 1 << 30
};

bool code_name_ends(const char *path, const char *end)
{
    size_t length = strlen(path), tail = strlen(end);
    return length > tail && !strcmp(path + length - tail, end);
}

/* Whether a file is assembly; .S files contain preprocessor lines. */
static bool is_assembly(const char *path)
{
    return code_name_ends(path, ".s") || code_name_ends(path, ".S");
}

bool code_named_raw(const char *path)
{
    return is_assembly(path) || code_name_ends(path, ".bin");
}

static bool is_elf(const struct code_file *code)
{
    return code->length >= SELFMAG && !memcmp(code->data, ELFMAG, SELFMAG);
}

bool code_is_ptx(const char *data, size_t length)
{
    const char *at = data, *end = at + length;
    for (;;) {
        while (at < end && isspace((u8)*at))
            at++;
        const char *stop = NULL;
        if (end - at >= 2 && !memcmp(at, "//", 2))
            stop = "\n";
        else if (end - at >= 2 && !memcmp(at, "/*", 2))
            stop = "*/";
        if (!stop)
            break;
        const char *found = memmem(at + 2, (size_t)(end - at - 2), stop, strlen(stop));
        if (!found)
            return false;
        at = found + strlen(stop);
    }
    static const char word[] = ".version";
    return (size_t)(end - at) > strlen(word) && !memcmp(at, word, strlen(word));
}

/* Why a file does not fit its use, or NULL. */
static const char *unfit(const struct code_file *code, enum code_use use)
{
    if (!code->length)
        return "the file is empty: expected a program";
    if (use == CODE_RAW && is_elf(code))
        return "this is an ELF file, but --si-state is for raw machine code: run its kernels with "
               "--grid and --block";
    if (use == CODE_RAW && code_is_ptx(code->data, code->length))
        return "this is PTX text, but --si-state is for Southern Islands machine code";
    if (!code->raw && !is_elf(code) && memchr(code->data, 0, code->length))
        return use == CODE_MODULE ? "this is a binary file: expected PTX text or a code object; "
                                    "raw Southern Islands machine code needs --si-state"
                                  : "this is a binary file: expected PTX text, a code object, or a "
                                    "name that ends in .bin for raw Southern Islands machine code";
    return NULL;
}

static bool assemble_code(const struct command *command, const char *path, struct code_file *code)
{
    code->source = code->data;
    code->source_length = code->length;
    code->data = assemble(command, path, &code->length);
    return code->data;
}

bool code_read(const struct command *command, const char *path, enum code_use use,
               struct code_file *code)
{
    struct error error = {0};
    *code = (struct code_file){0};
    code->data = text_read_file(path, true, CODE_LIMIT, &code->length, &error);
    if (!code->data) {
        complain(command, "%s: %s", error.place, error.message);
        return false;
    }
    bool module = is_elf(code) || code_is_ptx(code->data, code->length);
    code->raw = use == CODE_RAW || (use == CODE_EITHER && code_named_raw(path) && !module);
    struct arena *arena = arena_create();
    const char *foreign =
        use == CODE_RAW ? NULL : foreign_code(arena, path, code->data, code->length);
    const char *wrong = foreign ? foreign : unfit(code, use);
    if (wrong)
        complain(command, "%s: %s", strcmp(path, "-") ? path : "standard input", wrong);
    arena_destroy(arena);
    if (!wrong && (!code->raw || !is_assembly(path) || assemble_code(command, path, code)))
        return true;
    code_free(code);
    return false;
}

void code_free(struct code_file *code)
{
    free(code->data);
    free(code->source);
    *code = (struct code_file){0};
}
