/* Traces of events: see events.h. */
#include "gpu/observe/events.h"

#include "base/text.h"
#include "core/inst_time.h"
#include "mem/cache.h"
#include "mem/packet.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    EVENT_SLOTS = 256 /* of trace_event.slot */
};

/* The stall that a warp is in. */
struct open_stall {
    bool open;
    fs from;
};

/* The longest stall of a kernel, as text. */
struct longest {
    char *kernel, *text;
    size_t length;
    fs lasted;
};

struct events {
    hd_bytes_fn *write;
    void *user;
    struct observer_launch launch;
    bool in_launch;
    u64 cycles; /* of earlier launches */
    FILE *to;   /* into `text` */
    char *text;
    size_t length;
    u8 *described; /* by instruction of the program */
    /* with `longest`: */
    bool longest;
    VEC(struct trace_event) kept;  /* events that the longest stall may need */
    VEC(struct open_stall) stalls; /* by core and slot */
    VEC(struct longest) found;     /* by kernel */
    struct {
        u32 core;
        fs from, to; /* from == to: none in this window */
    } candidate;
};

static const char *const kind_names[] = {
#define TRACE_KIND(NAME, name) [TRACE_##NAME] = name,
#include "base/trace_kinds.def"
#undef TRACE_KIND
};

/* ---- lines ---- */

static u64 cycle_of(const struct events *events, fs time)
{
    const fs start = events->launch.start;
    return events->cycles + (time > start ? (time - start) / events->launch.core_period : 0);
}

static void begin_line(struct events *events, const char *what, fs time)
{
    fprintf(events->to, "{\"at\":%llu,\"what\":\"%s\"", (unsigned long long)cycle_of(events, time),
            what);
}

static void put(struct events *events, const char *name, u64 value)
{
    fprintf(events->to, ",\"%s\":%llu", name, (unsigned long long)value);
}

static void put_text(struct events *events, const char *name, const char *text)
{
    json_t *json = text_json(text);
    char *dumped = json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT);
    fprintf(events->to, ",\"%s\":%s", name, dumped);
    free(dumped);
    json_decref(json);
}

static void put_name(struct events *events, const char *name, const char *const *names, u32 count,
                     u64 which)
{
    fprintf(events->to, ",\"%s\":\"%s\"", name, which < count ? names[which] : "?");
}

static void end_line(struct events *events)
{
    fputs("}\n", events->to);
}

static void describe(struct events *events, u32 inst, fs time)
{
    const struct program *program = events->launch.program;
    char text[256], place[PLACE_TEXT];
    if (inst >= program->inst_count || events->described[inst])
        return;
    events->described[inst] = true;
    begin_line(events, "code", time);
    put(events, "inst", inst);
    put(events, "pc", events->launch.code_address + program_offset(program, inst));
    if (program_place(program, inst, place))
        put_text(events, "line", place);
    put_text(events, "text", inst_text(program, inst, text, sizeof text));
    end_line(events);
}

static void put_inst(struct events *events, u32 inst)
{
    if (inst < events->launch.program->inst_count)
        put(events, "inst", inst);
}

/* ---- members of an event ---- */

static const char *const clients[CLIENTS] = {
    [CLIENT_FETCH] = "instruction", [CLIENT_L1D] = "l1",      [CLIENT_CONSTANT] = "constant",
    [CLIENT_READONLY] = "readonly", [CLIENT_DIRECT] = "none", [CLIENT_MECHANISM] = "mechanism",
};
static const char *const results[] = {
    [CACHE_HIT] = "hit",         [CACHE_MERGED] = "merged",   [CACHE_MISS] = "miss",
    [CACHE_NO_LINE] = "no line", [CACHE_NO_MSHR] = "no MSHR", [CACHE_NO_MERGE] = "no merge",
};
static const char *const packet_kinds[PACKET_KINDS] = {"read", "write", "atomic",
                                                       "read", "write", "note"};
static const char *const pipes[PIPES] = {
    [PIPE_SP] = "sp",   [PIPE_INT] = "int",       [PIPE_FP64] = "fp64",
    [PIPE_SFU] = "sfu", [PIPE_MEMORY] = "memory", [PIPE_SCALAR] = "scalar",
};
static const char *const needs[] = {
    [NEED_REGISTER] = "register",
    [NEED_ROOM] = "room",
    [NEED_BARRIER] = "barrier",
    [NEED_LINE] = "line",
};

