/* The results file: what is put is found, by its key only; files of others are left alone. */
#include "base/text.h"
#include "lab/store_database.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];

static int make_path(void **state)
{
    strcpy(path, "/tmp/heddle-store-XXXXXX");
    int file = mkstemp(path);
    close(file);
    return unlink(path);
}

static int remove_path(void **state)
{
    unlink(path);
    return 0;
}

static struct stored_result sample(char digit, const char *status)
{
    struct stored_result result = {.version = "1",
                                   .build = "b",
                                   .workload = "vecadd",
                                   .arguments = "--quick",
                                   .machine = "m",
                                   .configuration = "{}",
                                   .status = status,
                                   .message = "it's \"so\"",
                                   .statistics = "{\"a\": 1}",
                                   .seconds = digit - '0'};
    memset(result.key, digit, sizeof result.key - 1);
    return result;
}

static void put_and_get(void **state)
{
    struct error error = {0};
    struct store *store = store_open(path, &error);
    assert_non_null(store);
    struct stored_result one = sample('1', "done"), two = sample('2', "wrong");
    assert_null(store_get(store, one.key, &error));
    assert_int_equal(error.code, ERROR_NONE);
    assert_true(store_put(store, &one, &error));
    assert_true(store_put(store, &two, &error));
    store_close(store);
    store = store_open(path, &error);
    assert_non_null(store);
    char *text = store_get(store, one.key, &error);
    assert_string_equal(text, "{\"a\": 1}");
    free(text);
    assert_null(store_get(store, two.key, &error)); /* failures are no results */
    assert_true(store_seconds(store, "vecadd", "--quick") == 2);
    assert_true(store_seconds(store, "vecadd", "") == 0);
    two.status = "done";
    two.statistics = "{}";
    assert_true(store_put(store, &two, &error));
    text = store_get(store, two.key, &error);
    assert_string_equal(text, "{}");
    free(text);
    store_close(store);
}

/* Two processes on one file, both with a new one. */
static void together(void **state)
{
    struct error error = {0};
    struct store *a = store_open(path, &error), *b = store_open(path, &error);
    assert_true(a && b);
    struct stored_result one = sample('1', "done"), two = sample('2', "done");
    assert_true(store_put(a, &one, &error));
    assert_true(store_put(b, &two, &error));
    char *first = store_get(b, one.key, &error), *second = store_get(a, two.key, &error);
    assert_true(first && second);
    free(first);
    free(second);
    store_close(a);
    store_close(b);
}

