/*
 * The public API misused: NULL, foreign and freed addresses, wrong sizes and wrong texts give
 * errors and leave nothing behind (the sanitizer builds look for leaks).
 */
#include <heddle/heddle.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".global .u32 word;\n.const .u32 fixed = 3;\n"
                          ".visible .entry k(.param .u32 n)\n{\n ret;\n}\n";

static struct hd_device *open_device(void)
{
    struct hd_config *config = hd_config_create();
    struct hd_error error;
    assert_true(hd_config_set(config, "gpu.memory_bytes=64M", &error));
    struct hd_device *device = hd_device_open(config, &error);
    assert_non_null(device);
    hd_config_destroy(config);
    return device;
}

/* A failed call has filled the error. */
static void failed(bool ok, struct hd_error *error, enum hd_error_code code, const char *says)
{
    assert_false(ok);
    assert_int_equal(error->code, code);
    if (!strstr(error->message, says))
        fail_msg("expected '%s' in: %s", says, error->message);
    memset(error, 0, sizeof *error);
}

static void null_configurations(void **state)
{
    struct hd_error e = {0};
    struct hd_config *config = hd_config_create();
    failed(hd_config_load(NULL, "generic", &e), &e, HD_ERROR_USAGE, "NULL");
    failed(hd_config_load(config, NULL, &e), &e, HD_ERROR_USAGE, "NULL");
    failed(hd_config_set(config, NULL, &e), &e, HD_ERROR_USAGE, "NULL");
    failed(hd_config_set(NULL, "gpu.cores=1", &e), &e, HD_ERROR_USAGE, "NULL");
    failed(hd_device_open(NULL, &e), &e, HD_ERROR_USAGE, "NULL");
    assert_false(hd_config_set(config, "gpu.cores=0", NULL)); /* the error is not wanted */
    assert_false(hd_config_load(config, "no such machine", NULL));
    assert_null(hd_config_json(NULL));
    assert_null(hd_config_explain(NULL));
    assert_null(hd_stats_json(NULL));
    hd_config_destroy(config);
    hd_config_destroy(NULL);
    hd_device_close(NULL);
    hd_module_unload(NULL);
    hd_interrupt(NULL);
    hd_set_output(NULL, NULL, NULL);
    hd_progress(NULL, NULL, NULL, NULL);
    hd_free(NULL);
    assert_int_equal(hd_kernel_count(NULL), 0);
    assert_null(hd_kernel_at(NULL, 0));
    assert_string_equal(hd_outcome_name((enum hd_outcome)99), "unknown");
    assert_string_equal(hd_outcome_name((enum hd_outcome) - 1), "unknown");
}

static void wrong_memory(void **state)
{
    struct hd_error e = {0};
    struct hd_device *device = open_device();
    char bytes[64] = {0};
    failed(hd_alloc(NULL, 4, &e), &e, HD_ERROR_USAGE, "NULL");
    failed(hd_alloc(device, 0, &e), &e, HD_ERROR_USAGE, "0 bytes");
    failed(hd_alloc(device, 1ull << 40, &e), &e, HD_ERROR_MEMORY, "cannot allocate");
    failed(hd_alloc(device, UINT64_MAX, &e), &e, HD_ERROR_MEMORY, "cannot allocate");
    failed(hd_alloc(device, 65 << 20, &e), &e, HD_ERROR_MEMORY, "gpu.memory_bytes");
    hd_address a = hd_alloc(device, sizeof bytes, &e);
    assert_true(a);
    failed(hd_write(device, a, NULL, 4, &e), &e, HD_ERROR_USAGE, "NULL");
    assert_true(hd_write(device, a, NULL, 0, &e));
    failed(hd_read(device, NULL, a, 4, &e), &e, HD_ERROR_USAGE, "NULL");
    failed(hd_fill(device, a, NULL, 1, 4, &e), &e, HD_ERROR_USAGE, "NULL");
    failed(hd_fill(device, a, bytes, 0, 4, &e), &e, HD_ERROR_USAGE, "pattern");
    failed(hd_fill(device, a, bytes, 3, 4, &e), &e, HD_ERROR_USAGE, "pattern");
    failed(hd_write(device, a + 1, bytes, 64, &e), &e, HD_ERROR_USAGE, "not within");
    failed(hd_read(device, bytes, a, UINT64_MAX, &e), &e, HD_ERROR_USAGE, "not within");
    failed(hd_read(device, bytes, UINT64_MAX, 2, &e), &e, HD_ERROR_USAGE, "not within");
    failed(hd_read(device, bytes, 0, 1, &e), &e, HD_ERROR_USAGE, "not within");
    failed(hd_copy(device, a, a + 32, 33, &e), &e, HD_ERROR_USAGE, "not within");
    failed(hd_copy(device, a + 32, a, 33, &e), &e, HD_ERROR_USAGE, "not within");
    assert_true(hd_copy(device, a + 1, a, 63, &e)); /* they overlap */
    failed(hd_release(device, a + 4, &e), &e, HD_ERROR_USAGE, "start of an allocation");
    failed(hd_release(device, 0, &e), &e, HD_ERROR_USAGE, "start of an allocation");
    assert_true(hd_release(device, a, &e));
    failed(hd_release(device, a, &e), &e, HD_ERROR_USAGE, "start of an allocation");
    failed(hd_write(device, a, bytes, 4, &e), &e, HD_ERROR_USAGE, "freed");
    hd_device_close(device);
}

