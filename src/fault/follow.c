/*
 * A process with a fault, from the flip until its fate is known.
 *
 * A fault is masked as soon as its state is that of the golden run again: the rows of the registry
 * that can still matter, warps' own state, requests under way, device memory. These are compared at
 * moments for which the golden run has hashes, ever more rarely, since a fault that has stayed for
 * long is likely to stay. What is inside the networks has no hash (gpu/time/live_rest.c); therefore
 * the state must agree twice, SETTLE cycles apart.
 *
 * Where only words in memory differ that the golden run does not touch any more, the outputs are
 * known: the golden run's with these words (touch.c).
 *
 * Some of the faults that are decided early (hd_inject_plan.audit) run to the end all the same, and
 * their fates there are compared with the decisions.
 */
#include "base/rng.h"
#include "fault/campaign.h"
#include "gpu/time/parts.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    SETTLE = 500 /* cycles: longer than a request of an idle machine is under way */
};

static _Noreturn void conclude(struct hd_inject *inject, enum hd_effect effect,
                               enum decided decided)
{
    if (inject->replays) {
        if (inject->host->replayed)
            inject->host->replayed(inject->host->user);
        _exit(0);
    }
    const struct fault_verdict *before = &inject->ledger->verdicts[inject->follow.id];
    struct fault_verdict *verdict = &inject->follow.verdict;
    const struct fault_verdict *claim = &inject->follow.claim;
    const bool audited = claim->decided != DECIDED_NOT;
    verdict->effect = (u8)effect;
    verdict->decided = (u8)(audited ? claim->decided : decided);
    if (audited && effect == claim->effect && verdict->wrong == claim->wrong &&
        verdict->first == claim->first)
        *verdict = *claim; /* an audit is not to be seen (J2) */
    else
        verdict->disagrees = audited;
    verdict->audited = audited;
    verdict->returned = before->returned;
    verdict->woken = before->woken;
    inject->ledger->verdicts[inject->follow.id] = *verdict;
    _exit(0);
}

bool follow_audits(const struct hd_inject *inject, u64 id)
{
    struct rng rng;
    rng_stream(&rng, inject->plan.seed, 0, "fault", id, "audit");
    return rng_unit(&rng) < inject->plan.audit;
}

u64 follow_cycle(const struct hd_inject *inject, u64 id, bool *moved)
{
    const struct shadow_end *end = &inject->shadow_ends[id];
    *moved = inject->role != ROLE_SHADOW && !inject->replays && end->fate == SHADOW_MOVED &&
             !follow_audits(inject, id);
    return *moved ? end->cycle : inject->faults[id].cycle;
}

struct strike follow_strike(const struct hd_inject *inject, u64 id, u32 bit)
{
    const struct injection *fault = &inject->faults[id];
    const struct fault_target *target = &inject->targets.data[fault->target];
    return (struct strike){.element = target->name,
                           .owner = fault->owner,
                           .bit = fault->entry * target->row->bits + fault->bit + bit,
                           .cycle = fault->cycle,
                           .hold = inject->hold};
}

/* The bits that are wrong where a fault was moved. */
static void add_moved(struct hd_inject *inject, u64 id)
{
    struct follow *follow = &inject->follow;
    const struct shadow_end *end = &inject->shadow_ends[id];
    const struct fault_target *target = &inject->targets.data[inject->faults[id].target];
    for (u32 i = 0; i < end->count; i++)
        for (u32 set = end->words[i].wrong; set; set &= set - 1) {
            struct strike strike = follow_strike(inject, id, 0);
            strike.bit = end->words[i].entry * target->row->bits + (u32)__builtin_ctz(set);
            strike.cycle = end->cycle;
            assert(follow->strike_count < MOST_PATTERN);
            follow->strikes[follow->strike_count++] = strike;
        }
}

void follow_begin_fault(struct hd_inject *inject, u64 id)
{
    const struct injection *fault = &inject->faults[id];
    const struct fault_target *target = &inject->targets.data[fault->target];
    struct follow *follow = &inject->follow;
    bool moved;
    *follow = (struct follow){.id = id,
                              .audit = inject->replays || follow_audits(inject, id),
                              .of_core = !strcmp(target->row->owner, "core")};
    if (inject->ledger->verdicts[id].decided == DECIDED_UNTIMED)
        follow->claim = inject->ledger->verdicts[id]; /* it is audited */
    follow_cycle(inject, id, &moved);
    if (moved)
        add_moved(inject, id);
    for (u32 i = 0; i < MOST_PATTERN && !moved; i++)
        if (fault->pattern >> i & 1)
            follow->strikes[follow->strike_count++] = follow_strike(inject, id, i);
    for (u32 i = 0; i < inject->launch; i++)
        follow->cycles += inject->ledger->ends[i].cycle;
}

