/*
 * Texture and surface objects, and the texture references of CUDA 11 and before.
 *
 * An object is a handle of the library. A reference is a variable of a module whose handle the module
 * has; binding it changes what the handle stands for.
 */
#include "cuda/runtime.h"

#include <stdlib.h>

struct cuda_texture {
    struct cuda_texture *next; /* of its device */
    u64 handle;
    const void *reference;  /* the host's variable; NULL: an object */
    struct hd_image *image; /* of linear memory: its own; else NULL */
    struct cudaResourceDesc resource;
    struct cudaTextureDesc texture;
    bool surface;
};

typedef struct registered { /* a reference */
    const void *variable;
    const char *name;
    void **module;
    bool normalized; /* reads integers as floats */
} registered_t;
static VEC(registered_t) references;

enum {
    OLD_TEXTURE_DESC = offsetof(struct cudaTextureDesc, seamlessCubemap) /* bytes in CUDA 11 */
};

/* ---- textures of an array or of linear memory ---- */

static cudaError_t read_as(enum hd_texel texel, enum cudaTextureReadMode mode, enum hd_texel *as)
{
    *as = texel;
    if (mode != cudaReadModeNormalizedFloat)
        return cudaSuccess;
    *as = texel == HD_TEXEL_UINT ? HD_TEXEL_UNORM : texel == HD_TEXEL_SINT ? HD_TEXEL_SNORM : texel;
    return cudaSuccess;
}

static struct hd_sampler sampler_of(const struct cudaTextureDesc *t)
{
    struct hd_sampler s = {.normalized = t->normalizedCoords,
                           .linear = t->filterMode == cudaFilterModeLinear,
                           .levels_linear = t->mipmapFilterMode == cudaFilterModeLinear,
                           .level_bias = t->mipmapLevelBias,
                           .level_min = t->minMipmapLevelClamp,
                           .level_max = t->maxMipmapLevelClamp};
    for (u32 d = 0; d < 3; d++)
        s.address[d] = (enum hd_texture_address)(t->addressMode[d] & 3);
    memcpy(s.border, t->borderColor, sizeof s.border);
    return s;
}

/* An image of linear memory; cudaSuccess with none: the resource is an array. */
static cudaError_t linear_image(struct cuda_device *device, const struct cudaResourceDesc *resource,
                                struct hd_image **image)
{
    struct hd_image_shape shape = {.dimensions = 1};
    const struct cudaChannelFormatDesc *desc = &resource->res.linear.desc;
    struct hd_error error = {0};
    *image = NULL;
    if (resource->resType == cudaResourceTypeArray ||
        resource->resType == cudaResourceTypeMipmappedArray)
        return cudaSuccess;
    if (!channels_of(desc, &shape))
        return cudaErrorInvalidChannelDescriptor;
    shape.address = (u64)resource->res.linear.devPtr;
    const u32 bytes = shape.channels * shape.bits / 8;
    if (resource->resType == cudaResourceTypePitch2D) {
        shape.dimensions = 2;
        shape.width = (u32)resource->res.pitch2D.width;
        shape.height = (u32)resource->res.pitch2D.height;
        shape.pitch = resource->res.pitch2D.pitchInBytes;
        if (shape.pitch < (u64)shape.width * bytes)
            return cudaErrorInvalidPitchValue;
    } else {
        shape.width = (u32)MIN(resource->res.linear.sizeInBytes / bytes, 1u << 28);
    }
    if (!shape.address || !shape.width)
        return cudaErrorInvalidValue;
    *image = hd_image_create(device->device, &shape, NULL, &error);
    if (*image)
        return cudaSuccess;
    explain("texture", "%s", error.message);
    return cudaErrorInvalidValue;
}

