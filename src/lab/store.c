/* Results in SQLite: see store.h. */
#include "lab/store_database.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    APPLICATION_ID = 0x4865644c, /* "HedL": written into the file's header */
    SCHEMA_PLAIN = 1,            /* without checksums; 2 is without claims and facts */
    SCHEMA_FACTS = 3,            /* without plans */
    SCHEMA = SCHEMA_PLANS,
    RETRY_MS = 10,
    BUSY_MS = 60000, /* locks last milliseconds; this is for a loaded machine */
    HEADER_BYTES = 100,
    AT_VERSION = 60, /* offsets in the header, from SQLite's documentation of the file format */
    AT_APPLICATION = 68
};

bool store_refuse(const struct store *store, struct error *error, const char *what)
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
    if (schema < SCHEMA_PLAIN || schema > SCHEMA)
        return error_set(error, ERROR_UNSUPPORTED, path,
                         "results of another version of Heddle (schema %u, expected %d); the file "
                         "was not changed",
                         schema, SCHEMA);
    return true;
}

bool store_execute(struct store *store, const char *statement, struct error *error)
{
    if (sqlite3_exec(store->database, statement, NULL, NULL, NULL) == SQLITE_OK)
        return true;
    return store_refuse(store, error, "the results file cannot be used");
}

void store_undo(struct store *store)
{
    sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
}

/* Checks the database: a damaged file would give wrong or missing results later. */
static bool check(struct store *store, struct error *error)
{
    sqlite3_stmt *statement = NULL;
    bool ok = sqlite3_prepare_v2(store->database, "PRAGMA quick_check(1)", -1, &statement, NULL) ==
                  SQLITE_OK &&
              sqlite3_step(statement) == SQLITE_ROW;
    const char *text = ok ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    const int code = sqlite3_errcode(store->database) & 0xff; /* without the extended part */
    if (!ok)
        store_refuse(store, error,
                     code == SQLITE_CORRUPT || code == SQLITE_NOTADB
                         ? "the results file is damaged"
                         : "the results file cannot be used");
    else if (!text || strcmp(text, "ok") != 0)
        ok = error_set(error, ERROR_INPUT, store->path, "the results file is damaged: %.500s",
                       text ? text : "?");
    sqlite3_finalize(statement);
    return ok;
}

int store_schema(struct store *store)
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
 * keeps its rows. Those of schema 1 have no checksum, so they are no longer results; but no key of
 * this Heddle would find them, since keys include its files. Their times still order later runs.
 */
static bool make_tables(struct store *store, struct error *error)
{
    char text[2048];
    if (store_schema(store) == SCHEMA)
        return true;
    if (!store_execute(store, "BEGIN IMMEDIATE", error))
        return false;
    int schema = store_schema(store); /* another process may have created them meanwhile */
    if (schema == SCHEMA_PLAIN &&
        !store_execute(store, "ALTER TABLE results ADD COLUMN checksum TEXT NOT NULL DEFAULT ''",
                       error))
        return false;
    snprintf(text, sizeof text,
             "CREATE TABLE IF NOT EXISTS results("
             "key TEXT PRIMARY KEY, version TEXT NOT NULL, build TEXT NOT NULL,"
             "workload TEXT NOT NULL, arguments TEXT NOT NULL, machine TEXT NOT NULL,"
             "configuration TEXT NOT NULL, status TEXT NOT NULL, message TEXT NOT NULL,"
             "seconds REAL NOT NULL, statistics TEXT NOT NULL, checksum TEXT NOT NULL);"
             "CREATE INDEX IF NOT EXISTS results_of ON results(workload, arguments);"
             "CREATE TABLE IF NOT EXISTS claims(key TEXT PRIMARY KEY, owner TEXT NOT NULL);"
             "CREATE TABLE IF NOT EXISTS owners(owner TEXT PRIMARY KEY, beat INTEGER NOT NULL);"
             "CREATE TABLE IF NOT EXISTS facts(name TEXT PRIMARY KEY, value TEXT NOT NULL);"
             "CREATE TABLE IF NOT EXISTS plans(name TEXT PRIMARY KEY, description TEXT NOT NULL);"
             "CREATE TABLE IF NOT EXISTS points(plan TEXT, number INTEGER, key TEXT NOT NULL,"
             "labels TEXT NOT NULL, PRIMARY KEY(plan, number)) WITHOUT ROWID;"
             "PRAGMA application_id=%d; PRAGMA user_version=%d;"
             "COMMIT",
             APPLICATION_ID, SCHEMA);
    return store_execute(store, text, error);
}

/* A store without tables that are checked yet; NULL and an error on failure. */
static struct store *connect(const char *name, const char *path, int flags, struct error *error)
{
    struct store *store = checked(calloc(1, sizeof *store));
    store->path = checked(strdup(path));
    store->patience = STORE_PATIENCE_S;
    if (sqlite3_open_v2(name, &store->database, flags, NULL) == SQLITE_OK) {
        sqlite3_busy_timeout(store->database, BUSY_MS);
        return store;
    }
    store_refuse(store, error, "cannot be opened");
    store_close(store);
    return NULL;
}

