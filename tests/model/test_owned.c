/*
 * Costs that mechanisms own: elements that they replace, cells of another kind, supplies and power
 * of their own. Energies are computed by hand; sums stay exact; off changes nothing.
 */
#include "mech/mech.h"

static const struct mechanism *const available[] = {&swap_mechanism, &gate_mechanism,
                                                    &low_mechanism, NULL};
#define RIG_MECHANISMS available
#include "energy_rig.h"

#define REGISTERS "collect.registers"
#define PLAIN "ptx.optimize=false energy.nm=40" /* no mechanism, in the technology of gtx285 */

/* Of each lane: seven words read and four written, by four instructions that write a register. */
static const char counted[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    ".reg .b32 %r<8>;\n"
    "mov.u32 %r1, %tid.x;\n"
    "add.u32 %r2, %r1, %r1;\n"
    "mul.lo.u32 %r3, %r2, %r1;\n"
    "fma.rn.f32 %r4, %r3, %r2, %r1;\n"
    "ret;\n}\n";

enum {
    ALL_LANES = 2 * 70, /* of launch_counted */
    WARPS = 2 * 3,
    READS = 7,
    WRITES = 4
};

struct counted_run {
    struct rig rig;
    json_t *stats, *costs;
    const json_t *all; /* of the launch */
};

static struct counted_run run_counted(const char *settings)
{
    struct counted_run run = {.rig = open_rig("gtx285", settings, counted),
                              .costs = costs_of("gtx285", settings)};
    launch(&run.rig, 2, 70);
    run.stats = stats_of(&run.rig);
    run.all = launch_stats(run.stats, 0);
    return run;
}

static void drop(struct counted_run *run)
{
    json_decref(run->stats);
    json_decref(run->costs);
    close_rig(&run->rig);
}

static u64 picoseconds(const struct counted_run *run)
{
    return (u64)json_integer_value(json_object_get(run->all, "timing.picoseconds"));
}

/* A row of a list of hd_energy_json or hd_area_json whose `field` is `value`. */
static const json_t *row_of(const json_t *rows, const char *field, const char *value)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        const char *text = json_string_value(json_object_get(row, field));
        if (text && !strcmp(text, value))
            return row;
    }
    fail_msg("no row has %s %s", field, value);
    return NULL;
}

/* ---- sums ---- */

/* Dynamic energy is the sum of the events' rows, leakage that of the leakage rows: exactly, and
 * within a rounding of each part. */
static void check_rows(const struct counted_run *run)
{
    size_t i;
    json_t *row;
    u64 dynamic = 0;
    f64 leaked = 0;
    json_array_foreach(json_object_get(run->costs, "events"), i, row)
    {
        const json_t *counter =
            json_object_get(run->all, json_string_value(json_object_get(row, "counter")));
        assert_true(json_is_integer(counter));
        dynamic += (u64)rint((f64)json_integer_value(counter) *
                             json_real_value(json_object_get(row, "pj")) * 1000);
    }
    assert_int_equal(dynamic, fj(run->all, "energy.dynamic_pj"));
    json_array_foreach(json_object_get(run->costs, "leakage"), i, row)
    {
        const char *powered = json_string_value(json_object_get(row, "powered_by"));
        const f64 rate = json_real_value(json_object_get(row, "rate"));
        f64 all = json_real_value(json_object_get(row, "mw")) / (rate > 0 ? rate : 1) *
                  (f64)json_integer_value(json_object_get(row, "copies")) * (f64)picoseconds(run);
        if (powered)
            all = all * json_real_value(json_object_get(row, "off")) +
                  (f64)json_integer_value(json_object_get(run->all, powered)) *
                      json_real_value(json_object_get(row, "fj_per_count"));
        leaked += all;
    }
    assert_true(fabs(leaked - (f64)fj(run->all, "energy.static_pj")) < ENERGY_PARTS);
    check_parts(run->all);
}

static const char *const all_settings[] = {
    PLAIN,
    PLAIN " swap.on=true",
    PLAIN " swap.on=true swap.counts=true",
    PLAIN " gate.on=true gate.off=0.3",
    PLAIN " low.on=true low.registers=0.7 low.rate=0.8 low.units=0.8",
    PLAIN " gate.on=true low.on=true low.registers=0.7 low.rate=0.5",
};

