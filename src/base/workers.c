/*
 * Threads that share the jobs of short rounds: see workers.h.
 *
 * A queue is one word, `open`: the number of the round, and the first and the end of the jobs that no
 * thread has taken yet. A thread takes a job by exchanging the word, so that a thread that was asleep or
 * late can only take a job of the round that it has read. The round is over when `left` is 0.
 *
 * The word's store by workers_run releases what the jobs read, and its exchange by a thread acquires
 * it. A thread subtracts what it has done from `left` when it finds no more jobs, which releases
 * what they have written.
 *
 * A cache line that one processor core has written takes some 100 ns to reach another. So nothing is
 * written for each job that another thread reads, and what different threads write lies apart.
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
    END_SHIFT = 16,
    ROUND_SHIFT = 32
};

/* The jobs of a thread. */
struct worker_queue {
    _Alignas(HOST_LINE_PAIR) atomic_ullong open;
    u16 *jobs;
    u32 count; /* added for the next round */
};

struct worker {
    struct workers *all;
    pthread_t thread;
    u32 index;
    u32 begun; /* workers.begun when it last set its floating-point environment */
};

struct workers {
    _Alignas(HOST_LINE_PAIR) atomic_uint round;  /* the number of the last round */
    _Alignas(HOST_LINE_PAIR) atomic_uint left;   /* jobs of the round that are not done */
    _Alignas(HOST_LINE_PAIR) atomic_uint asleep; /* threads that wait for `wake` */
    atomic_bool waiting;                         /* the caller waits for `done` */
    atomic_bool ending;
    /* set by the caller, between rounds */
    _Alignas(HOST_LINE_PAIR) job_fn *run;
    void *user;
    u32 jobs, room; /* added for the next round, and at most */
    fenv_t environment;
    u32 begun; /* how often workers_begin was called */
    u32 spins;
    bool leaves;          /* workers_leave */
    u32 threads, started; /* wanted, the caller included; those that were started */
    pid_t process;        /* that has started them */
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    struct worker *workers;       /* all but the caller */
    struct worker_queue queues[]; /* by thread; the caller's first */
};

u32 workers_host_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (u32)CPU_COUNT(&set);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (u32)cores : 1;
}

