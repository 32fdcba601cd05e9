/*
 * Words to instructions.
 *
 * A format's function takes its word apart and lists the fields that hold operands, destinations
 * and sources, in the order of the signature; `bind` walks the signature, gives each letter its
 * field and checks it. Fields are widened to operand codes first (a vector register field is
 * SI_VGPR + n), so that one set of rules holds for all formats.
 */
#include "isa/si/si.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* The fields of the words, before the signature is bound to them. */
struct word_fields {
    u16 dst[2];
    u16 src[5];
    u64 claimed; /* bits of the two words that the format's fields cover */
    u8 neg, abs; /* bit i: source i */
};

struct decoder {
    struct si_inst *inst;
    const u32 *words;
    size_t count; /* words available */
    struct error *error;
};

static u32 bits(u32 word, u32 first, u32 count)
{
    return word >> first & ((1u << count) - 1);
}

/* A mask of the bits [first, first + count). */
static u64 claim(u32 first, u32 count)
{
    return ((1ull << count) - 1) << first;
}

/* Fills the error with address, words and cause; returns false. */
__attribute__((format(printf, 2, 3))) static bool refuse(struct decoder *d, const char *cause, ...)
{
    char second[16] = "", detail[128];
    const struct si_op *op = d->inst->op;
    if (d->count > 1)
        snprintf(second, sizeof(second), " %08" PRIx32, d->words[1]);
    va_list args;
    va_start(args, cause);
    vsnprintf(detail, sizeof(detail), cause, args);
    va_end(args);
    return error_set(d->error, ERROR_INPUT, "", "at 0x%" PRIx64 ": %08" PRIx32 "%s: %s%s%s",
                     d->inst->address, d->words[0], second, op ? op->name : "", op ? ": " : "",
                     detail);
}

/* ---- operands ---- */

static u32 kind_words(char kind)
{
    switch (kind) {
    case '2':
    case 'd':
    case 'm':
    case 'p':
    case 'V':
    case 'X':
        return 2;
    case '3':
    case '4':
    case '8':
        return (u32)kind - '0';
    case 'x':
        return 16;
    default:
        return 1;
    }
}

/* Whether `words` scalar registers from `code` on exist and are aligned as hardware requires. */
static bool scalar_range(u32 code, u32 words)
{
    u32 align = MIN(words, 4);
    if (code % align)
        return false;
    if (code < SI_SGPRS)
        return code + words <= SI_SGPRS;
    if (code >= SI_TTMP && code < SI_TTMP + SI_TTMPS)
        return code + words <= SI_TTMP + SI_TTMPS;
    if (code == SI_M0)
        return words == 1;
    bool pair = (code >= SI_VCC && code < SI_TTMP) || code == SI_EXEC || code == SI_EXEC + 1;
    return pair && words <= 2;
}

static bool is_constant(u32 code)
{
    return (code >= SI_INT && code < SI_INT_NEG + 16) ||
           (code >= SI_FLOAT && code < SI_FLOAT + 8) || (code >= SI_VCCZ && code <= SI_SCC);
}

/* Which codes an operand may have. */
enum allowed {
    SCALAR = 1 << 0,
    CONSTANT = 1 << 1,
    LITERAL = 1 << 2,
    VECTOR = 1 << 3,
    DIRECT = 1 << 4,
};

static u32 allowed_sources(const struct si_inst *inst, char kind, u32 index)
{
    bool is_short = inst->format == SI_VOP1 || inst->format == SI_VOP2 || inst->format == SI_VOPC;
    switch (kind) {
    case 'm':
    case 'r':
    case 'p':
        return SCALAR;
    case 's':
        return SCALAR | CONSTANT;
    case 'v': /* must be a register in movrel and interpolation instructions */
        return strchr(inst->op->signature, 'M') ? VECTOR : VECTOR | DIRECT;
    default:
        break;
    }
    switch (inst->format) {
    case SI_SOP1:
    case SI_SOP2:
    case SI_SOPC:
        return SCALAR | CONSTANT | LITERAL;
    case SI_SOPK:
    case SI_SMRD:
        return SCALAR;
    case SI_VOP1:
    case SI_VOP2:
    case SI_VOPC:
    case SI_VOP3:
        return SCALAR | CONSTANT | VECTOR | (is_short ? LITERAL : 0) |
               (index == 0 && kind_words(kind) == 1 ? DIRECT : 0);
    case SI_MUBUF:
    case SI_MTBUF:
        return index + 1 < inst->src_count ? SCALAR | VECTOR : SCALAR | CONSTANT;
    default:
        return SCALAR | VECTOR;
    }
}

