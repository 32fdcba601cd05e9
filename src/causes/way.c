/* The way of an instruction in flight, and of a memory request: see chain.h. */
#include "causes/chain.h"

enum {
    LISTED = 3
};

/* ---- DRAM ---- */

/* A line of the L2 in DRAM, which is one request or several: the first to arrive and its first command,
 * the last to be served; NULL: not recorded. */
struct dram_way {
    const struct traced_event *arrived, *started, *served;
    u32 count;
};

static const struct traced_event *dram_next(const struct chain *chain,
                                            const struct traced_event *arrived, u64 kinds)
{
    const struct event_list *list = &chain->launch->channels;
    for (u32 i = event_position(chain->trace, list, arrived->at); i < list->at.count; i++) {
        const struct traced_event *event = event_at(chain->trace, list, i);
        if (kinds >> event->what & 1 && event->address == arrived->address &&
            event->tag == arrived->tag && event->flag == arrived->flag)
            return event;
    }
    return NULL;
}

static bool is_in_line(const struct chain *chain, const struct traced_event *event, u64 line)
{
    return event->address >= line && event->address < line + chain->launch->l2_line;
}

/* The reads of the L2's line that are served between two cycles. */
static struct dram_way dram_way_of(const struct chain *chain, u64 line, u64 from, u64 to)
{
    const struct event_list *list = &chain->launch->channels;
    struct dram_way way = {0};
    for (u32 i = 0; i < list->at.count; i++) {
        const struct traced_event *event = event_at(chain->trace, list, i);
        if (event->at > to)
            break;
        if (event->what != EVENT_DRAM_ARRIVED || event->flag || !is_in_line(chain, event, line))
            continue;
        const struct traced_event *served = dram_next(chain, event, KIND(DRAM_SERVED));
        if (served && (served->at < from || served->at > to))
            continue;
        if (!way.count++) {
            way.arrived = event;
            way.started = dram_next(chain, event, KIND(DRAM_STARTED));
        }
        if (!served || (way.count > 1 && !way.served))
            way.served = NULL;
        else if (!way.served || served->at > way.served->at)
            way.served = served;
    }
    return way;
}

static bool same_bank(const struct traced_event *a, const struct traced_event *b)
{
    return a->tag == b->tag && a->slot == b->slot;
}

/* Rows that the bank closed and opened for the request, and what it worked on before. */
static void explain_bank(struct chain *chain, u32 depth, u64 line, const struct dram_way *way)
{
    const struct event_list *list = &chain->launch->channels;
    const u64 end = way->served ? way->served->at : chain->launch->to;
    const struct traced_event *opened = NULL, *closed = NULL;
    u32 others = 0;
    for (u32 i = 0; i < list->at.count; i++) {
        const struct traced_event *event = event_at(chain->trace, list, i);
        if (event->at > end)
            break;
        if (!same_bank(event, way->arrived))
            continue;
        if (event->what == EVENT_DRAM_ROW && event->at >= way->arrived->at) {
            if (event->flag && event->number == way->arrived->number)
                opened = event;
            if (!event->flag)
                closed = event;
        }
        if (event->what != EVENT_DRAM_SERVED || event->at <= way->arrived->at ||
            event->at > way->started->at + 1 || is_in_line(chain, event, line))
            continue;
        if (others++ < LISTED)
            chain_add(chain, depth, way->arrived->at, event->at,
                      "the bank serves another request first: row %llu, of core %u, %s",
                      (unsigned long long)event->number, event->core,
                      event->inst == NONE ? "no instruction"
                                          : chain_inst(chain->arena, chain->launch, event->inst));
    }
    if (others > LISTED)
        chain_add(chain, depth, way->arrived->at, way->started->at, "and %u more requests",
                  others - LISTED);
    if (opened && closed && closed->at <= opened->at)
        chain_add(chain, depth, closed->at, opened->at,
                  "row conflict: row %llu was open and is closed, row %llu is opened",
                  (unsigned long long)closed->number, (unsigned long long)opened->number);
    else if (opened)
        chain_add(chain, depth, opened->at, opened->at, "no row was open: row %llu is opened",
                  (unsigned long long)opened->number);
    else
        chain_add(chain, depth, way->started->at, way->started->at, "row %llu is open already",
                  (unsigned long long)way->arrived->number);
}

