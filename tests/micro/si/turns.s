// Kernels for tests of schedulers in turn. Made into turns.so with
//   clang-14 -target amdgcn-amd-amdhsa -mcpu=tahiti -g -fdebug-compilation-dir=. -nostdlib -o turns.so turns.s
.amdgcn_target "amdgcn-amd-amdhsa--gfx600"
.include "kernel.inc"
.text

// The number of the warp in its block.
.macro warp_number to
    v_readfirstlane_b32 \to, v0
    s_lshr_b32 \to, \to, 6
.endm

// Time for all that follows to be in the buffer; then all go on together.
.macro meet
    .rept 8
    s_nop 0
    .endr
    s_barrier
.endm

// Warp w does three instructions of a kind, which depend on nothing. The last two are vector and
// scalar again.
kernel kinds
    s_mov_b32 m0, -1
    v_mov_b32 v1, 0
    s_mov_b64 s[8:9], 0     // a buffer of no bytes: loads give 0
    s_mov_b64 s[10:11], 0
    warp_number s2
    s_cmp_eq_u32 s2, 1
    s_cbranch_scc1 scalar
    s_cmp_eq_u32 s2, 2
    s_cbranch_scc1 branch
    s_cmp_eq_u32 s2, 3
    s_cbranch_scc1 access
    s_cmp_eq_u32 s2, 4
    s_cbranch_scc1 shared
    s_cmp_eq_u32 s2, 5
    s_cbranch_scc1 internal
    s_cmp_eq_u32 s2, 6
    s_cbranch_scc1 internal
    s_cmp_eq_u32 s2, 8
    s_cbranch_scc1 scalar
    meet
    v_mov_b32 v2, 1
    v_mov_b32 v3, 1
    v_mov_b32 v4, 1
    s_endpgm
scalar:
    meet
    s_mov_b32 s12, 1
    s_mov_b32 s13, 1
    s_mov_b32 s14, 1
    s_endpgm
branch:
    meet
    s_branch one
one:
    s_branch two
two:
    s_branch three
three:
    s_endpgm
access:
    meet
    buffer_load_dword v2, off, s[8:11], 0
    buffer_load_dword v3, off, s[8:11], 0
    buffer_load_dword v4, off, s[8:11], 0
    s_endpgm
shared:
    meet
    ds_read_b32 v2, v1
    ds_read_b32 v3, v1
    ds_read_b32 v4, v1
    s_endpgm
internal:
    meet
    s_nop 0
    s_nop 0
    s_nop 0
end_kernel kinds

// Each needs the result of the one before.
kernel chain
    meet
    v_add_f32 v1, v0, v0
    v_add_f32 v1, v1, v1
    v_add_f32 v1, v1, v1
    v_rcp_f32 v1, v1
    v_add_f32 v1, v1, v1
    s_mov_b32 s2, s0
    s_add_u32 s2, s2, s2
    s_add_u32 s2, s2, s2
end_kernel chain

// The vector unit is taken; scalars are not.
kernel busy
    warp_number s2
    s_cmp_eq_u32 s2, 1
    s_cbranch_scc1 other
    meet
    v_rcp_f32 v1, v0
    v_mov_b32 v2, 1
    s_mov_b32 s3, 1
    s_endpgm
other:
    meet
    s_mov_b32 s3, 1
    v_mov_b32 v2, 1
    s_mov_b32 s4, 1
end_kernel busy

.amdgpu_metadata
---
amdhsa.version: [1, 1]
amdhsa.target: amdgcn-amd-amdhsa--gfx600
amdhsa.kernels:
  - {.name: kinds, .symbol: kinds.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: chain, .symbol: chain.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: busy, .symbol: busy.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
...
.end_amdgpu_metadata
