/*
 * Instructions to text, in the syntax of LLVM's assembler (llvm-mc -mcpu=tahiti).
 *
 * The text walks the signature: each small letter or digit is an operand. Suffixes _e32 and _e64
 * force the encoding, so that the assembler produces the same words. What it cannot express
 * (disasm_limits.c) is written as .long, with the instruction and the reason in a comment.
 */
#include "isa/si/disasm.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

struct writer {
    char *out;
    size_t size, used;
    const char *separator; /* printed before the next operand */
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(w->out + w->used, w->size - w->used, format, args);
    va_end(args);
    w->used = MIN(w->used + (size_t)MAX(length, 0), w->size - 1);
}

/* Registers and constants. */

static void put_range(struct writer *w, const char *file, u32 first, u32 words)
{
    if (words == 1)
        put(w, "%s%u", file, first);
    else
        put(w, "%s[%u:%u]", file, first, first + words - 1);
}

/* VCC and the other scalar registers that have names. */
static void put_named(struct writer *w, const char *name, u32 half, u32 words)
{
    put(w, "%s%s", name, words == 2 ? "" : half ? "_hi" : "_lo");
}

static void put_scalar(struct writer *w, u32 code, u32 words)
{
    if (code < SI_SGPRS)
        put_range(w, "s", code, words);
    else if (code >= SI_TTMP && code < SI_TTMP + SI_TTMPS)
        put_range(w, "ttmp", code - SI_TTMP, words);
    else if (code == SI_M0)
        put(w, "m0");
    else if (code >= SI_EXEC)
        put_named(w, "exec", code & 1, words);
    else
        put_named(w, code < SI_TBA ? "vcc" : code < SI_TMA ? "tba" : "tma", code & 1, words);
}

static void put_code(struct writer *w, const struct si_inst *inst, u32 code, u32 words)
{
    static const char *const floats[] = {"0.5", "-0.5", "1.0", "-1.0",
                                         "2.0", "-2.0", "4.0", "-4.0"};
    static const char *const bits[] = {"src_vccz", "src_execz", "src_scc", "src_lds_direct"};
    if (code >= SI_VGPR)
        put_range(w, "v", code - SI_VGPR, words);
    else if (code < SI_INT)
        put_scalar(w, code, words);
    else if (code < SI_INT_NEG)
        put(w, "%u", code - SI_INT);
    else if (code < SI_INT_NEG + 16)
        put(w, "-%u", code - SI_INT_NEG + 1);
    else if (code < SI_FLOAT + ARRAY_LEN(floats))
        put(w, "%s", floats[code - SI_FLOAT]);
    else if (code == SI_LITERAL)
        put(w, "0x%" PRIx32 "%s", inst->literal, si_literal_is_forced(inst) ? "+(.-.)" : "");
    else
        put(w, "%s", bits[code - SI_VCCZ]);
}

/* A source with its modifiers: neg() for numbers, since a minus would become part of them. */
static void put_source(struct writer *w, const struct si_inst *inst, const struct si_operand *src,
                       u32 words)
{
    bool number = src->code >= SI_INT && src->code < SI_VCCZ;
    const char *before = src->neg ? (number && !src->abs ? "neg(" : "-") : "";
    put(w, "%s%s", before, src->abs ? "|" : "");
    put_code(w, inst, src->code, words);
    put(w, "%s%s", src->abs ? "|" : "", *before == 'n' ? ")" : "");
}

/* Immediates. */

static void put_wait(struct writer *w, u32 imm)
{
    if (imm & ~SI_WAIT_BITS)
        put(w, "0x%x", imm);
    else
        put(w, "vmcnt(%u) expcnt(%u) lgkmcnt(%u)", imm & 15, imm >> 4 & 7, imm >> 8 & 15);
}

static void put_hwreg(struct writer *w, u32 imm)
{
    static const char *const names[] = {NULL,    "MODE",      "STATUS",    "TRAPSTS",
                                        "HW_ID", "GPR_ALLOC", "LDS_ALLOC", "IB_STS"};
    u32 id = imm & 63, first = imm >> 6 & 31, count = (imm >> 11 & 31) + 1;
    if (id && id < ARRAY_LEN(names))
        put(w, "hwreg(HW_REG_%s", names[id]);
    else
        put(w, "hwreg(%u", id);
    if (first || count != 32)
        put(w, ", %u, %u", first, count);
    put(w, ")");
}

