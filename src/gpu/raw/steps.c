/*
 * The trace of a raw program in timing mode: the lines of instructions (trace.c), and a line for
 * each of their steps with its cycle.
 *
 * Cores record steps and finished instructions while they run; after each window all of them are
 * sorted and written.
 *
 * Invariants
 *  RS1  Lines are in order of cycles, and within a cycle in the order of enum trace_kind, then of
 *  cores; an instruction's own line comes after all steps of the cycle.
 *  RS2  Instructions of a wave are in program order, as in functional mode: the line of an
 *  instruction waits for those of instructions that issued earlier. Its values are those at its
 *  write-back. Lines that still wait when the launch stops are dropped.
 *  RS3  Nothing depends on the order in which cores run within a window.
 */
#include "core/stages.h"
#include "exec/scalars.h"
#include "gpu/raw/raw.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    LINE_KIND = TRACE_KINDS /* after all steps */
};

/* A line of a wave that waits for those of earlier instructions. */
struct waiting_line {
    u64 number;
    char *text; /* malloc'd */
    size_t length;
};
struct wave_steps {
    u64 issued, told; /* instructions */
    u32 depth;        /* of the branch stack at the last line written */
    VEC(struct waiting_line) waiting;
};

/* A line to be written, or the data of a step's line. */
struct told {
    u64 cycle;
    u32 order; /* in which it was recorded */
    u32 wave;
    u64 at; /* as trace_at */
    u64 pc;
    u16 core;
    u8 kind;    /* enum trace_kind or LINE_KIND */
    char *text; /* LINE_KIND: malloc'd */
    size_t length;
};

/* An instruction in flight. */
struct inflight_steps {
    u64 number; /* index among its wave's instructions */
    struct raw_stores stores;
    struct raw_text line; /* formatted at write-back, if that was before retirement; else empty */
};

struct core_steps {
    struct core_watcher watcher; /* first member: the core refers to this by it */
    struct exec_watcher stores;
    struct raw_steps *all;
    struct inflight_steps *inflight; /* CORE_INFLIGHT */
    u32 waves[CORE_WARPS];           /* by slot: index in the state */
    VEC(struct told) lines;
};

struct raw_steps {
    hd_trace_fn *line;
    void *user;
    const u32 *const *waves; /* [group][warp]: index in the state */
    struct wave_steps *of_wave;
    u32 wave_count;
    struct launch_clock clock;
    struct core_steps *cores;
    VEC(struct told) entries;
    struct raw_text text;
};

struct raw_steps *raw_steps_create(hd_trace_fn *line, void *user, const struct si_state *state,
                                   const u32 *const *waves)
{
    struct raw_steps *steps = checked(calloc(1, sizeof *steps));
    steps->line = line;
    steps->user = user;
    steps->waves = waves;
    steps->wave_count = state->wave_count;
    steps->of_wave = checked(calloc(state->wave_count, sizeof *steps->of_wave));
    for (u32 i = 0; i < state->wave_count; i++)
        steps->of_wave[i].depth = state->waves[i].mode >> MODE_CSP_SHIFT;
    return steps;
}

void raw_steps_destroy(struct raw_steps *steps)
{
    if (!steps)
        return;
    for (u32 i = 0; i < steps->clock.cores; i++) {
        for (u32 k = 0; k < CORE_INFLIGHT; k++) {
            vec_free(&steps->cores[i].inflight[k].stores.list);
            free(steps->cores[i].inflight[k].line.data);
        }
        free(steps->cores[i].inflight);
        vec_free(&steps->cores[i].lines);
    }
    for (u32 i = 0; i < steps->wave_count; i++) {
        for (u32 k = 0; k < steps->of_wave[i].waiting.count; k++)
            free(steps->of_wave[i].waiting.data[k].text);
        vec_free(&steps->of_wave[i].waiting);
    }
    free(steps->of_wave);
    free(steps->cores);
    vec_free(&steps->entries);
    free(steps->text.data);
    free(steps);
}

/* ---- while cores run ---- */

static u32 wave_of(const struct raw_steps *steps, const struct warp *warp)
{
    return steps->waves[warp->block->number][warp->index];
}

static void issued(struct core_watcher *watcher, struct core *core, const struct inflight *inflight)
{
    struct core_steps *own = (struct core_steps *)watcher;
    struct inflight_steps *t = &own->inflight[inflight_index(core, inflight)];
    t->number = own->all->of_wave[wave_of(own->all, inflight->dyn.warp)].issued++;
    t->stores.list.count = 0;
    free(t->line.data); /* left by an instruction that never retired */
    t->line = (struct raw_text){0};
}

static void stored(struct exec_watcher *watcher, struct warp *warp, u32 lane, enum space space,
                   u64 address, const u8 *data, u32 bytes)
{
    struct core_steps *own =
        (struct core_steps *)((u8 *)watcher - offsetof(struct core_steps, stores));
    const struct inflight *inflight =
        (const struct inflight *)warp->exec->acting; /* `dyn` is its first member */
    _Static_assert(offsetof(struct inflight, dyn) == 0,
                   "a record begins with its dynamic instruction");
    raw_store(&own->inflight[inflight->index].stores, lane, space, address, data, bytes);
}

static void tell(struct core_steps *own, const struct core *core, char *text, size_t length)
{
    struct told *told = vec_push(&own->lines);
    told->cycle = (core->clock.next - own->all->clock.origin) / own->all->clock.period;
    told->kind = LINE_KIND;
    told->core = (u16)core->config.index;
    told->text = text;
    told->length = length;
}

