/*
 * A parsed `heddle run` command line: launches with their arguments, and the buffers they share.
 * Only the words are checked here; files, kernels and the device later, in run.c.
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
    const char *label;  /* its name in fault messages */
    const char *input;  /* file it is filled from, or NULL for zeros */
    const char *output; /* file it is written to, or NULL */
    u64 bytes;          /* size; of an input, known when it is read */
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
    u64 offset;          /* bytes into the buffer; ARGUMENT_LOCAL: size */
    void *data;          /* the bytes passed, filled before the launch */
    u32 size;
};

struct launch {
    const char *file; /* NULL: the module of the previous launch */
    const char *kernel_name;
    struct hd_dim grid, block; /* x is 0 until given */
    u32 shared_bytes;
    VEC(struct argument) args;
    struct code_file code; /* set in the first launch of `file` */
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
    const char *report;               /* --report: the page's path or NULL */
    const char *state, *dump, *trace; /* for a raw program, which a run with a state is */
    const char *timeline;             /* --trace: a path or NULL */
    u64 trace_from, trace_to;
    bool trace_window, trace_longest; /* --trace-window is given; is "longest" */
    const char *trace_cores;          /* --trace-cores or NULL */
    bool trace_events;                /* the trace is of events: to `timeline`, and for the page */
    u64 interval;                     /* core cycles, 0: none */
    const char *series;
    const char *core_order;
    const char *threads; /* --threads, or from the environment; NULL: one */
    bool functional, annotate, energy, avf, quiet;
    bool in_time; /* raw program in timing mode: a machine is named, or timing.functional is set */
    /* of a program */
    char **program;              /* command line, NULL-terminated; NULL: a kernel file is run */
    const char *workload;        /* name of a workload, instead of a path */
    const char *kernels;         /* kernels in timing mode: a regular expression */
    u64 first_timed, last_timed; /* launches in timing mode, from 1; 0: all */
    u64 functional_until;        /* launches up to this one are functional */
    bool quick, list_devices, keep_exit_code;
};

/* Prints an error and returns false on failure. */
bool request_parse(struct request *request, const struct command *command,
                   const struct command_line *line);
void request_free(struct request *request);
/* Whether an output of heddle's own goes to standard output ("-"). What the guest prints then goes to
 * standard error, so that the two are never mixed. */
bool request_takes_stdout(const struct request *request);

#endif
