/* See harness.h. */
#include "harness.h"

enum {
    STRIDE = 64,
    ROWS = 16,
    OTHER = 12 /* rows for destinations of their own */
};

static char kind_of(char letter, struct operand operand)
{
    switch (letter) {
    case 'v':
    case 'V':
        return operand.kind == OPERAND_NONE ? 0 : operand.count == 2 ? 'p' : 'w';
    case 'w':
    case 'p':
    case 'm':
        return letter;
    default: /* may be absent */
        return operand.kind == OPERAND_NONE ? 0 : (char)(letter | 0x20);
    }
}
char source_kind(const struct inst *inst, unsigned k)
{
    const char *letter = strchr(op_info[inst->op].signature, '=') + 1;
    return strlen(letter) > k ? kind_of(letter[k], inst->src[k]) : 0;
}
char result_kind(const struct inst *inst, unsigned k)
{
    const char *signature = op_info[inst->op].signature;
    return strcspn(signature, "=") > k ? kind_of(signature[k], inst->dst[k]) : 0;
}

static struct operand operand_for(char letter, bool all)
{
    if (letter >= 'A' && letter <= 'Z' && !all)
        return operand_none();
    const bool is_mask = letter == 'm' || letter == 'M';
    return operand_make(is_mask ? OPERAND_MASK : OPERAND_VECTOR, 0, letter == 'p' ? 2 : 1);
}
struct inst make_inst(enum op op, bool all)
{
    struct inst inst = {.op = (u16)op, .type = TYPE_U32, .stype = TYPE_U32};
    const char *signature = op_info[op].signature, *sources = strchr(signature, '=') + 1;
    for (unsigned k = 0; signature + k + 1 < sources; k++)
        inst.dst[k] = operand_for(signature[k], all);
    for (unsigned k = 0; sources[k]; k++)
        inst.src[k] = operand_for(sources[k], all);
    return inst;
}

static void put(u32 rows[ROWS][STRIDE], unsigned row, unsigned from, const u64 *value, char kind)
{
    for (unsigned i = 0; i < LANES; i++) {
        rows[row][from + i] = (u32)value[i];
        if (kind == 'p')
            rows[row + 1][from + i] = (u32)(value[i] >> 32);
    }
}

static void place_sources(const struct inst *inst, const struct operands *in, enum alias alias,
                          unsigned from, u32 rows[ROWS][STRIDE], u32 *masks, struct lanes *l)
{
    const bool words = source_kind(inst, 0) == 'w' && source_kind(inst, 1) == 'w';
    for (unsigned k = 0; k < 4; k++) {
        const char kind = source_kind(inst, k);
        const unsigned row = alias == ALIAS_SWAPPED && words && k < 2 ? 1 - k : 2 * k;
        if (kind == 'm') {
            masks[k] = in->mask[k];
            l->src[k] = &masks[k];
        } else if (kind) {
            put(rows, row, from, in->value[k], kind);
            l->src[k] = &rows[row][from];
        }
    }
}

/* Everything but the active lanes of the destinations is as before. */
static void check_kept(const struct inst *inst, u32 rows[ROWS][STRIDE], u32 before[ROWS][STRIDE],
                       const unsigned *dst_row, u32 mask, unsigned from)
{
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned i = 0; i < STRIDE; i++) {
            bool written = false;
            for (unsigned k = 0; k < 2; k++) {
                const char kind = result_kind(inst, k);
                const unsigned words = kind == 'p' ? 2 : kind == 'w' ? 1 : 0;
                written |= row >= dst_row[k] && row < dst_row[k] + words;
            }
            written &= i >= from && i < from + LANES && mask >> (i - from) & 1;
            if (!written && rows[row][i] != before[row][i])
                fail_msg("%s wrote row %u lane %u, mask %08x", op_info[inst->op].name, row, i,
                         mask);
        }
}

void run_lanes(const struct inst *inst, lane_fn *fn, const struct operands *in, u32 mask,
               unsigned half, enum alias alias, struct results *out)
{
    u32 rows[ROWS][STRIDE] __attribute__((aligned(32))), before[ROWS][STRIDE];
    u32 lane_mask[LANES] __attribute__((aligned(32)));
    u32 masks[4] = {0}, dst_masks[2] = {0x5aa5c33c, 0x12345678};
    const u32 old_masks[2] = {dst_masks[0], dst_masks[1]};
    const unsigned from = half * LANES;
    const unsigned first = alias == ALIAS_FIRST || alias == ALIAS_SWAPPED ? 0
                           : alias == ALIAS_SECOND                        ? 2
                                                                          : OTHER;
    const unsigned dst_row[2] = {first, OTHER + 2};
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned i = 0; i < STRIDE; i++)
            rows[row][i] = 0x9e3779b9u * (row * STRIDE + i + 1);
    struct lanes l = {.inst = inst, .mask = mask, .stride = STRIDE, .lane_mask = lane_mask};
    lanes_expand(mask, lane_mask);
    place_sources(inst, in, alias, from, rows, masks, &l);
    for (unsigned k = 0; k < 2; k++) {
        const char kind = result_kind(inst, k);
        l.dst[k] = kind == 'm' ? &dst_masks[k] : kind ? &rows[dst_row[k]][from] : NULL;
    }
    memcpy(before, rows, sizeof before);
    fn(&l);
    check_kept(inst, rows, before, dst_row, mask, from);
    memset(out, 0, sizeof *out);
    for (unsigned k = 0; k < 2; k++) {
        const char kind = result_kind(inst, k);
        if (kind == 'm') {
            assert_int_equal(dst_masks[k] & ~mask, old_masks[k] & ~mask);
            out->mask[k] = dst_masks[k] & mask;
        }
        for (unsigned i = 0; kind && kind != 'm' && i < LANES; i++)
            if (mask >> i & 1)
                out->value[k][i] = rows[dst_row[k]][from + i] |
                                   (kind == 'p' ? (u64)rows[dst_row[k] + 1][from + i] << 32 : 0);
    }
}

