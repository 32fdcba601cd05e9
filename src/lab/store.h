/*
 * Results of runs in an SQLite file, one row per point, so that nothing is run twice and an
 * interrupted campaign continues where it was.
 *
 *  S1  A row is written in one transaction when its point has ended: the process may be killed at
 *      any time, and several may use one file. The file has a write-ahead log while it is in use:
 *      a result then costs no wait for the disk, and a power failure may lose the last few.
 *  S2  A file that is not a store of this version (other bytes, another application's database, a
 *      later version) is refused before anything is written to it.
 *  S3  The key names everything that a result depends on (plan.h); a result is never looked up by
 *      less.
 *  S4  A row has a checksum of all its fields. A row that does not match it (edited by another
 *      tool, a flipped bit) is not a result; store_damaged counts those that were requested.
 *  S5  A point is claimed before it is run. Others leave it alone as long as the claiming process
 *      lives; the claim of a process that has died is taken over.
 *  S6  Whether a process on another host lives cannot be looked up. Every process with claims counts
 *      upwards in the file every ten seconds; one whose count has stood still for two minutes has
 *      died. Each host measures this by its own clock, so clocks that differ do not matter.
 */
#ifndef LAB_STORE_H
#define LAB_STORE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"

struct store;

struct stored_result {
    char key[SHA256_TEXT];
    const char *version, *build; /* of Heddle; the hash of its files */
    const char *workload, *arguments, *machine;
    const char *configuration; /* "" if `statistics` contains it */
    const char *status;        /* "done", or the reason of a failure: outcome.h */
    const char *message;       /* of a failure, else "" */
    const char *statistics;    /* the document of `heddle run --stats`, or "" */
    f64 seconds;               /* on the host */
};

/* Opens or creates a store. NULL and an error on failure. */
struct store *store_open(const char *path, struct error *error);
/* Opens a store that exists, for looking only; it may be in a folder that cannot be written to. NULL
 * and an error on failure. */
struct store *store_open_to_read(const char *path, struct error *error);
void store_close(struct store *store); /* NULL is fine */

bool store_put(struct store *store, const struct stored_result *result, struct error *error);
enum stored_state {
    STORED_NOTHING,
    STORED_DONE,
    STORED_FAILED
};

/* Looks a point up. Status, message and seconds are filled in `arena`; statistics, too, if `whole`.
 * STORED_NOTHING with error->code ERROR_NONE: there is no result. */
enum stored_state store_find(struct store *store, const char *key, bool whole, struct arena *arena,
                             struct stored_result *result, struct error *error);
/* The malloc'd statistics of a point; NULL with error->code ERROR_NONE if there is no result. */
char *store_get(struct store *store, const char *key, struct error *error);
/* Rows that were found and refused because they are damaged (S4). */
u32 store_damaged(const struct store *store);
/* The longest duration of this program with these arguments, on any machine; 0 if it never ran. */
f64 store_seconds(struct store *store, const char *workload, const char *arguments);

/* Claims a point for this process (S5); *ours: it is claimed now. */
bool store_claim(struct store *store, const char *key, bool *ours, struct error *error);
/* Ends a claim of this process. store_put does the same. */
bool store_release(struct store *store, const char *key, struct error *error);
/* Points that living processes have claimed. */
u32 store_claims(struct store *store);
/* Shows others that this process lives (S6). Cheap: it writes only every ten seconds. */
void store_show_life(struct store *store);

/* A fact about the campaign, such as its plan file; NULL: there is none. */
const char *store_fact(struct store *store, struct arena *arena, const char *name);
bool store_set_fact(struct store *store, const char *name, const char *value, struct error *error);

#endif
