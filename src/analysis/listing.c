/*
 * program_listing: code as the machine executes it. It shows liveness, so it is here and not in
 * src/ir.
 */
#include "analysis/lifetimes.h"
#include "analysis/liveness.h"
#include "analysis/redundancy.h"
#include "analysis/regions.h"
#include "ir/scalars.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct out {
    char *text;
    size_t used, room;
};

static void put(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct out *out, const char *format, ...)
{
    char line[4096];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    size_t n = length < 0 ? 0 : MIN((size_t)length, sizeof line - 1);
    if (out->used + n + 1 > out->room) {
        out->room = 2 * (out->room + n + 1);
        out->text = checked(realloc(out->text, out->room));
    }
    memcpy(out->text + out->used, line, n + 1);
    out->used += n;
}

/* Appends each line of a text, indented. */
static void put_lines(struct out *out, const char *text)
{
    while (text && *text) {
        size_t length = strcspn(text, "\n");
        put(out, "    %.*s\n", (int)length, text);
        text += length + (text[length] != 0);
    }
}

static void put_header(struct out *out, const struct program *p, const struct function *f)
{
    put(out, "%s %s: %u instructions, %u registers, ", f->is_kernel ? "kernel" : "function",
        f->name, f->end - f->first, f->registers);
    if (p->traits.explicit_exec)
        put(out, "%u scalars", f->scalars);
    else
        put(out, "%u masks", f->masks);
    put(out, ", %u live words\n", f->max_live);
    put(out, "    frame %u bytes", f->frame_bytes);
    if (f->spill_bytes)
        put(out, " (%u spilled)", f->spill_bytes);
    if (f->is_kernel)
        put(out, ", shared %u bytes, parameters %u bytes", f->total_shared_bytes, f->param_bytes);
    else
        put(out, ", shared %u bytes", f->shared_bytes);
    put(out, "\n");
    put_lines(out, f->explanation);
    for (u32 i = 0; i < f->param_count && !f->explanation; i++) {
        const struct parameter *param = &f->params[i];
        put(out, "    param %4u  .%s %s", param->offset, type_name(param->type), param->name);
        if (param->is_array)
            put(out, "[%u bytes]", param->size);
        put(out, "\n");
    }
    for (u32 i = 0; i < f->unsupported_count; i++)
        put(out, "    unsupported: %s: %s\n", p->unsupported[f->unsupported[i]].place,
            p->unsupported[f->unsupported[i]].text);
}

static void put_block(struct out *out, const struct program *p, const struct function *f, u32 b)
{
    const struct block *block = &p->blocks[b];
    const struct inst *last = &p->insts[block->end - 1];
    put(out, "  block %u", b - f->first_block);
    const char *word = " ->";
    if (last->op == OP_brx) {
        const struct jump_table *table = &p->tables[last->imm];
        for (u32 i = 0; i < table->count; i++, word = ",")
            put(out, "%s %u", word, p->block_of[table->targets[i]] - f->first_block);
    }
    for (u32 i = 0; i < 2; i++) {
        if (block->successors[i] == NO_BLOCK)
            continue;
        put(out, "%s %u", word, block->successors[i] - f->first_block);
        word = ",";
    }
    bool divergent = last->op == OP_brx ||
                     (op_info[last->op].flags & OPF_BRANCH && last->guard.kind != OPERAND_NONE);
    if (divergent && block->reconverge == NO_INST)
        put(out, "; reconverges at the exit");
    else if (divergent)
        put(out, "; reconverges at 0x%x", (u32)program_offset(p, block->reconverge));
    if (last->op == OP_jump || last->op == OP_join)
        put(out, "; and where its address leads");
    put(out, "\n");
}

/* Appends the instruction words as in memory: "be8703ff 00001234". */
static void put_bytes(struct out *out, const struct program *p, u32 i)
{
    u32 words[2] = {0};
    if (!p->load || !p->sizes || p->offsets[i] + (u64)p->sizes[i] > p->load_bytes)
        return;
    memcpy(words, p->load + p->offsets[i], MIN(p->sizes[i], sizeof words));
    if (p->sizes[i] > 4)
        put(out, "%08x %08x  ", words[0], words[1]);
    else if (p->sizes[i])
        put(out, "%08x%11s", words[0], "");
    else
        put(out, "%19s", "");
}

