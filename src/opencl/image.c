/*
 * Images and samplers.
 *
 * An image is a buffer whose content is texels in rows; so buffer.c keeps and moves it, transfer.c
 * and map.c copy and map it. What stands for it on a device, a texture of the library, is made by the
 * first launch that has it as an argument, and again when the content has got another address.
 *
 * Deviation: rows are stored one after the other, not in blocks, which matters for time only.
 */
#include "opencl/opencl.h"

#include <stdlib.h>
#include <string.h>

/* ---- formats ---- */

static const struct {
    cl_channel_order order;
    u8 channels;
    u8 select[4]; /* hd_image_shape */
    bool bytes;   /* 8 bits only */
} orders[] = {
    {CL_R, 1, {0, HD_CHANNEL_ZERO, HD_CHANNEL_ZERO, HD_CHANNEL_ONE}, false},
    {CL_A, 1, {HD_CHANNEL_ZERO, HD_CHANNEL_ZERO, HD_CHANNEL_ZERO, 0}, false},
    {CL_RG, 2, {0, 1, HD_CHANNEL_ZERO, HD_CHANNEL_ONE}, false},
    {CL_RA, 2, {0, HD_CHANNEL_ZERO, HD_CHANNEL_ZERO, 1}, false},
    {CL_RGBA, 4, {0, 1, 2, 3}, false},
    {CL_BGRA, 4, {2, 1, 0, 3}, true},
};

static const struct {
    cl_channel_type type;
    u8 bits;
    enum hd_texel texel;
} types[] = {
    {CL_UNORM_INT8, 8, HD_TEXEL_UNORM},     {CL_UNORM_INT16, 16, HD_TEXEL_UNORM},
    {CL_SNORM_INT8, 8, HD_TEXEL_SNORM},     {CL_SNORM_INT16, 16, HD_TEXEL_SNORM},
    {CL_SIGNED_INT8, 8, HD_TEXEL_SINT},     {CL_SIGNED_INT16, 16, HD_TEXEL_SINT},
    {CL_SIGNED_INT32, 32, HD_TEXEL_SINT},   {CL_UNSIGNED_INT8, 8, HD_TEXEL_UINT},
    {CL_UNSIGNED_INT16, 16, HD_TEXEL_UINT}, {CL_UNSIGNED_INT32, 32, HD_TEXEL_UINT},
    {CL_HALF_FLOAT, 16, HD_TEXEL_FLOAT},    {CL_FLOAT, 32, HD_TEXEL_FLOAT},
};

/* Sets what a format says of a shape. False: not supported. */
static bool set_format(const cl_image_format *format, struct hd_image_shape *shape)
{
    u32 o = 0, t = 0;
    while (o < ARRAY_LEN(orders) && orders[o].order != format->image_channel_order)
        o++;
    while (t < ARRAY_LEN(types) && types[t].type != format->image_channel_data_type)
        t++;
    if (o == ARRAY_LEN(orders) || t == ARRAY_LEN(types) || (orders[o].bytes && types[t].bits != 8))
        return false;
    shape->channels = orders[o].channels;
    shape->bits = types[t].bits;
    shape->texel = types[t].texel;
    memcpy(shape->select, orders[o].select, sizeof shape->select);
    shape->data_type = format->image_channel_data_type;
    shape->channel_order = format->image_channel_order;
    return true;
}

static bool is_image_type(cl_mem_object_type type)
{
    return type >= CL_MEM_OBJECT_IMAGE2D && type <= CL_MEM_OBJECT_IMAGE1D_BUFFER;
}

