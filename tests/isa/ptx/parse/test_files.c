/*
 * Every ok_*.ptx here must parse to the tree its .txt shows, and every err_*.ptx must fail with the
 * text of its .txt. "test-ptx-parse-files DIRECTORY --update" writes the .txt files anew, to be
 * read before they are committed.
 */
#include "base/text.h"
#include "dump.h"
#include "isa/ptx/ptx.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct setting {
    const char *directory;
    bool update;
};

static char *read_file(const char *path, size_t *length)
{
    struct error error = {0};
    char *text = text_read_file(path, false, 1 << 20, length, &error);
    if (!text)
        fail_msg("%s", error.message);
    return text;
}

/* What the parser makes of a file: its tree or its error, as text. */
static char *outcome(const char *path, bool *parsed)
{
    size_t length, size;
    char *text = read_file(path, &length), *result = NULL;
    struct arena *arena = arena_create();
    struct error error = {0};
    const char *name = strrchr(path, '/') + 1;
    struct ptx_module *module = ptx_parse(arena, text, length, name, &error);
    FILE *out = open_memstream(&result, &size);
    *parsed = module;
    if (module) {
        dump_module(out, module);
    } else {
        char buffer[4096];
        fprintf(out, "%s\n", error_text(&error, buffer, sizeof buffer));
        assert_int_equal(error.code, ERROR_INPUT);
    }
    fclose(out);
    arena_destroy(arena);
    free(text);
    return result;
}

static void check_file(const char *path, bool should_parse, bool update)
{
    char golden[4096];
    bool parsed;
    char *got = outcome(path, &parsed);
    snprintf(golden, sizeof golden, "%.*s.txt", (int)strlen(path) - 4, path);
    if (parsed != should_parse)
        fail_msg("%s should %s:\n%s", path, should_parse ? "parse" : "not parse", got);
    if (update) {
        FILE *file = fopen(golden, "wb");
        assert_non_null(file);
        fputs(got, file);
        fclose(file);
    } else {
        size_t length;
        char *expected = read_file(golden, &length);
        if (strlen(got) != length || memcmp(got, expected, length))
            fail_msg("%s differs from %s; now:\n%s", path, golden, got);
        free(expected);
    }
    free(got);
}

static void check_all(const struct setting *setting, const char *pattern, bool should_parse)
{
    char path[4096];
    glob_t found;
    snprintf(path, sizeof path, "%s/%s", setting->directory, pattern);
    assert_int_equal(glob(path, 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 5);
    for (size_t i = 0; i < found.gl_pathc; i++)
        check_file(found.gl_pathv[i], should_parse, setting->update);
    globfree(&found);
}

static void test_right(void **state)
{
    check_all(*state, "ok_*.ptx", true);
}

static void test_wrong(void **state)
{
    check_all(*state, "err_*.ptx", false);
}

int main(int argc, char **argv)
{
    struct setting setting = {argc > 1 ? argv[1] : ".", argc > 2 && !strcmp(argv[2], "--update")};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_right, &setting),
        cmocka_unit_test_prestate(test_wrong, &setting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
