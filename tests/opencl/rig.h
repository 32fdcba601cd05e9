/*
 * What tests of the OpenCL driver share: they are ordinary programs of the loader, which finds the
 * driver by OCL_ICD_VENDORS; HEDDLE_MACHINE names the devices.
 */
#ifndef TESTS_OPENCL_RIG_H
#define TESTS_OPENCL_RIG_H

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    RIG_DEVICES = 4
};

struct rig {
    cl_platform_id platform;
    cl_device_id devices[RIG_DEVICES];
    cl_uint device_count;
    cl_context context;                   /* of all devices */
    cl_command_queue queues[RIG_DEVICES]; /* of each, with profiling */
    cl_command_queue queue;               /* the first device's */
};

/* For cmocka_run_group_tests: *state is the rig. */
int rig_setup(void **state);
int rig_teardown(void **state);

/* A program built for all devices of the context; its log is printed when it fails. */
cl_program rig_build(cl_context context, const char *source, const char *options);
cl_kernel rig_kernel(cl_context context, const char *source, const char *name);

cl_mem rig_buffer(struct rig *rig, cl_mem_flags flags, size_t bytes, void *host);
void rig_read(struct rig *rig, cl_mem buffer, void *to, size_t offset, size_t bytes);
void rig_write(struct rig *rig, cl_mem buffer, const void *from, size_t offset, size_t bytes);

/* A small generator of its own, so that runs repeat. */
uint32_t rig_random(uint32_t *state, uint32_t below);
void rig_noise(uint32_t *state, void *to, size_t bytes);

#define OK(call) assert_int_equal((call), CL_SUCCESS)
/* An expression that is to be NULL and to put the code into `why`. */
#define FAILS(code, call)              \
    do {                               \
        cl_int why = CL_SUCCESS;       \
        assert_null(call);             \
        assert_int_equal(why, (code)); \
    } while (0)

#endif
