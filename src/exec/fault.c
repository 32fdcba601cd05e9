/*
 * Explanations of faults: what went wrong, where in the program, in which thread, and what is near.
 */
#include "exec/reformed.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const outcome_names[] = {
    [OUTCOME_DONE] = "done",
    [OUTCOME_OUT_OF_BOUNDS] = "out_of_bounds",
    [OUTCOME_USE_AFTER_FREE] = "use_after_free",
    [OUTCOME_MISALIGNED] = "misaligned",
    [OUTCOME_READ_ONLY] = "read_only",
    [OUTCOME_DEADLOCK] = "deadlock",
    [OUTCOME_STACK_OVERFLOW] = "stack_overflow",
    [OUTCOME_BAD_CALL] = "bad_call",
    [OUTCOME_ASSERT] = "assert",
    [OUTCOME_TRAP] = "trap",
    [OUTCOME_HEAP] = "heap",
    [OUTCOME_LIMIT] = "limit",
    [OUTCOME_INTERRUPTED] = "interrupted",
    [OUTCOME_CHECK] = "check",
};

const char *outcome_name(enum outcome outcome)
{
    return outcome_names[outcome];
}

/* Appends to the fault's message, which may be cut off. */
__attribute__((format(printf, 2, 3))) static void say(struct fault *fault, const char *format, ...)
{
    size_t used = strlen(fault->message);
    va_list list;
    va_start(list, format);
    vsnprintf(fault->message + used, sizeof fault->message - used, format, list);
    va_end(list);
}

static void begin(struct exec *exec, enum outcome outcome, u32 pc)
{
    struct fault *fault = &exec->fault;
    exec->stopped = true;
    memset(fault, 0, offsetof(struct fault, message) + 1);
    fault->outcome = outcome;
    fault->inst = pc;
}

/* Appends to a text of `size` bytes, which may be cut off. */
__attribute__((format(printf, 3, 4))) static void append(char *to, size_t size, const char *format,
                                                         ...)
{
    size_t used = strlen(to);
    va_list list;
    va_start(list, format);
    vsnprintf(to + used, size - used, format, list);
    va_end(list);
}

void fault_place_text(const struct exec *exec, u32 pc, char *to, size_t size)
{
    const struct program *program = exec->image->program;
    const struct location *location = &program->locations[program->insts[pc].location];
    char text[256];
    *to = '\0';
    if (program->insts[pc].location && location->line)
        append(to, size, "%s:%u", location->file ? location->file : "?", location->line);
    if (program->insts[pc].location && location->text_line)
        append(to, size, "%s%s:%u%s", location->line ? " (" : "",
               program->file ? program->file : "?", location->text_line, location->line ? ")" : "");
    if (program->insts[pc].location && (location->line || location->text_line))
        append(to, size, ", ");
    /* An instruction without size marks the end of the code and is one byte before it. */
    u64 at = image_pc(exec->image, pc) + (program->sizes && program->sizes[pc] == 0);
    append(to, size, "pc 0x%" PRIx64 ": %s", at, inst_text(program, pc, text, sizeof text));
}

static void say_place(struct exec *exec, u32 pc)
{
    char text[1024];
    fault_place_text(exec, pc, text, sizeof text);
    say(&exec->fault, "%s", text);
}

/* `at`: "at", or how certain the place is. `exec`: the launch that is reported, of which the warp's
 * own may be a part. */
static void say_thread(struct exec *exec, const struct warp *warp, u32 pc, u32 lane, const char *at)
{
    struct fault *fault = &exec->fault;
    u32 thread = warp->index * exec->image->warp_size + lane;
    for (unsigned d = 0; d < 3; d++) {
        fault->block[d] = warp->block->id[d];
        fault->thread[d] = warp->exec->tids[d][thread];
    }
    const struct function *function = program_function_at(exec->image->program, pc);
    say(fault, "\n  %s ", at);
    say_place(exec, pc);
    say(fault, "\n  in kernel %s", exec->kernel->name);
    if (function && function != exec->kernel)
        say(fault, ", function %s", function->name);
    say(fault, ", block (%u,%u,%u), thread (%u,%u,%u), warp %u, lane %u", fault->block[0],
        fault->block[1], fault->block[2], fault->thread[0], fault->thread[1], fault->thread[2],
        warp->index, lane);
}

