/*
 * Textures and surfaces of CUDA C++: channel descriptors, references, fetches, accesses to surfaces.
 *
 * A fetch is one instruction of PTX, which returns four channels; heddle_texel<T> says which of them a
 * type has. References (`texture<...>`) are those of CUDA 11; they work as well.
 */
#ifndef HEDDLE_TEXTURES_H
#define HEDDLE_TEXTURES_H

#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureTypeCubemap 0x0C
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2
#define cudaTextureTypeCubemapLayered 0xFC
#define cudaSurfaceType1D 0x01
#define cudaSurfaceType2D 0x02
#define cudaSurfaceType3D 0x03
#define cudaSurfaceTypeCubemap 0x0C
#define cudaSurfaceType1DLayered 0xF1
#define cudaSurfaceType2DLayered 0xF2
#define cudaSurfaceTypeCubemapLayered 0xFC

#define HEDDLE_TEX static __device__ __forceinline__

/* ---- types of texels ---- */

template <typename T> struct heddle_texel;
#define HEDDLE_TEXEL(T, format, count, bits, kind, ...)                                          \
    template <> struct heddle_texel<T> {                                                         \
        enum {                                                                                   \
            channels = count,                                                                    \
            bytes = count * bits / 8                                                             \
        };                                                                                       \
        typedef format raw;                                                                      \
        static __host__ __device__ __forceinline__ T of(const raw &r)                            \
        {                                                                                        \
            return __VA_ARGS__;                                                                  \
        }                                                                                        \
        static __host__ __forceinline__ cudaChannelFormatDesc desc()                             \
        {                                                                                        \
            const cudaChannelFormatDesc d = {bits, count > 1 ? bits : 0, count > 2 ? bits : 0,   \
                                             count > 3 ? bits : 0, cudaChannelFormatKind##kind}; \
            return d;                                                                            \
        }                                                                                        \
    };
#define HEDDLE_TEXELS(T, S, format, bits, kind)                            \
    HEDDLE_TEXEL(T, format, 1, bits, kind, (T)r.x)                         \
    HEDDLE_TEXEL(S##1, format, 1, bits, kind, make_##S##1((T)r.x))         \
    HEDDLE_TEXEL(S##2, format, 2, bits, kind, make_##S##2((T)r.x, (T)r.y)) \
    HEDDLE_TEXEL(S##4, format, 4, bits, kind, make_##S##4((T)r.x, (T)r.y, (T)r.z, (T)r.w))
HEDDLE_TEXELS(signed char, char, int4, 8, Signed)
HEDDLE_TEXEL(char, int4, 1, 8, Signed, (char)r.x)
HEDDLE_TEXELS(unsigned char, uchar, uint4, 8, Unsigned)
HEDDLE_TEXELS(short, short, int4, 16, Signed)
HEDDLE_TEXELS(unsigned short, ushort, uint4, 16, Unsigned)
HEDDLE_TEXELS(int, int, int4, 32, Signed)
HEDDLE_TEXELS(unsigned, uint, uint4, 32, Unsigned)
HEDDLE_TEXELS(float, float, float4, 32, Float)
#undef HEDDLE_TEXELS
#undef HEDDLE_TEXEL

template <typename T> static inline cudaChannelFormatDesc cudaCreateChannelDesc()
{
    return heddle_texel<T>::desc();
}
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf()
{
    return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}

/* ---- references ---- */

template <class T, int type = cudaTextureType1D,
          enum cudaTextureReadMode mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : public textureReference {
    __host__ texture(int normalized_ = 0, enum cudaTextureFilterMode filter = cudaFilterModePoint,
                     enum cudaTextureAddressMode address = cudaAddressModeClamp)
        : textureReference()
    {
        normalized = normalized_;
        filterMode = filter;
        addressMode[0] = addressMode[1] = addressMode[2] = address;
        channelDesc = heddle_texel<T>::desc();
    }
    __host__ texture(int normalized_, enum cudaTextureFilterMode filter,
                     enum cudaTextureAddressMode address, cudaChannelFormatDesc desc)
        : textureReference()
    {
        normalized = normalized_;
        filterMode = filter;
        addressMode[0] = addressMode[1] = addressMode[2] = address;
        channelDesc = desc;
    }
};
template <typename T, int type = 1> struct __attribute__((device_builtin_surface_type)) surface;
template <int type>
struct __attribute__((device_builtin_surface_type)) surface<void, type> : public surfaceReference {
    __host__ surface() : surfaceReference()
    {
    }
};
/* The handle of a reference: the compiler has it as a 64-bit register, in inline assembly only. */
template <class R> HEDDLE_TEX unsigned long long heddle_handle(R reference)
{
    unsigned long long handle;
    asm("mov.b64 %0, %1;" : "=l"(handle) : "l"(reference));
    return handle;
}
/* What a reference's fetch returns: floats if it reads integers as floats. */
template <class T, enum cudaTextureReadMode mode> struct heddle_read {
    typedef T type;
};
template <class T> struct heddle_floats;
#define HEDDLE_FLOATS(T)                     \
    template <> struct heddle_floats<T> {    \
        typedef float type;                  \
    };                                       \
    template <> struct heddle_floats<T##1> { \
        typedef float1 type;                 \
    };                                       \
    template <> struct heddle_floats<T##2> { \
        typedef float2 type;                 \
    };                                       \
    template <> struct heddle_floats<T##4> { \
        typedef float4 type;                 \
    };
HEDDLE_FLOATS(char)
HEDDLE_FLOATS(short)
#undef HEDDLE_FLOATS
template <> struct heddle_floats<signed char> {
    typedef float type;
};
template <> struct heddle_floats<unsigned char> {
    typedef float type;
};
template <> struct heddle_floats<uchar1> {
    typedef float1 type;
};
template <> struct heddle_floats<uchar2> {
    typedef float2 type;
};
template <> struct heddle_floats<uchar4> {
    typedef float4 type;
};
template <> struct heddle_floats<unsigned short> {
    typedef float type;
};
template <> struct heddle_floats<ushort1> {
    typedef float1 type;
};
template <> struct heddle_floats<ushort2> {
    typedef float2 type;
};
template <> struct heddle_floats<ushort4> {
    typedef float4 type;
};
template <class T> struct heddle_read<T, cudaReadModeNormalizedFloat> {
    typedef typename heddle_floats<T>::type type;
};

/* ---- fetches ---- */

/* PARAMETERS, %-numbers of the instruction from %5 on, and what they are. */
#define HEDDLE_FETCH_AS(name, instruction, dtype, V, c, at, parameters, ...) \
    HEDDLE_TEX void name(V *r, unsigned long long t, HEDDLE_LIST parameters) \
    {                                                                        \
        asm(instruction "." dtype at                                         \
            : "=" c(r->x), "=" c(r->y), "=" c(r->z), "=" c(r->w)             \
            : "l"(t), __VA_ARGS__);                                          \
    }
#define HEDDLE_LIST(...) __VA_ARGS__
#define HEDDLE_FETCH(name, instruction, ctype, coordinates, parameters, ...)                  \
    HEDDLE_FETCH_AS(name, instruction ".v4", "f32." ctype " {%0, %1, %2, %3}, ", float4, "f", \
                    coordinates, parameters, __VA_ARGS__)                                     \
    HEDDLE_FETCH_AS(name, instruction ".v4", "u32." ctype " {%0, %1, %2, %3}, ", uint4, "r",  \
                    coordinates, parameters, __VA_ARGS__)                                     \
    HEDDLE_FETCH_AS(name, instruction ".v4", "s32." ctype " {%0, %1, %2, %3}, ", int4, "r",   \
                    coordinates, parameters, __VA_ARGS__)
/* A function of objects and of references. The arguments are given twice: declared, and by name. */
#define HEDDLE_FUNCTION(name, dim, parameters, ...)                                        \
    template <typename T> HEDDLE_TEX T name(cudaTextureObject_t t, HEDDLE_LIST parameters) \
    {                                                                                      \
        typename heddle_texel<T>::raw r;                                                   \
        heddle_##name(&r, t, __VA_ARGS__);                                                 \
        return heddle_texel<T>::of(r);                                                     \
    }                                                                                      \
    template <typename T>                                                                  \
    HEDDLE_TEX void name(T *to, cudaTextureObject_t t, HEDDLE_LIST parameters)             \
    {                                                                                      \
        *to = name<T>(t, __VA_ARGS__);                                                     \
    }                                                                                      \
    template <typename T, enum cudaTextureReadMode mode>                                   \
    HEDDLE_TEX typename heddle_read<T, mode>::type name(texture<T, dim, mode> t,           \
                                                        HEDDLE_LIST parameters)            \
    {                                                                                      \
        return name<typename heddle_read<T, mode>::type>(heddle_handle(t), __VA_ARGS__);   \
    }

HEDDLE_FETCH(heddle_tex1Dfetch, "tex.1d", "s32", "[%4, {%5}];", (int x), "r"(x))
HEDDLE_FUNCTION(tex1Dfetch, cudaTextureType1D, (int x), x)
HEDDLE_FETCH(heddle_tex1D, "tex.1d", "f32", "[%4, {%5}];", (float x), "f"(x))
HEDDLE_FUNCTION(tex1D, cudaTextureType1D, (float x), x)
HEDDLE_FETCH(heddle_tex2D, "tex.2d", "f32", "[%4, {%5, %6}];", (float x, float y), "f"(x), "f"(y))
HEDDLE_FUNCTION(tex2D, cudaTextureType2D, (float x, float y), x, y)
HEDDLE_FETCH(heddle_tex3D, "tex.3d", "f32", "[%4, {%5, %6, %7, %7}];", (float x, float y, float z),
             "f"(x), "f"(y), "f"(z))
HEDDLE_FUNCTION(tex3D, cudaTextureType3D, (float x, float y, float z), x, y, z)
HEDDLE_FETCH(heddle_tex1DLayered, "tex.a1d", "f32", "[%4, {%5, %6}];", (float x, int layer),
             "r"(layer), "f"(x))
HEDDLE_FUNCTION(tex1DLayered, cudaTextureType1DLayered, (float x, int layer), x, layer)
HEDDLE_FETCH(heddle_tex2DLayered, "tex.a2d", "f32", "[%4, {%5, %6, %7, %7}];",
             (float x, float y, int layer), "r"(layer), "f"(x), "f"(y))
HEDDLE_FUNCTION(tex2DLayered, cudaTextureType2DLayered, (float x, float y, int layer), x, y, layer)
HEDDLE_FETCH(heddle_texCubemap, "tex.cube", "f32", "[%4, {%5, %6, %7, %7}];",
             (float x, float y, float z), "f"(x), "f"(y), "f"(z))
HEDDLE_FUNCTION(texCubemap, cudaTextureTypeCubemap, (float x, float y, float z), x, y, z)
HEDDLE_FETCH(heddle_texCubemapLayered, "tex.acube", "f32", "[%4, {%5, %6, %7, %8}];",
             (float x, float y, float z, int layer), "r"(layer), "f"(x), "f"(y), "f"(z))
HEDDLE_FUNCTION(texCubemapLayered, cudaTextureTypeCubemapLayered,
                (float x, float y, float z, int layer), x, y, z, layer)

HEDDLE_FETCH(heddle_tex1DLod, "tex.level.1d", "f32", "[%4, {%5}], %6;", (float x, float level),
             "f"(x), "f"(level))
HEDDLE_FUNCTION(tex1DLod, cudaTextureType1D, (float x, float level), x, level)
HEDDLE_FETCH(heddle_tex2DLod, "tex.level.2d", "f32", "[%4, {%5, %6}], %7;",
             (float x, float y, float level), "f"(x), "f"(y), "f"(level))
HEDDLE_FUNCTION(tex2DLod, cudaTextureType2D, (float x, float y, float level), x, y, level)
HEDDLE_FETCH(heddle_tex3DLod, "tex.level.3d", "f32", "[%4, {%5, %6, %7, %7}], %8;",
             (float x, float y, float z, float level), "f"(x), "f"(y), "f"(z), "f"(level))
HEDDLE_FUNCTION(tex3DLod, cudaTextureType3D, (float x, float y, float z, float level), x, y, z,
                level)
HEDDLE_FETCH(heddle_tex2DLayeredLod, "tex.level.a2d", "f32", "[%4, {%5, %6, %7, %7}], %8;",
             (float x, float y, int layer, float level), "r"(layer), "f"(x), "f"(y), "f"(level))
HEDDLE_FUNCTION(tex2DLayeredLod, cudaTextureType2DLayered,
                (float x, float y, int layer, float level), x, y, layer, level)
HEDDLE_FETCH(heddle_texCubemapLod, "tex.level.cube", "f32", "[%4, {%5, %6, %7, %7}], %8;",
             (float x, float y, float z, float level), "f"(x), "f"(y), "f"(z), "f"(level))
HEDDLE_FUNCTION(texCubemapLod, cudaTextureTypeCubemap, (float x, float y, float z, float level), x,
                y, z, level)
HEDDLE_FETCH(heddle_tex1DGrad, "tex.grad.1d", "f32", "[%4, {%5}], {%6}, {%7};",
             (float x, float dx, float dy), "f"(x), "f"(dx), "f"(dy))
HEDDLE_FUNCTION(tex1DGrad, cudaTextureType1D, (float x, float dx, float dy), x, dx, dy)
HEDDLE_FETCH(heddle_tex2DGrad, "tex.grad.2d", "f32", "[%4, {%5, %6}], {%7, %8}, {%9, %10};",
             (float x, float y, float2 dx, float2 dy), "f"(x), "f"(y), "f"(dx.x), "f"(dx.y),
             "f"(dy.x), "f"(dy.y))
HEDDLE_FUNCTION(tex2DGrad, cudaTextureType2D, (float x, float y, float2 dx, float2 dy), x, y, dx,
                dy)

HEDDLE_FETCH(heddle_gather0, "tld4.r.2d", "f32", "[%4, {%5, %6}];", (float x, float y), "f"(x),
             "f"(y))
HEDDLE_FETCH(heddle_gather1, "tld4.g.2d", "f32", "[%4, {%5, %6}];", (float x, float y), "f"(x),
             "f"(y))
HEDDLE_FETCH(heddle_gather2, "tld4.b.2d", "f32", "[%4, {%5, %6}];", (float x, float y), "f"(x),
             "f"(y))
HEDDLE_FETCH(heddle_gather3, "tld4.a.2d", "f32", "[%4, {%5, %6}];", (float x, float y), "f"(x),
             "f"(y))
template <typename T>
HEDDLE_TEX T tex2Dgather(cudaTextureObject_t t, float x, float y, int component = 0)
{
    typename heddle_texel<T>::raw r;
    if (component == 1)
        heddle_gather1(&r, t, x, y);
    else if (component == 2)
        heddle_gather2(&r, t, x, y);
    else if (component == 3)
        heddle_gather3(&r, t, x, y);
    else
        heddle_gather0(&r, t, x, y);
    return heddle_texel<T>::of(r);
}

/* ---- surfaces ---- */

/* Moves an element of `bytes` to or from words. AT: "[%[s], {coordinates}]"; then what they are. */
#define HEDDLE_SULD(form, words, at, outputs, ...)      \
    asm volatile("suld.b." form " {" words "}, " at ";" \
                 : HEDDLE_LIST outputs                  \
                 : [s] "l"(s), __VA_ARGS__              \
                 : "memory")
#define HEDDLE_SUST(form, words, at, inputs, ...)              \
    asm volatile("sust.b." form " " at ", {" words "};"        \
                 :                                             \
                 : [s] "l"(s), HEDDLE_LIST inputs, __VA_ARGS__ \
                 : "memory")
#define HEDDLE_SURFACE_IN(name, mode, shape, at, parameters, ...)                                 \
    HEDDLE_TEX void name##_read_##mode(unsigned *v, unsigned bytes, unsigned long long s,         \
                                       HEDDLE_LIST parameters)                                    \
    {                                                                                             \
        unsigned short h = 0;                                                                     \
        if (bytes == 1)                                                                           \
            HEDDLE_SULD(shape ".b8." #mode, "%[a]", at, ([a] "=h"(h)), __VA_ARGS__);              \
        else if (bytes == 2)                                                                      \
            HEDDLE_SULD(shape ".b16." #mode, "%[a]", at, ([a] "=h"(h)), __VA_ARGS__);             \
        else if (bytes == 4)                                                                      \
            HEDDLE_SULD(shape ".b32." #mode, "%[a]", at, ([a] "=r"(v[0])), __VA_ARGS__);          \
        else if (bytes == 8)                                                                      \
            HEDDLE_SULD(shape ".v2.b32." #mode, "%[a], %[b]", at,                                 \
                        ([a] "=r"(v[0]), [b] "=r"(v[1])), __VA_ARGS__);                           \
        else                                                                                      \
            HEDDLE_SULD(shape ".v4.b32." #mode, "%[a], %[b], %[c], %[d]", at,                     \
                        ([a] "=r"(v[0]), [b] "=r"(v[1]), [c] "=r"(v[2]), [d] "=r"(v[3])),         \
                        __VA_ARGS__);                                                             \
        if (bytes < 4)                                                                            \
            v[0] = h;                                                                             \
    }                                                                                             \
    HEDDLE_TEX void name##_write_##mode(const unsigned *v, unsigned bytes, unsigned long long s,  \
                                        HEDDLE_LIST parameters)                                   \
    {                                                                                             \
        const unsigned short h = (unsigned short)v[0];                                            \
        if (bytes == 1)                                                                           \
            HEDDLE_SUST(shape ".b8." #mode, "%[a]", at, ([a] "h"(h)), __VA_ARGS__);               \
        else if (bytes == 2)                                                                      \
            HEDDLE_SUST(shape ".b16." #mode, "%[a]", at, ([a] "h"(h)), __VA_ARGS__);              \
        else if (bytes == 4)                                                                      \
            HEDDLE_SUST(shape ".b32." #mode, "%[a]", at, ([a] "r"(v[0])), __VA_ARGS__);           \
        else if (bytes == 8)                                                                      \
            HEDDLE_SUST(shape ".v2.b32." #mode, "%[a], %[b]", at, ([a] "r"(v[0]), [b] "r"(v[1])), \
                        __VA_ARGS__);                                                             \
        else                                                                                      \
            HEDDLE_SUST(shape ".v4.b32." #mode, "%[a], %[b], %[c], %[d]", at,                     \
                        ([a] "r"(v[0]), [b] "r"(v[1]), [c] "r"(v[2]), [d] "r"(v[3])),             \
                        __VA_ARGS__);                                                             \
    }
#define HEDDLE_SURFACE(name, shape, at, dim, parameters, values, ...)                   \
    HEDDLE_SURFACE_IN(heddle_##name, trap, shape, at, parameters, __VA_ARGS__)          \
    HEDDLE_SURFACE_IN(heddle_##name, clamp, shape, at, parameters, __VA_ARGS__)         \
    HEDDLE_SURFACE_IN(heddle_##name, zero, shape, at, parameters, __VA_ARGS__)          \
    template <typename T>                                                               \
    HEDDLE_TEX T name##read(cudaSurfaceObject_t s, HEDDLE_LIST parameters,              \
                            cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)        \
    {                                                                                   \
        unsigned v[4] = {0, 0, 0, 0};                                                   \
        T value;                                                                        \
        if (mode == cudaBoundaryModeTrap)                                               \
            heddle_##name##_read_trap(v, sizeof(T), s, HEDDLE_LIST values);             \
        else if (mode == cudaBoundaryModeClamp)                                         \
            heddle_##name##_read_clamp(v, sizeof(T), s, HEDDLE_LIST values);            \
        else                                                                            \
            heddle_##name##_read_zero(v, sizeof(T), s, HEDDLE_LIST values);             \
        __builtin_memcpy(&value, v, sizeof(T));                                         \
        return value;                                                                   \
    }                                                                                   \
    template <typename T>                                                               \
    HEDDLE_TEX void name##read(T *to, cudaSurfaceObject_t s, HEDDLE_LIST parameters,    \
                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)     \
    {                                                                                   \
        *to = name##read<T>(s, HEDDLE_LIST values, mode);                               \
    }                                                                                   \
    template <typename T>                                                               \
    HEDDLE_TEX void name##write(T value, cudaSurfaceObject_t s, HEDDLE_LIST parameters, \
                                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)    \
    {                                                                                   \
        unsigned v[4] = {0, 0, 0, 0};                                                   \
        __builtin_memcpy(v, &value, sizeof(T));                                         \
        if (mode == cudaBoundaryModeTrap)                                               \
            heddle_##name##_write_trap(v, sizeof(T), s, HEDDLE_LIST values);            \
        else if (mode == cudaBoundaryModeClamp)                                         \
            heddle_##name##_write_clamp(v, sizeof(T), s, HEDDLE_LIST values);           \
        else                                                                            \
            heddle_##name##_write_zero(v, sizeof(T), s, HEDDLE_LIST values);            \
    }                                                                                   \
    template <typename T>                                                               \
    HEDDLE_TEX T name##read(surface<void, dim> s, HEDDLE_LIST parameters,               \
                            cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)        \
    {                                                                                   \
        return name##read<T>(heddle_handle(s), HEDDLE_LIST values, mode);               \
    }                                                                                   \
    template <typename T>                                                               \
    HEDDLE_TEX void name##read(T *to, surface<void, dim> s, HEDDLE_LIST parameters,     \
                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)     \
    {                                                                                   \
        *to = name##read<T>(heddle_handle(s), HEDDLE_LIST values, mode);                \
    }                                                                                   \
    template <typename T>                                                               \
    HEDDLE_TEX void name##write(T value, surface<void, dim> s, HEDDLE_LIST parameters,  \
                                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)    \
    {                                                                                   \
        name##write(value, heddle_handle(s), HEDDLE_LIST values, mode);                 \
    }

HEDDLE_SURFACE(surf1D, "1d", "[%[s], {%[x]}]", cudaSurfaceType1D, (int x), (x), [x] "r"(x))
HEDDLE_SURFACE(surf2D, "2d", "[%[s], {%[x], %[y]}]", cudaSurfaceType2D, (int x, int y),
               (x, y), [x] "r"(x), [y] "r"(y))
HEDDLE_SURFACE(surf3D, "3d", "[%[s], {%[x], %[y], %[z], %[z]}]", cudaSurfaceType3D,
               (int x, int y, int z), (x, y, z), [x] "r"(x), [y] "r"(y), [z] "r"(z))
HEDDLE_SURFACE(surf1DLayered, "a1d", "[%[s], {%[l], %[x]}]", cudaSurfaceType1DLayered,
               (int x, int layer), (x, layer), [x] "r"(x), [l] "r"(layer))
HEDDLE_SURFACE(surf2DLayered, "a2d", "[%[s], {%[l], %[x], %[y], %[y]}]", cudaSurfaceType2DLayered,
               (int x, int y, int layer), (x, y, layer), [x] "r"(x), [y] "r"(y), [l] "r"(layer))
HEDDLE_SURFACE(surfCubemap, "a2d", "[%[s], {%[l], %[x], %[y], %[y]}]", cudaSurfaceTypeCubemap,
               (int x, int y, int face), (x, y, face), [x] "r"(x), [y] "r"(y), [l] "r"(face))
HEDDLE_SURFACE(surfCubemapLayered, "a2d", "[%[s], {%[l], %[x], %[y], %[y]}]",
               cudaSurfaceTypeCubemapLayered, (int x, int y, int face),
               (x, y, face), [x] "r"(x), [y] "r"(y), [l] "r"(face))

#undef HEDDLE_SURFACE
#undef HEDDLE_SURFACE_IN
#undef HEDDLE_SUST
#undef HEDDLE_SULD
#undef HEDDLE_FUNCTION
#undef HEDDLE_FETCH
#undef HEDDLE_FETCH_AS
#undef HEDDLE_LIST
#undef HEDDLE_TEX

/* ---- forms of the runtime's functions ---- */

template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t *offset, const texture<T, dim, mode> &reference,
                                          const void *pointer, const cudaChannelFormatDesc &desc,
                                          size_t bytes = UINT_MAX)
{
    return ::cudaBindTexture(offset, &reference, pointer, &desc, bytes);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture(size_t *offset, const texture<T, dim, mode> &reference,
                                          const void *pointer, size_t bytes = UINT_MAX)
{
    return ::cudaBindTexture(offset, &reference, pointer, &reference.channelDesc, bytes);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, dim, mode> &reference,
                                            const void *pointer, const cudaChannelFormatDesc &desc,
                                            size_t width, size_t height, size_t pitch)
{
    return ::cudaBindTexture2D(offset, &reference, pointer, &desc, width, height, pitch);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, dim, mode> &reference,
                                            const void *pointer, size_t width, size_t height,
                                            size_t pitch)
{
    return ::cudaBindTexture2D(offset, &reference, pointer, &reference.channelDesc, width, height,
                               pitch);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTextureToArray(const texture<T, dim, mode> &reference,
                                                 cudaArray_const_t array,
                                                 const cudaChannelFormatDesc &desc)
{
    return ::cudaBindTextureToArray(&reference, array, &desc);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaBindTextureToArray(const texture<T, dim, mode> &reference,
                                                 cudaArray_const_t array)
{
    return ::cudaBindTextureToArray(&reference, array, &reference.channelDesc);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaUnbindTexture(const texture<T, dim, mode> &reference)
{
    return ::cudaUnbindTexture(&reference);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static inline cudaError_t cudaGetTextureAlignmentOffset(size_t *offset,
                                                        const texture<T, dim, mode> &reference)
{
    return ::cudaGetTextureAlignmentOffset(offset, &reference);
}
template <class T, int dim>
static inline cudaError_t cudaBindSurfaceToArray(const surface<T, dim> &reference,
                                                 cudaArray_const_t array)
{
    return ::cudaBindSurfaceToArray(&reference, array, 0);
}

#endif
