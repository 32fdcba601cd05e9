/*
 * What must hold of any launch in time, whatever ran on whatever machine, and of two launches of
 * the same work.
 */
#ifndef TESTS_EXACTNESS_LAWS_H
#define TESTS_EXACTNESS_LAWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Conservation in a launch that came to its end: false, and why. */
bool laws_hold(const json_t *launch, char *why, size_t size);
/* Two runs in time have counted the same, launch by launch: false, and what differs. */
bool laws_same_counts(const json_t *a, const json_t *b, char *why, size_t size);
/* The same counts of execution in both devices' totals: false, and which differs. */
bool laws_same_work(const json_t *a, const json_t *b, char *why, size_t size);

#endif
