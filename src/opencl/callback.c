/*
 * Event callbacks: one thread calls them, in the order in which they became due.
 *
 * A program may hold a lock of its own while it enqueues or sets a callback, and take the same lock
 * in the callback. This works with other drivers, which call from other threads; called from within
 * the API function, it would deadlock. Yet what a program sees should not depend on how the host
 * schedules threads. So a thread that has posted callbacks waits until they return: a program whose
 * callbacks enqueue commands always sees the same order. It waits at most PATIENCE_NS, since the
 * callback may itself wait for the waiting thread.
 *
 * Invariants
 *  B1  The thread that calls callbacks never waits for callbacks.
 *  B2  A call holds a reference to its event until it has returned.
 *  B3  After a wait has timed out, no thread waits until all posted calls have returned.
 */
#include "opencl/opencl.h"

#include <signal.h>
#include <time.h>

enum {
    PATIENCE_NS = 100000000 /* long for a callback that computes, short for a program that would
                             * deadlock; results do not depend on it */
};

struct callback_call {
    struct callback_call *next;
    cl_event event;
    cl_int status;
    struct event_callback *callback;
};

/* With the lock, which is released while the program's function runs. */
static void call_first(struct callbacks *callbacks)
{
    struct callback_call *call = callbacks->first;
    callbacks->first = call->next;
    if (!callbacks->first)
        callbacks->last = NULL;
    driver_unlock();
    call->callback->call(call->event, call->status, call->callback->user);
    driver_lock();
    object_release(call->event);
    free(call->callback);
    free(call);
    callbacks->done++;
    if (callbacks->done == callbacks->posted)
        callbacks->late = false;
    driver_changed();
}

static void *call_all(void *user)
{
    struct callbacks *callbacks = user;
    LOCKED;
    for (;;) {
        while (callbacks->first)
            call_first(callbacks);
        driver_wait();
    }
    return NULL;
}

/* Starts the thread with all signals blocked: the program's own threads handle them. */
static bool start(struct callbacks *callbacks)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool made = pthread_create(&callbacks->thread, NULL, call_all, callbacks) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made)
        pthread_detach(callbacks->thread);
    return made;
}

void callback_post(cl_event event, cl_int status, struct event_callback *callback)
{
    struct callbacks *callbacks = &platform_get()->callbacks;
    struct callback_call *call = checked(calloc(1, sizeof *call));
    *call = (struct callback_call){.event = event, .status = status, .callback = callback};
    object_retain(event);
    if (callbacks->last)
        callbacks->last->next = call;
    else
        callbacks->first = call;
    callbacks->last = call;
    callbacks->posted++;
    if (!callbacks->running)
        callbacks->running = start(callbacks);
    driver_changed();
}

void callback_settle(void)
{
    struct callbacks *callbacks = &platform_get()->callbacks;
    u64 posted = callbacks->posted;
    if (!callbacks->running) /* the thread could not be created */
        while (callbacks->first)
            call_first(callbacks);
    if (pthread_equal(pthread_self(), callbacks->thread))
        return;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (until.tv_nsec + PATIENCE_NS) / 1000000000;
    until.tv_nsec = (until.tv_nsec + PATIENCE_NS) % 1000000000;
    while (callbacks->done < posted && !callbacks->late)
        if (!driver_wait_until(&until))
            callbacks->late = callbacks->done < posted;
}
