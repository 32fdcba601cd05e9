/*
 * A random program: a tree that is printed as PTX and interpreted thread by thread.
 *
 * Invariants
 *  R1  Statements that look at other threads (exchange, shuffle, vote, barrier) stand only in
 *      uniform places: the kernel's own body, and loops and branches whose condition is the same
 *      for the whole block. So the interpreter may run each other statement thread by thread.
 *  R2  Atomics commute and their results are not used: order cannot matter.
 *  R3  Every loop ends: its counter is a register nothing else writes, at most MAX_TRIPS at entry.
 *  R4  The generator and the interpreter share no code with src.
 *  R5  Boards, words that all threads of a block read, change only in statements of the whole block
 *      with a barrier before and one behind.
 *
 * Programs come in two styles. In one all threads differ. In the other registers are made of
 * tid.x, tid.y, the warp or the block, over and over, so that warps often compute the same: for
 * mechanisms that make use of it.
 */
#ifndef RANDOM_PROGRAM_H
#define RANDOM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;

enum {
    REGS_R = 10,
    REGS_D = 5,
    REGS_H = 3,
    REGS_P = 5,
    MAX_TRIPS = 5,
    MAX_DEPTH = 6,
    LOCAL_WORDS = 16,
    COUNTERS = 16,       /* global: 4 each of add, xor, max.u32, min.s32 */
    SHARED_COUNTERS = 4, /* add */
    FUNCTIONS = 3,
    INPUT_WORDS = 64, /* a table any thread may read */
    BOARD_WORDS = 8,  /* of a block: in shared memory, and as many in global memory */
    MAX_BLOCKS = 8,
    OUT_WORDS = REGS_R + 2 * REGS_D + REGS_H + REGS_P + SHARED_COUNTERS,
};

enum statement_kind {
    ST_OP,
    ST_IF,    /* predicate operand; blocks: then, else (may be NULL) */
    ST_LOOP,  /* trips: constant or a register's low bits; block */
    ST_BREAK, /* under a predicate */
    ST_CONTINUE,
    ST_SWITCH,   /* brx.idx on a register's low two bits; four blocks */
    ST_LOAD,     /* R = input[r & 63] */
    ST_LOCAL_ST, /* local[r & 15] = R */
    ST_LOCAL_LD,
    ST_ATOMIC,    /* red or atom on a global counter */
    ST_ATOMIC_SH, /* on a shared counter */
    ST_CALL,      /* R = f(R, R, D) */
    ST_CALL_ANY,  /* the function is chosen by a predicate through its address */
    ST_RETURN,    /* from a function, under a predicate, with a value */
    ST_CARRY,     /* R, R = R + R, R + R with carry */
    ST_UNPACK,    /* R, R = D */
    ST_COPY,      /* fresh = x; block; y ^= fresh: what the block does to x must not be seen */
    ST_SEED,      /* R = a mix of one of enum seed */
    ST_OWN,       /* R = R through a word of the thread in shared memory */
    ST_PEEK,      /* R = board[r & 7] */
    ST_EXCHANGE,  /* through shared memory with barriers: the value of thread (i + k) mod n */
    ST_PUBLISH,   /* one thread writes a word of a board, all read one */
    ST_SHUFFLE,   /* shfl.sync.bfly */
    ST_VOTE,      /* vote.sync.any, all; P */
    ST_BALLOT,    /* R */
    ST_EXIT,      /* under a predicate; only where no barrier or shuffle follows */
    ST_KINDS
};

/* What threads are told apart by, or not. */
enum seed {
    SEED_THREAD, /* its number in the grid */
    SEED_X,
    SEED_Y,
    SEED_WARP, /* of 32 */
    SEED_BLOCK,
    SEEDS
};

struct operand {
    bool is_constant;
    u32 reg;
    u64 value;
};

struct statement {
    enum statement_kind kind;
    bool dead; /* taken out while a failure is made smaller */
    bool guarded, guard_negated;
    u32 guard; /* predicate register */
    u32 op;    /* ST_OP: row of ops.def; ST_ATOMIC: counter; ST_CALL: function; ST_COPY: R, D, P;
                * ST_SEED: enum seed; ST_PEEK, ST_PUBLISH: board, 0 shared, 1 global */
    u32 other; /* ST_CALL_ANY: second function; ST_EXCHANGE: k; ST_SHUFFLE: xor; ST_VOTE: all;
                * ST_PUBLISH: thread */
    u32 dst[2];
    struct operand src[4];
    u32 trips; /* ST_LOOP: constant, or 0 for a register's */
    struct block *blocks[4];
};

struct block {
    struct statement *items;
    u32 count;
};

struct function {
    struct block *body;
    bool recursive; /* may call itself while its depth argument is not 0 */
};

struct program {
    u64 seed;
    struct block *body;
    struct function functions[FUNCTIONS];
    u32 grid, block[3];
    bool alike; /* the style in which warps often compute the same */
    bool exits; /* threads may leave early: then nothing collective is in it */
    /* Everything above lives in one pool. */
    void **pool;
    size_t pool_count, pool_capacity;
};

/* generate.c */
struct program *program_generate(u64 seed, bool alike);
/* Of register r at the start. */
enum seed program_seed(const struct program *program, u32 r);
void program_free(struct program *program);
/* Every statement, outer first, into `list` (may be NULL); returns how many. */
size_t program_statements(const struct program *program, struct statement **list);

/* ops.c */
struct op_row {
    const char *text, *signature;
};
extern const struct op_row op_rows[];
extern const u32 op_count;
u64 op_value(u32 op, u64 a, u64 b, u64 c);

/* print.c: PTX text, to be freed. */
char *program_print(const struct program *program);

/* interpret.c */
struct memory_image {
    u32 input[INPUT_WORDS];
    u32 counters[COUNTERS];
    u32 *out; /* OUT_WORDS a thread */
};
void program_interpret(const struct program *program, struct memory_image *memory);

static inline u32 program_threads(const struct program *p)
{
    return p->block[0] * p->block[1] * p->block[2];
}

#endif
