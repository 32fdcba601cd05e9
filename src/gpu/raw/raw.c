/*
 * Raw programs: waves that start from given registers at given places of the code, with memory at
 * the addresses of the state.
 *
 * In functional mode workgroups run one after the other, each as a block of its own launch, and
 * their counts are added up; time.c runs them in timing mode. The registers of a wave are set from
 * the state before it runs and copied back afterwards, so the state always matches the dump.
 *
 *  - Code is at the start of device memory (memory_base), or after what the state has put there.
 *  - Adjacent regions are one piece of memory: an access may cross their border.
 *  - The PC of an ended wave is the instruction that ended it.
 */
#include "gpu/raw/raw.h"

#include "gpu/api/api.h"
#include "gpu/mechanism/observers.h"
#include "gpu/module/module.h"

#include "exec/register_file.h"
#include "exec/scalars.h"
#include <fenv.h>
#include <inttypes.h>
#include <stdlib.h>

/* ---- preparation ---- */

static bool check_waves(const struct hd_raw *raw, const char *name, struct error *error)
{
    const struct program *program = raw->module->program;
    for (u32 i = 0; i < raw->state->wave_count; i++) {
        u64 pc = raw->state->waves[i].pc;
        if (pc >= program->load_bytes || program_inst_at(program, pc) == NO_INST)
            return error_set(error, ERROR_INPUT, name,
                             "waves[%u].pc: no instruction begins at %" PRIu64
                             ": the code has %" PRIu64 " bytes",
                             i, pc, program->load_bytes);
    }
    u32 most = raw->module->device->core->shared_bytes;
    for (u32 i = 0; i < raw->state->group_count; i++)
        if (raw->state->groups[i].lds_bytes > most)
            return error_set(
                error, ERROR_INPUT, name,
                "workgroup %u has %u bytes of LDS, but a core has %u (core.shared_bytes)",
                raw->state->groups[i].id, raw->state->groups[i].lds_bytes, most);
    return true;
}

/* Adds the basic blocks reachable from a wave's start, without computed jumps, to `reached`. */
static void reach(const struct program *program, u32 block, bool *reached, u32 *stack)
{
    u32 depth = 0;
    stack[depth++] = block;
    while (depth) {
        const struct block *b = &program->blocks[stack[--depth]];
        for (u32 k = 0; k < ARRAY_LEN(b->successors); k++) {
            u32 next = b->successors[k];
            if (next != NO_BLOCK && !reached[next]) {
                reached[next] = true;
                stack[depth++] = next;
            }
        }
    }
}

/* Adds a line to the message; false: no room. */
static bool tell_unsupported(const struct program *program, u32 inst, u32 number,
                             struct error *error)
{
    const struct unsupported *u = &program->unsupported[program->insts[inst].imm];
    size_t used = strlen(error->message), size = sizeof error->message;
    if (!number)
        error_set(error, ERROR_UNSUPPORTED, u->place, "not supported: %s", u->text);
    else if (used + strlen(u->place) + strlen(u->text) + 64 < size)
        snprintf(error->message + used, size - used, "\n  %s: %s", u->place, u->text);
    else
        return false;
    return true;
}

/* Checks that reachable instructions are supported; other words may be data. */
static bool check_reached(const struct hd_raw *raw, struct error *error)
{
    const struct program *program = raw->module->program;
    bool *reached = checked(calloc(program->block_count + 1, sizeof *reached));
    u32 *stack = checked(calloc(program->block_count + 2, sizeof *stack)), found = 0, untold = 0;
    u32 *from = arena_array(raw->arena, u32, program->block_count + 1);
    for (u32 b = 0; b < program->block_count; b++)
        from[b] = program->blocks[b].end;
    for (u32 i = 0; i < raw->state->wave_count; i++) {
        u32 inst = program_inst_at(program, raw->state->waves[i].pc);
        u32 block = program->block_of[inst];
        from[block] = MIN(from[block], inst);
        reach(program, block, reached, stack);
    }
    for (u32 b = 0; b < program->block_count; b++)
        for (u32 i = reached[b] ? program->blocks[b].first : from[b]; i < program->blocks[b].end;
             i++)
            if (program->insts[i].op == OP_unsupported)
                untold += !tell_unsupported(program, i, found++, error);
    size_t used = strlen(error->message);
    if (untold)
        snprintf(error->message + used, sizeof error->message - used, "\n  and %u more", untold);
    free(reached);
    free(stack);
    return !found;
}

