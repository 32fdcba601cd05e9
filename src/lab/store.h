/*
 * Results of runs in an SQLite file, one row per job, so that nothing is run twice and an
 * interrupted campaign continues where it was.
 *
 *  S1  A row is written in one transaction when its job has ended: the process may be killed at any
 *      time, and several may use one file.
 *  S2  A file that is not a store of this version (other bytes, another application's database, a
 *      later version) is refused before anything is written to it.
 *  S3  The key names everything that a result depends on (plan.h); a result is never looked up by
 *      less.
 *  S4  A row has a checksum of all its fields. A row that does not match it (edited by another
 *      tool, a flipped bit) is not a result; store_damaged counts those that were requested.
 */
#ifndef LAB_STORE_H
#define LAB_STORE_H

#include "base/error.h"
#include "base/hash.h"

struct store;

struct stored_result {
    char key[SHA256_TEXT];
    const char *version, *build; /* of Heddle; the hash of its files */
    const char *workload, *arguments, *machine, *configuration;
    const char *status;     /* "done", or the kind of failure: runner.h */
    const char *message;    /* of a failure, else "" */
    const char *statistics; /* the document of `heddle run --stats`, or "" */
    f64 seconds;            /* on the host */
};

/* Opens or creates a store. NULL and an error on failure. */
struct store *store_open(const char *path, struct error *error);
void store_close(struct store *store); /* NULL is fine */

bool store_put(struct store *store, const struct stored_result *result, struct error *error);
/* The malloc'd statistics of a job; NULL with error->code ERROR_NONE if there is no result. */
char *store_get(struct store *store, const char *key, struct error *error);
/* Rows that store_get has found and refused because they are damaged (S4). */
u32 store_damaged(const struct store *store);
/* The longest duration of this program with these arguments, on any machine; 0 if it never ran. */
f64 store_seconds(struct store *store, const char *workload, const char *arguments);

#endif
