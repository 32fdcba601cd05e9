/*
 * Packets between cores and memory partitions.
 *
 * A packet is copied, never shared: its holder owns it. A reply is the request with its kind
 * changed, so that every request can be answered exactly once.
 */
#ifndef MEM_PACKET_H
#define MEM_PACKET_H

#include "base/time.h"

enum packet_kind {
    PACKET_READ,   /* sectors of a line; answered by PACKET_DATA */
    PACKET_WRITE,  /* bytes of a line; answered by PACKET_ACK */
    PACKET_ATOMIC, /* lanes of an instruction, in one sector; answered by PACKET_DATA, or by
                    * PACKET_ACK if nothing is returned */
    PACKET_DATA,
    PACKET_ACK,
    PACKET_NOTE, /* a mechanism's own: to a slice and back as PACKET_ACK, bypassing its cache */
    PACKET_KINDS
};

/* The part of a core that waits for the reply; `tag` is its own. */
enum packet_client {
    CLIENT_FETCH,
    CLIENT_L1D,
    CLIENT_CONSTANT,
    CLIENT_READONLY,
    CLIENT_DIRECT,    /* the load/store unit itself: accesses that bypass the caches */
    CLIENT_MECHANISM, /* PACKET_NOTE */
    CLIENTS
};

enum {
    SECTOR_BYTES = 32,
    PACKET_HEADER_BYTES = 8 /* of every packet: address and kind, as GPGPU-Sim counts them */
};

/*
 * The origin of a request. The sending core sets it, and it stays with the request through L1,
 * network, L2 and DRAM to the reply. It is for mechanisms and costs no flits: a mechanism whose
 * hardware would send part of it declares payload_bits. REQUESTER_UNSET is an error of the
 * simulator: tests/seam/requester.c checks every request.
 */
enum requester_kind {
    REQUESTER_UNSET,
    REQUESTER_ACCESS,   /* a load, store or atomic of a warp */
    REQUESTER_FETCH,    /* a warp that needs an instruction */
    REQUESTER_PREFETCH, /* core_prefetch, for an instruction of a warp */
    REQUESTER_NOTE,     /* core_send_note: a core, but no warp or instruction */
    REQUESTER_EVICTION, /* no requester: a dirty line evicted from the L2. Never in a packet */
    REQUESTER_KINDS
};

struct requester {
    u32 inst;  /* number of the instruction in the program; NO_INST: none */
    u32 block; /* the launch's block number, lower 32 bits; NO_REQUESTER: none */
    u16 core;
    u8 slot; /* of the warp */
    u8 kind; /* enum requester_kind */
};
#define NO_REQUESTER UINT32_MAX

/* For few bits, a loop is cheaper than requiring a processor with a popcount instruction. */
static inline u32 count_sectors(u32 sectors)
{
    u32 count = 0;
    for (; sectors; sectors &= sectors - 1)
        count++;
    return count;
}

struct packet {
    u64 address; /* device address of the line, a multiple of the line size */
    fs sent;     /* when the core sent it */
    u64 lanes;   /* PACKET_ATOMIC: the lanes it serves */
    u64 payload; /* of mechanisms */
    u32 sectors; /* bit i: bytes 32i .. 32i+31 of the line are read or written */
    u32 tag;
    struct requester from;
    u16 core;         /* gets the reply: the requester's, or a cluster, numbered after all cores */
    u16 bytes;        /* data that it carries in addition to its header */
    u8 kind;          /* enum packet_kind */
    u8 client;        /* enum packet_client */
    u8 full;          /* PACKET_WRITE: every byte of its sectors is written */
    u8 returns;       /* PACKET_ATOMIC: it returns a result */
    u16 payload_bits; /* declared by mechanisms; counted in the packet's size */
    bool from_dram;   /* a reply: a mechanism has set the payload at DRAM (struct dram_hooks) */
    u8 stray;         /* 0, or its record: bits of its header were flipped (mem/stray.h) */
};

/* Whether they are the same request: same sender and tag. */
static inline bool packet_same(const struct packet *a, const struct packet *b)
{
    return a->tag == b->tag && a->core == b->core && a->client == b->client;
}

/* A mechanism's payload for a request at DRAM, for the replies to all that wait for it. */
struct payload {
    u64 value;
    u16 bits; /* counted in the replies' sizes; 0: none */
};
/* The reply carries this payload instead of the request's. */
static inline void packet_set_payload(struct packet *answer, const struct payload *payload)
{
    answer->payload = payload->value;
    answer->payload_bits = payload->bits;
    answer->from_dram = true;
}

/* The packet seam at the L2 slices, which are numbered through all channels; with the time, and the
 * cycle of the L2's clock. NULL: no mechanism fills it. */
struct packet_hooks {
    void *user;
    /* The packet is about to be looked up. */
    void (*request)(void *user, u32 slice, struct packet *packet, fs now, u64 cycle);
    /* The reply leaves. */
    void (*reply)(void *user, u32 slice, struct packet *packet, fs now, u64 cycle);
    /* A cycle of the slice has ended, and memory_system_ask was called for it. */
    void (*free)(void *user, u32 slice, fs now, u64 cycle);
};

#endif
