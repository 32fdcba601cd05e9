/*
 * Special registers and system calls: values and services that instructions request from the
 * machine.
 */
#ifndef IR_SPECIAL_H
#define IR_SPECIAL_H

/* Special registers (op sreg, imm). */
enum special {
#define SPECIAL(name, words) SPECIAL_##name,
#include "ir/special.def"
#undef SPECIAL
    SPECIAL_COUNT
};

/*
 * System calls (op syscall, key). The argument block is laid out like every callee's frame: the
 * return value at offset 0 if there is one, then the parameters in order, each at its own
 * alignment.
 */
enum syscall {
    SYSCALL_VPRINTF,    /* s32 vprintf(u64 format, u64 arguments): 0 <- 8, 16 */
    SYSCALL_ASSERTFAIL, /* void (u64 message, u64 file, u32 line, u64 function, u64 char size): 0,
                           8, 16, 24, 32 */
    SYSCALL_MALLOC,     /* u64 malloc(u64 bytes): 0 <- 8 */
    SYSCALL_FREE,       /* void free(u64 address): 0 */
};

/* Generic address windows. A generic address outside both is a global address. */
#define SHARED_WINDOW 0x7f0000000000ull /* + offset in the block's shared memory */
#define LOCAL_WINDOW 0x7e0000000000ull  /* + offset in the thread's local memory */
#define WINDOW_BYTES 0x1000000ull       /* each */

#endif
