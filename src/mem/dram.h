/*
 * A DRAM channel: banks, rows, bank groups, a command and a data bus, and a scheduler in front.
 *
 * Invariants
 *  D1  No two commands of a channel in one cycle; no two transfers share the data bus.
 *  D2  Every timing parameter holds between the commands it names (tests replay the command log).
 *  D3  A request is answered once.
 */
#ifndef MEM_DRAM_H
#define MEM_DRAM_H

#include "base/types.h"

#define COMPONENT dram
#define COMPONENT_DEF "mem/dram.def"
#include "base/component_struct.h"

enum dram_command {
    DRAM_ACTIVATE,
    DRAM_PRECHARGE,
    DRAM_READ,
    DRAM_WRITE
};

/* For tests and the dram seam of mechanisms. */
struct dram_hooks {
    void *user;
    void (*command)(void *user, u64 cycle, enum dram_command command, u32 bank, u32 row);
    void (*enqueued)(void *user, u64 cycle, u32 tag);
    void (*served)(void *user, u64 cycle, u32 tag);
};

struct dram;
struct dram *dram_create(const struct dram_params *params, struct dram_stats *stats);
void dram_destroy(struct dram *dram);
void dram_set_hooks(struct dram *dram, const struct dram_hooks *hooks);

bool dram_room(const struct dram *dram, bool write);
/* `address` counts the channel's own bytes; `bytes` is a whole number of bursts' worth, rounded up.
 */
void dram_push(struct dram *dram, u64 address, u32 bytes, bool write, u32 tag);
/* One command-clock cycle. */
void dram_tick(struct dram *dram);
/* A request whose data have passed the bus, in that order; false: none. */
bool dram_done(const struct dram *dram, u32 *tag);
void dram_pop(struct dram *dram);
/* False: a tick would change nothing but the time. */
bool dram_busy(const struct dram *dram);
void dram_skip(struct dram *dram, u64 cycles);
bool dram_find(const struct dram *dram, u32 tag, char *text, size_t size);

#endif
