/*
 * Lifetimes of values in vector registers, their widths, and which of them could share a result
 * bus: the study behind register files of two kinds of cells (Tan, 2016, sections 4.2.1 and 4.2.2).
 * An observer: results and timing do not change.
 *
 * A value is what one instruction of a warp writes to one register. It lives from its write to its
 * last read; after that its register is dead until it is overwritten. Lifetimes count instructions
 * of the thread, or of the warp in code with explicit EXEC, as the analysis of the code does
 * (analysis/lifetimes.h), whose bounds are checked here.
 *
 * An instruction counts, and reads, when it issues (operand); its results count when it retires. In
 * functional runs there are no cycles and no buses.
 *
 * Seams: launch, block, operand, retired, launch_done; observe, observed.
 *
 * Invariants
 *  T1  Values of a register have disjoint lanes: a write takes its lanes from older values. A value
 *      ends when it has no lanes left, or with its block.
 *  T2  A lane's instructions are those of its warp less `missed`: those that the warp issued while
 *      the lane was on another path. Before the first such instruction, `apart` is false and all
 *      are 0.
 *  T3  A value whose block has ended before it retires is never read.
 */
#include "core/mechanism.h"
#include <stdlib.h>

#define COMPONENT lifetimes
#define COMPONENT_DEF "mech/lifetimes.def"
#define COMPONENT_HELP "lifetimes and widths of values in vector registers"
#include "base/component_struct.h"
#include "base/component_table.h"

enum {
    MOST_REGISTERS = 2048, /* more than any program has: ptx.max_registers, and 256 */
    OPEN = 32,             /* narrow writes that wait for a partner */
    NONE = 0               /* an index of a value */
};

struct value {
    lane_set lanes;    /* T1 */
    u64 number;        /* of the instruction that wrote it, in its warp */
    u64 written, last; /* cycle of the write; of the last read, or of the write */
    u32 inst;
    u32 life;   /* instructions up to the last read; 0: none so far */
    u32 next;   /* value of the same register */
    bool plain; /* `missed` was 0 in all lanes when it was written */
    u8 destination;
};

struct life_warp {
    u64 number;     /* instructions issued */
    u32 generation; /* of the blocks in its place */
    bool apart;
    u32 used, free;       /* values: how many have been used, and a list of free ones */
    lane_set lanes;       /* functional runs: those that execute the current instruction */
    u32 *heads;           /* by register: its first value */
    u32 *missed;          /* by lane (T2) */
    u32 *missed_then;     /* by register and lane: when its value was written */
    struct value *values; /* as many as there are registers of lanes; the first is not used */
};

struct life_block {
    u64 started; /* cycle */
    bool runs;
    struct life_warp *warps;
};

/* An instruction in flight. */
struct life_inflight {
    struct life_warp *warp; /* NULL: not followed */
    u64 number;
    u32 generation;
    bool plain;
};

/* Narrow writes without a partner. */
struct waiting_writes {
    u32 count;
    struct {
        u64 cycle;
        u32 bank;
        u32 slot;
    } list[OPEN];
};

/* What the analysis says of a destination. */
struct life_kind {
    u16 life[2];
    bool mixed[2];
};

struct lifetimes_core {
    MECHANISM_STATE(lifetimes);
    struct core *core; /* NULL: a functional run */
    const struct exec *exec;
    bool by_exec; /* divergence by EXEC: all instructions of a warp count */
    u32 registers, warp_size, warps;
    struct life_kind *kinds;             /* by instruction; NULL: not known yet */
    u32 short_registers, long_registers; /* of a warp */
    struct life_block *blocks;
    u32 block_count;
    struct life_inflight inflight[CORE_INFLIGHT];
    u32 *missed; /* by record and lane: T2 when it issued */
    struct waiting_writes all, by_long;
    u32 wrong; /* an instruction whose value lived too long, or NO_INST */
    u32 wrong_life;
};

static u64 now_of(const struct lifetimes_core *l)
{
    return l->core ? core_cycle(l->core) : 0;
}

/* ---- values ---- */

