/*
 * YAML text -> a small tree, for machine and plan files (JSON is YAML too).
 *
 * The text is untrusted. What is not needed is refused with a place: several documents, anchors,
 * aliases, tags, keys that are not plain scalars, duplicate keys. Every value keeps its line and
 * column so that later checks can point at it.
 */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include "base/arena.h"
#include "base/error.h"

enum {
    YAML_MAX_BYTES = 1 << 20,
    YAML_MAX_NODES = 1 << 16,
    YAML_MAX_KEYS = 4096, /* of one mapping: duplicates are found by comparing all of them */
    YAML_MAX_DEPTH = 16,
};

enum yaml_kind {
    YAML_SCALAR,
    YAML_MAP,
    YAML_LIST
};

struct yaml {
    enum yaml_kind kind;
    u32 line, column; /* from 1; of the value, or of the key when the value is empty */
    const char *text; /* YAML_SCALAR: terminated, without NUL inside; "" when nothing was written */
    bool quoted;      /* YAML_SCALAR: written in quotes or as a block */
    const char *key;  /* in a mapping: its key, else NULL */
    u32 key_line, key_column;
    struct yaml *first, *next; /* children in written order */
    struct yaml *last;
    u32 count; /* children */
};

/* `place` names the text in messages. The tree lives in `arena`; an empty text is an empty scalar.
 */
struct yaml *yaml_parse(struct arena *arena, const char *text, size_t length, const char *place,
                        struct error *error);

/* The child with this key, or NULL. */
const struct yaml *yaml_get(const struct yaml *map, const char *key);
/* "a mapping", "a list", "text", "nothing": for messages. */
const char *yaml_kind_name(const struct yaml *node);

#endif
