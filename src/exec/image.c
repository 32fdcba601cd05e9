/* Prepares a program to run: see image.h. */
#include "exec/image.h"

#include "exec/mode.h"
#include "exec/scalar.h"
#include "ir/buffer.h"
#include "ir/scalars.h"
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Bytes from a warp's base (S3). */
static u32 mask_offset(const struct image *image, u32 index)
{
    return (index / LANES * image->warp_size + index % LANES) * (u32)sizeof(u32);
}

static void place_operand(struct step *step, unsigned slot, struct operand operand,
                          const struct image *image)
{
    u64 row = image->warp_size * sizeof(u32);
    switch (operand.kind) {
    case OPERAND_VECTOR:
        step->select[slot] = ~0ull;
        step->row[slot] = (image->mask_rows + image->own_rows + operand.index) * row;
        break;
    case OPERAND_CONST:
        step->row[slot] = (uintptr_t)image->constants + operand.index * row;
        break;
    case OPERAND_MASK:
        step->select[slot] = ~0ull;
        step->row[slot] = mask_offset(image, operand.index);
        break;
    case OPERAND_SCALAR:
        step->select[slot] = ~0ull;
        step->row[slot] = scalar_offset(image, operand.index);
        break;
    case OPERAND_LANEID:
        step->select[slot] = ~0ull;
        step->row[slot] = own_row_offset(image, ROW_LANEID);
        break;
    default:
        break;
    }
}

/* A scalar source of a lane function: the function reads the row that the interpreter spreads it
 * to. */
static void spread_operand(struct step *step, unsigned slot, struct operand operand,
                           const struct image *image)
{
    step->scalars |= (1u << slot) & 15;
    step->wide_scalars |= (u8)((operand.count > 1) << slot);
    step->scalar_at[slot] = (u16)scalar_offset(image, operand.index);
    step->row[slot] = own_row_offset(image, ROW_SPREAD + 2 * slot);
}

/* The place of a constant of a scalar function: constants are in pairs, so that the halves of a
 * 64-bit one are as far apart as those of a pair of scalars. */
static u32 *scalar_constant(const struct image *image, u32 index)
{
    return &image->scalar_constants[index / LANES * 2 * LANES + index % LANES];
}

static bool is_register(struct operand operand)
{
    return operand.kind == OPERAND_VECTOR;
}

static bool has_narrow_addresses(const struct image *image)
{
    return image->program->traits.address_bits == 32;
}

/* Whether an access may have a short way in its space, at an address that is a constant or in a
 * register. */
static bool has_short_way(const struct image *image, const struct inst *inst)
{
    const bool window = inst->space == SPACE_SHARED || inst->space == SPACE_LOCAL;
    const bool placed = inst->src[0].kind == OPERAND_NONE || is_register(inst->src[0]);
    return placed && inst->imm == (i32)inst->imm && inst->space != SPACE_PARAM &&
           (window || inst->src[0].count > 1 ||
            (is_register(inst->src[0]) && has_narrow_addresses(image)));
}

/* Loads and stores of whole words, bytes and half-words; others take the slow path through
 * spaces.c. */
static enum shape memory_shape(const struct image *image, const struct inst *inst,
                               struct step *step)
{
    bool load = inst->op == OP_ld;
    struct operand data = load ? inst->dst[0] : inst->src[1], address = inst->src[0];
    u32 bytes = type_bytes(inst->type), total = bytes * MAX(inst->vector, 1);
    if (load && !is_register(data))
        return SHAPE_OTHER;
    step->words = data.count;
    step->wide = address.count > 1;
    if (bytes < 4)
        return inst->vector <= 1 && data.count == 1 && has_short_way(image, inst) ? SHAPE_NARROWS
                                                                                  : SHAPE_OTHER;
    if (data.count * 4 != total)
        return SHAPE_OTHER;
    if (inst->space == SPACE_PARAM) {
        if (!load || address.kind != OPERAND_NONE || inst->imm < 0 || inst->imm & (total - 1) ||
            inst->imm + total > UINT16_MAX)
            return SHAPE_OTHER;
        step->uniform = (u32)inst->imm + UNIFORM_PARAMS * sizeof(u32);
        return SHAPE_UNIFORM;
    }
    if (!has_short_way(image, inst))
        return SHAPE_OTHER;
    if (inst->space == SPACE_SHARED && data.count == 1 && is_register(address))
        return load ? SHAPE_SHARED_LOAD : SHAPE_SHARED_STORE;
    if (inst->space == SPACE_SHARED || inst->space == SPACE_LOCAL || (!load && data.count != 1))
        return SHAPE_WORDS;
    return load ? SHAPE_GLOBAL_LOAD : SHAPE_GLOBAL_STORE;
}

