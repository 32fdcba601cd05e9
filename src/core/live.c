/* Live state of a core: see live.h. */
#include "core/live.h"
#include "core/common/common.h"
#include "exec/register_file.h"
#include "exec/scalars.h"

enum {
    REGISTERS = 256, /* most vector registers of a warp */
    SENT_TAGS = 4096 /* requests of a load/store unit: LSU_REQUESTS */
};

struct live_core {
    u32 next;                    /* pair of spare instructions to try */
    u32 words[CHANGED_PAIRS][2]; /* of these instructions */
    /* Canonical hashes: what has changed since the last one, and hashes of what has not. */
    u64 written[CORE_WARPS][REGISTERS / 64]; /* by slot: vector registers, bits */
    u64 retired;                             /* slots */
    u64 issued[CORE_WARPS];                  /* warp->instructions */
    u64 stored;                              /* places of blocks whose shared memory has changed */
    u64 rows[CORE_WARPS][REGISTERS];
    u64 sums[CORE_WARPS]; /* of `rows` */
    u64 sent[SENT_TAGS / 64];
    u64 scalars[CORE_WARPS], shared[CORE_BLOCKS];
};

struct live_core *live_create_core(struct arena *arena)
{
    return arena_new(arena, struct live_core);
}

/* ---- requests ---- */

void live_begin(struct core *core)
{
    if (core->live)
        memset(core->live->sent, 0, sizeof core->live->sent);
}

bool live_is_sent(const struct core *core, u32 tag)
{
    return tag < SENT_TAGS && core->live->sent[tag / 64] >> tag % 64 & 1;
}

void live_flip_sent(struct core *core, u32 tag)
{
    core->live->sent[tag / 64] ^= bit(tag % 64);
}

void live_redirect_atomic(struct core *core, struct dyninst *f, const struct packet *packet)
{
    const u64 line = core->config.l2_line_bytes;
    for (lane_set set = packet->lanes; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        const u64 address = dyninst_addresses(f)[lane];
        if ((address ^ packet->address) / line)
            live_readdress(f, lane, packet->address + address % line);
    }
}

/* ---- what has changed ---- */

static void all_written(struct core *core, u64 slots)
{
    core->live->retired |= slots;
    for (; slots; slots &= slots - 1)
        memset(core->live->written[first_bit(slots)], 0xff, sizeof *core->live->written);
}

void live_started(struct core *core, u32 s)
{
    struct live_core *live = core->live;
    memset(live->rows[s], 0, sizeof live->rows[s]);
    live->sums[s] = 0;
    live->stored |= bit(core->slots[s].block);
    all_written(core, bit(s));
}

/* Votes, shuffles and barriers may write registers of waiting lanes at once (F3 of dyninst.h). */
void live_issued_whole(struct core *core, const struct inflight *inflight)
{
    const struct slot *slot = &core->slots[inflight->slot];
    if (inflight->dyn.code->dst[0].kind != OPERAND_NONE || slot->warp->block->barriers_used)
        all_written(core, core->blocks[slot->block].slots);
}

void live_accesses(struct core *core, const struct inflight *inflight)
{
    const struct dyninst *f = &inflight->dyn;
    if ((f->shared && (f->stores | f->atomic)) || !f->dst[0]) /* or loads to shared memory */
        core->live->stored |= bit(core->slots[inflight->slot].block);
}

void live_written(struct core *core, const struct inflight *inflight)
{
    struct live_core *live = core->live;
    const struct dyninst *f = &inflight->dyn;
    const u32 s = inflight->slot;
    live->retired |= bit(s);
    if (f->kind > DYNINST_ACCESS)
        return;
    u64 *written = live->written[s];
    for (u32 k = 0; k < (f->plan->plain ? 1 : 2); k++)
        for (u32 j = 0; j < f->dst_rows[k]; j++)
            written[(f->to[k] + j) / 64 % (REGISTERS / 64)] |= bit((f->to[k] + j) % 64);
    if (UNLIKELY(f->homes != NULL))
        all_written(core, core->present);
}

void live_disturb(struct core *core)
{
    core->quiet_until = 0;
    core->issue.asleep = 0;
    if (core->live) {
        core->live->stored = ~0ull;
        all_written(core, core->present);
    }
}

void live_resettle(struct core *core, u32 s)
{
    struct slot *slot = &core->slots[s];
    if (!(core->present & bit(s)) || slot->ended)
        return;
    core->issue.clear &= ~bit(s);
    slot->at = warp_next(slot->warp);
    if (core->exec->stopped) {
        core->stopped = true;
        return;
    }
    if (slot->at != NO_INST && slot->at != (slot->buffered ? slot->buffer[0] : slot->fetch_at))
        core->issue.redirected |= bit(s);
    else
        core->issue.redirected &= ~bit(s);
    slot_update(core, s);
    fetch_want(core, s);
    if (slot->at == NO_INST)
        block_update(core, s);
}

