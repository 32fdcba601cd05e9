/* Programs by hand: see build.h. */
#include "build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

void build_start(struct build *b)
{
    memset(b, 0, sizeof *b);
    b->constants[1] = 0xffffffff;
    b->constant_count = 2;
    b->functions[0] = (struct function){.name = "kernel", .is_kernel = true};
    b->function_count = 1;
}

u32 build_emit(struct build *b, struct inst inst)
{
    assert_true(b->count < BUILD_MAX);
    b->insts[b->count] = inst;
    b->reconverge[b->count] = NO_INST;
    if (op_info[inst.op].flags & OPF_BRANCH)
        b->leader[b->count + 1] = true;
    return b->count++;
}

struct operand build_constant(struct build *b, u32 value)
{
    b->constants[b->constant_count] = value;
    return operand_make(OPERAND_CONST, b->constant_count++, 1);
}

struct operand build_constant64(struct build *b, u64 value)
{
    struct operand low = build_constant(b, (u32)value);
    build_constant(b, (u32)(value >> 32));
    low.count = 2;
    return low;
}

u32 build_label(struct build *b)
{
    b->leader[b->count] = true;
    return b->count;
}

void build_target(struct build *b, u32 branch, u32 target, u32 reconverge)
{
    b->insts[branch].imm = target;
    b->leader[target] = true;
    b->reconverge[branch] = reconverge;
    if (reconverge != NO_INST)
        b->leader[reconverge] = true;
}

void build_function(struct build *b, const char *name, u32 first)
{
    b->leader[first] = true;
    b->functions[b->function_count - 1].end = first;
    b->functions[b->function_count++] = (struct function){.name = name, .first = first};
}

static void make_blocks(struct build *b, struct program *program)
{
    program->blocks = arena_array(program->arena, struct block, b->count);
    program->block_of = arena_array(program->arena, u32, b->count);
    b->leader[0] = true;
    for (u32 i = 0; i < b->count; i++) {
        if (b->leader[i])
            program->blocks[program->block_count++].first = i;
        struct block *block = &program->blocks[program->block_count - 1];
        block->end = i + 1;
        block->reconverge = b->reconverge[i];
        block->unguarded += b->insts[i].guard.kind == OPERAND_NONE;
        program->block_of[i] = program->block_count - 1;
    }
}

static void defaults(struct launch_params *limits)
{
    struct launch_params d = {
#define PARAM(type, name, initial, min, max, unit, help) .name = initial,
#define FLAG(name, initial, help) .name = initial,
#define CHOICE(name, initial, choices, help) .name = initial,
#define STAT(name, unit, help)
#define RATE(name, numerator, denominator, unit, help)
#include "exec/launch.def"
#undef PARAM
#undef FLAG
#undef CHOICE
#undef STAT
#undef RATE
    };
#define TAKE(name) limits->name = limits->name ? limits->name : d.name
    TAKE(quantum);
    TAKE(path_limit);
    TAKE(spin_branches);
    TAKE(spin_release);
    TAKE(heap_bytes);
    TAKE(printf_bytes);
#undef TAKE
}

static void run_all(struct exec *exec, u32 grid, u32 resident)
{
    struct thread_block *slots[64] = {0};
    u32 next = 0, done = 0;
    for (u32 s = 0; done < grid && !exec->stopped; s = (s + 1) % resident) {
        if (!slots[s] && next < grid)
            slots[s] = block_start(exec, next++, s);
        if (slots[s] && block_turn(slots[s])) {
            block_end(slots[s]);
            slots[s] = NULL;
            done++;
        }
    }
    for (u32 s = 0; s < resident; s++)
        if (slots[s]) {
            account_tails(slots[s]);
            block_end(slots[s]);
        }
    account_finish(exec);
}

void build_run(struct build *b, const struct run_options *options, struct ran *ran)
{
    struct location nowhere = {0};
    struct program program = {.arena = arena_create(),
                              .traits = {.inst_bytes = 8,
                                         .even_pairs = true,
                                         .window_faults = true,
                                         .canonical_nan = true},
                              .file = "test",
                              .insts = b->insts,
                              .inst_count = b->count,
                              .functions = b->functions,
                              .function_count = b->function_count,
                              .constants = b->constants,
                              .constant_count = b->constant_count,
                              .tables = b->tables,
                              .table_count = b->table_count,
                              .locations = &nowhere,
                              .location_count = 1};
    b->functions[b->function_count - 1].end = b->count;
    for (u32 i = 0; i < b->function_count; i++) {
        b->functions[i].total_registers = 32;
        b->functions[i].total_masks = 8;
    }
    make_blocks(b, &program);
    struct launch_params limits = options->limits;
    defaults(&limits);
    struct error error;
    struct memory *memory = memory_create(1 << 30, 64);
    u32 words = options->words ? options->words : 4096;
    u64 buffer = memory_allocate(memory, words * 4, ALLOC_BUFFER, "words", &error);
    u64 params[2] = {buffer};
    struct heap heap = {0};
    u32 warp_size = options->warp_size ? options->warp_size : 32;
    struct image *image =
        image_create(&program, b->constants, 0x4000000000, warp_size, SIMD_PORTABLE);
    u32 resident = options->resident ? options->resident : MIN(options->grid, 64u);
    memset(ran, 0, sizeof *ran);
    ran->exec = (struct exec){.image = image,
                              .kernel = &b->functions[0],
                              .memory = memory,
                              .heap = &heap,
                              .limits = &limits,
                              .grid = {options->grid, 1, 1},
                              .dims = {options->block, 1, 1},
                              .static_shared_bytes = options->shared_bytes,
                              .local_bytes = options->local_bytes,
                              .params = (u8 *)params,
                              .param_bytes = sizeof params,
                              .cores = 1,
                              .warps_per_core = 64};
    exec_prepare(&ran->exec, resident);
    run_all(&ran->exec, options->grid, resident);
    exec_release(&ran->exec);
    memory_read(memory, buffer, ran->words, MIN(words, 4096u) * 4, &error);
    image_destroy(image);
    memory_destroy(memory);
    arena_destroy(program.arena);
}
