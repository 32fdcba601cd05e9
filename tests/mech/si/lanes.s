// Each lane stores its number, which it counts (test_uniform_time.c). Made into lanes.so with
//   clang-14 -target amdgcn-amd-amdhsa -mcpu=tahiti -g -fdebug-compilation-dir=. -nostdlib
//       -I ../../micro/si -o lanes.so lanes.s
.amdgcn_target "amdgcn-amd-amdhsa--gfx600"
.include "kernel.inc"
.text

kernel lanes
    s_load_dwordx2 s[4:5], s[0:1], 0
    s_mov_b32 s6, 0
    s_mov_b32 s7, 0x100f000
    v_lshlrev_b32 v0, 2, v0
    v_mov_b32 v1, 0
    v_mov_b32 v2, 0
    v_mbcnt_lo_u32_b32 v2, -1, v2
    v_mbcnt_hi_u32_b32 v2, -1, v2
    s_waitcnt lgkmcnt(0)
    buffer_store_dword v2, v[0:1], s[4:7], 0 addr64
end_kernel lanes

.amdgpu_metadata
---
amdhsa.version: [1, 1]
amdhsa.target: amdgcn-amd-amdhsa--gfx600
amdhsa.kernels:
  - {.name: lanes, .symbol: lanes.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
...
.end_amdgpu_metadata
