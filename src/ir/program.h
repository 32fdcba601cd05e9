/*
 * A program: the code of one module, all its functions laid out in one instruction array.
 *
 * Front ends build it, analyses annotate it, a device loads it. It is immutable once built, apart
 * from `struct inst.fn`, and may be loaded on several devices of the same SIMD level.
 *
 * Invariants
 *  P1  The PC of instruction i is code_address + i * inst_bytes (8 bytes each in PTX) or, where
 *      sizes differ, code_address + offsets[i]; offsets increase.
 *  P2  A block is a maximal straight-line run; only its last instruction has OPF_BRANCH; blocks
 *      of a function are contiguous and in address order; the first is the entry.
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
    u32 unguarded;     /* unguarded instructions: counted once per block, not one by one */
};

struct parameter {
    const char *name;
    u32 offset, size, align; /* bytes in the parameter block; size of arrays and structs in full */
    enum type type;          /* element type; TYPE_B8 arrays are structs */
    bool is_array;
    bool is_pointer; /* declared with .ptr */
    bool is_shared;  /* an offset in the block's shared memory, as for an OpenCL __local pointer */
};

struct unsupported {
    const char *place; /* "kernel.ptx:41:7" */
    const char *text;  /* the instruction as written, and why */
};

struct function {
    const char *name;
    bool is_kernel;
    u32 first, end;             /* instructions [first, end); equal if only declared */
    u32 first_block, block_end; /* blocks */
    struct parameter *params;
    u32 param_count;
    u32 param_bytes;
    u32 registers;    /* vector registers used, without callees */
    u32 masks;        /* mask registers used */
    u32 scalars;      /* general scalar registers used */
    u32 max_live;     /* maximum of live 32-bit vector registers, pairs counted as 2 */
    u32 frame_bytes;  /* its local frame: variables, spills, outgoing arguments */
    u32 spill_bytes;  /* spills in `frame_bytes` */
    u32 shared_bytes; /* end of the shared memory it names itself; dynamic arrays begin
                       * here if it names one */
    u32 *callees;     /* functions called directly */
    u32 callee_count;
    bool calls_indirectly;
    bool address_taken; /* an indirect call may reach it */
    u32 *unsupported;   /* indices into program.unsupported */
    u32 unsupported_count;
    u32 max_threads[3], required_threads[3]; /* .maxntid, .reqntid; 0 = not given */
    u32 min_blocks, max_registers;           /* .minnctapersm, .maxnreg; 0 = not given */
    u32 mode;                                /* explicit EXEC: initial MODE of a warp */
    bool open;               /* explicit EXEC: a warp may enter at any instruction, not only at the
                              * first: see analysis/exec_flow.h */
    const char *explanation; /* further facts from the front end, in lines, for listings; or
                              * NULL */
    entry_fn *entry;         /* composes the initial registers; NULL: none, parameters are
                              * a space of their own */
    const void *description; /* first argument of `entry` */
    /* over all functions reachable from it, filled by program_close (kernels only): */
    u32 total_registers, total_masks, total_shared_bytes;
    u64 total_frame_bytes; /* deepest chain of frames, each cycle of a recursion counted once */
    bool recursive;        /* a cycle or an indirect call is reachable: depth unknown */
    u32 *reachable;        /* functions that it may call, directly or not; itself first */
    u32 reachable_count;
};

enum relocation_kind {
    RELOC_VARIABLE,
    RELOC_FUNCTION,
    RELOC_LOAD /* the start of program.load */
};
/* The loader writes the address of the target + addend into `bytes` (4 or 8) at `offset` of a
 * variable's image. */
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
    bool is_extern; /* not defined in this program: an error at launch if reached */
    bool visible;
    bool is_texture; /* its address is the handle of a texture or surface; it has no bytes */
    bool in_load;    /* part of program.load, which has its bytes and relocations */
    u64 load_offset; /* offset in program.load */
};

/* A range of program.load that the guest may write; code and constants are read-only. */
struct load_range {
    u64 offset, bytes;
};

/* The loader patches constant-pool entries index and index + 1 with the two words of an address. */
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
    u32 warp_size;      /* warp size that the code requires; 0: any */
    bool explicit_exec; /* divergence by EXEC (ir/scalars.h), not by the path tree */
    bool even_pairs;    /* 64-bit pairs of vector registers start at an even index */
    bool window_faults; /* an access beyond the shared memory of a block, or a misaligned one, is
                         * a fault; otherwise such loads give 0 and such stores are dropped, and
                         * the low bits of addresses are ignored */
    const struct register_names *names; /* NULL: R0, S0, P0 */
    u32 address_bits;   /* of pointers: 32 or 64. The sum of a 32-bit address and an offset wraps at
                         * 2^32 where they are 32; addresses of two registers have 64 in any case */
    bool canonical_nan; /* PTX: NaN results are 0x7fffffff (f16, bf16: 0x7fff), f64 keeps payloads;
                         * otherwise the first NaN operand, quieted: see exec/lanes_float.h */
};

