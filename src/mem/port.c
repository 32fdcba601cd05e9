/* Ports: see mem/port.h. */
#include "mem/port.h"

#include "base/arena.h"

#include <stdlib.h>

_Static_assert(sizeof(struct packet) % 64 == 0, "packets share no cache line of the host");

void port_create(struct port *port, u32 limit, fs latency)
{
    u32 capacity = 1;
    while (capacity < limit)
        capacity *= 2;
    *port =
        (struct port){.packets = checked(aligned_alloc(64, capacity * sizeof *port->packets)),
                      .arrival = checked(aligned_alloc(64, align_up(capacity * sizeof(fs), 64))),
                      .capacity = capacity,
                      .limit = limit,
                      .latency = latency,
                      .next = FS_NEVER};
}

void port_destroy(struct port *port)
{
    free(port->packets);
    free(port->arrival);
    *port = (struct port){0};
}
