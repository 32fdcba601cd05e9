/* Trace events as tracks and slices: see trace.h. */
#include "gpu/observe/trace.h"

#include "gpu/observe/perfetto.h"
#include "mem/packet.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    SLOTS = 256, /* of trace_event.slot */
    DEVICE_SEQUENCE = 1,
    COUNTER_SEQUENCE = 2,
    CORE_SEQUENCE = 3, /* and up */
    DEVICE_PID = 1,
    CORE_PID = 2,         /* and up */
    TIDS_PER_CORE = 1024, /* spacing of thread numbers, which are above all process numbers */
    FIRST_TID = 1 << 16,
};

/* Track numbers. Those of cores are given in the order of their first use: small ones take few bytes. */
enum {
    UUID_DEVICE = 1,
    UUID_LAUNCHES = 2,
    UUID_COUNTERS = 16, /* and up */
    UUID_FIRST = 32,    /* of the tracks of cores */
};

struct traced_request {
    u64 address;
    fs sent;
    u32 track;
};

struct warp_track {
    u32 uuid; /* 0: not described */
    bool open;
    u8 stall; /* of the open slice; STALL_NONE: no slice */
    u32 inst;
};

struct request_track {
    u32 uuid;
    bool taken;
};

struct core_track {
    u32 uuid;          /* 0: not described */
    u32 blocks[SLOTS]; /* likewise */
    bool block_open[SLOTS];
    struct warp_track warps[SLOTS];
    VEC(struct traced_request) requests; /* in flight, oldest first */
    VEC(struct request_track) tracks;    /* of requests */
};

/* Numbers of texts that events refer to. */
struct words {
    u32 block, warp, stalls[STALLS], requests[PACKET_KINDS];
    u32 key_block, key_kernel, key_warp, key_at, key_address, key_grid, key_block_size;
};

struct trace {
    struct perfetto *perfetto;
    struct observer_launch launch;
    bool in_launch, device_described, counters_described;
    struct words words;
    VEC(struct core_track *) cores;
    u32 uuids;  /* given so far */
    u32 kernel; /* the kernel's name, as a value */
    u32 *codes; /* by instruction of the program: values, 0: not used yet */
    fs last;
};

static u32 new_uuid(struct trace *trace)
{
    return UUID_FIRST + trace->uuids++;
}

/* ---- descriptions ---- */

static struct core_track *core_of(struct trace *trace, u32 core)
{
    while (trace->cores.count <= core)
        (void)vec_push(&trace->cores);
    struct core_track **track = &trace->cores.data[core];
    if (!*track) {
        *track = checked(calloc(1, sizeof **track));
    }
    if (!(*track)->uuid) {
        char name[32];
        snprintf(name, sizeof name, "core %u", core);
        (*track)->uuid = new_uuid(trace);
        perfetto_process(trace->perfetto, CORE_SEQUENCE + core, (*track)->uuid, CORE_PID + core,
                         name);
    }
    return *track;
}

/* Describes a thread of a core, if that has not been done; thread numbers are above those of
 * processes. */
static void describe_thread(struct trace *trace, u32 core, u32 *uuid, u32 number, const char *what,
                            u32 slot)
{
    char name[32];
    if (*uuid)
        return;
    *uuid = new_uuid(trace);
    snprintf(name, sizeof name, "%s slot %u", what, slot);
    perfetto_thread(trace->perfetto, CORE_SEQUENCE + core, *uuid, CORE_PID + core,
                    FIRST_TID + core * TIDS_PER_CORE + number, name);
}

static void describe_device(struct trace *trace)
{
    if (trace->device_described)
        return;
    perfetto_process(trace->perfetto, DEVICE_SEQUENCE, UUID_DEVICE, DEVICE_PID, "GPU");
    perfetto_thread(trace->perfetto, DEVICE_SEQUENCE, UUID_LAUNCHES, DEVICE_PID, FIRST_TID - 1,
                    "launches");
    trace->device_described = true;
}

/* ---- instructions ---- */