static void test_rows_add_up(void **state)
{
    for (u32 i = 0; i < ARRAY_LEN(all_settings); i++) {
        struct counted_run run = run_counted(all_settings[i]);
        check_rows(&run);
        drop(&run);
    }
}

/* Off: the statistics of a configuration that does not know them. */
static void test_off(void **state)
{
    struct counted_run here = run_counted(PLAIN);
    const char *const names[] = {"\"swap.", "\"gate.", "\"low.", ".cells", "powered"};
    char *text = json_dumps(json_object_get(here.stats, "launches"), 0);
    for (u32 i = 0; i < ARRAY_LEN(names); i++)
        assert_null(strstr(text, names[i]));
    assert_int_equal(fj(here.all, "energy.parts.registers.dynamic_pj"),
                     ALL_LANES * READS * 2460 + ALL_LANES * WRITES * 5820);
    free(text);
    drop(&here);
}

/* ---- another cell ---- */

static void test_replaced(void **state)
{
    struct counted_run run = run_counted(PLAIN " swap.on=true");
    /* 82 pJ and 529 pJ for the 32 lanes of a register, 3.21 mW in each of 30 cores */
    assert_int_equal(fj(run.all, "energy.parts.registers.dynamic_pj"), 0);
    assert_int_equal(fj(run.all, "energy.parts.registers.static_pj"), 0);
    assert_int_equal(fj(run.all, "energy.parts.cells.dynamic_pj"),
                     (u64)rint(ALL_LANES * READS * 82e3 / 32) +
                         (u64)rint(ALL_LANES * WRITES * 529e3 / 32));
    assert_int_equal(fj(run.all, "energy.parts.cells.static_pj"),
                     (u64)rint(3.21 * 30 * (f64)picoseconds(&run)));
    /* accesses still belong to instructions: what does not is what it is without the mechanism */
    struct counted_run plain = run_counted(PLAIN);
    assert_int_equal(fj(run.all, "energy.unattributed_pj") - fj(run.all, "energy.static_pj"),
                     fj(plain.all, "energy.unattributed_pj") - fj(plain.all, "energy.static_pj"));
    drop(&plain);
    const json_t *leak = row_of(json_object_get(run.costs, "leakage"), "what", REGISTERS);
    assert_string_equal(json_string_value(json_object_get(leak, "replaced_by")), "swap");
    assert_true(json_real_value(json_object_get(leak, "mw")) == 0);
    const json_t *event = row_of(json_object_get(run.costs, "events"), "array", REGISTERS);
    assert_string_equal(json_string_value(json_object_get(event, "replaced_by")), "swap");
    drop(&run);
}

static void test_replaced_and_counted(void **state)
{
    struct counted_run run =
        run_counted(PLAIN " swap.on=true swap.counts=true swap.leakage_mw=7 energy.volts=0.9");
    const f64 volts = 0.9 / technology_volts(40);
    assert_int_equal(json_integer_value(json_object_get(run.all, "swap.writes")), WARPS * WRITES);
    assert_int_equal(fj(run.all, "energy.parts.counted_cells.dynamic_pj"),
                     (u64)rint(WARPS * WRITES * (529 * (volts * volts)) * 1000));
    assert_int_equal(fj(run.all, "energy.parts.registers.dynamic_pj"), 0);
    /* what a parameter says is of the machine as it is */
    assert_int_equal(fj(run.all, "energy.parts.counted_cells.static_pj"),
                     (u64)rint(7.0 * 30 * (f64)picoseconds(&run)));
    drop(&run);
    json_t *costs = costs_of("gtx285", PLAIN " swap.on=true swap.read_pj=64");
    expect(pj_of(costs, "collect.lane_reads", "read", "swap.cells"), 2);
    json_decref(costs);
}

