/*
 * Kernel output: the buffer that printf of share/heddle/opencl/builtins.h fills, and its text.
 *
 * The buffer begins with two words: bytes used (more than its size if something did not fit) and
 * its size in bytes. Records follow: u32 bytes, u32 0, u64 address of the format, then arguments,
 * each u32 tag (kind, bytes of an element, elements), u32 0 and its bytes, padded to eight. A
 * record of 0 bytes is the end.
 *
 * Invariants
 *  P1  A kernel may have written anything: nothing here leaves the buffer or trusts a length.
 *  P2  An argument is shown by the conversion of the format; its tag says only where its bits are.
 */
#include "opencl/opencl.h"

#include "opencl/format.h"

#include <stdio.h>

enum {
    HEAD_BYTES = 8,
    RECORD_BYTES = 16, /* without arguments */
    FORMATS_KEPT = 32  /* a launch prints few formats many times */
};

struct formats {
    cl_device_id device;
    struct {
        u64 address;
        char *text;
    } kept[FORMATS_KEPT];
    u32 next;
};

hd_address print_prepare(cl_device_id device)
{
    struct hd_error error;
    if (!device->print_buffer)
        device->print_buffer =
            hd_alloc_named(device->device, PRINT_BYTES, "buffer of printf", &error);
    const u32 head[2] = {HEAD_BYTES, PRINT_BYTES};
    if (device->print_buffer)
        hd_write(device->device, device->print_buffer, head, sizeof head, &error);
    return device->print_buffer;
}

/* Malloc'd text from device memory, up to its NUL or the first byte that cannot be read. */
static char *read_text(void *user, u64 address)
{
    enum {
        PIECE = 64,
        LIMIT = 1 << 16
    };
    cl_device_id device = user;
    struct hd_error error;
    VEC(char) text = {0};
    char piece[PIECE];
    for (bool ended = false; !ended && text.count < LIMIT;) {
        /* a piece may extend beyond the allocation that holds the text */
        u32 bytes = PIECE;
        while (bytes && !hd_read(device->device, piece, address, bytes, &error))
            bytes /= 2;
        ended = !bytes;
        for (u32 i = 0; i < bytes && !ended; i++) {
            ended = !piece[i];
            if (!ended)
                *(char *)vec_push(&text) = piece[i];
        }
        address += bytes;
    }
    *(char *)vec_push(&text) = 0;
    return text.data;
}

static const char *format_at(struct formats *formats, u64 address)
{
    for (u32 i = 0; i < FORMATS_KEPT; i++)
        if (formats->kept[i].text && formats->kept[i].address == address)
            return formats->kept[i].text;
    u32 slot = formats->next++ % FORMATS_KEPT;
    free(formats->kept[slot].text);
    formats->kept[slot].address = address;
    formats->kept[slot].text = read_text(formats->device, address);
    return formats->kept[slot].text;
}

void print_drain(cl_device_id device)
{
    struct hd_error error;
    u32 head[2];
    if (!device->print_buffer ||
        !hd_read(device->device, head, device->print_buffer, sizeof head, &error) ||
        head[0] <= HEAD_BYTES)
        return;
    u32 used = MIN(head[0], PRINT_BYTES);
    u8 *buffer = checked(malloc(used));
    struct formats formats = {.device = device};
    struct format_out out = {.read_text = read_text, .user = device};
    if (!hd_read(device->device, buffer, device->print_buffer, used, &error))
        used = 0;
    for (u32 at = HEAD_BYTES; at < used && used - at >= RECORD_BYTES;) {
        u32 bytes;
        u64 address;
        memcpy(&bytes, buffer + at, sizeof bytes);
        memcpy(&address, buffer + at + 8, sizeof address);
        if (bytes < RECORD_BYTES || bytes > used - at)
            break;
        format_text(&out, format_at(&formats, address), buffer + at + RECORD_BYTES,
                    bytes - RECORD_BYTES);
        at += bytes;
    }
    fwrite(out.text.data, 1, out.text.count, stdout);
    fflush(stdout);
    for (u32 i = 0; i < FORMATS_KEPT; i++)
        free(formats.kept[i].text);
    vec_free(&out.text);
    free(buffer);
}