/* Generic addresses may be those of shared memory, where float additions follow other rules. */
static enum shape atomic_shape(const struct image *image, const struct inst *inst,
                               struct step *step)
{
    step->wide = inst->src[0].count > 1;
    return has_short_way(image, inst) && inst->space != SPACE_GENERIC &&
                   inst->space != SPACE_LOCAL && atomic_is_word(inst)
               ? SHAPE_ATOMIC
               : SHAPE_OTHER;
}

static enum shape special_shape(const struct inst *inst, struct step *step)
{
    u32 special = (u32)inst->imm;
    if (!is_register(inst->dst[0]) || inst->dst[0].count != 1 || special > SPECIAL_nctaid_z)
        return SHAPE_OTHER;
    step->words = 1;
    if (special <= SPECIAL_tid_z) {
        step->uniform = special - SPECIAL_tid_x;
        return SHAPE_THREAD;
    }
    step->uniform = (UNIFORM_NTID + special - SPECIAL_ntid_x) * (u32)sizeof(u32);
    return SHAPE_UNIFORM;
}

static bool has_mask_result(const struct inst *inst)
{
    return inst->dst[0].kind == OPERAND_MASK || inst->dst[1].kind == OPERAND_MASK;
}

static enum shape buffer_shape(const struct inst *inst, struct step *step)
{
    bool load = inst->op == OP_buf_ld;
    struct operand data = load ? inst->dst[0] : inst->src[3];
    u32 bytes = type_bytes(inst->type), flags = BUFFER_LDS | BUFFER_STATUS;
    if (inst->key != BUFFER_RAW || inst->key2 & flags || bytes != 4 ||
        data.count != MAX(inst->vector, 1))
        return SHAPE_OTHER;
    step->words = data.count;
    return load ? SHAPE_BUFFER_LOAD : SHAPE_BUFFER_STORE;
}

/* Shared memory of code with scalars: one or two elements of one or two words. */
static enum shape shared_shape(const struct inst *inst, struct step *step)
{
    bool load = inst->op == OP_ld || inst->op == OP_ld2;
    bool pair = inst->op == OP_ld2 || inst->op == OP_st2;
    u32 bytes = type_bytes(inst->type);
    if ((bytes != 4 && bytes != 8) || inst->vector > 1 || inst->space != SPACE_SHARED ||
        !is_register(inst->src[0]) || inst->src[0].count != 1 ||
        (load && !is_register(inst->dst[0])))
        return SHAPE_OTHER;
    step->words = (u8)(bytes / 4);
    if (pair)
        return load ? SHAPE_PAIR_LOAD : SHAPE_PAIR_STORE;
    return load ? SHAPE_SHARED_LOAD : SHAPE_SHARED_STORE;
}

static enum shape shape_of(const struct image *image, const struct inst *inst, struct step *step)
{
    u16 flags = op_info[inst->op].flags;
    if (flags & OPF_LANE)
        return image->program->traits.explicit_exec && has_mask_result(inst) ? SHAPE_MASKS
                                                                             : SHAPE_LANE;
    if (scalar_function(inst->op))
        return SHAPE_SCALAR;
    if (inst->op == OP_buf_ld || inst->op == OP_buf_st)
        return buffer_shape(inst, step);
    if (inst->op == OP_ld2 || inst->op == OP_st2 ||
        (image->program->traits.explicit_exec && (inst->op == OP_ld || inst->op == OP_st)))
        return shared_shape(inst, step);
    if (inst->op == OP_ld || inst->op == OP_st)
        return memory_shape(image, inst, step);
    if (inst->op == OP_atom && !image->program->traits.explicit_exec)
        return atomic_shape(image, inst, step);
    if (inst->op == OP_sreg)
        return special_shape(inst, step);
    bool whole = inst->op == OP_syscall || flags & (OPF_CROSS | OPF_BARRIER);
    return whole ? SHAPE_WHOLE : SHAPE_OTHER;
}

/* Scalars that are not kept up to date, but computed when an instruction reads them. */
static bool reads_derived(const struct inst *inst)
{
    for (unsigned k = 0; k < 4; k++)
        if (inst->src[k].kind == OPERAND_SCALAR &&
            (inst->src[k].index == SCALAR_VCCZ || inst->src[k].index == SCALAR_EXECZ))
            return true;
    return false;
}

