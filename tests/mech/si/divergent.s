// Divergent kernels, in the form in which compilers for Southern Islands save EXEC. In each, thread t
// stores v4 at its place. Made into divergent.so with
//   clang-14 -target amdgcn-amd-amdhsa -mcpu=tahiti -g -fdebug-compilation-dir=. -nostdlib
//       -I ../../micro/si -o divergent.so divergent.s
.amdgcn_target "amdgcn-amd-amdhsa--gfx600"
.include "kernel.inc"
.text

// v1: lane, v2: warp, v3: 0 in even lanes of even warps and odd lanes of odd ones, otherwise 1; s11: warp
.macro begin
    s_load_dwordx2 s[4:5], s[0:1], 0
    s_mov_b32 s6, 0
    s_mov_b32 s7, 0x100f000
    s_movk_i32 s10, 0x55
    v_and_b32 v1, 63, v0
    v_lshrrev_b32 v2, 6, v0
    v_xor_b32 v3, v1, v2
    v_and_b32 v3, 1, v3
    v_mov_b32 v4, v0
    v_readfirstlane_b32 s11, v2
    s_waitcnt lgkmcnt(0)
.endm
.macro finish
    v_lshlrev_b32 v0, 2, v0
    v_mov_b32 v1, 0
    buffer_store_dword v4, v[0:1], s[4:7], 0 addr64
.endm

// Two regions, of two instructions and of one.
kernel halves
    begin
    v_cmp_eq_u32 vcc, 0, v3
    s_and_saveexec_b64 s[8:9], vcc
    s_xor_b64 s[8:9], exec, s[8:9]
    s_cbranch_execz 1f
    v_add_i32 v4, vcc, v1, v4
    v_xor_b32 v4, s10, v4
1:  s_or_saveexec_b64 s[8:9], s[8:9]
    s_xor_b64 exec, exec, s[8:9]
    s_cbranch_execz 2f
    v_mul_u32_u24 v4, v2, v4
2:  s_or_b64 exec, exec, s[8:9]
    finish
end_kernel halves

// The region reads a number that differs from warp to warp.
kernel unlike
    begin
    v_cmp_eq_u32 vcc, 0, v3
    s_and_saveexec_b64 s[8:9], vcc
    s_cbranch_execz 1f
    v_add_i32 v4, vcc, s11, v4
1:  s_or_b64 exec, exec, s[8:9]
    finish
end_kernel unlike

// Each thread goes round ((thread ^ warp) & 7) + 1 times, and adds 5 in rounds in which its sum is odd.
kernel rounds
    begin
    v_xor_b32 v5, v2, v0
    v_and_b32 v5, 7, v5
    s_mov_b64 s[8:9], 0
1:  v_and_b32 v6, 1, v4
    v_cmp_ne_u32 vcc, 0, v6
    s_and_saveexec_b64 s[12:13], vcc
    s_cbranch_execz 2f
    v_add_i32 v4, vcc, 5, v4
2:  s_or_b64 exec, exec, s[12:13]
    v_add_i32 v4, vcc, v4, v5
    v_cmp_eq_u32 vcc, 0, v5
    s_or_b64 s[8:9], vcc, s[8:9]
    v_add_i32 v5, vcc, -1, v5
    s_andn2_b64 exec, exec, s[8:9]
    s_cbranch_execnz 1b
    s_or_b64 exec, exec, s[8:9]
    finish
end_kernel rounds

// What is not compacted: a value that is read after the region, a mask that is read as a number, a
// branch on VCC, another lane, and a mask that inactive lanes do not keep.
.macro region name
    kernel \name
    begin
    s_mov_b32 s14, 1
    s_mov_b64 s[12:13], -1
    v_cmp_eq_u32 vcc, 0, v3
    s_and_saveexec_b64 s[8:9], vcc
    s_cbranch_execz 1f
.endm
.macro end_region name
1:  s_or_b64 exec, exec, s[8:9]
    finish
    end_kernel \name
.endm
region bad_value
    s_add_i32 s14, s14, s10
    v_add_i32 v4, vcc, 1, v4
1:  s_or_b64 exec, exec, s[8:9]
    v_add_i32 v4, vcc, s14, v4
    finish
end_kernel bad_value
region bad_number
    s_bcnt1_i32_b64 s14, exec
    v_add_i32 v4, vcc, s14, v4
end_region bad_number
region bad_branch
    v_cmp_ne_u32 vcc, 2, v1
    s_cbranch_vccz 1f
    v_add_i32 v4, vcc, 1, v4
end_region bad_branch
region bad_lane
    v_readfirstlane_b32 s14, v4
    v_add_i32 v4, vcc, s14, v4
end_region bad_lane
region bad_mask
    v_cmp_ne_u32 s[12:13], 2, v1
    v_add_i32 v4, vcc, 1, v4
1:  s_or_b64 exec, exec, s[8:9]
    v_cndmask_b32 v4, v4, v0, s[12:13]
    finish
end_kernel bad_mask
region bad_exec
    s_mov_b64 exec, s[12:13]
    v_add_i32 v4, vcc, 1, v4
end_region bad_exec

.amdgpu_metadata
---
amdhsa.version: [1, 1]
amdhsa.target: amdgcn-amd-amdhsa--gfx600
amdhsa.kernels:
  - {.name: halves, .symbol: halves.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 4096,
     .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: unlike, .symbol: unlike.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 4096,
     .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: rounds, .symbol: rounds.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 4096,
     .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: bad_value, .symbol: bad_value.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 4096,
     .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: bad_number, .symbol: bad_number.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 4096,
     .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: bad_branch, .symbol: bad_branch.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 4096,
     .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: bad_lane, .symbol: bad_lane.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 4096,
     .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: bad_mask, .symbol: bad_mask.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 4096,
     .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: bad_exec, .symbol: bad_exec.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 4096,
     .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
...
.end_amdgpu_metadata
