/* Reading of chips: see database.h. Everything in a file is checked before it is used (D3). */
#include "variation/database_parts.h"
#include <sqlite3.h>
#include <stdio.h>

struct chips_reader {
    sqlite3 *database;
    char *path;
    struct chips_facts facts;
    sqlite3_stmt *chip, *core;
};

static bool damaged(const struct chips_reader *reader, const char *what, struct error *error)
{
    return error_set(error, ERROR_INPUT, reader->path,
                     "the file of chips is damaged: %s; draw it again with 'heddle chip'", what);
}

static bool prepare(struct chips_reader *reader, const char *text, sqlite3_stmt **statement,
                    struct error *error)
{
    return sqlite3_prepare_v2(reader->database, text, -1, statement, NULL) == SQLITE_OK ||
           damaged(reader, sqlite3_errmsg(reader->database), error);
}

static bool check_structure(struct chips_reader *reader, struct error *error)
{
    sqlite3_stmt *statement = NULL;
    if (!prepare(reader, "PRAGMA quick_check(1)", &statement, error))
        return false;
    bool row = sqlite3_step(statement) == SQLITE_ROW;
    const char *text = row ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    bool ok = (text && !strcmp(text, "ok")) ||
              damaged(reader, text ? text : sqlite3_errmsg(reader->database), error);
    sqlite3_finalize(statement);
    return ok;
}

/* ---- facts ---- */

/* One row; names that are unknown are skipped. Returns whether it is a fact that is needed. */
static bool take_fact(struct chips_facts *facts, sqlite3_stmt *row)
{
    const char *name = (const char *)sqlite3_column_text(row, 0);
#define COLUMN_real sqlite3_column_double
#define COLUMN_whole sqlite3_column_int64
#define TAKE(text, field, kind)                                         \
    if (!strcmp(name, text)) {                                          \
        facts->field = (__typeof__(facts->field))COLUMN_##kind(row, 1); \
        return true;                                                    \
    }
    if (!name)
        return false;
    CHIPS_FACTS(TAKE)
#undef TAKE
    const char *text = (const char *)sqlite3_column_text(row, 1);
    if (text && !strcmp(name, "machine"))
        snprintf(facts->machine, sizeof facts->machine, "%s", text);
    if (text && !strcmp(name, "ratio"))
        snprintf(facts->ratio, sizeof facts->ratio, "%s", text);
    return false;
}

/* Whether sizes are possible: everything is allocated by them. */
static bool check_facts(const struct chips_reader *reader, struct error *error)
{
    const struct chips_facts *facts = &reader->facts;
    const struct file_plan *plan = &facts->plan;
    struct file_plan again;
    struct error why = {0};
    if (plan->words > 1024 || plan->banks > 4096 || plan->entries > 65536 || plan->lanes > 1024 ||
        plan->check_bits > CELLS_PER_WORD || !plan->words ||
        (u64)plan->banks * plan->entries * plan->words > 1u << 20 || !facts->count ||
        facts->count > 1u << 20)
        return damaged(reader, "the sizes in its table facts are impossible", error);
    if (!file_plan_make(&again, plan->cores, file_plan_words(plan), plan->banks,
                        plan->words * CELLS_PER_WORD, plan->lanes, &why) ||
        !class_rule_check(&facts->rule, plan, &why) ||
        !variation_check(&facts->variation, "facts", &why))
        return damaged(reader, why.message, error);
    return true;
}

static bool read_facts(struct chips_reader *reader, struct error *error)
{
#define ONE(name, field, kind) +1
    const u32 needed = 0 CHIPS_FACTS(ONE);
#undef ONE
    sqlite3_stmt *row = NULL;
    u32 found = 0;
    if (!prepare(reader, "SELECT name, value FROM facts", &row, error))
        return false;
    while (sqlite3_step(row) == SQLITE_ROW)
        found += take_fact(&reader->facts, row);
    sqlite3_finalize(row);
    return (found == needed || damaged(reader, "its table facts is incomplete", error)) &&
           check_facts(reader, error);
}

#define NAME_COLUMN(column, field) ", " #column

