/* Results in SQLite: see store.h. */
#include "lab/store.h"

#include "base/arena.h"
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    APPLICATION_ID = 0x4865644c, /* "HedL": written into the file's header */
    SCHEMA = 2,
    SCHEMA_PLAIN = 1, /* without checksums */
    BUSY_MS = 60000,  /* locks last milliseconds; this is for a loaded machine */
    HEADER_BYTES = 100,
    AT_VERSION = 60, /* offsets in the header, from SQLite's documentation of the file format */
    AT_APPLICATION = 68
};

struct store {
    sqlite3 *database;
    char *path;
    VEC(char *) damaged; /* keys of damaged rows (S4) */
};

static bool refuse(const struct store *store, struct error *error, const char *what)
{
    return error_set(error, ERROR_INPUT, store->path, "%s: %s", what,
                     sqlite3_errmsg(store->database));
}

static u32 big_endian(const u8 *at)
{
    return (u32)at[0] << 24 | (u32)at[1] << 16 | (u32)at[2] << 8 | at[3];
}

/* Whether a file is a store (S2): reads its bytes, so that not even a lock is taken on other
 * files. */
static bool is_ours(const char *path, struct error *error)
{
    u8 header[HEADER_BYTES] = {0};
    FILE *file = fopen(path, "rbe");
    if (!file)
        return errno == ENOENT ||
               error_set(error, ERROR_SYSTEM, path, "cannot open: %s", strerror(errno));
    size_t length = fread(header, 1, sizeof header, file);
    bool failed = ferror(file);
    fclose(file);
    if (failed)
        return error_set(error, ERROR_SYSTEM, path, "cannot read the file");
    if (!length)
        return true; /* empty: just created by another process or the user */
    if (length < sizeof header || memcmp(header, "SQLite format 3", 16) != 0)
        return error_set(error, ERROR_INPUT, path,
                         "not a results file of Heddle; it was not changed");
    if (big_endian(header + AT_APPLICATION) != APPLICATION_ID)
        return error_set(error, ERROR_INPUT, path,
                         "this database does not hold Heddle's results; it was not changed");
    u32 schema = big_endian(header + AT_VERSION);
    if (schema != SCHEMA && schema != SCHEMA_PLAIN)
        return error_set(error, ERROR_UNSUPPORTED, path,
                         "results of another version of Heddle (schema %u, expected %d); the file "
                         "was not changed",
                         schema, SCHEMA);
    return true;
}

static bool execute(struct store *store, const char *statement, struct error *error)
{
    if (sqlite3_exec(store->database, statement, NULL, NULL, NULL) == SQLITE_OK)
        return true;
    return refuse(store, error, "the results file cannot be used");
}

/* Checks the database: a damaged file would give wrong or missing results later. */
static bool check(struct store *store, struct error *error)
{
    sqlite3_stmt *statement = NULL;
    bool ok = sqlite3_prepare_v2(store->database, "PRAGMA quick_check(1)", -1, &statement, NULL) ==
                  SQLITE_OK &&
              sqlite3_step(statement) == SQLITE_ROW;
    const char *text = ok ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (!ok)
        refuse(store, error, "the results file is damaged");
    else if (!text || strcmp(text, "ok") != 0)
        ok = error_set(error, ERROR_INPUT, store->path, "the results file is damaged: %.500s",
                       text ? text : "?");
    sqlite3_finalize(statement);
    return ok;
}

/* The schema version; 0: a new file. */
static int schema_of(struct store *store)
{
    sqlite3_stmt *statement = NULL;
    int schema = 0;
    if (sqlite3_prepare_v2(store->database, "PRAGMA user_version", -1, &statement, NULL) ==
            SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        schema = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return schema;
}

/*
 * Creates the tables in one transaction, so that no other process sees half of it. An existing file
 * is not written to before there is a result, unless it has schema 1: its rows keep their times,
 * which order later runs. They are no longer results, but no key of this Heddle would find them,
 * since keys include its files.
 */
static bool make_tables(struct store *store, struct error *error)
{
    char text[1024];
    if (schema_of(store) == SCHEMA)
        return true;
    if (!execute(store, "BEGIN IMMEDIATE", error))
        return false;
    int schema = schema_of(store); /* another process may have created them meanwhile */
    if (schema == SCHEMA_PLAIN &&
        !execute(store, "ALTER TABLE results ADD COLUMN checksum TEXT NOT NULL DEFAULT ''", error))
        return false;
    snprintf(text, sizeof text,
             "CREATE TABLE IF NOT EXISTS results("
             "key TEXT PRIMARY KEY, version TEXT NOT NULL, build TEXT NOT NULL,"
             "workload TEXT NOT NULL, arguments TEXT NOT NULL, machine TEXT NOT NULL,"
             "configuration TEXT NOT NULL, status TEXT NOT NULL, message TEXT NOT NULL,"
             "seconds REAL NOT NULL, statistics TEXT NOT NULL, checksum TEXT NOT NULL);"
             "CREATE INDEX IF NOT EXISTS results_of ON results(workload, arguments);"
             "PRAGMA application_id=%d; PRAGMA user_version=%d;"
             "COMMIT",
             APPLICATION_ID, SCHEMA);
    return execute(store, text, error);
}

struct store *store_open(const char *path, struct error *error)
{
    if (!is_ours(path, error))
        return NULL;
    struct store *store = checked(calloc(1, sizeof *store));
    store->path = checked(strdup(path));
    int code =
        sqlite3_open_v2(path, &store->database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    bool ok = code == SQLITE_OK;
    if (!ok)
        refuse(store, error, "cannot be opened");
    else
        sqlite3_busy_timeout(store->database, BUSY_MS);
    if (ok && check(store, error) && make_tables(store, error))
        return store;
    store_close(store);
    return NULL;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    sqlite3_close(store->database);
    for (u32 i = 0; i < store->damaged.count; i++)
        free(store->damaged.data[i]);
    vec_free(&store->damaged);
    free(store->path);
    free(store);
}

static sqlite3_stmt *prepare(struct store *store, const char *text, struct error *error)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(store->database, text, -1, &statement, NULL) != SQLITE_OK)
        refuse(store, error, "the results file cannot be used");
    return statement;
}

