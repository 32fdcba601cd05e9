/* Launches that may never end: see endless.h. */
#include "gpu/observe/endless.h"

#include "gpu/device.h"
#include <inttypes.h>
#include <stdio.h>

enum {
    FIRST_LOOK = 1 << 17, /* warp instructions */
    EQUAL = 2,            /* number of equal samples that count as repetition */
    MOST_SAMPLES = 1024,  /* limit for the warp that is sampled first */
    LEAST_IN_TIME = 256,  /* samples per warp in timing mode: time for waits to end */
    MOST_VISITS = 1 << 20 /* limit of warp visits per round */
};

void endless_begin(struct endless *endless)
{
    endless->next = FIRST_LOOK;
    endless->looks = endless->visits = 0;
    endless->in_time = endless->all = endless->found = false;
    endless->picked = NULL;
}

void endless_free(struct endless *endless)
{
    vec_free(&endless->warps);
}

/* ---- one warp ---- */

static void keep(struct repeats *r, u64 hash, u64 issued, u32 limit)
{
    r->hash = hash;
    r->issued = issued;
    r->since = r->equal = 0;
    r->limit = limit;
    r->low = UINT32_MAX;
    r->high = 0;
}

static void widen(struct repeats *r, const struct warp *warp)
{
    for (u32 i = 0; i < warp->order_count; i++) {
        u32 pc = warp->paths[warp->order[i]].pc;
        r->low = MIN(r->low, pc);
        r->high = MAX(r->high, pc);
    }
}

/* Samples a warp. False: not the warp sampled before, or ended. */
static bool sample(struct repeats *r, const struct warp *warp, u64 issued)
{
    if (!warp->live || warp->state == WARP_DONE ||
        (r->block && r->block != warp->block->number + 1))
        return false;
    u64 hash = warp_hash(warp);
    if (!r->block) {
        r->block = warp->block->number + 1;
        r->first = issued;
        keep(r, hash, issued, 1);
    } else if (hash == r->hash && issued > r->issued) {
        r->issued = issued;
        r->equal++;
        r->since++;
    } else if (++r->since > r->limit && !r->equal) {
        keep(r, hash, issued, r->limit * 2);
    }
    widen(r, warp);
    r->samples++;
    return true;
}

/* ---- the loop ---- */

struct loop {
    u32 first, last; /* instructions: the branch's target, and the branch */
    bool reads;      /* memory that other warps can change */
};

/* Finds the shortest backward branch whose range contains all samples. */
static bool find_loop(const struct program *program, const struct repeats *r, struct loop *loop)
{
    const struct function *function = program_function_at(program, r->low);
    bool found = false;
    if (!function || r->high >= function->end)
        return false;
    for (u32 i = r->high; i < function->end; i++) {
        const struct inst *inst = &program->insts[i];
        if ((inst->op != OP_bra && inst->op != OP_bra_if) || inst->imm > (i64)r->low ||
            inst->imm < (i64)function->first)
            continue;
        if (!found || i - (u32)inst->imm < loop->last - loop->first)
            *loop = (struct loop){(u32)inst->imm, i, false};
        found = true;
    }
    return found;
}

/* Whether the loop changes nothing but registers and local memory. */
static bool leaves_nothing(const struct program *program, struct loop *loop)
{
    for (u32 i = loop->first; i <= loop->last; i++) {
        const struct inst *inst = &program->insts[i];
        const u32 flags = op_info[inst->op].flags;
        bool atomic = flags & OPF_ATOMIC && inst->dst[0].kind != OPERAND_NONE; /* with a result */
        if ((flags & OPF_STORE && !atomic && inst->space != SPACE_LOCAL) || inst->op == OP_syscall)
            return false;
        if (flags & OPF_BRANCH && inst->op != OP_bra && inst->op != OP_bra_if &&
            inst->op != OP_exit && inst->op != OP_ret && inst->op != OP_end)
            return false;
        loop->reads |= flags & (OPF_LOAD | OPF_ATOMIC | OPF_BARRIER) || inst->op == OP_sreg;
    }
    return true;
}

/* ---- the note ---- */

static const char *place(const struct exec *exec, u32 inst, char text[PLACE_TEXT])
{
    if (!program_place(exec->image->program, inst, text))
        snprintf(text, PLACE_TEXT, "pc 0x%" PRIx64, image_pc(exec->image, inst));
    return text;
}