static void place_operands(const struct image *image, const struct inst *inst, struct step *step)
{
    bool lane = op_info[inst->op].flags & OPF_LANE;
    for (unsigned k = 0; k < 4; k++) {
        place_operand(step, k, inst->src[k], image);
        if (lane && inst->src[k].kind == OPERAND_SCALAR)
            spread_operand(step, k, inst->src[k], image);
        if (step->shape == SHAPE_SCALAR && inst->src[k].kind == OPERAND_CONST)
            step->row[k] = (uintptr_t)scalar_constant(image, inst->src[k].index);
    }
    for (unsigned k = 0; k < 2; k++)
        place_operand(step, SLOT_DST + k, inst->dst[k], image);
}

static void make_step(const struct image *image, const struct inst *inst, struct step *step)
{
    step->shape = (u8)shape_of(image, inst, step);
    place_operands(image, inst, step);
    if (inst->guard.kind == OPERAND_MASK) {
        step->shape |= SHAPE_GUARDED;
        step->guard_offset = mask_offset(image, inst->guard.index);
        step->guard_not = inst->guard.neg & 1;
    }
    if (op_info[inst->op].flags & OPF_LANE) {
        step->fn = lanes_resolve(inst, image->simd, image->program->traits.canonical_nan);
        assert(step->fn);
    } else if (step->shape == SHAPE_SCALAR) {
        step->fn = scalar_function(inst->op);
    }
    if (reads_derived(inst))
        step->shape |= SHAPE_DERIVED;
}

static u8 plan_words(const struct image *image, const struct inst *inst, struct operand o)
{
    if (o.kind == OPERAND_MASK)
        return (u8)image->chunks;
    if (inst->op == OP_smovrel_dst_b32 || inst->op == OP_smovrel_dst_b64) /* a range */
        return inst->op == OP_smovrel_dst_b64 ? 2 : 1;
    return o.kind == OPERAND_SCALAR ? o.count : 0;
}

static enum plan_kind plan_kind(const struct image *image, const struct inst *inst,
                                const struct step *step)
{
    const u16 flags = op_info[inst->op].flags;
    const unsigned shape = step->shape & SHAPE_KIND;
    if (flags & OPF_BRANCH)
        return PLAN_CONTROL;
    if (flags & OPF_LANE)
        return PLAN_LANES;
    if (shape == SHAPE_SCALAR)
        return PLAN_SCALAR;
    /* With explicit EXEC, lanes never wait for each other. */
    if (image->program->traits.explicit_exec ? inst->op == OP_bar_whole : shape == SHAPE_WHOLE)
        return PLAN_WHOLE;
    return flags & (OPF_LOAD | OPF_STORE) ? PLAN_ACCESS : PLAN_OTHER;
}

static void make_plan(const struct image *image, const struct inst *inst, const struct step *step,
                      struct dyninst_plan *plan)
{
    plan->kind = (u8)plan_kind(image, inst, step);
    if (image->program->traits.explicit_exec) {
        plan->changes_exec = inst_writes_exec(inst);
        plan->changes_mode = inst_writes_mode(inst);
    }
    for (unsigned k = 0; k < 4; k++) {
        const struct operand o = inst->src[k];
        plan->vectors |= (u8)((o.kind == OPERAND_VECTOR) << k);
        plan->masks |= (u8)((o.kind == OPERAND_MASK) << k);
        plan->scalars |= (u8)((o.kind == OPERAND_SCALAR) << k);
        plan->src_rows[k] = o.kind == OPERAND_VECTOR ? o.count : 0;
    }
    for (unsigned k = 0; k < 2; k++) {
        const struct operand o = inst->dst[k];
        const bool moved = inst->op == OP_movrel_dst || inst->op == OP_movrel_both; /* a range */
        plan->dst_rows[k] = o.kind != OPERAND_VECTOR ? 0 : moved ? 1 : o.count;
        plan->dst_words[k] = o.kind == OPERAND_NONE ? 0 : plan_words(image, inst, o);
        plan->row_count += (u8)(plan->dst_rows[k] * image->chunks);
    }
    plan->two = image->chunks == 2;
    plan->shape = step->shape & SHAPE_KIND;
    plan->plain = plan->dst_rows[0] && inst->dst[1].kind == OPERAND_NONE && !plan->changes_exec &&
                  !plan->changes_mode && (plan->kind == PLAN_LANES || plan->kind == PLAN_ACCESS);
    plan->folds_buffer =
        (plan->shape == SHAPE_BUFFER_LOAD ||
         (plan->shape == SHAPE_BUFFER_STORE && step->words == 1)) &&
        (inst->key2 & (BUFFER_INDEX | BUFFER_OFFSET | BUFFER_ADDRESS)) == BUFFER_ADDRESS &&
        is_register(inst->src[0]) && inst->src[1].kind == OPERAND_SCALAR && plan->two;
    plan->folds_shared = (plan->shape == SHAPE_SHARED_LOAD || plan->shape == SHAPE_PAIR_LOAD ||
                          (plan->shape == SHAPE_SHARED_STORE && step->words == 1)) &&
                         plan->two;
    plan->folds = plan->kind == PLAN_ACCESS && image->chunks == 1 &&
                  image->program->traits.window_faults && plan->shape >= SHAPE_SHARED_LOAD &&
                  plan->shape <= SHAPE_UNIFORM;
}