u64 random_next(u64 *state)
{
    u64 z = (*state += 0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static const u64 special[] = {
    0,
    1,
    2,
    3,
    31,
    32,
    33,
    63,
    64,
    65,
    127,
    128,
    255,
    256,
    0x7fff,
    0x8000,
    0x8001,
    0xffff,
    0x10000,
    0x7fffffff,
    0x80000000,
    0x80000001,
    0xffffffff,
    0x100000000,
    0x7fffffffffffffff,
    0x8000000000000000,
    0x8000000000000001,
    0xffffffffffffffff,
    0xffffffff80000000,
    /* f16 and bf16, both halves */
    0x3c003c00,
    0xbc00bc00,
    0x7c007c00,
    0xfc00fc00,
    0x7e007e00,
    0x7c017c01,
    0x03ff03ff,
    0x04000400,
    0x7bff7bff,
    0x80018001,
    0x3f803f80,
    0x7f807f80,
    0xff80ff80,
    0x7fc07fc0,
    0x7f817f81,
    0x007f007f,
    0x00800080,
    0x7f7f7f7f,
    0x35555555,
    /* f32 */
    0x3f800000,
    0xbf800000,
    0x3f000000,
    0x3f7fffff,
    0x40490fdb,
    0x7f800000,
    0xff800000,
    0x7fc00000,
    0xffc01234,
    0x7f800001,
    0x007fffff,
    0x00800000,
    0x807fffff,
    0x80800000,
    0x7f7fffff,
    0xff7fffff,
    0x4b000000,
    0x4b7fffff,
    0x4f000000,
    0xcf000000,
    0x4f7fffff,
    0x4f800000,
    0x5f000000,
    0xdf000000,
    0x477fe000,
    0x477ff000,
    0x38800000,
    0x33000000,
    0x33000001,
    0x7e800000,
    0x7e800001,
    0x3fc00000,
    0x40200000,
    0x00000001,
    0x34000000,
    0x33800000,
    /* f64 */
    0x3ff0000000000000,
    0xbff0000000000000,
    0x3fe0000000000000,
    0x7ff0000000000000,
    0xfff0000000000000,
    0x7ff8000000000000,
    0xfff8000000001234,
    0x7ff0000000000001,
    0x000fffffffffffff,
    0x0010000000000000,
    0x7fefffffffffffff,
    0x41dfffffffc00000,
    0xc1e0000000200000,
    0x41efffffffe00000,
    0x43e0000000000000,
    0xc3e0000000000000,
    0x43f0000000000000,
    0x36a0000000000000,
    0x369fffffffffffff,
    0x47efffffe0000000,
    0x47effffff0000000,
    0x380fffffffffffff,
    0x4330000000000000,
    0x3ff8000000000000,
    0x4004000000000000,
};

u64 random_value(u64 *state)
{
    const u64 r = random_next(state), pick = random_next(state);
    switch (pick % 8) {
    case 0:
    case 1:
    case 2:
        return special[r % ARRAY_LEN(special)];
    case 3:
        return r % 300; /* counts and positions */
    case 4:
        return 0 - r % 300;
    case 5: /* near a special value */
        return special[r % ARRAY_LEN(special)] + (r >> 32) % 5 - 2;
    case 6: { /* a float of middling exponent, in each format */
        const u64 f32_bits = (r & 0x807fffff) | (117 + (pick >> 8) % 20) << 23;
        const u64 f64_bits = (r & 0x800fffffffffffff) | (1013 + (pick >> 8) % 20) << 52;
        return pick >> 16 & 1 ? f64_bits : f32_bits | (f32_bits << 32);
    }
    default:
        return r;
    }
}

void random_operands(u64 *state, struct operands *in)
{
    for (unsigned k = 0; k < 4; k++) {
        for (unsigned i = 0; i < LANES; i++)
            in->value[k][i] = random_value(state);
        in->mask[k] = (u32)random_next(state);
    }
    /* Equal operands happen too rarely otherwise. */
    for (unsigned i = 0; i < LANES; i += 7)
        in->value[1][i] = in->value[0][i];
}
