/* Blocks and edges. See cfg.h. */
#include "analysis/cfg.h"
#include <stdlib.h>

static bool ends_block(const struct inst *inst)
{
    return op_info[inst->op].flags & OPF_BRANCH;
}

static u32 target_of(const struct code *code, i64 target)
{
    assert(target >= code->base && target < (i64)code->base + code->count);
    return (u32)(target - code->base);
}

u32 code_target(const struct code *code, const struct inst *inst)
{
    bool fixed = inst->op == OP_bra || inst->op == OP_bra_if ||
                 (inst->op == OP_fork && inst->src[1].kind == OPERAND_NONE);
    return fixed ? target_of(code, inst->imm) : NO_INST;
}

static void mark_leaders(const struct code *code, u8 *leader)
{
    leader[0] = 1;
    for (u32 i = 0; i < code->count; i++) {
        const struct inst *inst = &code->insts[i];
        if (!ends_block(inst))
            continue;
        if (i + 1 < code->count)
            leader[i + 1] = 1;
        u32 target = code_target(code, inst);
        if (target != NO_INST)
            leader[target] = 1;
        if (inst->op == OP_brx) {
            const struct jump_table *table = &code->tables[inst->imm];
            for (u32 k = 0; k < table->count; k++)
                leader[target_of(code, table->targets[k])] = 1;
        }
    }
}

/* Adds an edge unless `seen` says that this block has it already. */
static void add_edge(struct cfg_block *block, u32 from, u32 to, u32 *seen)
{
    if (seen[to] == from + 1)
        return;
    seen[to] = from + 1;
    block->successors[block->successor_count++] = to;
}

static void add_successors(struct arena *arena, const struct code *code, struct cfg *cfg, u32 b,
                           u32 *seen)
{
    struct cfg_block *block = &cfg->blocks[b];
    const struct inst *last = &code->insts[block->end - 1];
    u32 room = 2;
    if (last->op == OP_brx)
        room += code->tables[last->imm].count;
    block->successors = arena_array(arena, u32, room);
    u32 target = code_target(code, last);
    if (target != NO_INST)
        add_edge(block, b, cfg->block_of[target], seen);
    if (last->op == OP_brx) {
        const struct jump_table *table = &code->tables[last->imm];
        for (u32 k = 0; k < table->count; k++)
            add_edge(block, b, cfg->block_of[target_of(code, table->targets[k])], seen);
    }
    switch (last->op) {
    case OP_ret:
    case OP_exit:
    case OP_trap:
    case OP_end:
    case OP_strap:
    case OP_jump:
    case OP_join:
        block->exits = true;
        break;
    default:
        break;
    }
    if (!inst_falls_through(last))
        return;
    if (b + 1 < cfg->count)
        add_edge(block, b, b + 1, seen);
    else
        block->exits = true;
}

static void add_predecessors(struct arena *arena, struct cfg *cfg)
{
    for (u32 b = 0; b < cfg->count; b++)
        for (u32 k = 0; k < cfg->blocks[b].successor_count; k++)
            cfg->blocks[cfg->blocks[b].successors[k]].predecessor_count++;
    for (u32 b = 0; b < cfg->count; b++) {
        struct cfg_block *block = &cfg->blocks[b];
        block->predecessors = arena_array(arena, u32, block->predecessor_count + 1);
        block->predecessor_count = 0;
    }
    for (u32 b = 0; b < cfg->count; b++) {
        for (u32 k = 0; k < cfg->blocks[b].successor_count; k++) {
            struct cfg_block *to = &cfg->blocks[cfg->blocks[b].successors[k]];
            to->predecessors[to->predecessor_count++] = b;
        }
    }
}

struct cfg *cfg_build(struct arena *arena, const struct code *code)
{
    assert(code->count);
    struct cfg *cfg = arena_new(arena, struct cfg);
    u8 *leader = calloc(code->count, 1);
    mark_leaders(code, leader);
    for (u32 i = 0; i < code->count; i++)
        cfg->count += leader[i];
    cfg->blocks = arena_array(arena, struct cfg_block, cfg->count);
    cfg->block_of = arena_array(arena, u32, code->count);
    u32 b = 0;
    for (u32 i = 0; i < code->count; i++) {
        if (leader[i] && i) {
            cfg->blocks[b].end = i;
            cfg->blocks[++b].first = i;
        }
        cfg->block_of[i] = b;
    }
    cfg->blocks[b].end = code->count;
    free(leader);
    u32 *seen = calloc(cfg->count, sizeof *seen);
    for (u32 k = 0; k < cfg->count; k++)
        add_successors(arena, code, cfg, k, seen);
    free(seen);
    add_predecessors(arena, cfg);
    cfg_dominators(cfg, arena);
    return cfg;
}
