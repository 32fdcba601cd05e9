/*
 * Lowers runs of machine code to functions, and functions to a program.
 *
 *  W1  A function's instructions are those decoded in sequence from its first word.
 *  W2  Addresses are the object's; offsets in the program are addresses - low.
 */
#include "isa/si/lower.h"
#include "analysis/lane_liveness.h"
#include "base/text.h"
#include "ir/scalars.h"
#include "isa/si/si_program.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    INSTS_MAX = 1 << 26,
    WARNINGS_MAX = 64,
    NOT_CODE = 1, /* key of OP_unsupported: words that are not an instruction */
};

struct lowering *lowering_begin(const char *file, struct error *error)
{
    struct lowering *l = checked(calloc(1, sizeof *l));
    l->arena = arena_create();
    l->program = arena_new(l->arena, struct program);
    l->program->arena = l->arena;
    l->program->file = text_printable(l->arena, file);
    l->error = error;
    *(u32 *)vec_push(&l->constants) = 0; /* P3 */
    *(u32 *)vec_push(&l->constants) = UINT32_MAX;
    vec_push(&l->locations); /* [0] is unknown */
    return l;
}

void lowering_free(struct lowering *l)
{
    if (!l)
        return;
    program_destroy(l->program);
    free(l->pool);
    vec_free(&l->insts);
    vec_free(&l->offsets);
    vec_free(&l->sizes);
    vec_free(&l->texts);
    vec_free(&l->constants);
    vec_free(&l->unsupported);
    vec_free(&l->locations);
    vec_free(&l->blocks);
    vec_free(&l->warnings);
    vec_free(&l->function_unsupported);
    free(l);
}

void lowering_warn(struct lowering *l, const char *format, ...)
{
    char text[512];
    va_list args;
    if (l->warnings.count >= WARNINGS_MAX)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    *(const char **)vec_push(&l->warnings) = arena_strdup(l->arena, text);
}

/* Source line of an address, as an index into the locations. */
static u32 location_of(struct lowering *l, u64 address)
{
    const char *file;
    u32 line;
    if (!l->object || !codeobject_line(l->object, address, &file, &line))
        return 0;
    const struct location *last = &l->locations.data[l->locations.count - 1];
    if (l->locations.count == 1 || last->line != line || last->file != file)
        *(struct location *)vec_push(&l->locations) = (struct location){file, line, 0};
    return l->locations.count - 1;
}

/* Makes an instruction that cannot be executed: its place and text are reported before a run. */
static void put_unsupported(struct lowering *l, struct inst *out, u64 address, const char *text)
{
    const struct location *where = &l->locations.data[out->location];
    struct unsupported *entry = vec_push(&l->unsupported);
    u32 location = out->location;
    entry->place =
        location ? arena_printf(l->arena, "%s+0x%" PRIx64 " (%s:%u)", l->program->file,
                                address - l->low, where->file, where->line)
                 : arena_printf(l->arena, "%s+0x%" PRIx64, l->program->file, address - l->low);
    entry->text = text;
    *(u32 *)vec_push(&l->function_unsupported) = l->unsupported.count - 1;
    *out = (struct inst){
        .op = OP_unsupported, .imm = l->unsupported.count - 1, .vector = 1, .location = location};
}

static void add(struct lowering *l, const struct inst *inst, u64 address, u8 size, const char *text)
{
    *(struct inst *)vec_push(&l->insts) = *inst;
    *(u32 *)vec_push(&l->offsets) = (u32)(address - l->low);
    *(u8 *)vec_push(&l->sizes) = size;
    *(const char **)vec_push(&l->texts) = text;
}

/* Adds a word of raw code that is not an instruction: data, unless control reaches it. */
static void put_data(struct lowering *l, u32 word, u64 address, const char *why)
{
    const char *text = arena_printf(l->arena, ".long 0x%08x", word);
    struct inst out = {0};
    put_unsupported(l, &out, address, arena_strdup(l->arena, why));
    out.key = NOT_CODE;
    add(l, &out, address, 4, text);
}

/* Whether the words are the padding that linkers and compilers use. */
static bool is_padding(const u32 *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (words[i] != 0 && words[i] != 0xbf800000 /* s_nop 0 */ &&
            words[i] != 0xbf9f0000 /* s_code_end */)
            return false;
    return true;
}

/* The index from which on all words are padding. */
static size_t padding_start(const u32 *words, size_t count)
{
    while (count && is_padding(words + count - 1, 1))
        count--;
    return count;
}

