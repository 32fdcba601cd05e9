/* Numbers, words, UTF-8, files, hashes, arenas. */
#include "base/hash.h"
#include "base/text.h"
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void integers(void **state)
{
    static const struct {
        const char *text;
        enum text_result result;
        u64 value;
    } cases[] = {
        {"0", TEXT_OK, 0},
        {"42", TEXT_OK, 42},
        {"0x2A", TEXT_OK, 42},
        {"0b101", TEXT_OK, 5},
        {"052", TEXT_OK, 42},
        {"0o52", TEXT_OK, 42},
        {"18446744073709551615", TEXT_OK, UINT64_MAX},
        {"0xffffffffffffffff", TEXT_OK, UINT64_MAX},
        {"18446744073709551616", TEXT_RANGE, 0},
        {"0x10000000000000000", TEXT_RANGE, 0},
        {"", TEXT_SYNTAX, 0},
        {"-1", TEXT_SYNTAX, 0},
        {" 1", TEXT_SYNTAX, 0},
        {"1 ", TEXT_SYNTAX, 0},
        {"0x", TEXT_SYNTAX, 0},
        {"09", TEXT_SYNTAX, 0},
        {"1K", TEXT_SYNTAX, 0},
        {"1.0", TEXT_SYNTAX, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        u64 value = 0;
        assert_int_equal(text_u64(cases[i].text, &value), cases[i].result);
        if (cases[i].result == TEXT_OK)
            assert_true(value == cases[i].value);
    }
}

static void ranges(void **state)
{
    static const struct {
        const char *text;
        bool right;
        u64 first, last;
    } cases[] = {
        {"3", true, 3, 3},
        {"3-7", true, 3, 7},
        {"3-", true, 3, UINT64_MAX},
        {"-7", true, 1, 7},
        {"0x10-0b11111", true, 16, 31},
        {"7-3", false, 0, 0},
        {"0-3", false, 0, 0},
        {"-", false, 0, 0},
        {"", false, 0, 0},
        {"1-2-3", false, 0, 0},
        {"a-3", false, 0, 0},
        {"-0", false, 0, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        u64 first, last;
        assert_int_equal(text_range(cases[i].text, &first, &last), cases[i].right);
        if (cases[i].right)
            assert_true(first == cases[i].first && last == cases[i].last);
    }
}

static void signed_integers(void **state)
{
    i64 value;
    assert_int_equal(text_i64("-9223372036854775808", &value), TEXT_OK);
    assert_true(value == INT64_MIN);
    assert_int_equal(text_i64("9223372036854775807", &value), TEXT_OK);
    assert_true(value == INT64_MAX);
    assert_int_equal(text_i64("9223372036854775808", &value), TEXT_RANGE);
    assert_int_equal(text_i64("-9223372036854775809", &value), TEXT_RANGE);
    assert_int_equal(text_i64("+5", &value), TEXT_OK);
    assert_int_equal(text_i64("--5", &value), TEXT_SYNTAX);
}

static void sizes(void **state)
{
    u64 value;
    assert_int_equal(text_size("4K", &value), TEXT_OK);
    assert_int_equal(value, 4096);
    assert_int_equal(text_size("0x10m", &value), TEXT_OK);
    assert_int_equal(value, 16 << 20);
    assert_int_equal(text_size("1GiB", &value), TEXT_OK);
    assert_int_equal(value, 1 << 30);
    assert_int_equal(text_size("17179869184G", &value), TEXT_RANGE);
    assert_int_equal(text_size("17179869183G", &value), TEXT_OK);
    assert_int_equal(text_size("4X", &value), TEXT_SYNTAX);
    assert_int_equal(text_size("4KK", &value), TEXT_SYNTAX);
    assert_int_equal(text_size("K", &value), TEXT_SYNTAX);
}

static void floats_ignore_the_locale(void **state)
{
    f64 value;
    setlocale(LC_ALL, "de_DE.UTF-8"); /* absent on many hosts; then this is a plain check */
    assert_int_equal(text_f64("1.5", &value), TEXT_OK);
    assert_true(value == 1.5);
    setlocale(LC_ALL, "C");
    assert_int_equal(text_f64("1e-400", &value), TEXT_OK);
    assert_int_equal(text_f64("1e400", &value), TEXT_RANGE);
    assert_int_equal(text_f64("0x1p-3", &value), TEXT_OK);
    assert_true(value == 0.125);
    assert_int_equal(text_f64("1.5x", &value), TEXT_SYNTAX);
    assert_int_equal(text_f64(" 1", &value), TEXT_SYNTAX);
    assert_int_equal(text_f64("", &value), TEXT_SYNTAX);
}

static void utf8(void **state)
{
    assert_int_equal(text_utf8_length("a", 1), 1);
    assert_int_equal(text_utf8_length("\xc3\xa4", 2), 2);
    assert_int_equal(text_utf8_length("\xe2\x82\xac", 3), 3);
    assert_int_equal(text_utf8_length("\xf0\x9f\x98\x80", 4), 4);
    static const char *const bad[] = {"\x80",         "\xc0\xaf",         "\xc3", "\xe0\x80\x80",
                                      "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8", "\xe2\x82"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(text_utf8_length(bad[i], strlen(bad[i])), 0);
    struct arena *arena = arena_create();
    assert_string_equal(text_printable(arena, "a\n\xff\xc3\xa4"), "a\\x0a\\xff\xc3\xa4");
    assert_string_equal(text_printable_lines(arena, "a\n\t\xff\x1b"), "a\n\t\\xff\\x1b");
    json_t *json = text_json("\xffk\xc3\n"); /* a character that was cut off */
    assert_string_equal(json_string_value(json), "\\xffk\\xc3\n");
    json_decref(json);
    arena_destroy(arena);
}

static void words(void **state)
{
    static const char *const words[] = {"grid", "block", "shared", "stats"};
    assert_string_equal(nearest_word("gird", words, 4), "grid");
    assert_string_equal(nearest_word("GRID", words, 4), "grid");
    assert_string_equal(nearest_word("blocks", words, 4), "block");
    assert_string_equal(nearest_word("shraed", words, 4), "shared");
    assert_null(nearest_word("kernel", words, 4));
    assert_null(nearest_word("", words, 4));
    assert_null(nearest_word("x", words, 0));
    static const char *const letters[] = {"a"};
    assert_null(nearest_word("b", letters, 1));
}

static void files(void **state)
{
    struct error error = {0};
    size_t length;
    assert_null(text_read_file("/nonexistent", false, 10, &length, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_null(text_read_file("/tmp", false, 10, &length, &error));
    assert_int_equal(error.code, ERROR_INPUT);
    assert_null(text_read_file("/dev/zero", false, 100000, &length, &error));
    assert_string_equal(error.message, "too large: at most 100000 bytes are allowed");
    char *text = text_read_file("/dev/null", false, 10, &length, &error);
    assert_non_null(text);
    assert_int_equal(length, 0);
    assert_int_equal(text[0], 0);
    free(text);
}

/* FIPS 180-4 examples, the empty text, and lengths around the padding's edges. */
static void hash_text(const void *data, size_t bytes, char text[SHA256_TEXT])
{
    struct sha256 hash;
    char portable[SHA256_TEXT];
    sha256_start(&hash);
    hash.portable = true;
    sha256_add(&hash, data, bytes);
    sha256_text(&hash, portable);
    sha256_start(&hash);
    sha256_add(&hash, data, bytes);
    sha256_text(&hash, text);
    assert_string_equal(text, portable); /* with the processor's instructions, if it has them */
}

static void sha256(void **state)
{
    char text[SHA256_TEXT];
    static const char *const cases[][2] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        hash_text(cases[i][0], strlen(cases[i][0]), text);
        assert_string_equal(text, cases[i][1]);
    }
    char *million = malloc(1000000);
    memset(million, 'a', 1000000);
    hash_text(million, 1000000, text);
    assert_string_equal(text, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    /* In pieces of every size the result is the same. */
    for (size_t length = 54; length <= 130; length++) {
        char whole[SHA256_TEXT], pieces[SHA256_TEXT];
        struct sha256 hash;
        hash_text(million, length, whole);
        sha256_start(&hash);
        for (size_t at = 0, step = 1; at < length; at += step, step = MIN(step + 1, length - at))
            sha256_add(&hash, million + at, MIN(step, length - at));
        sha256_text(&hash, pieces);
        assert_string_equal(pieces, whole);
    }
    free(million);
}

static void arenas(void **state)
{
    struct arena *arena = arena_create();
    for (size_t i = 0; i < 2000; i++) {
        u8 *memory = arena_alloc_aligned(arena, i * 7 % 5000, 64);
        assert_int_equal((uintptr_t)memory % 64, 0);
        for (size_t j = 0; j < i * 7 % 5000; j += 511)
            assert_int_equal(memory[j], 0);
        memset(memory, 0xff, i * 7 % 5000);
    }
    assert_string_equal(arena_printf(arena, "%s-%d", "x", 5), "x-5");
    assert_string_equal(arena_strndup(arena, "hello", 3), "hel");
    arena_destroy(arena);
    VEC(u32) numbers = {0};
    for (u32 i = 0; i < 1000; i++)
        *vec_push(&numbers) = i;
    for (u32 i = 0; i < 1000; i++)
        assert_int_equal(numbers.data[i], i);
    vec_free(&numbers);
    assert_null(numbers.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(ranges),
        cmocka_unit_test(signed_integers),
        cmocka_unit_test(sizes),
        cmocka_unit_test(floats_ignore_the_locale),
        cmocka_unit_test(utf8),
        cmocka_unit_test(words),
        cmocka_unit_test(files),
        cmocka_unit_test(sha256),
        cmocka_unit_test(arenas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
