/*
 * Test mechanism: writes down all that happens at the slices of the L2, in order. It changes nothing.
 */
#ifndef L2_LOG_H
#define L2_LOG_H

#include "core/mechanism.h"

enum l2_logged {
    L2_LOG_BEGINS,  /* a launch, at `time` */
    L2_LOG_ENDS,    /* its time */
    L2_LOG_SETTLED, /* counters are taken */
    L2_LOG_EVENT,   /* of a line, for `packet` if that is not served yet */
    L2_LOG_REPLY,   /* `packet` leaves the slice */
};

struct l2_log_entry {
    enum l2_logged what;
    fs time;
    u32 slice;
    struct cache_event event;
    struct packet packet;
};

struct l2_log {
    struct l2_log_entry *entries;
    size_t count, room;
};

extern struct l2_log l2_log;
extern const struct mechanism l2_log_mechanism;

void l2_log_forget(void);

#endif
