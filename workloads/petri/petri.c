/*
 * Simulates a stochastic Petri net many times, one trajectory per block, and finds how many
 * transitions fired and the most tokens that a place ever held. The host follows each trajectory
 * alone, from the last transition of a step to the first: transitions tried together share no place.
 */
#include "common/workload.h"
#include <stdlib.h>
#include <string.h>

enum {
    TRAJECTORIES,
    STEPS,
};

enum {
    COLUMNS = 32,
    CAPACITY = 255,
    WORDS = 624, /* of the random generator's state */
    FULLEST = 4, /* tokens in a place at the start, less one */
};

static const struct option_row options[] = {
    [TRAJECTORIES] = {"trajectories", NULL, "number of trajectories", 120, 4, 1, 65536},
    [STEPS] = {"steps", NULL, "steps of each trajectory", 50, 12, 1, 100000},
    {0},
};

static const struct program program = {"petri", "Simulates a stochastic Petri net many times.",
                                       options};

/* MT19937, one word after the other. */
struct twister {
    cl_uint state[WORDS];
    int next;
};

static void seed(struct twister *t, cl_uint seed)
{
    t->state[0] = seed;
    for (cl_uint i = 1; i < WORDS; i++)
        t->state[i] = 1812433253u * (t->state[i - 1] ^ t->state[i - 1] >> 30) + i;
    t->next = 0;
}

static cl_uint draw(struct twister *t)
{
    int i = t->next, after = (i + 1) % WORDS;
    cl_uint joined = (t->state[i] & 0x80000000u) | (t->state[after] & 0x7fffffffu);
    cl_uint word = t->state[(i + 397) % WORDS] ^ joined >> 1 ^ (joined & 1 ? 0x9908b0dfu : 0);
    t->state[i] = word;
    t->next = after;
    word ^= word >> 11;
    word ^= word << 7 & 0x9d2c5680u;
    word ^= word << 15 & 0xefc60000u;
    return word ^ word >> 18;
}

/* What is known of all trajectories. */
struct nets {
    size_t count, threads; /* threads: half of the rows of a net */
    cl_uint *seeds;        /* [count][WORDS] */
    cl_uchar *tokens;      /* [count][2 threads][COLUMNS] */
    cl_uint *fired, *most;
};

static void fire(struct nets *nets, size_t trajectory, size_t row, cl_uint choice)
{
    size_t rows = 2 * nets->threads, one = choice % COLUMNS;
    size_t other = (one + 1 + (choice >> 6) % (COLUMNS - 1)) % COLUMNS;
    cl_uchar *net = nets->tokens + trajectory * rows * COLUMNS;
    cl_uchar *from = net + row * COLUMNS, *to = net + (row + 1) % rows * COLUMNS;
    if (choice >> 15) {
        cl_uchar *kept = from;
        from = to;
        to = kept;
    }
    if (!from[one] || !from[other] || to[one] == CAPACITY || to[other] == CAPACITY)
        return;
    from[one]--;
    from[other]--;
    to[one]++;
    to[other]++;
    cl_uint larger = to[one] > to[other] ? to[one] : to[other];
    nets->fired[trajectory]++;
    if (larger > nets->most[trajectory])
        nets->most[trajectory] = larger;
}

static void simulate(struct nets *nets, size_t trajectory, long steps)
{
    struct twister twister = {.next = 0};
    cl_uint *choices = zeroed(nets->threads, sizeof *choices);
    memcpy(twister.state, nets->seeds + trajectory * WORDS, sizeof twister.state);
    for (long step = 0; step < steps; step++) {
        if ((size_t)twister.next + nets->threads > WORDS) /* the kernel drops what is left */
            while (twister.next)
                draw(&twister);
        for (size_t i = 0; i < nets->threads; i++)
            choices[i] = draw(&twister);
        for (size_t i = nets->threads; i-- > 0;)
            fire(nets, trajectory, 2 * i, choices[i] & 0xffff);
        for (size_t i = nets->threads; i-- > 0;)
            fire(nets, trajectory, 2 * i + 1, choices[i] >> 16);
    }
    free(choices);
}

static struct nets random_nets(struct workload *w, size_t threads)
{
    struct nets nets = {.count = option(w, TRAJECTORIES), .threads = threads};
    size_t places = nets.count * 2 * threads * COLUMNS;
    nets.seeds = zeroed(nets.count * WORDS, sizeof *nets.seeds);
    nets.tokens = zeroed(places, 1);
    nets.fired = zeroed(nets.count, sizeof *nets.fired);
    nets.most = zeroed(nets.count, sizeof *nets.most);
    for (size_t i = 0; i < nets.count; i++) {
        struct twister twister;
        seed(&twister, random_bits(w));
        memcpy(nets.seeds + i * WORDS, twister.state, sizeof twister.state);
    }
    for (size_t i = 0; i < places; i++)
        nets.tokens[i] = (cl_uchar)random_below(w, FULLEST);
    return nets;
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_uint steps = (cl_uint)option(w, STEPS);
    struct shape block = {"BLOCK", 256};
    workload_build(w, &block, 1, "-D COLUMNS=%d -D CAPACITY=%d", COLUMNS, CAPACITY);
    struct nets nets = random_nets(w, block.x);
    size_t places = nets.count * 2 * nets.threads * COLUMNS, bytes = nets.count * sizeof(cl_uint);
    cl_mem seeds = workload_input(w, nets.seeds, bytes * WORDS);
    cl_mem tokens_device = workload_input(w, nets.tokens, places);
    cl_mem fired_device = workload_output(w, bytes), most_device = workload_output(w, bytes);
    cl_kernel kernel = workload_kernel(w, "simulate");
    workload_args(w, kernel, ARG(seeds), ARG(tokens_device), ARG(fired_device), ARG(most_device),
                  ARG(steps));
    workload_launch(w, kernel, &block, nets.count, 1, 1);

    cl_uchar *tokens = zeroed(places, 1);
    cl_uint *fired = zeroed(1, bytes), *most = zeroed(1, bytes);
    workload_read(w, tokens_device, tokens, places);
    workload_read(w, fired_device, fired, bytes);
    workload_read(w, most_device, most, bytes);
    for (size_t i = 0; i < nets.count; i++)
        simulate(&nets, i, steps);
    check_ints(w, "tokens", tokens, nets.tokens, places / sizeof(cl_uint)); /* four at a time */
    check_ints(w, "transitions fired", fired, nets.fired, nets.count);
    check_ints(w, "most tokens in a place", most, nets.most, nets.count);
    free(nets.seeds);
    free(nets.tokens);
    free(nets.fired);
    free(nets.most);
    free(tokens);
    free(fired);
    free(most);
    return workload_close(w);
}
