/*
 * Mechanisms that are compiled outside this tree and loaded from a shared object
 * (docs/write-a-mechanism.md). Their source looks like a file of src/mech: the last line,
 * MECHANISM_PLUGIN(name), expands to nothing in this tree. In an object, where
 * `pkg-config --cflags heddle-mechanism` defines HEDDLE_PLUGIN, it defines the one exported symbol.
 *
 * Invariants
 *  G1  An object is used only by a program that was built from exactly the same headers: it carries
 *      their hash. There is no stable interface.
 *  G2  An object needs no symbol of the program that loads it, which may hide them all: for each
 *      function that the headers declare it has its own stub, which jumps through a table that the
 *      program fills when it loads the object.
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

/* The exported symbol. Magic and hash must stay at their offsets: they decide whether the rest can
 * be read. */
struct mechanism_plugin {
    char magic[sizeof PLUGIN_MAGIC];
    char hash[sizeof PLUGIN_HASH];
    u32 sizes[3]; /* of structs whose layout compiler options may change */
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

/* The only data that the headers declare: every object gets its own copy. */
__attribute__((weak, visibility("hidden"))) const struct op_info op_info[OP_COUNT] = {
#include "ir/op_rows.h"
};

#endif

#endif
