/* What a warp waited for: see chain.h. */
#include "causes/chain.h"

#include "base/text.h"
#include <stdarg.h>
#include <stdio.h>

enum {
    LISTED = 4 /* holders or warps that are named */
};

void chain_add(struct chain *chain, u32 depth, u64 from, u64 to, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    *vec_push(&chain->causes) = (struct cause){from, to, depth, arena_strdup(chain->arena, text)};
}

void chain_free(struct chain *chain)
{
    vec_free(&chain->causes);
}

const char *chain_inst(struct arena *arena, const struct traced_launch *launch, u32 inst)
{
    const struct traced_code *code = inst < launch->code_count ? &launch->codes[inst] : NULL;
    if (!code || !code->text)
        return "an instruction that the trace does not describe";
    return arena_printf(arena, "0x%llx '%s'%s%s%s", (unsigned long long)code->pc,
                        text_printable(arena, code->text), code->line ? " (" : "",
                        code->line ? text_printable(arena, code->line) : "", code->line ? ")" : "");
}

/* ---- launches, warps and waits ---- */

const struct traced_launch *chain_launch(const struct event_trace *trace, u64 at)
{
    for (u32 i = trace->launches.count; i-- > 0;)
        if (at >= trace->launches.data[i].from && at <= trace->launches.data[i].to)
            return &trace->launches.data[i];
    return NULL;
}

bool chain_warp(const struct event_trace *trace, const struct traced_launch *launch, u32 core,
                u32 slot, u64 at, struct traced_warp *warp)
{
    const struct event_list *events = events_of_core(launch, core);
    const struct traced_event *start = event_last(
        trace, events, at, WANT(.kinds = KIND(WARP_START) | KIND(WARP_HERE), .slot = IS(slot)));
    if (!start)
        return false;
    const struct traced_event *end =
        event_next(trace, events, start->at, WANT(.kinds = KIND(WARP_END), .slot = IS(slot)));
    if (end && end->at < at)
        return false;
    *warp = (struct traced_warp){.launch = launch,
                                 .core = core,
                                 .slot = slot,
                                 .warp = start->warp,
                                 .block = start->number,
                                 .from = start->at,
                                 .to = end ? end->at : NEVER};
    return true;
}

void chain_wait(const struct event_trace *trace, const struct traced_warp *warp, u64 at,
                struct wait *wait)
{
    const struct event_list *events = events_of_core(warp->launch, warp->core);
    const struct want *stalls = WANT(.kinds = KIND(WARP_STALL), .slot = IS(warp->slot));
    *wait = (struct wait){.warp = *warp, .at = at, .to = warp->to};
    wait->stall = event_last(trace, events, at, stalls);
    if (wait->stall && wait->stall->at < warp->from)
        wait->stall = NULL;
    const struct traced_event *next = event_next(trace, events, at + 1, stalls);
    if (next && next->at < wait->to)
        wait->to = next->at;
}

/* Inserts a wait into a list, longest first; of equal ones, the earlier comes first. */
static u32 insert(struct wait *list, u32 count, u32 most, const struct wait *wait)
{
    const u64 length = wait->to - wait->stall->at;
    u32 at = count;
    while (at && list[at - 1].to - list[at - 1].stall->at < length)
        at--;
    if (at == most)
        return count;
    memmove(&list[at + 1], &list[at], (MIN(count, most - 1) - at) * sizeof *list);
    list[at] = *wait;
    return MIN(count + 1, most);
}

u32 chain_longest(const struct event_trace *trace, struct wait *list, u32 most)
{
    u32 count = 0;
    for (u32 l = 0; l < trace->launches.count; l++) {
        const struct traced_launch *launch = &trace->launches.data[l];
        for (u32 i = launch->first; i < launch->first + launch->count; i++) {
            const struct traced_event *event = &trace->events.data[i];
            struct traced_warp warp;
            struct wait wait;
            if (event->what != EVENT_WARP_STALL || event->code == WHY_NONE ||
                !chain_warp(trace, launch, event->core, event->slot, event->at, &warp))
                continue;
            chain_wait(trace, &warp, event->at, &wait);
            if (wait.stall == event && wait.to != NEVER && wait.to > event->at)
                count = insert(list, count, most, &wait);
        }
    }
    return count;
}

