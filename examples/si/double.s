// Doubles those of 64 words in memory whose number is below s4. At the start v0 holds each lane's
// number and s[0:1] the address of the words.
    v_lshlrev_b32 v1, 2, v0             // byte offset of a lane's word
    s_mov_b32 s2, 256                   // s[0:3]: a buffer of 256 bytes
    s_mov_b32 s3, 0xf000
    v_cmp_gt_u32 vcc, s4, v0
    s_and_saveexec_b64 s[6:7], vcc      // only lanes below s4 go on
    buffer_load_dword v2, v1, s[0:3], 0 offen
    s_waitcnt vmcnt(0)
    v_add_i32 v2, vcc, v2, v2
    buffer_store_dword v2, v1, s[0:3], 0 offen
    s_mov_b64 exec, s[6:7]
    s_endpgm
