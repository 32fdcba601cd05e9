/*
 * The table of PTX instructions: one row per form, forms of an opcode together.
 *
 * A form's modifiers are slots in PTX's order; the first form whose slots accept all modifiers in
 * the text is used. If none does, any order is accepted, as by NVIDIA's assembler (nvcc itself
 * writes atom.global.cta.xor). If that fails, too, the error message lists the words accepted at
 * the furthest place that any form reached.
 */
#include "base/config.h"
#include "ir/texture.h"
#include "isa/ptx/lower.h"
#include <stdio.h>
#include <stdlib.h>

#define INT16_64 "u16|s16|u32|s32|u64|s64"
#define INT32_64 "u32|s32|u64|s64"
#define RND "?rn|rz|rm|rp"
#define RND1 "rn|rz|rm|rp"
#define COMPARE "eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan"
#define BOOLEAN "?and|or|xor"
#define ANY16_64 "b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64"
#define SEMANTICS "?weak|volatile|relaxed|acquire|release|acq_rel|mmio"
#define SCOPES "?cta|cluster|gpu|sys"
#define SPACES \
    "?global|shared|shared::cta|shared::cluster|local|const|param|param::entry|param::func"
#define CACHE "?ca|cg|cs|lu|cv|wb|wt"
#define EVICT                                                                              \
    "?L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate" \
    " ?L2::evict_normal|L2::evict_first|L2::evict_last ?L2::cache_hint"
#define PREFETCH "?L2::64B|L2::128B|L2::256B"
#define ELEMENT "b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"
#define VECTOR "?v2|v4|v8"
#define ATOMIC SEMANTICS " " SCOPES " ?global|shared|shared::cta|shared::cluster " SCOPES " "
#define UNSUPPORTED(opcode, modifiers, why)                                          \
    {                                                                                \
        opcode, modifiers, "", lower_unsupported, OP_unsupported, SELECT_ONE, 0, why \
    }
#define NARROW "e2m1x2|e2m3x2|e3m2x2|ue8m0x2|e2m1x4|e2m3x4|e3m2x4|e4m3x4|e5m2x4"
#define TEXTURES "1d|2d|3d|a1d|a2d|cube|acube"
#define SURFACES "1d|2d|3d|a1d|a2d"
#define WARP_MODES "up|down|bfly|idx"

