/*
 * Checks that code waits for memory before it uses what memory returns.
 *
 * Southern Islands code orders memory accesses by wait counters (ir/waits.h). Here each warp's
 * accesses are kept, in program order, until a wait implies that they are done. An instruction is
 * reported if it reads or writes a register that an access has yet to write, or writes a register
 * whose old value has yet to be stored: hardware might give it either value. The check does not
 * depend on when data really arrive, so it finds code that happens to work in one run and may fail
 * in another, and its result is the same on all machines and in functional mode.
 *
 * In: each instruction when it issues (operand), or before it executes (observe). Out: statistics,
 * and an outcome with the places in the code.
 *
 * Invariants
 *  W1  Nothing is changed: registers, memory and timing are as without the mechanism.
 *  W2  An access is kept no longer than the counters allow it to be in flight: in-order accesses,
 *      as the wait and the counter's maximum say; scalar loads, which return out of order, until a
 *      wait for 0. So whatever is reported is wrong in the code.
 */
#include "ir/waits.h"
#include "core/mechanism.h"
#include "ir/scalars.h"
#include <stdio.h>
#include <stdlib.h>

#define COMPONENT waits
#define COMPONENT_DEF "mech/waits.def"
#include "base/component_struct.h"

#define COMPONENT waits
#define COMPONENT_DEF "mech/waits.def"
#define COMPONENT_HELP "registers that are used before their memory access has been waited for"
#include "base/component_table.h"

enum {
    PLACES_MOST = 16,
    VECTORS = 256,
    REGISTERS = VECTORS + SCALAR_COUNT, /* vector registers, then scalars */
    SET_WORDS = (REGISTERS + 63) / 64,
    QUEUE = WAIT_OTHERS_MOST + 1
};

struct set {
    u64 words[SET_WORDS];
};

/* An access in flight, or the data of a store not yet read from registers. */
struct open_access {
    u64 number; /* index among its warp's accesses */
    u32 inst;
    u8 amount;    /* by which it raises the counter */
    bool ordered; /* completes in order with others of its counter */
    struct set registers;
};

struct queue {
    u32 count;
    struct open_access list[QUEUE];
};

struct waits_warp {
    u64 accesses;
    struct queue queues[WAIT_COUNTERS];
};

enum use {
    USE_READ,
    USE_WRITE,
    USE_STORED /* written, while a store has yet to read it */
};

struct wait_place {
    u32 inst, access; /* indices of the instructions */
    u32 reg;
    u32 left; /* highest counter value that would have been safe to wait for */
    u8 counter, use;
};

struct waits_core {
    MECHANISM_STATE(waits);
    const struct exec *exec;
    bool acts;                  /* the code has explicit waits */
    struct waits_warp **blocks; /* by block slot: its warps */
    u32 block_count;
    u32 place_count;
    struct wait_place places[PLACES_MOST];
};

/* ---- sets of registers ---- */

static void add_range(struct set *set, u32 first, u32 count)
{
    for (u32 i = first; i < first + count && i < REGISTERS; i++)
        set->words[i / 64] |= bit(i % 64);
}

/* EXEC is left out: no access writes it. Register ranges known only at run time are not checked. */
static void add_operand(struct set *set, struct operand o)
{
    if (o.kind == OPERAND_VECTOR)
        add_range(set, o.index, o.count);
    else if (o.kind == OPERAND_MASK && o.index != MASK_EXEC)
        add_range(set, VECTORS + 2 * o.index, 2);
    else if (o.kind == OPERAND_SCALAR && o.index == SCALAR_VCCZ)
        add_range(set, VECTORS + SCALAR_VCC, 2);
    else if (o.kind == OPERAND_SCALAR && o.index != SCALAR_EXEC)
        add_range(set, VECTORS + o.index, o.count);
}

static struct set set_of(const struct operand *list, u32 count)
{
    struct set set = {0};
    for (u32 i = 0; i < count; i++)
        add_operand(&set, list[i]);
    return set;
}

/* The first register in both sets; REGISTERS: none. */
static u32 common(const struct set *a, const struct set *b)
{
    for (u32 w = 0; w < SET_WORDS; w++)
        if (a->words[w] & b->words[w])
            return w * 64 + first_bit(a->words[w] & b->words[w]);
    return REGISTERS;
}

/* ---- accesses in flight ---- */

static void remove_at(struct queue *q, u32 at)
{
    q->count--;
    memmove(&q->list[at], &q->list[at + 1], (q->count - at) * sizeof *q->list);
}

/* Removes the oldest in-order access. False: there is none. */
static bool finish_one(struct waits_warp *w, enum wait_counter counter)
{
    struct queue *q = &w->queues[counter];
    u32 at = 0;
    while (at < q->count && !q->list[at].ordered)
        at++;
    if (at == q->count)
        return false;
    const u64 number = q->list[at].number;
    remove_at(q, at);
    q = &w->queues[WAIT_DATA];
    while (counter == WAIT_VECTOR && q->count && q->list[0].number <= number)
        remove_at(q, 0); /* a completed store has read its data */
    return true;
}

