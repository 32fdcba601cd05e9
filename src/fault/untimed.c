/*
 * Faults whose values decide more than values - an address, a branch - are decided by running their
 * block once more, without time.
 *
 * In a kernel whose blocks and warps meet only at barriers, what is stored does not depend on time. So a
 * process that is forked at the start of the launch runs all blocks once, one after the other, and
 * notes for each word of memory which block writes it and which one reads it. Then it runs, for each
 * fault that shadow.c has moved, the block with the fault: the bits are flipped before the same
 * instruction. Where the stores differ, the outputs are those of the golden run but for these words;
 * where an access faults, so does the run. This takes thousands of instructions instead of the rest of
 * the launch, and no process.
 *
 * Invariants
 *  N1  Nothing is decided where time could matter: atomics, clocks, fences, system calls, barriers of a
 *      part of the block; a word that two blocks access, or two warps of a block between the same two
 *      barriers, if one of them writes.
 *  N2  Exceptions to N1, since the block's run with the fault is the golden run up to the moment at
 *      which a wrong value is read first: a word that another block had written by then has its value
 *      from then on. A word that the first access with the wrong value overwrites, and another block
 *      writes much later (STORE_CYCLES), has that block's value in the end.
 *  N3  If the outputs are right, only time tells whether the fault is masked: nothing is decided. Nor in
 *      short launches, nor where the block executes so many more instructions than without the fault that
 *      the launch could hang.
 *      Where a word is read whose value depends on time, only faults are decided, and only if no such
 *      value is in an address, a mask or a branch.
 *  N4  It is the last launch, and what the blocks without a fault store is what the golden run's outputs
 *      have.
 */
#include "exec/dyninst.h"
#include "exec/memory_view.h"
#include "fault/campaign.h"
#include "gpu/time/parts.h"
#include "ir/special.h"
#include <stdlib.h>
#include <unistd.h>

enum {
    STORE_CYCLES = 2500,  /* longer than a store is under way */
    SHORT_LAUNCH = 20000, /* cycles: hardly more than a few accesses to memory */
    MOST_RANGES = 256,
    MOST_BYTES = 1 << 26, /* of device memory */
    FAR_CYCLES = 1500,    /* more than an access takes, of a warp that runs alone; */
    NEAR_CYCLES = 25,     /* other instructions, on average */
};
#define NO_ACCESSOR 0
#define SEVERAL UINT32_MAX

/* Accesses of the block that runs to a word: its last ones, by warps (number + 1), and how many barriers
 * the block had passed before them. */
struct accesses {
    u32 writer, reader;
    u32 written, read;
    bool vague; /* its value is */
};

/* A word of global memory, and what all blocks (number + 1) do with it. */
struct memory_word {
    u32 writer, reader;
    u32 right; /* what the launch leaves there without a fault, if there is a writer */
    u32 now;   /* with the fault that runs, if it is listed */
    bool listed;
    u32 run; /* the number of the last run with accesses to it; */
    struct accesses accesses;
};

struct range {
    u64 address, bytes, first; /* first: its first word */
    u8 *host;
};

struct untimed {
    struct hd_inject *inject;
    const struct live_moment *moment;
    struct exec exec;
    struct dyninst f;
    struct memory_view *view;
    struct range ranges[MOST_RANGES];
    u32 range_count;
    struct memory_word *words;
    struct accesses *shared; /* by word of shared memory */
    u64 *issued;             /* instructions, by block */
    u32 *first;              /* of `written`, by block, and one more */
    u64 spare;               /* cycles until a launch hangs */
    VEC(u32) written;
    VEC(u32) listed;
    bool unsure; /* time may matter */
    /* of the block that runs */
    const struct thread_block *block;
    u32 run;      /* counts up */
    u32 barriers; /* that it has passed */
    u64 count;    /* instructions, */
    u64 slow;     /* and cycles for those that it does not issue without a fault, at most */
    const struct shadow_site *site; /* of its fault; NULL: it has none */
    bool struck, first_access;
    bool vague;                     /* it has read a value that is not known (N3) */
    u8 *registers;                  /* of its warps: whether they are vague */
    bool loads_vague, stores_vague; /* the current access */
};