void fault_at(struct warp *warp, u32 pc, u32 lane, enum outcome outcome, const char *format, ...)
{
    struct fault *fault = &warp->exec->fault;
    warp = warp_home(warp, lane);
    begin(warp->exec, outcome, pc);
    va_list list;
    va_start(list, format);
    vsnprintf(fault->message, sizeof fault->message, format, list);
    va_end(list);
    say_thread(warp->exec, warp, pc, lane, "at");
}

/* The warp that ran last if it is live, else a live one of its block, else NULL. */
static const struct warp *seen_last(const struct exec *exec)
{
    if (!exec->last || exec->last->live)
        return exec->last;
    for (u32 w = 0; w < exec->warps; w++)
        if (exec->last->block->warps[w].live)
            return &exec->last->block->warps[w];
    return NULL;
}

void fault_stop(struct exec *exec, enum outcome outcome, const char *format, ...)
{
    const struct warp *warp = seen_last(exec);
    const struct path *path = NULL;
    if (warp) /* what it executes, or would execute next */
        path = &warp->paths[warp->current != NO_PATH ? warp->current
                                                     : warp->order[warp->order_count - 1]];
    begin(exec, outcome, path ? path->pc : exec->kernel->first);
    va_list list;
    va_start(list, format);
    vsnprintf(exec->fault.message, sizeof exec->fault.message, format, list);
    va_end(list);
    if (path)
        say_thread(exec, warp, path->pc, first_lane(path->mask), "last seen at");
    else
        say(&exec->fault, "\n  in kernel %s, between two blocks", exec->kernel->name);
}

void fault_check(struct exec *exec, u32 inst, const char *format, ...)
{
    if (exec->stopped)
        return;
    begin(exec, OUTCOME_CHECK, inst);
    va_list list;
    va_start(list, format);
    vsnprintf(exec->fault.message, sizeof exec->fault.message, format, list);
    va_end(list);
}

static const char *kind_name(const struct allocation *a)
{
    static const char *const names[] = {[ALLOC_BUFFER] = "buffer",
                                        [ALLOC_VARIABLE] = "variable",
                                        [ALLOC_HEAP] = "heap block",
                                        [ALLOC_CODE] = "code",
                                        [ALLOC_LAUNCH] = "launch memory"};
    return names[a->kind];
}

static void say_allocation(struct fault *fault, const struct allocation *a)
{
    say(fault, "%s%s %" PRIu64, a->freed ? "freed " : "", kind_name(a), a->number);
    if (a->name)
        say(fault, " '%s'", a->name);
    say(fault, " [0x%" PRIx64 ", +%" PRIu64 ")", a->address, a->size);
}

/* The buffer that contains the address, else the one it was computed from, else the nearest. */
static const struct allocation *meant(const struct warp *warp, u32 pc, u32 lane, u64 address)
{
    const struct allocation *near = memory_nearest(warp->exec->memory, address);
    if (!near || address - near->address < near->size)
        return near;
    const struct allocation *origin = fault_origin(warp, pc, lane);
    return origin ? origin : near;
}

static void say_nearest(struct fault *fault, const struct allocation *near, u64 address, u32 bytes)
{
    if (!near) {
        say(fault, "\n  no memory is allocated");
        return;
    }
    u64 end = near->address + near->size;
    if (address < near->address)
        say(fault, "\n  %" PRIu64 " bytes before the start of ", near->address - address);
    else if (address >= end)
        say(fault, "\n  %" PRIu64 " bytes past the end of ", address - end);
    else if (address + bytes > end)
        say(fault, "\n  its last %" PRIu64 " bytes are past the end of ", address + bytes - end);
    else
        say(fault, "\n  at offset %" PRIu64 " of ", address - near->address);
    say_allocation(fault, near);
}

