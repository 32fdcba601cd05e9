/* Files of chips: what is written is read, twice the same bytes; damage and other files are refused. */
#include "variation/database.h"
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    CORES = 2,
    WORDS = 256,
    ENTRIES = 64,
    CHIPS = 2
};

static char path[64], second[80];
static struct arena *arena;
static struct chips_facts facts;
static struct chip chips[CHIPS];

/* Two small chips with cells by hand. */
static int make_chips(void **state)
{
    struct error error = {0};
    arena = arena_create();
    variation_default(&facts.variation, variation_node(28));
    assert_true(file_plan_make(&facts.plan, CORES, WORDS, 8, 128, 32, &error));
    strcpy(facts.machine, "tiny");
    strcpy(facts.ratio, "1:1");
    facts.rule = (struct class_rule){0.7, 1};
    facts.seed = 7;
    facts.kept = 0.02;
    facts.count = CHIPS;
    for (u32 c = 0; c < CHIPS; c++) {
        chips[c] = (struct chip){.plan = facts.plan,
                                 .number = c,
                                 .floor = 0.5,
                                 .cores = arena_array(arena, struct chip_core, CORES),
                                 .map = arena_array(arena, f32, MAP_SIDE * MAP_SIDE)};
        chips[c].map[77] = 0.25f;
        for (u32 i = 0; i < CORES; i++) {
            struct chip_core *core = &chips[c].cores[i];
            core->delays = arena_array(arena, u16, WORDS);
            core->first = arena_array(arena, u32, ENTRIES + 1);
            core->cells = arena_array(arena, struct weak_cell, ENTRIES);
            core->threshold = 0.01 * i;
            for (u32 w = 0; w < WORDS; w++)
                core->delays[w] = (u16)(20000 + 100 * c + 10 * i + w);
            for (u32 e = 0; e < ENTRIES; e++) { /* two in every other entry */
                core->first[e + 1] = core->first[e] + (e % 2 ? 2 : 0);
                if (e % 2) {
                    core->cells[e - 1] = (struct weak_cell){(u16)(e | CELL_PREFERS), 30000};
                    core->cells[e] = (struct weak_cell){(u16)(e + 1), (u16)(29000 + i)};
                }
            }
        }
    }
    strcpy(path, "/tmp/heddle-chips-XXXXXX");
    close(mkstemp(path));
    unlink(path);
    snprintf(second, sizeof second, "%s-2", path);
    return 0;
}

static int end_chips(void **state)
{
    arena_destroy(arena);
    unlink(path);
    unlink(second);
    return 0;
}

static void write_chips(const char *to)
{
    struct error error = {0};
    struct chips_writer *writer = chips_create(to, &facts, &error);
    assert_non_null(writer);
    for (u32 c = 0; c < CHIPS; c++) {
        struct core_numbers cores[CORES];
        struct chip_numbers numbers;
        chip_count(&numbers, cores, &chips[c], &facts.rule);
        assert_true(chips_add(writer, &chips[c], &numbers, cores, &error));
    }
    assert_int_not_equal(access(to, F_OK), 0); /* not before it is complete */
    assert_true(chips_commit(writer, &error));
}

static void what_is_written_is_read(void **state)
{
    struct error error = {0};
    write_chips(path);
    struct chips_reader *reader = chips_open(path, &error);
    assert_non_null(reader);
    const struct chips_facts *found = chips_facts(reader);
    assert_string_equal(found->machine, "tiny");
    assert_string_equal(found->ratio, "1:1");
    assert_memory_equal(&found->plan, &facts.plan, sizeof facts.plan);
    assert_true(found->seed == 7 && found->count == CHIPS && found->kept == 0.02);
    assert_true(found->variation.threshold == 0.35 && found->variation.nm == 28);
    for (u32 c = CHIPS; c-- > 0;) {
        struct chip *chip = chips_load(reader, c, arena, &error);
        assert_non_null(chip);
        assert_true(chip->number == c && chip->floor == 0.5 && chip->map[77] == 0.25f);
        for (u32 i = 0; i < CORES; i++) {
            const struct chip_core *a = &chip->cores[i], *b = &chips[c].cores[i];
            assert_memory_equal(a->delays, b->delays, WORDS * sizeof *a->delays);
            assert_memory_equal(a->first, b->first, (ENTRIES + 1) * sizeof *a->first);
            assert_memory_equal(a->cells, b->cells, ENTRIES * sizeof *a->cells);
            assert_true(a->threshold == b->threshold);
        }
        struct core_numbers cores[CORES];
        struct chip_numbers expected, stored;
        chip_count(&expected, cores, &chips[c], &facts.rule);
        assert_true(chips_numbers(reader, c, &stored, &error));
        assert_true(stored.frequency[PART_FILE] == expected.frequency[PART_FILE]);
        assert_true(stored.bad_bits[1] == expected.bad_bits[1] && stored.vmin == expected.vmin);
        assert_int_equal(stored.most_bad, expected.most_bad);
    }
    assert_null(chips_load(reader, CHIPS, arena, &error));
    assert_non_null(strstr(error.message, "no chip 2: expected 0 to 1"));
    chips_close(reader);
}

