/* Commands that move boxes of bytes: see transfer.c. */
#ifndef OPENCL_TRANSFER_H
#define OPENCL_TRANSFER_H

#include "opencl/opencl.h"

struct side {
    cl_mem mem;   /* NULL: host memory */
    u8 *host;     /* if host memory */
    size_t start; /* bytes */
    size_t row_pitch, slice_pitch;
};

struct transfer {
    struct queue_command command;
    struct side from, to;
    size_t region[3];
};

/* The common arguments of all enqueue functions. */
struct enqueue {
    cl_command_queue queue;
    cl_command_type type;
    cl_bool blocking;
    cl_uint wait_count;
    const cl_event *waits;
    cl_event *event;
};

cl_int enqueue_transfer(const struct transfer *what, const struct enqueue *how);

#endif
