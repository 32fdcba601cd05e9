/*
 * Images and samplers: reads against the formulas of OpenCL 1.2 with 8 bits of fraction, writes, copies,
 * fills, mappings, queries.
 */
#include "rig.h"

#include <math.h>

enum {
    W = 13,
    H = 7,
    D = 5
};

static const char kernels[] =
    "const sampler_t literal = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | "
    "CLK_FILTER_NEAREST;\n"
    "kernel void sampled(read_only image2d_t i, sampler_t s, global float2 *c, global float4 *o)\n"
    "{ size_t n = get_global_id(0); o[n] = read_imagef(i, s, c[n]); }\n"
    "kernel void plain(read_only image2d_t i, global float4 *o, global float4 *p)\n"
    "{ int x = get_global_id(0), y = get_global_id(1), n = y * get_global_size(0) + x;\n"
    "  o[n] = read_imagef(i, (int2)(x, y));\n"
    "  p[n] = read_imagef(i, literal, (float2)((x + 0.5f) / get_image_width(i) + 1,\n"
    "                                          (y + 0.5f) / get_image_height(i) - 2)); }\n"
    "kernel void numbers(read_only image2d_t a, read_only image2d_t b, sampler_t s,\n"
    "                    global int4 *o, global uint4 *p)\n"
    "{ int x = get_global_id(0);\n"
    "  o[x] = read_imagei(a, s, (int2)(x - 1, 0)); p[x] = read_imageui(b, (int2)(x, 1)); }\n"
    "kernel void write(write_only image2d_t f, write_only image2d_t i, write_only image2d_t u)\n"
    "{ int x = get_global_id(0), y = get_global_id(1);\n"
    "  write_imagef(f, (int2)(x, y), (float4)(x / 13.0f, y / 7.0f, -1, 2));\n"
    "  write_imagei(i, (int2)(x, y), (int4)(x - 5, y, 100000, -100000));\n"
    "  write_imageui(u, (int2)(x, y), (uint4)(x, y, 7, 70000)); }\n"
    "kernel void shapes(read_only image3d_t v, read_only image2d_array_t a, read_only image1d_t "
    "l,\n"
    "                   read_only image1d_array_t m, read_only image1d_buffer_t b, sampler_t s,\n"
    "                   global float *o)\n"
    "{ int i = get_global_id(0);\n"
    "  o[8 * i] = read_imagef(v, (int4)(i, 1, i % 5, 0)).x;\n"
    "  o[8 * i + 1] = read_imagef(v, s, (float4)(i + 0.5f, 2.5f, 1.5f, 0)).x;\n"
    "  o[8 * i + 2] = read_imagef(a, s, (float4)(i + 0.5f, 3.5f, 2.4f, 0)).x;\n"
    "  o[8 * i + 3] = read_imagef(l, s, i + 0.5f).x;\n"
    "  o[8 * i + 4] = read_imagef(m, s, (int2)(i, 3)).x;\n"
    "  o[8 * i + 5] = read_imagef(b, i).x;\n"
    "  o[8 * i + 6] = get_image_depth(v) + 10 * get_image_array_size(a) + 100 * "
    "get_image_dim(v).y;\n"
    "  o[8 * i + 7] = get_image_channel_data_type(l) == CLK_FLOAT &&\n"
    "                 get_image_channel_order(l) == CLK_R; }\n";

static bool images(const struct rig *rig)
{
    cl_bool has = CL_FALSE;
    OK(clGetDeviceInfo(rig->devices[0], CL_DEVICE_IMAGE_SUPPORT, sizeof has, &has, NULL));
    return has;
}

static cl_mem image_of(struct rig *rig, cl_mem_object_type type, cl_channel_order order,
                       cl_channel_type channel, const size_t *size, size_t layers, void *host)
{
    const cl_image_format format = {order, channel};
    const cl_image_desc desc = {.image_type = type,
                                .image_width = size[0],
                                .image_height = size[1],
                                .image_depth = size[2],
                                .image_array_size = layers};
    cl_int status;
    cl_mem image =
        clCreateImage(rig->context, host ? CL_MEM_COPY_HOST_PTR : 0, &format, &desc, host, &status);
    OK(status);
    return image;
}

