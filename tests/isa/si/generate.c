#include "generate.h"

/* Fixed bits of a format, where its opcode stands, and its fields of 8 or 9 bits that hold a
 * source code, from the lowest bit of the first word on. */
static const struct shape {
    u32 fixed;
    u8 opcode, words;
    u8 sources, first[3], bits;
    u64 rare[2]; /* modifiers that many instructions do not take */
} shapes[SI_FORMAT_COUNT] = {
    [SI_SOP2] = {0x80000000, 23, 1, 2, {0, 8}, 8},
    [SI_SOPK] = {0xb0000000, 23, 1},
    [SI_SOP1] = {0xbe800000, 8, 1, 1, {0}, 8},
    [SI_SOPC] = {0xbf000000, 16, 1, 2, {0, 8}, 8},
    [SI_SOPP] = {0xbf800000, 16, 1},
    [SI_SMRD] = {0xc0000000, 22, 1},
    [SI_VOP2] = {0x00000000, 25, 1, 1, {0}, 9},
    [SI_VOP1] = {0x7e000000, 9, 1, 1, {0}, 9},
    [SI_VOPC] = {0x7c000000, 17, 1, 1, {0}, 9},
    [SI_VOP3] = {0xd0000000, 17, 2, 3, {32, 41, 50}, 9, {0x1800000000000800, 0xe000000000000700}},
    [SI_VINTRP] = {0xc8000000, 16, 1},
    [SI_DS] = {0xd8000000, 18, 2},
    [SI_MUBUF] = {0xe0000000, 18, 2, 1, {56}, 8, {0x0000000000018000, 0x0080000000010000}},
    [SI_MTBUF] = {0xe8000000, 16, 2, 1, {56}, 8, {0x0000000000008000, 0x0080000000000000}},
    [SI_MIMG] = {0xf0000000, 18, 2, 0, {0}, 0, {0x0000000000018000, 0x0000000000000c00}},
    [SI_EXP] = {0xf8000000, 0, 2, 0, {0}, 0, {0x0000000000000400}},
};

void fixed_bits(const struct si_op *op, enum si_format format, u32 *mask, u32 *value)
{
    static const u32 masks[SI_FORMAT_COUNT] = {
        [SI_SOP2] = 0xff800000,   [SI_SOPK] = 0xff800000, [SI_SOP1] = 0xff80ff00,
        [SI_SOPC] = 0xffff0000,   [SI_SOPP] = 0xffff0000, [SI_SMRD] = 0xffc00000,
        [SI_VOP2] = 0xfe000000,   [SI_VOP1] = 0xfe01fe00, [SI_VOPC] = 0xfffe0000,
        [SI_VOP3] = 0xfffe0000,   [SI_DS] = 0xfffc0000,   [SI_MUBUF] = 0xfdfc0000,
        [SI_MTBUF] = 0xfc070000,  [SI_MIMG] = 0xfdfc0000, [SI_EXP] = 0xfc000000,
        [SI_VINTRP] = 0xfc030000,
    };
    *mask = masks[format];
    *value = shapes[format].fixed | si_opcode(op, format) << shapes[format].opcode;
}

/* A source code: mostly vector registers, so that few instructions have two scalar values. */
static u32 source_code(u32 bits, u64 *random)
{
    u32 dice = random_u32(random) % 16;
    if (bits == 9 && dice < 8)
        return SI_VGPR + random_u32(random) % 256;
    if (dice < 11)
        return random_u32(random) % 128 & (dice & 1 ? ~0u : ~1u);
    if (dice < 14)
        return SI_INT + random_u32(random) % 128;
    return dice == 14 ? SI_LITERAL : SI_VCCZ + random_u32(random) % 4;
}

/* Literals: some that have an inline code too. */
static u32 any_literal(u64 *random)
{
    static const u32 known[] = {0,          64,         65,         0xfffffff0,
                                0xffffffef, 0x3f800000, 0xc0800000, 1u << 31};
    u32 dice = random_u32(random) % 16;
    return dice < ARRAY_LEN(known) ? known[dice] : random_u32(random) << (dice & 1);
}

static u64 random_words(const struct si_op *op, enum si_format format, u64 *random)
{
    const struct shape *shape = &shapes[format];
    u64 words = (u64)random_u32(random) << 32 | random_u32(random);
    for (u32 i = 0; i < shape->sources; i++) {
        words &= ~(((1ull << shape->bits) - 1) << shape->first[i]);
        words |= (u64)source_code(shape->bits, random) << shape->first[i];
    }
    for (u32 i = 0; i < 2; i++) /* rare ones: at one time there, at another not */
        if (random_u32(random) % 2)
            words &= ~shape->rare[i];
    u32 mask, value;
    fixed_bits(op, format, &mask, &value);
    return (words & ~(u64)mask) | value;
}

bool generate(const struct si_op *op, enum si_format format, bool stray, u64 *random,
              struct si_inst *inst)
{
    struct error error;
    for (u32 tries = 0; tries < 20000; tries++) {
        u64 all = random_words(op, format, random);
        u32 words[2] = {(u32)all,
                        shapes[format].words == 2 ? (u32)(all >> 32) : any_literal(random)};
        if (!si_decode(words, 2, 0, inst, &error))
            continue;
        if (stray == (inst->stray != 0))
            return true;
        if (stray)
            continue;
        words[0] &= (u32)~inst->stray;
        words[1] &= (u32)(~inst->stray >> 32);
        if (si_decode(words, 2, 0, inst, &error) && !inst->stray)
            return true;
    }
    return false;
}
