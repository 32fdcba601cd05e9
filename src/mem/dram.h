/*
 * A DRAM channel: banks, rows, bank groups, a command bus, a data bus, and a scheduler.
 *
 * In: dram_push, into a queue that holds requests until their bank accepts them. Out: dram_done and
 * dram_pop, in the order in which data passed the bus, for writes as well. The caller adds the
 * parameter `latency`.
 *
 * Cycles. A request that is pushed before a tick can get its first command in that tick. A read
 * command in cycle c moves data in cycles c + tCL to c + tCL + transfer - 1 and is done after that
 * tick; transfer = burst / data_rate, rounded up. So from push to done an unloaded read takes
 *     row open            tCL + transfer ticks
 *     no row open         tRCD + tCL + transfer
 *     another row open    tRP + tRCD + tCL + transfer
 *
 * Bytes. A command always moves a whole burst, bus_bytes * burst ("atom"), even if less is needed:
 * a 32-byte sector on an 8-byte bus with burst 8 takes a 64-byte burst. A request takes as many
 * bursts as its bytes fill, all in one row, whatever its address is.
 *
 * Derived times, in cycles; all are those of GPGPU-Sim 4.2 (after GDDR5 data sheets):
 *     read to write        tCL + transfer + 2 - tWL
 *     write to read        tWL + transfer + tCDLR
 *     write to precharge   tWL + transfer + tWR, same bank
 *     read to precharge    transfer, same bank; tRTPL, same group
 *     activate to write    tRCD - tWL - 1
 * Each is at least 1. Column commands are tCCD apart, but never closer than transfer.
 *
 * Address. From the lowest bit: column bits below stripe_bytes, bank bit 0, the other column bits
 * of a row, the other bank bits, the row. (GPGPU-Sim's masks have this form: GTX480 RR.BBBCCCCB.CC-
 * SSSSSS is stripe_bytes 256, row_bytes 4096.) The bank group is the bank modulo bank_groups.
 *
 * Order (policy frfcfs). A bank works on one request until its last burst has been commanded. In
 * each cycle one free bank gets its next request: the oldest for the open row, else the oldest.
 * Then one command is issued: a column command if any bank can take one, else activate or
 * precharge. Banks are visited round robin. Rows stay open until another is needed. Nothing limits
 * how long row hits overtake an older request, as in GPGPU-Sim. With policy fcfs the channel works
 * on one request at a time, in order of arrival; the next one may get commands while data of the
 * last are still to come. With policy frfcfs_serial the next request is chosen when the last data
 * have passed: the oldest whose row is open in its bank, else the oldest. n row hits then take
 * n * (tCL + transfer) ticks.
 *
 * Separate write queue (write_high > 0). When write_high writes wait, banks get only writes until
 * write_low are left. Otherwise they get reads, and writes only when no read waits, so that the
 * last writes of a program are served.
 *
 * Invariants
 *  D1  No two commands of a channel in one cycle; no two transfers share the data bus.
 *  D2  Every timing parameter holds between the commands it names (tests replay the command log).
 *  D3  A request is answered once.
 *  D4  Skipping cycles in which dram_next says that nothing happens equals ticking through them.
 *
 * Deviations. No refresh, no four-activate window. GPGPU-Sim can issue a row command and then a
 * column command in one cycle in spite of its single bus; here the row command waits (D1). A
 * channel reserves an entry for a request's reply before it commands the last burst; GPGPU-Sim
 * stalls the data pipe instead.
 */
#ifndef MEM_DRAM_H
#define MEM_DRAM_H

#include "mem/packet.h"
#include "mem/params.h"

enum dram_command {
    DRAM_ACTIVATE,
    DRAM_PRECHARGE,
    DRAM_READ,
    DRAM_WRITE
};

/* A request, as passed to hooks. */
struct dram_event {
    fs now;
    u64 cycle;             /* of the channel, counted from its creation */
    u64 arrived;           /* the cycle in which it arrived */
    u64 address;           /* device address of its first byte */
    struct requester from; /* of the packet that missed first, if several wait */
    u32 bytes;
    u32 bank, row;
    u32 channel;
    u32 tag; /* its name in the channel: memory_system_waiters (mem/services.h) */
    bool write;
};

/*
 * For tests and the dram seam of mechanisms. Members may be NULL. The payload, initially empty,
 * belongs to the request: it may be set in `started`, `served` or both, and goes into the replies
 * to all packets that wait for the request at the L2, then or later. Requests that no packet waits
 * for (stores that the L2 has accepted, evictions) lose it. When the L2 splits a miss into several
 * requests (l2.request_sectors), or a packet waits for several misses, the last request to arrive
 * with a payload determines it. Of several hooks, the last one that sets it does.
 */
struct dram_hooks {
    void *user;
    /* `row`: the row that is opened, closed or used. */
    void (*command)(void *user, u64 cycle, enum dram_command command, u32 bank, u32 row);
    /* It enters the queue; `cycle`: the first in which it can get a command. */
    void (*arrived)(void *user, const struct dram_event *event);
    /* Its first command is issued. */
    void (*started)(void *user, const struct dram_event *event, struct payload *payload);
    /* `cycle`: the last one with its data on the bus. */
    void (*served)(void *user, const struct dram_event *event, struct payload *payload);
};

struct dram;
/* `params` must be consistent (gpu/machine/relations.h) and are copied. NULL: out of memory. */
struct dram *dram_create(const struct dram_params *params, struct dram_stats *stats);
void dram_destroy(struct dram *dram);
/* Several may be added; each is called, in this order. */
void dram_add_hooks(struct dram *dram, const struct dram_hooks *hooks);
/* For events of hooks: the channel's number, how to compute device addresses, and the current
 * time. */
struct address_map;
void dram_set_place(struct dram *dram, u32 channel, const struct address_map *map, const fs *time);

/* mem/dram_channel.h has the functions that are called in each cycle. */
/* False: until the next push, a tick would change nothing but the time. */
bool dram_busy(const struct dram *dram);
/* What a request waits for, for explanations; false: it is not here. */
bool dram_find(const struct dram *dram, u32 tag, char *text, size_t size);

#endif