/* ---- what it waited for ---- */

/* The end of something at depth 0, or of the trace. */
static u64 end_of(const struct chain *chain, const struct wait *wait)
{
    return wait->to == NEVER ? chain->launch->to : wait->to;
}

/* The needs that the core recorded when the wait began: events that follow it. */
static u32 needs_of(const struct chain *chain, const struct wait *wait,
                    const struct traced_event **needs, u32 most)
{
    const u32 first = (u32)(wait->stall - chain->trace->events.data);
    u32 count = 0;
    for (u32 i = first + 1; i < chain->launch->first + chain->launch->count && count < most; i++) {
        const struct traced_event *event = &chain->trace->events.data[i];
        if (event->what != EVENT_NEEDS || event->slot != wait->stall->slot ||
            event->core != wait->stall->core)
            break;
        needs[count++] = event;
    }
    return count;
}

static u64 retired(const struct chain *chain, const struct traced_event *need)
{
    const struct traced_event *event = event_after(
        chain->trace, chain->core_events, need, WANT(.kinds = KIND(RETIRED), .id = IS(need->id)));
    return event ? event->at : NEVER;
}

static void wait_for_registers(struct chain *chain, u32 depth, const struct wait *wait)
{
    const struct traced_event *needs[64];
    const u32 count = needs_of(chain, wait, needs, ARRAY_LEN(needs));
    const struct traced_event *last = NULL;
    for (u32 i = 0; i < count; i++) {
        const u64 end = retired(chain, needs[i]);
        const char *what = needs[i]->number == NEVER
                               ? "a scalar or predicate register"
                               : arena_printf(chain->arena, "register R%llu",
                                              (unsigned long long)needs[i]->number);
        chain_add(chain, depth, wait->stall->at, end, "%s, written by %s", what,
                  chain_inst(chain->arena, chain->launch, needs[i]->inst));
        if (!last || end > retired(chain, last))
            last = needs[i];
    }
    if (!last) {
        chain_add(chain, depth, wait->stall->at, end_of(chain, wait),
                  "which register it is, is not recorded");
        return;
    }
    if (count > 1)
        chain_add(chain, depth, retired(chain, last), retired(chain, last),
                  "the last of these is written by %s",
                  chain_inst(chain->arena, chain->launch, last->inst));
    way_of(chain, depth + 1, last->id, last->inst, last->at);
}

/* ---- units ---- */

static void wait_for_room(struct chain *chain, u32 depth, const struct wait *wait)
{
    const struct traced_event *needs[64];
    const u32 count = needs_of(chain, wait, needs, ARRAY_LEN(needs));
    if (!count)
        chain_add(chain, depth, wait->stall->at, end_of(chain, wait),
                  "what holds the unit is not recorded");
    for (u32 i = 0; i < MIN(count, LISTED); i++)
        chain_add(chain, depth, needs[i]->at, retired(chain, needs[i]), "before it in the pipe: %s",
                  chain_inst(chain->arena, chain->launch, needs[i]->inst));
    if (count > LISTED)
        chain_add(chain, depth, wait->stall->at, end_of(chain, wait), "and %u more instructions",
                  count - LISTED);
    if (count)
        way_of(chain, depth + 1, needs[0]->id, needs[0]->inst, needs[0]->at);
}

/* ---- barriers ---- */

static void explain_wait(struct chain *chain, u32 depth, const struct wait *wait);

/* The longest wait of a warp between two cycles. */
static bool longest_wait(const struct chain *chain, const struct traced_warp *warp, u64 from,
                         u64 to, struct wait *longest)
{
    u64 length = 0;
    for (u64 at = from; at < to;) {
        struct wait wait;
        chain_wait(chain->trace, warp, at, &wait);
        const u64 begins = wait.stall ? MAX(wait.stall->at, from) : from;
        const u64 ends = MIN(wait.to, to);
        if (wait.stall && wait.stall->code != WHY_NONE && ends - begins > length) {
            length = ends - begins;
            *longest = wait;
        }
        at = MAX(ends, at + 1);
    }
    return length;
}

