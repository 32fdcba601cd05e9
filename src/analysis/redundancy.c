/*
 * Marks of redundant instructions: classes of all locations before each block, to the fixed point.
 *
 * Forward over the flow graph, a location has the class of the last value written to it; at a join,
 * the lowest of the incoming classes. So the classes are those of the definitions that reach a use.
 * In addition:
 *
 *  F1  A branch of a class below REDUNDANT separates threads of warps that took the same path
 *      before. Where they may meet again (divergence.h), locations written in between have at most
 *      the class of the branch; likewise after a loop, where one thread may have iterated more
 *      often. Between the branch and the meeting no class is lowered: only warps on the same path
 *      are compared.
 *  F2  If a branch of a lower class decides how many barriers a warp reaches, warps may be matched
 *      at a barrier that have iterated a loop different numbers of times, or that are at their
 *      third and their second barrier of the same code. Then every value that lives across any
 *      barrier has at most the class of that branch.
 *  F3  A write to some lanes only (a guard, EXEC, one lane) keeps the others: the result has the
 *      lowest class of the old value and the new one. Where EXEC is provably the initial one it has
 *      all lanes, since only full warps are compared.
 *  F4  Called functions are not analysed: nothing is known after a call, and it may wait at
 *      barriers. Code with indirect jumps or a branch stack gets no marks.
 *
 * Scalars, masks, carries, EXEC and MODE are locations like vector registers.
 */
#include "analysis/redundancy.h"

#include "analysis/divergence.h"
#include "analysis/exec_flow.h"
#include "ir/buffer.h"
#include "ir/scalars.h"

struct flow {
    struct arena *arena; /* destroyed when the marks are complete */
    const struct program *program;
    const struct function *kernel;
    struct code code;
    struct cfg *cfg;
    const struct exec_flow *exec; /* NULL: EXEC may be anything, or the code has none */
    struct divergence *divergence;
    u32 locations, words;
    u8 *in;        /* block b's location l: [b * locations + l], before the block */
    u8 *now;       /* by location: class at the current instruction */
    u8 *branch;    /* by block: last known class of its branch */
    u8 *waits;     /* by block: it has a barrier */
    u8 *will_wait; /* by block: it, or a block reachable from it, has a barrier */
    u64 *written;  /* by block: set of locations written, `words` each */
    u64 *sets;     /* two sets of locations, for limit_meetings */
    u64 *dirty;    /* blocks to visit, by their place in the order, one bit each */
    u8 at_barrier; /* highest class of a value that lives across a barrier (F2) */
    bool has_local_address;
};

/* ---- locations ---- */

/* The locations of an operand: [first, first + count). */
static u32 locations_of(const struct flow *f, struct operand o, u32 *first)
{
    const u32 vectors = f->code.vectors;
    switch (o.kind) {
    case OPERAND_VECTOR:
        *first = o.index;
        return o.count ? o.count : vectors - o.index;
    case OPERAND_MASK:
        *first = vectors + (f->code.explicit_exec ? 2 * o.index : o.index);
        return f->code.explicit_exec ? 2 : 1;
    case OPERAND_SCALAR:
        *first = vectors + o.index;
        if (o.index == SCALAR_VCCZ || o.index == SCALAR_EXECZ) {
            *first = vectors + (o.index == SCALAR_VCCZ ? SCALAR_VCC : SCALAR_EXEC);
            return 2;
        }
        return o.count ? o.count : SCALAR_COUNT - o.index;
    default:
        *first = 0;
        return 0;
    }
}

static u8 lowest(const u8 *classes, u32 first, u32 count)
{
    u8 class = REDUNDANT;
    for (u32 l = first; l < first + count; l++)
        class = MIN(class, classes[l]);
    return class;
}

static bool runs_by_exec(const struct flow *f, const struct inst *inst)
{
    return f->code.explicit_exec && !(op_info[inst->op].flags & OPF_SCALAR);
}

