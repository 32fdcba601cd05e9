/*
 * Instruction words in the front end of the miaow pipeline, for bit flips (core/live.h).
 *
 * Without flips, queues and decoders hold nothing but numbers of instructions: a word is that of the
 * code at its address. With live state, bits of words and of their PCs can be flipped. A slot with
 * such a word is `odd`: its words are then fed one by one and decoded for what they are, until the
 * stream of words agrees with the code again. So a flipped bit may change a register, an opcode, a
 * constant or a branch, turn an instruction of one word into one that swallows the next, or one of
 * two words into two instructions.
 *
 * A PC is used by branches and by instructions that read it; in others, a flip of it has no effect.
 *
 * Invariants
 *  W1  The word of a queue at byte offset `o` of the code is at place o / 4 of its queue, modulo the
 *      queue's length.
 *  W2  The flips of a place are cleared when its word is fed, and when the queue is discarded.
 *  W3  feed_inst of an odd slot is the instruction at feed_pc; NO_INST: none begins there.
 */
#include "core/miaow/live.h"
#include <stdlib.h>

/* Differences from the code. */
struct word_flips {
    u32 word, pc;
};

struct miaow_words {
    u32 half[CORE_WARPS];    /* odd slots: the first word of a two-word instruction, */
    u64 half_at[CORE_WARPS]; /* and its byte offset */
    u32 places;
    struct word_flips flips[]; /* by slot, then by place of its queue (W1) */
};

struct miaow_words *miaow_words_create(const struct core_config *config)
{
    const u32 places = config->miaow->queue;
    const size_t count = (size_t)CORE_WARPS * places;
    struct miaow_words *words =
        checked(calloc(1, sizeof *words + count * sizeof(struct word_flips)));
    words->places = places;
    return words;
}

static struct word_flips *flips_at(struct miaow_words *words, u32 s, u64 offset)
{
    return &words->flips[(size_t)s * words->places + offset / 4 % words->places];
}

void miaow_words_reset(struct core *core, u32 s)
{
    struct miaow_words *words = miaow_of(core)->words;
    memset(&words->flips[(size_t)s * words->places], 0, words->places * sizeof *words->flips);
    miaow_of(core)->odd &= ~bit(s);
}

static bool has_warp(const struct core *core, u64 s)
{
    return core && core->exec && s < CORE_WARPS && core->present >> s & 1 &&
           !core->slots[s].ended && live_has_words(core);
}

void miaow_make_odd(struct core *core, u32 s)
{
    struct miaow *miaow = miaow_of(core);
    struct miaow_slot *p = &miaow->slots[s];
    if (miaow->odd >> s & 1)
        return;
    miaow->odd |= bit(s);
    p->feed_inst = live_inst_at(core->exec, core->exec->image->code_address + p->feed_pc); /* W3 */
    miaow->words->half[s] = live_word_at(core, p->feed_pc - 4);
    miaow->words->half_at[s] = p->feed_pc - 4;
}

/* ---- feeding ---- */

/* Words of the queue agree with the code from the next one on. */
static bool is_even(const struct core *core, u32 s)
{
    const struct miaow *miaow = miaow_of(core);
    const struct miaow_words *words = miaow->words;
    const struct miaow_slot *p = &miaow->slots[s];
    if (p->half || p->feed_inst == NO_INST)
        return false;
    for (u32 i = 0; i < words->places; i++) {
        const struct word_flips *f = &words->flips[(size_t)s * words->places + i];
        if (f->word || f->pc)
            return false;
    }
    return true;
}

/* The decoder gets a word whose PC is a byte offset: the first of an instruction, or, if the slot has
 * a half, the second. */
static void decode_word(struct core *core, u32 s, u32 word, u64 offset)
{
    struct miaow *miaow = miaow_of(core);
    struct miaow_words *words = miaow->words;
    struct miaow_slot *p = &miaow->slots[s];
    const bool second = p->half, first = !second && live_word_bytes(core, word) == 8;
    p->half = first;
    miaow->decoding = (struct miaow_step){true, first, (u8)s, core->exec->kernel->first};
    if (first) {
        words->half[s] = word;
        words->half_at[s] = offset;
        return;
    }
    const u32 both[2] = {second ? words->half[s] : word, second ? word : 0};
    miaow->decoding.inst = live_decode(core, s, both, second ? words->half_at[s] : offset);
    miaow->decoding.valid = !core->stopped;
    if (is_even(core, s))
        miaow->odd &= ~bit(s);
}