/* Numbers of 40 nm on a machine of 28. */
static void test_cell_scales(void **state)
{
    json_t *costs = costs_of("gtx285", "swap.on=true energy.nm=28 energy.volts=0.8");
    const f64 volts = 0.8 / technology_volts(40);
    expect(pj_of(costs, "collect.lane_writes", "write", "swap.cells"),
           529.0 / 32 * 28 / 40 * volts * volts);
    const struct technology from = {40, 0, 67}, to = {28, 0.8, 67};
    expect(mw_of(costs, "swap.cells"), 3.21 * scale_leakage(&from, &to));
    json_decref(costs);
}

/* ---- power ---- */

static void test_powered(void **state)
{
    struct counted_run plain = run_counted(PLAIN);
    struct counted_run run = run_counted(PLAIN " gate.on=true gate.share=0.25 gate.off=0.1");
    const u64 time = picoseconds(&plain);
    const u64 counted_ps = (u64)json_integer_value(json_object_get(run.all, "gate.powered"));
    enum {
        CORES = 30,
        ENTRIES = 16384, /* words of the register file */
        MW = 90
    };
    assert_int_equal(picoseconds(&run), time); /* it changes no timing */
    assert_int_equal(counted_ps, (u64)CORES * (ENTRIES / 4) * time);
    const u64 always = (u64)rint(MW * CORES * 0.1 * (f64)time);
    const u64 sometimes = (u64)rint((f64)counted_ps * (MW * 0.9 / ENTRIES));
    assert_int_equal(fj(run.all, "energy.parts.powered_registers.static_pj"), always + sometimes);
    assert_int_equal(fj(run.all, "energy.parts.registers.static_pj"), 0);
    assert_int_equal(fj(run.all, "energy.parts.registers.dynamic_pj"),
                     fj(plain.all, "energy.parts.registers.dynamic_pj"));
    drop(&plain);
    drop(&run);
}

/* All of it powered all the time leaks what it leaks without the mechanism. */
static void test_powered_always(void **state)
{
    struct counted_run plain = run_counted(PLAIN);
    struct counted_run run = run_counted(PLAIN " gate.on=true gate.share=1");
    assert_int_equal(fj(run.all, "energy.parts.powered_registers.static_pj"),
                     fj(plain.all, "energy.parts.registers.static_pj"));
    drop(&plain);
    drop(&run);
}

static void take_row(void *user, const void *data, size_t bytes)
{
    json_array_append_new(((struct rig *)user)->series, json_loadb(data, bytes, 0, NULL));
}

/* Samples have the leakage of their own time: the counter is brought up to date for each. */
static void test_powered_samples(void **state)
{
    static const char key[] = "energy.parts.powered_registers.static_pj";
    struct rig rig = open_rig("gtx285", PLAIN " gate.on=true", counted);
    struct hd_observe what = {.interval = 10, .series = take_row, .series_user = &rig};
    assert_true(hd_observe(rig.device, &what, NULL));
    launch(&rig, BLOCKS, THREADS);
    assert_true(hd_observe(rig.device, NULL, NULL));
    json_t *stats = stats_of(&rig), *row;
    const u64 count = json_array_size(rig.series);
    u64 sum = 0, least = UINT64_MAX;
    size_t i;
    assert_true(count > 4);
    json_array_foreach(rig.series, i, row)
    {
        sum += fj(row, key);
        least = MIN(least, fj(row, key));
    }
    assert_int_equal(sum, fj(launch_stats(stats, 0), key));
    assert_true(least > 0);
    json_decref(stats);
    close_rig(&rig);
}

/* ---- supply ---- */