/* Appends the address of a branch's target if the text has only a distance. */
static void put_target(struct out *out, const struct program *p, const struct code *code, u32 i)
{
    u32 target = code_target(code, &p->insts[i]);
    if (p->texts && target != NO_INST)
        put(out, "  -> 0x%x", (u32)program_offset(p, target + code->base));
}

static int by_number(const void *a, const void *b)
{
    u32 x = *(const u32 *)a, y = *(const u32 *)b;
    return x < y ? -1 : x > y;
}

/* "R3", "P0", "s5" */
static void put_name(struct out *out, const struct program *p, const struct code *code, u32 at)
{
    const struct register_names *names = p->traits.names;
    bool vector = at < code->vectors;
    u32 number = vector ? at : at - code->vectors;
    if (names && !vector)
        put(out, "%s", names->scalar(number));
    else
        put(out, "%s%u",
            names                 ? names->vector
            : vector              ? "R"
            : code->explicit_exec ? "S"
                                  : "P",
            number);
}

/* Whether a range may continue from location `at` to the next: special registers, which have names
 * of their own, are listed one by one. */
static bool is_run(const struct code *code, u32 at)
{
    if (at + 1 < code->vectors || !code->explicit_exec)
        return at + 1 != code->vectors;
    return at >= code->vectors && at + 1 < code->vectors + SCALAR_GENERAL_END;
}

/* " ; 5 live: R0-R3 R6 P0" */
static void put_live(struct out *out, const struct program *p, const struct code *code,
                     const u32 *items, u32 count)
{
    u32 *sorted = malloc((count + 1) * sizeof *sorted);
    if (count)
        memcpy(sorted, items, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_number);
    put(out, "  ; %u live:", count);
    for (u32 i = 0, end; i < count; i = end) {
        for (end = i + 1;
             end < count && sorted[end] == sorted[end - 1] + 1 && is_run(code, sorted[end - 1]);)
            end++;
        put(out, " ");
        put_name(out, p, code, sorted[i]);
        if (end - i > 1) {
            put(out, "-");
            put_name(out, p, code, sorted[end - 1]);
        }
    }
    free(sorted);
}

static void put_source(struct out *out, const struct program *p, u32 i)
{
    const struct location *location = &p->locations[p->insts[i].location];
    if (!p->insts[i].location)
        return;
    if (location->line)
        put(out, "  ; %s:%u", location->file ? location->file : "?", location->line);
    else
        put(out, "  ; %s:%u", p->file, location->text_line);
}

/* The live sets before each instruction of a block: for each, its size and its locations. */
struct lists {
    VEC(u32) items;
    u32 *start; /* by instruction of the block: index of its set in `items` */
};

static void block_lists(struct lists *lists, const struct code *code, const struct cfg *cfg,
                        const struct liveness *live, struct live_set *set, u32 b)
{
    lists->items.count = 0;
    const struct cfg_block *block = &cfg->blocks[b];
    live_set_at_end(set, live, b);
    for (u32 i = block->end; i-- > block->first;) {
        struct refs refs;
        inst_refs(code, &code->insts[i], &refs);
        live_set_step(set, &refs);
        lists->start[i - block->first] = lists->items.count;
        *(u32 *)vec_push(&lists->items) = set->count;
        for (u32 k = 0; k < set->count; k++)
            *(u32 *)vec_push(&lists->items) = set->items[k];
    }
}

/* block_lists() for explicit EXEC; scalars follow the vector registers. */
static void lane_lists(struct lists *lists, const struct code *code, const struct cfg *cfg,
                       const struct lane_liveness *liveness, u32 b)
{
    lists->items.count = 0;
    const struct cfg_block *block = &cfg->blocks[b];
    struct lane_live live = liveness->out[b];
    for (u32 i = block->end; i-- > block->first;) {
        lane_live_step(liveness, i, &live);
        u32 start = lists->items.count;
        lists->start[i - block->first] = start;
        vec_push(&lists->items);
        for (u32 k = 0; k < code->vectors; k++)
            if (lane_live_vector(&live, k))
                *(u32 *)vec_push(&lists->items) = k;
        for (u32 k = 0; k < SCALAR_COUNT; k++)
            if (lane_live_scalar(&live, k))
                *(u32 *)vec_push(&lists->items) = code->vectors + k;
        lists->items.data[start] = lists->items.count - start - 1;
    }
}

