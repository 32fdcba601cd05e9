/*
 * Mistakes of Heddle's own, in the user's process.
 *
 * An assert that fails in the driver, or in the library that is linked into it, calls the function
 * below in place of the C library's, which the program's own asserts go on to call: nothing but the
 * loader's functions is seen from outside (exports.map). It says whose mistake it is, and records
 * it, so that the wrapper does not take it for the program's.
 */
#include "opencl/opencl.h"

#include <assert.h>
#include <stdio.h>

void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function)
{
    char text[512];
    snprintf(text, sizeof text, "%s:%u: %s: assertion '%s' failed", file, line, function,
             assertion);
    fprintf(stderr, "heddle: internal error: %s\n", text);
    struct session *session = platform_session();
    if (session)
        session_bug(session, text);
    abort();
}