static void put_message(struct writer *w, u32 imm)
{
    static const char *const ops[] = {"NOP", "CUT", "EMIT", "EMIT_CUT"};
    u32 id = imm & 15, op = imm >> 4 & 7, stream = imm >> 8 & 3;
    bool plain = !(imm & 0xfc80) && op < ARRAY_LEN(ops);
    const char *name = id == 2 ? "MSG_GS" : "MSG_GS_DONE";
    if (imm == 1)
        put(w, "sendmsg(MSG_INTERRUPT)");
    else if (imm == 3)
        put(w, "sendmsg(MSG_GS_DONE, GS_OP_NOP)");
    else if (plain && op && (id == 2 || id == 3))
        put(w, "sendmsg(%s, GS_OP_%s, %u)", name, ops[op], stream);
    else
        put(w, "0x%x", imm);
}

static void put_target(struct writer *w, u32 target)
{
    if (target < 8)
        put(w, "mrt%u", target);
    else if (target < 10)
        put(w, target == 8 ? "mrtz" : "null");
    else if (target < 16)
        put(w, "pos%u", target - 12);
    else
        put(w, "param%u", target - 32);
}

static void put_immediate(struct writer *w, const struct si_inst *inst, char kind)
{
    static const char *const parameters[] = {"p10", "p20", "p0"};
    u32 imm = (u16)inst->imm;
    switch (kind) {
    case 'k':
    case 'u':
        put(w, inst->format == SI_SOPP && imm <= 64 ? "%u" : "0x%x", imm);
        break;
    case 'b':
        put(w, "%d", inst->imm);
        break;
    case 'w':
        put_wait(w, imm);
        break;
    case 'g':
        put_hwreg(w, imm);
        break;
    case 'y':
        put_message(w, imm);
        break;
    case 'o':
        put(w, "0x%x", imm);
        break;
    case 'q':
        put(w, "%s", parameters[imm]);
        break;
    case 'n':
        put(w, "attr%u.%c", inst->attribute, "xyzw"[inst->channel]);
        break;
    case 'e':
        put_target(w, inst->target);
        break;
    default: /* an address or an export without a register */
        put(w, "off");
        break;
    }
}

/* Operands and what follows them. */

/* The number of registers that the assembler expects, which may differ from those read or
 * written. */
static u32 shown_words(const struct si_inst *inst, const struct si_operand *operand, bool is_data)
{
    if (inst->format == SI_MIMG && operand->kind == '8')
        return 8; /* r128 reads only half of them */
    if (inst->format == SI_MIMG && !is_data && operand->code >= SI_VGPR)
        return si_image_address_words(inst);
    return operand->words;
}

static void put_operand(struct writer *w, const struct si_inst *inst,
                        const struct si_operand *operand, bool is_data)
{
    if (operand->kind >= 'A' && operand->kind <= 'Z')
        return;
    if (inst->op == &si_ops[SI_OP_s_endpgm] && !inst->imm)
        return; /* the optional operand is usually omitted if 0 */
    put(w, "%s", w->separator);
    w->separator = operand->kind == 'e' ? " " : ", ";
    if (operand->code == SI_NONE)
        put_immediate(w, inst, operand->kind);
    else
        put_source(w, inst, operand, shown_words(inst, operand, is_data));
}

/* Whether the first source is data; that of an atomic shares a field with its destination and is
 * written once. */
static bool data_is_source(const struct si_inst *inst)
{
    bool buffer = inst->format == SI_MUBUF || inst->format == SI_MTBUF;
    return buffer ? inst->src_count == 4 : inst->format == SI_MIMG && inst->src[0].kind == 't';
}

