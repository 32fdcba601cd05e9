// Textures and surfaces, against references on the host that follow the formulas of CUDA's programming
// guide: fractions of positions have 8 bits, sums are of doubles.
#include "check.h"
#include <cmath>
#include <cstring>
#include <vector>

typedef std::vector<float> floats;

static float noise(int i)
{
    return (float)((i * 2654435761u >> 8) % 1000) / 16 - 20;
}

// A host's texture of floats, one channel.
struct host_texture {
    int size[3];
    floats texels;
    bool linear, normalized;
    cudaTextureAddressMode mode;
    float border;

    float texel(const int at[3]) const
    {
        int i[3];
        for (int d = 0; d < 3; d++) {
            i[d] = at[d];
            if (mode == cudaAddressModeBorder && (i[d] < 0 || i[d] >= size[d]))
                return border;
            if (mode == cudaAddressModeWrap && normalized)
                i[d] = ((i[d] % size[d]) + size[d]) % size[d];
            i[d] = i[d] < 0 ? 0 : i[d] >= size[d] ? size[d] - 1 : i[d];
        }
        return texels[(i[2] * size[1] + i[1]) * size[0] + i[0]];
    }
    float fetch(double x, double y, double z, int dimensions) const
    {
        const double c[3] = {x, y, z};
        int first[3] = {0, 0, 0};
        double part[3] = {0, 0, 0}, sum = 0;
        for (int d = 0; d < dimensions; d++) {
            double u = c[d];
            if (normalized && mode == cudaAddressModeWrap)
                u -= std::floor(u);
            if (normalized && mode == cudaAddressModeMirror)
                u = std::fabs(u - 2 * std::rint(u / 2));
            u *= normalized ? size[d] : 1;
            if (linear) {
                const double fixed = std::floor((u - 0.5) * 256 + 0.5);
                first[d] = (int)std::floor(fixed / 256);
                part[d] = fixed / 256 - first[d];
            } else {
                first[d] = (int)std::floor(u);
            }
        }
        for (int k = 0; k < 8; k++) {
            const int at[3] = {first[0] + (k & 1), first[1] + (k >> 1 & 1), first[2] + (k >> 2)};
            double weight = 1;
            for (int d = 0; d < 3; d++)
                weight *= k >> d & 1 ? part[d] : 1 - part[d];
            if (weight > 0)
                sum += weight * texel(at);
        }
        return (float)sum;
    }
};

__global__ void fetch(cudaTextureObject_t t, int dimensions, const float *c, float *to, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float x = c[3 * (i % n)], y = c[3 * (i % n) + 1], z = c[3 * (i % n) + 2];
    if (i >= n)
        return;
    to[i] = dimensions == 1   ? tex1D<float>(t, x)
            : dimensions == 2 ? tex2D<float>(t, x, y)
                              : tex3D<float>(t, x, y, z);
}

// An object for an array of floats of this size.
static cudaArray_t array_of(const host_texture &h, int dimensions)
{
    cudaArray_t array;
    const cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    const cudaExtent extent = make_cudaExtent(h.size[0], dimensions > 1 ? h.size[1] : 0,
                                              dimensions > 2 ? h.size[2] : 0);
    OK(cudaMalloc3DArray(&array, &desc, extent));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr((void *)&h.texels[0], h.size[0] * 4, h.size[0], h.size[1]);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(h.size[0], h.size[1], h.size[2]);
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    return array;
}

static cudaTextureObject_t object_of(cudaArray_t array, const host_texture &h)
{
    cudaTextureObject_t object = 0;
    cudaResourceDesc resource = {};
    cudaTextureDesc desc = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    for (int d = 0; d < 3; d++)
        desc.addressMode[d] = h.mode;
    desc.filterMode = h.linear ? cudaFilterModeLinear : cudaFilterModePoint;
    desc.normalizedCoords = h.normalized;
    desc.borderColor[0] = h.border;
    OK(cudaCreateTextureObject(&object, &resource, &desc, NULL));
    return object;
}

