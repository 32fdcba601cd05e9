/*
 * Launches that the driver has summed up by kernel instead of recording each (base/sums.h): the
 * events "counters" and "sum" of a record (session.h) describe the process's file of sums.
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
/* Handles a record of either event. */
void sums_take(struct sum_list *sums, const json_t *record);
/* Reads the current contents of the file. */
void sums_read(struct sum_list *sums, const char *path);
u64 sums_launches(const struct sum_list *sums);
/* The sum whose kernel is running, or NULL. */
const struct kernel_sum *sums_running(const struct sum_list *sums);
/* Appends the rows of "sums" in the statistics file, and the host seconds of each. */
void sums_collect(const struct sum_list *sums, const struct hd_config *config, json_t *rows,
                  json_t *seconds);

#endif
