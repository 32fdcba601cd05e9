/*
 * A slow emulator of Southern Islands compute code, for the tests alone.
 *
 * It is written from the ISA's documents, lane by lane, in plain C and MPFR; it shares no code with
 * src. One call executes one instruction of one wave and says everything that was written.
 *
 * Invariants
 *  E1  Scalars are held by operand code: VCC 106/107, M0 124, EXEC 126/127.
 *  E2  Every change of architectural state goes through emu_write_*, so the record is complete.
 *  E3  A wave stops at the first fault; the machine's `fault` says which.
 */
#ifndef SI_EMU_H
#define SI_EMU_H

#include "../../../semantics/fp.h"

enum {
    LANES = 64,
    SCALARS = 128,
    VECTORS = 256,
    VCC = 106,
    M0 = 124,
    EXEC = 126,
    LITERAL = 255,
    MAX_WORDS = 2
};

/* MODE's fields. */
enum {
    MODE_ROUND32 = 0,
    MODE_ROUND64 = 2,
    MODE_DENORM32 = 4,
    MODE_DENORM64 = 6,
    MODE_DX10 = 1 << 8,
    MODE_IEEE = 1 << 9,
    MODE_CSP = 29
};

enum format {
    F_SOP1,
    F_SOP2,
    F_SOPK,
    F_SOPC,
    F_SOPP,
    F_SMRD,
    F_VOP1,
    F_VOP2,
    F_VOPC,
    F_VOP3,
    F_DS,
    F_MUBUF,
    F_MTBUF
};

enum group {
    G_SCALAR,
    G_VINT,
    G_VFLOAT,
    G_VDOUBLE,
    G_COMPARE,
    G_CROSS,
    G_MOVREL,
    G_EXEC,
    G_MODE,
    G_SMEM,
    G_BUFFER,
    G_FORMAT,
    G_ATOMIC,
    G_LDS,
    G_LDSATOMIC,
    G_CONTROL,
    GROUPS
};

enum op {
#define ROW(format, opcode, name, signature, group) OP_##name,
#include "table.def"
    OPS
};

struct row {
    enum format format;
    u16 opcode;
    const char *name, *signature;
    enum group group;
};
extern const struct row rows[];

/* Fields are those of the format; what it does not have is 0. */
struct insn {
    enum op op;
    const struct row *row;
    enum format format; /* of the encoding: a VOP2 row may be encoded as VOP3 */
    u32 words[MAX_WORDS], size;
    u32 dst, src[3], sdst; /* operand codes; vector destinations without the 256 */
    u32 neg, abs, omod, literal;
    bool clamp, has_literal;
    u16 imm;
    /* memory */
    u32 offset0, offset1, vaddr, vdata, vdata1, srsrc, soffset, dfmt, nfmt;
    bool offen, idxen, glc, addr64, lds, tfe, gds, imm_offset;
};

enum space {
    SPACE_SCALAR, /* where = operand code; lane unused */
    SPACE_VECTOR,
    SPACE_SCC,
    SPACE_MODE,
    SPACE_MEMORY, /* where = address of a byte */
    SPACE_LDS
};

enum closeness {
    EXACT,
    NEAR_ULP,      /* one step of the format */
    NEAR_ABSOLUTE, /* sine, cosine */
    NEAR_ANY       /* the clock */
};

struct write {
    enum space space;
    u32 lane;
    u64 where;
    u32 value, before;
    enum closeness near;
    u8 part;       /* 1, 2: the low, the high word of an f64 */
    bool optional; /* not said to be written, but if it was, this is the value */
};

struct record {
    u32 wave;
    u64 pc; /* from the program's start */
    u32 count, capacity;
    struct write *writes;
    char text[96]; /* as Heddle writes the instruction */
};

struct wave {
    u32 group, threads, lds_bytes;
    u64 pc;
    u32 scalars[SCALARS], scc, mode;
    u32 vectors[VECTORS][LANES];
    bool ended, at_barrier;
};

struct region {
    u64 address;
    u32 bytes;
    u8 *data;
};

enum {
    MAX_GROUPS = 4,
    MAX_REGIONS = 4,
    MAX_WAVES = 4,
    LDS_BYTES = 65536
};

struct machine {
    const u8 *code;
    u32 code_bytes;
    u64 code_base; /* device address of the first byte */
    u32 wave_count, region_count;
    struct wave waves[MAX_WAVES];
    struct region regions[MAX_REGIONS];
    u8 lds[MAX_GROUPS][LDS_BYTES];
    const char *fault; /* NULL while all is well */
    u64 time;          /* instructions committed */
};

/* A step's surroundings, handed to every semantic function. */
struct step {
    struct machine *machine;
    struct wave *wave;
    struct record *record;
    const struct insn *insn;
    u64 next; /* pc after the instruction */
    enum closeness near;
};

/* decode.c: false for an encoding that is not in the table. */
bool emu_decode(const u8 *code, size_t bytes, struct insn *insn);