static void put_mshr(struct events *events, u64 mshr)
{
    if (mshr != TRACE_NO_MSHR)
        put(events, "mshr", mshr);
}

static void put_need(struct events *events, const struct trace_event *seen)
{
    const u32 need = seen->value & 0xff;
    put(events, "slot", seen->slot);
    put_name(events, "need", needs, ARRAY_LEN(needs), need);
    if (need == NEED_BARRIER) {
        put(events, "barrier", seen->more);
        return;
    }
    put_inst(events, seen->inst);
    if (need == NEED_LINE)
        put(events, "address", seen->more);
    else
        put(events, "id", seen->more);
    if (need == NEED_REGISTER && seen->value >> 8 != NO_VECTOR)
        put(events, "register", seen->value >> 8);
}

static void put_flight(struct events *events, const struct trace_event *seen)
{
    put(events, "slot", seen->slot);
    put_inst(events, seen->inst);
    put(events, "id", seen->value);
}

static void put_dram(struct events *events, const struct trace_event *seen)
{
    put(events, "channel", seen->more >> 48);
    put(events, "bank", seen->slot);
    if (seen->what == TRACE_DRAM_ROW) {
        put(events, "row", seen->value);
        put(events, "open", seen->more & 1);
        return;
    }
    put(events, "row", (u32)seen->more);
    put(events, "address", seen->value);
    put(events, "write", seen->more >> 47 & 1);
    put_inst(events, seen->inst);
}

static void put_packet(struct events *events, const struct trace_event *seen)
{
    put(events, "address", seen->value);
    put(events, "sent", cycle_of(events, seen->more));
    put(events, "slice", seen->inst);
    if (seen->what == TRACE_L2_READ)
        put_name(events, "result", results, ARRAY_LEN(results), seen->slot);
}

static void put_members(struct events *events, const struct trace_event *seen)
{
    const u32 what = seen->what;
    switch (what) {
    case TRACE_BLOCK_START:
    case TRACE_BLOCK_END:
    case TRACE_BLOCK_HERE:
        put(events, "place", seen->slot);
        put(events, "block", seen->value);
        break;
    case TRACE_WARP_START:
    case TRACE_WARP_END:
    case TRACE_WARP_HERE:
        put(events, "slot", seen->slot);
        put(events, "block", seen->value >> 16);
        put(events, "warp", seen->value & 0xffff);
        put(events, "scheduler", seen->more);
        break;
    case TRACE_WARP_STALL:
        put(events, "slot", seen->slot);
        put_inst(events, seen->inst);
        put_name(events, "why", stall_names, STALLS, seen->value);
        break;
    case TRACE_REQUEST_SENT:
        put(events, "slot", seen->more >> 32 & 0xffff);
        put_inst(events, seen->inst);
        put_name(events, "kind", packet_kinds, PACKET_KINDS, seen->slot);
        put_name(events, "cache", clients, CLIENTS, seen->more >> 48);
        put(events, "address", seen->value);
        put(events, "tag", (u32)seen->more);
        break;
    case TRACE_REQUEST_DONE:
        put_name(events, "kind", packet_kinds, PACKET_KINDS, seen->slot);
        put(events, "address", seen->value);
        put(events, "sent", cycle_of(events, seen->more));
        break;
    case TRACE_NEEDS:
        put_need(events, seen);
        break;
    case TRACE_FETCHED:
        put(events, "slot", seen->slot);
        put_inst(events, seen->inst);
        put(events, "count", seen->value);
        break;
    case TRACE_CACHE_READ:
        put_name(events, "cache", clients, CLIENTS, seen->slot);
        put(events, "address", seen->value);
        put_name(events, "result", results, ARRAY_LEN(results), seen->inst & 0xff);
        put_mshr(events, seen->inst >> 8);
        put(events, seen->slot == CLIENT_FETCH ? "slot" : "id", seen->more);
        break;
    case TRACE_CACHE_FILLED:
        put_name(events, "cache", clients, CLIENTS, seen->slot);
        put(events, "address", seen->value);
        put_mshr(events, seen->inst);
        break;
    case TRACE_REFUSED:
        put_inst(events, seen->inst);
        put_name(events, "result", results, ARRAY_LEN(results), seen->slot);
        put(events, "id", seen->value);
        break;
    case TRACE_L2_ARRIVED:
    case TRACE_L2_READ:
    case TRACE_L2_REPLY:
        put_packet(events, seen);
        break;
    case TRACE_DRAM_ARRIVED:
    case TRACE_DRAM_STARTED:
    case TRACE_DRAM_SERVED:
    case TRACE_DRAM_ROW:
        put_dram(events, seen);
        break;
    default: /* of an instruction in flight */
        put_flight(events, seen);
        if (what == TRACE_COLLECTING || what == TRACE_CONFLICT)
            put(events, "cycles", seen->more);
        else if (what == TRACE_SENT)
            put(events, "tag", seen->more);
        else if (what == TRACE_ISSUED)
            put_name(events, "pipe", pipes, PIPES, seen->more);
    }
}