static void tell(struct hd_device *device, const struct warp *warp, const struct loop *loop,
                 u32 others)
{
    struct endless *endless = &device->endless;
    char first[PLACE_TEXT], last[PLACE_TEXT], rest[64] = "";
    place(warp->exec, loop->first, first);
    place(warp->exec, loop->last, last);
    const u32 *id = warp->block->id;
    if (others > 1)
        snprintf(rest, sizeof rest, ", as do the %u other running warps", others);
    else if (others)
        snprintf(rest, sizeof rest, ", as does the other running warp");
    snprintf(endless->text, sizeof endless->text,
             "possible infinite loop: warp %u of block (%u,%u,%u) repeats the loop "
             "%s%.500s%s%.500s with the same registers%s; %s",
             warp->index, id[0], id[1], id[2], strcmp(first, last) ? "from " : "at ", first,
             strcmp(first, last) ? " to " : "", strcmp(first, last) ? last : "", rest,
             loop->reads ? "it can end only if memory that it reads changes"
                         : "nothing can end it");
    endless->found = true;
    endless->blocks_done = atomic_load(&device->blocks_done);
    if (device->note)
        device->note(device->note_user, warp->exec->kernel->name, endless->text);
}

const char *endless_text(const struct hd_device *device)
{
    const struct endless *endless = &device->endless;
    bool holds = endless->found && endless->blocks_done == atomic_load(&device->blocks_done);
    return holds ? endless->text : NULL;
}

/* ---- rounds ---- */

static void end_round(struct endless *endless, u64 instructions)
{
    endless->next = endless->found ? UINT64_MAX : 2 * instructions;
    endless->looks++;
    endless->visits = 0;
    endless->all = false;
    endless->picked = NULL;
}

static struct repeats *repeats_of(struct endless *endless, const struct warp *warp)
{
    u32 at = warp->block->slot * warp->exec->warps + warp->index;
    while (endless->warps.count <= at)
        *vec_push(&endless->warps) = (struct repeats){0};
    return &endless->warps.data[at];
}

/* The number of warps that repeat themselves; 0: some do not, or it is too early. */
static u32 all_repeat(const struct endless *endless)
{
    u32 count = 0;
    for (u32 i = 0; i < endless->warps.count; i++) {
        const struct repeats *r = &endless->warps.data[i];
        bool still = endless->in_time && r->issued == r->first && !r->equal; /* at a barrier */
        if (r->block && r->equal < EQUAL && !still)
            return 0;
        count += r->block && r->equal >= EQUAL;
    }
    return count;
}

static void look_at_all(struct hd_device *device, const struct warp *warp, u64 issued,
                        u64 instructions)
{
    struct endless *endless = &device->endless;
    struct repeats *r = repeats_of(endless, warp);
    struct loop loop;
    if (!sample(r, warp, issued)) {
        end_round(endless, instructions);
        return;
    }
    if (warp != endless->picked || (endless->in_time && r->samples < LEAST_IN_TIME))
        return;
    u32 count = all_repeat(endless);
    if (count && find_loop(warp->exec->image->program, r, &loop) &&
        leaves_nothing(warp->exec->image->program, &loop))
        tell(device, warp, &loop, count - 1);
    if (endless->found || r->samples > MOST_SAMPLES)
        end_round(endless, instructions);
}

void endless_look(struct hd_device *device, const struct warp *warp, u64 issued, u64 instructions)
{
    struct endless *endless = &device->endless;
    struct loop loop;
    if (++endless->visits > MOST_VISITS) {
        end_round(endless, instructions);
        return;
    }
    if (endless->all) {
        look_at_all(device, warp, issued, instructions);
        return;
    }
    if (!endless->picked) {
        endless->picked = warp;
        endless->one = (struct repeats){0};
    }
    if (warp != endless->picked)
        return;
    if (!sample(&endless->one, warp, issued) || endless->one.samples > MOST_SAMPLES) {
        end_round(endless, instructions);
    } else if (endless->one.equal >= EQUAL) {
        const struct program *program = warp->exec->image->program;
        if (find_loop(program, &endless->one, &loop) && leaves_nothing(program, &loop)) {
            endless->all = true;
            endless->warps.count = 0;
        } else {
            end_round(endless, instructions);
        }
    }
}
