/*
 * Lowers one instruction to the ir op of its row, with the operands of its signature in order.
 *
 *  L1  A letter without a register (a 16-bit constant) is a source while the op has a place for it;
 *      other immediates, and those of ops without sources, are imm.
 *  L2  EXEC as a destination is MOD_EXEC, except for branches, which always write it. As a
 *      source it is listed only where the op's signature has a place for it.
 *  L3  Input modifiers are those of float operands, output modifiers those of float results.
 */
#include "ir/scalars.h"
#include "isa/si/lower.h"

#define HWREG_MODE 1

/* The sources in the order of ir. */
static u32 ordered(const struct si_inst *in, const struct si_operand **list)
{
    for (u32 i = 0; i < in->src_count; i++)
        list[i] = &in->src[i];
    if (in->src_count >= 2 && (in->op->flags & SI_REVERSED || in->op->lower == SI_LOWER_SWAPPED)) {
        list[0] = &in->src[1];
        list[1] = &in->src[0];
    }
    return in->src_count;
}

static const char *put_destinations(struct lowering *l, const struct si_inst *in, struct inst *out)
{
    const char *letter = op_info[out->op].signature, *why = NULL;
    u32 n = 0;
    for (u32 i = 0; i < in->dst_count; i++) {
        if (in->dst[i].kind == 'X') {
            if (!(op_info[out->op].flags & OPF_BRANCH))
                out->mods |= MOD_EXEC;
            continue;
        }
        if (n >= ARRAY_LEN(out->dst) || *letter == '=')
            return "more results than the machine model supports";
        out->dst[n++] = lower_operand(l, in, &in->dst[i], *letter++, &why);
    }
    return why;
}

static bool is_immediate(char kind)
{
    return kind && strchr("bwgy", kind);
}

static const char *put_sources(struct lowering *l, const struct si_inst *in, struct inst *out)
{
    const struct si_operand *list[SI_SRCS];
    const char *letter = strchr(op_info[out->op].signature, '=') + 1, *why = NULL;
    u32 count = ordered(in, list), n = 0;
    for (u32 i = 0; i < count; i++) {
        char kind = list[i]->kind;
        bool has_place = letter[0] && n < ARRAY_LEN(out->src);
        bool optional = kind == 'X' && letter[0] >= 'A' && letter[0] <= 'Z'; /* L2 */
        if (is_immediate(kind) || ((kind == 'k' || kind == 'u') && !has_place)) {
            out->imm = (u16)in->imm;
        } else if (has_place && !optional) {
            out->src[n++] = lower_operand(l, in, list[i], *letter++, &why);
        } else if (kind != 'X' && kind != 'M') {
            return "more operands than the machine model supports";
        }
    }
    if (in->op->lower == SI_LOWER_LANE)
        out->src[n] = operand_make(OPERAND_LANEID, 0, 1);
    return why;
}

static void put_modifiers(const struct si_inst *in, struct inst *out)
{
    bool is_float = in->dst_count && strchr("fdh", in->dst[0].kind);
    if (op_info[out->op].flags & OPF_FLOAT)
        out->mods |= MOD_MODE;
    if (!is_float)
        return;
    if (in->clamp)
        out->mods |= MOD_SAT;
    out->scale = in->omod; /* the codes are those of enum scale */
}

/* Handles the constant of a control instruction. */
static const char *check_constant(const struct si_inst *in, struct inst *out)
{
    switch (in->op->lower) {
    case SI_LOWER_SETREG:
        if ((in->imm & 63) == HWREG_MODE)
            out->dst[0] = operand_make(OPERAND_SCALAR, SCALAR_MODE, 1);
        return NULL;
    case SI_LOWER_HALT:
        return in->imm & 1 ? "the warp would halt forever" : NULL;
    case SI_LOWER_MESSAGE:
        if (in->imm & 15)
            return "messages to the host or to graphics";
        out->op = OP_nop;
        return NULL;
    default:
        return NULL;
    }
}

/* Why a row has no ir op. */
static const char *missing(const struct si_inst *in)
{
    switch (in->format) {
    case SI_MIMG:
        return "images";
    case SI_EXP:
    case SI_VINTRP:
        return "graphics";
    case SI_DS:
        return "global data share";
    default:
        return "not meaningful in a compute kernel";
    }
}

const char *lower_inst(struct lowering *l, const struct si_inst *in, struct inst *out)
{
    const struct si_op *row = in->op;
    const char *why;
    u64 target;
    *out = (struct inst){.op = row->ir,
                         .type = row->type,
                         .stype = row->stype,
                         .key = row->key,
                         .key2 = row->key2,
                         .vector = MAX(row->vector, 1),
                         .rounding = row->rounding};
    why = check_constant(in, out);
    if (why)
        return why;
    if (out->op == OP_unsupported)
        return missing(in);
    if (out->op == OP_nop)
        return NULL;
    if (in->format == SI_DS)
        return lower_shared(l, in, out);
    if (in->format == SI_MUBUF || in->format == SI_MTBUF)
        return lower_buffer(l, in, out);
    if (in->format == SI_SMRD && out->op != OP_time)
        return lower_scalar_load(l, in, out);
    why = put_destinations(l, in, out);
    if (!why)
        why = put_sources(l, in, out);
    put_modifiers(in, out);
    if (si_branch_target(in, &target))
        out->imm = (i64)target;
    return why;
}
