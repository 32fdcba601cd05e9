/* Shared by the files of dynamic instructions: see dyninst.h. */
#ifndef EXEC_DYNINST_PARTS_H
#define EXEC_DYNINST_PARTS_H

#include "exec/dyninst.h"

/* What is left to do after issue. */
enum dyninst_work {
    WORK_NONE,   /* nothing, or the results are there already */
    WORK_LANES,  /* a lane function */
    WORK_SCALAR, /* a scalar function */
    WORK_ACCESS, /* memory, by lanes */
    WORK_WORDS,  /* whole words of global memory, by lanes: dyninst_move_words */
    WORK_APPEND, /* shared memory, once for all lanes */
    WORK_SCALAR_LOAD,
};

/* dyninst_strided.c: instead of dyninst_locate, when the operands are still in the registers.
 * False: nothing has been done. */
bool dyninst_fold(struct dyninst *f);
/* The same when the operands are in the record, for all 64 lanes. */
bool dyninst_fold_buffer(struct dyninst *f);
bool dyninst_fold_shared(struct dyninst *f);
/* Any lanes of global memory, with operands in the record. */
bool dyninst_list(struct dyninst *f);
/* Undoes folding. */
void dyninst_unfold(struct dyninst *f);
/* Fast paths; false: nothing has been done. */
bool dyninst_move_strided(struct dyninst *f, struct memory_view *view);
bool dyninst_move_words(struct dyninst *f, struct memory_view *view);

/* dyninst_access.c */
void dyninst_locate(struct dyninst *f);
/* A step with the record's operands, for chunks of this warp. Masks are those of chunk 0. */
void dyninst_step(const struct dyninst *f, const struct warp *warp, struct step *step);

/* dyninst_control.c: what takes effect at issue (F3). */
void dyninst_control(struct dyninst *f);
void dyninst_whole(struct dyninst *f);
/* Runs one of these three, whose instruction reads the registers itself: registers that are kept
 * elsewhere are in their rows meanwhile. */
void dyninst_viewed(struct dyninst *f, void (*act)(struct dyninst *f));
/* Rare instructions, which are executed in the registers; these are then restored. */
void dyninst_other(struct dyninst *f);

/* dyninst.c: the registers, or masks, of result k, for chunk 0 (S3 of image.h). */
static inline u32 *dyninst_target(const struct dyninst *f, const struct warp *warp, unsigned k)
{
    const struct image *image = warp->exec->image;
    if (f->dst_rows[k])
        return vector_row(warp, &warp->chunks[0], f->to[k]);
    const u32 scalar =
        f->code->dst[k].kind == OPERAND_MASK ? f->to[k] << (image->chunks - 1) : f->to[k];
    return (u32 *)(warp->chunks[0].base + scalar_offset(image, scalar));
}

#endif
