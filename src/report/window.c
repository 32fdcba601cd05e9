/* The window of a run whose events were traced: waits of warps with their chains of causes, and memory
 * requests. */
#include "report/page.h"

#include "base/text.h"
#include "causes/chain.h"
#include "lab/page.h"

enum {
    WAITS = 400,   /* that are shown, the longest */
    REQUESTS = 400 /* likewise */
};

/* ---- chains ---- */

/* Texts that chains share, in order of their first use. */
struct chain_texts {
    VEC(const char *) list;
};

static u32 text_number(struct chain_texts *texts, const char *text)
{
    for (u32 i = 0; i < texts->list.count; i++)
        if (!strcmp(texts->list.data[i], text))
            return i;
    *vec_push(&texts->list) = text;
    return texts->list.count - 1;
}

/* A string of JSON in a script element, which must not end it. */
static void print_string(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++)
        if (strchr("<>&\"\\", *text) || (unsigned char)*text < ' ')
            fprintf(to, "\\u%04x", (unsigned char)*text);
        else
            fputc(*text, to);
    fputc('"', to);
}

/* For each wait, its links: depth, from, to (-1: not in the trace), text. */
static void print_chains(struct page *page, const struct event_trace *trace,
                         const struct wait *waits, u32 count)
{
    struct chain_texts texts = {0};
    fputs("<script type=\"application/json\" class=\"chains\">{\"chains\":[", page->to);
    for (u32 i = 0; i < count; i++) {
        struct chain chain;
        chain_explain(&chain, page->arena, trace, &waits[i]);
        fputs(i ? ",\n[" : "[", page->to);
        for (u32 c = 0; c < chain.causes.count; c++) {
            const struct cause *cause = &chain.causes.data[c];
            fprintf(page->to, "%s[%u,%llu,%lld,%u]", c ? "," : "", cause->depth,
                    (unsigned long long)cause->from,
                    cause->to == NEVER ? -1ll : (long long)cause->to,
                    text_number(&texts, cause->text));
        }
        fputc(']', page->to);
        chain_free(&chain);
    }
    fputs("],\n\"texts\":[", page->to);
    for (u32 i = 0; i < texts.list.count; i++) {
        fputs(i ? ",\n" : "", page->to);
        print_string(page->to, texts.list.data[i]);
    }
    fputs("]}</script>\n", page->to);
    vec_free(&texts.list);
}

/* ---- waits ---- */

static const char *place_text(struct page *page, const struct traced_launch *launch, u32 inst)
{
    return inst == NONE ? "the warp has ended" : chain_inst(page->arena, launch, inst);
}

static void waits(struct page *page, const struct event_trace *trace)
{
    struct wait *list = arena_array(page->arena, struct wait, WAITS);
    const u32 count = chain_longest(trace, list, WAITS);
    if (!count)
        return;
    figure_open(
        page, "spans", "waits", "Waits of warps",
        arena_printf(page->arena,
                     "From the trace of events: the %u longest waits. A click on one, or on "
                     "its row in the table, shows what it waited for.",
                     count));
    figure_head(page, "warp");
    static const char *const columns[] = {"from cycle", "to cycle", "cycles",
                                          "why",        "kernel",   "at"};
    for (u32 i = 0; i < ARRAY_LEN(columns); i++)
        figure_column(page, columns[i]);
    for (u32 i = 0; i < count; i++) {
        const struct wait *wait = &list[i];
        figure_row(page, "",
                   arena_printf(page->arena, "core %u, slot %u", wait->warp.core, wait->warp.slot));
        figure_number(page, QUANTITY_COUNT, (f64)wait->stall->at);
        figure_number(page, QUANTITY_COUNT, (f64)wait->to);
        figure_number(page, QUANTITY_COUNT, (f64)(wait->to - wait->stall->at));
        figure_text(page, wait->stall->code < WHYS ? why_names[wait->stall->code] : "?");
        figure_text(page, text_printable(page->arena, wait->warp.launch->kernel));
        figure_text(page, place_text(page, wait->warp.launch, wait->stall->inst));
    }
    fputs("</tr></table></div></details>\n", page->to);
    print_chains(page, trace, list, count);
    fputs("</figure>\n</section>\n", page->to);
}

/* ---- requests ---- */

struct request_span {
    const struct traced_launch *launch;
    const struct traced_event *sent;
    u64 to;
};

static u32 longest_requests(const struct event_trace *trace, struct request_span *list)
{
    u32 count = 0;
    for (u32 l = 0; l < trace->launches.count; l++) {
        const struct traced_launch *launch = &trace->launches.data[l];
        for (u32 i = launch->first; i < launch->first + launch->count; i++) {
            const struct traced_event *sent = &trace->events.data[i];
            if (sent->what != EVENT_REQUEST_SENT)
                continue;
            const struct traced_event *done =
                event_after(trace, events_of_core(launch, sent->core), sent,
                            WANT(.kinds = KIND(REQUEST_DONE), .address = IS(sent->address),
                                 .sent = IS(sent->at)));
            if (!done)
                continue;
            u32 at = count;
            while (at && list[at - 1].to - list[at - 1].sent->at < done->at - sent->at)
                at--;
            if (at == REQUESTS)
                continue;
            memmove(&list[at + 1], &list[at], (MIN(count, REQUESTS - 1) - at) * sizeof *list);
            list[at] = (struct request_span){launch, sent, done->at};
            count = MIN(count + 1, REQUESTS);
        }
    }
    return count;
}

static void requests(struct page *page, const struct event_trace *trace)
{
    struct request_span *list = arena_array(page->arena, struct request_span, REQUESTS);
    const u32 count = longest_requests(trace, list);
    if (!count)
        return;
    figure_open(page, "spans", "requests", "Memory requests",
                arena_printf(page->arena,
                             "From the trace of events: the %u requests that took longest, from a "
                             "core to its reply.",
                             count));
    figure_head(page, "request of");
    static const char *const columns[] = {"from cycle", "to cycle", "cycles", "address", "at"};
    for (u32 i = 0; i < ARRAY_LEN(columns); i++)
        figure_column(page, columns[i]);
    for (u32 i = 0; i < count; i++) {
        const struct request_span *one = &list[i];
        figure_row(page, "", arena_printf(page->arena, "core %u", one->sent->core));
        figure_number(page, QUANTITY_COUNT, (f64)one->sent->at);
        figure_number(page, QUANTITY_COUNT, (f64)one->to);
        figure_number(page, QUANTITY_COUNT, (f64)(one->to - one->sent->at));
        figure_text(page,
                    arena_printf(page->arena, "0x%llx", (unsigned long long)one->sent->address));
        figure_text(page, place_text(page, one->launch, one->sent->inst));
    }
    figure_close(page);
}

void page_window(struct page *page)
{
    for (u32 r = 0; r < page->count; r++)
        if (page->runs[r].events) { /* of the first run that has them */
            waits(page, page->runs[r].events);
            requests(page, page->runs[r].events);
            return;
        }
}