static const size_t plane[3] = {W, H, 0};

static void run(struct rig *rig, cl_kernel kernel, size_t x, size_t y)
{
    const size_t size[2] = {x, y};
    OK(clEnqueueNDRangeKernel(rig->queue, kernel, 2, NULL, size, NULL, 0, NULL, NULL));
    OK(clFinish(rig->queue));
}

static void set(cl_kernel kernel, cl_uint index, const void *handle)
{
    OK(clSetKernelArg(kernel, index, sizeof(void *), handle));
}

/* The texel of a float image, or of its border. */
static float texel(const float *host, int x, int y, int c, cl_addressing_mode mode)
{
    if (mode == CL_ADDRESS_REPEAT) {
        x = (x + W) % W;
        y = (y + H) % H;
    }
    if (mode == CL_ADDRESS_CLAMP && (x < 0 || x >= W || y < 0 || y >= H))
        return 0;
    x = x < 0 ? 0 : x >= W ? W - 1 : x;
    y = y < 0 ? 0 : y >= H ? H - 1 : y;
    return host[4 * (y * W + x) + c];
}

/* The position in texels, by the formulas of OpenCL 1.2, section 8.2. */
static double position(float c, int size, bool normalized, cl_addressing_mode mode)
{
    double s = c;
    if (mode == CL_ADDRESS_REPEAT)
        s -= floor(s);
    else if (mode == CL_ADDRESS_MIRRORED_REPEAT)
        s = fabs(s - 2 * rint(s / 2));
    return normalized ? s * size : s;
}

static void check_sampler(struct rig *rig, cl_kernel kernel, cl_mem image, const float *host,
                          bool normalized, cl_addressing_mode mode, cl_filter_mode filter)
{
    enum {
        N = 64
    };
    cl_float c[2 * N], out[4 * N];
    cl_int status;
    uint32_t random = 7;
    for (int i = 0; i < N; i++)
        for (int d = 0; d < 2; d++) {
            const float within = (float)rig_random(&random, 1000) / 500 - 0.5f;
            c[2 * i + d] = normalized ? within : within * (float)(d ? H : W);
        }
    cl_mem places = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, sizeof c, c);
    cl_mem results = rig_buffer(rig, 0, sizeof out, NULL);
    cl_sampler sampler = clCreateSampler(rig->context, normalized, mode, filter, &status);
    OK(status);
    set(kernel, 0, &image);
    set(kernel, 1, &sampler);
    set(kernel, 2, &places);
    set(kernel, 3, &results);
    run(rig, kernel, N, 1);
    rig_read(rig, results, out, 0, sizeof out);
    for (int i = 0; i < N; i++) {
        const double u = position(c[2 * i], W, normalized, mode);
        const double v = position(c[2 * i + 1], H, normalized, mode);
        const bool linear = filter == CL_FILTER_LINEAR;
        const double x = linear ? floor((u - 0.5) * 256 + 0.5) / 256 : floor(u);
        const double y = linear ? floor((v - 0.5) * 256 + 0.5) / 256 : floor(v);
        for (int k = 0; k < 4; k++) {
            const int x0 = (int)floor(x), y0 = (int)floor(y);
            const double a = x - x0, b = y - y0;
            double sum = 0;
            sum += (1 - a) * (1 - b) * texel(host, x0, y0, k, mode);
            if (a > 0)
                sum += a * (1 - b) * texel(host, x0 + 1, y0, k, mode);
            if (b > 0)
                sum += (1 - a) * b * texel(host, x0, y0 + 1, k, mode);
            if (a > 0 && b > 0)
                sum += a * b * texel(host, x0 + 1, y0 + 1, k, mode);
            if (out[4 * i + k] != (float)sum)
                fail_msg("mode %x filter %x at %g, %g: %g, not %g", mode, filter, (double)c[2 * i],
                         (double)c[2 * i + 1], (double)out[4 * i + k], sum);
        }
    }
    OK(clReleaseSampler(sampler));
    OK(clReleaseMemObject(places));
    OK(clReleaseMemObject(results));
}