static void count_life(struct lifetimes_core *l, const struct value *v)
{
    struct lifetimes_stats *s = l->stats;
    u64 *const lives[LIFE_CLASSES] = {
        &s->instructions_1,  &s->instructions_2,  &s->instructions_5,   &s->instructions_10,
        &s->instructions_20, &s->instructions_50, &s->instructions_more};
    static const u64 longest[] = {10, 30, 100, 300, 1000, UINT64_MAX};
    u64 *const cycles[] = {&s->cycles_10,  &s->cycles_30,   &s->cycles_100,
                           &s->cycles_300, &s->cycles_1000, &s->cycles_more};
    if (!v->life) {
        s->unread++;
        return;
    }
    s->read++;
    s->instructions += v->life;
    s->short_lived += v->life <= l->params->short_limit;
    *lives[life_class(v->life)] += 1;
    if (!l->core)
        return;
    u32 i = 0;
    while (v->last - v->written > longest[i])
        i++;
    *cycles[i] += 1;
    s->cycles += v->last - v->written;
}

/* A value has ended: it counts, and is compared with what the analysis says. */
static void count_value(struct lifetimes_core *l, const struct value *v)
{
    const u16 bound = l->kinds[v->inst].life[v->destination];
    count_life(l, v);
    l->stats->missed += bound > l->params->short_limit && v->life <= l->params->short_limit;
    if (v->life <= bound || bound == LIFE_UNBOUNDED)
        return;
    l->stats->misjudged++;
    if (l->wrong == NO_INST) {
        l->wrong = v->inst;
        l->wrong_life = v->life;
    }
}

/* Lanes lose their value. */
static void count_lanes_of(struct lifetimes_core *l, const struct value *v, lane_set lanes)
{
    const u64 count = count_lanes(lanes);
    l->stats->live += count * (v->last - v->written);
    l->stats->dead += count * (now_of(l) - v->last);
}

static u32 take_value(struct life_warp *w)
{
    const u32 index = w->free;
    if (index == NONE)
        return ++w->used;
    w->free = w->values[index].next;
    return index;
}

/* Lanes of a register are overwritten (T1). */
static void end_lanes(struct lifetimes_core *l, struct life_warp *w, u32 reg, lane_set lanes)
{
    for (u32 *at = &w->heads[reg]; *at != NONE;) {
        const u32 index = *at;
        struct value *v = &w->values[index];
        if (v->lanes & lanes)
            count_lanes_of(l, v, v->lanes & lanes);
        v->lanes &= ~lanes;
        if (v->lanes) {
            at = &v->next;
            continue;
        }
        count_value(l, v);
        *at = v->next;
        v->next = w->free;
        w->free = index;
    }
}

/* Instructions of the warp that all of these lanes have missed since the value was written. */
static u64 missed_by_all(const struct lifetimes_core *l, const struct life_warp *w, u32 reg,
                         const struct value *v, lane_set lanes)
{
    const u32 *then = &w->missed_then[(size_t)reg * l->warp_size];
    u64 fewest = UINT64_MAX;
    for (lane_set set = w->apart ? lanes : 0; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        const u64 missed = w->missed[lane] - (v->plain ? 0 : then[lane]);
        fewest = MIN(fewest, missed);
    }
    return w->apart ? fewest : 0;
}

static void read_register(struct lifetimes_core *l, struct life_warp *w, u32 reg, lane_set lanes)
{
    for (u32 at = w->heads[reg]; at != NONE; at = w->values[at].next) {
        struct value *v = &w->values[at];
        const lane_set read = v->lanes & lanes;
        if (!read)
            continue;
        const u64 life = w->number - v->number - missed_by_all(l, w, reg, v, read);
        v->life = (u32)MAX(life, v->life);
        v->last = now_of(l);
    }
}

/* ---- results ---- */

static u32 bits_of(u32 word)
{
    return word ? 32 - (u32)__builtin_clz(word) : 0;
}

/* Counts its width; whether it is narrow. */
static bool count_width(struct lifetimes_core *l, const u32 *row, lane_set lanes)
{
    struct lifetimes_stats *s = l->stats;
    u32 all = 0, all_signed = 0;
    for (lane_set set = lanes; set; set &= set - 1) {
        const u32 word = row[first_lane(set)];
        all |= word;
        all_signed |= word ^ (u32)((i32)word >> 31);
    }
    const u32 bits = bits_of(all);
    *(bits <= 1    ? &s->width_1
      : bits <= 8  ? &s->width_8
      : bits <= 16 ? &s->width_16
      : bits <= 24 ? &s->width_24
                   : &s->width_32) += 1;
    s->narrow += bits <= 16;
    s->narrow_signed += bits_of(all_signed) <= 15;
    return bits <= 16;
}

/* A narrow result is written: a partner for it, the oldest of those that wait, else it waits.
 * Returns the number of cycles between them, or -1. */
