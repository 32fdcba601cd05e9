/*
 * The check of waits: hand-made kernels that wait and that do not, on machines with and without a
 * scoreboard for memory and without time; where it finds something it says where, and what else is
 * known of a run does not change.
 */
#include <heddle/heddle.h>

/* clang-format off */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
/* clang-format on */

static const char *folder; /* tests/mech/si */
static char *source;       /* waits.s */

static const struct {
    const char *machine, *functional;
} machines[] = {
    {"tahiti", "timing.functional=false"},
    {"tahiti", "timing.functional=true"},
    {"generic64", "timing.functional=false"},
    {"miaow", "timing.functional=false"},
};
enum {
    MACHINES = sizeof machines / sizeof *machines
};

struct run {
    struct hd_result result;
    json_t *stats; /* of the launch */
};

static char *read_all(const char *name, size_t *length)
{
    char path[1024], *data = calloc(1, 1 << 18);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open %s", path);
    *length = fread(data, 1, (1 << 18) - 1, file);
    fclose(file);
    return data;
}

static void must(bool good, const struct hd_error *error)
{
    if (!good)
        fail_msg("%s", error->message);
}

static struct hd_device *open_device(unsigned machine, bool check)
{
    struct hd_error error = {0};
    struct hd_config *config = hd_config_create();
    must(hd_config_load(config, machines[machine].machine, &error), &error);
    must(hd_config_set(config, machines[machine].functional, &error), &error);
    must(!check || hd_config_set(config, "waits.on=true", &error), &error);
    struct hd_device *device = hd_device_open(config, &error);
    must(device, &error);
    hd_config_destroy(config);
    return device;
}

static void start(struct run *run, unsigned machine, const char *name, bool check)
{
    struct hd_error error = {0};
    size_t length;
    struct hd_device *device = open_device(machine, check);
    char *code = read_all("waits.so", &length);
    struct hd_module *module = hd_module_load(device, code, length, "waits.so", &error);
    must(module, &error);
    struct hd_kernel *kernel = hd_kernel_find(module, name, &error);
    must(kernel, &error);
    hd_address memory = hd_alloc(device, 4096, &error);
    must(memory && hd_fill(device, memory, "", 1, 4096, &error), &error);
    const struct hd_arg arg = {&memory, sizeof memory};
    must(hd_launch(kernel, (struct hd_dim){3, 1, 1}, (struct hd_dim){128, 1, 1}, 0, &arg, 1,
                   &run->result, &error),
         &error);
    run->result.explanation = run->result.explanation ? strdup(run->result.explanation) : NULL;
    char *text = hd_stats_json(device);
    json_t *all = json_loads(text, 0, NULL);
    json_t *launch = json_array_get(json_object_get(all, "launches"), 0);
    run->stats = json_incref(json_object_get(launch, "stats"));
    json_decref(all);
    hd_free(text);
    free(code);
    hd_device_close(device);
}

static void end(struct run *run)
{
    free((char *)run->result.explanation);
    json_decref(run->stats);
}

static long long stat(const struct run *run, const char *name)
{
    const json_t *value = json_object_get(run->stats, name);
    if (!value)
        fail_msg("there is no statistic %s", name);
    return json_integer_value(value);
}

/* The line of the source with a mark, as the explanation has it. */
static void line_of(const char *mark, const char *kernel, char *text, size_t size)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "// %s: %s\n", mark, kernel);
    const char *at = strstr(source, wanted);
    if (!at)
        fail_msg("waits.s has no '%s'", wanted);
    unsigned line = 1;
    for (const char *c = source; c < at; c++)
        line += *c == '\n';
    snprintf(text, size, "waits.s:%u, pc ", line);
}

/* In the text, in this order. */
static const char *says(const char *kernel, const char *text, const char *words)
{
    const char *at = strstr(text, words);
    if (!at)
        fail_msg("%s: expected '%s' in: %s", kernel, words, text);
    return at + strlen(words);
}