static void test_supply(void **state)
{
    struct counted_run plain = run_counted(PLAIN);
    struct counted_run run =
        run_counted(PLAIN " low.on=true low.registers=0.72 low.rate=0.5 low.units=0.48");
    const f64 half = 0.48 / technology_volts(40); /* nearly */
    const struct technology nominal = {40, 0, 67}, low = {40, 0.72, 67};
    const f64 ratio = 0.72 / technology_volts(40);
    assert_int_equal(fj(run.all, "energy.parts.registers.dynamic_pj"),
                     (u64)rint(ALL_LANES * READS * (2.46 * (ratio * ratio)) * 1000) +
                         (u64)rint(ALL_LANES * WRITES * (5.82 * (ratio * ratio)) * 1000));
    /* half the rate: the same leakage power for twice the time */
    const f64 mw = 90 * scale_leakage(&nominal, &low);
    assert_true(mw < 90 * ratio); /* it falls faster than the voltage: so does the current */
    assert_int_equal(fj(run.all, "energy.parts.registers.static_pj"),
                     (u64)rint(mw / 0.5 * 30 * (f64)picoseconds(&plain)));
    /* all of the units */
    assert_int_equal(
        fj(run.all, "energy.parts.fp32_units.dynamic_pj"),
        (u64)rint(ALL_LANES *
                  (pj_of(plain.costs, "units.fp32_ops", "logic", NULL) * (half * half)) * 1000));
    assert_true(fj(run.all, "energy.parts.fp32_units.static_pj") <
                fj(plain.all, "energy.parts.fp32_units.static_pj") / 2);
    /* and nothing else */
    assert_int_equal(fj(run.all, "energy.parts.control.dynamic_pj"),
                     fj(plain.all, "energy.parts.control.dynamic_pj"));
    assert_int_equal(fj(run.all, "energy.parts.scheduler.static_pj"),
                     fj(plain.all, "energy.parts.scheduler.static_pj"));
    assert_int_equal(picoseconds(&run), picoseconds(&plain));
    drop(&plain);
    drop(&run);
}

/* ---- area and storage ---- */

static json_t *area_of(const char *settings)
{
    struct hd_config *config = config_of("gtx285", settings);
    char *text = hd_area_json(config);
    json_t *json = json_loads(text, 0, NULL);
    hd_free(text);
    hd_config_destroy(config);
    return json;
}

static const json_t *area_row(const json_t *area, const char *unit, const char *name)
{
    size_t i;
    json_t *row;
    json_array_foreach(
        json_object_get(area, "rows"), i,
        row) if (!strcmp(json_string_value(json_object_get(row, "unit")), unit) &&
                 !strcmp(json_string_value(json_object_get(row, "name")), name)) return row;
    fail_msg("no row %s.%s", unit, name);
    return NULL;
}

static f64 number(const json_t *row, const char *name)
{
    return json_number_value(json_object_get(row, name));
}

static void test_area(void **state)
{
    json_t *plain = area_of(PLAIN), *with = area_of(PLAIN " swap.on=true");
    const json_t *gone = area_row(with, "collect", "registers");
    const json_t *cells = area_row(with, "swap", "cells");
    const json_t *before = area_row(plain, "collect", "registers");
    assert_string_equal(json_string_value(json_object_get(gone, "kind")), "replaced");
    assert_string_equal(json_string_value(json_object_get(gone, "source")), "replaced by swap");
    assert_true(number(gone, "area_um2") == 0 && number(gone, "total_bits") == 0);
    assert_string_equal(json_string_value(json_object_get(cells, "kind")), "STT-RAM");
    assert_true(number(cells, "area_um2") == 1e5 && number(cells, "delay_ps") == 5124);
    const json_t *old = json_object_get(plain, "chip"), *chip = json_object_get(with, "chip");
    expect(number(old, "area_um2") - number(chip, "area_um2"),
           30 * (number(before, "area_um2") - 1e5));
    assert_true(number(old, "bits") - number(chip, "bits") == 30 * (16384 * 32.0 - 1024 * 1024.0));
    const json_t *mechanism = json_array_get(json_object_get(with, "mechanisms"), 0);
    const json_t *adds = json_object_get(json_object_get(mechanism, "adds_percent"), "chip");
    assert_true(fabs(number(adds, "area") -
                     100 * (number(chip, "area_um2") / number(old, "area_um2") - 1)) < 1e-9);
    json_decref(plain);
    json_decref(with);
}

static void test_area_supply(void **state)
{
    json_t *plain = area_of(PLAIN), *with = area_of(PLAIN " low.on=true low.registers=0.72");
    const json_t *low = area_row(with, "collect", "registers");
    const json_t *before = area_row(plain, "collect", "registers");
    const f64 ratio = 0.72 / technology_volts(40);
    expect(number(low, "read_pj"), number(before, "read_pj") * ratio * ratio);
    assert_true(number(low, "volts") == 0.72 && number(low, "rate") == 1);
    assert_true(number(low, "delay_ps") > number(before, "delay_ps"));
    assert_null(json_object_get(area_row(with, "units", "fp32_lanes"), "volts"));
    json_decref(plain);
    json_decref(with);
}