static i64 find_partner(struct waiting_writes *waiting, u64 cycle, u32 window, u32 slot, u32 bank,
                        bool banked)
{
    u32 left = 0;
    i64 apart = -1;
    for (u32 i = 0; i < waiting->count; i++) {
        const u64 ago = cycle - waiting->list[i].cycle;
        if (ago > window)
            continue;
        if (apart < 0 && waiting->list[i].slot != slot &&
            (!banked || waiting->list[i].bank != bank)) {
            apart = (i64)ago;
            continue;
        }
        waiting->list[left++] = waiting->list[i];
    }
    waiting->count = left;
    if (apart >= 0)
        return apart;
    if (waiting->count == OPEN)
        memmove(&waiting->list[0], &waiting->list[1], --waiting->count * sizeof *waiting->list);
    waiting->list[waiting->count].cycle = cycle;
    waiting->list[waiting->count].bank = bank;
    waiting->list[waiting->count++].slot = slot;
    return -1;
}

static void pair_up(struct lifetimes_core *l, u32 slot, u32 reg, bool long_lived)
{
    struct lifetimes_stats *s = l->stats;
    const bool banked = core_banks(l->core);
    const u32 bank = banked ? core_register_bank(l->core, slot, reg) : 0;
    const u32 window = l->params->window;
    const i64 apart = find_partner(&l->all, now_of(l), window, slot, bank, banked);
    s->paired += apart >= 0 ? 2 : 0;
    s->paired_at_once += apart == 0 ? 2 : 0;
    if (long_lived && find_partner(&l->by_long, now_of(l), window, slot, bank, banked) >= 0)
        s->by_long_paired += 2;
}

/* A register of a result, with its words (NULL: not known). Whether it is narrow. */
static bool count_result(struct lifetimes_core *l, u32 inst, u32 destination, const u32 *row,
                         lane_set lanes)
{
    struct lifetimes_stats *s = l->stats;
    const struct life_kind *kind = &l->kinds[inst];
    const bool long_lived = kind->life[destination] > l->params->short_limit;
    const bool narrow = row ? count_width(l, row, lanes) : false;
    s->values++;
    s->width_32 += !row;
    s->by_long += long_lived;
    s->by_short += !long_lived;
    s->by_long_narrow += long_lived && narrow;
    s->mixed += kind->mixed[destination];
    return narrow;
}

/* A result is in its register. `missed`: T2 when it was issued, or NULL: all 0. */
static void write_register(struct lifetimes_core *l, struct life_warp *w, u32 reg, lane_set lanes,
                           u32 inst, u32 destination, u64 number, const u32 *missed)
{
    end_lanes(l, w, reg, lanes);
    const u32 index = take_value(w);
    w->values[index] = (struct value){
        .lanes = lanes,
        .number = number,
        .written = now_of(l),
        .last = now_of(l),
        .inst = inst,
        .next = w->heads[reg],
        .plain = !missed,
        .destination = (u8)destination,
    };
    w->heads[reg] = index;
    u32 *then = &w->missed_then[(size_t)reg * l->warp_size];
    for (lane_set set = missed ? lanes : 0; set; set &= set - 1)
        then[first_lane(set)] = missed[first_lane(set)];
}

/* ---- instructions ---- */

/* What M0 adds to the number of an operand whose range is open. */
static u32 moved_by(const struct warp *warp, const struct inst *code)
{
    return scalar_read(warp, code->src[1], 0);
}

/* An instruction counts, and reads its sources. */
static void begin_inst(struct lifetimes_core *l, struct life_warp *w, const struct warp *warp,
                       const struct inst *code, lane_set active, lane_set lanes)
{
    struct operand list[INST_REFS];
    const bool crosses = l->by_exec && op_info[code->op].flags & OPF_CROSS;
    const lane_set others = l->by_exec ? 0 : warp->live & ~active;
    w->number++;
    for (lane_set set = others; set; set &= set - 1)
        w->missed[first_lane(set)]++;
    w->apart |= others != 0;
    const u32 count = inst_reads(code, list);
    for (u32 k = 0; k < count; k++) {
        if (list[k].kind != OPERAND_VECTOR)
            continue;
        const u32 first = list[k].index + (list[k].count ? 0 : moved_by(warp, code));
        for (u32 r = first; r < first + (list[k].count ? list[k].count : 1) && r < l->registers;
             r++)
            read_register(l, w, r, crosses ? ~0ull : lanes);
    }
}

