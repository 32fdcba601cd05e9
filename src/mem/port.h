/*
 * A port: the only connection between actors (cores, the memory side) that run windows separately.
 *
 * A packet pushed at time t arrives at t + latency. The latency is at least a window, so that the
 * receiver's current window never depends on what the sender does in the same one. The same holds
 * for room: the sender sees only the receiver's pops of earlier windows, at port_meet.
 *
 * Invariants
 *  P1  Packets arrive in the order they were pushed.
 *  P2  Between two calls of port_meet, sender and receiver access disjoint fields.
 */
#ifndef MEM_PORT_H
#define MEM_PORT_H

#include "mem/packet.h"

/* Sender and receiver may run on different threads: what each of them writes has a cache line of its
 * own. */
struct port {
    struct packet *packets; /* ring of `capacity`, a power of two */
    fs *arrival;
    u32 capacity, limit; /* at most `limit` packets may be in flight or unread */
    fs latency;
    /* the sender's: */
    _Alignas(64) u32 pushed;
    u32 popped_seen; /* `popped` as the sender knows it */
    /* the receiver's: */
    _Alignas(64) u32 popped;
    u32 pushed_seen; /* `pushed` as the receiver knows it */
    fs next;         /* arrival of the first unread packet it knows of; FS_NEVER: none */
};

void port_create(struct port *port, u32 limit, fs latency);
void port_destroy(struct port *port);

static inline bool port_room(const struct port *port)
{
    return port->pushed - port->popped_seen < port->limit;
}
/* Whether this many packets fit. */
static inline bool port_room_for(const struct port *port, u32 packets)
{
    return port->limit - (port->pushed - port->popped_seen) >= packets;
}
static inline void port_push(struct port *port, const struct packet *packet, fs now)
{
    u32 at = port->pushed++ & (port->capacity - 1);
    port->packets[at] = *packet;
    port->arrival[at] = now + port->latency;
}
/* The first packet that has arrived by now, or NULL. */
static inline struct packet *port_head(const struct port *port, fs now)
{
    return port->next <= now ? &port->packets[port->popped & (port->capacity - 1)] : NULL;
}
/* When the next unread packet arrives, as far as the receiver knows. */
static inline fs port_next(const struct port *port)
{
    return port->next;
}
static inline void port_look(struct port *port)
{
    port->next = port->popped == port->pushed_seen
                     ? FS_NEVER
                     : port->arrival[port->popped & (port->capacity - 1)];
}
static inline void port_pop(struct port *port)
{
    port->popped++;
    port_look(port);
}
/* Between windows: each side learns what the other has done. */
static inline void port_meet(struct port *port)
{
    port->pushed_seen = port->pushed;
    port->popped_seen = port->popped;
    port_look(port);
}

#endif