static u32 operand_words(const struct inst *inst, struct operand o, u32 warp_size)
{
    if (o.kind == OPERAND_VECTOR)
        return o.count * warp_size;
    if (o.kind == OPERAND_SCALAR)
        return MAX(DYNINST_SCALAR_WORDS,
                   op_info[inst->op].flags & OPF_LANE ? o.count * warp_size : 0);
    return 0;
}

/* Words of rows that a dynamic instruction needs. */
static u32 inst_words(const struct image *image, const struct inst *inst)
{
    u32 words = 0;
    for (unsigned k = 0; k < 4; k++)
        words += operand_words(inst, inst->src[k], image->warp_size);
    for (unsigned k = 0; k < 2; k++)
        words += operand_words(inst, inst->dst[k], image->warp_size);
    return words;
}

/* Most words that any instruction needs, and room for spare ones. */
static u32 dyninst_words(const struct image *image)
{
    enum {
        SPARE_ROWS = 24 /* more than any instruction of Southern Islands has */
    };
    const struct program *program = image->program;
    u32 most = program->spare ? SPARE_ROWS * image->warp_size : 0;
    for (u32 i = 0; i < program->inst_count; i++)
        most = MAX(most, inst_words(image, &program->insts[i]));
    return most;
}

static void make_stretch(const struct image *image, const struct view *view, u32 first, u32 end,
                         struct stretch *stretch)
{
    const struct inst *last = &view->insts[end - 1];
    bool branches = op_info[last->op].flags & OPF_BRANCH;
    bool plain = last->op == OP_bra, tests = last->op == OP_bra_if;
    u32 straight_end = end - branches;
    *stretch = (struct stretch){
        .steps = &view->steps[first],
        .last = &view->steps[straight_end],
        .insts = &view->insts[first],
        .taken = plain || tests ? &view->stretches[image->stretch_of[last->imm]] : NULL,
        .length = end - first,
        .first = first,
        .straight_end = straight_end,
        .reconverge = image->program->blocks[image->program->block_of[first]].reconverge,
        .kind = !branches                          ? STRETCH_FALLS
                : tests                            ? STRETCH_TESTS
                : !plain                           ? STRETCH_OTHER
                : last->guard.kind == OPERAND_MASK ? STRETCH_BRANCHES
                                                   : STRETCH_JUMPS,
        .target = plain || tests ? (u32)last->imm : NO_INST,
        .changes_exec = image->program->traits.explicit_exec && inst_writes_exec(last),
        .changes_mode = image->program->traits.explicit_exec && inst_writes_mode(last),
    };
}

/* Whether a stretch ends with instruction i (S4). */
static bool ends_stretch(const struct program *program, u32 i)
{
    if (i + 1 == program->inst_count || program->block_of[i] != program->block_of[i + 1])
        return true;
    return program->traits.explicit_exec &&
           (inst_writes_exec(&program->insts[i]) || inst_writes_mode(&program->insts[i]));
}

static void find_stretches(struct image *image)
{
    const struct program *program = image->program;
    for (u32 i = 0; i < program->inst_count; i++) {
        image->stretch_of[i] = image->stretch_count;
        image->stretch_count += ends_stretch(program, i);
    }
}

/* Instructions as executed under a MODE. */
static const struct inst *mode_insts(const struct image *image, u32 mode)
{
    const struct program *program = image->program;
    if (!program->traits.explicit_exec)
        return program->insts;
    struct inst *insts = malloc(MAX(program->inst_count, 1) * sizeof *insts);
    if (!insts)
        host_memory_exhausted();
    for (u32 i = 0; i < program->inst_count; i++) {
        insts[i] = program->insts[i];
        if (insts[i].mods & MOD_MODE)
            inst_apply_mode(&insts[i], mode);
    }
    return insts;
}

