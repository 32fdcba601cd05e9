/* Guest printf: every conversion, argument packing, hostile formats. */
#include "exec/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Guest memory: addresses are offsets + 4096 into this. */
static u8 guest[8192];
static char text[FORMAT_MAX];

static bool read_guest(void *context, u64 address, void *to, u64 bytes)
{
    u64 offset = address - 4096;
    if (offset > sizeof guest || bytes > sizeof guest - offset)
        return false;
    memcpy(to, guest + offset, bytes);
    return true;
}

enum {
    FORMAT_AT = 0,
    STRING_AT = 2048,
    ARGUMENTS_AT = 4096
};
static u32 used;

static void start(const char *format)
{
    memset(guest, 0, sizeof guest);
    memcpy(guest + FORMAT_AT, format, strlen(format) + 1);
    used = 0;
}

static void word(u32 value)
{
    memcpy(guest + ARGUMENTS_AT + used, &value, 4);
    used += 4;
}

static void wide(u64 value)
{
    used = (u32)align_up(used, 8);
    memcpy(guest + ARGUMENTS_AT + used, &value, 8);
    used += 8;
}

static void real(f64 value)
{
    u64 bits;
    memcpy(&bits, &value, 8);
    wide(bits);
}

static struct format_result run(void)
{
    return format_guest(read_guest, NULL, 4096 + FORMAT_AT, 4096 + ARGUMENTS_AT, 8, text);
}

static void expect(const char *expected, u32 arguments)
{
    struct format_result result = run();
    assert_true(result.ok);
    assert_string_equal(text, expected);
    assert_int_equal(result.length, strlen(expected));
    assert_int_equal(result.arguments, arguments);
}

static void numbers(void **state)
{
    start("%d %u %x %X %o %i|%5d|%-5d|%05d|%+d");
    for (int i = 0; i < 6; i++)
        word((u32)-3);
    for (int i = 0; i < 4; i++)
        word(42);
    expect("-3 4294967293 fffffffd FFFFFFFD 37777777775 -3|   42|42   |00042|+42", 10);
    start("%hhd %hu %lld %lu %#x %zu");
    word(0x1ff);
    word(0x12345);
    wide(0x8000000000000000);
    wide(~0ull);
    word(255);
    wide(7);
    expect("-1 9029 -9223372036854775808 18446744073709551615 0xff 7", 6);
}

static void packing(void **state)
{
    start("%d %f %d %s %c");
    word(1);
    real(2.5); /* aligned to 8 behind the int */
    word(3);
    wide(4096 + STRING_AT);
    memcpy(guest + STRING_AT, "text", 5);
    word('z');
    expect("1 2.500000 3 text z", 5);
}

/* Arguments of code with 32-bit addresses: long, sizes and pointers are words. */
static void narrow(void **state)
{
    start("%ld %lu %zu %lld %s %p %jd %d");
    word((u32)-3);
    word((u32)-3);
    word(7);
    wide((u64)-5);
    word(4096 + STRING_AT);
    memcpy(guest + STRING_AT, "text", 5);
    word(0xabc);
    wide(9);
    word(1);
    struct format_result result =
        format_guest(read_guest, NULL, 4096 + FORMAT_AT, 4096 + ARGUMENTS_AT, 4, text);
    assert_true(result.ok);
    assert_string_equal(text, "-3 4294967293 7 -5 text 0xabc 9 1");
    assert_int_equal(result.arguments, 8);
}

static void widths(void **state)
{
    start("[%*d][%-*d][%.*f][%8.3s][%c][%5c][%-3c]");
    word(6);
    word(1);
    word((u32)-4);
    word(2);
    word(1);
    real(3.14159);
    wide(4096 + STRING_AT);
    memcpy(guest + STRING_AT, "abcdef", 7);
    word('x');
    word('y');
    word('z');
    expect("[     1][2   ][3.1][     abc][x][    y][z  ]", 10);
    start("%p|%10p|%e|%g|%%|%s");
    wide(0x1234);
    wide(0xab);
    real(12345.678);
    real(0.0001);
    wide(0);
    expect("0x1234|      0xab|1.234568e+04|0.0001|%|(null)", 5);
}

static void hostile(void **state)
{
    start("%n%y%"); /* nothing is written through, and the end is the end */
    expect("%n%y%", 0);
    start("%99999999999999999999d");
    word(1);
    assert_true(run().ok);
    assert_int_equal(strlen(text), 4096);
    start("%.999999f");
    real(1e308);
    assert_true(run().ok);
    start("%---------------------------------------------------d");
    word(5);
    expect("5", 1);
    start("%hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhq");
    assert_true(run().ok);
    start("%s");
    wide(0xdeadbeef);
    struct format_result result = run();
    assert_false(result.ok);
    assert_int_equal(result.bad_address, 0xdeadbeef);
    memset(guest, 'a', sizeof guest); /* no terminator anywhere */
    assert_false(run().ok);
    char name[8];
    assert_true(format_string(read_guest, NULL, 4096, name, sizeof name));
    assert_string_equal(name, "aaaaaaa");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers), cmocka_unit_test(packing), cmocka_unit_test(narrow),
        cmocka_unit_test(widths),  cmocka_unit_test(hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