/* emu.c */
void emu_init(struct machine *machine);
void emu_free(struct machine *machine);
void emu_region(struct machine *machine, u64 address, u32 bytes);
bool emu_step(struct machine *machine, u32 wave, struct record *record); /* false: fault or ended */
bool emu_may_step(const struct machine *machine, u32 wave); /* not ended, not held by a barrier */
bool emu_run(struct machine *machine, u64 limit);           /* all waves in turn until they end */
void record_clear(struct record *record);
void record_free(struct record *record);

/* What a semantic function may use. */
u32 emu_scalar(struct step *s, u32 code);
u64 emu_scalar64(struct step *s, u32 code, bool is_float);
u64 emu_exec(const struct wave *wave);
u32 emu_vector_source(struct step *s, u32 code, u32 lane);
u64 emu_vector_source64(struct step *s, u32 code, u32 lane, bool is_float);
void emu_write_scalar(struct step *s, u32 code, u32 value);
void emu_write_scalar64(struct step *s, u32 code, u64 value);
void emu_write_vector(struct step *s, u32 reg, u32 lane, u32 value);
void emu_write_vector64(struct step *s, u32 reg, u32 lane, u64 value);
void emu_write_scc(struct step *s, bool value);
void emu_write_mode(struct step *s, u32 value);
void emu_write_byte(struct step *s, enum space space, u32 lane, u64 address, u8 value);
bool emu_memory(struct step *s, u64 address, u32 bytes, u8 **data); /* sets the fault */
void emu_fault(struct step *s, const char *what);

/* One file a kind. */
void emu_scalar_op(struct step *s);  /* scalar.c: SOP1, SOP2, SOPK, SOPC */
void emu_control_op(struct step *s); /* control.c: SOPP, jumps, forks */
bool emu_is_control(enum op op);
void emu_smrd(struct step *s);      /* buffer.c */
void emu_buffer(struct step *s);    /* buffer.c: MUBUF, MTBUF */
void emu_lds(struct step *s);       /* lds.c */
void emu_vector_op(struct step *s); /* vector.c: VOP1, VOP2, VOP3 */
void emu_compare(struct step *s);   /* vector.c: VOPC */
u64 emu_integer(struct step *s, const u64 *src, u32 lane, bool *carry, bool *known);
u64 emu_float(struct step *s, const u64 *src, u64 old, bool vcc, bool *flag); /* float.c */

/* number.c: arithmetic under MODE; `kind` K_F32 or K_F64. */
u64 num_in(const struct wave *w, enum kind kind, u64 bits);  /* input subnormals */
u64 num_out(const struct wave *w, enum kind kind, u64 bits); /* output subnormals */
enum rounding num_round(const struct wave *w, enum kind kind);
u64 num_default_nan(enum kind kind);
u64 num_quiet(enum kind kind, u64 bits);
bool num_signaling(enum kind kind, u64 bits);
u64 num_add(enum kind kind, u64 a, u64 b, enum rounding round);
u64 num_mul(enum kind kind, u64 a, u64 b, enum rounding round);
/* (a * b + c) * 2^power with one rounding */
u64 num_fma(enum kind kind, u64 a, u64 b, u64 c, i64 power, enum rounding round);
u64 num_scale(enum kind kind, u64 a, i64 power, enum rounding round);
u64 num_convert(enum kind to, enum kind from, u64 bits, enum rounding round);
u64 num_from_integer(enum kind to, i64 value, enum rounding round);
/* Rounded by `round`, then held in [low, high]; NaN gives `nan`. */
i64 num_to_integer(enum kind from, u64 bits, enum rounding round, i64 low, i64 high, i64 nan);
u64 num_integral(enum kind kind, u64 bits, enum rounding round); /* floor and its like */
int num_compare(enum kind kind, u64 a, u64 b);                   /* -1 0 1; 2 unordered */
u64 num_minmax(enum kind kind, u64 a, u64 b, bool max, bool ieee);
enum function {
    FN_RCP,
    FN_RSQ,
    FN_SQRT,
    FN_EXP2,
    FN_LOG2,
    FN_SIN,
    FN_COS
};
u64 num_function(enum kind kind, enum function function, u64 bits);
u64 num_atomic_minmax(enum kind kind, u64 a, u64 b, bool max);

/* atomic.c: what an atomic leaves in memory. */
enum atomic {
    A_ADD,
    A_SUB,
    A_RSUB,
    A_INC,
    A_DEC,
    A_SMIN,
    A_SMAX,
    A_UMIN,
    A_UMAX,
    A_AND,
    A_OR,
    A_XOR,
    A_MSKOR,
    A_SWAP,
    A_CMPSWAP,
    A_FCMPSWAP,
    A_FMIN,
    A_FMAX
};
/* `compare` is used by cmpswap (and as the mask of mskor), `data` is what is combined or stored. */
u64 atomic_value(enum atomic op, bool wide, u64 old, u64 data, u64 compare);

#endif
