/*
 * Scalar registers of a program with explicit EXEC.
 *
 * Numbers 0 to 127 are the instruction set's own, so that masks (even-aligned pairs for 64 lanes)
 * alias them as in hardware: mask m is scalars 2m and 2m + 1. Registers without a number
 * there follow.
 */
#ifndef IR_SCALARS_H
#define IR_SCALARS_H

enum scalar {
    SCALAR_GENERAL_END = 104,
    SCALAR_VCC = 106,
    SCALAR_M0 = 124,
    SCALAR_EXEC = 126,
    SCALAR_SCC = 128, /* 0 or 1 */
    SCALAR_MODE = 129,
    SCALAR_VCCZ = 130, /* 1 if VCC is 0; derived when read */
    SCALAR_EXECZ = 131,
    SCALAR_COUNT = 132
};

enum {
    MASK_VCC = SCALAR_VCC / 2,
    MASK_EXEC = SCALAR_EXEC / 2
};

/* Fields of MODE. */
enum mode {
    MODE_ROUND32 = 0,  /* shift; 2 bits: nearest even, up, down, zero */
    MODE_ROUND64 = 2,  /* f64 and f16 */
    MODE_DENORM32 = 4, /* shift; bit 0: subnormal inputs are kept, bit 1: results */
    MODE_DENORM64 = 6, /* f64 and f16 */
    MODE_DX10_CLAMP = 1 << 8,
    MODE_IEEE = 1 << 9,
    MODE_FLOAT_BITS = 0x3ff, /* all bits that float arithmetic depends on */
    MODE_CSP_SHIFT = 29      /* 3 bits: depth of the branch stack */
};

#endif
