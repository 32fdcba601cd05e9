/* The area of machines: sums, shares, what mechanisms add, how it follows parameters. */
#include "base/types.h"
#include "heddle/heddle.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

static f64 number(const json_t *row, const char *name)
{
    const json_t *value = json_object_get(row, name);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static const char *text(const json_t *row, const char *name)
{
    return json_string_value(json_object_get(row, name));
}

/* `changes`: assignments with blanks between them. */
static json_t *area_of(const char *machine, const char *changes)
{
    struct hd_error error = {0};
    struct hd_config *config = hd_config_create();
    assert_true(hd_config_load(config, machine, &error));
    char copy[256], *rest = copy, *one;
    strncpy(copy, changes, sizeof copy - 1);
    copy[sizeof copy - 1] = 0;
    while ((one = strtok_r(rest, " ", &rest)))
        if (!hd_config_set(config, one, &error))
            fail_msg("%s: %s", one, error.message);
    char *json = hd_area_json(config);
    json_t *area = json_loads(json, 0, NULL);
    assert_non_null(area);
    hd_free(json);
    hd_config_destroy(config);
    return area;
}

static const json_t *row_of(const json_t *area, const char *unit, const char *name)
{
    const json_t *rows = json_object_get(area, "rows");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (!strcmp(text(row, "unit"), unit) && !strcmp(text(row, "name"), name))
            return row;
    }
    fail_msg("no %s.%s", unit, name);
    return NULL;
}

static bool is_null(const json_t *row, const char *name)
{
    return json_is_null(json_object_get(row, name));
}

/* ---- sums ---- */

/* Exactly: the same additions in the same order. */
static void sums_are_of_rows(const json_t *area)
{
    const json_t *rows = json_object_get(area, "rows"), *owners = json_object_get(area, "owners");
    const json_t *chip = json_object_get(area, "chip");
    f64 all = 0, leakage = 0, bits = 0, share = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        f64 copies = number(row, "copies");
        all += copies * number(row, "area_um2");
        leakage += copies * number(row, "leakage_mw");
        bits += number(row, "total_bits");
        share += number(row, "chip_percent");
    }
    assert_true(all == number(chip, "area_um2"));
    assert_true(leakage == number(chip, "leakage_mw"));
    assert_true(bits == number(chip, "bits"));
    assert_true(fabs(share - 100) < 1e-9);
    for (size_t o = 0; o < json_array_size(owners); o++) {
        const json_t *owner = json_array_get(owners, o);
        f64 own = 0, own_share = 0;
        for (size_t i = 0; i < json_array_size(rows); i++) {
            const json_t *row = json_array_get(rows, i);
            if (strcmp(text(row, "owner"), text(owner, "owner")) != 0)
                continue;
            assert_true(number(row, "copies") == number(owner, "copies"));
            own += number(row, "area_um2");
            own_share += number(row, "owner_percent");
        }
        assert_true(own == number(owner, "area_um2"));
        assert_true(fabs(own_share - 100) < 1e-9);
    }
}

static void row_is_sound(const char *machine, const json_t *row)
{
    bool logic = !strcmp(text(row, "kind"), "logic"), inside = !strcmp(text(row, "kind"), "inside");
    bool searched = !strcmp(text(row, "kind"), "searched");
    f64 area = number(row, "area_um2"), per_bit = number(row, "entries") * number(row, "bits");
    bool good = isfinite(area) && (inside ? area == 0 : area > 0);
    good &= logic == (per_bit == 0) && text(row, "source") && text(row, "help");
    if (!logic && !inside) {
        good &= number(row, "leakage_mw") > 0 && number(row, "read_pj") > 0;
        good &= number(row, "delay_ps") > 0 && number(row, "write_pj") > 0;
        good &= searched == (number(row, "search_pj") > 0);
        good &= number(row, "banks") <= number(row, "total_bits");
        good &= number(row, "access_bits") <= per_bit;
    }
    if (!good)
        fail_msg("%s: %s.%s", machine, text(row, "unit"), text(row, "name"));
}

static void every_machine(void **state)
{
    char *names = hd_machines_json();
    json_t *machines = json_loads(names, 0, NULL);
    assert_true(json_array_size(machines) > 5);
    for (size_t i = 0; i < json_array_size(machines); i++) {
        const char *name = text(json_array_get(machines, i), "name");
        json_t *area = area_of(name, "");
        const json_t *rows = json_object_get(area, "rows");
        for (size_t r = 0; r < json_array_size(rows); r++)
            row_is_sound(name, json_array_get(rows, r));
        sums_are_of_rows(area);
        assert_int_equal(json_array_size(json_object_get(area, "mechanisms")), 0);
        f64 mm2 = number(json_object_get(area, "chip"), "area_um2") / 1e6;
        print_message("%-12s %7.1f mm2\n", name, mm2);
        assert_true(mm2 > 10 && mm2 < 1000);
        json_decref(area);
    }
    json_decref(machines);
    hd_free(names);
}