static u32 allowed_destinations(const struct si_inst *inst, char kind)
{
    return kind == 'm' || kind == 'r' || inst->format <= SI_SMRD ? SCALAR : VECTOR;
}

static bool check(struct decoder *d, const struct si_operand *operand, u32 allowed)
{
    u32 code = operand->code;
    if (code >= SI_VGPR) {
        if (!(allowed & VECTOR))
            return refuse(d, "operand 0x%x is a vector register", code);
        if (code + operand->words > SI_VGPR + 256)
            return refuse(d, "vector registers beyond v255: first is v%u", code - SI_VGPR);
        return true;
    }
    if (code < SI_INT) {
        if (!(allowed & SCALAR))
            return refuse(d, "operand 0x%x is a scalar register", code);
        if (operand->words == 1 && !scalar_range(code, 1))
            return refuse(d, "no scalar register has the code 0x%x", code);
        if (code % MIN(operand->words, 4))
            return refuse(d, "%u scalar registers at code 0x%x are misaligned", operand->words,
                          code);
        if (!scalar_range(code, operand->words))
            return refuse(d, "no %u scalar registers begin at code 0x%x", operand->words, code);
        return true;
    }
    if (code == SI_LITERAL      ? allowed & LITERAL
        : code == SI_LDS_DIRECT ? allowed & DIRECT
                                : is_constant(code) && (allowed & CONSTANT))
        return true;
    return refuse(d, "operand code 0x%x is reserved here", code);
}

/* Refuses undefined values of immediates. */
static bool check_immediate(struct decoder *d, char kind)
{
    u32 target = d->inst->target;
    if (kind == 'q' && d->inst->imm > 2)
        return refuse(d, "no interpolation parameter has the number %d", d->inst->imm);
    if (kind == 'e' && (target == 10 || target == 11 || (target > 15 && target < 32)))
        return refuse(d, "no export target has the number %u", target);
    return true;
}

/* The operand of a capital letter, whose registers are fixed. */
static struct si_operand implicit(const struct si_inst *inst, char kind)
{
    static const u8 codes[] = {['C'] = SI_SCC, ['M'] = SI_M0, ['V'] = SI_VCC, ['X'] = SI_EXEC};
    if (kind == 'D') {
        struct si_operand old = inst->dst[0];
        old.kind = kind;
        return old;
    }
    return (struct si_operand){codes[(u8)kind], (u8)kind_words(kind), kind, false, false};
}

/* Data words of a memory instruction for the letter `kind`, plus the status word of tfe. */
static u32 data_words(const struct si_inst *inst, char kind)
{
    u32 words = kind == 't' ? MAX((u32)__builtin_popcount(inst->dmask), 1) : kind_words(kind);
    return words + inst->tfe;
}

static u32 source_words(const struct si_inst *inst, char kind, u16 code, bool is_data)
{
    if (is_data)
        return data_words(inst, kind);
    if (kind == 'a' && inst->format != SI_DS)
        return inst->addr64 ? 2 : (u32)inst->offen + inst->idxen;
    if (kind == '8' && inst->r128)
        return 4;
    return code == SI_NONE ? 0 : kind_words(kind);
}

static bool bind_destinations(struct decoder *d, const char *letters,
                              const struct word_fields *fields)
{
    struct si_inst *inst = d->inst;
    bool is_memory = inst->format >= SI_MUBUF;
    u32 field = 0;
    for (const char *kind = letters; *kind != '='; kind++) {
        struct si_operand *dst = &inst->dst[inst->dst_count++];
        if (*kind >= 'A' && *kind <= 'Z') {
            *dst = implicit(inst, *kind);
            continue;
        }
        u32 words = is_memory ? data_words(inst, *kind) : kind_words(*kind);
        *dst = (struct si_operand){fields->dst[field++], (u8)words, *kind, false, false};
        if (!check(d, dst, allowed_destinations(inst, *kind)))
            return false;
    }
    return true;
}