/* "0x48 'ld.global.u32 R5, [R2]' (k.ptx:12)", one text for each instruction. */
static u32 code_value(struct trace *trace, u32 inst)
{
    char code[256], place[PLACE_TEXT], text[sizeof code + sizeof place + 32];
    const struct program *program = trace->launch.program;
    if (trace->codes[inst])
        return trace->codes[inst];
    const bool placed = program_place(program, inst, place);
    snprintf(text, sizeof text, "0x%llx '%s'%s%s%s",
             (unsigned long long)trace->launch.code_address + program_offset(program, inst),
             inst_text(program, inst, code, sizeof code), placed ? " (" : "", placed ? place : "",
             placed ? ")" : "");
    return trace->codes[inst] = perfetto_text(trace->perfetto, PERFETTO_VALUE, text);
}

/* An instruction as an argument; returns how many arguments that are. */
static u32 inst_args(struct trace *trace, u32 inst, struct perfetto_arg *args)
{
    if (inst >= trace->launch.program->inst_count)
        return 0;
    args[0] = (struct perfetto_arg){trace->words.key_at, PERFETTO_TEXT, code_value(trace, inst)};
    return 1;
}

/* ---- blocks and warps ---- */

static void begin_block(struct trace *trace, u32 core, const struct trace_event *seen, fs time)
{
    struct core_track *track = core_of(trace, core);
    const struct words *words = &trace->words;
    describe_thread(trace, core, &track->blocks[seen->slot], seen->slot, "block", seen->slot);
    const struct perfetto_arg args[] = {{words->key_block, PERFETTO_UINT, seen->value},
                                        {words->key_kernel, PERFETTO_TEXT, trace->kernel}};
    perfetto_begin(trace->perfetto, CORE_SEQUENCE + core, track->blocks[seen->slot], time,
                   words->block, args, ARRAY_LEN(args));
    track->block_open[seen->slot] = true;
}

static void end_block(struct trace *trace, u32 core, u32 slot, fs time)
{
    struct core_track *track = core_of(trace, core);
    if (track->block_open[slot])
        perfetto_end(trace->perfetto, CORE_SEQUENCE + core, track->blocks[slot], time);
    track->block_open[slot] = false;
}

static struct warp_track *warp_of(struct trace *trace, u32 core, u32 slot)
{
    struct warp_track *warp = &core_of(trace, core)->warps[slot];
    describe_thread(trace, core, &warp->uuid, SLOTS + slot, "warp", slot);
    return warp;
}

static void end_stall(struct trace *trace, u32 core, u32 slot, fs time)
{
    struct warp_track *warp = warp_of(trace, core, slot);
    if (warp->stall != STALL_NONE)
        perfetto_end(trace->perfetto, CORE_SEQUENCE + core, warp->uuid, time);
    warp->stall = STALL_NONE;
}

static void end_warp(struct trace *trace, u32 core, u32 slot, fs time)
{
    struct warp_track *warp = warp_of(trace, core, slot);
    end_stall(trace, core, slot, time);
    if (warp->open)
        perfetto_end(trace->perfetto, CORE_SEQUENCE + core, warp->uuid, time);
    warp->open = false;
}

static void begin_warp(struct trace *trace, u32 core, const struct trace_event *seen, fs time)
{
    const struct words *words = &trace->words;
    end_warp(trace, core, seen->slot, time); /* in case the slot's last warp was not seen to end */
    const struct perfetto_arg args[] = {{words->key_block, PERFETTO_UINT, seen->value >> 16},
                                        {words->key_warp, PERFETTO_UINT, seen->value & 0xffff},
                                        {words->key_kernel, PERFETTO_TEXT, trace->kernel}};
    struct warp_track *warp = warp_of(trace, core, seen->slot);
    perfetto_begin(trace->perfetto, CORE_SEQUENCE + core, warp->uuid, time, words->warp, args,
                   ARRAY_LEN(args));
    warp->open = true;
}

static void stall(struct trace *trace, u32 core, const struct trace_event *seen, fs time)
{
    struct warp_track *warp = warp_of(trace, core, seen->slot);
    u8 reason = seen->value < STALLS ? (u8)seen->value : STALL_NONE;
    struct perfetto_arg args[PERFETTO_ARGS];
    if (warp->stall == reason && warp->inst == seen->inst)
        return;
    end_stall(trace, core, seen->slot, time);
    warp->inst = seen->inst;
    warp->stall = reason;
    if (reason == STALL_NONE)
        return;
    u32 count = inst_args(trace, seen->inst, args);
    perfetto_begin(trace->perfetto, CORE_SEQUENCE + core, warp->uuid, time,
                   trace->words.stalls[reason], args, count);
}