void fault_near_text(const struct exec *exec, u64 address, u32 bytes, char *text, size_t size)
{
    struct fault fault;
    fault.message[0] = '\0';
    say_nearest(&fault, memory_nearest(exec->memory, address), address, bytes);
    snprintf(text, size, "%s", fault.message);
}

/* The outcome of a wrong access. */
static enum outcome classify(const struct warp *warp, u32 lane, enum space space, u64 address,
                             u32 bytes, u32 align, bool write)
{
    const struct exec *exec = warp->exec;
    if (!lane_pointer(warp, lane, space, address, bytes)) {
        const struct allocation *near = memory_nearest(exec->memory, address);
        bool device = space != SPACE_SHARED && space != SPACE_LOCAL && space != SPACE_PARAM;
        if (device && near && near->freed && address - near->address < near->size)
            return OUTCOME_USE_AFTER_FREE;
        if (space == SPACE_LOCAL && exec->kernel->recursive)
            return OUTCOME_STACK_OVERFLOW;
        return OUTCOME_OUT_OF_BOUNDS;
    }
    if (address & (align - 1))
        return OUTCOME_MISALIGNED;
    return write ? OUTCOME_READ_ONLY : OUTCOME_OUT_OF_BOUNDS;
}

static const char *wrong_words(enum outcome outcome)
{
    switch (outcome) {
    case OUTCOME_USE_AFTER_FREE:
        return "use of freed memory";
    case OUTCOME_MISALIGNED:
        return "misaligned access";
    case OUTCOME_READ_ONLY:
        return "write to read-only memory";
    case OUTCOME_STACK_OVERFLOW:
        return "stack overflow";
    default:
        return "out of bounds";
    }
}

static void say_window(struct exec *exec, enum space space)
{
    struct fault *fault = &exec->fault;
    if (space == SPACE_SHARED)
        say(fault, "\n  the block has %u bytes of shared memory (%u static, %u dynamic)",
            exec->shared_bytes, exec->static_shared_bytes, exec->dynamic_shared_bytes);
    else if (space == SPACE_LOCAL)
        say(fault, "\n  a thread has %u bytes of local memory%s", exec->local_bytes,
            exec->kernel->recursive ? " (launch.stack_bytes)" : "");
    else
        say(fault, "\n  the kernel has %u bytes of parameters", exec->param_bytes);
}

static enum space accessed_space(const struct inst *inst)
{
    switch (inst->op) {
    case OP_syscall:
        return SPACE_LOCAL;
    case OP_buf_ld:
    case OP_buf_st:
    case OP_buf_atom:
    case OP_ld_scalar:
    case OP_ld_scalar_buffer:
        return SPACE_GLOBAL;
    default:
        return inst->space;
    }
}

void fault_memory(struct warp *warp, u32 pc, u32 lane, u64 address, u32 bytes, lane_set others)
{
    static const char *const names[SPACE_COUNT] = {
        [SPACE_GENERIC] = "global", [SPACE_GLOBAL] = "global", [SPACE_SHARED] = "shared",
        [SPACE_LOCAL] = "local",    [SPACE_CONST] = "const",   [SPACE_PARAM] = "parameter"};
    struct exec *exec = warp->exec;
    const struct inst *inst = warp_inst(warp, pc);
    u16 flags = op_info[inst->op].flags;
    bool write = flags & OPF_STORE;
    u32 align = access_align(inst, bytes);
    enum space space = accessed_space(inst);
    u64 shown = address;
    space = window_space(exec->image->windows, space, &address);
    enum outcome outcome = classify(warp, lane, space, address, bytes, align, write);
    begin(exec, outcome, pc);
    exec->fault.address = shown;
    exec->fault.bytes = bytes;
    say(&exec->fault, "%s: %s of %u bytes at 0x%" PRIx64 " in %s memory", wrong_words(outcome),
        flags & OPF_ATOMIC ? "atomic"
        : write            ? "write"
                           : "read",
        bytes, shown, names[space]);
    if (space == SPACE_SHARED || space == SPACE_LOCAL || space == SPACE_PARAM)
        say_window(exec, space);
    else
        say_nearest(&exec->fault, meant(warp, pc, lane, address), address, bytes);
    if (outcome == OUTCOME_MISALIGNED)
        say(&exec->fault, "\n  an access of %u bytes needs an address that is a multiple of %u",
            bytes, align);
    say_thread(warp->exec, warp, pc, lane, "at");
    if (others)
        say(&exec->fault, "\n  %u other lanes of the warp fault here as well", count_lanes(others));
}

