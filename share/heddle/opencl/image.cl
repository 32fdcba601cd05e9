/*
 * Images and samplers on PTX: instructions of textures and surfaces. The pointers that the compiler
 * passes for them are handles and words of the driver (src/opencl/image.c): two functions, whose
 * declarations take images and whose definitions take pointers, say so.
 */
#define AN_IMAGE(access, T) size_t OVERLOAD hd_image(access T) __asm__("hd_image_handle");
AN_IMAGE(read_only, image1d_t)
AN_IMAGE(write_only, image1d_t)
AN_IMAGE(read_only, image1d_buffer_t)
AN_IMAGE(write_only, image1d_buffer_t)
AN_IMAGE(read_only, image1d_array_t)
AN_IMAGE(write_only, image1d_array_t)
AN_IMAGE(read_only, image2d_t)
AN_IMAGE(write_only, image2d_t)
AN_IMAGE(read_only, image2d_array_t)
AN_IMAGE(write_only, image2d_array_t)
AN_IMAGE(read_only, image3d_t) /* writing needs cl_khr_3d_image_writes */
size_t hd_handle(global const uchar *image) __asm__("hd_image_handle");
size_t hd_handle(global const uchar *image) { return (size_t)image; }

size_t hd_sampler(sampler_t sampler) __asm__("hd_sampler_word");
size_t hd_word(constant uchar *sampler) __asm__("hd_sampler_word");
size_t hd_word(constant uchar *sampler) { return (size_t)sampler; }

#define HD_ADDRESSES(mode) ((mode) * (8 | 8 << 3 | 8 << 6)) /* of x, y and z */
#define HD_PLAIN HD_ADDRESSES(1) /* nearest, texels, clamped to the edge */

/* A sampler of the program's text: its word, as in src/ir/texture.h. */
constant uchar *hd_translate(int bits) __asm__("__translate_sampler_initializer");
constant uchar *hd_translate(int bits)
{
    const int address = bits & 0xe;
    const int mode = address == CLK_ADDRESS_CLAMP             ? 3
                     : address == CLK_ADDRESS_REPEAT          ? 0
                     : address == CLK_ADDRESS_MIRRORED_REPEAT ? 2
                                                              : 1;
    return (constant uchar *)(size_t)((bits & 1) | ((bits & 0x30) == CLK_FILTER_LINEAR ? 2 : 0) |
                                      HD_ADDRESSES(mode));
}

/* ---- reads ---- */

#define HD_TEX(shape, dtype, ctype, at)                                                      \
    "tex." shape ".v4." dtype "." ctype " {%0, %1, %2, %3}, [%4, %5, " at "];"
#define HD_READ_AS(name, V, dtype, c, T, shape, ctype, C, at, ...)                           \
    OVERLOAD V name(read_only T image, sampler_t sampler, C p)                               \
    {                                                                                        \
        V r;                                                                                 \
        __asm__(HD_TEX(shape, dtype, ctype, at)                                     \
                         : "=" c(r.x), "=" c(r.y), "=" c(r.z), "=" c(r.w)                    \
                         : ADDRESS(hd_image(image)), ADDRESS(hd_sampler(sampler)),           \
                           __VA_ARGS__);                                                     \
        return r;                                                                            \
    }
#define HD_READ_PLAIN(name, V, dtype, c, T, shape, C, at, ...)                               \
    OVERLOAD V name(read_only T image, C p)                                                  \
    {                                                                                        \
        V r;                                                                                 \
        __asm__(HD_TEX(shape, dtype, "s32", at)                                     \
                         : "=" c(r.x), "=" c(r.y), "=" c(r.z), "=" c(r.w)                    \
                         : ADDRESS(hd_image(image)), ADDRESS((size_t)HD_PLAIN), __VA_ARGS__);\
        return r;                                                                            \
    }
#define HD_READ(T, shape, ctype, C, at, ...)                                                 \
    HD_READ_AS(read_imagef, float4, "f32", "f", T, shape, ctype, C, at, __VA_ARGS__)         \
    HD_READ_AS(read_imagei, int4, "s32", "r", T, shape, ctype, C, at, __VA_ARGS__)           \
    HD_READ_AS(read_imageui, uint4, "u32", "r", T, shape, ctype, C, at, __VA_ARGS__)
#define HD_READS(T, shape, C, at, ...)                                                       \
    HD_READ_PLAIN(read_imagef, float4, "f32", "f", T, shape, C, at, __VA_ARGS__)             \
    HD_READ_PLAIN(read_imagei, int4, "s32", "r", T, shape, C, at, __VA_ARGS__)               \
    HD_READ_PLAIN(read_imageui, uint4, "u32", "r", T, shape, C, at, __VA_ARGS__)

HD_READ(image1d_t, "1d", "s32", int, "{%6}", "r"(p))
HD_READ(image1d_t, "1d", "f32", float, "{%6}", "f"(p))
HD_READS(image1d_t, "1d", int, "{%6}", "r"(p))
HD_READS(image1d_buffer_t, "1d", int, "{%6}", "r"(p))
HD_READ(image1d_array_t, "a1d", "s32", int2, "{%6, %7}", "r"(p.y), "r"(p.x))
HD_READ(image1d_array_t, "a1d", "f32", float2, "{%6, %7}", "r"(convert_int_rte(p.y)), "f"(p.x))
HD_READS(image1d_array_t, "a1d", int2, "{%6, %7}", "r"(p.y), "r"(p.x))
HD_READ(image2d_t, "2d", "s32", int2, "{%6, %7}", "r"(p.x), "r"(p.y))
HD_READ(image2d_t, "2d", "f32", float2, "{%6, %7}", "f"(p.x), "f"(p.y))
HD_READS(image2d_t, "2d", int2, "{%6, %7}", "r"(p.x), "r"(p.y))
HD_READ(image2d_array_t, "a2d", "s32", int4, "{%6, %7, %8, %8}", "r"(p.z), "r"(p.x), "r"(p.y))
HD_READ(image2d_array_t, "a2d", "f32", float4, "{%6, %7, %8, %8}", "r"(convert_int_rte(p.z)),
        "f"(p.x), "f"(p.y))
