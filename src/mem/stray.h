/*
 * Packets whose header has been flipped, for the visitors of queues and networks (mem/queue_live.c,
 * mem/network_live.c).
 *
 * The memory side goes on handling such a packet under the requester that it came from, since its
 * data are there (mem/content.h); where the header says who gets the reply, its record is asked
 * instead. A packet is lost if it is of a kind that its receiver does not expect, names no sector,
 * or goes to a core that does not exist. Its requester waits for ever.
 *
 * Deviations: packets of clusters' caches and of mechanisms that name another requester are lost. A
 * slice that a flipped address leads to stores the line as one of its own.
 */
#ifndef MEM_STRAY_H
#define MEM_STRAY_H

#include "mem/packet.h"

struct memory_system;

enum {
    MOST_STRAYS = 255, /* later ones are lost */
    STRAY_LOST = UINT16_MAX
};

/* Who gets the reply. */
struct stray {
    bool used;
    u8 client;
    u16 core; /* STRAY_LOST: no core */
    u32 tag;
};

struct strays {
    struct stray all[MOST_STRAYS + 1]; /* all[0] is that of packets for which there was no room */
    bool struck;                       /* bits of the memory side were flipped in this launch */
};

/* The record of a packet; it gets one if it has none. NULL: there is no room. */
struct stray *stray_take(struct memory_system *m, struct packet *packet);
/* Who gets a packet, or would get its reply. */
struct stray stray_of(const struct memory_system *m, const struct packet *packet);
/* The packet has no receiver any more; it is dropped where it arrives. */
void stray_make_lost(struct memory_system *m, struct packet *packet);
bool stray_is_lost(const struct memory_system *m, const struct packet *packet);
/* The core that gets a reply, or STRAY_LOST. */
u32 stray_core(const struct memory_system *m, const struct packet *packet);
/* It leaves the memory side here. stray_lose: without `inside`. */
void stray_lose(struct memory_system *m, const struct packet *packet);
void stray_drop(struct memory_system *m, const struct packet *packet);
/* A reply has come to its core: who gets it there. The record is free again. */
struct stray stray_received(struct memory_system *m, const struct packet *packet);

#endif
