/* Operands: registers, inline constants, literals, and the constant pool they go to. */
#include "ir/scalars.h"
#include "isa/si/lower.h"

#include <stdlib.h>

static u32 hash(const u32 *words, u32 count)
{
    u64 key = (words[0] | (u64)(count > 1 ? words[1] : 0) << 32) * 2 + (count > 1);
    key *= 0x9e3779b97f4a7c15u;
    return (u32)(key >> 32);
}

static struct pool_slot *find(struct pool_slot *pool, u32 room, const u32 *words, u32 count)
{
    u32 at = hash(words, count) & (room - 1);
    while (pool[at].count && (pool[at].count != count || pool[at].words[0] != words[0] ||
                              (count > 1 && pool[at].words[1] != words[1])))
        at = (at + 1) & (room - 1);
    return &pool[at];
}

static void grow(struct lowering *l)
{
    u32 room = l->pool_room ? 2 * l->pool_room : 64;
    struct pool_slot *pool = checked(calloc(room, sizeof *pool));
    for (u32 i = 0; i < l->pool_room; i++)
        if (l->pool[i].count)
            *find(pool, room, l->pool[i].words, l->pool[i].count) = l->pool[i];
    free(l->pool);
    l->pool = pool;
    l->pool_room = room;
}

struct operand lower_constant(struct lowering *l, const u32 *words, u32 count)
{
    if (2 * (l->pool_count + 1) > l->pool_room)
        grow(l);
    struct pool_slot *slot = find(l->pool, l->pool_room, words, count);
    if (!slot->count) {
        *slot = (struct pool_slot){{words[0], count > 1 ? words[1] : 0}, l->constants.count, count};
        l->pool_count++;
        for (u32 i = 0; i < count; i++)
            *(u32 *)vec_push(&l->constants) = words[i];
    }
    return operand_make(OPERAND_CONST, slot->index, count);
}

/* The eight inline floats, in the order of their codes; the lower word of a double is 0. */
static void inline_float(u32 code, u32 words, u32 *value)
{
    static const u32 singles[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000,
                                  0x40000000, 0xc0000000, 0x40800000, 0xc0800000};
    static const u32 doubles[] = {0x3fe00000, 0xbfe00000, 0x3ff00000, 0xbff00000,
                                  0x40000000, 0xc0000000, 0x40100000, 0xc0100000};
    value[0] = words > 1 ? 0 : singles[code - SI_FLOAT];
    value[1] = doubles[code - SI_FLOAT];
}

/* Whether 64-bit integers of this instruction are signed. */
static bool is_signed(const struct si_op *op)
{
    size_t length = strlen(op->name);
    return length > 4 && !strcmp(op->name + length - 4, "_i64");
}

/* Inline constants and literals, widened to the operand: a literal is the upper word of an f64, or
 * the lower word of an integer, extended with zeros or, if signed, with its sign. */
static struct operand constant(struct lowering *l, const struct si_inst *in,
                               const struct si_operand *from)
{
    u32 value[2] = {0, 0};
    u32 code = from->code;
    if (code == SI_LITERAL) {
        value[from->kind == 'd'] = in->literal;
        if (from->kind != 'd' && is_signed(in->op))
            value[1] = in->literal >> 31 ? UINT32_MAX : 0;
    } else if (code >= SI_FLOAT && code < SI_FLOAT + 8) {
        inline_float(code, from->words, value);
    } else {
        i32 number = code < SI_INT_NEG ? (i32)code - SI_INT : SI_INT_NEG - 1 - (i32)code;
        value[0] = (u32)number;
        value[1] = number < 0 ? UINT32_MAX : 0;
    }
    return lower_constant(l, value, from->words > 1 ? 2 : 1);
}

/* The 16-bit constant as a source. */
static struct operand number(struct lowering *l, const struct si_inst *in, char kind)
{
    u32 value = kind == 'u' ? (u16)in->imm : (u32)in->imm;
    return lower_constant(l, &value, 1);
}

static struct operand scalar(struct lowering *l, const struct si_operand *from, char letter)
{
    if (from->code < SCALAR_GENERAL_END)
        l->scalars = MAX(l->scalars, from->code + from->words);
    if ((letter | 0x20) == 'm')
        return operand_make(OPERAND_MASK, from->code / 2, 1);
    return operand_make(OPERAND_SCALAR, from->code, from->words);
}

/* SCC, VCCZ and EXECZ: one bit, as a word. */
static struct operand flag(const struct si_operand *from, const char **why)
{
    u32 index = from->code == SI_VCCZ    ? SCALAR_VCCZ
                : from->code == SI_EXECZ ? SCALAR_EXECZ
                                         : SCALAR_SCC;
    if (from->words != 1)
        *why = "a flag as a 64-bit operand";
    return operand_make(OPERAND_SCALAR, index, 1);
}

struct operand lower_operand(struct lowering *l, const struct si_inst *in,
                             const struct si_operand *from, char letter, const char **why)
{
    struct operand o;
    u32 code = from->code;
    if (code == SI_NONE) {
        bool is_number = from->kind == 'k' || from->kind == 'u';
        return is_number ? number(l, in, from->kind) : operand_none();
    }
    if (code >= SI_VGPR) {
        l->registers = MAX(l->registers, code - SI_VGPR + from->words);
        o = operand_make(OPERAND_VECTOR, code - SI_VGPR, from->words);
    } else if (code < SI_INT) {
        o = scalar(l, from, letter);
    } else if (code == SI_LDS_DIRECT) {
        *why = "a direct read of the LDS as an operand";
        o = operand_none();
    } else if (code >= SI_VCCZ && code <= SI_SCC) {
        o = flag(from, why);
    } else {
        o = constant(l, in, from);
    }
    bool is_float = from->kind == 'f' || from->kind == 'd' || from->kind == 'h';
    if (is_float && o.kind != OPERAND_MASK) { /* else modifiers have no meaning */
        o.neg = from->neg;
        o.abs = from->abs;
    }
    return o;
}
