/*
 * Values and services an instruction can ask the machine for.
 */
#ifndef IR_SPECIAL_H
#define IR_SPECIAL_H

/* Special registers (op sreg). SPECIAL(name, registers): the text after '%' and its width in words. */
#define SPECIALS(SPECIAL)                                                                          \
    SPECIAL(tid_x, 1) SPECIAL(tid_y, 1) SPECIAL(tid_z, 1)                                          \
    SPECIAL(ntid_x, 1) SPECIAL(ntid_y, 1) SPECIAL(ntid_z, 1)                                       \
    SPECIAL(ctaid_x, 1) SPECIAL(ctaid_y, 1) SPECIAL(ctaid_z, 1)                                    \
    SPECIAL(nctaid_x, 1) SPECIAL(nctaid_y, 1) SPECIAL(nctaid_z, 1)                                 \
    SPECIAL(laneid, 1) SPECIAL(warpid, 1) SPECIAL(nwarpid, 1)                                      \
    SPECIAL(smid, 1) SPECIAL(nsmid, 1) SPECIAL(gridid, 2)                                          \
    SPECIAL(lanemask_eq, 1) SPECIAL(lanemask_le, 1) SPECIAL(lanemask_lt, 1)                        \
    SPECIAL(lanemask_ge, 1) SPECIAL(lanemask_gt, 1)                                                \
    SPECIAL(clock, 1) SPECIAL(clock_hi, 1) SPECIAL(clock64, 2)                                     \
    SPECIAL(globaltimer, 2) SPECIAL(globaltimer_lo, 1) SPECIAL(globaltimer_hi, 1)                  \
    SPECIAL(pm, 1) SPECIAL(pm64, 2)         /* performance counters: read as 0 */                  \
    SPECIAL(envreg, 1)                      /* driver-defined: read as 0 */                        \
    SPECIAL(total_smem_size, 1) SPECIAL(aggr_smem_size, 1) SPECIAL(dynamic_smem_size, 1)           \
    SPECIAL(reserved_smem, 1)               /* read as 0 */                                        \
    SPECIAL(clusterid, 1)                   /* a grid is its own blocks: cluster of one */         \
    SPECIAL(nclusterid_x, 1) SPECIAL(nclusterid_y, 1) SPECIAL(nclusterid_z, 1)                     \
    SPECIAL(cluster_one, 1)                 /* cluster_nctaid.*, cluster_nctarank: 1 */            \
    SPECIAL(cluster_zero, 1)                /* cluster_ctaid.*, cluster_ctarank: 0 */              \
    SPECIAL(is_explicit_cluster, 1)         /* 0 */                                                \
    SPECIAL(current_graph_exec, 2)          /* 0 */

enum special {
#define SPECIAL(name, words) SPECIAL_##name,
    SPECIALS(SPECIAL)
#undef SPECIAL
    SPECIAL_COUNT
};

/*
 * System calls (op syscall, key). The argument block is laid out as every callee's frame is: the
 * return value at offset 0 if there is one, then the parameters in order, each at its own alignment.
 */
enum syscall {
    SYSCALL_VPRINTF,    /* s32 vprintf(u64 format, u64 arguments): 0 <- 8, 16 */
    SYSCALL_ASSERTFAIL, /* void (u64 message, u64 file, u32 line, u64 function, u64 char size): 0, 8, 16, 24, 32 */
    SYSCALL_MALLOC,     /* u64 malloc(u64 bytes): 0 <- 8 */
    SYSCALL_FREE,       /* void free(u64 address): 0 */
};

/* Generic address windows. A generic address outside both is a global address. */
#define SHARED_WINDOW 0x7f0000000000ull /* + offset in the block's shared memory */
#define LOCAL_WINDOW 0x7e0000000000ull  /* + offset in the thread's local memory */
#define WINDOW_BYTES 0x1000000ull       /* each */

#endif
