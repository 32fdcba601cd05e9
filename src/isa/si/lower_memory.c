/*
 * Memory instructions, whose operands have another order in ir.
 *
 * Offsets are in bytes here: those of SMRD count words, those of paired LDS accesses elements or 64
 * of them. The LDS's limit M0 is the last source of every access (ops.def).
 */
#include "ir/buffer.h"
#include "ir/scalars.h"
#include "isa/si/lower.h"

static void extend(struct inst *out)
{
    if (type_is_signed(out->type) && type_bytes(out->type) < 4 && out->op != OP_buf_st)
        out->mods |= MOD_SIGNED;
}

/* The two byte offsets of a paired access, as imm of ld2, st2 and exch2. */
static i64 paired_offsets(const struct si_inst *in)
{
    u32 unit = type_bytes(in->op->type) * (in->op->flags & SI_STRIDE64 ? 64 : 1);
    u32 first = ((u32)in->imm & 255) * unit, second = ((u32)in->imm >> 8 & 255) * unit;
    return (i64)(first | (u64)second << 32);
}

const char *lower_shared(struct lowering *l, const struct si_inst *in, struct inst *out)
{
    const char *why = NULL;
    const char *letters = strchr(op_info[out->op].signature, '=') + 1;
    u32 limit = (u32)strlen(letters) - 1; /* M0's place */
    if (in->gds)
        return "global data share";
    out->space = SPACE_SHARED;
    out->imm = in->op->flags & SI_TWO_OFFSETS ? paired_offsets(in) : in->imm;
    extend(out);
    if (in->dst_count)
        out->dst[0] = lower_operand(l, in, &in->dst[0], 'v', &why);
    for (u32 i = 0; i < in->src_count; i++) {
        u32 at = in->src[i].kind == 'M' ? limit : i;
        out->src[at] = lower_operand(l, in, &in->src[i], letters[at], &why);
    }
    return why;
}

static u8 buffer_flags(const struct si_inst *in)
{
    return (u8)((in->idxen ? BUFFER_INDEX : 0) | (in->offen ? BUFFER_OFFSET : 0) |
                (in->addr64 ? BUFFER_ADDRESS : 0) | (in->lds ? BUFFER_LDS : 0) |
                (in->tfe ? BUFFER_STATUS : 0) | (in->glc ? BUFFER_COHERENT : 0) |
                (in->slc ? BUFFER_STREAMING : 0));
}

/* ir has address, descriptor, scalar offset, data; the machine has data first. */
const char *lower_buffer(struct lowering *l, const struct si_inst *in, struct inst *out)
{
    static const struct operand m0 = {.kind = OPERAND_SCALAR, .index = SCALAR_M0, .count = 1};
    const char *why = NULL;
    bool has_data = out->op != OP_buf_ld;
    const struct si_operand *src = in->src + has_data;
    if (in->addr64 && (in->offen || in->idxen))
        return "addr64 together with offen or idxen";
    if (in->lds && (has_data || in->tfe || out->vector != 1))
        return "a transfer to the LDS of more or less than one word";
    out->key2 = buffer_flags(in);
    out->imm = in->imm;
    if (in->format == SI_MTBUF)
        out->imm |= in->dfmt << 16 | in->nfmt << 20;
    extend(out);
    out->src[0] = lower_operand(l, in, &src[0], 'V', &why);
    out->src[1] = lower_operand(l, in, &src[1], 's', &why);
    out->src[2] = lower_operand(l, in, &src[2], 'X', &why);
    if (has_data)
        out->src[3] = lower_operand(l, in, &in->src[0], 'v', &why);
    else if (in->lds)
        out->src[3] = m0;
    bool returns = out->op == OP_buf_ld ? !in->lds : in->glc;
    if (in->dst_count && returns)
        out->dst[0] = lower_operand(l, in, &in->dst[0], 'V', &why);
    return why;
}

const char *lower_scalar_load(struct lowering *l, const struct si_inst *in, struct inst *out)
{
    const char *why = NULL;
    out->dst[0] = lower_operand(l, in, &in->dst[0], 's', &why);
    out->src[0] = lower_operand(l, in, &in->src[0], out->op == OP_ld_scalar ? 'y' : 's', &why);
    if (in->src[1].code == SI_NONE)
        out->imm = (i64)in->imm * 4;
    else
        out->src[1] = lower_operand(l, in, &in->src[1], 'X', &why);
    return why;
}