/* Writes waiting lines that are next in program order. */
static void tell_waiting(struct core_steps *own, const struct core *core, struct wave_steps *wave)
{
    for (u32 i = 0; i < wave->waiting.count;) {
        const struct waiting_line line = wave->waiting.data[i];
        if (line.number != wave->told) {
            i++;
            continue;
        }
        tell(own, core, line.text, line.length);
        wave->told++;
        wave->waiting.data[i] = wave->waiting.data[--wave->waiting.count];
        i = 0;
    }
}

/* Formats the line from the current registers. */
static void written(struct core_watcher *watcher, struct core *core,
                    const struct inflight *inflight)
{
    struct core_steps *own = (struct core_steps *)watcher;
    struct inflight_steps *t = &own->inflight[inflight_index(core, inflight)];
    const struct dyninst *f = &inflight->dyn;
    const struct wave_steps *wave = &own->all->of_wave[wave_of(own->all, f->warp)];
    const struct raw_line line = {
        .warp = f->warp,
        .wave = wave_of(own->all, f->warp),
        .inst = f->inst,
        .lanes = f->code->op == OP_writelane ? f->writes : f->active,
        .moved = f->to[0],
        .depth = wave->depth,
    };
    raw_line(&t->line, &line, &t->stores);
}

static void retired(struct core_watcher *watcher, struct core *core,
                    const struct inflight *inflight)
{
    struct core_steps *own = (struct core_steps *)watcher;
    struct inflight_steps *t = &own->inflight[inflight_index(core, inflight)];
    const struct warp *warp = inflight->dyn.warp;
    struct wave_steps *wave = &own->all->of_wave[wave_of(own->all, warp)];
    if (!t->line.length)
        written(watcher, core, inflight);
    wave->depth = raw_depth(warp); /* at most one instruction in flight changes it */
    struct waiting_line *waiting = vec_push(&wave->waiting);
    *waiting = (struct waiting_line){t->number, t->line.data, t->line.length};
    t->line = (struct raw_text){0};
    tell_waiting(own, core, wave);
}

/* ---- between windows ---- */

void raw_steps_follow(struct raw_steps *steps, const struct launch_clock *clock)
{
    steps->clock = *clock;
    steps->cores = checked(calloc(clock->cores, sizeof *steps->cores));
    for (u32 i = 0; i < clock->cores; i++) {
        struct core_steps *own = &steps->cores[i];
        own->watcher =
            (struct core_watcher){.issued = issued, .written = written, .retired = retired};
        own->stores.stored = stored;
        own->all = steps;
        own->inflight = checked(calloc(CORE_INFLIGHT, sizeof *own->inflight));
    }
}

struct core_watcher *raw_steps_watcher(struct raw_steps *steps, u32 core, struct exec *exec)
{
    exec->watcher = &steps->cores[core].stores;
    return &steps->cores[core].watcher;
}

static void take_step(struct raw_steps *steps, struct core_steps *own,
                      const struct trace_event *seen)
{
    struct told *told = vec_push(&steps->entries);
    if (seen->what == TRACE_DISPATCH)
        own->waves[seen->slot] = steps->waves[seen->value >> 16][seen->value & 0xffff];
    told->cycle = (seen->time - steps->clock.origin) / steps->clock.period;
    told->kind = seen->what;
    told->core = seen->core;
    told->wave = own->waves[seen->slot];
    told->at = seen->what == TRACE_DISPATCH ? trace_at(AT_DISPATCHER) : seen->value;
    told->pc = seen->more;
    told->order = steps->entries.count;
}

static int compare(const void *a, const void *b)
{
    const struct told *x = a, *y = b;
    if (x->cycle != y->cycle)
        return x->cycle < y->cycle ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->order < y->order ? -1 : 1; /* by core, then in the core's own order */
}

static void write_step(struct raw_steps *steps, const struct told *told)
{
    struct raw_text *text = &steps->text;
    const u64 number = told->at >> 8;
    text->length = 0;
    raw_add(text, "{\"cycle\":%" PRIu64 ",\"event\":\"%s\",\"unit\":\"%s", told->cycle,
            trace_names[told->kind], trace_place_names[told->at & 255]);
    if (number)
        raw_add(text, "%" PRIu64, number - 1);
    raw_add(text, "\",\"wave\":%u,\"pc\":%" PRIu64 "}", told->wave, told->pc);
    steps->line(steps->user, text->data, text->length);
}

void raw_steps_take(struct raw_steps *steps, struct trace_buffer *of_core)
{
    steps->entries.count = 0;
    for (u32 i = 0; i < steps->clock.cores; i++) {
        struct core_steps *own = &steps->cores[i];
        for (u32 k = 0; k < of_core[i].list.count; k++)
            take_step(steps, own, &of_core[i].list.data[k]);
        of_core[i].list.count = 0;
        for (u32 k = 0; k < own->lines.count; k++) {
            struct told *told = vec_push(&steps->entries);
            *told = own->lines.data[k];
            told->order = steps->entries.count;
        }
        own->lines.count = 0;
    }
    if (steps->entries.count)
        qsort(steps->entries.data, steps->entries.count, sizeof *steps->entries.data, compare);
    for (u32 i = 0; i < steps->entries.count; i++) {
        const struct told *told = &steps->entries.data[i];
        if (told->kind == LINE_KIND)
            steps->line(steps->user, told->text, told->length);
        else
            write_step(steps, told);
        free(told->text);
    }
}
