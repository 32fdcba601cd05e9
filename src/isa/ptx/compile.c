/* ptx_compile: PTX text to a program in one step. */
#include "isa/ptx/ast.h"
#include "isa/ptx/ptx.h"

struct program *ptx_compile(const char *text, size_t length, const char *file,
                            const struct ptx_params *params, const struct ptx_target *target,
                            struct error *error)
{
    struct arena *arena = arena_create();
    struct ptx_module *module = ptx_parse(arena, text, length, file, error);
    struct program *program = module ? ptx_lower(module, params, target, error) : NULL;
    arena_destroy(arena);
    return program;
}
