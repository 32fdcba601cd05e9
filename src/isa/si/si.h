/*
 * Southern Islands machine code (AMD's first GCN generation): decoded instructions.
 *
 * An instruction is one word, or two; a literal constant is the second word of a short one. Each
 * format has its own opcodes; si.def has a row for every instruction. si_decode turns words into a
 * struct si_inst, which lists every operand that the instruction reads or writes, also implicit
 * ones; si_text prints it in the syntax of LLVM's assembler; lower.c lowers it to ir.
 *
 * Invariants of a decoded instruction
 *  D1  Every operand is a register range that exists (and is aligned, if scalar), a constant the
 *      hardware defines, or an immediate: later stages need not check codes again.
 *  D2  dst and src follow the row's signature, letter by letter.
 *  D3  A literal is read at most once from the code; all operands with code SI_LITERAL share it.
 */
#ifndef ISA_SI_SI_H
#define ISA_SI_SI_H

#include "base/error.h"
#include "ir/inst.h"

enum si_format {
    SI_SOP2,
    SI_SOPK,
    SI_SOP1,
    SI_SOPC,
    SI_SOPP,
    SI_SMRD,
    SI_VOP2,
    SI_VOP1,
    SI_VOPC,
    SI_VOP3,
    SI_VINTRP,
    SI_DS,
    SI_MUBUF,
    SI_MTBUF,
    SI_MIMG,
    SI_EXP,
    SI_FORMAT_COUNT
};

/*
 * Operand codes: the values of a nine-bit vector source; shorter fields hold a part of this space.
 * Codes 0 to 127 are the scalar file, 256 to 511 the vector file.
 */
enum si_code {
    SI_SGPR = 0, /* s0 to s103 */
    SI_VCC = 106,
    SI_TBA = 108, /* trap handler's base and memory */
    SI_TMA = 110,
    SI_TTMP = 112, /* ttmp0 to ttmp11 */
    SI_M0 = 124,
    SI_EXEC = 126,
    SI_INT = 128,     /* 128 to 192: 0 to 64 */
    SI_INT_NEG = 193, /* 193 to 208: -1 to -16 */
    SI_FLOAT = 240,   /* 240 to 247: 0.5 -0.5 1.0 -1.0 2.0 -2.0 4.0 -4.0 */
    SI_VCCZ = 251,
    SI_EXECZ = 252,
    SI_SCC = 253,
    SI_LDS_DIRECT = 254, /* the LDS word at the address in M0 */
    SI_LITERAL = 255,
    SI_VGPR = 256, /* v0 to v255 */
    SI_NONE = 512, /* no register: an immediate, or an address without one */
};
#define SI_SGPRS 104
#define SI_TTMPS 12

/* Properties of an instruction besides its operands. */
enum si_flags {
    SI_NO_ASM = 1 << 0,      /* documented, but unknown to llvm-mc */
    SI_NO_LONG = 1 << 1,     /* always has a literal, hence no VOP3 form */
    SI_NO_E64 = 1 << 2,      /* llvm-mc does not write its VOP3 form */
    SI_REVERSED = 1 << 3,    /* the first two sources are swapped: d = src1 op src0 */
    SI_TWO_OFFSETS = 1 << 4, /* DS: two 8-bit offsets in elements, not one of 16 bits in bytes */
    SI_STRIDE64 = 1 << 5,    /* DS: the unit of these offsets is 64 elements */
};

/* How a row is lowered to ir; lower_inst.c has a case for each. */
enum si_lower {
    SI_LOWER_PLAIN,   /* ir op, operands in the signature's order, row fields copied */
    SI_LOWER_SWAPPED, /* ir has the first two sources in reverse order */
    SI_LOWER_LANE,    /* ir has the lane number as an additional source */
    SI_LOWER_SETREG,  /* writes a hardware register: MODE is a scalar in ir */
    SI_LOWER_HALT,    /* no effect if the constant is 0 */
    SI_LOWER_MESSAGE, /* no effect if no message is named */
};

