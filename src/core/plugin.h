/*
 * Mechanisms that are compiled outside of this tree and loaded from a shared object
 * (docs/write-a-mechanism.md). A file of src/mech and one outside look the same: the last line,
 * MECHANISM_PLUGIN(name), means nothing here and makes the object's one exported symbol there,
 * where `pkg-config --cflags heddle-mechanism` defines HEDDLE_PLUGIN.
 *
 * Invariants
 *  G1  An object is used only by a machine that was built from the very same headers: it carries
 *      their hash. There is no stable interface.
 *  G2  An object needs no symbol of the program it is loaded into, which may hide them all: it has
 *      a function of its own for each one that the headers declare, which jumps through a table
 *      that the machine fills when it loads the object.
 */
#ifndef CORE_PLUGIN_H
#define CORE_PLUGIN_H

#include "core/plugin_list.h"
#include "core/stages.h"

#define PLUGIN_MAGIC "heddle mechanism"
#define PLUGIN_SYMBOL "heddle_mechanism"

enum {
#define PLUGIN_COUNT(name) PLUGIN_FUNCTION_##name,
    PLUGIN_FUNCTIONS(PLUGIN_COUNT)
#undef PLUGIN_COUNT
    PLUGIN_FUNCTION_COUNT
};

/* The exported symbol. Magic and hash stay where they are: they say whether the rest can be read.
 */
struct mechanism_plugin {
    char magic[sizeof PLUGIN_MAGIC];
    char hash[sizeof PLUGIN_HASH];
    u32 sizes[3]; /* of structures, which compiler options may change */
    const struct mechanism *mechanism;
    void **functions; /* PLUGIN_FUNCTION_COUNT, to be filled */
};

#define PLUGIN_SIZES                                                           \
    {                                                                          \
        sizeof(struct core), sizeof(struct inflight), sizeof(struct mechanism) \
    }

#ifdef HEDDLE_PLUGIN

#if defined(__x86_64__)
#define PLUGIN_JUMP \
    "endbr64\n"     \
    "jmp *heddle_functions + heddle_at(%rip)\n"
#elif defined(__aarch64__)
#define PLUGIN_JUMP                                        \
    "adrp x16, heddle_functions + heddle_at\n"             \
    "ldr x16, [x16, :lo12:heddle_functions + heddle_at]\n" \
    "br x16\n"
#else
#error "core/plugin.h has no jump for this processor"
#endif

#define PLUGIN_FUNCTION(name)                                                                   \
    ".globl " #name "\n.hidden " #name "\n.type " #name ", %function\n" #name ":\n" PLUGIN_JUMP \
    ".set heddle_at, heddle_at + 8\n"

#define MECHANISM_PLUGIN(id)                                                                  \
    __attribute__((visibility("hidden"))) void *heddle_functions[PLUGIN_FUNCTION_COUNT];      \
    __asm__(".pushsection .text\n.set heddle_at, 0\n" PLUGIN_FUNCTIONS(                       \
        PLUGIN_FUNCTION) ".popsection\n");                                                    \
    extern const struct mechanism_plugin heddle_mechanism;                                    \
    __attribute__((visibility("default"))) const struct mechanism_plugin heddle_mechanism = { \
        PLUGIN_MAGIC, PLUGIN_HASH, PLUGIN_SIZES, &id##_mechanism, heddle_functions};

/* The one table of the headers that is data; each file has it. */
__attribute__((weak, visibility("hidden"))) const struct op_info op_info[OP_COUNT] = {
#include "ir/op_rows.h"
};

#endif

#endif