static struct life_warp *warp_of(const struct lifetimes_core *l, const struct warp *warp)
{
    const u32 slot = warp->block->slot;
    return slot < l->block_count && l->blocks[slot].runs ? &l->blocks[slot].warps[warp->index]
                                                         : NULL;
}

/* Results that are in registers already; their words are read there, or not known. */
static void write_now(struct lifetimes_core *l, struct life_warp *w, struct warp *warp, u32 inst,
                      lane_set lanes, bool known)
{
    const struct inst *code = warp_inst(warp, inst);
    struct operand list[INST_REFS];
    u32 row[MAX_LANES];
    inst_writes(code, list);
    for (u32 k = 0, n = 0; k < ARRAY_LEN(code->dst); k++) {
        if (code->dst[k].kind == OPERAND_NONE)
            continue;
        const struct operand o = list[n++];
        if (o.kind != OPERAND_VECTOR || !lanes)
            continue;
        const u32 first = o.index + (o.count ? 0 : moved_by(warp, code));
        for (u32 r = first; r < first + (o.count ? o.count : 1) && r < l->registers; r++) {
            if (known)
                register_read(warp, r, row);
            count_result(l, inst, k, known ? row : NULL, lanes);
            write_register(l, w, r, lanes, inst, k, w->number, w->apart ? w->missed : NULL);
        }
    }
}

/* ---- launches and blocks ---- */

static void free_block(struct life_block *b, u32 warps)
{
    for (u32 i = 0; b->warps && i < warps; i++) {
        free(b->warps[i].heads);
        free(b->warps[i].missed);
        free(b->warps[i].missed_then);
        free(b->warps[i].values);
    }
    free(b->warps);
}

static void forget(struct lifetimes_core *l)
{
    for (u32 i = 0; i < l->block_count; i++)
        free_block(&l->blocks[i], l->warps);
    free(l->blocks);
    free(l->kinds);
    free(l->missed);
    l->blocks = NULL;
    l->kinds = NULL;
    l->missed = NULL;
    l->block_count = 0;
}

/* What the analysis says of a function; `longest`: by register, of all its values, plus 1; 0: it is
 * not used. */
static void find_function(struct lifetimes_core *l, const struct function *f, u32 *longest)
{
    struct arena *arena = arena_create();
    const struct code code = code_of(l->exec->image->program, f);
    const struct lifetimes *found = lifetimes_of(arena, l->exec->image->program, f);
    for (u32 i = 0; i < code.count; i++)
        for (u32 k = 0; k < ARRAY_LEN(code.insts[i].dst); k++) {
            struct life_kind *kind = &l->kinds[f->first + i];
            kind->life[k] = found->life[i][k];
            kind->mixed[k] = lifetimes_is_mixed(found, &code, i, k, l->params->short_limit);
        }
    lifetimes_longest(found, &code, longest, MOST_REGISTERS);
    arena_destroy(arena);
}

/* What it says of all code that the kernel may execute. */
static void find_kinds(struct lifetimes_core *l)
{
    const struct program *program = l->exec->image->program;
    const struct function *kernel = l->exec->kernel;
    u32 longest[MOST_REGISTERS] = {0};
    l->kinds = checked(calloc(MAX(program->inst_count, 1u), sizeof *l->kinds));
    for (u32 i = 0; i < program->inst_count; i++) /* where the analysis says nothing */
        l->kinds[i].life[0] = l->kinds[i].life[1] = LIFE_UNBOUNDED;
    for (u32 n = 0; n < MAX(kernel->reachable_count, 1u); n++) {
        const struct function *f =
            kernel->reachable_count ? &program->functions[kernel->reachable[n]] : kernel;
        if (f->first != f->end)
            find_function(l, f, longest);
    }
    l->short_registers = l->long_registers = 0;
    for (u32 r = 0; r < MOST_REGISTERS; r++)
        if (longest[r])
            *(longest[r] - 1 <= l->params->short_limit ? &l->short_registers
                                                       : &l->long_registers) += 1;
}

static void begin_launch(struct lifetimes_core *l, struct core *core, const struct exec *exec)
{
    forget(l);
    l->core = core;
    l->exec = exec;
    l->by_exec = exec->image->program->traits.explicit_exec;
    l->registers = exec->register_rows;
    l->warp_size = exec->image->warp_size;
    l->warps = exec->warps;
    l->all.count = l->by_long.count = 0;
    l->wrong = NO_INST;
    memset(l->inflight, 0, sizeof l->inflight);
    if (core && !l->by_exec)
        l->missed = checked(calloc((size_t)CORE_INFLIGHT * l->warp_size, sizeof *l->missed));
}