static void explain_dram(struct chain *chain, u32 depth, const struct traced_event *read, u64 to)
{
    const struct dram_way way = dram_way_of(chain, read->address, read->at, to);
    if (!way.arrived) {
        chain_add(chain, depth, read->at, read->at, "its way in DRAM is not in the trace");
        return;
    }
    if (way.arrived->at > read->at)
        chain_add(chain, depth, read->at, way.arrived->at, "from the slice to the DRAM channel");
    const u64 started = way.started ? way.started->at : NEVER;
    chain_add(chain, depth, way.arrived->at, started,
              "in the queue of DRAM channel %u, bank %u, row %llu", way.arrived->tag,
              way.arrived->slot, (unsigned long long)way.arrived->number);
    if (!way.started)
        return;
    explain_bank(chain, depth + 1, read->address, &way);
    chain_add(chain, depth, started, way.served ? way.served->at : NEVER,
              "DRAM: first command to last data, in %u request%s", way.count,
              way.count > 1 ? "s" : "");
}

/* ---- requests ---- */

u64 way_of_request(struct chain *chain, u32 depth, const struct traced_event *request)
{
    const struct event_trace *trace = chain->trace;
    const struct event_list *list = chain->core_events;
    const u64 address = request->address, sent = request->at;
    const struct traced_event *arrived =
        event_next(trace, list, sent,
                   WANT(.kinds = KIND(L2_ARRIVED), .address = IS(address), .sent = IS(sent)));
    const struct traced_event *read = event_next(
        trace, list, sent, WANT(.kinds = KIND(L2_READ), .address = IS(address), .sent = IS(sent)));
    const struct traced_event *reply = event_next(
        trace, list, sent, WANT(.kinds = KIND(L2_REPLY), .address = IS(address), .sent = IS(sent)));
    const struct traced_event *done =
        event_next(trace, list, sent,
                   WANT(.kinds = KIND(REQUEST_DONE), .address = IS(address), .sent = IS(sent)));
    const u64 replied = done ? done->at : NEVER;
    chain_add(chain, depth, sent, replied, "request to the L2, address 0x%llx",
              (unsigned long long)address);
    if (!arrived) {
        chain_add(chain, depth + 1, sent, replied,
                  "its way in the memory system is not in the trace");
        return replied;
    }
    chain_add(chain, depth + 1, sent, arrived->at, "network to slice %u", arrived->tag);
    if (read) {
        if (read->at > arrived->at)
            chain_add(chain, depth + 1, arrived->at, read->at,
                      "waits for the tags of the slice, which refused it or served others");
        chain_add(chain, depth + 1, read->at, reply ? reply->at : NEVER, "L2 %s",
                  read->code == RESULT_HIT      ? "hit"
                  : read->code == RESULT_MERGED ? "miss; the line is on its way already"
                                                : "miss");
        if (read->code != RESULT_HIT)
            explain_dram(chain, depth + 2, read, reply ? reply->at : chain->launch->to);
    } else {
        chain_add(chain, depth + 1, arrived->at, reply ? reply->at : NEVER, "in the slice");
    }
    if (reply)
        chain_add(chain, depth + 1, reply->at, replied, "network back");
    return replied;
}

/* ---- first-level caches ---- */

/* When the line of a cache access came; its own cycle for a hit. */
static u64 served_at(const struct chain *chain, const struct traced_event *read)
{
    if (read->code == RESULT_HIT)
        return read->at;
    const struct traced_event *filled = event_after(
        chain->trace, chain->core_events, read,
        WANT(.kinds = KIND(CACHE_FILLED), .from = IS(read->from), .tag = IS(read->tag)));
    return filled ? filled->at : NEVER;
}