/* ---- accesses ---- */

/* The word at an address; NULL: it is not in device memory. */
static struct memory_word *word_at(struct untimed *u, u64 address, const struct range **range)
{
    for (u32 i = 0; i < u->range_count; i++) {
        const struct range *r = &u->ranges[i];
        if (address - r->address < r->bytes && address >= r->address) {
            *range = r;
            return &u->words[r->first + (address - r->address) / 4];
        }
    }
    return NULL;
}

static bool is_own(u32 by, u32 me)
{
    return by == NO_ACCESSOR || by == me;
}

/* Warps of one block meet at barriers (N1). */
static void note_warp(struct untimed *u, struct accesses *a, bool write)
{
    const u32 me = u->f.warp->index + 1;
    u->unsure |= !is_own(a->writer, me) && a->written == u->barriers;
    u->unsure |= write && !is_own(a->reader, me) && a->read == u->barriers;
    if (write) {
        a->writer = me;
        a->written = u->barriers;
        a->vague = u->stores_vague;
        return;
    }
    u->loads_vague |= a->vague;
    a->reader = a->read != u->barriers || is_own(a->reader, me) ? me : SEVERAL;
    a->read = u->barriers;
}

/* In the run without faults: which blocks access what. */
static void note_right(struct untimed *u, struct memory_word *word, bool write)
{
    const u32 me = (u32)u->block->number + 1;
    u->unsure |= !is_own(word->writer, me) || (write && !is_own(word->reader, me));
    if (write && word->writer == NO_ACCESSOR)
        *vec_push(&u->written) = (u32)(word - u->words);
    if (write)
        word->writer = me;
    else
        word->reader = is_own(word->reader, me) ? me : SEVERAL;
}

/* When the golden run has written a word for the last time; FS_NEVER: that is not known. */
static fs written_at(const struct hd_inject *inject, u64 address)
{
    for (u32 i = 0; i < inject->touched.count; i++) {
        const struct touched *piece = &inject->touched.data[i];
        if (address >= piece->address && address - piece->address < piece->bytes)
            return piece->writes[(address - piece->address) / 4];
    }
    return FS_NEVER;
}

static fs cycle_time(const struct untimed *u, u64 cycle)
{
    return u->moment->run->start + cycle * u->moment->run->timing->period;
}

/* N2: a word that another block writes. */
static void meet_other(struct untimed *u, struct memory_word *word, const struct range *range,
                       u64 address, bool write)
{
    const fs written = written_at(u->inject, address), window = u->moment->run->timing->window;
    const bool before = written && written + window <= cycle_time(u, u->site->cycle);
    const bool after =
        written != FS_NEVER && written > cycle_time(u, u->site->cycle + STORE_CYCLES);
    if (!write && after && u->first_access) {
        return;                    /* it reads what is there at the start */
    } else if (!write && before) { /* as if this block had written it */
        memory_view_reserve(u->view, 1, 4);
        memcpy(memory_view_log(u->view, range->host + (address - range->address), 4), &word->right,
               4);
    } else if (write && u->first_access && u->f.bytes % 4 == 0 && (before || after)) {
        if (after && !word->listed) {
            word->listed = true;
            word->now = word->right;
            *vec_push(&u->listed) = (u32)(word - u->words);
        }
    } else if (!write) {
        u->vague = u->loads_vague = true;
    } else {
        u->unsure = true;
    }
}

static void note_wrong(struct untimed *u, struct memory_word *word, const struct range *range,
                       u64 address, bool write)
{
    const u32 me = (u32)u->block->number + 1;
    u->unsure |= write && !is_own(word->reader, me);
    if (is_own(word->writer, me))
        return;
    /* its own store, or that of the other block? */
    if (!write && word->accesses.writer != NO_ACCESSOR)
        u->unsure = true;
    else
        meet_other(u, word, range, address, write);
}