CL_API_ENTRY cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags flags,
                                                           cl_mem_object_type image_type,
                                                           cl_uint num_entries,
                                                           cl_image_format *image_formats,
                                                           cl_uint *num_image_formats)
{
    LOCKED;
    cl_uint count = 0;
    if (!object_is(context, KIND_CONTEXT))
        return CL_INVALID_CONTEXT;
    if (!is_image_type(image_type) || (image_formats && !num_entries) || !mem_flags_valid(flags))
        return CL_INVALID_VALUE;
    const bool none = !context_has_images(context) ||
                      (image_type == CL_MEM_OBJECT_IMAGE3D && flags & CL_MEM_WRITE_ONLY);
    for (u32 o = 0; o < ARRAY_LEN(orders); o++)
        for (u32 t = 0; t < ARRAY_LEN(types); t++) {
            const cl_image_format format = {orders[o].order, types[t].type};
            if (none || !set_format(&format, &(struct hd_image_shape){0}))
                continue;
            if (image_formats && count < num_entries)
                image_formats[count] = format;
            count++;
        }
    if (num_image_formats)
        *num_image_formats = count;
    return CL_SUCCESS;
}

/* ---- descriptions ---- */

bool context_has_images(cl_context context)
{
    for (u32 i = 0; i < context->device_count; i++)
        if (device_has_images(context->devices[i]))
            return true;
    return false;
}

/* Leaves the dimensions that a type has; false: one is missing or too large. */
static bool set_sizes(struct mem_image *image)
{
    cl_image_desc *d = &image->desc;
    const cl_mem_object_type type = d->image_type;
    const bool layers = type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    const bool high = type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY ||
                      type == CL_MEM_OBJECT_IMAGE3D;
    const size_t side = type == CL_MEM_OBJECT_IMAGE3D          ? IMAGE_SIDE_3D
                        : type == CL_MEM_OBJECT_IMAGE1D_BUFFER ? IMAGE_BUFFER
                                                               : IMAGE_SIDE;
    if (!high)
        d->image_height = 0;
    if (type != CL_MEM_OBJECT_IMAGE3D)
        d->image_depth = 0;
    if (!layers)
        d->image_array_size = 0;
    image->shape.dimensions = type == CL_MEM_OBJECT_IMAGE3D ? 3 : high ? 2 : 1;
    if (!d->image_width || d->image_width > side || (high && !d->image_height) ||
        d->image_height > side || (type == CL_MEM_OBJECT_IMAGE3D && !d->image_depth) ||
        d->image_depth > side || (layers && !d->image_array_size) ||
        d->image_array_size > IMAGE_LAYERS)
        return false;
    image->shape.width = (u32)d->image_width;
    image->shape.height = (u32)d->image_height;
    image->shape.depth = (u32)d->image_depth;
    image->shape.layers = (u32)d->image_array_size;
    return true;
}

/* Rows and planes; the program's pitches hold for its memory, and are then those of the content. */
static bool set_pitches(struct mem_image *image, bool by_host)
{
    cl_image_desc *d = &image->desc;
    const size_t width = d->image_width * image->element, height = MAX(d->image_height, 1);
    const bool planes = d->image_depth || d->image_array_size;
    if (!by_host && (d->image_row_pitch || d->image_slice_pitch))
        return false;
    image->row = d->image_row_pitch ? d->image_row_pitch : width;
    image->plane = d->image_slice_pitch ? d->image_slice_pitch : image->row * height;
    if (image->row < width || image->row % image->element || image->plane < image->row * height ||
        (planes && image->plane % image->element) || image->row > UINT32_MAX ||
        image->plane > UINT32_MAX)
        return false;
    d->image_row_pitch = image->row;
    d->image_slice_pitch = planes ? image->plane : 0;
    image->shape.pitch = image->row;
    image->shape.plane = image->plane;
    return true;
}

static size_t image_bytes(const struct mem_image *image)
{
    const cl_image_desc *d = &image->desc;
    return image->plane * MAX(MAX(d->image_depth, d->image_array_size), 1);
}

/* ---- creation ---- */