static void change(const char *statement)
{
    sqlite3 *database;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, statement, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

/* A claim keeps others away as long as its process lives; a result ends it. */
/* Ends the transaction of another connection after a while. */
static void *commit_later(void *database)
{
    usleep(100 * 1000);
    sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
    return NULL;
}

/* A file without its log, as the first process creates it, is opened while another connection writes. */
static void opened_while_written(void **state)
{
    struct error error = {0};
    store_close(store_open(path, &error));
    change("PRAGMA journal_mode=DELETE");
    sqlite3 *other = NULL;
    pthread_t thread;
    assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(pthread_create(&thread, NULL, commit_later, other), 0);
    struct store *store = store_open(path, &error);
    pthread_join(thread, NULL);
    sqlite3_close(other);
    if (!store)
        fail_msg("%s", error.message);
    store_close(store);
}

static void claims(void **state)
{
    struct error error = {0};
    struct store *a = store_open(path, &error), *b = store_open(path, &error);
    struct stored_result one = sample('1', "done");
    char other[SHA256_TEXT];
    bool ours = false;
    memset(other, '2', sizeof other);
    other[SHA256_TEXT - 1] = '\0';
    assert_true(store_claim(a, one.key, &ours, &error) && ours);
    assert_true(store_claim(b, one.key, &ours, &error) && !ours);
    assert_true(store_claim(b, other, &ours, &error) && ours);
    assert_int_equal(store_claims(a), 2);
    assert_true(store_put(a, &one, &error));
    assert_true(store_release(b, other, &error));
    assert_int_equal(store_claims(a), 0);
    assert_true(store_claim(b, one.key, &ours, &error) && ours);
    store_close(a);
    store_close(b);
    change("UPDATE claims SET owner=replace(owner, ' ', ' 9')"); /* of a process that is no more */
    a = store_open(path, &error);
    assert_non_null(a);
    assert_int_equal(store_claims(a), 0);
    assert_true(store_claim(a, one.key, &ours, &error) && ours);
    store_close(a);
}

/* A claim of another host holds as long as its count moves, and ends when it has stood still for the
 * patience of the process that waits. Clocks of different hosts are never compared. */
static void claims_elsewhere(void **state)
{
    struct error error = {0};
    struct store *store = store_open(path, &error);
    struct stored_result one = sample('1', "done");
    bool ours = false;
    assert_true(store_claim(store, one.key, &ours, &error) && ours);
    change("UPDATE claims SET owner='elsewhere 1 1';"
           "UPDATE owners SET owner='elsewhere 1 1', beat=7");
    assert_true(store->patience >= 10 * STORE_BEAT_S);
    assert_true(store_claim(store, one.key, &ours, &error) && !ours);
    assert_int_equal(store_claims(store), 1);
    store->patience = 0; /* two minutes later, but it has just counted */
    store->foreign.data[0].since -= 60;
    change("UPDATE owners SET beat=8 WHERE owner='elsewhere 1 1'");
    store->patience = 30;
    assert_true(store_claim(store, one.key, &ours, &error) && !ours);
    store->foreign.data[0].since -= 60; /* and now it has not */
    assert_true(store_claim(store, one.key, &ours, &error) && ours);
    assert_int_equal(store->foreign.count, 1);
    store_close(store);
}

/* A process shows that it lives while it has claims, and leaves nothing behind. */
static void signs_of_life(void **state)
{
    struct error error = {0};
    struct store *a = store_open(path, &error), *b = store_open(path, &error);
    struct stored_result one = sample('1', "done");
    bool ours = false;
    sqlite3_stmt *statement = store_prepare(b, "SELECT sum(beat) FROM owners", &error);
    sqlite3_step(statement);
    assert_int_equal(sqlite3_column_int(statement, 0), 0);
    assert_true(store_claim(a, one.key, &ours, &error) && ours);
    store_show_life(a); /* too early */
    sqlite3_reset(statement);
    sqlite3_step(statement);
    assert_int_equal(sqlite3_column_int(statement, 0), 1);
    sqlite3_reset(statement);
    a->beaten -= STORE_BEAT_S;
    store_show_life(a);
    sqlite3_step(statement);
    assert_int_equal(sqlite3_column_int(statement, 0), 2);
    sqlite3_reset(statement);
    store_close(a);
    sqlite3_step(statement);
    assert_int_equal(sqlite3_column_int(statement, 0), 0);
    sqlite3_finalize(statement);
    store_close(b);
}

/* A store that is opened to look at it finds results, takes none, and leaves no file behind. */
static void only_reading(void **state)
{
    struct error error = {0};
    struct stored_result one = sample('1', "done"), two = sample('2', "done");
    char log[sizeof path + 8];
    assert_null(store_open_to_read(path, &error));
    assert_non_null(strstr(error.message, "No such file"));
    struct store *store = store_open(path, &error);
    assert_true(store_put(store, &one, &error));
    store_close(store);
    store = store_open_to_read(path, &error);
    assert_non_null(store);
    char *text = store_get(store, one.key, &error);
    assert_non_null(text);
    free(text);
    assert_false(store_put(store, &two, &error));
    store_close(store);
    snprintf(log, sizeof log, "%s-wal", path);
    assert_int_not_equal(access(log, F_OK), 0);
    change("PRAGMA user_version=2");
    assert_null(store_open_to_read(path, &error));
    assert_non_null(strstr(error.message, "earlier version of Heddle (schema 2"));
}

/* A user who may not write to the folder reads the results. Permissions do not bind root, so a
 * child process takes another user id. */
static void read_only_folder(void **state)
{
    char folder[] = "/tmp/heddle-readonly-XXXXXX", file[64];
    struct error error = {0};
    struct stored_result one = sample('1', "done");
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/results.db", folder);
    struct store *store = store_open(file, &error);
    assert_true(store_put(store, &one, &error));
    store_close(store);
    assert_true(chmod(file, 0444) == 0 && chmod(folder, 0555) == 0);
    pid_t child = fork();
    if (!child) {
        if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
            _exit(1);
        store = store_open_to_read(file, &error);
        char *text = store ? store_get(store, one.key, &error) : NULL;
        bool refused = !store_open(file, &error) && !strstr(error.message, "damaged");
        _exit(text && refused ? 0 : 2);
    }
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(chmod(folder, 0755), 0);
    unlink(file);
    rmdir(folder);
    assert_int_equal(status, 0);
}

static void write_file(const void *data, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, length, file), length);
    fclose(file);
}

static void refused(const char *message)
{
    struct error error = {0};
    size_t before_length, after_length;
    char *before = text_read_file(path, false, 1 << 24, &before_length, &error);
    assert_null(store_open(path, &error));
    assert_non_null(strstr(error.message, message));
    assert_string_equal(error.place, path);
    char *after = text_read_file(path, false, 1 << 24, &after_length, &error);
    assert_int_equal(before_length, after_length);
    assert_memory_equal(before, after, before_length);
    free(before);
    free(after);
}

static void foreign(void **state)
{
    write_file("these are my notes\n", 19);
    refused("not a results file of Heddle");
    char zeros[4096] = {0};
    write_file(zeros, sizeof zeros);
    refused("not a results file of Heddle");
    unlink(path);
    sqlite3 *database;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    sqlite3_exec(database, "CREATE TABLE results(key)", NULL, NULL, NULL);
    sqlite3_close(database);
    refused("does not hold Heddle's results");
}

