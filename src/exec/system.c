/*
 * System calls: printf, assert, malloc, free. Lanes act in lane order.
 *
 * A heap block is a separate allocation, so that overruns and use after free are detected. The heap
 * belongs to the device and outlives a launch, as in CUDA.
 */
#include "exec/format.h"
#include "exec/reformed.h"

#include <stdlib.h>

struct lane_reader {
    const struct warp *warp;
    u32 lane;
};

static bool read_guest(void *context, u64 address, void *to, u64 bytes)
{
    const struct lane_reader *reader = context;
    const u8 *from = lane_pointer(reader->warp, reader->lane, SPACE_GENERIC, address, bytes);
    if (from)
        memcpy(to, from, bytes);
    return from;
}

/* Words of argument blocks, of the program's own size (ir/special.h). */
static const u32 frame_words[] = {
    [SYSCALL_VPRINTF] = 3, [SYSCALL_ASSERTFAIL] = 5, [SYSCALL_MALLOC] = 2, [SYSCALL_FREE] = 1};

static u32 word_bytes(const struct warp *warp)
{
    return warp->exec->image->program->traits.address_bits == 32 ? 4 : 8;
}

static u8 *frame_of(struct warp *warp, u32 pc, u32 lane)
{
    const struct inst *inst = warp_inst(warp, pc);
    const u32 bytes = frame_words[inst->key] * word_bytes(warp);
    const struct step *step = &warp->exec->image->steps[pc];
    const u32 *row = chunk_row(&warp->chunks[lane / LANES], step, 0);
    u64 address = (u64)inst->imm + (row ? row[lane % LANES] : 0);
    if (row && inst->src[0].count > 1)
        address += (u64)row[warp->exec->image->warp_size + lane % LANES] << 32;
    struct warp *home = warp_home(warp, lane);
    u8 *at = lane_pointer(home, lane, SPACE_LOCAL, address, bytes);
    if (!at)
        fault_memory(home, pc, lane, address, bytes, 0);
    return at;
}

/* Word number `index` of an argument block. */
static u64 word_at(const struct warp *warp, const u8 *frame, u32 index)
{
    const u32 bytes = word_bytes(warp);
    u64 value = 0;
    memcpy(&value, frame + index * bytes, bytes);
    return value;
}

static bool call_printf(struct warp *warp, u32 pc, u32 lane, u8 *frame)
{
    struct exec *exec = warp->exec;
    struct lane_reader reader = {warp, lane};
    char *text = checked(malloc(FORMAT_MAX));
    struct format_result result = format_guest(read_guest, &reader, word_at(warp, frame, 1),
                                               word_at(warp, frame, 2), word_bytes(warp), text);
    exec->stats.printf_calls++;
    if (!result.ok) {
        free(text);
        fault_at(warp, pc, lane, OUTCOME_OUT_OF_BOUNDS,
                 "printf reads 0x%llx, which is not readable memory",
                 (unsigned long long)result.bad_address);
        return false;
    }
    exec->printf_bytes += result.length;
    if (exec->output && exec->printf_bytes <= exec->limits->printf_bytes)
        exec->output(exec->output_user, text, result.length);
    memcpy(frame, &result.arguments, 4);
    free(text);
    return true;
}

static bool call_assert(struct warp *warp, u32 pc, u32 lane, const u8 *frame)
{
    struct lane_reader reader = {warp, lane};
    char message[512], file[256], function[256];
    const struct {
        u32 index;
        char *text;
        size_t size;
    } strings[] = {
        {0, message, sizeof message}, {1, file, sizeof file}, {3, function, sizeof function}};
    for (u32 i = 0; i < ARRAY_LEN(strings); i++)
        if (!format_string(read_guest, &reader, word_at(warp, frame, strings[i].index),
                           strings[i].text, strings[i].size))
            memcpy(strings[i].text, "?", 2);
    const struct exec *exec = warp->exec;
    u32 thread = warp->index * exec->image->warp_size + lane;
    fault_at(warp, pc, lane, OUTCOME_ASSERT,
             "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.", file,
             (u32)word_at(warp, frame, 2), function, warp->block->id[0], warp->block->id[1],
             warp->block->id[2], exec->tids[0][thread], exec->tids[1][thread],
             exec->tids[2][thread], message);
    return false;
}

static void call_malloc(struct warp *warp, u8 *frame)
{
    struct exec *exec = warp->exec;
    u64 bytes = word_at(warp, frame, 1), address = 0;
    struct error error;
    exec->stats.malloc_calls++;
    if (bytes && exec->heap->used <= exec->limits->heap_bytes &&
        bytes <= exec->limits->heap_bytes - exec->heap->used)
        address = memory_allocate(exec->memory, bytes, ALLOC_HEAP, "malloc", &error);
    if (address)
        exec->heap->used += bytes;
    memcpy(frame, &address, word_bytes(warp));
}

static bool call_free(struct warp *warp, u32 pc, u32 lane, const u8 *frame)
{
    struct exec *exec = warp->exec;
    u64 address = word_at(warp, frame, 0);
    if (!address)
        return true;
    const struct allocation *found = memory_find(exec->memory, address, 1);
    if (!found || found->kind != ALLOC_HEAP || found->address != address) {
        const struct allocation *near = memory_nearest(exec->memory, address);
        bool twice = near && near->freed && near->address == address;
        fault_at(warp, pc, lane, OUTCOME_HEAP, "free(0x%llx): %s", (unsigned long long)address,
                 twice ? "it was freed before" : "malloc did not return this address");
        return false;
    }
    struct error error;
    exec->heap->used -= found->size;
    memory_free(exec->memory, address, &error);
    return true;
}

bool system_step(struct warp *warp, u32 pc, lane_set lanes)
{
    for (lane_set set = lanes; set; set &= set - 1) {
        u32 lane = first_lane(set);
        struct warp *home = warp_home(warp, lane);
        u8 *frame = frame_of(warp, pc, lane);
        if (!frame)
            return false;
        bool ok = true;
        switch (warp_inst(warp, pc)->key) {
        case SYSCALL_VPRINTF:
            ok = call_printf(home, pc, lane, frame);
            break;
        case SYSCALL_ASSERTFAIL:
            ok = call_assert(home, pc, lane, frame);
            break;
        case SYSCALL_MALLOC:
            call_malloc(home, frame);
            break;
        default:
            ok = call_free(home, pc, lane, frame);
        }
        if (!ok)
            return false;
    }
    return true;
}
