/*
 * Shared memory, backwards: words of resident blocks, with their needed bits.
 *
 * A load needs the bytes that its result does. A store overwrites, and needs its data as the memory
 * does after it. Everything else that touches shared memory (atomics, appends) needs the words it
 * touches and overwrites none. Lanes that store to one word at once all need their data.
 */
#include "avf/avf.h"

/* One element of a lane: bytes in a word of shared memory. */
struct shared_piece {
    u32 word;  /* row of cells, */
    u32 shift; /* and where in it the element begins */
    u32 mask;  /* of the element's own bits; 0: it lies across words, or outside */
};

static struct shared_piece piece_at(const struct avf *a, const struct avf_entry *e, u32 address,
                                    u32 bytes)
{
    const u32 shift = 8 * (address & 3);
    struct shared_piece piece = {e->place * a->shared_words + address / 4, shift,
                                 bytes >= 4 ? ~0u : (1u << 8 * bytes) - 1};
    if (shift + 8 * MIN(bytes, 4u) > 32 || address / 4 >= a->shared_words)
        piece.mask = 0;
    return piece;
}

static void need_word(struct avf *a, const struct avf_entry *e, u32 word, u32 bits, bool unsure)
{
    if (word < e->place * a->shared_words + a->shared_words)
        tracked_need(&a->shared, word, 1, bits, unsure, avf_cycles(a, e->acted));
}

static void need_piece(struct avf *a, const struct avf_entry *e, struct shared_piece piece,
                       u32 bits, bool unsure)
{
    if (piece.mask) {
        need_word(a, e, piece.word, (bits & piece.mask) << piece.shift, unsure);
    } else if (bits) {
        need_word(a, e, piece.word, ~0u, unsure);
        need_word(a, e, piece.word + 1, ~0u, unsure);
    }
}

/* A result that is extended from fewer bits needs its sign when it needs a bit above. */
u32 avf_loaded_bits(const struct inst *inst, u32 bits, u32 bytes)
{
    const bool is_signed = inst->mods & MOD_SIGNED || type_is_signed(inst->type);
    if (bytes < 4 && is_signed && bits >> 8 * bytes)
        bits |= 1u << (8 * bytes - 1);
    return bits;
}

static bool is_plain(const struct inst *inst)
{
    return inst->op == OP_ld || inst->op == OP_st || inst->op == OP_ld2 || inst->op == OP_st2;
}

/* Groups of lanes at words in a row, or at one word, that certainly need all bits. Returns their
 * lanes. */
static lane_set load_groups(struct avf *a, const struct avf_entry *e, u32 offset, lane_set lanes)
{
    const u32 groups = a->warp_size / STRIDE_LANES;
    const u32 *const first = a->pool + e->values, *const stride = first + groups;
    const struct tracked_row *const rows = &a->shared.rows[e->place * a->shared_words];
    lane_set done = 0;
    for (u32 g = 0; e->strided && g < groups; g++) {
        const lane_set group = 0xffffull << g * STRIDE_LANES;
        const u32 at = first[g] + offset, words = stride[g] ? STRIDE_LANES : 1;
        if (group & ~lanes || at & 3 || (stride[g] && stride[g] != 4) ||
            at / 4 + (u64)words > a->shared_words)
            continue;
        for (u32 i = at / 4; i < at / 4 + words; i++)
            if (!rows[i].full || rows[i].unsure)
                need_word(a, e, e->place * a->shared_words + i, ~0u, false);
        done |= group;
    }
    return done;
}

/* Most loads: aligned words. A word that is known to be needed is not looked at again, as when many
 * lanes read one. */
static void load_words(struct avf *a, const struct avf_entry *e, u32 row, u32 element, u32 offset,
                       lane_set lanes, lane_set unsure)
{
    const struct tracked_row *const rows = &a->shared.rows[e->place * a->shared_words];
    const lane_set sure = lanes & a->vectors.rows[row].full & ~unsure;
    u32 known = 1; /* the address of the last word that was found; 1: none */
    for (lane_set set = lanes & ~load_groups(a, e, offset, sure); set; set &= set - 1) {
        const u32 lane = first_lane(set), at = avf_address(a, e, element, lane) + offset;
        if (at == known)
            continue;
        if (at / 4 < a->shared_words && !(at & 3) && rows[at / 4].full && !rows[at / 4].unsure) {
            known = at;
            continue;
        }
        need_piece(a, e, piece_at(a, e, at, 4), tracked_bits(&a->vectors, row, lane),
                   unsure >> lane & 1);
    }
}

