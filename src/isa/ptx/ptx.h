/*
 * PTX text to ir. ptx_parse builds a syntax tree (ast.h), ptx_lower checks its semantics and makes
 * a program. Both accept hostile input.
 */
#ifndef ISA_PTX_PTX_H
#define ISA_PTX_PTX_H

#include "base/component.h"
#include "ir/program.h"

#define COMPONENT ptx
#define COMPONENT_DEF "isa/ptx/ptx.def"
#include "base/component_struct.h"

struct ptx_module; /* ast.h */

/* `file` names the text in messages. Reports the first 20 syntax errors, one per line: error->place
 * is that of the first, and each further line of error->message begins with its own place, so that
 * error_text() gives "file:line:column: what, expected what" on every line. The tree is allocated
 * in `arena`. */
struct ptx_module *ptx_parse(struct arena *arena, const char *text, size_t length, const char *file,
                             struct error *error);

/* The machine that code is made for. */
struct ptx_target {
    /* 32 or 64: the size of addresses if the text has no .address_size. PTX's own default is 32, but
     * PTX before version 2.3 had no such directive, and its code has the size of its host. */
    u32 address_bits;
    /* A core's vector registers, which limit those of a thread where the text says how large a block
     * is (.reqntid, .maxntid, .minnctapersm); 0 = no limit. Warps get multiples of register_unit. */
    u32 registers, register_unit, warp_size;
};

struct program *ptx_lower(const struct ptx_module *module, const struct ptx_params *params,
                          const struct ptx_target *target, struct error *error);

/* ptx_parse and ptx_lower. */
struct program *ptx_compile(const char *text, size_t length, const char *file,
                            const struct ptx_params *params, const struct ptx_target *target,
                            struct error *error);

#endif
