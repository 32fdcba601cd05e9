/*
 * Threads that share rounds of jobs: each job runs once, a thread's own jobs in their order and
 * before those of others, which are taken from the back, and what a job wrote is there when the round
 * is over. With the argument "cost" it prints what a round of empty jobs costs.
 */
#include "base/workers.h"

#include <fenv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

enum {
    JOBS = 40,
    ROUNDS = 3000,
    THREADS = 4
};

struct round {
    u32 number;
    u32 seen[JOBS];  /* the round in which a job last ran */
    u32 count[JOBS]; /* how often */
    u8 owner[JOBS];  /* the thread in whose queue it was */
    u32 last[THREADS]
            [THREADS]; /* by thread and queue: the last job that it took from there, and 1 */
    int rounding;      /* that jobs expect */
    atomic_uint wrong;
    atomic_uint helped; /* jobs that others than the caller have run */
    bool waits;         /* the caller's jobs wait for the first of these */
};

static void job(void *user, u32 number, u32 worker)
{
    struct round *round = user;
    for (u32 i = 0; round->waits && !worker && !atomic_load(&round->helped) && i < 100000; i++)
        nanosleep(&(struct timespec){0, 20000}, NULL);
    atomic_fetch_add(&round->helped, worker != 0);
    round->seen[number] = round->number;
    round->count[number]++;
    u32 *last = &round->last[worker][round->owner[number]];
    const bool own = round->owner[number] == worker;
    if (*last && (own ? number < *last : number + 1 >= *last))
        atomic_fetch_add(&round->wrong, 1);
    *last = number + 1;
    if (fegetround() != round->rounding)
        atomic_fetch_add(&round->wrong, 1);
}

/* `threads` have jobs of their own; with several, the caller waits until others have helped. */
static void run_rounds(struct workers *workers, u32 rounds, int rounding, u32 threads)
{
    struct round round = {.rounding = rounding, .waits = threads > 1};
    for (u32 r = 1; r <= rounds; r++) {
        const u32 jobs = (r + 1) % (JOBS + 1); /* one alone would wait for nobody */
        round.number = r;
        memset(round.last, 0, sizeof round.last);
        memset(round.count, 0, sizeof round.count);
        for (u32 i = 0; i < jobs; i++) {
            round.owner[i] = (u8)(i * (1 + r % 7) / 3 % threads);
            workers_add(workers, round.owner[i], i);
        }
        workers_run(workers, job, &round);
        for (u32 i = 0; i < JOBS; i++) {
            assert_int_equal(round.count[i], i < jobs);
            assert_true(i >= jobs || round.seen[i] == r);
        }
        if (r % 500 == 0) /* long enough for all to fall asleep */
            nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    assert_int_equal(round.wrong, 0);
    assert_true(!round.waits || round.helped);
}

static void rounds_of_jobs(void **state)
{
    struct workers *workers = workers_create(THREADS, JOBS);
    assert_int_equal(workers_count(workers), THREADS);
    workers_begin(workers);
    run_rounds(workers, ROUNDS, FE_TONEAREST, THREADS);
    workers_destroy(workers);
}

/* Threads round as the one that has begun, also when that changes. */
static void environment(void **state)
{
    struct workers *workers = workers_create(THREADS, JOBS);
    const int modes[] = {FE_UPWARD, FE_TONEAREST, FE_TOWARDZERO};
    for (u32 i = 0; i < ARRAY_LEN(modes); i++) {
        fesetround(modes[i]);
        workers_begin(workers);
        run_rounds(workers, 200, modes[i], THREADS);
    }
    fesetround(FE_TONEAREST);
    workers_destroy(workers);
}

/* Without workers_begin there are no threads, and the caller does all. */
static void not_begun(void **state)
{
    struct workers *workers = workers_create(THREADS, JOBS);
    run_rounds(workers, JOBS, FE_TONEAREST, 1);
    workers_destroy(workers);
    workers_destroy(NULL);
    assert_true(workers_host_cores() >= 1);
}

/* A job ends when all jobs of the round have begun. */
struct meeting {
    u32 ran_by[THREADS]; /* by job: the thread, and 1 */
    atomic_uint begun;
};

static void meet_others(void *user, u32 number, u32 worker)
{
    struct meeting *meeting = user;
    meeting->ran_by[number] = worker + 1;
    atomic_fetch_add(&meeting->begun, 1);
    for (u32 i = 0; atomic_load(&meeting->begun) < THREADS && i < 500000; i++)
        nanosleep(&(struct timespec){0, 20000}, NULL);
}

/* No job is taken from a thread while the others have jobs of their own. */
static void own_jobs_first(void **state)
{
    struct workers *workers = workers_create(THREADS, THREADS);
    struct meeting meeting = {0};
    workers_begin(workers);
    for (u32 i = 0; i < THREADS; i++)
        workers_add(workers, i, i);
    workers_run(workers, meet_others, &meeting);
    for (u32 i = 0; i < THREADS; i++)
        assert_int_equal(meeting.ran_by[i], i + 1);
    workers_destroy(workers);
}

static void nothing(void *user, u32 number, u32 worker)
{
}

static int print_cost(u32 threads)
{
    enum {
        TIMES = 200000
    };
    struct workers *workers = workers_create(threads, 16);
    struct timespec from, to;
    workers_begin(workers);
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (u32 i = 0; i < TIMES; i++) {
        for (u32 k = 0; k < 16; k++)
            workers_add(workers, k % threads, k);
        workers_run(workers, nothing, NULL);
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("%.0f ns a round of 16 jobs on %u threads\n",
           ((f64)(to.tv_sec - from.tv_sec) * 1e9 + (f64)(to.tv_nsec - from.tv_nsec)) / TIMES,
           threads);
    workers_destroy(workers);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return print_cost(argc > 2 ? (u32)atoi(argv[2]) : 2);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_of_jobs),
        cmocka_unit_test(own_jobs_first),
        cmocka_unit_test(environment),
        cmocka_unit_test(not_begun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