static bool bind_sources(struct decoder *d, const char *letters, const struct word_fields *fields)
{
    struct si_inst *inst = d->inst;
    bool is_memory = inst->format >= SI_MUBUF && inst->format <= SI_MIMG;
    bool has_data = is_memory && letters[0] && (letters[0] == 't' || letters[1] == 'a');
    u32 field = 0;
    inst->src_count = (u8)strlen(letters);
    for (u32 i = 0; i < inst->src_count; i++) {
        char kind = letters[i];
        struct si_operand *src = &inst->src[i];
        if (kind >= 'A' && kind <= 'Z') {
            *src = implicit(inst, kind);
            continue;
        }
        if (strchr("kubwgyqne", kind)) { /* held in inst->imm and other fields, not in src */
            if (!check_immediate(d, kind))
                return false;
            *src = (struct si_operand){SI_NONE, 0, kind, false, false};
            continue;
        }
        if (kind == 'l') {
            *src = (struct si_operand){SI_LITERAL, 1, kind, false, false};
            continue;
        }
        u16 code = fields->src[field];
        u32 words = source_words(inst, kind, code, has_data && i == 0);
        *src = (struct si_operand){words ? code : SI_NONE, (u8)words, kind,
                                   fields->neg >> field & 1, fields->abs >> field & 1};
        field++;
        if (words && !check(d, src, allowed_sources(inst, kind, i)))
            return false;
    }
    return true;
}

/* Binds the signature to the fields, reads the literal and finds stray bits. */
static bool bind(struct decoder *d, const struct word_fields *fields)
{
    struct si_inst *inst = d->inst;
    const char *letters = inst->op->signature;
    if (!bind_destinations(d, letters, fields) ||
        !bind_sources(d, strchr(letters, '=') + 1, fields))
        return false;
    bool literal = false;
    for (u32 i = 0; i < inst->src_count; i++)
        literal |= inst->src[i].code == SI_LITERAL;
    if (literal) {
        if (d->count < 2)
            return refuse(d, "the code ends before the literal");
        inst->literal = inst->words[1] = d->words[1];
        inst->size = 8;
    }
    u64 claimed = fields->claimed | (literal ? claim(32, 32) : 0);
    inst->stray = (inst->words[0] | (u64)inst->words[1] << 32) & ~claimed;
    return true;
}

/* ---- formats: fill the fields of the row in inst->op ---- */

static bool has(const struct si_inst *inst, char letter)
{
    return strchr(inst->op->signature, letter) != NULL;
}

static u32 sources_named(const struct si_inst *inst)
{
    u32 count = 0;
    for (const char *kind = strchr(inst->op->signature, '=') + 1; *kind; kind++)
        count += !(*kind >= 'A' && *kind <= 'Z');
    return count;
}

static bool has_dst(const struct si_inst *inst)
{
    char first = inst->op->signature[0];
    return first != '=' && !(first >= 'A' && first <= 'Z');
}

static void take_sop2(struct si_inst *inst, struct word_fields *f)
{
    u32 word = inst->words[0];
    f->dst[0] = (u16)bits(word, 16, 7);
    f->src[0] = (u16)bits(word, 0, 8);
    f->src[1] = (u16)bits(word, 8, 8);
    f->claimed = claim(23, 9) | claim(0, 16) | (has_dst(inst) ? claim(16, 7) : 0);
}

static void take_sopk(struct si_inst *inst, struct word_fields *f)
{
    u32 word = inst->words[0];
    f->dst[0] = f->src[0] = (u16)bits(word, 16, 7);
    inst->imm = (i16)word;
    bool literal = has(inst, 'l'); /* s_setreg_imm32_b32 names no register */
    f->claimed = claim(23, 9) | claim(0, 16) | (literal ? 0 : claim(16, 7));
}

static void take_sop1(struct si_inst *inst, struct word_fields *f)
{
    u32 word = inst->words[0];
    f->dst[0] = (u16)bits(word, 16, 7);
    f->src[0] = (u16)bits(word, 0, 8);
    f->claimed = claim(23, 9) | claim(8, 8) | (has_dst(inst) ? claim(16, 7) : 0) |
                 (sources_named(inst) ? claim(0, 8) : 0);
}

static void take_sopc(struct si_inst *inst, struct word_fields *f)
{
    f->src[0] = (u16)bits(inst->words[0], 0, 8);
    f->src[1] = (u16)bits(inst->words[0], 8, 8);
    f->claimed = claim(0, 32);
}