/* The initial EXEC is REDUNDANT (F3), whatever it was computed from. */
static void set_exec(struct flow *f, u32 at)
{
    if (f->exec && f->exec->initial[at])
        memset(f->now + f->code.vectors + SCALAR_EXEC, REDUNDANT, 2);
}

/* The lowest class of an instruction's sources. */
static u8 class_of_sources(const struct flow *f, const struct inst *inst)
{
    struct operand list[INST_REFS];
    u32 count = inst_reads(inst, list), first;
    u8 class = REDUNDANT;
    for (u32 k = 0; k < count; k++) {
        u32 n = locations_of(f, list[k], &first);
        class = MIN(class, lowest(f->now, first, n));
    }
    if (runs_by_exec(f, inst) || inst->op == OP_readfirstlane)
        class = MIN(class, lowest(f->now, f->code.vectors + SCALAR_EXEC, 2));
    if (inst->mods & MOD_MODE)
        class = MIN(class, f->now[f->code.vectors + SCALAR_MODE]);
    return class;
}

/* ---- instructions ---- */

static u8 class_of_special(enum special special)
{
    switch (special) {
    case SPECIAL_tid_x:
        return REDUNDANT_X;
    case SPECIAL_tid_y:
        return REDUNDANT_XY;
    case SPECIAL_tid_z:
    case SPECIAL_warpid:
    case SPECIAL_clock:
    case SPECIAL_clock_hi:
    case SPECIAL_clock64:
    case SPECIAL_globaltimer:
    case SPECIAL_globaltimer_lo:
    case SPECIAL_globaltimer_hi:
    case SPECIAL_pm:
    case SPECIAL_pm64:
        return REDUNDANT_NO;
    default: /* depends only on the block, the launch, the machine or the lane */
        return REDUNDANT;
    }
}

/* D2. A generic address can be in local memory only if the program creates such addresses. */
static u8 class_of_load(const struct flow *f, const struct inst *inst)
{
    if (inst->mods & (MOD_VOLATILE | MOD_FAR) || inst->space == SPACE_LOCAL)
        return REDUNDANT_NO;
    if (inst->op == OP_buf_ld && inst->key2 & BUFFER_COHERENT)
        return REDUNDANT_NO;
    return inst->space == SPACE_GENERIC && f->has_local_address ? REDUNDANT_NO : REDUNDANT;
}

/* The highest class that an operation's results can have, whatever its sources. */
static u8 class_of_op(const struct flow *f, const struct inst *inst)
{
    switch (inst->op) {
    case OP_sreg:
        return class_of_special((enum special)inst->imm);
    case OP_ld:
    case OP_ld2:
    case OP_buf_ld:
    case OP_ld_scalar:
    case OP_ld_scalar_buffer:
        return class_of_load(f, inst);
    case OP_isspacep:
    case OP_movrel_src:
    case OP_movrel_dst:
    case OP_movrel_both:
    case OP_readlane: /* with explicit EXEC: both lane values and EXEC have classes */
    case OP_readfirstlane:
    case OP_writelane:
        return REDUNDANT;
    case OP_sgetreg:
        return REDUNDANT_NO;
    default:
        break;
    }
    const struct op_info *info = &op_info[inst->op];
    bool pure = info->flags & OPF_LANE || (info->flags & OPF_SCALAR && info->unit == UNIT_SCALAR);
    return pure ? REDUNDANT : REDUNDANT_NO;
}

/* Whether a write keeps the old value in some lanes (F3). */
static bool keeps_lanes(const struct flow *f, u32 at, struct operand written)
{
    const struct inst *inst = &f->code.insts[at];
    if (inst->guard.kind != OPERAND_NONE || inst->op == OP_writelane || inst->op == OP_ssetreg)
        return true;                                    /* ssetreg writes some bits of MODE only */
    if (written.kind != OPERAND_MASK && !written.count) /* an indexed register */
        return true;
    return written.kind == OPERAND_VECTOR && runs_by_exec(f, inst) &&
           !(f->exec && f->exec->initial[at]);
}

