/*
 * Buffer descriptors: four words that describe a range of memory, and the addresses of lanes in it.
 */
#ifndef EXEC_BUFFER_H
#define EXEC_BUFFER_H

#include "exec/warp.h"
#include "ir/buffer.h"

/*
 * A descriptor unpacked. Bits of its words, the first at 0: address 0-47, stride 48-61, swizzle 63,
 * records 64-95, four selectors of 3 bits from 96 on, number format 108-110, data format 111-114,
 * element size 115-116, index stride 117-118, add thread number 119. The rest concerns caches.
 */
struct buffer {
    u64 base;
    u32 stride;  /* bytes of a record; 0: a plain array of bytes */
    u32 records; /* number of records of `stride` bytes, or of bytes */
    bool swizzled;
    bool add_lane;                  /* the lane's number is added to the index */
    u32 element_shift, index_shift; /* swizzle: log2 of bytes, of records side by side */
    u32 select; /* 3 bits per register: 0, 1, or 4 and more for a component of the texel */
};

/*
 * 48 bits, signed: compilers put a negative constant into the base and the pointer into the address
 * registers, and rely on sums that wrap at the width of an address.
 */
static inline u64 buffer_base(const u32 words[4])
{
    return (u64)((i64)((words[0] | (u64)words[1] << 32) << 16) >> 16);
}

static inline struct buffer buffer_unpack(const u32 words[4])
{
    return (struct buffer){
        .base = buffer_base(words),
        .stride = words[1] >> 16 & 0x3fff,
        .records = words[2],
        .swizzled = words[1] >> 31,
        .add_lane = words[3] >> 23 & 1,
        .element_shift = 1 + (words[3] >> 19 & 3),
        .index_shift = 3 + (words[3] >> 21 & 3),
        .select = words[3] & 0xfff,
    };
}

/* The addresses of the lanes of one chunk. */
struct buffer_access {
    struct buffer buffer;
    struct addresses addresses;
    u32 inside; /* lanes with the first `bytes` in range */
    u32 scalar_offset;
    bool checked; /* against the range; not for 64-bit addresses */
    u32 low[LANES], high[LANES];
};
void buffer_locate(struct warp *warp, const struct inst *inst, const struct step *step,
                   const struct chunk *chunk, u32 mask, u32 bytes, struct buffer_access *access);
/* The bytes that are checked as one piece: the `bytes` that an access passes to buffer_locate. */
u32 buffer_bytes(const struct warp *warp, const struct inst *inst, const struct step *step);
/* Lanes (of `inside`) for which this many bytes are in range. */
u32 buffer_inside(const struct buffer_access *access, u32 bytes);
/* Adds the contents of the descriptor to a fault; returns false. */
bool buffer_explain(struct warp *warp, const struct buffer_access *access);

/*
 * Formats. A texel is up to four components; `bytes` of it are in memory, the lowest component
 * first. Registers hold floats, or integers for the integer number formats.
 */
enum number_format {
    NUMBER_UNORM,   /* unsigned as [0, 1] */
    NUMBER_SNORM,   /* signed as [-1, 1]; the lowest two both stand for -1 */
    NUMBER_USCALED, /* an unsigned integer as a float */
    NUMBER_SSCALED,
    NUMBER_UINT,
    NUMBER_SINT,
    NUMBER_SNORM_OGL, /* signed, evenly spaced: (2n + 1) / (2^bits - 1) */
    NUMBER_FLOAT
};
struct texel_format {
    u8 data, number; /* the descriptor's codes: number is an enum number_format */
    u8 components, bytes;
    bool packed; /* components are not whole bytes */
    u8 bits[4];  /* of the components */
    u8 shift[4]; /* from bit 0 of the first byte */
};
/* False when there is no such format. */
bool texel_format(u32 data, u32 number, struct texel_format *format);
u32 texel_load(const struct texel_format *format, const u8 *from, u32 component);
/* The component's bits, from the word of a register. */
u32 texel_store(const struct texel_format *format, u32 word, u32 component);
/* The value of a component that memory does not have, or that a selector names. */
u32 texel_one(const struct texel_format *format);

#endif
