/*
 * The maps of a chip: what is written is read again, nothing else is accepted, their hash depends on
 * what a chip does and not on its name, and each core of a device gets its part.
 */
#include "chip/maps.h"
#include "gpu/device.h"
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

extern const struct mechanism reader_mechanism;
static const struct mechanism *const available[] = {&reader_mechanism, NULL};

enum {
    CORES = 2,
    BANKS = 16,
    ENTRIES = 2,
    WIDTH = 32,
    FILE_ENTRIES = BANKS * ENTRIES,
    FILE_WORDS = FILE_ENTRIES * WIDTH
};

static u16 delays[CORES][FILE_WORDS];
static u32 first[CORES][FILE_ENTRIES + 1];
/* of entry 3 of core 0 and entry 5 of core 1: V_min of 0.75, 0.65625, 0.625 and 0.5625 V */
static struct weak_cell cells[CORES][3] = {{{1000 | CELL_PREFERS, 24576}, {7, 21504}, {8, 20480}},
                                           {{31, 24576}, {32, 18432}}};
static struct chip_core cores[CORES];
static struct chip chip;

static int make_chip(void **state)
{
    chip = (struct chip){.plan = {CORES, BANKS, ENTRIES, WIDTH, WIDTH, 0},
                         .volts = 0.9,
                         .threshold = 0.35,
                         .floor = 0.5,
                         .cores = cores};
    for (u32 c = 0; c < CORES; c++) {
        for (u32 i = 0; i < FILE_WORDS; i++)
            delays[c][i] = (u16)(16000 + 3000 * c + i);
        for (u32 i = 0; i <= FILE_ENTRIES; i++)
            first[c][i] = c ? (i > 5 ? 2 : 0) : (i > 3 ? 3 : 0);
        cores[c] = (struct chip_core){delays[c], first[c], cells[c], 0.01 * c};
    }
    return 0;
}

static struct chip_maps *read_back(const u8 *data, size_t bytes)
{
    struct error error = {0};
    struct chip_maps *maps = chip_maps_read(data, bytes, "test.maps", &error);
    if (!maps)
        fail_msg("%s", error.message);
    return maps;
}

static void same_again(void **state)
{
    size_t bytes;
    u8 *data = chip_maps_write(&chip, &bytes);
    struct chip_maps *maps = read_back(data, bytes);
    const struct chip *again = &maps->chip;
    assert_memory_equal(&again->plan, &chip.plan, sizeof chip.plan);
    assert_true(again->volts == 0.9 && again->threshold == 0.35 && again->floor == 0.5);
    for (u32 c = 0; c < CORES; c++) {
        assert_memory_equal(again->cores[c].delays, delays[c], sizeof delays[c]);
        assert_memory_equal(again->cores[c].first, first[c], sizeof first[c]);
        assert_memory_equal(again->cores[c].cells, cells[c], first[c][FILE_ENTRIES] * 4);
        assert_true(again->cores[c].threshold == 0.01 * c);
    }
    /* a cell works at its own V_min */
    assert_int_equal(chip_failing(&again->cores[0], 3, 0.625), 2);
    assert_int_equal(chip_failing(&again->cores[0], 3, 0.624), 3);
    assert_int_equal(chip_failing(&again->cores[0], 3, 0.75), 0);
    assert_int_equal(chip_failing(&again->cores[0], 4, 0.5), 0);
    const struct weak_cell *worst = chip_cells(&again->cores[0], 3);
    assert_int_equal(cell_bit(worst), 1000);
    assert_true(cell_reads(worst) && !cell_reads(worst + 1));
    chip_maps_release(maps);
    free(data);
}

/* The hash is that of the resolved maps. */
static void what_the_hash_depends_on(void **state)
{
    size_t bytes;
    char hashes[4][SHA256_TEXT];
    for (u32 i = 0; i < 4; i++) {
        chip.number = i == 1 ? 99 : 0;
        delays[1][FILE_WORDS - 1] += i == 2;
        cells[0][2].place ^= i == 3 ? CELL_PREFERS : 0;
        u8 *data = chip_maps_write(&chip, &bytes);
        struct chip_maps *maps = read_back(data, bytes);
        memcpy(hashes[i], maps->sha256, SHA256_TEXT);
        chip_maps_release(maps);
        free(data);
    }
    make_chip(state);
    cells[0][2].place ^= CELL_PREFERS;
    assert_string_equal(hashes[0], hashes[1]);
    for (u32 i = 2; i < 4; i++)
        for (u32 j = 0; j < i; j++)
            assert_true(j == 1 || strcmp(hashes[i], hashes[j]) != 0);
}

static void refuse(const u8 *data, size_t bytes)
{
    struct error error = {0};
    u8 *copy = malloc(bytes + 1); /* so that reads beyond the end are noticed */
    memcpy(copy, data, bytes);
    assert_null(chip_maps_read(copy, bytes, "test.maps", &error));
    assert_string_equal(error.place, "test.maps");
    assert_non_null(strstr(error.message, "expected"));
    free(copy);
}

