/*
 * The mesh: routers in rows and columns, each with a link to its neighbours and to one node.
 *
 * Places are numbered along the rows; there is one for each core port and partition, and routers
 * without a node fill up the grid. Partition p of P is in the middle of the p-th of P equal parts
 * of the places; cores take the rest in order. Each row is rotated relative to the one above it, by
 * the largest number of columns, up to half of them, that has no common factor with the number of
 * columns; otherwise partitions would be in the same column whenever a part is as long as a row.
 *
 * Flits go along the row to the column of their output, then along the column (so packets cannot
 * deadlock). A router moves one flit per cycle from each of its five buffers and to each of its
 * five links; a link is granted to a packet until its tail has passed, round robin. A flit that is
 * moved in cycle n can be moved by the next router in n + hop_cycles. A flit moves only if the next
 * buffer has room; a flit occupies the buffer from the moment it is sent there, and its place is
 * known to be free in the cycle after it has left. So a buffer needs hop_cycles + 1 flits for full
 * speed.
 *
 * Invariants
 *  G1  Unloaded, a packet of n flits takes hop_cycles for each router plus n - 1.
 *  G2  The order in which routers are visited in a cycle does not matter.
 */
#include "base/state_walk.h"
#include "mem/network_kind.h"

#include <stdio.h>

enum port_name {
    NODE,
    EAST,
    WEST,
    SOUTH,
    NORTH,
    PORTS,
    NO_PORT = 255
};

struct flit {
    u32 slot;
    u32 ready; /* cycle, its low 32 bits */
};

struct port_buffer {
    struct flit *flits; /* ring */
    u32 first, end;
    u32 room; /* flits that the previous router may still send */
    u32 sent; /* flits of the first packet that have left */
};

struct router {
    struct port_buffer in[PORTS]; /* named by the side on which flits enter */
    u8 occupied;                  /* bit per buffer that is not empty */
    u8 given[PORTS];              /* outgoing link -> the buffer it is granted to, or NO_PORT */
    u8 turn[PORTS];               /* outgoing link -> round robin starts here */
    u16 x, y;
    u16 output; /* of the node here, if there is one */
};

struct mesh {
    u32 columns, rows;
    u32 ring_mask;
    struct router *routers;
    u64 *active; /* routers that hold flits */
    u32 words;
    u32 *input_at, *output_at;  /* the router of each node */
    struct port_buffer **freed; /* buffers that a flit left in this cycle */
    u32 freed_count;
};

static u32 common_factor(u32 a, u32 b)
{
    return b ? common_factor(b, a % b) : a;
}

static u32 router_of_place(const struct mesh *mesh, u32 place)
{
    u32 turn = mesh->columns / 2;
    while (turn > 1 && common_factor(mesh->columns, turn) != 1)
        turn--;
    u32 row = place / mesh->columns;
    return row * mesh->columns + (place + row * turn) % mesh->columns;
}

/* Assigns each node a router: at[] has the cores' ports, then the partitions. */
static void place_nodes(const struct mesh *mesh, u32 *at, u32 cores, u32 partitions)
{
    u32 nodes = cores + partitions;
    for (u32 place = 0, core = 0, partition = 0; place < nodes; place++) {
        u32 middle = (u32)((2ull * partition + 1) * nodes / (2ull * partitions));
        bool memory = partition < partitions && place == middle;
        at[memory ? cores + partition++ : core++] = router_of_place(mesh, place);
    }
}

static void create_routers(struct network *network)
{
    struct mesh *mesh = network->mesh;
    struct arena *arena = network->arena;
    u32 count = mesh->columns * mesh->rows;
    u32 size = 1;
    while (size < network->params.buffer_flits)
        size *= 2;
    mesh->ring_mask = size - 1;
    mesh->routers = arena_array(arena, struct router, count);
    mesh->words = (count + 63) / 64;
    mesh->active = arena_array(arena, u64, mesh->words);
    mesh->freed = arena_array(arena, struct port_buffer *, count * PORTS);
    for (u32 r = 0; r < count; r++) {
        struct router *router = &mesh->routers[r];
        router->x = (u16)(r % mesh->columns);
        router->y = (u16)(r / mesh->columns);
        memset(router->given, NO_PORT, sizeof router->given);
        for (u32 p = 0; p < PORTS; p++) {
            router->in[p].flits = arena_array(arena, struct flit, size);
            router->in[p].room = network->params.buffer_flits;
        }
    }
}

