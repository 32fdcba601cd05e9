/*
 * Build options of OpenCL 1.2 (5.6.4, 5.6.5), checked and turned into arguments of the compiler.
 *
 * Words are separated by white space. Quotes, single or double, protect white space and are
 * removed; a backslash escapes a quote, a space or a backslash and is kept before anything else.
 * Every word must be an option of the specification: a program must not pass arbitrary arguments to
 * the compiler. NVIDIA's own options (-cl-nv-verbose, -cl-nv-maxrregcount=32, -cl-nv-opt-level 2)
 * are ignored, with a note.
 */
#ifndef OPENCL_OPTIONS_H
#define OPENCL_OPTIONS_H

#include "base/arena.h"

enum options_for {
    OPTIONS_COMPILE = 1,
    OPTIONS_LINK = 2,
    OPTIONS_BUILD = OPTIONS_COMPILE | OPTIONS_LINK
};

struct options {
    const char **words; /* for the compiler, in order */
    u32 count;
    bool create_library;
    bool relative;     /* an -I path is relative to the working directory */
    const char *wrong; /* the first word that is not an option, or NULL */
    const char *notes; /* lines for the build log; "" for none */
};

/* `text` may be NULL: no options. False: options->wrong is the wrong word. Allocated in the
 * arena. */
bool options_parse(struct options *options, struct arena *arena, const char *text,
                   enum options_for use);

#endif
