/*
 * Source lines and instructions of the costliest functions, with what each cost in each run.
 *
 * The lines of a function's main source file are listed in order, also those between that cost
 * nothing, if they are few. Code that was inlined from other files has a row for each of their lines.
 * Instructions to which the compiler gave no line have one row together; their place in a profile is
 * then in the compiled module. Runs are matched by function
 * and line, instructions by address and text.
 */
#include "report/page.h"
#include "report/source.h"

#include "base/text.h"
#include "lab/page.h"

enum {
    FUNCTIONS = 12, /* of a page */
    GAP = 6         /* largest run of lines without cost that is listed between others */
};

/* What a line or an instruction cost in a run. */
struct row_cost {
    f64 issued, threads, pj, ace;
    struct slot_use lost;
};

struct listed_row {
    const char *key;       /* a place, or an address and text */
    const char *text;      /* of an instruction */
    const char *line;      /* of an instruction: the key of its line */
    struct row_cost *uses; /* by run */
};

struct listed_rows {
    VEC(struct listed_row) list;
    json_t *index; /* position by key */
};

struct listed_function {
    const char *name, *module;
    f64 slots; /* of all runs */
    const json_t *instructions[REPORT_RUNS];
};

struct listing {
    struct page *page;
    const struct listed_function *function;
    char *file; /* main source file, or NULL */
    struct listed_rows lines, instructions;
    f64 slots[REPORT_RUNS]; /* of the function */
    f64 ace;                /* 0: not analysed */
};

static const char no_line[] = "no line";

/* ---- functions ---- */

static f64 instruction_slots(const json_t *inst)
{
    const char *reason;
    json_t *value;
    f64 slots = number_in(inst, "issued"), lost;
    json_object_foreach(json_object_get(inst, "stalls"), reason, value)
    {
        if (number_of(value, &lost))
            slots += lost;
    }
    return slots;
}

struct listed_functions {
    VEC(struct listed_function) list;
};

static struct listed_function *function_of(struct listed_functions *all, const char *name,
                                           const char *module)
{
    for (u32 i = 0; i < all->list.count; i++)
        if (!strcmp(all->list.data[i].name, name) && !strcmp(all->list.data[i].module, module))
            return &all->list.data[i];
    struct listed_function *function = vec_push(&all->list);
    function->name = name;
    function->module = module;
    return function;
}

/* Only the profile of an OpenCL program's first device is shown if a function was on several. */
static void collect(const struct page *page, struct listed_functions *all)
{
    for (u32 r = 0; r < page->count; r++) {
        size_t f, i;
        json_t *one, *inst;
        json_array_foreach(json_object_get(page->runs[r].run->document, "profile"), f, one)
        {
            const json_t *insts = json_object_get(one, "instructions");
            struct listed_function *function =
                function_of(all, string_in(one, "function"), string_in(one, "module"));
            if (function->instructions[r])
                continue;
            function->instructions[r] = insts;
            json_array_foreach((json_t *)insts, i, inst) function->slots += instruction_slots(inst);
        }
    }
    for (u32 i = 1; i < all->list.count; i++)
        for (u32 k = i; k && all->list.data[k - 1].slots < all->list.data[k].slots; k--) {
            const struct listed_function other = all->list.data[k];
            all->list.data[k] = all->list.data[k - 1];
            all->list.data[k - 1] = other;
        }
}

/* ---- rows ---- */

static struct listed_row *row_of(struct page *page, struct listed_rows *rows, const char *key)
{
    const json_t *at = json_object_get(rows->index, key);
    if (at)
        return &rows->list.data[json_integer_value(at)];
    if (json_object_set_new(rows->index, key, json_integer(rows->list.count)) != 0)
        host_memory_exhausted();
    struct listed_row *row = vec_push(&rows->list);
    row->key = key;
    row->uses = arena_array(page->arena, struct row_cost, page->count);
    return row;
}

static const struct listed_row *row_named(const struct listed_rows *rows, const char *key)
{
    const json_t *at = json_object_get(rows->index, key);
    return at ? &rows->list.data[json_integer_value(at)] : NULL;
}

static void add_use(struct row_cost *use, const json_t *inst)
{
    const char *reason;
    json_t *value;
    f64 slots;
    use->issued += number_in(inst, "issued");
    use->threads += number_in(inst, "threads");
    use->pj += number_in(inst, "energy_pj");
    use->ace += number_in(inst, "ace_bit_cycles");
    json_object_foreach(json_object_get(inst, "stalls"), reason, value)
    {
        if (number_of(value, &slots))
            slots_add(&use->lost, reason, slots);
    }
}

