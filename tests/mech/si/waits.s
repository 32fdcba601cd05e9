// Kernels that wait for memory (ok_) and that do not (bad_). The lines of an instruction that uses a
// register too early and of the access are marked. Made into waits.so with
//   clang-14 -target amdgcn-amd-amdhsa -mcpu=tahiti -g -fdebug-compilation-dir=. -nostdlib
//       -I ../../micro/si -o waits.so waits.s
.amdgcn_target "amdgcn-amd-amdhsa--gfx600"
.include "kernel.inc"
.text

.macro begin
    s_mov_b32 m0, -1
    s_load_dwordx2 s[4:5], s[0:1], 0
    s_mov_b32 s6, 0
    s_mov_b32 s7, 0x100f000
    v_lshlrev_b32 v0, 2, v0
    v_mov_b32 v1, 0
    v_mov_b32 v2, 0
    s_waitcnt lgkmcnt(0)
.endm
.macro load register, offset
    buffer_load_dword \register, v[0:1], s[4:7], 0 addr64 offset:\offset
.endm
.macro store register, offset
    buffer_store_dword \register, v[0:1], s[4:7], 0 addr64 offset:\offset
.endm

kernel ok_order
    begin
    load v2, 0
    load v3, 256
    load v4, 512
    s_waitcnt vmcnt(2)
    v_mov_b32 v5, v2
    s_waitcnt vmcnt(1)
    v_mov_b32 v5, v3
    s_waitcnt vmcnt(0)
    v_mov_b32 v5, v4
end_kernel ok_order

kernel ok_same
    begin
    load v2, 0
    load v2, 256
    ds_read_b32 v3, v0
    ds_read_b32 v3, v0 offset:256
    s_waitcnt vmcnt(0) lgkmcnt(0)
    v_mov_b32 v5, v2
    v_mov_b32 v5, v3
end_kernel ok_same

kernel ok_shared
    begin
    ds_read_b32 v2, v0
    ds_write_b32 v0, v5
    ds_read2_b32 v[6:7], v0 offset1:1
    s_waitcnt lgkmcnt(2)
    v_mov_b32 v5, v2
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v5, v7
end_kernel ok_shared

kernel ok_mixed
    begin
    s_load_dwordx4 s[8:11], s[4:5], 0
    ds_read_b32 v2, v0
    load v3, 0
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v5, s11
    v_mov_b32 v5, v2
    s_waitcnt vmcnt(0)
    v_mov_b32 v5, v3
end_kernel ok_mixed

kernel ok_data
    begin
    store v2, 0
    s_waitcnt expcnt(0)
    v_mov_b32 v2, 1
    store v2, 256
    s_waitcnt vmcnt(0)
    v_mov_b32 v2, 2
    store v2, 0
    load v6, 256
    s_waitcnt vmcnt(1)                  // memory has the first one
    v_mov_b32 v2, 3
    store v2, 0
    load v2, 256
    s_waitcnt vmcnt(0)
end_kernel ok_data

kernel ok_most
    begin
    load v2, 0
    .rept 15
    load v3, 256
    .endr
    v_mov_b32 v5, v2                    // no more than 15 can be under way
end_kernel ok_most

kernel ok_loop
    begin
    s_mov_b32 s12, 4
    load v2, 0
1:
    s_waitcnt vmcnt(0)
    v_add_f32 v5, v5, v2
    load v2, 256
    s_sub_u32 s12, s12, 1
    s_cmp_lg_u32 s12, 0
    s_cbranch_scc1 1b
    s_waitcnt vmcnt(0)
end_kernel ok_loop

kernel ok_address
    begin
    load v2, 0                          // writing an address or a descriptor does no harm
    v_mov_b32 v0, 0
    s_mov_b32 s6, 0
    s_waitcnt vmcnt(0)
end_kernel ok_address

kernel bad_read
    begin
    load v2, 0                          // access: bad_read
    v_mov_b32 v5, v2                    // use: bad_read
    s_waitcnt vmcnt(0)
    v_mov_b32 v5, v2
end_kernel bad_read

