/*
 * Devices to test on, PTX text made in pieces, and launches that must succeed.
 */
#ifndef SEMANTICS_HARNESS_H
#define SEMANTICS_HARNESS_H

#include <heddle/heddle.h>
#include <stdio.h>

#include "form.h"

/* Text that grows; `at` is its length. */
struct text {
    char *data;
    size_t at, capacity;
};
void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *text);

#define PTX_HEADER ".version 8.8\n.target sm_100\n.address_size 64\n"
#define PTX_HEADER_OLD ".version 6.0\n.target sm_60\n.address_size 64\n"

/* A device with these settings, NULL-terminated "key=value" strings; ends the test on failure. */
struct hd_device *device_open(const char *const *settings);
/* Prints the error and returns NULL on failure. */
struct hd_module *module_load(struct hd_device *device, const struct text *text, const char *name);

/* Launches a kernel whose parameters are all u64; says why when it did not finish. */
bool launch(struct hd_module *module, const char *kernel, struct hd_dim grid, struct hd_dim block,
            const u64 *args, unsigned arg_count);

/* Device memory with contents, freed with the device. */
u64 buffer_new(struct hd_device *device, const void *data, size_t bytes);
void buffer_read(struct hd_device *device, u64 buffer, void *to, size_t bytes);
void buffer_write(struct hd_device *device, u64 buffer, const void *from, size_t bytes);

/* The two ways code is compiled and run: vectors with optimisation, portable without. */
extern const char *const settings_fast[];
extern const char *const settings_plain[];

/* lane_runner.c: runs the forms of a family; returns the number that failed. */
unsigned run_family(const struct forms *forms, const char *family);
void form_kernel(struct text *text, const struct form *f, const char *name, bool guarded);

#endif
