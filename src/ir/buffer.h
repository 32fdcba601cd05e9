/*
 * Accesses through a buffer descriptor: what the instruction says (ops buf_ld, buf_st, buf_atom).
 * What the descriptor says is in exec/buffer.c.
 */
#ifndef IR_BUFFER_H
#define IR_BUFFER_H

/* inst.key2. With INDEX and OFFSET the first address register is the index. */
enum buffer_flag {
    BUFFER_INDEX = 1 << 0,     /* idxen */
    BUFFER_OFFSET = 1 << 1,    /* offen */
    BUFFER_ADDRESS = 1 << 2,   /* addr64: a 64-bit address in a pair */
    BUFFER_LDS = 1 << 3,       /* a load goes to shared memory at M0's base */
    BUFFER_STATUS = 1 << 4,    /* tfe: one more register, written 0 */
    BUFFER_COHERENT = 1 << 5,  /* glc */
    BUFFER_STREAMING = 1 << 6, /* slc */
};

/* inst.key of buf_ld and buf_st; `type` and `vector` give the layout in registers. */
enum buffer_format {
    BUFFER_RAW,        /* elements of `type`, not converted */
    BUFFER_DESCRIPTOR, /* converted as the descriptor says (buffer_load_format_*) */
    BUFFER_TYPED,      /* converted as imm says: offset in bits 0 to 15, data format in bits 16 to
                        * 19, number format in bits 20 to 22 */
};

#endif