/* ---- it follows from the machine ---- */

static void shapes_follow_parameters(void **state)
{
    json_t *area = area_of("gtx480", "");
    const json_t *row = row_of(area, "collect", "registers");
    assert_true(number(row, "banks") == 16 && number(row, "access_bits") == 1024);
    assert_string_equal(text(row_of(area, "l1d", "mshrs"), "kind"), "searched");
    assert_string_equal(text(row_of(area, "l1d", "tags"), "kind"), "compared");
    assert_true(number(row_of(area, "l1d", "tags"), "access_bits") == 4 * 19);
    assert_true(number(row_of(area, "l2", "data"), "access_bits") == 256);
    assert_string_equal(text(row_of(area, "units", "sp"), "kind"), "inside");
    assert_string_equal(text(row_of(area, "dram", "queue"), "kind"), "searched");
    f64 file = number(row, "area_um2");
    json_t *other = area_of("gtx480", "core.registers=65536 dram.policy=fcfs");
    f64 twice = number(row_of(other, "collect", "registers"), "area_um2");
    assert_true(twice > 1.3 * file && twice < 2.1 * file);
    assert_string_equal(text(row_of(other, "dram", "queue"), "kind"), "array");
    json_decref(other);
    other = area_of("gtx480", "units.sp_lanes=16");
    f64 lanes = number(row_of(area, "units", "fp32_lanes"), "area_um2");
    assert_true(number(row_of(other, "units", "fp32_lanes"), "area_um2") == lanes / 2);
    json_decref(other);
    /* 64 lanes of 0.045 mm2 at 32 nm. */
    assert_true(fabs(lanes - 64 * 0.045e6 * 40 * 40 / (32 * 32)) < 1e-3);
    json_decref(area);
}

/* Units that take an operation every n cycles are a n-th of their lanes; wires by hand. */
static void logic_follows_parameters(void **state)
{
    json_t *area = area_of("gtx480", "energy.nm=32");
    f64 lane = number(row_of(area, "units", "fp32_lanes"), "area_um2") / 64;
    f64 sfu = number(row_of(area, "units", "sfu_lanes"), "area_um2"),
        fp64 = number(row_of(area, "units", "fp64_lanes"), "area_um2");
    assert_true(fabs(lane - 0.045e6) < 1e-6);
    assert_true(fabs(sfu - 32 / 8 * lane) < 1e-6); /* 32 lanes, an operation in 8 cycles */
    assert_true(fabs(fp64 - 32 / 8 * lane * 217 / 74.6) < 1e-6);
    /* 15 cores to 12 slices and back, 320 bits, 4 x 32 nm. */
    f64 wire = 4 * 0.032, wires = 2 * (15 * 320 * wire) * (12 * 320 * wire);
    assert_true(fabs(number(row_of(area, "network", "crossbar"), "area_um2") - wires) < 1e-6);
    assert_true(number(row_of(area, "network", "crossbar"), "leakage_mw") == 0);
    /* MIAOW's stage, for 48 warps of 40. */
    assert_true(fabs(number(row_of(area, "issue", "logic"), "area_um2") - 0.43e6 * 48 / 40) < 1e-6);
    json_decref(area);
    /* What the user says of a lane is used, as in the energy of a run. */
    area = area_of("gtx480", "energy.lane_mw=10");
    assert_true(fabs(number(row_of(area, "units", "fp32_lanes"), "leakage_mw") - 640) < 1e-9);
    json_decref(area);
}

static void technologies_scale(void **state)
{
    json_t *old = area_of("gtx285", "energy.nm=45"), *new = area_of("gtx285", "energy.nm=28");
    f64 a = number(json_object_get(old, "chip"), "area_um2"),
        b = number(json_object_get(new, "chip"), "area_um2");
    assert_true(fabs(b / a - 28.0 * 28 / (45 * 45)) < 1e-9);
    assert_true(fabs(number(json_object_get(new, "technology"), "volts") - 0.86) < 1e-12);
    json_t *hot = area_of("gtx285", "energy.nm=45 energy.celsius=100");
    assert_true(number(json_object_get(hot, "chip"), "leakage_mw") >
                number(json_object_get(old, "chip"), "leakage_mw"));
    assert_true(number(json_object_get(hot, "chip"), "area_um2") == a);
    json_decref(old);
    json_decref(new);
    json_decref(hot);
}

