/* Numbers of the command line as guest bytes. */
#include "cli/values.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static u64 bits_of(const char *type, const char *text)
{
    struct scalar scalar;
    struct error error = {0};
    const char *known = scalar_type(type, strlen(type));
    assert_non_null(known);
    if (!scalar_parse(known, text, &scalar, &error))
        fail_msg("%s:%s: %s", type, text, error.message);
    u64 bits = 0;
    memcpy(&bits, scalar.data, scalar.size);
    return bits;
}

static void good_numbers(void **state)
{
    static const struct {
        const char *type, *text;
        u64 bits;
    } cases[] = {
        {"u8", "255", 0xff},
        {"s8", "-128", 0x80},
        {"u16", "0xffff", 0xffff},
        {"s16", "-1", 0xffff},
        {"u32", "010", 8},
        {"s32", "-2147483648", 0x80000000},
        {"u64", "18446744073709551615", UINT64_MAX},
        {"s64", "-9223372036854775808", 1ull << 63},
        {"f32", "1", 0x3f800000},
        {"f32", "-0", 0x80000000},
        {"f32", "inf", 0x7f800000},
        {"f32", "-inf", 0xff800000},
        {"f32", "0x1.8p1", 0x40400000},
        {"f32", "1e-45", 1},
        {"f32", "nan", 0x7fc00000},
        {"f64", "0.1", 0x3fb999999999999a},
        {"f64", "5e-324", 1},
        {"f16", "1", 0x3c00},
        {"f16", "-2", 0xc000},
        {"f16", "65504", 0x7bff},
        {"f16", "65519.99", 0x7bff},
        {"f16", "0x1p-24", 1},
        {"f16", "0x1p-25", 0},        /* a tie, to even */
        {"f16", "0x1.8p-24", 2},      /* a tie, to even */
        {"f16", "6.1035e-5", 0x0400}, /* the carry makes a normal number */
        {"f16", "inf", 0x7c00},
        {"f16", "-nan", 0xfe00},
        {"f16", "1e-30", 0},
        /* Just above a tie by less than an f64 can tell: rounding twice would give 0x3c00. */
        {"f16", "1.00048828125000000000000000000000000001", 0x3c01},
        {"f16", "1.00048828125", 0x3c00},
        {"f16", "1.00146484374999999999999999999999999999", 0x3c01},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        u64 bits = bits_of(cases[i].type, cases[i].text);
        if (bits != cases[i].bits)
            fail_msg("%s:%s is 0x%llx, expected 0x%llx", cases[i].type, cases[i].text,
                     (unsigned long long)bits, (unsigned long long)cases[i].bits);
    }
}

/* All finite f16 and the ties between neighbours, written exactly in hexadecimal. */
static void every_f16(void **state)
{
    for (u32 bits = 0; bits < 0x7c00; bits++) {
        u32 exponent = bits >> 10, fraction = bits & 0x3ff;
        f64 step = ldexp(1, (int)MAX(exponent, 1) - 25);
        f64 value = (fraction + (exponent ? 1024 : 0)) * step;
        char text[64];
        snprintf(text, sizeof text, "%a", value);
        assert_int_equal(bits_of("f16", text), bits);
        if (bits == 0x7bff)
            continue;
        snprintf(text, sizeof text, "-%a", value + step / 2);
        assert_int_equal(bits_of("f16", text), 0x8000 | (bits + (bits & 1)));
    }
}

static void bad_numbers(void **state)
{
    static const char *const cases[][3] = {
        {"u8", "256", "256 does not fit in u8: expected 0 to 255"},
        {"u8", "-1", "-1 does not fit in u8: expected 0 to 255"},
        {"s8", "128", "128 does not fit in s8: expected -128 to 127"},
        {"s64", "9223372036854775808",
         "9223372036854775808 does not fit in s64: expected -9223372036854775808 to "
         "9223372036854775807"},
        {"u64", "18446744073709551616",
         "18446744073709551616 does not fit in u64: expected 0 to 18446744073709551615"},
        {"u32", "1.5", "'1.5' is not an integer: expected 0 to 4294967295"},
        {"u32", "", "'' is not an integer: expected 0 to 4294967295"},
        {"f32", "1e39",
         "1e39 does not fit in f32: the largest is 3.4028235e38; write inf for infinity"},
        {"f16", "65520", "65520 does not fit in f16: the largest is 65504; write inf for infinity"},
        {"f64", "1e309",
         "1e309 does not fit in f64: the largest is 1.798e308; write inf for infinity"},
        {"f32", "abc", "'abc' is not a number: expected one like 1.5, 2e-3, 0x1p4, inf or nan"},
        {"f32", "1.5f", "'1.5f' is not a number: expected one like 1.5, 2e-3, 0x1p4, inf or nan"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scalar scalar;
        struct error error = {0};
        assert_false(scalar_parse(cases[i][0], cases[i][1], &scalar, &error));
        assert_string_equal(error.message, cases[i][2]);
    }
    assert_null(scalar_type("u33", 3));
    assert_null(scalar_type("u3", 2));
}

static void dimensions(void **state)
{
    struct hd_dim dim;
    struct error error = {0};
    char text[64];
    assert_true(dim_parse("4", &dim, &error));
    assert_string_equal(dim_text(dim, text, sizeof text), "4");
    assert_true(dim_parse("4,0x10", &dim, &error));
    assert_string_equal(dim_text(dim, text, sizeof text), "4,16");
    assert_true(dim_parse("1,1,4294967295", &dim, &error));
    assert_string_equal(dim_text(dim, text, sizeof text), "1,1,4294967295");
    static const char *const bad[] = {"",        "0",          "1,",  "1,0", ",1",
                                      "1,1,1,1", "4294967296", "1x2", "-1",  "1, 2"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(dim_parse(bad[i], &dim, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_numbers),
        cmocka_unit_test(every_f16),
        cmocka_unit_test(bad_numbers),
        cmocka_unit_test(dimensions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
