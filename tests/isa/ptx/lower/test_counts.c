/*
 * How many registers real kernels get: all PTX files of the folders named on the command line. The
 * aim is the number of live words plus what alignment costs.
 */
#include "analysis/lifetimes.h"
#include "isa/ptx/ptx.h"
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static char **folders;
static int folder_count;

struct tally {
    u32 functions, exact, near;
    u32 registers, short_registers, short_lived, mixed, live; /* kinds */
};

static char *read_text(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = malloc(1 << 22);
    *length = fread(text, 1, 1 << 22, file);
    fclose(file);
    return text;
}

static void measure(const char *path, bool optimize, struct tally *tally)
{
    struct ptx_params params = {.optimize = optimize, .max_registers = 255};
    struct error error = {0};
    size_t length;
    char *text = read_text(path, &length), message[300];
    struct program *p =
        ptx_compile(text, length, path, &params, &(struct ptx_target){.address_bits = 64}, &error);
    if (!p)
        fail_msg("%s: %s", error.place, error.message);
    if (!program_verify(p, message, sizeof message))
        fail_msg("%s: %s", path, message);
    for (u32 i = 0; i < p->function_count; i++) {
        const struct function *f = &p->functions[i];
        if (f->first == f->end)
            continue;
        if (f->registers > f->max_live + 3 || f->spill_bytes)
            fail_msg("%s: %s: %u registers for %u live words", path, f->name, f->registers,
                     f->max_live);
        tally->functions++;
        tally->exact += f->registers <= f->max_live;
        tally->near += f->registers <= f->max_live + 1;
    }
    program_destroy(p);
    free(text);
}

/* Kinds of values and registers, with or without separate registers. */
static void measure_kinds(const char *path, bool separate, struct tally *tally)
{
    struct ptx_params params = {
        .optimize = true, .max_registers = 255, .life_limit = separate ? LIFE_LIMIT : 0};
    struct error error = {0};
    size_t length;
    char *text = read_text(path, &length), message[300];
    struct program *p =
        ptx_compile(text, length, path, &params, &(struct ptx_target){.address_bits = 64}, &error);
    if (!p)
        fail_msg("%s: %s", error.place, error.message);
    if (!program_verify(p, message, sizeof message))
        fail_msg("%s: %s", path, message);
    for (u32 i = 0; i < p->function_count; i++) {
        const struct function *f = &p->functions[i];
        const struct code code = code_of(p, f);
        struct arena *arena = arena_create();
        if (f->first != f->end) {
            const struct life_counts n =
                lifetimes_count(lifetimes_of(arena, p, f), &code, LIFE_LIMIT);
            tally->registers += n.registers;
            tally->short_registers += n.short_registers;
            tally->short_lived += n.short_lived;
            tally->mixed += n.mixed;
            tally->live += f->max_live;
        }
        arena_destroy(arena);
    }
    program_destroy(p);
    free(text);
}

static void measure_all(void (*each)(const char *path, bool how, struct tally *tally), bool how,
                        struct tally *tally)
{
    for (int i = 0; i < folder_count; i++) {
        DIR *dir = opendir(folders[i]);
        assert_non_null(dir);
        for (struct dirent *entry; (entry = readdir(dir));) {
            const char *dot = strrchr(entry->d_name, '.');
            char path[1024];
            snprintf(path, sizeof path, "%s/%s", folders[i], entry->d_name);
            if (dot && !strcmp(dot, ".ptx"))
                each(path, how, tally);
        }
        closedir(dir);
    }
}

/* Short-lived values mostly have registers of their own: all but those of a web that is long-lived by
 * another definition. */
static void kinds_have_their_own(void **state)
{
    (void)state;
    struct tally shared = {0}, apart = {0};
    measure_all(measure_kinds, false, &shared);
    measure_all(measure_kinds, true, &apart);
    printf(
        "registers %u and %u for %u live words, short-lived %u and %u; short-lived values %u and "
        "%u, in long-lived registers %u and %u\n",
        shared.registers, apart.registers, apart.live, shared.short_registers,
        apart.short_registers, shared.short_lived, apart.short_lived, shared.mixed, apart.mixed);
    assert_true(shared.mixed * 2 > shared.short_lived);
    assert_true(apart.mixed * 10 < apart.short_lived);
    assert_true(apart.registers * 2 < apart.live * 3);
}

static void registers_are_few(void **state)
{
    (void)state;
    for (int optimize = 0; optimize < 2; optimize++) {
        struct tally tally = {0};
        measure_all(measure, optimize, &tally);
        assert_true(tally.functions >= 40);
        assert_true(tally.exact * 10 >= tally.functions * 8);
        assert_true(tally.near * 50 >= tally.functions * 49);
    }
}

int main(int argc, char **argv)
{
    folders = argv + 1;
    folder_count = argc - 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(registers_are_few),
                                       cmocka_unit_test(kinds_have_their_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
