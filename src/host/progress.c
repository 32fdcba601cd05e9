/*
 * Progress of launches: see progress.h.
 *
 * A thread of its own reads the counters of the device, because the launch itself should not care who
 * watches. It blocks all signals, so that the program's handlers run where they would without it. It
 * exists only if somebody watches, and lives as long as the process.
 */
#include "host/progress.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
    TICK_MS = 200
};

static void *write_progress(void *user)
{
    struct progress *progress = user;
    const struct timespec tick = {.tv_nsec = TICK_MS * 1000000};
    for (;;) {
        struct launch_progress now = {0};
        pthread_mutex_lock(progress->lock);
        const bool running = progress->read(progress->user, &now);
        pthread_mutex_unlock(progress->lock);
        if (running && pwrite(progress->file, &now, sizeof now, 0) != sizeof now)
            return NULL; /* the folder's disk is full: no progress is shown */
        nanosleep(&tick, NULL);
    }
}

void progress_begin(struct progress *progress)
{
    char path[PATH_MAX];
    sigset_t all, old;
    pthread_t thread;
    if (!progress->folder || progress->process == getpid())
        return;
    progress->process = getpid();
    snprintf(path, sizeof path, "%s/%s%ld.progress", progress->folder, progress->name,
             (long)progress->process);
    progress->file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (progress->file < 0)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    if (pthread_create(&thread, NULL, write_progress, progress) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}