/* The end of the run of adjacent regions that begins at `first`. */
static u32 touching(const struct si_state *state, u32 first)
{
    u32 next = first + 1;
    while (next < state->region_count &&
           state->regions[next].address ==
               state->regions[next - 1].address + state->regions[next - 1].bytes)
        next++;
    return next;
}

static bool map_regions(struct hd_raw *raw, const char *name, struct error *error)
{
    struct memory *memory = raw->module->device->memory;
    const struct si_state *state = raw->state;
    for (u32 first = 0, next; first < state->region_count; first = next) {
        next = touching(state, first);
        const struct si_region *last = &state->regions[next - 1];
        u64 address = state->regions[first].address;
        if (!memory_map(memory, address, last->address + last->bytes - address, ALLOC_BUFFER, NULL,
                        error)) {
            memcpy(error->place, name, MIN(strlen(name) + 1, sizeof error->place - 1));
            return false;
        }
        *vec_push(&raw->mapped) = address;
        for (u32 i = first; i < next; i++)
            if (!memory_write(memory, state->regions[i].address, state->regions[i].data,
                              state->regions[i].bytes, error))
                return false;
    }
    return true;
}

struct hd_raw *hd_raw_create(struct hd_module *module, const char *state, size_t bytes,
                             const char *name, struct hd_error *error)
{
    struct error inner = {0};
    if (!module || !state || !name) {
        api_null(error, "hd_raw_create");
        return NULL;
    }
    if (!module->raw || module->image) {
        error_set(&inner, ERROR_USAGE, "", "hd_raw_create: expected a module of %s",
                  module->raw ? "hd_module_load_raw without another hd_raw" : "hd_module_load_raw");
        api_fail(error, &inner);
        return NULL;
    }
    struct hd_raw *raw = checked(calloc(1, sizeof *raw));
    raw->module = module;
    raw->arena = arena_create();
    raw->state = state_read(raw->arena, state, bytes, name, &inner);
    if (raw->state && check_waves(raw, name, &inner) && check_reached(raw, &inner) &&
        (!module->device->timing || raw_check_time(raw, name, &inner)) &&
        map_regions(raw, name, &inner) && module_place(module, &inner))
        return raw;
    hd_raw_destroy(raw);
    api_fail(error, &inner);
    return NULL;
}

void hd_raw_destroy(struct hd_raw *raw)
{
    struct error ignored; /* freeing a mapping cannot fail */
    if (!raw)
        return;
    for (u32 i = 0; i < raw->mapped.count; i++)
        memory_free(raw->module->device->memory, raw->mapped.data[i], &ignored);
    vec_free(&raw->mapped);
    module_displace(raw->module);
    arena_destroy(raw->arena);
    free(raw);
}

/* The number of vector registers, from the first, that the code may write. */
static u32 rows_written(const struct program *program)
{
    u32 rows = 0;
    for (u32 i = 0; i < program->inst_count; i++) {
        struct operand list[INST_REFS];
        u32 count = inst_writes(&program->insts[i], list);
        for (u32 k = 0; k < count; k++) {
            if (list[k].kind != OPERAND_VECTOR)
                continue;
            if (!list[k].count) /* indexed at run time: any register from there on */
                return SI_STATE_VGPRS;
            rows = MAX(rows, (u32)list[k].index + list[k].count);
        }
    }
    return MIN(rows, (u32)SI_STATE_VGPRS);
}

void hd_raw_info(const struct hd_raw *raw, struct hd_raw_info *info)
{
    if (!info)
        return;
    *info = (struct hd_raw_info){0};
    if (!raw)
        return;
    info->workgroups = raw->state->group_count;
    info->waves = raw->state->wave_count;
    info->registers = rows_written(raw->module->program);
    for (u32 i = 0; i < raw->state->group_count; i++)
        info->threads = MAX(info->threads, raw->state->groups[i].wave_count * SI_STATE_LANES);
}