struct workers *workers_create(u32 threads, u32 jobs)
{
    assert(threads > 1 && threads <= WORKERS_MOST && jobs <= WORKERS_JOBS);
    const size_t bytes = sizeof(struct workers) + threads * sizeof(struct worker_queue);
    struct workers *w = checked(aligned_alloc(HOST_LINE_PAIR, align_up(bytes, HOST_LINE_PAIR)));
    memset(w, 0, bytes);
    w->threads = threads;
    w->room = jobs;
    w->workers = checked(calloc(threads - 1, sizeof *w->workers));
    for (u32 i = 0; i < threads; i++) {
        const size_t list = align_up(jobs * sizeof *w->queues->jobs, HOST_LINE_PAIR);
        w->queues[i].jobs =
            checked(aligned_alloc(HOST_LINE_PAIR, MAX(list, (size_t)HOST_LINE_PAIR)));
    }
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

void workers_add(struct workers *w, u32 worker, u32 job)
{
    assert(w->jobs < w->room && job <= WORKERS_JOBS);
    struct worker_queue *queue = &w->queues[worker <= w->started ? worker : 0];
    queue->jobs[queue->count++] = (u16)job;
    w->jobs++;
}

/* ---- taking jobs ---- */

static u32 first_of(u64 open)
{
    return (u16)open;
}

static u32 end_of(u64 open)
{
    return (u16)(open >> END_SHIFT);
}

static u32 jobs_open(const struct worker_queue *queue)
{
    const u64 open = atomic_load_explicit(&queue->open, memory_order_relaxed);
    return end_of(open) - first_of(open);
}

/* Takes the first job of a queue, or the last. False: there is none. */
static bool take(struct worker_queue *queue, bool last, u32 *job)
{
    unsigned long long open = atomic_load_explicit(&queue->open, memory_order_relaxed), less;
    do {
        if (first_of(open) == end_of(open))
            return false;
        less = last ? open - (1u << END_SHIFT) : open + 1;
    } while (!atomic_compare_exchange_weak_explicit(&queue->open, &open, less, memory_order_acquire,
                                                    memory_order_relaxed));
    *job = queue->jobs[last ? end_of(less) : first_of(open)];
    return true;
}

/* Takes a job from the thread that has most left. False: no other thread has any. */
static bool steal(struct workers *w, u32 thief, u32 *job)
{
    for (;;) {
        struct worker_queue *longest = NULL;
        u32 most = 0;
        for (u32 i = 0; i <= w->started; i++) {
            const u32 open = i == thief ? 0 : jobs_open(&w->queues[i]);
            if (open > most) {
                longest = &w->queues[i];
                most = open;
            }
        }
        if (!longest)
            return false;
        if (take(longest, true, job))
            return true;
    }
}

static void jobs_done(struct workers *w, u32 count)
{
    if (atomic_fetch_sub(&w->left, count) != count || !atomic_load(&w->waiting))
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

/* Runs jobs until all queues are empty. */
static void take_jobs(struct workers *w, u32 index)
{
    u32 job, done = 0;
    while (take(&w->queues[index], false, &job) || steal(w, index, &job)) {
        if (!done++ && index)
            take_environment(&w->workers[index - 1]);
        w->run(w->user, job, index);
    }
    if (done)
        jobs_done(w, done);
}

/* ---- waiting ---- */

static inline void spin(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void sleep_until_round(struct workers *w, u32 seen)
{
    pthread_mutex_lock(&w->lock);
    atomic_fetch_add(&w->asleep, 1);
    while (atomic_load(&w->round) == seen && !atomic_load(&w->ending))
        pthread_cond_wait(&w->wake, &w->lock);
    atomic_fetch_sub(&w->asleep, 1);
    pthread_mutex_unlock(&w->lock);
}

static void *worker_thread(void *user)
{
    struct worker *me = user;
    struct workers *w = me->all;
    u32 looks = 0, seen = 0;
    while (!atomic_load_explicit(&w->ending, memory_order_relaxed)) {
        const u32 round = atomic_load_explicit(&w->round, memory_order_acquire);
        if (round != seen) {
            seen = round;
            take_jobs(w, me->index);
            looks = 0;
        } else if (looks++ < w->spins) {
            spin();
        } else {
            sleep_until_round(w, seen);
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

/* Opens the queues to all threads. */
static void open_queues(struct workers *w, u32 round)
{
    for (u32 i = 0; i <= w->started; i++) {
        struct worker_queue *queue = &w->queues[i];
        atomic_store_explicit(&queue->open,
                              (u64)round << ROUND_SHIFT | (u64)queue->count << END_SHIFT,
                              memory_order_release);
        queue->count = 0;
    }
    atomic_store(&w->round, round);
}

/* A round without other threads. */
static void run_here(struct workers *w)
{
    for (u32 i = 0; i <= w->started; i++) {
        struct worker_queue *queue = &w->queues[i];
        for (u32 k = 0; k < queue->count; k++)
            w->run(w->user, queue->jobs[k], 0);
        queue->count = 0;
    }
}

void workers_run(struct workers *w, job_fn *run, void *user)
{
    assert(!atomic_load(&w->left));
    const u32 jobs = w->jobs, round = atomic_load_explicit(&w->round, memory_order_relaxed) + 1;
    w->run = run;
    w->user = user;
    w->jobs = 0;
    if (jobs < 2 || !w->started) {
        run_here(w);
        return;
    }
    atomic_store_explicit(&w->left, jobs, memory_order_relaxed);
    open_queues(w, round);
    if (atomic_load(&w->asleep))
        wake(w, jobs - 1);
    if (LIKELY(!w->leaves) || round % 4)
        take_jobs(w, 0);
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
    atomic_store(&w->round, 0);
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
    for (u32 i = 0; i < w->threads; i++)
        free(w->queues[i].jobs);
    free(w->workers);
    free(w);
}
