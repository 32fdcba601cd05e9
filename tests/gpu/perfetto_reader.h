/*
 * A reader of Perfetto traces for tests, made from the format's description alone: it shares
 * nothing with the writer. It decodes the wire format and holds the trace to its rules:
 *
 *   - every packet is whole, every field has the wire type it must have;
 *   - a sequence begins with its incremental state cleared, its timestamps never fall;
 *   - a track is described, once, before an event is on it; its parent is described before it;
 *   - interned names exist, in the same sequence, before or in the packet that uses them, and never
 *     change;
 *   - slices on a track nest and all of them end.
 */
#ifndef TESTS_GPU_PERFETTO_READER_H
#define TESTS_GPU_PERFETTO_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct read_track {
    uint64_t uuid, parent;
    char name[64];
    bool is_process, is_thread, is_counter;
    int32_t pid, tid;
    uint32_t open; /* slices that have not ended, while reading */
};

struct read_argument {
    char key[32];
    char text[320];
    uint64_t number;
    bool is_text;
};

struct read_slice {
    uint32_t track; /* index */
    uint64_t begin, end;
    uint32_t depth; /* 0: outermost on its track */
    bool ended;
    char name[64];
    struct read_argument arguments[8];
    uint32_t argument_count;
};

struct read_value {
    uint32_t track;
    uint64_t time;
    double value;
};

struct read_trace {
    struct read_track *tracks;
    size_t track_count;
    struct read_slice *slices; /* by their beginning in the file */
    size_t slice_count;
    struct read_value *values;
    size_t value_count;
    size_t packets;
    char error[256]; /* "": the trace is right */
};

/* False, and `error`, at the first violation; free it in any case. */
bool read_trace(struct read_trace *trace, const uint8_t *data, size_t size);
void read_trace_free(struct read_trace *trace);

/* Slices whose track's name begins with `track` and whose own is `name` (NULL: any). */
size_t read_slices(const struct read_trace *trace, const char *track, const char *name);
/* An argument of a slice, or NULL. */
const struct read_argument *read_argument(const struct read_slice *slice, const char *key);

#endif
