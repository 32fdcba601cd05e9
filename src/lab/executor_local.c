/* Points on this host: --on local[:N]. */
#include "base/text.h"
#include "lab/processes.h"

extern const struct executor_kind executor_local;

static struct executor *open_local(const struct executor_setup *setup, const char *text,
                                   struct error *error)
{
    u64 count = setup->parallel;
    if (*text && (text_u64(text, &count) != TEXT_OK || !count || count > 1024)) {
        error_fill(error, ERROR_USAGE, "", "'local:%s': expected 1 to 1024 runs at a time", text);
        return NULL;
    }
    return processes_open(&executor_local, setup, (u32)count, NULL, error);
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
