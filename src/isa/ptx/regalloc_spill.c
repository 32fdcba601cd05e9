/*
 * Spills: a spilled value is kept in the frame; each use loads it into a new register, each
 * definition stores it.
 */
#include "isa/ptx/regalloc.h"
#include <stdlib.h>

struct spiller {
    struct fn *fn;
    struct rewrite rewrite;
    const u8 *spill;
    u32 *slots;
    u32 vectors; /* before any temporary was added */
    /* temporaries of the current instruction */
    u32 old[REFS_MAX], fresh[REFS_MAX];
    u32 count;
};

static u32 temporary_for(struct spiller *s, u32 old)
{
    for (u32 i = 0; i < s->count; i++)
        if (s->old[i] == old)
            return s->fresh[i];
    u32 fresh = vreg_new(s->fn, s->fn->vregs.data[old].words, TYPE_NONE);
    s->fn->vregs.data[fresh].no_spill = true;
    s->old[s->count] = old;
    s->fresh[s->count++] = fresh;
    return fresh;
}

static bool is_spilled(const struct spiller *s, u32 id)
{
    return id < s->vectors && s->spill[id];
}

static void access(struct spiller *s, enum op op, u32 old, u32 fresh, const struct inst *by)
{
    u32 words = s->fn->vregs.data[old].words;
    struct inst inst = {.op = (u16)op,
                        .type = words == 2 ? TYPE_B64 : TYPE_B32,
                        .space = SPACE_LOCAL,
                        .vector = 1,
                        .location = by->location,
                        .imm = s->slots[old]};
    inst.src[0] = frame_base(s->fn);
    if (op == OP_st) {
        inst.src[1] = vreg_operand(s->fn, fresh);
        inst.guard = by->guard;
    } else {
        inst.dst[0] = vreg_operand(s->fn, fresh);
    }
    rewrite_add(&s->rewrite, &inst);
}

static void replace(struct spiller *s, struct inst *inst, struct operand *o, bool load)
{
    struct tuple *tuple =
        inst->spare && o == inst_tuple_operand(inst) ? &s->fn->tuples.data[inst->spare] : NULL;
    u32 count = tuple ? tuple->count : 1;
    if (o->kind != OPERAND_VECTOR)
        return;
    for (u32 i = 0; i < count; i++) {
        u32 old = tuple ? tuple->registers[i] : o->index;
        if (!is_spilled(s, old))
            continue;
        u32 before = s->count, fresh = temporary_for(s, old);
        if (load && s->count > before)
            access(s, OP_ld, old, fresh, inst);
        if (tuple)
            tuple->registers[i] = fresh;
        else
            o->index = fresh;
    }
}

static void spill_instruction(struct spiller *s, struct inst inst)
{
    s->count = 0;
    for (unsigned i = 0; i < ARRAY_LEN(inst.src); i++)
        replace(s, &inst, &inst.src[i], true);
    /* under a guard, other lanes keep the old value: load it first */
    bool guarded = inst.guard.kind != OPERAND_NONE;
    u32 written[REFS_MAX], written_count = 0;
    for (unsigned i = 0; i < ARRAY_LEN(inst.dst); i++) {
        struct operand before = inst.dst[i];
        u32 ids[TUPLE_MAX], n = 0;
        if (before.kind == OPERAND_VECTOR && inst.spare &&
            &inst.dst[i] == inst_tuple_operand(&inst))
            for (u32 k = 0; k < s->fn->tuples.data[inst.spare].count; k++)
                ids[n++] = s->fn->tuples.data[inst.spare].registers[k];
        else if (before.kind == OPERAND_VECTOR)
            ids[n++] = before.index;
        for (u32 k = 0; k < n; k++)
            if (is_spilled(s, ids[k]))
                written[written_count++] = ids[k];
        replace(s, &inst, &inst.dst[i], guarded);
    }
    rewrite_add(&s->rewrite, &inst);
    for (u32 k = 0; k < written_count; k++)
        access(s, OP_st, written[k], temporary_for(s, written[k]), &inst);
}

/*
 * An indirect call: the step to the callee's frame stands right before it, so a spilled target is
 * loaded before the step, while the frame base is still the caller's.
 */
static void spill_indirect_call(struct spiller *s, u32 step)
{
    const struct inst *insts = s->fn->insts.data;
    struct inst move = insts[step], call = insts[step + 1];
    s->count = 0;
    replace(s, &call, &call.src[0], true);
    rewrite_add(&s->rewrite, &move);
    rewrite_mark(&s->rewrite, step + 1);
    rewrite_add(&s->rewrite, &call);
}

/* A register that may be read before it is written holds zero: so must its slot. */
static void clear_slot(struct spiller *s, u32 id)
{
    u32 words = s->fn->vregs.data[id].words;
    struct inst inst = {.op = OP_st,
                        .type = words == 2 ? TYPE_B64 : TYPE_B32,
                        .space = SPACE_LOCAL,
                        .vector = 1,
                        .imm = s->slots[id]};
    inst.src[0] = frame_base(s->fn);
    inst.src[1] = const_words(s->fn->l, 0, words);
    rewrite_add(&s->rewrite, &inst);
}

void spill_webs(struct fn *fn, const u8 *spill)
{
    struct spiller s = {.fn = fn, .spill = spill, .vectors = fn->vregs.count};
    s.slots = calloc(s.vectors + 1, sizeof(u32));
    for (u32 id = 1; id < s.vectors; id++) {
        if (!spill[id])
            continue;
        u32 bytes = 4u * fn->vregs.data[id].words;
        s.slots[id] = (u32)align_up(fn->frame, bytes);
        fn->frame = s.slots[id] + bytes;
        fn->spill_bytes += bytes;
    }
    s.rewrite = rewrite_begin(fn);
    for (u32 id = 1; id < s.vectors; id++)
        if (spill[id] && fn->vregs.data[id].at_entry)
            clear_slot(&s, id);
    for (u32 i = 0; i < s.rewrite.count; i++) {
        rewrite_mark(&s.rewrite, i);
        if (i + 1 < s.rewrite.count && fn->insts.data[i + 1].op == OP_calli)
            spill_indirect_call(&s, i++);
        else
            spill_instruction(&s, fn->insts.data[i]);
    }
    rewrite_end(&s.rewrite);
    free(s.slots);
}
