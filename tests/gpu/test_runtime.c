/*
 * What host runtimes use of the public API: facts of a machine, what a launch is given beside its
 * arguments, launches with and without time on one device, statistics launch by launch.
 */
#include <heddle/heddle.h>

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Nine words: %envreg0 to %envreg8. */
static const char env_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry env(.param .u64 p)\n{\n .reg .b32 %r<10>; .reg .b64 %rd;\n"
    " ld.param.u64 %rd, [p];\n"
    " mov.u32 %r0, %envreg0; st.global.u32 [%rd], %r0;\n"
    " mov.u32 %r1, %envreg1; st.global.u32 [%rd+4], %r1;\n"
    " mov.u32 %r2, %envreg2; st.global.u32 [%rd+8], %r2;\n"
    " mov.u32 %r3, %envreg3; st.global.u32 [%rd+12], %r3;\n"
    " mov.u32 %r4, %envreg4; st.global.u32 [%rd+16], %r4;\n"
    " mov.u32 %r5, %envreg5; st.global.u32 [%rd+20], %r5;\n"
    " mov.u32 %r6, %envreg6; st.global.u32 [%rd+24], %r6;\n"
    " mov.u32 %r7, %envreg7; st.global.u32 [%rd+28], %r7;\n"
    " mov.u32 %r8, %envreg8; st.global.u32 [%rd+32], %r8;\n"
    " mov.u32 %r9, %envreg9; st.global.u32 [%rd+36], %r9;\n ret;\n}\n";

struct rig {
    struct hd_device *device;
    struct hd_kernel *kernel;
    hd_address words;
    struct hd_result result;
    uint32_t read[10];
};

static struct rig open_rig(const char *setting)
{
    struct hd_error error;
    struct rig rig = {0};
    struct hd_config *config = hd_config_create();
    if (setting)
        assert_true(hd_config_set(config, setting, &error));
    rig.device = hd_device_open(config, &error);
    assert_non_null(rig.device);
    hd_config_destroy(config);
    struct hd_module *module =
        hd_module_load(rig.device, env_ptx, strlen(env_ptx), "env.ptx", &error);
    assert_non_null(module);
    rig.kernel = hd_kernel_find(module, NULL, &error);
    rig.words = hd_alloc(rig.device, sizeof rig.read, &error);
    return rig;
}

static void run(struct rig *rig, struct hd_dim grid)
{
    struct hd_error error;
    struct hd_arg arg = {&rig->words, 8};
    assert_true(
        hd_launch(rig->kernel, grid, (struct hd_dim){1, 1, 1}, 0, &arg, 1, &rig->result, &error));
    assert_int_equal(rig->result.outcome, HD_DONE);
    assert_true(hd_read(rig->device, rig->read, rig->words, sizeof rig->read, &error));
}

static void range(void **state)
{
    struct hd_error error;
    struct rig rig = open_rig(NULL);
    run(&rig, (struct hd_dim){2, 3, 1});
    for (int i = 0; i < 10; i++)
        assert_int_equal(rig.read[i], 0);

    struct hd_range range = {3, {1, 2ull << 32 | 3, 4}, 0x123456789aull};
    assert_true(hd_kernel_range(rig.kernel, &range, &error));
    run(&rig, (struct hd_dim){1, 1, 1});
    static const uint32_t expected[10] = {3, 1, 0, 3, 2, 4, 0, 0x3456789a, 0x12, 0};
    assert_memory_equal(rig.read, expected, sizeof expected);

    range.work_dim = 4;
    assert_false(hd_kernel_range(rig.kernel, &range, &error));
    assert_int_equal(error.code, HD_ERROR_USAGE);
    hd_device_close(rig.device);
}

static void timed_or_not(void **state)
{
    struct hd_error error;
    struct rig rig = open_rig(NULL);
    run(&rig, (struct hd_dim){1, 1, 1});
    assert_true(rig.result.cycles > 0);
    assert_true(rig.result.picoseconds > rig.result.cycles);
    assert_true(hd_set_timed(rig.device, false, &error));
    run(&rig, (struct hd_dim){1, 1, 1});
    assert_int_equal(rig.result.cycles, 0);
    assert_int_equal(rig.result.picoseconds, 0);
    assert_true(hd_set_timed(rig.device, true, &error));
    run(&rig, (struct hd_dim){1, 1, 1});
    assert_true(rig.result.cycles > 0);
    hd_device_close(rig.device);

    rig = open_rig("timing.functional=true");
    assert_false(hd_set_timed(rig.device, true, &error));
    assert_non_null(strstr(error.message, "timing.functional"));
    hd_device_close(rig.device);
}

/* Counters of launches added up one by one are those of all; forgotten launches stay in totals. */
static void counters(void **state)
{
    struct hd_error error;
    struct rig rig = open_rig(NULL);
    run(&rig, (struct hd_dim){3, 1, 1});
    assert_true(hd_set_timed(rig.device, false, &error));
    run(&rig, (struct hd_dim){7, 1, 1});
    assert_true(hd_set_timed(rig.device, true, &error));
    run(&rig, (struct hd_dim){40, 1, 1});

    char *text = hd_counters_json(rig.device), *before = hd_stats_json(rig.device);
    json_t *names = json_loads(text, 0, NULL), *all = json_loads(before, 0, NULL), *value;
    size_t count = json_array_size(names), index, energies = 0;
    uint64_t *counts = calloc(count, sizeof *counts);
    assert_false(hd_launch_add(rig.device, 3, counts, count));
    for (size_t i = 0; i < 3; i++)
        assert_true(hd_launch_add(rig.device, i, counts, count));
    json_array_foreach(names, index, value)
    {
        const char *name = json_string_value(value);
        const json_t *total = json_object_get(json_object_get(all, "totals"), name);
        assert_true(json_is_number(total));
        if (json_is_real(total)) {
            assert_true(json_real_value(total) == (double)counts[index] / 1000);
            energies++;
        } else {
            assert_int_equal(json_integer_value(total), counts[index]);
        }
    }
    assert_true(energies > 10 && count > 100);
    assert_false(hd_launch_add(rig.device, 0, counts, count - 1));

    hd_launch_forget(rig.device, 1);
    hd_launch_forget(rig.device, 1);
    hd_launch_forget(rig.device, 3);
    assert_null(hd_launch_json(rig.device, 1));
    assert_false(hd_launch_add(rig.device, 1, counts, count));
    char *after = hd_stats_json(rig.device);
    json_t *rest = json_loads(after, 0, NULL);
    json_array_remove(json_object_get(all, "launches"), 1);
    assert_true(json_equal(rest, all));
    free(counts);
    hd_free(text);
    hd_free(before);
    hd_free(after);
    json_decref(names);
    json_decref(all);
    json_decref(rest);
    hd_device_close(rig.device);
}

/* The sum of individually reported launches equals the device's totals. */
static void totals(void **state)
{
    struct hd_error error;
    struct rig rig = open_rig(NULL);
    run(&rig, (struct hd_dim){1, 1, 1});
    assert_true(hd_set_timed(rig.device, false, &error));
    run(&rig, (struct hd_dim){7, 1, 1});
    assert_true(hd_set_timed(rig.device, true, &error));
    run(&rig, (struct hd_dim){40, 1, 1});

    json_t *launches = json_array();
    char *line;
    for (size_t i = 0; (line = hd_launch_json(rig.device, i)); i++) {
        assert_null(strchr(line, '\n'));
        json_array_append_new(launches, json_loads(line, 0, NULL));
        hd_free(line);
    }
    assert_int_equal(json_array_size(launches), 3);
    char *text = json_dumps(launches, 0), *all = hd_stats_json(rig.device);
    char *sum = hd_stats_total(NULL, text, strlen(text), &error);
    assert_non_null(sum);
    json_t *expected = json_loads(all, 0, NULL), *got = json_loads(sum, JSON_ALLOW_NUL, NULL);
    assert_true(json_equal(json_object_get(expected, "launches"), launches));
    assert_true(json_equal(json_object_get(expected, "totals"), got));
    char *profile = hd_profile_json(rig.device);
    json_t *told = json_loads(profile, 0, NULL);
    assert_true(json_equal(json_object_get(expected, "profile"), told));

    assert_null(hd_stats_total(NULL, "{}", 2, &error));
    assert_null(hd_stats_total(NULL, "[", 1, &error));
    const char *bad = "[{\"stats\": {\"timing.cycles\": \"many\"}}]";
    assert_null(hd_stats_total(NULL, bad, strlen(bad), &error));
    assert_non_null(strstr(error.message, "timing.cycles"));
    hd_free(profile);
    hd_free(text);
    hd_free(all);
    hd_free(sum);
    json_decref(told);
    json_decref(launches);
    json_decref(expected);
    json_decref(got);
    hd_device_close(rig.device);
}

static void machine_facts(void **state)
{
    struct hd_error error;
    struct hd_config *config = hd_config_create();
    struct hd_machine_info info;
    assert_true(hd_config_load(config, "gtx480", &error));
    assert_true(hd_config_info(config, &info, &error));
    assert_string_equal(info.name, "gtx480");
    assert_int_equal(info.cores, 15);
    assert_int_equal(info.lanes, 32);
    assert_int_equal(info.block_threads, 1024);
    assert_int_equal(info.kernel_threads, 1024);
    assert_int_equal(info.block_shared_bytes, 48 << 10);
    assert_int_equal(info.l2_bytes, 768 << 10);
    assert_int_equal(info.line_bytes, 128);
    assert_true(info.core_mhz == 700);
    assert_false(info.functional);
    assert_true(hd_config_load(config, "generic64", &error));
    assert_true(hd_config_info(config, &info, &error));
    assert_int_equal(info.kernel_threads, 256);
    assert_false(hd_config_info(config, NULL, &error));
    hd_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(range),    cmocka_unit_test(timed_or_not),  cmocka_unit_test(totals),
        cmocka_unit_test(counters), cmocka_unit_test(machine_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
