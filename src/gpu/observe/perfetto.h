/*
 * Writes traces for the Perfetto viewer: a stream of TracePacket messages in protobuf's wire
 * format.
 *
 * Only what Heddle needs is here: tracks (processes, threads, plain ones, counters), slices and
 * counter values, with interned names. Field numbers are those of Perfetto's published .proto
 * files.
 *
 * Invariants
 *  T1  Timestamps of one sequence never decrease: an earlier one is raised to the last. Sequences
 *      are independent of each other.
 *  T2  A name is interned once in a sequence, in the packet that uses it first.
 *  T3  Bytes are written in pieces of about PERFETTO_PIECE; memory grows only with the number of
 *      different names and of sequences.
 *
 * Deviation: Perfetto's time is whole nanoseconds, so events closer together than that have the
 * same timestamp. Their order is kept.
 */
#ifndef GPU_OBSERVE_PERFETTO_H
#define GPU_OBSERVE_PERFETTO_H

#include "base/time.h"
#include "heddle/heddle.h"

enum {
    PERFETTO_PIECE = 1 << 16,
    PERFETTO_ARGS = 8 /* maximum arguments of a slice */
};

/* The use of a text; each kind has its own numbers. */
enum perfetto_kind {
    PERFETTO_NAME,  /* of slices */
    PERFETTO_KEY,   /* of arguments */
    PERFETTO_VALUE, /* of arguments */
    PERFETTO_KINDS
};

enum perfetto_type {
    PERFETTO_UINT,
    PERFETTO_POINTER, /* shown in hexadecimal */
    PERFETTO_TEXT,    /* value: from perfetto_text(PERFETTO_VALUE) */
};

struct perfetto_arg {
    u32 key; /* from perfetto_text(PERFETTO_KEY) */
    enum perfetto_type type;
    u64 value;
};

struct perfetto;

struct perfetto *perfetto_create(hd_bytes_fn *write, void *user);
/* Writes the last bytes. */
void perfetto_destroy(struct perfetto *perfetto);

/* The number of a text, above 0; the same text has the same number. */
u32 perfetto_text(struct perfetto *perfetto, enum perfetto_kind kind, const char *text);

/* Tracks, identified by `uuid`, above 0. Sequences are numbered from 1. */
void perfetto_process(struct perfetto *perfetto, u32 sequence, u64 uuid, u32 pid, const char *name);
void perfetto_thread(struct perfetto *perfetto, u32 sequence, u64 uuid, u32 pid, u32 tid,
                     const char *name);
void perfetto_track(struct perfetto *perfetto, u32 sequence, u64 uuid, u64 parent,
                    const char *name);
void perfetto_counter(struct perfetto *perfetto, u32 sequence, u64 uuid, u64 parent,
                      const char *name, const char *unit);

/* Slices nest on a track; an end closes the one that began last. */
void perfetto_begin(struct perfetto *perfetto, u32 sequence, u64 uuid, fs time, u32 name,
                    const struct perfetto_arg *args, u32 count);
void perfetto_end(struct perfetto *perfetto, u32 sequence, u64 uuid, fs time);
/* The counter has this value from `time` on. */
void perfetto_value(struct perfetto *perfetto, u32 sequence, u64 uuid, fs time, f64 value);

#endif
