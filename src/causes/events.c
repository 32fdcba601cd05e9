/* Traces of events: see events.h. */
#include "causes/events.h"

#include "base/text.h"
#include <jansson.h>
#include <stdlib.h>

enum {
    FILE_LIMIT = 1 << 30
};

const char *const why_names[WHYS] = {"none", "empty",  "fetch", "branch", "barrier",   "raw",
                                     "waw",  "memory", "wait",  "unit",   "collector", "held"};

static const char *const kind_names[EVENT_KINDS] = {
#define TRACE_KIND(NAME, name) [EVENT_##NAME] = name,
#include "base/trace_kinds.def"
#undef TRACE_KIND
};
static const char *const need_names[NEEDS] = {"register", "room", "barrier", "line"};
static const char *const result_names[RESULTS] = {"hit",     "merged",  "miss",
                                                  "no line", "no MSHR", "no merge"};
static const char *const from_names[FROMS] = {"instruction", "l1",   "constant",
                                              "readonly",    "none", "mechanism"};

/* ---- lines ---- */

struct event_reader {
    struct event_trace *trace;
    struct arena *arena;
    const char *path;
    u32 line;
    struct error *error;
};

static bool wrong(const struct event_reader *reader, const char *text)
{
    return error_set(reader->error, ERROR_INPUT,
                     arena_printf(reader->arena, "%s:%u", reader->path, reader->line), "%s", text);
}

/* A member that is a number; `none` if there is none, or it is negative. */
static u64 number_or(const json_t *line, const char *name, u64 none)
{
    const json_t *value = json_object_get(line, name);
    return json_is_integer(value) && json_integer_value(value) >= 0 ? (u64)json_integer_value(value)
                                                                    : none;
}

static u32 small(const json_t *line, const char *name)
{
    const u64 number = number_or(line, name, NONE);
    return number < NONE ? (u32)number : NONE;
}

static u8 named(const json_t *line, const char *name, const char *const *names, u32 count)
{
    const char *text = json_string_value(json_object_get(line, name));
    u32 at = 0;
    while (text && at < count && strcmp(names[at], text) != 0)
        at++;
    return (u8)(text ? at : count);
}

static u64 size_at(const json_t *line, const char *name, u32 at)
{
    const json_t *value = json_array_get(json_object_get(line, name), at);
    return json_is_integer(value) && json_integer_value(value) > 0 ? (u64)json_integer_value(value)
                                                                   : 1;
}

static bool add_launch(struct event_reader *reader, const json_t *line, u64 at)
{
    const char *kernel = json_string_value(json_object_get(line, "kernel"));
    if (number_or(line, "format", 0) != 1)
        return wrong(reader, "this version reads traces of format 1");
    struct traced_launch *launch = vec_push(&reader->trace->launches);
    *launch = (struct traced_launch){
        .kernel = arena_strdup(reader->arena, kernel ? kernel : "?"),
        .number = number_or(line, "launch", 0),
        .start = number_or(line, "start", 0),
        .from = at,
        .to = at,
        .grid = {size_at(line, "grid", 0), size_at(line, "grid", 1), size_at(line, "grid", 2)},
        .l1_mshrs = number_or(line, "l1_mshrs", 0),
        .l1_latency = number_or(line, "l1_latency", 0),
        .l2_line = number_or(line, "l2_line", 0),
        .first = reader->trace->events.count,
    };
    return true;
}

static bool add_code(struct event_reader *reader, struct traced_launch *launch, const json_t *line)
{
    const u32 inst = small(line, "inst");
    const char *text = json_string_value(json_object_get(line, "text"));
    const char *place = json_string_value(json_object_get(line, "line"));
    if (inst >= EVENTS_INSTS)
        return wrong(reader, "'code' without the number of its instruction");
    if (inst >= launch->code_count) {
        const u32 count = MAX(inst + 1, 2 * launch->code_count);
        launch->codes = checked(realloc(launch->codes, count * sizeof *launch->codes));
        memset(launch->codes + launch->code_count, 0,
               (count - launch->code_count) * sizeof *launch->codes);
        launch->code_count = count;
    }
    launch->codes[inst] =
        (struct traced_code){.pc = number_or(line, "pc", 0),
                             .line = place ? arena_strdup(reader->arena, place) : NULL,
                             .text = text ? arena_strdup(reader->arena, text) : NULL};
    return true;
}

