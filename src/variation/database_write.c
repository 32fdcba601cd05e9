/* Writing of chips: see database.h. */
#include "variation/database_parts.h"
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

struct chips_writer {
    sqlite3 *database;
    char *path, *temporary;
    sqlite3_stmt *chip, *core;
    struct class_rule rule;
};

static u32 big_endian(const u8 *at)
{
    return (u32)at[0] << 24 | (u32)at[1] << 16 | (u32)at[2] << 8 | at[3];
}

bool chips_header(const char *path, bool *exists, struct error *error)
{
    enum {
        BYTES = 100,
        AT_VERSION = 60, /* SQLite's documentation of the file format */
        AT_APPLICATION = 68
    };
    u8 header[BYTES] = {0};
    FILE *file = fopen(path, "rbe");
    if (exists)
        *exists = file;
    if (!file) {
        if (exists && errno == ENOENT)
            return true;
        return error_set(error, ERROR_SYSTEM, path, "cannot open: %s", strerror(errno));
    }
    size_t length = fread(header, 1, sizeof header, file);
    fclose(file);
    if (length < sizeof header || memcmp(header, "SQLite format 3", 16) != 0 ||
        big_endian(header + AT_APPLICATION) != CHIPS_APPLICATION)
        return error_set(error, ERROR_INPUT, path,
                         "this is no file of chips: expected one that 'heddle chip --out' wrote; "
                         "it was not changed");
    u32 schema = big_endian(header + AT_VERSION);
    if (schema != CHIPS_SCHEMA)
        return error_set(error, ERROR_UNSUPPORTED, path,
                         "chips of another version of Heddle: schema %u, expected %d; the file "
                         "was not changed",
                         schema, CHIPS_SCHEMA);
    return true;
}

bool chips_may_write(const char *path, struct error *error)
{
    bool exists;
    return chips_header(path, &exists, error);
}

static bool refuse(const struct chips_writer *writer, struct error *error)
{
    return error_set(error, ERROR_SYSTEM, writer->path, "cannot write chips: %s",
                     sqlite3_errmsg(writer->database));
}

static bool execute(const struct chips_writer *writer, const char *text, struct error *error)
{
    return sqlite3_exec(writer->database, text, NULL, NULL, NULL) == SQLITE_OK ||
           refuse(writer, error);
}

static sqlite3_stmt *prepare(const struct chips_writer *writer, const char *text)
{
    sqlite3_stmt *statement = NULL;
    sqlite3_prepare_v2(writer->database, text, -1, &statement, NULL);
    return statement;
}

/* Runs a statement whose values are bound, for the next row. */
static bool put(const struct chips_writer *writer, sqlite3_stmt *statement, struct error *error)
{
    bool ok = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_reset(statement);
    return ok || refuse(writer, error);
}

#define NAME_COLUMN(column, field) #column ", "
#define MAKE_COLUMN(column, field) #column " REAL, "
#define VALUE_MARK(column, field) "?, "

static const char schema[] =
    "CREATE TABLE facts(name TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE chips(chip INTEGER PRIMARY KEY, floor REAL, " CHIP_NUMBERS(
        MAKE_COLUMN) "map BLOB, digest TEXT);"
                     "CREATE TABLE cores(id INTEGER PRIMARY KEY, chip INTEGER, core INTEGER, "
                     "threshold REAL, frequency REAL, vl_rf REAL, vl_rv REAL, vl_sb REAL, "
                     "within_words REAL, within_vectors REAL, vmin REAL, sub_banks BLOB, "
                     "fast BLOB, delays BLOB, counts BLOB, cells BLOB, digest TEXT);";

static bool put_facts(const struct chips_writer *writer, const struct chips_facts *facts,
                      struct error *error)
{
    sqlite3_stmt *row = prepare(writer, "INSERT INTO facts VALUES(?, ?)");
    bool ok = row || refuse(writer, error);
#define BIND_real sqlite3_bind_double
#define BIND_whole(row, at, value) sqlite3_bind_int64(row, at, (i64)(value))
#define PUT(name, field, kind)                              \
    if (ok) {                                               \
        sqlite3_bind_text(row, 1, name, -1, SQLITE_STATIC); \
        BIND_##kind(row, 2, facts->field);                  \
        ok = put(writer, row, error);                       \
    }
    CHIPS_FACTS(PUT)
#undef PUT
    const char *const texts[][2] = {
        {"machine", facts->machine}, {"ratio", facts->ratio}, {"heddle", HEDDLE_VERSION}};
    for (u32 i = 0; ok && i < ARRAY_LEN(texts); i++) {
        sqlite3_bind_text(row, 1, texts[i][0], -1, SQLITE_STATIC);
        sqlite3_bind_text(row, 2, texts[i][1], -1, SQLITE_STATIC);
        ok = put(writer, row, error);
    }
    sqlite3_finalize(row);
    return ok;
}

static bool make_tables(struct chips_writer *writer, const struct chips_facts *facts,
                        struct error *error)
{
    char header[128];
    snprintf(header, sizeof header, "PRAGMA application_id = %d; PRAGMA user_version = %d; ",
             CHIPS_APPLICATION, CHIPS_SCHEMA);
    /* no journal: the file becomes a file of chips only when it is renamed (D1) */
    if (!execute(writer,
                 "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
                 "PRAGMA page_size = 16384; BEGIN",
                 error) ||
        !execute(writer, header, error) || !execute(writer, schema, error) ||
        !put_facts(writer, facts, error))
        return false;
    writer->chip =
        prepare(writer, "INSERT INTO chips VALUES(?, ?, " CHIP_NUMBERS(VALUE_MARK) "?, ?)");
    writer->core =
        prepare(writer, "INSERT INTO cores VALUES(NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                        "?, ?, ?, ?, ?)");
    return (writer->chip && writer->core) || refuse(writer, error);
}