/* A flipped address, as a byte offset. */
static u64 offset_with(const struct core *core, u64 offset, u32 flips)
{
    const u64 base = core->exec->image->code_address;
    return ((base + offset) ^ flips) - base;
}

bool miaow_feed_odd(struct core *core, u32 s)
{
    struct miaow *miaow = miaow_of(core);
    struct miaow_slot *p = &miaow->slots[s];
    struct word_flips *flips = flips_at(miaow->words, s, p->feed_pc);
    const u32 word = live_word_at(core, p->feed_pc) ^ flips->word;
    const u64 offset = offset_with(core, p->feed_pc, flips->pc);
    *flips = (struct word_flips){0};
    p->feed_pc += 4;
    p->feed_inst = live_inst_at(core->exec, core->exec->image->code_address + p->feed_pc);
    decode_word(core, s, word, offset);
    return p->half;
}

void miaow_follow(struct core *core, u32 s, u32 inst)
{
    struct slot *slot = &core->slots[s];
    const u32 next = miaow_of(core)->slots[s].feed_inst;
    if (slot->at == NO_INST || slot->at != inst + 1 || next >= core->inst_count)
        return;
    warp_path(slot->warp)->pc = slot->at = next;
}

bool miaow_holds(const struct core *core, u32 inst)
{
    const struct miaow *miaow = miaow_of(core);
    for (u32 s = 0; s < CORE_WARPS; s++)
        if (miaow->slots[s].entry == inst)
            return true;
    for (u32 at = 0; at < SOON; at++)
        for (u32 i = 0; i < miaow->release_count[at]; i++)
            if (miaow->releases[at][i].time == &core->times[inst])
                return true;
    return (miaow->decoding.valid && miaow->decoding.inst == inst) ||
           (miaow->decoded.valid && miaow->decoded.inst == inst);
}

/* ---- visitors ---- */

enum {
    WORD_BITS = 32
};

/* Walks a word and its PC, as differences from the code. True: a bit was flipped. */
static bool walk_word(struct state_walk *walk, const struct core *core, u64 offset,
                      struct word_flips *flips)
{
    const u64 address = core ? core->exec->image->code_address + offset : 0;
    u64 word = flips ? live_word_at(core, offset) ^ flips->word : 0;
    u64 pc = flips ? (u32)(address ^ flips->pc) : 0;
    const bool other_word = walk_field(walk, &word, WORD_BITS);
    const bool other_pc = walk_field(walk, &pc, WORD_BITS);
    if (!flips || !(other_word | other_pc))
        return false;
    *flips = (struct word_flips){(u32)word ^ live_word_at(core, offset), (u32)pc ^ (u32)address};
    return true;
}

/* The byte offset of word i of a queue; a flipped fetch PC makes it continue elsewhere. */
static u64 queued_at(const struct miaow_slot *p, u32 i)
{
    return p->derail_in && i >= p->derail_in ? p->derail_to + 4 * (u64)(i - p->derail_in)
                                             : p->feed_pc + 4 * (u64)i;
}

void miaow_visit_words(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct core *core = owner;
    const u32 places = core ? core->config.miaow->queue : 1;
    const u32 s = (u32)(entry / places);
    const struct miaow_slot *p = has_warp(core, s) ? &miaow_of(core)->slots[s] : NULL;
    const u32 i = p ? (u32)((entry % places + places - p->feed_pc / 4 % places) % places) : 0;
    const bool used = p && i < p->held;
    struct word_flips *flips =
        used ? &miaow_of(core)->words->flips[(size_t)s * places + entry % places] : NULL;
    if (walk_entry(walk, used) &&
        walk_word(walk, used ? core : NULL, used ? queued_at(p, i) : 0, flips) && core)
        miaow_make_odd(core, s);
}