static void note_word(struct untimed *u, u64 address, bool write)
{
    const struct range *range = NULL;
    struct memory_word *word = word_at(u, address, &range);
    if (!word) { /* it faults, or reads code or constants */
        u->unsure |= write && memory_find(u->exec.memory, address, 4);
        return;
    }
    if (word->run != u->run)
        word->accesses = (struct accesses){0};
    word->run = u->run;
    note_warp(u, &word->accesses, write);
    if (u->site)
        note_wrong(u, word, range, address, write);
    else
        note_right(u, word, write);
}

static void note_lane(struct untimed *u, u64 address, bool is_shared)
{
    const bool write = u->f.stores;
    for (u64 at = address & ~3ull; at < address + u->f.bytes && !u->unsure; at += 4)
        if (!is_shared)
            note_word(u, at, write);
        else if (at + 4 <= u->exec.shared_bytes) /* otherwise it faults */
            note_warp(u, &u->shared[at / 4], write);
}

static void note_access(struct untimed *u)
{
    const u64 *address = dyninst_addresses(&u->f);
    for (lane_set set = u->f.global | u->f.shared; set && !u->unsure; set &= set - 1) {
        const u32 lane = first_lane(set);
        note_lane(u, address[lane], u->f.shared >> lane & 1);
    }
}

/* ---- instructions ---- */

/* Whether its effect does not depend on time (N1). */
static bool is_timeless(const struct inst *inst)
{
    const u16 flags = op_info[inst->op].flags;
    if (inst->op == OP_bar)
        return !inst->key && inst->dst[0].kind == OPERAND_NONE &&
               inst->src[1].kind == OPERAND_NONE && inst->src[2].kind == OPERAND_NONE;
    if (inst->op == OP_sreg)
        return inst->imm != SPECIAL_smid && (inst->imm < SPECIAL_clock || inst->imm > SPECIAL_pm64);
    if (flags & (OPF_LOAD | OPF_STORE))
        return inst->op == OP_ld || inst->op == OP_st;
    return !(flags & (OPF_ATOMIC | OPF_BARRIER | OPF_SCALAR)) && inst->op != OP_fence &&
           inst->op != OP_nanosleep && inst->op != OP_syscall;
}

/* Flips the bits, before the instruction that reads them. */
static void strike_warp(struct untimed *u, struct warp *warp, u32 inst)
{
    u->struck = true;
    u->first_access = true;
    u->unsure |= inst != u->site->inst;
    for (u32 i = 0; i < u->site->words.count; i++) {
        const struct shadow_word *word = &u->site->words.words[i];
        vector_row(warp, &warp->chunks[word->lane / LANES], word->reg)[word->lane % LANES] ^=
            word->wrong;
    }
}

/* ---- values that are not known ---- */

static u8 *register_state(struct untimed *u, const struct warp *warp, u32 reg)
{
    return &u->registers[warp->index * u->exec.register_rows + reg];
}

static bool is_vague(struct untimed *u, const struct warp *warp, const struct operand *operand)
{
    bool any = false;
    for (u32 i = 0; operand->kind == OPERAND_VECTOR && i < operand->count; i++)
        any |= *register_state(u, warp, operand->index + i);
    return any;
}

/* Whether an instruction reads such a value. It may decide neither an address nor a mask (N3). */
static bool reads_vague(struct untimed *u, const struct warp *warp, const struct inst *inst)
{
    const u16 flags = op_info[inst->op].flags;
    bool any = false;
    for (u32 k = 0; k < ARRAY_LEN(inst->src); k++)
        any |= is_vague(u, warp, &inst->src[k]);
    for (u32 k = 0; k < ARRAY_LEN(inst->dst); k++)
        u->unsure |=
            any && inst->dst[k].kind != OPERAND_VECTOR && inst->dst[k].kind != OPERAND_NONE;
    u->unsure |= any && flags & (OPF_BRANCH | OPF_BARRIER);
    u->unsure |= flags & (OPF_LOAD | OPF_STORE) && is_vague(u, warp, &inst->src[0]);
    u->stores_vague = any;
    u->loads_vague = false;
    return any;
}

