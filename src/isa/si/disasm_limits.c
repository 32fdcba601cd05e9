/*
 * What LLVM's assembler cannot express. Hardware accepts more: unused bits, a literal that has an
 * inline code as well, two scalar registers in one vector instruction, and the like. Each rule here
 * was found with llvm-mc 14 and 19; tests/isa/si checks that text assembles to the same words.
 */
#include "isa/si/disasm.h"

static bool is_float(char kind)
{
    return kind == 'h' || kind == 'f' || kind == 'd';
}

/* Whether the assembler would use an inline constant for this literal. */
static bool has_inline_code(u32 literal, u32 words)
{
    static const u32 floats[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000,
                                 0x40000000, 0xc0000000, 0x40800000, 0xc0800000};
    if (literal <= 64)
        return true;
    if (words == 2)
        return false;
    for (u32 i = 0; i < ARRAY_LEN(floats); i++)
        if (literal == floats[i])
            return true;
    return literal >= (u32)-16;
}

bool si_literal_is_forced(const struct si_inst *inst)
{
    u32 literals = 0, words = 0;
    for (u32 i = 0; i < inst->src_count; i++)
        if (inst->src[i].code == SI_LITERAL) {
            literals++;
            words = inst->src[i].kind == 'l' ? 0 : inst->src[i].words;
        }
    return literals == 1 && words == 1 && has_inline_code(inst->literal, 1);
}

static const char *constant_limit(const struct si_inst *inst)
{
    for (u32 i = 0; i < inst->src_count; i++) {
        const struct si_operand *src = &inst->src[i];
        bool literal = src->code == SI_LITERAL && src->kind != 'l';
        if (src->kind == 'h' && (literal || (src->code >= SI_INT && src->code < SI_VCCZ)))
            return "constant for a 16-bit operand";
        if (literal && inst->op == &si_ops[SI_OP_s_cbranch_g_fork])
            return "literal in a branch";
        if (literal && has_inline_code(inst->literal, src->words) && !si_literal_is_forced(inst))
            return "literal that has an inline code";
    }
    return NULL;
}

/* Whether an operand uses the scalar bus to the vector unit. */
static bool uses_bus(const struct si_operand *src)
{
    return src->code < SI_INT || (src->code >= SI_VCCZ && src->code <= SI_LITERAL);
}

/* Whether the operands use more than one scalar value. LLVM counts a pair and its first half as
 * two. */
static bool bus_is_crowded(const struct si_inst *inst)
{
    const struct si_operand *seen = NULL;
    for (u32 i = 0; i < inst->src_count; i++) {
        const struct si_operand *src = &inst->src[i];
        if (src->kind == 'D' || !uses_bus(src))
            continue;
        if (seen && (seen->code != src->code || seen->words != src->words))
            return true;
        seen = src;
    }
    return false;
}

/* v_mqsad_pk_u16_u8 reads its sources more than once. */
static bool overwrites_source(const struct si_inst *inst)
{
    const struct si_operand *dst = &inst->dst[0];
    for (u32 i = 0; i < inst->src_count; i++) {
        const struct si_operand *src = &inst->src[i];
        if (dst->code < src->code + src->words && src->code < dst->code + dst->words)
            return true;
    }
    return false;
}

static const char *vector_limit(const struct si_inst *inst)
{
    bool modified = inst->clamp || inst->omod;
    if (bus_is_crowded(inst))
        return "more than one scalar value";
    if (inst->op->flags & SI_REVERSED && inst->src[0].code == SI_LDS_DIRECT)
        return "LDS direct in a reversed instruction";
    if (inst->format != SI_VOP3)
        return NULL;
    if (inst->op->flags & SI_NO_E64)
        return "no long form in the assembler";
    if (inst->op == &si_ops[SI_OP_v_mqsad_pk_u16_u8] && overwrites_source(inst))
        return "destination is a source";
    if (modified && !is_float(inst->dst[0].kind))
        return "output modifier without a float";
    for (u32 i = 0; i < inst->src_count; i++)
        if ((inst->src[i].neg || inst->src[i].abs) && !is_float(inst->src[i].kind))
            return "input modifier without a float";
    return NULL;
}

static const char *buffer_limit(const struct si_inst *inst)
{
    if (inst->addr64 && (inst->offen || inst->idxen))
        return "addr64 with offen or idxen";
    if (inst->tfe || inst->lds)
        return "tfe or lds, for which assembler versions expect different registers";
    return NULL;
}

u32 si_image_address_words(const struct si_inst *inst)
{
    for (u32 i = 0; i < inst->src_count; i++)
        if (inst->src[i].kind >= '1' && inst->src[i].kind <= '4')
            return MIN(4u, SI_VGPR + 256u - inst->src[i].code);
    return 0;
}

/* Whether eight registers fit, which the assembler expects even with r128, where four are read. */
static bool resource_can_be_eight(const struct si_inst *inst)
{
    for (u32 i = 0; i < inst->src_count; i++)
        if (inst->src[i].kind == '8')
            return inst->src[i].code + 8 <=
                   (inst->src[i].code < SI_SGPRS ? SI_SGPRS : SI_TTMP + SI_TTMPS);
    return true;
}

static const char *image_limit(const struct si_inst *inst)
{
    bool atomic = inst->op->signature[0] == 't' && inst->op->signature[2] == 't';
    const struct si_op *op = inst->op;
    bool swap =
        op == &si_ops[SI_OP_image_atomic_cmpswap] || op == &si_ops[SI_OP_image_atomic_fcmpswap];
    u32 one = swap ? 3 : 1, two = swap ? 15 : 3;
    if (atomic && (inst->tfe || (inst->dmask != one && inst->dmask != two)))
        return "dmask or tfe that no atomic has";
    if (op->signature[0] == '4' && __builtin_popcount(inst->dmask) != 1)
        return "dmask that no gather has";
    if (inst->r128 && !resource_can_be_eight(inst))
        return "r128 at the end of the registers";
    return NULL;
}

static bool is_global_only(const struct si_op *op)
{
    return op == &si_ops[SI_OP_ds_gws_init] || op == &si_ops[SI_OP_ds_gws_sema_v] ||
           op == &si_ops[SI_OP_ds_gws_sema_br] || op == &si_ops[SI_OP_ds_gws_sema_p] ||
           op == &si_ops[SI_OP_ds_gws_barrier] || op == &si_ops[SI_OP_ds_ordered_count];
}

static const char *format_limit(const struct si_inst *inst)
{
    switch (inst->format) {
    case SI_SMRD:
        return inst->dst_count && inst->dst[0].code >= SI_M0 ? "M0 or EXEC as destination" : NULL;
    case SI_VOP1:
    case SI_VOP2:
    case SI_VOPC:
    case SI_VOP3:
        return vector_limit(inst);
    case SI_VINTRP:
        return inst->attribute > 32 ? "attribute beyond the last" : NULL;
    case SI_DS:
        return is_global_only(inst->op) && !inst->gds ? "without gds" : NULL;
    case SI_MUBUF:
    case SI_MTBUF:
        return buffer_limit(inst);
    case SI_MIMG:
        return image_limit(inst);
    case SI_EXP:
        return inst->compr && (inst->enable ^ inst->enable >> 1) & 5 ? "half of a compressed pair"
                                                                     : NULL;
    default:
        return NULL;
    }
}

const char *si_unsayable(const struct si_inst *inst)
{
    if (inst->op->flags & SI_NO_ASM)
        return "no mnemonic in the assembler";
    if (inst->stray)
        return "unused bits are set";
    const char *limit = constant_limit(inst);
    return limit ? limit : format_limit(inst);
}
