/*
 * Assertion failures of Heddle in the user's process.
 *
 * A failed assert in a driver, or in the library linked into it, calls the function below instead of
 * the C library's; the program's own asserts still call the C library's, since drivers export only
 * what loaders and programs ask for (exports.map). It reports that the bug is Heddle's and records it, so that
 * the wrapper does not blame the program.
 */
#include "host/session.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function)
{
    char text[512];
    snprintf(text, sizeof text, "%s:%u: %s: assertion '%s' failed", file, line, function,
             assertion);
    fprintf(stderr, "heddle: internal error: %s\n", text);
    session_bug(text);
    abort();
}