struct chips_writer *chips_create(const char *path, const struct chips_facts *facts,
                                  struct error *error)
{
    struct chips_writer *writer = checked(calloc(1, sizeof *writer));
    writer->path = checked(strdup(path));
    writer->rule = facts->rule;
    if (asprintf(&writer->temporary, "%s.%d.tmp", path, (int)getpid()) < 0)
        host_memory_exhausted();
    unlink(writer->temporary); /* of a process of that number that was killed */
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    bool ok = sqlite3_open_v2(writer->temporary, &writer->database, flags, NULL) == SQLITE_OK ||
              refuse(writer, error);
    if (ok && make_tables(writer, facts, error))
        return writer;
    chips_abandon(writer);
    return NULL;
}

/* ---- rows ---- */

static void digest_of(struct row_digest *digest, sqlite3_stmt *statement, int at)
{
    char text[SHA256_TEXT];
    sha256_text(&digest->hash, text);
    sqlite3_bind_text(statement, at, text, -1, SQLITE_TRANSIENT);
}

static bool put_core(const struct chips_writer *writer, const struct chip *chip, u32 index,
                     const struct core_numbers *numbers, struct error *error)
{
    const struct file_plan *plan = &chip->plan;
    const struct chip_core *core = &chip->cores[index];
    u32 entries = plan->banks * plan->entries;
    u32 parts = class_parts(plan, &writer->rule, PART_SUB_BANK);
    u16 *counts = checked(malloc(entries * sizeof *counts));
    u16 *parts_delays = checked(malloc(parts * sizeof *parts_delays));
    u8 *fast = checked(malloc(parts));
    for (u32 i = 0; i < entries; i++)
        counts[i] = (u16)(core->first[i + 1] - core->first[i]);
    class_delays(core, plan, &writer->rule, PART_SUB_BANK, parts_delays);
    class_mark(plan, &writer->rule, PART_SUB_BANK, parts_delays, fast);
    const struct {
        const void *data;
        size_t bytes;
    } blobs[] = {{parts_delays, parts * sizeof *parts_delays},
                 {fast, parts},
                 {core->delays, file_plan_words(plan) * sizeof *core->delays},
                 {counts, entries * sizeof *counts},
                 {core->cells, core->first[entries] * sizeof *core->cells}};
    const f64 reals[] = {numbers->threshold,
                         numbers->frequency[PART_FILE],
                         numbers->frequency[PART_REGISTER],
                         numbers->frequency[PART_ARRAY],
                         numbers->frequency[PART_SUB_BANK],
                         numbers->word_ratio,
                         numbers->vector_ratio,
                         numbers->vmin};
    struct row_digest digest;
    int at = 1;
    row_digest_start(&digest, chip->number, index);
    row_digest_add(&digest, &core->threshold, sizeof core->threshold);
    sqlite3_bind_int64(writer->core, at++, chip->number);
    sqlite3_bind_int64(writer->core, at++, index);
    for (u32 i = 0; i < ARRAY_LEN(reals); i++)
        sqlite3_bind_double(writer->core, at++, reals[i]);
    for (u32 i = 0; i < ARRAY_LEN(blobs); i++) {
        sqlite3_bind_blob(writer->core, at++, blobs[i].data, (int)blobs[i].bytes, SQLITE_STATIC);
        row_digest_add(&digest, blobs[i].data, blobs[i].bytes);
    }
    digest_of(&digest, writer->core, at);
    bool ok = put(writer, writer->core, error);
    free(counts);
    free(parts_delays);
    free(fast);
    return ok;
}

bool chips_add(struct chips_writer *writer, const struct chip *chip,
               const struct chip_numbers *numbers, const struct core_numbers *cores,
               struct error *error)
{
    struct row_digest digest;
    int at = 1;
    row_digest_start(&digest, chip->number, chip->plan.cores);
    row_digest_add(&digest, &chip->floor, sizeof chip->floor);
    sqlite3_bind_int64(writer->chip, at++, chip->number);
    sqlite3_bind_double(writer->chip, at++, chip->floor);
    f64 value;
#define BIND(column, field)                         \
    value = numbers->field;                         \
    sqlite3_bind_double(writer->chip, at++, value); \
    row_digest_add(&digest, &value, sizeof value);
    CHIP_NUMBERS(BIND)
#undef BIND
    size_t bytes = sizeof *chip->map * MAP_SIDE * MAP_SIDE;
    sqlite3_bind_blob(writer->chip, at++, chip->map, (int)bytes, SQLITE_STATIC);
    row_digest_add(&digest, chip->map, bytes);
    digest_of(&digest, writer->chip, at);
    bool ok = put(writer, writer->chip, error);
    for (u32 core = 0; ok && core < chip->plan.cores; core++)
        ok = put_core(writer, chip, core, &cores[core], error);
    return ok;
}

/* ---- the end ---- */

static void end(struct chips_writer *writer, bool keep)
{
    sqlite3_finalize(writer->chip);
    sqlite3_finalize(writer->core);
    sqlite3_close(writer->database);
    if (!keep)
        unlink(writer->temporary);
    free(writer->temporary);
    free(writer->path);
    free(writer);
}

void chips_abandon(struct chips_writer *writer)
{
    if (writer)
        end(writer, false);
}

bool chips_commit(struct chips_writer *writer, struct error *error)
{
    bool ok =
        execute(writer, "CREATE UNIQUE INDEX core_of_chip ON cores(chip, core); COMMIT", error);
    if (ok && rename(writer->temporary, writer->path) != 0)
        ok = error_set(error, ERROR_SYSTEM, writer->path, "cannot write: %s", strerror(errno));
    end(writer, ok);
    return ok;
}
