/* Guest printf: see format.h. No part of the guest's format reaches the host's printf unchecked. */
#include "exec/format.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    WIDTH_MAX = 4096,
    SPEC_MAX = 32
};

struct format_state {
    format_reader *read;
    void *context;
    u64 format, arguments;
    u64 offset;     /* in the argument buffer */
    u32 word_bytes; /* of long, sizes and pointers */
    char *text;
    struct format_result result;
};

struct spec {
    char flags[6];
    int width, precision; /* -1 = not given */
    char length;          /* 0, 'h', 'H' for hh, 'l' (also for z and t), 'q' for ll and j, 'L' */
    char conversion;
    char raw[SPEC_MAX]; /* as written, to copy unknown conversions */
    u32 raw_length;
};

static bool fetch(struct format_state *s, u64 address, void *to, u64 bytes)
{
    if (s->read(s->context, address, to, bytes))
        return true;
    s->result.ok = false;
    s->result.bad_address = address;
    return false;
}

static bool next_char(struct format_state *s, char *c)
{
    return fetch(s, s->format, c, 1) && (s->format++, true);
}

static void put(struct format_state *s, const char *text, size_t length)
{
    size_t room = FORMAT_MAX - 1 - s->result.length;
    length = MIN(length, room);
    memcpy(s->text + s->result.length, text, length);
    s->result.length += length;
}

static void print(struct format_state *s, const char *format, ...)
{
    char buffer[WIDTH_MAX * 2 + 512]; /* the longest double has 309 digits before the point */
    va_list list;
    va_start(list, format);
    int length = vsnprintf(buffer, sizeof buffer, format, list);
    va_end(list);
    if (length > 0)
        put(s, buffer, MIN((size_t)length, sizeof buffer - 1));
}

static bool argument(struct format_state *s, u32 bytes, u64 *value)
{
    *value = 0;
    s->offset = align_up(s->offset, bytes);
    if (!fetch(s, s->arguments + s->offset, value, bytes))
        return false;
    s->offset += bytes;
    s->result.arguments++;
    return true;
}

/* A number or '*'; leaves *c at the first character after it. */
static bool parse_number(struct format_state *s, struct spec *spec, char *c, int *number)
{
    *number = 0;
    if (*c == '*') {
        u64 value;
        if (!argument(s, 4, &value))
            return false;
        *number = (i32)value;
        *number = MAX(MIN(*number, WIDTH_MAX), -WIDTH_MAX);
        spec->raw[spec->raw_length++] = *c;
        return next_char(s, c);
    }
    while (*c >= '0' && *c <= '9') {
        *number = MIN(*number * 10 + (*c - '0'), (int)WIDTH_MAX);
        if (spec->raw_length < SPEC_MAX - 8)
            spec->raw[spec->raw_length++] = *c;
        if (!next_char(s, c))
            return false;
    }
    return true;
}

static bool parse_length(struct format_state *s, struct spec *spec, char *c)
{
    while (strchr("hljztL", *c) && *c) {
        if (*c == 'h')
            spec->length = spec->length == 'h' ? 'H' : 'h';
        else if (*c == 'L')
            spec->length = 'L';
        else
            spec->length = *c == 'j' || (*c == 'l' && spec->length == 'l') ? 'q' : 'l';
        if (spec->raw_length < SPEC_MAX - 2)
            spec->raw[spec->raw_length++] = *c;
        if (!next_char(s, c))
            return false;
    }
    return true;
}

static bool parse_spec(struct format_state *s, struct spec *spec)
{
    char c;
    u32 flags = 0;
    *spec = (struct spec){.width = -1, .precision = -1, .raw = "%", .raw_length = 1};
    if (!next_char(s, &c))
        return false;
    while (c && strchr("-+ #0", c)) {
        if (!strchr(spec->flags, c) && flags < sizeof spec->flags - 1)
            spec->flags[flags++] = c;
        if (spec->raw_length < SPEC_MAX - 16)
            spec->raw[spec->raw_length++] = c;
        if (!next_char(s, &c))
            return false;
    }
    if ((c >= '0' && c <= '9') || c == '*')
        if (!parse_number(s, spec, &c, &spec->width))
            return false;
    if (spec->width < -1) { /* a negative '*' means left-adjusted */
        if (!strchr(spec->flags, '-') && flags < sizeof spec->flags - 1)
            spec->flags[flags++] = '-';
        spec->width = -spec->width;
    }
    if (c == '.') {
        spec->raw[spec->raw_length++] = c;
        if (!next_char(s, &c) || !parse_number(s, spec, &c, &spec->precision))
            return false;
        if (spec->precision < 0)
            spec->precision = -1;
    }
    if (!parse_length(s, spec, &c))
        return false;
    spec->conversion = c;
    spec->raw[spec->raw_length++] = c;
    return true;
}

/* "%<flags>*.*<length><conversion>" for the host, with our own width and precision. */
static void host_format(const struct spec *spec, const char *length, char *format)
{
    snprintf(format, SPEC_MAX, "%%%s%s%s%s%c", spec->flags, spec->width >= 0 ? "*" : "",
             spec->precision >= 0 ? ".*" : "", length, spec->conversion);
}

