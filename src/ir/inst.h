/*
 * An instruction: the one form that both front ends lower to.
 *
 * An operand is `count` consecutive 32-bit vector registers, or scalar registers, or a constant.
 * A predicate, a carry or any other set of lanes is a *mask*: one scalar register for 32 lanes,
 * two for 64. The operands list what an instruction reads and writes; inst_reads() and
 * inst_writes() of program.h add implicit registers.
 *
 * Invariants
 *  I1  sizeof(struct inst) == 64.
 *  I2  Operand counts and kinds match the op's signature in ops.def (ir/verify.c checks).
 *  I3  Before register allocation an index is a virtual register (a 64-bit value is ONE virtual
 *      register whose operand has count 2); afterwards it is the first physical register, and a
 *      count-2 operand that held a 64-bit value is at an even index (traits.even_pairs).
 *  I4  A constant operand's index is its first entry in the program's constant pool; count entries
 *      follow each other, least significant word first.
 */
#ifndef IR_INST_H
#define IR_INST_H

#include "base/types.h"

struct lanes;
typedef void lane_fn(struct lanes *lanes);

enum operand_kind {
    OPERAND_NONE,   /* absent, or the sink "_" */
    OPERAND_VECTOR, /* vector registers */
    OPERAND_MASK,   /* scalar registers with one bit per lane; index counts masks, not words */
    OPERAND_CONST,  /* constant pool; as a mask source entry 0 (all zeros) or 1 (all ones) */
    OPERAND_SCALAR, /* scalar registers, read by every lane: ir/scalars.h */
    OPERAND_LANEID, /* source only: the lane number */
};

struct operand {
    u32 index : 20;
    u32 kind : 4;  /* enum operand_kind */
    u32 count : 5; /* registers, 1 to 16 */
    u32 neg : 1;   /* mask: complement; number: negate (after abs) */
    u32 abs : 1;
    u32 : 1;
};

enum op {
#define OP(name, text, signature, unit, latency, event, flags) OP_##name,
#include "ir/ops.def"
#undef OP
    OP_COUNT
};

/* The unit that executes an op. Timing parameters are per unit and latency class. */
enum unit {
    UNIT_NONE,
    UNIT_INT,
    UNIT_FP32,
    UNIT_FP64,
    UNIT_SFU,
    UNIT_MEM,
    UNIT_SCALAR,
    UNIT_CTRL,
    UNIT_COUNT
};
enum latency {
    LATENCY_SIMPLE, /* moves, logic, comparisons, conversions */
    LATENCY_ADD,
    LATENCY_MAX,
    LATENCY_MUL,
    LATENCY_MAD,
    LATENCY_DIV,
    LATENCY_SHFL,
    LATENCY_SFU,
    LATENCY_MEM,
    LATENCY_CTRL,
    LATENCY_COUNT
};

enum op_flags {
    OPF_LANE = 1 << 0,    /* a pure function of its operands, lane by lane: has a lane_fn */
    OPF_CROSS = 1 << 1,   /* reads other lanes of its warp (shfl, vote, match, redux) */
    OPF_LOAD = 1 << 2,    /* reads memory */
    OPF_STORE = 1 << 3,   /* writes memory */
    OPF_ATOMIC = 1 << 4,  /* reads and writes memory in one step */
    OPF_BRANCH = 1 << 5,  /* may change the warp's PC; ends a basic block */
    OPF_BARRIER = 1 << 6, /* waits for other warps or lanes */
    OPF_FLOAT = 1 << 7,   /* rounding, ftz, sat, NaN rules apply */
    OPF_EFFECT = 1 << 8,  /* must not be removed or reordered even if its result is unused */
    OPF_SCALAR = 1 << 9,  /* executes once per warp, whatever lanes are active */
};

struct op_info {
    const char *name;      /* "add_b32" */
    const char *text;      /* "add.b32", for listings */
    const char *signature; /* see ops.def */
    u8 unit, latency;
    u16 event;
    u16 flags;
};
extern const struct op_info op_info[OP_COUNT];

enum rounding {
    ROUND_NEAREST,
    ROUND_ZERO,
    ROUND_DOWN,
    ROUND_UP,
    ROUND_AWAY /* ties away: cvt.rna */
};

enum space {
    SPACE_GENERIC,
    SPACE_GLOBAL,
    SPACE_SHARED,
    SPACE_LOCAL,
    SPACE_CONST,
    SPACE_PARAM,
    SPACE_COUNT
};

/* Element types, for conversions, comparisons' `set` results, atomics and listings. */
enum type {
    TYPE_NONE,
    TYPE_U8,
    TYPE_S8,
    TYPE_U16,
    TYPE_S16,
    TYPE_U32,
    TYPE_S32,
    TYPE_U64,
    TYPE_S64,
    TYPE_B8,
    TYPE_B16,
    TYPE_B32,
    TYPE_B64,
    TYPE_B128,
    TYPE_F16,
    TYPE_F16X2,
    TYPE_BF16,
    TYPE_BF16X2,
    TYPE_TF32,
    TYPE_E4M3X2,
    TYPE_E5M2X2,
    TYPE_F32,
    TYPE_F64,
    TYPE_PRED,
    TYPE_U16X2,
    TYPE_S16X2,
    TYPE_COUNT
};