/* Switches the file to a write-ahead log. SQLite does not wait for another process that writes at
 * this moment (its busy handler could deadlock here), so this does. */
static bool use_log(struct store *store, struct error *error)
{
    static const char switches[] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL";
    for (int waited = 0; waited < BUSY_MS; waited += RETRY_MS) {
        if (sqlite3_exec(store->database, switches, NULL, NULL, NULL) != SQLITE_BUSY)
            break;
        sqlite3_sleep(RETRY_MS);
    }
    return store_execute(store, switches, error);
}

struct store *store_open(const char *path, struct error *error)
{
    if (!is_ours(path, error))
        return NULL;
    struct store *store = connect(path, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, error);
    /* the tables come first: is_ours reads the file itself, not its log */
    if (store && check(store, error) && make_tables(store, error) && use_log(store, error)) {
        store_name_owner(store);
        return store;
    }
    store_close(store);
    return NULL;
}

/* The name by which SQLite opens a file that no process writes, without a lock or a log: the only way
 * to read a file with a log in a read-only folder. */
static char *immutable_name(const char *path)
{
    static const char digits[] = "0123456789abcdef";
    char *name = checked(malloc(3 * strlen(path) + sizeof "file:?immutable=1"));
    char *at = stpcpy(name, "file:");
    for (; *path; path++)
        if (strchr("%?#", *path)) {
            *at++ = '%';
            *at++ = digits[(u8)*path >> 4];
            *at++ = digits[(u8)*path & 15];
        } else {
            *at++ = *path;
        }
    stpcpy(at, "?immutable=1");
    return name;
}

/* Whether SQLite can write to a file and beside it. It then removes its log and shared memory when
 * the last process closes the file; one that only reads would leave them behind. */
static bool can_write(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder =
        slash ? checked(strndup(path, (size_t)(slash - path) + 1)) : checked(strdup("."));
    bool can = access(path, W_OK) == 0 && access(folder, W_OK) == 0;
    free(folder);
    return can;
}

/* Whether a file cannot be read because SQLite may not create its log: the folder's permissions forbid
 * it, or its file system does. */
static bool needs_log(struct store *store)
{
    const int code = sqlite3_exec(store->database, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL);
    return code == SQLITE_CANTOPEN || code == SQLITE_READONLY;
}

static bool has_log(const char *path)
{
    char *log;
    if (asprintf(&log, "%s-wal", path) < 0)
        host_memory_exhausted();
    bool found = access(log, F_OK) == 0;
    free(log);
    return found;
}

struct store *store_open_to_read(const char *path, struct error *error)
{
    char *name = NULL;
    if (access(path, R_OK) != 0) {
        error_set(error, ERROR_SYSTEM, path, "cannot open: %s", strerror(errno));
        return NULL;
    }
    if (!is_ours(path, error))
        return NULL;
    struct store *store =
        connect(path, path, can_write(path) ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, error);
    if (store && !has_log(path) && needs_log(store)) {
        store_close(store);
        name = immutable_name(path);
        store = connect(name, path, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, error);
        free(name);
    }
    if (!store || !check(store, error) || !store_execute(store, "PRAGMA query_only=1", error)) {
        store_close(store);
        return NULL;
    }
    if (store_schema(store) >= SCHEMA_FACTS)
        return store;
    error_set(
        error, ERROR_UNSUPPORTED, path,
        "results of an earlier version of Heddle (schema %d, expected %d); 'heddle sweep' and "
        "'heddle reproduce' convert the file when they use it",
        store_schema(store), SCHEMA);
    store_close(store);
    return NULL;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    store_forget_owners(store);
    sqlite3_stmt *const statements[] = {store->find, store->put, store->claim, store->owner_of,
                                        store->release};
    for (u32 i = 0; i < ARRAY_LEN(statements); i++)
        sqlite3_finalize(statements[i]);
    sqlite3_close(store->database);
    for (u32 i = 0; i < store->damaged.count; i++)
        free(store->damaged.data[i]);
    vec_free(&store->damaged);
    free(store->path);
    free(store);
}

sqlite3_stmt *store_prepare(struct store *store, const char *text, struct error *error)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(store->database, text, -1, &statement, NULL) != SQLITE_OK)
        store_refuse(store, error, "the results file cannot be used");
    return statement;
}

void store_bind(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text ? text : "", -1, SQLITE_STATIC);
}