/* At most `left` accesses remain. Any of the out-of-order ones may be done, so in-order ones are
 * certainly done only as far as they alone exceed `left`. */
static void wait_for(struct waits_warp *w, enum wait_counter counter, u32 left)
{
    struct queue *q = &w->queues[counter];
    u32 ordered = 0;
    for (u32 i = 0; i < q->count; i++)
        ordered += q->list[i].ordered ? q->list[i].amount : 0;
    for (; ordered > left; ordered--)
        finish_one(w, counter);
    if (!left)
        q->count = 0;
}

static void push(struct waits_warp *w, enum wait_counter counter, u32 most,
                 struct open_access access)
{
    struct queue *q = &w->queues[counter];
    while (q->count >= MIN(most, QUEUE))
        if (!finish_one(w, counter))
            remove_at(q, 0); /* a scalar load, which may be done */
    q->list[q->count++] = access;
}

static void begin_access(struct waits_warp *w, const struct inst *code, u32 inst,
                         struct wait_class class, struct set writes)
{
    struct open_access access = {
        .number = w->accesses++, .inst = inst, .amount = class.amount, .ordered = class.ordered};
    if (class.data) {
        access.registers = set_of(&code->src[WAIT_DATA_SOURCE], 1);
        push(w, WAIT_DATA, WAIT_DATA_MOST, access);
    }
    access.registers = writes;
    push(w, class.counter, class.counter == WAIT_VECTOR ? WAIT_VECTOR_MOST : WAIT_OTHERS_MOST,
         access);
}

/* ---- violations ---- */

/* The highest counter value at which this access is certainly done. */
static u32 left_behind(const struct queue *q, enum wait_counter counter, u32 at)
{
    u32 left = 0;
    for (u32 i = 0; i < q->count; i++) {
        if (counter == WAIT_OTHERS && !q->list[i].ordered)
            return 0;
        left += i > at ? q->list[i].amount : 0;
    }
    return left;
}

static bool note(struct waits_core *c, struct wait_place place)
{
    c->stats->missed++;
    for (u32 i = 0; i < c->place_count; i++)
        if (c->places[i].inst == place.inst && c->places[i].access == place.access &&
            c->places[i].use == place.use)
            return true;
    if (c->place_count < c->params->places)
        c->places[c->place_count++] = place;
    return true;
}

/* Whether accesses of a counter still use these registers; `order`: accesses in order with this
 * instruction do not count. */
static bool check(struct waits_core *c, const struct waits_warp *w, enum wait_counter counter,
                  u32 inst, const struct set *registers, enum use use, bool order)
{
    const struct queue *q = &w->queues[counter];
    for (u32 i = q->count; i-- > 0;) {
        const u32 reg = common(&q->list[i].registers, registers);
        if (reg == REGISTERS || (order && q->list[i].ordered))
            continue;
        return note(c, (struct wait_place){.inst = inst,
                                           .access = q->list[i].inst,
                                           .reg = reg,
                                           .left = left_behind(q, counter, i),
                                           .counter = (u8)counter,
                                           .use = (u8)use});
    }
    return false;
}

static void examine(struct waits_core *c, struct waits_warp *w, const struct inst *code, u32 inst)
{
    struct operand list[INST_REFS];
    c->stats->instructions++;
    if (code->op == OP_wait) {
        c->stats->waits++;
        for (enum wait_counter i = WAIT_VECTOR; i < WAIT_COUNTERS; i++)
            wait_for(w, i, wait_left(code, i));
        return;
    }
    const struct wait_class class = wait_class_of(code);
    const bool open = w->queues[WAIT_VECTOR].count || w->queues[WAIT_OTHERS].count;
    if (!open && !class.counter)
        return;
    const struct set writes = set_of(list, inst_writes(code, list));
    const struct set reads = set_of(list, inst_reads(code, list));
    bool found = false;
    for (enum wait_counter i = WAIT_VECTOR; open && !found && i <= WAIT_OTHERS; i++)
        found = check(c, w, i, inst, &reads, USE_READ, false) ||
                check(c, w, i, inst, &writes, USE_WRITE, class.counter == i && class.ordered);
    if (open && !found)
        check(c, w, WAIT_DATA, inst, &writes, USE_STORED, class.counter == WAIT_VECTOR);
    if (class.counter) {
        c->stats->accesses++;
        begin_access(w, code, inst, class, writes);
    }
}

/* ---- the report ---- */

static const char *register_text(const struct exec *exec, u32 reg, char *text, size_t size)
{
    const struct register_names *names = exec->image->program->traits.names;
    if (reg < VECTORS)
        snprintf(text, size, "%s%u", names ? names->vector : "v", reg);
    else
        snprintf(text, size, "%s", names ? names->scalar(reg - VECTORS) : "a scalar");
    return text;
}