/* A combined error for words that are not instructions: one line each, for the first ones. */
struct unknown {
    struct error *error;
    const char *file;
    u32 count;
};

static void tell(struct unknown *u, const char *what)
{
    enum {
        TOLD = 16
    };
    char *message = u->error->message;
    size_t used = strlen(message), size = sizeof u->error->message;
    if (!u->count++)
        error_set(u->error, ERROR_INPUT, u->file, "%s", what);
    else if (u->count <= TOLD)
        snprintf(message + used, size - used, "\n%.60s: %.100s", u->file, what);
    else if (u->count == TOLD + 1)
        snprintf(message + used, size - used, "\nand more");
}

static bool tell_unknown(struct lowering *l, const u32 *words, size_t count, size_t at, u64 address)
{
    struct unknown unknown = {l->error, l->program->file, 0};
    while (at < count) {
        struct si_inst in;
        struct error one = {0};
        if (si_decode(words + at, count - at, address + 4 * at, &in, &one)) {
            at += in.size / 4;
            continue;
        }
        at++;
        tell(&unknown, one.message);
    }
    return false;
}

static bool has_target(const struct inst *inst)
{
    return inst->op == OP_bra || inst->op == OP_bra_if ||
           (inst->op == OP_fork && inst->src[1].kind == OPERAND_NONE);
}

/*
 * Decodes words in sequence. Raw code may have data after an instruction that does not fall
 * through: there, a two-word instruction whose second word is a branch target is taken as data.
 */
static bool decode_words(struct lowering *l, const u32 *words, size_t count, u64 address,
                         bool *targets)
{
    size_t padding = padding_start(words, count);
    bool falls = true, doubtful = false;
    for (size_t at = 0; at < count;) {
        struct si_inst in;
        struct inst out;
        char text[SI_TEXT];
        u64 here = address + 4 * at;
        if (at >= padding && !falls)
            return true;
        doubtful = (doubtful || !falls) && !targets[at] && !l->object;
        bool decoded = si_decode(words + at, count - at, here, &in, l->error);
        if (!decoded || (doubtful && in.size == 8 && targets[at + 1])) {
            if (at >= padding)
                break; /* the code runs off its end into padding */
            if (l->object)
                return tell_unknown(l, words, padding, at, address);
            put_data(l, words[at], here,
                     decoded ? "its second word is another instruction" : l->error->message);
            falls = true;
            at++;
            continue;
        }
        const char *copy = arena_strdup(l->arena, si_text(&in, text, sizeof text));
        const char *why = lower_inst(l, &in, &out);
        out.location = location_of(l, here);
        if (why)
            put_unsupported(l, &out, here, arena_printf(l->arena, "%s (%s)", copy, why));
        else if (has_target(&out) && (u64)out.imm - address < 4 * count)
            targets[((u64)out.imm - address) / 4] = true;
        add(l, &out, here, in.size, copy);
        if (l->insts.count > INSTS_MAX)
            return error_set(l->error, ERROR_INPUT, l->program->file, "the program is too large");
        falls = inst_falls_through(&out);
        at += in.size / 4;
    }
    l->error->code = ERROR_NONE;
    return true;
}

static bool decode_all(struct lowering *l, const u32 *words, size_t count, u64 address)
{
    bool *targets = checked(calloc(count + 1, sizeof *targets));
    bool ok = decode_words(l, words, count, address, targets);
    free(targets);
    return ok;
}