static struct view *view_create(struct image *image, u32 mode)
{
    const struct program *program = image->program;
    struct view *view = calloc(1, sizeof *view);
    size_t step_bytes = MAX(program->inst_count, 1) * sizeof *view->steps;
    struct step *steps = aligned_alloc(_Alignof(struct step), step_bytes);
    struct dyninst_plan *plans = calloc(MAX(program->inst_count, 1), sizeof *plans);
    struct stretch *stretches = calloc(MAX(image->stretch_count, 1), sizeof *stretches);
    if (!view || !steps || !plans || !stretches)
        host_memory_exhausted();
    memset(steps, 0, step_bytes);
    *view = (struct view){.mode = mode,
                          .insts = mode_insts(image, mode),
                          .steps = steps,
                          .plans = plans,
                          .stretches = stretches};
    for (u32 i = 0; i < program->inst_count; i++) {
        make_step(image, &view->insts[i], &steps[i]);
        make_plan(image, &view->insts[i], &steps[i], &plans[i]);
    }
    for (u32 first = 0, i = 0; i < program->inst_count; i++)
        if (ends_stretch(program, i)) {
            make_stretch(image, view, first, i + 1, &stretches[image->stretch_of[i]]);
            first = i + 1;
        }
    return view;
}

static void lock_views(struct image *image)
{
    while (atomic_exchange_explicit(&image->adding, true, memory_order_acquire))
        sched_yield();
}

static struct view *find_view(const struct image *image, u32 mode)
{
    struct view *view = image->views;
    while (view && view->mode != mode)
        view = atomic_load_explicit(&view->next, memory_order_acquire);
    return view;
}

/* Appends a new view: other threads may be traversing the list. */
static struct view *add_view(struct image *image, u32 mode)
{
    struct view *view = view_create(image, mode), *last = image->views;
    image->view_count++;
    if (!last)
        return image->views = view;
    while (last->next)
        last = last->next;
    atomic_store_explicit(&last->next, view, memory_order_release);
    return view;
}

/* A program may set MODE to many values: the memory of all views together is bounded, except for
 * those added in one window. */
struct view *image_view(struct image *image, u32 mode)
{
    const size_t most_bytes = 1ull << 30;
    const size_t bytes = image->program->inst_count * (sizeof(struct step) + sizeof(struct inst));
    mode &= MODE_FLOAT_BITS;
    struct view *view = find_view(image, mode);
    if (LIKELY(view != NULL) || (image->settled + 1) * bytes > most_bytes)
        return view;
    lock_views(image);             /* rare: a program sets few values, each for long */
    view = find_view(image, mode); /* another thread may have been faster */
    if (!view)
        view = add_view(image, mode);
    atomic_store_explicit(&image->adding, false, memory_order_release);
    return view;
}

/* ---- spare instructions ---- */

/* The instruction's constants go to its part of the pool. */
static void replace_constants(struct image *image, struct inst *inst, u32 pair,
                              const struct redecoded *from)
{
    const u32 first =
        image->program->constant_count - SPARE_CONSTANTS * ((image->program->spare - 1) / 2 - pair);
    for (u32 i = 0; i < SPARE_CONSTANTS; i++) {
        for (u32 lane = 0; lane < image->warp_size; lane++)
            image->constants[(first + i) * image->warp_size + lane] = from->constants[i];
        scalar_constant(image, first + i)[0] = from->constants[i];
        scalar_constant(image, first + i)[LANES] =
            i + 1 < SPARE_CONSTANTS ? from->constants[i + 1] : 0;
    }
    for (unsigned k = 0; k < ARRAY_LEN(inst->src); k++)
        if (from->own >> k & 1)
            inst->src[k].index = (u16)(inst->src[k].index + first);
}

static void replace_in_view(const struct image *image, struct view *view, u32 i)
{
    struct inst *inst = (struct inst *)&view->insts[i]; /* the view's own: not the program's */
    *inst = image->program->insts[i];
    if (inst->mods & MOD_MODE)
        inst_apply_mode(inst, view->mode);
    memset(&view->steps[i], 0, sizeof view->steps[i]);
    memset(&view->plans[i], 0, sizeof view->plans[i]);
    make_step(image, inst, &view->steps[i]);
    make_plan(image, inst, &view->steps[i], &view->plans[i]);
    make_stretch(image, view, i, i + 1, &view->stretches[image->stretch_of[i]]);
}

