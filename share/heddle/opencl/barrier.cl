/*
 * Barriers and fences that no compiler moves memory accesses across.
 *
 * LLVM 14 takes its barrier and fence intrinsics for calls that cannot touch a variable in local
 * memory whose address stays inside the module, and reuses or hoists loads over them: the code is
 * wrong before it reaches the machine. Assembly that clobbers memory orders the compiler's accesses
 * and costs no instruction. The instructions are those of libclc.
 *
 * AMD's device libraries order theirs by LLVM's own fences.
 */
#define COMPILER_FENCE() __asm__ volatile("" ::: "memory")

static void fence(cl_mem_fence_flags flags)
{
    COMPILER_FENCE();
#ifdef __NVPTX__
    if (flags & (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE))
        __nvvm_membar_cta();
#else
    if (flags & CLK_GLOBAL_MEM_FENCE)
        __builtin_amdgcn_s_waitcnt(0); /* all counters */
    else if (flags & CLK_LOCAL_MEM_FENCE)
        __builtin_amdgcn_s_waitcnt(0xff); /* lgkmcnt(0) */
#endif
    COMPILER_FENCE();
}

OVERLOAD void mem_fence(cl_mem_fence_flags flags)
{
    fence(flags);
}

OVERLOAD void read_mem_fence(cl_mem_fence_flags flags)
{
    fence(flags);
}

OVERLOAD void write_mem_fence(cl_mem_fence_flags flags)
{
    fence(flags);
}

/* bar.sync orders memory in the block by itself; s_barrier needs the counters. */
OVERLOAD __attribute__((convergent)) void barrier(cl_mem_fence_flags flags)
{
    COMPILER_FENCE();
#ifdef __NVPTX__
    __syncthreads();
#else
    fence(flags);
    __builtin_amdgcn_s_barrier();
#endif
    COMPILER_FENCE();
}

/* Copies are made by the work-items themselves before they come here. */
OVERLOAD __attribute__((convergent)) void wait_group_events(int count, event_t *events)
{
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}
