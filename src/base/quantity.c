/* Quantities as text: see quantity.h. */
#include "base/quantity.h"

#include <stdio.h>

const char *count_text(struct arena *arena, u64 value)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    char *text = arena_alloc(arena, 40), *to = text;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            *to++ = ' ';
        *to++ = digits[i];
    }
    return text;
}

const char *time_text(f64 seconds, char *text, size_t size)
{
    static const char *const units[] = {"s", "ms", "us", "ns", "ps"};
    u32 unit = 0;
    while (unit + 1 < ARRAY_LEN(units) && seconds > 0 && seconds < 1) {
        seconds *= 1000;
        unit++;
    }
    int digits = seconds < 10 ? 2 : seconds < 100 ? 1 : 0;
    snprintf(text, size, "%.*f %s", digits, seconds, units[unit]);
    return text;
}

/* Three digits of a value of at least 1, with one of the units; each is `step` times the one
 * before. */
static const char *scaled(f64 value, f64 step, const char *const *units, u32 count, char *text,
                          size_t size)
{
    u32 unit = 0;
    while (unit + 1 < count && value >= step - 0.5) {
        value /= step;
        unit++;
    }
    int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    snprintf(text, size, "%.*f %s", digits, value, units[unit]);
    return text;
}

const char *amount_text(f64 amount, char *text, size_t size)
{
    static const char *const prefixes[] = {"k", "M", "G", "T"};
    if (amount < 999.5) {
        snprintf(text, size, "%.0f", amount);
        return text;
    }
    return scaled(amount / 1000, 1000, prefixes, ARRAY_LEN(prefixes), text, size);
}

const char *energy_text(f64 pj, char *text, size_t size)
{
    static const char *const units[] = {"pJ", "nJ", "uJ", "mJ", "J"};
    if (pj <= 0) {
        snprintf(text, size, "-");
        return text;
    }
    return scaled(pj, 1000, units, ARRAY_LEN(units), text, size);
}

const char *bytes_text(f64 bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    if (bytes < 1024) {
        snprintf(text, size, "%.0f B", bytes);
        return text;
    }
    return scaled(bytes, 1024, units, ARRAY_LEN(units), text, size);
}