static cl_int describe(struct mem_image *image, cl_mem_flags flags, const cl_image_format *format,
                       const cl_image_desc *desc, const void *host)
{
    if (!format)
        return CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
    if (!desc || !is_image_type(desc->image_type) || desc->num_mip_levels || desc->num_samples)
        return CL_INVALID_IMAGE_DESCRIPTOR;
    image->format = *format;
    image->desc = *desc;
    if (!set_format(format, &image->shape))
        return CL_IMAGE_FORMAT_NOT_SUPPORTED;
    if (desc->image_type == CL_MEM_OBJECT_IMAGE3D && flags & CL_MEM_WRITE_ONLY)
        return CL_IMAGE_FORMAT_NOT_SUPPORTED; /* that needs cl_khr_3d_image_writes */
    image->element = image->shape.channels * image->shape.bits / 8;
    if (!set_sizes(image))
        return CL_INVALID_IMAGE_SIZE;
    if (!set_pitches(image, host != NULL))
        return CL_INVALID_IMAGE_DESCRIPTOR;
    return CL_SUCCESS;
}

/* The memory of an image of a buffer is the buffer's. */
static cl_mem in_buffer(cl_context context, cl_mem_flags flags, cl_mem buffer, size_t bytes,
                        cl_int *status)
{
    *status = CL_INVALID_IMAGE_DESCRIPTOR;
    if (!object_is(buffer, KIND_MEM) || buffer->image || buffer->context != context)
        return NULL;
    *status = CL_INVALID_IMAGE_SIZE;
    if (bytes > buffer->size)
        return NULL;
    cl_mem mem = object_create(KIND_MEM, sizeof *mem);
    object_retain(buffer);
    mem->parent = buffer;
    mem->context = context;
    mem->flags = flags ? flags : buffer->flags;
    mem->origin = buffer->origin;
    mem->size = bytes;
    *status = CL_SUCCESS;
    return mem;
}

static cl_mem create(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                     const cl_image_desc *desc, void *host, cl_int *status)
{
    struct mem_image image = {0};
    if (!object_is(context, KIND_CONTEXT)) {
        *status = CL_INVALID_CONTEXT;
        return NULL;
    }
    *status = !context_has_images(context) ? CL_INVALID_OPERATION
              : !mem_flags_valid(flags)    ? CL_INVALID_VALUE
                                           : describe(&image, flags, format, desc, host);
    if (*status != CL_SUCCESS)
        return NULL;
    const bool of_buffer = desc->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
    *status = CL_INVALID_HOST_PTR;
    if (!host != !(flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)))
        return NULL;
    *status = CL_INVALID_IMAGE_DESCRIPTOR;
    if (!of_buffer && desc->buffer)
        return NULL;
    *status = CL_INVALID_IMAGE_SIZE;
    for (u32 i = 0; i < context->device_count; i++)
        if (image_bytes(&image) > device_allocation(context->devices[i]))
            return NULL;
    cl_mem mem = of_buffer ? in_buffer(context, flags, desc->buffer, image_bytes(&image), status)
                           : mem_create(context, flags, image_bytes(&image), host, status);
    if (!mem)
        return NULL;
    mem->image = checked(malloc(sizeof image));
    *mem->image = image;
    mem->image->views = checked(calloc(context->device_count, sizeof *mem->image->views));
    return mem;
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags,
                                              const cl_image_format *image_format,
                                              const cl_image_desc *image_desc, void *host_ptr,
                                              cl_int *errcode_ret)
{
    LOCKED;
    cl_int status;
    cl_mem mem = create(context, flags, image_format, image_desc, host_ptr, &status);
    return mem ? made(errcode_ret, mem) : failed(errcode_ret, status);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage2D(cl_context context, cl_mem_flags flags,
                                                const cl_image_format *image_format,
                                                size_t image_width, size_t image_height,
                                                size_t image_row_pitch, void *host_ptr,
                                                cl_int *errcode_ret)
{
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                                .image_width = image_width,
                                .image_height = image_height,
                                .image_row_pitch = image_row_pitch};
    return clCreateImage(context, flags, image_format, &desc, host_ptr, errcode_ret);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage3D(cl_context context, cl_mem_flags flags,
                                                const cl_image_format *image_format,
                                                size_t image_width, size_t image_height,
                                                size_t image_depth, size_t image_row_pitch,
                                                size_t image_slice_pitch, void *host_ptr,
                                                cl_int *errcode_ret)
{
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE3D,
                                .image_width = image_width,
                                .image_height = image_height,
                                .image_depth = image_depth,
                                .image_row_pitch = image_row_pitch,
                                .image_slice_pitch = image_slice_pitch};
    return clCreateImage(context, flags, image_format, &desc, host_ptr, errcode_ret);
}

