/*
 * A program: the code of one module, all its functions laid out in one instruction array.
 *
 * Front ends build it, analyses annotate it, a device loads it. It is immutable once built, apart
 * from `struct inst.fn`, and may be loaded on several devices of the same SIMD level.
 *
 * Invariants
 *  P1  The PC of instruction i is code_address + i * inst_bytes (8 bytes an instruction in PTX) or,
 *      where sizes differ, code_address + offsets[i]; offsets rise.
 *  P2  A block is a maximal straight run; only its last instruction has OPF_BRANCH; blocks of a
 *      function are contiguous and in address order; the first is the entry.
 *  P3  constants[0] == 0 and constants[1] == 0xffffffff, so that entry 0 and 1 also serve as the
 *      constant masks "false" and "true".
 *  P4  `reconverge` of a block that ends in a divergent branch is the first instruction of its
 *      immediate post-dominator, or NO_INST when that is the function's exit.
 */
#ifndef IR_PROGRAM_H
#define IR_PROGRAM_H

#include "base/arena.h"
#include "base/error.h"
#include "ir/entry.h"
#include "ir/inst.h"
#include "ir/special.h"

#define NO_INST UINT32_MAX
#define NO_BLOCK UINT32_MAX

struct location {
    const char *file; /* of the guest source, or of the PTX file itself */
    u32 line;         /* guest source line from .loc, 0 when unknown */
    u32 text_line;    /* line in the PTX file */
};

struct block {
    u32 first, end;    /* instructions [first, end) */
    u32 reconverge;    /* P4 */
    u32 successors[2]; /* blocks: taken, fall-through; NO_BLOCK; brx: see its table */
    u32 ipdom, idom;   /* blocks, NO_BLOCK for exit and entry */
    u32 unguarded;     /* instructions without a guard: counted once per block, not one by one */
};

struct parameter {
    const char *name;
    u32 offset, size, align; /* bytes in the parameter block; size of arrays and structs in full */
    enum type type;          /* element type; TYPE_B8 arrays are structs */
    bool is_array;
    bool is_pointer; /* .ptr was said */
    bool is_shared;  /* an offset in the block's shared memory, as for an OpenCL __local pointer */
};

struct unsupported {
    const char *place; /* "kernel.ptx:41:7" */
    const char *text;  /* the instruction as written, and why */
};

struct function {
    const char *name;
    bool is_kernel;
    u32 first, end;             /* instructions; equal when only declared */
    u32 first_block, block_end; /* blocks */
    struct parameter *params;
    u32 param_count;
    u32 param_bytes;
    u32 registers;    /* vector registers this function itself uses */
    u32 masks;        /* mask registers it uses */
    u32 scalars;      /* general scalar registers it uses */
    u32 max_live;     /* most words of vector registers live at once, pairs counted as 2 */
    u32 frame_bytes;  /* own local frame: variables, spills, outgoing arguments */
    u32 spill_bytes;  /* of which spills */
    u32 shared_bytes; /* end of the shared memory it names itself; where dynamic arrays
                       * begin if it names one */
    u32 *callees;     /* functions it may call directly */
    u32 callee_count;
    bool calls_indirectly;
    bool address_taken; /* an indirect call may reach it */
    u32 *unsupported;   /* indices into program.unsupported */
    u32 unsupported_count;
    u32 max_threads[3], required_threads[3]; /* .maxntid, .reqntid; 0 = not said */
    u32 min_blocks, max_registers;           /* .minnctapersm, .maxnreg; 0 = not said */
    u32 mode;                                /* explicit EXEC: a warp's MODE at the start */
    bool open;               /* explicit EXEC: a warp may enter at any instruction, not only at the
                              * first: see analysis/exec_flow.h */
    const char *explanation; /* what the front end knows of it besides, in lines, for listings; or
                              * NULL */
    entry_fn *entry;         /* what its registers hold at the start; NULL: nothing, parameters are
                              * a space of their own */
    const void *description; /* for `entry` */
    /* Over everything reachable from it, filled by program_close (kernels only): */
    u32 total_registers, total_masks, total_shared_bytes;
    u64 total_frame_bytes; /* deepest chain of frames; without recursion's repetitions */
    bool recursive;        /* a cycle or an indirect call is reachable: depth unknown */
    u32 *reachable;        /* functions, itself first */
    u32 reachable_count;
};

enum relocation_kind {
    RELOC_VARIABLE,
    RELOC_FUNCTION,
    RELOC_LOAD /* of program.load itself */
};
/* `bytes` (4 or 8) at `offset` of a variable's image get the address of the target + addend. */
struct relocation {
    u32 offset, bytes;
    enum relocation_kind kind;
    u32 target; /* index into variables or functions */
    i64 addend;
};

struct variable {
    const char *name;
    enum space space; /* SPACE_GLOBAL or SPACE_CONST; shared ones are laid out by the front end */
    u64 size;
    u32 align;
    u8 *image; /* `size` bytes, or NULL for zeros */
    struct relocation *relocations;
    u32 relocation_count;
    bool is_extern; /* no definition here: an error at launch if reached */
    bool visible;
    bool in_load;    /* it is a part of program.load, which has its bytes and relocations: */
    u64 load_offset; /* there */
};