/* A row of si.def, which explains the columns. */
struct si_op {
    const char *name;      /* without _e32 or _e64 */
    const char *signature; /* letters: si.def */
    u16 opcode;            /* in its format; VOP3: see si_opcode */
    u8 format;             /* enum si_format */
    u8 flags;              /* enum si_flags */
    u16 ir;                /* enum op; OP_unsupported: not executed */
    u8 lower;              /* enum si_lower */
    u8 type, stype;        /* enum type, to struct inst */
    u8 key, key2;          /* to struct inst */
    u8 vector;             /* elements of a memory access, to struct inst */
    u8 rounding;           /* to struct inst; where MODE decides, 0 */
};

/* Indices of the rows, for code that names one: SI_OP_v_add_f32. */
enum si_row {
#define SI(format, opcode, name, ...) SI_OP_##name,
#include "isa/si/si.def"
#undef SI
    SI_OP_COUNT
};
extern const struct si_op si_ops[SI_OP_COUNT];

struct si_operand {
    u16 code;  /* enum si_code: first register, constant, or SI_NONE */
    u8 words;  /* registers or words of the constant, 0 with SI_NONE */
    char kind; /* its letter in the signature */
    bool neg, abs;
};

#define SI_DSTS 3
#define SI_SRCS 6

struct si_inst {
    const struct si_op *op;
    u64 address;  /* of the first word, in bytes */
    u32 words[2]; /* as in the code; [1] is 0 if size is 4 */
    u8 size;      /* bytes: 4 or 8 */
    u8 format;    /* enum si_format: VOP3 for the long form of VOP1, VOP2 and VOPC */
    u8 dst_count, src_count;
    u64 stray; /* set bits that belong to no field: without effect */
    struct si_operand dst[SI_DSTS];
    struct si_operand src[SI_SRCS];
    u32 literal; /* the operand SI_LITERAL or 'l' */
    i32 imm;     /* SOPK, SOPP: the 16-bit constant, sign-extended; SMRD: offset in words (if its
                  * operand is SI_NONE); DS: 16-bit offset, or offset0 | offset1 << 8; MUBUF, MTBUF:
                  * 12-bit byte offset */
    /* VOP3 */
    bool clamp;
    u8 omod; /* 0, 1: * 2, 2: * 4, 3: / 2 */
    /* DS */
    bool gds;
    /* MUBUF, MTBUF, MIMG; LLVM's names */
    bool offen, idxen, addr64, glc, slc, tfe, lds;
    u8 dfmt, nfmt;
    u8 dmask;
    bool unorm, da, r128, lwe;
    /* EXP */
    u8 target, enable; /* bits of enable: which of the four sources are written */
    bool done, compr, vm;
    /* VINTRP */
    u8 attribute, channel;
};

/* A 64-bit float's literal is its upper half, the lower is 0; a 64-bit integer's is extended with
 * zeros. Inline constants take the width and type of their operand; integers are sign-extended. */

/* The row of an opcode, or NULL. Opcodes of VOP3 include those of the short vector formats. */
const struct si_op *si_find(enum si_format format, u32 opcode);
/* The opcode of a row in one of the formats it has: its own, or VOP3. */
u32 si_opcode(const struct si_op *op, enum si_format format);

/*
 * Decodes the instruction at words[0], of `count` available words; `address` is used in messages
 * and kept. False, with the address and the words in the message, if the words are not an
 * instruction: unknown format or opcode, a reserved operand code, registers that are misaligned or
 * out of range, code that ends within the instruction.
 */
bool si_decode(const u32 *words, size_t count, u64 address, struct si_inst *inst,
               struct error *error);

/* Target address of an instruction with a branch offset (letter b). */
bool si_branch_target(const struct si_inst *inst, u64 *address);

/*
 * One line that llvm-mc assembles to the same words; what its syntax cannot express becomes .long
 * with the instruction in a comment. At most SI_TEXT bytes with the NUL. Returns `buffer`.
 */
#define SI_TEXT 256
char *si_text(const struct si_inst *inst, char *buffer, size_t size);

#endif
