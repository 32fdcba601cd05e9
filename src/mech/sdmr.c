/*
 * Aged sampling DMR: a share of all blocks runs a second time, on a checker core under stress, where
 * worn-out flip-flops are late first; what both store in global memory is compared. After
 * Balasubramanian et al. (2015, section 6.1), who bring the idea of Balasubramanian and Sankaralingam
 * (MICRO 2013) to MIAOW.
 *
 * The dispatcher samples blocks by their number, the same ones of every epoch, and starts the copy of
 * one on the checker, the last core, as soon as that is free. Stress concerns the whole core: a copy
 * waits until the checker's own blocks have ended, and while it waits and runs, or longer, the
 * checker takes none. Sampled blocks run on other cores. The copy's stores go nowhere. It loads from
 * memory as it was before the sampled block stored there, so that a kernel which updates its data in
 * place can be copied, too.
 *
 * In: stores of sampled blocks and their copies. Out: statistics, and with `stop` an outcome.
 * Seams: launch, dispatch, block, issued, view, faulted, stored, result (with late bits).
 *
 * Invariants
 *  D1  A sampled block has a sample from its start to the end of its copy. The sample is in the queue
 *      until the copy starts.
 *  D2  A copy never runs beside a block whose stores count.
 */
#include "mech/sdmr.h"

#define COMPONENT sdmr
#define COMPONENT_DEF "mech/sdmr.def"
#define COMPONENT_HELP "sampled blocks run twice, and their stores are compared"
#include "base/component_table.h"

/* ---- which blocks ---- */

static bool is_sampled(const struct sdmr_params *p, u64 number)
{
    const u64 scale = 1000000, rate = (u64)(p->rate * (f64)scale + 0.5), n = number % p->epoch;
    return rate && (!n || n * rate / scale != (n - 1) * rate / scale);
}

/* The last sampled block of the epoch of `number`. */
static u64 last_of_epoch(const struct sdmr_params *p, u64 number, u64 blocks)
{
    u64 last = MIN(number - number % p->epoch + p->epoch, blocks) - 1;
    while (last > number && !is_sampled(p, last))
        last--;
    return last;
}

/* ---- dispatch ---- */

static bool checker_is_reserved(const struct sdmr *s, const struct dispatch *d)
{
    const struct sdmr_device *device = s->device;
    if (device->unfit != NO_INST)
        return false;
    if (device->queue || device->running || s->params->reserve == SDMR_LAUNCH)
        return true;
    if (d->block < d->blocks && is_sampled(s->params, d->block))
        return true; /* this one runs elsewhere */
    return s->params->reserve == SDMR_EPOCH && device->last_copied &&
           device->last_copied - 1 < device->epoch_last;
}

static void dispatch(void *state, struct core *core, struct dispatch *d)
{
    struct sdmr *s = state;
    const struct sdmr_device *device = s->device;
    if (!sdmr_is_checker(core) || !checker_is_reserved(s, d))
        return;
    d->answer = DISPATCH_REFUSE;
    if (!device->queue || device->own) /* D2 */
        return;
    d->answer = DISPATCH_COPY;
    d->copy = device->queue->number;
}

static void start_copy(struct sdmr *s, u32 place)
{
    struct sdmr_device *device = s->device;
    struct sdmr_sample *sample = device->queue;
    assert(sample && sample->number == core_block(s->core, place)->block->number);
    device->queue = sample->next;
    if (!device->queue)
        device->last = &device->queue;
    device->last_copied = sample->number + 1;
    device->running++;
    s->at[place] = sample;
}

static void start_sampled(struct sdmr *s, u32 place, const struct thread_block *block)
{
    struct sdmr_device *device = s->device;
    struct sdmr_sample *sample = sdmr_sample_take(device, block->number, block->warp_count);
    const u32 *grid = core_exec(s->core)->grid;
    *device->last = sample;
    device->last = &sample->next;
    device->epoch_last = last_of_epoch(s->params, block->number, (u64)grid[0] * grid[1] * grid[2]);
    s->at[place] = sample;
    s->stats->samples++;
}

