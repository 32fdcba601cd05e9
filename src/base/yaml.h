/*
 * YAML text to a small tree, for machine and experiment files (JSON is YAML, too).
 *
 * The text is untrusted. Features that are not needed are refused, with their place: several
 * documents, anchors, aliases, tags, keys that are not plain scalars, duplicate keys. Every value
 * keeps its line and column so that later checks can refer to them.
 */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include "base/arena.h"
#include "base/error.h"
#include <stdio.h>

enum {
    YAML_MAX_BYTES = 1 << 20,
    YAML_MAX_NODES = 1 << 16,
    YAML_MAX_KEYS = 4096, /* per mapping: duplicates are found by comparing all keys */
    YAML_MAX_DEPTH = 16,
};

enum yaml_kind {
    YAML_SCALAR,
    YAML_MAP,
    YAML_LIST
};

struct yaml {
    enum yaml_kind kind;
    u32 line, column; /* from 1; of the value, or of the key if the value is empty */
    const char *text; /* YAML_SCALAR: terminated, without NUL inside; "" if empty */
    bool quoted;      /* YAML_SCALAR: written in quotes or as a block */
    const char *key;  /* in a mapping: its key, else NULL */
    u32 key_line, key_column;
    struct yaml *first, *next; /* children in written order */
    struct yaml *last;
    u32 count; /* children */
};

/* `place` names the text in messages. The tree is in `arena`; an empty text is an empty scalar. */
struct yaml *yaml_parse(struct arena *arena, const char *text, size_t length, const char *place,
                        struct error *error);

/*
 * A tree as bytes that are quick to read: files that are built in are parsed when Heddle is built.
 * Packed trees are trusted. Keys and texts of an unpacked tree are in the bytes, which stay.
 */
void yaml_pack(const struct yaml *tree, FILE *to);
struct yaml *yaml_unpack(struct arena *arena, const char *packed);

/* Adds a child that is not in a tree yet. */
void yaml_append(struct yaml *parent, struct yaml *child);
/* The child with this key, or NULL. */
const struct yaml *yaml_get(const struct yaml *map, const char *key);
/* "a mapping", "a list", "text", "nothing": for messages. */
const char *yaml_kind_name(const struct yaml *node);

#endif
