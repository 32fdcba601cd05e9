/*
 * Golden cases: a line of an ok_*.hex or err_*.hex file here is the words of one instruction, at
 * address 0 of its own, or a comment after '#'. Those of ok_ files must decode to the text, those
 * of err_ files fail with the message, that the .txt file of the same name has in that line.
 * "test-si-files DIRECTORY --update" writes the .txt files anew, to be read before they are
 * committed.
 */
#include "base/text.h"
#include "isa/si/si.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct setting {
    const char *directory;
    bool update;
};

static char *read_file(const char *path)
{
    struct error error = {0};
    size_t length;
    char *text = text_read_file(path, false, 1 << 20, &length, &error);
    if (!text)
        fail_msg("%s", error.message);
    return text;
}

/* What becomes of one line of words. */
static void decode_line(FILE *out, const char *line, bool should_decode)
{
    u32 words[2] = {0};
    char text[SI_TEXT];
    struct si_inst inst;
    struct error error = {0};
    int count = sscanf(line, "%x %x", &words[0], &words[1]);
    if (si_decode(words, count > 0 ? (size_t)count : 0, 0, &inst, &error) != should_decode)
        fail_msg("'%s' should %sdecode: %s", line, should_decode ? "" : "not ", error.message);
    if (should_decode && inst.size != 4 * count)
        fail_msg("'%s' is %u bytes", line, inst.size);
    fprintf(out, "%s\n", should_decode ? si_text(&inst, text, sizeof(text)) : error.message);
}

static char *outcome(const char *path, bool should_decode)
{
    char *input = read_file(path), *result = NULL, *rest = input;
    size_t size;
    FILE *out = open_memstream(&result, &size);
    for (char *line; (line = strsep(&rest, "\n")) && (*line || rest);) {
        if (*line == '#')
            fprintf(out, "%s\n", line);
        else
            decode_line(out, line, should_decode);
    }
    fclose(out);
    free(input);
    return result;
}

static void check_file(const char *path, bool should_decode, bool update)
{
    char golden[4096];
    char *got = outcome(path, should_decode);
    snprintf(golden, sizeof(golden), "%.*s.txt", (int)strlen(path) - 4, path);
    if (update) {
        FILE *file = fopen(golden, "wb");
        assert_non_null(file);
        fputs(got, file);
        fclose(file);
    } else {
        char *expected = read_file(golden);
        if (strcmp(got, expected) != 0)
            fail_msg("%s differs from %s; now:\n%s", path, golden, got);
        free(expected);
    }
    free(got);
}

static void check_all(const struct setting *setting, const char *pattern, bool should_decode)
{
    char path[4096];
    glob_t found;
    snprintf(path, sizeof(path), "%s/%s", setting->directory, pattern);
    assert_int_equal(glob(path, 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 2);
    for (size_t i = 0; i < found.gl_pathc; i++)
        check_file(found.gl_pathv[i], should_decode, setting->update);
    globfree(&found);
}

static void test_right(void **state)
{
    check_all(*state, "ok_*.hex", true);
}

static void test_wrong(void **state)
{
    check_all(*state, "err_*.hex", false);
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