/* The MSHRs that are taken when a load is refused. */
static void explain_refusal(struct chain *chain, u32 depth, const struct traced_event *refused,
                            u64 to)
{
    const struct event_list *list = chain->core_events;
    u32 taken = 0;
    if (refused->code == RESULT_NO_LINE) {
        chain_add(chain, depth, refused->at, to,
                  "the L1 refuses it: all lines of its set wait for data");
        return;
    }
    if (refused->code == RESULT_NO_MERGE) {
        chain_add(chain, depth, refused->at, to,
                  "the L1 refuses it: the MSHR of its line has no room for another access");
        return;
    }
    chain_add(chain, depth, refused->at, to, "the L1 refuses it: no MSHR is free");
    const u32 last = event_position(chain->trace, list, refused->at + 1);
    for (u32 i = 0; i < last; i++) {
        const struct traced_event *event = event_at(chain->trace, list, i);
        const struct traced_event *filled;
        if (event->what != EVENT_CACHE_READ || event->code != RESULT_MISS || event->from != FROM_L1)
            continue;
        filled = event_next(
            chain->trace, list, event->at,
            WANT(.kinds = KIND(CACHE_FILLED), .from = IS(FROM_L1), .tag = IS(event->tag)));
        if (filled && filled->at < refused->at)
            continue;
        const struct traced_event *owner = event_last(
            chain->trace, list, event->at, WANT(.kinds = KIND(ISSUED), .id = IS(event->id)));
        if (taken++ < LISTED)
            chain_add(chain, depth + 1, event->at, filled ? filled->at : NEVER,
                      "MSHR %u waits for line 0x%llx%s%s", event->tag,
                      (unsigned long long)event->address, owner ? ", of " : "",
                      owner ? chain_inst(chain->arena, chain->launch, owner->inst) : "");
    }
    if (taken > LISTED)
        chain_add(chain, depth + 1, refused->at, to, "and %u more of %llu MSHRs", taken - LISTED,
                  (unsigned long long)chain->launch->l1_mshrs);
}

/* The cache access that came last, and how it was served. */
static void explain_cache(struct chain *chain, u32 depth, const struct traced_event *read)
{
    static const char *const names[FROMS + 1] = {
        "instruction cache", "L1",      "constant cache", "read-only cache",
        "a cache",           "a cache", "a cache"};
    const struct event_list *list = chain->core_events;
    const char *name = names[MIN(read->from, FROMS)];
    const u64 served = served_at(chain, read);
    if (read->code == RESULT_HIT) {
        chain_add(chain, depth, read->at, read->at, "%s hit, line 0x%llx", name,
                  (unsigned long long)read->address);
        return;
    }
    const struct traced_event *miss = read;
    if (read->code == RESULT_MERGED)
        miss = event_last(chain->trace, list, read->at,
                          WANT(.kinds = KIND(CACHE_READ), .from = IS(read->from),
                               .tag = IS(read->tag), .address = IS(read->address)));
    for (; miss && miss->code == RESULT_MERGED;) { /* the one that took the MSHR */
        const u32 at = event_position(chain->trace, list, miss->at);
        const struct traced_event *earlier =
            at ? event_last(
                     chain->trace, list, event_at(chain->trace, list, at)->at - 1,
                     WANT(.kinds = KIND(CACHE_READ), .from = IS(read->from), .tag = IS(read->tag)))
               : NULL;
        miss = earlier;
    }
    if (read->code == RESULT_MERGED) {
        const struct traced_event *owner =
            miss ? event_last(chain->trace, list, miss->at,
                              WANT(.kinds = KIND(ISSUED), .id = IS(miss->id)))
                 : NULL;
        chain_add(chain, depth, read->at, served,
                  "%s miss, line 0x%llx: MSHR %u has requested it%s%s", name,
                  (unsigned long long)read->address, read->tag, owner ? ", for " : "",
                  owner ? chain_inst(chain->arena, chain->launch, owner->inst) : "");
    } else {
        chain_add(chain, depth, read->at, served, "%s miss, line 0x%llx: it takes MSHR %u", name,
                  (unsigned long long)read->address, read->tag);
    }
    const struct traced_event *request =
        miss ? event_next(
                   chain->trace, list, miss->at,
                   WANT(.kinds = KIND(REQUEST_SENT), .from = IS(read->from), .tag = IS(read->tag)))
             : NULL;
    if (!request) {
        chain_add(chain, depth + 1, read->at, read->at, "the request for it is not in the trace");
        return;
    }
    if (request->at > miss->at + 1)
        chain_add(chain, depth + 1, miss->at, request->at, "in the queue to the network");
    way_of_request(chain, depth + 1, request);
}