static void same_bytes(void **state)
{
    static char a[1 << 20], b[1 << 20];
    write_chips(second);
    FILE *one = fopen(path, "rb"), *two = fopen(second, "rb");
    size_t length = fread(a, 1, sizeof a, one);
    assert_int_equal(fread(b, 1, sizeof b, two), length);
    assert_memory_equal(a, b, length);
    fclose(one);
    fclose(two);
}

static void nothing_is_left_of_an_abandoned_file(void **state)
{
    struct error error = {0};
    char gone[80], temporary[128];
    snprintf(gone, sizeof gone, "%s-gone", path);
    snprintf(temporary, sizeof temporary, "%s.%d.tmp", gone, (int)getpid());
    struct chips_writer *writer = chips_create(gone, &facts, &error);
    assert_non_null(writer);
    assert_int_equal(access(temporary, F_OK), 0);
    chips_abandon(writer);
    assert_int_not_equal(access(temporary, F_OK), 0);
    assert_int_not_equal(access(gone, F_OK), 0);
    assert_null(chips_create("/nowhere/at/all.db", &facts, &error));
}

/* Whether the file can no longer be used, after a statement has changed it. */
static void change_is_noticed(const char *statement, const char *expected)
{
    struct error error = {0};
    sqlite3 *database;
    unlink(second);
    write_chips(second);
    assert_int_equal(sqlite3_open(second, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, statement, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
    struct chips_reader *reader = chips_open(second, &error);
    if (reader)
        assert_null(chips_load(reader, 1, arena, &error));
    chips_close(reader);
    assert_non_null(strstr(error.message, expected));
    assert_string_equal(error.place, second);
}

static void damage_is_noticed(void **state)
{
    change_is_noticed("DELETE FROM cores WHERE chip = 1 AND core = 1", "a core is missing");
    change_is_noticed("DELETE FROM chips WHERE chip = 1", "a chip is missing");
    change_is_noticed("UPDATE cores SET delays = zeroblob(512) WHERE chip = 1", "digest");
    change_is_noticed("UPDATE cores SET delays = x'00' WHERE chip = 1", "digest");
    change_is_noticed("UPDATE cores SET threshold = 9 WHERE chip = 1", "digest");
    change_is_noticed("UPDATE chips SET floor = 0.1 WHERE chip = 1", "digest");
    change_is_noticed("UPDATE chips SET frequency = 1 WHERE chip = 1", "digest");
    change_is_noticed("UPDATE facts SET value = 1 << 40 WHERE name = 'chips'", "impossible");
    change_is_noticed("UPDATE cores SET core = 1 - core + 10 WHERE chip = 1;"
                      "UPDATE cores SET core = core - 10 WHERE chip = 1",
                      "digest"); /* cores exchanged */
    change_is_noticed("DELETE FROM facts WHERE name = 'seed'", "incomplete");
    change_is_noticed("UPDATE facts SET value = 1000000 WHERE name = 'banks'", "impossible");
    change_is_noticed("UPDATE facts SET value = 0 WHERE name = 'sub_banks'", "sub-banks");
    change_is_noticed("UPDATE facts SET value = -1 WHERE name = 'words'", "impossible");
    change_is_noticed("DROP TABLE cores", "damaged");
    change_is_noticed("PRAGMA user_version = 9", "schema 9, expected 2");
}

static void truncation_is_noticed(void **state)
{
    struct error error = {0};
    struct stat status;
    unlink(second);
    write_chips(second);
    assert_int_equal(stat(second, &status), 0);
    assert_int_equal(truncate(second, status.st_size / 2), 0);
    struct chips_reader *reader = chips_open(second, &error);
    if (reader)
        assert_null(chips_load(reader, 1, arena, &error));
    chips_close(reader);
    assert_int_not_equal(error.code, ERROR_NONE);
    assert_int_equal(truncate(second, 50), 0);
    assert_null(chips_open(second, &error));
    assert_null(chips_open("/nowhere/at/all.db", &error));
}

static void files_of_others_are_left_alone(void **state)
{
    struct error error = {0};
    assert_true(chips_may_write(path, &error)); /* of chips */
    FILE *file = fopen(second, "wb");
    fputs("a thesis", file);
    fclose(file);
    assert_false(chips_may_write(second, &error));
    assert_non_null(strstr(error.message, "no file of chips: expected"));
    assert_null(chips_open(second, &error));
    unlink(second);
    assert_true(chips_may_write(second, &error)); /* nothing there */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(nothing_is_left_of_an_abandoned_file),
        cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(truncation_is_noticed),
        cmocka_unit_test(files_of_others_are_left_alone),
    };
    return cmocka_run_group_tests(tests, make_chips, end_chips);
}