static u64 number_of_event(const json_t *line)
{
    static const char *const names[] = {"block", "register", "barrier", "cycles", "count", "row"};
    for (u32 i = 0; i < ARRAY_LEN(names); i++)
        if (json_object_get(line, names[i]))
            return number_or(line, names[i], NEVER);
    return NEVER;
}

static u32 first_of(const json_t *line, const char *const *names, u32 count)
{
    for (u32 i = 0; i < count; i++)
        if (json_object_get(line, names[i]))
            return small(line, names[i]);
    return NONE;
}

static struct traced_event event_of(const json_t *line, u64 at, u32 what)
{
    static const char *const slots[] = {"slot", "place", "bank"};
    static const char *const tags[] = {"tag", "mshr", "slice", "channel", "scheduler"};
    const char *pipe = json_string_value(json_object_get(line, "pipe"));
    struct traced_event event = {
        .at = at,
        .what = (u8)what,
        .core = (u16)number_or(line, "core", 0),
        .address = number_or(line, "address", NEVER),
        .sent = number_or(line, "sent", NEVER),
        .number = number_of_event(line),
        .slot = first_of(line, slots, ARRAY_LEN(slots)),
        .inst = small(line, "inst"),
        .id = small(line, "id"),
        .tag = first_of(line, tags, ARRAY_LEN(tags)),
        .warp = (u16)number_or(line, "warp", 0),
        .from = named(line, "cache", from_names, FROMS),
        .flag = number_or(line, "write", 0) || number_or(line, "open", 0) ||
                (pipe && !strcmp(pipe, "memory")),
    };
    if (what == EVENT_WARP_STALL)
        event.code = named(line, "why", why_names, WHYS);
    else if (what == EVENT_NEEDS)
        event.code = named(line, "need", need_names, NEEDS);
    else if (what == EVENT_REQUEST_SENT)
        event.flag = strcmp(json_string_value(json_object_get(line, "kind"))
                                ? json_string_value(json_object_get(line, "kind"))
                                : "",
                            "read") != 0;
    else
        event.code = named(line, "result", result_names, RESULTS);
    return event;
}

static bool add_event(struct event_reader *reader, const json_t *line)
{
    const char *what = json_string_value(json_object_get(line, "what"));
    const u64 at = number_or(line, "at", NEVER);
    u32 kind = 0;
    if (!what || at == NEVER)
        return wrong(reader, "not an event: expected what 'heddle run --trace FILE.jsonl' writes");
    if (!strcmp(what, "launch"))
        return add_launch(reader, line, at);
    if (!reader->trace->launches.count)
        return wrong(reader, "an event before any 'launch': the beginning of the trace is missing");
    struct traced_launch *launch = &reader->trace->launches.data[reader->trace->launches.count - 1];
    if (!strcmp(what, "code"))
        return add_code(reader, launch, line);
    launch->to = MAX(launch->to, at);
    if (!strcmp(what, "launch_end")) {
        launch->ended = true;
        return true;
    }
    while (kind < EVENT_KINDS && strcmp(kind_names[kind], what) != 0)
        kind++;
    if (kind == EVENT_KINDS)
        return wrong(reader, arena_printf(reader->arena, "'%.40s' is not the name of an event",
                                          text_printable(reader->arena, what)));
    if (number_or(line, "core", 0) >= EVENTS_CORES)
        return wrong(reader, "the number of a core is too large");
    *vec_push(&reader->trace->events) = event_of(line, at, kind);
    launch->count = reader->trace->events.count - launch->first;
    return true;
}

/* ---- indices ---- */

static int compare_events(const void *a, const void *b, void *user)
{
    const struct traced_event *events = user;
    const u32 x = *(const u32 *)a, y = *(const u32 *)b;
    const u64 s = events[x].at, t = events[y].at;
    return s < t ? -1 : s > t ? 1 : x < y ? -1 : x > y;
}

static void sort_list(struct event_trace *trace, struct event_list *list)
{
    if (list->at.count)
        qsort_r(list->at.data, list->at.count, sizeof *list->at.data, compare_events,
                trace->events.data);
}

static bool is_dram(const struct traced_event *event)
{
    return event->what >= EVENT_DRAM_ARRIVED && event->what <= EVENT_DRAM_ROW;
}

