/*
 * The time series of a run: what its page shows over time. Rows come from `--interval`, from memory
 * or from a file; however many there are, at most SERIES_ROWS are kept, each the sum of as many
 * successive ones, so that memory is bounded.
 */
#ifndef REPORT_SERIES_H
#define REPORT_SERIES_H

#include "base/arena.h"
#include "base/error.h"
#include <jansson.h>

enum {
    SERIES_ROWS = 400,
    REPORT_INTERVAL = 250, /* core cycles of a row of a page, without --interval */
    SERIES_CORES = 48,     /* cores, or groups of them, at most */
    SERIES_REASONS = 16    /* reasons of lost issue slots at most */
};

struct series_row {
    f64 cycles;      /* length */
    f64 picoseconds; /* length */
    f64 issued, lost[SERIES_REASONS];
    f64 warp_cycles, warp_slots;
    f64 dram_bytes, dram_cycles, channel_cycles;
    f64 l2_cycles, slice_cycles;
    f64 dynamic_pj, static_pj;
    f64 blocks[SERIES_CORES]; /* cycles of blocks, by group of cores */
};

struct series {
    const char *reasons[SERIES_REASONS]; /* names of `lost` */
    u32 reason_count;
    u32 cores, each; /* cores of the machine; how many of them are a group */
    VEC(struct series_row) rows;
    u32 merged; /* rows of the source in each row */
    u32 fill;   /* of these, in the last row */
};

/* Adds a row as `--interval` writes it. False: it is not one. */
bool series_add(struct series *series, struct arena *arena, const json_t *row);
/* Reads a file that `--interval` wrote, lines of JSON or CSV. */
bool series_read(struct series *series, struct arena *arena, const char *path, struct error *error);
/* Reads the text of such a file, which is changed; `path` is for messages. */
bool series_text(struct series *series, struct arena *arena, const char *path, char *text,
                 struct error *error);
void series_free(struct series *series);

#endif