static void test_bad(void **state)
{
    static const struct {
        const char *kernel, *use, *counter;
        unsigned times; /* that a warp does it */
    } cases[] = {
        {"bad_read", "reads v2, ", "vmcnt(0)", 1},
        {"bad_left", "reads v3, ", "vmcnt(1)", 1},
        {"bad_write", "writes v2, which is still to be written", "vmcnt(0)", 1},
        {"bad_stored", "reads v2, ", "vmcnt(0)", 1},
        {"bad_data", "writes v2, which is still to be stored", "expcnt(0)", 1},
        {"bad_pair", "reads s9, ", "lgkmcnt(0)", 1},
        {"bad_scalar", "reads s8, ", "lgkmcnt(0)", 1},
        {"bad_mixed", "reads v2, ", "lgkmcnt(0)", 1},
        {"bad_vcc", "reads vcc_lo, ", "lgkmcnt(0)", 1},
        {"bad_other", "writes v2, which is still to be written", "vmcnt(0)", 1},
        {"bad_loop", "reads v2, ", "vmcnt(0)", 3},
        {"bad_swizzle", "reads v2, ", "lgkmcnt(0)", 1},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned m = 0; m < MACHINES; m++) {
            char use[64], access[64], kernel[64];
            struct run run;
            start(&run, m, cases[i].kernel, true);
            assert_int_equal(run.result.outcome, HD_CHECK);
            line_of("use", cases[i].kernel, use, sizeof use);
            line_of("access", cases[i].kernel, access, sizeof access);
            snprintf(kernel, sizeof kernel, "in kernel %s;", cases[i].kernel);
            const char *text = says(kernel, run.result.explanation, kernel);
            text = says(kernel, text, use);
            text = says(kernel, text, cases[i].use);
            text = says(kernel, text, access);
            text = says(kernel, text, cases[i].counter);
            assert_null(strstr(text, "waits.s:")); /* the only place */
            assert_int_equal(stat(&run, "waits.missed"), 3 * 2 * cases[i].times);
            end(&run);
        }
}

/* Correct code is not reported, and nothing changes: all counters are the same as without the
 * check. */
static void test_good(void **state)
{
    static const char *const kernels[] = {"ok_order", "ok_same", "ok_shared", "ok_mixed",
                                          "ok_data",  "ok_most", "ok_loop",   "ok_address"};
    for (unsigned i = 0; i < sizeof kernels / sizeof *kernels; i++)
        for (unsigned m = 0; m < MACHINES; m++) {
            struct run run, without;
            const char *name;
            json_t *value;
            start(&run, m, kernels[i], true);
            if (run.result.outcome != HD_DONE)
                fail_msg("%s: %s", kernels[i], run.result.explanation);
            assert_int_equal(stat(&run, "waits.missed"), 0);
            assert_int_equal(stat(&run, "waits.instructions"),
                             stat(&run, "exec.warp_instructions"));
            assert_true(stat(&run, "waits.accesses") > 0 && stat(&run, "waits.waits") > 0);
            start(&without, m, kernels[i], false);
            json_object_foreach(without.stats, name, value)
            {
                if (!json_equal(value, json_object_get(run.stats, name)))
                    fail_msg("%s on %s: %s differs", kernels[i], machines[m].machine, name);
            }
            end(&run);
            end(&without);
        }
}

/* The run continues to its end: statistics of violations are complete. */
static void test_complete(void **state)
{
    for (unsigned m = 0; m < MACHINES; m++) {
        struct run run, without;
        start(&run, m, "bad_loop", true);
        start(&without, m, "bad_loop", false);
        assert_int_equal(without.result.outcome, HD_DONE);
        assert_int_equal(stat(&run, "exec.warp_instructions"),
                         stat(&without, "exec.warp_instructions"));
        assert_int_equal(stat(&run, "waits.instructions"), stat(&run, "exec.warp_instructions"));
        end(&run);
        end(&without);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_complete),
    };
    size_t length;
    if (argc != 2)
        return 2;
    folder = argv[1];
    source = read_all("waits.s", &length);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(source);
    return failed;
}
