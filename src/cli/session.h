/*
 * Records of a program whose kernels run on Heddle: the OpenCL driver appends them to a file of
 * each process in the session's folder, one line of JSON each, flushed at once. So the launches
 * of a program are known however it ended.
 *
 *   {"event": "loaded", "at": ns}                  the loader has asked the driver for its platform
 *   {"event": "device", "machine": name}           a context was created on the device
 *   {"event": "build", "sha256", "bytes", "options", "compiler", "ok"}    a program from source
 *   {"event": "start", "kernel", "blocks"}
 *   {"event": "note", "kernel", "text"}            from hd_set_note: it may be endless
 *   {"event": "launch", "number", "host_ns", "launch": {...}}    from hd_launch_json
 *   {"event": "counters", "device", "names"}       the order of its counters in sums
 *   {"event": "sum", "device", "kernel", "offset"} its launches are summed up at this offset of
 *                                                  the file of sums (sums.h)
 *   {"event": "refused", "kernel"}                 a launch that was enqueued but could not run
 *   {"event": "bug", "text"}                       an assertion of Heddle failed
 *   {"event": "profile", "device", "profile": [...]}        from hd_profile_json; the last one of
 *                                                           a device counts
 *
 * With HEDDLE_PROGRESS, the progress of the running launch is in a file beside it (base/progress.h).
 * The source of a program's kernels, if it has only one, is kept there as program.cl.
 */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "base/progress.h"
#include "cli/sums.h"

struct process_record {
    char *name;  /* name of its file */
    long offset; /* bytes read so far */
    i64 at;      /* time of loading, ns: the order of processes */
    bool loaded, device;
    bool unusable; /* no machine suits it */
    json_t *launches, *seconds, *builds;
    json_t *profiles; /* by device */
    struct sum_list sums;
    char *running;                   /* the kernel that runs now, or NULL */
    u64 blocks;                      /* of the running launch */
    struct launch_progress progress; /* of the running launch; zero: not known */
    char *note;                      /* about the running launch, not shown yet; or NULL */
    bool adding;                     /* the running launch belongs to a sum */
    char *bug;                       /* a failed assertion, or NULL */
    char *faulted;                   /* the first kernel that failed, or NULL */
};

struct program_session {
    const char *folder;
    VEC(struct process_record) processes;
};

void session_free(struct program_session *session);
/* Reads records appended since the last call. */
void session_read(struct program_session *session);
/* The number of launches so far. */
u64 session_launches(const struct program_session *session);
/* A failed assertion of Heddle in a process; NULL: none. */
const char *session_bug(const struct program_session *session);
/* The process that runs a kernel now; NULL: none. */
const struct process_record *session_running(const struct program_session *session);
/* A kernel that faulted, hung, reached a limit or could not run; NULL: none. */
const char *session_faulted(const struct program_session *session);
/* The records of all processes, in their order: launches and their host seconds, builds, profiles,
 * sums and their host seconds. */
struct session_all {
    json_t *launches, *seconds, *builds, *profile, *sums, *sum_seconds;
};
struct session_all session_collect(struct program_session *session, const struct hd_config *config);
void session_all_free(struct session_all *all);

/* Prints a table of kernels on standard error, and where their time went. `stats`: as from
 * hd_stats_json. */
void print_kernels(const json_t *stats, const struct session_all *all);

#endif