static void write_vague(struct untimed *u, bool vague)
{
    const struct dyninst *f = &u->f;
    for (u32 k = 0; k < 2; k++)
        for (u32 i = 0; f->code->dst[k].kind == OPERAND_VECTOR && i < f->code->dst[k].count; i++) {
            u8 *state = register_state(u, f->warp, f->code->dst[k].index + i);
            *state = vague || (*state && (f->warp->live & ~f->writes));
        }
}

static bool access_memory(struct untimed *u)
{
    note_access(u);
    u->first_access = false;
    return !u->unsure && dyninst_access(&u->f, u->view);
}

/* Whether instructions that the block would not issue without the fault could take so long that the launch
 * hangs (N3). */
static bool is_slow(struct untimed *u, const struct inst *inst)
{
    const bool far =
        op_info[inst->op].flags & (OPF_LOAD | OPF_STORE) && inst->space != SPACE_SHARED;
    if (++u->count > u->issued[u->block->number])
        u->slow += far ? FAR_CYCLES : NEAR_CYCLES;
    return u->slow > u->spare;
}

/* False: the warp waits, or has ended, or the block need not go on. */
static bool step_once(struct untimed *u, struct warp *warp)
{
    const u32 inst = warp_next(warp);
    if (inst == NO_INST || u->unsure)
        return false;
    if (u->site && !u->struck && warp->index == u->site->warp &&
        warp->instructions == u->site->count)
        strike_warp(u, warp, inst);
    const struct inst *code = &warp->view->insts[inst];
    u->unsure |= !is_timeless(code);
    u->unsure |= u->site && is_slow(u, code);
    if (u->unsure)
        return false;
    if (!u->site)
        u->issued[u->block->number]++;
    const bool vague = u->vague && reads_vague(u, warp, code);
    const u32 waiting = u->block->barriers_used;
    dyninst_issue(&u->f, warp, inst);
    if (u->f.faulted || u->exec.stopped)
        return false;
    u->barriers += (waiting | (code->op == OP_bar)) & ~u->block->barriers_used ? 1 : 0;
    if (u->f.kind == DYNINST_COMPUTE)
        dyninst_compute(&u->f);
    else if (u->f.kind == DYNINST_ACCESS && !access_memory(u))
        return false;
    if (u->struck && warp->index == u->site->warp)
        u->first_access = false;
    if (u->vague)
        write_vague(u, vague || u->loads_vague);
    dyninst_commit(&u->f);
    return true;
}

/* Runs it to its end; its stores are in the view. */
static void run_block(struct untimed *u, u64 number, u32 core)
{
    struct thread_block *block = block_start(&u->exec, number, core);
    u->block = block;
    u->run++;
    u->count = u->slow = 0;
    u->struck = u->first_access = false;
    u->barriers = 0;
    u->vague = u->loads_vague = u->stores_vague = false;
    memset(u->registers, 0, u->exec.warps * u->exec.register_rows);
    memset(u->shared, 0, u->exec.shared_bytes / 4 * sizeof *u->shared);
    memory_view_clear(u->view);
    for (bool ran = true; ran && !u->unsure && !u->exec.stopped;) {
        ran = false;
        for (u32 w = 0; w < u->exec.warps; w++)
            while (!u->exec.stopped && step_once(u, &block->warps[w]))
                ran = true;
        if (!ran && !u->unsure && !u->exec.stopped && block->done_warps < u->exec.warps)
            ran = block_unblock(block);
    }
    block_end(block);
    u->block = NULL;
}

/* ---- the block's stores ---- */

static void list_word(struct untimed *u, struct memory_word *word, const u8 *host)
{
    if (word->listed)
        return;
    word->listed = true;
    memcpy(&word->now, host, 4);
    *vec_push(&u->listed) = (u32)(word - u->words);
}

static const struct range *range_of(const struct untimed *u, u32 word)
{
    u32 i = 0;
    while (i + 1 < u->range_count && u->ranges[i + 1].first <= word)
        i++;
    return &u->ranges[i];
}

static u8 *host_of(const struct untimed *u, u32 word)
{
    const struct range *range = range_of(u, word);
    return range->host + 4 * (word - range->first);
}