/* "    marks: 3 DR, 5 CR, 0 CY, 9 V; 8 of 17 hold in blocks of 16,16,1" */
static void put_mark_counts(struct out *out, const struct function *f, const u8 *marks,
                            const struct listing_options *options)
{
    u32 counts[REDUNDANT + 1] = {0}, holding = 0;
    for (u32 i = f->first; i < f->end; i++) {
        counts[marks[i]]++;
        holding += options->block &&
                   redundancy_holds((enum redundancy)marks[i], options->block, options->warp_size);
    }
    put(out, "    marks:");
    for (u32 mark = REDUNDANT + 1; mark-- > 0;)
        put(out, " %u %s%s", counts[mark], redundancy_name((enum redundancy)mark), mark ? "," : "");
    if (options->block)
        put(out, "; %u of %u (*) hold in blocks of %u,%u,%u", holding, f->end - f->first,
            options->block[0], options->block[1], options->block[2]);
    put(out, "\n");
}

static void put_mark(struct out *out, enum redundancy mark, const struct listing_options *options)
{
    bool holds = options->block && redundancy_holds(mark, options->block, options->warp_size);
    put(out, "  %-2s%s", redundancy_name(mark), !options->block ? "" : holds ? "*" : " ");
}

/* "    lifetimes: 9 definitions, 5 short-lived (at most 10 instructions), ..." */
static void put_life_counts(struct out *out, const struct program *p, const struct code *code,
                            const struct lifetimes *lifetimes, u32 limit)
{
    const struct life_counts n = lifetimes_count(lifetimes, code, limit);
    put(out,
        "    lifetimes: %u definitions, %u short-lived (at most %u instructions; %u never read), "
        "%u "
        "long-lived (%u without bound)\n",
        n.definitions, n.short_lived, limit, n.unread, n.definitions - n.short_lived, n.unbounded);
    put(out,
        "    registers: %u short-lived, %u long-lived, which hold %u of the short-lived values\n",
        n.short_registers, n.registers - n.short_registers, n.mixed);
    const char *word = "    at the entry:";
    for (u32 r = 0; r < lifetimes->registers; r++) {
        if (!lifetimes->entry[r])
            continue;
        put(out, "%s ", word);
        put_name(out, p, code, r);
        if (lifetimes->entry[r] == LIFE_UNBOUNDED)
            put(out, " inf");
        else
            put(out, " %u", lifetimes->entry[r]);
        word = ",";
    }
    put(out, "%s", *word == ',' ? "\n" : "");
}

/* The longest lifetime of an instruction's results, and its kind: "    3 S", "  inf L", "    4 SL";
 * blanks if it has none in vector registers. */
static void put_life(struct out *out, const struct code *code, const struct lifetimes *lifetimes,
                     u32 at, u32 limit)
{
    const struct inst *inst = &code->insts[at];
    u32 life = 0;
    bool any = false, mixed = false;
    for (u32 k = 0; k < ARRAY_LEN(inst->dst); k++) {
        any |= inst->dst[k].kind == OPERAND_VECTOR;
        life = MAX(life, lifetimes->life[at][k]);
        mixed |= lifetimes_is_mixed(lifetimes, code, at, k, limit);
    }
    const char *kind = life > limit ? "L " : mixed ? "SL" : "S ";
    if (!any)
        put(out, "%9s", "");
    else if (life == LIFE_UNBOUNDED)
        put(out, "  %4s %s", "inf", kind);
    else
        put(out, "  %4u %s", life, kind);
}

/* "    regions: 7 cuts (entry 1, register 2, ...), 31 instructions in 8 regions as they stand" */
static void put_region_counts(struct out *out, const struct function *f,
                              const struct regions *regions)
{
    const u32 count = f->end - f->first, cuts = count - regions->counts[REGION_NONE];
    put(out, "    regions: %u, of %.1f instructions on average; begun by", cuts,
        (f64)count / MAX(cuts, 1));
    for (u32 k = REGION_ENTRY; k < REGION_CUTS; k++)
        put(out, "%s %s %u", k > REGION_ENTRY ? "," : "", region_cut_name((enum region_cut)k),
            regions->counts[k]);
    put(out, "\n");
}

/* What a listing shows beside its options; at most one of them. */
struct extra {
    u32 life_limit; /* how long values live; 0: it does not */
    bool regions;
};

