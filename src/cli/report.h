/* Reports of a run: the summary and the statistics file. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "base/hash.h"
#include "cli/request.h"
#include <jansson.h>
#include <stdio.h>

/* An input file, for the manifest. */
struct input_record {
    const char *path;
    u64 bytes;
    char sha256[SHA256_TEXT];
};

struct input_list {
    VEC(struct input_record) records;
    bool wanted; /* hashing costs time: only for a statistics file */
};

/* The contents of the --stats document. */
struct statistics_of {
    const struct request *request;
    const struct input_list *inputs;
    const struct hd_config *config;
    const struct command_line *line;
    const char *stats;      /* from hd_stats_json, or with the same members and indentation */
    json_t *programs;       /* programs built by an OpenCL program, or NULL */
    json_t *launch_seconds; /* host seconds by launch */
    json_t *sum_seconds;    /* host seconds of "sums", or NULL */
    f64 wall_seconds;
    u32 threads;         /* of launches in timing mode */
    const char *sources; /* folder of the program's sources; NULL: where they were compiled */
};
/* Version, seed and inputs of a run, for any file with results. */
json_t *manifest_json(const struct hd_config *config, const struct input_list *inputs);
/* Prints the document; only its `host` may differ between two runs. */
void print_statistics(FILE *to, const struct statistics_of *from);

/* Prints a table of the launches on standard error, and where their time went. `stats`: from
 * hd_stats_json. */
void print_summary(const struct request *request, const json_t *stats);

#endif
