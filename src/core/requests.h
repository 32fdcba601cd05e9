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
u32 requests_needed(const struct core *core, u32 line_bytes);
/* Room for so many more packets. */
bool requests_room(const struct core *core, u32 packets);
/* Sends for sectors of a first-level line. */
void requests_read(struct core *core, enum packet_client client, u64 line, u32 line_bytes,
                   u32 sectors, u32 tag, u32 inst);
/* One packet, address and sectors of a line of line_bytes; the rest is filled by the caller. */
void requests_send(struct core *core, struct packet *packet, u32 line_bytes);
/* A packet has come back. */
void requests_answered(struct core *core, const struct packet *packet);

#endif