static bool is_call(const struct inst *inst)
{
    return inst->op == OP_call || inst->op == OP_calli;
}

/* Whether warps of the block may wait for each other at an instruction. */
static bool is_wait(const struct inst *inst)
{
    const u16 flags = op_info[inst->op].flags;
    return is_call(inst) || (flags & OPF_BARRIER && !(flags & OPF_CROSS));
}

static void forget_at_barrier(struct flow *f, const struct inst *inst)
{
    u8 most = is_call(inst) ? REDUNDANT_NO : f->at_barrier;
    for (u32 l = 0; most != REDUNDANT && l < f->locations; l++)
        f->now[l] = MIN(f->now[l], most);
}

/* Whether the first result is the old EXEC. */
static bool saves_exec(const struct inst *inst)
{
    return op_info[inst->op].flags & OPF_SCALAR && inst->mods & MOD_EXEC;
}

/* Updates the classes from before an instruction to after it; returns the class of its results. */
static u8 step(struct flow *f, u32 at)
{
    const struct inst *inst = &f->code.insts[at];
    struct operand list[INST_REFS];
    u32 count = inst_writes(inst, list), first;
    set_exec(f, at);
    u8 class = MIN(class_of_op(f, inst), class_of_sources(f, inst)), mark = REDUNDANT;
    u8 saved = saves_exec(inst) ? lowest(f->now, f->code.vectors + SCALAR_EXEC, 2) : class;
    if (is_wait(inst))
        forget_at_barrier(f, inst);
    for (u32 k = 0; k < count; k++) {
        u32 n = locations_of(f, list[k], &first);
        bool keeps = keeps_lanes(f, at, list[k]);
        for (u32 l = first; l < first + n && l < f->locations; l++) {
            f->now[l] = keeps ? MIN(f->now[l], class) : k ? class : saved;
            mark = MIN(mark, f->now[l]);
        }
    }
    return count ? mark : REDUNDANT_NO;
}

/* Whether an instruction can have a mark (D3). */
static bool may_be_marked(const struct inst *inst)
{
    const u16 acts = OPF_STORE | OPF_ATOMIC | OPF_BRANCH | OPF_BARRIER | OPF_EFFECT;
    return inst->guard.kind == OPERAND_NONE && !(op_info[inst->op].flags & acts);
}

/* ---- blocks ---- */

static void want(struct flow *f, u32 block)
{
    u32 place = f->divergence->position[block];
    f->dirty[place / 64] |= 1ull << place % 64;
}

/* Lowers the classes before a block to at most `classes`. */
static void lower_block(struct flow *f, u32 block, const u8 *classes)
{
    u8 *in = f->in + (size_t)block * f->locations;
    bool changed = false;
    for (u32 l = 0; l < f->locations; l++) {
        changed |= classes[l] < in[l];
        in[l] = MIN(in[l], classes[l]);
    }
    if (changed)
        want(f, block);
}

/* Lowers the locations of a set to at most a class before a block. */
static void limit_block(struct flow *f, u32 block, const u64 *set, u8 class)
{
    u8 *in = f->in + (size_t)block * f->locations;
    bool changed = false;
    for (u32 w = 0; w < f->words; w++) {
        for (u64 rest = set[w]; rest; rest &= rest - 1) {
            u32 l = 64 * w + (u32)__builtin_ctzll(rest);
            changed |= class < in[l];
            in[l] = MIN(in[l], class);
        }
    }
    if (changed)
        want(f, block);
}

/* The set of locations written in blocks that separated threads go through: only before a first
 * meeting (sides_only), or everywhere. */
static void add_written(const struct flow *f, bool sides_only, u64 *set)
{
    const struct divergence *p = f->divergence;
    memset(set, 0, f->words * sizeof *set);
    for (u32 k = 0; k < p->reached_count; k++) {
        u32 b = p->reached[k];
        if (b == p->stop || (sides_only && !(divergence_is_side(p, b) && p->leads[b])))
            continue;
        for (u32 w = 0; w < f->words; w++)
            set[w] |= f->written[(size_t)b * f->words + w];
    }
}

