/* 64-bit atomics on PTX: libclc has those of 32 bits. */
#define ATOM(type, space, name, operation)                                 \
    OVERLOAD type name(volatile space type *p, type value)                 \
    {                                                                      \
        return operation(p, value);                                        \
    }
/* For these the compiler has nothing. */
#define ATOM_PTX(type, space, name, instruction)                           \
    OVERLOAD type name(volatile space type *p, type value)                 \
    {                                                                      \
        type old;                                                          \
        __asm__ volatile("atom." #space "." instruction " %0, [%1], %2;"   \
                         : "=l"(old)                                       \
                         : ADDRESS(p), "l"(value)                          \
                         : "memory");                                      \
        return old;                                                        \
    }
#define ATOMS(type, space)                                         \
    ATOM(type, space, atom_add, __sync_fetch_and_add)                      \
    ATOM(type, space, atom_sub, __sync_fetch_and_sub)                      \
    ATOM(type, space, atom_xchg, __sync_swap)                              \
    ATOM(type, space, atom_and, __sync_fetch_and_and)                      \
    ATOM(type, space, atom_or, __sync_fetch_and_or)                        \
    ATOM(type, space, atom_xor, __sync_fetch_and_xor)                      \
    OVERLOAD type atom_inc(volatile space type *p)                         \
    {                                                                      \
        return __sync_fetch_and_add(p, 1);                                 \
    }                                                                      \
    OVERLOAD type atom_dec(volatile space type *p)                         \
    {                                                                      \
        return __sync_fetch_and_sub(p, 1);                                 \
    }                                                                      \
    OVERLOAD type atom_cmpxchg(volatile space type *p, type old, type new) \
    {                                                                      \
        return __sync_val_compare_and_swap(p, old, new);                   \
    }
ATOMS(long, global)
ATOMS(ulong, global)
ATOMS(long, local)
ATOMS(ulong, local)
#define shared local /* PTX's word for it, in the instruction's name */
ATOM_PTX(long, global, atom_min, "min.s64")
ATOM_PTX(long, global, atom_max, "max.s64")
ATOM_PTX(ulong, global, atom_min, "min.u64")
ATOM_PTX(ulong, global, atom_max, "max.u64")
ATOM_PTX(long, shared, atom_min, "min.s64")
ATOM_PTX(long, shared, atom_max, "max.s64")
ATOM_PTX(ulong, shared, atom_min, "min.u64")
ATOM_PTX(ulong, shared, atom_max, "max.u64")
#undef shared