void mesh_create(struct network *network)
{
    struct arena *arena = network->arena;
    struct mesh *mesh = arena_new(arena, struct mesh);
    u32 nodes = network->inputs + network->outputs;
    network->mesh = mesh;
    mesh->columns = network->params.mesh_columns;
    if (!mesh->columns)
        while (mesh->columns * mesh->columns < nodes)
            mesh->columns++;
    assert(mesh->columns);
    mesh->rows = (nodes + mesh->columns - 1) / mesh->columns;
    create_routers(network);
    u32 cores = network->replies ? network->outputs : network->inputs;
    u32 *at = arena_array(arena, u32, nodes);
    place_nodes(mesh, at, cores, nodes - cores);
    mesh->input_at = network->replies ? at + cores : at;
    mesh->output_at = network->replies ? at : at + cores;
    for (u32 o = 0; o < network->outputs; o++)
        mesh->routers[mesh->output_at[o]].output = (u16)o;
}

u64 mesh_capacity(const struct network *network)
{
    const struct mesh *mesh = network->mesh;
    return (u64)mesh->columns * mesh->rows * PORTS * network->params.buffer_flits;
}

void mesh_place(const struct network *network, const struct queued_packet *slot, char *text,
                size_t size)
{
    const struct router *router = &network->mesh->routers[slot->router];
    snprintf(text, size, "router (%u,%u)", router->x, router->y);
}

static void buffer_put(struct network *network, u32 at, enum port_name side, u32 slot, u64 ready)
{
    struct mesh *mesh = network->mesh;
    struct router *router = &mesh->routers[at];
    struct port_buffer *buffer = &router->in[side];
    buffer->flits[buffer->end++ & mesh->ring_mask] = (struct flit){slot, (u32)ready};
    buffer->room--;
    router->occupied |= (u8)(1u << side);
    bit_set(mesh->active, at);
}

/* A flit of each entrance enters its router. */
static void enter(struct network *network)
{
    struct mesh *mesh = network->mesh;
    for (u32 w = 0; w < network->input_words; w++) {
        FOR_BITS(bit, network->waiting[w]) {
            u32 input = w * 64 + (u32)bit;
            u32 at = mesh->input_at[input];
            if (!mesh->routers[at].in[NODE].room)
                continue;
            bool head;
            u32 slot = entrance_flit(network, input, &head);
            if (head)
                network->slots[slot].router = at;
            buffer_put(network, at, NODE, slot, network->now);
        }
    }
}

static enum port_name route(const struct mesh *mesh, const struct router *router, u32 output)
{
    const struct router *to = &mesh->routers[mesh->output_at[output]];
    if (to->x != router->x)
        return to->x > router->x ? EAST : WEST;
    if (to->y != router->y)
        return to->y > router->y ? SOUTH : NORTH;
    return NODE;
}

/* The router that a link leads to, and the side on which it enters there. */
static u32 neighbour(const struct mesh *mesh, u32 at, enum port_name link, enum port_name *side)
{
    static const u8 opposite[PORTS] = {NODE, WEST, EAST, NORTH, SOUTH};
    *side = opposite[link];
    switch (link) {
    case EAST:
        return at + 1;
    case WEST:
        return at - 1;
    case SOUTH:
        return at + mesh->columns;
    case NORTH:
        return at - mesh->columns;
    default:
        return at;
    }
}

/* Takes the first flit out of a buffer; true: its packet's tail. */
static bool buffer_take(struct network *network, struct router *router, u32 from, u32 *slot)
{
    struct mesh *mesh = network->mesh;
    struct port_buffer *buffer = &router->in[from];
    *slot = buffer->flits[buffer->first++ & mesh->ring_mask].slot;
    mesh->freed[mesh->freed_count++] = buffer;
    if (buffer->first == buffer->end)
        router->occupied &= (u8) ~(1u << from);
    network->stats->hops++;
    if (++buffer->sent < network->slots[*slot].flits)
        return false;
    buffer->sent = 0;
    return true;
}

static bool link_room(struct network *network, struct router *router, u32 at, enum port_name link)
{
    if (link == NODE) /* room for the whole packet, when its head arrives */
        return router->given[NODE] != NO_PORT || outlet_claim(network, router->output);
    enum port_name side;
    u32 next = neighbour(network->mesh, at, link, &side);
    return network->mesh->routers[next].in[side].room;
}

