/*
 * Results of runs in an SQLite file, one row a job, so that nothing is run twice and an interrupted
 * campaign goes on where it was.
 *
 *  S1  A row is written in one transaction when its job has ended: the process may be killed at any
 *      time, and several may use one file.
 *  S2  A file that is not ours (other bytes, another application's database, a later version) is
 *      refused before anything is written to it.
 *  S3  The key names everything that a result depends on (plan.h); a result is never looked up by
 *      less.
 *  S4  A row carries a checksum of all its fields. One that does not fit it (a slip with another
 *      tool, a bit that flipped) is no result; store_damaged counts those that were asked for.
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
    const char *status;     /* "done", or what went wrong: runner.h */
    const char *message;    /* of a failure, else "" */
    const char *statistics; /* the document of `heddle run --stats`, or "" */
    f64 seconds;            /* on the host */
};

/* Made if it is not there. NULL and an error on failure. */
struct store *store_open(const char *path, struct error *error);
void store_close(struct store *store); /* NULL is fine */

bool store_put(struct store *store, const struct stored_result *result, struct error *error);
/* The statistics of a job that was done, to be freed; NULL with error->code ERROR_NONE when there
 * is no such result. */
char *store_get(struct store *store, const char *key, struct error *error);
/* Rows that store_get has found and not given out, because they are damaged (S4). */
u32 store_damaged(const struct store *store);
/* The longest that this program took with these arguments, on any machine; 0 when it never ran. */
f64 store_seconds(struct store *store, const char *workload, const char *arguments);

#endif
