/* Packed YAML trees. What the parser takes and refuses is in test_config.c. */
#include "base/yaml.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void check_same(const struct yaml *a, const struct yaml *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->quoted, b->quoted);
    assert_int_equal(a->line, b->line);
    assert_int_equal(a->column, b->column);
    assert_int_equal(a->key_line, b->key_line);
    assert_int_equal(a->key_column, b->key_column);
    assert_int_equal(a->count, b->count);
    assert_string_equal(a->text, b->text);
    assert_int_equal(!a->key, !b->key);
    if (a->key)
        assert_string_equal(a->key, b->key);
    for (a = a->first, b = b->first; a && b; a = a->next, b = b->next)
        check_same(a, b);
    assert_true(!a && !b);
}

static void a_packed_tree_is_the_same(void **state)
{
    static const char *const texts[] = {
        "",
        "word",
        "'quoted'",
        "[]",
        "{}",
        "a:\nb: ''\n",
        ("machine: m\ncore:\n  warps: {value: 48, source: stated, note: \"GPGPU-Sim: 48\"}\n"
         "  lists: [1, [2, 'e'], {e: e}, m, \"\"]\n  empty: {}\nlast: é \"?\" \\\n"),
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct arena *arena = arena_create();
        struct error error = {0};
        char *packed;
        size_t length;
        const struct yaml *tree = yaml_parse(arena, texts[i], strlen(texts[i]), "text", &error);
        assert_non_null(tree);
        FILE *bytes = open_memstream(&packed, &length);
        yaml_pack(tree, bytes);
        fclose(bytes);
        check_same(tree, yaml_unpack(arena, packed));
        free(packed);
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_packed_tree_is_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
