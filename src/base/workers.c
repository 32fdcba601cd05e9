/*
 * Threads that share the jobs of short rounds: see workers.h.
 *
 * A round is one word, `ticket`: its number, how many jobs it has and the next one. A thread takes a
 * job by counting the word up, so that a thread that was asleep or late can only take a job of the
 * round that it has read. The round is over when `left` is 0.
 *
 * The word's store by workers_run releases what the jobs read, and its exchange by a thread acquires
 * it. The last thread's decrement of `left` releases what jobs have written.
 */
#include "base/workers.h"

#include "base/arena.h"
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    SPINS = 4000, /* looks before a thread sleeps: some 50 us, more than most pauses of a launch */
    COUNT_SHIFT = 16,
    ROUND_SHIFT = 32
};

struct worker {
    struct workers *all;
    pthread_t thread;
    u32 index;
    u32 begun; /* workers.begun when it last set its floating-point environment */
};

struct workers {
    _Alignas(64) atomic_ullong ticket;
    _Alignas(64) atomic_uint left;   /* jobs of the round that are not done */
    _Alignas(64) atomic_uint asleep; /* threads that wait for `wake` */
    atomic_bool waiting;             /* the caller waits for `done` */
    atomic_bool ending;
    /* set by the caller, between rounds */
    _Alignas(64) job_fn *run;
    void *user;
    fenv_t environment;
    u32 begun; /* how often workers_begin was called */
    u32 spins;
    bool leaves;          /* workers_leave */
    u32 threads, started; /* wanted, the caller included; those that were started */
    pid_t process;        /* that has started them */
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    struct worker workers[];
};

u32 workers_host_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (u32)CPU_COUNT(&set);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (u32)cores : 1;
}

struct workers *workers_create(u32 threads)
{
    assert(threads > 1 && threads <= WORKERS_MOST);
    const size_t bytes = sizeof(struct workers) + threads * sizeof(struct worker);
    struct workers *w = checked(aligned_alloc(64, align_up(bytes, 64)));
    memset(w, 0, bytes);
    w->threads = threads;
    return w;
}

u32 workers_count(const struct workers *w)
{
    return w->threads;
}

void workers_leave(struct workers *w)
{
    w->leaves = true;
}

/* ---- taking jobs ---- */

static bool has_job(u64 ticket)
{
    return (u16)ticket < (u16)(ticket >> COUNT_SHIFT);
}

static void job_done(struct workers *w)
{
    if (atomic_fetch_sub(&w->left, 1) != 1 || !atomic_load(&w->waiting))
        return;
    pthread_mutex_lock(&w->lock);
    pthread_cond_signal(&w->done);
    pthread_mutex_unlock(&w->lock);
}

/* A new launch: arithmetic is that of the thread that runs it. */
static void take_environment(struct worker *me)
{
    if (me->begun == me->all->begun)
        return;
    me->begun = me->all->begun;
    fesetenv(&me->all->environment);
}

/* Takes jobs until the round has none left. */
static void take_jobs(struct workers *w, struct worker *me, u32 index)
{
    unsigned long long ticket = atomic_load_explicit(&w->ticket, memory_order_relaxed);
    while (has_job(ticket)) {
        if (!atomic_compare_exchange_weak_explicit(&w->ticket, &ticket, ticket + 1,
                                                   memory_order_acquire, memory_order_relaxed))
            continue;
        if (me)
            take_environment(me);
        w->run(w->user, (u16)ticket, index);
        job_done(w);
        ticket = atomic_load_explicit(&w->ticket, memory_order_relaxed);
    }
}

/* ---- waiting ---- */

static inline void spin(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void sleep_until_round(struct workers *w)
{
    pthread_mutex_lock(&w->lock);
    atomic_fetch_add(&w->asleep, 1);
    while (!has_job(atomic_load(&w->ticket)) && !atomic_load(&w->ending))
        pthread_cond_wait(&w->wake, &w->lock);
    atomic_fetch_sub(&w->asleep, 1);
    pthread_mutex_unlock(&w->lock);
}

static void *worker_thread(void *user)
{
    struct worker *me = user;
    struct workers *w = me->all;
    u32 looks = 0;
    while (!atomic_load_explicit(&w->ending, memory_order_relaxed)) {
        if (has_job(atomic_load_explicit(&w->ticket, memory_order_relaxed))) {
            take_jobs(w, me, me->index);
            looks = 0;
        } else if (looks++ < w->spins) {
            spin();
        } else {
            sleep_until_round(w);
            looks = 0;
        }
    }
    return NULL;
}

static void wait_until_done(struct workers *w)
{
    for (u32 looks = 0; looks < w->spins; looks++, spin())
        if (!atomic_load_explicit(&w->left, memory_order_acquire))
            return;
    pthread_mutex_lock(&w->lock);
    atomic_store(&w->waiting, true);
    while (atomic_load(&w->left))
        pthread_cond_wait(&w->done, &w->lock);
    atomic_store(&w->waiting, false);
    pthread_mutex_unlock(&w->lock);
}

/* Wakes so many threads, or all. */
static void wake(struct workers *w, u32 count)
{
    pthread_mutex_lock(&w->lock);
    if (atomic_load(&w->asleep) <= count)
        pthread_cond_broadcast(&w->wake);
    else
        while (count--)
            pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

void workers_run(struct workers *w, u32 jobs, job_fn *run, void *user)
{
    assert(jobs <= WORKERS_JOBS && !atomic_load(&w->left));
    const u64 round = (atomic_load_explicit(&w->ticket, memory_order_relaxed) >> ROUND_SHIFT) + 1;
    if (jobs < 2 || !w->started) {
        for (u32 i = 0; i < jobs; i++)
            run(user, i, 0);
        return;
    }
    w->run = run;
    w->user = user;
    atomic_store_explicit(&w->left, jobs, memory_order_relaxed);
    atomic_store(&w->ticket, round << ROUND_SHIFT | (u64)jobs << COUNT_SHIFT);
    if (atomic_load(&w->asleep))
        wake(w, jobs - 1);
    if (LIKELY(!w->leaves) || round % 4)
        take_jobs(w, NULL, 0);
    wait_until_done(w);
}

/* ---- threads ---- */

/* Those that were started in another process are not here. */
static void start(struct workers *w)
{
    sigset_t all, before;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
    pthread_cond_init(&w->done, NULL);
    atomic_store(&w->ticket, 0);
    atomic_store(&w->left, 0);
    atomic_store(&w->asleep, 0);
    atomic_store(&w->waiting, false);
    atomic_store(&w->ending, false);
    w->process = getpid();
    w->spins = w->threads <= workers_host_cores() ? SPINS : 0;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    for (w->started = 0; w->started + 1 < w->threads; w->started++) {
        struct worker *worker = &w->workers[w->started];
        *worker = (struct worker){.all = w, .index = w->started + 1};
        if (pthread_create(&worker->thread, NULL, worker_thread, worker) != 0)
            break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void workers_begin(struct workers *w)
{
    fegetenv(&w->environment);
    w->begun++;
    if (w->process != getpid())
        start(w);
}

void workers_destroy(struct workers *w)
{
    if (!w)
        return;
    if (w->process == getpid()) {
        pthread_mutex_lock(&w->lock);
        atomic_store(&w->ending, true);
        pthread_cond_broadcast(&w->wake);
        pthread_mutex_unlock(&w->lock);
        for (u32 i = 0; i < w->started; i++)
            pthread_join(w->workers[i].thread, NULL);
        pthread_mutex_destroy(&w->lock);
        pthread_cond_destroy(&w->wake);
        pthread_cond_destroy(&w->done);
    }
    free(w);
}
