/* What a device tells while a launch runs: see observer.h. */
#include "gpu/observer.h"

#include "gpu/machine_stats.h"
#include <stdlib.h>

struct observer {
    struct hd_observe what;
};

struct observer *observer_create(const struct hd_observe *what)
{
    struct observer *observer = calloc(1, sizeof *observer);
    if (!observer)
        abort();
    observer->what = *what;
    return observer;
}

void observer_destroy(struct observer *observer)
{
    free(observer);
}

void observer_begin(struct observer *observer, const struct observer_launch *launch)
{
}

void observer_span(const struct observer *observer, fs *from, fs *to)
{
    *from = *to = 0;
}

void observer_take(struct observer *observer, struct observations *core)
{
    core->list.count = 0;
}

fs observer_next(const struct observer *observer)
{
    return FS_NEVER;
}

void observer_sample(struct observer *observer, fs now, const struct machine_stats *stats)
{
}

void observer_end(struct observer *observer, fs now, const struct machine_stats *stats)
{
}