/* Lists the words in the log, with their last values; those that N2 has listed keep theirs. */
static void list_stores(struct untimed *u)
{
    const u32 kept = u->listed.count;
    struct memory_view_mark at = {0};
    struct memory_view_run run;
    while (memory_view_next(u->view, &at, &run)) {
        u32 i = 0;
        while (run.to < u->ranges[i].host || run.to >= u->ranges[i].host + u->ranges[i].bytes)
            i++;
        for (u32 b = 0; b < run.bytes; b++) {
            const u64 offset = (u64)(run.to - u->ranges[i].host) + b;
            struct memory_word *word = &u->words[u->ranges[i].first + offset / 4];
            list_word(u, word, u->ranges[i].host + (offset & ~3ull));
            ((u8 *)&word->now)[offset % 4] = run.data[b];
        }
    }
    for (u32 i = 0; i < kept; i++)
        u->words[u->listed.data[i]].now = u->words[u->listed.data[i]].right;
}

/* The block without a fault has ended: what it leaves is right. */
static void keep_right(struct untimed *u)
{
    list_stores(u);
    for (u32 i = 0; i < u->listed.count; i++) {
        struct memory_word *word = &u->words[u->listed.data[i]];
        word->right = word->now;
        word->listed = false;
    }
    u->listed.count = 0;
}

/* Words that the block with the fault leaves wrong, also those that it has not written. */
static void list_wrong(struct untimed *u)
{
    struct hd_inject *inject = u->inject;
    list_stores(u);
    const u64 block = u->site->block;
    for (u32 i = u->first[block]; i < u->first[block + 1]; i++)
        list_word(u, &u->words[u->written.data[i]], host_of(u, u->written.data[i]));
    inject->wrong.count = 0;
    for (u32 i = 0; i < u->listed.count; i++) {
        const u32 at = u->listed.data[i];
        const struct memory_word *word = &u->words[at];
        u32 right = word->right;
        if (word->writer == NO_ACCESSOR)
            memcpy(&right, host_of(u, at), 4);
        if (word->now == right)
            continue;
        struct wrong_word *wrong = vec_push(&inject->wrong);
        const struct range *range = range_of(u, at);
        wrong->address = range->address + 4 * (at - range->first);
        memcpy(wrong->wrong, &word->now, 4);
        memcpy(wrong->right, &right, 4);
    }
}

/* ---- faults ---- */

static void decide_fault(struct untimed *u, u64 id)
{
    struct fault_verdict verdict = {.decided = DECIDED_UNTIMED};
    const struct fault *fault = &u->exec.fault;
    if (u->unsure || !u->struck || (u->vague && !u->exec.stopped))
        return;
    if (u->exec.stopped) {
        verdict.effect = HD_EFFECT_DUE;
        snprintf(verdict.detail, sizeof verdict.detail, "%s", outcome_name(fault->outcome));
        snprintf(verdict.explanation, sizeof verdict.explanation, "%.159s", fault->message);
    } else {
        list_wrong(u);
        follow_written(u->inject, &verdict);
        verdict.effect = HD_EFFECT_SDC;
        if (!verdict.wrong)
            return;
    }
    u->inject->ledger->verdicts[id] = verdict;
}

static void forget_fault(struct untimed *u)
{
    for (u32 i = 0; i < u->listed.count; i++)
        u->words[u->listed.data[i]].listed = false;
    u->listed.count = 0;
    u->exec.stopped = u->unsure = false;
}

static void run_faults(struct untimed *u)
{
    const struct hd_inject *inject = u->inject;
    for (u64 i = 0; i < inject->order_count; i++) {
        const u64 id = inject->order[i];
        const struct shadow_end *end = &inject->shadow_ends[id];
        if (inject->faults[id].launch != inject->launch || end->fate != SHADOW_MOVED ||
            !end->site.known || atomic_load(&inject->ledger->stop))
            continue;
        u->site = &end->site;
        run_block(u, end->site.block, inject->faults[id].owner);
        decide_fault(u, id);
        forget_fault(u);
    }
}

/* ---- the run without faults ---- */

