/*
 * Banks and result buses that a mechanism makes slow hold what they should, to the cycle: two
 * programs that differ by 32 instructions of one kind differ by 32 times what one of them takes.
 */
#include "gpu/device.h"
#include "seam/seam.h"
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

/* after stdarg.h */
#include <cmocka.h>

static const struct mechanism *const available[] = {&slow_mechanism, NULL};

enum {
    MORE = 32, /* instructions */
    REGISTERS = 16
};

enum kind {
    CHAIN,       /* each adds to the result of the one before, and another register */
    INDEPENDENT, /* sums of the same; they may share a register, so that 11 cycles lie between */
    LOADS,       /* of the same line; 39 cycles */
};

/* One warp; `count` instructions of the kind. */
static void write_program(FILE *out, enum kind program, u32 count)
{
    fprintf(out,
            ".version 6.0\n.target sm_30\n.address_size 64\n.visible .entry k(.param .u64 p)\n"
            "{\n.reg .u64 %%a;\n.reg .u32 %%x, %%y, %%r<%u>;\nld.param.u64 %%a, [p];\n"
            "ld.global.u32 %%x, [%%a];\nadd.u32 %%y, %%x, %%x;\n",
            REGISTERS);
    for (u32 i = 0; i < count; i++)
        if (program == CHAIN)
            fprintf(out, "add.u32 %%y, %%y, %%x;\n");
        else if (program == INDEPENDENT)
            fprintf(out, "add.u32 %%r%u, %%x, %%x;\n", i % REGISTERS);
        else
            fprintf(out, "ld.global.u32 %%r%u, [%%a+4];\n", i % REGISTERS);
    for (u32 i = 0; i < REGISTERS && program != CHAIN; i++)
        fprintf(out, "add.u32 %%y, %%y, %%r%u;\n", i);
    fprintf(out, "st.global.u32 [%%a], %%y;\nret;\n}\n");
}

struct counts {
    u64 cycles, bank_waits, bus_waits, again;
};

static struct counts run(enum kind program, u32 count, const char *const *words)
{
    struct hd_error error = {0};
    struct hd_result result;
    char *code = NULL, *text;
    size_t length = 0;
    FILE *out = open_memstream(&code, &length);
    write_program(out, program, count);
    fclose(out);
    struct hd_config *config = config_with(available);
    assert_true(hd_config_load(config, "fermi15-lv", &error));
    for (; *words; words++)
        assert_true(hd_config_set(config, *words, &error));
    struct hd_device *device = hd_device_open(config, &error);
    assert_non_null(device);
    struct hd_module *module = hd_module_load(device, code, length, "k.ptx", &error);
    if (!module)
        fail_msg("%s", error.message);
    hd_address memory = hd_alloc(device, 256, &error);
    const u32 seven = 7;
    u32 sum = 0;
    assert_true(hd_write(device, memory, &seven, sizeof seven, &error));
    struct hd_arg arg = {&memory, sizeof memory};
    assert_true(hd_launch(hd_kernel_at(module, 0), (struct hd_dim){1, 1, 1},
                          (struct hd_dim){32, 1, 1}, 0, &arg, 1, &result, &error));
    assert_int_equal(result.outcome, HD_DONE);
    assert_true(hd_read(device, &sum, memory, sizeof sum, &error));
    const u32 each[] = {
        [CHAIN] = 7 * (count + 2), [INDEPENDENT] = 14 + 14 * REGISTERS, [LOADS] = 14};
    assert_int_equal(sum, each[program]);
    text = hd_stats_json(device);
    json_t *all = json_loads(text, 0, NULL), *totals = json_object_get(all, "totals");
    const struct counts counts = {
        (u64)json_integer_value(json_object_get(totals, "timing.cycles")),
        (u64)json_integer_value(json_object_get(totals, "slow.bank_waits")),
        (u64)json_integer_value(json_object_get(totals, "slow.bus_waits")),
        (u64)json_integer_value(json_object_get(totals, "slow.again")),
    };
    json_decref(all);
    hd_free(text);
    free(code);
    hd_device_close(device);
    hd_config_destroy(config);
    return counts;
}

#define SETTINGS                                                                             \
    "timing.functional=false", "ptx.optimize=false", "units.result_buses=1", "slow.on=true", \
        "fetch.buffer=16", "icache.perfect=true"