void mem_image_destroy(cl_mem mem)
{
    for (u32 i = 0; i < mem->context->device_count; i++)
        if (mem->image->views[i].image)
            image_give_back(mem->context->devices[i], mem->image->views[i]);
    free(mem->image->views);
    free(mem->image);
}

/* ---- on devices ---- */

/* What is beyond the border: alpha is 1 where there is none. */
static void set_border(const struct mem_image *image, struct hd_sampler *sampler)
{
    const f32 one = 1;
    const enum hd_texel texel = image->shape.texel;
    if (image->shape.select[3] != HD_CHANNEL_ONE)
        return;
    if (texel == HD_TEXEL_UINT || texel == HD_TEXEL_SINT)
        sampler->border[3] = 1;
    else
        memcpy(&sampler->border[3], &one, sizeof one);
}

u64 image_handle(cl_mem mem, cl_device_id device, hd_address address)
{
    LOCKED;
    struct mem_image *image = mem->image;
    struct hd_sampler sampler = {0};
    u32 index = 0;
    while (mem->context->devices[index] != device)
        index++;
    struct image_view *view = &image->views[index];
    if (view->image && view->address == address)
        return view->handle;
    if (view->image)
        image_give_back(device, *view);
    struct hd_image_shape shape = image->shape;
    shape.address = address;
    set_border(image, &sampler);
    *view = (struct image_view){.address = address};
    view->image = hd_image_create(device->device, &shape, NULL, NULL);
    view->handle = view->image ? hd_texture_create(view->image, shape.texel, &sampler, NULL) : 0;
    return view->handle;
}

/* ---- queries ---- */

cl_mem_object_type mem_type(const struct _cl_mem *mem)
{
    return mem->image ? mem->image->desc.image_type : CL_MEM_OBJECT_BUFFER;
}

bool image_fits(const struct _cl_mem *mem, const char *type)
{
    static const char *const names[] = {"image2d_t", "image3d_t",       "image2d_array_t",
                                        "image1d_t", "image1d_array_t", "image1d_buffer_t"};
    return mem->image && !strcmp(names[mem_type(mem) - CL_MEM_OBJECT_IMAGE2D], type);
}

CL_API_ENTRY cl_int CL_API_CALL clGetImageInfo(cl_mem image, cl_image_info param_name,
                                               size_t param_value_size, void *param_value,
                                               size_t *param_value_size_ret)
{
    LOCKED;
    const struct query query = {param_value_size, param_value, param_value_size_ret};
    if (!object_is(image, KIND_MEM) || !image->image)
        return CL_INVALID_MEM_OBJECT;
    const struct mem_image *i = image->image;
    switch (param_name) {
    case CL_IMAGE_FORMAT:
        return query_bytes(&query, &i->format, sizeof i->format);
    case CL_IMAGE_ELEMENT_SIZE:
        return QUERY_VALUE(&query, size_t, i->element);
    case CL_IMAGE_ROW_PITCH:
        return QUERY_VALUE(&query, size_t, i->row);
    case CL_IMAGE_SLICE_PITCH:
        return QUERY_VALUE(&query, size_t, i->desc.image_slice_pitch);
    case CL_IMAGE_WIDTH:
        return QUERY_VALUE(&query, size_t, i->desc.image_width);
    case CL_IMAGE_HEIGHT:
        return QUERY_VALUE(&query, size_t, i->desc.image_height);
    case CL_IMAGE_DEPTH:
        return QUERY_VALUE(&query, size_t, i->desc.image_depth);
    case CL_IMAGE_ARRAY_SIZE:
        return QUERY_VALUE(&query, size_t, i->desc.image_array_size);
    case CL_IMAGE_BUFFER:
        return QUERY_VALUE(&query, cl_mem, image->parent);
    case CL_IMAGE_NUM_MIP_LEVELS:
    case CL_IMAGE_NUM_SAMPLES:
        return QUERY_VALUE(&query, cl_uint, 0);
    default:
        return CL_INVALID_VALUE;
    }
}