/* When a warp of the block, which is not at the barrier at `from`, has come to it: the beginning of its
 * wait there, or its last event before the others go on. */
static u64 arrival(const struct chain *chain, const struct traced_warp *warp, u64 from, u64 to)
{
    const u32 first = event_position(chain->trace, chain->core_events, from + 1);
    u64 last = from;
    for (u32 i = first; i < chain->core_events->at.count; i++) {
        const struct traced_event *event = event_at(chain->trace, chain->core_events, i);
        if (event->at > to)
            break;
        if (event->what == EVENT_WARP_STALL && event->slot == warp->slot) {
            if (event->code == WHY_BARRIER)
                return event->at;
            last = event->at;
        }
    }
    return MIN(last, to);
}

static void wait_at_barrier(struct chain *chain, u32 depth, const struct wait *wait)
{
    const u64 from = wait->at, to = end_of(chain, wait);
    struct traced_warp late, last = {0};
    struct wait other;
    u32 count = 0;
    u64 came = 0;
    const struct traced_event *needs[1];
    if (needs_of(chain, wait, needs, 1) && needs[0]->number != NEVER)
        chain_add(chain, depth, wait->stall->at, wait->to, "barrier %llu of block %llu",
                  (unsigned long long)needs[0]->number, (unsigned long long)wait->warp.block);
    for (u32 slot = 0; slot < 64; slot++) {
        if (slot == wait->warp.slot ||
            !chain_warp(chain->trace, chain->launch, chain->core, slot, from, &late) ||
            late.block != wait->warp.block)
            continue;
        chain_wait(chain->trace, &late, from, &other);
        if (other.stall && other.stall->code == WHY_BARRIER)
            continue;
        const u64 arrives = arrival(chain, &late, from, to);
        if (count++ < LISTED)
            chain_add(chain, depth, from, wait->to == NEVER ? NEVER : arrives,
                      "warp %u of the block (slot %u) has not arrived yet", late.warp, late.slot);
        if (arrives >= came) {
            came = arrives;
            last = late;
        }
    }
    if (!count) {
        chain_add(
            chain, depth, from, to,
            "all warps of the block that the trace knows wait there, too, or for lanes of their "
            "own");
        return;
    }
    if (count > LISTED)
        chain_add(chain, depth, from, to, "and %u more warps", count - LISTED);
    if (!longest_wait(chain, &last, from, MIN(came, to), &other)) {
        chain_add(chain, depth, from, came, "the last to arrive, warp %u, was not waiting",
                  last.warp);
        return;
    }
    chain_add(chain, depth, other.stall->at, other.to,
              "the last to arrive is warp %u (slot %u); its longest wait:", last.warp, last.slot);
    explain_wait(chain, depth + 1, &other);
}

/* ---- fetch ---- */

/* The first miss of the warp between the instructions that it got last and those that it waits for. */
static const struct traced_event *missed_code(const struct chain *chain, const struct wait *wait,
                                              u64 arrived)
{
    const u32 slot = wait->warp.slot;
    const struct traced_event *before =
        event_last(chain->trace, chain->core_events, wait->stall->at,
                   WANT(.kinds = KIND(FETCHED), .slot = IS(slot)));
    const u64 from = before ? MAX(before->at, wait->warp.from) : wait->warp.from;
    for (u32 i = event_position(chain->trace, chain->core_events, from);
         i < chain->core_events->at.count; i++) {
        const struct traced_event *event = event_at(chain->trace, chain->core_events, i);
        if (event->at > arrived)
            break;
        if (event->what == EVENT_CACHE_READ && event->from == FROM_INSTRUCTION &&
            event->slot == slot && event->code != RESULT_HIT)
            return event;
    }
    return NULL;
}

