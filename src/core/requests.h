/*
 * Requests of a core to the memory side: sends requests for sectors of a line and counts replies.
 *
 * A first-level line may be shorter or longer than an L2 line: a packet always names one L2 line
 * and its sectors, and a longer first-level line takes several packets. The client is notified
 * once, when all packets of its request are answered.
 */
#ifndef CORE_REQUESTS_H
#define CORE_REQUESTS_H

#include "core/common/common.h"

/* Packets that a request for a line takes. */
static inline u32 requests_needed(const struct core *core, u32 line_bytes)
{
    u32 far = core->config.l2_line_bytes;
    return line_bytes > far ? line_bytes / far : 1;
}
/* Whether this many more packets fit. */
static inline bool requests_room(const struct core *core, u32 packets)
{
    return port_room_for(core->config.requests, packets);
}
/* Describes an instruction of the warp in a slot, which must have one. */
static inline struct requester requester_of(const struct core *core, u32 slot, u32 inst,
                                            enum requester_kind kind)
{
    return (struct requester){.inst = inst,
                              .block = (u32)core->slots[slot].warp->block->number,
                              .core = (u16)core->config.index,
                              .slot = (u8)slot,
                              .kind = (u8)kind};
}
/* Requests sectors of a first-level line. */
void requests_read(struct core *core, enum packet_client client, u64 line, u32 line_bytes,
                   u32 sectors, u32 tag, const struct requester *from);
/* Sends one packet, with address and sectors of a line of line_bytes; the caller fills the rest. */
void requests_send(struct core *core, struct packet *packet, u32 line_bytes);
/* A reply has arrived. */
void requests_answered(struct core *core, const struct packet *packet);

#endif
