/* Internals of the memory side: system.c runs it, system_make.c creates and explains it. */
#ifndef MEM_MEMORY_SYSTEM_PARTS_H
#define MEM_MEMORY_SYSTEM_PARTS_H

#include "mem/dram_channel.h"
#include "mem/l2.h"
#include "mem/network_kind.h"
#include "mem/stray.h"

#define NO_CYCLE UINT64_MAX

struct alarm {
    fs time;
    u32 who;
};

struct channel {
    struct dram *dram;
    u64 done;                        /* DRAM cycles that have passed */
    u32 inside;                      /* requests from the start of the delay until they leave */
    u32 last;                        /* the slice that was served last */
    u32 sending;                     /* slices with requests for it, bits */
    RING(struct l2_request) delayed; /* on their way in, for dram.latency */
    struct memory_system *system;
    struct dram_kept *kept; /* with live state: dram_live.c; NULL: none */
};

/* Which slices, or channels, must be called in which cycle. */
struct calls {
    bool any;   /* `due` is not empty */
    u64 *due;   /* those to call at the next edge, 64 per word */
    u64 *later; /* those to call in another cycle: */
    u64 *cycle; /* this one */
    u64 first;  /* the minimum of these cycles, or less */
    u32 words, count;
    RING(struct alarm) alarms; /* calls from a given time on, in order */
};

/* Calls it at the next edge. */
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
    u64 counted[3]; /* cycles that earlier statistics have counted */
    struct l2_shared shared;
    fs window, delay, dram_delay;
    fs ran; /* edges before this time have been run */

    struct port *requests, *replies; /* by core */
    u64 *unread;                     /* core ports with received requests that are not read */
    u8 *turn;                        /* by core port: the core whose turn it is */
    fs *arrivals;                    /* by core port: arrival of the first such request */
    fs arrival;                      /* the minimum of these, or earlier */
    struct network *up, *down;
    u64 up_done, down_done; /* network cycles that each has simulated */
    bool *closed;           /* slices that had no room for a packet, not called since */
    u64 *waiting;           /* slices with replies for the network */
    u32 port_words, unit_words;
    bool network_wants; /* the next network edge has something to do */
    bool every;         /* for tests: every edge, everything */
    u32 inside;         /* requests between the ports, including those of clusters */

    struct cluster *clusters;
    struct port *shared_requests; /* from cores to clusters: by part, then core */
    fs cluster_next;              /* earliest time at which a cluster may have something to do */

    struct l2_slice **slices; /* by channel, then slice */
    bool
        sweeps; /* reserved ways of some slice are being emptied, or a mechanism has asked for one */
    struct channel *channels;
    u32 channel_limit; /* requests of a channel from the delay on, like GPGPU-Sim's credits */
    struct calls slice_calls, channel_calls;
    struct content *content;     /* NULL: not armed */
    struct trace_buffer *traces; /* by channel, from memory_system_watch; NULL: not traced */
    struct strays strays;
};

/* No edge before this time has anything to do: advances the clocks to their first edges from it
 * on. */
void memory_system_advance(struct memory_system *m, fs time);

#endif