static void samplers(void **state)
{
    struct rig *rig = *state;
    float host[4 * W * H];
    if (!images(rig))
        skip();
    for (int i = 0; i < 4 * W * H; i++)
        host[i] = (float)(i * 37 % 101);
    cl_kernel kernel = rig_kernel(rig->context, kernels, "sampled");
    cl_mem image = image_of(rig, CL_MEM_OBJECT_IMAGE2D, CL_RGBA, CL_FLOAT, plane, 0, host);
    for (int normalized = 0; normalized < 2; normalized++)
        for (int linear = 0; linear < 2; linear++)
            for (cl_addressing_mode mode = CL_ADDRESS_CLAMP_TO_EDGE;
                 mode <= (normalized ? CL_ADDRESS_MIRRORED_REPEAT : CL_ADDRESS_CLAMP); mode++)
                check_sampler(rig, kernel, image, host, normalized, mode,
                              linear ? CL_FILTER_LINEAR : CL_FILTER_NEAREST);
    OK(clReleaseMemObject(image));
    OK(clReleaseKernel(kernel));
}

static void formats(void **state)
{
    struct rig *rig = *state;
    uint8_t bytes[4 * W * H];
    float out[4 * W * H], again[4 * W * H];
    if (!images(rig))
        skip();
    for (int i = 0; i < 4 * W * H; i++)
        bytes[i] = (uint8_t)(i * 83);
    cl_kernel kernel = rig_kernel(rig->context, kernels, "plain");
    cl_mem image = image_of(rig, CL_MEM_OBJECT_IMAGE2D, CL_BGRA, CL_UNORM_INT8, plane, 0, bytes);
    cl_mem one = rig_buffer(rig, 0, sizeof out, NULL), two = rig_buffer(rig, 0, sizeof out, NULL);
    set(kernel, 0, &image);
    set(kernel, 1, &one);
    set(kernel, 2, &two);
    run(rig, kernel, W, H);
    rig_read(rig, one, out, 0, sizeof out);
    rig_read(rig, two, again, 0, sizeof again);
    assert_memory_equal(out, again, sizeof out);
    for (int i = 0; i < W * H; i++)
        for (int c = 0; c < 4; c++)
            assert_true(fabsf(out[4 * i + c] - bytes[4 * i + (c < 3 ? 2 - c : 3)] / 255.0f) <
                        1e-6f);
    OK(clReleaseMemObject(image));
    int16_t shorts[2 * W * H];
    for (int i = 0; i < 2 * W * H; i++)
        shorts[i] = (int16_t)(i * 1237);
    cl_int status, numbers[4 * 8];
    cl_uint naturals[4 * 8];
    cl_mem a = image_of(rig, CL_MEM_OBJECT_IMAGE2D, CL_RG, CL_SIGNED_INT16, plane, 0, shorts);
    cl_mem b = image_of(rig, CL_MEM_OBJECT_IMAGE2D, CL_R, CL_UNSIGNED_INT8, plane, 0, bytes);
    cl_sampler border =
        clCreateSampler(rig->context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &status);
    OK(clReleaseKernel(kernel));
    kernel = rig_kernel(rig->context, kernels, "numbers");
    set(kernel, 0, &a);
    set(kernel, 1, &b);
    set(kernel, 2, &border);
    set(kernel, 3, &one);
    set(kernel, 4, &two);
    run(rig, kernel, 8, 1);
    rig_read(rig, one, numbers, 0, sizeof numbers);
    rig_read(rig, two, naturals, 0, sizeof naturals);
    for (int x = 0; x < 8; x++) {
        assert_int_equal(numbers[4 * x], x ? shorts[2 * (x - 1)] : 0);
        assert_int_equal(numbers[4 * x + 1], x ? shorts[2 * (x - 1) + 1] : 0);
        assert_int_equal(numbers[4 * x + 3], 1);
        assert_int_equal(naturals[4 * x], bytes[W + x]);
        assert_int_equal(naturals[4 * x + 1], 0);
    }
    OK(clReleaseSampler(border));
    OK(clReleaseMemObject(a));
    OK(clReleaseMemObject(b));
    OK(clReleaseMemObject(one));
    OK(clReleaseMemObject(two));
    OK(clReleaseKernel(kernel));
}