static void index_launch(struct event_trace *trace, struct traced_launch *launch)
{
    for (u32 i = launch->first; i < launch->first + launch->count; i++)
        launch->core_count = MAX(launch->core_count, trace->events.data[i].core + 1u);
    launch->cores = checked(calloc(launch->core_count + 1, sizeof *launch->cores));
    for (u32 i = launch->first; i < launch->first + launch->count; i++) {
        const struct traced_event *event = &trace->events.data[i];
        *vec_push(is_dram(event) ? &launch->channels.at : &launch->cores[event->core].at) = i;
        launch->from = MIN(launch->from, event->at);
    }
    for (u32 c = 0; c < launch->core_count; c++)
        sort_list(trace, &launch->cores[c]);
    sort_list(trace, &launch->channels);
}

bool events_parse(struct event_trace *trace, struct arena *arena, const char *path, char *text,
                  size_t length, struct error *error)
{
    struct event_reader reader = {trace, arena, text_printable(arena, path), 0, error};
    trace->arena = arena;
    bool ok = true;
    for (char *line = text, *end; ok && line < text + length; line = end + 1) {
        end = memchr(line, '\n', (size_t)(text + length - line));
        end = end ? end : text + length;
        reader.line++;
        json_t *json = json_loadb(line, (size_t)(end - line), 0, NULL);
        ok = json ? add_event(&reader, json)
                  : wrong(&reader, "not a trace of events: expected lines of JSON, which 'heddle "
                                   "run --trace FILE.jsonl' writes");
        json_decref(json);
    }
    if (ok && !trace->launches.count)
        ok = error_set(error, ERROR_INPUT, reader.path,
                       "the trace has no launch: nothing ran in "
                       "its window");
    for (u32 i = 0; ok && i < trace->launches.count; i++)
        index_launch(trace, &trace->launches.data[i]);
    return ok;
}

bool events_read(struct event_trace *trace, struct arena *arena, const char *path,
                 struct error *error)
{
    size_t length;
    char *text = text_read_file(path, true, FILE_LIMIT, &length, error);
    const bool ok = text && events_parse(trace, arena, path, text, length, error);
    free(text);
    return ok;
}

void events_free(struct event_trace *trace)
{
    for (u32 i = 0; i < trace->launches.count; i++) {
        struct traced_launch *launch = &trace->launches.data[i];
        for (u32 c = 0; launch->cores && c < launch->core_count; c++)
            vec_free(&launch->cores[c].at);
        vec_free(&launch->channels.at);
        free(launch->cores);
        free(launch->codes);
    }
    vec_free(&trace->launches);
    vec_free(&trace->events);
}

/* ---- queries ---- */

static bool fits(u64 value, u64 wanted)
{
    return !wanted || IS(value) == wanted;
}

bool event_is(const struct traced_event *event, const struct want *want)
{
    return want->kinds >> event->what & 1 && fits(event->slot, want->slot) &&
           fits(event->id, want->id) && fits(event->tag, want->tag) &&
           fits(event->inst, want->inst) && fits(event->from, want->from) &&
           fits(event->address, want->address) && fits(event->sent, want->sent);
}

u32 event_position(const struct event_trace *trace, const struct event_list *list, u64 at)
{
    u32 low = 0, high = list->at.count;
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (event_at(trace, list, middle)->at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct traced_event *event_next(const struct event_trace *trace,
                                      const struct event_list *list, u64 from,
                                      const struct want *want)
{
    for (u32 i = event_position(trace, list, from); i < list->at.count; i++)
        if (event_is(event_at(trace, list, i), want))
            return event_at(trace, list, i);
    return NULL;
}

const struct traced_event *event_after(const struct event_trace *trace,
                                       const struct event_list *list,
                                       const struct traced_event *after, const struct want *want)
{
    for (u32 i = event_position(trace, list, after->at); i < list->at.count; i++)
        if (event_at(trace, list, i) > after || event_at(trace, list, i)->at > after->at)
            if (event_is(event_at(trace, list, i), want))
                return event_at(trace, list, i);
    return NULL;
}

const struct traced_event *event_last(const struct event_trace *trace,
                                      const struct event_list *list, u64 to,
                                      const struct want *want)
{
    for (u32 i = event_position(trace, list, to == NEVER ? to : to + 1); i-- > 0;)
        if (event_is(event_at(trace, list, i), want))
            return event_at(trace, list, i);
    return NULL;
}

const struct event_list *events_of_core(const struct traced_launch *launch, u32 core)
{
    static const struct event_list none;
    return core < launch->core_count ? &launch->cores[core] : &none;
}
