/*
 * An instruction form: one opcode with one set of modifiers, tested lane by lane.
 *
 * The .def tables hold rows FORM(text, signature, reference, vectors). Text is an opcode, or whole
 * statements with operands $0, $1, ... (destinations first); {a,b,} in it stands for each
 * alternative, so a row gives many forms. The signature names the operand kinds, destinations
 * before '=':
 *   T  the last type in the opcode         S  the type before it (the result of cvt and set)
 *   W  twice the width of T                8  T or S with 8 bits sits in a 32-bit register
 *   h w q  16, 32, 64 bits of an integer   p  predicate
 *   i  a shift count    l  a lane number, 0 to 31    o  a small offset    z  any 32 bits, raw
 *   f d    f32, f64     e  f16 pair        c  an index into a byte permutation
 *
 * Invariants
 *  F1  References are written from the PTX manual and MPFR alone; nothing of src/exec is used.
 *  F2  A value is held in the low bits of a u64; a destination is compared in its whole register.
 */
#ifndef SEMANTICS_FORM_H
#define SEMANTICS_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;
typedef unsigned __int128 u128;
typedef __int128 i128;

enum kind {
    K_NONE,
    K_U8,
    K_S8,
    K_U16,
    K_S16,
    K_U32,
    K_S32,
    K_U64,
    K_S64,
    K_B8,
    K_B16,
    K_B32,
    K_B64,
    K_F16,
    K_BF16,
    K_F32,
    K_F64,
    K_F16X2,
    K_BF16X2,
    K_TF32,
    K_E4M3X2,
    K_E5M2X2,
    K_U16X2,
    K_S16X2,
    K_PRED,
    K_SHIFT,
    K_LANE,
    K_OFFSET,
    K_SELECTOR,
    K_COUNT
};

enum rounding {
    R_NONE,
    R_N,
    R_Z,
    R_M,
    R_P,
    R_NA,
    R_NI,
    R_ZI,
    R_MI,
    R_PI
};

enum comparison {
    C_EQ,
    C_NE,
    C_LT,
    C_LE,
    C_GT,
    C_GE,
    C_EQU,
    C_NEU,
    C_LTU,
    C_LEU,
    C_GTU,
    C_GEU,
    C_NUM,
    C_NAN,
    C_NONE
};

enum {
    MAX_SRC = 6,
    MAX_DST = 4,
    TEXT_BYTES = 400
};

struct form;
/* Fills d[] from s[]. */
typedef void reference_fn(const struct form *f, const u64 *s, u64 *d);
/* For results with an error bound: is `got` right? `want` receives a value near it. */
typedef bool judge_fn(const struct form *f, const u64 *s, u64 got, u64 *want);

struct form {
    char text[TEXT_BYTES];
    char opcode[64];
    const char *family;
    enum kind dst[MAX_DST], src[MAX_SRC];
    unsigned dst_count, src_count;
    enum kind type, stype; /* T and S */
    enum rounding round;
    enum comparison cmp;
    char bool_op; /* 'a', 'o', 'x' or 0 */
    bool ftz, sat, nan, xorsign, relu, satfinite, hi, wide, wrap, shiftamt, cc;
    unsigned number; /* a literal in the text after '#': kept out of the printed text */
    unsigned vectors;
    reference_fn *reference;
    judge_fn *judge;
};

struct forms {
    struct form *items;
    size_t count, capacity;
};

/* expand.c */
void forms_load(struct forms *forms);
void forms_free(struct forms *forms);
bool form_has(const struct form *f, const char *modifier);
unsigned kind_bits(enum kind kind);     /* of the value */
unsigned kind_register(enum kind kind); /* of the register that holds it: 16, 32, 64; 1 for pred */
const char *kind_name(enum kind kind);
bool kind_signed(enum kind kind);
bool kind_float(enum kind kind);

/* values.c */
struct rng {
    u64 state;
};
u64 rng_next(struct rng *rng);
/* Fills src[k][i] for i < n: edge values crossed, then random ones. */
void values_fill(const struct form *f, u64 *const *src, size_t n);
size_t values_edges(enum kind kind, bool few, const u64 **edges);

/* Low `bits` bits. */
static inline u64 low(u64 value, unsigned bits)
{
    return bits >= 64 ? value : value & ((1ull << bits) - 1);
}

static inline i64 sext(u64 value, unsigned bits)
{
    return bits >= 64 ? (i64)value : (i64)(value << (64 - bits)) >> (64 - bits);
}

#endif