static void end_side(struct sdmr *s, u32 place, enum side side)
{
    struct sdmr_sample *sample = s->at[place];
    s->at[place] = NULL;
    if (!sample)
        return;
    sample->ended[side] = true;
    if (side == SIDE_COPY) {
        s->device->running--;
        s->stats->copy_cycles += core_cycle(s->core) - sample->began;
        s->stats->struck += sample->struck;
    }
    if (!sample->ended[SIDE_BLOCK] || !sample->ended[SIDE_COPY])
        return;
    sdmr_close(s, sample);
    sdmr_sample_give(s->device, sample);
}

/* A block of a kernel that cannot be copied. */
static void refuse(struct sdmr *s)
{
    const u32 inst = s->device->unfit;
    struct exec *exec = core_exec(s->core);
    char where[512];
    if (s->params->unfit == SDMR_SKIP || exec->stopped)
        return;
    fault_place_text(exec, inst, where, sizeof where);
    fault_check(
        exec, inst,
        "kernel %s cannot be copied by sdmr: a copy would perform this a second time\n  %s\n"
        "  (expected: no atomics in global memory and no system calls; sdmr.unfit=skip runs "
        "such kernels without copies)",
        exec->kernel->name, where);
    core_stop(s->core);
}

static void block(void *state, struct core *core, u32 place, bool started)
{
    struct sdmr *s = state;
    const struct resident *resident = core_block(core, place);
    const bool own = sdmr_is_checker(core) && !resident->copy;
    if (own)
        s->device->own += started ? 1 : -1u;
    assert(!started || !own || !s->device->running); /* D2 */
    if (!started)
        end_side(s, place, resident->copy ? SIDE_COPY : SIDE_BLOCK);
    else if (resident->copy)
        start_copy(s, place);
    else if (s->device->unfit != NO_INST)
        refuse(s);
    else if (!own && is_sampled(s->params, resident->block->number))
        start_sampled(s, place, resident->block);
}

/* A core that has slept learns the time when it runs: a copy begins with its first instruction. One
 * that a late bit has sent astray may loop for ever. */
static void issued(void *state, struct core *core, struct inflight *inflight)
{
    struct sdmr *s = state;
    struct sdmr_sample *sample = s->at[core_slot(core, inflight->slot)->block];
    if (!sample || !sdmr_is_checker(core))
        return;
    if (!sample->begun)
        sample->began = core_cycle(core);
    sample->begun = true;
    if (!sample->struck || core_cycle(core) - sample->began <= s->params->patience ||
        core_exec(core)->stopped)
        return;
    sdmr_differ(s, sample);
    fault_check(core_exec(core), inflight->dyn.inst,
                "the copy of block %llu, in which a late bit has changed a result, has run for "
                "%llu cycles (sdmr.patience): it may never end",
                (unsigned long long)sample->number,
                (unsigned long long)(core_cycle(core) - sample->began));
    core_stop(core);
}

/* ---- memory ---- */

static struct memory_view *view(void *state, struct core *core, struct inflight *inflight,
                                struct memory_view *plain)
{
    struct sdmr *s = state;
    const u32 place = core_slot(core, inflight->slot)->block;
    if (!core_block(core, place)->copy || !s->at[place])
        return plain;
    inflight->silent = true;
    s->stats->stores += inflight->dyn.stores && inflight->dyn.global;
    return s->at[place]->own;
}

/* Of a copy, a fault is a difference, and nothing else. */
static bool faulted(void *state, struct core *core, const struct inflight *inflight)
{
    struct sdmr *s = state;
    const u32 place = core_slot(core, inflight->slot)->block;
    if (!core_block(core, place)->copy || !s->at[place] || !s->at[place]->struck)
        return false;
    s->stats->faults++;
    sdmr_differ(s, s->at[place]);
    return true;
}

static void stored(void *state, struct core *core, const struct inflight *inflight,
                   const struct memory_view *log, struct memory_view_mark mark)
{
    struct sdmr *s = state;
    const u32 place = core_slot(core, inflight->slot)->block;
    if (s->at[place])
        sdmr_stored(s, s->at[place], core_block(core, place)->copy ? SIDE_COPY : SIDE_BLOCK,
                    inflight, log, mark);
}