void fault_add(struct warp *warp, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    say(&warp->exec->fault, "\n  %s", text);
}

/* "0-3,8,31" */
static void say_lanes(struct fault *fault, lane_set lanes)
{
    const char *comma = "";
    for (u32 lane = 0; lane < MAX_LANES; lane++) {
        if (!(lanes >> lane & 1))
            continue;
        u32 last = lane;
        while (last + 1 < MAX_LANES && (lanes >> (last + 1) & 1))
            last++;
        if (last > lane)
            say(fault, "%s%u-%u", comma, lane, last);
        else
            say(fault, "%s%u", comma, lane);
        comma = ",";
        lane = last;
    }
}

static void say_waiting(struct warp *warp)
{
    struct exec *exec = warp->exec;
    struct fault *fault = &exec->fault;
    for (u32 i = warp->order_count; i-- > 0;) {
        const struct path *path = &warp->paths[warp->order[i]];
        if (path->state == PATH_READY)
            continue;
        say(fault, "\n  warp %u, lanes ", warp->index);
        say_lanes(fault, path->mask);
        if (path->state == PATH_BARRIER)
            say(fault, " wait at barrier %u: ", path->barrier);
        else
            say(fault, " wait for lanes named by mask 0x%08x: ", path->members);
        say_place(exec, path->pc);
    }
    if (warp->live != warp->members) {
        say(fault, "\n  warp %u, lanes ", warp->index);
        say_lanes(fault, warp->members & ~warp->live);
        say(fault, " have exited");
    }
}

/* The first waiting leaf represents the deadlock in the fault's fields. */
void fault_deadlock(struct thread_block *block)
{
    struct exec *exec = block->exec;
    struct warp *first = NULL;
    for (u32 w = exec->warps; w-- > 0;)
        for (u32 i = 0; i < block->warps[w].order_count; i++)
            if (block->warps[w].paths[block->warps[w].order[i]].state != PATH_READY)
                first = &block->warps[w];
    /* After bit flips (live.h), a warp may wait for a result that never comes. */
    const struct path *leaf = first ? &first->paths[first->order[first->order_count - 1]] : NULL;
    begin(exec, OUTCOME_DEADLOCK, leaf ? leaf->pc : exec->kernel->first);
    const u32 thread =
        leaf && leaf->mask ? first->index * exec->image->warp_size + first_lane(leaf->mask) : 0;
    for (unsigned d = 0; d < 3; d++) {
        exec->fault.block[d] = block->id[d];
        exec->fault.thread[d] = exec->tids[d][thread];
    }
    say(&exec->fault, "deadlock: nothing in block (%u,%u,%u) of kernel %s can make progress",
        block->id[0], block->id[1], block->id[2], exec->kernel->name);
    for (u32 b = 0; b < BARRIERS; b++)
        if (block->barriers_used >> b & 1 && block->barriers[b].threads)
            say(&exec->fault, "\n  barrier %u expects %u threads", b, block->barriers[b].threads);
    for (u32 w = 0; w < exec->warps; w++)
        say_waiting(&block->warps[w]);
}