void live_miscount(struct core *core, u32 place, i32 by)
{
    struct thread_block *block = core->blocks[place].block;
    const u32 number = block->barriers_used ? first_bit(block->barriers_used) : 0;
    const u64 slots = core->blocks[place].slots & core->present;
    block->barriers[number].miscounted += by;
    block->barriers_used |= 1u << number;
    barrier_exits(block);
    if (slots)
        block_update(core, first_bit(slots));
}

u32 live_slot_of_frame(const struct core *core, u32 frame)
{
    for (u64 set = core->present; set; set &= set - 1)
        if (core->slots[first_bit(set)].warp->frame == frame)
            return first_bit(set);
    return CORE_WARPS;
}

u64 live_address(const struct core *core, u32 inst)
{
    return inst < core->inst_count ? image_pc(core->exec->image, inst) : 0;
}

u32 live_inst(const struct core *core, u64 address)
{
    const u32 inst = live_inst_at(core->exec, address);
    return inst == NO_INST ? WILD_INST : inst;
}

/* ---- changed words ---- */

static const struct program *program_of(const struct core *core)
{
    return core->exec->image->program;
}

bool live_has_words(const struct core *core)
{
    return program_of(core)->spare != 0;
}

bool live_is_changed(const struct core *core, u32 inst)
{
    return inst != NO_INST && inst > program_code_count(program_of(core));
}

/* The first spare instruction of a core. */
static u32 first_spare(const struct core *core)
{
    return program_code_count(program_of(core)) + 1 + 2 * CHANGED_PAIRS * core->config.index;
}

u32 live_word_at(const struct core *core, u64 offset)
{
    const struct program *program = program_of(core);
    u32 word = 0;
    if (offset % 4 == 0 && offset < program->load_bytes && program->load_bytes - offset >= 4)
        memcpy(&word, program->load + offset, sizeof word);
    return word;
}

u32 live_words(const struct core *core, u32 inst, u32 words[2])
{
    const struct program *program = program_of(core);
    const u32 bytes = program->sizes[inst];
    if (live_is_changed(core, inst)) {
        memcpy(words, core->live->words[(inst - first_spare(core)) / 2], 2 * sizeof *words);
        return bytes;
    }
    words[0] = live_word_at(core, program->offsets[inst]);
    words[1] = bytes > 4 ? live_word_at(core, program->offsets[inst] + 4ull) : 0;
    return bytes;
}

u32 live_word_bytes(const struct core *core, u32 word)
{
    struct redecoded out;
    struct error ignored;
    const u32 words[2] = {word, 0};
    program_of(core)->redecode(words, 0, &out, &ignored);
    return out.size;
}

/* Whether something of an instruction is on the core: it was issued, waits, or is a warp's next. */
static bool in_use(const struct core *core, u32 inst)
{
    for (u32 word = 0; word < CORE_INFLIGHT / 64; word++)
        for (u64 set = ~core->inflight.free[word]; set; set &= set - 1)
            if (core->inflight.all[word * 64 + first_bit(set)].dyn.inst == inst)
                return true;
    for (u64 set = core->present; set; set &= set - 1) {
        const struct slot *slot = &core->slots[first_bit(set)];
        if (slot->at == inst || slot->at == inst + 1)
            return true;
    }
    return core->pipeline->holds(core, inst);
}

/* A pair that is not in use; CHANGED_PAIRS: there is none. */
static u32 free_pair(struct core *core)
{
    for (u32 n = 0; n < CHANGED_PAIRS; n++) {
        const u32 pair = core->live->next++ % CHANGED_PAIRS;
        if (!in_use(core, first_spare(core) + 2 * pair))
            return pair;
    }
    return CHANGED_PAIRS;
}

/* Vector registers that the warp does not have. */
static void bound_registers(const struct core *core, struct inst *inst)
{
    const u32 rows = core->exec->register_rows;
    for (u32 k = 0; k < ARRAY_LEN(inst->src); k++)
        if (inst->src[k].kind == OPERAND_VECTOR &&
            (u32)inst->src[k].index + inst->src[k].count > rows)
            inst->src[k].index = 0;
    for (u32 k = 0; k < ARRAY_LEN(inst->dst); k++)
        if (inst->dst[k].kind == OPERAND_VECTOR &&
            (u32)inst->dst[k].index + inst->dst[k].count > rows)
            *inst = (struct inst){.op = OP_nop, .vector = 1};
}