#define PRINT(s, spec, format, value)                                      \
    ((spec)->width >= 0 && (spec)->precision >= 0                          \
         ? print(s, format, (spec)->width, (spec)->precision, value)       \
     : (spec)->width >= 0     ? print(s, format, (spec)->width, value)     \
     : (spec)->precision >= 0 ? print(s, format, (spec)->precision, value) \
                              : print(s, format, value))

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static bool print_integer(struct format_state *s, const struct spec *spec)
{
    u64 value;
    char format[SPEC_MAX];
    bool is_signed = spec->conversion == 'd' || spec->conversion == 'i';
    const u32 bytes = spec->length == 'q' ? 8 : spec->length == 'l' ? s->word_bytes : 4;
    if (!argument(s, bytes, &value))
        return false;
    switch (spec->length) {
    case 'h':
        value = is_signed ? (u64)(i16)value : (u16)value;
        break;
    case 'H':
        value = is_signed ? (u64)(i8)value : (u8)value;
        break;
    default:
        if (bytes == 4)
            value = is_signed ? (u64)(i32)value : (u32)value;
    }
    host_format(spec, "ll", format);
    PRINT(s, spec, format, (unsigned long long)value);
    return true;
}

static bool print_double(struct format_state *s, const struct spec *spec)
{
    u64 bits;
    f64 value;
    char format[SPEC_MAX];
    if (!argument(s, 8, &bits))
        return false;
    memcpy(&value, &bits, sizeof value);
    host_format(spec, "", format);
    PRINT(s, spec, format, value);
    return true;
}

static bool print_string(struct format_state *s, const struct spec *spec)
{
    u64 address;
    char format[SPEC_MAX], text[WIDTH_MAX + 1];
    if (!argument(s, s->word_bytes, &address))
        return false;
    u32 limit = spec->precision >= 0 ? (u32)spec->precision : WIDTH_MAX, length = 0;
    if (!address)
        length = (u32)snprintf(text, sizeof text, "%.*s", (int)limit, "(null)");
    for (; address && length < limit; length++) {
        if (!fetch(s, address + length, &text[length], 1))
            return false;
        if (!text[length])
            break;
    }
    text[length] = 0;
    host_format(spec, "", format);
    PRINT(s, spec, format, text);
    return true;
}

static bool print_char(struct format_state *s, const struct spec *spec)
{
    u64 value;
    if (!argument(s, 4, &value))
        return false;
    char c = (char)value;
    bool left = strchr(spec->flags, '-');
    if (!left && spec->width > 1)
        print(s, "%*s", spec->width - 1, "");
    put(s, &c, 1);
    if (left && spec->width > 1)
        print(s, "%*s", spec->width - 1, "");
    return true;
}

static bool print_pointer(struct format_state *s, const struct spec *spec)
{
    u64 value;
    char text[32], format[SPEC_MAX];
    if (!argument(s, s->word_bytes, &value))
        return false;
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
    struct spec plain = *spec;
    plain.conversion = 's';
    plain.precision = -1;
    snprintf(plain.flags, sizeof plain.flags, "%s", strchr(spec->flags, '-') ? "-" : "");
    host_format(&plain, "", format);
    PRINT(s, &plain, format, text);
    return true;
}

#pragma GCC diagnostic pop

static bool print_spec(struct format_state *s, const struct spec *spec)
{
    switch (spec->conversion) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        return print_integer(s, spec);
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        return print_double(s, spec);
    case 's':
        return print_string(s, spec);
    case 'c':
        return print_char(s, spec);
    case 'p':
        return print_pointer(s, spec);
    case '%':
        put(s, "%", 1);
        return true;
    default:
        put(s, spec->raw, spec->raw_length - (spec->conversion == 0));
        return true;
    }
}

struct format_result format_guest(format_reader *read, void *context, u64 format, u64 arguments,
                                  u32 word_bytes, char *text)
{
    struct format_state s = {.read = read,
                             .context = context,
                             .format = format,
                             .arguments = arguments,
                             .word_bytes = word_bytes,
                             .text = text,
                             .result = {.ok = true}};
    /* A format without an end is cut off: it cannot print more than FORMAT_MAX characters. */
    for (u32 i = 0; i < FORMAT_MAX; i++) {
        char c;
        if (!next_char(&s, &c) || !c)
            break;
        if (c != '%') {
            put(&s, &c, 1);
            continue;
        }
        struct spec spec;
        if (!parse_spec(&s, &spec) || !print_spec(&s, &spec) || !spec.conversion)
            break;
    }
    text[s.result.length] = 0;
    return s.result;
}

bool format_string(format_reader *read, void *context, u64 address, char *text, size_t size)
{
    for (size_t i = 0; i + 1 < size; i++) {
        if (!read(context, address + i, &text[i], 1))
            return false;
        if (!text[i])
            return true;
    }
    text[size - 1] = 0;
    return true;
}
