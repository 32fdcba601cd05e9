/* The reader: see perfetto_reader.h. */
#include "perfetto_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct span {
    const uint8_t *at, *end;
};

struct field {
    uint32_t number, wire;
    uint64_t value;    /* wire 0, 1 */
    struct span bytes; /* wire 2 */
};

enum {
    KINDS = 3,
    SEQUENCES = 8192
};

struct interned {
    uint32_t sequence, kind;
    uint64_t iid;
    char text[320];
};

struct sequence {
    bool begun;
    uint64_t last;
};

struct reader {
    struct read_trace *trace;
    struct interned *interned;
    size_t interned_count;
    struct sequence *sequences;
};

static bool wrong(struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool wrong(struct reader *reader, const char *format, ...)
{
    char text[200];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (!reader->trace->error[0])
        snprintf(reader->trace->error, sizeof reader->trace->error, "packet %zu: %s",
                 reader->trace->packets, text);
    return false;
}

static void *grown(void *data, size_t count, size_t size)
{
    if (count & (count - 1) || (count && count < 16))
        return data;
    data = realloc(data, (count ? 2 * count : 16) * size);
    if (!data)
        abort();
    return data;
}

static bool read_varint(struct span *span, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && span->at < span->end; shift += 7) {
        uint8_t byte = *span->at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* The next field of a message; false at its end or when it is broken. */
static bool next_field(struct reader *reader, struct span *span, struct field *field)
{
    uint64_t tag, length;
    if (span->at == span->end)
        return false;
    if (!read_varint(span, &tag))
        return wrong(reader, "a tag is cut off");
    field->number = (uint32_t)(tag >> 3);
    field->wire = tag & 7;
    if (!field->number)
        return wrong(reader, "field 0");
    if (field->wire == 0)
        return read_varint(span, &field->value) || wrong(reader, "a number is cut off");
    if (field->wire == 1) {
        if (span->end - span->at < 8)
            return wrong(reader, "a fixed number is cut off");
        memcpy(&field->value, span->at, 8);
        span->at += 8;
        return true;
    }
    if (field->wire != 2)
        return wrong(reader, "wire type %u", field->wire);
    if (!read_varint(span, &length) || length > (uint64_t)(span->end - span->at))
        return wrong(reader, "bytes are cut off");
    field->bytes = (struct span){span->at, span->at + length};
    span->at += length;
    return true;
}

static bool expect(struct reader *reader, const struct field *field, uint32_t wire)
{
    return field->wire == wire ||
           wrong(reader, "field %u has wire type %u", field->number, field->wire);
}

static bool copy_text(struct reader *reader, const struct field *field, char *to, size_t size)
{
    size_t length = (size_t)(field->bytes.end - field->bytes.at);
    if (!expect(reader, field, 2))
        return false;
    if (length >= size)
        length = size - 1;
    memcpy(to, field->bytes.at, length);
    to[length] = 0;
    return true;
}

/* ---- tracks ---- */

static struct read_track *find_track(struct read_trace *trace, uint64_t uuid)
{
    for (size_t i = trace->track_count; i-- > 0;)
        if (trace->tracks[i].uuid == uuid)
            return &trace->tracks[i];
    return NULL;
}

static bool read_owner(struct reader *reader, struct span span, struct read_track *track)
{
    struct field f;
    while (next_field(reader, &span, &f)) {
        if (f.number == 1 && expect(reader, &f, 0))
            track->pid = (int32_t)f.value;
        if (track->is_thread && f.number == 2 && expect(reader, &f, 0))
            track->tid = (int32_t)f.value;
        if (f.number == (track->is_thread ? 5u : 6u) &&
            !copy_text(reader, &f, track->name, sizeof track->name))
            return false;
    }
    return !reader->trace->error[0];
}

static bool read_descriptor(struct reader *reader, struct span span)
{
    struct read_trace *trace = reader->trace;
    struct read_track track = {0};
    struct field f;
    while (next_field(reader, &span, &f)) {
        track.is_process |= f.number == 3;
        track.is_thread |= f.number == 4;
        track.is_counter |= f.number == 8;
        if (f.number == 1 && expect(reader, &f, 0))
            track.uuid = f.value;
        else if (f.number == 5 && expect(reader, &f, 0))
            track.parent = f.value;
        else if (f.number == 2 && !copy_text(reader, &f, track.name, sizeof track.name))
            return false;
        else if ((f.number == 3 || f.number == 4) &&
                 (!expect(reader, &f, 2) || !read_owner(reader, f.bytes, &track)))
            return false;
    }
    if (trace->error[0])
        return false;
    if (!track.uuid || find_track(trace, track.uuid))
        return wrong(reader, "track %llu has no number or is described twice",
                     (unsigned long long)track.uuid);
    if (track.parent && !find_track(trace, track.parent))
        return wrong(reader, "the parent of '%s' is not described", track.name);
    if (track.is_thread && track.tid == track.pid)
        return wrong(reader, "thread '%s' has the number of its process", track.name);
    bool process = false;
    for (size_t i = 0; i < trace->track_count; i++) {
        process |= trace->tracks[i].is_process && trace->tracks[i].pid == track.pid;
        if (track.is_thread && trace->tracks[i].is_thread && trace->tracks[i].tid == track.tid)
            return wrong(reader, "two threads %d", track.tid);
    }
    if ((track.is_thread && !process) || (track.is_process && process))
        return wrong(reader, "process %d of '%s'", track.pid, track.name);
    trace->tracks = grown(trace->tracks, trace->track_count, sizeof track);
    trace->tracks[trace->track_count++] = track;
    return true;
}

/* ---- interned texts ---- */

static const char *find_text(const struct reader *reader, uint32_t sequence, uint32_t kind,
                             uint64_t iid)
{
    for (size_t i = reader->interned_count; i-- > 0;) {
        const struct interned *entry = &reader->interned[i];
        if (entry->sequence == sequence && entry->kind == kind && entry->iid == iid)
            return entry->text;
    }
    return NULL;
}

static bool read_interned(struct reader *reader, uint32_t sequence, struct span span)
{
    struct field f, g;
    while (next_field(reader, &span, &f)) {
        struct interned entry = {.sequence = sequence, .kind = f.number};
        if (f.number != 2 && f.number != 3 && f.number != 29)
            return wrong(reader, "interned data of kind %u", f.number);
        if (!expect(reader, &f, 2))
            return false;
        while (next_field(reader, &f.bytes, &g))
            if (g.number == 1 && expect(reader, &g, 0))
                entry.iid = g.value;
            else if (g.number == 2 && !copy_text(reader, &g, entry.text, sizeof entry.text))
                return false;
        if (!entry.iid || find_text(reader, sequence, entry.kind, entry.iid))
            return wrong(reader, "text %llu is interned twice", (unsigned long long)entry.iid);
        reader->interned = grown(reader->interned, reader->interned_count, sizeof entry);
        reader->interned[reader->interned_count++] = entry;
    }
    return !reader->trace->error[0];
}

static bool use_text(struct reader *reader, uint32_t sequence, uint32_t kind, uint64_t iid,
                     char *to, size_t size)
{
    const char *text = find_text(reader, sequence, kind, iid);
    if (!text)
        return wrong(reader, "text %llu of kind %u is not interned", (unsigned long long)iid, kind);
    snprintf(to, size, "%s", text);
    return true;
}

/* ---- events ---- */

static bool read_one_argument(struct reader *reader, uint32_t sequence, struct span span,
                              struct read_slice *slice)
{
    struct field f;
    if (slice->argument_count == 8)
        return wrong(reader, "too many arguments");
    struct read_argument *argument = &slice->arguments[slice->argument_count++];
    while (next_field(reader, &span, &f)) {
        if (!expect(reader, &f, 0))
            return false;
        if (f.number == 1 &&
            !use_text(reader, sequence, 3, f.value, argument->key, sizeof argument->key))
            return false;
        if (f.number == 3 || f.number == 7)
            argument->number = f.value;
        argument->is_text |= f.number == 17;
        if (f.number == 17 &&
            !use_text(reader, sequence, 29, f.value, argument->text, sizeof argument->text))
            return false;
    }
    return argument->key[0] || wrong(reader, "an argument without a name");
}

static bool begin_slice(struct reader *reader, struct read_slice *slice)
{
    struct read_trace *trace = reader->trace;
    struct read_track *track = &trace->tracks[slice->track];
    if (!slice->name[0])
        return wrong(reader, "a slice without a name");
    if (track->is_counter)
        return wrong(reader, "a slice on counter '%s'", track->name);
    slice->depth = track->open++;
    trace->slices = grown(trace->slices, trace->slice_count, sizeof *slice);
    trace->slices[trace->slice_count++] = *slice;
    return true;
}

static bool end_slice(struct reader *reader, uint32_t track, uint64_t time)
{
    struct read_trace *trace = reader->trace;
    for (size_t i = trace->slice_count; i-- > 0;)
        if (trace->slices[i].track == track && !trace->slices[i].ended) {
            if (time < trace->slices[i].begin)
                return wrong(reader, "'%s' ends before it begins", trace->slices[i].name);
            trace->slices[i].end = time;
            trace->slices[i].ended = true;
            trace->tracks[track].open--;
            return true;
        }
    return wrong(reader, "an end on '%s' where nothing is open", trace->tracks[track].name);
}

static bool add_value(struct reader *reader, uint32_t track, uint64_t time, double value)
{
    struct read_trace *trace = reader->trace;
    if (!trace->tracks[track].is_counter)
        return wrong(reader, "a value on '%s'", trace->tracks[track].name);
    trace->values = grown(trace->values, trace->value_count, sizeof *trace->values);
    trace->values[trace->value_count++] = (struct read_value){track, time, value};
    return true;
}

static bool read_event(struct reader *reader, uint32_t sequence, uint64_t time, struct span span)
{
    struct read_slice slice = {.begin = time};
    struct read_track *track = NULL;
    struct field f;
    uint64_t type = 0;
    double value = 0;
    bool has_value = false;
    while (next_field(reader, &span, &f)) {
        if (f.number == 9)
            type = f.value;
        else if (f.number == 11)
            track = find_track(reader->trace, f.value);
        else if (f.number == 10) {
            if (!use_text(reader, sequence, 2, f.value, slice.name, sizeof slice.name))
                return false;
        } else if (f.number == 44 && expect(reader, &f, 1)) {
            memcpy(&value, &f.value, sizeof value);
            has_value = true;
        } else if (f.number == 4) {
            if (!expect(reader, &f, 2) || !read_one_argument(reader, sequence, f.bytes, &slice))
                return false;
        } else
            return wrong(reader, "field %u of an event", f.number);
    }
    if (reader->trace->error[0])
        return false;
    if (!track)
        return wrong(reader, "an event on a track that is not described");
    slice.track = (uint32_t)(track - reader->trace->tracks);
    if (has_value != (type == 4))
        return wrong(reader, "a value in an event of type %llu", (unsigned long long)type);
    return type == 1   ? begin_slice(reader, &slice)
           : type == 2 ? end_slice(reader, slice.track, time)
           : type == 4 ? add_value(reader, slice.track, time, value)
                       : wrong(reader, "an event of type %llu", (unsigned long long)type);
}

/* ---- packets ---- */

static bool check_sequence(struct reader *reader, uint32_t number, uint64_t flags, bool timed,
                           uint64_t time)
{
    if (!number || number >= SEQUENCES)
        return wrong(reader, "sequence %u", number);
    struct sequence *sequence = &reader->sequences[number];
    if ((flags & 1) == sequence->begun)
        return wrong(reader, "sequence %u %s", number,
                     sequence->begun ? "begins twice" : "does not begin");
    sequence->begun = true;
    if (timed && time < sequence->last)
        return wrong(reader, "time falls in sequence %u", number);
    if (timed)
        sequence->last = time;
    return true;
}

static bool read_packet(struct reader *reader, struct span span)
{
    struct field f;
    struct span event = {0}, descriptor = {0}, interned = {0};
    uint64_t time = 0, sequence = 0, flags = 0;
    bool timed = false;
    while (next_field(reader, &span, &f)) {
        bool message = f.number == 11 || f.number == 12 || f.number == 60;
        if (!expect(reader, &f, message ? 2 : 0))
            return false;
        timed |= f.number == 8;
        switch (f.number) {
        case 8:
            time = f.value;
            break;
        case 10:
            sequence = f.value;
            break;
        case 11:
            event = f.bytes;
            break;
        case 12:
            interned = f.bytes;
            break;
        case 13:
            flags = f.value;
            break;
        case 60:
            descriptor = f.bytes;
            break;
        default:
            return wrong(reader, "field %u", f.number);
        }
    }
    if (reader->trace->error[0] || !check_sequence(reader, (uint32_t)sequence, flags, timed, time))
        return false;
    if (interned.at && !read_interned(reader, (uint32_t)sequence, interned))
        return false;
    if (!event.at == !descriptor.at)
        return wrong(reader, "neither an event nor a description");
    if (descriptor.at)
        return read_descriptor(reader, descriptor);
    return timed ? read_event(reader, (uint32_t)sequence, time, event)
                 : wrong(reader, "an event without a time");
}

bool read_trace(struct read_trace *trace, const uint8_t *data, size_t size)
{
    struct reader reader = {.trace = trace,
                            .sequences = calloc(SEQUENCES, sizeof(struct sequence))};
    struct span span = {data, data + size};
    struct field f;
    *trace = (struct read_trace){0};
    while (next_field(&reader, &span, &f)) {
        if (f.number != 1 || f.wire != 2)
            wrong(&reader, "not a packet");
        else
            read_packet(&reader, f.bytes);
        if (trace->error[0])
            break;
        trace->packets++;
    }
    for (size_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].open)
            wrong(&reader, "%u slices on '%s' do not end", trace->tracks[i].open,
                  trace->tracks[i].name);
    free(reader.interned);
    free(reader.sequences);
    return !trace->error[0];
}

void read_trace_free(struct read_trace *trace)
{
    free(trace->tracks);
    free(trace->slices);
    free(trace->values);
}

size_t read_slices(const struct read_trace *trace, const char *track, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < trace->slice_count; i++) {
        const char *on = trace->tracks[trace->slices[i].track].name;
        count +=
            !strncmp(on, track, strlen(track)) && (!name || !strcmp(trace->slices[i].name, name));
    }
    return count;
}

const struct read_argument *read_argument(const struct read_slice *slice, const char *key)
{
    for (uint32_t i = 0; i < slice->argument_count; i++)
        if (!strcmp(slice->arguments[i].key, key))
            return &slice->arguments[i];
    return NULL;
}
