/*
 * The parts of the mechanism `sdmr`: sampled blocks run twice. sdmr.c has its seams and the dispatch
 * of copies, sdmr_sample.c what is kept of a sampled block and how it is compared, sdmr_age.c the
 * late bits and what the hardware costs.
 */
#ifndef MECH_SDMR_H
#define MECH_SDMR_H

#include "core/mechanism.h"

#define COMPONENT sdmr
#define COMPONENT_DEF "mech/sdmr.def"
#include "base/component_struct.h"

enum {
    SDMR_SAMPLE, /* parameter reserve */
    SDMR_EPOCH,
    SDMR_LAUNCH,
    SDMR_LOG = 0, /* parameter compare */
    SDMR_CHECKSUM,
    SDMR_REFUSE = 0, /* parameter unfit */
    SDMR_SKIP,
    SDMR_HELD = 0, /* parameter late_value */
    SDMR_ZERO,
    SDMR_ONE,
    SDMR_LATE_MOST = 32,
    WORD = 4 /* bytes of a word of the log */
};

enum side {
    SIDE_BLOCK,
    SIDE_COPY
};

/* Part of a word of global memory, as stored. */
struct sdmr_word {
    u64 address;
    u32 data; /* bytes that were not stored are 0 */
    u32 bytes;
};

/* What one side of a warp has stored and the other not yet. */
struct sdmr_log {
    struct sdmr_word *words;
    u32 first, end, room;
    enum side ahead;
};

struct sdmr_sample {
    struct sdmr_sample *next;  /* in the queue, or of those that are free */
    struct sdmr_sample *older; /* of all that there are */
    u64 number;                /* of the block */
    u64 began;                 /* cycle of the copy's first instruction, if it has issued: */
    bool begun;
    struct memory_view *before; /* what the block has overwritten */
    struct memory_view *own;    /* what the copy has stored; lies over `before` */
    struct sdmr_log *logs;      /* by warp */
    u32 warps;
    u64 sum[2];
    u64 count[2]; /* words */
    bool ended[2];
    bool differs;
    bool struck; /* a late bit has changed a result, in this cycle of the checker */
    u64 struck_at;
};

/* Of the whole device. Every core and the dispatcher read and write it: the mechanism runs on one
 * thread. What a core finds here does not depend on the order of cores in a window: blocks start
 * between windows, and memory changes there. */
struct sdmr_device {
    struct sdmr_sample *all, *free;
    struct sdmr_sample *queue, **last; /* copies that wait, oldest first */
    u32 running;                       /* copies on the checker */
    u32 own;                           /* other blocks on the checker */
    u64 epoch_last;                    /* the last sampled block of the epoch that has begun */
    u64 last_copied;                   /* the sampled block whose copy started last, plus one */
    u32 unfit;  /* the instruction because of which nothing of this launch is sampled, or NO_INST */
    bool found; /* a difference has been found */
};

struct sdmr_late {
    u8 lane, bit;
    bool held; /* bit of the last value written */
};

struct sdmr {
    MECHANISM_STATE(sdmr);
    struct core *core;
    struct sdmr_device *device;
    struct sdmr_sample *at[CORE_BLOCKS]; /* by place: the sampled block or copy there */
    struct sdmr_late late[SDMR_LATE_MOST];
};

static inline bool sdmr_is_checker(const struct core *core)
{
    return core_config(core)->index + 1 == core_config(core)->cores;
}

/* sdmr_sample.c: between windows, */
struct sdmr_sample *sdmr_sample_take(struct sdmr_device *device, u64 number, u32 warps);
void sdmr_sample_give(struct sdmr_device *device, struct sdmr_sample *sample);
void sdmr_samples_drop(struct sdmr_device *device);
void sdmr_samples_free(struct sdmr_device *device);
/* and when an access has stored. */
void sdmr_stored(struct sdmr *s, struct sdmr_sample *sample, enum side side,
                 const struct inflight *inflight, const struct memory_view *view,
                 struct memory_view_mark mark);
/* The copy is not what its block is. */
void sdmr_differ(struct sdmr *s, struct sdmr_sample *sample);
/* Block and copy have ended. */
void sdmr_close(struct sdmr *s, struct sdmr_sample *sample);

/* sdmr_age.c */
void sdmr_draw(struct sdmr *s);
void sdmr_result(void *state, struct core *core, struct inflight *inflight);
void sdmr_storage(const void *params, struct state_list *list);
extern const struct energy_event sdmr_events[];

#endif
