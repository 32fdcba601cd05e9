// Kernels whose values' lifetimes are counted by hand (test_lifetimes.c). Made into lifetimes.so with
//   clang-14 -target amdgcn-amd-amdhsa -mcpu=tahiti -g -fdebug-compilation-dir=. -nostdlib
//       -I ../../micro/si -o lifetimes.so lifetimes.s
.amdgcn_target "amdgcn-amd-amdhsa--gfx600"
.include "kernel.inc"
.text

// v1 is written in all lanes, then in 16; the other 48 lanes keep the first value.
kernel partial
    v_mov_b32 v1, 1                 // A: read by the addition to v3: 6 instructions
    v_cmp_gt_u32 vcc, 16, v0
    s_and_saveexec_b64 s[8:9], vcc
    v_mov_b32 v1, 2                 // B, of 16 lanes: read by both additions: 3
    v_add_i32 v2, vcc, v1, v0       // C, of 16 lanes: never read
    s_mov_b64 exec, s[8:9]
    v_add_i32 v3, vcc, v1, v0       // D: 1
    v_mov_b32 v4, v3                // E: never read
    v_mov_b32 v2, 0x12345           // F: never read
end_kernel partial

// M0 selects the register; and one lane is read by its number, from a lane that is not active.
kernel indexed
    v_mov_b32 v1, 1                 // read by v_movrels: 4 instructions
    v_mov_b32 v2, 2                 // overwritten by v_movreld
    s_mov_b32 m0, 1
    v_movreld_b32 v1, v0            // writes v2, read by v_readlane: 4
    v_movrels_b32 v3, v0            // reads v1; itself never read
    v_cmp_gt_u32 vcc, 8, v0
    s_and_saveexec_b64 s[8:9], vcc
    v_readlane_b32 s10, v2, 60
    s_mov_b64 exec, s[8:9]
end_kernel indexed
