/* Copies and prefetches of vectors of three, which lie like those of four. */

static size_t work_item(void)
{
    return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) +
           get_local_id(0);
}

static size_t work_items(void)
{
    return get_local_size(0) * get_local_size(1) * get_local_size(2);
}

#define COPY_3(type, to, from)                                                                \
    OVERLOAD event_t async_work_group_copy(to type##3 *out, const from type##3 *in, size_t n, \
                                           event_t event)                                     \
    {                                                                                         \
        for (size_t i = work_item(); i < n; i += work_items())                                \
            ((to type##4 *)out)[i] = ((const from type##4 *)in)[i];                           \
        return event;                                                                         \
    }
#define VECTORS_3(type)                                                                       \
    COPY_3(type, local, global)                                                               \
    COPY_3(type, global, local)                                                               \
    OVERLOAD event_t async_work_group_strided_copy(local type##3 *out, const global type##3 *in, \
                                                   size_t n, size_t stride, event_t event)    \
    {                                                                                         \
        for (size_t i = work_item(); i < n; i += work_items())                                \
            ((local type##4 *)out)[i] = ((const global type##4 *)in)[i * stride];             \
        return event;                                                                         \
    }                                                                                         \
    OVERLOAD event_t async_work_group_strided_copy(global type##3 *out, const local type##3 *in, \
                                                   size_t n, size_t stride, event_t event)    \
    {                                                                                         \
        for (size_t i = work_item(); i < n; i += work_items())                                \
            ((global type##4 *)out)[i * stride] = ((const local type##4 *)in)[i];             \
        return event;                                                                         \
    }                                                                                         \
    OVERLOAD void prefetch(const global type##3 *p, size_t n)                                 \
    {                                                                                         \
    }
VECTORS_3(char)
VECTORS_3(uchar)
VECTORS_3(short)
VECTORS_3(ushort)
VECTORS_3(int)
VECTORS_3(uint)
VECTORS_3(long)
VECTORS_3(ulong)
VECTORS_3(float)
VECTORS_3(double)
