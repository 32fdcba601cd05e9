/*
 * Every code object the compilers made of tests/kernels/opencl becomes a program that verifies,
 * with nothing unsupported and nothing to warn of; calls are found in it.
 *
 *     si-lower-objects DIRECTORY
 */
#include "check.h"

#include "ir/scalars.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *directory;

static struct program *load(const char *name)
{
    char path[1024], message[512];
    struct error error = {0};
    struct si_params params = {0};
    size_t length;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    char *bytes = read_whole(path, &length);
    assert_non_null(bytes);
    struct program *program = si_program_load(bytes, length, name, &params, &error);
    if (!program)
        fail_msg("%s: %s", name, error_text(&error, message, sizeof message));
    if (!program_verify(program, message, sizeof message))
        fail_msg("%s: %s", name, message);
    free(bytes);
    return program;
}

static void check_kernel(const struct program *program, const struct function *f)
{
    u32 end = 0;
    assert_non_null(f->entry);
    assert_non_null(f->description);
    assert_non_null(strstr(f->explanation, f->name));
    assert_true(f->registers >= 4 && f->registers % 4 == 0);
    assert_true(f->scalars >= 8 && f->scalars <= SCALAR_GENERAL_END);
    assert_int_equal(program_offset(program, f->first) % 256, 0);
    for (u32 i = 0; i < f->param_count; i++) {
        assert_true(f->params[i].offset >= end);
        assert_true(f->params[i].size);
        end = f->params[i].offset + f->params[i].size;
    }
    assert_int_equal(f->param_bytes, end);
}

static u32 check_object(const char *name)
{
    struct program *program = load(name);
    u32 kernels = 0;
    for (u32 i = 0; i < program->unsupported_count; i++)
        fail_msg("%s: %s", program->unsupported[i].place, program->unsupported[i].text);
    for (u32 i = 0; i < program->warning_count; i++)
        fail_msg("%s: %s", name, program->warnings[i]);
    for (u32 f = 0; f < program->function_count; f++) {
        kernels += program->functions[f].is_kernel;
        if (program->functions[f].is_kernel)
            check_kernel(program, &program->functions[f]);
    }
    struct listing_options options = {.live = true, .source = true};
    char *listing = program_listing(program, &options);
    assert_non_null(strstr(listing, "s_endpgm"));
    free(listing);
    program_destroy(program);
    return kernels;
}

static void objects_load(void **state)
{
    (void)state;
    u32 objects = 0, kernels = 0;
    DIR *dir = opendir(directory);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        size_t length = strlen(entry->d_name);
        if (length < 3 || strcmp(entry->d_name + length - 3, ".so") != 0)
            continue;
        kernels += check_object(entry->d_name);
        objects++;
    }
    closedir(dir);
    assert_true(objects >= 20 && kernels >= 20);
}

static const struct function *function_named(const struct program *program, const char *name)
{
    for (u32 f = 0; f < program->function_count; f++)
        if (!strcmp(program->functions[f].name, name))
            return &program->functions[f];
    fail_msg("no function %s", name);
    return NULL;
}

static bool calls(const struct program *program, const char *caller, const char *callee)
{
    const struct function *from = function_named(program, caller);
    const struct function *to = function_named(program, callee);
    for (u32 i = 0; i < from->callee_count; i++)
        if (&program->functions[from->callees[i]] == to)
            return true;
    return false;
}

static void calls_are_found(void **state)
{
    (void)state;
    static const char *const names[] = {"calls.clang14.so", "calls.clang19.so"};
    for (u32 i = 0; i < ARRAY_LEN(names); i++) {
        struct program *program = load(names[i]);
        assert_true(calls(program, "add_fractions", "gcd"));
        assert_true(calls(program, "fractions", "add_fractions"));
        assert_true(calls(program, "permutations", "permute"));
        assert_false(calls(program, "permutations", "gcd"));
        assert_false(function_named(program, "permutations")->calls_indirectly);
        assert_false(function_named(program, "fractions")->calls_indirectly);
        assert_false(function_named(program, "fractions")->recursive);
        program_destroy(program);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_load),
        cmocka_unit_test(calls_are_found),
    };
    if (argc != 2)
        return 2;
    directory = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