static void wait_for_code(struct chain *chain, u32 depth, const struct wait *wait)
{
    const struct traced_event *arrived =
        event_next(chain->trace, chain->core_events, wait->stall->at + 1,
                   WANT(.kinds = KIND(FETCHED), .slot = IS(wait->warp.slot)));
    const u64 to = arrived ? arrived->at : end_of(chain, wait);
    const struct traced_event *read = missed_code(chain, wait, to);
    if (!read) {
        chain_add(
            chain, depth, wait->stall->at, wait->to,
            "no miss of an instruction cache is recorded for it: its instructions are on their "
            "way through fetch and decode, or other warps are fetched first");
        return;
    }
    chain_add(chain, depth, read->at, wait->to, "miss in the instruction cache, line 0x%llx%s",
              (unsigned long long)read->address,
              read->code == RESULT_MERGED ? ", which another warp has requested" : "");
    const struct want *sent =
        WANT(.kinds = KIND(REQUEST_SENT), .from = IS(FROM_INSTRUCTION), .tag = IS(read->tag));
    const struct traced_event *request =
        read->code == RESULT_MISS ? event_next(chain->trace, chain->core_events, read->at, sent)
                                  : event_last(chain->trace, chain->core_events, read->at, sent);
    if (!request) {
        chain_add(chain, depth + 1, read->at, read->at,
                  "the request for it is not in the trace; a fixed miss latency has none");
        return;
    }
    const u64 replied = way_of_request(chain, depth + 1, request);
    if (replied != NEVER && arrived)
        chain_add(chain, depth + 1, replied, arrived->at, "fetch, decode, into the warp's buffer");
}

/* ---- accesses of the warp itself ---- */

static void wait_for_accesses(struct chain *chain, u32 depth, const struct wait *wait)
{
    const u64 from = wait->stall->at, to = end_of(chain, wait);
    const struct traced_event *last = NULL;
    u64 ends = 0;
    u32 open = 0;
    for (u32 i = 0; i < event_position(chain->trace, chain->core_events, from + 1); i++) {
        const struct traced_event *event = event_at(chain->trace, chain->core_events, i);
        if (event->slot != wait->warp.slot || event->at < wait->warp.from)
            continue;
        u64 done = 0;
        if (event->what == EVENT_ISSUED && event->flag) {
            done = retired(chain, event);
        } else if (event->what == EVENT_REQUEST_SENT && event->flag) {
            const struct traced_event *reply =
                event_next(chain->trace, chain->core_events, event->at,
                           WANT(.kinds = KIND(REQUEST_DONE), .address = IS(event->address),
                                .sent = IS(event->at)));
            done = reply ? reply->at : NEVER;
        }
        if (done <= from)
            continue;
        open++;
        if (done >= ends && (done <= to + 1 || done == NEVER || !last)) {
            ends = done;
            last = event;
        }
    }
    if (!last) {
        chain_add(chain, depth, from, wait->to,
                  "no access of the warp in flight is recorded that it could wait for");
        return;
    }
    chain_add(chain, depth, from, ends, "%u of its accesses %s in flight; the last to finish is %s",
              open, open == 1 ? "is" : "are", chain_inst(chain->arena, chain->launch, last->inst));
    if (last->what == EVENT_ISSUED)
        way_of(chain, depth + 1, last->id, last->inst, last->at);
    else
        way_of_request(chain, depth + 1, last);
}

static void wait_for_branch(struct chain *chain, u32 depth, const struct wait *wait)
{
    const struct traced_event *issue =
        event_last(chain->trace, chain->core_events, wait->stall->at,
                   WANT(.kinds = KIND(ISSUED), .slot = IS(wait->warp.slot)));
    if (!issue) {
        chain_add(chain, depth, wait->stall->at, wait->to, "the branch is not in the trace");
        return;
    }
    way_of(chain, depth, issue->id, issue->inst, issue->at);
}

/* ---- a warp that could issue ---- */

