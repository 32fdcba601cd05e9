/*
 * What travels between cores and memory partitions.
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
                    * PACKET_ACK when it returns nothing */
    PACKET_DATA,
    PACKET_ACK,
    PACKET_NOTE, /* a mechanism's own: to a slice and back as PACKET_ACK, past its cache */
    PACKET_KINDS
};

/* Which part of a core waits for the answer; `tag` is its own. */
enum packet_client {
    CLIENT_FETCH,
    CLIENT_L1D,
    CLIENT_CONSTANT,
    CLIENT_READONLY,
    CLIENT_DIRECT,    /* the load/store unit itself: accesses that pass no cache */
    CLIENT_MECHANISM, /* PACKET_NOTE */
    CLIENTS
};

enum {
    SECTOR_BYTES = 32,
    PACKET_HEADER_BYTES = 8 /* of every packet: address and kind, as GPGPU-Sim counts them */
};

struct packet {
    u64 address; /* device address of the line, a multiple of the line size */
    fs sent;     /* when the core sent it */
    u64 lanes;   /* PACKET_ATOMIC: the lanes it serves */
    u64 payload; /* of mechanisms */
    u32 sectors; /* bit i: bytes 32i .. 32i+31 of the line are read or written */
    u32 tag;
    u32 inst; /* the instruction it comes from, or NO_INST */
    u16 core;
    u16 bytes;        /* of data it carries beside its header */
    u8 kind;          /* enum packet_kind */
    u8 client;        /* enum packet_client */
    u8 full;          /* PACKET_WRITE: every byte of its sectors is written */
    u8 returns;       /* PACKET_ATOMIC: it has a result to send back */
    u16 payload_bits; /* declared by mechanisms; they count in the packet's size */
};

/* The packet seam at the L2 slices, which are numbered through all channels. NULL: nobody. */
struct packet_hooks {
    void *user;
    void (*request)(void *user, u32 slice, struct packet *packet); /* about to be looked up */
    void (*reply)(void *user, u32 slice, struct packet *packet);   /* its answer leaves */
};

#endif
