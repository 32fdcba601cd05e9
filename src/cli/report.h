/* What a run leaves behind for people and programs: the summary and the statistics file. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "base/hash.h"
#include "cli/request.h"
#include <jansson.h>

/* A file the run read: its place in the manifest. */
struct input_record {
    const char *path;
    u64 bytes;
    char sha256[SHA256_TEXT];
};

struct input_list {
    VEC(struct input_record) records;
    bool wanted; /* hashing costs time: only for a statistics file */
};

/* What the document of --stats is made of. */
struct statistics_of {
    const struct request *request;
    const struct input_list *inputs;
    const struct hd_config *config;
    const struct command_line *line;
    json_t *stats;          /* as hd_stats_json gives them */
    json_t *programs;       /* that an OpenCL program built, or NULL */
    json_t *launch_seconds; /* of the host, an array */
    json_t *sum_seconds;    /* the same of "sums", if there are any */
    f64 wall_seconds;
};
/* The document; `host` is all that may differ between two runs. */
json_t *statistics_document(const struct statistics_of *from);

/* A table of the launches on standard error, and where their time went. `stats`: hd_stats_json. */
void print_summary(const struct request *request, const json_t *stats);

#endif
