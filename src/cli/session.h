/*
 * What a program leaves while its kernels run on Heddle: records that the OpenCL driver appends to
 * a file of each process in the session's folder, a line of JSON each, flushed at once. So what a
 * program did is known however it ended.
 *
 *   {"event": "loaded", "at": ns}                  the loader has asked the driver for its platform
 *   {"event": "device", "machine": name}           a context was made on the device
 *   {"event": "build", "sha256", "bytes", "options", "compiler", "ok"}    a program from source
 *   {"event": "start", "kernel", "blocks"}
 *   {"event": "note", "kernel", "text"}            as hd_set_note tells it: it may be endless
 *   {"event": "launch", "number", "host_ns", "launch": {...}}    as hd_launch_json tells it
 *   {"event": "counters", "device", "names"}       in what order its counters are added up
 *   {"event": "sum", "device", "kernel", "offset"} launches of it are added up there, in the file
 *                                                  beside this one (sums.h)
 *   {"event": "refused", "kernel"}                 a launch that was enqueued but could not run
 *   {"event": "bug", "text"}                       an assertion of Heddle's failed
 *   {"event": "profile", "device", "profile": [...]}        as hd_profile_json tells it; a device's
 *                                                           last one counts
 *
 * The source of a program's kernels, if it has only one, lies there as program.cl.
 */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "cli/sums.h"

struct process_record {
    char *name;  /* of its file */
    long offset; /* read so far */
    i64 at;      /* when it was loaded: processes stand in this order */
    bool loaded, device;
    json_t *launches, *seconds, *builds;
    json_t *profiles; /* by device */
    struct sum_list sums;
    char *running; /* the kernel that runs now, or NULL */
    u64 blocks;    /* of it */
    char *note;    /* about it, not shown yet; or NULL */
    bool adding;   /* it is one of the sums' */
    char *bug;     /* an assertion that failed, or NULL */
    char *faulted; /* the first kernel that did not end as it should, or NULL */
};

struct program_session {
    const char *folder;
    VEC(struct process_record) processes;
};

void session_free(struct program_session *session);
/* Reads what has been appended since. */
void session_read(struct program_session *session);
/* Launches, in order; each counts once. */
u64 session_launches(const struct program_session *session);
/* An assertion of Heddle's that failed in a process; NULL: none. */
const char *session_bug(const struct program_session *session);
/* The kernel that runs now, with the process that runs it; NULL: none. */
const struct process_record *session_running(const struct program_session *session);
/* A kernel that faulted, hung, reached a limit or could not run; NULL: none. */
const char *session_faulted(const struct program_session *session);
/* All of a kind, in the order of processes: launches, host seconds of them, builds, profiles, sums
 * and host seconds of them. */
struct session_all {
    json_t *launches, *seconds, *builds, *profile, *sums, *sum_seconds;
};
struct session_all session_collect(struct program_session *session, const struct hd_config *config);
void session_all_free(struct session_all *all);

/* A table of kernels on standard error, and where their time went. `stats`: as hd_stats_json. */
void print_kernels(const json_t *stats, const struct session_all *all);

#endif