static void writes(void **state)
{
    struct rig *rig = *state;
    uint8_t bytes[4 * W * H];
    int8_t small[4 * W * H];
    uint16_t wide[2 * W * H];
    const size_t zero[3] = {0, 0, 0}, all[3] = {W, H, 1};
    if (!images(rig))
        skip();
    cl_kernel kernel = rig_kernel(rig->context, kernels, "write");
    cl_mem f = image_of(rig, CL_MEM_OBJECT_IMAGE2D, CL_RGBA, CL_UNORM_INT8, plane, 0, NULL);
    cl_mem i = image_of(rig, CL_MEM_OBJECT_IMAGE2D, CL_RGBA, CL_SIGNED_INT8, plane, 0, NULL);
    cl_mem u = image_of(rig, CL_MEM_OBJECT_IMAGE2D, CL_RG, CL_UNSIGNED_INT16, plane, 0, NULL);
    set(kernel, 0, &f);
    set(kernel, 1, &i);
    set(kernel, 2, &u);
    run(rig, kernel, W, H);
    OK(clEnqueueReadImage(rig->queue, f, CL_TRUE, zero, all, 0, 0, bytes, 0, NULL, NULL));
    OK(clEnqueueReadImage(rig->queue, i, CL_TRUE, zero, all, 0, 0, small, 0, NULL, NULL));
    OK(clEnqueueReadImage(rig->queue, u, CL_TRUE, zero, all, 0, 0, wide, 0, NULL, NULL));
    for (int n = 0; n < W * H; n++) {
        const int x = n % W, y = n / W;
        assert_int_equal(bytes[4 * n], (int)rintf((float)x / 13.0f * 255));
        assert_int_equal(bytes[4 * n + 1], (int)rintf((float)y / 7.0f * 255));
        assert_int_equal(bytes[4 * n + 2], 0);
        assert_int_equal(bytes[4 * n + 3], 255);
        assert_int_equal(small[4 * n], x - 5);
        assert_int_equal(small[4 * n + 2], 127);
        assert_int_equal(small[4 * n + 3], -128);
        assert_int_equal(wide[2 * n], x);
        assert_int_equal(wide[2 * n + 1], y);
    }
    OK(clReleaseMemObject(f));
    OK(clReleaseMemObject(i));
    OK(clReleaseMemObject(u));
    OK(clReleaseKernel(kernel));
}

