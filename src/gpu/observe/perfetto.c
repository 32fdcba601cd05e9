/* The encoder of Perfetto traces: see perfetto.h. */
#include "gpu/observe/perfetto.h"

#include "base/arena.h"
#include <stdlib.h>

/* Field numbers of trace_packet.proto, interned_data.proto and the files of track_event. */
enum {
    TRACE_PACKET = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_DESCRIPTOR = 60,
    FLAG_CLEARED = 1, /* the sequence begins: nothing is interned */
    FLAG_NEEDS = 2,   /* refers to texts interned before */

    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,
    COUNTER_UNIT_NAME = 6,

    EVENT_ARGUMENT = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK = 11,
    EVENT_VALUE = 44,
    TYPE_BEGIN = 1,
    TYPE_END = 2,
    TYPE_COUNTER = 4,

    ARGUMENT_KEY_IID = 1,
    ARGUMENT_UINT = 3,
    ARGUMENT_POINTER = 7,
    ARGUMENT_TEXT_IID = 17,

    INTERNED_IID = 1,
    INTERNED_TEXT = 2,
};

/* Field number of each kind of text in InternedData. */
static const u32 interned_fields[PERFETTO_KINDS] = {
    [PERFETTO_NAME] = 2, [PERFETTO_KEY] = 3, [PERFETTO_VALUE] = 29};

struct packet_bytes {
    VEC(u8) v;
};

struct sequence {
    u64 last; /* T1, ns */
    bool begun;
    VEC(u64) interned[PERFETTO_KINDS]; /* T2: one bit per text */
};

/* Texts of a kind: a hash table of numbers, and the texts by number. */
struct texts {
    VEC(char *) list; /* [number - 1] */
    u32 *slots;       /* 0: free */
    u32 slot_count;   /* a power of two */
};

struct perfetto {
    hd_bytes_fn *write;
    void *user;
    struct packet_bytes out;
    struct packet_bytes packet, event, argument, interned, entry; /* being built */
    struct texts texts[PERFETTO_KINDS];
    VEC(struct sequence) sequences;
};

/* ---- the wire format ---- */

static void put(struct packet_bytes *bytes, const void *data, size_t size)
{
    u32 needed = bytes->v.count + (u32)size;
    if (needed > bytes->v.capacity)
        bytes->v.data = vec_grow(bytes->v.data, &bytes->v.capacity, needed, 1);
    if (size)
        memcpy(bytes->v.data + bytes->v.count, data, size);
    bytes->v.count = needed;
}

static void put_varint(struct packet_bytes *bytes, u64 value)
{
    u8 text[10];
    u32 length = 0;
    for (; value > 0x7f; value >>= 7)
        text[length++] = (u8)(value | 0x80);
    text[length++] = (u8)value;
    put(bytes, text, length);
}

enum wire {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_BYTES = 2
};

static void put_uint(struct packet_bytes *bytes, u32 field, u64 value)
{
    put_varint(bytes, field << 3 | WIRE_VARINT);
    put_varint(bytes, value);
}

static void put_double(struct packet_bytes *bytes, u32 field, f64 value)
{
    put_varint(bytes, field << 3 | WIRE_FIXED64);
    put(bytes, &value, sizeof value);
}

static void put_data(struct packet_bytes *bytes, u32 field, const void *data, size_t size)
{
    put_varint(bytes, field << 3 | WIRE_BYTES);
    put_varint(bytes, size);
    put(bytes, data, size);
}

static void put_text(struct packet_bytes *bytes, u32 field, const char *text)
{
    put_data(bytes, field, text, strlen(text));
}

/* Appends a finished message to another, and empties it. */
static void put_message(struct packet_bytes *bytes, u32 field, struct packet_bytes *message)
{
    put_data(bytes, field, message->v.data, message->v.count);
    message->v.count = 0;
}

/* ---- names ---- */

static u64 hash_text(const char *text)
{
    u64 hash = 0xcbf29ce484222325ull; /* FNV-1a */
    for (; *text; text++)
        hash = (hash ^ (u8)*text) * 0x100000001b3ull;
    return hash;
}

static u32 *find(const struct texts *texts, const char *text)
{
    u32 at = (u32)hash_text(text) & (texts->slot_count - 1);
    while (texts->slots[at] && strcmp(texts->list.data[texts->slots[at] - 1], text) != 0)
        at = (at + 1) & (texts->slot_count - 1);
    return &texts->slots[at];
}

