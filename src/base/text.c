/* Text helpers: see text.h. */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Reads digits of one base up to the first other character. */
static enum text_result digits(const char *text, u32 base, u64 *value, const char **end)
{
    u64 sum = 0;
    bool range = false;
    const char *at = text;
    for (;; at++) {
        u32 digit = isdigit((u8)*at)    ? (u32)(*at - '0')
                    : isxdigit((u8)*at) ? (u32)(tolower((u8)*at) - 'a' + 10)
                                        : 99;
        if (digit >= base)
            break;
        range |=
            __builtin_mul_overflow(sum, base, &sum) || __builtin_add_overflow(sum, digit, &sum);
    }
    *value = sum;
    *end = at;
    return at == text ? TEXT_SYNTAX : range ? TEXT_RANGE : TEXT_OK;
}

static enum text_result integer(const char *text, u64 *value, const char **end)
{
    if (text[0] == '0' && text[1]) {
        int letter = tolower((u8)text[1]);
        u32 base = letter == 'x' ? 16 : letter == 'b' ? 2 : letter == 'o' ? 8 : 0;
        if (base)
            return digits(text + 2, base, value, end);
        if (isdigit((u8)text[1]))
            return digits(text + 1, 8, value, end);
    }
    return digits(text, 10, value, end);
}

enum text_result text_u64(const char *text, u64 *value)
{
    const char *end;
    enum text_result result = integer(text, value, &end);
    return *end ? TEXT_SYNTAX : result;
}

bool text_range(const char *text, u64 *first, u64 *last)
{
    char from[72]; /* fits every 64-bit number, "0b" included */
    size_t length = strcspn(text, "-");
    if (length >= sizeof from)
        return false;
    memcpy(from, text, length);
    from[length] = '\0';
    const char *to = text[length] ? text + length + 1 : from;
    *first = 1;
    *last = UINT64_MAX;
    return (*from || *to) && (!*from || text_u64(from, first) == TEXT_OK) &&
           (!*to || text_u64(to, last) == TEXT_OK) && *first && *first <= *last;
}

enum text_result text_i64(const char *text, i64 *value)
{
    bool negative = *text == '-';
    u64 magnitude;
    enum text_result result = text_u64(text + (negative || *text == '+'), &magnitude);
    if (result == TEXT_OK && magnitude > (u64)INT64_MAX + negative)
        return TEXT_RANGE;
    *value = (i64)(negative ? 0 - magnitude : magnitude);
    return result;
}

enum text_result text_size(const char *text, u64 *value)
{
    const char *end;
    enum text_result result = integer(text, value, &end);
    static const char letters[] = "KMG";
    const char *suffix = *end ? strchr(letters, toupper((u8)*end)) : NULL;
    if (suffix && result != TEXT_SYNTAX) {
        end++;
        if (!strcmp(end, "iB") || !strcmp(end, "B"))
            end += strlen(end);
        u32 shift = 10 * (u32)(suffix - letters + 1);
        if (*value > UINT64_MAX >> shift)
            result = TEXT_RANGE;
        *value <<= shift;
    }
    return *end ? TEXT_SYNTAX : result;
}

enum text_result text_f64(const char *text, f64 *value)
{
    if (!*text || isspace((u8)*text))
        return TEXT_SYNTAX;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain)
        return TEXT_SYNTAX;
    char *end;
    errno = 0;
    *value = strtod_l(text, &end, plain);
    freelocale(plain);
    if (*end)
        return TEXT_SYNTAX;
    /* underflow to a subnormal or zero is rounding, not an error */
    return errno == ERANGE && isinf(*value) ? TEXT_RANGE : TEXT_OK;
}

