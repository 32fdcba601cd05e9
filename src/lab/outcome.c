/* How a run ended: see outcome.h. */
#include "lab/outcome.h"

#include "base/text.h"
#include "lab/fields.h"
#include "lab/statistics.h"
#include <stdlib.h>
#include <sys/wait.h>

enum {
    LOG_LIMIT = 1 << 24,
    EXIT_OF_HEDDLE = 125, /* 125 to 127: `heddle run` itself failed, instead of a program */
    EXIT_OF_MISTAKE = 2,  /* of `heddle run` with a kernel file: it could not run it */
    EXIT_OF_FAULT = 3,    /* of a campaign of faults: the run without them has failed */
    EXIT_OF_BUG = 4,      /* of both: an internal error */
    EXIT_OF_REMOTE = 255, /* of ssh: the connection failed */
    MESSAGE_BYTES = 300
};

const struct outcome_reason outcome_reasons[] = {
    {"exit", "the program ended with an exit code other than 0: its own check failed"},
    {"fault", "a guest fault, such as an access out of bounds"},
    {"deadlock", "the guest can never continue"},
    {"limit", "a launch reached a limit of instructions, cycles or seconds"},
    {"memory", "more host memory than --max-memory, or than there is"},
    {"time-out", "more host time than --max-seconds"},
    {"crash", "a process ended by a signal, or an internal error of Heddle"},
    {"start", "the program could not be started, or launched no kernel"},
    {"node", "the host, or the connection to it, failed"},
    {0},
};

const struct outcome_reason *outcome_find(const char *name)
{
    for (const struct outcome_reason *reason = outcome_reasons; reason->name; reason++)
        if (!strcmp(reason->name, name))
            return reason;
    return NULL;
}

/* Heddle's first line of a log, or the last line: the program's own, if any, rather than heddle's.
 * Where to find help is neither. */
static const char *line_of(struct arena *arena, const char *path, bool first)
{
    struct error error = {0};
    size_t length;
    char *rest = NULL, *text = text_read_file(path, false, LOG_LIMIT, &length, &error);
    const char *last = "", *own = "";
    for (char *line = text ? strtok_r(text, "\r\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\r\n", &rest)) {
        const bool is_own = strncmp(line, "heddle", 6) != 0;
        if (!strncmp(line, "See 'heddle ", 12))
            continue;
        last = line;
        if (first && !is_own)
            break;
        if (is_own && !first)
            own = line;
    }
    const char *copy = shown_text(arena, *own ? own : last, MESSAGE_BYTES);
    free(text);
    return copy;
}

struct outcome outcome_judge(struct arena *arena, const struct ended_process *process)
{
    int status = process->status;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    const struct launch_summary launches = statistics_launches(arena, process->statistics);
    const char *last = line_of(arena, process->log, false);
    if (process->stopped == STOPPED_LATE)
        return (struct outcome){"time-out", "stopped at its time limit"};
    if (process->stopped == STOPPED_LARGE || strstr(last, "out of memory"))
        return (struct outcome){"memory", process->stopped ? "stopped at its memory limit" : last};
    if (process->remote && code == EXIT_OF_REMOTE)
        return (struct outcome){"node", last};
    if (code >= EXIT_OF_HEDDLE && code <= EXIT_OF_HEDDLE + 2)
        return (struct outcome){"start", last};
    if (launches.failed) {
        const char *how = launches.outcome ? launches.outcome : "?";
        bool own = !strcmp(how, "deadlock") || !strcmp(how, "limit");
        return (struct outcome){
            own ? outcome_find(how)->name : "fault",
            arena_printf(arena, "kernel %s: %s", launches.kernel ? launches.kernel : "?", how)};
    }
    if (process->by_heddle && code == EXIT_OF_MISTAKE)
        return (struct outcome){"start", last};
    if (process->by_heddle && code == EXIT_OF_BUG)
        return (struct outcome){"crash", last};
    if (process->by_heddle && code == EXIT_OF_FAULT)
        return (struct outcome){"fault", line_of(arena, process->log, true)};
    if (code >= 128)
        return (struct outcome){"crash", arena_printf(arena, "signal %d: %s", code - 128, last)};
    if (code)
        return (struct outcome){"exit", last};
    if (process->report && !process->statistics)
        return (struct outcome){"start", "nothing was reported"};
    if (!process->report && !launches.count)
        return (struct outcome){"start", "no kernel was launched"};
    return (struct outcome){"done", ""};
}
