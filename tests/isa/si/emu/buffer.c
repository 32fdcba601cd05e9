/*
 * Memory outside LDS: scalar loads, buffer loads, stores and atomics. See emu.h.
 *
 * Range checks: a descriptor with stride 0 counts bytes; one with a stride counts records, and with
 * an index the offset must stay in its record; addr64 is not checked. What is out of range loads 0
 * and stores nothing.
 */
#include "emu.h"

#include <string.h>

struct descriptor {
    u64 base;
    u32 stride, records, dfmt, nfmt, element, index_stride, select[4];
    bool swizzle, add_tid;
};

static struct descriptor descriptor_of(struct step *s, u32 at)
{
    u32 w[4];
    for (u32 i = 0; i < 4; i++)
        w[i] = emu_scalar(s, at + i);
    struct descriptor d = {
        .base = (u64)(w[1] & 0xffff) << 32 | w[0],
        .stride = w[1] >> 16 & 0x3fff,
        .swizzle = w[1] >> 31,
        .records = w[2],
        .nfmt = w[3] >> 12 & 7,
        .dfmt = w[3] >> 15 & 15,
        .element = 2u << (w[3] >> 19 & 3),
        .index_stride = 8u << (w[3] >> 21 & 3),
        .add_tid = w[3] >> 23 & 1,
    };
    for (u32 i = 0; i < 4; i++)
        d.select[i] = w[3] >> 3 * i & 7;
    return d;
}

static u32 number_of(const char *signature)
{
    return signature[1] >= '0' && signature[1] <= '9' ? 16 : (u32)(signature[0] - '0');
}

void emu_smrd(struct step *s)
{
    const struct insn *n = s->insn;
    u32 count = number_of(n->row->signature);
    u32 offset = n->imm_offset ? n->offset0 * 4 : emu_scalar(s, n->offset0);
    bool checked = n->row->opcode >= 8;
    u64 base = emu_scalar64(s, n->srsrc, false), limit = ~0ull;
    u32 out[16];
    if (checked) {
        struct descriptor d = descriptor_of(s, n->srsrc);
        base = d.base;
        limit = d.stride ? (u64)d.records * d.stride : d.records;
    }
    for (u32 i = 0; i < count; i++) {
        u64 at = (u64)(offset & ~3u) + 4 * i;
        u8 *data;
        out[i] = 0;
        if (at + 4 > limit)
            continue;
        if (!emu_memory(s, (base & ~3ull) + at, 4, &data))
            return;
        memcpy(&out[i], data, 4);
    }
    for (u32 i = 0; i < count; i++)
        emu_write_scalar(s, n->dst + i, out[i]);
}

/* Where a lane's access begins, and which of its parts are in range. */
struct place {
    u64 address, offset; /* offset within the buffer, for the check of each part */
    u64 limit;           /* bytes; ~0 when the record was in range */
    bool in_range;
};

static struct place locate(struct step *s, const struct descriptor *d, u32 lane)
{
    const struct insn *n = s->insn;
    const u32(*v)[LANES] = (const u32(*)[LANES])s->wave->vectors;
    u32 soffset = emu_scalar(s, n->soffset);
    struct place p = {.limit = ~0ull, .in_range = true};
    if (n->addr64) {
        u64 at = (u64)v[n->vaddr + 1][lane] << 32 | v[n->vaddr][lane];
        p.address = d->base + at + soffset + n->offset0;
        return p;
    }
    u32 index = n->idxen ? v[n->vaddr][lane] : 0;
    u32 offset = n->offset0 + (n->offen ? v[n->vaddr + n->idxen][lane] : 0);
    if (d->add_tid)
        index += lane;
    if (d->swizzle) {
        u64 row = index / d->index_stride, column = index % d->index_stride;
        p.offset = (row * d->stride + offset / d->element * d->element) * d->index_stride +
                   column * d->element + offset % d->element;
    } else {
        p.offset = (u64)index * d->stride + offset;
    }
    if (d->stride) {
        p.in_range = index < d->records && (!(n->idxen || d->add_tid) || offset < d->stride);
    } else {
        p.limit = d->records > soffset ? d->records - soffset : 0;
    }
    p.address = d->base + soffset + p.offset;
    return p;
}

static bool part_in_range(const struct place *p, u64 at, u32 bytes)
{
    return p->in_range && (p->limit == ~0ull || p->offset + at + bytes <= p->limit);
}