/* ---- memory requests ---- */

/* Takes the lowest track without a request. */
static u32 take_track(struct trace *trace, u32 core)
{
    struct core_track *track = core_of(trace, core);
    u32 at = 0;
    while (at < track->tracks.count && track->tracks.data[at].taken)
        at++;
    if (at == track->tracks.count) {
        const u32 uuid = new_uuid(trace);
        *vec_push(&track->tracks) = (struct request_track){.uuid = uuid};
        perfetto_track(trace->perfetto, CORE_SEQUENCE + core, uuid, track->uuid, "memory requests");
    }
    track->tracks.data[at].taken = true;
    return at;
}

static void send_request(struct trace *trace, u32 core, const struct trace_event *seen, fs time)
{
    struct perfetto_arg args[PERFETTO_ARGS];
    u32 at = take_track(trace, core);
    struct traced_request *request = vec_push(&core_of(trace, core)->requests);
    *request = (struct traced_request){seen->value, seen->time, at};
    args[0] = (struct perfetto_arg){trace->words.key_address, PERFETTO_POINTER, seen->value};
    u32 count = 1 + inst_args(trace, seen->inst, args + 1);
    perfetto_begin(trace->perfetto, CORE_SEQUENCE + core,
                   core_of(trace, core)->tracks.data[at].uuid, time,
                   trace->words.requests[MIN(seen->slot, PACKET_KINDS - 1)], args, count);
}

static void end_request(struct trace *trace, u32 core, u32 index, fs time)
{
    struct core_track *track = core_of(trace, core);
    u32 at = track->requests.data[index].track;
    perfetto_end(trace->perfetto, CORE_SEQUENCE + core, track->tracks.data[at].uuid, time);
    track->tracks.data[at].taken = false;
    memmove(&track->requests.data[index], &track->requests.data[index + 1],
            sizeof *track->requests.data * (track->requests.count - index - 1));
    track->requests.count--;
}

static void answer_request(struct trace *trace, u32 core, const struct trace_event *seen, fs time)
{
    struct core_track *track = core_of(trace, core);
    for (u32 i = 0; i < track->requests.count; i++)
        if (track->requests.data[i].address == seen->value &&
            track->requests.data[i].sent == seen->more) {
            end_request(trace, core, i, time);
            return;
        }
}

/* ---- launches ---- */

void trace_note(struct trace *trace, const struct trace_event *seen, fs time)
{
    u32 core = seen->core;
    trace->last = MAX(trace->last, time);
    switch ((enum trace_kind)seen->what) {
    case TRACE_BLOCK_START:
        begin_block(trace, core, seen, time);
        break;
    case TRACE_BLOCK_END:
        end_block(trace, core, seen->slot, time);
        break;
    case TRACE_WARP_START:
        begin_warp(trace, core, seen, time);
        break;
    case TRACE_WARP_END:
        end_warp(trace, core, seen->slot, time);
        break;
    case TRACE_WARP_STALL:
        stall(trace, core, seen, time);
        break;
    case TRACE_REQUEST_SENT:
        send_request(trace, core, seen, time);
        break;
    case TRACE_REQUEST_DONE:
        answer_request(trace, core, seen, time);
        break;
    default: /* steps of instructions are not in this trace */
        break;
    }
}

static u32 size_value(struct trace *trace, const u32 *size)
{
    char text[48];
    snprintf(text, sizeof text, "%u,%u,%u", size[0], size[1], size[2]);
    return perfetto_text(trace->perfetto, PERFETTO_VALUE, text);
}

void trace_launch(struct trace *trace, const struct observer_launch *launch, fs time)
{
    const struct words *words = &trace->words;
    describe_device(trace);
    free(trace->codes);
    trace->codes = checked(calloc(launch->program->inst_count + 1, sizeof *trace->codes));
    trace->launch = *launch;
    trace->in_launch = true;
    trace->last = time;
    trace->kernel = perfetto_text(trace->perfetto, PERFETTO_VALUE, launch->kernel);
    const struct perfetto_arg args[] = {
        {words->key_grid, PERFETTO_TEXT, size_value(trace, launch->grid)},
        {words->key_block_size, PERFETTO_TEXT, size_value(trace, launch->block)}};
    perfetto_begin(trace->perfetto, DEVICE_SEQUENCE, UUID_LAUNCHES, time,
                   perfetto_text(trace->perfetto, PERFETTO_NAME, launch->kernel), args,
                   ARRAY_LEN(args));
}

