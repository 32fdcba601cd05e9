/*
 * Helpers for user input: numbers with strict syntax, suggestions for misspelled words, printable
 * names, files with a size limit.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/arena.h"
#include "base/error.h"

struct json_t; /* of Jansson */

/* Result of parsing a number. */
enum text_result {
    TEXT_OK,
    TEXT_SYNTAX,
    TEXT_RANGE
};

/*
 * An unsigned or signed integer: decimal, 0x hexadecimal, 0b binary or 0 / 0o octal, nothing
 * before or after. text_size also takes the suffixes K, M, G (powers of 1024; KiB, MiB, GiB too).
 */
enum text_result text_u64(const char *text, u64 *value);
/* A range of numbers from 1: N, N-M, N- or -M. An open end is UINT64_MAX. False: not a range, or
 * the first is above the last. */
bool text_range(const char *text, u64 *first, u64 *last);
enum text_result text_i64(const char *text, i64 *value);
enum text_result text_size(const char *text, u64 *value);
/* A decimal or hexadecimal float, "inf", "nan", independent of the process's locale. */
enum text_result text_f64(const char *text, f64 *value);

/* Bytes of the UTF-8 character at the start of `text`; 0: not valid. */
size_t text_utf8_length(const char *text, size_t length);
/* A copy with unprintable bytes shown as \xNN. */
const char *text_printable(struct arena *arena, const char *text);
/* text_printable() for several lines: line feeds and tabs stay. */
const char *text_printable_lines(struct arena *arena, const char *text);
/* text_printable() as a JSON string, for external names, paths and messages about them. json_string
 * fails for bytes that are not UTF-8. */
struct json_t *text_json(const char *text);

/* The candidate nearest to `word` by edit distance, or NULL if none is near. */
const char *nearest_word(const char *word, const char *const *candidates, size_t count);

/*
 * The whole file, followed by a NUL that `length` does not count; "-" reads standard input when
 * `dash` is set. Free with free(). NULL and an error that names the file on failure.
 */
char *text_read_file(const char *path, bool dash, size_t limit, size_t *length,
                     struct error *error);

/* A file compiled in by scripts/embed or base/pack_machines.c. */
struct builtin_file {
    const char *name;
    const char *text;
    size_t length;
};

#endif
