/*
 * Where the registers of `less` are. Rows 0 to sram - 1 of the register file are SRAM, all others
 * STT-RAM. (Rows beyond the machine's, which only launch.registers can ask for, count as STT-RAM.)
 *
 * A register's home is row `warp * count + number` of its segment: the warp's number on the core,
 * the registers of this kind that each thread has, and the register's number among them. If that
 * row does not exist or is taken, the register overflows: to a free row of its own segment, else to
 * one of the other. So any register may be in a row, and only the map says which.
 *
 * A register in STT-RAM is stored as 16 bits (halved) if its last write was narrow and covered all
 * lanes. The upper halves of its row then hold no data: here they are the complements of the lower ones,
 * so that no reader works by chance. Its readers extend it with zeros. A bit per row says so.
 *
 * Invariants
 *  L1  A slot's bit of `halved` is set exactly while the register is stored as 16 bits.
 *  L2  Writes of some lanes keep L1 without reading the row: narrow ones store upper halves of zero
 *      if the register is not halved; wide ones store zeros in the upper halves of all other lanes
 *      if it is.
 */
#include "mech/less.h"
#include <stdlib.h>

/* ---- kinds of registers ---- */

static void find_function(struct less *l, const struct program *program, const struct function *f,
                          u32 *longest)
{
    struct arena *arena = arena_create();
    const struct code code = code_of(program, f);
    lifetimes_longest(lifetimes_of(arena, program, f), &code, longest, l->registers);
    arena_destroy(arena);
}

/* By the lifetimes of values in all code that the kernel may execute. */
static void kinds_by_lifetime(struct less *l, const struct exec *exec)
{
    const struct program *program = exec->image->program;
    const struct function *kernel = exec->kernel;
    u32 *longest = checked(calloc(l->registers + 1, sizeof *longest));
    for (u32 n = 0; n < MAX(kernel->reachable_count, 1u); n++) {
        const struct function *f =
            kernel->reachable_count ? &program->functions[kernel->reachable[n]] : kernel;
        if (f->first != f->end)
            find_function(l, program, f, longest);
    }
    for (u32 r = 0; r < l->registers; r++)
        l->kind[r] = longest[r] && longest[r] - 1 <= l->params->limit ? LESS_SHORT : LESS_LONG;
    free(longest);
}

/* Only cores that get blocks need them. */
static void find_kinds(struct less *l)
{
    const u32 in_stt = l->rows ? (l->registers * (l->rows - l->sram) + l->rows / 2) / l->rows : 0;
    if (l->params->mode != LESS_NWA && l->sram && l->sram < l->rows)
        kinds_by_lifetime(l, core_exec(l->core));
    else
        for (u32 r = 0; r < l->registers; r++)
            l->kind[r] = r < in_stt ? LESS_LONG : LESS_SHORT;
    l->count[LESS_SHORT] = l->count[LESS_LONG] = 0;
    for (u32 r = 0; r < l->registers; r++)
        l->number[r] = (u16)l->count[l->kind[r]]++;
}

/* ---- rows ---- */

static bool is_free(const struct less *l, u32 row)
{
    return !core_row_lanes(l->core, row) && !(l->taken[row / 64] >> row % 64 & 1);
}

static u32 home_of(const struct less *l, u32 frame, u32 reg)
{
    const u32 kind = l->kind[reg];
    const u64 at = (u64)frame * l->count[kind] + l->number[reg];
    const u32 first = kind == LESS_LONG ? l->sram : 0, end = kind == LESS_LONG ? l->rows : l->sram;
    return at < end - first ? first + (u32)at : NO_ROW;
}

/* The last free row from `first` to `end` - 1: homes fill the segments from their start. */
static u32 last_free(const struct less *l, u32 first, u32 end)
{
    for (u32 row = end; row-- > first;)
        if (is_free(l, row))
            return row;
    return NO_ROW;
}

static u32 overflow_of(const struct less *l, u32 reg)
{
    const bool stt = l->kind[reg] == LESS_LONG;
    u32 row = stt ? last_free(l, l->sram, l->rows) : last_free(l, 0, l->sram);
    if (row == NO_ROW)
        row = last_free(l, 0, core_rows(l->core));
    return row;
}

static void count_row(struct less *l, u32 reg, u32 row)
{
    const bool stt = less_in_stt(l, row), long_lived = l->kind[reg] == LESS_LONG;
    *(stt ? &l->stats->stt_rows : &l->stats->sram_rows) += 1;
    l->stats->stt_overflows += stt && !long_lived;
    l->stats->sram_overflows += !stt && long_lived;
}

/* The first warp of a launch starts on this core. */
static void begin_warps(struct less *l)
{
    if (l->kind)
        return;
    l->kind = checked(calloc(l->registers + 1, sizeof *l->kind));
    l->number = checked(calloc(l->registers + 1, sizeof *l->number));
    l->taken_words = core_rows(l->core) / 64 + 1;
    l->taken = checked(malloc(l->taken_words * sizeof *l->taken));
    find_kinds(l);
}

