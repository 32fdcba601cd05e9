/* Names of kernels from mangled ones; and input that is cut off, changed or nested deeply. */
#include "base/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void names_are_read(void **state)
{
    static const char *const rows[][2] = {
        {"_Z6vecaddPKfS0_Pfi", "vecadd"},
        {"_ZN3own4fillIfLi7EEEvPT_", "own::fill<float, 7>"},
        {"_Z7reduce6IiLj512ELb1EEvPT_S1_j", "reduce6<int, 512, true>"},
        {"_ZN12_GLOBAL__N_15helloEv", "(anonymous namespace)::hello"},
        {"_Z3fooIN3abc3defEPKcEvv", "foo<abc::def, char const*>"},
        {"_Z4kernIJifdEEvDpT_", "kern<int, float, double>"},
        {"_Z1fI6float4St4pairIifEEvv", "f<float4, std::pair<int, float>>"},
        {"_ZL1kPi", "k"},
        {"_ZL1kPi@2", "k@2"},
        {"_Z5sdaxpI7complexIdES1_Evv", "sdaxp<complex<double>, complex<double>>"},
        {"_ZN2ns1AIiE1bIS1_EEvv", "ns::A<int>::b<ns::A<int>>"},
        {"_Z1gILin3EEvv", "g<-3>"},
        /* not mangled, or not known here */
        {"vecadd", "vecadd"},
        {"_Z", "_Z"},
        {"_Z1fIXadL_Z1gvEEEvv", "_Z1fIXadL_Z1gvEEEvv"},
        {"_Z1fIPFvvEEvT_", "_Z1fIPFvvEEvT_"},
        {"_ZplRK1AS1_", "_ZplRK1AS1_"},
        {"_ZN2at6nativeE_no", "at::native"},
    };
    struct arena *arena = arena_create();
    for (u32 i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(demangle(arena, rows[i][0]), rows[i][1]);
    assert_null(demangle(arena, NULL));
    arena_destroy(arena);
}

/* Every beginning of a name, and random changes of it, in memory of just their size. */
static void damage_does_no_harm(void **state)
{
    static const char name[] = "_ZN3own4fillIfLi7EN2ns1AIiEEJPKcRS4_EEEvPT_St4pairIS_S0_E@3";
    srand(1);
    for (u32 i = 0; i < 20000; i++) {
        struct arena *arena = arena_create();
        const size_t length = i < sizeof name ? i : sizeof name - 1;
        char *text = calloc(length + 1, 1);
        memcpy(text, name, length);
        for (u32 k = 0; i >= sizeof name && k < 3; k++)
            text[(u32)rand() % length] = name[(u32)rand() % (sizeof name - 1)];
        assert_non_null(demangle(arena, text));
        free(text);
        arena_destroy(arena);
    }
}

static void sizes_are_bounded(void **state)
{
    enum {
        LONG = 100000
    };
    struct arena *arena = arena_create();
    char *text = calloc(LONG + 10, 1);
    memcpy(text, "_Z1fI", 5);
    memset(text + 5, 'P', LONG);
    assert_ptr_equal(demangle(arena, text), text);
    memset(text + 5, 'i', LONG);
    assert_ptr_equal(demangle(arena, text), text);
    memset(text + 2, '9', LONG);
    assert_ptr_equal(demangle(arena, text), text);
    free(text);
    /* each substitution doubles the text */
    text = calloc(2000, 1);
    strcpy(text, "_Z1fI1AIiiE");
    for (u32 i = 0; i < 30; i++)
        strcat(text, i % 2 ? "1BIS0_S0_E" : "1CIS1_S1_S2_E");
    strcat(text, "Evv");
    const char *result = demangle(arena, text);
    assert_true(result == text || strlen(result) < 5000);
    free(text);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_read),
        cmocka_unit_test(damage_does_no_harm),
        cmocka_unit_test(sizes_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