/* setp/set: ordered comparisons are false, unordered ones true, when an operand is NaN. */
enum compare {
    CMP_EQ,
    CMP_NE,
    CMP_LT,
    CMP_LE,
    CMP_GT,
    CMP_GE,
    CMP_EQU,
    CMP_NEU,
    CMP_LTU,
    CMP_LEU,
    CMP_GTU,
    CMP_GEU,
    CMP_NUM,
    CMP_NAN,
    CMP_FALSE,
    CMP_TRUE
};
enum bool_op {
    BOOL_NONE,
    BOOL_AND,
    BOOL_OR,
    BOOL_XOR
};

enum atomic_op {
    ATOMIC_ADD,
    ATOMIC_MIN,
    ATOMIC_MAX,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_EXCH,
    ATOMIC_CAS,
    ATOMIC_INC,
    ATOMIC_DEC,
    ATOMIC_SUB,
    ATOMIC_RSUB,  /* value - memory */
    ATOMIC_MSKOR, /* (memory & ~compared) | value */
    ATOMIC_FMIN,  /* compare as floats */
    ATOMIC_FMAX,
    ATOMIC_FCAS, /* compares as floats */
    ATOMIC_STORE /* like EXCH, but returns nothing */
};

enum inst_mod {
    MOD_FTZ = 1 << 0, /* flush subnormal inputs and results to zero of the same sign */
    MOD_SAT = 1 << 1, /* clamp a float result to [0, 1], NaN to +0; a cvt to its range */
    MOD_APPROX = 1 << 2,
    MOD_NAN = 1 << 3,     /* min/max: NaN if either is NaN */
    MOD_XORSIGN = 1 << 4, /* min/max: .xorsign.abs */
    MOD_RELU = 1 << 5,   /* clamp negative results and NaN's sign: max(result, +0), NaN canonical */
    MOD_SIGNED = 1 << 6, /* ld: sign-extend to the register */
    MOD_VOLATILE = 1 << 7,
    MOD_MODE = 1 << 8, /* rounding, subnormals and NaN rules come from the warp's MODE: exec/mode.c
                        * turns it into `rounding` and the modifiers below */
    MOD_FTZ_IN = 1 << 9,    /* like MOD_FTZ, inputs only */
    MOD_FTZ_OUT = 1 << 10,  /* like MOD_FTZ, results only */
    MOD_IEEE = 1 << 11,     /* min, max: a signaling NaN operand wins, quieted */
    MOD_KEEP_NAN = 1 << 12, /* MOD_SAT leaves NaN as it is */
    MOD_EXEC = 1 << 13, /* also writes EXEC: the mask result, or the new mask of a saveexec op */
    MOD_READ_ONLY = 1 << 14, /* ld: the memory is not written while the kernel runs */
    MOD_FAR = 1 << 15,       /* ld: bypasses the core's own cache */
};

enum scale {
    SCALE_NONE,
    SCALE_TWICE,
    SCALE_FOURFOLD,
    SCALE_HALF
};

struct inst {
    lane_fn *fn;          /* resolved when the program is loaded on a device; OPF_LANE only */
    u16 op;               /* enum op */
    u16 mods;             /* inst_mod bits */
    struct operand guard; /* OPERAND_MASK or OPERAND_NONE */
    struct operand dst[2];
    struct operand src[4];
    i64 imm;     /* address offset, branch target, table index: see ops.def */
    u8 type;     /* enum type: of the result or the memory element */
    u8 stype;    /* enum type: of the source of a conversion or set */
    u8 key;      /* enum compare, atomic_op, or as ops.def says */
    u8 key2;     /* enum bool_op, or as ops.def says */
    u8 space;    /* enum space */
    u8 vector;   /* elements of a vector access: 1, 2, 4, 8 */
    u8 rounding; /* enum rounding */
    union {
        u8 scale; /* enum scale: of a float result, before clamping */
        u8 late;  /* isa/ptx, before layout: enum late */
    };
    u32 location; /* index into program.locations, 0 = unknown */
    u32 spare;
};
_Static_assert(sizeof(struct inst) == 64, "I1");
_Static_assert(sizeof(struct operand) == 4, "operands are words");

static inline struct operand operand_none(void)
{
    return (struct operand){.kind = OPERAND_NONE};
}
static inline struct operand operand_make(enum operand_kind kind, u32 index, u32 count)
{
    return (struct operand){.kind = kind, .index = index, .count = count};
}
static inline bool operand_is(struct operand a, enum operand_kind kind)
{
    return a.kind == kind;
}

u32 type_bytes(enum type type);
const char *type_name(enum type type); /* "u32" */
bool type_is_signed(enum type type);
bool type_is_float(enum type type);

#endif
