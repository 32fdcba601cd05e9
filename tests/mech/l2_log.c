/* See l2_log.h. */
#include "l2_log.h"

#include <stdlib.h>

#define COMPONENT l2_log
#define COMPONENT_DEF "l2_log.def"
#define COMPONENT_HELP "writes down events of the L2, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

enum {
    SLICES = 64
};

struct l2_log_memory {
    MECHANISM_STATE(l2_log);
    struct memory_system *system;
    u32 partition;
    struct packet asks[SLICES]; /* the packet that was announced last */
};

struct l2_log l2_log;

void l2_log_forget(void)
{
    free(l2_log.entries);
    l2_log = (struct l2_log){0};
}

static struct l2_log_entry *add(enum l2_logged what, u32 slice, fs time)
{
    if (l2_log.count == l2_log.room) {
        l2_log.room = l2_log.room ? 2 * l2_log.room : 4096;
        l2_log.entries = checked(realloc(l2_log.entries, l2_log.room * sizeof *l2_log.entries));
    }
    struct l2_log_entry *entry = &l2_log.entries[l2_log.count++];
    *entry = (struct l2_log_entry){.what = what, .slice = slice, .time = time};
    return entry;
}

static void create_memory(void *memory, struct memory_system *system, u32 partition, u32 slices)
{
    struct l2_log_memory *m = memory;
    m->system = system;
    m->partition = partition;
}

static void launch_memory(void *memory, const struct exec *exec, bool begins, fs now)
{
    if (((struct l2_log_memory *)memory)->partition == 0)
        add(begins ? L2_LOG_BEGINS : L2_LOG_ENDS, 0, now);
}

static void settle_memory(void *memory, fs now)
{
    if (((struct l2_log_memory *)memory)->partition == 0)
        add(L2_LOG_SETTLED, 0, now);
}

static void l2_request(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle)
{
    ((struct l2_log_memory *)memory)->asks[slice] = *packet;
}

static void l2_reply(void *memory, u32 slice, struct packet *packet, fs now, u64 cycle)
{
    add(L2_LOG_REPLY, slice, now)->packet = *packet;
}

static void l2_event(void *memory, u32 slice, const struct cache_event *event)
{
    struct l2_log_memory *m = memory;
    struct l2_log_entry *entry = add(L2_LOG_EVENT, slice, memory_system_now(m->system));
    entry->event = *event;
    entry->packet = m->asks[slice];
    m->stats->events++;
}

const struct mechanism l2_log_mechanism = {
    MECHANISM_NAMED(l2_log, "writes down events of the L2"),
    .memory_size = sizeof(struct l2_log_memory),
    .create_memory = create_memory,
    .launch_memory = launch_memory,
    .settle_memory = settle_memory,
    .l2_request = l2_request,
    .l2_reply = l2_reply,
    .l2_event = l2_event,
};