void follow_arm(struct hd_inject *inject)
{
    struct follow *follow = &inject->follow;
    if (follow->armed || inject->faults[follow->id].launch != inject->launch)
        return;
    timing_strike(inject->device->timing, follow->strikes, follow->strike_count);
    follow->armed = true;
}

void follow_conclude(struct hd_inject *inject, enum hd_effect effect)
{
    conclude(inject, effect, DECIDED_END);
}

/* Its fate is known; no need to go on, but for an audit. */
static void decide(struct hd_inject *inject, enum hd_effect effect, enum decided decided)
{
    struct follow *follow = &inject->follow;
    if (!follow->audit)
        conclude(inject, effect, decided);
    follow->claim = follow->verdict;
    follow->claim.effect = (u8)effect;
    follow->claim.decided = (u8)decided;
    follow->verdict = (struct fault_verdict){0};
}

static bool is_decided(const struct follow *follow)
{
    return follow->claim.decided != DECIDED_NOT;
}

/* An entry that holds nothing keeps what strikes it until it is filled, as flip-flops do that are not
 * enabled. Stuck bits begin when their entry is filled: so this moment is noticed. */
static void watch_empty(struct hd_inject *inject)
{
    struct follow *follow = &inject->follow;
    follow->verdict.empty = true;
    for (u32 i = 0; i < follow->strike_count; i++)
        follow->strikes[i].hold = inject->plan.window;
    timing_strike(inject->device->timing, follow->strikes, follow->strike_count);
}

/* Whether all bits have been flipped; decides if nothing reads them. */
static bool has_struck(struct hd_inject *inject)
{
    struct follow *follow = &inject->follow;
    bool acts = false, held = false;
    for (u32 i = 0; i < follow->strike_count; i++) {
        if (!follow->strikes[i].done)
            return false;
        acts |= follow->strikes[i].result == FLIP_DONE;
        held |= follow->strikes[i].result == FLIP_DEAD;
    }
    follow->struck = true;
    if (acts && inject->shadow_ends[follow->id].fate == SHADOW_VANISHED)
        decide(inject, HD_EFFECT_MASKED, DECIDED_VANISHED);
    if (inject->plan.window && !acts && !held)
        watch_empty(inject);
    if (!acts && !inject->plan.window)
        decide(inject, HD_EFFECT_MASKED, held ? DECIDED_DEAD : DECIDED_UNUSED);
    return true;
}

static bool is_before(const struct golden_sample *sample, u32 launch, u64 cycle)
{
    return sample->launch != launch ? sample->launch < launch : sample->cycle < cycle;
}

/* The first sample at or after a moment, and after `from`. */
static u32 sample_from(const struct ledger *ledger, u32 from, u32 launch, u64 cycle)
{
    while (from < ledger->sample_count && is_before(&ledger->samples[from], launch, cycle))
        from++;
    return from;
}

/* Whether rows and memory are the golden run's. Requests under way apart (live_hash_rest): at the end
 * of a launch there are none, but entries of answered ones keep their data. */
static bool holds_same(const struct hd_inject *inject, const struct live_moment *moment,
                       const struct golden_sample *golden)
{
    return live_hash_memory(moment->run) == golden->memory &&
           timing_hash(inject->device->timing, true) == golden->rows;
}

/* Whether they would be with the right words in memory, where the golden run does not touch them any
 * more. */
static bool holds_same_but_words(struct hd_inject *inject, const struct live_moment *moment,
                                 const struct golden_sample *golden)
{
    if (!inject->follow.of_core || !touch_differences(inject, golden->time))
        return false;
    touch_replace(inject, true);
    const bool same = holds_same(inject, moment, golden);
    touch_replace(inject, false);
    return same;
}

static void decide_written(struct hd_inject *inject);

static void compare(struct hd_inject *inject, const struct live_moment *moment)
{
    struct follow *follow = &inject->follow;
    const struct ledger *ledger = inject->ledger;
    follow->check = sample_from(ledger, follow->check, inject->launch, moment->cycle);
    const struct golden_sample *golden = &ledger->samples[follow->check];
    if (follow->check == ledger->sample_count || golden->launch != inject->launch ||
        golden->cycle != moment->cycle)
        return;
    const bool alike = live_hash_rest(moment->run) == golden->rest;
    const bool same = alike && holds_same(inject, moment, golden);
    const bool written = alike && !same && holds_same_but_words(inject, moment, golden);
    if (same && follow->matched) {
        decide(inject, HD_EFFECT_MASKED, DECIDED_CONVERGED);
        return;
    }
    if (written && follow->matched) {
        if (!inject->joined)
            decide_written(inject);
        else if (!follow->audit)
            program_park(inject);
        return;
    }
    follow->matched = same || written;
    follow->check = follow->matched ? sample_from(ledger, follow->check + 1, inject->launch,
                                                  moment->cycle + SETTLE)
                                    : follow->check + 1 + follow->tries++ / 2;
}