/* ---- waves to and from the state ---- */

static void set_pair(const struct warp *warp, u32 scalar, u64 value)
{
    *scalar_word(warp, scalar) = (u32)value;
    *scalar_word(warp, scalar + 1) = (u32)(value >> 32);
}

static u64 get_pair(const struct warp *warp, u32 scalar)
{
    return *scalar_word(warp, scalar) | (u64)*scalar_word(warp, scalar + 1) << 32;
}

/* The rows to copy: a state may hold more registers than the code can name. */
static u32 rows_of(const struct warp *warp, const struct si_wave *wave)
{
    return MIN(warp->exec->register_rows, wave->vgpr_count);
}

/* The instruction of a wave: the one that ended it, the one it waits at, or the next one. */
static u32 stands_at(const struct warp *warp)
{
    const struct exec *exec = warp->exec;
    bool faulted = exec->stopped && exec->last == warp && exec->fault.outcome != OUTCOME_DEADLOCK;
    return faulted ? exec->fault.inst : warp->paths[0].pc;
}

void raw_wave_in(struct warp *warp, const struct si_wave *wave)
{
    for (u32 s = 0; s < SI_STATE_SGPRS; s++)
        *scalar_word(warp, s) = wave->sgpr[s];
    for (u32 v = 0; v < rows_of(warp, wave); v++)
        memcpy(vector_row(warp, &warp->chunks[0], v), wave->vgpr[v], sizeof wave->vgpr[v]);
    set_pair(warp, SCALAR_EXEC, wave->exec);
    set_pair(warp, SCALAR_VCC, wave->vcc);
    *scalar_word(warp, SCALAR_SCC) = wave->scc;
    *scalar_word(warp, SCALAR_M0) = wave->m0;
    *scalar_word(warp, SCALAR_MODE) = wave->mode;
    paths_reset(warp, warp->live, program_inst_at(warp->exec->image->program, wave->pc), NO_INST);
}

void raw_wave_out(const struct warp *warp, struct si_wave *wave, u32 at)
{
    const struct exec *exec = warp->exec;
    for (u32 s = 0; s < SI_STATE_SGPRS; s++)
        wave->sgpr[s] = *scalar_word(warp, s);
    for (u32 v = 0; v < rows_of(warp, wave); v++)
        register_read(warp, v, wave->vgpr[v]);
    wave->exec = get_pair(warp, SCALAR_EXEC);
    wave->vcc = get_pair(warp, SCALAR_VCC);
    wave->scc = *scalar_word(warp, SCALAR_SCC);
    wave->m0 = *scalar_word(warp, SCALAR_M0);
    wave->mode = *scalar_word(warp, SCALAR_MODE);
    /* the end of code without s_endpgm has no address of its own */
    wave->pc = align_up(program_offset(exec->image->program, at), 4);
}

/* ---- running ---- */

/* Runs a workgroup as a block: its waves are the warps, in the order of the state. */
static void run_group(struct hd_raw *raw, struct exec *exec, u32 group, const u32 *waves)
{
    const struct si_group *g = &raw->state->groups[group];
    struct hd_device *device = raw->module->device;
    struct observers *observers =
        exec->watcher ? NULL : device->observers; /* a trace replaces observers */
    exec_prepare(exec, 1);
    if (UNLIKELY(observers))
        observers_begin(observers, exec);
    struct thread_block *block = block_start(exec, group, 0);
    if (UNLIKELY(observers))
        observers_block(observers, block, true);
    memcpy(block->shared, g->lds, g->lds_bytes);
    for (u32 w = 0; w < g->wave_count; w++)
        raw_wave_in(&block->warps[w], &raw->state->waves[waves[w]]);
    while (!exec->stopped && !block_turn(block))
        ;
    for (u32 w = 0; w < g->wave_count; w++)
        raw_wave_out(&block->warps[w], &raw->state->waves[waves[w]], stands_at(&block->warps[w]));
    memcpy(g->lds, block->shared, g->lds_bytes);
    if (exec->stopped)
        account_tails(block);
    else
        exec->stats.blocks++;
    if (UNLIKELY(observers))
        observers_block(observers, block, false);
    block_end(block);
    account_finish(exec);
    if (UNLIKELY(observers))
        observers_end(observers, exec);
    exec_release(exec);
    atomic_fetch_add_explicit(&device->blocks_done, 1, memory_order_relaxed);
}