void less_allocate(struct less *l, u32 slot, u32 *rows, u32 count)
{
    const u32 frame = core_slot(l->core, slot)->warp->frame;
    begin_warps(l);
    memset(l->taken, 0, l->taken_words * sizeof *l->taken);
    for (u32 r = 0; r < count; r++) {
        const u32 home = home_of(l, frame, r);
        rows[r] = home != NO_ROW && is_free(l, home) ? home : NO_ROW;
        if (rows[r] != NO_ROW)
            l->taken[home / 64] |= bit(home % 64);
    }
    for (u32 r = 0; r < count; r++) {
        if (rows[r] == NO_ROW) {
            rows[r] = overflow_of(l, r);
            assert(rows[r] != NO_ROW); /* the file has a row for each register of a warp */
            l->taken[rows[r] / 64] |= bit(rows[r] % 64);
        }
        count_row(l, r, rows[r]);
    }
}

u32 less_bank(const struct less *l, u32 slot, u32 reg, u32 row)
{
    const struct issue_params *issue = core_config(l->core)->issue;
    const u32 each = core_banks(l->core) / (issue->sub_cores ? issue->schedulers : 1);
    const u32 usual = core_register_bank(l->core, slot, reg);
    return usual / each * each + (less_in_stt(l, row) ? row - l->sram : row) % each;
}

/* ---- narrow registers ---- */

static bool is_halved(const struct less_slot *s, u32 reg)
{
    return s->halved[reg / 64] >> reg % 64 & 1;
}

static void read_halved(const struct register_view *view, const struct warp *warp, u32 reg, u32 *to)
{
    const u32 *row = register_row(warp, reg), lanes = warp->exec->image->warp_size;
    for (u32 lane = 0; lane < lanes; lane++)
        to[lane] = row[lane] & 0xffff;
}

static void made_whole(const struct register_view *view, struct warp *warp, u32 reg)
{
    const struct less_slot *s = view->user;
    s->halved[reg / 64] &= ~bit(reg % 64);
}

/* A result covers all lanes, or there are no others to be kept. */
static void store_halves(struct less *l, struct less_slot *s, u32 *row, u32 reg, lane_set lanes)
{
    for (lane_set set = lanes; set; set &= set - 1) {
        u32 *word = &row[first_lane(set)];
        *word = (*word & 0xffff) | ~*word << 16;
    }
    s->halved[reg / 64] |= bit(reg % 64);
    l->stats->halves++;
}

void less_store(struct less *l, u32 slot, u32 reg, lane_set lanes, bool narrow)
{
    struct less_slot *s = &l->slots[slot];
    const lane_set all = core_all_lanes(l->core);
    u32 *row = core_row(l->core, core_register_row(l->core, slot, reg, 0));
    const bool halved = is_halved(s, reg);
    if (narrow && (halved || lanes == all)) {
        store_halves(l, s, row, reg, lanes);
        return;
    }
    l->stats->extended += narrow || (halved && lanes != all);
    if (!halved)
        return;
    for (lane_set set = all & ~lanes; set; set &= set - 1)
        row[first_lane(set)] &= 0xffff;
    s->halved[reg / 64] &= ~bit(reg % 64);
}

/* ---- warps and launches ---- */

/* Particles do not flip cells of STT-RAM. */
static void cover(struct less *l, u32 slot)
{
    memset(l->safe, 0, l->words * sizeof *l->safe);
    for (u32 r = 0; r < l->registers; r++)
        if (less_in_stt(l, core_register_row(l->core, slot, r, 0)))
            l->safe[r / 64] |= bit(r % 64);
    core_cover(l->core, slot, l->safe);
}

void less_start(struct less *l, u32 slot)
{
    struct less_slot *s = &l->slots[slot];
    if (!core_slot(l->core, slot)->warp->map) /* its rows were refused */
        return;
    cover(l, slot);
    memset(s->halved, 0, l->words * sizeof *s->halved);
    if (l->pairs)
        register_keep(core_slot(l->core, slot)->warp, &s->view);
}

static void forget(struct less *l)
{
    free(l->kind);
    free(l->number);
    free(l->taken);
    free(l->slots[0].halved);
    l->kind = NULL;
    l->number = NULL;
    l->taken = NULL;
    l->slots[0].halved = NULL;
}

void less_launch(struct less *l, bool begins)
{
    forget(l);
    if (!begins)
        return;
    l->registers = core_exec(l->core)->register_rows;
    l->words = l->registers / 64 + 1;
    u64 *halved = checked(calloc((size_t)(CORE_WARPS + 1) * l->words, sizeof *halved));
    l->safe = halved + (size_t)CORE_WARPS * l->words;
    for (u32 i = 0; i < CORE_WARPS; i++) {
        struct less_slot *s = &l->slots[i];
        s->less = l;
        s->halved = halved + (size_t)i * l->words;
        s->view = (struct register_view){s->halved, s, read_halved, made_whole};
    }
}

void less_create_places(struct less *l, struct core *core)
{
    const struct core_params *sizes = core_config(core)->core;
    l->core = core;
    l->rows = sizes->registers / sizes->warp_size;
    l->sram = less_sram_of(l->params, l->rows);
    l->pairs = l->params->mode != LESS_LA;
    core_set_immune(core, l->sram, l->rows - l->sram);
}