enum {
    SPARE_CONSTANTS = 8 /* most words of constants of an instruction */
};
/* An instruction decoded from given words. */
struct redecoded {
    struct inst inst;
    u32 constants[SPARE_CONSTANTS];
    u32 own; /* sources (bits) whose index is one of these; other constants are the program's */
    u8 size; /* bytes: 4 or 8 */
    bool branches; /* to byte offset `target` of the program's `load` */
    u64 target;
};
/* Decodes the words of one instruction at a byte offset of `load`; the second word is used if the
 * first one needs it. False: they are no instruction, or one that cannot be executed. */
typedef bool redecode_fn(const u32 words[2], u64 offset, struct redecoded *out,
                         struct error *error);

struct program {
    struct arena *arena; /* owns everything below */
    struct traits traits;
    const char *file; /* as the user named it, for messages */
    struct inst *insts;
    u32 inst_count;
    u32 *offsets;       /* by instruction: byte offset in `load`; NULL: all have inst_bytes (P1) */
    u8 *sizes;          /* by instruction: bytes; set if `offsets` is */
    const char **texts; /* by instruction: text in its own assembly language; NULL: print.c's */
    u8 *load;           /* code and data as in guest memory from code_address on; NULL: code has no
                         * bytes of its own */
    u64 load_bytes;
    struct load_range *writable; /* parts of `load`, in order, disjoint */
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
    redecode_fn *redecode; /* NULL: code has no words */
    u32 spare;             /* the last instructions are not code: program_reserve */
};

/*
 * Appends instructions that can be replaced while the program runs (image_replace): for words that
 * differ from the code, because a bit of an instruction buffer was flipped. They come in pairs; the
 * first of a pair is the instruction, the second a place for the PC behind it. In front of the pairs
 * is a trap, the target of branches to no instruction. The program must have `redecode`.
 */
void program_reserve(struct program *program, u32 pairs);
/* Instructions of the code. */
static inline u32 program_code_count(const struct program *program)
{
    return program->inst_count - program->spare;
}

void program_destroy(struct program *program);

/* Walks the call graph: fills the total_* fields, `recursive` and `reachable` of every kernel. */
void program_close(struct program *program);

/* Whether I2 to I4 and P1 to P4 hold; false: `message` describes the first violation. Unless NDEBUG
 * is defined, this is asserted for every program that a front end delivers. */
bool program_verify(const struct program *program, char *message, size_t size);

/* Byte offset of an instruction from the code's address; inst_count: the end. */
static inline u64 program_offset(const struct program *program, u32 inst)
{
    if (!program->offsets)
        return (u64)inst * program->traits.inst_bytes;
    return inst < program->inst_count ? program->offsets[inst] : program->load_bytes;
}
/* The instruction at a byte offset, or NO_INST. */
u32 program_inst_at(const struct program *program, u64 offset);

/*
 * All operands that an instruction writes, or reads, including implicit ones: EXEC of MOD_EXEC, and
 * those of the branch stack. At most INST_REFS. A count of 0 means all registers from `index` on.
 */
enum {
    INST_REFS = 8
};
u32 inst_writes(const struct inst *inst, struct operand list[INST_REFS]);
u32 inst_reads(const struct inst *inst, struct operand list[INST_REFS]);
/* Whether an instruction may write EXEC, or MODE, which the machine then evaluates again. */
bool inst_writes_exec(const struct inst *inst);
bool inst_writes_mode(const struct inst *inst);

const struct function *program_function_at(const struct program *program, u32 inst);
/* "saxpy.cu:12": the source line, else the line in the program's text; false: not known. */
enum {
    PLACE_TEXT = 512
};
bool program_place(const struct program *program, u32 inst, char text[PLACE_TEXT]);

/* Listing, as `heddle disasm` shows it: blocks, reconvergence points, live registers, source. */
struct listing_options {
    const char *kernel; /* only this kernel and the functions it reaches; NULL = all */
    bool live;          /* live register count and set per instruction */
    bool source;        /* source lines */
    bool marks;         /* marks of redundant instructions: analysis/redundancy.h */
    const u32 *block;   /* with marks: shows which hold in blocks of this shape; or NULL */
    u32 warp_size;      /* used with `block` */
};
/* Returns malloc'd text. */
char *program_listing(const struct program *program, const struct listing_options *options);
/* Writes one instruction as text into `buffer` and returns it. */
char *inst_text(const struct program *program, u32 inst, char *buffer, size_t size);

#endif