bool image_replace(struct image *image, u32 i, const struct redecoded *from, u64 offset, u32 target)
{
    const struct program *program = image->program;
    assert(program->traits.explicit_exec && i > program_code_count(program));
    if (inst_words(image, &from->inst) > image->dyninst_words)
        return false;
    struct inst inst = from->inst;
    replace_constants(image, &inst, (i - program_code_count(program) - 1) / 2, from);
    if (from->branches)
        inst.imm = target;
    lock_views(image);
    program->insts[i] = inst;
    program->offsets[i] = (u32)offset;
    program->offsets[i + 1] = (u32)offset + from->size;
    program->sizes[i] = from->size;
    for (struct view *view = image->views; view; view = view->next)
        replace_in_view(image, view, i);
    atomic_store_explicit(&image->adding, false, memory_order_release);
    return true;
}

static u32 mask_end(struct operand operand)
{
    bool scalar = operand.kind == OPERAND_MASK || operand.kind == OPERAND_SCALAR;
    return scalar ? operand.index + operand.count : 0;
}

static u32 count_mask_rows(const struct program *program)
{
    u32 masks = 1;
    if (program->traits.explicit_exec) /* pairs of all scalars */
        return (SCALAR_COUNT / 2 + LANES - 1) / LANES;
    for (u32 i = 0; i < program->inst_count; i++) {
        const struct inst *inst = &program->insts[i];
        masks = MAX(masks, mask_end(inst->guard));
        for (unsigned k = 0; k < 2; k++)
            masks = MAX(masks, mask_end(inst->dst[k]));
        for (unsigned k = 0; k < 4; k++)
            masks = MAX(masks, mask_end(inst->src[k]));
    }
    return (masks + LANES - 1) / LANES;
}

static void *clean_rows(size_t words)
{
    size_t bytes = align_up(MAX(words, 1) * sizeof(u32), 64);
    void *rows = aligned_alloc(64, bytes);
    if (!rows)
        host_memory_exhausted();
    return memset(rows, 0, bytes);
}

static void spread_constants(struct image *image, const u32 *constants)
{
    u32 count = image->program->constant_count;
    for (u32 i = 0; i < count; i++) {
        for (u32 lane = 0; lane < image->warp_size; lane++)
            image->constants[i * image->warp_size + lane] = constants[i];
        scalar_constant(image, i)[0] = constants[i];
        scalar_constant(image, i)[LANES] = i + 1 < count ? constants[i + 1] : 0;
    }
}

struct image *image_create(const struct program *program, const u32 *constants, u64 code_address,
                           u32 warp_size, enum simd simd)
{
    struct image *image = calloc(1, sizeof *image);
    u64 *addresses = calloc(MAX(program->variable_count, 1), sizeof *addresses);
    u32 *stretch_of = calloc(MAX(program->inst_count, 1), sizeof *stretch_of);
    if (!image || !addresses || !stretch_of)
        host_memory_exhausted();
    *image = (struct image){
        .program = program,
        .windows = windows_of(program->traits.address_bits),
        .stretch_of = stretch_of,
        .constants = clean_rows((size_t)program->constant_count * warp_size),
        .scalar_constants = clean_rows(((size_t)program->constant_count / LANES + 1) * 2 * LANES),
        .code_address = code_address,
        .warp_size = warp_size,
        .chunks = warp_size / LANES,
        .mask_rows = count_mask_rows(program),
        .own_rows = program->traits.explicit_exec ? OWN_ROWS : 0,
        .simd = simd,
        .moves = lanes_memory(simd),
        .loops = lanes_loops(simd),
        .waves = lanes_waves(simd),
        .variable_addresses = addresses,
    };
    image->dyninst_words = dyninst_words(image);
    spread_constants(image, constants);
    find_stretches(image);
    image->steps = add_view(image, 0)->steps;
    image_settle(image);
    return image;
}

static void view_destroy(struct view *view, const struct program *program)
{
    if (view->insts != program->insts)
        free((void *)view->insts);
    free(view->steps);
    free(view->plans);
    free(view->stretches);
    free(view);
}

void image_destroy(struct image *image)
{
    if (!image)
        return;
    while (image->views) {
        struct view *view = image->views;
        image->views = view->next;
        view_destroy(view, image->program);
    }
    free(image->constants);
    free(image->scalar_constants);
    free(image->stretch_of);
    free(image->variable_addresses);
    free(image);
}