/* A slot's words are those of the code at their offsets, except for flips. */
static u64 hash_slot(const struct core *core, u32 s, u64 hash)
{
    const struct miaow *miaow = miaow_of(core);
    const struct miaow_words *words = miaow->words;
    const struct miaow_slot *p = &miaow->slots[s];
    hash = hash_word(hash ^ s, p->feed_pc << 32 ^ p->fetch_pc);
    hash = hash_word(hash, (u64)p->entry << 32 | (u32)p->held << 16 | p->reserved);
    hash = hash_word(hash, (u64)p->tag_flips << 32 | (u32)p->in_flight << 8 | (u32)p->fresh << 1 |
                               p->half);
    if (UNLIKELY(p->derail_in))
        hash = hash_word(hash, (u64)p->derail_in << 48 ^ p->derail_to);
    if (UNLIKELY(live_is_changed(core, p->entry))) {
        u32 changed[2];
        live_words(core, p->entry, changed);
        hash = hash_words(hash, changed, 2);
    }
    for (u32 i = 0; UNLIKELY(miaow->odd >> s & 1) && i < words->places; i++) {
        const struct word_flips *f = &words->flips[(size_t)s * words->places + i];
        if (f->word || f->pc)
            hash = hash_word(hash ^ i, (u64)f->pc << 32 | f->word);
    }
    if (UNLIKELY(miaow->odd >> s & 1) && p->half)
        hash = hash_word(hash, words->half_at[s] << 32 |
                                   (words->half[s] ^ live_word_at(core, p->feed_pc - 4)));
    else if (p->half)
        hash = hash_word(hash, (p->feed_pc - 4) << 32);
    return hash;
}

/* The front end and the instructions at issue. */
u64 miaow_hash_slots(const struct state_row *row, void *owner, u64 hash)
{
    const struct core *core = owner;
    const struct miaow *miaow = miaow_of(core);
    const u64 here = core->exec ? core->present & ~core->ended : 0;
    const u64 sets[] = {miaow->running,  miaow->hungry,   miaow->valid,    miaow->memory_wait,
                        miaow->parked,   miaow->clear,    miaow->halted,   miaow->branching,
                        miaow->entering, miaow->ready[0], miaow->ready[1], miaow->ready[2],
                        miaow->ready[3]};
    if (!here)
        return hash;
    for (u32 i = 0; i < ARRAY_LEN(sets); i++)
        hash = hash_word(hash, sets[i] & here);
    for (u64 set = here; set; set &= set - 1)
        hash = hash_slot(core, first_bit(set), hash);
    if (miaow->decoding.valid)
        hash = hash_word(hash, (u64)miaow->decoding.slot << 32 | miaow->decoding.inst);
    if (miaow->decoded.valid)
        hash = hash_word(hash, (u64)miaow->decoded.slot << 33 | miaow->decoded.inst);
    return hash;
}

void miaow_visit_arrival(struct state_walk *walk, const struct state_row *row, void *owner,
                         u64 entry)
{
    struct core *core = owner;
    const struct miaow *miaow = core ? miaow_of(core) : NULL;
    const u32 at = core ? (u32)(core_cycle(core) % RING) : 0;
    const struct miaow_word word = core ? miaow->words_coming[at] : (struct miaow_word){0};
    const bool used = core && miaow->words_set >> at & 1 && has_warp(core, word.slot) &&
                      (word.first || miaow->alive >> word.slot & 1);
    const struct miaow_slot *p = used ? &miaow->slots[word.slot] : NULL;
    const u64 offset = used ? queued_at(p, p->held) : 0;
    struct word_flips *flips = used ? flips_at(miaow->words, word.slot, offset) : NULL;
    if (walk_entry(walk, used) && walk_word(walk, used ? core : NULL, offset, flips))
        miaow_make_odd(core, word.slot);
}

/* The first word of an instruction whose second one has not been fed. If a flip makes it a whole
 * instruction, the second word is fed and lost all the same. */
static void walk_half(struct state_walk *walk, struct core *core, u32 s)
{
    if (walk->mode == WALK_FLIP)
        miaow_make_odd(core, s);
    const struct miaow *miaow = miaow_of(core);
    struct miaow_words *words = miaow->words;
    const bool odd = miaow->odd >> s & 1;
    const u64 at = odd ? words->half_at[s] : miaow->slots[s].feed_pc - 4;
    struct word_flips flips = {odd ? words->half[s] ^ live_word_at(core, at) : 0, 0};
    if (!walk_word(walk, core, at, &flips))
        return;
    words->half[s] = live_word_at(core, at) ^ flips.word;
    words->half_at[s] = offset_with(core, at, flips.pc);
}

