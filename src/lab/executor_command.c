/*
 * Points by a command of the user's, such as ssh: --on command:'ssh host {}'. The hosts share this
 * one's file system: Heddle, programs, the current folder and the campaign's folder have the same
 * paths there. --jobs says how many run at a time.
 */
#include "lab/processes.h"

extern const struct executor_kind executor_command;

static struct executor *open_command(const struct executor_setup *setup, const char *text,
                                     struct error *error)
{
    if (!*text) {
        error_fill(error, ERROR_USAGE, "",
                   "'command:': expected a command after the colon, as in command:'ssh host {}'");
        return NULL;
    }
    return processes_open(&executor_command, setup, setup->parallel, text);
}

const struct executor_kind executor_command = {
    .name = "command",
    .form = "command:'ssh host {}'",
    .help = "a command of yours starts each run; {} is the run's command line, {slot} a number "
            "below --jobs",
    .needs_folder = true,
    .open = open_command,
    .room = processes_room,
    .start = processes_start,
    .next = processes_next,
    .stop = processes_stop,
    .close = processes_close,
};