static void shapes(void **state)
{
    struct rig *rig = *state;
    float host[W * H * D], out[8 * 8];
    const size_t box[3] = {W, H, D}, line[3] = {W, 0, 0};
    cl_int status;
    if (!images(rig))
        skip();
    for (int i = 0; i < W * H * D; i++)
        host[i] = (float)i;
    cl_mem v = image_of(rig, CL_MEM_OBJECT_IMAGE3D, CL_R, CL_FLOAT, box, 0, host);
    cl_mem a = image_of(rig, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_R, CL_FLOAT, plane, D, host);
    cl_mem l = image_of(rig, CL_MEM_OBJECT_IMAGE1D, CL_R, CL_FLOAT, line, 0, host);
    cl_mem m = image_of(rig, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_R, CL_FLOAT, line, H, host);
    cl_mem buffer = rig_buffer(rig, CL_MEM_COPY_HOST_PTR, sizeof host, host);
    const cl_image_format format = {CL_R, CL_FLOAT};
    const cl_image_desc desc = {
        .image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = W, .buffer = buffer};
    cl_mem b = clCreateImage(rig->context, 0, &format, &desc, NULL, &status);
    OK(status);
    cl_sampler sampler = clCreateSampler(rig->context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE,
                                         CL_FILTER_NEAREST, &status);
    cl_mem results = rig_buffer(rig, 0, sizeof out, NULL);
    cl_kernel kernel = rig_kernel(rig->context, kernels, "shapes");
    cl_mem list[] = {v, a, l, m, b};
    for (cl_uint i = 0; i < 5; i++)
        set(kernel, i, &list[i]);
    set(kernel, 5, &sampler);
    set(kernel, 6, &results);
    run(rig, kernel, 8, 1);
    rig_read(rig, results, out, 0, sizeof out);
    for (int i = 0; i < 8; i++) {
        assert_true(out[8 * i] == (float)((i % 5) * W * H + W + i));
        assert_true(out[8 * i + 1] == (float)(W * H + 2 * W + i));
        assert_true(out[8 * i + 2] == (float)(2 * W * H + 3 * W + i));
        assert_true(out[8 * i + 3] == (float)i);
        assert_true(out[8 * i + 4] == (float)(3 * W + i));
        assert_true(out[8 * i + 5] == (float)i);
        assert_true(out[8 * i + 6] == D + 10 * D + 100 * H);
        assert_true(out[8 * i + 7] == 1);
    }
    for (cl_uint i = 0; i < 5; i++)
        OK(clReleaseMemObject(list[i]));
    OK(clReleaseMemObject(buffer));
    OK(clReleaseMemObject(results));
    OK(clReleaseSampler(sampler));
    OK(clReleaseKernel(kernel));
}