/* ---- launches ---- */

/* The first instruction of these that a copy must not perform; NO_INST: none. */
static u32 unfit_inst(const struct program *program, const struct function *f)
{
    for (u32 i = f->first; i < f->end; i++) {
        const struct inst *code = &program->insts[i];
        if (code->op == OP_syscall ||
            (op_info[code->op].flags & OPF_ATOMIC && code->space != SPACE_SHARED))
            return i;
    }
    return NO_INST;
}

static u32 find_unfit(const struct exec *exec)
{
    const struct program *program = exec->image->program;
    u32 found = unfit_inst(program, exec->kernel);
    const bool calls = exec->kernel->callee_count || exec->kernel->calls_indirectly;
    for (u32 n = 0; calls && found == NO_INST && n < program->function_count; n++)
        if (!program->functions[n].is_kernel)
            found = unfit_inst(program, &program->functions[n]);
    return found;
}

static void begin_device(struct sdmr *s)
{
    struct sdmr_device *device = s->device;
    const u32 inst = s->params->rate > 0 ? find_unfit(core_exec(s->core)) : NO_INST;
    sdmr_samples_drop(device);
    device->queue = NULL;
    device->last = &device->queue;
    device->running = device->own = 0;
    device->last_copied = device->epoch_last = 0;
    device->found = false;
    device->unfit = inst;
    s->stats->skipped += inst != NO_INST;
}

static void launch(void *state, struct core *core, bool begins)
{
    struct sdmr *s = state;
    s->core = core;
    s->device = mechanism_device(s);
    memset(s->at, 0, sizeof s->at);
    if (begins && sdmr_is_checker(core)) {
        begin_device(s);
        sdmr_draw(s);
    }
}

static bool serves(const void *params, const struct core_config *machine, struct error *error)
{
    if (machine->cores < 2)
        return error_set(error, ERROR_USAGE, "",
                         "mechanism sdmr needs a core for copies and one for the blocks "
                         "themselves, but gpu.cores is %u: expected at least 2",
                         machine->cores);
    return true;
}

static u32 idle(const void *params)
{
    const struct sdmr_params *p = params;
    return p->late ? 0 : 1u << SEAM_RESULT;
}

static void destroy_device(void *device)
{
    sdmr_samples_free(device);
}

static const char *const deviations[] = {
    "The text does not say how long the checker is reserved; `reserve` has three answers. Nor does "
    "it say which block of an epoch is sampled: here the first one, and others at equal distances.",
    "The log compares words as soon as both sides have stored them, without limit of size and at "
    "no "
    "cost in time; the text compares logs in its test bench.",
    "The text disables the stores of copies and assumes that no data are updated in place. Here a "
    "copy loads what its block found there. Data that another block changes meanwhile are not "
    "kept.",
    "Late bits are those of one write latch for each lane of the vector registers. Their arrival "
    "times are not modelled: under stress a late bit is always late.",
    "An access of a copy astray that would fault does nothing and counts as a difference; hardware "
    "would need the same. The voltage of stress changes neither time nor energy.",
    "The 207 bits are as published, without their layout. Logic that shifts phases is one bit for "
    "each flip-flop at the end of fast paths, without buffers or clock gates.",
    NULL,
};

const struct mechanism sdmr_mechanism = {
    MECHANISM_NAMED(sdmr, "sampled blocks run again on a checker core, and their stores are "
                          "compared"),
    .source = "R. Balasubramanian et al., \"Enabling GPGPU low-level hardware explorations with "
              "MIAOW: an open-source RTL implementation of a GPGPU\", ACM TACO 12(2), 2015, "
              "section 6.1",
    .deviations = deviations,
    .events = sdmr_events,
    .state_size = sizeof(struct sdmr),
    .device_size = sizeof(struct sdmr_device),
    .destroy_device = destroy_device,
    .one_thread = true,
    .random = true,
    .serves = serves,
    .idle = idle,
    .storage = sdmr_storage,
    .launch = launch,
    .dispatch = dispatch,
    .block = block,
    .issued = issued,
    .view = view,
    .faulted = faulted,
    .stored = stored,
    .result = sdmr_result,
};