static void test_storage(void **state)
{
    struct hd_config *config = config_of("gtx285", "swap.on=true");
    char *text = hd_config_storage(config);
    json_t *storage = json_loads(text, 0, NULL);
    const json_t *row = row_of(json_object_get(storage, "rows"), "name", "registers");
    assert_string_equal(json_string_value(json_object_get(row, "replaced_by")), "swap");
    assert_int_equal(json_integer_value(json_object_get(row, "total_bits")), 0);
    json_decref(storage);
    hd_free(text);
    hd_config_destroy(config);
}

/* ---- what is refused ---- */

static void refused(const struct mechanism *const *list, const char *settings, const char *says)
{
    struct hd_error error = {0};
    struct hd_config *config = config_with(list);
    char *copy = strdup(settings), *rest = copy;
    for (char *one; (one = strtok_r(rest, " ", &rest));)
        assert_true(hd_config_set(config, one, &error));
    struct hd_device *device = hd_device_open(config, &error);
    if (device || !strstr(error.message, says))
        fail_msg("%s: '%s' does not say '%s'", settings, error.message, says);
    free(copy);
    hd_config_destroy(config);
}

static void test_combinations(void **state)
{
    refused(available, "swap.on=true gate.on=true",
            "mechanisms swap and gate cannot be combined: "
            "both change the costs of collect.registers");
    refused(available, "swap.on=true low.on=true", "both change the costs of collect.registers");
    refused((const struct mechanism *const[]){&gate_mechanism, &swap_mechanism, NULL},
            "swap.on=true gate.on=true", "mechanisms gate and swap cannot be combined");
    /* two that replace the same element, and two that supply a unit and one of its elements */
    struct mechanism other = gate_mechanism;
    other.powers = NULL;
    static const struct energy_replace always[] = {{REGISTERS}, {0}};
    other.replaces = always;
    refused((const struct mechanism *const[]){&swap_mechanism, &other, NULL},
            "swap.on=true gate.on=true", "both change the costs of collect.registers");
    other.replaces = NULL;
    static const struct energy_supply whole[] = {{"collect", "share"}, {0}};
    other.supplies = whole;
    refused((const struct mechanism *const[]){&low_mechanism, &other, NULL},
            "low.on=true gate.on=true", "both change the costs of collect");
}

static void test_wrong_lists(void **state)
{
    struct mechanism wrong = gate_mechanism;
    const struct mechanism *const list[] = {&wrong, NULL};
    static const struct energy_power no_counter[] = {{REGISTERS, "nothing"}, {0}};
    wrong.powers = no_counter;
    refused(list, "gate.on=true", "the counter 'nothing', which does not exist");
    static const struct energy_power no_param[] = {{REGISTERS, "powered", "nothing"}, {0}};
    wrong.powers = no_param;
    refused(list, "gate.on=true", "the parameter 'nothing', which does not exist");
    wrong.powers = NULL;
    static const struct energy_supply no_volts[] = {{REGISTERS, "nothing"}, {0}};
    wrong.supplies = no_volts;
    refused(list, "gate.on=true", "the parameter 'nothing', which does not exist");
    wrong.supplies = NULL;
    static const struct energy_replace no_cells[] = {{REGISTERS, "gate.cells"}, {0}};
    wrong.replaces = no_cells;
    refused(list, "gate.on=true", "replaces collect.registers by 'gate.cells', which is not in");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_add_up),    cmocka_unit_test(test_off),
        cmocka_unit_test(test_replaced),       cmocka_unit_test(test_replaced_and_counted),
        cmocka_unit_test(test_cell_scales),    cmocka_unit_test(test_powered),
        cmocka_unit_test(test_powered_always), cmocka_unit_test(test_powered_samples),
        cmocka_unit_test(test_supply),         cmocka_unit_test(test_area),
        cmocka_unit_test(test_area_supply),    cmocka_unit_test(test_storage),
        cmocka_unit_test(test_combinations),   cmocka_unit_test(test_wrong_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