/* Cycles that MORE instructions take, under settings that end in "NAME=" and a number. */
static u64 more(enum kind program, const char *name, u32 value, const char *other)
{
    char word[64];
    snprintf(word, sizeof word, "%s=%u", name, value);
    const char *const words[] = {SETTINGS, word, other, NULL};
    return run(program, 2 * MORE, words).cycles - run(program, MORE, words).cycles;
}

/* A bank that is written for n cycles serves no read: one comes two cycles after the write that it
 * waits for has begun. */
static void slow_writes_hold_their_bank(void **state)
{
    const u64 plain = more(CHAIN, "slow.write", 1, NULL);
    for (u32 n = 1; n <= 6; n++)
        assert_int_equal(more(CHAIN, "slow.write", n, NULL), plain + MORE * (n > 2 ? n - 2 : 0));
}

static void slow_reads_hold_their_bank(void **state)
{
    const u64 plain = more(CHAIN, "slow.read", 1, NULL);
    /* two registers, in two banks at once */
    for (u32 n = 1; n <= 6; n++)
        assert_int_equal(more(CHAIN, "slow.read", n, NULL), plain + MORE * (n - 1));
}

/* One write port: n cycles from one write of a bank to the next, if they are arbitrated. */
static void slow_writes_wait_for_their_bank(void **state)
{
    static const char *const arbitrated[] = {SETTINGS, "slow.write=16", "slow.one_bank=true",
                                             "slow.arbitrate=true", NULL};
    char word[64];
    for (u32 n = 16; n <= 17; n++) {
        snprintf(word, sizeof word, "slow.write=%u", n);
        const char *const words[] = {SETTINGS, word, "slow.one_bank=true", "slow.arbitrate=true",
                                     NULL};
        const u64 cycles =
            run(INDEPENDENT, 2 * MORE, words).cycles - run(INDEPENDENT, MORE, words).cycles;
        assert_int_equal(cycles, MORE * n);
    }
    const struct counts counts = run(INDEPENDENT, MORE, arbitrated);
    assert_true(counts.bank_waits > 0);
    assert_int_equal(counts.bus_waits, 0);
    assert_int_equal(counts.again, counts.bank_waits);
    /* not asked for: the same as fast ones, whose bank is not read */
    assert_int_equal(more(INDEPENDENT, "slow.write", 9, "slow.one_bank=true"),
                     more(INDEPENDENT, "slow.write", 1, "slow.one_bank=true"));
}

/* A bus that a result takes for n cycles: units back up behind it. */
static void slow_results_hold_their_bus(void **state)
{
    static const char *const words[] = {SETTINGS, "slow.bus=16", NULL};
    for (u32 n = 16; n <= 17; n++)
        assert_int_equal(more(INDEPENDENT, "slow.bus", n, NULL), MORE * n);
    /* two buses serve twice as many */
    assert_int_equal(more(INDEPENDENT, "slow.bus", 32, "units.result_buses=2"), MORE * 32 / 2);
    assert_int_equal(more(INDEPENDENT, "slow.bus", 0, NULL),
                     more(INDEPENDENT, "slow.bus", 1, NULL));
    assert_true(run(INDEPENDENT, MORE, words).bus_waits > 0);
    assert_int_equal(run(INDEPENDENT, MORE, words).bank_waits, 0);
}

/* The same for the port of the load/store unit, though loads that hit need none otherwise. */
static void slow_loads_hold_their_port(void **state)
{
    for (u32 n = 64; n <= 65; n++)
        assert_int_equal(more(LOADS, "slow.bus", n, NULL), MORE * n);
    assert_int_equal(more(LOADS, "slow.bus", 100, "lsu.write_back_ports=2"), MORE * 100 / 2);
}

/* A register that is spread over eight banks conflicts with one that shares one of them. */
static void registers_are_spread_over_banks(void **state)
{
    const u64 plain = more(CHAIN, "slow.read", 1, NULL);
    assert_int_equal(more(CHAIN, "slow.apart", 8, NULL), plain);
    assert_int_equal(more(CHAIN, "slow.apart", 7, NULL), plain + MORE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_writes_hold_their_bank),
        cmocka_unit_test(slow_reads_hold_their_bank),
        cmocka_unit_test(slow_writes_wait_for_their_bank),
        cmocka_unit_test(slow_results_hold_their_bus),
        cmocka_unit_test(slow_loads_hold_their_port),
        cmocka_unit_test(registers_are_spread_over_banks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
