; The program of listing.words; its listing is listing.txt.
v_mov_b32_e32 v1, 0
v_mov_b32_e32 v2, 1
v_cmp_gt_u32_e32 vcc, 5, v0
s_and_saveexec_b64 s[2:3], vcc
s_cbranch_execz L2
s_mov_b64 s[4:5], 0
L1:
v_add_i32_e32 v1, vcc, v1, v2
v_add_i32_e32 v0, vcc, 1, v0
v_cmp_lt_u32_e32 vcc, 9, v0
s_or_b64 s[4:5], vcc, s[4:5]
s_andn2_b64 exec, exec, s[4:5]
s_cbranch_execnz L1
s_or_b64 exec, exec, s[4:5]
L2:
s_or_b64 exec, exec, s[2:3]
v_mov_b32_e32 v3, 0x12345678
v_mul_lo_u32 v2, v1, v3
buffer_store_dword v2, off, s[8:11], 0
s_endpgm