struct chips_reader *chips_open(const char *path, struct error *error)
{
    if (!chips_header(path, NULL, error))
        return NULL;
    struct chips_reader *reader = checked(calloc(1, sizeof *reader));
    reader->path = checked(strdup(path));
    bool ok = sqlite3_open_v2(path, &reader->database, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK ||
              damaged(reader, sqlite3_errmsg(reader->database), error);
    ok = ok && check_structure(reader, error) && read_facts(reader, error) &&
         prepare(reader,
                 "SELECT floor, map, digest" CHIP_NUMBERS(NAME_COLUMN) " FROM chips WHERE chip = ?",
                 &reader->chip, error) &&
         prepare(reader,
                 "SELECT threshold, sub_banks, fast, delays, counts, cells, digest FROM cores "
                 "WHERE chip = ? AND core = ?",
                 &reader->core, error);
    if (ok)
        return reader;
    chips_close(reader);
    return NULL;
}

void chips_close(struct chips_reader *reader)
{
    if (!reader)
        return;
    sqlite3_finalize(reader->chip);
    sqlite3_finalize(reader->core);
    sqlite3_close(reader->database);
    free(reader->path);
    free(reader);
}

const struct chips_facts *chips_facts(const struct chips_reader *reader)
{
    return &reader->facts;
}

/* ---- chips ---- */

static bool digest_fits(struct row_digest *digest, sqlite3_stmt *row, int at)
{
    char text[SHA256_TEXT];
    sha256_text(&digest->hash, text);
    const char *stored = (const char *)sqlite3_column_text(row, at);
    return stored && !strcmp(stored, text);
}

static void digest_blob(struct row_digest *digest, sqlite3_stmt *row, int at)
{
    const void *data = sqlite3_column_blob(row, at);
    row_digest_add(digest, data ? data : "", (u64)sqlite3_column_bytes(row, at));
}

/* Columns of a chip's row. */
enum {
    FLOOR,
    MAP,
    CHIP_DIGEST,
    NUMBERS /* and all that follow */
};

static bool chip_fits(const struct chips_reader *reader, u32 number)
{
    struct row_digest digest;
    f64 value = sqlite3_column_double(reader->chip, FLOOR);
    row_digest_start(&digest, number, reader->facts.plan.cores);
    row_digest_add(&digest, &value, sizeof value);
    for (int at = NUMBERS; at < sqlite3_column_count(reader->chip); at++) {
        value = sqlite3_column_double(reader->chip, at);
        row_digest_add(&digest, &value, sizeof value);
    }
    digest_blob(&digest, reader->chip, MAP);
    return digest_fits(&digest, reader->chip, CHIP_DIGEST);
}

/* Finds the row of a chip; sqlite3_reset ends it. */
static bool find_chip(struct chips_reader *reader, u32 number, struct error *error)
{
    if (number >= reader->facts.count)
        return error_set(error, ERROR_NOT_FOUND, reader->path,
                         "there is no chip %u: expected 0 to %u", number, reader->facts.count - 1);
    sqlite3_bind_int64(reader->chip, 1, number);
    bool found = sqlite3_step(reader->chip) == SQLITE_ROW;
    if (found && chip_fits(reader, number))
        return true;
    sqlite3_reset(reader->chip);
    return damaged(reader, found ? "a chip does not match its digest" : "a chip is missing", error);
}

bool chips_numbers(struct chips_reader *reader, u32 number, struct chip_numbers *numbers,
                   struct error *error)
{
    if (!find_chip(reader, number, error))
        return false;
    int at = NUMBERS;
#define TAKE(column, field) \
    numbers->field = (__typeof__(numbers->field))sqlite3_column_double(reader->chip, at++);
    CHIP_NUMBERS(TAKE)
#undef TAKE
    sqlite3_reset(reader->chip);
    return true;
}

/* A blob of exactly so many bytes, in `arena`; NULL: it has another size. */
static void *take_blob(struct arena *arena, sqlite3_stmt *row, int at, size_t bytes)
{
    if ((size_t)sqlite3_column_bytes(row, at) != bytes)
        return NULL;
    void *copy = arena_alloc(arena, bytes + 1);
    if (bytes)
        memcpy(copy, sqlite3_column_blob(row, at), bytes);
    return copy;
}

static bool take_core(struct chip *chip, u32 index, sqlite3_stmt *row, struct arena *arena)
{
    enum {
        THRESHOLD,
        SUB_BANKS,
        FAST,
        DELAYS,
        COUNTS,
        CELLS,
        DIGEST
    };
    const struct file_plan *plan = &chip->plan;
    const u32 entries = plan->banks * plan->entries;
    struct chip_core *core = &chip->cores[index];
    struct row_digest digest;
    core->threshold = sqlite3_column_double(row, THRESHOLD);
    row_digest_start(&digest, chip->number, index);
    row_digest_add(&digest, &core->threshold, sizeof core->threshold);
    for (int at = SUB_BANKS; at <= CELLS; at++)
        digest_blob(&digest, row, at);
    if (!digest_fits(&digest, row, DIGEST))
        return false;
    core->delays = take_blob(arena, row, DELAYS, file_plan_words(plan) * sizeof *core->delays);
    const u16 *counts = take_blob(arena, row, COUNTS, entries * sizeof *counts);
    if (!core->delays || !counts)
        return false;
    core->first = arena_array(arena, u32, entries + 1);
    for (u32 i = 0; i < entries; i++)
        core->first[i + 1] = core->first[i] + counts[i];
    core->cells = take_blob(arena, row, CELLS, core->first[entries] * sizeof *core->cells);
    return core->cells && chip_cells_fit(chip, core);
}

static bool load_cores(struct chips_reader *reader, struct chip *chip, struct arena *arena,
                       struct error *error)
{
    for (u32 core = 0; core < chip->plan.cores; core++) {
        sqlite3_bind_int64(reader->core, 1, chip->number);
        sqlite3_bind_int64(reader->core, 2, core);
        bool ok =
            sqlite3_step(reader->core) == SQLITE_ROW && take_core(chip, core, reader->core, arena);
        sqlite3_reset(reader->core);
        if (!ok)
            return damaged(reader, "a core is missing or does not match its digest", error);
    }
    return true;
}

struct chip *chips_load(struct chips_reader *reader, u32 number, struct arena *arena,
                        struct error *error)
{
    if (!find_chip(reader, number, error))
        return NULL;
    struct chip *chip = arena_new(arena, struct chip);
    size_t bytes = sizeof *chip->map * MAP_SIDE * MAP_SIDE;
    chip->plan = reader->facts.plan;
    chip->number = number;
    chip->volts = reader->facts.variation.volts;
    chip->threshold = reader->facts.variation.threshold;
    chip->floor = sqlite3_column_double(reader->chip, FLOOR);
    chip->cores = arena_array(arena, struct chip_core, chip->plan.cores);
    chip->map = take_blob(arena, reader->chip, MAP, bytes);
    sqlite3_reset(reader->chip);
    bool ok = chip->map || damaged(reader, "a map has the wrong size", error);
    return ok && load_cores(reader, chip, arena, error) ? chip : NULL;
}