/* What a resource's texels are, and the image that has them. */
static cudaError_t image_of(struct cuda_device *device, struct cuda_texture *texture,
                            struct hd_image **image, enum hd_texel *texel)
{
    const struct cudaResourceDesc *resource = &texture->resource;
    struct hd_image_shape shape;
    const cudaError_t status = linear_image(device, resource, &texture->image);
    *image = texture->image;
    if (status != cudaSuccess)
        return status;
    const struct cudaArray *array = *image ? NULL : array_find(device, resource->res.array.array);
    if (!*image && !array)
        return cudaErrorInvalidResourceHandle;
    if (!*image && array->level)
        return cudaErrorNotSupported;
    *image = *image ? *image : array->image;
    channels_of(array ? &array->desc : &resource->res.linear.desc, &shape);
    *texel = shape.texel;
    return cudaSuccess;
}

/* Makes its handle stand for its resource; a handle of 0 becomes a new one. */
static cudaError_t bind(struct cuda_device *device, struct cuda_texture *texture)
{
    struct hd_image *image;
    enum hd_texel texel;
    struct hd_error error = {0};
    const struct hd_sampler sampler = sampler_of(&texture->texture);
    cudaError_t status = image_of(device, texture, &image, &texel);
    if (status == cudaSuccess && texture->texture.sRGB) {
        explain("texture", "sRGB is not supported");
        status = cudaErrorNotSupported;
    }
    if (status == cudaSuccess)
        status = read_as(texel, texture->texture.readMode, &texel);
    if (status != cudaSuccess)
        return status;
    if (sampler.linear && (texel == HD_TEXEL_UINT || texel == HD_TEXEL_SINT))
        return cudaErrorInvalidValue; /* integers cannot be filtered */
    if (!texture->handle)
        texture->handle = hd_texture_create(image, texel, &sampler, &error);
    else if (!hd_texture_bind(device->device, texture->handle, image, texel, &sampler, &error))
        texture->handle = 0;
    if (texture->handle)
        return cudaSuccess;
    explain("texture", "%s", error.message);
    return cudaErrorInvalidValue;
}

static void forget(struct cuda_device *device, struct cuda_texture *texture)
{
    struct cuda_texture **at = &device->textures;
    while (*at != texture)
        at = &(*at)->next;
    *at = texture->next;
    if (texture->reference)
        hd_texture_bind(device->device, texture->handle, NULL, 0, NULL, NULL);
    else
        hd_texture_destroy(device->device, texture->handle);
    hd_image_destroy(texture->image);
    free(texture);
}

void textures_free(struct cuda_device *device)
{
    while (device->textures)
        forget(device, device->textures);
}

/* Keeps it in the device's list, or frees it and what it has. */
static cudaError_t keep(struct cuda_device *device, struct cuda_texture *texture,
                        cudaError_t status)
{
    if (status == cudaSuccess) {
        texture->next = device->textures;
        device->textures = texture;
    } else {
        hd_image_destroy(texture->image);
        free(texture);
    }
    return ended(status);
}

static struct cuda_texture *object_of(const struct cuda_device *device, u64 handle, bool surface)
{
    for (struct cuda_texture *at = device->textures; at; at = at->next)
        if (at->handle == handle && !at->reference && at->surface == surface)
            return at;
    return NULL;
}

/* ---- objects ---- */

EXPORT(cudaCreateTextureObject)
cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object,
                                    const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *desc,
                                    const struct cudaResourceViewDesc *view)
{
    ENTER(device);
    if (!object || !resource || !desc)
        return ended(cudaErrorInvalidValue);
    if (view) {
        explain("cudaCreateTextureObject", "views of resources are not supported");
        return ended(cudaErrorNotSupported);
    }
    struct cuda_texture *texture = checked(calloc(1, sizeof *texture));
    texture->resource = *resource;
    memcpy(&texture->texture, desc, OLD_TEXTURE_DESC);
    const cudaError_t status = bind(device, texture);
    *object = texture->handle;
    return keep(device, texture, status);
}

static cudaError_t destroy(u64 handle, bool surface)
{
    ENTER(device);
    struct cuda_texture *texture = object_of(device, handle, surface);
    if (!handle)
        return ended(cudaSuccess);
    if (!texture)
        return ended(cudaErrorInvalidValue);
    forget(device, texture);
    return ended(cudaSuccess);
}