static void check_fetches(const host_texture &h, int dimensions)
{
    enum { N = 96 };
    float c[3 * N], result[N], *device_c, *device_to;
    for (int i = 0; i < 3 * N; i++) {
        const double within = (i * 37 % 101) / 60.0 - 0.33; // from -0.33 to 1.34
        c[i] = (float)(h.normalized ? within : within * h.size[i % 3]);
    }
    const cudaArray_t array = array_of(h, dimensions);
    const cudaTextureObject_t object = object_of(array, h);
    OK(cudaMalloc(&device_c, sizeof c));
    OK(cudaMalloc(&device_to, sizeof result));
    OK(cudaMemcpy(device_c, c, sizeof c, cudaMemcpyHostToDevice));
    fetch<<<2, 64>>>(object, dimensions, device_c, device_to, N);
    OK(cudaMemcpy(result, device_to, sizeof result, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        const float want = h.fetch(c[3 * i], c[3 * i + 1], c[3 * i + 2], dimensions);
        if (want != result[i]) {
            printf("%dD linear %d normalized %d mode %d at %g %g %g: %g, not %g\n", dimensions,
                   h.linear, h.normalized, h.mode, c[3 * i], c[3 * i + 1], c[3 * i + 2], result[i],
                   want);
            failures++;
            break;
        }
    }
    OK(cudaDestroyTextureObject(object));
    OK(cudaFreeArray(array));
    OK(cudaFree(device_c));
    OK(cudaFree(device_to));
}

static void modes()
{
    static const int sizes[][3] = {{9, 1, 1}, {37, 11, 1}, {5, 6, 7}};
    for (int dimensions = 1; dimensions <= 3; dimensions++)
        for (int linear = 0; linear < 2; linear++)
            for (int mode = 0; mode < 4; mode++)
                for (int normalized = 0; normalized < 2; normalized++) {
                    host_texture h;
                    memcpy(h.size, sizes[dimensions - 1], sizeof h.size);
                    for (int i = 0; i < h.size[0] * h.size[1] * h.size[2]; i++)
                        h.texels.push_back(noise(i));
                    h.linear = linear;
                    h.normalized = normalized;
                    h.mode = (cudaTextureAddressMode)mode;
                    h.border = 7.25f;
                    check_fetches(h, dimensions);
                }
}

// ---- formats: each type comes back as it is, and normalised ----

template <typename T> __global__ void read_all(cudaTextureObject_t t, T *to)
{
    to[threadIdx.x] = tex2D<T>(t, threadIdx.x % 8 + 0.5f, threadIdx.x / 8 + 0.5f);
}
template <typename T> static void format(const char *name)
{
    T host[32], result[32], *device;
    cudaArray_t array;
    cudaTextureObject_t object = 0;
    cudaResourceDesc resource = {};
    cudaTextureDesc desc = {};
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<T>();
    for (size_t i = 0; i < sizeof host; i++)
        ((unsigned char *)host)[i] = (unsigned char)(i * 83 + 5);
    OK(cudaMallocArray(&array, &channels, 8, 4));
    OK(cudaMemcpy2DToArray(array, 0, 0, host, 8 * sizeof(T), 8 * sizeof(T), 4,
                           cudaMemcpyHostToDevice));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    OK(cudaCreateTextureObject(&object, &resource, &desc, NULL));
    OK(cudaMalloc(&device, sizeof host));
    read_all<<<1, 32>>>(object, device);
    OK(cudaMemcpy(result, device, sizeof result, cudaMemcpyDeviceToHost));
    if (memcmp(host, result, sizeof host)) {
        printf("format %s\n", name);
        failures++;
    }
    memset(result, 0, sizeof result);
    OK(cudaMemcpy2DFromArray(result, 8 * sizeof(T), array, 0, 0, 8 * sizeof(T), 4,
                             cudaMemcpyDeviceToHost));
    CHECK(!memcmp(host, result, sizeof host));
    OK(cudaDestroyTextureObject(object));
    OK(cudaFreeArray(array));
    OK(cudaFree(device));
}
static void formats()
{
    format<char>("char");
    format<uchar2>("uchar2");
    format<char4>("char4");
    format<uchar4>("uchar4");
    format<short>("short");
    format<ushort2>("ushort2");
    format<short4>("short4");
    format<int>("int");
    format<unsigned>("unsigned");
    format<int2>("int2");
    format<uint4>("uint4");
    format<float2>("float2");
    format<float4>("float4");
}

// ---- shapes: layers, cubes, levels, gathers, linear memory ----

__global__ void shapes(cudaTextureObject_t layers, cudaTextureObject_t cube,
                       cudaTextureObject_t levels, float *to)
{
    const int i = threadIdx.x;
    to[i] = tex2DLayered<float>(layers, 1.5f, 2.5f, i);
    // the centres of faces
    const float x[] = {1, -1, 0, 0, 0, 0}, y[] = {0, 0, 1, -1, 0, 0}, z[] = {0, 0, 0, 0, 1, -1};
    to[8 + i] = texCubemap<float>(cube, x[i % 6], y[i % 6], z[i % 6]);
    to[16 + i] = tex2DLod<float>(levels, 0.5f, 0.5f, i / 2.0f);
    const float4 g = tex2Dgather<float4>(layers, 2.0f, 2.0f, 0);
    to[24] = g.x;
    to[25] = g.y;
    to[26] = g.z;
    to[27] = g.w;
    to[28] = tex2DGrad<float>(levels, 0.5f, 0.5f, make_float2(0.25f, 0), make_float2(0, 0.125f));
    to[29] = tex2DGrad<float>(levels, 0.5f, 0.5f, make_float2(0.125f, 0), make_float2(0, 0.25f));
}

static cudaTextureObject_t simple_object(cudaResourceDesc resource, bool normalized, bool linear)
{
    cudaTextureObject_t object = 0;
    cudaTextureDesc desc = {};
    desc.addressMode[0] = desc.addressMode[1] = desc.addressMode[2] = cudaAddressModeClamp;
    desc.normalizedCoords = normalized;
    desc.mipmapFilterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    desc.maxMipmapLevelClamp = 99;
    OK(cudaCreateTextureObject(&object, &resource, &desc, NULL));
    return object;
}

static void check_shapes()
{
    float host[8 * 8 * 8], result[32], *device;
    const cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    cudaArray_t layers, cube, level;
    cudaMipmappedArray_t levels;
    cudaMemcpy3DParms copy = {};
    cudaResourceDesc resource = {};
    for (int i = 0; i < 512; i++)
        host[i] = (float)i;
    OK(cudaMalloc3DArray(&layers, &desc, make_cudaExtent(8, 4, 8), cudaArrayLayered));
    copy.srcPtr = make_cudaPitchedPtr(host, 32, 8, 4);
    copy.dstArray = layers;
    copy.extent = make_cudaExtent(8, 4, 8);
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    OK(cudaMalloc3DArray(&cube, &desc, make_cudaExtent(4, 4, 6), cudaArrayCubemap));
    copy.srcPtr = make_cudaPitchedPtr(host, 16, 4, 4);
    copy.dstArray = cube;
    copy.extent = make_cudaExtent(4, 4, 6);
    OK(cudaMemcpy3D(&copy));
    OK(cudaMallocMipmappedArray(&levels, &desc, make_cudaExtent(8, 8, 0), 4));
    for (unsigned i = 0; i < 4; i++) {
        floats same(64 >> 2 * i, 100.0f * i);
        OK(cudaGetMipmappedArrayLevel(&level, levels, i));
        OK(cudaMemcpy2DToArray(level, 0, 0, &same[0], 32 >> i, 32 >> i, 8 >> i,
                               cudaMemcpyHostToDevice));
    }
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = layers;
    const cudaTextureObject_t a = simple_object(resource, false, false);
    resource.res.array.array = cube;
    const cudaTextureObject_t b = simple_object(resource, false, false);
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = levels;
    const cudaTextureObject_t c = simple_object(resource, true, true);
    OK(cudaMalloc(&device, sizeof result));
    shapes<<<1, 8>>>(a, b, c, device);
    OK(cudaMemcpy(result, device, sizeof result, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; i++) {
        CHECK(result[i] == 32 * i + 2 * 8 + 1);
        CHECK(result[8 + i] == 16 * (i % 6) + 2 * 4 + 2); // the texel behind the middle
        CHECK(result[16 + i] == (i < 6 ? 50.0f * i : 300));
    }
    // texels (1, 2), (2, 2), (2, 1), (1, 1) of layer 0
    CHECK(result[24] == 17 && result[25] == 18 && result[26] == 10 && result[27] == 9);
    CHECK(result[28] == 100 && result[29] == 100); // two texels a pixel
    OK(cudaDestroyTextureObject(a));
    OK(cudaDestroyTextureObject(b));
    OK(cudaDestroyTextureObject(c));
    EXPECT(cudaErrorInvalidValue, cudaDestroyTextureObject(c));
    OK(cudaFreeArray(layers));
    OK(cudaFreeArray(cube));
    OK(cudaFreeMipmappedArray(levels));
    OK(cudaFree(device));
}

__global__ void read_linear(cudaTextureObject_t line, cudaTextureObject_t pitched, float *to)
{
    const int i = threadIdx.x;
    to[i] = tex1Dfetch<float>(line, i - 2);
    to[16 + i] = tex2D<float>(pitched, i % 4 + 0.75f, i / 4 + 0.5f);
}
static void linear_memory()
{
    unsigned char bytes[12], *device_bytes;
    float host[12], result[32], *device, *pitched;
    size_t pitch;
    cudaResourceDesc resource = {};
    cudaTextureDesc desc = {};
    cudaTextureObject_t line, plane;
    for (int i = 0; i < 12; i++) {
        host[i] = (float)i;
        bytes[i] = (unsigned char)(20 * i);
    }
    OK(cudaMalloc(&device_bytes, sizeof bytes));
    OK(cudaMemcpy(device_bytes, bytes, sizeof bytes, cudaMemcpyHostToDevice));
    OK(cudaMallocPitch(&pitched, &pitch, 16, 3));
    OK(cudaMemcpy2D(pitched, pitch, host, 16, 16, 3, cudaMemcpyHostToDevice));
    OK(cudaMalloc(&device, sizeof result));
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = device_bytes;
    resource.res.linear.desc = cudaCreateChannelDesc<unsigned char>();
    resource.res.linear.sizeInBytes = sizeof bytes;
    desc.readMode = cudaReadModeNormalizedFloat;
    OK(cudaCreateTextureObject(&line, &resource, &desc, NULL));
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = pitched;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    resource.res.pitch2D.width = 4;
    resource.res.pitch2D.height = 3;
    resource.res.pitch2D.pitchInBytes = pitch;
    desc.readMode = cudaReadModeElementType;
    desc.filterMode = cudaFilterModeLinear;
    desc.addressMode[0] = desc.addressMode[1] = cudaAddressModeClamp;
    OK(cudaCreateTextureObject(&plane, &resource, &desc, NULL));
    read_linear<<<1, 12>>>(line, plane, device);
    OK(cudaMemcpy(result, device, sizeof result, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 12; i++) {
        CHECK(result[i] == (i < 2 ? 0 : (float)(20 * (i - 2) / 255.0)));
        CHECK(result[16 + i] == (i % 4 == 3 ? i : i + 0.25f));
    }
    cudaResourceDesc about;
    OK(cudaGetTextureObjectResourceDesc(&about, plane));
    CHECK(about.res.pitch2D.pitchInBytes == pitch);
    OK(cudaDestroyTextureObject(line));
    OK(cudaDestroyTextureObject(plane));
    OK(cudaFree(device));
    OK(cudaFree(pitched));
    OK(cudaFree(device_bytes));
}

// ---- surfaces ----

__global__ void write_surface(cudaSurfaceObject_t s, cudaSurfaceObject_t volume)
{
    const int x = threadIdx.x, y = threadIdx.y;
    surf2Dwrite(make_uchar4(x, y, 3, 4), s, 4 * x, y);
    surf2Dwrite(9.0f, s, 4 * (x + 8), y, cudaBoundaryModeZero); // outside: dropped
    surf3Dwrite((short)(100 * y + x), volume, 2 * x, y, y % 2);
}
__global__ void read_surface(cudaSurfaceObject_t s, cudaSurfaceObject_t volume, unsigned *to)
{
    const int x = threadIdx.x, y = threadIdx.y, i = 8 * y + x;
    to[i] = surf2Dread<unsigned>(s, 4 * x, y);
    to[64 + i] = surf2Dread<unsigned>(s, 4 * (x - 4), y, cudaBoundaryModeClamp);
    to[128 + i] = surf2Dread<unsigned char>(s, 4 * x + 1, y - 4, cudaBoundaryModeZero);
    to[192 + i] = surf3Dread<short>(volume, 2 * x, y, y % 2);
}
static void surfaces()
{
    const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<uchar4>();
    const cudaChannelFormatDesc shorts = cudaCreateChannelDesc<short>();
    cudaArray_t array, volume;
    cudaSurfaceObject_t s, v;
    cudaResourceDesc resource = {};
    unsigned result[256], *device;
    OK(cudaMallocArray(&array, &bytes, 8, 8, cudaArraySurfaceLoadStore));
    OK(cudaMalloc3DArray(&volume, &shorts, make_cudaExtent(8, 8, 2), cudaArraySurfaceLoadStore));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    OK(cudaCreateSurfaceObject(&s, &resource));
    resource.res.array.array = volume;
    OK(cudaCreateSurfaceObject(&v, &resource));
    OK(cudaMalloc(&device, sizeof result));
    write_surface<<<1, dim3(8, 8)>>>(s, v);
    read_surface<<<1, dim3(8, 8)>>>(s, v, device);
    OK(cudaMemcpy(result, device, sizeof result, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) {
        const int x = i % 8, y = i / 8;
        CHECK(result[i] == (unsigned)(x | y << 8 | 0x04030000));
        CHECK(result[64 + i] == (unsigned)((x < 4 ? 0 : x - 4) | y << 8 | 0x04030000));
        CHECK(result[128 + i] == (unsigned)(y < 4 ? 0 : y - 4));
        CHECK(result[192 + i] == (unsigned)(100 * y + x));
    }
    OK(cudaDestroySurfaceObject(s));
    OK(cudaDestroySurfaceObject(v));
    OK(cudaFreeArray(array));
    OK(cudaFreeArray(volume));
    OK(cudaFree(device));
}

// ---- references ----

texture<float, cudaTextureType2D> plane_reference;
texture<uchar4, cudaTextureType1D, cudaReadModeNormalizedFloat> bytes_reference;
surface<void, cudaSurfaceType2D> surface_reference;

__global__ void by_reference(float *to)
{
    const int i = threadIdx.x;
    to[i] = tex2D(plane_reference, i % 4 + 0.5f, i / 4 + 0.5f);
    to[8 + i] = tex1Dfetch(bytes_reference, i).z;
    surf2Dwrite(2 * to[i], surface_reference, 4 * (i % 4), i / 4);
}
static void references()
{
    float host[8], result[16], *device;
    unsigned char bytes[32], *device_bytes;
    cudaArray_t array;
    const cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    for (int i = 0; i < 32; i++)
        bytes[i] = (unsigned char)(7 * i);
    for (int i = 0; i < 8; i++)
        host[i] = noise(i);
    OK(cudaMalloc(&device, sizeof result));
    OK(cudaMalloc(&device_bytes, sizeof bytes));
    OK(cudaMemcpy(device_bytes, bytes, sizeof bytes, cudaMemcpyHostToDevice));
    OK(cudaMallocArray(&array, &desc, 4, 2, cudaArraySurfaceLoadStore));
    OK(cudaMemcpyToArray(array, 0, 0, host, sizeof host, cudaMemcpyHostToDevice));
    OK(cudaBindTextureToArray(plane_reference, array));
    OK(cudaBindTexture(NULL, bytes_reference, device_bytes, sizeof bytes));
    OK(cudaBindSurfaceToArray(surface_reference, array));
    by_reference<<<1, 8>>>(device);
    OK(cudaMemcpy(result, device, sizeof result, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; i++) {
        CHECK(result[i] == host[i]);
        CHECK(result[8 + i] == (float)(bytes[4 * i + 2] / 255.0));
    }
    OK(cudaMemcpyFromArray(result, array, 0, 0, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; i++)
        CHECK(result[i] == 2 * host[i]);
    OK(cudaUnbindTexture(plane_reference));
    OK(cudaFreeArray(array));
    OK(cudaFree(device));
    OK(cudaFree(device_bytes));
}

int main()
{
    cudaTextureObject_t object;
    EXPECT(cudaErrorInvalidValue, cudaCreateTextureObject(&object, NULL, NULL, NULL));
    modes();
    formats();
    check_shapes();
    linear_memory();
    surfaces();
    references();
    return done("textures");
}
