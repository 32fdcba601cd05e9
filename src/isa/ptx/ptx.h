/*
 * PTX text -> ir. ptx_parse gives a syntax tree (ast.h), ptx_lower checks its meaning and makes a
 * program. Both take hostile input.
 */
#ifndef ISA_PTX_PTX_H
#define ISA_PTX_PTX_H

#include "base/component.h"
#include "ir/program.h"

#define COMPONENT ptx
#define COMPONENT_DEF "isa/ptx/ptx.def"
#include "base/component_struct.h"

struct ptx_module; /* ast.h */

/* `file` names the text in messages. Reports the first 20 syntax errors, one a line:
 * error->place is the first one's, and each further line of error->message begins with its own
 * place, so that error_text() gives "file:line:column: what, expected what" on every line. The tree
 * lives in `arena`. */
struct ptx_module *ptx_parse(struct arena *arena, const char *text, size_t length, const char *file,
                             struct error *error);

struct program *ptx_lower(const struct ptx_module *module, const struct ptx_params *params,
                          struct error *error);

/* Both steps. */
struct program *ptx_compile(const char *text, size_t length, const char *file,
                            const struct ptx_params *params, struct error *error);

#endif
