/* What the files of a flight share: see flight.h. */
#ifndef EXEC_FLIGHT_PARTS_H
#define EXEC_FLIGHT_PARTS_H

#include "exec/flight.h"

/* What is left to do after issue. */
enum flight_work {
    WORK_NONE,   /* nothing; or the results are there already */
    WORK_LANES,  /* a lane function */
    WORK_SCALAR, /* a scalar function */
    WORK_ACCESS, /* memory, by lanes */
    WORK_WORDS,  /* whole words of global memory, by lanes: flight_move_words */
    WORK_APPEND, /* shared memory, once for all lanes */
    WORK_SCALAR_LOAD,
};

/* Addresses without a higher bit than this one are in no window. */
#define BELOW_WINDOWS (1ull << 46)
_Static_assert(LOCAL_WINDOW >= BELOW_WINDOWS && SHARED_WINDOW >= BELOW_WINDOWS,
               "windows are above");

/* flight_even.c: instead of flight_locate, when the operands are still in the registers. False:
 * nothing has been done. */
bool flight_fold(struct flight *f);
/* The same when they are in the record, of all 64 lanes. */
bool flight_fold_buffer(struct flight *f);
/* Any lanes of global memory, whose operands are in the record. */
bool flight_list(struct flight *f);
/* As if it had not been folded. */
void flight_unfold(struct flight *f);
/* Instead of the long way; false: nothing has been done. */
bool flight_move_even(struct flight *f, struct memory_view *view);
bool flight_move_words(struct flight *f, struct memory_view *view);

/* flight_access.c */
void flight_locate(struct flight *f);
/* A step whose operands are the record's, for chunks of this warp. Masks are those of chunk 0. */
void flight_step(const struct flight *f, const struct warp *warp, struct step *step);

/* flight_control.c: what takes effect at issue (F3). */
void flight_control(struct flight *f);
void flight_whole(struct flight *f);
/* One of these three, whose instruction reads the registers itself: rows that do not tell their
 * values hold them meanwhile. */
void flight_viewed(struct flight *f, void (*act)(struct flight *f));
/* Instructions that are rare enough to be run in the registers, which are then put back. */
void flight_other(struct flight *f);

/* flight.c: the registers, or masks, of result k, for chunk 0 (S3 of image.h). */
static inline u32 *flight_target(const struct flight *f, const struct warp *warp, unsigned k)
{
    const struct image *image = warp->exec->image;
    if (f->dst_rows[k])
        return vector_row(warp, &warp->chunks[0], f->to[k]);
    const u32 scalar =
        f->code->dst[k].kind == OPERAND_MASK ? f->to[k] << (image->chunks - 1) : f->to[k];
    return (u32 *)(warp->chunks[0].base + scalar_offset(image, scalar));
}

#endif
