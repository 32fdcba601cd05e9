/*
 * Errors as values.
 *
 * A fallible function returns bool or a pointer and takes `struct error *` last (never NULL). On
 * failure it fills the error once, at the place where the cause is known, and every caller passes
 * it on unchanged. Only a user's mistake or a lack of resources is an error: a guest fault is a
 * value in the launch's outcome, and a bug of Heddle is an assert.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/types.h"

enum error_code {
    ERROR_NONE,
    ERROR_INPUT,       /* a file, text or object from the user is wrong */
    ERROR_USAGE,       /* an option or API argument is wrong */
    ERROR_NOT_FOUND,   /* a named thing does not exist */
    ERROR_UNSUPPORTED, /* correct, but not supported */
    ERROR_MEMORY,      /* guest or host memory exhausted */
    ERROR_SYSTEM,      /* the host's file system or kernel refused */
    ERROR_INTERRUPTED, /* the client requested a stop */
};

struct error {
    enum error_code code;
    char place[256];    /* "kernel.ptx:41:7", or "" */
    char message[2048]; /* one line or several, no trailing newline */
};

/*
 * Fills the error and evaluates to false, for `return error_set(...)`. A macro, so that compilers
 * and static analysers, which see one file at a time, know that it is false.
 */
#define error_set(...) (error_fill(__VA_ARGS__), error_false())
void error_fill(struct error *error, enum error_code code, const char *place, const char *format,
                ...) __attribute__((format(printf, 4, 5)));
static inline bool error_false(void)
{
    return false;
}

/* "place: message" or just the message; the result lives in `buffer`. */
const char *error_text(const struct error *error, char *buffer, size_t size);

#endif