/* The row of lines that an instruction belongs to. */
static const char *line_of(const struct listing *listing, const json_t *inst)
{
    const char *module = listing->function->module;
    u32 line;
    const bool in_module = place_in(inst, module, &line);
    if (in_module && listing->file && strcmp(listing->file, module) != 0)
        return no_line;
    const char *place = string_in(inst, "place");
    return text_printable(listing->page->arena, *place ? place : no_line);
}

static void add_instruction(struct listing *listing, u32 run, const json_t *inst)
{
    struct page *page = listing->page;
    const char *line = line_of(listing, inst);
    const char *text = text_printable(page->arena, string_in(inst, "text"));
    const char *key =
        arena_printf(page->arena, "0x%llx %s", (unsigned long long)number_in(inst, "pc"), text);
    add_use(&row_of(page, &listing->lines, line)->uses[run], inst);
    struct listed_row *row = row_of(page, &listing->instructions, key);
    row->line = line;
    row->text = text;
    add_use(&row->uses[run], inst);
    listing->slots[run] += instruction_slots(inst);
    listing->ace += number_in(inst, "ace_bit_cycles");
}

static f64 slots_of(const struct row_cost *use)
{
    return use->issued + use->lost.total;
}

/* ---- cells ---- */

static void number_cell(const struct page *page, const char *metric, u32 run,
                        enum quantity quantity, f64 number)
{
    const struct compare_value value = {true, number, NULL};
    fprintf(page->to, "<td data-m=\"%s\" data-r=\"%u\" data-v=\"%.17g\">", metric, run, number);
    page_element(page->to, "", value_text(page->arena, quantity, &value), "</td>");
}

/* "memory 120, raw 4": the reasons with most slots. */
static const char *reasons_text(const struct page *page, const struct slot_use *lost)
{
    const char *text = "";
    u32 taken = 0;
    for (u32 n = 0; n < 2; n++) {
        u32 best = lost->count;
        for (u32 i = 0; i < lost->count; i++)
            if (!(taken >> i & 1) && lost->slots[i] > 0 &&
                (best == lost->count || lost->slots[i] > lost->slots[best]))
                best = i;
        if (best == lost->count)
            break;
        taken |= 1u << best;
        text = arena_printf(page->arena, "%s%s%s %.0f", text, *text ? ", " : "", lost->names[best],
                            lost->slots[best]);
    }
    return text;
}

static void use_cells(const struct listing *listing, const struct row_cost *use, u32 run)
{
    const struct page *page = listing->page;
    if (!use || slots_of(use) <= 0) {
        fprintf(page->to, "<td class=\"none\" colspan=\"%u\"></td>", 5 + (listing->ace > 0));
        return;
    }
    number_cell(page, "share", run, QUANTITY_SHARE, slots_of(use) / listing->slots[run]);
    number_cell(page, "issued", run, QUANTITY_COUNT, use->issued);
    number_cell(page, "lanes", run, QUANTITY_NUMBER, use->issued ? use->threads / use->issued : 0);
    number_cell(page, "energy", run, QUANTITY_PJ, use->pj);
    if (listing->ace > 0)
        number_cell(page, "ace", run, QUANTITY_SHARE, use->ace / listing->ace);
    number_cell(page, "lost", run, QUANTITY_COUNT, use->lost.total);
}

static void print_row(const struct listing *listing, const char *class,
                      const struct listed_row *row, const char *label, const char *where,
                      const char *text)
{
    const struct page *page = listing->page;
    fprintf(page->to, "<tr class=\"%s\"", class);
    page_element(page->to, " data-line=\"", where, "\">");
    for (u32 r = 0; r < page->count; r++)
        use_cells(listing, row ? &row->uses[r] : NULL, r);
    for (u32 r = 0; r < page->count; r++)
        page_element(page->to, "<td class=\"text\">",
                     row ? reasons_text(page, &row->uses[r].lost) : "", "</td>");
    page_element(page->to, "<td class=\"line\">", label, "</td>");
    page_element(page->to, "<td class=\"code\"><code>", text, "</code></td></tr>\n");
}

static void print_head(const struct listing *listing, const char *class, const char *where,
                       const char *what)
{
    const struct page *page = listing->page;
    fprintf(page->to, "<div class=\"scroll\"><table class=\"%s\">\n<tr class=\"head\">", class);
    for (u32 r = 0; r < page->count; r++) {
        static const char *const names[] = {"slots", "issued", "lanes", "energy", "ACE", "lost"};
        for (u32 i = 0; i < ARRAY_LEN(names); i++)
            if (strcmp(names[i], "ACE") != 0 || listing->ace > 0)
                page_element(page->to, "<th scope=\"col\">", page_label(page, names[i], r),
                             "</th>");
    }
    for (u32 r = 0; r < page->count; r++)
        page_element(page->to, "<th scope=\"col\" class=\"text\">", page_label(page, "lost to", r),
                     "</th>");
    page_element(page->to, "<th scope=\"col\">", where, "</th>");
    page_element(page->to, "<th scope=\"col\" class=\"text\">", what, "</th></tr>\n");
}