/* Whether these are the words of an instruction of the kernel. */
static bool is_original(const struct core *core, u32 inst, const u32 words[2])
{
    u32 own[2];
    if (inst == NO_INST)
        return false;
    const u32 bytes = live_words(core, inst, own);
    return bytes && own[0] == words[0] && (bytes == 4 || own[1] == words[1]);
}

u32 live_decode(struct core *core, u32 s, const u32 words[2], u64 offset)
{
    struct image *image = core->exec->image;
    const struct program *program = image->program;
    const u64 address = image->code_address + offset;
    const u32 original = live_inst_at(core->exec, address);
    struct redecoded out;
    struct error why = {0};
    if (is_original(core, original, words))
        return original;
    const bool legal = program->redecode(words, offset, &out, &why);
    const u32 pair = legal ? free_pair(core) : CHANGED_PAIRS;
    const u32 inst = first_spare(core) + 2 * pair;
    u32 target = program_code_count(program); /* the trap */
    if (legal && out.branches &&
        live_inst_at(core->exec, image->code_address + out.target) != NO_INST)
        target = live_inst_at(core->exec, image->code_address + out.target);
    if (legal)
        bound_registers(core, &out.inst);
    if (pair == CHANGED_PAIRS || !image_replace(image, inst, &out, offset, target)) {
        live_illegal(core->slots[s].warp, address, words,
                     legal ? "more changed instructions than the core can hold" : why.message);
        core->stopped = true;
        return NO_INST;
    }
    memcpy(core->live->words[pair], words, 2 * sizeof *words);
    const struct timed_code code = {program, &core->config, time_scalar_base(program)};
    core->times[inst] = (struct inst_time){.fetched = 1};
    core->pipeline->time(&core->times[inst], &code, inst);
    return inst;
}

/* ---- derailed warps ---- */

bool live_follow(struct core *core, u32 s, u32 inst, u32 expected)
{
    struct slot *slot = &core->slots[s];
    if (slot->at != inst + 1) {
        slot->derailed = false; /* everything it could follow is discarded */
        return false;
    }
    if (expected >= core->inst_count) {
        live_wild(slot->warp, 0);
        core->stopped = true;
        return true;
    }
    warp_path(slot->warp)->pc = slot->at = expected;
    return true;
}

/* ---- results that go astray ---- */

void live_send_astray(struct inflight *inflight, u32 slot, u32 reg)
{
    inflight->astray = true;
    inflight->astray_slot = (u8)slot;
    inflight->astray_register = (u16)reg;
}

/* Writes the rows of the first result to where they go. */
static void write_astray(struct core *core, const struct inflight *inflight)
{
    const struct dyninst *f = &inflight->dyn;
    const u32 lanes = core->config.core->warp_size;
    if (f->kind > DYNINST_ACCESS || f->faulted || inflight->astray_slot >= CORE_WARPS ||
        !(core->present >> inflight->astray_slot & 1))
        return;
    struct warp *warp = core->slots[inflight->astray_slot].warp;
    for (u32 j = 0; j < f->dst_rows[0]; j++)
        if (inflight->astray_register + j < core->exec->register_rows)
            register_write(warp, inflight->astray_register + j, f->dst[0] + j * lanes, f->writes);
}

void live_retire(struct core *core, struct inflight *inflight,
                 void (*retire)(struct core *core, struct inflight *inflight))
{
    const u32 s = inflight->slot;
    const struct inst_time *time = inflight->time;
    const struct warp *warp = core->slots[s].warp;
    const bool injected = inflight->injected;
    write_astray(core, inflight);
    all_written(core, core->present);
    inflight->astray = false;
    inflight->dyn.kind = DYNINST_CONTROL; /* nothing is left to commit */
    if (core->issue.by_waitcnt && inflight->counted)
        waitcnt_retire(core, inflight, retire);
    else
        retire(core, inflight);
    if (!(core->present >> s & 1) || core->slots[s].warp != warp || core->slots[s].ended ||
        injected)
        return;
    scoreboard_reserve(core, &core->slots[s], time);
    live_resettle(core, s);
}

/* ---- parts of entries ---- */

/* The words of a lane's result; NULL: it has none in rows. */
static u32 *result_row(const struct dyninst *f, u32 lane, u32 row)
{
    if (!f || f->kind > DYNINST_ACCESS || !f->dst[0] || row >= f->dst_rows[0])
        return NULL;
    return f->dst[0] + (size_t)row * f->warp->exec->image->warp_size + lane;
}

