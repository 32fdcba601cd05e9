/* Explanations of waiting warps: see waiting.h. */
#include "gpu/observe/waiting.h"

#include "base/text.h"
#include "gpu/device.h"
#include <stdarg.h>
#include <stdio.h>

struct bounded_text {
    char *to;
    size_t used, size;
};

static void say(struct bounded_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say(struct bounded_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->to + text->used, text->size - text->used, format, arguments);
    va_end(arguments);
    text->used = MIN(text->used + (size_t)MAX(length, 0), text->size - 1);
}

/* "0x48 'ld.global.u32 R5, [R2]' (k.ptx:12)" */
static void say_inst(struct bounded_text *text, const struct waiting_names *names, u32 inst)
{
    char code[256], place[PLACE_TEXT];
    say(text, "0x%llx '%s'",
        (unsigned long long)names->code_address + program_offset(names->program, inst),
        inst_text(names->program, inst, code, sizeof code));
    if (program_place(names->program, inst, place))
        say(text, " (%s)", place);
}

static void say_reason(struct bounded_text *text, const struct waiting *waiting)
{
    static const char *const reasons[STALLS] = {
        [STALL_NONE] = "nothing: it could issue",
        [STALL_EMPTY] = "nothing: it has ended",
        [STALL_FETCH] = "instructions to be fetched",
        [STALL_BRANCH] = "a branch to be resolved",
        [STALL_RAW] = "a source",
        [STALL_WAW] = "a destination with a pending write",
        [STALL_MEMORY] = "memory",
        [STALL_WAIT] = "its own instructions in flight",
        [STALL_UNIT] = "a unit",
        [STALL_COLLECTOR] = "an operand collector",
        [STALL_HELD] = "a mechanism that holds it",
    };
    if (waiting->stall == STALL_BARRIER)
        say(text, "barrier %u", waiting->barrier);
    else if (waiting->reg[0])
        say(text, "%s%s", waiting->stall == STALL_WAW ? "the write of " : "", waiting->reg);
    else
        say(text, "%s", waiting->stall < STALLS ? reasons[waiting->stall] : "?");
}

char *waiting_for(const struct waiting *waiting, const struct waiting_names *names, char *to,
                  size_t size)
{
    struct bounded_text text = {to, 0, size};
    say_reason(&text, waiting);
    if (waiting->writer != NO_INST) {
        say(&text, ", written by ");
        say_inst(&text, names, waiting->writer);
    }
    if (waiting->place[0])
        say(&text, "; its request is %s", waiting->place);
    if (waiting->more[0])
        say(&text, "; %s", waiting->more);
    return to;
}

static void block_id(const struct waiting *waiting, const struct waiting_names *names, u64 id[3])
{
    u64 x = MAX(names->grid[0], 1), y = MAX(names->grid[1], 1);
    id[0] = waiting->block % x;
    id[1] = waiting->block / x % y;
    id[2] = waiting->block / x / y;
}

static void say_row(struct bounded_text *text, const struct waiting *row,
                    const struct waiting_names *names)
{
    u64 id[3];
    char what[1024];
    block_id(row, names, id);
    say(text, "\n  block (%llu,%llu,%llu), warp %u on core %u", (unsigned long long)id[0],
        (unsigned long long)id[1], (unsigned long long)id[2], row->warp, row->core);
    if (row->inst != NO_INST) {
        say(text, " at ");
        say_inst(text, names, row->inst);
    }
    say(text, " waits for %s", waiting_for(row, names, what, sizeof what));
}

void waiting_text(const struct waiting_list *list, const struct waiting_names *names, char *to,
                  size_t size)
{
    enum {
        LAST_LINE = 40 /* "\n  and 4294967295 more warps" */
    };
    struct bounded_text text = {to, 0, size};
    say(&text, "deadlock: kernel %s has made no progress for %llu cycles, at cycle %llu;",
        names->kernel, (unsigned long long)list->stuck, (unsigned long long)list->cycle);
    say(&text, " %llu blocks have not completed, %llu of them have not started",
        (unsigned long long)list->undone, (unsigned long long)list->unstarted);
    for (u32 i = 0; i < list->rows.count; i++) {
        size_t before = text.used;
        say_row(&text, &list->rows.data[i], names);
        if (text.used + LAST_LINE < size)
            continue;
        text.used = before; /* no incomplete lines */
        to[before] = '\0';
        say(&text, "\n  and %u more warps", list->rows.count - i);
        return;
    }
}

static json_t *pc_json(const struct waiting_names *names, u32 inst)
{
    if (inst == NO_INST)
        return json_null();
    return stats_number(names->code_address + program_offset(names->program, inst));
}

static json_t *row_json(const struct waiting *row, const struct waiting_names *names)
{
    u64 id[3];
    char what[1024];
    json_t *json = json_object();
    block_id(row, names, id);
    json_object_set_new(json, "core", json_integer(row->core));
    json_object_set_new(
        json, "block", json_pack("[III]", (json_int_t)id[0], (json_int_t)id[1], (json_int_t)id[2]));
    json_object_set_new(json, "warp", json_integer(row->warp));
    json_object_set_new(json, "pc", pc_json(names, row->inst));
    json_object_set_new(json, "line",
                        row->inst == NO_INST ? json_null() : place_json(names->program, row->inst));
    json_object_set_new(json, "reason",
                        json_string(stall_names[row->stall < STALLS ? row->stall : 0]));
    json_object_set_new(json, "register", row->reg[0] ? json_string(row->reg) : json_null());
    json_object_set_new(json, "writer_pc", pc_json(names, row->writer));
    json_object_set_new(json, "barrier",
                        row->stall == STALL_BARRIER ? json_integer(row->barrier) : json_null());
    json_object_set_new(json, "request", row->place[0] ? text_json(row->place) : json_null());
    json_object_set_new(json, "text", text_json(waiting_for(row, names, what, sizeof what)));
    return json;
}

json_t *waiting_json(const struct waiting_list *list, const struct waiting_names *names)
{
    json_t *json = json_object(), *warps = json_array();
    for (u32 i = 0; i < list->rows.count; i++)
        json_array_append_new(warps, row_json(&list->rows.data[i], names));
    json_object_set_new(json, "cycle", stats_number(list->cycle));
    json_object_set_new(json, "stuck_cycles", stats_number(list->stuck));
    json_object_set_new(json, "blocks_undone", stats_number(list->undone));
    json_object_set_new(json, "blocks_unstarted", stats_number(list->unstarted));
    json_object_set_new(json, "warps", warps);
    return json;
}
