/* Internals of the store, which its parts share: results (store.c), claims (store_claims.c) and
 * plans (catalogue.c). */
#ifndef LAB_STORE_DATABASE_H
#define LAB_STORE_DATABASE_H

#include "lab/store.h"
#include <sqlite3.h>

enum {
    SCHEMA_PLANS = 4, /* the first with plans, and the latest */
    STORE_PATIENCE_S = 120,
    STORE_BEAT_S = 10
};

/* What this process has seen of a process on another host (S6). */
struct foreign_owner {
    char *name;
    i64 beat;
    f64 since; /* when the beat was first seen, by this host's monotonic clock */
};

struct store {
    sqlite3 *database;
    char *path;
    char *owner;  /* this process, in claims; NULL: it claims nothing */
    f64 patience; /* seconds without a sign of life after which another host's claims end (S6) */
    f64 beaten;   /* when this process last showed that it lives; 0: never */
    VEC(struct foreign_owner) foreign;
    sqlite3_stmt *find, *put, *claim, *owner_of, *release; /* prepared when first used */
    VEC(char *) damaged;                                   /* keys of damaged rows (S4) */
};

/* False and an error: `what` and SQLite's reason. */
bool store_refuse(const struct store *store, struct error *error, const char *what);
bool store_execute(struct store *store, const char *statement, struct error *error);
/* Ends a transaction without a change. */
void store_undo(struct store *store);
/* A new statement; NULL and an error on failure. */
sqlite3_stmt *store_prepare(struct store *store, const char *text, struct error *error);
/* A statement that is prepared once. */
sqlite3_stmt *store_ready(struct store *store, sqlite3_stmt **statement, const char *text,
                          struct error *error);
/* Gives a statement a text, which must live until it has run. NULL counts as "". */
void store_bind(sqlite3_stmt *statement, int at, const char *text);
/* The schema of the file; 0: it is new. */
int store_schema(struct store *store);

/* Names this process as an owner of claims. */
void store_name_owner(struct store *store);
void store_forget_owners(struct store *store);

#endif