/* A lane's bit of a result that is a mask. */
static bool is_mask_result(const struct dyninst *f)
{
    return f && f->kind == DYNINST_COMPUTE && f->dst[0] && !f->dst_rows[0] &&
           f->code->dst[0].kind == OPERAND_MASK;
}

void live_walk_result(struct state_walk *walk, struct dyninst *f, u32 lane, u32 word_bits)
{
    u32 *low = result_row(f, lane, 0), *high = result_row(f, lane, 1);
    const bool mask = is_mask_result(f);
    u64 word = mask ? f->dst[0][lane / LANES] >> lane % LANES & 1 : low ? *low : 0;
    u64 writes = f ? f->writes >> lane & 1 : 0;
    if (high && word_bits > 32)
        word |= (u64)*high << 32;
    if (walk_field(walk, &word, word_bits)) {
        walk->dead = !writes || (mask && walk->bits - walk->bit != word_bits);
        if (low)
            *low = (u32)word;
        if (high && word_bits > 32)
            *high = (u32)(word >> 32);
        if (mask && !walk->dead)
            f->dst[0][lane / LANES] ^= 1u << lane % LANES;
    }
    if (walk_field(walk, &writes, 1) && f) {
        f->writes ^= 1ull << lane;
        walk->dead = !low;
    }
}

void live_walk_target(struct state_walk *walk, struct inflight *inflight, u32 slot_bits,
                      u32 register_bits)
{
    const bool writes = inflight && inflight->dyn.dst_rows[0];
    u64 slot = inflight ? inflight->slot : 0;
    u64 reg = writes ? inflight->dyn.to[0] & 0xff : 0;
    if (writes && inflight->astray) {
        slot = inflight->astray_slot;
        reg = inflight->astray_register;
    }
    const bool other_slot = walk_field(walk, &slot, slot_bits);
    const bool other_register = walk_field(walk, &reg, register_bits);
    if (!other_slot && !other_register)
        return;
    walk->dead = !writes;
    if (writes)
        live_send_astray(inflight, (u32)slot, (u32)reg);
}

/* ---- registers, shared memory, lanes ---- */

void live_visit_registers(struct state_walk *walk, const struct state_row *row, void *owner,
                          u64 entry)
{
    const struct core *core = owner;
    const u32 lanes = core ? core->config.core->warp_size : 1;
    const u32 at = (u32)(entry / lanes);
    const bool immune = core && at - core->immune.first < core->immune.count;
    const bool used = core && core->exec && core->registers->storage && !immune &&
                      at < register_file_rows(core->registers);
    u32 *word = used ? register_file_row(core->registers, at) + entry % lanes : NULL;
    if (walk_entry(walk, used && core_row_lanes(core, at) >> entry % lanes & 1) &&
        walk_words(walk, word, 1) && core)
        all_written((struct core *)owner, core->present);
}

/* Hashes registers that have been written, and adds up the hashes of all. */
static u64 hash_registers(struct core *core, u32 s)
{
    struct live_core *live = core->live;
    const struct warp *warp = core->slots[s].warp;
    const u32 lanes = core->config.core->warp_size, count = core->exec->register_rows;
    const bool plain = !warp->map && !warp->registers;
    for (u32 word = 0; word * 64 < count; word++) {
        for (u64 set = live->written[s][word]; set; set &= set - 1) {
            const u32 reg = word * 64 + first_bit(set);
            u32 values[MAX_LANES];
            if (reg >= count)
                break;
            if (UNLIKELY(!plain)) /* kept elsewhere, or in pieces */
                register_read(warp, reg, values);
            live->sums[s] -= live->rows[s][reg];
            live->rows[s][reg] = hash_words(reg, plain ? register_row(warp, reg) : values, lanes);
            live->sums[s] += live->rows[s][reg];
        }
        live->written[s][word] = 0;
    }
    return live->sums[s];
}

u64 live_hash_registers(const struct state_row *row, void *owner, u64 hash)
{
    struct core *core = owner;
    if (!core->exec || !core->present)
        return hash;
    if (UNLIKELY(core->hooks.seams)) /* mechanisms may write registers, too */
        all_written(core, core->present);
    for (u64 set = core->present & ~core->ended; set; set &= set - 1)
        hash = hash_word(hash ^ first_bit(set), hash_registers(core, first_bit(set)));
    return hash;
}

