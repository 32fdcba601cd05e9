/* See harness.h. */
#include "harness.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *const settings_fast[] = {NULL};
const char *const settings_plain[] = {"exec.simd=portable", "ptx.optimize=false", NULL};

void text_add(struct text *text, const char *format, ...)
{
    for (;;) {
        va_list list;
        va_start(list, format);
        size_t room = text->capacity - text->at;
        int n = vsnprintf(text->data ? text->data + text->at : NULL, room, format, list);
        va_end(list);
        assert(n >= 0);
        if ((size_t)n < room) {
            text->at += (size_t)n;
            return;
        }
        text->capacity = 2 * text->capacity + (size_t)n + 4096;
        text->data = realloc(text->data, text->capacity);
        assert(text->data);
    }
}

void text_free(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

/* SEMANTICS_ADDRESS_BITS=32 runs the same code with .address_size 32 on devices with 32-bit addresses. */
static bool addresses_are_narrow(void)
{
    const char *bits = getenv("SEMANTICS_ADDRESS_BITS");
    return bits && !strcmp(bits, "32");
}

static void give_up(const char *what, const struct hd_error *error)
{
    fprintf(stderr, "%s: %s %s\n", what, error->place, error->message);
    exit(1);
}

struct hd_device *device_open(const char *const *settings)
{
    struct hd_error error = {0};
    struct hd_config *config = hd_config_create();
    hd_config_set(config, "timing.functional=true", &error);
    if (addresses_are_narrow() && !hd_config_set(config, "gpu.address_bits=32", &error))
        give_up("gpu.address_bits=32", &error);
    for (; *settings; settings++)
        if (!hd_config_set(config, *settings, &error))
            give_up(*settings, &error);
    struct hd_device *device = hd_device_open(config, &error);
    if (!device)
        give_up("hd_device_open", &error);
    hd_config_destroy(config);
    return device;
}

struct hd_module *module_load(struct hd_device *device, const struct text *text, const char *name)
{
    static const char wide[] = ".address_size 64", narrow[] = ".address_size 32";
    struct hd_error error = {0};
    char *size = strstr(text->data, wide);
    if (size && addresses_are_narrow())
        memcpy(size, narrow, sizeof narrow - 1);
    struct hd_module *module = hd_module_load(device, text->data, text->at, name, &error);
    if (!module)
        printf("%s does not load: %s %s\n", name, error.place, error.message);
    return module;
}

bool launch(struct hd_module *module, const char *kernel, struct hd_dim grid, struct hd_dim block,
            const u64 *args, unsigned arg_count)
{
    struct hd_error error = {0};
    struct hd_arg list[16];
    assert(arg_count <= 16);
    for (unsigned i = 0; i < arg_count; i++)
        list[i] = (struct hd_arg){&args[i], 8};
    struct hd_kernel *found = hd_kernel_find(module, kernel, &error);
    struct hd_result result = {0};
    if (!found || !hd_launch(found, grid, block, 0, list, arg_count, &result, &error)) {
        printf("%s does not launch: %s %s\n", kernel, error.place, error.message);
        return false;
    }
    if (result.outcome != HD_DONE) {
        printf("%s ends with %s: %s\n", kernel, hd_outcome_name(result.outcome),
               result.explanation);
        return false;
    }
    return true;
}

u64 buffer_new(struct hd_device *device, const void *data, size_t bytes)
{
    struct hd_error error = {0};
    u64 address = hd_alloc(device, bytes, &error);
    if (!address)
        give_up("hd_alloc", &error);
    if (data)
        buffer_write(device, address, data, bytes);
    return address;
}

void buffer_write(struct hd_device *device, u64 buffer, const void *from, size_t bytes)
{
    struct hd_error error = {0};
    if (!hd_write(device, buffer, from, bytes, &error))
        give_up("hd_write", &error);
}

void buffer_read(struct hd_device *device, u64 buffer, void *to, size_t bytes)
{
    struct hd_error error = {0};
    if (!hd_read(device, to, buffer, bytes, &error))
        give_up("hd_read", &error);
}
