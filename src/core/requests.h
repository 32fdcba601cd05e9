/*
 * Requests of a core to the memory side: sending lines' worth of sectors and counting answers.
 *
 * A first-level line may be shorter or longer than a line of the L2: requests always name an L2
 * line and its sectors, and a longer line takes several. The client hears once, when all of its
 * request is answered.
 */
#ifndef CORE_REQUESTS_H
#define CORE_REQUESTS_H

#include "core/common/common.h"

/* Packets that a request takes. */
static inline u32 requests_needed(const struct core *core, u32 line_bytes)
{
    u32 far = core->config.l2_line_bytes;
    return line_bytes > far ? line_bytes / far : 1;
}
/* Room for so many more packets. */
static inline bool requests_room(const struct core *core, u32 packets)
{
    return port_room_for(core->config.requests, packets);
}
/* An instruction of the warp in a slot, which must be there. */
static inline struct requester requester_of(const struct core *core, u32 slot, u32 inst,
                                            enum requester_kind kind)
{
    return (struct requester){.inst = inst,
                              .block = (u32)core->slots[slot].warp->block->number,
                              .core = (u16)core->config.index,
                              .slot = (u8)slot,
                              .kind = (u8)kind};
}
/* Sends for sectors of a first-level line. */
void requests_read(struct core *core, enum packet_client client, u64 line, u32 line_bytes,
                   u32 sectors, u32 tag, const struct requester *from);
/* One packet, address and sectors of a line of line_bytes; the rest is filled by the caller. */
void requests_send(struct core *core, struct packet *packet, u32 line_bytes);
/* A packet has come back. */
void requests_answered(struct core *core, const struct packet *packet);

#endif