static struct exec *exec_of(struct hd_raw *raw, u32 group)
{
    const struct si_group *g = &raw->state->groups[group];
    struct exec *exec = checked(calloc(1, sizeof *exec));
    launch_set_device(exec, raw->module->device);
    exec->image = raw->module->image;
    exec->kernel = raw->module->kernels[0].function;
    exec->grid[0] = raw->state->group_count;
    exec->dims[0] = g->wave_count * SI_STATE_LANES;
    exec->grid[1] = exec->grid[2] = exec->dims[1] = exec->dims[2] = 1;
    exec->static_shared_bytes = g->lds_bytes;
    exec->params = (const u8 *)"";
    return exec;
}

static void run_groups(struct hd_raw *raw, struct raw_trace *trace, struct hd_result *result)
{
    const struct si_state *state = raw->state;
    struct hd_device *device = raw->module->device;
    u32 *waves = checked(calloc(state->wave_count, sizeof *waves));
    struct exec *exec = NULL;
    struct exec_stats stats = {0};
    u64 instructions = 0;
    for (u32 g = 0; g < state->group_count && (!exec || !exec->stopped); g++) {
        u32 count = 0;
        for (u32 w = 0; w < state->wave_count; w++)
            if (state->waves[w].group == g)
                waves[count++] = w;
        free(exec);
        exec = exec_of(raw, g);
        exec->stats = stats;
        exec->instructions = instructions; /* limits and the clock apply to the whole run */
        if (trace)
            raw_trace_group(trace, exec, state, waves, count);
        run_group(raw, exec, g, waves);
        stats = exec->stats;
        instructions = exec->instructions;
    }
    launch_end(device, exec, raw->module->program->file, result);
    free(exec);
    free(waves);
}

static void run_untimed(struct hd_raw *raw, hd_trace_fn *trace, void *user,
                        struct hd_result *result)
{
    struct raw_trace *writer = trace ? raw_trace_create(trace, user) : NULL;
    run_groups(raw, writer, result);
    raw_trace_destroy(writer);
}

/* Adds registers that the code may write to the state, so that the dump has them. */
static void add_registers(struct hd_raw *raw)
{
    u32 rows = rows_written(raw->module->program);
    for (u32 i = 0; i < raw->state->wave_count; i++)
        state_vgprs(raw->arena, &raw->state->waves[i], rows);
}

bool hd_raw_run(struct hd_raw *raw, hd_trace_fn *trace, void *user, struct hd_result *result,
                struct hd_error *error)
{
    struct hd_result unused;
    if (!raw)
        return api_null(error, "hd_raw_run");
    if (raw->ran) {
        struct error inner = {0};
        error_set(&inner, ERROR_USAGE, "", "hd_raw_run: this hd_raw has been run already");
        return api_fail(error, &inner);
    }
    raw->ran = true;
    add_registers(raw);
    launch_begin(raw->module->device, raw->state->group_count);
    fenv_t host;
    fegetenv(&host);
    fesetenv(FE_DFL_ENV); /* guest arithmetic must not depend on the caller's rounding mode */
    if (raw->module->device->timing && !raw->module->device->untimed)
        raw_run_timed(raw, trace, user, result ? result : &unused);
    else
        run_untimed(raw, trace, user, result ? result : &unused);
    fesetenv(&host);
    return true;
}

char *hd_raw_dump(const struct hd_raw *raw)
{
    if (!raw)
        return NULL;
    for (u32 i = 0; i < raw->state->region_count; i++) {
        const struct si_region *region = &raw->state->regions[i];
        struct error ignored; /* the region is mapped: this cannot fail */
        memory_read(raw->module->device->memory, region->address, region->data, region->bytes,
                    &ignored);
    }
    return state_text(raw->state);
}
