/* Live state of a core: see live.h. */
#include "core/live.h"
#include "core/common/common.h"
#include "exec/register_file.h"
#include "exec/scalars.h"

void live_disturb(struct core *core)
{
    core->quiet_until = 0;
    core->issue.asleep = 0;
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
    const bool used =
        core && core->exec && core->registers->storage && at < register_file_rows(core->registers);
    u32 *word = used ? register_file_row(core->registers, at) + entry % lanes : NULL;
    if (walk_entry(walk, used && core_row_lanes(core, at) >> entry % lanes & 1))
        walk_words(walk, word, 1);
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
    if (walk_entry(walk, used))
        walk_words(walk, used ? scalar_word(core->slots[s].warp, scalar) : NULL, 1);
}

void live_visit_shared(struct state_walk *walk, const struct state_row *row, void *owner, u64 entry)
{
    const struct core *core = owner;
    const u32 words = core && core->exec ? (core->exec->shared_bytes + 3) / 4 : 0;
    const u64 place = words ? entry / words : CORE_BLOCKS;
    const struct thread_block *block = place < CORE_BLOCKS ? core->blocks[place].block : NULL;
    const bool used = block && entry % words * 4 + 4 <= block->shared_bytes;
    if (walk_entry(walk, used))
        walk_words(walk, used ? (u32 *)(void *)block->shared + entry % words : NULL, 1);
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
