/* Inside of the memory side: what system.c runs and system_make.c makes and explains. */
#ifndef MEM_MEMORY_SYSTEM_PARTS_H
#define MEM_MEMORY_SYSTEM_PARTS_H

#include "mem/dram_channel.h"
#include "mem/l2.h"
#include "mem/network_kind.h"

#define NO_CYCLE UINT64_MAX

struct alarm {
    fs time;
    u32 who;
};

struct channel {
    struct dram *dram;
    u64 done;                        /* its DRAM cycles that have passed */
    u32 inside;                      /* requests from the delay on until they leave */
    u32 last;                        /* the slice that was served last */
    u32 sending;                     /* a bit for each slice with requests for it */
    RING(struct l2_request) delayed; /* on their way in, for dram.latency */
};

/* Who wants to be called in which cycle: slices, or channels. */
struct calls {
    bool any;   /* `due` is not empty */
    u64 *due;   /* those who want the next edge, 64 to a word */
    u64 *later; /* those who want another one ... */
    u64 *cycle; /* ... this one */
    u64 first;  /* the least of these, or less */
    u32 words, count;
    RING(struct alarm) alarms; /* who is to be called from which time on, in order */
};

/* At the next edge. */
static inline void call(struct calls *calls, u32 who)
{
    bit_set(calls->due, who);
    calls->any = true;
}

struct memory_system {
    struct arena *arena;
    struct network_params network_params;
    struct l2_params l2_params;
    struct dram_params dram_params;
    f64 network_mhz, l2_mhz, dram_mhz;
    u32 cores, core_ports, units; /* units: slices of all channels */
    u32 cluster_size, cluster_count;
    struct memory_system_stats stats;
    struct clock network, l2, dram;
    u64 counted[3]; /* cycles of these that earlier statistics have */
    struct l2_shared shared;
    fs window, delay, dram_delay;

    struct port *requests, *replies; /* of each core */
    u64 *unread;                     /* core ports with requests that are known and not read */
    u8 *turn;                        /* of each core port: the core whose turn it is */
    fs *arrivals;                    /* of each core port: of the first such request */
    fs arrival;                      /* the least of these, or earlier */
    struct network *up, *down;
    u64 up_done, down_done; /* network cycles that have passed there */
    bool *closed;           /* slices that had no room for a packet and have done nothing since */
    u64 *waiting;           /* slices with answers for the network */
    u32 port_words, unit_words;
    bool network_wants; /* the next network edge has something to do */
    bool every;         /* tests: every edge, everybody */
    u32 inside;         /* requests between the ports, those of clusters among them */

    struct cluster *clusters;
    struct port *shared_requests; /* of cores to clusters: by part, then core */
    fs cluster_next;              /* the first time at which a cluster may have something to do */

    struct l2_slice **slices; /* by channel, then slice */
    bool sweeps;              /* reserved ways of some are being emptied */
    struct channel *channels;
    u32 channel_limit; /* requests of a channel from the delay on, as GPGPU-Sim gives credits */
    struct calls slice_calls, channel_calls;
    struct content *content; /* NULL: not armed */
};

/* No edge before this time has anything to do: clocks are set to the first ones from it on. */
void memory_system_advance(struct memory_system *m, fs time);

#endif