/* ---- the load/store unit ---- */

/* What else the unit worked on between two cycles. */
static void explain_head(struct chain *chain, u32 depth, u32 id, u64 from, u64 to)
{
    const struct event_list *list = chain->core_events;
    u32 others = 0, seen = NONE;
    for (u32 i = event_position(chain->trace, list, from + 1); i < list->at.count; i++) {
        const struct traced_event *event = event_at(chain->trace, list, i);
        if (event->at > to)
            break;
        if (event->what != EVENT_LEFT || event->id == id || event->id == seen)
            continue;
        seen = event->id;
        if (others++ < LISTED)
            chain_add(chain, depth, from, event->at, "the unit works on warp slot %u's %s",
                      event->slot, chain_inst(chain->arena, chain->launch, event->inst));
    }
    if (others > LISTED)
        chain_add(chain, depth, from, to, "and on %u more instructions", others - LISTED);
}

/* What happened to an instruction between its issue and its retirement. */
struct access_way {
    const struct traced_event *issued, *collecting, *collected, *sent, *conflict, *left, *refused,
        *read, *retired;
    u64 served;          /* by the cache, of `read` */
    u32 accesses, reads; /* transactions */
};

static struct access_way flight_of(const struct chain *chain, u32 id, u64 before)
{
    struct access_way f = {.issued = event_last(chain->trace, chain->core_events, before,
                                                WANT(.kinds = KIND(ISSUED), .id = IS(id)))};
    const struct want *retires = WANT(.kinds = KIND(RETIRED), .id = IS(id));
    if (!f.issued) {
        f.retired = event_next(chain->trace, chain->core_events, before, retires);
        return f;
    }
    f.retired = event_after(chain->trace, chain->core_events, f.issued, retires);
    for (u32 i = event_position(chain->trace, chain->core_events, f.issued->at);
         i < chain->core_events->at.count; i++) {
        const struct traced_event *event = event_at(chain->trace, chain->core_events, i);
        if (f.retired && (event->at > f.retired->at || event == f.retired))
            break;
        if (event->id != id || (event->at == f.issued->at && event < f.issued))
            continue;
        if (event->what == EVENT_COLLECTING)
            f.collecting = event;
        else if (event->what == EVENT_COLLECTED)
            f.collected = event;
        else if (event->what == EVENT_CONFLICT)
            f.conflict = event;
        else if (event->what == EVENT_LEFT)
            f.left = event;
        else if (event->what == EVENT_REFUSED && !f.refused)
            f.refused = event;
        else if (event->what == EVENT_SENT) {
            f.accesses++;
            f.sent = f.sent ? f.sent : event;
        } else if (event->what == EVENT_CACHE_READ && event->from != FROM_INSTRUCTION) {
            const u64 served = served_at(chain, event);
            f.reads++;
            if (!f.read || served > f.served) {
                f.read = event;
                f.served = served;
            }
        }
    }
    return f;
}

