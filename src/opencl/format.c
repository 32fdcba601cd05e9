/* printf: see format.h. */
#include "opencl/format.h"

#include <stdio.h>

struct print_argument {
    u32 kind, size, count; /* size: bytes per element */
    const u8 *data;
};

struct conversion { /* %[flags][width][.precision][vn][length]letter */
    char flags[8];
    int width, precision; /* -1: none */
    u32 vector;           /* elements; 0: a scalar */
    u32 size;             /* bytes given by the length modifier; 0: no modifier */
    char letter;          /* 0: not a conversion */
};

enum {
    LARGEST = 4096 /* limit of field width and precision: more would be slow, and is a mistake */
};

static void put(struct format_out *out, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        *(char *)vec_push(&out->text) = text[i];
}

/* ---- reading a conversion ---- */

static int number(const char **at)
{
    int value = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        value = value < LARGEST ? value * 10 + (**at - '0') : value;
    return MIN(value, LARGEST);
}

static u32 length_of(const char **at)
{
    static const struct {
        const char *word;
        u32 size;
    } LENGTHS[] = {{"hh", 1}, {"hl", 4}, {"h", 2}, {"l", 8}};
    for (size_t i = 0; i < ARRAY_LEN(LENGTHS); i++) {
        size_t length = strlen(LENGTHS[i].word);
        if (!strncmp(*at, LENGTHS[i].word, length))
            return *at += length, LENGTHS[i].size;
    }
    return 0;
}

/* Reads a conversion after '%' and advances `at`. */
static struct conversion read_conversion(const char **at)
{
    struct conversion c = {.width = -1, .precision = -1};
    size_t flags = 0;
    for (; **at && strchr("-+ #0", **at); (*at)++)
        if (flags < sizeof c.flags - 1 && !strchr(c.flags, **at))
            c.flags[flags++] = **at;
    if (**at >= '1' && **at <= '9')
        c.width = number(at);
    if (**at == '.') {
        (*at)++;
        c.precision = number(at);
    }
    if (**at == 'v') {
        (*at)++;
        c.vector = (u32)number(at);
    }
    c.size = length_of(at);
    if (**at && strchr("diouxXfFeEgGaAcsp%", **at))
        c.letter = *(*at)++;
    return c;
}

/* ---- reading an argument ---- */

static bool next_argument(const u8 **at, const u8 *end, struct print_argument *argument)
{
    u32 tag;
    if (end - *at < 8)
        return false;
    memcpy(&tag, *at, sizeof tag);
    *argument = (struct print_argument){tag >> 16, tag >> 8 & 0xff, tag & 0xff, *at + 8};
    /* a vector of three occupies as much as one of four */
    u64 bytes = align_up((u64)argument->size * (argument->count == 3 ? 4 : argument->count), 8);
    if (!argument->count || !is_pow2(argument->size) || argument->size > 8 ||
        bytes > (u64)(end - *at - 8))
        return false;
    *at += 8 + bytes;
    return true;
}

static u64 bits_of(const struct print_argument *argument, u32 element)
{
    u64 value = 0;
    memcpy(&value, argument->data + (size_t)element * argument->size, argument->size);
    return value;
}

/* The element as an integer of the conversion's size. */
static i64 whole(const struct print_argument *argument, u32 element, u32 size)
{
    u64 value = bits_of(argument, element);
    u32 unused = 64 - 8 * argument->size;
    if (argument->kind == FORMAT_SIGNED)
        value = (u64)((i64)(value << unused) >> unused);
    switch (size) {
    case 1:
        return (i8)value;
    case 2:
        return (i16)value;
    case 4:
        return (i32)value;
    default:
        return (i64)value;
    }
}

static f64 real(const struct print_argument *argument, u32 element)
{
    u64 value = bits_of(argument, element);
    f32 narrow;
    f64 wide;
    memcpy(&narrow, &value, sizeof narrow);
    memcpy(&wide, &value, sizeof wide);
    return argument->size == 8 ? wide : (f64)narrow;
}

/* ---- writing ---- */

/* The host's own format for one element: "%-08.3llx". */
static void host_format(const struct conversion *c, const char *length, char text[64])
{
    int used = snprintf(text, 64, "%%%s", c->flags);
    if (c->width >= 0)
        used += snprintf(text + used, 64 - (size_t)used, "%d", c->width);
    if (c->precision >= 0)
        used += snprintf(text + used, 64 - (size_t)used, ".%d", c->precision);
    snprintf(text + used, 64 - (size_t)used, "%s%c", length, c->letter);
}

/* The formats are built by host_format() from letters and sizes that match their arguments. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#define SHOW(out, format, value)                                        \
    do {                                                                \
        char shown[2 * LARGEST];                                        \
        int length = snprintf(shown, sizeof shown, format, value);      \
        put(out, shown, MIN((size_t)MAX(length, 0), sizeof shown - 1)); \
    } while (0)

static void show_text(struct format_out *out, const char *format,
                      const struct print_argument *argument)
{
    char *text = argument->kind == FORMAT_POINTER && bits_of(argument, 0)
                     ? out->read_text(out->user, bits_of(argument, 0))
                     : checked(strdup("(null)"));
    size_t room = strlen(text) + LARGEST + 1;
    char *shown = checked(malloc(room));
    int length = snprintf(shown, room, format, text);
    put(out, shown, MIN((size_t)MAX(length, 0), room - 1));
    free(shown);
    free(text);
}

static void show(struct format_out *out, const struct conversion *c,
                 const struct print_argument *argument, u32 element)
{
    char format[64];
    /* without a length modifier, a scalar is an int, and a vector's element has its own size */
    u32 size = c->size ? c->size : c->vector ? argument->size : 4;
    switch (c->letter) {
    case 'd':
    case 'i':
        host_format(c, "ll", format);
        SHOW(out, format, (long long)whole(argument, element, size));
        break;
    case 'o':
    case 'u':
    case 'x':
    case 'X': {
        u64 mask = size == 8 ? UINT64_MAX : ((u64)1 << 8 * size) - 1;
        host_format(c, "ll", format);
        SHOW(out, format, (unsigned long long)((u64)whole(argument, element, size) & mask));
        break;
    }
    case 'c':
        host_format(c, "", format);
        SHOW(out, format, (int)(u8)whole(argument, element, 1));
        break;
    case 's':
        host_format(c, "", format);
        show_text(out, format, argument);
        break;
    case 'p':
        host_format(c, "", format);
        SHOW(out, format, (void *)(uintptr_t)bits_of(argument, element));
        break;
    default:
        host_format(c, "", format);
        SHOW(out, format, real(argument, element));
        break;
    }
}

static void convert(struct format_out *out, const struct conversion *c, const u8 **args,
                    const u8 *end)
{
    struct print_argument argument;
    if (!next_argument(args, end, &argument))
        return; /* fewer arguments than conversions */
    u32 count = c->vector ? MIN(c->vector, argument.count) : 1;
    for (u32 i = 0; i < count; i++) {
        if (i)
            put(out, ",", 1);
        show(out, c, &argument, i);
    }
}

void format_text(struct format_out *out, const char *format, const u8 *args, size_t bytes)
{
    const u8 *end = args + bytes;
    while (*format) {
        size_t plain = strcspn(format, "%");
        put(out, format, plain);
        format += plain;
        if (!*format)
            break;
        const char *start = format++;
        struct conversion c = read_conversion(&format);
        if (c.letter == '%')
            put(out, "%", 1);
        else if (c.letter)
            convert(out, &c, &args, end);
        else
            put(out, start, (size_t)(format - start));
    }
}
