/* printf: the head of the buffer is u32 bytes used, u32 bytes there are. */
enum {
    PRINT_SIGNED = 1,
    PRINT_UNSIGNED,
    PRINT_FLOAT,
    PRINT_POINTER
};
#define TAG(kind, bytes, count) ((kind) << 16 | (bytes) << 8 | (count))

static hd_print_place print_buffer(void)
{
#ifdef __NVPTX__
    return (hd_print_place)upsample(ENVREG(8), ENVREG(7));
#elif defined(HD_ROCM) /* code objects of version 5 */
    return *(constant hd_print_place *)(__builtin_amdgcn_implicitarg_ptr() + 72);
#else
    return *(constant hd_print_place *)(__builtin_amdgcn_implicitarg_ptr() + 24);
#endif
}

/* An address that the host can read. */
static ulong constant_address(const volatile constant void *p)
{
#ifdef __NVPTX__
    size_t address;
    __asm__("cvta.const." ADDRESS_TYPE " %0, %1;" : "=" ADDRESS(address) : ADDRESS(p));
    return address;
#else
    return (ulong)p;
#endif
}

/* Where the arguments go; NULL: the buffer is full, which a record of 0 bytes then tells. */
hd_print_place hd_print_begin(constant const char *format, uint bytes)
{
    hd_print_place buffer = print_buffer();
    if (!buffer || buffer[0] > buffer[1])
        return 0;
    uint total = 16 + bytes, at = atomic_add(buffer, total);
    if (at > buffer[1] || buffer[1] - at < total) {
        if (at < buffer[1])
            buffer[at / 4] = 0;
        return 0;
    }
    hd_print_place record = buffer + at / 4;
    record[0] = total;
    record[1] = 0;
    *(global ulong *)(record + 2) = constant_address(format);
    return record + 4;
}

#define PUT(kind, type, element, n, store)                                     \
    OVERLOAD hd_print_place hd_print_put(hd_print_place at, type value)        \
    {                                                                          \
        if (!at)                                                               \
            return at;                                                         \
        at[0] = TAG(kind, sizeof(element), n);                                 \
        at[1] = 0;                                                             \
        store;                                                                 \
        return at + 2 + (sizeof(type) + 7) / 8 * 2;                            \
    }
#define PUT_VALUES(kind, type)                                                             \
    PUT(kind, type, type, 1, *(global type *)(at + 2) = value)                             \
    PUT(kind, type##2, type, 2, vstore2(value, 0, (global type *)(at + 2)))                \
    PUT(kind, type##3, type, 3, vstore3(value, 0, (global type *)(at + 2)))                \
    PUT(kind, type##4, type, 4, vstore4(value, 0, (global type *)(at + 2)))                \
    PUT(kind, type##8, type, 8, vstore8(value, 0, (global type *)(at + 2)))                \
    PUT(kind, type##16, type, 16, vstore16(value, 0, (global type *)(at + 2)))
PUT_VALUES(PRINT_SIGNED, char)
PUT_VALUES(PRINT_UNSIGNED, uchar)
PUT_VALUES(PRINT_SIGNED, short)
PUT_VALUES(PRINT_UNSIGNED, ushort)
PUT_VALUES(PRINT_SIGNED, int)
PUT_VALUES(PRINT_UNSIGNED, uint)
PUT_VALUES(PRINT_SIGNED, long)
PUT_VALUES(PRINT_UNSIGNED, ulong)
PUT_VALUES(PRINT_FLOAT, float)
PUT_VALUES(PRINT_FLOAT, double)

#define PUT_POINTER(space, address)                                                               \
    OVERLOAD hd_print_place hd_print_put(hd_print_place at, space void *value)                    \
    {                                                                                             \
        if (!at)                                                                                  \
            return at;                                                                            \
        at[0] = TAG(PRINT_POINTER, 8, 1);                                                         \
        at[1] = 0;                                                                                \
        *(global ulong *)(at + 2) = value ? (ulong)(address) : 0; /* null can have any bits */    \
        return at + 2 + (sizeof value + 7) / 8 * 2;                                               \
    }
PUT_POINTER(const volatile global, value)
PUT_POINTER(const volatile local, value)
PUT_POINTER(const volatile constant, constant_address(value))
PUT_POINTER(const volatile private, value)
PUT_POINTER(private, value)
