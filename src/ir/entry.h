/*
 * What a warp's registers hold when it starts, as data.
 *
 * A front end whose machine code expects values in registers (a kernel argument pointer, block
 * numbers, thread coordinates) describes them here for one launch. The engine copies the image into
 * guest memory, then fills the listed registers of every warp, whatever the ISA. A front end whose
 * code reads everything by instructions (op sreg, the parameter space) needs none of this.
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
    ENTRY_SCALAR, /* one word per warp */
    ENTRY_VECTOR, /* one word per lane */
};

/* The source of a register's word; `value` is that field of struct entry_register. */
enum entry_what {
    ENTRY_CONSTANT,          /* value */
    ENTRY_IMAGE_LO,          /* guest address of the image + value, low word */
    ENTRY_IMAGE_HI,          /* its high word */
    ENTRY_LOCAL_LO,          /* guest address of the launch's local memory, low word */
    ENTRY_LOCAL_HI,          /* its high word, with the bits of value set, too */
    ENTRY_LOCAL_WARP_OFFSET, /* byte offset of this warp's local memory from ENTRY_LOCAL */
    ENTRY_LANES_LO,          /* mask of the lanes with a thread, lanes 0-31 */
    ENTRY_LANES_HI,          /* its lanes 32-63 */
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

/* A named part of the image, for messages about addresses. */
struct entry_part {
    const char *name; /* "kernel arguments" */
    u32 offset, bytes;
};

struct entry_state {
    const struct entry_register *registers;
    u32 register_count;
    const u8 *image; /* constant for the launch */
    u32 image_bytes, image_align;
    const struct entry_fixup *fixups;
    u32 fixup_count;
    const struct entry_part *parts; /* in order of offset */
    u32 part_count;
    /* Local memory that the launch must provide per thread, 0 for none. A swizzled layout (word w
     * of lane l is at byte (w * lanes + l) * 4 of the warp's part) is set up by the code's own
     * descriptor; the engine only reserves local_bytes * lanes for each resident warp. */
    u32 local_bytes;
};

/* The properties of a launch that its entry depends on. */
struct entry_launch {
    u32 grid[3];              /* blocks */
    u32 block[3];             /* threads per block */
    u32 dims;                 /* 1 to 3, from the host; 0: up to the last extent that is not 1 */
    u64 offset[3];            /* added to global thread numbers (OpenCL) */
    u64 buffer;               /* guest address of the host runtime's printf buffer; 0: none */
    u32 dynamic_shared_bytes; /* per block, in addition to static shared memory */
    u32 stack_bytes;          /* additional local memory per thread if its need is not known */
    const u8 *arguments;      /* explicit arguments, each at its parameter's offset */
    u32 argument_bytes;
};

/*
 * Composes the entry of one kernel's launch in `arena`. `kernel` is the front end's own description
 * of the kernel (struct function.description).
 */
typedef struct entry_state *entry_fn(const void *kernel, const struct entry_launch *launch,
                                     struct arena *arena, struct error *error);

#endif
