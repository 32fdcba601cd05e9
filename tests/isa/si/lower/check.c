#include "check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct program *lower_words(const u32 *words, u32 count)
{
    struct error error = {0};
    char message[512] = "";
    struct program *program = si_program_raw(words, 4 * (size_t)count, "test.bin", &error);
    if (!program)
        fail_msg("refused: %s", error.message);
    if (!program_verify(program, message, sizeof message))
        fail_msg("does not verify: %s", message);
    return program;
}

void refuse_words(const u32 *words, u32 count, char *text, size_t size)
{
    struct error error = {0};
    struct program *program = si_program_raw(words, 4 * (size_t)count, "test.bin", &error);
    assert_null(program);
    assert_int_not_equal(error.code, ERROR_NONE);
    error_text(&error, text, size);
}

char *ir_text(const struct program *program, u32 inst, char *buffer, size_t size)
{
    struct program plain = *program;
    plain.texts = NULL;
    return inst_text(&plain, inst, buffer, size);
}

char *read_whole(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = NULL;
    size_t used = 0, room = 0, got;
    do {
        room = 2 * room + 65536;
        text = realloc(text, room);
        if (!text)
            abort();
        got = fread(text + used, 1, room - used - 1, file);
        used += got;
    } while (got);
    fclose(file);
    text[used] = 0;
    *length = used;
    return text;
}
