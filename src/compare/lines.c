/* Source lines and instructions, from the profiles of the runs. */
#include "compare/runs.h"

#include "base/text.h"

/* A source line of a function, or an instruction whose line is not known. */
struct line_use {
    const char *name;
    struct slot_use slots;
    f64 pj;
};

struct line_list {
    VEC(struct line_use) lines;
    json_t *index; /* position by name */
};

static const struct line_use *line_in(const struct line_list *list, const char *name)
{
    const json_t *at = json_object_get(list->index, name);
    return at ? &list->lines.data[json_integer_value(at)] : NULL;
}

static struct line_use *line_of(struct line_list *list, const char *name)
{
    const json_t *at = json_object_get(list->index, name);
    if (at)
        return &list->lines.data[json_integer_value(at)];
    if (json_object_set_new(list->index, name, json_integer(list->lines.count)) != 0)
        host_memory_exhausted();
    struct line_use *line = vec_push(&list->lines);
    line->name = name;
    return line;
}

static void add_instruction(struct run_comparison *c, struct line_list *list, const char *function,
                            const json_t *inst)
{
    const char *place = string_in(inst, "place"), *reason;
    const char *name =
        *place ? arena_printf(c->arena, "%s in %s", place, function)
               : arena_printf(c->arena, "%s 0x%llx: %s", function,
                              (unsigned long long)number_in(inst, "pc"), string_in(inst, "text"));
    struct line_use *line = line_of(list, text_printable(c->arena, name));
    json_t *slots;
    f64 number;
    slots_add(&line->slots, "issued", number_in(inst, "issued"));
    json_object_foreach(json_object_get(inst, "stalls"), reason,
                        slots) if (number_of(slots, &number))
        slots_add(&line->slots, reason, number);
    line->pj += number_in(inst, "energy_pj");
}

static void read_profile(struct run_comparison *c, const struct compare_run *run,
                         struct line_list *list)
{
    size_t f, i;
    json_t *function, *inst;
    list->index = json_object();
    json_array_foreach(json_object_get(run->document, "profile"), f, function)
    {
        const char *name = string_in(function, "function");
        if (c->options.kernel && regexec(c->options.kernel, name, 0, NULL, 0))
            continue;
        json_array_foreach(json_object_get(function, "instructions"), i, inst)
            add_instruction(c, list, name, inst);
    }
}

static void line_rows(struct run_comparison *c, const struct line_list *lists,
                      struct compare_section *section, bool energy)
{
    for (u32 r = 0; r < c->count; r++)
        for (u32 i = 0; i < lists[r].lines.count; i++) {
            const char *name = lists[r].lines.data[i].name;
            bool seen = false;
            for (u32 k = 0; k < r; k++)
                seen |= line_in(&lists[k], name) != NULL;
            if (seen)
                continue;
            struct compare_row *row =
                section_row(c, section, name, energy ? QUANTITY_PJ : time_quantity(c));
            for (u32 k = 0; k < c->count; k++) {
                const struct line_use *line = line_in(&lists[k], name);
                if (line)
                    row_number(row, k,
                               energy ? line->pj : slot_time(c, c->runs[k], line->slots.total));
            }
            row->weight = row_spread(c, row);
            const u32 far = row_farthest(c, row);
            const struct line_use *from = line_in(&lists[0], name);
            const struct line_use *to = line_in(&lists[far], name);
            if (!energy && from && to)
                row->detail = main_reason(c, &from->slots, &to->slots, far);
        }
    section_sort(section, 0);
}

/* Explains what a reader could take for more than it is. */
static void note_profiles(struct run_comparison *c, struct compare_section *section,
                          const struct line_list *lists)
{
    bool differ = false;
    for (u32 r = 0; r < c->count; r++) {
        static const char *const given[] = {"inputs", "programs"};
        const json_t *first = json_object_get(c->runs[0]->document, "manifest");
        const json_t *manifest = json_object_get(c->runs[r]->document, "manifest");
        for (u32 i = 0; i < ARRAY_LEN(given); i++)
            differ |= !json_equal(json_object_get(first, given[i]),
                                  json_object_get(manifest, given[i])) &&
                      json_object_get(manifest, given[i]);
        if (!lists[r].lines.count && c->runs[r]->timed)
            section_note(c, section, "%s has no profile%s", c->runs[r]->label,
                         c->options.kernel ? " of the selected kernels" : "");
    }
    if (differ && section->rows.count)
        section_note(c, section,
                     "the runs have different input files or kernel sources (above): lines are "
                     "matched by file and number, which may have moved");
}

void compare_lines(struct run_comparison *c)
{
    struct line_list *lists = arena_array(c->arena, struct line_list, c->count);
    for (u32 r = 0; r < c->count; r++)
        read_profile(c, c->runs[r], &lists[r]);
    struct compare_section *section =
        section_add(c, "lines", "Source lines: the time of issue slots used or lost there", "line");
    line_rows(c, lists, section, false);
    note_profiles(c, section, lists);
    section = section_add(c, "line_energy", "Source lines: dynamic energy", "line");
    line_rows(c, lists, section, true);
    for (u32 r = 0; r < c->count; r++) {
        vec_free(&lists[r].lines);
        json_decref(lists[r].index);
    }
}