static void take_sopp(struct si_inst *inst, struct word_fields *f)
{
    inst->imm = (i16)inst->words[0];
    f->claimed = claim(16, 16) | (sources_named(inst) ? claim(0, 16) : 0);
}

static void take_smrd(struct si_inst *inst, struct word_fields *f)
{
    u32 word = inst->words[0];
    bool constant = bits(word, 8, 1);
    f->dst[0] = (u16)bits(word, 15, 7);
    f->src[0] = (u16)(bits(word, 9, 6) * 2);
    f->src[1] = constant ? SI_NONE : (u16)bits(word, 0, 8);
    inst->imm = constant ? (i32)bits(word, 0, 8) : 0;
    f->claimed = claim(22, 10) | (has_dst(inst) ? claim(15, 7) : 0) |
                 (sources_named(inst) ? claim(0, 15) : 0);
}

/* A destination byte: a scalar register for m and r, else a vector register. */
static u16 vector_dst(const struct si_inst *inst, u32 field)
{
    char kind = inst->op->signature[0];
    return (u16)(kind == 'm' || kind == 'r' ? field : SI_VGPR + field);
}

static void take_vop1(struct si_inst *inst, struct word_fields *f)
{
    u32 word = inst->words[0];
    f->dst[0] = vector_dst(inst, bits(word, 17, 8));
    f->src[0] = (u16)bits(word, 0, 9);
    bool none = !sources_named(inst); /* v_nop, v_clrexcp */
    f->claimed = claim(25, 7) | claim(9, 8) | (none ? 0 : claim(17, 8) | claim(0, 9));
}

static void take_vop2(struct si_inst *inst, struct word_fields *f)
{
    u32 word = inst->words[0], second = bits(word, 9, 8);
    f->dst[0] = vector_dst(inst, bits(word, 17, 8));
    f->dst[1] = SI_VCC;
    f->src[0] = (u16)bits(word, 0, 9);
    f->src[1] = (u16)(has(inst, 's') ? second : SI_VGPR + second);
    f->src[2] = SI_VCC;
    f->claimed = claim(0, 32);
}

static void take_vopc(struct si_inst *inst, struct word_fields *f)
{
    f->dst[0] = SI_VCC;
    f->src[0] = (u16)bits(inst->words[0], 0, 9);
    f->src[1] = (u16)(SI_VGPR + bits(inst->words[0], 9, 8));
    f->claimed = claim(0, 32);
}

static void take_vop3(struct si_inst *inst, struct word_fields *f)
{
    u32 word = inst->words[0], second = inst->words[1], sources = sources_named(inst);
    bool carry = inst->op->signature[1] == 'm'; /* the form VOP3b, with a scalar destination */
    f->dst[0] = vector_dst(inst, bits(word, 0, 8));
    f->dst[1] = (u16)bits(word, 8, 7);
    for (u32 i = 0; i < 3; i++)
        f->src[i] = (u16)bits(second, 9 * i, 9);
    f->neg = (u8)bits(second, 29, 3);
    f->abs = carry ? 0 : (u8)bits(word, 8, 3);
    inst->clamp = !carry && bits(word, 11, 1);
    inst->omod = (u8)bits(second, 27, 2);
    f->claimed = claim(17, 15) | claim(32 + 29, sources) | claim(32, 9 * sources) |
                 (carry ? claim(8, 7) : claim(8, sources));
    if (has_dst(inst))
        f->claimed |= claim(0, 8) | claim(32 + 27, 2) | (carry ? 0 : claim(11, 1));
}

static void take_vintrp(struct si_inst *inst, struct word_fields *f)
{
    u32 word = inst->words[0];
    f->dst[0] = (u16)(SI_VGPR + bits(word, 18, 8));
    f->src[0] = (u16)(SI_VGPR + bits(word, 0, 8));
    inst->imm = (i32)bits(word, 0, 8); /* q: 0 P10, 1 P20, 2 P0 */
    inst->attribute = (u8)bits(word, 10, 6);
    inst->channel = (u8)bits(word, 8, 2);
    f->claimed = claim(0, 32);
}

static void take_ds(struct si_inst *inst, struct word_fields *f)
{
    u32 word = inst->words[0], second = inst->words[1], sources = sources_named(inst);
    f->dst[0] = (u16)(SI_VGPR + bits(second, 24, 8));
    for (u32 i = 0; i < 3; i++) /* address, data0, data1 */
        f->src[i] = (u16)(SI_VGPR + bits(second, 8 * i, 8));
    inst->gds = bits(word, 17, 1);
    inst->imm = (i32)bits(word, 0, 16);
    f->claimed =
        claim(17, 15) | claim(0, 16) | claim(32, 8 * sources) | (has_dst(inst) ? claim(56, 8) : 0);
}