static u64 load_bytes(struct step *s, u64 address, u32 bytes)
{
    u8 *data;
    u64 value = 0;
    if (emu_memory(s, address, bytes, &data))
        memcpy(&value, data, bytes);
    return value;
}

static void store_bytes(struct step *s, u32 lane, u64 address, u64 value, u32 bytes)
{
    u8 *data;
    if (!emu_memory(s, address, bytes, &data))
        return;
    for (u32 i = 0; i < bytes; i++)
        emu_write_byte(s, SPACE_MEMORY, lane, address + i, (u8)(value >> 8 * i));
}

/* The low bits of an address are dropped, and its offset follows. */
static void align_down(struct place *p, u32 align)
{
    u64 cut = p->address % align;
    p->address -= cut;
    p->offset -= cut;
}

/* Formats: the width of each component in bits, first component lowest. */
static const u8 component_bits[16][4] = {
    [1] = {8},
    [2] = {16},
    [3] = {8, 8},
    [4] = {32},
    [5] = {16, 16},
    [6] = {11, 11, 10},
    [7] = {10, 11, 11},
    [8] = {2, 10, 10, 10},
    [9] = {10, 10, 10, 2},
    [10] = {8, 8, 8, 8},
    [11] = {32, 32},
    [12] = {16, 16, 16, 16},
    [13] = {32, 32, 32},
    [14] = {32, 32, 32, 32},
};

enum number_format {
    N_UNORM,
    N_SNORM,
    N_USCALED,
    N_SSCALED,
    N_UINT,
    N_SINT,
    N_SNORM_OGL,
    N_FLOAT
};

/* Small floats: 11 bits are 5 of exponent and 6 of mantissa, 10 bits 5 and 5, both without sign. */
static u32 float_in(u32 raw, u32 bits)
{
    if (bits == 32)
        return raw;
    if (bits == 16)
        return (u32)num_convert(K_F32, K_F16, raw, R_N);
    return (u32)num_convert(K_F32, K_F16, raw << (bits == 11 ? 4 : 5), R_N);
}

static u32 divide(i64 value, i64 by)
{
    mpfr_t x;
    mpfr_init2(x, FP_PRECISION);
    mpfr_set_sj(x, value, MPFR_RNDN);
    int ternary = mpfr_div_si(x, x, (long)by, MPFR_RNDZ);
    u32 out = (u32)fp_store(K_F32, x, ternary != 0, R_N);
    mpfr_clear(x);
    return out;
}

static u32 component_in(u32 raw, u32 bits, enum number_format format)
{
    i64 value = raw, most = (1ll << bits) - 1, half = (1ll << (bits - 1)) - 1;
    i64 negative = raw >> (bits - 1) & 1 ? value - (1ll << bits) : value;
    switch (format) {
    case N_UNORM:
        return divide(value, most);
    case N_SNORM:
        return divide(negative < -half ? -half : negative, half);
    case N_USCALED:
        return (u32)num_from_integer(K_F32, value, R_N);
    case N_SSCALED:
        return (u32)num_from_integer(K_F32, negative, R_N);
    case N_UINT:
        return raw;
    case N_SINT:
        return (u32)negative;
    case N_SNORM_OGL:
        return divide(2 * negative + 1, most);
    default:
        return float_in(raw, bits);
    }
}

static u32 component_out(u32 value, u32 bits, enum number_format format)
{
    i64 most = (1ll << bits) - 1, half = (1ll << (bits - 1)) - 1;
    u64 wide = num_convert(K_F64, K_F32, value, R_N);
    switch (format) {
    case N_UNORM:
        wide = num_mul(K_F64, wide, num_from_integer(K_F64, most, R_N), R_N);
        return (u32)num_to_integer(K_F64, wide, R_N, 0, most, 0);
    case N_SNORM:
        wide = num_mul(K_F64, wide, num_from_integer(K_F64, half, R_N), R_N);
        return (u32)(num_to_integer(K_F64, wide, R_N, -half, half, 0) & most);
    case N_UINT:
        return bits < 32 && value > most ? (u32)most : value;
    case N_SINT: {
        i64 v = (int32_t)value;
        return (u32)((v > half ? half : v < -half - 1 ? -half - 1 : v) & most);
    }
    default:
        return bits == 32 ? value : (u32)num_convert(K_F16, K_F32, value, R_N);
    }
}