/* ---- lines ---- */

static void print_source_lines(const struct listing *listing, const char *file,
                               const struct source *source)
{
    struct page *page = listing->page;
    const char *const shown = text_printable(page->arena, file);
    u32 empty = GAP + 1; /* no lines before the first */
    for (u32 line = 1; line <= source->count; line++) {
        const char *key = arena_printf(page->arena, "%s:%u", shown, line);
        const struct listed_row *row = row_named(&listing->lines, key);
        if (!row) {
            empty++;
            continue;
        }
        for (u32 k = line - (empty <= GAP ? empty : 0); k < line; k++)
            print_row(listing, "empty", NULL, arena_printf(page->arena, "%u", k), "",
                      text_printable_lines(page->arena, source->lines[k - 1]));
        empty = 0;
        print_row(listing, "cost", row, arena_printf(page->arena, "%u", line), key,
                  text_printable_lines(page->arena, source->lines[line - 1]));
    }
}

/* Rows of places that are not lines of the main file. */
static void print_other_lines(const struct listing *listing, const char *file,
                              const struct source *source)
{
    struct page *page = listing->page;
    const char *shown = file ? text_printable(page->arena, file) : "";
    for (u32 i = 0; i < listing->lines.list.count; i++) {
        const struct listed_row *row = &listing->lines.list.data[i];
        const size_t length = strlen(shown);
        const bool ours = file && !strncmp(row->key, shown, length) && row->key[length] == ':';
        const u64 line = ours ? strtoul(row->key + length + 1, NULL, 10) : 0;
        if (source && line && line <= source->count)
            continue;
        print_row(listing, "cost", row, row->key, row->key,
                  strcmp(row->key, no_line) ? "" : "code that the compiler gave no line");
    }
}

/* The first run that has the function. */
static u32 first_run(const struct page *page, const struct listed_function *function)
{
    u32 run = 0;
    while (run < page->count && !function->instructions[run])
        run++;
    return run;
}

static void print_lines(const struct listing *listing)
{
    const struct page *page = listing->page;
    const struct listed_function *function = listing->function;
    const char *file = listing->file;
    struct source source = {0};
    const bool found = file && source_read(&source, file, function->module,
                                           page->runs[first_run(page, function)].sources);
    print_head(listing, "listing lines", "line", file ? text_printable(page->arena, file) : "");
    if (found)
        print_source_lines(listing, file, &source);
    print_other_lines(listing, file, found ? &source : NULL);
    fputs("</table></div>\n", page->to);
    if (found)
        source_free(&source);
}

static void print_instructions(const struct listing *listing)
{
    const struct page *page = listing->page;
    fputs("<details class=\"instructions\"><summary>Instructions</summary>\n", page->to);
    print_head(listing, "listing code", "line", "instruction");
    for (u32 i = 0; i < listing->instructions.list.count; i++) {
        const struct listed_row *row = &listing->instructions.list.data[i];
        print_row(listing, "cost", row, row->line, row->line, row->key);
    }
    fputs("</table></div></details>\n", page->to);
}

static void print_function(struct page *page, const struct listed_function *function)
{
    struct listing listing = {.page = page, .function = function};
    listing.lines.index = json_object();
    listing.instructions.index = json_object();
    const u32 first = first_run(page, function);
    listing.file = place_main_file(function->instructions[first]);
    for (u32 r = 0; r < page->count; r++) {
        size_t i;
        json_t *inst;
        json_array_foreach((json_t *)function->instructions[r], i, inst)
            add_instruction(&listing, r, inst);
    }
    fputs("<figure data-kind=\"listing\">\n", page->to);
    page_element(page->to, "<h3>", text_printable(page->arena, function->name), "</h3>\n");
    print_lines(&listing);
    print_instructions(&listing);
    fputs("</figure>\n", page->to);
    json_decref(listing.lines.index);
    json_decref(listing.instructions.index);
    vec_free(&listing.lines.list);
    vec_free(&listing.instructions.list);
    free(listing.file);
}

void page_listings(struct page *page)
{
    struct listed_functions all = {0};
    collect(page, &all);
    if (all.list.count)
        fputs("<section id=\"source\">\n<h2>Source lines and instructions</h2>\n"
              "<p class=\"quiet\">Issue slots used and lost at each line, as a share of the "
              "function's. A lost slot is charged to the instruction that could not issue. A click "
              "on a line shows its instructions.</p>\n",
              page->to);
    for (u32 i = 0; i < MIN(all.list.count, FUNCTIONS); i++)
        print_function(page, &all.list.data[i]);
    if (all.list.count)
        fputs("</section>\n", page->to);
    vec_free(&all.list);
}