/* The second word and the low half of the first, which MUBUF and MTBUF share. */
static void take_buffer(struct si_inst *inst, struct word_fields *f)
{
    u32 word = inst->words[0], second = inst->words[1];
    u16 *src = f->src;
    f->dst[0] = (u16)(SI_VGPR + bits(second, 8, 8));
    if (strchr(inst->op->signature, '=')[1] != 'a') /* stores and atomics have data first */
        *src++ = f->dst[0];
    *src++ = (u16)(SI_VGPR + bits(second, 0, 8));
    *src++ = (u16)(bits(second, 16, 5) * 4);
    *src++ = (u16)bits(second, 24, 8);
    inst->imm = (i32)bits(word, 0, 12);
    inst->offen = bits(word, 12, 1);
    inst->idxen = bits(word, 13, 1);
    inst->glc = bits(word, 14, 1);
    inst->addr64 = bits(word, 15, 1);
    inst->slc = bits(second, 22, 1);
    inst->tfe = bits(second, 23, 1);
    bool address = inst->offen || inst->idxen || inst->addr64;
    f->claimed = claim(26, 6) | claim(0, 16) | (address ? claim(32, 8) : 0) | claim(32 + 8, 13) |
                 claim(32 + 22, 10);
}

static void take_mubuf(struct si_inst *inst, struct word_fields *f)
{
    take_buffer(inst, f);
    inst->lds = bits(inst->words[0], 16, 1);
    f->claimed |= claim(18, 7) | claim(16, 1);
    if (!has(inst, 'a')) { /* cache instructions have no operands */
        f->claimed = claim(26, 6) | claim(18, 7);
        inst->imm = 0;
        inst->offen = inst->idxen = inst->glc = inst->addr64 = false;
        inst->slc = inst->tfe = inst->lds = false;
    }
}

static void take_mtbuf(struct si_inst *inst, struct word_fields *f)
{
    take_buffer(inst, f);
    inst->dfmt = (u8)bits(inst->words[0], 19, 4);
    inst->nfmt = (u8)bits(inst->words[0], 23, 3);
    f->claimed |= claim(16, 10);
}

static void take_mimg(struct si_inst *inst, struct word_fields *f)
{
    u32 word = inst->words[0], second = inst->words[1];
    bool sampler = inst->op->signature[4] == '4';
    u16 *src = f->src;
    f->dst[0] = (u16)(SI_VGPR + bits(second, 8, 8));
    if (strchr(inst->op->signature, '=')[1] == 't')
        *src++ = f->dst[0];
    *src++ = (u16)(SI_VGPR + bits(second, 0, 8));
    *src++ = (u16)(bits(second, 16, 5) * 4);
    *src++ = (u16)(bits(second, 21, 5) * 4);
    inst->dmask = (u8)bits(word, 8, 4);
    inst->unorm = bits(word, 12, 1);
    inst->glc = bits(word, 13, 1);
    inst->da = bits(word, 14, 1);
    inst->r128 = bits(word, 15, 1);
    inst->tfe = bits(word, 16, 1);
    inst->lwe = bits(word, 17, 1);
    inst->slc = bits(word, 25, 1);
    f->claimed = claim(8, 24) | claim(32, 21) | (sampler ? claim(32 + 21, 5) : 0);
}

/* A compressed export packs two halves in a register: its first two sources are the first byte. */
static void take_exp(struct si_inst *inst, struct word_fields *f)
{
    u32 word = inst->words[0];
    inst->enable = (u8)bits(word, 0, 4);
    inst->target = (u8)bits(word, 4, 6);
    inst->compr = bits(word, 10, 1);
    inst->done = bits(word, 11, 1);
    inst->vm = bits(word, 12, 1);
    f->claimed = claim(26, 6) | claim(0, 13);
    for (u32 i = 0; i < 4; i++) {
        u32 first = 8 * (inst->compr ? i / 2 : i);
        bool enabled = inst->enable >> i & 1;
        f->src[i] = (u16)(enabled ? SI_VGPR + bits(inst->words[1], first, 8) : SI_NONE);
        f->claimed |= enabled ? claim(32 + first, 8) : 0;
    }
}

