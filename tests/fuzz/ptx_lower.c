/*
 * PTX text to a program on any bytes, the whole front end: with and without optimisation, and with
 * so few registers that values spill.
 *
 * Checked besides what the sanitizers see: the program verifies, and its listing can be written.
 *
 * Bytes changed at random rarely parse, so half of the time the mutator moves whole lines and
 * words, which keeps the text PTX and changes what it means.
 */
#include "base/config.h"
#include "isa/ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t capacity, unsigned seed);
size_t LLVMFuzzerMutate(u8 *data, size_t size, size_t capacity);

struct span {
    size_t start, length;
};

static unsigned next_random(unsigned *state, size_t below)
{
    *state = *state * 1103515245u + 12345u;
    return below ? (*state >> 8) % (unsigned)below : 0;
}

/* The line, with its end, around a byte. */
static struct span line_at(const u8 *data, size_t size, size_t at)
{
    size_t start = at, end = at;
    while (start && data[start - 1] != '\n')
        start--;
    while (end < size && data[end] != '\n')
        end++;
    return (struct span){start, end + (end < size) - start};
}

static bool in_word(u8 c)
{
    return c && strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%", c);
}

/* The word around a byte; empty when there is none. */
static struct span word_at(const u8 *data, size_t size, size_t at)
{
    size_t start = at, end = at;
    while (start && in_word(data[start - 1]))
        start--;
    while (end < size && in_word(data[end]))
        end++;
    return (struct span){start, end - start};
}

/* Puts a copy of `from` in place of `to`. */
static size_t replace(u8 *data, size_t size, size_t capacity, struct span from, struct span to)
{
    if (size - to.length + from.length > capacity)
        return size;
    u8 *copy = malloc(from.length + 1);
    memcpy(copy, data + from.start, from.length);
    memmove(data + to.start + from.length, data + to.start + to.length,
            size - to.start - to.length);
    memcpy(data + to.start, copy, from.length);
    free(copy);
    return size - to.length + from.length;
}

size_t LLVMFuzzerCustomMutator(u8 *data, size_t size, size_t capacity, unsigned seed)
{
    size_t from = next_random(&seed, size), to = next_random(&seed, size);
    if (!size || next_random(&seed, 2))
        return LLVMFuzzerMutate(data, size, capacity);
    struct span line = line_at(data, size, to);
    switch (next_random(&seed, 4)) {
    case 0: /* a copy of a line before another */
        return replace(data, size, capacity, line_at(data, size, from),
                       (struct span){line.start, 0});
    case 1: /* a line less */
        return replace(data, size, capacity, (struct span){0, 0}, line);
    default: /* a word for another: register, label, opcode, modifier or number */
        return replace(data, size, capacity, word_at(data, size, from), word_at(data, size, to));
    }
}

static void check(const struct ptx_module *module, const struct ptx_params *params)
{
    struct error error = {0};
    struct program *program =
        ptx_lower(module, params, &(struct ptx_target){64, 16384, 256, 32}, &error);
    if (!program) {
        if (error.code == ERROR_NONE || !error.message[0])
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

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    static const struct component *const components[] = {&ptx_component, NULL};
    struct arena *arena = arena_create();
    struct error error = {0};
    struct ptx_module *module = ptx_parse(arena, (const char *)data, size, "fuzz.ptx", &error);
    if (module) {
        struct config *config = config_create(components);
        struct ptx_params params =
            *(const struct ptx_params *)config_params(config, &ptx_component);
        check(module, &params);
        params.optimize = false;
        check(module, &params);
        params.max_registers = 16;
        check(module, &params);
        config_destroy(config);
    }
    arena_destroy(arena);
    return 0;
}