void live_visit_scalars(struct state_walk *walk, const struct state_row *row, void *owner,
                        u64 entry)
{
    const struct core *core = owner;
    const u32 each = core && core->exec ? core->registers->layout.scalars : 0;
    const u32 s = each ? live_slot_of_frame(core, (u32)(entry / each)) : CORE_WARPS;
    const u32 scalar = each ? (u32)(entry % each) : 0;
    const bool used = s != CORE_WARPS && scalar < SCALAR_GENERAL_END &&
                      core->exec->image->program->traits.explicit_exec;
    if (walk_entry(walk, used) &&
        walk_words(walk, used ? scalar_word(core->slots[s].warp, scalar) : NULL, 1) && core)
        all_written((struct core *)owner, core->present);
}

/* Scalars of a warp that has executed something. */
static u64 hash_scalars(const struct warp *warp)
{
    enum {
        WHOLE = 128 /* scalars that fill rows (S3 of image.h); behind them, some are derived */
    };
    u64 hash = hash_words(0, scalar_word(warp, 0), WHOLE);
    hash = hash_word(hash, *scalar_word(warp, SCALAR_SCC));
    return hash_word(hash, *scalar_word(warp, SCALAR_MODE));
}

u64 live_hash_scalars(const struct state_row *row, void *owner, u64 hash)
{
    struct core *core = owner;
    struct live_core *live = core->live;
    if (!core->exec || !core->exec->image->program->traits.explicit_exec)
        return hash;
    for (u64 set = core->present & ~core->ended; set; set &= set - 1) {
        const u32 s = first_bit(set);
        const struct warp *warp = core->slots[s].warp;
        if (live->retired >> s & 1 || live->issued[s] != warp->instructions || core->hooks.seams)
            live->scalars[s] = hash_scalars(warp);
        live->issued[s] = warp->instructions;
        hash = hash_word(hash ^ s, live->scalars[s]);
    }
    live->retired = 0;
    return hash;
}

u64 live_hash_shared(const struct state_row *row, void *owner, u64 hash)
{
    struct core *core = owner;
    struct live_core *live = core->live;
    for (u32 place = 0; core->exec && core->present && place < CORE_BLOCKS; place++) {
        const struct thread_block *block = core->blocks[place].block;
        if (!block || !block->shared_bytes)
            continue;
        if (live->stored >> place & 1 || core->hooks.seams)
            live->shared[place] = hash_words(place, (const u32 *)(const void *)block->shared,
                                             block->shared_bytes / 4);
        hash = hash_word(hash, live->shared[place]);
    }
    live->stored = 0;
    return hash;
}

void live_visit_shared(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    const struct core *core = owner;
    const u32 words = core && core->exec ? (core->exec->shared_bytes + 3) / 4 : 0;
    const u64 place = words ? entry / words : CORE_BLOCKS;
    const struct thread_block *block = place < CORE_BLOCKS ? core->blocks[place].block : NULL;
    const bool used = block && entry % words * 4 + 4 <= block->shared_bytes;
    if (walk_entry(walk, used) &&
        walk_words(walk, used ? (u32 *)(void *)block->shared + entry % words : NULL, 1) && core)
        core->live->stored = ~0ull;
}

u64 live_hash_slots(const struct state_row *row, void *owner, u64 hash)
{
    const struct core *core = owner;
    const u64 each = row->entries / core->config.core->warps;
    struct state_walk walk = {.mode = WALK_HASH, .hash = hash, .canonical = true};
    for (u64 set = core->present; set; set &= set - 1)
        for (u64 entry = first_bit(set) * each; entry < (first_bit(set) + 1) * each; entry++) {
            const u64 before = walk.hash;
            walk.bits = 0;
            row->visit(&walk, row, owner, entry);
            if (walk.hash != before)
                walk.hash = hash_word(walk.hash, entry);
        }
    return walk.hash;
}

void live_visit_mask(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    struct core *core = owner;
    const bool present = core && entry < CORE_WARPS && core->present >> entry & 1;
    struct warp *warp = present && !core->slots[entry].ended ? core->slots[entry].warp : NULL;
    const bool exec = warp && warp->exec->image->program->traits.explicit_exec;
    const bool used = warp && (exec || warp->current != NO_PATH);
    u64 mask = exec ? scalar_pair(warp, SCALAR_EXEC) : used ? warp_path(warp)->mask : 0;
    const u64 before = mask;
    if (!walk_entry(walk, used) || !walk_field(walk, &mask, row->bits) || !used)
        return;
    if (exec) {
        scalar_set_pair(warp, SCALAR_EXEC, mask);
        warp_set_active(warp);
        return;
    }
    live_flip_lanes(warp, warp->current, mask ^ before);
    live_resettle(core, (u32)entry);
}