static u32 format_bytes(u32 dfmt)
{
    u32 bits = 0;
    for (u32 i = 0; i < 4; i++)
        bits += component_bits[dfmt][i];
    return bits / 8;
}

static u32 selected(u32 select, const u32 *components, u32 one)
{
    return select >= 4 ? components[select - 4] : select == 1 ? one : 0;
}

/* `select` NULL: components in order, absent ones 0, 0, 0, 1. */
static void load_format(struct step *s, u32 lane, const struct place *p, u32 dfmt, u32 nfmt,
                        const u32 *select, u32 *out)
{
    u32 bytes = format_bytes(dfmt), one = nfmt == N_UINT || nfmt == N_SINT ? 1 : 0x3f800000;
    u32 components[4] = {0, 0, 0, one}, at = 0;
    (void)lane;
    if (!bytes) {
        emu_fault(s, "data format");
        return;
    }
    bool inside = part_in_range(p, 0, bytes);
    for (u32 i = 0; i < 4 && component_bits[dfmt][i]; i++) {
        u32 bits = component_bits[dfmt][i];
        u32 first = at / 8, last = (at + bits + 7) / 8;
        u64 raw = inside ? load_bytes(s, p->address + first, last - first) : 0;
        raw = raw >> at % 8 & ((1ull << bits) - 1);
        components[i] = inside ? component_in((u32)raw, bits, (enum number_format)nfmt) : 0;
        at += bits;
    }
    if (!inside)
        components[3] = 0;
    for (u32 i = 0; i < 4; i++)
        out[i] = select ? selected(select[i], components, inside ? one : 0) : components[i];
}

static void store_format(struct step *s, u32 lane, const struct place *p, u32 dfmt, u32 nfmt,
                         const u32 *in, u32 count)
{
    u32 bytes = format_bytes(dfmt), at = 0;
    u8 data[16] = {0};
    if (!bytes || !part_in_range(p, 0, bytes)) {
        if (!bytes)
            emu_fault(s, "data format");
        return;
    }
    for (u32 i = 0; i < 4 && component_bits[dfmt][i]; i++) {
        u32 bits = component_bits[dfmt][i];
        u64 raw = component_out(i < count ? in[i] : 0, bits, (enum number_format)nfmt);
        for (u32 b = 0; b < bits; b++)
            data[(at + b) / 8] |= (u8)((raw >> b & 1) << (at + b) % 8);
        at += bits;
    }
    for (u32 i = 0; i < bytes; i++)
        emu_write_byte(s, SPACE_MEMORY, lane, p->address + i, data[i]);
}

static bool is_format(const struct insn *n)
{
    return n->format == F_MTBUF || n->row->opcode < 8;
}

static void format_lane(struct step *s, const struct descriptor *d, u32 lane)
{
    const struct insn *n = s->insn;
    struct place p = locate(s, d, lane);
    bool typed = n->format == F_MTBUF;
    u32 dfmt = typed ? n->dfmt : d->dfmt, nfmt = typed ? n->nfmt : d->nfmt, values[4];
    u32 count = number_of(n->row->signature), bytes = format_bytes(dfmt);
    if (bytes)
        align_down(&p, bytes > 4 ? 4 : bytes);
    if (n->row->signature[1] == '=') {
        load_format(s, lane, &p, dfmt, nfmt, typed ? NULL : d->select, values);
        for (u32 i = 0; i < count; i++)
            emu_write_vector(s, n->vdata + i, lane, values[i]);
        return;
    }
    for (u32 i = 0; i < count; i++)
        values[i] = s->wave->vectors[n->vdata + i][lane];
    store_format(s, lane, &p, dfmt, nfmt, values, count);
}

/* Bytes a part takes in memory: bytes and shorts are one part, dwords one each. */
static u32 part_bytes(enum op op)
{
    switch (op) {
    case OP_buffer_load_ubyte:
    case OP_buffer_load_sbyte:
    case OP_buffer_store_byte:
        return 1;
    case OP_buffer_load_ushort:
    case OP_buffer_load_sshort:
    case OP_buffer_store_short:
        return 2;
    default:
        return 4;
    }
}