static void create_warps(struct lifetimes_core *l, struct life_block *b)
{
    const size_t registers = MAX(l->registers, 1u), words = registers * l->warp_size;
    b->warps = checked(calloc(MAX(l->warps, 1u), sizeof *b->warps));
    for (u32 i = 0; i < l->warps; i++) {
        struct life_warp *w = &b->warps[i];
        w->heads = checked(calloc(registers, sizeof *w->heads));
        w->missed = checked(calloc(l->warp_size, sizeof *w->missed));
        w->missed_then = checked(malloc(words * sizeof *w->missed_then));
        w->values = checked(malloc((words + 1) * sizeof *w->values));
    }
}

static void start_block(struct lifetimes_core *l, u32 slot)
{
    if (!l->kinds)
        find_kinds(l);
    if (slot >= l->block_count) {
        l->blocks = checked(realloc(l->blocks, (slot + 1) * sizeof *l->blocks));
        memset(l->blocks + l->block_count, 0, (slot + 1 - l->block_count) * sizeof *l->blocks);
        l->block_count = slot + 1;
    }
    struct life_block *b = &l->blocks[slot];
    if (!b->warps)
        create_warps(l, b);
    b->runs = true;
    b->started = now_of(l);
    l->stats->registers += (u64)l->warps * (l->short_registers + l->long_registers);
    l->stats->registers_short += (u64)l->warps * l->short_registers;
    l->stats->registers_long += (u64)l->warps * l->long_registers;
    for (u32 i = 0; i < l->warps; i++) {
        struct life_warp *w = &b->warps[i];
        w->number = 0;
        w->apart = false;
        w->used = w->free = NONE;
        memset(w->missed, 0, l->warp_size * sizeof *w->missed);
        memset(w->heads, 0, l->registers * sizeof *w->heads);
    }
}

static void end_block(struct lifetimes_core *l, u32 slot)
{
    struct life_block *b = &l->blocks[slot];
    for (u32 i = 0; i < l->warps; i++) {
        for (u32 r = 0; r < l->registers; r++)
            end_lanes(l, &b->warps[i], r, ~0ull);
        b->warps[i].generation++; /* what is still in flight belongs to nobody (T3) */
    }
    l->stats->resident += (now_of(l) - b->started) * l->warps * l->registers * (u64)l->warp_size;
    b->runs = false;
}

/* ---- functional runs ---- */

static void observe_launch(void *state, struct exec *exec, bool begins)
{
    if (begins)
        begin_launch(state, NULL, exec);
    else
        forget(state);
}

static void observe_block(void *state, struct thread_block *block, bool started)
{
    if (started)
        start_block(state, block->slot);
    else
        end_block(state, block->slot);
}

static void observe(void *state, struct warp *warp, u32 inst)
{
    struct lifetimes_core *l = state;
    struct life_warp *w = warp_of(l, warp);
    const struct step *step = &warp->exec->image->steps[inst];
    if (!w)
        return;
    if (UNLIKELY(step->shape & SHAPE_DERIVED))
        scalar_derive(warp);
    w->lanes = step_is_guarded(step) ? warp_guard(warp, step) : warp->active;
    begin_inst(l, w, warp, warp_inst(warp, inst), warp->active, w->lanes);
}

static void observed(void *state, struct warp *warp, u32 inst)
{
    struct lifetimes_core *l = state;
    struct life_warp *w = warp_of(l, warp);
    const struct inst *code = warp_inst(warp, inst);
    if (!w)
        return;
    const bool one = code->op == OP_writelane;
    write_now(l, w, warp, inst,
              one ? bit(scalar_read(warp, code->src[1], 0) % l->warp_size) : w->lanes, true);
}

/* ---- timing ---- */

static void launch(void *state, struct core *core, bool begins)
{
    if (begins)
        begin_launch(state, core, core_exec(core));
    else
        forget(state);
}

static void block(void *state, struct core *core, u32 block_slot, bool started)
{
    const struct resident *resident = core_block(core, block_slot);
    if (!resident->copy)
        observe_block(state, resident->block, started);
}

