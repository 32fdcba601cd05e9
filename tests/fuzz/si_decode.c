/*
 * The Southern Islands decoder and disassembler on any bytes: they stay inside the code, every
 * instruction ends within it, and a failure names its cause.
 *
 * After words that are no instruction decoding goes on at the next word, so that one input tries
 * many places.
 */
#include "isa/si/si.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* Decodes at words[0]; how many words to go on by. */
static size_t step(const u32 *words, size_t count, u64 address)
{
    struct si_inst inst;
    struct error error = {0};
    char text[SI_TEXT];
    u64 target;
    if (!si_decode(words, count, address, &inst, &error)) {
        require(error.code == ERROR_INPUT && error.message[0]);
        return 1;
    }
    require(inst.size / 4u <= count && inst.dst_count <= SI_DSTS && inst.src_count <= SI_SRCS);
    require(strlen(si_text(&inst, text, sizeof(text))) < sizeof(text));
    si_branch_target(&inst, &target);
    return inst.size / 4;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    size_t count = size / 4;
    u32 *words = malloc(count * sizeof(*words) + 1); /* of the exact size, for the sanitizers */
    require(words);
    memcpy(words, data, count * sizeof(*words));
    for (size_t at = 0; at < count;)
        at += step(words + at, count - at, 4 * at);
    free(words);
    return 0;
}