static void later_version(void **state)
{
    struct error error = {0};
    sqlite3 *database;
    store_close(store_open(path, &error));
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    sqlite3_exec(database, "PRAGMA user_version=99", NULL, NULL, NULL);
    sqlite3_close(database);
    refused("another version of Heddle (schema 99");
}

/* A page in the middle that was overwritten. */
static void damaged(void **state)
{
    struct error error = {0};
    struct store *store = store_open(path, &error);
    char *text = calloc(1, 60001);
    memset(text, 'x', 60000);
    struct stored_result one = sample('1', "done");
    one.statistics = text;
    assert_true(store_put(store, &one, &error));
    store_close(store);
    free(text);
    FILE *file = fopen(path, "r+b");
    fseek(file, 4096, SEEK_SET);
    for (u32 i = 0; i < 4096; i++)
        fputc(0xa5, file);
    fclose(file);
    refused("damaged");
}

/* A modified row is not a result, is counted, and can be stored again. */
static void tampered(void **state)
{
    static const char *const changes[] = {
        "UPDATE results SET statistics='{\"a\": 2}'",
        "UPDATE results SET statistics=''",
        "UPDATE results SET statistics=x'00ff'",
        "UPDATE results SET configuration='{\"a\": 1}'",
        "UPDATE results SET workload='vecad', arguments='d--quick'",
        "UPDATE results SET seconds=0.5",
        "UPDATE results SET checksum=''",
        "UPDATE results SET checksum=replace(checksum, substr(checksum, 1, 1), 'x')",
    };
    struct stored_result one = sample('1', "done"), two = sample('2', "wrong");
    for (u32 i = 0; i < ARRAY_LEN(changes); i++) {
        struct error error = {0};
        struct store *store = store_open(path, &error);
        assert_true(store_put(store, &one, &error));
        change(changes[i]);
        for (u32 again = 0; again < 2; again++) /* counted once */
            assert_null(store_get(store, one.key, &error));
        assert_int_equal(error.code, ERROR_NONE);
        assert_int_equal(store_damaged(store), 1);
        assert_true(store_put(store, &one, &error));
        char *text = store_get(store, one.key, &error);
        assert_string_equal(text, "{\"a\": 1}");
        free(text);
        assert_true(store_put(store, &two, &error));
        change("UPDATE results SET status='done'"); /* a failure made a result of */
        assert_null(store_get(store, two.key, &error));
        assert_int_equal(store_damaged(store), 2);
        store_close(store);
    }
    change("UPDATE results SET key='other' WHERE key LIKE '1%'"); /* another job's */
    struct error error = {0};
    struct store *store = store_open(path, &error);
    assert_null(store_get(store, "other", &error));
    assert_int_equal(store_damaged(store), 1);
    store_close(store);
}

/* A file of schema 1 can still be used: its times are known; its results, which have no checksum,
 * are ignored. */
static void earlier_version(void **state)
{
    struct error error = {0};
    change("CREATE TABLE results(key TEXT PRIMARY KEY, version TEXT NOT NULL, build TEXT NOT NULL,"
           "workload TEXT NOT NULL, arguments TEXT NOT NULL, machine TEXT NOT NULL,"
           "configuration TEXT NOT NULL, status TEXT NOT NULL, message TEXT NOT NULL,"
           "seconds REAL NOT NULL, statistics TEXT NOT NULL);"
           "INSERT INTO results VALUES('k','1','b','vecadd','--quick','m','{}','done','',7,'{}');"
           "PRAGMA application_id=1214604364; PRAGMA user_version=1");
    struct store *store = store_open(path, &error), *other = store_open(path, &error);
    assert_true(store && other);
    assert_true(store_seconds(store, "vecadd", "--quick") == 7);
    assert_null(store_get(store, "k", &error));
    struct stored_result one = sample('1', "done");
    assert_true(store_put(store, &one, &error));
    char *text = store_get(other, one.key, &error);
    assert_string_equal(text, "{\"a\": 1}");
    free(text);
    store_close(store);
    store_close(other);
}

static void unwritable(void **state)
{
    struct error error = {0};
    assert_null(store_open("/nowhere/at/all.db", &error));
    assert_non_null(strstr(error.message, "cannot be opened"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_path, remove_path)
    const struct CMUnitTest tests[] = {
        TEST(put_and_get),  TEST(together),         TEST(opened_while_written),
        TEST(claims),       TEST(foreign),          TEST(later_version),
        TEST(damaged),      TEST(tampered),         TEST(earlier_version),
        TEST(unwritable),   TEST(claims_elsewhere), TEST(signs_of_life),
        TEST(only_reading), TEST(read_only_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