size_t text_utf8_length(const char *text, size_t length)
{
    const u8 *at = (const u8 *)text;
    if (!length)
        return 0;
    if (at[0] < 0x80)
        return 1;
    size_t count = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (at[0] < 0xc2 || at[0] > 0xf4 || length < count)
        return 0;
    for (size_t i = 1; i < count; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    /* overlong forms, surrogates and code points above U+10FFFF */
    bool bad = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
               (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f);
    return bad ? 0 : count;
}

static const char *printable(struct arena *arena, const char *text, const char *kept)
{
    size_t length = strlen(text);
    char *copy = arena_alloc(arena, 4 * length + 1), *to = copy;
    for (size_t i = 0; i < length;) {
        size_t step = text_utf8_length(text + i, length - i);
        bool control = step == 1 && (iscntrl((u8)text[i]) || text[i] == 0x7f);
        if (!step || (control && !strchr(kept, text[i]))) {
            to += sprintf(to, "\\x%02x", (u8)text[i++]);
            continue;
        }
        memcpy(to, text + i, step);
        to += step;
        i += step;
    }
    return copy;
}

const char *text_printable(struct arena *arena, const char *text)
{
    return printable(arena, text, "");
}

const char *text_printable_lines(struct arena *arena, const char *text)
{
    return printable(arena, text, "\n\t");
}

json_t *text_json(const char *text)
{
    struct arena *arena = arena_create();
    json_t *string = json_string(text_printable_lines(arena, text));
    arena_destroy(arena);
    return string;
}

enum {
    LONGEST_WORD = 64
};

/* Damerau-Levenshtein: insert, remove, replace and swap of neighbours cost one each. */
static u32 edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    u32 rows[3][LONGEST_WORD + 1];
    for (u32 j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (u32 i = 1; i <= a_length; i++) {
        u32 *row = rows[i % 3], *above = rows[(i - 1) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (u32 j = 1; j <= b_length; j++) {
            u32 best = above[j - 1] + (tolower((u8)a[i - 1]) != tolower((u8)b[j - 1]));
            best = MIN(best, above[j] + 1);
            best = MIN(best, row[j - 1] + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = MIN(best, above2[j - 2] + 1);
            row[j] = best;
        }
    }
    return rows[a_length % 3][b_length];
}

const char *nearest_word(const char *word, const char *const *candidates, size_t count)
{
    size_t length = strlen(word);
    if (!length || length > LONGEST_WORD)
        return NULL;
    const char *best = NULL;
    u32 best_distance = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(candidates[i]);
        if (!other || other > LONGEST_WORD)
            continue;
        u32 distance = edit_distance(word, length, candidates[i], other);
        /* a third of the letters may be wrong, but at least one; a wholly different word is no
         * hint */
        if (distance <= MAX(1, MAX(length, other) / 3) && distance < MAX(length, other) &&
            distance < best_distance) {
            best_distance = distance;
            best = candidates[i];
        }
    }
    return best;
}

static char *read_stream(FILE *stream, const char *path, size_t limit, size_t *length,
                         struct error *error)
{
    size_t capacity = 1 << 16, used = 0;
    char *data = malloc(capacity);
    while (data) {
        used += fread(data + used, 1, capacity - 1 - used, stream);
        if (used < capacity - 1 || used > limit)
            break;
        capacity *= 2;
        char *larger = realloc(data, capacity);
        if (!larger)
            free(data);
        data = larger;
    }
    if (data && !ferror(stream) && used <= limit) {
        data[used] = 0;
        *length = used;
        return data;
    }
    if (!data)
        error_set(error, ERROR_MEMORY, path, "out of memory while reading");
    else if (ferror(stream))
        error_set(error, ERROR_SYSTEM, path, "cannot read: %s", strerror(errno));
    else
        error_set(error, ERROR_INPUT, path, "too large: at most %zu bytes are allowed", limit);
    free(data);
    return NULL;
}

char *text_read_file(const char *path, bool dash, size_t limit, size_t *length, struct error *error)
{
    if (dash && !strcmp(path, "-"))
        return read_stream(stdin, "standard input", limit, length, error);
    FILE *stream = fopen(path, "rbe");
    if (!stream) {
        error_set(error, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_SYSTEM, path, "cannot open: %s",
                  strerror(errno));
        return NULL;
    }
    struct stat status;
    char *data = NULL;
    if (fstat(fileno(stream), &status) == 0 && S_ISDIR(status.st_mode))
        error_set(error, ERROR_INPUT, path, "this is a directory: expected a file");
    else
        data = read_stream(stream, path, limit, length, error);
    fclose(stream);
    return data;
}