/* A range of program.load that the guest may write; code and constants are read-only. */
struct load_range {
    u64 offset, bytes;
};

/* A constant-pool entry that the loader patches: pool[index] and the next = a 64-bit address. */
struct constant_fixup {
    u32 index;
    enum relocation_kind kind;
    u32 target;
    i64 addend;
};

/* A jump table of brx: instruction indices. */
struct jump_table {
    u32 *targets;
    u32 count;
};

/* How listings name registers. */
struct register_names {
    const char *vector;                /* "v": v0, v1 */
    const char *(*scalar)(u32 scalar); /* "vcc_lo" */
};

struct traits {
    u32 inst_bytes;     /* 8 for PTX; 0: sizes differ, program.offsets */
    u32 warp_size;      /* lanes of a warp the code was made for; 0: any */
    bool explicit_exec; /* divergence is EXEC (ir/scalars.h), not the path tree */
    bool even_pairs;    /* pairs of vector registers start at an even one */
    bool window_faults; /* beyond the shared memory of a block is a fault, and so is a misaligned
                         * access; otherwise loads give 0 and stores are dropped there, and the low
                         * bits of addresses are ignored */
    const struct register_names *names; /* NULL: R0, S0, P0 */
    bool canonical_nan; /* PTX: NaN results are 0x7fffffff (f16, bf16: 0x7fff), f64 keeps payloads;
                         * otherwise the first NaN operand, quieted: see exec/lanes_float.h */
};

struct program {
    struct arena *arena; /* owns everything below */
    struct traits traits;
    const char *file; /* as the user named it, for messages */
    struct inst *insts;
    u32 inst_count;
    u32 *offsets;       /* of instructions, in bytes of `load`; NULL: P1's other form */
    u8 *sizes;          /* of instructions, in bytes, with `offsets` */
    const char **texts; /* of instructions, in the language they came from; NULL: print.c's */
    u8 *load; /* code and data as they lie in guest memory from code_address on; NULL: code has no
               * bytes of its own */
    u64 load_bytes;
    struct load_range *writable; /* parts of `load`, in order, apart from each other */
    u32 writable_count;
    struct relocation *load_relocations; /* target unused: the addend is an offset in `load` */
    u32 load_relocation_count;
    struct block *blocks;
    u32 block_count;
    u32 *block_of; /* by instruction */
    struct function *functions;
    u32 function_count;
    struct variable *variables;
    u32 variable_count;
    u32 *constants;
    u32 constant_count;
    struct constant_fixup *fixups;
    u32 fixup_count;
    struct jump_table *tables;
    u32 table_count;
    struct location *locations; /* [0] is unknown */
    u32 location_count;
    struct unsupported *unsupported;
    u32 unsupported_count;
    const char **warnings;
    u32 warning_count;
};

void program_destroy(struct program *program);

/* Call graph: fills the total_* fields, `recursive` and `reachable` of every kernel. */
void program_close(struct program *program);

/* Whether I2 and P1 to P4 hold; false: the first violation as text. Every program that a front end
 * delivers is asserted to hold them unless NDEBUG is defined. */
bool program_verify(const struct program *program, char *message, size_t size);

/* Byte offset of an instruction from the code's address; inst_count: the end. */
static inline u64 program_offset(const struct program *program, u32 inst)
{
    if (!program->offsets)
        return (u64)inst * program->traits.inst_bytes;
    return inst < program->inst_count ? program->offsets[inst] : program->load_bytes;
}
/* The instruction at that offset, or NO_INST. */
u32 program_inst_at(const struct program *program, u64 offset);

/*
 * Everything an instruction writes, or reads, with what is not in its operands: EXEC of MOD_EXEC,
 * and what the branch stack takes. At most INST_REFS.
 */
enum {
    INST_REFS = 8
};
u32 inst_writes(const struct inst *inst, struct operand list[INST_REFS]);
u32 inst_reads(const struct inst *inst, struct operand list[INST_REFS]);
/* Whether it may write the scalars of EXEC, or MODE: the machine looks at them after it. */
bool inst_writes_exec(const struct inst *inst);
bool inst_writes_mode(const struct inst *inst);

const struct function *program_function_at(const struct program *program, u32 inst);
/* "saxpy.cu:12", of the source or else of the program's text; false: not known. */
enum {
    PLACE_TEXT = 512
};
bool program_place(const struct program *program, u32 inst, char text[PLACE_TEXT]);

/* Listing, as `heddle disasm` shows it: blocks, reconvergence points, live registers, source. */
struct listing_options {
    const char *kernel; /* only this one and what it reaches; NULL = all */
    bool live;          /* live register count and set per instruction */
    bool source;        /* source lines */
    bool marks;         /* of redundant instructions: analysis/redundancy.h */
    const u32 *block;   /* with marks: which hold in blocks of this shape; NULL: it is not said */
    u32 warp_size;      /* with a block */
};
/* Returns malloc'd text. */
char *program_listing(const struct program *program, const struct listing_options *options);
/* One instruction as text, into `buffer`; returns it. */
char *inst_text(const struct program *program, u32 inst, char *buffer, size_t size);

#endif