/* clang-format off */
#define G(opcode, modifiers, operands, op, select) \
    {opcode, modifiers, operands, lower_generic, OP_##op, SELECT_##select, 0, NULL}
#define K(opcode, modifiers, operands, op, select, key) \
    {opcode, modifiers, operands, lower_keyed, OP_##op, SELECT_##select, key, NULL}
#define H(opcode, modifiers, handler, op, select, key) \
    {opcode, modifiers, "", lower_##handler, OP_##op, SELECT_##select, key, NULL}
#define Q(word, what) H("txq", word " b32", query, txq, ONE, QUERY_##what)
#define QS(word, what) H("suq", word " b32", query, txq, ONE, QUERY_##what)
#define U(opcode, why) UNSUPPORTED(opcode, "*", why)

const struct form ptx_forms[] = {
    /* integer arithmetic */
    G("add", INT16_64, "t=tt", add_b16, WIDTH),
    G("add", "u16x2|s16x2", "t=tt", add_b16x2, ONE),
    G("add", "sat s32", "t=tt", add_sat_s32, ONE),
    H("add", "cc " INT32_64, carry, addc_b32, 64, 1),
    G("add", RND " ?ftz ?sat f32", "t=tt", add_f16, FLOAT),
    G("add", RND " f64", "t=tt", add_f16, FLOAT),
    G("add", "?rn ?ftz ?sat f16|f16x2", "t=tt", add_f16, FLOAT),
    G("add", "?rn bf16|bf16x2", "t=tt", add_f16, FLOAT),
    H("add", RND " ?ftz f32x2", f32x2, add_f32, ONE, 2),
    G("sub", INT16_64, "t=tt", sub_b16, WIDTH),
    G("sub", "sat s32", "t=tt", sub_sat_s32, ONE),
    H("sub", "cc " INT32_64, carry, subc_b32, 64, 1),
    G("sub", RND " ?ftz ?sat f32", "t=tt", sub_f16, FLOAT),
    G("sub", RND " f64", "t=tt", sub_f16, FLOAT),
    G("sub", "?rn ?ftz ?sat f16|f16x2", "t=tt", sub_f16, FLOAT),
    G("sub", "?rn bf16|bf16x2", "t=tt", sub_f16, FLOAT),
    H("sub", RND " ?ftz f32x2", f32x2, sub_f32, ONE, 2),
    H("addc", "?cc " INT32_64, carry, addc_b32, 64, 2),
    H("subc", "?cc " INT32_64, carry, subc_b32, 64, 2),
    G("mul", "lo " INT16_64, "t=tt", mul_lo_b16, WIDTH),
    G("mul", "hi " INT16_64, "t=tt", mul_hi_s16, SIGN),
    G("mul", "wide s16", "w=tt", mul_wide_s16, ONE),
    G("mul", "wide u16", "w=tt", mul_wide_u16, ONE),
    G("mul", "wide s32", "w=tt", mul_wide_s32, ONE),
    G("mul", "wide u32", "w=tt", mul_wide_u32, ONE),
    G("mul", RND " ?ftz ?sat f32", "t=tt", mul_f16, FLOAT),
    G("mul", RND " f64", "t=tt", mul_f16, FLOAT),
    G("mul", "?rn ?ftz ?sat f16|f16x2", "t=tt", mul_f16, FLOAT),
    G("mul", "?rn bf16|bf16x2", "t=tt", mul_f16, FLOAT),
    H("mul", RND " ?ftz f32x2", f32x2, mul_f32, ONE, 2),
    G("mad", "lo " INT16_64, "t=ttt", mad_lo_b16, WIDTH),
    G("mad", "hi " INT16_64, "t=ttt", mad_hi_s16, SIGN),
    G("mad", "hi sat s32", "t=ttt", mad_hi_sat_s32, ONE),
    G("mad", "wide s16", "w=ttw", mad_wide_s16, ONE),
    G("mad", "wide u16", "w=ttw", mad_wide_u16, ONE),
    G("mad", "wide s32", "w=ttw", mad_wide_s32, ONE),
    G("mad", "wide u32", "w=ttw", mad_wide_u32, ONE),
    H("mad", "lo cc " INT32_64, carry, madc_lo_b32, 64, 1),
    H("mad", "hi cc s32", carry, madc_hi_s32, ONE, 1),
    H("mad", "hi cc u32", carry, madc_hi_u32, ONE, 1),
    H("mad", "hi cc s64", carry, madc_hi_s64, ONE, 1),
    H("mad", "hi cc u64", carry, madc_hi_u64, ONE, 1),
    G("mad", RND " ?ftz ?sat f32", "t=ttt", fma_f16, FLOAT),
    G("mad", RND " f64", "t=ttt", fma_f16, FLOAT),
    H("madc", "lo ?cc " INT32_64, carry, madc_lo_b32, 64, 2),
    H("madc", "hi ?cc s32", carry, madc_hi_s32, ONE, 2),
    H("madc", "hi ?cc u32", carry, madc_hi_u32, ONE, 2),
    H("madc", "hi ?cc s64", carry, madc_hi_s64, ONE, 2),
    H("madc", "hi ?cc u64", carry, madc_hi_u64, ONE, 2),
    G("mul24", "lo s32", "t=tt", mul24_lo_s32, ONE),
    G("mul24", "lo u32", "t=tt", mul24_lo_u32, ONE),
    G("mul24", "hi s32", "t=tt", mul24_hi_s32, ONE),
    G("mul24", "hi u32", "t=tt", mul24_hi_u32, ONE),
    G("mad24", "lo s32", "t=ttt", mad24_lo_s32, ONE),
    G("mad24", "lo u32", "t=ttt", mad24_lo_u32, ONE),
    G("mad24", "hi s32", "t=ttt", mad24_hi_s32, ONE),
    G("mad24", "hi u32", "t=ttt", mad24_hi_u32, ONE),
    G("mad24", "hi sat s32", "t=ttt", mad24_hi_sat_s32, ONE),
    G("sad", INT16_64, "t=ttt", sad_s16, SIGN),
    G("div", INT16_64, "t=tt", div_s16, SIGN),
    G("div", "approx ?ftz f32", "t=tt", div_f32, ONE),
    K("div", "full ?ftz f32", "t=tt", div_f32, ONE, 1),
    G("div", RND1 " ?ftz f32", "t=tt", div_f32, ONE),
    G("div", RND1 " f64", "t=tt", div_f64, ONE),
    G("div", "?ftz f32", "t=tt", div_f32, ONE), /* PTX 1.x for sm_1x: approximate there */
    G("rem", INT16_64, "t=tt", rem_s16, SIGN),
    G("abs", "s16|s32|s64", "t=t", abs_s16, WIDTH),
    G("abs", "?ftz f16|f16x2|bf16|bf16x2|f32|f64", "t=t", abs_f16, FLOAT),
    G("neg", "s16|s32|s64", "t=t", neg_s16, WIDTH),
    G("neg", "?ftz f16|f16x2|bf16|bf16x2|f32|f64", "t=t", neg_f16, FLOAT),
    G("min", INT16_64, "t=tt", min_s16, SIGN),
    G("min", "relu s32", "t=tt", min_s16, SIGN),
    G("min", "?relu s16x2", "t=tt", min_s16x2, ONE),
    G("min", "u16x2", "t=tt", min_u16x2, ONE),
    G("min", "?ftz ?NaN ?xorsign ?abs f16|f16x2|bf16|bf16x2", "t=tt", min_f16, FLOAT),
    H("min", "?ftz ?NaN ?xorsign ?abs f32", minmax3, min_f32, ONE, 0),
    G("min", "f64", "t=tt", min_f16, FLOAT),
    G("max", INT16_64, "t=tt", max_s16, SIGN),
    G("max", "relu s32", "t=tt", max_s16, SIGN),
    G("max", "?relu s16x2", "t=tt", max_s16x2, ONE),
    G("max", "u16x2", "t=tt", max_u16x2, ONE),
    G("max", "?ftz ?NaN ?xorsign ?abs f16|f16x2|bf16|bf16x2", "t=tt", max_f16, FLOAT),
    H("max", "?ftz ?NaN ?xorsign ?abs f32", minmax3, max_f32, ONE, 1),
    G("max", "f64", "t=tt", max_f16, FLOAT),
    /* bits */
    G("and", "b16|b32|b64", "t=tt", and_b16, WIDTH),
    G("and", "pred", "p=pp", and_mask, ONE),
    G("or", "b16|b32|b64", "t=tt", or_b16, WIDTH),
    G("or", "pred", "p=pp", or_mask, ONE),
    G("xor", "b16|b32|b64", "t=tt", xor_b16, WIDTH),
    G("xor", "pred", "p=pp", xor_mask, ONE),
    G("not", "b16|b32|b64", "t=t", not_b16, WIDTH),
    G("not", "pred", "p=p", not_mask, ONE),
    G("cnot", "b16|b32|b64", "t=t", cnot_b16, WIDTH),
    G("shl", "b16|b32|b64", "t=tu", shl_b16, WIDTH),
    G("shr", "b16|b32|b64|" INT16_64, "t=tu", shr_s16, SIGN),
    K("shf", "l clamp b32", "t=ttu", shf_l_b32, ONE, 0),
    K("shf", "l wrap b32", "t=ttu", shf_l_b32, ONE, 1),
    K("shf", "r clamp b32", "t=ttu", shf_r_b32, ONE, 0),
    K("shf", "r wrap b32", "t=ttu", shf_r_b32, ONE, 1),
    G("popc", "b32|b64", "u=t", popc_b32, 64),
    G("clz", "b32|b64", "u=t", clz_b32, 64),
    G("brev", "b32|b64", "t=t", brev_b32, 64),
    K("bfind", "shiftamt u32", "u=t", bfind_u32, ONE, 1),
    K("bfind", "shiftamt s32", "u=t", bfind_s32, ONE, 1),
    K("bfind", "shiftamt u64", "u=t", bfind_u64, ONE, 1),
    K("bfind", "shiftamt s64", "u=t", bfind_s64, ONE, 1),
    G("bfind", "u32", "u=t", bfind_u32, ONE),
    G("bfind", "s32", "u=t", bfind_s32, ONE),
    G("bfind", "u64", "u=t", bfind_u64, ONE),
    G("bfind", "s64", "u=t", bfind_s64, ONE),
    G("bfe", "u32", "t=tuu", bfe_u32, ONE),
    G("bfe", "s32", "t=tuu", bfe_s32, ONE),
    G("bfe", "u64", "t=tuu", bfe_u64, ONE),
    G("bfe", "s64", "t=tuu", bfe_s64, ONE),
    G("bfi", "b32|b64", "t=ttuu", bfi_b32, 64),
    G("fns", "b32", "t=tuu", fns_b32, ONE),
    H("lop3", "b32", lop3, lop3_b32, ONE, BOOL_NONE),
    H("lop3", "or b32", lop3, lop3_mask, ONE, BOOL_OR),
    H("lop3", "and b32", lop3, lop3_mask, ONE, BOOL_AND),
    K("prmt", "b32", "t=ttu", prmt_b32, ONE, 0),
    K("prmt", "b32 f4e", "t=ttu", prmt_b32, ONE, 1),
    K("prmt", "b32 b4e", "t=ttu", prmt_b32, ONE, 2),
    K("prmt", "b32 rc8", "t=ttu", prmt_b32, ONE, 3),
    K("prmt", "b32 ecl", "t=ttu", prmt_b32, ONE, 4),
    K("prmt", "b32 ecr", "t=ttu", prmt_b32, ONE, 5),
    K("prmt", "b32 rc16", "t=ttu", prmt_b32, ONE, 6),
    K("szext", "clamp s32", "t=tu", szext_s32, ONE, 0),
    K("szext", "clamp u32", "t=tu", szext_u32, ONE, 0),
    K("szext", "wrap s32", "t=tu", szext_s32, ONE, 1),
    K("szext", "wrap u32", "t=tu", szext_u32, ONE, 1),
    K("bmsk", "clamp b32", "t=uu", bmsk_b32, ONE, 0),
    K("bmsk", "wrap b32", "t=uu", bmsk_b32, ONE, 1),
    H("vabsdiff2", "u32|s32 u32 u32 ?add", absdiff, vabsdiff2, ONE, 0),
    H("vabsdiff2", "u32|s32 s32 s32 ?add", absdiff, vabsdiff2, ONE, 1),
    U("vabsdiff2", "video instruction"),
    H("vabsdiff4", "u32|s32 u32 u32 ?add", absdiff, vabsdiff4, ONE, 0),
    H("vabsdiff4", "u32|s32 s32 s32 ?add", absdiff, vabsdiff4, ONE, 1),
    U("vabsdiff4", "video instruction"),
    H("dp4a", "u32|s32 u32|s32", dp, dp4a, ONE, 0),
    H("dp2a", "lo u32|s32 u32|s32", dp, dp2a, ONE, 0),
    H("dp2a", "hi u32|s32 u32|s32", dp, dp2a, ONE, 4),
    /* comparison and selection */
    H("setp", COMPARE " " BOOLEAN " ?ftz b16|b32|b64|" INT16_64 "|f16|f16x2|bf16|bf16x2|f32|f64",
      set, setp_u16, COMPARE, 0),
    H("set", COMPARE " " BOOLEAN " ?ftz u32|s32|f32|f16|bf16|u16|s16|f16x2|bf16x2"
      " b16|b32|b64|" INT16_64 "|f16|f16x2|bf16|bf16x2|f32|f64", set, set_u16, COMPARE, 1),
    G("selp", ANY16_64 "|f16|bf16|f16x2|bf16x2", "t=ttp", selp_b32, 64),
    G("slct", "b16|b32|u16|u32|s16|s32|f32 s32", "t=tts", slct_s32_b32, ONE),
    G("slct", "b64|u64|s64|f64 s32", "t=tts", slct_s32_b64, ONE),
    G("slct", "?ftz b16|b32|u16|u32|s16|s32|f32 f32", "t=tts", slct_f32_b32, ONE),
    G("slct", "?ftz b64|u64|s64|f64 f32", "t=tts", slct_f32_b64, ONE),
    /* floating point */
    G("fma", RND1 " ?ftz ?sat f32", "t=ttt", fma_f16, FLOAT),
    G("fma", RND1 " f64", "t=ttt", fma_f16, FLOAT),
    G("fma", "rn ?ftz ?sat f16|f16x2", "t=ttt", fma_f16, FLOAT),
    G("fma", "rn ?ftz relu f16|f16x2", "t=ttt", fma_f16, FLOAT),
    G("fma", "rn ?relu bf16|bf16x2", "t=ttt", fma_f16, FLOAT),
    H("fma", RND1 " ?ftz f32x2", f32x2, fma_f32, ONE, 3),
    UNSUPPORTED("fma", "rn oob ?relu f16|f16x2|bf16|bf16x2", "out-of-bounds marks"),
    G("rcp", "approx ?ftz f32", "t=t", rcp_f32, ONE),
    G("rcp", RND1 " ?ftz f32", "t=t", rcp_f32, ONE),
    G("rcp", RND1 " f64", "t=t", rcp_f64, ONE),
    G("rcp", "approx ftz f64", "t=t", rcp_f64, ONE),
    G("sqrt", "approx ?ftz f32", "t=t", sqrt_f32, ONE),
    G("sqrt", RND1 " ?ftz f32", "t=t", sqrt_f32, ONE),
    G("sqrt", RND1 " f64", "t=t", sqrt_f64, ONE),
    G("rsqrt", "approx ?ftz f32", "t=t", rsqrt_f32, ONE),
    G("rsqrt", "approx ?ftz f64", "t=t", rsqrt_f64, ONE),
    G("sin", "approx ?ftz f32", "t=t", sin_f32, ONE),
    G("cos", "approx ?ftz f32", "t=t", cos_f32, ONE),
    G("lg2", "approx ?ftz f32", "t=t", lg2_f32, ONE),
    G("ex2", "approx ?ftz f32|f16|f16x2|bf16|bf16x2", "t=t", ex2_f32, FLOAT5),
    G("tanh", "approx f32|f16|f16x2|bf16|bf16x2", "t=t", tanh_f32, FLOAT5),
    K("testp", "finite f32|f64", "p=t", testp_f32, 64, 0),
    K("testp", "infinite f32|f64", "p=t", testp_f32, 64, 1),
    K("testp", "number f32|f64", "p=t", testp_f32, 64, 2),
    K("testp", "notanumber f32|f64", "p=t", testp_f32, 64, 3),
    K("testp", "normal f32|f64", "p=t", testp_f32, 64, 4),
    K("testp", "subnormal f32|f64", "p=t", testp_f32, 64, 5),
    G("copysign", "f32|f64", "t=tt", copysign_f32, 64),
    /* moves and conversions */
    H("mov", ANY16_64 "|b8|b128|f16|f16x2|bf16|bf16x2|pred", mov, mov_b32, ONE, 0),
    H("mov", "v4 u16|u32", mov_vector, sreg, ONE, 0),
    H("cvt", "?rn|rz|rm|rp|rna|rni|rzi|rmi|rpi ?ftz ?relu ?sat|satfinite ?relu ?ftz ?sat"
      " u8|s8|u16|s16|u32|s32|u64|s64|f16|f16x2|bf16|bf16x2|tf32|e4m3x2|e5m2x2|f32|f64"
      " u8|s8|u16|s16|u32|s32|u64|s64|f16|f16x2|bf16|bf16x2|tf32|e4m3x2|e5m2x2|f32|f64",
      cvt, cvt, ONE, 0),
    H("cvt", "pack sat u16|s16 s32", cvt_pack, cvt, ONE, 0),
    H("cvt", "pack sat u8|s8 s32 b32", cvt_pack, cvt, ONE, 1),
    UNSUPPORTED("cvt", "pack sat u2|s2|u4|s4 s32 b32", "packed conversion to 2 or 4 bits"),
    UNSUPPORTED("cvt", "?rn|rz|rp|rs|rna ?satfinite ?relu ?satfinite " NARROW " *", "4-, 6- or 8-bit floating point of sm_100"),
    UNSUPPORTED("cvt", "?rn|rz ?satfinite ?relu ?satfinite ?scaled::n2::ue8m0 f16x2|bf16x2|f32 " NARROW, "4-, 6- or 8-bit floating point of sm_100"),
    UNSUPPORTED("cvt", "rs ?relu ?satfinite *", "stochastic rounding"),
    H("cvta", "global|const|shared|shared::cta|shared::cluster|local|param|param::entry u32|u64", cvta, mov_b64, ONE, 0),
    H("cvta", "to global|const|shared|shared::cta|shared::cluster|local|param|param::entry u32|u64", cvta, mov_b64, ONE, 1),
    H("isspacep", "global|const|shared|shared::cta|local|param|param::entry|shared::cluster", isspacep, isspacep, ONE, 0),
    /* memory */
    H("ld", SEMANTICS " " SCOPES " " SPACES " " SCOPES " " CACHE " ?nc " EVICT " " PREFETCH " " VECTOR " " ELEMENT,
      ld, ld, ONE, 0),
    H("ldu", "?global " VECTOR " " ELEMENT, ld, ld, ONE, 0),
    H("st", SEMANTICS " " SCOPES " " SPACES " " SCOPES " " CACHE " " EVICT " " VECTOR " " ELEMENT, st, st, ONE, 0),
    UNSUPPORTED("st", "async *", "asynchronous store"),
    UNSUPPORTED("st", "bulk *", "asynchronous store"),
    H("atom", ATOMIC "add|min|max|and|or|xor|exch|cas|inc|dec ?noftz ?L2::cache_hint"
      " b16|b32|b64|u32|u64|s32|s64|f16|f16x2|bf16|bf16x2|f32|f64", atom, atom, ONE, 1),
    H("atom", ATOMIC "add ?noftz ?L2::cache_hint v2|v4|v8 f16|f16x2|bf16|bf16x2|f32", atom, atom, ONE, 1),
    H("atom", ATOMIC "exch|cas ?L2::cache_hint b128", atom, atom, ONE, 1),
    UNSUPPORTED("atom", ATOMIC "min|max ?noftz ?L2::cache_hint ?v2|v4|v8 f16|f16x2|bf16|bf16x2", "16-bit floating-point minimum"),
    UNSUPPORTED("red", "async *", "asynchronous reduction"),
    H("red", ATOMIC "add|min|max|and|or|xor|inc|dec ?noftz ?L2::cache_hint"
      " b16|b32|b64|u32|u64|s32|s64|f16|f16x2|bf16|bf16x2|f32|f64", atom, atom, ONE, 0),
    H("red", ATOMIC "add ?noftz ?L2::cache_hint v2|v4|v8 f16|f16x2|bf16|bf16x2|f32", atom, atom, ONE, 0),
    UNSUPPORTED("red", ATOMIC "min|max ?noftz ?L2::cache_hint ?v2|v4|v8 f16|f16x2|bf16|bf16x2", "16-bit floating-point minimum"),
    H("prefetch", "?global|local L1|L2|L2::evict_last|L2::evict_normal", prefetch, prefetch, ONE, 0),
    UNSUPPORTED("prefetch", "?const|param tensormap", "tensor map prefetch"),
    H("prefetchu", "L1", prefetch, prefetch, ONE, 0),
    H("createpolicy", "*", policy, mov_b64, ONE, 0),
    H("applypriority", "?global L2::evict_normal", nothing, nop, ONE, 0),
    H("discard", "?global L2", nothing, nop, ONE, 0),
    H("membar", "cta", fence, fence, ONE, 0),
    H("membar", "gl", fence, fence, ONE, 1),
    H("membar", "sys", fence, fence, ONE, 2),
    H("membar", "proxy *", nothing, nop, ONE, 0), /* there is one proxy */
    H("fence", "?sc|acq_rel|acquire|release cta", fence, fence, ONE, 0),
    H("fence", "?sc|acq_rel|acquire|release cluster|gpu", fence, fence, ONE, 1),
    H("fence", "?sc|acq_rel|acquire|release sys", fence, fence, ONE, 2),
    H("fence", "proxy *", nothing, nop, ONE, 0),
    UNSUPPORTED("fence", "mbarrier_init *", "asynchronous barrier"),
    UNSUPPORTED("fence", "acquire|release sync_restrict::shared::cta|sync_restrict::shared::cluster *", "cluster"),
    /* control */
    H("bra", "?uni", bra, bra, ONE, 0),
    H("brx", "idx ?uni", brx, brx, ONE, 0),
    H("call", "?uni", call, call, ONE, 0),
    H("ret", "?uni", ret, ret, ONE, 0),
    H("exit", "", exit, exit, ONE, 0),
    H("trap", "", exit, trap, ONE, 0),
    H("brkpt", "", exit, brkpt, ONE, 0),
    H("nanosleep", "u32", nanosleep, nanosleep, ONE, 0),
    H("pmevent", "?mask", nothing, nop, ONE, 0),
    H("setmaxnreg", "inc|dec sync aligned u32", nothing, nop, ONE, 0),
    H("griddepcontrol", "launch_dependents|wait", nothing, nop, ONE, 0),
    H("bar", "sync", bar, bar, ONE, 0),
    H("bar", "cta sync", bar, bar, ONE, 0),
    H("bar", "arrive", bar, bar, ONE, 1),
    H("bar", "cta arrive", bar, bar, ONE, 1),
    H("bar", "?cta red and pred", bar_red, bar, ONE, 2),
    H("bar", "?cta red or pred", bar_red, bar, ONE, 3),
    H("bar", "?cta red popc u32", bar_red, bar_popc, ONE, 4),
    H("bar", "warp sync", barrier_warp, bar_warp, ONE, 0),
    H("barrier", "?cta sync ?aligned", bar, bar, ONE, 0),
    H("barrier", "?cta arrive ?aligned", bar, bar, ONE, 1),
    H("barrier", "?cta red and ?aligned pred", bar_red, bar, ONE, 2),
    H("barrier", "?cta red or ?aligned pred", bar_red, bar, ONE, 3),
    H("barrier", "?cta red popc ?aligned u32", bar_red, bar_popc, ONE, 4),
    UNSUPPORTED("barrier", "cluster *", "cluster barrier"),
    /* cross-lane operations */
    H("vote", "?sync all pred", vote, vote, ONE, 0),
    H("vote", "?sync any pred", vote, vote, ONE, 1),
    H("vote", "?sync uni pred", vote, vote, ONE, 2),
    H("vote", "?sync ballot b32", vote, ballot, ONE, 3),
    H("shfl", "?sync up b32", shfl, shfl, ONE, 0),
    H("shfl", "?sync down b32", shfl, shfl, ONE, 1),
    H("shfl", "?sync bfly b32", shfl, shfl, ONE, 2),
    H("shfl", "?sync idx b32", shfl, shfl, ONE, 3),
    H("match", "any sync b32|b64", match, match_any, ONE, 0),
    H("match", "all sync b32|b64", match, match_all, ONE, 1),
    H("redux", "sync add u32|s32", redux, redux, ONE, ATOMIC_ADD),
    H("redux", "sync min u32|s32", redux, redux, ONE, ATOMIC_MIN),
    H("redux", "sync max u32|s32", redux, redux, ONE, ATOMIC_MAX),
    H("redux", "sync and b32", redux, redux, ONE, ATOMIC_AND),
    H("redux", "sync or b32", redux, redux, ONE, ATOMIC_OR),
    H("redux", "sync xor b32", redux, redux, ONE, ATOMIC_XOR),
    UNSUPPORTED("redux", "sync min|max ?abs ?NaN f32", "floating-point redux"),
    G("activemask", "b32", "t=", activemask, ONE),
    H("elect", "sync", elect, elect, ONE, 0),
    /* recognised, and refused at launch */
    U("wmma", "tensor operation"), U("mma", "tensor operation"), U("wgmma", "tensor operation"),
    U("ldmatrix", "tensor operation"), U("stmatrix", "tensor operation"),
    U("movmatrix", "tensor operation"), U("tcgen05", "tensor operation"),
    U("cp", "asynchronous copy"), U("mbarrier", "asynchronous barrier"),
    U("tensormap", "asynchronous copy"), U("multimem", "multi-device memory"),
    U("mapa", "cluster"), U("getctarank", "cluster"), U("clusterlaunchcontrol", "cluster"),
    H("tex", "?base " TEXTURES " v4 f32|u32|s32 f32|s32", tex, tex, ONE, LEVEL_BASE),
    H("tex", "level " TEXTURES " v4 f32|u32|s32 f32", tex, tex, ONE, LEVEL_GIVEN),
    H("tex", "grad 1d|2d|a1d v4 f32|u32|s32 f32", tex, tex, ONE, LEVEL_GRADIENT),
    U("tex", "texture"),
    H("tld4", "r 2d|a2d|cube|acube v4 f32|u32|s32 f32", tex, tex, ONE, LEVEL_GATHER),
    H("tld4", "g 2d|a2d|cube|acube v4 f32|u32|s32 f32", tex, tex, ONE, LEVEL_GATHER + 1),
    H("tld4", "b 2d|a2d|cube|acube v4 f32|u32|s32 f32", tex, tex, ONE, LEVEL_GATHER + 2),
    H("tld4", "a 2d|a2d|cube|acube v4 f32|u32|s32 f32", tex, tex, ONE, LEVEL_GATHER + 3),
    U("tld4", "texture"),
    H("suld", "b " SURFACES " " CACHE " " VECTOR " b8|b16|b32|b64 trap|clamp|zero", surface, suld, ONE, 0),
    H("suld", "p " SURFACES " " CACHE " " VECTOR " b32|u32|s32|f32 trap|clamp|zero", surface, suld, ONE, 1),
    H("sust", "b " SURFACES " " CACHE " " VECTOR " b8|b16|b32|b64 trap|clamp|zero", surface, sust, ONE, 0),
    H("sust", "p " SURFACES " " CACHE " " VECTOR " b32|u32|s32|f32 trap|clamp|zero", surface, sust, ONE, 1),
    U("suld", "surface"), U("sust", "surface"), U("sured", "surface"),
    Q("width", WIDTH), Q("height", HEIGHT), Q("depth", DEPTH), Q("num_mipmap_levels", LEVELS),
    Q("num_samples", SAMPLES), Q("array_size", LAYERS), Q("channel_data_type", DATA_TYPE),
    Q("channel_order", CHANNEL_ORDER), Q("normalized_coords", NORMALIZED),
    Q("filter_mode", FILTER), Q("addr_mode_0", ADDRESS_X), Q("addr_mode_1", ADDRESS_Y),
    Q("addr_mode_2", ADDRESS_Z), U("txq", "texture"), U("istypep", "texture"),
    QS("width", WIDTH), QS("height", HEIGHT), QS("depth", DEPTH), QS("array_size", LAYERS),
    QS("channel_data_type", DATA_TYPE), QS("channel_order", CHANNEL_ORDER), U("suq", "surface"),
    U("vadd", "video instruction"), U("vsub", "video instruction"),
    U("vabsdiff", "video instruction"), U("vmin", "video instruction"),
    U("vmax", "video instruction"), U("vshl", "video instruction"),
    U("vshr", "video instruction"), U("vmad", "video instruction"),
    U("vset", "video instruction"), U("vadd2", "video instruction"),
    U("vsub2", "video instruction"), U("vavrg2", "video instruction"),
    U("vmin2", "video instruction"),
    U("vmax2", "video instruction"), U("vset2", "video instruction"),
    U("vadd4", "video instruction"), U("vsub4", "video instruction"),
    U("vavrg4", "video instruction"),
    U("vmin4", "video instruction"), U("vmax4", "video instruction"),
    U("vset4", "video instruction"),
    U("alloca", "stack allocation of variable size"),
    U("stacksave", "stack allocation of variable size"),
    U("stackrestore", "stack allocation of variable size"),
};
/* clang-format on */
const u32 ptx_form_count = ARRAY_LEN(ptx_forms);

static bool word_is(const char *word, const char *start, size_t length)
{
    return !strncmp(word, start, length) && !word[length];
}

/* Whether one of the slot's alternatives is the word; `end` is set past the slot. */
static bool slot_takes(const char *slot, const char *word, const char **end)
{
    bool takes = false;
    while (*slot && *slot != ' ') {
        size_t length = strcspn(slot, "| ");
        takes |= word && word_is(word, slot, length);
        slot += length;
        slot += *slot == '|';
    }
    *end = slot;
    return takes;
}

/* Returns whether all modifiers fit; *reached is how many did. */
static bool form_takes(const struct form *form, const struct ptx_instruction *in, u32 *reached)
{
    u32 at = 0;
    const char *slot = form->modifiers;
    while (*slot) {
        if (*slot == ' ') {
            slot++;
            continue;
        }
        if (*slot == '*') {
            *reached = at;
            return true;
        }
        bool optional = *slot == '?';
        slot += optional;
        const char *word = at < in->modifier_count ? in->modifiers[at] : NULL;
        if (slot_takes(slot, word, &slot)) {
            at++;
        } else if (!optional) {
            *reached = at;
            return false;
        }
    }
    *reached = at;
    return at == in->modifier_count;
}

/* form_takes() in any order except that of types: every modifier has a slot of its own, every
 * mandatory slot a modifier. */
static bool form_takes_unordered(const struct form *form, const struct ptx_instruction *in)
{
    u32 used = 0, mandatory = 0, types = 0; /* slots below `types` are used up by types */
    for (u32 i = 0; i < in->modifier_count; i++) {
        u32 number = 0;
        bool taken = false, is_type = type_parse(in->modifiers[i]) != TYPE_NONE;
        for (const char *slot = form->modifiers; *slot && !taken; number++) {
            slot += *slot == ' ';
            bool optional = *slot == '?';
            slot += optional;
            if (*slot == '*')
                return false;
            bool takes = slot_takes(slot, in->modifiers[i], &slot);
            taken = takes && !(used >> number & 1) && (!is_type || number >= types);
            if (taken)
                used |= 1u << number;
            if (taken && is_type)
                types = number + 1;
        }
        if (!taken)
            return false;
    }
    u32 number = 0;
    for (const char *slot = form->modifiers; *slot; number++) {
        slot += *slot == ' ';
        if (*slot != '?')
            mandatory |= 1u << number;
        slot += strcspn(slot, " ");
    }
    return (used & mandatory) == mandatory;
}

/* Adds the words that the form would have accepted at place `at`. */
static void collect_expected(const struct form *form, const struct ptx_instruction *in, u32 at,
                             char *text, size_t size)
{
    u32 place = 0;
    for (const char *slot = form->modifiers; *slot;) {
        if (*slot == ' ') {
            slot++;
            continue;
        }
        bool optional = *slot == '?';
        slot += optional;
        const char *start = slot;
        const char *word = place < in->modifier_count ? in->modifiers[place] : NULL;
        if (place < at && slot_takes(slot, word, &slot)) {
            place++;
            continue;
        }
        slot_takes(slot, NULL, &slot);
        for (const char *s = start; place == at && s < slot;) {
            int length = (int)strcspn(s, "| ");
            char item[48];
            snprintf(item, sizeof item, " .%.*s,", length, s);
            size_t used = strlen(text);
            if (!strstr(text, item) && used + strlen(item) < size)
                snprintf(text + used, size - used, "%s", item);
            s += length + 1;
        }
        if (!optional)
            return;
    }
}

static bool report_modifiers(struct fn *fn, const struct ptx_instruction *in,
                             const struct form *first, u32 furthest)
{
    char expected[600] = "";
    const struct form *end = ptx_forms + ptx_form_count;
    for (const struct form *f = first; f < end && !strcmp(f->opcode, in->opcode); f++) {
        u32 reached;
        form_takes(f, in, &reached);
        if (reached == furthest && f->modifiers[0] != '*')
            collect_expected(f, in, furthest, expected, sizeof expected);
    }
    size_t length = strlen(expected);
    if (length)
        expected[length - 1] = 0;
    if (furthest < in->modifier_count)
        return lower_error(fn->l, in->place, "'.%s' is not a modifier of '%s' here%s%s",
                           in->modifiers[furthest], in->opcode, length ? "; expected one of" : "",
                           expected);
    return lower_error(fn->l, in->place, "'%s' needs another modifier; expected one of%s",
                       in->opcode, expected);
}

static bool report_opcode(struct fn *fn, const struct ptx_instruction *in)
{
    const char **words = malloc(ptx_form_count * sizeof *words);
    for (u32 i = 0; i < ptx_form_count; i++)
        words[i] = ptx_forms[i].opcode;
    const char *near = nearest_word(in->opcode, words, ptx_form_count);
    free(words);
    if (near)
        return lower_error(fn->l, in->place, "unknown instruction '%s'; did you mean '%s'?",
                           in->opcode, near);
    return lower_error(fn->l, in->place, "unknown instruction '%s'", in->opcode);
}

enum effect {
    EFFECT_MOD,
    EFFECT_ROUND,
    EFFECT_ROUND_INT,
    EFFECT_COMPARE,
    EFFECT_ATOMIC,
    EFFECT_BOOL,
    EFFECT_SPACE,
    EFFECT_VECTOR
};

/* The effect of each word, at any place; a handler uses those that concern it. */
static const struct {
    const char *word;
    u8 effect;
    u16 value;
} effects[] = {
    {"ftz", EFFECT_MOD, MOD_FTZ},
    {"sat", EFFECT_MOD, MOD_SAT},
    {"approx", EFFECT_MOD, MOD_APPROX},
    {"full", EFFECT_MOD, MOD_APPROX},
    {"NaN", EFFECT_MOD, MOD_NAN},
    {"xorsign", EFFECT_MOD, MOD_XORSIGN},
    {"relu", EFFECT_MOD, MOD_RELU},
    {"volatile", EFFECT_MOD, MOD_VOLATILE},
    {"nc", EFFECT_MOD, MOD_READ_ONLY},
    {"cg", EFFECT_MOD, MOD_FAR},
    {"cv", EFFECT_MOD, MOD_FAR},
    {"relaxed", EFFECT_MOD, MOD_VOLATILE},
    {"acquire", EFFECT_MOD, MOD_VOLATILE},
    {"mmio", EFFECT_MOD, MOD_VOLATILE},
    {"rn", EFFECT_ROUND, ROUND_NEAREST},
    {"rz", EFFECT_ROUND, ROUND_ZERO},
    {"rm", EFFECT_ROUND, ROUND_DOWN},
    {"rp", EFFECT_ROUND, ROUND_UP},
    {"rna", EFFECT_ROUND, ROUND_AWAY},
    {"rni", EFFECT_ROUND_INT, ROUND_NEAREST},
    {"rzi", EFFECT_ROUND_INT, ROUND_ZERO},
    {"rmi", EFFECT_ROUND_INT, ROUND_DOWN},
    {"rpi", EFFECT_ROUND_INT, ROUND_UP},
    {"eq", EFFECT_COMPARE, CMP_EQ},
    {"ne", EFFECT_COMPARE, CMP_NE},
    {"lt", EFFECT_COMPARE, CMP_LT},
    {"le", EFFECT_COMPARE, CMP_LE},
    {"gt", EFFECT_COMPARE, CMP_GT},
    {"ge", EFFECT_COMPARE, CMP_GE},
    {"lo", EFFECT_COMPARE, CMP_LT},
    {"ls", EFFECT_COMPARE, CMP_LE},
    {"hi", EFFECT_COMPARE, CMP_GT},
    {"hs", EFFECT_COMPARE, CMP_GE},
    {"equ", EFFECT_COMPARE, CMP_EQU},
    {"neu", EFFECT_COMPARE, CMP_NEU},
    {"ltu", EFFECT_COMPARE, CMP_LTU},
    {"leu", EFFECT_COMPARE, CMP_LEU},
    {"gtu", EFFECT_COMPARE, CMP_GTU},
    {"geu", EFFECT_COMPARE, CMP_GEU},
    {"num", EFFECT_COMPARE, CMP_NUM},
    {"nan", EFFECT_COMPARE, CMP_NAN},
    {"add", EFFECT_ATOMIC, ATOMIC_ADD},
    {"min", EFFECT_ATOMIC, ATOMIC_MIN},
    {"max", EFFECT_ATOMIC, ATOMIC_MAX},
    {"exch", EFFECT_ATOMIC, ATOMIC_EXCH},
    {"cas", EFFECT_ATOMIC, ATOMIC_CAS},
    {"inc", EFFECT_ATOMIC, ATOMIC_INC},
    {"dec", EFFECT_ATOMIC, ATOMIC_DEC},
    {"and", EFFECT_ATOMIC, ATOMIC_AND},
    {"or", EFFECT_ATOMIC, ATOMIC_OR},
    {"xor", EFFECT_ATOMIC, ATOMIC_XOR},
    {"and", EFFECT_BOOL, BOOL_AND},
    {"or", EFFECT_BOOL, BOOL_OR},
    {"xor", EFFECT_BOOL, BOOL_XOR},
    {"global", EFFECT_SPACE, SPACE_GLOBAL},
    {"shared", EFFECT_SPACE, SPACE_SHARED},
    {"shared::cta", EFFECT_SPACE, SPACE_SHARED},
    {"shared::cluster", EFFECT_SPACE, SPACE_SHARED},
    {"local", EFFECT_SPACE, SPACE_LOCAL},
    {"const", EFFECT_SPACE, SPACE_CONST},
    {"param", EFFECT_SPACE, SPACE_PARAM},
    {"param::entry", EFFECT_SPACE, SPACE_PARAM},
    {"param::func", EFFECT_SPACE, SPACE_PARAM},
    {"v2", EFFECT_VECTOR, 2},
    {"v4", EFFECT_VECTOR, 4},
    {"v8", EFFECT_VECTOR, 8},
};

static void apply(struct match *m, u8 effect, u16 value)
{
    switch (effect) {
    case EFFECT_MOD:
        m->mods |= value;
        break;
    case EFFECT_ROUND_INT:
        m->integral = true;
        /* fallthrough */
    case EFFECT_ROUND:
        m->rounding = value;
        m->rounded = true;
        break;
    case EFFECT_COMPARE:
        m->compare = value;
        break;
    case EFFECT_ATOMIC:
        m->atomic = value;
        break;
    case EFFECT_BOOL:
        m->boolean = value;
        break;
    case EFFECT_SPACE:
        m->space = value;
        break;
    case EFFECT_VECTOR:
        m->vector = value;
        break;
    }
}

static void interpret(struct match *m)
{
    m->compare = m->boolean = m->atomic = m->space = -1;
    m->vector = 1;
    for (u32 i = 0; i < m->in->modifier_count; i++) {
        const char *word = m->in->modifiers[i];
        enum type type = type_parse(word);
        if (type != TYPE_NONE && m->type_count < ARRAY_LEN(m->types)) {
            m->types[m->type_count++] = type;
            continue;
        }
        for (size_t k = 0; k < ARRAY_LEN(effects); k++)
            if (!strcmp(effects[k].word, word))
                apply(m, effects[k].effect, effects[k].value);
    }
}

bool ptx_match(struct fn *fn, const struct ptx_instruction *in, struct match *m)
{
    const struct form *first = names_get(&fn->l->forms, in->opcode, strlen(in->opcode));
    if (!first)
        return report_opcode(fn, in);
    u32 furthest = 0;
    const struct form *end = ptx_forms + ptx_form_count, *found = NULL;
    for (const struct form *f = first; f < end && !strcmp(f->opcode, in->opcode); f++) {
        u32 reached;
        if (!found && form_takes(f, in, &reached))
            found = f;
        else if (!found)
            furthest = MAX(furthest, reached);
    }
    for (const struct form *f = first;
         !found && in->modifier_count <= 16 && f < end && !strcmp(f->opcode, in->opcode); f++)
        if (form_takes_unordered(f, in))
            found = f;
    if (!found)
        return report_modifiers(fn, in, first, furthest);
    m->form = found;
    m->in = in;
    interpret(m);
    return true;
}

bool match_has(const struct match *m, const char *modifier)
{
    for (u32 i = 0; i < m->in->modifier_count; i++)
        if (!strcmp(m->in->modifiers[i], modifier))
            return true;
    return false;
}

static int compare_index(enum type type)
{
    switch (type) {
    case TYPE_B16:
    case TYPE_U16:
        return 0;
    case TYPE_S16:
        return 1;
    case TYPE_B32:
    case TYPE_U32:
        return 2;
    case TYPE_S32:
        return 3;
    case TYPE_B64:
    case TYPE_U64:
        return 4;
    case TYPE_S64:
        return 5;
    case TYPE_F16:
        return 6;
    case TYPE_F16X2:
        return 7;
    case TYPE_BF16:
        return 8;
    case TYPE_BF16X2:
        return 9;
    case TYPE_F32:
        return 10;
    default:
        return 11;
    }
}

enum op select_op(const struct form *form, enum type type)
{
    u32 bytes = type_bytes(type), width = bytes == 8 ? 2 : bytes == 4 ? 1 : 0;
    switch (form->select) {
    case SELECT_WIDTH:
        return form->op + width;
    case SELECT_SIGN:
        return form->op + width + (type_is_signed(type) ? 0 : 3);
    case SELECT_FLOAT:
        return form->op + 8 * (u32)(compare_index(type) - 6);
    case SELECT_FLOAT5:
        return form->op + (type == TYPE_F32 ? 0 : (u32)(compare_index(type) - 5));
    case SELECT_64:
        return form->op + (bytes == 8);
    case SELECT_COMPARE:
        return form->op + 2 * (u32)compare_index(type);
    default:
        return form->op;
    }
}