kernel bad_left
    begin
    load v2, 0
    load v3, 256                        // access: bad_left
    load v4, 512
    s_waitcnt vmcnt(2)
    v_mov_b32 v5, v2
    v_mov_b32 v5, v3                    // use: bad_left
    s_waitcnt vmcnt(0)
end_kernel bad_left

kernel bad_write
    begin
    load v2, 0                          // access: bad_write
    s_waitcnt expcnt(0) lgkmcnt(0)
    v_mov_b32 v2, 1                     // use: bad_write
    s_waitcnt vmcnt(0)
end_kernel bad_write

kernel bad_stored
    begin
    load v2, 0                          // access: bad_stored
    store v2, 256                       // use: bad_stored
end_kernel bad_stored

kernel bad_data
    begin
    store v3, 0
    store v2, 256                       // access: bad_data
    s_waitcnt expcnt(1)
    v_mov_b32 v3, 1
    v_mov_b32 v2, 1                     // use: bad_data
end_kernel bad_data

kernel bad_pair
    begin
    s_load_dwordx2 s[8:9], s[4:5], 0    // access: bad_pair
    s_waitcnt vmcnt(0) expcnt(0)
    s_mov_b32 s12, s9                   // use: bad_pair
    s_waitcnt lgkmcnt(0)
end_kernel bad_pair

kernel bad_scalar
    begin
    s_load_dword s8, s[4:5], 0          // access: bad_scalar
    ds_read_b32 v2, v0
    s_waitcnt lgkmcnt(1)
    v_mov_b32 v5, s8                    // use: bad_scalar
    s_waitcnt lgkmcnt(0)
end_kernel bad_scalar

kernel bad_mixed
    begin
    s_load_dword s8, s[4:5], 0
    ds_read_b32 v2, v0                  // access: bad_mixed
    s_waitcnt lgkmcnt(1)
    v_mov_b32 v5, v2                    // use: bad_mixed
    s_waitcnt lgkmcnt(0)
end_kernel bad_mixed

kernel bad_vcc
    begin
    s_load_dwordx2 vcc, s[4:5], 0       // access: bad_vcc
    s_cbranch_vccz 1f                   // use: bad_vcc
1:
    s_waitcnt lgkmcnt(0)
end_kernel bad_vcc

kernel bad_other
    begin
    load v2, 0                          // access: bad_other
    ds_read_b32 v2, v0                  // use: bad_other
    s_waitcnt vmcnt(0) lgkmcnt(0)
end_kernel bad_other

kernel bad_loop
    begin
    s_mov_b32 s12, 4
    s_waitcnt vmcnt(0)
1:
    v_add_f32 v5, v5, v2                // use: bad_loop
    load v2, 256                        // access: bad_loop
    s_sub_u32 s12, s12, 1
    s_cmp_lg_u32 s12, 0
    s_cbranch_scc1 1b
end_kernel bad_loop

kernel bad_swizzle
    begin
    ds_swizzle_b32 v2, v0 offset:0x041f // access: bad_swizzle
    v_mov_b32 v5, v2                    // use: bad_swizzle
end_kernel bad_swizzle

.amdgpu_metadata
---
amdhsa.version: [1, 1]
amdhsa.target: amdgcn-amd-amdhsa--gfx600
amdhsa.kernels:
  - {.name: ok_order, .symbol: ok_order.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: ok_same, .symbol: ok_same.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: ok_shared, .symbol: ok_shared.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: ok_mixed, .symbol: ok_mixed.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: ok_data, .symbol: ok_data.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: ok_most, .symbol: ok_most.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: ok_loop, .symbol: ok_loop.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: ok_address, .symbol: ok_address.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: bad_read, .symbol: bad_read.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: bad_left, .symbol: bad_left.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: bad_write, .symbol: bad_write.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: bad_stored, .symbol: bad_stored.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: bad_data, .symbol: bad_data.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: bad_pair, .symbol: bad_pair.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: bad_scalar, .symbol: bad_scalar.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: bad_mixed, .symbol: bad_mixed.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: bad_vcc, .symbol: bad_vcc.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: bad_other, .symbol: bad_other.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: bad_loop, .symbol: bad_loop.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: bad_swizzle, .symbol: bad_swizzle.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
...
.end_amdgpu_metadata