/* ---- published costs ---- */

static void tables_are_used(void **state)
{
    json_t *area = area_of("tesla16", "energy.nm=32 energy.table=lashgar");
    static const struct {
        const char *unit, *name;
        f64 um2, mw, pj, ps;
    } printed[] = {{"icache", "tags", 229, 0.03, 0.13, 115.94},
                   {"icache", "data", 18204, 1.78, 4.30, 221.20},
                   {"fetch", "buffer", 2600, 0.16, 1.00, 137.59},
                   {"issue", "scoreboard", 6921, 0.24, 1.57, 162.17},
                   {"collect", "operands", 24173, 0.53, 4.16, 174.05}};
    for (u32 i = 0; i < ARRAY_LEN(printed); i++) {
        const json_t *row = row_of(area, printed[i].unit, printed[i].name);
        assert_true(number(row, "area_um2") == printed[i].um2);
        assert_true(number(row, "leakage_mw") == printed[i].mw);
        assert_true(number(row, "read_pj") == printed[i].pj);
        assert_true(number(row, "write_pj") == printed[i].pj);
        assert_true(number(row, "delay_ps") == printed[i].ps);
        assert_string_equal(text(row, "source"), "lashgar, table 1");
    }
    assert_string_equal(text(row_of(area, "fetch", "pc"), "source"), "model");
    json_decref(area);
    area = area_of("gtx285", "energy.table=xiang");
    const json_t *file = row_of(area, "collect", "registers");
    assert_true(fabs(number(file, "area_um2") - 2.44e6) < 1);
    /* A lane's 2.46 pJ, 32 times. */
    assert_true(fabs(number(file, "read_pj") - 32 * 2.46) < 1e-9);
    json_decref(area);
}

/* ---- mechanisms ---- */

static void mechanisms_add(void **state)
{
    const char *with = "energy.nm=32 energy.table=lashgar filter_cache.on=true";
    json_t *plain = area_of("tesla16", "energy.nm=32 energy.table=lashgar"),
           *area = area_of("tesla16", with);
    const json_t *mechanisms = json_object_get(area, "mechanisms");
    assert_int_equal(json_array_size(mechanisms), 1);
    const json_t *filter = json_array_get(mechanisms, 0), *core = json_object_get(filter, "core");
    assert_string_equal(text(filter, "name"), "filter_cache");
    assert_true(fabs(number(core, "area_um2") - (266 + 2229)) < 1e-9);
    assert_true(fabs(number(core, "leakage_mw") - (0.03 + 0.11)) < 1e-12);
    assert_true(fabs(number(filter, "area_um2") - 16 * (266 + 2229)) < 1e-6);
    assert_string_equal(text(row_of(area, "filter_cache", "tags"), "mechanism"), "filter_cache");
    assert_true(is_null(row_of(area, "icache", "tags"), "mechanism"));
    /* What it adds is measured by the machine without it. */
    f64 chip = number(json_object_get(plain, "chip"), "area_um2");
    const json_t *adds = json_object_get(filter, "adds_percent");
    assert_true(fabs(number(json_object_get(adds, "chip"), "area") -
                     100 * number(filter, "area_um2") / chip) < 1e-9);
    assert_true(fabs(number(json_object_get(area, "chip"), "area_um2") - chip -
                     number(filter, "area_um2")) < 1e-3);
    f64 front = number(json_object_get(plain, "front_end"), "area_um2");
    assert_true(front == number(json_object_get(area, "front_end"), "area_um2"));
    assert_true(fabs(number(json_object_get(adds, "front_end"), "area") -
                     100 * (266 + 2229) / front) < 1e-9);
    sums_are_of_rows(area);
    json_decref(plain);
    json_decref(area);
    /* One that only looks adds nothing, and changes nothing of what the other adds. */
    area = area_of("tesla16", "filter_cache.on=true fetch_locality.on=true");
    mechanisms = json_object_get(area, "mechanisms");
    assert_int_equal(json_array_size(mechanisms), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *one = json_array_get(mechanisms, i);
        bool adds_some = !strcmp(text(one, "name"), "filter_cache");
        const json_t *to = json_object_get(json_object_get(one, "adds_percent"), "front_end");
        assert_true((number(one, "area_um2") > 0) == adds_some);
        assert_true((number(to, "area") > 0) == adds_some);
        if (adds_some)
            assert_true(fabs(number(to, "area") - 100 * (266 + 2229) / front) < 1e-9);
    }
    json_decref(area);
    /* 16 entries have their own published rows; 64 have none. */
    area = area_of("tesla16", "energy.nm=32 energy.table=lashgar filter_cache.on=true "
                              "filter_cache.entries=16");
    assert_true(number(row_of(area, "filter_cache", "data"), "area_um2") == 1337);
    json_decref(area);
    area = area_of("tesla16", "energy.nm=32 energy.table=lashgar filter_cache.on=true "
                              "filter_cache.entries=64");
    assert_string_equal(text(row_of(area, "filter_cache", "data"), "source"), "model");
    json_decref(area);
}

