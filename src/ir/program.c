/*
 * Programs: destruction, look-up, and what a kernel can reach.
 */
#include "ir/program.h"

#include <stdio.h>
#include <stdlib.h>

void program_destroy(struct program *program)
{
    if (program)
        arena_destroy(program->arena); /* the program itself lives in it */
}

u32 program_inst_at(const struct program *program, u64 offset)
{
    if (!program->offsets) {
        u64 inst = offset / program->traits.inst_bytes;
        bool exact = offset % program->traits.inst_bytes == 0;
        return exact && inst < program->inst_count ? (u32)inst : NO_INST;
    }
    const u32 count = program_code_count(program);
    u32 low = 0, high = count;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (program->offsets[middle] < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && program->offsets[low] == offset ? low : NO_INST;
}

const struct function *program_function_at(const struct program *program, u32 inst)
{
    for (u32 f = 0; f < program->function_count; f++)
        if (inst >= program->functions[f].first && inst < program->functions[f].end)
            return &program->functions[f];
    return NULL;
}

/* State of the call graph walk from one kernel. */
struct reach {
    struct program *program;
    u32 *list; /* functions found */
    u32 count;
    u8 *state;    /* by function: 0 new, 1 on the current chain, 2 done */
    u64 *deepest; /* by function: bytes of the deepest chain of frames from it */
    bool recursive, indirect;
};

struct call_step {
    u32 function;
    u32 next; /* next callee: direct ones, then all functions whose address is taken */
    u64 deepest;
};

/* The n-th function `f` may call, or UINT32_MAX when there are no more. */
static u32 callee(const struct reach *r, const struct function *f, u32 *next)
{
    while (*next < f->callee_count)
        return f->callees[(*next)++];
    while (f->calls_indirectly && *next - f->callee_count < r->program->function_count) {
        u32 index = (*next)++ - f->callee_count;
        if (r->program->functions[index].address_taken && !r->program->functions[index].is_kernel)
            return index;
    }
    return UINT32_MAX;
}

/* Walks depth first with an explicit stack: guests may nest functions deeply. */
static void walk(struct reach *r, u32 kernel, struct call_step *stack)
{
    u32 depth = 0;
    stack[depth++] = (struct call_step){kernel, 0, 0};
    r->state[kernel] = 1;
    r->list[r->count++] = kernel;
    while (depth) {
        struct call_step *top = &stack[depth - 1];
        const struct function *f = &r->program->functions[top->function];
        r->indirect |= f->calls_indirectly;
        u32 next = callee(r, f, &top->next);
        if (next == UINT32_MAX) {
            r->state[top->function] = 2;
            r->deepest[top->function] = f->frame_bytes + top->deepest;
            depth--;
            if (depth)
                stack[depth - 1].deepest = MAX(stack[depth - 1].deepest, r->deepest[top->function]);
            continue;
        }
        if (r->state[next] == 0) {
            r->state[next] = 1;
            r->list[r->count++] = next;
            stack[depth++] = (struct call_step){next, 0, 0};
        } else if (r->state[next] == 1) {
            r->recursive = true;
        } else {
            top->deepest = MAX(top->deepest, r->deepest[next]);
        }
    }
}

static void close_kernel(struct program *program, u32 kernel)
{
    u32 n = program->function_count;
    struct reach r = {.program = program};
    r.list = calloc(n + 1, sizeof *r.list);
    r.state = calloc(n + 1, 1);
    r.deepest = calloc(n + 1, sizeof *r.deepest);
    struct call_step *stack = calloc(n + 1, sizeof *stack);
    walk(&r, kernel, stack);
    struct function *f = &program->functions[kernel];
    f->reachable = arena_array(program->arena, u32, r.count);
    memcpy(f->reachable, r.list, r.count * sizeof(u32));
    f->reachable_count = r.count;
    f->recursive = r.recursive || r.indirect;
    f->total_frame_bytes = r.deepest[kernel];
    f->total_registers = f->total_masks = f->total_shared_bytes = 0;
    for (u32 i = 0; i < r.count; i++) {
        const struct function *other = &program->functions[r.list[i]];
        f->total_registers = MAX(f->total_registers, other->registers);
        f->total_masks = MAX(f->total_masks, other->masks);
        f->total_shared_bytes = MAX(f->total_shared_bytes, other->shared_bytes);
    }
    free(r.list);
    free(r.state);
    free(r.deepest);
    free(stack);
}

void program_close(struct program *program)
{
    for (u32 f = 0; f < program->function_count; f++)
        if (program->functions[f].is_kernel)
            close_kernel(program, f);
}

/* ---- spare instructions ---- */

/* An array with room for more; `count` of its elements exist. */
static void *widen(struct program *program, const void *from, u32 count, u32 more, size_t size)
{
    void *to = arena_alloc(program->arena, ((size_t)count + more) * size);
    if (count)
        memcpy(to, from, count * size);
    return to;
}

#define WIDEN(member, count, more) \
    program->member = widen(program, program->member, count, more, sizeof *program->member)

/* Each is a block of its own: it may become a branch. */
static void add_spare(struct program *program, u32 i, u32 block, const struct inst *inst)
{
    program->insts[i] = *inst;
    program->offsets[i] = (u32)program->load_bytes;
    program->texts[i] = "; not an instruction of the code";
    program->block_of[i] = block;
    program->blocks[block] = (struct block){.first = i,
                                            .end = i + 1,
                                            .reconverge = NO_INST,
                                            .successors = {NO_BLOCK, NO_BLOCK},
                                            .ipdom = NO_BLOCK,
                                            .idom = NO_BLOCK,
                                            .unguarded = 1};
}

void program_reserve(struct program *program, u32 pairs)
{
    const u32 first = program->inst_count, spare = 1 + 2 * pairs;
    const u32 block = program->block_count;
    WIDEN(insts, first, spare);
    WIDEN(offsets, first, spare);
    WIDEN(sizes, first, spare);
    WIDEN(texts, first, spare);
    WIDEN(block_of, first, spare);
    WIDEN(blocks, block, spare);
    WIDEN(constants, program->constant_count, SPARE_CONSTANTS * pairs);
    WIDEN(functions, program->function_count, 1);
    const struct inst trap = {.op = OP_strap, .imm = -1, .vector = 1};
    const struct inst nothing = {.op = OP_nop, .vector = 1};
    for (u32 i = 0; i < spare; i++)
        add_spare(program, first + i, block + i, i ? &nothing : &trap);
    program->functions[program->function_count++] = (struct function){.name = "(changed words)",
                                                                      .first = first,
                                                                      .end = first + spare,
                                                                      .first_block = block,
                                                                      .block_end = block + spare};
    program->inst_count += spare;
    program->block_count += spare;
    program->constant_count += SPARE_CONSTANTS * pairs;
    program->spare = spare;
}

bool program_place(const struct program *program, u32 inst, char text[PLACE_TEXT])
{
    const struct location *location = &program->locations[program->insts[inst].location];
    if (!program->insts[inst].location)
        return false;
    snprintf(text, PLACE_TEXT, "%s:%u",
             location->line && location->file ? location->file : program->file,
             location->line ? location->line : location->text_line);
    return true;
}