static void could_issue(struct chain *chain, u32 depth, const struct wait *wait)
{
    const u64 from = wait->stall->at, to = end_of(chain, wait);
    const struct traced_event *start =
        event_last(chain->trace, chain->core_events, from,
                   WANT(.kinds = KIND(WARP_START) | KIND(WARP_HERE), .slot = IS(wait->warp.slot)));
    u32 others = 0;
    for (u32 i = event_position(chain->trace, chain->core_events, from + 1);
         i < chain->core_events->at.count; i++) {
        const struct traced_event *event = event_at(chain->trace, chain->core_events, i);
        struct traced_warp other;
        if (event->at > to)
            break;
        if (event->what != EVENT_ISSUED || event->slot == wait->warp.slot ||
            !chain_warp(chain->trace, chain->launch, chain->core, event->slot, event->at, &other))
            continue;
        const struct traced_event *began =
            event_last(chain->trace, chain->core_events, event->at,
                       WANT(.kinds = KIND(WARP_START) | KIND(WARP_HERE), .slot = IS(event->slot)));
        if (began->tag != start->tag)
            continue;
        if (others++ < LISTED)
            chain_add(chain, depth, event->at, event->at,
                      "its scheduler issued for warp slot %u: %s", event->slot,
                      chain_inst(chain->arena, chain->launch, event->inst));
    }
    if (others > LISTED)
        chain_add(chain, depth, from, wait->to, "and %u more times for other warps",
                  others - LISTED);
}

/* ---- the wait ---- */

static const char *const sentences[WHYS] = {
    [WHY_NONE] = "could issue",
    [WHY_EMPTY] = "has ended",
    [WHY_FETCH] = "waits for instructions",
    [WHY_BRANCH] = "waits for a branch to be resolved",
    [WHY_BARRIER] = "waits for other warps, or for lanes of its own",
    [WHY_RAW] = "waits for a source that is being computed",
    [WHY_WAW] = "waits: its destination has an earlier write pending",
    [WHY_MEMORY] = "waits for memory",
    [WHY_WAIT] = "waits for its own instructions in flight",
    [WHY_UNIT] = "waits for room in a unit's pipe",
    [WHY_COLLECTOR] = "waits for an operand collector",
    [WHY_HELD] = "is held by a mechanism",
};

static void explain_wait(struct chain *chain, u32 depth, const struct wait *wait)
{
    const struct traced_event *stall = wait->stall;
    const char *place = stall->inst == NONE
                            ? ""
                            : arena_printf(chain->arena, " at %s",
                                           chain_inst(chain->arena, chain->launch, stall->inst));
    chain_add(chain, depth, stall->at, wait->to, "warp slot %u %s%s", wait->warp.slot,
              stall->code < WHYS ? sentences[stall->code] : "waits for a reason unknown here",
              place);
    if (depth >= CHAIN_DEPTH) {
        chain_add(chain, depth + 1, stall->at, stall->at, "(ask for this warp to see why)");
        return;
    }
    switch ((enum why)stall->code) {
    case WHY_NONE:
        could_issue(chain, depth + 1, wait);
        break;
    case WHY_FETCH:
        wait_for_code(chain, depth + 1, wait);
        break;
    case WHY_BRANCH:
        wait_for_branch(chain, depth + 1, wait);
        break;
    case WHY_BARRIER:
        wait_at_barrier(chain, depth + 1, wait);
        break;
    case WHY_MEMORY:
        if (stall->inst == NONE) {
            wait_for_accesses(chain, depth + 1, wait);
            break;
        } /* fallthrough */
    case WHY_RAW:
    case WHY_WAW:
        wait_for_registers(chain, depth + 1, wait);
        break;
    case WHY_WAIT:
        wait_for_accesses(chain, depth + 1, wait);
        break;
    case WHY_UNIT:
    case WHY_COLLECTOR:
        wait_for_room(chain, depth + 1, wait);
        break;
    case WHY_HELD:
        chain_add(chain, depth + 1, stall->at, wait->to,
                  "which mechanism, and until when, is not recorded");
        break;
    default:
        break;
    }
}

void chain_explain(struct chain *chain, struct arena *arena, const struct event_trace *trace,
                   const struct wait *wait)
{
    *chain = (struct chain){.trace = trace,
                            .launch = wait->warp.launch,
                            .core = wait->warp.core,
                            .core_events = events_of_core(wait->warp.launch, wait->warp.core),
                            .arena = arena};
    explain_wait(chain, 0, wait);
}
