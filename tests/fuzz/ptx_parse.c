/*
 * The PTX parser on any bytes: it ends, stays inside its text, and what it returns can be walked.
 *
 * Checked besides what the sanitizers see: a failure says where and what, in at most PTX_ERRORS
 * lines; limits A2 and A3 of ast.h hold.
 */
#include "dump.h"
#include "isa/ptx/parse.h"
#include "isa/ptx/ptx.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check_declaration(const struct ptx_declaration *one)
{
    u64 elements = 1;
    require(one->count <= PTX_GROUP && one->name && one->space && one->type);
    for (u32 i = 0; i < one->dim_count; i++) {
        u64 length = MAX(one->dims[i], 1);
        require(elements <= PTX_ELEMENTS / length);
        elements *= length;
    }
}

static void check_statements(const struct ptx_statement *list, u32 count, u32 depth)
{
    require(depth <= PTX_NESTING);
    for (u32 i = 0; i < count; i++) {
        require(list[i].place.line && list[i].place.column);
        if (list[i].kind == PTX_DECLARATION)
            check_declaration(&list[i].declaration);
        if (list[i].kind == PTX_SCOPE)
            check_statements(list[i].items, list[i].item_count, depth + 1);
    }
}

static void check_module(const struct ptx_module *module)
{
    require(module->target && module->version_major);
    for (u32 i = 0; i < module->variable_count; i++)
        check_declaration(&module->variables[i]);
    for (u32 i = 0; i < module->function_count; i++)
        check_statements(module->functions[i].body, module->functions[i].body_count, 0);
    FILE *nowhere = fopen("/dev/null", "w");
    if (nowhere) {
        dump_module(nowhere, module); /* reads every string of the tree */
        fclose(nowhere);
    }
}

static void check_error(const struct error *error)
{
    u32 lines = 1;
    require(error->code == ERROR_INPUT && error->place[0] && error->message[0]);
    for (const char *c = error->message; *c; c++)
        lines += *c == '\n';
    require(lines <= PTX_ERRORS + 1); /* and "more errors follow" */
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    struct arena *arena = arena_create();
    struct error error = {0};
    struct ptx_module *module = ptx_parse(arena, (const char *)data, size, "fuzz.ptx", &error);
    if (module)
        check_module(module);
    else
        check_error(&error);
    arena_destroy(arena);
    return 0;
}
