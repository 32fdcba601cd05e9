/* Claims: which process runs which point (S5 and S6 of store.h). */
#include "lab/store_database.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static f64 now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (f64)time.tv_sec + (f64)time.tv_nsec * 1e-9;
}

/* ---- owners ---- */

/* A process as it is named in claims: host, number and time of start, since numbers are used again.
 * NULL: there is no such process here. */
static char *owner_of(pid_t pid)
{
    char host[256] = "", path[64], text[2048], *owner = NULL;
    gethostname(host, sizeof host - 1);
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    char *at = strrchr(text, ')'); /* the name before it may contain anything */
    u32 field = 2;                 /* of proc(5); the state follows */
    for (; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (at && asprintf(&owner, "%s %d %.*s", host, (int)pid, (int)strcspn(at + 1, " "), at + 1) < 0)
        host_memory_exhausted();
    return owner;
}

/* The count of a process on another host; 0: it has none. */
static i64 beat_of(struct store *store, const char *owner)
{
    struct error ignored = {0};
    sqlite3_stmt *statement =
        store_prepare(store, "SELECT beat FROM owners WHERE owner=?", &ignored);
    if (!statement) /* the file's schema is an earlier one */
        return 0;
    store_bind(statement, 1, owner);
    i64 beat = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return beat;
}

/* Whether a process on another host lives, as far as its count tells (S6). */
static bool foreign_lives(struct store *store, const char *owner)
{
    const i64 beat = beat_of(store, owner);
    struct foreign_owner *seen = NULL;
    for (u32 i = 0; i < store->foreign.count && !seen; i++)
        if (!strcmp(store->foreign.data[i].name, owner))
            seen = &store->foreign.data[i];
    if (!seen) {
        seen = vec_push(&store->foreign);
        *seen = (struct foreign_owner){checked(strdup(owner)), beat, now()};
    }
    if (seen->beat != beat) {
        seen->beat = beat;
        seen->since = now();
    }
    return now() - seen->since < store->patience;
}

static bool owner_lives(struct store *store, const char *owner)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    size_t length = strlen(host);
    if (strncmp(owner, host, length) != 0 || owner[length] != ' ')
        return foreign_lives(store, owner);
    char *today = owner_of((pid_t)strtol(owner + length, NULL, 10));
    bool lives = today && !strcmp(today, owner);
    free(today);
    return lives;
}

void store_name_owner(struct store *store)
{
    store->owner = owner_of(getpid());
}

/* Runs a statement about an owner; a failure is not reported, since only other hosts' waiting time
 * depends on it. */
static void tell_owners(struct store *store, const char *text)
{
    struct error ignored = {0};
    sqlite3_stmt *statement = store_prepare(store, text, &ignored);
    if (!statement)
        return;
    store_bind(statement, 1, store->owner);
    sqlite3_step(statement);
    sqlite3_finalize(statement);
}

void store_show_life(struct store *store)
{
    const f64 time = now();
    if (!store->owner || (store->beaten > 0 && time - store->beaten < STORE_BEAT_S))
        return;
    store->beaten = time;
    tell_owners(store, "INSERT INTO owners(owner, beat) VALUES(?, 1) "
                       "ON CONFLICT(owner) DO UPDATE SET beat=beat+1");
}

void store_forget_owners(struct store *store)
{
    if (store->beaten > 0)
        tell_owners(store, "DELETE FROM owners WHERE owner=?");
    for (u32 i = 0; i < store->foreign.count; i++)
        free(store->foreign.data[i].name);
    vec_free(&store->foreign);
    free(store->owner);
    store->owner = NULL;
}

/* ---- claims ---- */

/* Removes the claim of a process that has died; *lives: it has not. */
static bool drop_dead(struct store *store, const char *key, bool *lives, struct error *error)
{
    sqlite3_stmt *statement =
        store_ready(store, &store->owner_of, "SELECT owner FROM claims WHERE key=?", error);
    if (!statement)
        return false;
    store_bind(statement, 1, key);
    const bool claimed = sqlite3_step(statement) == SQLITE_ROW;
    *lives = claimed && owner_lives(store, (const char *)sqlite3_column_text(statement, 0));
    sqlite3_reset(statement);
    return !claimed || *lives || store_release(store, key, error);
}

bool store_claim(struct store *store, const char *key, bool *ours, struct error *error)
{
    bool lives = false;
    *ours = false;
    store_show_life(store);
    if (!store_execute(store, "BEGIN IMMEDIATE", error))
        return false;
    bool ok = drop_dead(store, key, &lives, error);
    sqlite3_stmt *statement =
        ok && !lives
            ? store_ready(store, &store->claim, "INSERT INTO claims(key, owner) VALUES(?,?)", error)
            : NULL;
    if (statement) {
        store_bind(statement, 1, key);
        store_bind(statement, 2, store->owner);
        ok = sqlite3_step(statement) == SQLITE_DONE ||
             store_refuse(store, error, "a claim cannot be stored");
        sqlite3_reset(statement);
    }
    if (!ok) {
        store_undo(store);
        return false;
    }
    *ours = statement;
    return store_execute(store, "COMMIT", error);
}

bool store_release(struct store *store, const char *key, struct error *error)
{
    sqlite3_stmt *statement =
        store_ready(store, &store->release, "DELETE FROM claims WHERE key=?", error);
    if (!statement)
        return false;
    store_bind(statement, 1, key);
    bool ok = sqlite3_step(statement) == SQLITE_DONE ||
              store_refuse(store, error, "a claim cannot be ended");
    sqlite3_reset(statement);
    return ok;
}

u32 store_claims(struct store *store)
{
    struct error error = {0};
    u32 count = 0;
    sqlite3_stmt *statement = store_prepare(store, "SELECT owner FROM claims", &error);
    while (statement && sqlite3_step(statement) == SQLITE_ROW)
        count += owner_lives(store, (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return count;
}
