// Inline PTX: carry chains, bit operations, dot products, halves, special registers, clocks.
#include "cuda.h"

/* 128-bit sum and difference, 64 x 64 product by pieces. */
extern "C" __global__ void carry(const unsigned *a, const unsigned *b, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned *x = a + 4 * i, *y = b + 4 * i;
    unsigned *o = out + 14 * i;
    asm("add.cc.u32 %0, %5, %9;\n\t"
        "addc.cc.u32 %1, %6, %10;\n\t"
        "addc.cc.u32 %2, %7, %11;\n\t"
        "addc.cc.u32 %3, %8, %12;\n\t"
        "addc.u32 %4, 0, 0;"
        : "=&r"(o[0]), "=&r"(o[1]), "=&r"(o[2]), "=&r"(o[3]), "=&r"(o[4])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]));
    asm("sub.cc.u32 %0, %5, %9;\n\t"
        "subc.cc.u32 %1, %6, %10;\n\t"
        "subc.cc.u32 %2, %7, %11;\n\t"
        "subc.cc.u32 %3, %8, %12;\n\t"
        "subc.u32 %4, 0, 0;"
        : "=&r"(o[5]), "=&r"(o[6]), "=&r"(o[7]), "=&r"(o[8]), "=&r"(o[9])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]));
    asm("mul.lo.u32 %0, %4, %6;\n\t"
        "mul.hi.u32 %1, %4, %6;\n\t"
        "mad.lo.cc.u32 %1, %4, %7, %1;\n\t"
        "madc.hi.u32 %2, %4, %7, 0;\n\t"
        "mad.lo.cc.u32 %1, %5, %6, %1;\n\t"
        "madc.hi.cc.u32 %2, %5, %6, %2;\n\t"
        "addc.u32 %3, 0, 0;\n\t"
        "mad.lo.cc.u32 %2, %5, %7, %2;\n\t"
        "madc.hi.u32 %3, %5, %7, %3;"
        : "=&r"(o[10]), "=&r"(o[11]), "=&r"(o[12]), "=&r"(o[13])
        : "r"(x[0]), "r"(x[1]), "r"(y[0]), "r"(y[1]));
}

#define ASM3(text, d, a, b, c) asm(text " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c))
#define ASM2(text, d, a, b) asm(text " %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b))
#define ASM1(text, d, a) asm(text " %0, %1;" : "=r"(d) : "r"(a))

extern "C" __global__ void bits(const unsigned *a, const unsigned *b, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i], y = b[i], z = x * 0x9e3779b9u ^ y, *o = out + 20 * i;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(o[0]) : "r"(x), "r"(y), "r"(z));
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(o[1]) : "r"(x), "r"(y), "r"(z));
    asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(o[2]) : "r"(x), "r"(y), "r"(z));
    ASM3("prmt.b32", o[3], x, y, z);
    ASM3("prmt.b32.f4e", o[4], x, y, z & 3);
    ASM3("bfe.u32", o[5], x, y & 31, z & 31);
    ASM3("bfe.s32", o[6], x, y & 63, z & 63);
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(o[7]) : "r"(x), "r"(z), "r"(y & 31), "r"(z & 31));
    ASM3("shf.l.wrap.b32", o[8], x, y, z & 63);
    ASM3("shf.r.clamp.b32", o[9], x, y, z & 63);
    ASM3("dp4a.s32.s32", o[10], x, y, z);
    ASM3("dp4a.u32.s32", o[11], x, y, z);
    ASM3("dp2a.lo.s32.u32", o[12], x, y, z);
    ASM3("sad.u32", o[13], x, y, z);
    ASM1("brev.b32", o[14], x);
    ASM1("bfind.u32", o[15], x >> (y & 31));
    ASM1("bfind.shiftamt.s32", o[16], x);
    ASM2("mul24.lo.u32", o[17], x, y);
    ASM3("mad24.lo.s32", o[18], x, y, z);
    asm("{.reg .pred p; setp.lt.and.u32 p, %1, %2, 1; selp.b32 %0, %1, %2, p;}"
        : "=r"(o[19])
        : "r"(x), "r"(y));
}

/* IEEE half arithmetic in 16-bit registers and in packed pairs. */
extern "C" __global__ void halves16(const unsigned short *a, const unsigned short *b,
                                    unsigned short *out, unsigned *packed, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned short x = a[i], y = b[i], *o = out + 5 * i;
    asm("add.f16 %0, %1, %2;" : "=h"(o[0]) : "h"(x), "h"(y));
    asm("mul.f16 %0, %1, %2;" : "=h"(o[1]) : "h"(x), "h"(y));
    asm("fma.rn.f16 %0, %1, %2, %1;" : "=h"(o[2]) : "h"(x), "h"(y));
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x));
    f = f * 3.0f;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(o[3]) : "f"(f));
    asm("cvt.rz.f16.f32 %0, %1;" : "=h"(o[4]) : "f"(f));
    unsigned p = x | (unsigned)y << 16, q = y | (unsigned)x << 16;
    asm("add.f16x2 %0, %1, %2;" : "=r"(packed[2 * i]) : "r"(p), "r"(q));
    asm("fma.rn.f16x2 %0, %1, %2, %1;" : "=r"(packed[2 * i + 1]) : "r"(p), "r"(q));
}

extern "C" __global__ void special(unsigned *out, long long *elapsed)
{
    long long begin = clock64();
    unsigned i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x, *o = out + 8 * i;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(o[0]));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(o[1]));
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(o[2]));
    asm volatile("mov.u32 %0, %%lanemask_ge;" : "=r"(o[3]));
    asm volatile("mov.u32 %0, %%lanemask_eq;" : "=r"(o[4]));
    asm volatile("mov.u32 %0, %%nctaid.y;" : "=r"(o[5]));
    asm volatile("mov.u32 %0, %%smid;" : "=r"(o[6]));
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(o[7]));
    elapsed[i] = clock64() - begin;
}

/* A jump table, as compilers make of a dense switch. */
extern "C" __global__ void jump_table(const unsigned *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned v = in[i], r;
    asm volatile("{\n\t"
                 "targets: .branchtargets one, two, three, four, two;\n\t"
                 "brx.idx %1, targets;\n\t"
                 "one: mul.lo.u32 %0, %2, 3;\n\t"
                 "bra done;\n\t"
                 "two: xor.b32 %0, %2, 0x55;\n\t"
                 "bra done;\n\t"
                 "three: not.b32 %0, %2;\n\t"
                 "bra done;\n\t"
                 "four: shr.u32 %0, %2, 4;\n\t"
                 "done:\n\t"
                 "}"
                 : "=&r"(r)
                 : "r"(v % 5), "r"(v));
    out[i] = r;
}
