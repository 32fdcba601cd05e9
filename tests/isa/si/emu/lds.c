/*
 * LDS. See emu.h. An access that does not lie below both M0 (unless that is 0: not set) and the
 * allocation loads 0 and stores nothing. The low bits of its address do not count.
 */
#include "emu.h"

#include <string.h>

static bool inside(const struct step *s, u64 at, u32 bytes)
{
    u64 limit = s->wave->scalars[M0];
    if (!limit || limit > s->wave->lds_bytes)
        limit = s->wave->lds_bytes;
    return at + bytes <= limit;
}

static u64 load(const struct step *s, u64 at, u32 bytes)
{
    u64 value = 0;
    at -= at % bytes;
    if (inside(s, at, bytes))
        memcpy(&value, s->machine->lds[s->wave->group] + at, bytes);
    return value;
}

static void store(struct step *s, u32 lane, u64 at, u64 value, u32 bytes)
{
    at -= at % bytes;
    for (u32 i = 0; inside(s, at, bytes) && i < bytes; i++)
        emu_write_byte(s, SPACE_LDS, lane, at + i, (u8)(value >> 8 * i));
}

static u64 data_of(const struct step *s, u32 reg, u32 lane, u32 words)
{
    u64 value = s->wave->vectors[reg][lane];
    return words == 2 ? value | (u64)s->wave->vectors[reg + 1][lane] << 32 : value;
}

static void result(struct step *s, u32 at, u32 lane, u64 value, u32 words)
{
    emu_write_vector(s, s->insn->dst + at, lane, (u32)value);
    if (words == 2)
        emu_write_vector(s, s->insn->dst + at + 1, lane, (u32)(value >> 32));
}

struct shape {
    u32 words, operands; /* of a data operand; how many */
    bool two, far;       /* two addresses; their offsets in units of 64 */
};

static struct shape shape_of(const struct insn *n)
{
    return (struct shape){(u32)(n->row->signature[0] - '0'), (u32)(n->row->signature[1] - '0'),
                          strstr(n->row->name, "2_") != NULL ||
                              strstr(n->row->name, "2st64") != NULL,
                          strstr(n->row->name, "st64") != NULL};
}

static u64 address(const struct step *s, u32 lane, const struct shape *shape, u32 which)
{
    const struct insn *n = s->insn;
    u32 base = s->wave->vectors[n->vaddr][lane];
    if (!shape->two)
        return (u64)base + (n->offset1 << 8 | n->offset0);
    return (u64)base +
           (u64)(which ? n->offset1 : n->offset0) * shape->words * 4 * (shape->far ? 64 : 1);
}

static void swizzle(struct step *s)
{
    const struct insn *n = s->insn;
    u32 pattern = n->offset1 << 8 | n->offset0, in[LANES];
    u64 exec = emu_exec(s->wave);
    memcpy(in, s->wave->vectors[n->vaddr], sizeof in);
    for (u32 lane = 0; lane < LANES; lane++) {
        u32 from = pattern & 0x8000
                       ? (lane & ~3u) | (pattern >> 2 * (lane & 3) & 3)
                       : (lane & 32) | ((((lane & 31) & (pattern & 31)) | (pattern >> 5 & 31)) ^
                                        (pattern >> 10 & 31));
        if (exec >> lane & 1)
            emu_write_vector(s, n->dst, lane, exec >> from & 1 ? in[from] : 0);
    }
}

/* One counter for the wave, at M0's low half: everyone gets what it was. */
static void count(struct step *s, bool up)
{
    const struct insn *n = s->insn;
    u64 exec = emu_exec(s->wave);
    u64 at = (s->wave->scalars[M0] & 0xffff) + (n->offset1 << 8 | n->offset0);
    u32 old = 0, lanes = (u32)__builtin_popcountll(exec);
    bool there = (at & ~3ull) + 4 <= s->wave->lds_bytes;
    if (there)
        memcpy(&old, s->machine->lds[s->wave->group] + (at & ~3ull), 4);
    u32 now = up ? old + lanes : old - lanes;
    for (u32 i = 0; there && lanes && i < 4; i++)
        emu_write_byte(s, SPACE_LDS, (u32)__builtin_ctzll(exec), (at & ~3ull) + i,
                       (u8)(now >> 8 * i));
    for (u32 lane = 0; lane < LANES; lane++)
        if (exec >> lane & 1)
            emu_write_vector(s, n->dst, lane, old);
}