static u32 operand(void *state, struct core *core, struct inflight *inflight)
{
    struct lifetimes_core *l = state;
    const struct dyninst *dyn = &inflight->dyn;
    const u32 index = inflight_index(core, inflight);
    struct life_inflight *own = &l->inflight[index];
    own->warp = inflight->injected || dyn->homes ? NULL : warp_of(l, dyn->warp);
    if (!own->warp)
        return 0;
    begin_inst(l, own->warp, dyn->warp, dyn->code, dyn->active, dyn->lanes);
    own->number = own->warp->number;
    own->generation = own->warp->generation;
    own->plain = !own->warp->apart;
    if (!own->plain)
        memcpy(&l->missed[(size_t)index * l->warp_size], own->warp->missed,
               l->warp_size * sizeof *l->missed);
    if (dyn->kind > DYNINST_ACCESS) { /* lanes that wait for others; these write the results */
        write_now(l, own->warp, dyn->warp, dyn->inst, dyn->lanes, false);
        own->warp = NULL;
    }
    return 0;
}

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    struct lifetimes_core *l = state;
    const struct dyninst *dyn = &inflight->dyn;
    const u32 index = inflight_index(core, inflight);
    const struct life_inflight *own = &l->inflight[index];
    const u32 *missed = own->plain ? NULL : &l->missed[(size_t)index * l->warp_size];
    if (!own->warp || inflight->dropped || !dyn->writes)
        return;
    for (u32 k = 0; k < ARRAY_LEN(dyn->dst); k++)
        for (u32 r = 0; r < dyn->dst_rows[k]; r++) {
            const u32 *row = dyn->dst[k] + r * l->warp_size;
            const u32 reg = dyn->to[k] + r;
            const bool narrow = count_result(l, dyn->inst, k, row, dyn->writes);
            if (narrow)
                pair_up(l, inflight->slot, reg,
                        l->kinds[dyn->inst].life[k] > l->params->short_limit);
            if (own->generation == own->warp->generation)
                write_register(l, own->warp, reg, dyn->writes, dyn->inst, k, own->number, missed);
            else
                count_value(l, &(struct value){.inst = dyn->inst, .destination = (u8)k}); /* T3 */
        }
}

static void launch_done(void *const *all, u32 count, struct exec *exec)
{
    struct lifetimes_core *const *states = (struct lifetimes_core *const *)all;
    for (u32 i = 0; i < count; i++) {
        const struct lifetimes_core *l = states[i];
        if (!l->params->check || l->wrong == NO_INST)
            continue;
        fault_check(exec, l->wrong,
                    "a value lived %u instructions; the analysis of the code allows %u and %u for "
                    "the destinations of this instruction (lifetimes.misjudged counts all)",
                    l->wrong_life, l->kinds[l->wrong].life[0], l->kinds[l->wrong].life[1]);
        return;
    }
}

static void destroy(void *state)
{
    forget(state);
}

/* They issue for several warps at once, or skip instructions. */
static const char *const conflicts[] = {"dac_ideal", "darsie", "uniform", NULL};

static const char *const deviations[] = {
    "The text does not say how it counts the instructions of divergent threads. Here they are "
    "those "
    "of the thread itself; --avf counts those of the warp.",
    "A register is read when its instruction issues, not when its bank is.",
    "A read of some lanes counts for all lanes of the value.",
    "Inactive lanes do not count when a result is examined for being narrow.",
    "Pairs are found where writes take one cycle each, as on this machine: writes of four cycles "
    "would change which results meet. Which of several buses a result takes is not considered.",
    "Which values are written to STT-RAM follows from the analysis of this code (by_long), not "
    "from "
    "that of the text's compiler.",
    "The result of a cross-lane instruction that waits for lanes of another path counts when it "
    "issues, as one of 32 bits.",
    NULL,
};

const struct mechanism lifetimes_mechanism = {
    MECHANISM_NAMED(lifetimes, "measures how long values live in vector registers, and how wide "
                               "they are"),
    .source = "J. Tan, \"Architectural approaches to design reliable and energy-efficient GPUs\", "
              "dissertation, University of Houston, 2016, sections 4.2.1 and 4.2.2",
    .deviations = deviations,
    .conflicts = conflicts,
    .state_size = sizeof(struct lifetimes_core),
    .destroy = destroy,
    .launch = launch,
    .block = block,
    .operand = operand,
    .retired = retired,
    .launch_done = launch_done,
    .observe_launch = observe_launch,
    .observe_block = observe_block,
    .observe = observe,
    .observed = observed,
};
