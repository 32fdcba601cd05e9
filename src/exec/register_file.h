/*
 * The vector register file of a core, in time: rows of one 32-bit word a lane, as many as the
 * machine declares (core.registers / core.warp_size). The values of vector registers live there and
 * nowhere else; rows that no warp has exist, too, and keep what was last written to them.
 *
 * A warp's masks and scalars and its registers lie behind one base pointer (S3 of image.h), so that
 * operands are base + offset. Hence storage is an array of frames, one for each warp that a core
 * can hold: `header` rows of masks, scalars and the engine's own, then `rows` of the file, which is
 * what a warp is given of it: its registers, rounded up to the unit of allocation. Physical row p
 * is row p % rows of frame p / rows; rows that do not fill a frame follow the last one. Register r
 * of a warp in frame f is row f * rows + r, and a block's warps take the lowest free frames. All
 * warps of a launch have frames of one size; when a launch with another one comes to the core, the
 * contents of all rows are carried over.
 *
 * Invariants
 *  G1  A frame belongs to at most one warp, from block_start to block_end.
 *  G2  Registers read as zero at the start of a block: an architectural reset of the rows that the
 *      block is given, and of no others.
 *
 * Where a launch has more resident warps than the declared rows have frames (launch.registers is
 * smaller than what the kernel uses, or groups of raw code differ), there are more rows than
 * declared: register_file_rows says how many.
 *
 * Scalar registers are entries of a second file where the machine declares one
 * (core.scalar_registers). Their map is always the identity: entry e is scalar e % scalars of frame
 * e / scalars. Entries beyond the frames are not stored.
 *
 * Functional runs have no file: a block's registers are in its own storage (block.c).
 */
#ifndef EXEC_REGISTER_FILE_H
#define EXEC_REGISTER_FILE_H

#include "base/types.h"

struct warp;

#define NO_ROW UINT32_MAX
enum {
    MOST_FRAMES = 128 /* warps of a core, and those of a block that is being started */
};

/* How a launch divides a file. */
struct register_layout {
    u32 header; /* rows of masks, scalars and the engine's own in a frame */
    u32 rows;   /* of the file, in a frame */
    u32 frames;
    u32 scalars; /* entries of the scalar file that a warp is given; 0: there is none */
};

struct register_file {
    u32 lanes;
    u32 declared, declared_scalars;
    struct register_layout layout; /* of `storage` */
    struct register_layout next;   /* of the launch that is running or was last */
    u64 taken[MOST_FRAMES / 64];   /* frames */
    u32 *storage;                  /* pages that are never touched take no memory */
    size_t bytes;                  /* of it */
};

struct register_file *register_file_create(u32 lanes, u32 rows, u32 scalars);
void register_file_destroy(struct register_file *file);
/* A launch begins. No frame is taken. Storage changes when the first warp comes. */
void register_file_begin(struct register_file *file, const struct register_layout *layout);

/* A frame for a warp whose image has the file's layout; its masks, scalars and registers are 0. */
void register_file_take(struct register_file *file, struct warp *warp);
void register_file_give(struct register_file *file, struct warp *warp);

/* Rows that exist: those declared, or more. */
u32 register_file_rows(const struct register_file *file);
/* The lanes of a physical row. */
u32 *register_file_row(const struct register_file *file, u32 row);
/* The row of a warp's register, and the entry of one of its scalars. */
u32 register_file_find(const struct register_file *file, const struct warp *warp, u32 reg);
u32 register_file_find_scalar(const struct register_file *file, const struct warp *warp,
                              u32 scalar);

#endif