static void bind(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text ? text : "", -1, SQLITE_STATIC);
}

/* The texts of a row, in the order of its checksum and of the columns below. */
enum {
    TEXTS = 10,
    TEXT_STATUS = 7,
    TEXT_STATISTICS = 9
};
#define COLUMNS                                                                           \
    "key, version, build, workload, arguments, machine, configuration, status, message, " \
    "statistics, seconds, checksum"

/* The checksum of a row (S4): every field with its length, so that no byte can move between
 * fields. */
static void checksum_of(const char *const texts[TEXTS], f64 seconds, char sum[SHA256_TEXT])
{
    struct sha256 hash;
    sha256_start(&hash);
    for (u32 i = 0; i < TEXTS; i++) {
        u64 length = strlen(texts[i]);
        sha256_add(&hash, &length, sizeof length);
        sha256_add(&hash, texts[i], length);
    }
    sha256_add(&hash, &seconds, sizeof seconds);
    sha256_text(&hash, sum);
}

bool store_put(struct store *store, const struct stored_result *result, struct error *error)
{
    sqlite3_stmt *statement = prepare(
        store, "INSERT OR REPLACE INTO results(" COLUMNS ") VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
        error);
    if (!statement)
        return false;
    const char *texts[TEXTS] = {result->key,           result->version,   result->build,
                                result->workload,      result->arguments, result->machine,
                                result->configuration, result->status,    result->message,
                                result->statistics};
    char sum[SHA256_TEXT];
    for (int i = 0; i < TEXTS; i++) {
        texts[i] = texts[i] ? texts[i] : "";
        bind(statement, i + 1, texts[i]);
    }
    checksum_of(texts, result->seconds, sum);
    sqlite3_bind_double(statement, TEXTS + 1, result->seconds);
    bind(statement, TEXTS + 2, sum);
    bool ok =
        sqlite3_step(statement) == SQLITE_DONE || refuse(store, error, "a result cannot be stored");
    sqlite3_finalize(statement);
    return ok;
}

/* Notes a damaged row, once. */
static void note_damaged(struct store *store, const char *key)
{
    for (u32 i = 0; i < store->damaged.count; i++)
        if (!strcmp(store->damaged.data[i], key))
            return;
    *vec_push(&store->damaged) = checked(strdup(key));
}

/* The statistics of the statement's current row; NULL: damaged, or of a failed job. */
static char *read_row(struct store *store, sqlite3_stmt *statement)
{
    const char *texts[TEXTS];
    char sum[SHA256_TEXT];
    for (int i = 0; i < TEXTS; i++) {
        texts[i] = (const char *)sqlite3_column_text(statement, i);
        texts[i] = texts[i] ? texts[i] : "";
    }
    const char *kept = (const char *)sqlite3_column_text(statement, TEXTS + 1);
    checksum_of(texts, sqlite3_column_double(statement, TEXTS), sum);
    if (!kept || strcmp(kept, sum) != 0) {
        note_damaged(store, texts[0]);
        return NULL;
    }
    return strcmp(texts[TEXT_STATUS], "done") ? NULL : checked(strdup(texts[TEXT_STATISTICS]));
}

char *store_get(struct store *store, const char *key, struct error *error)
{
    sqlite3_stmt *statement = prepare(store, "SELECT " COLUMNS " FROM results WHERE key=?", error);
    if (!statement)
        return NULL;
    bind(statement, 1, key);
    int code = sqlite3_step(statement);
    char *text = NULL;
    if (code == SQLITE_ROW)
        text = read_row(store, statement);
    else if (code != SQLITE_DONE)
        refuse(store, error, "results cannot be read");
    sqlite3_finalize(statement);
    return text;
}

u32 store_damaged(const struct store *store)
{
    return store->damaged.count;
}

f64 store_seconds(struct store *store, const char *workload, const char *arguments)
{
    struct error error = {0};
    sqlite3_stmt *statement =
        prepare(store, "SELECT max(seconds) FROM results WHERE workload=? AND arguments=?", &error);
    if (!statement)
        return 0;
    bind(statement, 1, workload);
    bind(statement, 2, arguments);
    f64 seconds = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_double(statement, 0) : 0;
    sqlite3_finalize(statement);
    return seconds;
}