static void load_narrow_row(struct avf *a, const struct avf_entry *e, u32 row, u32 element,
                            u32 offset, lane_set lanes, lane_set unsure)
{
    const struct inst *inst = &a->insts[e->inst];
    const u32 bytes = type_bytes(inst->type);
    for (lane_set set = lanes; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        need_piece(a, e, piece_at(a, e, avf_address(a, e, element, lane) + offset, bytes),
                   avf_loaded_bits(inst, tracked_bits(&a->vectors, row, lane), bytes),
                   unsure >> lane & 1);
    }
}

void shared_back_load(struct avf *a, const struct avf_entry *e, lane_set lanes, lane_set unsure)
{
    const struct inst *inst = &a->insts[e->inst];
    const u32 bytes = MIN(type_bytes(inst->type), 4u);
    const u32 count = inst->dst[0].count, each = inst->op == OP_ld2 ? count / 2 : count;
    for (u32 i = 0; i < count; i++) {
        const u32 row = e->slot * a->registers + inst->dst[0].index + i;
        const lane_set set = lanes & e->shared & a->vectors.rows[row].some;
        (bytes == 4 ? load_words : load_narrow_row)(a, e, row, i / each, bytes * (i % each), set,
                                                    unsure);
    }
}

/* The bits of a piece that are needed after a store. */
static u32 needed_after(const struct avf *a, struct shared_piece piece)
{
    return piece.mask ? tracked_bits(&a->shared, piece.word, 0) >> piece.shift & piece.mask : ~0u;
}

static void overwrite(struct avf *a, const struct avf_entry *e, struct shared_piece piece)
{
    if (!piece.mask || !a->shared.rows[piece.word].some)
        return;
    const struct ended ended = tracked_write_bits(&a->shared, piece.word, piece.mask << piece.shift,
                                                  avf_cycles(a, e->acted));
    if (a->accounting)
        a->stats->shared_ace += ended.ace;
}

/* Data of one register of a store. */
static void store_row(struct avf *a, const struct avf_entry *e, struct operand data, u32 i,
                      u32 element, u32 offset)
{
    const struct inst *inst = &a->insts[e->inst];
    const u32 bytes = MIN(type_bytes(inst->type), 4u);
    u32 bits[MAX_LANES];
    lane_set needed = 0, unsure = 0;
    for (lane_set set = e->shared; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        const struct shared_piece piece =
            piece_at(a, e, avf_address(a, e, element, lane) + offset, bytes);
        bits[lane] = needed_after(a, piece);
        needed |= bits[lane] ? 1ull << lane : 0;
        if (piece.mask && a->shared.rows[piece.word].unsure)
            unsure |= 1ull << lane;
    }
    for (lane_set set = e->shared; set; set &= set - 1)
        overwrite(a, e,
                  piece_at(a, e, avf_address(a, e, element, first_lane(set)) + offset, bytes));
    if (data.kind == OPERAND_VECTOR)
        tracked_need_each(&a->vectors, e->slot * a->registers + data.index + i, needed, bits,
                          unsure, avf_cycles(a, e->read));
    flow_count_sources(a, bits, data.kind == OPERAND_VECTOR ? needed : 0);
}

void shared_back_store(struct avf *a, const struct avf_entry *e)
{
    const struct inst *inst = &a->insts[e->inst];
    const u32 bytes = MIN(type_bytes(inst->type), 4u);
    const u32 elements = inst->op == OP_st2 ? 2 : 1;
    for (u32 element = 0; element < elements; element++) {
        const struct operand data = inst->src[1 + element];
        for (u32 i = 0; i < data.count; i++)
            store_row(a, e, data, i, element, bytes * i);
    }
}

bool shared_is_followed(const struct avf *a, const struct avf_entry *e)
{
    return e->shared && is_plain(&a->insts[e->inst]);
}

void shared_back_other(struct avf *a, const struct avf_entry *e)
{
    const struct inst *inst = &a->insts[e->inst];
    const u32 words = MAX(e->bytes / 4u, 1u);
    if (inst->op == OP_atom)
        for (lane_set set = e->shared; set; set &= set - 1)
            for (u32 i = 0; i < words; i++)
                need_piece(a, e, piece_at(a, e, avf_address(a, e, 0, first_lane(set)) + 4 * i, 4),
                           ~0u, false);
    else
        for (u32 i = 0; i < a->shared_words; i++)
            need_word(a, e, e->place * a->shared_words + i, ~0u, false);
}

void shared_close(struct avf *a, u64 places, u32 cycle)
{
    for (; places; places &= places - 1)
        for (u32 i = 0; i < a->shared_words; i++) {
            const struct ended ended =
                tracked_write(&a->shared, first_bit(places) * a->shared_words + i, 1, cycle);
            if (a->accounting)
                a->stats->shared_ace += ended.ace;
        }
}