static void tell(const struct exec *exec, const struct wait_place *place, char *text, size_t size)
{
    static const char *const uses[] = {
        [USE_READ] = "reads %s, which is loaded by",
        [USE_WRITE] = "writes %s, which is still to be written by",
        [USE_STORED] = "writes %s, which is still to be stored by",
    };
    static const char *const counters[] = {
        [WAIT_VECTOR] = "vmcnt", [WAIT_OTHERS] = "lgkmcnt", [WAIT_DATA] = "expcnt"};
    char here[768], there[768], reg[16], use[96];
    fault_place_text(exec, place->inst, here, sizeof here);
    fault_place_text(exec, place->access, there, sizeof there);
    snprintf(use, sizeof use, uses[place->use], register_text(exec, place->reg, reg, sizeof reg));
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "\n  %s\n    %s\n    %s\n    before a wait for %s(%u)", here,
             use, there, counters[place->counter], place->left);
}

static bool told(const struct wait_place *list, u32 count, const struct wait_place *place)
{
    for (u32 i = 0; i < count; i++)
        if (list[i].inst == place->inst && list[i].access == place->access &&
            list[i].use == place->use)
            return true;
    return false;
}

static void launch_done(void *const *all, u32 count, struct exec *exec)
{
    struct waits_core *const *states = (struct waits_core *const *)all;
    struct wait_place list[PLACES_MOST];
    u32 places = 0;
    char text[3584] = "";
    for (u32 i = 0; i < count; i++)
        for (u32 j = 0; j < states[i]->place_count && places < states[0]->params->places; j++)
            if (!told(list, places, &states[i]->places[j]))
                list[places++] = states[i]->places[j];
    for (u32 i = 0; i < places; i++)
        tell(exec, &list[i], text, sizeof text);
    if (places)
        fault_check(exec, list[0].inst,
                    "registers are used before their memory access has been waited for, in kernel "
                    "%s; the first (waits.missed counts all):%s",
                    exec->kernel->name, text);
}

/* ---- blocks and launches ---- */

static struct waits_warp *warp_of(const struct waits_core *c, const struct warp *warp)
{
    const u32 slot = warp->block->slot;
    return slot < c->block_count && c->blocks[slot] ? &c->blocks[slot][warp->index] : NULL;
}

static void forget(struct waits_core *c)
{
    for (u32 i = 0; i < c->block_count; i++)
        free(c->blocks[i]);
    free(c->blocks);
    c->blocks = NULL;
    c->block_count = 0;
}

static void observe_launch(void *state, struct exec *exec, bool begins)
{
    struct waits_core *c = state;
    forget(c);
    c->place_count = 0;
    c->exec = begins ? exec : NULL;
    c->acts = exec->image->program->traits.explicit_exec;
}

static void observe_block(void *state, struct thread_block *block, bool started)
{
    struct waits_core *c = state;
    const u32 slot = block->slot;
    if (!c->acts || !started)
        return;
    if (slot >= c->block_count) {
        c->blocks = checked(realloc(c->blocks, (slot + 1) * sizeof *c->blocks));
        memset(c->blocks + c->block_count, 0, (slot + 1 - c->block_count) * sizeof *c->blocks);
        c->block_count = slot + 1;
    }
    if (!c->blocks[slot])
        c->blocks[slot] = checked(malloc(c->exec->warps * sizeof **c->blocks));
    for (u32 w = 0; w < c->exec->warps; w++) {
        struct waits_warp *warp = &c->blocks[slot][w];
        warp->accesses = 0;
        for (u32 i = 0; i < WAIT_COUNTERS; i++)
            warp->queues[i].count = 0;
    }
}

static void observe(void *state, struct warp *warp, u32 inst)
{
    struct waits_core *c = state;
    struct waits_warp *w = c->acts ? warp_of(c, warp) : NULL;
    if (w)
        examine(c, w, warp_inst(warp, inst), inst);
}

static void launch(void *state, struct core *core, bool begins)
{
    observe_launch(state, core_exec(core), begins);
}

static void block(void *state, struct core *core, u32 block_slot, bool started)
{
    const struct resident *resident = core_block(core, block_slot);
    if (!resident->copy)
        observe_block(state, resident->block, started);
}

static u32 operand(void *state, struct core *core, struct inflight *inflight)
{
    if (!inflight->injected && !inflight->dyn.homes)
        observe(state, inflight->dyn.warp, inflight->dyn.inst);
    return 0;
}

static void destroy(void *state)
{
    forget(state);
}

/* Instructions that these mechanisms skip are not seen. */
static const char *const conflicts[] = {"dac_ideal", "darsie", NULL};

static const char *const deviations[] = {
    "Lanes are not distinguished: a register that an access writes in some lanes is assumed to be "
    "written in all.",
    "Registers whose number is known only at run time (M0) are not checked, nor is EXEC.",
    NULL,
};

const struct mechanism waits_mechanism = {
    MECHANISM_NAMED(waits,
                    "finds registers that are used before their memory access has been waited for"),
    .source = "the rules of wait counters in AMD, \"Southern Islands series instruction set "
              "architecture\", 2012",
    .deviations = deviations,
    .conflicts = conflicts,
    .state_size = sizeof(struct waits_core),
    .destroy = destroy,
    .launch = launch,
    .block = block,
    .operand = operand,
    .launch_done = launch_done,
    .observe_launch = observe_launch,
    .observe_block = observe_block,
    .observe = observe,
};