static bool list_ranges(struct untimed *u)
{
    const struct allocation *list[MOST_RANGES];
    const u32 count = memory_list(u->exec.memory, list, MOST_RANGES);
    u64 words = 0;
    for (u32 i = 0; i < count && count <= MOST_RANGES; i++) {
        if (list[i]->read_only || list[i]->address % 4)
            continue;
        u->ranges[u->range_count++] =
            (struct range){list[i]->address, list[i]->size / 4 * 4, words, list[i]->host};
        words += list[i]->size / 4;
    }
    if (!words || count > MOST_RANGES || words > MOST_BYTES / 4)
        return false;
    u->words = checked(calloc(words, sizeof *u->words));
    return true;
}

/* N4. */
static bool outputs_agree(struct untimed *u)
{
    struct golden_output output;
    const u8 *data;
    for (size_t at = 0; golden_next(u->inject, &at, &output, &data);)
        for (u64 b = 0; b < output.bytes; b += 4) {
            const struct range *range = NULL;
            const struct memory_word *word = word_at(u, output.address + b, &range);
            if (!word || output.bytes % 4)
                return false;
            const u8 *host = range->host + (output.address + b - range->address);
            if (memcmp(word->writer == NO_ACCESSOR ? host : (const u8 *)&word->right, data + b,
                       4) != 0)
                return false;
        }
    return true;
}

static bool run_right(struct untimed *u)
{
    const u64 blocks = u->moment->run->blocks;
    for (u64 b = 0; b < blocks; b++) {
        u->first[b] = u->written.count;
        run_block(u, b, 0);
        if (u->unsure || u->exec.stopped)
            return false;
        keep_right(u);
    }
    u->first[blocks] = u->written.count;
    return outputs_agree(u);
}

static bool prepare(struct untimed *u)
{
    const u64 blocks = u->moment->run->blocks;
    u->exec = *u->moment->run->exec;
    u->exec.poll = NULL;
    u->exec.file = NULL;
    u->exec.by_dyninst = true;
    exec_prepare(&u->exec, 1);
    u->view = memory_view_create();
    u->f.rows = checked(
        aligned_alloc(64, align_up(dyninst_row_words(u->exec.image) * sizeof(u32) + 64, 64)));
    u->shared = checked(calloc(u->exec.shared_bytes / 4 + 1, sizeof *u->shared));
    u->spare =
        (u64)((u->inject->plan.hang - 1) * (f64)u->inject->ledger->ends[u->inject->launch].cycle);
    u->registers = checked(calloc(u->exec.warps, u->exec.register_rows));
    u->issued = checked(calloc(blocks, sizeof *u->issued));
    u->first = checked(calloc(blocks + 1, sizeof *u->first));
    return blocks < SEVERAL && list_ranges(u);
}

/* Whether this launch may have faults that are decided here. */
static bool is_worth(const struct hd_inject *inject, const struct live_moment *moment)
{
    const struct exec *exec = moment->run->exec;
    const struct ledger *ledger = inject->ledger;
    u64 faults = 0;
    for (u64 i = 0; i < inject->order_count; i++)
        faults += inject->faults[inject->order[i]].launch == inject->launch &&
                  inject->shadow_ends[inject->order[i]].site.known;
    return faults && inject->launch + 1 == ledger->launch_count && !inject->joined &&
           !inject->plan.window && inject->plan.hang >= 1.5 && !exec->bounds &&
           !exec->image->program->traits.explicit_exec &&
           ledger->ends[inject->launch].cycle >= SHORT_LAUNCH;
}

void untimed_decide(struct hd_inject *inject, const struct live_moment *moment)
{
    struct fault_process process;
    if (!is_worth(inject, moment))
        return;
    const int pid = process_fork(&process, true);
    if (pid == 0) {
        struct untimed *u = checked(calloc(1, sizeof *u));
        u->inject = inject;
        u->moment = moment;
        if (prepare(u) && run_right(u))
            run_faults(u);
        _exit(0);
    }
    if (pid > 0) /* else faults get processes of their own */
        process_reap(&process);
}