void trace_count(struct trace *trace, fs time, const f64 values[TRACE_COUNTERS])
{
    static const struct {
        const char *name, *unit;
    } counters[TRACE_COUNTERS] = {
        [TRACE_IPC] = {"IPC", "warp instructions/cycle"}, [TRACE_WARPS] = {"active warps", "warps"},
        [TRACE_L1_HITS] = {"L1 hit rate", "%"},           [TRACE_L2_HITS] = {"L2 hit rate", "%"},
        [TRACE_DRAM] = {"DRAM bandwidth", "GB/s"},        [TRACE_POWER] = {"power", "W"},
    };
    describe_device(trace);
    for (u32 i = 0; i < TRACE_COUNTERS && !trace->counters_described; i++)
        perfetto_counter(trace->perfetto, COUNTER_SEQUENCE, UUID_COUNTERS + i, UUID_DEVICE,
                         counters[i].name, counters[i].unit);
    trace->counters_described = true;
    for (u32 i = 0; i < TRACE_COUNTERS; i++)
        perfetto_value(trace->perfetto, COUNTER_SEQUENCE, UUID_COUNTERS + i, time, values[i]);
}

/* Ends all open slices of a core (TR1). */
static void close_core(struct trace *trace, u32 core, fs time)
{
    struct core_track *track = trace->cores.data[core];
    if (!track)
        return;
    while (track->requests.count)
        end_request(trace, core, 0, time);
    for (u32 slot = 0; slot < SLOTS; slot++) {
        if (track->warps[slot].uuid)
            end_warp(trace, core, slot, time);
        if (track->block_open[slot])
            end_block(trace, core, slot, time);
    }
}

void trace_launch_end(struct trace *trace, fs time)
{
    static const f64 none[TRACE_COUNTERS];
    if (!trace->in_launch)
        return;
    for (u32 core = 0; core < trace->cores.count; core++)
        close_core(trace, core, time);
    perfetto_end(trace->perfetto, DEVICE_SEQUENCE, UUID_LAUNCHES, time);
    if (trace->counters_described)
        trace_count(trace, time, none);
    trace->in_launch = false;
}

static void learn_words(struct trace *trace)
{
    static const char *const kinds[PACKET_KINDS] = {"read", "write", "atomic",
                                                    "read", "write", "note"};
    struct words *words = &trace->words;
    struct perfetto *perfetto = trace->perfetto;
    const struct {
        u32 *number;
        const char *text;
    } keys[] = {
        {&words->key_block, "block"},
        {&words->key_kernel, "kernel"},
        {&words->key_warp, "warp"},
        {&words->key_at, "at"},
        {&words->key_address, "address"},
        {&words->key_grid, "grid"},
        {&words->key_block_size, "block size"},
    };
    for (u32 i = 0; i < ARRAY_LEN(keys); i++)
        *keys[i].number = perfetto_text(perfetto, PERFETTO_KEY, keys[i].text);
    words->block = perfetto_text(perfetto, PERFETTO_NAME, "block");
    words->warp = perfetto_text(perfetto, PERFETTO_NAME, "warp");
    for (u32 i = 0; i < STALLS; i++)
        words->stalls[i] = perfetto_text(perfetto, PERFETTO_NAME, stall_names[i]);
    for (u32 i = 0; i < PACKET_KINDS; i++)
        words->requests[i] = perfetto_text(perfetto, PERFETTO_NAME, kinds[i]);
}

struct trace *trace_create(hd_bytes_fn *write, void *user)
{
    struct trace *trace = checked(calloc(1, sizeof *trace));
    trace->perfetto = perfetto_create(write, user);
    learn_words(trace);
    return trace;
}

void trace_destroy(struct trace *trace)
{
    if (!trace)
        return;
    trace_launch_end(trace, trace->last);
    perfetto_destroy(trace->perfetto);
    for (u32 i = 0; i < trace->cores.count; i++)
        if (trace->cores.data[i]) {
            vec_free(&trace->cores.data[i]->requests);
            vec_free(&trace->cores.data[i]->tracks);
            free(trace->cores.data[i]);
        }
    vec_free(&trace->cores);
    free(trace->codes);
    free(trace);
}
