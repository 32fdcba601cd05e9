/*
 * Files of a run: inputs into device memory, device memory into outputs.
 *
 * Large buffers are copied in pieces; every input is recorded for the manifest if a statistics file
 * is requested. All functions print an error and return false on failure.
 */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "cli/output.h"
#include "cli/report.h"
#include "cli/watch.h"
#include "report/series.h"

/* Files written while launches run; see timeline.h. */
struct timeline {
    struct output trace, series;
    bool has_trace, has_series;
    bool csv, headed; /* format of the series; its headings are written */
    struct {
        FILE *to; /* into `text`; NULL: no page shows them */
        char *text;
        size_t length;
    } events; /* for --report */
};

struct run_command {
    const struct command *command;
    const struct command_line *line;
    struct request request;
    struct hd_config *config;
    struct hd_device *device;
    struct hd_raw *raw; /* of a raw program */
    struct input_list inputs;
    u8 *chip; /* maps of the chip that --chip names, or NULL */
    size_t chip_bytes;
    char *stats; /* of launch_statistics() */
    struct watch *watch;
    struct timeline timeline;
    struct series over_time; /* for --report */
    bool stdin_taken;
    bool live; /* the device's state can be flipped: timing.live_state */
};

/* Checks that "-" is read only once. */
bool claim_stdin(struct run_command *run, const char *option, const char *path);
void record_text(struct run_command *run, const char *path, const char *text, size_t length);
/* Records the files that --mech has loaded. */
void record_mechanisms(struct run_command *run);
/* Allocates the buffer and fills it from its file or with zeros. */
bool fill_buffer(struct run_command *run, struct run_buffer *buffer);

/* Checks that no two outputs have the same path, and that each is writable. */
bool check_outputs(struct run_command *run);
/* output_open, output_commit and output_discard, which also notify the watch thread; errors are not printed. */
bool open_output(struct run_command *run, struct output *output, const char *path,
                 struct error *error);
bool commit_output(struct run_command *run, struct output *output, struct error *error);
void discard_output(struct run_command *run, struct output *output);
/* hd_stats_json when all launches have ended. */
const char *launch_statistics(struct run_command *run);
/* Writes the statistics file and the page, if requested. */
bool write_statistics(struct run_command *run, const struct statistics_of *from);
/* Takes ownership of `json`. */
bool write_json(struct run_command *run, const char *option, const char *path, json_t *json);
/* Writes all buffers with an output file, and the statistics. */
bool write_outputs(struct run_command *run, f64 wall_seconds);

#endif
