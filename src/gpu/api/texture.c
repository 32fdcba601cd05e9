/* Images, and the textures that read them. */
#include "gpu/api/api.h"

#include <stdlib.h>

struct hd_image {
    struct hd_device *device;
    struct hd_image *next;
    struct texture texture; /* without a sampler */
    enum hd_texel texel;
    u32 channels, bits;
    u64 bytes;
    bool owned; /* the memory is its own */
};

enum {
    MOST_BYTES = 0x7fffff00 /* MEMORY_MAX_ALLOCATION */
};

/* The codes of texel_format(), by log2 of channels and of bytes. */
static bool format_of(u32 channels, u32 bits, enum hd_texel texel, struct texel_format *format)
{
    static const u8 data[3][3] = {{1, 2, 4}, {3, 5, 11}, {10, 12, 14}};
    static const u8 numbers[] = {[HD_TEXEL_UINT] = NUMBER_UINT,
                                 [HD_TEXEL_SINT] = NUMBER_SINT,
                                 [HD_TEXEL_FLOAT] = NUMBER_FLOAT,
                                 [HD_TEXEL_UNORM] = NUMBER_UNORM,
                                 [HD_TEXEL_SNORM] = NUMBER_SNORM};
    const bool known = (channels == 1 || channels == 2 || channels == 4) &&
                       (bits == 8 || bits == 16 || bits == 32) && texel <= HD_TEXEL_SNORM;
    if (!known || ((texel == HD_TEXEL_UNORM || texel == HD_TEXEL_SNORM) && bits == 32))
        return false;
    return texel_format(data[channels / 2][bits / 16], numbers[texel], format);
}

static bool set_shape(struct texture *t, const struct hd_image_shape *shape, struct error *error)
{
    const u32 sizes[] = {shape->width, shape->height, shape->depth};
    u128 texels = 1;
    *t = (struct texture){.used = true,
                          .linear = shape->address != 0,
                          .cube = shape->cube,
                          .dimensions = (u8)shape->dimensions,
                          .levels = (u8)MAX(shape->levels, 1),
                          .layers = MAX(shape->layers, 1),
                          .data_type = shape->data_type,
                          .channel_order = shape->channel_order,
                          .address = shape->address,
                          .pitch = shape->pitch,
                          .plane = shape->plane};
    if (shape->dimensions < 1 || shape->dimensions > 3 || shape->levels > TEXTURE_LEVELS)
        return error_set(error, ERROR_USAGE, "image",
                         "%u dimensions and %u levels, expected 1 to 3 and up to %d",
                         shape->dimensions, shape->levels, TEXTURE_LEVELS);
    if (!format_of(shape->channels, shape->bits, shape->texel, &t->format))
        return error_set(error, ERROR_UNSUPPORTED, "image",
                         "%u channels of %u bits, expected 1, 2 or 4 of 8, 16 or 32 bits",
                         shape->channels, shape->bits);
    for (u32 d = 0; d < 3; d++) {
        t->size[d] = d < shape->dimensions ? MAX(sizes[d], 1) : 1;
        texels *= t->size[d];
    }
    for (u32 c = 0; c < 4; c++)
        t->select[c] = (u8)(c < shape->channels ? c : c < 3 ? CHANNEL_ZERO : CHANNEL_ONE);
    if (shape->select[0] | shape->select[1] | shape->select[2] | shape->select[3])
        memcpy(t->select, shape->select, sizeof t->select);
    for (u32 c = 0; c < 4; c++)
        if (t->select[c] >= t->format.components && t->select[c] != CHANNEL_ZERO &&
            t->select[c] != CHANNEL_ONE)
            return error_set(error, ERROR_USAGE, "image", "there is no channel %u", t->select[c]);
    if (texels * t->layers * t->format.bytes > MOST_BYTES)
        return error_set(error, ERROR_MEMORY, "image", "an image of more than %d bytes",
                         MOST_BYTES);
    return true;
}

struct hd_image *hd_image_create(struct hd_device *device, const struct hd_image_shape *shape,
                                 const char *name, struct hd_error *error)
{
    struct texture texture;
    struct error inner = {0};
    u64 bytes = 0;
    if (!device || !shape) {
        api_null(error, "hd_image_create");
        return NULL;
    }
    bool ok = set_shape(&texture, shape, &inner);
    if (ok && texture.linear && texture.levels > 1)
        ok = error_set(&inner, ERROR_USAGE, "image", "linear memory has one level");
    if (ok && !texture.linear) {
        bytes = texture_layout(&texture);
        texture.address =
            memory_allocate(device->memory, bytes, ALLOC_BUFFER, name ? name : "image", &inner);
        ok = texture.address != 0;
    }
    if (!ok) {
        api_fail(error, &inner);
        return NULL;
    }
    struct hd_image *image = checked(calloc(1, sizeof *image));
    *image = (struct hd_image){.device = device,
                               .next = device->images,
                               .texture = texture,
                               .texel = shape->texel,
                               .channels = shape->channels,
                               .bits = shape->bits,
                               .bytes = bytes,
                               .owned = !texture.linear};
    device->images = image;
    return image;
}

void hd_image_destroy(struct hd_image *image)
{
    struct error ignored; /* freeing an allocation cannot fail */
    if (!image)
        return;
    struct hd_image **at = &image->device->images;
    while (*at != image)
        at = &(*at)->next;
    *at = image->next;
    if (image->owned)
        memory_free(image->device->memory, image->texture.address, &ignored);
    free(image);
}

/* ---- copies ---- */

