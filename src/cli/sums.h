/*
 * Launches of a program that the driver has added up by kernel instead of recording each
 * (base/sums.h): the events "counters" and "sum" of a record (session.h) say what is where in the
 * process's file of sums.
 */
#ifndef CLI_SUMS_H
#define CLI_SUMS_H

#include "base/arena.h"
#include "base/sums.h"
#include "heddle/heddle.h"
#include <jansson.h>

struct kernel_sum {
    char *kernel;
    json_t *names; /* of its counters */
    u64 offset;    /* in the file */
    struct launch_sum head;
    u64 *counts;
};

struct sum_list {
    json_t *names; /* of counters, by device; NULL: none yet */
    VEC(struct kernel_sum) list;
};

void sums_free(struct sum_list *sums);
/* Takes a record of the two events. */
void sums_take(struct sum_list *sums, const json_t *record);
/* Reads what the file has now. */
void sums_read(struct sum_list *sums, const char *path);
u64 sums_launches(const struct sum_list *sums);
/* The one of them a launch of which is under way, or NULL. */
const struct kernel_sum *sums_running(const struct sum_list *sums);
/* Appends what the statistics file has under "sums", and the host's seconds of each. */
void sums_collect(const struct sum_list *sums, const struct hd_config *config, json_t *rows,
                  json_t *seconds);

#endif
