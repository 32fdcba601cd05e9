; Every kind of operand and every irregular form; scripts/si-lower-cases assembles it to cases.txt.
s_add_u32 s0, s1, s2
s_addc_u32 s0, s1, 0x12345678
s_cselect_b64 s[0:1], s[2:3], -1
s_lshl_b64 s[0:1], s[2:3], s4
s_mov_b64 s[0:1], 1.0
s_mov_b64 s[0:1], -16
s_mov_b64 s[0:1], 0x12345678
s_mov_b64 exec, s[2:3]
s_mov_b32 m0, -1
s_mov_b32 s0, vcc_hi
s_mov_b32 s0, scc
s_and_b64 vcc, exec, s[2:3]
s_movk_i32 s0, 0x8000
s_cmovk_i32 s0, 0x1234
s_cmov_b64 s[2:3], 64
s_cmpk_lt_i32 s3, 0xffff
s_cmpk_lt_u32 s3, 0xffff
s_addk_i32 s3, 0xff00
s_mulk_i32 s3, 0x7
s_cmp_lg_u32 s0, 0
s_bitset0_b64 s[2:3], s0
s_bitcmp1_b64 s[2:3], 5
s_and_saveexec_b64 s[0:1], vcc
s_xnor_saveexec_b64 s[0:1], s[2:3]
s_getpc_b64 s[0:1]
s_setpc_b64 s[0:1]
s_swappc_b64 s[30:31], s[4:5]
s_movrels_b32 s0, s4
s_movreld_b64 s[4:5], s[0:1]
s_getreg_b32 s0, hwreg(HW_REG_MODE)
s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s0
s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0x3
s_setreg_b32 hwreg(HW_REG_STATUS), s0
s_cbranch_g_fork s[0:1], s[2:3]
s_cbranch_join s0
s_nop 3
s_waitcnt vmcnt(0)
s_sleep 2
s_trap 1
s_barrier
s_sethalt 0
s_sethalt 1
s_sendmsg sendmsg(MSG_INTERRUPT)
s_setprio 1
s_load_dword s0, s[2:3], 0x10
s_load_dwordx8 s[8:15], s[2:3], s4
s_buffer_load_dwordx2 s[0:1], s[4:7], 0xff
s_memtime s[0:1]
v_mov_b32_e32 v0, 0.5
v_mov_b32_e32 v0, 0x12345678
v_mov_b32_e32 v0, exec_lo
v_mov_b32_e32 v0, vccz
v_mov_b32_e64 v0, lds_direct
v_cndmask_b32_e32 v0, v1, v2, vcc
v_cndmask_b32_e64 v0, -v1, |v2|, s[4:5]
v_readlane_b32 s0, v1, 5
v_readfirstlane_b32 s0, v1
v_writelane_b32 v0, s1, s1
v_add_f32_e32 v0, s1, v2
v_add_f32_e64 v0, -v1, |v2| clamp mul:4
v_subrev_f32_e32 v0, v1, v2
v_mac_f32_e32 v0, v1, v2
v_mac_legacy_f32_e64 v0, v1, -v2 div:2
v_madmk_f32 v0, v1, 0x11213141, v3
v_madak_f32 v0, v1, v2, 0x11213141
v_lshlrev_b32_e32 v0, 3, v1
v_ashr_i32_e64 v0, v1, s2
v_bfm_b32_e64 v0, 4, 8
v_mbcnt_lo_u32_b32_e64 v0, -1, 0
v_mbcnt_hi_u32_b32_e32 v0, -1, v0
v_add_i32_e32 v0, vcc, 5, v1
v_add_i32_e64 v0, s[2:3], v1, v2
v_addc_u32_e32 v0, vcc, v1, v2, vcc
v_subb_u32_e64 v0, s[2:3], v1, v2, s[4:5]
v_subbrev_u32_e32 v0, vcc, v1, v2, vcc
v_ldexp_f32_e64 v0, v1, 3
v_cvt_pkrtz_f16_f32_e32 v0, v1, v2
v_cvt_i32_f64_e32 v0, v[2:3]
v_cvt_f64_i32_e32 v[0:1], s2
v_cvt_f32_f16_e32 v0, v1
v_cvt_f32_ubyte2_e32 v0, v1
v_rndne_f32_e32 v0, v1
v_floor_f32_e64 v0, |v1|
v_rcp_legacy_f32_e32 v0, v1
v_cmp_lt_f32_e32 vcc, 1.0, v1
v_cmp_nge_f32_e64 s[2:3], -v0, v1
v_cmpx_eq_u32_e32 vcc, 0, v1
v_cmpx_lt_f64_e64 s[4:5], v[0:1], 0.5
v_cmps_tru_f32_e32 vcc, v0, v1
v_cmp_gt_i64_e32 vcc, -1, v[2:3]
v_cmp_gt_i64_e32 vcc, 0x80000000, v[2:3]
v_cmp_gt_u64_e32 vcc, 0x80000000, v[2:3]
s_ashr_i64 s[0:1], 0x80000000, s2
s_lshr_b64 s[0:1], 0x80000000, s2
v_cmp_class_f64_e64 s[0:1], -v[2:3], v4
v_mad_u32_u24 v0, v1, s2, 3
v_alignbit_b32 v0, v1, v2, v3
v_alignbyte_b32 v0, v1, v2, 1
v_bfi_b32 v0, v1, v2, s3
v_add_f64 v[0:1], v[2:3], -4.0
v_fma_f64 v[0:1], v[2:3], -|v[4:5]|, s[6:7] clamp
v_lshl_b64 v[0:1], v[2:3], 5
v_ashr_i64 v[0:1], s[2:3], v4
v_div_scale_f32 v0, vcc, v1, v2, v3
v_div_scale_f64 v[0:1], s[2:3], v[2:3], v[4:5], v[2:3]
v_div_fmas_f32 v0, v1, v2, v3
v_mqsad_pk_u16_u8 v[0:1], v[2:3], v4, v[6:7]
v_trig_preop_f64 v[0:1], v[2:3], 1
v_cubeid_f32 v0, v1, v2, v3
v_movreld_b32_e32 v0, v1
v_movrels_b32_e32 v0, v1
v_movrelsd_b32_e32 v0, v1
v_interp_mov_f32 v0, p10, attr0.x
ds_read_b32 v0, v1 offset:16
ds_read_i8 v0, v1
ds_read2_b64 v[0:3], v4 offset0:1 offset1:255
ds_read2st64_b32 v[0:1], v4 offset1:2
ds_write_b16 v0, v1 offset:65535
ds_write2_b32 v0, v1, v2 offset1:1
ds_add_u32 v0, v1
ds_min_rtn_i64 v[0:1], v2, v[4:5]
ds_cmpst_rtn_b32 v0, v1, v2, v3
ds_mskor_b32 v0, v1, v2
ds_max_rtn_f32 v0, v1, v2
ds_wrxchg2_rtn_b32 v[0:1], v2, v3, v4 offset1:3
ds_add_src2_u32 v0 offset:4
ds_swizzle_b32 v0, v1 offset:0x8001
ds_add_u32 v0, v1 gds
ds_append v0 offset:4
buffer_load_dword v0, off, s[4:7], s8 offset:4095
buffer_load_dword v0, v1, s[4:7], 0 offen
buffer_load_dwordx4 v[0:3], v[4:5], s[4:7], 0 addr64 offset:16
buffer_load_ubyte v0, v[1:2], s[4:7], m0 idxen offen glc slc
buffer_load_sshort v0, v1, s[4:7], 0 idxen tfe
buffer_load_dword v0, off, s[4:7], s3 lds
buffer_load_format_xyz v[0:2], v4, s[4:7], 0 idxen
buffer_store_dwordx2 v[0:1], v2, s[4:7], s3 offen offset:8
buffer_store_byte v0, v[2:3], s[4:7], 0 addr64
buffer_atomic_add v0, v1, s[4:7], 0 idxen
buffer_atomic_add v0, v1, s[4:7], 0 idxen glc
buffer_atomic_cmpswap_x2 v[0:3], off, s[4:7], 0 glc
buffer_wbinvl1
tbuffer_load_format_xy v[0:1], v2, s[4:7], dfmt:5, nfmt:7, 0 idxen offset:12
tbuffer_store_format_x v0, off, s[4:7], dfmt:4, nfmt:4, s1
image_load v[0:3], v[4:7], s[8:15] dmask:0xf unorm
exp mrt0 v0, v0, v0, v0
s_endpgm
