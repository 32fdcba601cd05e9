/*
 * The state of raw Southern Islands programs as JSON: what registers and memory hold before a run,
 * and after it.
 *
 *     {"waves": [{"workgroup": 0, "threads": 64, "pc": 0, "lds_bytes": 0,
 *                 "sgpr": {"0": 7, "4": "0xffffffff"}, "vgpr": {"0": [1, 2, 3]},
 *                 "exec": "0xffffffffffffffff", "vcc": "0x0", "scc": 0, "m0": 0, "mode": 448,
 *                 "lds": "0011"}],
 *      "memory": [{"address": "0x1000", "hex": "00112233"}]}
 *
 * Every key but "waves" may be left out: a wave has 64 threads, starts at 0 with EXEC set for its
 * threads, MODE 0x1c0 and zeros elsewhere. Lanes and bytes that are not given are zero. Any
 * number may be a string "0x...", and must be one if it does not fit in 63 bits; 32-bit numbers may
 * be negative, for their two's complement. Waves of one workgroup share its LDS, and must agree on
 * it. A dump has all keys and can be read again.
 */
#ifndef ISA_SI_STATE_H
#define ISA_SI_STATE_H

#include "base/arena.h"
#include "base/error.h"

enum {
    SI_STATE_SGPRS = 104,
    SI_STATE_VGPRS = 256,
    SI_STATE_LANES = 64,
    SI_STATE_WAVES = 1024,      /* maximum; limits the memory that a short text can request */
    SI_STATE_LDS_BYTES = 65536, /* maximum per workgroup */
    SI_STATE_MODE = 0x1c0       /* f32 subnormals flushed, f64 ones kept, DX10_CLAMP */
};

struct si_wave {
    u32 group;   /* index into groups */
    u32 threads; /* 1 to 64 */
    u64 pc;      /* byte offset from the start of the program, a multiple of 4 */
    u64 exec, vcc;
    u32 scc, m0, mode;
    u32 sgpr[SI_STATE_SGPRS];
    u32 vgpr_count; /* rows given; those beyond are zero */
    u32 (*vgpr)[SI_STATE_LANES];
};

struct si_group {
    u32 id; /* as in the state file */
    u32 lds_bytes;
    u8 *lds;
    u32 first_wave; /* the lowest index; its other waves need not follow */
    u32 wave_count;
};

struct si_region {
    u64 address, bytes;
    u8 *data;
};

struct si_state {
    struct si_wave *waves;
    u32 wave_count;
    struct si_group *groups; /* in order of their first wave */
    u32 group_count;
    struct si_region *regions; /* sorted by address, disjoint, none empty */
    u32 region_count;
};

/* Reads and checks a state; messages name `file`, the place in the JSON and what was expected. */
struct si_state *state_read(struct arena *arena, const char *text, size_t length, const char *file,
                            struct error *error);

/* Adds zeroed rows of vector registers, for the state after a run. */
void state_vgprs(struct arena *arena, struct si_wave *wave, u32 count);

/* The state as JSON text that state_read takes; malloc'd. */
char *state_text(const struct si_state *state);

#endif
