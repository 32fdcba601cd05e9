/*
 * Small programs on small machines: what microbenchmarks share.
 *
 * A rig is a device with one module. Parameters are read from its machine, statistics from its last
 * launch, and every instruction that issues or retires is written down with its cycle, core and
 * place on the core. Whatever goes wrong fails the test.
 */
#ifndef TESTS_MICRO_RIG_H
#define TESTS_MICRO_RIG_H

#include "base/types.h"
#include <heddle/heddle.h>

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

struct text {
    char *data;
    size_t length;
};
void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* An instruction that issued or retired. */
struct move {
    u64 cycle;
    u32 core, slot, inst;
};
struct moves {
    struct move *data;
    u32 count, capacity;
};

struct rig {
    struct hd_device *device;
    struct hd_module *module;
    const char *kernel; /* the kernel to launch; NULL: the first */
    struct hd_result result;
    json_t *params, *stats; /* stats: of the device */
    struct moves issued, retired;
    const struct mechanism *mechanisms[32]; /* NULL-terminated; all built-in ones fit */
};

/* Settings are "key=value" pairs separated by spaces. Every rig is in timing mode, takes PTX as
 * written and, unless set otherwise, fetches instructions without delay. */
struct rig *rig_open(const char *machine, const char *settings, const char *ptx);
/* Creates a rig with mechanisms after the one that writes the log; NULL-terminated, a few. */
struct mechanism;
struct rig *rig_open_with(const struct mechanism *const *more, const char *machine,
                          const char *settings, const char *ptx);
/* The first with a text that is given up. */
struct rig *rig_open_text(const char *machine, const char *settings, struct text *ptx);
/* The same with a code object from a file. */
struct rig *rig_open_file(const char *machine, const char *settings, const char *path);
struct rig *rig_open_file_with(const struct mechanism *const *more, const char *machine,
                               const char *settings, const char *path);
void rig_close(struct rig *rig);
/* Runs the kernel; logs and statistics are those of this launch. */
void rig_launch(struct rig *rig, u32 blocks, u32 threads, const struct hd_arg *args, u32 count);
/* The same with any dimensions. */
void rig_launch_shape(struct rig *rig, struct hd_dim grid, struct hd_dim block,
                      const struct hd_arg *args, u32 count);
/* Runs it with one pointer. */
void rig_run(struct rig *rig, u32 blocks, u32 threads, hd_address pointer);
hd_address rig_memory(struct rig *rig, u64 bytes); /* zeros */

u64 param(const struct rig *rig, const char *name); /* "units.int_add"; flags are 0 or 1 */
u64 stat(const struct rig *rig, const char *name);  /* "l1d.reads", of the last launch */

/* Cycle in which the nth instruction (from 0) of a warp's place issued or retired. */
u64 issued_at(const struct rig *rig, u32 core, u32 slot, u32 nth);
u64 retired_at(const struct rig *rig, u32 core, u32 slot, u32 inst);
/* The same for the instruction that is `back` ones before the last of its warp. */
u64 issued_before_end(const struct rig *rig, u32 core, u32 slot, u32 back);

#endif