static void wrong_modules(void **state)
{
    struct hd_error e = {0};
    struct hd_device *device = open_device();
    hd_address address;
    failed(hd_module_load(NULL, ptx, strlen(ptx), "m", &e), &e, HD_ERROR_USAGE, "NULL");
    failed(hd_module_load(device, NULL, 0, "m", &e), &e, HD_ERROR_USAGE, "NULL");
    failed(hd_module_load(device, ptx, strlen(ptx), NULL, &e), &e, HD_ERROR_USAGE, "NULL");
    failed(hd_module_load(device, "", 0, "m", &e), &e, HD_ERROR_INPUT, "");
    failed(hd_module_load(device, ptx, 60, "m", &e), &e, HD_ERROR_INPUT, "");
    assert_null(hd_module_load(device, "\0\1\2", 3, "m", NULL));
    struct hd_module *module = hd_module_load(device, ptx, strlen(ptx), "m", &e);
    assert_non_null(module);
    failed(hd_module_variable(module, NULL, &address, NULL, &e), &e, HD_ERROR_USAGE, "NULL");
    failed(hd_module_variable(NULL, "word", &address, NULL, &e), &e, HD_ERROR_USAGE, "NULL");
    assert_true(hd_module_variable(module, "word", NULL, NULL, &e));
    assert_true(hd_module_variable(module, "word", &address, NULL, &e));
    failed(hd_release(device, address, &e), &e, HD_ERROR_USAGE, "was not allocated by hd_alloc");
    failed(hd_kernel_find(NULL, NULL, &e), &e, HD_ERROR_USAGE, "NULL");
    failed(hd_kernel_find(module, "", &e), &e, HD_ERROR_NOT_FOUND, "no kernel ''");
    failed(hd_module_listing(NULL, NULL, &e), &e, HD_ERROR_USAGE, "NULL");
    failed(hd_module_listing(module, "x", &e), &e, HD_ERROR_NOT_FOUND, "no kernel 'x'");
    failed(hd_module_marks(NULL, NULL, NULL, &e), &e, HD_ERROR_USAGE, "NULL");
    failed(hd_module_marks(module, "x", NULL, &e), &e, HD_ERROR_NOT_FOUND, "no kernel 'x'");
    failed(hd_module_lifetimes(NULL, NULL, 0, &e), &e, HD_ERROR_USAGE, "NULL");
    failed(hd_module_lifetimes(module, "x", 0, &e), &e, HD_ERROR_NOT_FOUND, "no kernel 'x'");
    failed(hd_module_regions(NULL, NULL, &e), &e, HD_ERROR_USAGE, "NULL");
    failed(hd_module_regions(module, "x", &e), &e, HD_ERROR_NOT_FOUND, "no kernel 'x'");
    assert_null(hd_kernel_at(module, 1));
    hd_module_unload(module);
    failed(hd_write(device, address, "abcd", 4, &e), &e, HD_ERROR_USAGE, "freed");
    hd_device_close(device);
}

static void wrong_launches(void **state)
{
    struct hd_error e = {0};
    struct hd_device *device = open_device();
    struct hd_module *module = hd_module_load(device, ptx, strlen(ptx), "m", &e);
    struct hd_kernel *kernel = hd_kernel_find(module, NULL, &e);
    const struct hd_dim one = {1, 1, 1}, huge = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    uint32_t n = 1;
    const struct hd_arg arg = {&n, 4}, empty = {NULL, 4}, two[] = {{&n, 4}, {&n, 4}};
    failed(hd_launch(NULL, one, one, 0, &arg, 1, NULL, &e), &e, HD_ERROR_USAGE, "NULL");
    failed(hd_launch(kernel, one, one, 0, NULL, 1, NULL, &e), &e, HD_ERROR_USAGE, "NULL");
    failed(hd_launch(kernel, one, one, 0, &empty, 1, NULL, &e), &e, HD_ERROR_USAGE, "NULL");
    assert_true(hd_launch_check(kernel, one, one, 0, &empty, 1, &e));
    failed(hd_launch_check(kernel, one, one, 0, NULL, 1, &e), &e, HD_ERROR_USAGE, "NULL");
    failed(hd_launch(kernel, one, one, 0, NULL, 0, NULL, &e), &e, HD_ERROR_USAGE, "1 parameter");
    failed(hd_launch(kernel, one, one, 0, two, 2, NULL, &e), &e, HD_ERROR_USAGE, "1 parameter");
    failed(hd_launch(kernel, huge, one, 0, &arg, 1, NULL, &e), &e, HD_ERROR_USAGE, "too large");
    failed(hd_launch(kernel, one, huge, 0, &arg, 1, NULL, &e), &e, HD_ERROR_USAGE, "threads");
    failed(hd_launch(kernel, one, one, UINT32_MAX, &arg, 1, NULL, &e), &e, HD_ERROR_USAGE,
           "shared memory");
    assert_true(hd_launch(kernel, one, one, 0, &arg, 1, NULL, &e));
    hd_kernel_info(kernel, NULL);
    struct hd_kernel_info info;
    hd_kernel_info(NULL, &info);
    assert_int_equal(info.param_count, 0);
    hd_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_configurations),
        cmocka_unit_test(wrong_memory),
        cmocka_unit_test(wrong_modules),
        cmocka_unit_test(wrong_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