/* Whether `inst` is an instruction of the program. */
static bool names_code(u32 what)
{
    return what != TRACE_CACHE_READ && what != TRACE_CACHE_FILLED && what != TRACE_L2_ARRIVED &&
           what != TRACE_L2_READ && what != TRACE_L2_REPLY;
}

static void print_event(struct events *events, const struct trace_event *seen)
{
    if (names_code(seen->what))
        describe(events, seen->inst, seen->time);
    begin_line(events, kind_names[seen->what], seen->time);
    if (seen->what != TRACE_DRAM_ROW)
        put(events, "core", seen->core);
    put_members(events, seen);
    end_line(events);
}

static void put_size(struct events *events, const char *name, const u32 *size)
{
    fprintf(events->to, ",\"%s\":[%u,%u,%u]", name, size[0], size[1], size[2]);
}

static void print_launch(struct events *events, fs time)
{
    const struct observer_launch *launch = &events->launch;
    memset(events->described, 0, launch->program->inst_count);
    begin_line(events, "launch", time);
    put(events, "format", EVENTS_FORMAT);
    put(events, "launch", launch->number);
    put_text(events, "kernel", launch->kernel);
    put_size(events, "grid", launch->grid);
    put_size(events, "block_size", launch->block);
    put(events, "start", events->cycles);
    put(events, "cores", launch->cores);
    put(events, "l1_mshrs", launch->l1_mshrs);
    put(events, "l1_latency", launch->l1_latency);
    put(events, "l2_line", launch->l2_line);
    end_line(events);
}

/* ---- the longest stall ---- */

static struct open_stall *stall_of(struct events *events, u32 core, u32 slot)
{
    while (events->stalls.count <= core * EVENT_SLOTS + slot)
        *vec_push(&events->stalls) = (struct open_stall){0};
    return &events->stalls.data[core * EVENT_SLOTS + slot];
}

static struct longest *longest_of(struct events *events, const char *kernel)
{
    for (u32 i = 0; i < events->found.count; i++)
        if (!strcmp(events->found.data[i].kernel, kernel))
            return &events->found.data[i];
    struct longest *longest = vec_push(&events->found);
    *longest = (struct longest){.kernel = checked(strdup(kernel))};
    return longest;
}

static void end_stall(struct events *events, u32 core, u32 slot, fs time)
{
    struct open_stall *stall = stall_of(events, core, slot);
    const fs lasted = stall->open ? time - stall->from : 0;
    if (lasted > longest_of(events, events->launch.kernel)->lasted &&
        lasted > events->candidate.to - events->candidate.from) {
        events->candidate.core = core;
        events->candidate.from = stall->from;
        events->candidate.to = time;
    }
    stall->open = false;
}

static bool is_memory_side(u32 what)
{
    return what >= TRACE_DRAM_ARRIVED && what <= TRACE_DRAM_ROW;
}

