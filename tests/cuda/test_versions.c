/*
 * The versions of the library: that each has the functions that programs ask it for, and
 * cudaGetDeviceProperties its own layout.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void *function(const char *library, const char *version, const char *name)
{
    void *handle = dlopen(library, RTLD_NOW);
    assert_non_null(handle);
    return dlvsym(handle, name, version);
}

static int at(const char *properties, size_t offset)
{
    int value;
    memcpy(&value, properties + offset, sizeof value);
    return value;
}

typedef int get_properties(void *to, int number);
typedef int get_version(int *version);

/* Offsets from the vendor's headers of each version; bytes that the version does not have stay. */
static void properties_have_their_layout(void **state)
{
    static const struct {
        const char *library, *name;
        size_t cores, major, registers, bytes;
        int version;
    } rows[] = {
        {"libcudart.so.11.0", "cudaGetDeviceProperties", 388, 360, 304, 728, 11080},
        {"libcudart.so.12", "cudaGetDeviceProperties_v2", 388, 360, 304, 1032, 12000},
        {"libcudart.so.13", "cudaGetDeviceProperties", 384, 360, 304, 1008, 13000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char properties[1100];
        int version = 0;
        memset(properties, 0x5a, sizeof properties);
        get_properties *get = function(rows[i].library, rows[i].library, rows[i].name);
        get_version *tell = function(rows[i].library, rows[i].library, "cudaRuntimeGetVersion");
        assert_non_null(get);
        assert_non_null(tell);
        assert_int_equal(get(properties, 0), 0);
        assert_int_equal(tell(&version), 0);
        assert_int_equal(version, rows[i].version);
        assert_string_equal(properties, "Heddle rtx2060");
        assert_int_equal(at(properties, rows[i].cores), 30);
        assert_int_equal(at(properties, rows[i].major), 7);
        assert_int_equal(at(properties, rows[i].major + 4), 5);
        assert_int_equal(at(properties, rows[i].registers), 65536);
        assert_int_equal(at(properties, rows[i].bytes), 0x5a5a5a5a);
        assert_int_not_equal(at(properties, rows[i].bytes - 4), 0x5a5a5a5a);
    }
}

static void functions_have_all_versions(void **state)
{
    static const char *const names[] = {"cudaMalloc", "cudaLaunchKernel", "__cudaRegisterFatBinary",
                                        "cudaMemcpyAsync_ptsz", "cudaMemcpy_ptds"};
    static const char *const versions[] = {"libcudart.so.11.0", "libcudart.so.12",
                                           "libcudart.so.13"};
    for (size_t v = 0; v < 3; v++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            assert_non_null(function(versions[v], versions[v], names[i]));
    assert_null(function(versions[0], versions[0], "cudaGetDeviceProperties_v2"));
    assert_null(function(versions[0], versions[0], "hd_launch"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties_have_their_layout),
        cmocka_unit_test(functions_have_all_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
