/* Where the time of launches in timing mode went, in a few lines. */
#ifndef CLI_BREAKDOWN_H
#define CLI_BREAKDOWN_H

#include "base/types.h"
#include <jansson.h>
#include <stdio.h>

/* `stats`: from hd_stats_json; nothing is printed for functional launches. */
void print_breakdown(FILE *to, const json_t *stats);

/* Shares of the sum in tenths of a percent, rounded so that they add up to 1000. */
void shares(const u64 *parts, u32 count, u32 *tenths);

#endif
