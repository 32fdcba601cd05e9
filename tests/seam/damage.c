/*
 * Test mechanism: damages the content of one line. The line is the one whose first word is MARK; it
 * is damaged when the first atomic reaches its slice (L2) or is answered (L1). A flip is that of bit
 * 5 of the line's second word. A partition damages its own lines only. Seams: content, l2_request,
 * reply.
 */
#include "seam/damage.h"
#include "seam/seam.h"

#define COMPONENT damage
#define COMPONENT_DEF "seam/damage.def"
#define COMPONENT_HELP "faults in lines, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

enum {
    NOTHING,
    LOSE,
    FLIP_L2,
    FLIP_L1
};

struct damage {
    MECHANISM_STATE(damage);
    bool done;
};

struct damage_memory { /* of a partition */
    MECHANISM_STATE(damage);
    struct memory_system *system;
    u32 first, slices;
    bool done;
};

static bool is_marked(const struct cache_line *line)
{
    u32 word;
    memcpy(&word, line->bytes, sizeof word);
    return word == DAMAGE_MARK && (line->valid | line->dirty) & 1;
}

static void flip(struct cache_line *line)
{
    line->bytes[4] ^= DAMAGE_BIT;
}

static void create_memory(void *memory, struct memory_system *system, u32 partition, u32 slices)
{
    struct damage_memory *d = memory;
    d->system = system;
    d->first = partition * slices;
    d->slices = slices;
}

static void damage_slice(struct damage_memory *d, u32 slice)
{
    struct cache_line line;
    for (u32 set = 0; set < DAMAGE_SETS; set++)
        for (u32 way = 0; way < DAMAGE_WAYS; way++) {
            if (!memory_system_line(d->system, slice, set, way, &line) || !is_marked(&line))
                continue;
            d->stats->lines++;
            d->stats->changed += line.dirty != 0;
            if (d->params->what == LOSE)
                memory_system_lose(d->system, slice, set, way);
            else
                flip(&line);
        }
}

static void l2_request(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle)
{
    struct damage_memory *d = memory;
    if (d->done || packet->kind != PACKET_ATOMIC ||
        (d->params->what != LOSE && d->params->what != FLIP_L2))
        return;
    d->done = true;
    for (u32 i = 0; i < d->slices; i++)
        damage_slice(d, d->first + i);
}

static void reply(void *state, struct core *core, const struct packet *packet)
{
    struct damage *d = state;
    struct cache_line line;
    if (d->done || d->params->what != FLIP_L1 || packet->client != CLIENT_DIRECT ||
        packet->kind != PACKET_DATA || !packet->returns)
        return;
    d->done = true;
    for (u32 set = 0; set < core_config(core)->l1d->sets; set++)
        for (u32 way = 0; way < core_config(core)->l1d->ways; way++)
            if (core_l1_line(core, CLIENT_L1D, set, way, &line) && is_marked(&line)) {
                d->stats->lines++;
                flip(&line);
            }
}

const struct mechanism damage_mechanism = {
    MECHANISM_NAMED(damage, "damages the content of a line"),
    .state_size = sizeof(struct damage),
    .memory_size = sizeof(struct damage_memory),
    .content = true,
    .create_memory = create_memory,
    .l2_request = l2_request,
    .reply = reply,
};
