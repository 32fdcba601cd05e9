/*
 * Programs by hand, for tests of execution that should not depend on a front end: emit
 * instructions, name branch targets and reconvergence points, run on a memory of one's own.
 */
#ifndef TESTS_EXEC_BUILD_H
#define TESTS_EXEC_BUILD_H

#include "exec/warp.h"

enum {
    BUILD_MAX = 512
};

struct build {
    struct inst insts[BUILD_MAX];
    u32 reconverge[BUILD_MAX]; /* of branches; NO_INST = the exit */
    bool leader[BUILD_MAX + 1];
    u32 count;
    u32 constants[BUILD_MAX];
    u32 constant_count;
    struct function functions[8]; /* [0] is the kernel */
    u32 function_count;
    struct jump_table tables[4];
    u32 table_count;
};

/* What a run leaves behind. */
struct ran {
    struct exec exec; /* stats, fault, stopped */
    u32 words[4096];  /* the buffer whose address is the kernel's only parameter */
};

struct run_options {
    u32 grid, block;
    u32 warp_size; /* 0 = 32 */
    u32 shared_bytes, local_bytes;
    u32 resident; /* 0 = all */
    u32 core_count;
    struct launch_params limits; /* zeros become the defaults */
    u32 words;                   /* of the buffer; 0 = 4096 */
};

void build_start(struct build *b);
u32 build_emit(struct build *b, struct inst inst);
struct operand build_constant(struct build *b, u32 value);
struct operand build_constant64(struct build *b, u64 value);
/* The next instruction starts a basic block; returns its index. */
u32 build_label(struct build *b);
/* Makes an emitted branch go to a label and reconverge at another (NO_INST: the exit). */
void build_target(struct build *b, u32 branch, u32 target, u32 reconverge);
void build_function(struct build *b, const char *name, u32 first);
void build_run(struct build *b, const struct run_options *options, struct ran *ran);

static inline struct operand build_not(struct operand mask)
{
    mask.neg = 1;
    return mask;
}

#define R(i) operand_make(OPERAND_VECTOR, (i), 1)
#define RR(i) operand_make(OPERAND_VECTOR, (i), 2)
#define M(i) operand_make(OPERAND_MASK, (i), 1)
#define NOT(mask) build_not(mask)
#define K(value) build_constant(b, (value))
#define EMIT(...) build_emit(b, (struct inst){__VA_ARGS__})

/* r = special */
#define SREG(r, special) EMIT(.op = OP_sreg, .dst = {R(r)}, .imm = SPECIAL_##special)
#define BINARY(op_, d, x, y) EMIT(.op = OP_##op_, .dst = {R(d)}, .src = {x, y})
#define COMPARE(m, cmp, x, y) \
    EMIT(.op = OP_setp_u32, .dst = {M(m)}, .src = {x, y}, .key = (cmp), .type = TYPE_PRED)
/* The address of word r (a register) of the buffer into pair d; t is a scratch pair. */
#define ADDRESS(d, r)                                                                           \
    do {                                                                                        \
        EMIT(.op = OP_ld, .dst = {RR(d)}, .space = SPACE_PARAM, .type = TYPE_U64, .vector = 1); \
        EMIT(.op = OP_mad_wide_u32, .dst = {RR(d)}, .src = {R(r), K(4), RR(d)});                \
    } while (0)
#define LOAD(d, address, offset)                                                                   \
    EMIT(.op = OP_ld, .dst = {R(d)}, .src = {RR(address)}, .imm = (offset), .space = SPACE_GLOBAL, \
         .type = TYPE_U32, .vector = 1)
#define STORE(address, offset, value)                                                      \
    EMIT(.op = OP_st, .src = {RR(address), value}, .imm = (offset), .space = SPACE_GLOBAL, \
         .type = TYPE_U32, .vector = 1)
#define BRANCH(guard_) EMIT(.op = OP_bra, .guard = guard_)
#define JUMP() EMIT(.op = OP_bra)
#define BARRIER(number) EMIT(.op = OP_bar, .src = {K(number)})

#endif
