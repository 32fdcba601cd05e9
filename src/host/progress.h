/* Progress of launches, for a command that shows it: base/progress.h. */
#ifndef HOST_PROGRESS_H
#define HOST_PROGRESS_H

#include "base/progress.h"
#include <pthread.h>

/* Fills the progress of the running launch; false: none is running. Called with the lock held. */
typedef bool progress_read(void *user, struct launch_progress *progress);

struct progress {
    const char *folder; /* of the session; NULL: progress is not wanted */
    const char *name;   /* of the driver, in the name of its file */
    pthread_mutex_t *lock;
    progress_read *read;
    void *user;
    pid_t process; /* that has the thread; another one after a fork */
    int file;
};

/* Starts to write progress in this process, unless that is done already. Called with the lock held. */
void progress_begin(struct progress *progress);

#endif
