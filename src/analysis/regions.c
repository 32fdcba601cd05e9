/* Idempotent regions, forward over the flow graph. See regions.h. */
#include "analysis/regions.h"
#include "ir/scalars.h"

enum {
    /* kinds of memory, bits */
    MEMORY_GLOBAL = 1,
    MEMORY_SHARED = 2,
    MEMORY_LOCAL = 4,
    MEMORY_ANY = 7
};

/* What is known at a point, on any way there, of the region that it is in. */
struct region_state {
    bool reached;
    bool begun;   /* it may have instructions */
    bool after;   /* a region may have ended here (I2) */
    u32 loaded;   /* kinds of memory that it may have read */
    u64 *read;    /* locations that it may have read before it wrote them */
    u64 *written; /* those that it has written, on all ways */
};

struct region_walk {
    const struct code *code;
    struct regions *result;
    u32 scalars; /* the first location of scalars, or masks; vector registers come before */
    u32 locations, words;
    u64 *reads, *writes; /* of the current instruction: locations; */
    bool sure;           /* it certainly writes all of `writes`, in all lanes that it concerns */
    struct region_state now;
};

static bool meets(const u64 *a, const u64 *b, u32 words)
{
    for (u32 w = 0; w < words; w++)
        if (a[w] & b[w])
            return true;
    return false;
}

/* ---- one instruction ---- */

static void add_range(const struct region_walk *w, u64 *set, u32 first, u32 count, u32 end)
{
    for (u32 i = first; i < end && (!count || i - first < count); i++)
        set[i / 64] |= 1ull << i % 64;
}

/* Adds an operand; count 0: all registers from its own on. */
static void add_operand(const struct region_walk *w, u64 *set, struct operand o)
{
    const bool lanes = w->code->explicit_exec;
    if (o.kind == OPERAND_VECTOR)
        add_range(w, set, o.index, o.count, w->scalars);
    else if (o.kind == OPERAND_MASK && lanes)
        add_range(w, set, w->scalars + 2 * o.index, 2, w->locations);
    else if (o.kind == OPERAND_MASK)
        add_range(w, set, w->scalars + o.index, 1, w->locations);
    else if (o.kind == OPERAND_SCALAR && o.index == SCALAR_VCCZ)
        add_range(w, set, w->scalars + SCALAR_VCC, 2, w->locations);
    else if (o.kind == OPERAND_SCALAR && o.index == SCALAR_EXECZ)
        add_range(w, set, w->scalars + SCALAR_EXEC, 2, w->locations);
    else if (o.kind == OPERAND_SCALAR)
        add_range(w, set, w->scalars + o.index, o.count, w->locations);
}

static void list_locations(struct region_walk *w, const struct inst *inst)
{
    struct operand list[INST_REFS];
    memset(w->reads, 0, w->words * sizeof *w->reads);
    memset(w->writes, 0, w->words * sizeof *w->writes);
    for (u32 k = inst_reads(inst, list); k-- > 0;)
        add_operand(w, w->reads, list[k]);
    /* Scalar ones do not depend on EXEC, but for those that choose a lane. */
    if (w->code->explicit_exec &&
        (!(op_info[inst->op].flags & OPF_SCALAR) || op_info[inst->op].flags & OPF_CROSS))
        add_range(w, w->reads, w->scalars + SCALAR_EXEC, 2, w->locations);
    w->sure = inst->guard.kind == OPERAND_NONE && inst->op != OP_writelane;
    for (u32 k = inst_writes(inst, list); k-- > 0;) {
        add_operand(w, w->writes, list[k]);
        w->sure &= list[k].count != 0;
    }
}

static u32 memory_of(const struct inst *inst)
{
    switch (inst->space) {
    case SPACE_GLOBAL:
        return MEMORY_GLOBAL;
    case SPACE_SHARED:
        return MEMORY_SHARED;
    case SPACE_LOCAL:
        return MEMORY_LOCAL;
    case SPACE_CONST:
    case SPACE_PARAM:
        return op_info[inst->op].flags & OPF_STORE ? MEMORY_ANY : 0;
    default:
        return MEMORY_ANY;
    }
}

/* Whether it acts on more than registers and memory of its warp (I2). */
static bool acts_outside(const struct inst *inst, bool explicit_exec)
{
    switch (inst->op) {
    case OP_exit:
    case OP_ret:
    case OP_end:
    case OP_trap:
    case OP_strap:
    case OP_call:
    case OP_calli:
    case OP_jump:
    case OP_fork:
    case OP_join:
    case OP_time:
        return true;
    default:
        return op_info[inst->op].flags & (OPF_ATOMIC | OPF_BARRIER | OPF_EFFECT) ||
               (op_info[inst->op].flags & OPF_CROSS && !explicit_exec) || inst_writes_mode(inst);
    }
}

/* ---- regions ---- */

static void begin_region(struct region_walk *w)
{
    struct region_state *s = &w->now;
    s->begun = s->after = false;
    s->loaded = 0;
    memset(s->read, 0, w->words * sizeof *s->read);
    memset(s->written, 0, w->words * sizeof *s->written);
}

static void cut(struct region_walk *w, u32 at, enum region_cut why)
{
    if (w->result->cut[at] == REGION_NONE)
        w->result->cut[at] = (u8)why;
    begin_region(w);
}

/* Whether the instruction overwrites what it reads itself, or has to be alone for other reasons. */
static bool is_alone(const struct region_walk *w, const struct inst *inst)
{
    const u16 flags = op_info[inst->op].flags;
    return acts_outside(inst, w->code->explicit_exec) || meets(w->writes, w->reads, w->words) ||
           (flags & OPF_LOAD && flags & OPF_STORE);
}

