/*
 * The maps of one chip as bytes: what a device is given.
 *
 * A run does not know the file of chips, so that the library needs no database: the command takes a
 * chip out of its file, and the device and the OpenCL driver read its maps.
 *
 *  M1  The bytes have what a chip does to a run and nothing else; they are the same on every host.
 *      So their SHA-256 identifies the chip in manifests and keys, whatever its file and number.
 *  M2  Sizes, the digest and all values are checked when they are read.
 *
 * All numbers are little-endian. "HEDCHIP1"; u32: cores, banks, entries, words, lanes, check bits;
 * f64: volts, threshold, floor; for each core: f64 threshold, u16 delays by word, u16 number of
 * weak cells by entry, then these, two u16 for each. At the end, the SHA-256 of all bytes before it,
 * as 64 digits.
 */
#ifndef CHIP_MAPS_H
#define CHIP_MAPS_H

#include "base/hash.h"
#include "chip/chip.h"
#include <stdatomic.h>

/* A chip that configurations and devices share. */
struct chip_maps {
    struct chip chip;
    char name[256]; /* for messages: "chips.db:7" */
    char sha256[SHA256_TEXT];
    struct arena *arena;
    atomic_uint owners;
};

/* Free with free(). */
u8 *chip_maps_write(const struct chip *chip, size_t *bytes);
/* NULL and an error on failure. The caller is its first owner. */
struct chip_maps *chip_maps_read(const void *data, size_t bytes, const char *name,
                                 struct error *error);
struct chip_maps *chip_maps_share(struct chip_maps *maps); /* NULL is fine */
void chip_maps_release(struct chip_maps *maps);            /* NULL is fine */

/* Whether a machine's register files are laid out as those of the chip. Check bits are the chip's
 * own. `machine` is used in messages. */
bool chip_maps_fit(const struct chip_maps *maps, const struct file_plan *plan, const char *machine,
                   struct error *error);

#endif
