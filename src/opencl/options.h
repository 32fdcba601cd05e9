/*
 * Build options of OpenCL 1.2 (5.6.4, 5.6.5), checked and turned into arguments of the compiler.
 *
 * Words are separated by white space. Quotes, single or double, keep it in a word and are left out;
 * a backslash takes a quote, a space or a backslash after it for what it is and is kept before
 * anything else. Every word must be an option that the specification has: a compiler behind a
 * program must not be told things through it that no OpenCL program may ask. NVIDIA's own options
 * (-cl-nv-verbose, -cl-nv-maxrregcount=32, -cl-nv-opt-level 2) are left out, with a note.
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
    bool relative;     /* what -I names depends on the working directory */
    const char *wrong; /* the word that is no option, when there is one */
    const char *notes; /* lines for the build log; "" for none */
};

/* `text` may be NULL: none. False: options->wrong says why. All is of the arena. */
bool options_parse(struct options *options, struct arena *arena, const char *text,
                   enum options_for use);

#endif