/* Moves a flit over a link, if one of the requesting buffers (bits) may use it. */
static void use_link(struct network *network, u32 at, enum port_name link, u32 asking)
{
    struct router *router = &network->mesh->routers[at];
    u32 from = router->given[link];
    if (from != NO_PORT && !(asking >> from & 1))
        return;
    if (!link_room(network, router, at, link))
        return;
    if (from == NO_PORT) {
        u32 later = asking & ~0u << router->turn[link];
        from = (u32)__builtin_ctz(later ? later : asking);
        router->given[link] = (u8)from;
        router->turn[link] = (u8)((from + 1) % PORTS);
    }
    bool head = !router->in[from].sent;
    u32 slot;
    bool tail = buffer_take(network, router, from, &slot);
    if (tail)
        router->given[link] = NO_PORT;
    if (link == NODE) {
        if (tail)
            outlet_deliver(network, router->output, slot,
                           network->now + network->params.hop_cycles - 1);
        return;
    }
    enum port_name side;
    u32 next = neighbour(network->mesh, at, link, &side);
    if (head)
        network->slots[slot].router = next;
    buffer_put(network, next, side, slot, network->now + network->params.hop_cycles);
}

static void run_router(struct network *network, u32 at)
{
    struct mesh *mesh = network->mesh;
    struct router *router = &mesh->routers[at];
    u8 asking[PORTS] = {0};
    u32 links = 0;
    FOR_BITS(p, router->occupied) {
        const struct port_buffer *buffer = &router->in[p];
        struct flit flit = buffer->flits[buffer->first & mesh->ring_mask];
        if ((i32)(flit.ready - (u32)network->now) > 0)
            continue;
        enum port_name link = route(mesh, router, network->slots[flit.slot].output);
        asking[link] |= (u8)(1u << p);
        links |= 1u << link;
    }
    FOR_BITS(link, links)
        use_link(network, at, (enum port_name)link, asking[link]);
    if (!router->occupied)
        bit_clear(mesh->active, at);
}

void mesh_tick(struct network *network)
{
    struct mesh *mesh = network->mesh;
    enter(network);
    for (u32 w = 0; w < mesh->words; w++)
        FOR_BITS(bit, mesh->active[w])
            run_router(network, w * 64 + (u32)bit);
    for (u32 i = 0; i < mesh->freed_count; i++)
        mesh->freed[i]->room++;
    mesh->freed_count = 0;
}

/* ---- for visitors ---- */

bool mesh_flit(const struct network *network, u32 buffer, u32 position, u32 *slot, u32 *flit)
{
    const struct mesh *mesh = network->mesh;
    if (buffer / PORTS >= mesh->columns * mesh->rows)
        return false;
    const struct port_buffer *from = &mesh->routers[buffer / PORTS].in[buffer % PORTS];
    if (position >= from->end - from->first)
        return false;
    *slot = from->flits[(from->first + position) & mesh->ring_mask].slot;
    *flit = from->sent; /* of the first packet */
    for (u32 i = 0; i < position; i++) {
        const u32 before = from->flits[(from->first + i) & mesh->ring_mask].slot;
        const u32 next = from->flits[(from->first + i + 1) & mesh->ring_mask].slot;
        *flit = before == next ? *flit + 1 : 0;
    }
    return true;
}

u64 mesh_hash(const struct network *network, u64 hash)
{
    const struct mesh *mesh = network->mesh;
    for (u32 r = 0; r < mesh->columns * mesh->rows; r++) {
        const struct router *router = &mesh->routers[r];
        if (!router->occupied)
            continue;
        for (u32 p = 0; p < PORTS; p++)
            hash = hash_word(hash, (u64)r << 40 | (u64)router->given[p] << 32 |
                                       (u64)router->turn[p] << 24 | router->in[p].sent);
        FOR_BITS(p, router->occupied)
            for (u32 i = router->in[p].first; i != router->in[p].end; i++) {
                const struct flit flit = router->in[p].flits[i & mesh->ring_mask];
                const i32 wait = (i32)(flit.ready - (u32)network->now);
                hash = hash_word(hash, (u64)p << 32 | (u32)MAX(wait, 0));
                hash = hash_word(hash, network->slots[flit.slot].packet.address);
            }
    }
    return hash;
}
