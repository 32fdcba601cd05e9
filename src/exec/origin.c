/*
 * The buffer that a wrong address was probably meant for: see fault_origin in warp.h.
 *
 * The address is traced back through the instructions before the access, in code order, until a
 * register still holds a pointer into memory. Registers may have been written since, and the warp
 * may have taken another path, so this is a guess; but only a guess that ends at a pointer into
 * data counts.
 */
#include "exec/register_file.h"
#include "exec/scalars.h"

enum {
    LOOK_BACK = 64, /* instructions */
    WANTED = 32     /* words of registers that are traced */
};

struct search {
    const struct warp *warp;
    u32 lane;
    struct {
        u32 kind, index;
    } wanted[WANTED];
    u32 count;
};

static u32 word_of(const struct search *search, struct operand o, u32 word)
{
    const struct warp *warp = search->warp;
    if (o.kind != OPERAND_VECTOR)
        return scalar_read(warp, o, word);
    return *register_word(warp, o.index + word, search->lane);
}

/* Words of a pointer in registers. */
static u32 pointer_words(const struct search *search)
{
    return search->warp->exec->image->program->traits.address_bits == 32 ? 1 : 2;
}

static u64 value_of(const struct search *search, struct operand o)
{
    return word_of(search, o, 0) | (o.count > 1 ? (u64)word_of(search, o, 1) << 32 : 0);
}

static bool is_register(struct operand o)
{
    return o.kind == OPERAND_VECTOR || o.kind == OPERAND_SCALAR;
}

static const struct allocation *data_at(const struct search *search, u64 address)
{
    const struct allocation *a = memory_find(search->warp->exec->memory, address, 1);
    return a && allocation_is_data(a) ? a : NULL;
}

/* What a source points into: the registers of an address, a descriptor's base, or the even-aligned pair of
 * scalars that one word of an address is taken from. */
static const struct allocation *points_into(const struct search *search, struct operand o)
{
    enum {
        BASE_HIGH = 0xffff /* of a descriptor's second word; its upper half is the stride */
    };
    if (!is_register(o))
        return NULL;
    if (o.count == 1 && o.kind == OPERAND_SCALAR)
        o = operand_make(OPERAND_SCALAR, o.index & ~1u, 2);
    if (o.count < pointer_words(search))
        return NULL;
    u64 value = value_of(search, o);
    if (o.count == 4 && o.kind == OPERAND_SCALAR)
        value &= (u64)BASE_HIGH << 32 | UINT32_MAX;
    return data_at(search, value);
}

static void want(struct search *search, struct operand o)
{
    for (u32 w = 0; is_register(o) && w < o.count && search->count < WANTED; w++) {
        search->wanted[search->count].kind = o.kind;
        search->wanted[search->count++].index = o.index + w;
    }
}

/* Removes the words of a destination; false: none was wanted. */
static bool found(struct search *search, struct operand o)
{
    u32 kept = 0;
    for (u32 i = 0; i < search->count; i++)
        if (search->wanted[i].kind != o.kind || search->wanted[i].index - o.index >= o.count)
            search->wanted[kept++] = search->wanted[i];
    bool any = kept < search->count;
    search->count = kept;
    return any;
}

/* A sum of an address and an offset in place of one of them: what that one was. */
static const struct allocation *undone(const struct search *search, const struct inst *inst)
{
    const bool narrow = pointer_words(search) == 1;
    if (inst->op != (narrow ? OP_add_b32 : OP_add_b64))
        return NULL;
    for (u32 i = 0; i < 2; i++) {
        const struct operand other = inst->src[1 - i];
        if (inst->src[i].kind != inst->dst[0].kind || inst->src[i].index != inst->dst[0].index)
            continue;
        if (!is_register(other) && other.kind != OPERAND_CONST)
            continue;
        const u64 before = value_of(search, inst->dst[0]) - value_of(search, other);
        return data_at(search, narrow ? (u32)before : before);
    }
    return NULL;
}

static const struct allocation *from_sources(struct search *search, const struct inst *inst)
{
    const struct allocation *a = undone(search, inst);
    for (u32 i = 0; !a && i < ARRAY_LEN(inst->src); i++)
        a = points_into(search, inst->src[i]);
    for (u32 i = 0; !a && i < ARRAY_LEN(inst->src); i++)
        want(search, inst->src[i]);
    return a;
}

const struct allocation *fault_origin(const struct warp *warp, u32 pc, u32 lane)
{
    struct search search = {.warp = warp, .lane = lane};
    const struct program *program = warp->exec->image->program;
    const struct function *function = program_function_at(program, pc);
    const struct inst *inst = &program->insts[pc];
    if (warp->registers || !function)
        return NULL; /* registers are not all in their rows */
    bool buffer = inst->op == OP_buf_ld || inst->op == OP_buf_st || inst->op == OP_buf_atom;
    const struct allocation *a = points_into(&search, inst->src[0]);
    if (!a && buffer)
        a = points_into(&search, inst->src[1]);
    want(&search, inst->src[0]);
    for (u32 i = pc; !a && search.count && i-- > function->first && pc - i <= LOOK_BACK;) {
        inst = &program->insts[i];
        bool first = found(&search, inst->dst[0]), second = found(&search, inst->dst[1]);
        if ((first || second) && !(op_info[inst->op].flags & OPF_LOAD))
            a = from_sources(&search, inst);
    }
    return a;
}
