/* Time: in total, by kernel, by launch and by what issue slots were used for. */
#include "compare/runs.h"

#include "base/text.h"

static void total_row(struct run_comparison *c, struct compare_section *section, const char *name,
                      enum quantity quantity, f64 (*number_of_run)(const struct compare_run *))
{
    struct compare_row *row = section_row(c, section, name, quantity);
    for (u32 r = 0; r < c->count; r++)
        if (c->runs[r]->timed)
            row_number(row, r, number_of_run(c->runs[r]));
}

static f64 seconds_of(const struct compare_run *run)
{
    return run->seconds;
}

static f64 cycles_of(const struct compare_run *run)
{
    return run->cycles;
}

static void count_row(struct run_comparison *c, struct compare_section *section, const char *name,
                      const char *key)
{
    struct compare_row *row = section_row(c, section, name, QUANTITY_COUNT);
    f64 number;
    for (u32 r = 0; r < c->count; r++)
        if (number_of(json_object_get(c->runs[r]->totals, key), &number))
            row_number(row, r, number);
}

static void ratio_row(struct run_comparison *c, struct compare_section *section, const char *name,
                      const char *num, const char *den, enum quantity quantity)
{
    struct compare_row *row = section_row(c, section, name, quantity);
    f64 ratio;
    for (u32 r = 0; r < c->count; r++)
        if (ratio_in(c->runs[r]->totals, num, den, &ratio))
            row_number(row, r, ratio);
}

void compare_time(struct run_comparison *c)
{
    struct compare_section *section = section_add(c, "time", "Time and work", "");
    section->whole = true;
    total_row(c, section, "simulated time", QUANTITY_SECONDS, seconds_of);
    total_row(c, section, "core cycles", QUANTITY_CYCLES, cycles_of);
    struct compare_row *row = section_row(c, section, "launches", QUANTITY_COUNT);
    for (u32 r = 0; r < c->count; r++)
        if (json_object_get(c->runs[r]->document, "launches"))
            row_number(row, r, (f64)c->runs[r]->launches);
    count_row(c, section, "warp instructions", "exec.warp_instructions");
    count_row(c, section, "thread instructions", "exec.thread_instructions");
    ratio_row(c, section, "warp instructions per cycle", "timing.warp_instructions",
              "timing.cycles", QUANTITY_NUMBER);
    ratio_row(c, section, "active lanes per instruction", "exec.thread_instructions",
              "exec.warp_instructions", QUANTITY_NUMBER);
    ratio_row(c, section, "occupancy", "timing.warp_cycles", "timing.warp_slots", QUANTITY_SHARE);
}

/* ---- kernels ---- */

void each_kernel(struct run_comparison *c, struct compare_section *section,
                 void (*visit)(struct run_comparison *c, struct compare_section *section,
                               const char *name))
{
    for (u32 r = 0; r < c->count; r++)
        for (u32 i = 0; i < c->runs[r]->kernels.count; i++) {
            const char *name = c->runs[r]->kernels.data[i].name;
            bool seen = false;
            for (u32 k = 0; k < r; k++)
                seen |= kernel_in(c->runs[k], name) != NULL;
            if (!seen)
                visit(c, section, name);
        }
}

static void kernel_row(struct run_comparison *c, struct compare_section *section, const char *name)
{
    const enum quantity quantity = time_quantity(c);
    struct compare_row *row = section_row(c, section, name, quantity);
    const struct kernel_use *uses[2] = {kernel_in(c->runs[0], name), NULL};
    bool counts = false;
    for (u32 r = 0; r < c->count; r++) {
        const struct kernel_use *use = kernel_in(c->runs[r], name);
        counts |= use && use->launches > 1;
    }
    for (u32 r = 0; r < c->count; r++) {
        const struct kernel_use *use = kernel_in(c->runs[r], name);
        if (!use || !use->timed)
            continue;
        row_number(row, r, quantity == QUANTITY_CYCLES ? use->cycles : use->seconds);
        if (counts)
            row->values[r].text =
                arena_printf(c->arena, "%llu launch%s", (unsigned long long)use->launches,
                             use->launches > 1 ? "es" : "");
    }
    const u32 far = row_farthest(c, row);
    uses[1] = kernel_in(c->runs[far], name);
    if (uses[0] && uses[1])
        row->detail = main_reason(c, &uses[0]->slots, &uses[1]->slots, far);
    row->weight = row_spread(c, row);
}