static void enlarge(struct texts *texts)
{
    texts->slot_count = MAX(64, 2 * texts->slot_count);
    free(texts->slots);
    texts->slots = checked(calloc(texts->slot_count, sizeof *texts->slots));
    for (u32 i = 0; i < texts->list.count; i++)
        *find(texts, texts->list.data[i]) = i + 1;
}

u32 perfetto_text(struct perfetto *perfetto, enum perfetto_kind kind, const char *text)
{
    struct texts *texts = &perfetto->texts[kind];
    if (2 * texts->list.count >= texts->slot_count)
        enlarge(texts);
    u32 *slot = find(texts, text);
    if (!*slot) {
        *(char **)vec_push(&texts->list) = strdup(text);
        *slot = texts->list.count;
    }
    return *slot;
}

/* Records that the current packet uses a text (T2). */
static void use(struct perfetto *perfetto, struct sequence *sequence, enum perfetto_kind kind,
                u32 number)
{
    u32 word = number / 64;
    while (sequence->interned[kind].count <= word)
        (void)vec_push(&sequence->interned[kind]);
    u64 *bits = &sequence->interned[kind].data[word];
    if (*bits >> (number % 64) & 1)
        return;
    *bits |= 1ull << (number % 64);
    put_uint(&perfetto->entry, INTERNED_IID, number);
    put_text(&perfetto->entry, INTERNED_TEXT, perfetto->texts[kind].list.data[number - 1]);
    put_message(&perfetto->interned, interned_fields[kind], &perfetto->entry);
}

/* ---- packets ---- */

static struct sequence *sequence_of(struct perfetto *perfetto, u32 number)
{
    while (perfetto->sequences.count <= number)
        (void)vec_push(&perfetto->sequences);
    return &perfetto->sequences.data[number];
}

static void flush(struct perfetto *perfetto)
{
    if (perfetto->out.v.count)
        perfetto->write(perfetto->user, perfetto->out.v.data, perfetto->out.v.count);
    perfetto->out.v.count = 0;
}

/* Adds the sequence's own fields to the current packet and closes it; `refers`: to interned texts. */
static void send(struct perfetto *perfetto, u32 number, struct sequence *sequence, bool refers)
{
    put_uint(&perfetto->packet, PACKET_SEQUENCE, number);
    const u32 flags = (refers ? FLAG_NEEDS : 0) | (sequence->begun ? 0 : FLAG_CLEARED);
    if (flags)
        put_uint(&perfetto->packet, PACKET_FLAGS, flags);
    sequence->begun = true;
    if (perfetto->interned.v.count)
        put_message(&perfetto->packet, PACKET_INTERNED, &perfetto->interned);
    put_message(&perfetto->out, TRACE_PACKET, &perfetto->packet);
    if (perfetto->out.v.count >= PERFETTO_PIECE)
        flush(perfetto);
}

/* The descriptor is built in `event`. */
static void send_descriptor(struct perfetto *perfetto, u32 number)
{
    put_message(&perfetto->packet, PACKET_DESCRIPTOR, &perfetto->event);
    send(perfetto, number, sequence_of(perfetto, number), false);
}

void perfetto_process(struct perfetto *perfetto, u32 sequence, u64 uuid, u32 pid, const char *name)
{
    put_uint(&perfetto->entry, PROCESS_PID, pid);
    put_text(&perfetto->entry, PROCESS_NAME, name);
    put_uint(&perfetto->event, TRACK_UUID, uuid);
    put_message(&perfetto->event, TRACK_PROCESS, &perfetto->entry);
    send_descriptor(perfetto, sequence);
}

void perfetto_thread(struct perfetto *perfetto, u32 sequence, u64 uuid, u32 pid, u32 tid,
                     const char *name)
{
    put_uint(&perfetto->entry, THREAD_PID, pid);
    put_uint(&perfetto->entry, THREAD_TID, tid);
    put_text(&perfetto->entry, THREAD_NAME, name);
    put_uint(&perfetto->event, TRACK_UUID, uuid);
    put_message(&perfetto->event, TRACK_THREAD, &perfetto->entry);
    send_descriptor(perfetto, sequence);
}

void perfetto_track(struct perfetto *perfetto, u32 sequence, u64 uuid, u64 parent, const char *name)
{
    put_uint(&perfetto->event, TRACK_UUID, uuid);
    put_text(&perfetto->event, TRACK_NAME, name);
    put_uint(&perfetto->event, TRACK_PARENT, parent);
    send_descriptor(perfetto, sequence);
}