static void read_lane(struct step *s, u32 lane, const struct shape *shape)
{
    u64 at = address(s, lane, shape, 0);
    switch (s->insn->op) {
    case OP_ds_read_i8:
        result(s, 0, lane, (u32)(int8_t)load(s, at, 1), 1);
        return;
    case OP_ds_read_u8:
        result(s, 0, lane, load(s, at, 1), 1);
        return;
    case OP_ds_read_i16:
        result(s, 0, lane, (u32)(int16_t)load(s, at, 2), 1);
        return;
    case OP_ds_read_u16:
        result(s, 0, lane, load(s, at, 2), 1);
        return;
    default: {
        u64 first = load(s, at, shape->words * 4), second = 0;
        if (shape->two)
            second = load(s, address(s, lane, shape, 1), shape->words * 4);
        result(s, 0, lane, first, shape->words);
        if (shape->two)
            result(s, shape->words, lane, second, shape->words);
    }
    }
}

static void write_lane(struct step *s, u32 lane, const struct shape *shape, bool exchange)
{
    const struct insn *n = s->insn;
    u32 bytes = n->op == OP_ds_write_b8 ? 1 : n->op == OP_ds_write_b16 ? 2 : shape->words * 4;
    u64 data[2] = {data_of(s, n->vdata, lane, shape->words),
                   shape->two ? data_of(s, n->vdata1, lane, shape->words) : 0};
    u64 old[2];
    for (u32 i = 0; i < (shape->two ? 2 : 1); i++) {
        u64 at = address(s, lane, shape, i);
        old[i] = load(s, at, bytes);
        store(s, lane, at, data[i], bytes);
    }
    for (u32 i = 0; exchange && i < (shape->two ? 2 : 1); i++)
        result(s, i * shape->words, lane, old[i], shape->words);
}

static enum atomic lds_atomic(u32 opcode)
{
    static const enum atomic ops[] = {
        A_ADD, A_SUB, A_RSUB,  A_INC,  A_DEC,  A_SMIN, A_SMAX,    A_UMIN,     A_UMAX, A_AND,
        A_OR,  A_XOR, A_MSKOR, A_SWAP, A_SWAP, A_SWAP, A_CMPSWAP, A_FCMPSWAP, A_FMIN, A_FMAX};
    return ops[opcode & 31];
}

/* Both operands in LDS: A at the address, B at a distance in dwords. */
static void source2_lane(struct step *s, u32 lane, const struct shape *shape)
{
    const struct insn *n = s->insn;
    u32 offset = n->offset1 << 8 | n->offset0, base = s->wave->vectors[n->vaddr][lane];
    bool packed = offset & 0x8000;
    u32 distance = packed ? (base >> 17 | (base >> 16 & 0x8000))
                          : ((offset & 0x7fff) | (offset << 1 & 0x8000));
    u32 bytes = shape->words * 4;
    u16 a = (u16)((packed ? base & 0x1ffff : base) & ~(bytes - 1));
    u16 b = (u16)((a + (int16_t)distance * 4) & (int)~(bytes - 1));
    u64 data = load(s, b, bytes);
    bool plain = n->op == OP_ds_write_src2_b32 || n->op == OP_ds_write_src2_b64;
    u64 value = plain ? data
                      : atomic_value(lds_atomic(n->row->opcode), shape->words == 2,
                                     load(s, a, bytes), data, 0);
    store(s, lane, a, value, bytes);
}

static void atomic_lane(struct step *s, u32 lane, const struct shape *shape)
{
    const struct insn *n = s->insn;
    u64 at = address(s, lane, shape, 0), old = load(s, at, shape->words * 4);
    u64 first = data_of(s, n->vdata, lane, shape->words);
    u64 second = shape->operands == 2 ? data_of(s, n->vdata1, lane, shape->words) : 0;
    /* two operands: the comparand or the mask comes first, then what is stored */
    u64 now = shape->operands == 2
                  ? atomic_value(lds_atomic(n->row->opcode), shape->words == 2, old, second, first)
                  : atomic_value(lds_atomic(n->row->opcode), shape->words == 2, old, first, 0);
    store(s, lane, at, now, shape->words * 4);
    if (n->row->signature[2] == 'r')
        result(s, 0, lane, old, shape->words);
}

void emu_lds(struct step *s)
{
    const struct insn *n = s->insn;
    struct shape shape = shape_of(n);
    u64 exec = emu_exec(s->wave);
    if (n->op == OP_ds_swizzle_b32) {
        swizzle(s);
        return;
    }
    if (n->op == OP_ds_append || n->op == OP_ds_consume) {
        count(s, n->op == OP_ds_append);
        return;
    }
    for (u32 lane = 0; lane < LANES; lane++) {
        if (!(exec >> lane & 1))
            continue;
        if (n->row->opcode >= 128)
            source2_lane(s, lane, &shape);
        else if (n->row->signature[2] == '=')
            read_lane(s, lane, &shape);
        else if (n->row->signature[2] == '<' || n->row->signature[2] == 'x')
            write_lane(s, lane, &shape, n->row->signature[2] == 'x');
        else
            atomic_lane(s, lane, &shape);
    }
}