/* Whether a bit that is stuck has changed something; the launch ends before it is released. */
static bool acts_so_far(const struct follow *follow)
{
    for (u32 i = 0; i < follow->strike_count; i++)
        if (follow->strikes[i].held)
            return true;
    return false;
}

static void end_launch(struct hd_inject *inject, const struct live_moment *moment,
                       const struct golden_sample *end)
{
    struct follow *follow = &inject->follow;
    if (!follow->struck && follow->armed && !has_struck(inject) && !acts_so_far(follow))
        decide(inject, HD_EFFECT_MASKED, DECIDED_LATE);
    follow->struck = follow->armed;
    follow->cycles += moment->cycle;
    follow->same_end = end && end->cycle == moment->cycle && holds_same(inject, moment, end);
    inject->launch++;
    if (inject->joined)
        program_return(inject);
}

u64 follow_memory(const struct live_moment *moment)
{
    struct content *content = moment->run->timing->content;
    if (content)
        content_expose(content);
    const u64 hash = live_hash_memory(moment->run);
    if (content)
        content_conceal(content);
    return hash;
}

/* Whether an entry that was empty has been filled. */
static bool is_filled(const struct follow *follow)
{
    return follow->verdict.empty && acts_so_far(follow);
}

/* The window has ended, or the launch in it. */
static _Noreturn void end_window(struct hd_inject *inject, const struct live_moment *moment)
{
    struct fault_verdict *verdict = &inject->follow.verdict;
    verdict->full = timing_hash(inject->device->timing, false);
    verdict->memory = follow_memory(moment);
    verdict->cycles = inject->follow.cycles + moment->cycle;
    conclude(inject, HD_EFFECT_GRAY, DECIDED_WINDOW); /* follow_resolve */
}

void follow_resolve(struct hd_inject *inject, u64 from, u64 to)
{
    for (u64 id = from; id < to; id++) {
        struct fault_verdict *verdict = &inject->ledger->verdicts[id];
        const struct shadow_end *golden = &inject->shadow_ends[id];
        if (verdict->decided != DECIDED_WINDOW)
            continue;
        verdict->crashed |= !golden->looked;
        verdict->effect = verdict->memory != golden->memory                 ? HD_EFFECT_SDC
                          : verdict->full != golden->full || verdict->empty ? HD_EFFECT_GRAY
                                                                            : HD_EFFECT_MASKED;
    }
}

/* A kernel of a file has a fault: what remains of the launch is of no interest. Deadlocks get their text
 * later. */
static void end_faulted(struct hd_inject *inject, const struct live_moment *moment)
{
    const struct exec *exec = moment->run->exec;
    struct fault_verdict *verdict = &inject->follow.verdict;
    if (inject->joined || inject->replays || !exec->stopped ||
        exec->fault.outcome == OUTCOME_DEADLOCK)
        return;
    const struct hd_result result = {.outcome = (enum hd_outcome)exec->fault.outcome,
                                     .explanation = exec->fault.message};
    follow_outcome(verdict, &result);
    verdict->cycles = inject->follow.cycles;
    conclude(inject, (enum hd_effect)verdict->effect, DECIDED_END);
}

void follow_moment(struct hd_inject *inject, const struct live_moment *moment)
{
    struct follow *follow = &inject->follow;
    const struct ledger *ledger = inject->ledger;
    const bool known = inject->launch < ledger->launch_count;
    const struct golden_sample *end = known ? &ledger->ends[inject->launch] : NULL;
    const u64 limit = end ? end->cycle : ledger->cycles;
    if (is_filled(follow)) /* with right values: those of a stuck bit are not to be seen any more */
        conclude(inject, HD_EFFECT_MASKED, DECIDED_DEAD);
    if (inject->plan.window && follow->armed && !moment->run->exec->stopped &&
        (moment->ended || moment->cycle >= inject->faults[follow->id].cycle + inject->plan.window))
        end_window(inject, moment);
    if (moment->ended) {
        end_launch(inject, moment, end);
        end_faulted(inject, moment);
        return;
    }
    if (!follow->armed && (inject->joined || inject->replays))
        follow_arm(inject);
    if ((f64)moment->cycle > inject->plan.hang * (f64)limit) {
        follow->verdict.cycles = follow->cycles + moment->cycle;
        conclude(inject, HD_EFFECT_HANG, DECIDED_END);
    }
    if (!follow->struck && !(follow->armed && has_struck(inject)))
        return;
    if (!is_decided(follow) && !inject->plan.window)
        compare(inject, moment);
}