void miaow_visit_halves(struct state_walk *walk, const struct state_row *row, void *owner,
                        u64 entry)
{
    struct core *core = owner;
    const struct miaow *miaow = has_warp(core, entry) ? miaow_of(core) : NULL;
    const bool used = miaow && miaow->slots[entry].half &&
                      !(miaow->decoding.valid && miaow->decoding.slot == entry);
    if (!walk_entry(walk, used))
        return;
    if (used)
        walk_half(walk, core, (u32)entry);
    else
        walk_word(walk, NULL, 0, NULL);
}

/* The word in the decoder: its byte offset. `second`: it completes an instruction of two words. */
static u64 decoding_at(const struct core *core, u32 inst, bool *second)
{
    u32 words[2];
    *second = live_words(core, inst, words) == 8;
    return core->exec->image->program->offsets[inst] + 4ull * *second;
}

static void walk_decoding(struct state_walk *walk, struct core *core)
{
    struct miaow *miaow = miaow_of(core);
    const u32 s = miaow->decoding.slot, inst = miaow->decoding.inst;
    bool second;
    u32 words[2];
    const u64 offset = decoding_at(core, inst, &second);
    live_words(core, inst, words);
    struct word_flips flips = {words[second] ^ live_word_at(core, offset), 0};
    if (!walk_word(walk, core, offset, &flips))
        return;
    miaow_make_odd(core, s);
    struct miaow_slot *p = &miaow->slots[s];
    p->half = second;
    if (second) {
        miaow->words->half[s] = words[0];
        miaow->words->half_at[s] = offset - 4;
    }
    decode_word(core, s, live_word_at(core, offset) ^ flips.word,
                offset_with(core, offset, flips.pc));
}

void miaow_visit_decoding(struct state_walk *walk, const struct state_row *row, void *owner,
                          u64 entry)
{
    struct core *core = owner;
    const struct miaow_step *step = core && core->exec ? &miaow_of(core)->decoding : NULL;
    const bool used = step && step->valid && has_warp(core, step->slot);
    if (!walk_entry(walk, used))
        return;
    if (used && step->half)
        walk_half(walk, core, step->slot);
    else if (used)
        walk_decoding(walk, core);
    else
        walk_word(walk, NULL, 0, NULL);
}

/* ---- the instruction at issue ---- */

/* Another instruction is at issue: it is sorted as if decode had passed it on. */
static void replace_entry(struct core *core, u32 s, u32 inst)
{
    struct miaow *miaow = miaow_of(core);
    const u32 old = miaow->slots[s].entry;
    const struct inst_time *time = &core->times[inst];
    const u32 special = TIME_END | TIME_COUNTERS | TIME_BLOCK_BARRIER;
    if (miaow->chosen_unit != NO_UNIT && miaow->chosen_slot == s) {
        if (time->pipe == core->times[old].pipe && !(time->flags & special)) {
            miaow->slots[s].entry = inst; /* its unit has been chosen */
            return;
        }
        miaow->chosen_unit = NO_UNIT;
    }
    miaow->valid &= ~bit(s);
    miaow->entering &= ~bit(s);
    miaow->clear &= ~bit(s);
    for (u32 k = 0; k < CLASSES; k++)
        miaow->ready[k] &= ~bit(s);
    miaow_issue_take(core, &(struct miaow_step){true, false, (u8)s, inst});
}

void miaow_visit_entries(struct state_walk *walk, const struct state_row *row, void *owner,
                         u64 entry)
{
    struct core *core = owner;
    const u32 s = (u32)entry;
    const struct miaow *miaow = has_warp(core, s) ? miaow_of(core) : NULL;
    const bool used = miaow && (miaow->valid | miaow->entering) >> s & 1;
    const u32 inst = used ? miaow->slots[s].entry : NO_INST;
    u32 words[2] = {0, 0};
    const u64 offset = used ? core->exec->image->program->offsets[inst] : 0;
    if (used)
        live_words(core, inst, words);
    u64 first = words[0], second = words[1], pc = 0;
    pc = used ? (u32)(core->exec->image->code_address + offset) : 0;
    const u64 before = pc;
    if (!walk_entry(walk, used))
        return;
    bool flipped = walk_field(walk, &first, WORD_BITS);
    flipped |= walk_field(walk, &second, WORD_BITS);
    flipped |= walk_field(walk, &pc, WORD_BITS);
    if (!flipped || !used)
        return;
    const u32 changed = live_decode(core, s, (u32[]){(u32)first, (u32)second},
                                    offset_with(core, offset, (u32)(pc ^ before)));
    if (changed != NO_INST)
        replace_entry(core, s, changed);
}