static void put_function(struct out *out, const struct program *p, const struct function *f,
                         const struct listing_options *options, const struct extra *extra)
{
    const u32 life_limit = extra->life_limit;
    put_header(out, p, f);
    struct arena *arena = arena_create();
    const u8 *marks = options->marks ? redundancy_marks(arena, p, f) : NULL;
    if (marks)
        put_mark_counts(out, f, marks, options);
    struct code code = code_of(p, f);
    const struct lifetimes *lifetimes = life_limit ? lifetimes_of(arena, p, f) : NULL;
    if (lifetimes)
        put_life_counts(out, p, &code, lifetimes, life_limit);
    const struct regions *regions = extra->regions ? regions_of(arena, p, f) : NULL;
    if (regions)
        put_region_counts(out, f, regions);
    struct cfg *cfg = options->live ? cfg_build(arena, &code) : NULL;
    struct liveness *live = NULL;
    struct lane_liveness *lanes = NULL;
    if (options->live && code.explicit_exec)
        lanes =
            lane_liveness_compute(arena, &code, cfg, exec_flow_compute(arena, &code, cfg, f->open));
    else if (options->live)
        live = liveness_compute(arena, &code, cfg);
    struct live_set set = live_set_create(code.vectors + code.masks);
    struct lists lists = {.start = calloc(code.count + 1, sizeof(u32))};
    for (u32 b = f->first_block; b < f->block_end; b++) {
        const struct block *block = &p->blocks[b];
        put_block(out, p, f, b);
        if (lanes)
            lane_lists(&lists, &code, cfg, lanes, b - f->first_block);
        else if (options->live)
            block_lists(&lists, &code, cfg, live, &set, b - f->first_block);
        for (u32 i = block->first; i < block->end; i++) {
            char text[1024];
            if (marks)
                put_mark(out, (enum redundancy)marks[i], options);
            if (lifetimes)
                put_life(out, &code, lifetimes, i - f->first, life_limit);
            if (regions)
                put(out, "  %-8s", region_cut_name((enum region_cut)regions->cut[i - f->first]));
            put(out, "%s%06x  ", marks || lifetimes || regions ? " " : "    ",
                (u32)program_offset(p, i));
            put_bytes(out, p, i);
            put(out, "%s", inst_text(p, i, text, sizeof text));
            put_target(out, p, &code, i);
            if (options->live) {
                assert(lists.items.data); /* every instruction's list has at least its length */
                const u32 *list = lists.items.data + lists.start[i - block->first];
                put_live(out, p, &code, list + 1, list[0]);
            }
            if (options->source)
                put_source(out, p, i);
            put(out, "\n");
        }
    }
    put(out, "\n");
    free(lists.start);
    vec_free(&lists.items);
    live_set_free(&set);
    arena_destroy(arena);
}

static bool wanted(const struct program *p, u32 f, const char *kernel)
{
    if (!kernel || !strcmp(p->functions[f].name, kernel))
        return true;
    for (u32 k = 0; k < p->function_count; k++) {
        const struct function *root = &p->functions[k];
        if (!root->is_kernel || strcmp(root->name, kernel) != 0)
            continue;
        for (u32 i = 0; i < root->reachable_count; i++)
            if (root->reachable[i] == f)
                return true;
    }
    return false;
}

static char *list(const struct program *program, const struct listing_options *options,
                  const struct extra *extra)
{
    struct out out = {0};
    put(&out, "%s", "");
    for (u32 f = 0; f < program->function_count; f++) {
        const struct function *function = &program->functions[f];
        if (!wanted(program, f, options->kernel))
            continue;
        if (function->first == function->end)
            put(&out, "function %s: declared only\n\n", function->name);
        else
            put_function(&out, program, function, options, extra);
    }
    return out.text;
}

char *program_listing(const struct program *program, const struct listing_options *options)
{
    return list(program, options, &(struct extra){0});
}

char *lifetimes_listing(const struct program *program, const char *kernel, u32 limit)
{
    const struct listing_options options = {.kernel = kernel, .source = true};
    return list(program, &options, &(struct extra){.life_limit = limit});
}

char *regions_listing(const struct program *program, const char *kernel)
{
    const struct listing_options options = {.kernel = kernel, .source = true};
    return list(program, &options, &(struct extra){.regions = true});
}