static void pass(struct region_walk *w, u32 at)
{
    const struct inst *inst = &w->code->insts[at];
    const u16 flags = op_info[inst->op].flags;
    struct region_state *s = &w->now;
    list_locations(w, inst);
    const bool alone = is_alone(w, inst);
    if (w->result->cut[at] != REGION_NONE)
        begin_region(w);
    else if (s->after)
        cut(w, at, REGION_AFTER);
    if (s->begun && alone)
        cut(w, at, REGION_ALONE);
    else if (s->begun && meets(w->writes, s->read, w->words))
        cut(w, at, REGION_REGISTER);
    else if (s->begun && flags & OPF_STORE && s->loaded & memory_of(inst))
        cut(w, at, REGION_MEMORY);
    w->result->alone[at] |= alone;
    /* what reads other lanes may read one that EXEC has left out of the write before (I5) */
    const bool crosses = flags & OPF_CROSS;
    for (u32 k = 0; k < w->words; k++)
        s->read[k] |= w->reads[k] & ~(crosses ? 0 : s->written[k]);
    if (flags & OPF_LOAD)
        s->loaded |= memory_of(inst);
    for (u32 k = 0; w->sure && k < w->words; k++)
        s->written[k] |= w->writes[k];
    s->begun = true;
    s->after = alone;
}

/* Adds what is known at the end of a predecessor. True: something has changed. */
static bool join(const struct region_walk *w, struct region_state *to,
                 const struct region_state *from)
{
    const u32 bytes = w->words * sizeof *to->read;
    bool changed = !to->reached || (from->begun && !to->begun) || (from->after && !to->after) ||
                   (from->loaded & ~to->loaded);
    if (!to->reached)
        memcpy(to->written, from->written, bytes);
    to->reached = true;
    to->begun |= from->begun;
    to->after |= from->after;
    to->loaded |= from->loaded;
    for (u32 k = 0; k < w->words; k++) {
        changed |= (from->read[k] & ~to->read[k]) || (to->written[k] & ~from->written[k]);
        to->read[k] |= from->read[k];
        to->written[k] &= from->written[k];
    }
    return changed;
}

static struct region_state *create_states(struct arena *arena, const struct region_walk *w,
                                          u32 count)
{
    struct region_state *states = arena_array(arena, struct region_state, count);
    for (u32 i = 0; i < count; i++)
        states[i] = (struct region_state){.read = arena_array(arena, u64, w->words),
                                          .written = arena_array(arena, u64, w->words)};
    return states;
}

static void copy_state(const struct region_walk *w, struct region_state *to,
                       const struct region_state *from)
{
    u64 *const read = to->read, *const written = to->written;
    memcpy(read, from->read, w->words * sizeof *read);
    memcpy(written, from->written, w->words * sizeof *written);
    *to = *from;
    to->read = read;
    to->written = written;
}

/* A cut stays, and the state behind it no longer depends on what is before it. So this ends, and then
 * every instruction has passed with the states of all ways that lead to it. */
static void walk_blocks(struct region_walk *w, const struct cfg *cfg, struct region_state *in)
{
    bool changed = true;
    in[0].reached = true;
    while (changed) {
        changed = false;
        for (u32 k = 0; k < cfg->order_count; k++) {
            const struct cfg_block *block = &cfg->blocks[cfg->order[k]];
            copy_state(w, &w->now, &in[cfg->order[k]]);
            for (u32 i = block->first; i < block->end; i++)
                pass(w, i);
            for (u32 n = 0; n < block->successor_count; n++)
                changed |= join(w, &in[block->successors[n]], &w->now);
        }
    }
}

/* Where code begins that is reached in ways that the graph does not show, and I7. */
static void cut_entries(struct region_walk *w, const struct cfg *cfg, bool open)
{
    bool unknown = open;
    for (u32 i = 0; i < w->code->count; i++)
        unknown |= w->code->insts[i].op == OP_jump || w->code->insts[i].op == OP_join;
    for (u32 b = 0; b < cfg->count; b++)
        if (b == 0 || unknown || !cfg->blocks[b].predecessor_count)
            w->result->cut[cfg->blocks[b].first] = REGION_ENTRY;
        else if (!w->code->explicit_exec)
            w->result->cut[cfg->blocks[b].first] = REGION_PATH;
    for (u32 i = 0; open && i < w->code->count; i++)
        w->result->cut[i] = REGION_ENTRY;
}

struct regions *regions_compute(struct arena *arena, const struct code *code, const struct cfg *cfg,
                                bool open)
{
    struct regions *result = arena_array(arena, struct regions, 1);
    result->cut = arena_array(arena, u8, code->count + 1);
    result->alone = arena_array(arena, bool, code->count + 1);
    struct region_walk w = {.code = code, .result = result, .scalars = code->vectors};
    w.locations = code->vectors + (code->explicit_exec ? (u32)SCALAR_COUNT : code->masks);
    w.words = w.locations / 64 + 1;
    w.reads = arena_array(arena, u64, w.words);
    w.writes = arena_array(arena, u64, w.words);
    w.now = *create_states(arena, &w, 1);
    cut_entries(&w, cfg, open);
    walk_blocks(&w, cfg, create_states(arena, &w, cfg->count));
    for (u32 i = 0; i < code->count; i++)
        result->counts[result->cut[i]]++;
    return result;
}

struct regions *regions_of(struct arena *arena, const struct program *program,
                           const struct function *function)
{
    struct code code = code_of(program, function);
    return regions_compute(arena, &code, cfg_build(arena, &code), function->open);
}

const char *region_cut_name(enum region_cut cut)
{
    static const char *const names[REGION_CUTS] = {"",       "entry", "path", "register",
                                                   "memory", "alone", "after"};
    return names[cut];
}