static void transfers(void **state)
{
    struct rig *rig = *state;
    cl_uint host[W * H], seen[W * H], part[3 * 2], color[4] = {99, 0, 0, 0};
    const size_t zero[3] = {0, 0, 0}, all[3] = {W, H, 1}, from[3] = {2, 1, 0}, small[3] = {3, 2, 1},
                 to[3] = {7, 4, 0};
    size_t row = 0, slice = 0, element;
    cl_int status;
    cl_mem_object_type type;
    if (!images(rig))
        skip();
    for (cl_uint i = 0; i < W * H; i++)
        host[i] = i;
    cl_mem a = image_of(rig, CL_MEM_OBJECT_IMAGE2D, CL_R, CL_UNSIGNED_INT32, plane, 0, NULL);
    cl_mem b = rig_buffer(rig, 0, sizeof host, NULL);
    OK(clEnqueueWriteImage(rig->queue, a, CL_TRUE, zero, all, 0, 0, host, 0, NULL, NULL));
    OK(clEnqueueCopyImage(rig->queue, a, a, from, to, small, 0, NULL, NULL));
    assert_int_equal(clEnqueueCopyImage(rig->queue, a, a, from, from, small, 0, NULL, NULL),
                     CL_MEM_COPY_OVERLAP);
    OK(clEnqueueReadImage(rig->queue, a, CL_TRUE, to, small, 0, 0, part, 0, NULL, NULL));
    for (cl_uint i = 0; i < 6; i++)
        assert_int_equal(part[i], (1 + i / 3) * W + 2 + i % 3);
    OK(clEnqueueFillImage(rig->queue, a, color, to, small, 0, NULL, NULL));
    OK(clEnqueueCopyImageToBuffer(rig->queue, a, b, zero, all, 0, 0, NULL, NULL));
    rig_read(rig, b, seen, 0, sizeof seen);
    for (cl_uint i = 0; i < W * H; i++) {
        const cl_uint x = i % W, y = i / W;
        assert_int_equal(seen[i], x >= 7 && x < 10 && y >= 4 && y < 6 ? 99 : i);
    }
    OK(clEnqueueCopyBufferToImage(rig->queue, b, a, 4 * W, zero, small, 0, NULL, NULL));
    cl_uint *map = clEnqueueMapImage(rig->queue, a, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, zero, all,
                                     &row, &slice, 0, NULL, NULL, &status);
    OK(status);
    assert_in_range(row, 4 * W, 4096);
    assert_int_equal(map[1], W + 1); /* from the second row of the buffer */
    map[row / 4 + 4] = 12345;
    OK(clEnqueueUnmapMemObject(rig->queue, a, map, 0, NULL, NULL));
    OK(clEnqueueReadImage(rig->queue, a, CL_TRUE, zero, all, 0, 0, seen, 0, NULL, NULL));
    assert_int_equal(seen[W + 4], 12345);
    OK(clGetImageInfo(a, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, NULL));
    assert_int_equal(element, 4);
    OK(clGetMemObjectInfo(a, CL_MEM_TYPE, sizeof type, &type, NULL));
    assert_int_equal(type, CL_MEM_OBJECT_IMAGE2D);
    /* an image is no buffer, and the other way round */
    assert_int_equal(clEnqueueReadBuffer(rig->queue, a, CL_TRUE, 0, 4, seen, 0, NULL, NULL),
                     CL_INVALID_MEM_OBJECT);
    assert_int_equal(
        clEnqueueReadImage(rig->queue, b, CL_TRUE, zero, all, 0, 0, seen, 0, NULL, NULL),
        CL_INVALID_MEM_OBJECT);
    assert_int_equal(clEnqueueReadImage(rig->queue, a, CL_TRUE, to, all, 0, 0, seen, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    OK(clReleaseMemObject(a));
    OK(clReleaseMemObject(b));
}

static void wrong(void **state)
{
    struct rig *rig = *state;
    const cl_image_format good = {CL_RGBA, CL_FLOAT}, bad = {CL_RGB, CL_UNORM_SHORT_565};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 8, .image_height = 8};
    cl_uint count = 0;
    if (!images(rig)) {
        FAILS(CL_INVALID_OPERATION, clCreateImage(rig->context, 0, &good, &desc, NULL, &why));
        FAILS(CL_INVALID_OPERATION,
              clCreateSampler(rig->context, CL_TRUE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &why));
        OK(clGetSupportedImageFormats(rig->context, 0, CL_MEM_OBJECT_IMAGE2D, 0, NULL, &count));
        assert_int_equal(count, 0);
        return;
    }
    OK(clGetSupportedImageFormats(rig->context, 0, CL_MEM_OBJECT_IMAGE2D, 0, NULL, &count));
    assert_in_range(count, 10, 1000);
    FAILS(CL_IMAGE_FORMAT_NOT_SUPPORTED, clCreateImage(rig->context, 0, &bad, &desc, NULL, &why));
    FAILS(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
          clCreateImage(rig->context, 0, NULL, &desc, NULL, &why));
    FAILS(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(rig->context, 0, &good, NULL, NULL, &why));
    desc.image_row_pitch = 128;
    FAILS(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(rig->context, 0, &good, &desc, NULL, &why));
    desc.image_row_pitch = 0;
    desc.image_height = 1 << 20;
    FAILS(CL_INVALID_IMAGE_SIZE, clCreateImage(rig->context, 0, &good, &desc, NULL, &why));
    assert_int_equal(
        clGetSupportedImageFormats(rig->context, 0, CL_MEM_OBJECT_BUFFER, 0, NULL, &count),
        CL_INVALID_VALUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samplers), cmocka_unit_test(formats),   cmocka_unit_test(writes),
        cmocka_unit_test(shapes),   cmocka_unit_test(transfers), cmocka_unit_test(wrong),
    };
    return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