/* Whether a branch may decide how many barriers a warp reaches before all have met (F2). */
static bool decides_barriers(const struct flow *f)
{
    const struct divergence *p = f->divergence;
    const struct cfg_block *branch = &f->cfg->blocks[p->branch];
    u32 sides = 0, meetings = 0;
    bool apart = false, between = false;
    for (u32 s = 0; s < branch->successor_count; s++)
        sides += f->will_wait[branch->successors[s]];
    if (sides < 2) /* threads that take the other side never wait again */
        return false;
    for (u32 k = 0; k < p->reached_count; k++) {
        u32 b = p->reached[k];
        meetings += divergence_is_meeting(p, b) && f->will_wait[b];
        apart |= b != p->stop && f->waits[b] && divergence_is_side(p, b);
        between |= b != p->stop && f->waits[b];
    }
    /* With one meeting, all threads go through it before they wait; a thread that leaves a loop in
     * another iteration than others either leaves it apart from them or meets them after it as
     * well. */
    return apart || (between && meetings > 1);
}

static void lower_barriers(struct flow *f, u8 class)
{
    if (class >= f->at_barrier)
        return;
    f->at_barrier = class;
    for (u32 b = 0; b < f->cfg->count; b++)
        if (f->waits[b] && (!b || f->cfg->blocks[b].enter))
            want(f, b);
}

/* Applies F1 at the meetings of the branch. */
static void limit_meetings(struct flow *f, u8 class)
{
    const struct divergence *p = f->divergence;
    u64 *sides = f->sets, *all = f->sets + f->words;
    add_written(f, true, sides);
    add_written(f, false, all);
    for (u32 k = 0; k < p->reached_count; k++) {
        u32 b = p->reached[k];
        if (divergence_is_meeting(p, b))
            limit_block(f, b, divergence_is_first(p, b) ? sides : all, class);
    }
}

/* Applies F1 after a loop whose threads meet in each iteration and yet may leave it in different
 * ones: at every exit, and where the exits meet. */
static void limit_behind(struct flow *f, u8 class)
{
    const struct divergence *p = f->divergence;
    u64 *all = f->sets;
    add_written(f, false, all);
    for (u32 k = 0; k < p->reached_count; k++) {
        const u32 b = p->reached[k];
        const struct cfg_block *block = &f->cfg->blocks[b];
        bool limited = divergence_is_meeting(p, b);
        for (u32 i = 0; i < block->predecessor_count; i++)
            limited |= p->cycles[block->predecessors[i]];
        if (limited && !p->cycles[b])
            limit_block(f, b, all, class);
    }
}

/* Applies F1 and F2 to the branch at the end of a block, if its class is lower than before. */
static void part(struct flow *f, u32 block, u8 class)
{
    if (class >= f->branch[block])
        return;
    f->branch[block] = class;
    divergence_find(f->divergence, block, false);
    limit_meetings(f, class);
    if (decides_barriers(f))
        lower_barriers(f, class);
    if (f->divergence->label[block] != NO_LABEL && !divergence_is_side(f->divergence, block)) {
        divergence_find(f->divergence, block, true);
        divergence_cycles(f->divergence);
        limit_behind(f, class);
    }
}

static void run_block(struct flow *f, u32 b)
{
    const struct cfg_block *block = &f->cfg->blocks[b];
    memcpy(f->now, f->in + (size_t)b * f->locations, f->locations);
    u8 taken = REDUNDANT;
    for (u32 i = block->first; i < block->end; i++) {
        const struct inst *inst = &f->code.insts[i];
        set_exec(f, i);
        if (op_info[inst->op].flags & OPF_BRANCH)
            taken = class_of_sources(f, inst);
        else if (is_wait(inst) && inst->guard.kind != OPERAND_NONE)
            lower_barriers(f, class_of_sources(f, inst));
        step(f, i);
    }
    for (u32 s = 0; s < block->successor_count; s++)
        lower_block(f, block->successors[s], f->now);
    if (block->successor_count > 1)
        part(f, b, taken);
}