static void put_operands(struct writer *w, const struct si_inst *inst)
{
    bool is_memory = inst->format >= SI_MUBUF && inst->format <= SI_MIMG;
    bool data_first = data_is_source(inst);
    for (u32 i = 0; i < inst->dst_count && !data_first; i++)
        put_operand(w, inst, &inst->dst[i], is_memory);
    for (u32 i = 0; i < inst->src_count; i++) {
        if (inst->format == SI_MTBUF && i + 1 == inst->src_count)
            put(w, ", dfmt:%u, nfmt:%u", inst->dfmt, inst->nfmt);
        put_operand(w, inst, &inst->src[i], data_first && i == 0);
    }
}

static void put_flag(struct writer *w, bool flag, const char *name)
{
    put(w, "%s", flag ? name : "");
}

static void put_ds(struct writer *w, const struct si_inst *inst)
{
    u32 imm = (u32)inst->imm;
    if (!(inst->op->flags & SI_TWO_OFFSETS)) {
        if (imm)
            put(w, " offset:%u", imm);
    } else {
        if (imm & 255)
            put(w, " offset0:%u", imm & 255);
        if (imm >> 8)
            put(w, " offset1:%u", imm >> 8);
    }
    put_flag(w, inst->gds, " gds");
}

static void put_buffer(struct writer *w, const struct si_inst *inst)
{
    put_flag(w, inst->addr64, " addr64");
    put_flag(w, inst->idxen, " idxen");
    put_flag(w, inst->offen, " offen");
    if (inst->imm)
        put(w, " offset:%d", inst->imm);
    put_flag(w, inst->glc, " glc");
    put_flag(w, inst->slc, " slc");
    put_flag(w, inst->tfe, " tfe");
    put_flag(w, inst->lds, " lds");
}

static void put_image(struct writer *w, const struct si_inst *inst)
{
    if (inst->dmask)
        put(w, " dmask:0x%x", inst->dmask);
    put_flag(w, inst->unorm, " unorm");
    put_flag(w, inst->glc, " glc");
    put_flag(w, inst->slc, " slc");
    put_flag(w, inst->r128, " r128");
    put_flag(w, inst->tfe, " tfe");
    put_flag(w, inst->lwe, " lwe");
    put_flag(w, inst->da, " da");
}

static void put_modifiers(struct writer *w, const struct si_inst *inst)
{
    static const char *const omods[] = {"", " mul:2", " mul:4", " div:2"};
    switch (inst->format) {
    case SI_VOP3:
        put_flag(w, inst->clamp, " clamp");
        put(w, "%s", omods[inst->omod]);
        break;
    case SI_DS:
        put_ds(w, inst);
        break;
    case SI_MTBUF:
    case SI_MUBUF:
        put_buffer(w, inst);
        break;
    case SI_MIMG:
        put_image(w, inst);
        break;
    case SI_EXP:
        put_flag(w, inst->done, " done");
        put_flag(w, inst->compr, " compr");
        put_flag(w, inst->vm, " vm");
        break;
    default:
        break;
    }
}

static const char *suffix(const struct si_inst *inst)
{
    bool two_forms = inst->op->format >= SI_VOP2 && inst->op->format <= SI_VOPC &&
                     !(inst->op->flags & (SI_NO_LONG | SI_NO_E64));
    if (!two_forms)
        return "";
    return inst->format == SI_VOP3 ? "_e64" : "_e32";
}

static void put_instruction(struct writer *w, const struct si_inst *inst)
{
    put(w, "%s%s", inst->op->name, suffix(inst));
    put_operands(w, inst);
    put_modifiers(w, inst);
}

char *si_text(const struct si_inst *inst, char *buffer, size_t size)
{
    char text[SI_TEXT];
    struct writer inner = {text, sizeof(text), 0, " "}, outer = {buffer, size, 0, ""};
    put_instruction(&inner, inst);
    const char *reason = si_unsayable(inst);
    if (!reason) {
        put(&outer, "%s", text);
        return buffer;
    }
    put(&outer, ".long 0x%08" PRIx32, inst->words[0]);
    if (inst->size == 8)
        put(&outer, ", 0x%08" PRIx32, inst->words[1]);
    put(&outer, " ; %s (%s)", text, reason);
    return buffer;
}
