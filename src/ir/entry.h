/*
 * What a warp's registers hold when it starts, as data.
 *
 * A front end whose machine code expects values in registers (a kernel argument pointer, block
 * numbers, thread coordinates) describes them here for one launch; the engine copies the image into
 * guest memory, then fills the listed registers of every warp without knowing which ISA asked for
 * them. A front end whose code reads everything by instructions (op sreg, the parameter space)
 * needs none of this.
 *
 * Invariants
 *  E1  Registers that are not listed are zero. No register is listed twice.
 *  E2  Addresses are those of the image's copy in guest memory, which the launch owns: read-only
 *      for the guest, aligned to `image_align`, freed when the launch ends.
 *  E3  All bytes of the image are defined; a fixup lies inside it and does not overlap another one.
 */
#ifndef IR_ENTRY_H
#define IR_ENTRY_H

#include "base/arena.h"
#include "base/error.h"

enum entry_file {
    ENTRY_SCALAR, /* one word a warp */
    ENTRY_VECTOR, /* one word a lane */
};

/* Where a word comes from; `value` is the field of the same register. */
enum entry_what {
    ENTRY_CONSTANT,          /* value */
    ENTRY_IMAGE_LO,          /* guest address of the image + value, low word */
    ENTRY_IMAGE_HI,          /* the same, high word */
    ENTRY_LOCAL_LO,          /* guest address of the launch's local memory, low word */
    ENTRY_LOCAL_HI,          /* the same, high word, with the bits of value set too */
    ENTRY_LOCAL_WARP_OFFSET, /* byte offset of this warp's local memory from there */
    ENTRY_LANES_LO,          /* the lanes that hold a thread, as a mask: lanes 0-31 */
    ENTRY_LANES_HI,          /* lanes 32-63 */
    ENTRY_BLOCK_X,           /* block number in the grid */
    ENTRY_BLOCK_Y,
    ENTRY_BLOCK_Z,
    ENTRY_BLOCK_INFO, /* warps of the block in bits 5:0, bit 31 set in its first warp */
    ENTRY_LAUNCH_LO,  /* number of this launch on its device, low word */
    ENTRY_LAUNCH_HI,
    ENTRY_THREAD_X, /* vector only: thread number in the block */
    ENTRY_THREAD_Y,
    ENTRY_THREAD_Z,
};

struct entry_register {
    u8 file; /* enum entry_file */
    u8 what; /* enum entry_what */
    u16 index;
    u32 value;
};

/* The image's 8 bytes at `offset` get the guest address of the image + value. */
struct entry_fixup {
    u32 offset;
    u32 value;
};

/* A part of the image with a name of its own, for messages about addresses. */
struct entry_part {
    const char *name; /* "kernel arguments" */
    u32 offset, bytes;
};

struct entry {
    const struct entry_register *registers;
    u32 register_count;
    const u8 *image; /* constant for the launch */
    u32 image_bytes, image_align;
    const struct entry_fixup *fixups;
    u32 fixup_count;
    const struct entry_part *parts; /* in order of offset */
    u32 part_count;
    /*
     * Local memory the launch must provide a thread, 0 for none. Where the layout is swizzled (lane
     * l's word w of a warp is at byte (w * lanes + l) * 4 of the warp's part) the code's own
     * descriptor says so; the engine only reserves local_bytes * lanes for each resident warp.
     */
    u32 local_bytes;
};

/* A launch, as far as its entry depends on it. */
struct entry_launch {
    u32 grid[3];              /* blocks */
    u32 block[3];             /* threads of a block */
    u32 dims;                 /* 1 to 3, as the host said; 0: the highest that is not 1 */
    u64 offset[3];            /* of the global thread numbers (OpenCL) */
    u64 buffer;               /* of the host's runtime, for what the kernel prints; 0: none */
    u32 dynamic_shared_bytes; /* of a block, beside the static ones */
    u32 stack_bytes;          /* local memory a thread gets more where its need is not known */
    const u8 *arguments;      /* the explicit ones, each at its parameter's offset */
    u32 argument_bytes;
};

/*
 * Composes the entry of one kernel's launch in `arena`. `kernel` is the front end's own description
 * of the kernel, handed through by whoever launches.
 */
typedef struct entry *entry_fn(const void *kernel, const struct entry_launch *launch,
                               struct arena *arena, struct error *error);

#endif
