/* Values and their changes as text, and times. */
#include "compare/runs.h"

#include "base/quantity.h"
#include <math.h>

static const char *number_text(struct arena *arena, enum quantity quantity, f64 number)
{
    char text[48] = "";
    if (number < 0) /* in a document that Heddle did not write */
        return arena_printf(arena, "-%s", number_text(arena, quantity, -number));
    if (number >= (f64)INT64_MAX)
        return arena_printf(arena, "%.4g", number);
    switch (quantity) {
    case QUANTITY_CYCLES: /* parts of a cycle: slots are divided by their number in a cycle */
        if (number < 10 && number != floor(number))
            return arena_printf(arena, "%.1f", number);
        return count_text(arena, (u64)llround(number));
    case QUANTITY_COUNT:
        return count_text(arena, (u64)llround(number));
    case QUANTITY_SECONDS:
        return arena_strdup(arena, time_text(number, text, sizeof text));
    case QUANTITY_PJ:
        return number > 0 ? arena_strdup(arena, energy_text(number, text, sizeof text)) : "0 pJ";
    case QUANTITY_BYTES:
        return arena_strdup(arena, bytes_text(number, text, sizeof text));
    case QUANTITY_SHARE:
        return arena_printf(arena, "%.1f %%", 100 * number);
    case QUANTITY_NUMBER:
    case QUANTITY_TEXT:
        break;
    }
    return arena_printf(arena, "%.4g", number);
}

const char *value_text(struct arena *arena, enum quantity quantity,
                       const struct compare_value *value)
{
    if (!value->given)
        return "-";
    if (quantity == QUANTITY_TEXT)
        return value->text;
    const char *text = number_text(arena, quantity, value->number);
    return value->text ? arena_printf(arena, "%s (%s)", text, value->text) : text;
}

const char *change_from(struct arena *arena, enum quantity quantity,
                        const struct compare_value *from, const struct compare_value *to)
{
    if (quantity == QUANTITY_TEXT || !from->given || !to->given)
        return "";
    const f64 change = to->number - from->number;
    if (change == 0)
        return "=";
    if (quantity == QUANTITY_SHARE)
        return arena_printf(arena, "%+.1f points", 100 * change);
    const char *size = number_text(arena, quantity, fabs(change));
    const char *sign = change > 0 ? "+" : "-";
    if (from->number == 0)
        return arena_printf(arena, "%s%s", sign, size);
    const f64 percent = 100 * change / fabs(from->number);
    if (quantity == QUANTITY_NUMBER)
        return arena_printf(arena, "%+.1f %%", percent);
    return arena_printf(arena, "%s%s (%+.1f %%)", sign, size, percent);
}

/* ---- times ---- */

enum quantity time_quantity(const struct run_comparison *c)
{
    const struct compare_run *first = NULL;
    for (u32 r = 0; r < c->count; r++) {
        const struct compare_run *run = c->runs[r];
        if (!run->timed)
            continue;
        if (!first)
            first = run;
        /* times are whole picoseconds: two runs on one clock differ by rounding only */
        const f64 expected = first->seconds / first->cycles * run->cycles;
        const f64 rounding = 2e-12 * (1 + run->cycles / first->cycles);
        if (fabs(expected - run->seconds) > rounding)
            return QUANTITY_SECONDS;
    }
    return QUANTITY_CYCLES;
}

f64 run_time(const struct run_comparison *c, const struct compare_run *run)
{
    return time_quantity(c) == QUANTITY_CYCLES ? run->cycles : run->seconds;
}

f64 slot_time(const struct run_comparison *c, const struct compare_run *run, f64 slots)
{
    return run->slots.total > 0 ? run_time(c, run) * slots / run->slots.total : 0;
}

u32 largest_change(const struct run_comparison *c, const struct slot_use *from,
                   const struct slot_use *to, u32 r, f64 sign, u32 taken, f64 *change)
{
    u32 best = MAX_REASONS;
    *change = 0;
    for (u32 i = 0; i < to->count; i++) {
        const f64 one = slot_time(c, c->runs[r], to->slots[i]) -
                        slot_time(c, c->runs[0], slots_named(from, to->names[i]));
        if (taken >> i & 1 || one * sign <= *change * sign)
            continue;
        best = i;
        *change = one;
    }
    return best;
}

const char *main_reason(const struct run_comparison *c, const struct slot_use *from,
                        const struct slot_use *to, u32 r)
{
    const f64 whole = slot_time(c, c->runs[r], to->total) - slot_time(c, c->runs[0], from->total);
    f64 change;
    const u32 at = largest_change(c, from, to, r, whole < 0 ? -1 : 1, 0, &change);
    if (at == MAX_REASONS)
        return "";
    const enum quantity quantity = time_quantity(c);
    const f64 before = slot_time(c, c->runs[0], slots_named(from, to->names[at]));
    return arena_printf(c->arena, "%s %s -> %s", to->names[at],
                        number_text(c->arena, quantity, before),
                        number_text(c->arena, quantity, before + change));
}