static cudaError_t get_resource(struct cudaResourceDesc *resource, u64 handle, bool surface)
{
    ENTER(device);
    const struct cuda_texture *texture = object_of(device, handle, surface);
    if (!resource || !texture)
        return ended(cudaErrorInvalidValue);
    *resource = texture->resource;
    return ended(cudaSuccess);
}

EXPORT(cudaDestroyTextureObject)
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object)
{
    return destroy(object, false);
}

EXPORT(cudaGetTextureObjectResourceDesc)
cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *resource,
                                             cudaTextureObject_t object)
{
    return get_resource(resource, object, false);
}

/* The last field of CUDA 12's structure, which CUDA 11's lacks, is left as it is. */
EXPORT(cudaGetTextureObjectTextureDesc)
cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *desc,
                                            cudaTextureObject_t object)
{
    ENTER(device);
    const struct cuda_texture *texture = object_of(device, object, false);
    if (!desc || !texture)
        return ended(cudaErrorInvalidValue);
    memcpy(desc, &texture->texture, OLD_TEXTURE_DESC);
    return ended(cudaSuccess);
}

EXPORT(cudaCreateSurfaceObject)
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object,
                                    const struct cudaResourceDesc *resource)
{
    ENTER(device);
    if (!object || !resource || resource->resType != cudaResourceTypeArray)
        return ended(cudaErrorInvalidValue);
    struct cuda_texture *texture = checked(calloc(1, sizeof *texture));
    texture->resource = *resource;
    texture->surface = true;
    const cudaError_t status = bind(device, texture);
    *object = texture->handle;
    return keep(device, texture, status);
}

EXPORT(cudaDestroySurfaceObject)
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object)
{
    return destroy(object, true);
}

EXPORT(cudaGetSurfaceObjectResourceDesc)
cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *resource,
                                             cudaSurfaceObject_t object)
{
    return get_resource(resource, object, true);
}

/* ---- references ---- */

EXPORT(__cudaRegisterTexture)
void __cudaRegisterTexture(void **module, const struct textureReference *variable,
                           const void **device_address, const char *name, int dimensions,
                           int normalized, int is_extern)
{
    (void)device_address, (void)dimensions, (void)is_extern;
    LOCKED;
    *(registered_t *)vec_push(&references) = (registered_t){variable, name, module, normalized};
}

EXPORT(__cudaRegisterSurface)
void __cudaRegisterSurface(void **module, const struct surfaceReference *variable,
                           const void **device_address, const char *name, int dimensions,
                           int is_extern)
{
    (void)device_address, (void)dimensions, (void)is_extern;
    LOCKED;
    *(registered_t *)vec_push(&references) = (registered_t){variable, name, module, false};
}

static const registered_t *reference_find(const void *variable)
{
    for (u32 i = 0; i < references.count; i++)
        if (references.data[i].variable == variable)
            return &references.data[i];
    return NULL;
}

static void unbind(struct cuda_device *device, const void *variable)
{
    for (struct cuda_texture *at = device->textures; at; at = at->next)
        if (at->reference == variable) {
            forget(device, at);
            return;
        }
}

/* `state`: the reference's sampler; NULL: a surface. */
static cudaError_t bind_reference(const void *variable, const struct textureReference *state,
                                  const struct cudaResourceDesc *resource)
{
    ENTER(device);
    struct hd_module *module;
    struct hd_error error = {0};
    const registered_t *reference = reference_find(variable);
    if (!reference)
        return ended(cudaErrorInvalidTexture);
    cudaError_t status = module_loaded(device, reference->module, &module);
    if (status != cudaSuccess)
        return ended(status);
    unbind(device, variable);
    struct cuda_texture *texture = checked(calloc(1, sizeof *texture));
    texture->reference = variable;
    texture->resource = *resource;
    texture->surface = !state;
    if (state) {
        struct cudaTextureDesc *t = &texture->texture;
        memcpy(t->addressMode, state->addressMode, sizeof t->addressMode);
        t->filterMode = state->filterMode;
        t->normalizedCoords = state->normalized;
        t->sRGB = state->sRGB;
        t->mipmapFilterMode = state->mipmapFilterMode;
        t->mipmapLevelBias = state->mipmapLevelBias;
        t->minMipmapLevelClamp = state->minMipmapLevelClamp;
        t->maxMipmapLevelClamp = state->maxMipmapLevelClamp;
        t->readMode = reference->normalized ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    }
    /* the reference may belong to a kernel that is not in this program: no module has it then */
    if (!hd_module_texture(module, reference->name, &texture->handle, &error))
        return keep(device, texture, cudaErrorInvalidTexture);
    return keep(device, texture, bind(device, texture));
}