static u32 extended(enum op op, u64 value)
{
    return op == OP_buffer_load_sbyte    ? (u32)(int8_t)value
           : op == OP_buffer_load_sshort ? (u32)(int16_t)value
                                         : (u32)value;
}

static void to_lds(struct step *s, u32 lane, u32 value)
{
    u32 at = ((s->wave->scalars[M0] & 0xffff) + s->insn->offset0 + lane * 4) & ~3u;
    if (at + 4 > s->wave->lds_bytes)
        return;
    for (u32 i = 0; i < 4; i++)
        emu_write_byte(s, SPACE_LDS, lane, at + i, (u8)(value >> 8 * i));
}

static void load_lane(struct step *s, const struct descriptor *d, u32 lane)
{
    const struct insn *n = s->insn;
    struct place p = locate(s, d, lane);
    u32 bytes = part_bytes(n->op), count = number_of(n->row->signature), out[4] = {0};
    align_down(&p, bytes);
    for (u32 i = 0; i < count; i++)
        if (part_in_range(&p, 4 * i, bytes))
            out[i] = extended(n->op, load_bytes(s, p.address + 4 * i, bytes));
    for (u32 i = 0; i < count; i++)
        if (n->lds)
            to_lds(s, lane, out[i]);
        else
            emu_write_vector(s, n->vdata + i, lane, out[i]);
    if (n->tfe) /* no page is ever missing */
        emu_write_vector(s, n->vdata + count, lane, 0);
}

static void store_lane(struct step *s, const struct descriptor *d, u32 lane)
{
    const struct insn *n = s->insn;
    struct place p = locate(s, d, lane);
    u32 bytes = part_bytes(n->op), count = number_of(n->row->signature);
    align_down(&p, bytes);
    for (u32 i = 0; i < count; i++)
        if (part_in_range(&p, 4 * i, bytes))
            store_bytes(s, lane, p.address + 4 * i, s->wave->vectors[n->vdata + i][lane], bytes);
}

static enum atomic buffer_atomic(u32 opcode)
{
    static const enum atomic ops[] = {A_SWAP, A_CMPSWAP, A_ADD,      A_SUB,  A_RSUB, A_SMIN,
                                      A_UMIN, A_SMAX,    A_UMAX,     A_AND,  A_OR,   A_XOR,
                                      A_INC,  A_DEC,     A_FCMPSWAP, A_FMIN, A_FMAX};
    return ops[(opcode >= 80 ? opcode - 80 : opcode - 48)];
}

static void atomic_lane(struct step *s, const struct descriptor *d, u32 lane)
{
    const struct insn *n = s->insn;
    struct place p = locate(s, d, lane);
    const u32(*v)[LANES] = (const u32(*)[LANES])s->wave->vectors;
    enum atomic op = buffer_atomic(n->row->opcode);
    bool wide = n->row->opcode >= 80, compares = op == A_CMPSWAP || op == A_FCMPSWAP;
    u32 bytes = wide ? 8 : 4, words = bytes / 4;
    u64 data = v[n->vdata][lane], compare = 0, old = 0;
    if (wide)
        data |= (u64)v[n->vdata + 1][lane] << 32;
    for (u32 i = 0; compares && i < words; i++)
        compare |= (u64)v[n->vdata + words + i][lane] << 32 * i;
    align_down(&p, bytes);
    if (part_in_range(&p, 0, bytes)) {
        old = load_bytes(s, p.address, bytes);
        u64 now = atomic_value(op, wide, old, data, compare);
        store_bytes(s, lane, p.address, wide ? now : (u32)now, bytes);
    }
    for (u32 i = 0; n->glc && i < words; i++)
        emu_write_vector(s, n->vdata + i, lane, (u32)(old >> 32 * i));
}

void emu_buffer(struct step *s)
{
    const struct insn *n = s->insn;
    struct descriptor d = descriptor_of(s, n->srsrc);
    u64 exec = emu_exec(s->wave);
    for (u32 lane = 0; lane < LANES && !s->machine->fault; lane++) {
        if (!(exec >> lane & 1))
            continue;
        if (is_format(n))
            format_lane(s, &d, lane);
        else if (n->row->group == G_ATOMIC)
            atomic_lane(s, &d, lane);
        else if (n->row->signature[1] == '=')
            load_lane(s, &d, lane);
        else
            store_lane(s, &d, lane);
    }
}