static void damage(void **state)
{
    size_t bytes;
    u8 *data = chip_maps_write(&chip, &bytes);
    for (size_t length = 0; length < bytes; length += 1 + length / 16)
        refuse(data, length);
    refuse(data, bytes - 1);
    for (size_t i = 0; i < bytes; i += 1 + i / 64) {
        data[i] ^= 0x10;
        refuse(data, bytes);
        data[i] ^= 0x10;
    }
    /* whole, with a correct digest, but wrong: V_min rises within an entry */
    cells[0][1].vmin = 30000;
    free(data);
    data = chip_maps_write(&chip, &bytes);
    refuse(data, bytes);
    cells[0][1].vmin = 21504;
    free(data);
}

/* ---- devices ---- */

static const char code[] = ".version 6.0\n.target sm_30\n.address_size 64\n"
                           ".visible .entry k()\n{\nret;\n}\n";

static struct hd_config *configure(const char *machine)
{
    struct hd_error error = {0};
    struct hd_config *config = config_with(available);
    assert_true(hd_config_load(config, machine, &error));
    assert_true(hd_config_set(config, "core.registers=1024", &error));
    assert_true(hd_config_set(config, "gpu.cores=2", &error));
    return config;
}

static void cores_get_their_part(void **state)
{
    struct hd_error error = {0};
    struct hd_result result;
    size_t bytes;
    u64 sum = 0;
    u8 *data = chip_maps_write(&chip, &bytes);
    struct hd_config *config = configure("fermi15");
    assert_true(hd_config_mechanism(config, "reader", &error));
    assert_null(hd_device_open(config, &error));
    assert_string_equal(error.message,
                        "mechanism reader needs a chip: expected --chip FILE.db:NUMBER, a chip "
                        "that 'heddle chip --out FILE.db' drew");
    assert_null(hd_config_chip_json(config));
    if (!hd_config_chip(config, data, bytes, "chips.db:7", &error) ||
        !hd_config_check(config, &error))
        fail_msg("%s", error.message);
    struct hd_device *device = hd_device_open(config, &error);
    assert_non_null(device);
    hd_config_destroy(config); /* the device shares the chip */
    struct hd_module *module = hd_module_load(device, code, sizeof code - 1, "k.ptx", &error);
    assert_non_null(module);
    assert_true(hd_launch(hd_kernel_at(module, 0), (struct hd_dim){1, 1, 1},
                          (struct hd_dim){32, 1, 1}, 0, NULL, 0, &result, &error));
    char *text = hd_stats_json(device);
    json_t *all = json_loads(text, 0, NULL), *totals = json_object_get(all, "totals");
    for (u32 c = 0; c < CORES; c++)
        for (u32 i = 0; i < FILE_WORDS; i++)
            sum += delays[c][i] * (c + 1);
    assert_int_equal(json_integer_value(json_object_get(totals, "reader.delays")), sum);
    assert_int_equal(json_integer_value(json_object_get(totals, "reader.failing")), 2 + 2 * 1);
    assert_int_equal(json_integer_value(json_object_get(totals, "reader.ones")), 1);
    json_decref(all);
    hd_free(text);
    hd_device_close(device);
    free(data);
}

static void other_machines(void **state)
{
    static const struct {
        const char *machine, *setting, *expected;
    } rows[] = {
        {"fermi15", "gpu.cores=3", "machine 'fermi15' has 3 cores with 16 banks of 2 entries"},
        {"fermi15", "core.registers=2048", "has 2 cores with 16 banks of 4 entries of 1024 bits"},
        {"fermi15-lv", "gpu.cores=2", "has 2 cores with 32 banks of 8 entries of 128 bits"},
    };
    size_t bytes;
    u8 *data = chip_maps_write(&chip, &bytes);
    for (u32 i = 0; i < ARRAY_LEN(rows); i++) {
        struct hd_error error = {0};
        struct hd_config *config = configure(rows[i].machine);
        assert_true(hd_config_set(config, rows[i].setting, &error));
        assert_true(hd_config_chip(config, data, bytes, "chips.db:7", &error));
        assert_false(hd_config_check(config, &error));
        assert_string_equal(error.place, "chips.db:7");
        assert_non_null(strstr(error.message, rows[i].expected));
        assert_non_null(strstr(error.message, "the chip has 2 cores with 16 banks of 2 entries"));
        assert_null(hd_device_open(config, &error));
        assert_true(hd_config_chip(config, NULL, 0, NULL, &error)); /* none again */
        assert_true(hd_config_check(config, &error));
        hd_config_destroy(config);
    }
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_again),     cmocka_unit_test(what_the_hash_depends_on),
        cmocka_unit_test(damage),         cmocka_unit_test(cores_get_their_part),
        cmocka_unit_test(other_machines),
    };
    return cmocka_run_group_tests(tests, make_chip, NULL);
}