/* What a mechanism adds to a chip is the difference between the chip with it and without. */
static void adds_the_difference(const char *machine, const char *mechanism)
{
    json_t *without = area_of(machine, ""), *with = area_of(machine, mechanism);
    const json_t *one = json_array_get(json_object_get(with, "mechanisms"), 0);
    const json_t *adds = json_object_get(json_object_get(one, "adds_percent"), "chip");
    const json_t *before = json_object_get(without, "chip"), *after = json_object_get(with, "chip");
    f64 area = number(after, "area_um2") / number(before, "area_um2") - 1,
        leakage = number(after, "leakage_mw") / number(before, "leakage_mw") - 1;
    assert_true(fabs(leakage) > 1e-3);
    assert_true(fabs(number(adds, "area") - 100 * area) < 1e-6);
    assert_true(fabs(number(adds, "leakage") - 100 * leakage) < 1e-6);
    json_decref(without);
    json_decref(with);
}

/* Mechanisms that replace elements, store them in other cells, or lower their supply. */
static void changes_add_the_difference(void **state)
{
    adds_the_difference("gtx480", "less.on=true");
    adds_the_difference("gtx480", "gr_guard.on=true");
    adds_the_difference("fermi15", "loscache.on=true");
}

static void residuals_are_told(void **state)
{
    char *json = hd_area_residuals();
    json_t *rows = json_loads(json, 0, NULL);
    assert_true(json_array_size(rows) >= 19);
    const json_t *tag = json_array_get(rows, 2), *area = json_object_get(tag, "area_um2");
    assert_string_equal(text(tag, "what"), "I-Cache tag");
    assert_true(number(area, "published") == 229);
    assert_true(fabs(number(area, "residual_percent") - 100 * (number(area, "model") / 229 - 1)) <
                1e-9);
    assert_true(is_null(json_array_get(rows, 0), "delay_ps"));
    bool resistive = false;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i), *read = json_object_get(row, "read_pj");
        if (strncmp(text(row, "what"), "STT-RAM", 7) != 0)
            continue;
        resistive = true;
        assert_null(json_object_get(read, "model"));
    }
    assert_true(resistive);
    json_decref(rows);
    hd_free(json);
    assert_null(hd_area_json(NULL));
}

/* miaow: 1,024 registers, 40 warps. 10 levels choose a busy bit, or log2(40 x 256) = 13.32; an AND of 4
 * has 2; two arbiters 2 x log2(40) and 2 x 2; choosing the warp's instruction log2(40) = 5.32. */
static void issue_path_is_that_of_its_stage(void **state)
{
    json_t *area = area_of("miaow", "tbc.on=true");
    const json_t *path = json_object_get(area, "issue_path");
    const f64 warps = log2(40), levels = 10 + 2 + 2 * warps + 4 + warps;
    assert_true(fabs(number(path, "levels") - levels) < 1e-9);
    assert_true(fabs(number(path, "by_offset") - (levels + warps + 8 - 10)) < 1e-9);
    assert_true(fabs(number(path, "grows_percent") - 100 * (warps - 2) / levels) < 1e-9);
    assert_true(number(row_of(area, "tbc", "busy"), "total_bits") == 40 * 256);
    assert_true(number(row_of(area, "tbc", "homes"), "total_bits") == 40 * 64 * 6);
    json_decref(area);
    area = area_of("gtx480", "tbc.on=true");
    assert_null(json_object_get(area, "issue_path"));
    json_decref(area);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_machine),
        cmocka_unit_test(shapes_follow_parameters),
        cmocka_unit_test(logic_follows_parameters),
        cmocka_unit_test(technologies_scale),
        cmocka_unit_test(tables_are_used),
        cmocka_unit_test(mechanisms_add),
        cmocka_unit_test(changes_add_the_difference),
        cmocka_unit_test(residuals_are_told),
        cmocka_unit_test(issue_path_is_that_of_its_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