EXPORT(cudaBindTexture)
cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *reference,
                            const void *pointer, const struct cudaChannelFormatDesc *desc,
                            size_t bytes)
{
    if (!reference || !desc)
        return ended(cudaErrorInvalidValue);
    struct cudaResourceDesc resource = {.resType = cudaResourceTypeLinear};
    resource.res.linear.devPtr = (void *)pointer;
    resource.res.linear.desc = *desc;
    resource.res.linear.sizeInBytes = bytes;
    if (offset) /* any address will do */
        *offset = 0;
    return bind_reference(reference, reference, &resource);
}

EXPORT(cudaBindTexture2D)
cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *reference,
                              const void *pointer, const struct cudaChannelFormatDesc *desc,
                              size_t width, size_t height, size_t pitch)
{
    if (!reference || !desc)
        return ended(cudaErrorInvalidValue);
    struct cudaResourceDesc resource = {.resType = cudaResourceTypePitch2D};
    resource.res.pitch2D.devPtr = (void *)pointer;
    resource.res.pitch2D.desc = *desc;
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    if (offset)
        *offset = 0;
    return bind_reference(reference, reference, &resource);
}

static cudaError_t bind_array(const void *variable, const struct textureReference *state,
                              const void *array)
{
    struct cudaResourceDesc resource = {.resType = cudaResourceTypeArray};
    resource.res.array.array = (cudaArray_t)array;
    return bind_reference(variable, state, &resource);
}

EXPORT(cudaBindTextureToArray)
cudaError_t cudaBindTextureToArray(const struct textureReference *reference,
                                   cudaArray_const_t array,
                                   const struct cudaChannelFormatDesc *desc)
{
    (void)desc;
    return bind_array(reference, reference, array);
}

EXPORT(cudaBindTextureToMipmappedArray)
cudaError_t cudaBindTextureToMipmappedArray(const struct textureReference *reference,
                                            cudaMipmappedArray_const_t array,
                                            const struct cudaChannelFormatDesc *desc)
{
    (void)desc;
    return bind_array(reference, reference, array);
}

EXPORT(cudaBindSurfaceToArray)
cudaError_t cudaBindSurfaceToArray(const struct surfaceReference *reference,
                                   cudaArray_const_t array,
                                   const struct cudaChannelFormatDesc *desc)
{
    (void)desc;
    return bind_array(reference, NULL, array);
}

EXPORT(cudaUnbindTexture)
cudaError_t cudaUnbindTexture(const struct textureReference *reference)
{
    ENTER(device);
    unbind(device, reference);
    return ended(cudaSuccess);
}

EXPORT(cudaGetTextureAlignmentOffset)
cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *reference)
{
    LOCKED;
    if (!offset || !reference_find(reference))
        return ended(offset ? cudaErrorInvalidTexture : cudaErrorInvalidValue);
    *offset = 0;
    return ended(cudaSuccess);
}

EXPORT(cudaGetTextureReference)
cudaError_t cudaGetTextureReference(const struct textureReference **reference, const void *symbol)
{
    LOCKED;
    if (!reference || !reference_find(symbol))
        return ended(reference ? cudaErrorInvalidTexture : cudaErrorInvalidValue);
    *reference = symbol;
    return ended(cudaSuccess);
}

EXPORT(cudaGetSurfaceReference)
cudaError_t cudaGetSurfaceReference(const struct surfaceReference **reference, const void *symbol)
{
    LOCKED;
    if (!reference || !reference_find(symbol))
        return ended(reference ? cudaErrorInvalidTexture : cudaErrorInvalidValue);
    *reference = symbol;
    return ended(cudaSuccess);
}
