/* heddle why: what a warp waited for, from a trace of events (causes/chain.h). */
#include "base/text.h"
#include "causes/chain.h"
#include "cli/common.h"
#include <jansson.h>
#include <stdlib.h>

enum {
    LONGEST = 10 /* waits that are listed without --at */
};

struct why_command {
    const struct command *command;
    const struct command_line *line;
    struct arena *arena;
    struct event_trace trace;
    const char *path;
};

/* ---- the longest waits ---- */

static int list_waits(struct why_command *state)
{
    struct wait list[LONGEST];
    const u32 count = chain_longest(&state->trace, list, LONGEST);
    printf("The longest waits; 'heddle why %s --at CYCLE --core C --warp W' explains one:\n\n",
           text_printable(state->arena, state->path));
    printf("cycles      at  core  warp  why        where\n");
    for (u32 i = 0; i < count; i++) {
        const struct wait *wait = &list[i];
        printf("%6llu %7llu  %4u  %4u  %-9s  %s\n",
               (unsigned long long)(wait->to - wait->stall->at),
               (unsigned long long)wait->stall->at, wait->warp.core, wait->warp.slot,
               wait->stall->code < WHYS ? why_names[wait->stall->code] : "?",
               wait->stall->inst == NONE
                   ? "the warp has ended"
                   : chain_inst(state->arena, wait->warp.launch, wait->stall->inst));
    }
    if (!count)
        printf("(none)\n");
    return EXIT_DONE;
}

/* ---- one wait ---- */

static const char *range_text(struct arena *arena, const struct cause *cause)
{
    if (cause->to == NEVER)
        return arena_printf(arena, "%llu-", (unsigned long long)cause->from);
    if (cause->to <= cause->from)
        return arena_printf(arena, "%llu", (unsigned long long)cause->from);
    return arena_printf(arena, "%llu-%llu", (unsigned long long)cause->from,
                        (unsigned long long)cause->to);
}

static const char *length_text(struct arena *arena, const struct cause *cause)
{
    return cause->to == NEVER || cause->to <= cause->from
               ? ""
               : arena_printf(arena, "%llu", (unsigned long long)(cause->to - cause->from));
}

static void print_text(const struct why_command *state, const struct wait *wait,
                       const struct chain *chain)
{
    const struct traced_warp *warp = &wait->warp;
    const u64 x = warp->launch->grid[0], y = warp->launch->grid[1];
    printf("kernel %s, core %u, warp slot %u: warp %u of block (%llu,%llu,%llu)\n\n",
           text_printable(state->arena, warp->launch->kernel), warp->core, warp->slot, warp->warp,
           (unsigned long long)(warp->block % x), (unsigned long long)(warp->block / x % y),
           (unsigned long long)(warp->block / x / y));
    printf("%17s %7s\n", "cycles", "length");
    for (u32 i = 0; i < chain->causes.count; i++) {
        const struct cause *cause = &chain->causes.data[i];
        printf("%17s %7s  %*s%s\n", range_text(state->arena, cause),
               length_text(state->arena, cause), 2 * (int)cause->depth, "", cause->text);
    }
}

static void print_chain(const struct wait *wait, const struct chain *chain)
{
    json_t *json = json_object(), *causes = json_array();
    json_object_set_new(json, "kernel", text_json(wait->warp.launch->kernel));
    json_object_set_new(json, "core", json_integer(wait->warp.core));
    json_object_set_new(json, "slot", json_integer(wait->warp.slot));
    json_object_set_new(json, "block", json_integer((json_int_t)wait->warp.block));
    json_object_set_new(json, "warp", json_integer(wait->warp.warp));
    for (u32 i = 0; i < chain->causes.count; i++) {
        const struct cause *cause = &chain->causes.data[i];
        json_t *entry = json_object();
        json_object_set_new(entry, "depth", json_integer(cause->depth));
        json_object_set_new(entry, "from", json_integer((json_int_t)cause->from));
        json_object_set_new(entry, "to",
                            cause->to == NEVER ? json_null() : json_integer((json_int_t)cause->to));
        json_object_set_new(entry, "text", text_json(cause->text));
        json_array_append_new(causes, entry);
    }
    json_object_set_new(json, "causes", causes);
    print_json(stdout, json);
    json_decref(json);
}

/* The number of an option; false after an error. */
static bool number_of(const struct why_command *state, const char *option, u64 most, u64 *number)
{
    const char *value = option_value(state->line, option);
    if (text_u64(value, number) == TEXT_OK && *number <= most)
        return true;
    usage_error(state->command, "%s: '%.64s': expected a number", option,
                text_printable(state->arena, value));
    return false;
}

/* Cores with events in a launch. */
static const char *cores_text(const struct why_command *state, const struct traced_launch *launch)
{
    const char *text = "";
    u32 count = 0;
    for (u32 c = 0; c < launch->core_count && count < 32; c++)
        if (launch->cores[c].at.count)
            text = arena_printf(state->arena, "%s%s%u", text, count++ ? ", " : "", c);
    return text;
}

