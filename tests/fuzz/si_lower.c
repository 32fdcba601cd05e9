/*
 * Southern Islands words to a program, any bytes: as raw code and, if they want to be an ELF file,
 * as a code object.
 *
 * Checked besides what the sanitizers see: the program verifies, and its listing can be written.
 *
 * Few random words are instructions, so those that are none are left out in a second try.
 */
#include "isa/si/codeobject.h"
#include "isa/si/si.h"
#include "isa/si/si_program.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void check(struct program *program, const struct error *error)
{
    if (!program) {
        if (error->code == ERROR_NONE || !error->message[0])
            abort();
        return;
    }
    char message[512];
    if (!program_verify(program, message, sizeof message)) {
        fprintf(stderr, "program_verify: %s\n", message);
        abort();
    }
    struct listing_options options = {.live = true, .source = true};
    free(program_listing(program, &options));
    program_destroy(program);
}

/* The words that decode, one behind the other, with branches that stay near. */
static size_t pick(const u32 *words, size_t count, u32 *picked)
{
    size_t used = 0;
    for (size_t at = 0; at < count; at++) {
        struct si_inst inst;
        struct error error;
        u64 target;
        if (!si_decode(words + at, count - at, 0, &inst, &error))
            continue;
        picked[used] = inst.words[0];
        if (si_branch_target(&inst, &target)) /* a step back or on: often an instruction */
            picked[used] = (inst.words[0] & ~0xffffu) | (inst.words[0] & 1 ? 0 : 0xffff);
        used++;
        if (inst.size == 8) {
            picked[used++] = inst.words[1];
            at++;
        }
    }
    return used;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    struct error error = {0};
    if (codeobject_recognized(data, size)) {
        struct si_params params = {0};
        check(si_program_load(data, size, "fuzz.so", &params, &error), &error);
        return 0;
    }
    size_t count = size / 4;
    u32 *words = malloc(size + 8), *picked = malloc(size + 8);
    if (!words || !picked)
        abort();
    memcpy(words, data, 4 * count);
    check(si_program_raw(words, 4 * count, "fuzz.bin", &error), &error);
    size_t used = pick(words, count, picked);
    error = (struct error){0};
    check(si_program_raw(picked, 4 * used, "fuzz.bin", &error), &error);
    free(words);
    free(picked);
    return 0;
}