/* ---- samplers ---- */

u32 sampler_word(const struct _cl_sampler *sampler)
{
    const enum hd_texture_address address =
        sampler->addressing == CL_ADDRESS_CLAMP             ? HD_TEXTURE_BORDER
        : sampler->addressing == CL_ADDRESS_REPEAT          ? HD_TEXTURE_WRAP
        : sampler->addressing == CL_ADDRESS_MIRRORED_REPEAT ? HD_TEXTURE_MIRROR
                                                            : HD_TEXTURE_CLAMP;
    const struct hd_sampler same = {.address = {address, address, address},
                                    .normalized = sampler->normalized,
                                    .linear = sampler->filter == CL_FILTER_LINEAR};
    return hd_sampler_word(&same);
}

void destroy_sampler(void *object)
{
    object_release(((struct _cl_sampler *)object)->context);
}

CL_API_ENTRY cl_sampler CL_API_CALL clCreateSampler(cl_context context, cl_bool normalized_coords,
                                                    cl_addressing_mode addressing_mode,
                                                    cl_filter_mode filter_mode, cl_int *errcode_ret)
{
    LOCKED;
    if (!object_is(context, KIND_CONTEXT))
        return failed(errcode_ret, CL_INVALID_CONTEXT);
    if (!context_has_images(context))
        return failed(errcode_ret, CL_INVALID_OPERATION);
    const bool repeats =
        addressing_mode == CL_ADDRESS_REPEAT || addressing_mode == CL_ADDRESS_MIRRORED_REPEAT;
    if (addressing_mode < CL_ADDRESS_NONE || addressing_mode > CL_ADDRESS_MIRRORED_REPEAT ||
        (filter_mode != CL_FILTER_NEAREST && filter_mode != CL_FILTER_LINEAR) ||
        normalized_coords > CL_TRUE || (repeats && !normalized_coords))
        return failed(errcode_ret, CL_INVALID_VALUE);
    cl_sampler sampler = object_create(KIND_SAMPLER, sizeof *sampler);
    object_retain(context);
    sampler->context = context;
    sampler->normalized = normalized_coords;
    sampler->addressing = addressing_mode;
    sampler->filter = filter_mode;
    return made(errcode_ret, sampler);
}

CL_API_ENTRY cl_int CL_API_CALL clRetainSampler(cl_sampler sampler)
{
    LOCKED;
    if (!object_is(sampler, KIND_SAMPLER))
        return CL_INVALID_SAMPLER;
    object_retain(sampler);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseSampler(cl_sampler sampler)
{
    LOCKED;
    if (!object_is(sampler, KIND_SAMPLER))
        return CL_INVALID_SAMPLER;
    object_release(sampler);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetSamplerInfo(cl_sampler sampler, cl_sampler_info param_name,
                                                 size_t param_value_size, void *param_value,
                                                 size_t *param_value_size_ret)
{
    LOCKED;
    const struct query query = {param_value_size, param_value, param_value_size_ret};
    if (!object_is(sampler, KIND_SAMPLER))
        return CL_INVALID_SAMPLER;
    switch (param_name) {
    case CL_SAMPLER_REFERENCE_COUNT:
        return QUERY_VALUE(&query, cl_uint, sampler->object.references);
    case CL_SAMPLER_CONTEXT:
        return QUERY_VALUE(&query, cl_context, sampler->context);
    case CL_SAMPLER_NORMALIZED_COORDS:
        return QUERY_VALUE(&query, cl_bool, sampler->normalized);
    case CL_SAMPLER_ADDRESSING_MODE:
        return QUERY_VALUE(&query, cl_addressing_mode, sampler->addressing);
    case CL_SAMPLER_FILTER_MODE:
        return QUERY_VALUE(&query, cl_filter_mode, sampler->filter);
    default:
        return CL_INVALID_VALUE;
    }
}
