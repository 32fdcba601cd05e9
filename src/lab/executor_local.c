/* Points on this host: --on local[:N]. */
#include "base/text.h"
#include "base/workers.h"
#include "lab/processes.h"
#include <stdio.h>
#include <stdlib.h>

extern const struct executor_kind executor_local;

/* HEDDLE_THREADS=auto means all cores of the host: points that run at a time share them. */
static void share_host(u32 points)
{
    const char *threads = getenv("HEDDLE_THREADS");
    char share[16];
    if (!threads || strcmp(threads, "auto") != 0)
        return;
    snprintf(share, sizeof share, "%u", MAX(workers_host_cores() / points, 1));
    setenv("HEDDLE_THREADS", share, 1);
}

static struct executor *open_local(const struct executor_setup *setup, const char *text,
                                   struct error *error)
{
    u64 count = setup->parallel;
    if (*text && (text_u64(text, &count) != TEXT_OK || !count || count > 1024)) {
        error_fill(error, ERROR_USAGE, "", "'local:%s': expected 1 to 1024 runs at a time", text);
        return NULL;
    }
    share_host((u32)count);
    return processes_open(&executor_local, setup, (u32)count, NULL);
}

const struct executor_kind executor_local = {
    .name = "local",
    .form = "local[:N]",
    .help = "processes on this host, N at a time",
    .open = open_local,
    .room = processes_room,
    .start = processes_start,
    .next = processes_next,
    .stop = processes_stop,
    .close = processes_close,
};