static void solve(struct flow *f)
{
    const u32 words = f->cfg->count / 64 + 1;
    for (bool again = true; again;) {
        again = false;
        for (u32 w = 0; w < words; w++) {
            while (f->dirty[w]) {
                u32 bit = (u32)__builtin_ctzll(f->dirty[w]);
                f->dirty[w] &= f->dirty[w] - 1;
                run_block(f, f->cfg->order[64 * w + bit]);
                again = true;
            }
        }
    }
}

/* ---- the start ---- */

static u8 class_of_entry(enum entry_what what)
{
    switch (what) {
    case ENTRY_THREAD_X:
        return REDUNDANT_X;
    case ENTRY_THREAD_Y:
        return REDUNDANT_XY;
    case ENTRY_THREAD_Z:
    case ENTRY_BLOCK_INFO:
    case ENTRY_LOCAL_WARP_OFFSET:
        return REDUNDANT_NO;
    default: /* depends only on the launch or the block; all lanes have a thread (D1) */
        return REDUNDANT;
    }
}

/* Sets the classes at the entry: registers start as zero, or as the front end's entry state
 * says. */
static bool set_entry(struct flow *f)
{
    const struct function *k = f->kernel;
    memset(f->in, REDUNDANT, (size_t)f->cfg->count * f->locations);
    if (!k->entry)
        return true;
    struct entry_launch launch = {
        .grid = {1, 1, 1},
        .block = {1, 1, 1},
        .dims = 1,
        .arguments = arena_alloc(f->arena, k->param_bytes + 1),
        .argument_bytes = k->param_bytes,
    };
    struct error error = {0};
    const struct entry_state *entry = k->entry(k->description, &launch, f->arena, &error);
    for (u32 i = 0; entry && i < entry->register_count; i++) {
        const struct entry_register *r = &entry->registers[i];
        u32 at = r->file == ENTRY_VECTOR ? r->index : f->code.vectors + r->index;
        if (at < f->locations)
            f->in[at] = class_of_entry((enum entry_what)r->what);
    }
    return entry;
}

static bool can_be_analysed(const struct flow *f)
{
    for (u32 i = 0; i < f->code.count; i++) {
        u16 op = f->code.insts[i].op;
        if (op == OP_jump || op == OP_fork || op == OP_join)
            return false;
    }
    return !f->kernel->open;
}

/* Whether the program can create generic addresses of local memory: they come from constants, of
 * which the last word is enough to tell. Constants slightly below the window count, too, since an
 * offset may be added. */
static bool finds_local_address(const struct program *program)
{
    const u64 window = windows_of(program->traits.address_bits)->local;
    const bool narrow = program->traits.address_bits == 32;
    const u32 high = (u32)(narrow ? window / WINDOW_BYTES : window >> 32);
    for (u32 i = 0; i < program->constant_count; i++) {
        const u32 constant = program->constants[i];
        const u32 above = narrow ? (u32)(constant / WINDOW_BYTES) : constant;
        if (above == high || above == high - 1)
            return true;
    }
    return false;
}

static void find_written(struct flow *f)
{
    struct operand list[INST_REFS];
    for (u32 i = 0; i < f->code.count; i++) {
        const struct inst *inst = &f->code.insts[i];
        u32 b = f->cfg->block_of[i], count = inst_writes(inst, list), first;
        u64 *set = f->written + (size_t)b * f->words;
        f->waits[b] |= is_wait(inst);
        if (is_call(inst))
            memset(set, 0xff, f->locations / 64 * sizeof *set);
        for (u32 l = f->locations / 64 * 64; is_call(inst) && l < f->locations; l++)
            set[l / 64] |= 1ull << l % 64;
        for (u32 k = 0; k < count; k++) {
            u32 n = locations_of(f, list[k], &first);
            for (u32 l = first; l < first + n && l < f->locations; l++)
                set[l / 64] |= 1ull << l % 64;
        }
    }
}

