/*
 * Values that are live across a call: stored to the frame before the stack pointer moves, loaded
 * after it is back. Masks go through a vector register.
 */
#include "isa/ptx/regalloc.h"
#include <stdlib.h>

struct saves {
    struct fn *fn;
    struct rewrite *rewrite;
    u32 *slots; /* by location: frame offset + 1 */
    u32 *start; /* by call in order: index into list */
    VEC(u32) list;
    VEC(u32) starts;
};

static u32 slot_for(struct saves *s, u32 location, u32 words)
{
    if (!s->slots[location]) {
        u32 offset = (u32)align_up(s->fn->frame, 4 * words);
        s->fn->frame = offset + 4 * words;
        s->slots[location] = offset + 1;
    }
    return s->slots[location] - 1;
}

static void access(struct saves *s, enum op op, struct operand data, u32 offset)
{
    struct inst inst = {.op = (u16)op,
                        .type = data.count == 2 ? TYPE_B64 : TYPE_B32,
                        .space = SPACE_LOCAL,
                        .vector = 1,
                        .imm = offset};
    inst.src[0] = frame_base(s->fn);
    if (op == OP_st)
        inst.src[1] = data;
    else
        inst.dst[0] = data;
    rewrite_add(s->rewrite, &inst);
}

static void save(struct saves *s, u32 vectors, u32 location, bool restore)
{
    struct lower *l = s->fn->l;
    if (location < vectors) {
        struct operand value = vreg_operand(s->fn, location);
        access(s, restore ? OP_ld : OP_st, value, slot_for(s, location, value.count));
        return;
    }
    struct operand mask = operand_make(OPERAND_MASK, location - vectors, 1);
    struct operand word = vreg_operand(s->fn, vreg_new(s->fn, 1, TYPE_NONE));
    struct inst inst = {.vector = 1};
    if (restore) {
        access(s, OP_ld, word, slot_for(s, location, 1));
        inst.op = OP_setp_u32;
        inst.key = CMP_NE;
        inst.type = inst.stype = TYPE_U32;
        inst.dst[0] = mask;
        inst.src[0] = word;
        inst.src[1] = const_words(l, 0, 1);
        rewrite_add(s->rewrite, &inst);
        return;
    }
    inst.op = OP_selp_b32;
    inst.type = TYPE_B32;
    inst.dst[0] = word;
    inst.src[0] = const_words(l, 1, 1);
    inst.src[1] = const_words(l, 0, 1);
    inst.src[2] = mask;
    rewrite_add(s->rewrite, &inst);
    access(s, OP_st, word, slot_for(s, location, 1));
}

static bool is_call(const struct inst *inst)
{
    return inst->op == OP_call || inst->op == OP_calli;
}

static int by_location(const void *a, const void *b)
{
    u32 x = *(const u32 *)a, y = *(const u32 *)b;
    return x < y ? -1 : x > y;
}

/* Lists the values live across each call, in program order. */
static void collect(struct saves *s, const struct code *code)
{
    struct arena *arena = arena_create();
    struct cfg *cfg = cfg_build(arena, code);
    struct liveness *live = liveness_compute(arena, code, cfg);
    struct live_set set = live_set_create(code->vectors + code->masks);
    for (u32 b = 0; b < cfg->count; b++) {
        if (!is_call(&code->insts[cfg->blocks[b].end - 1]))
            continue;
        u32 first = s->list.count;
        *(u32 *)vec_push(&s->starts) = first;
        live_set_at_end(&set, live, b);
        for (u32 i = 0; i < set.count; i++)
            if (set.items[i])
                *(u32 *)vec_push(&s->list) = set.items[i];
        if (s->list.count > first)
            qsort(s->list.data + first, s->list.count - first, sizeof(u32), by_location);
    }
    *(u32 *)vec_push(&s->starts) = s->list.count;
    live_set_free(&set);
    arena_destroy(arena);
}

void save_across_calls(struct fn *fn)
{
    if (!fn->has_calls)
        return;
    struct code code = fn_code(fn);
    struct saves s = {.fn = fn};
    s.slots = calloc(code.vectors + code.masks + 1, sizeof(u32));
    collect(&s, &code);
    struct rewrite r = rewrite_begin(fn);
    s.rewrite = &r;
    u32 call = 0;
    for (u32 i = 0; i < r.count; i++) {
        rewrite_mark(&r, i);
        bool before = i + 1 < r.count && is_call(&fn->insts.data[i + 1]);
        bool after = i && is_call(&fn->insts.data[i - 1]);
        for (u32 k = s.starts.data[call]; before && k < s.starts.data[call + 1]; k++)
            save(&s, code.vectors, s.list.data[k], false);
        rewrite_add(&r, &fn->insts.data[i]);
        for (u32 k = s.starts.data[call]; after && k < s.starts.data[call + 1]; k++)
            save(&s, code.vectors, s.list.data[k], true);
        call += after;
    }
    rewrite_end(&r);
    free(s.slots);
    vec_free(&s.list);
    vec_free(&s.starts);
}