/* Prints what surrounds the candidate in place of what has been the kernel's longest stall so far. */
static void keep_candidate(struct events *events)
{
    struct longest *longest = longest_of(events, events->launch.kernel);
    const fs before = EVENTS_BEFORE * events->launch.core_period;
    const fs from = events->candidate.from > before ? events->candidate.from - before : 0;
    rewind(events->to);
    print_launch(events, MAX(from, events->launch.start));
    for (u32 i = 0; i < events->kept.count; i++) {
        const struct trace_event *seen = &events->kept.data[i];
        if (seen->time >= from && seen->time <= events->candidate.to &&
            (seen->core == events->candidate.core || is_memory_side(seen->what)))
            print_event(events, seen);
    }
    fflush(events->to);
    free(longest->text);
    longest->length = (size_t)ftell(events->to);
    longest->text = checked(malloc(longest->length));
    memcpy(longest->text, events->text, longest->length);
    longest->lasted = events->candidate.to - events->candidate.from;
}

static void keep(struct events *events, const struct trace_event *seen)
{
    *vec_push(&events->kept) = *seen;
    if (seen->what == TRACE_WARP_STALL || seen->what == TRACE_WARP_END) {
        end_stall(events, seen->core, seen->slot, seen->time);
        if (seen->what == TRACE_WARP_STALL && seen->value != STALL_NONE)
            *stall_of(events, seen->core, seen->slot) = (struct open_stall){true, seen->time};
    }
}

/* Forgets events that no stall that is still open can need. */
static void forget(struct events *events)
{
    fs needed = FS_NEVER, last = 0;
    u32 left = 0;
    if (events->kept.count < EVENTS_KEPT / 4)
        return;
    for (u32 i = 0; i < events->stalls.count; i++)
        if (events->stalls.data[i].open)
            needed = MIN(needed, events->stalls.data[i].from);
    for (u32 i = 0; i < events->kept.count; i++)
        last = MAX(last, events->kept.data[i].time);
    needed = MIN(needed, last);
    const fs before = EVENTS_BEFORE * events->launch.core_period;
    needed = needed > before ? needed - before : 0;
    const u32 first = events->kept.count > EVENTS_KEPT ? events->kept.count / 2 : 0;
    for (u32 i = first; i < events->kept.count; i++)
        if (events->kept.data[i].time >= needed)
            events->kept.data[left++] = events->kept.data[i];
    events->kept.count = left;
}

/* ---- the trace ---- */

static void flush_lines(struct events *events)
{
    fflush(events->to);
    const long size = ftell(events->to);
    if (size > 0)
        events->write(events->user, events->text, (size_t)size);
    rewind(events->to);
}

void events_launch(struct events *events, const struct observer_launch *launch, u64 cycles)
{
    events->launch = *launch;
    events->cycles = cycles;
    events->in_launch = true;
    events->kept.count = events->stalls.count = 0;
    events->candidate.from = events->candidate.to = 0;
    free(events->described);
    events->described = checked(calloc(launch->program->inst_count + 1, 1));
    if (!events->longest)
        print_launch(events, launch->start);
}

void events_note(struct events *events, const struct trace_event *seen)
{
    if (events->longest)
        keep(events, seen);
    else
        print_event(events, seen);
}

void events_window(struct events *events)
{
    if (!events->longest) {
        flush_lines(events);
        return;
    }
    if (events->candidate.to > events->candidate.from)
        keep_candidate(events);
    events->candidate.from = events->candidate.to = 0;
    forget(events);
}

void events_launch_end(struct events *events, fs now)
{
    if (!events->in_launch)
        return;
    for (u32 i = 0; events->longest && i < events->stalls.count; i++)
        end_stall(events, i / EVENT_SLOTS, i % EVENT_SLOTS, now);
    events_window(events);
    if (!events->longest) {
        begin_line(events, "launch_end", now);
        end_line(events);
        flush_lines(events);
    }
    events->in_launch = false;
}

struct events *events_create(hd_bytes_fn *write, void *user, bool longest)
{
    struct events *events = checked(calloc(1, sizeof *events));
    events->write = write;
    events->user = user;
    events->longest = longest;
    events->to = checked(open_memstream(&events->text, &events->length));
    return events;
}

void events_destroy(struct events *events)
{
    if (!events)
        return;
    for (u32 i = 0; i < events->found.count; i++) {
        if (events->found.data[i].text)
            events->write(events->user, events->found.data[i].text, events->found.data[i].length);
        free(events->found.data[i].kernel);
        free(events->found.data[i].text);
    }
    fclose(events->to);
    free(events->text);
    free(events->described);
    vec_free(&events->kept);
    vec_free(&events->stalls);
    vec_free(&events->found);
    free(events);
}