void perfetto_counter(struct perfetto *perfetto, u32 sequence, u64 uuid, u64 parent,
                      const char *name, const char *unit)
{
    put_text(&perfetto->entry, COUNTER_UNIT_NAME, unit);
    put_uint(&perfetto->event, TRACK_UUID, uuid);
    put_text(&perfetto->event, TRACK_NAME, name);
    put_uint(&perfetto->event, TRACK_PARENT, parent);
    put_message(&perfetto->event, TRACK_COUNTER, &perfetto->entry);
    send_descriptor(perfetto, sequence);
}

/* The event is built in `event`, without its track and type. */
static void send_event(struct perfetto *perfetto, u32 number, u64 uuid, fs time, u32 type)
{
    struct sequence *sequence = sequence_of(perfetto, number);
    sequence->last = MAX(sequence->last, time / 1000000);
    put_uint(&perfetto->event, EVENT_TYPE, type);
    put_uint(&perfetto->event, EVENT_TRACK, uuid);
    put_uint(&perfetto->packet, PACKET_TIMESTAMP, sequence->last);
    put_message(&perfetto->packet, PACKET_EVENT, &perfetto->event);
    send(perfetto, number, sequence, type == TYPE_BEGIN);
}

static void put_argument(struct perfetto *perfetto, struct sequence *sequence,
                         const struct perfetto_arg *arg)
{
    static const u32 fields[] = {[PERFETTO_UINT] = ARGUMENT_UINT,
                                 [PERFETTO_POINTER] = ARGUMENT_POINTER,
                                 [PERFETTO_TEXT] = ARGUMENT_TEXT_IID};
    use(perfetto, sequence, PERFETTO_KEY, arg->key);
    if (arg->type == PERFETTO_TEXT)
        use(perfetto, sequence, PERFETTO_VALUE, (u32)arg->value);
    put_uint(&perfetto->argument, ARGUMENT_KEY_IID, arg->key);
    put_uint(&perfetto->argument, fields[arg->type], arg->value);
    put_message(&perfetto->event, EVENT_ARGUMENT, &perfetto->argument);
}

void perfetto_begin(struct perfetto *perfetto, u32 sequence, u64 uuid, fs time, u32 name,
                    const struct perfetto_arg *args, u32 count)
{
    struct sequence *state = sequence_of(perfetto, sequence);
    use(perfetto, state, PERFETTO_NAME, name);
    for (u32 i = 0; i < count; i++)
        put_argument(perfetto, state, &args[i]);
    put_uint(&perfetto->event, EVENT_NAME_IID, name);
    send_event(perfetto, sequence, uuid, time, TYPE_BEGIN);
}

void perfetto_end(struct perfetto *perfetto, u32 sequence, u64 uuid, fs time)
{
    send_event(perfetto, sequence, uuid, time, TYPE_END);
}

void perfetto_value(struct perfetto *perfetto, u32 sequence, u64 uuid, fs time, f64 value)
{
    put_double(&perfetto->event, EVENT_VALUE, value);
    send_event(perfetto, sequence, uuid, time, TYPE_COUNTER);
}

/* ---- creation ---- */

struct perfetto *perfetto_create(hd_bytes_fn *write, void *user)
{
    struct perfetto *perfetto = checked(calloc(1, sizeof *perfetto));
    perfetto->write = write;
    perfetto->user = user;
    return perfetto;
}

void perfetto_destroy(struct perfetto *perfetto)
{
    flush(perfetto);
    struct packet_bytes *const built[] = {&perfetto->out,      &perfetto->packet,
                                          &perfetto->event,    &perfetto->argument,
                                          &perfetto->interned, &perfetto->entry};
    for (u32 i = 0; i < ARRAY_LEN(built); i++)
        vec_free(&built[i]->v);
    for (u32 k = 0; k < PERFETTO_KINDS; k++) {
        for (u32 i = 0; i < perfetto->texts[k].list.count; i++)
            free(perfetto->texts[k].list.data[i]);
        vec_free(&perfetto->texts[k].list);
        free(perfetto->texts[k].slots);
        for (u32 i = 0; i < perfetto->sequences.count; i++)
            vec_free(&perfetto->sequences.data[i].interned[k]);
    }
    vec_free(&perfetto->sequences);
    free(perfetto);
}