void compare_kernels(struct run_comparison *c)
{
    struct compare_section *section =
        section_add(c, "kernels", "Kernels, by their part in the difference", "kernel");
    each_kernel(c, section, kernel_row);
    section_sort(section, 0);
}

/* ---- launches ---- */

/* The launch of a kernel with a number, counted from 0; NULL: not recorded one by one. */
static const json_t *launch_in(const struct compare_run *run, const char *kernel, u64 number)
{
    size_t i;
    json_t *launch;
    json_array_foreach(json_object_get(run->document, "launches"), i,
                       launch) if (!strcmp(string_in(launch, "kernel"), kernel) &&
                                   number-- == 0) return launch;
    return NULL;
}

static void launch_row(struct run_comparison *c, struct compare_section *section,
                       const char *kernel, u64 number)
{
    const bool cycles = time_quantity(c) == QUANTITY_CYCLES;
    struct compare_row *row = section_row(
        c, section,
        arena_printf(c->arena, "%s, launch %llu of it", kernel, (unsigned long long)number + 1),
        time_quantity(c));
    for (u32 r = 0; r < c->count; r++) {
        const json_t *launch = launch_in(c->runs[r], kernel, number);
        if (json_is_number(json_object_get(launch, "seconds")))
            row_number(row, r, number_in(launch, cycles ? "cycles" : "seconds"));
    }
    row->weight = row_spread(c, row);
}

void compare_launches(struct run_comparison *c)
{
    enum {
        MOST = 500 /* of one kernel: finding them takes quadratic time */
    };
    struct compare_section *section =
        section_add(c, "launches", "Launches of kernels that ran more than once", "launch");
    for (u32 i = 0; i < c->runs[0]->kernels.count; i++) {
        const struct kernel_use *kernel = &c->runs[0]->kernels.data[i];
        for (u64 n = 0; kernel->launches > 1 && n < MIN(kernel->launches, MOST); n++)
            launch_row(c, section, kernel->name, n);
        if (kernel->launches > MOST)
            section_note(c, section, "of %s, the first %d of %llu launches", kernel->name, MOST,
                         (unsigned long long)kernel->launches);
    }
    section_sort(section, 0);
}

/* ---- issue slots ---- */

static void slot_row(struct run_comparison *c, struct compare_section *section, const char *name)
{
    const bool issued = !strcmp(name, "issued");
    struct compare_row *row =
        section_row(c, section, issued ? "issued" : arena_printf(c->arena, "lost to %s", name),
                    time_quantity(c));
    for (u32 r = 0; r < c->count; r++) {
        const struct compare_run *run = c->runs[r];
        const f64 slots = slots_named(&run->slots, name);
        if (!run->timed || run->slots.total == 0)
            continue;
        row_number(row, r, slot_time(c, run, slots));
        row->values[r].text = arena_printf(c->arena, "%.1f %%", 100 * slots / run->slots.total);
    }
    row->weight = row_spread(c, row);
}

void compare_slots(struct run_comparison *c)
{
    struct compare_section *section =
        section_add(c, "slots", "Issue slots: the time that each use of them took", "issue slots");
    section->stacked = true;
    for (u32 r = 0; r < c->count; r++)
        for (u32 i = 0; i < c->runs[r]->slots.count; i++) {
            bool seen = false;
            for (u32 k = 0; k < r; k++)
                for (u32 j = 0; j < c->runs[k]->slots.count; j++)
                    seen |= !strcmp(c->runs[k]->slots.names[j], c->runs[r]->slots.names[i]);
            if (!seen)
                slot_row(c, section, c->runs[r]->slots.names[i]);
        }
    section_sort(section, 0);
}