static bool find_core(const struct why_command *state, const struct traced_launch *launch, u64 at,
                      u32 slot, u64 *core)
{
    struct traced_warp warp;
    u32 found = 0;
    const char *text = "";
    if (option_value(state->line, "--core"))
        return number_of(state, "--core", EVENTS_CORES, core);
    for (u32 c = 0; c < launch->core_count; c++)
        if (chain_warp(&state->trace, launch, c, slot, at, &warp)) {
            *core = c;
            if (found++ < 32)
                text = arena_printf(state->arena, "%s%s%u", text, found > 1 ? ", " : "", c);
        }
    if (found > 1)
        usage_error(state->command,
                    "several cores have a warp in slot %u at this cycle: expected "
                    "--core C, one of %s",
                    slot, text);
    if (!found)
        complain(state->command, "no core of the trace has a warp in slot %u at cycle %llu", slot,
                 (unsigned long long)at);
    return found == 1;
}

static bool find_wait(const struct why_command *state, struct wait *wait)
{
    u64 at, slot, core;
    struct traced_warp warp;
    const struct event_trace *trace = &state->trace;
    if (!number_of(state, "--at", NEVER - 2, &at) || !number_of(state, "--warp", 255, &slot))
        return false;
    const struct traced_launch *launch = chain_launch(trace, at);
    if (!launch) {
        u64 from = NEVER, to = 0;
        for (u32 i = 0; i < trace->launches.count; i++) {
            from = MIN(from, trace->launches.data[i].from);
            to = MAX(to, trace->launches.data[i].to);
        }
        complain(state->command,
                 "--at: the trace has nothing of cycle %llu; it has cycles from %llu to %llu",
                 (unsigned long long)at, (unsigned long long)from, (unsigned long long)to);
        return false;
    }
    if (!find_core(state, launch, at, (u32)slot, &core))
        return false;
    if (!chain_warp(trace, launch, (u32)core, (u32)slot, at, &warp)) {
        const char *cores = cores_text(state, launch);
        complain(state->command,
                 "no warp is known in slot %llu of core %llu at cycle %llu; the trace has cores %s",
                 (unsigned long long)slot, (unsigned long long)core, (unsigned long long)at,
                 *cores ? cores : "none");
        return false;
    }
    chain_wait(trace, &warp, at, wait);
    if (!wait->stall)
        complain(state->command,
                 "what this warp did at cycle %llu is not recorded: its first event "
                 "is later",
                 (unsigned long long)at);
    return wait->stall;
}

static int explain(struct why_command *state)
{
    struct wait wait;
    struct chain chain;
    if (!option_value(state->line, "--at") || !option_value(state->line, "--warp"))
        return usage_error(state->command,
                           "expected both --at CYCLE and --warp W, or neither for a "
                           "list of the longest waits");
    if (!find_wait(state, &wait))
        return EXIT_USAGE;
    chain_explain(&chain, state->arena, &state->trace, &wait);
    if (option_value(state->line, "--json"))
        print_chain(&wait, &chain);
    else
        print_text(state, &wait, &chain);
    chain_free(&chain);
    return EXIT_DONE;
}

static int run_why(const struct command *command, const struct command_line *line)
{
    struct why_command state = {.command = command, .line = line, .arena = arena_create()};
    struct error error = {0};
    char text[2400];
    int code = EXIT_USAGE;
    if (!option_word(line, 0))
        code = usage_error(command, "expected one trace of events, which 'heddle run --trace "
                                    "FILE.jsonl' writes");
    else if (!events_read(&state.trace, state.arena, state.path = option_word(line, 0), &error))
        complain(command, "%s", error_text(&error, text, sizeof text));
    else if (option_value(line, "--at") || option_value(line, "--warp") ||
             option_value(line, "--core"))
        code = explain(&state);
    else
        code = list_waits(&state);
    events_free(&state.trace);
    arena_destroy(state.arena);
    return code;
}

static const struct option why_options[] = {
    {"--at", "CYCLE", "A core cycle, counted from the start of the first launch.", 0, 0},
    {"--warp", "W", "The warp's slot on its core.", 0, 0},
    {"--core", "C", "The core. Not needed if only one has a warp in this slot.", 0, 0},
    {"--json", NULL, "Print the chain as JSON.", 0, 0},
    {0},
};

static const struct example why_examples[] = {
    {"heddle run k.ptx --grid 64 --block 256 --arg zero:64K --machine gtx480 --trace k.jsonl "
     "--trace-window 500:900",
     "Record what happens in 400 cycles:"},
    {"heddle why k.jsonl", "The longest waits in it:"},
    {"heddle why k.jsonl --at 700 --core 0 --warp 3", "Why this warp waits:"},
    {0},
};

const struct command why_command = {
    .name = "why",
    .words = "TRACE.jsonl",
    .summary = "tell why a warp waited, from a trace of events",
    .help =
        "Prints the chain of causes of a warp's wait: the register, the instruction that writes "
        "it, the load/store unit, the cache and its MSHR, the network, the L2, the bank and row "
        "of DRAM; at a barrier, the warps that are late and what they wait for; without room in "
        "a unit, what is before it; without instructions, the miss in the instruction cache.\n"
        "\n"
        "Every link is what the trace has recorded; what it does not have is said. The trace is "
        "that of 'heddle run --trace FILE.jsonl', of the whole run or of a window. Without --at "
        "and --warp, the longest waits are listed.",
    .options = why_options,
    .examples = why_examples,
    .max_words = 1,
    .complete = COMPLETE_FILE,
    .run = run_why,
};