HD_READS(image2d_array_t, "a2d", int4, "{%6, %7, %8, %8}", "r"(p.z), "r"(p.x), "r"(p.y))
HD_READ(image3d_t, "3d", "s32", int4, "{%6, %7, %8, %8}", "r"(p.x), "r"(p.y), "r"(p.z))
HD_READ(image3d_t, "3d", "f32", float4, "{%6, %7, %8, %8}", "f"(p.x), "f"(p.y), "f"(p.z))
HD_READS(image3d_t, "3d", int4, "{%6, %7, %8, %8}", "r"(p.x), "r"(p.y), "r"(p.z))

/* ---- writes: what is beyond the image is dropped ---- */

#define HD_WRITE_AS(name, V, c, T, shape, C, at, ...)                                        \
    OVERLOAD void name(write_only T image, C p, V v)                                         \
    {                                                                                        \
        __asm__ volatile("sust.p." shape ".v4.b32.zero [%4, " at "], {%0, %1, %2, %3};"      \
                         :                                                                   \
                         : c(v.x), c(v.y), c(v.z), c(v.w), ADDRESS(hd_image(image)),         \
                           __VA_ARGS__                                                       \
                         : "memory");                                                        \
    }
#define HD_WRITE(T, shape, C, at, ...)                                                       \
    HD_WRITE_AS(write_imagef, float4, "f", T, shape, C, at, __VA_ARGS__)                     \
    HD_WRITE_AS(write_imagei, int4, "r", T, shape, C, at, __VA_ARGS__)                       \
    HD_WRITE_AS(write_imageui, uint4, "r", T, shape, C, at, __VA_ARGS__)
HD_WRITE(image1d_t, "1d", int, "{%5}", "r"(p))
HD_WRITE(image1d_buffer_t, "1d", int, "{%5}", "r"(p))
HD_WRITE(image1d_array_t, "a1d", int2, "{%5, %6}", "r"(p.y), "r"(p.x))
HD_WRITE(image2d_t, "2d", int2, "{%5, %6}", "r"(p.x), "r"(p.y))
HD_WRITE(image2d_array_t, "a2d", int4, "{%5, %6, %7, %7}", "r"(p.z), "r"(p.x), "r"(p.y))

/* ---- queries ---- */

#define HD_QUERY_AS(name, query, access, T)                                                  \
    OVERLOAD int name(access T image)                                                        \
    {                                                                                        \
        int r;                                                                               \
        __asm__("txq." query ".b32 %0, [%1];" : "=r"(r) : ADDRESS(hd_image(image)));         \
        return r;                                                                            \
    }
#define HD_QUERY(name, query, T)                                                             \
    HD_QUERY_AS(name, query, read_only, T)                                                   \
    HD_QUERY_AS(name, query, write_only, T)
#define HD_QUERIES(T)                                                                        \
    HD_QUERY(get_image_width, "width", T)                                                    \
    HD_QUERY(get_image_channel_data_type, "channel_data_type", T)                            \
    HD_QUERY(get_image_channel_order, "channel_order", T)
HD_QUERIES(image1d_t)
HD_QUERIES(image1d_buffer_t)
HD_QUERIES(image1d_array_t)
HD_QUERIES(image2d_t)
HD_QUERIES(image2d_array_t)
HD_QUERY_AS(get_image_width, "width", read_only, image3d_t)
HD_QUERY_AS(get_image_channel_data_type, "channel_data_type", read_only, image3d_t)
HD_QUERY_AS(get_image_channel_order, "channel_order", read_only, image3d_t)
HD_QUERY(get_image_height, "height", image2d_t)
HD_QUERY(get_image_height, "height", image2d_array_t)
HD_QUERY_AS(get_image_height, "height", read_only, image3d_t)
HD_QUERY_AS(get_image_depth, "depth", read_only, image3d_t)

#define HD_LAYERS(access, T)                                                                 \
    OVERLOAD size_t get_image_array_size(access T image)                                     \
    {                                                                                        \
        int r;                                                                               \
        __asm__("txq.array_size.b32 %0, [%1];" : "=r"(r) : ADDRESS(hd_image(image)));        \
        return r;                                                                            \
    }
HD_LAYERS(read_only, image1d_array_t)
HD_LAYERS(write_only, image1d_array_t)
HD_LAYERS(read_only, image2d_array_t)
HD_LAYERS(write_only, image2d_array_t)
#define HD_DIM(access, T)                                                                    \
    OVERLOAD int2 get_image_dim(access T image)                                              \
    {                                                                                        \
        return (int2)(get_image_width(image), get_image_height(image));                      \
    }
HD_DIM(read_only, image2d_t)
HD_DIM(write_only, image2d_t)
HD_DIM(read_only, image2d_array_t)
HD_DIM(write_only, image2d_array_t)
OVERLOAD int4 get_image_dim(read_only image3d_t image)
{
    return (int4)(get_image_width(image), get_image_height(image), get_image_depth(image), 0);
}