/* Opcode field, length and field extraction of each format. */
static const struct format {
    const char *name;
    u8 first, count; /* bits of the opcode */
    u8 words;
    void (*take)(struct si_inst *inst, struct word_fields *fields);
} formats[SI_FORMAT_COUNT] = {
    [SI_SOP2] = {"SOP2", 23, 7, 1, take_sop2},       [SI_SOPK] = {"SOPK", 23, 5, 1, take_sopk},
    [SI_SOP1] = {"SOP1", 8, 8, 1, take_sop1},        [SI_SOPC] = {"SOPC", 16, 7, 1, take_sopc},
    [SI_SOPP] = {"SOPP", 16, 7, 1, take_sopp},       [SI_SMRD] = {"SMRD", 22, 5, 1, take_smrd},
    [SI_VOP2] = {"VOP2", 25, 6, 1, take_vop2},       [SI_VOP1] = {"VOP1", 9, 8, 1, take_vop1},
    [SI_VOPC] = {"VOPC", 17, 8, 1, take_vopc},       [SI_VOP3] = {"VOP3", 17, 9, 2, take_vop3},
    [SI_VINTRP] = {"VINTRP", 16, 2, 1, take_vintrp}, [SI_DS] = {"DS", 18, 8, 2, take_ds},
    [SI_MUBUF] = {"MUBUF", 18, 7, 2, take_mubuf},    [SI_MTBUF] = {"MTBUF", 16, 3, 2, take_mtbuf},
    [SI_MIMG] = {"MIMG", 18, 7, 2, take_mimg},       [SI_EXP] = {"EXP", 0, 0, 2, take_exp},
};

/* The format by the word's upper bits, SI_FORMAT_COUNT if there is none. */
static enum si_format format_of(u32 word)
{
    if (word >> 31 == 0)
        return word >> 25 == 0x3e ? SI_VOPC : word >> 25 == 0x3f ? SI_VOP1 : SI_VOP2;
    if (word >> 30 == 2) {
        switch (word >> 23) {
        case 0x17d:
            return SI_SOP1;
        case 0x17e:
            return SI_SOPC;
        case 0x17f:
            return SI_SOPP;
        default:
            return word >> 28 == 0xb ? SI_SOPK : SI_SOP2;
        }
    }
    switch (word >> 26) {
    case 0x30:
    case 0x31:
        return SI_SMRD;
    case 0x32:
        return SI_VINTRP;
    case 0x34:
        return SI_VOP3;
    case 0x36:
        return SI_DS;
    case 0x38:
        return SI_MUBUF;
    case 0x3a:
        return SI_MTBUF;
    case 0x3c:
        return SI_MIMG;
    case 0x3e:
        return SI_EXP;
    default:
        return SI_FORMAT_COUNT;
    }
}

bool si_decode(const u32 *words, size_t count, u64 address, struct si_inst *inst,
               struct error *error)
{
    struct decoder d = {.inst = inst, .words = words, .count = count, .error = error};
    struct word_fields fields = {0};
    *inst = (struct si_inst){.address = address, .size = 4};
    if (!count)
        return error_set(error, ERROR_INPUT, "", "at 0x%" PRIx64 ": the code ends here", address);
    inst->words[0] = words[0];
    enum si_format number = format_of(words[0]);
    if (number == SI_FORMAT_COUNT)
        return refuse(&d, "no instruction format has the upper bits 0x%x", words[0] >> 26);
    const struct format *format = &formats[number];
    inst->format = (u8)number;
    u32 opcode = bits(words[0], format->first, format->count);
    inst->op = si_find(number, opcode);
    if (inst->op && number == SI_VOP3 && inst->op->flags & SI_NO_LONG)
        inst->op = NULL;
    if (!inst->op)
        return refuse(&d, "%s has no opcode 0x%02x", format->name, opcode);
    if (format->words == 2) {
        if (count < 2)
            return refuse(&d, "the code ends before the second word");
        inst->words[1] = words[1];
        inst->size = 8;
    }
    format->take(inst, &fields);
    return bind(&d, &fields);
}

bool si_branch_target(const struct si_inst *inst, u64 *address)
{
    if (!has(inst, 'b'))
        return false;
    *address = inst->address + 4 + (u64)((i64)inst->imm * 4);
    return true;
}