/* ---- outputs ---- */

static f64 value_of(enum word_type type, const u8 *word)
{
    union {
        u32 u;
        i32 s;
        f32 f;
        f64 d;
    } value;
    memcpy(&value, word, type == WORD_F64 ? 8 : 4);
    switch (type) {
    case WORD_U32:
        return value.u;
    case WORD_S32:
        return value.s;
    case WORD_F32:
        return (f64)value.f;
    default:
        return value.d;
    }
}

static f64 relative_error(enum word_type type, const u8 *wrong, const u8 *right)
{
    const f64 a = value_of(type, wrong), b = value_of(type, right), error = fabs(a - b) / fabs(b);
    return isnan(error) ? INFINITY : error;
}

/* Words that differ; bytes behind the last whole word count as one. */
void compare_words(const struct hd_inject *inject, struct fault_verdict *verdict, const char *name,
                   const u8 *data, const u8 *golden, size_t bytes)
{
    const size_t size = inject->words == WORD_F64 ? 8 : 4;
    for (size_t at = 0; at < bytes; at += size) {
        const size_t length = MIN(size, bytes - at);
        if (!memcmp(data + at, golden + at, length))
            continue;
        const f64 off =
            length == size ? relative_error(inject->words, data + at, golden + at) : INFINITY;
        if (off <= inject->plan.tolerance)
            continue;
        if (!verdict->wrong++) {
            snprintf(verdict->output, sizeof verdict->output, "%s", name);
            verdict->first = at / size;
        }
        if (length == size)
            verdict->error = fmax(verdict->error, off);
    }
}

void follow_written(const struct hd_inject *inject, struct fault_verdict *verdict)
{
    struct golden_output output;
    const u8 *data;
    for (size_t at = 0; golden_next(inject, &at, &output, &data);) {
        u8 *bytes = checked(malloc(output.bytes + 4));
        memcpy(bytes, data, output.bytes);
        for (u32 i = 0; output.address && i < inject->wrong.count; i++) {
            const u64 to = inject->wrong.data[i].address - output.address;
            if (inject->wrong.data[i].address >= output.address && to < output.bytes)
                memcpy(bytes + to, inject->wrong.data[i].wrong, 4);
        }
        compare_words(inject, verdict, output.name, bytes, data, output.bytes);
        free(bytes);
    }
}

/* The outputs will be the golden run's but for the words that are wrong now. */
static void decide_written(struct hd_inject *inject)
{
    follow_written(inject, &inject->follow.verdict);
    inject->follow.verdict.cycles = inject->ledger->cycles;
    decide(inject, inject->follow.verdict.wrong ? HD_EFFECT_SDC : HD_EFFECT_GRAY, DECIDED_WRITTEN);
}

void follow_output(struct hd_inject *inject, const char *name, const void *data, size_t bytes)
{
    struct fault_verdict *verdict = &inject->follow.verdict;
    struct golden_output output = {0};
    const u8 *golden = NULL;
    golden_next(inject, &inject->at, &output, &golden);
    compare_words(inject, verdict, name, data, golden, MIN(output.bytes, bytes));
    if (output.bytes == bytes)
        return;
    if (!verdict->wrong++)
        snprintf(verdict->output, sizeof verdict->output, "%s", name);
    verdict->error = INFINITY; /* of another length */
}

bool follow_outcome(struct fault_verdict *verdict, const struct hd_result *result)
{
    if (result->outcome == HD_DONE)
        return false;
    snprintf(verdict->explanation, sizeof verdict->explanation, "%s", result->explanation);
    verdict->effect = result->outcome == HD_LIMIT ? HD_EFFECT_HANG : HD_EFFECT_DUE;
    if (result->outcome != HD_LIMIT)
        snprintf(verdict->detail, sizeof verdict->detail, "%s", hd_outcome_name(result->outcome));
    return true;
}

void follow_end(struct hd_inject *inject, const struct hd_result *result)
{
    struct follow *follow = &inject->follow;
    struct fault_verdict *verdict = &follow->verdict;
    enum hd_effect effect = HD_EFFECT_MASKED;
    verdict->cycles = follow->cycles;
    if (follow_outcome(verdict, result)) {
        effect = (enum hd_effect)verdict->effect;
    } else if (verdict->wrong) {
        effect = HD_EFFECT_SDC;
    } else if (follow->cycles != inject->ledger->cycles) {
        effect = HD_EFFECT_TIME;
    } else if (!follow->same_end) {
        effect = HD_EFFECT_GRAY;
    }
    conclude(inject, effect, DECIDED_END);
}
