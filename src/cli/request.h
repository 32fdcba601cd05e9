/*
 * What a `heddle run` line asks for: launches with their arguments, and the buffers they share.
 * Only the words are judged here; files, kernels and the device come later, in run.c.
 */
#ifndef CLI_REQUEST_H
#define CLI_REQUEST_H

#include "cli/code.h"
#include "cli/options.h"
#include "cli/values.h"

/* Device memory for the run. */
struct run_buffer {
    const char *option; /* as the user wrote it, for messages: "--arg out:c.bin:4K" */
    const char *name;   /* of --buf, else NULL */
    const char *label;  /* what fault messages call it */
    const char *input;  /* file it is filled from, or NULL for zeros */
    const char *output; /* file it is written to, or NULL */
    u64 bytes;          /* of an input: known when it is read */
    hd_address address;
};

enum argument_kind {
    ARGUMENT_VALUE,
    ARGUMENT_BYTES,
    ARGUMENT_BUFFER,
    ARGUMENT_LOCAL
};

struct argument {
    const char *option; /* "--arg u32:5" */
    enum argument_kind kind;
    struct scalar value; /* ARGUMENT_VALUE */
    const char *path;    /* ARGUMENT_BYTES */
    const char *refers;  /* ARGUMENT_BUFFER through @NAME: the name */
    u32 buffer;          /* ARGUMENT_BUFFER */
    u64 offset;          /* bytes into the buffer; ARGUMENT_LOCAL: its size */
    void *data;          /* the bytes passed, filled before the launch */
    u32 size;
};

struct launch {
    const char *file; /* NULL: the same module as the launch before */
    const char *kernel_name;
    struct hd_dim grid, block; /* x is 0 until given */
    u32 shared_bytes;
    VEC(struct argument) args;
    struct code_file code; /* read where `file` names it first */
    struct hd_module *module;
    struct hd_kernel *kernel;
    struct hd_kernel_info info;
    struct hd_result result;
    bool ran;
    f64 seconds;
};

struct request {
    struct arena *arena;
    VEC(struct launch) launches;
    VEC(struct run_buffer) buffers;
    const char *stats, *dump_config;  /* paths or NULL */
    const char *state, *dump, *trace; /* of a raw program: the run is one when there is a state */
    const char *timeline;             /* --trace: a path or NULL */
    u64 trace_from, trace_to;
    u64 interval; /* core cycles, 0: none */
    const char *series;
    const char *core_order;
    bool functional, annotate, energy, quiet;
    bool in_time; /* of a raw program: a machine is named, or timing.functional is set */
    /* of a program */
    char **program;              /* its words, NULL-terminated; NULL: kernels of a file run */
    const char *workload;        /* one that comes with Heddle, instead of a path */
    const char *kernels;         /* which are modelled in time: a regular expression, */
    u64 first_timed, last_timed; /* and numbers of launches from 1; 0: all, */
    u64 functional_until;        /* of these, beyond that one */
    bool quick, list_devices, keep_exit_code;
};

/* False after printing what is wrong. */
bool request_parse(struct request *request, const struct command *command,
                   const struct command_line *line);
void request_free(struct request *request);

#endif
