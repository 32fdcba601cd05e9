/*
 * Reference functions the tables name, by file. See form.h for what they get.
 */
#ifndef SEMANTICS_REFERENCES_H
#define SEMANTICS_REFERENCES_H

#include "form.h"

/* ref_integer.c */
reference_fn ref_add, ref_sub, ref_mul, ref_mad, ref_mul24, ref_mad24, ref_div, ref_rem, ref_abs,
    ref_neg, ref_min, ref_max, ref_sad, ref_add_chain, ref_sub_chain, ref_mixed_chain,
    ref_mad_chain, ref_mad_full, ref_pair, ref_absdiff, ref_dp4a, ref_dp2a;
/* ref_bits.c */
reference_fn ref_and, ref_or, ref_xor, ref_not, ref_cnot, ref_shl, ref_shr, ref_shf_l, ref_shf_r,
    ref_popc, ref_clz, ref_bfind, ref_brev, ref_bfe, ref_bfi, ref_fns, ref_lop3, ref_lop3_pred,
    ref_prmt, ref_szext, ref_bmsk, ref_mov, ref_pack, ref_unpack;
/* ref_compare.c */
reference_fn ref_setp, ref_setp_pair, ref_setp_not, ref_set, ref_selp, ref_slct, ref_testp,
    ref_copysign;
/* ref_float.c */
reference_fn ref_fadd, ref_fsub, ref_fmul, ref_fma, ref_fdiv, ref_frcp, ref_fsqrt, ref_fmin,
    ref_fmax, ref_fmax3_abs, ref_fabs, ref_fneg, ref_f32x2;
/* ref_convert.c */
reference_fn ref_cvt, ref_cvt_pack, ref_cvt_pair, ref_cvt_half_pair;
/* ref_approx.c */
judge_fn judge_div_approx, judge_div_full, judge_rcp, judge_sqrt, judge_rsqrt, judge_rcp_gross,
    judge_rsqrt_gross, judge_rsqrt_f64, judge_sin, judge_cos, judge_lg2, judge_ex2, judge_tanh;

#endif
