/*
 * What drivers for programs of others have in common (OpenCL, CUDA): choices of the environment, and
 * launch records for the wrapper (cli/session.h).
 */
#ifndef HOST_SESSION_H
#define HOST_SESSION_H

#include "base/types.h"
#include "heddle/heddle.h"

#include <stdatomic.h>

struct launch_sum;

/* One device as its session sees it. The driver embeds it and fills the first part. */
struct session_device {
    struct hd_device *device;
    const char *machine;
    u32 index;        /* among the devices of the process */
    const bool *busy; /* a command uses the device, so that it may not be asked; NULL: never */

    u64 launches;                          /* kernels run; counted by session_launched */
    f64 started;                           /* start of the running launch, host seconds */
    atomic_bool launching;                 /* a launch is running */
    struct launch_sum *sum;                /* its sum, or NULL */
    size_t counters;                       /* number of counters; 0: not known yet */
    _Atomic(struct session_device *) next; /* in the order of session_device */
};

/* The records of this process: NAME in "NAMEpid.jsonl" tells drivers of one process apart. */
struct session *session_open(const char *name);
/* Devices and their configurations from HEDDLE_MACHINE, HEDDLE_SET, HEDDLE_MECH, ...; false: the
 * error was reported on standard error. */
bool session_configs(struct session *session, struct hd_config ***configs, u32 *count);
/* The program has got no device, since no machine suits it. */
void session_unusable(struct session *session);
/* Adds a device that has been opened; sets up its tracing, as the environment asks. */
void session_device(struct session *session, struct session_device *device);
/* Records that a program was built from source, or failed to build. */
void session_built(struct session *session, const char *source, const char *options,
                   const char *compiler, bool ok);
/* Whether a launch runs in timing mode (HEDDLE_KERNELS, HEDDLE_LAUNCHES, ...). `number` counts
 * launches of the process from 1. */
bool session_timed(struct session *session, u64 number, const char *kernel);
/* Called directly around hd_launch, without the driver's lock: the launch is recorded at once, and a
 * signal that would end the program ends the launch first. */
void session_started(struct session *session, struct session_device *device, u64 number,
                     const char *kernel, u64 blocks);
/* `result`: of hd_launch; NULL: the launch did not run. */
void session_launched(struct session *session, struct session_device *device, u64 number,
                      const struct hd_result *result);
/* Records that a launch cannot run. */
void session_refused(struct session *session, const char *kernel);
/* Writes the final records when the process ends. */
void session_close(struct session *session);
/* Records a failed assertion of Heddle in the session of this process, if one is open. Takes no
 * lock, as the caller may hold any. */
void session_bug(const char *text);

#endif
