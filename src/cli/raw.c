/* Raw programs: see raw.h. */
#include "cli/raw.h"

#include "base/text.h"
#include "cli/common.h"
#include <stdlib.h>
#include <time.h>

enum {
    STATE_LIMIT = 1 << 30
};

static f64 seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (f64)now.tv_sec + (f64)now.tv_nsec * 1e-9;
}

bool raw_prepare(struct run_command *run)
{
    const char *path = run->request.state;
    struct launch *launch = &run->request.launches.data[0];
    struct error wrong = {0};
    struct hd_error error = {0};
    size_t length;
    if (!claim_stdin(run, "--si-state", path))
        return false;
    char *text = text_read_file(path, true, STATE_LIMIT, &length, &wrong);
    if (!text) {
        complain(run->command, "--si-state: %s: %s", wrong.place, wrong.message);
        return false;
    }
    record_text(run, path, text, length);
    const char *name = strcmp(path, "-") ? path : "standard input";
    run->raw = hd_raw_create(launch->module, text, length, name, &error);
    free(text);
    if (!run->raw) {
        report(run->command, &error);
        return false;
    }
    struct hd_raw_info info;
    hd_raw_info(run->raw, &info);
    launch->info = (struct hd_kernel_info){.name = launch->file, .registers = info.registers};
    launch->grid = (struct hd_dim){info.workgroups, 1, 1};
    launch->block = (struct hd_dim){info.threads, 1, 1};
    return true;
}

static void trace_line(void *user, const char *line, size_t length)
{
    FILE *stream = user;
    fwrite(line, 1, length, stream);
    fputc('\n', stream);
}

int raw_launch(struct run_command *run)
{
    struct launch *launch = &run->request.launches.data[0];
    struct output output = {0};
    struct error wrong = {0};
    struct hd_error error = {0};
    const char *trace = run->request.trace;
    bool traced = trace && open_output(run, &output, trace, &wrong);
    bool written = traced || !trace, ran = false;
    if (written) {
        watch_launch(run->watch, launch->info.name, 1, 1);
        f64 start = seconds();
        ran = hd_raw_run(run->raw, traced ? trace_line : NULL, output.stream, &launch->result,
                         &error);
        launch->seconds = seconds() - start;
        watch_launch(run->watch, NULL, 0, 0);
        watch_clear(run->watch);
    }
    if (traced)
        written = commit_output(run, &output, &wrong);
    if (!written)
        complain(run->command, "--si-trace: %s: %s", wrong.place, wrong.message);
    if (!ran)
        return written ? report(run->command, &error) : EXIT_USAGE;
    launch->ran = true;
    if (launch->result.warnings[0])
        complain(run->command, "%s: %s", launch->file, launch->result.warnings);
    if (launch->result.outcome == HD_DONE)
        return written ? EXIT_DONE : EXIT_USAGE;
    complain(run->command, "%s: %s", launch->file, launch->result.explanation);
    return launch->result.outcome == HD_STOPPED ? 128 + watch_signal(run->watch) : EXIT_FAULT;
}
