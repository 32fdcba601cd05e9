// Kernels for tests of wait counters. Made into counters.so with
//   clang-14 -target amdgcn-amd-amdhsa -mcpu=tahiti -g -fdebug-compilation-dir=. -nostdlib
//       -o counters.so counters.s
.amdgcn_target "amdgcn-amd-amdhsa--gfx600"
.include "kernel.inc"
.text

// The argument in s[4:5], a descriptor of all memory with it as its base in s[4:7]; in v[0:1] the
// offset of the lane's word.
.macro begin
    s_mov_b32 m0, -1
    s_load_dwordx2 s[4:5], s[0:1], 0
    s_mov_b32 s6, 0
    s_mov_b32 s7, 0x100f000
    v_lshlrev_b32 v0, 2, v0
    v_mov_b32 v1, 0
    s_waitcnt lgkmcnt(0)
.endm

// The same with lanes 256 bytes apart, so that an access takes long.
.macro begin_apart
    begin
    v_lshlrev_b32 v0, 6, v0
.endm

.macro load register, offset
    buffer_load_dword \register, v[0:1], s[4:7], 0 addr64 offset:\offset
.endm

.macro store register, offset
    buffer_store_dword \register, v[0:1], s[4:7], 0 addr64 offset:\offset
.endm

// What a register holds before and after the wait for it: words 64 on.
kernel early
    begin
    v_mov_b32 v2, 7
    load v2, 0
    v_mov_b32 v3, v2                    // too early
    s_waitcnt vmcnt(0)
    store v3, 256
    store v2, 512
    s_mov_b32 s8, 7
    s_load_dword s8, s[4:5], 1
    s_mov_b32 s9, s8                    // too early
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v4, s9
    v_mov_b32 v5, s8
    store v4, 768
    store v5, 1024
    v_mov_b32 v6, 9
    ds_write_b32 v0, v6
    v_mov_b32 v7, 7
    ds_read_b32 v7, v0
    v_mov_b32 v8, v7                    // too early
    s_waitcnt lgkmcnt(0)
    store v8, 1280
    store v7, 1536
end_kernel early

// Two loads to one register, of which the second finds its line in the cache: the second counts.
kernel same
    begin
    load v3, 0
    s_waitcnt vmcnt(0)
    load v2, 2048
    load v2, 0
    s_waitcnt vmcnt(0)
    store v2, 256
end_kernel same

// Four loads, and a wait until n are left.
.macro four n
    kernel left\n
    begin_apart
    load v2, 0
    load v3, 64
    load v4, 128
    load v5, 192
    s_waitcnt vmcnt(\n)
    s_nop 0
    end_kernel left\n
.endm
four 0
four 1
four 2
four 3
four 4

// As many as can be counted, and one more.
kernel many
    begin
    .rept 16
    load v2, 2048
    .endr
end_kernel many

// A store, and waits for its data and for itself.
kernel stored
    begin_apart
    store v2, 0
    s_waitcnt expcnt(0)
    s_waitcnt vmcnt(0)
    s_nop 0
end_kernel stored

// A scalar load of one word counts once, of two words twice.
kernel one_word
    begin
    s_load_dword s8, s[4:5], 255
    s_waitcnt lgkmcnt(1)
    s_nop 0
end_kernel one_word
kernel two_words
    begin
    s_load_dwordx2 s[8:9], s[4:5], 254
    s_waitcnt lgkmcnt(1)
    s_nop 0
end_kernel two_words

// Shared memory: a write behind a read is not done before it.
kernel shared_order
    begin
    v_mov_b32 v6, 9
    ds_write_b32 v0, v6
    v_mov_b32 v7, 7
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v7, v0
    ds_write_b32 v0, v6 offset:1024
    s_waitcnt lgkmcnt(1)
    store v7, 256
    v_mov_b32 v7, 7
    s_waitcnt lgkmcnt(0) vmcnt(0) expcnt(0)
    ds_read_b32 v7, v0
    ds_swizzle_b32 v8, v6 offset:0x041f
    s_waitcnt lgkmcnt(1)
    store v7, 512
end_kernel shared_order

.amdgpu_metadata
---
amdhsa.version: [1, 1]
amdhsa.target: amdgcn-amd-amdhsa--gfx600
amdhsa.kernels:
  - {.name: early, .symbol: early.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: same, .symbol: same.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: left0, .symbol: left0.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: left1, .symbol: left1.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: left2, .symbol: left2.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: left3, .symbol: left3.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: left4, .symbol: left4.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: many, .symbol: many.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: stored, .symbol: stored.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: one_word, .symbol: one_word.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: two_words, .symbol: two_words.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
  - {.name: shared_order, .symbol: shared_order.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8,
     .group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64,
     .sgpr_count: 42, .vgpr_count: 24, .max_flat_workgroup_size: 1024,
     .args: [{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}]}
...
.end_amdgpu_metadata
