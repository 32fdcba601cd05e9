/*
 * Special registers and system calls: values and services that instructions request from the
 * machine.
 */
#ifndef IR_SPECIAL_H
#define IR_SPECIAL_H

#include "base/types.h"

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
 * alignment. Pointers and sizes, `word` below, have as many bytes as the program's addresses: the
 * offsets are those of 64-bit and of 32-bit programs.
 */
enum syscall {
    SYSCALL_VPRINTF,    /* s32 vprintf(word format, word arguments): 0 <- 8, 16; 0 <- 4, 8 */
    SYSCALL_ASSERTFAIL, /* void (word message, word file, u32 line, word function, word char size):
                         * 0, 8, 16, 24, 32; 0, 4, 8, 12, 16 */
    SYSCALL_MALLOC,     /* word malloc(word bytes): 0 <- 8; 0 <- 4 */
    SYSCALL_FREE,       /* void free(word address): 0 */
};

/*
 * Generic addresses: those in a window are offsets in a block's shared memory or in a thread's local
 * memory, all others are global addresses. Device memory never reaches the windows.
 *
 * Programs with 32-bit addresses have their windows at the end of their address space, as Fermi's
 * drivers place them. Local memory is the lower one: few constants of a program look like its
 * addresses, which analysis/redundancy.c searches for; small negative numbers would.
 */
#define WINDOW_BYTES 0x1000000ull /* each */
struct windows {
    u64 shared, local; /* first generic addresses */
    u64 below;         /* a power of two: no address without a bit from here on is in a window */
};
static const struct windows windows_64 = {0x7f0000000000, 0x7e0000000000, 1ull << 46};
static const struct windows windows_32 = {0xff000000, 0xfe000000, 1ull << 31};
static inline const struct windows *windows_of(u32 address_bits)
{
    return address_bits == 32 ? &windows_32 : &windows_64;
}

#endif