/* The texts of a row, in the order of its checksum and of the columns below. */
enum {
    TEXTS = 10,
    TEXT_STATUS = 7,
    TEXT_MESSAGE = 8,
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

sqlite3_stmt *store_ready(struct store *store, sqlite3_stmt **statement, const char *text,
                          struct error *error)
{
    if (*statement)
        sqlite3_reset(*statement);
    else
        *statement = store_prepare(store, text, error);
    return *statement;
}

static bool insert(struct store *store, const struct stored_result *result, struct error *error)
{
    sqlite3_stmt *statement = store_ready(
        store, &store->put,
        "INSERT OR REPLACE INTO results(" COLUMNS ") VALUES(?,?,?,?,?,?,?,?,?,?,?,?)", error);
    if (!statement)
        return false;
    const char *texts[TEXTS] = {result->key,           result->version,   result->build,
                                result->workload,      result->arguments, result->machine,
                                result->configuration, result->status,    result->message,
                                result->statistics};
    char sum[SHA256_TEXT];
    for (int i = 0; i < TEXTS; i++) {
        texts[i] = texts[i] ? texts[i] : "";
        store_bind(statement, i + 1, texts[i]);
    }
    checksum_of(texts, result->seconds, sum);
    sqlite3_bind_double(statement, TEXTS + 1, result->seconds);
    store_bind(statement, TEXTS + 2, sum);
    bool ok = sqlite3_step(statement) == SQLITE_DONE ||
              store_refuse(store, error, "a result cannot be stored");
    sqlite3_reset(statement);
    return ok;
}

bool store_put(struct store *store, const struct stored_result *result, struct error *error)
{
    if (!store_execute(store, "BEGIN IMMEDIATE", error))
        return false;
    if (insert(store, result, error) && store_release(store, result->key, error))
        return store_execute(store, "COMMIT", error);
    store_undo(store);
    return false;
}

/* Notes a damaged row, once. */
static void note_damaged(struct store *store, const char *key)
{
    for (u32 i = 0; i < store->damaged.count; i++)
        if (!strcmp(store->damaged.data[i], key))
            return;
    *vec_push(&store->damaged) = checked(strdup(key));
}

/* Copies the statement's current row; false: it is damaged. */
static bool read_row(struct store *store, sqlite3_stmt *statement, bool whole, struct arena *arena,
                     struct stored_result *result)
{
    const char *texts[TEXTS];
    char sum[SHA256_TEXT];
    f64 seconds = sqlite3_column_double(statement, TEXTS);
    for (int i = 0; i < TEXTS; i++) {
        texts[i] = (const char *)sqlite3_column_text(statement, i);
        texts[i] = texts[i] ? texts[i] : "";
    }
    const char *kept = (const char *)sqlite3_column_text(statement, TEXTS + 1);
    checksum_of(texts, seconds, sum);
    if (!kept || strcmp(kept, sum) != 0) {
        note_damaged(store, texts[0]);
        return false;
    }
    *result = (struct stored_result){.status = arena_strdup(arena, texts[TEXT_STATUS]),
                                     .message = arena_strdup(arena, texts[TEXT_MESSAGE]),
                                     .statistics =
                                         whole ? arena_strdup(arena, texts[TEXT_STATISTICS]) : "",
                                     .seconds = seconds};
    return true;
}

enum stored_state store_find(struct store *store, const char *key, bool whole, struct arena *arena,
                             struct stored_result *result, struct error *error)
{
    sqlite3_stmt *statement =
        store_ready(store, &store->find, "SELECT " COLUMNS " FROM results WHERE key=?", error);
    enum stored_state state = STORED_NOTHING;
    if (!statement)
        return state;
    store_bind(statement, 1, key);
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        if (read_row(store, statement, whole, arena, result))
            state = strcmp(result->status, "done") ? STORED_FAILED : STORED_DONE;
    } else if (code != SQLITE_DONE) {
        store_refuse(store, error, "results cannot be read");
    }
    sqlite3_reset(statement);
    return state;
}

char *store_get(struct store *store, const char *key, struct error *error)
{
    struct arena *arena = arena_create();
    struct stored_result result;
    char *text = NULL;
    if (store_find(store, key, true, arena, &result, error) == STORED_DONE)
        text = checked(strdup(result.statistics));
    arena_destroy(arena);
    return text;
}

u32 store_damaged(const struct store *store)
{
    return store->damaged.count;
}

f64 store_seconds(struct store *store, const char *workload, const char *arguments)
{
    struct error error = {0};
    sqlite3_stmt *statement = store_prepare(
        store, "SELECT max(seconds) FROM results WHERE workload=? AND arguments=?", &error);
    if (!statement)
        return 0;
    store_bind(statement, 1, workload);
    store_bind(statement, 2, arguments);
    f64 seconds = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_double(statement, 0) : 0;
    sqlite3_finalize(statement);
    return seconds;
}

/* ---- facts ---- */

const char *store_fact(struct store *store, struct arena *arena, const char *name)
{
    struct error error = {0};
    const char *value = NULL;
    sqlite3_stmt *statement = store_prepare(store, "SELECT value FROM facts WHERE name=?", &error);
    if (!statement)
        return NULL;
    store_bind(statement, 1, name);
    if (sqlite3_step(statement) == SQLITE_ROW)
        value = arena_strdup(arena, (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return value;
}

bool store_set_fact(struct store *store, const char *name, const char *value, struct error *error)
{
    sqlite3_stmt *statement =
        store_prepare(store, "INSERT OR REPLACE INTO facts(name, value) VALUES(?,?)", error);
    if (!statement)
        return false;
    store_bind(statement, 1, name);
    store_bind(statement, 2, value);
    bool ok = sqlite3_step(statement) == SQLITE_DONE ||
              store_refuse(store, error, "a fact cannot be stored");
    sqlite3_finalize(statement);
    return ok;
}
