/*
 * Strict reading of YAML mappings: every key is known or an error with a suggestion, every value
 * has the kind that is expected, and messages point at it.
 */
#ifndef LAB_FIELDS_H
#define LAB_FIELDS_H

#include "base/yaml.h"
#include "lab/formula.h"

struct fields {
    struct arena *arena; /* for everything that is read */
    const char *file;    /* name for messages */
    struct error *error;
    const char *folder; /* that paths are relative to; NULL: the current one */
};

/* The folder of a file; NULL: the current one. */
const char *file_folder(struct arena *arena, const char *file);
/* A path that a file gives, as this process can open it. */
const char *fields_path(const struct fields *fields, const char *path);

/* Set the error, with the place of a value or of its key, and return false. */
bool fields_error(const struct fields *fields, const struct yaml *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool fields_key_error(const struct fields *fields, const struct yaml *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* At most `most` bytes of a text from a file, made printable. */
const char *shown_text(struct arena *arena, const char *text, size_t most);
/* ", did you mean 'x'?" or "" */
const char *fields_nearest(const struct fields *fields, const char *word,
                           const char *const *candidates, size_t count);

/* A mapping with keys of the NULL-terminated list only; `what` names it: "a column". */
bool fields_map(const struct fields *fields, const struct yaml *node, const char *what,
                const char *const *keys);
bool fields_kind(const struct fields *fields, const struct yaml *node, enum yaml_kind kind,
                 const char *what);

/* The value of a key; `text` is unchanged if there is none, which is an error if `needed`. */
bool fields_text(const struct fields *fields, const struct yaml *map, const char *key, bool needed,
                 const char **text);
bool fields_number(const struct fields *fields, const struct yaml *node, f64 *value);
/* A list of texts, NULL-terminated; one text is a list of one. */
bool fields_words(const struct fields *fields, const struct yaml *node, const char ***words);
/* One of a NULL-terminated list of names. */
bool fields_choice(const struct fields *fields, const struct yaml *node, const char *const *choices,
                   u32 *value);
/* Letters, digits and underscores; a letter first unless `digits`. */
bool fields_name(const struct fields *fields, const struct yaml *at, const char *name, bool digits);

/* The place of a scalar's first character; the place of a value's key. */
struct text_place fields_key_place(const struct fields *fields, const struct yaml *node);
struct text_place fields_place(const struct fields *fields, const struct yaml *node);

#endif
