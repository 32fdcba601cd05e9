/* Ports: see mem/port.h. */
#include "mem/port.h"

#include "base/arena.h"

#include <stdlib.h>

void port_create(struct port *port, u32 limit, fs latency)
{
    u32 capacity = 1;
    while (capacity < limit)
        capacity *= 2;
    *port = (struct port){.packets = checked(calloc(capacity, sizeof *port->packets)),
                          .arrival = checked(calloc(capacity, sizeof *port->arrival)),
                          .capacity = capacity,
                          .limit = limit,
                          .latency = latency};
}

void port_destroy(struct port *port)
{
    free(port->packets);
    free(port->arrival);
    *port = (struct port){0};
}
