/*
 * Drives a DRAM channel with traffic, keeps its command log, and checks the log against every
 * timing rule. The checker compares all pairs of commands with a table of rules written from
 * dram.h's text, so that it shares nothing with the channel's own arithmetic.
 */
#ifndef TESTS_MEM_DRAM_LOG_H
#define TESTS_MEM_DRAM_LOG_H

#include "mem/dram_channel.h"

struct log_command {
    u64 cycle;
    enum dram_command command;
    u32 bank, row;
};

struct log_service {
    u64 pushed, served; /* cycles; served: the last one of its data */
    u64 started;        /* cycle of its first command, once it has begun */
    bool begun;
    u32 place; /* in the order of service */
    bool write;
};

enum {
    LOG_COMMANDS = 1 << 16,
    LOG_REQUESTS = 1 << 13
};

/* How time passes. */
enum pace {
    PACE_TICK,
    PACE_EAGER, /* every tick looks at everything, whatever the channel thinks it can pass over */
    PACE_SKIP   /* dram_skip wherever dram_next allows */
};

struct log {
    struct dram_params params;
    struct dram_stats stats;
    struct dram *dram;
    struct log_command *commands;
    u32 command_count;
    struct log_service *requests; /* by tag */
    u32 pushed, served, popped;
    u64 cycle; /* ticks so far */
    enum pace pace;
    bool keep; /* what is done stays in the channel */
};

/* The machines' channels: 0 gtx480, 1 titanx, 2 rtx2060. */
enum {
    MACHINES = 3
};
struct dram_params log_machine(u32 machine);

void log_open(struct log *log, const struct dram_params *params);
void log_close(struct log *log);

/* Pushes a request; its tag is the number of requests before it. */
u32 log_push(struct log *log, u64 address, u32 bytes, bool write);
/* A tick; then what is done leaves. */
void log_tick(struct log *log);
/* Ticks until nothing is inside; fails if that takes too long. */
void log_drain(struct log *log);

/* The address of a column in a row of a bank. */
u64 log_address(const struct dram_params *params, u32 bank, u32 row, u32 column);

/* Traffic: what a request is, by its number. */
enum traffic {
    TRAFFIC_RANDOM,
    TRAFFIC_MIXED, /* few rows, half writes */
    TRAFFIC_SEQUENTIAL,
    TRAFFIC_CONFLICT, /* one bank, a new row each time */
    TRAFFIC_SAME_ROW,
    TRAFFIC_TURNS, /* one row, reads and writes in turns */
    TRAFFICS
};
/* Pushes `count` requests of a kind, each in a cycle chosen by the seed, and drains. */
void log_run(struct log *log, enum traffic traffic, u32 count, u32 seed);

/* NULL: the log obeys these parameters; else the name of a rule that it breaks. */
const char *log_check(const struct log *log, const struct dram_params *params);
/* Whether the log breaks the rule of this name. */
bool log_breaks(const struct log *log, const struct dram_params *params, const char *rule);

bool log_equal(const struct log *a, const struct log *b);

#endif
