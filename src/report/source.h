/* Source files of functions in a profile, and the places of their instructions. */
#ifndef REPORT_SOURCE_H
#define REPORT_SOURCE_H

#include "base/types.h"
#include <jansson.h>

struct source {
    char *text;
    char **lines; /* [line - 1] */
    u32 count;
};

/*
 * Reads a source from its absolute path, from the folder or, if that is NULL, from its path or beside
 * the module. False: there
 * is none. Free with source_free().
 */
bool source_read(struct source *source, const char *file, const char *module, const char *folder);
void source_free(struct source *source);

/* The line of an instruction's place, "file:12", and the length of the file's name; 0: not known. */
u32 place_line(const json_t *inst, size_t *length);
/* Whether an instruction is of a line of `file`. */
bool place_in(const json_t *inst, const char *file, u32 *line);
/* The file whose line issued most of a function's instructions; NULL: places are not known. Free with free(). */
char *place_main_file(const json_t *insts);

#endif