static bool box_is_inside(const struct hd_image *image, const struct hd_box *box,
                          struct error *error)
{
    const struct texture *t = &image->texture;
    if (box->level >= t->levels)
        return error_set(error, ERROR_USAGE, "image", "there is no level %u", box->level);
    for (u32 d = 0; d < 3; d++) {
        const u32 size = d == 2 && t->layers > 1 ? t->layers : texture_extent(t, d, box->level);
        if ((u64)box->from[d] + box->count[d] > size)
            return error_set(error, ERROR_USAGE, "image",
                             "texels %u to %llu of dimension %u, which has %u", box->from[d],
                             (unsigned long long)box->from[d] + box->count[d] - 1, d, size);
    }
    return true;
}

static bool move_texels(struct hd_image *image, const struct hd_box *box, u8 *host, bool write,
                        struct error *error)
{
    const struct texture *t = &image->texture;
    const u32 bytes = t->format.bytes;
    struct memory *memory = image->device->memory;
    if (!box_is_inside(image, box, error))
        return false;
    for (u32 z = 0; z < box->count[2]; z++)
        for (u32 y = 0; y < box->count[1]; y++) {
            u8 *row = host + z * box->plane_bytes + y * box->row_bytes;
            const u32 layers = t->layers > 1, plane = box->from[2] + z;
            for (u32 x = 0; x < box->count[0]; x++) {
                const u64 at = texture_place(t, box->level, layers ? plane : 0, box->from[0] + x,
                                             box->from[1] + y, layers ? 0 : plane);
                const struct allocation *a = memory_find(memory, at, bytes);
                if (!a)
                    return error_set(error, ERROR_USAGE, "image",
                                     "the image's memory has been freed");
                u8 *device = a->host + (at - a->address);
                memcpy(write ? device : row + (u64)x * bytes, write ? row + (u64)x * bytes : device,
                       bytes);
            }
        }
    return true;
}

bool hd_image_write(struct hd_image *image, const struct hd_box *box, const void *from,
                    struct hd_error *error)
{
    struct error inner = {0};
    if (!image || !box || !from)
        return api_null(error, "hd_image_write");
    if (!move_texels(image, box, (u8 *)from, true, &inner))
        return api_fail(error, &inner);
    if (image->device->timing && image->owned)
        timing_copied(image->device->timing, image->texture.address, image->bytes);
    return true;
}

bool hd_image_read(struct hd_image *image, const struct hd_box *box, void *to,
                   struct hd_error *error)
{
    struct error inner = {0};
    if (!image || !box || !to)
        return api_null(error, "hd_image_read");
    return move_texels(image, box, to, false, &inner) || api_fail(error, &inner);
}

uint32_t hd_texel_bytes(const struct hd_image_shape *shape, const uint32_t color[4],
                        uint8_t bytes[16])
{
    struct texture t;
    struct error ignored = {0};
    if (!shape || !color || !bytes || !set_shape(&t, shape, &ignored))
        return 0;
    memset(bytes, 0, t.format.bytes);
    for (u32 c = 0; c < 4; c++) {
        const u32 to = t.select[c];
        if (to >= t.format.components)
            continue;
        const u32 word = texel_store(&t.format, color[c], to);
        memcpy(bytes + t.format.shift[to] / 8, &word, t.format.bits[to] / 8);
    }
    return t.format.bytes;
}

/* ---- textures ---- */

uint32_t hd_sampler_word(const struct hd_sampler *sampler)
{
    u32 word = (sampler->normalized ? SAMPLER_NORMALIZED : 0) |
               (sampler->linear ? SAMPLER_LINEAR : 0) |
               (sampler->levels_linear ? SAMPLER_LEVELS_LINEAR : 0);
    for (u32 d = 0; d < 3; d++)
        word |= (sampler->address[d] & 7u) * SAMPLER_ADDRESS << 3 * d;
    return word;
}

bool hd_texture_bind(struct hd_device *device, uint64_t handle, struct hd_image *image,
                     enum hd_texel texel, const struct hd_sampler *sampler, struct hd_error *error)
{
    struct error inner = {0};
    if (!device || (image && !sampler))
        return api_null(error, "hd_texture_bind");
    struct texture *t = texture_at(&device->textures, handle);
    if (!t)
        error_set(&inner, ERROR_USAGE, "texture", "%llu is no texture", (unsigned long long)handle);
    else if (image && !format_of(image->channels, image->bits, texel, &(struct texel_format){0}))
        error_set(&inner, ERROR_UNSUPPORTED, "texture",
                  "texels of %u bits cannot be read like this", image->bits);
    if (!t || inner.code)
        return api_fail(error, &inner);
    *t = (struct texture){.used = true};
    if (!image)
        return true;
    *t = image->texture;
    format_of(image->channels, image->bits, texel, &t->format);
    t->sampler = hd_sampler_word(sampler);
    memcpy(t->border, sampler->border, sizeof t->border);
    t->level_bias = sampler->level_bias;
    t->level_min = sampler->level_min;
    t->level_max = sampler->level_max;
    return true;
}

uint64_t hd_texture_create(struct hd_image *image, enum hd_texel texel,
                           const struct hd_sampler *sampler, struct hd_error *error)
{
    if (!image || !sampler) {
        api_null(error, "hd_texture_create");
        return 0;
    }
    struct texture_table *table = &image->device->textures;
    const u64 handle = texture_add(table);
    if (!handle) {
        const struct error inner = {.code = ERROR_MEMORY, .message = "too many textures"};
        api_fail(error, &inner);
        return 0;
    }
    if (hd_texture_bind(image->device, handle, image, texel, sampler, error))
        return handle;
    texture_drop(table, handle);
    return 0;
}

void hd_texture_destroy(struct hd_device *device, uint64_t handle)
{
    if (device)
        texture_drop(&device->textures, handle);
}