static void find_waits(struct flow *f)
{
    memcpy(f->will_wait, f->waits, f->cfg->count);
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 n = f->cfg->order_count; n-- > 0;) {
            u32 b = f->cfg->order[n];
            const struct cfg_block *block = &f->cfg->blocks[b];
            for (u32 s = 0; s < block->successor_count && !f->will_wait[b]; s++)
                changed |= f->will_wait[b] = f->will_wait[block->successors[s]];
        }
    }
}

static void prepare(struct flow *f)
{
    struct code *code = &f->code;
    *code = code_of(f->program, f->kernel);
    f->cfg = cfg_build(f->arena, code);
    f->exec = exec_flow_compute(f->arena, code, f->cfg, f->kernel->open);
    f->divergence = divergence_create(f->arena, f->cfg);
    f->locations = code->vectors + (code->explicit_exec ? (u32)SCALAR_COUNT : code->masks);
    f->words = f->locations / 64 + 1;
    f->in = arena_array(f->arena, u8, (size_t)f->cfg->count * f->locations + 1);
    f->now = arena_array(f->arena, u8, f->locations + 1);
    f->branch = arena_array(f->arena, u8, f->cfg->count);
    f->waits = arena_array(f->arena, u8, f->cfg->count);
    f->will_wait = arena_array(f->arena, u8, f->cfg->count);
    f->written = arena_array(f->arena, u64, (size_t)f->cfg->count * f->words);
    f->sets = arena_array(f->arena, u64, 2 * (size_t)f->words);
    f->dirty = arena_array(f->arena, u64, f->cfg->count / 64 + 1);
    f->at_barrier = REDUNDANT;
    f->has_local_address = finds_local_address(f->program);
    memset(f->branch, REDUNDANT, f->cfg->count);
    find_written(f);
    find_waits(f);
}

/* ---- interface ---- */

u8 *redundancy_marks(struct arena *arena, const struct program *program,
                     const struct function *kernel)
{
    u8 *marks = arena_array(arena, u8, program->inst_count + 1);
    if (!kernel->is_kernel || kernel->first == kernel->end)
        return marks;
    struct flow f = {.arena = arena_create(), .program = program, .kernel = kernel};
    prepare(&f);
    if (can_be_analysed(&f) && set_entry(&f)) {
        for (u32 n = 0; n < f.cfg->order_count; n++)
            want(&f, f.cfg->order[n]);
        solve(&f);
        for (u32 n = 0; n < f.cfg->order_count; n++) {
            const struct cfg_block *block = &f.cfg->blocks[f.cfg->order[n]];
            memcpy(f.now, f.in + (size_t)f.cfg->order[n] * f.locations, f.locations);
            for (u32 i = block->first; i < block->end; i++) {
                u8 class = step(&f, i);
                marks[kernel->first + i] = may_be_marked(&f.code.insts[i]) ? class : REDUNDANT_NO;
            }
        }
    }
    arena_destroy(f.arena);
    return marks;
}

bool redundancy_holds(enum redundancy mark, const u32 block[3], u32 warp_size)
{
    const u64 plane = (u64)block[0] * block[1];
    switch (mark) {
    case REDUNDANT:
        return true;
    case REDUNDANT_X:
        return (block[1] > 1 || block[2] > 1) && is_pow2(block[0]) && block[0] <= warp_size;
    case REDUNDANT_XY:
        return block[2] > 1 && is_pow2(plane) && plane <= warp_size;
    default:
        return false;
    }
}

const char *redundancy_name(enum redundancy mark)
{
    static const char *const names[] = {"V", "CY", "CR", "DR"};
    return names[mark];
}