/* The last request of an access that bypasses the caches. */
static const struct traced_event *direct_request(const struct chain *chain,
                                                 const struct access_way *f)
{
    const struct event_list *list = chain->core_events;
    const struct traced_event *last = NULL;
    u64 ends = 0;
    for (u32 i = event_position(chain->trace, list, f->sent->at); i < list->at.count; i++) {
        const struct traced_event *event = event_at(chain->trace, list, i);
        if (f->retired && event->at > f->retired->at)
            break;
        if (event->what != EVENT_SENT || event->id != f->sent->id)
            continue;
        const struct traced_event *request = event_next(
            chain->trace, list, event->at,
            WANT(.kinds = KIND(REQUEST_SENT), .from = IS(FROM_NONE), .tag = IS(event->tag)));
        if (!request || (f->retired && request->at > f->retired->at))
            continue;
        const struct traced_event *done =
            event_next(chain->trace, list, request->at,
                       WANT(.kinds = KIND(REQUEST_DONE), .address = IS(request->address),
                            .sent = IS(request->at)));
        if (!last || !done || done->at >= ends) {
            last = request;
            ends = done ? done->at : NEVER;
        }
    }
    return last;
}

static void explain_access(struct chain *chain, u32 depth, const struct access_way *f)
{
    const u64 ready = f->collected ? f->collected->at : f->issued->at;
    const struct traced_event *first = f->conflict ? f->conflict : f->sent ? f->sent : f->left;
    const u64 end = f->retired ? f->retired->at : NEVER;
    if (!first) {
        chain_add(chain, depth, ready, end, "in the load/store unit; nothing more is in the trace");
        return;
    }
    if (first->at > ready + 1) {
        chain_add(chain, depth, ready, first->at, "waits for the head of the load/store unit");
        explain_head(chain, depth + 1, f->issued->id, ready, first->at);
    }
    if (f->conflict)
        chain_add(chain, depth, f->conflict->at, f->conflict->at + f->conflict->number - 1,
                  "bank conflicts: its access to shared memory takes %llu cycles",
                  (unsigned long long)f->conflict->number);
    if (f->accesses > 1)
        chain_add(chain, depth, first->at, f->left ? f->left->at : NEVER, "sends %u transactions",
                  f->accesses);
    if (f->refused)
        explain_refusal(chain, depth, f->refused, f->read ? f->read->at : NEVER);
    u64 served = first->at;
    if (f->read) {
        if (f->read->at > first->at + 1 && !f->refused && f->read->from != FROM_CONSTANT)
            chain_add(chain, depth, first->at, f->read->at, "in the pipe to the tags of the cache");
        if (f->reads > 1)
            chain_add(chain, depth, f->read->at, f->served,
                      "the last of %u lines to be served:", f->reads);
        explain_cache(chain, depth, f->read);
        served = f->served;
    } else if (f->accesses) {
        const struct traced_event *request = direct_request(chain, f);
        if (request)
            served = way_of_request(chain, depth, request);
    }
    if (served == NEVER)
        return;
    served = f->left && f->left->at > served ? f->left->at : served;
    if (end != NEVER && end > served)
        chain_add(chain, depth, served, end, "until its result is written");
}

void way_of(struct chain *chain, u32 depth, u32 id, u32 inst, u64 before)
{
    const struct access_way f = flight_of(chain, id, before);
    if (!f.issued) {
        chain_add(chain, depth, before, f.retired ? f.retired->at : NEVER,
                  "it was issued before the trace begins: its way is not known");
        return;
    }
    const u64 end = f.retired ? f.retired->at : NEVER;
    chain_add(chain, depth, f.issued->at, end, "%s, issued for warp slot %u",
              chain_inst(chain->arena, chain->launch, inst), f.issued->slot);
    if (f.collecting && f.collecting->at > f.issued->at + 1)
        chain_add(chain, depth + 1, f.issued->at, f.collecting->at,
                  "waits for an operand collector");
    if (f.collecting && f.collected && f.collecting->number > 1 && f.collecting->number != NEVER)
        chain_add(chain, depth + 1, f.collecting->at, f.collected->at,
                  "reads its operands: %llu reads of one register bank",
                  (unsigned long long)f.collecting->number);
    else if (f.collecting && f.collected)
        chain_add(chain, depth + 1, f.collecting->at, f.collected->at, "reads its operands");
    if (f.issued->flag)
        explain_access(chain, depth + 1, &f);
    else if (end != NEVER)
        chain_add(chain, depth + 1, f.collected ? f.collected->at : f.issued->at, end,
                  "in its unit, until the result is written");
}