static u32 find_inst(const struct lowering *l, u32 first, u64 offset)
{
    u32 low = first, high = l->insts.count;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (l->offsets.data[middle] < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < l->insts.count && l->offsets.data[low] == offset ? low : NO_INST;
}

/* A branch of raw code to a place without an instruction: also data, unless control reaches it. */
static void put_stray(struct lowering *l, u32 i, u64 target)
{
    struct inst *inst = &l->insts.data[i];
    u64 address = l->offsets.data[i] + l->low;
    put_unsupported(l, inst, address,
                    arena_printf(l->arena,
                                 "at 0x%" PRIx64 ": %s: its target 0x%" PRIx64
                                 " is not an instruction",
                                 address, l->texts.data[i], target));
    inst->key = NOT_CODE;
}

/*
 * Turns branch addresses into instruction indices of the function. Raw code may hold data that look
 * like a branch to nowhere.
 */
static bool resolve_targets(struct lowering *l, const struct function *f)
{
    for (u32 i = f->first; i < l->insts.count; i++) {
        struct inst *inst = &l->insts.data[i];
        if (!has_target(inst))
            continue;
        u64 target = (u64)inst->imm;
        u32 to = find_inst(l, f->first, target - l->low);
        if (to == NO_INST && l->object)
            return error_set(l->error, ERROR_INPUT, l->program->file,
                             "at 0x%" PRIx64 ": %s: its target 0x%" PRIx64
                             " is not an instruction of %s",
                             l->offsets.data[i] + l->low, l->texts.data[i], target, f->name);
        if (to == NO_INST)
            put_stray(l, i, target);
        else
            inst->imm = to;
    }
    return true;
}

bool lower_function(struct lowering *l, struct function *function, u64 address, u64 bytes)
{
    const u8 *data = l->program->load + (address - l->low);
    size_t count = bytes / 4;
    u32 *words = checked(malloc(bytes + 4));
    if (count)
        memcpy(words, data, 4 * count);
    l->function_unsupported.count = 0;
    l->registers = l->scalars = 0;
    function->first = l->insts.count;
    bool ok = decode_all(l, words, count, address);
    free(words);
    if (!ok)
        return false;
    if (l->insts.count > function->first &&
        inst_falls_through(&l->insts.data[l->insts.count - 1])) {
        /* its offset is not that of an instruction, so no jump finds it */
        u32 last = l->insts.count - 1;
        u64 end = l->low + l->offsets.data[last] + l->sizes.data[last];
        add(l, &(struct inst){.op = OP_strap, .imm = SI_RAN_OFF, .vector = 1}, end - 1, 0,
            "; the code ends here");
    }
    function->end = l->insts.count;
    if (!resolve_targets(l, function))
        return false;
    function->unsupported_count = l->function_unsupported.count;
    function->unsupported = arena_array(l->arena, u32, function->unsupported_count + 1);
    if (function->unsupported_count)
        memcpy(function->unsupported, l->function_unsupported.data,
               function->unsupported_count * sizeof(u32));
    return true;
}

static void add_block(struct lowering *l, const struct cfg *cfg, const struct code *code, u32 b,
                      u32 block_base)
{
    const struct cfg_block *from = &cfg->blocks[b];
    const struct inst *last = &code->insts[from->end - 1];
    u32 target = code_target(code, last);
    struct block *to = vec_push(&l->blocks);
    to->first = from->first + code->base;
    to->end = from->end + code->base;
    to->ipdom = from->ipdom == NO_BLOCK ? NO_BLOCK : from->ipdom + block_base;
    to->idom = from->idom == NO_BLOCK ? NO_BLOCK : from->idom + block_base;
    to->reconverge =
        from->ipdom == NO_BLOCK ? NO_INST : cfg->blocks[from->ipdom].first + code->base;
    to->successors[0] = target == NO_INST ? NO_BLOCK : cfg->block_of[target] + block_base;
    to->successors[1] =
        inst_falls_through(last) && b + 1 < cfg->count ? b + 1 + block_base : NO_BLOCK;
    to->unguarded = to->end - to->first;
}

/* The maximum number of live vector registers. */
static u32 max_live(struct arena *arena, const struct code *code, const struct cfg *cfg, bool open)
{
    struct lane_liveness *liveness =
        lane_liveness_compute(arena, code, cfg, exec_flow_compute(arena, code, cfg, open));
    u32 most = 0;
    for (u32 b = 0; b < cfg->count; b++) {
        struct lane_live live = liveness->out[b];
        for (u32 i = cfg->blocks[b].end; i-- > cfg->blocks[b].first;) {
            lane_live_step(liveness, i, &live);
            most = MAX(most, lane_live_vectors(&live));
        }
    }
    return most;
}

/* Finds the blocks reachable from a block, without computed jumps. */
static void reach(const struct cfg *cfg, u32 b, bool *reached, u32 *stack)
{
    u32 depth = 0;
    reached[b] = true;
    stack[depth++] = b;
    while (depth) {
        const struct cfg_block *block = &cfg->blocks[stack[--depth]];
        for (u32 k = 0; k < block->successor_count; k++)
            if (!reached[block->successors[k]]) {
                reached[block->successors[k]] = true;
                stack[depth++] = block->successors[k];
            }
    }
}

/*
 * A function lists only reachable unsupported instructions: other words may be data. Those reached
 * by a computed jump are found at run time. Reachable words that are not instructions are errors.
 */
static bool keep_reached(const struct lowering *l, struct function *f, const struct code *code,
                         const struct cfg *cfg, struct arena *arena)
{
    struct unknown unknown = {l->error, l->program->file, 0};
    bool *reached = arena_array(arena, bool, cfg->count);
    reach(cfg, 0, reached, arena_array(arena, u32, cfg->count));
    u32 kept = 0;
    for (u32 i = f->first; i < f->end; i++) {
        const struct inst *inst = &l->program->insts[i];
        if (inst->op != OP_unsupported || !reached[cfg->block_of[i - code->base]])
            continue;
        if (inst->key == NOT_CODE)
            tell(&unknown, l->program->unsupported[inst->imm].text);
        f->unsupported[kept++] = (u32)inst->imm;
    }
    f->unsupported_count = kept;
    return !unknown.count;
}

static bool make_blocks(struct lowering *l, struct function *f)
{
    struct arena *arena = arena_create();
    struct code code = code_of(l->program, f);
    struct cfg *cfg = cfg_build(arena, &code);
    f->first_block = l->blocks.count;
    for (u32 b = 0; b < cfg->count; b++)
        add_block(l, cfg, &code, b, f->first_block);
    f->block_end = l->blocks.count;
    f->max_live = max_live(arena, &code, cfg, f->open);
    bool ok = keep_reached(l, f, &code, cfg, arena);
    arena_destroy(arena);
    return ok;
}

/* Blocks of all functions; kernels with the same code share them. */
static bool make_all_blocks(struct lowering *l)
{
    struct function *functions = l->program->functions;
    for (u32 f = 0; f < l->program->function_count; f++) {
        struct function *function = &functions[f];
        const struct function *before = &functions[f ? f - 1 : 0];
        if (f && before->first == function->first && before->end == function->end) {
            function->first_block = before->first_block;
            function->block_end = before->block_end;
            function->max_live = before->max_live;
            function->unsupported_count = before->unsupported_count;
            function->unsupported = before->unsupported;
        } else if (function->first < function->end && !make_blocks(l, function)) {
            return false;
        }
    }
    return true;
}

#define TAKE(to, number, vec, type)                              \
    do {                                                         \
        to = arena_array(program->arena, type, (vec).count + 1); \
        if ((vec).count)                                         \
            memcpy(to, (vec).data, (vec).count * sizeof(type));  \
        number = (vec).count;                                    \
    } while (0)

struct program *lowering_finish(struct lowering *l)
{
    struct program *program = l->program;
    u32 ignored;
    TAKE(program->insts, program->inst_count, l->insts, struct inst);
    TAKE(program->offsets, ignored, l->offsets, u32);
    TAKE(program->sizes, ignored, l->sizes, u8);
    TAKE(program->texts, ignored, l->texts, const char *);
    TAKE(program->constants, program->constant_count, l->constants, u32);
    TAKE(program->locations, program->location_count, l->locations, struct location);
    TAKE(program->unsupported, program->unsupported_count, l->unsupported, struct unsupported);
    TAKE(program->warnings, program->warning_count, l->warnings, const char *);
    lower_calls(program);
    bool ok = make_all_blocks(l);
    TAKE(program->blocks, program->block_count, l->blocks, struct block);
    (void)ignored;
    program->block_of = arena_array(program->arena, u32, program->inst_count + 1);
    for (u32 b = 0; b < program->block_count; b++)
        for (u32 i = program->blocks[b].first; i < program->blocks[b].end; i++)
            program->block_of[i] = b;
    program_close(program);
    program->redecode = lower_again;
    if (ok)
        l->program = NULL;
    lowering_free(l);
    return ok ? program : NULL;
}

/* ---- one instruction ---- */

bool lower_again(const u32 words[2], u64 offset, struct redecoded *out, struct error *error)
{
    struct si_inst in;
    *out = (struct redecoded){0};
    if (!si_decode(words, 2, offset, &in, error))
        return false;
    struct lowering *l = lowering_begin("", error);
    const u32 shared = l->constants.count; /* the same in all programs: P3 of program.h */
    const char *why = lower_inst(l, &in, &out->inst);
    out->size = in.size;
    for (unsigned k = 0; !why && k < ARRAY_LEN(out->inst.src); k++) {
        struct operand *o = &out->inst.src[k];
        if (o->kind != OPERAND_CONST || o->index < shared)
            continue;
        o->index = (u16)(o->index - shared);
        out->own |= 1u << k;
    }
    assert(l->constants.count - shared <= SPARE_CONSTANTS);
    if (l->constants.count > shared)
        memcpy(out->constants, l->constants.data + shared,
               (l->constants.count - shared) * sizeof(u32));
    out->branches = !why && has_target(&out->inst);
    out->target = out->branches ? (u64)out->inst.imm : 0;
    lowering_free(l);
    return !why || error_set(error, ERROR_INPUT, "", "%s", why);
}
