/* Ctrl-C and progress: see watch.h. */
#include "cli/watch.h"

#include "base/quantity.h"
#include "cli/common.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    TICK_MS = 100,
    FIRST_DRAW_MS = 500, /* short runs draw nothing */
    SIGNAL_WAKE = SIGUSR1,
    TEMPORARIES = 4, /* files open at once: a trace, a time series, outputs */
};

struct watch {
    struct hd_device *device;
    pthread_t thread;
    sigset_t signals;
    atomic_int signal;
    atomic_bool ended;
    bool progress;
    pthread_mutex_t lock; /* protects the fields below, and standard error while drawing */
    const char *kernel;
    u32 number, count;
    f64 launch_start;
    bool drawn;
    char *temporaries[TEMPORARIES]; /* files being written, or NULL */
};

static f64 seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (f64)now.tv_sec + (f64)now.tv_nsec * 1e-9;
}

static void clear_line(struct watch *watch)
{
    if (watch->drawn)
        fputs("\r\033[K", stderr);
    watch->drawn = false;
}

/* Draws cycles and speed of a launch in timing mode; a functional one has no cycles. */
static void draw_pace(u64 cycles, u64 picoseconds, u64 instructions, f64 elapsed)
{
    char amount[24], time[24], rate[24];
    if (cycles)
        fprintf(stderr, "%s cycles (%s), %s warp instructions/s",
                amount_text((f64)cycles, amount, sizeof amount),
                time_text((f64)picoseconds * 1e-12, time, sizeof time),
                amount_text((f64)instructions / elapsed, rate, sizeof rate));
    else
        fprintf(stderr, "%s warp instructions",
                amount_text((f64)instructions, amount, sizeof amount));
}

static void draw(struct watch *watch)
{
    u64 done, total, instructions, cycles, picoseconds;
    hd_progress(watch->device, &done, &total, &instructions);
    hd_progress_time(watch->device, &cycles, &picoseconds);
    pthread_mutex_lock(&watch->lock);
    f64 elapsed = seconds() - watch->launch_start;
    if (watch->kernel && elapsed * 1000 >= FIRST_DRAW_MS) {
        clear_line(watch);
        char launch[48] = "";
        if (watch->count > 1)
            snprintf(launch, sizeof launch, " (launch %u of %u)", watch->number, watch->count);
        fprintf(stderr, "%.40s%s: %llu of %llu blocks, ", watch->kernel, launch,
                (unsigned long long)done, (unsigned long long)total);
        draw_pace(cycles, picoseconds, instructions, elapsed);
        if (done && total > done)
            fprintf(stderr, ", about %.0f s left", elapsed * (f64)(total - done) / (f64)done);
        fflush(stderr);
        watch->drawn = true;
    }
    pthread_mutex_unlock(&watch->lock);
}

/* On the second signal: removes incomplete files and exits. */
static void leave(struct watch *watch, int number)
{
    pthread_mutex_lock(&watch->lock);
    for (u32 i = 0; i < TEMPORARIES; i++)
        if (watch->temporaries[i])
            unlink(watch->temporaries[i]);
    _exit(128 + number);
}

static void *watch_thread(void *user)
{
    struct watch *watch = user;
    const struct timespec tick = {.tv_nsec = TICK_MS * 1000000l};
    while (!atomic_load(&watch->ended)) {
        int number = sigtimedwait(&watch->signals, NULL, &tick);
        if (number == SIGINT || number == SIGTERM) {
            if (atomic_load(&watch->signal))
                leave(watch, number);
            atomic_store(&watch->signal, number);
        }
        if (atomic_load(&watch->ended))
            break;
        if (atomic_load(&watch->signal))
            hd_interrupt(watch->device);
        else if (watch->progress)
            draw(watch);
    }
    return NULL;
}

struct watch *watch_start(struct hd_device *device, bool progress)
{
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    watch->device = device;
    watch->progress = progress;
    pthread_mutex_init(&watch->lock, NULL);
    sigemptyset(&watch->signals);
    sigaddset(&watch->signals, SIGINT);
    sigaddset(&watch->signals, SIGTERM);
    sigaddset(&watch->signals, SIGNAL_WAKE);
    pthread_sigmask(SIG_BLOCK, &watch->signals, NULL);
    if (pthread_create(&watch->thread, NULL, watch_thread, watch) == 0)
        return watch;
    free(watch);
    return NULL;
}

void watch_launch(struct watch *watch, const char *kernel, u32 number, u32 count)
{
    pthread_mutex_lock(&watch->lock);
    watch->kernel = kernel;
    watch->number = number;
    watch->count = count;
    watch->launch_start = seconds();
    pthread_mutex_unlock(&watch->lock);
}

int watch_signal(struct watch *watch)
{
    return atomic_load(&watch->signal);
}

void watch_temporary(struct watch *watch, const char *path)
{
    if (!watch)
        return;
    pthread_mutex_lock(&watch->lock);
    u32 at = 0;
    while (path && at < TEMPORARIES && watch->temporaries[at])
        at++;
    if (path && at < TEMPORARIES)
        watch->temporaries[at] = strdup(path);
    pthread_mutex_unlock(&watch->lock);
}

void watch_temporary_gone(struct watch *watch, const char *path)
{
    if (!watch)
        return;
    pthread_mutex_lock(&watch->lock);
    for (u32 i = 0; path && i < TEMPORARIES; i++)
        if (watch->temporaries[i] && !strcmp(watch->temporaries[i], path)) {
            free(watch->temporaries[i]);
            watch->temporaries[i] = NULL;
        }
    pthread_mutex_unlock(&watch->lock);
}

void watch_note(struct watch *watch, const struct command *command, const char *kernel,
                const char *text)
{
    if (!watch || !watch->progress)
        return;
    pthread_mutex_lock(&watch->lock);
    clear_line(watch);
    complain_endless(command, kernel, text);
    pthread_mutex_unlock(&watch->lock);
}

void watch_clear(struct watch *watch)
{
    if (!watch)
        return;
    pthread_mutex_lock(&watch->lock);
    clear_line(watch);
    pthread_mutex_unlock(&watch->lock);
}

void watch_stop(struct watch *watch)
{
    atomic_store(&watch->ended, true);
    pthread_kill(watch->thread, SIGNAL_WAKE);
    pthread_join(watch->thread, NULL);
    watch_clear(watch);
    pthread_mutex_destroy(&watch->lock);
    for (u32 i = 0; i < TEMPORARIES; i++)
        free(watch->temporaries[i]);
    free(watch);
}
