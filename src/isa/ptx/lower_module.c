/*
 * Module scope: functions, variables and their images.
 *
 *  D1  Several declarations of one name are one object; the definition wins.
 *  D2  Variables declared inside functions live at module scope under the address of their
 *      declaration, so that equal names in two functions do not collide.
 *  D3  Of a text with several parts (A5 of ast.h), a name that a part declares .extern, .visible,
 *      .weak or .common is the same in all of them; other names are the part's own (program_name). A .weak
 *      definition yields to one that is not, or else to the first.
 */
#include "isa/ptx/lower.h"
#include <stdio.h>
#include <stdlib.h>

#define VARIABLE_LIMIT 0x7fffff00ull
#define IMAGE_LIMIT (256ull << 20)

struct name_table *names_of_part(struct lower *l, u32 part, const char *name, size_t length)
{
    if (!l->parts || names_get(&l->parts[part].linked, name, length))
        return &l->globals.names;
    return &l->parts[part].own.names;
}

static struct symbol *global_find(struct lower *l, u32 part, const char *name)
{
    const size_t length = strlen(name);
    return names_get(names_of_part(l, part, name, length), name, length);
}

static struct symbol *global_define(struct lower *l, u32 part, const char *name,
                                    enum symbol_kind kind)
{
    struct symbol *symbol = arena_new(l->arena, struct symbol);
    symbol->kind = kind;
    symbol->name = name;
    names_put(names_of_part(l, part, name, strlen(name)), name, symbol);
    return symbol;
}

/* The name of a function or variable in the program: unique, by the number of its part behind '@', where
 * other parts may have their own of that name. */
static const char *program_name(struct lower *l, u32 part, const char *name)
{
    struct arena *arena = l->program->arena;
    const bool linked = !l->parts || names_get(&l->parts[part].linked, name, strlen(name));
    return part && !linked ? arena_printf(arena, "%s@%u", name, part) : arena_strdup(arena, name);
}

static void note_linked(struct lower *l, u32 part, const char *name, bool linked)
{
    if (linked)
        names_put(&l->parts[part].linked, name, l);
}

/* Finds what the parts share (D3). */
static void module_parts(struct lower *l)
{
    const struct ptx_module *m = l->module;
    if (m->part_count < 2)
        return;
    l->parts = arena_array(l->arena, struct part, m->part_count);
    for (u32 i = 0; i < m->part_count; i++)
        l->parts[i].own.parent = &l->globals;
    for (u32 i = 0; i < m->function_count; i++) {
        const struct ptx_function *f = &m->functions[i];
        note_linked(l, f->part, f->name, f->is_extern || f->is_visible || f->is_weak);
    }
    for (u32 i = 0; i < m->variable_count; i++) {
        const struct ptx_declaration *d = &m->variables[i];
        note_linked(l, d->part, d->name,
                    d->is_extern || d->is_visible || d->is_weak || d->is_common);
    }
}

/* ---- functions ---- */

static bool kernel_params(struct lower *l, const struct ptx_function *ast, struct function *out)
{
    out->params = arena_array(l->program->arena, struct parameter, ast->param_count + 1);
    out->param_count = ast->param_count;
    u64 end = 0;
    for (u32 i = 0; i < ast->param_count; i++) {
        const struct ptx_declaration *d = &ast->params[i];
        u64 size = declaration_size(d), align = declaration_align(d);
        enum type type = type_parse(d->type);
        if (type == TYPE_NONE && d->type) { /* texture, sampler and surface handles */
            size = 8;
            align = 8;
            type = TYPE_B64;
        }
        if (!is_pow2(align) || align > 4096 || size > (1u << 16))
            return lower_error(l, d->place, "parameter '%s' is too large", d->name);
        u64 offset = align_up(end, align);
        end = offset + size;
        if (end > 1u << 16)
            return lower_error(l, d->place, "the parameters need more than 65536 bytes");
        out->params[i] = (struct parameter){.name = arena_strdup(l->program->arena, d->name),
                                            .offset = (u32)offset,
                                            .size = (u32)size,
                                            .align = (u32)align,
                                            .type = type,
                                            .is_array = d->is_array,
                                            .is_pointer = d->is_pointer};
    }
    out->param_bytes = (u32)end;
    return true;
}

static bool function_describe(struct lower *l, struct callable *unit, struct function *out)
{
    const struct ptx_function *ast = unit->ast;
    out->name = program_name(l, ast->part, ast->name);
    out->is_kernel = ast->is_entry;
    memcpy(out->max_threads, ast->max_threads, sizeof out->max_threads);
    memcpy(out->required_threads, ast->required_threads, sizeof out->required_threads);
    out->min_blocks = ast->min_blocks;
    out->max_registers = ast->max_registers;
    return ast->is_entry ? kernel_params(l, ast, out) : signature_layout(l, ast, &unit->signature);
}

static bool functions_declare(struct lower *l)
{
    const struct ptx_module *module = l->module;
    struct program *program = l->program;
    l->units = arena_array(l->arena, struct callable, module->function_count + 1);
    program->functions = arena_array(program->arena, struct function, module->function_count + 1);
    for (u32 i = 0; i < module->function_count; i++) {
        const struct ptx_function *ast = &module->functions[i];
        struct symbol *symbol = global_find(l, ast->part, ast->name);
        if (symbol && symbol->kind == SYMBOL_FUNCTION) {
            struct callable *unit = &l->units[symbol->index];
            const bool both = unit->ast->has_body && ast->has_body;
            if (both && !unit->ast->is_weak && !ast->is_weak)
                return lower_error(l, ast->place, "'%s' is defined twice", ast->name);
            if (both ? !ast->is_weak : ast->has_body)
                unit->ast = ast;
            continue;
        }
        if (symbol)
            return lower_error(l, ast->place, "'%s' is declared twice", ast->name);
        symbol = global_define(l, ast->part, ast->name, SYMBOL_FUNCTION);
        symbol->index = program->function_count++;
        l->units[symbol->index].ast = ast;
    }
    for (u32 i = 0; i < program->function_count; i++)
        if (!function_describe(l, &l->units[i], &program->functions[i]))
            return false;
    for (u32 i = 0; i < module->alias_count; i++) {
        const struct ptx_alias *alias = &module->aliases[i];
        struct symbol *target = global_find(l, alias->part, alias->target);
        if (target && target->kind == SYMBOL_FUNCTION)
            names_put(names_of_part(l, alias->part, alias->name, strlen(alias->name)), alias->name,
                      target);
    }
    return true;
}

/* ---- variables ---- */

struct variable_image {
    struct lower *l;
    struct variable *variable;
    const struct ptx_declaration *declaration;
    u32 bytes; /* of an element */
    u32 relocation_room;
};

static bool image_room(struct variable_image *image, const struct ptx_initializer *init, u64 offset,
                       u32 bytes)
{
    struct variable *v = image->variable;
    if (offset > v->size || bytes > v->size - offset)
        return lower_error(image->l, init->place, "'%s' has more values than elements", v->name);
    return true;
}

static bool image_put(struct variable_image *image, const struct ptx_initializer *init, u64 offset,
                      u64 value)
{
    struct variable *v = image->variable;
    if (!image_room(image, init, offset, image->bytes))
        return false;
    if (!v->image) {
        if (!value)
            return true;
        if (v->size > IMAGE_LIMIT)
            return lower_error(image->l, init->place, "'%s' is too large to be initialised",
                               v->name);
        v->image = arena_array(image->l->program->arena, u8, v->size);
    }
    memcpy(v->image + offset, &value, image->bytes);
    return true;
}

static bool image_address(struct variable_image *image, const struct ptx_initializer *init,
                          u64 offset, u32 bytes)
{
    struct variable *v = image->variable;
    struct symbol *symbol = global_find(image->l, image->declaration->part, init->name);
    if (!symbol || (symbol->kind != SYMBOL_VARIABLE && symbol->kind != SYMBOL_FUNCTION))
        return lower_error(image->l, init->place, "'%s' is not a global variable or a function",
                           init->name);
    if (bytes < 4)
        return lower_error(image->l, init->place, "an address does not fit in .%s",
                           image->declaration->type);
    if (!image_room(image, init, offset, bytes))
        return false;
    if (v->relocation_count == image->relocation_room) {
        u32 room = MAX(2 * image->relocation_room, 8u);
        struct relocation *bigger = arena_array(image->l->program->arena, struct relocation, room);
        if (v->relocation_count)
            memcpy(bigger, v->relocations, v->relocation_count * sizeof *bigger);
        v->relocations = bigger;
        image->relocation_room = room;
    }
    bool is_function = symbol->kind == SYMBOL_FUNCTION;
    if (is_function)
        image->l->program->functions[symbol->index].address_taken = true;
    v->relocations[v->relocation_count++] =
        (struct relocation){(u32)offset, bytes, is_function ? RELOC_FUNCTION : RELOC_VARIABLE,
                            symbol->index, (i64)init->value};
    return true;
}

/* Consecutive byte-selecting values 0xFF(x), 0xFF00(x), ... are one address. Returns their number
 * from item i on: 8, 4, or fewer if they do not form an address. */
static u32 masked_run(const struct ptx_initializer *list, u32 i)
{
    u32 run = 0;
    while (run < 8 && i + run < list->item_count && list->items[i + run].kind == PTX_INIT_NAME &&
           list->items[i + run].mask == 0xffull << (8 * run) &&
           list->items[i + run].name == list->items[i].name)
        run++;
    return run == 8 ? 8 : run >= 4 ? 4 : run;
}

static u64 initializer_value(const struct variable_image *image, const struct ptx_initializer *init)
{
    enum type type = type_parse(image->declaration->type);
    u64 bits = init->value;
    f64 value;
    if (init->kind == PTX_INIT_INT && type != TYPE_F32 && type != TYPE_F64)
        return bits;
    if (init->kind == PTX_INIT_INT) {
        value = (f64)(i64)bits;
    } else if (init->is_single) {
        if (type != TYPE_F64)
            return bits;
        f32 single;
        u32 word = (u32)bits;
        memcpy(&single, &word, 4);
        value = single;
    } else {
        memcpy(&value, &bits, 8);
    }
    if (type == TYPE_F32) {
        f32 single = (f32)value;
        u32 word;
        memcpy(&word, &single, 4);
        return word;
    }
    memcpy(&bits, &value, 8);
    return bits;
}

static bool image_fill(struct variable_image *image, const struct ptx_initializer *init, u32 level,
                       u64 offset)
{
    const struct ptx_declaration *d = image->declaration;
    if (init->kind == PTX_INIT_NAME)
        return image_address(image, init, offset, init->mask ? 0 : image->bytes);
    if (init->kind != PTX_INIT_LIST)
        return image_put(image, init, offset, initializer_value(image, init));
    u64 stride = image->bytes * (u64)(level < d->dim_count ? MAX(d->vector, 1) : 1);
    for (u32 i = level + 1; i < d->dim_count; i++)
        stride *= MAX(d->dims[i], 1);
    for (u32 i = 0; i < init->item_count; i++) {
        bool nested = init->items[i].kind == PTX_INIT_LIST;
        u64 at = offset + i * (nested ? stride : image->bytes);
        u32 run = image->bytes == 1 ? masked_run(init, i) : 0;
        if (run >= 4) {
            if (!image_address(image, &init->items[i], at, run))
                return false;
            i += run - 1;
            continue;
        }
        if (!image_fill(image, &init->items[i], level + 1, at))
            return false;
    }
    return true;
}

/* .tex is PTX 1.x's space of textures. */
static bool is_texture(const struct ptx_declaration *d)
{
    if (!strcmp(d->space, "tex"))
        return true;
    return !strcmp(d->space, "global") &&
           (!strcmp(d->type, "texref") || !strcmp(d->type, "surfref"));
}

static u64 variable_size(const struct ptx_declaration *d)
{
    u64 size = declaration_size(d);
    if (!size && d->dim_count && !d->dims[0] && d->init && d->init->kind == PTX_INIT_LIST) {
        size = (u64)type_bytes(type_parse(d->type)) * MAX(d->vector, 1) * d->init->item_count;
        for (u32 i = 1; i < d->dim_count; i++)
            size *= d->dims[i];
    }
    return size;
}

static bool variable_declare(struct lower *l, const struct ptx_declaration *d, const char *key)
{
    struct symbol *symbol = global_find(l, d->part, key);
    if (symbol && symbol->kind != SYMBOL_VARIABLE)
        return lower_error(l, d->place, "'%s' is declared twice", d->name);
    u64 size = variable_size(d);
    u32 align = declaration_align(d);
    if (size > VARIABLE_LIMIT || align > 65536 || !is_pow2(align))
        return lower_error(l, d->place, "'%s' is too large: at most %llu bytes", d->name,
                           (unsigned long long)VARIABLE_LIMIT);
    if (!symbol) {
        symbol = global_define(l, d->part, key, SYMBOL_VARIABLE);
        symbol->index = l->program->variable_count++;
    } else if (d->is_extern) {
        return true;
    } else if (!l->program->variables[symbol->index].is_extern) {
        const struct ptx_declaration *first = symbol->declaration;
        if (d->is_weak && first->part != d->part)
            return true;
        if (!l->program->variables[symbol->index].visible ||
            (first->part != d->part && !first->is_weak && !first->is_common && !d->is_common))
            return lower_error(l, d->place, "'%s' is declared twice", d->name);
    }
    symbol->declaration = d;
    struct variable *v = &l->program->variables[symbol->index];
    v->name = program_name(l, d->part, d->name);
    v->space = !strcmp(d->space, "const") ? SPACE_CONST : SPACE_GLOBAL;
    v->size = size;
    v->align = align;
    v->is_extern = d->is_extern;
    v->visible = d->is_visible || d->is_weak || d->is_common;
    v->is_texture = is_texture(d);
    return true;
}

static bool variable_fill(struct lower *l, const struct ptx_declaration *d, const char *key)
{
    struct symbol *symbol = global_find(l, d->part, key);
    if (!d->init || !symbol || symbol->declaration != d || is_texture(d))
        return true;
    struct variable_image image = {.l = l,
                                   .variable = &l->program->variables[symbol->index],
                                   .declaration = d,
                                   .bytes = type_bytes(type_parse(d->type))};
    return image_fill(&image, d->init, 0, 0);
}

typedef bool variable_fn(struct lower *l, const struct ptx_declaration *d, const char *key);

static bool is_device_variable(const struct ptx_declaration *d)
{
    if (is_texture(d))
        return true;
    return (!strcmp(d->space, "global") || !strcmp(d->space, "const")) &&
           type_parse(d->type) != TYPE_NONE;
}

static const char *inner_key(struct lower *l, const struct ptx_declaration *d)
{
    return arena_printf(l->arena, "\x01%p", (const void *)d);
}

static bool body_variables(struct lower *l, const struct ptx_statement *items, u32 count,
                           variable_fn *fn)
{
    for (u32 i = 0; i < count; i++) {
        const struct ptx_declaration *d = &items[i].declaration;
        if (items[i].kind == PTX_SCOPE &&
            !body_variables(l, items[i].items, items[i].item_count, fn))
            return false;
        if (items[i].kind == PTX_DECLARATION && is_device_variable(d) && !fn(l, d, inner_key(l, d)))
            return false;
    }
    return true;
}

static bool each_variable(struct lower *l, variable_fn *fn)
{
    const struct ptx_module *m = l->module;
    for (u32 i = 0; i < m->variable_count; i++)
        if (is_device_variable(&m->variables[i]) && !fn(l, &m->variables[i], m->variables[i].name))
            return false;
    for (u32 i = 0; i < m->function_count; i++)
        if (!body_variables(l, m->functions[i].body, m->functions[i].body_count, fn))
            return false;
    return true;
}

static u32 count_variables(const struct ptx_statement *items, u32 count)
{
    u32 found = 0;
    for (u32 i = 0; i < count; i++) {
        found += items[i].kind == PTX_DECLARATION;
        if (items[i].kind == PTX_SCOPE)
            found += count_variables(items[i].items, items[i].item_count);
    }
    return found;
}

static bool other_declare(struct lower *l, const struct ptx_declaration *d)
{
    struct symbol *symbol = global_find(l, d->part, d->name);
    bool shared = !strcmp(d->space, "shared");
    if (symbol && shared && symbol->kind == SYMBOL_SHARED && (symbol->is_dynamic || d->is_extern)) {
        if (!d->is_extern) {
            symbol->declaration = d;
            symbol->is_dynamic = false;
        }
        return true;
    }
    if (symbol && symbol->declaration->part != d->part && (d->is_weak || d->is_extern))
        return true;
    if (symbol)
        return lower_error(l, d->place, "'%s' is declared twice", d->name);
    const bool sampler = d->type && !strcmp(d->type, "samplerref");
    symbol = global_define(l, d->part, d->name,
                           shared    ? SYMBOL_SHARED
                           : sampler ? SYMBOL_SAMPLER
                                     : SYMBOL_OTHER);
    symbol->declaration = d;
    if (shared) {
        symbol->is_dynamic = d->is_extern;
        symbol->index = l->shared_count;
        l->shared[l->shared_count++] = symbol;
    }
    return true;
}

bool module_declare(struct lower *l)
{
    const struct ptx_module *m = l->module;
    u32 room = m->variable_count + 1;
    for (u32 i = 0; i < m->function_count; i++)
        room += count_variables(m->functions[i].body, m->functions[i].body_count);
    l->program->variables = arena_array(l->program->arena, struct variable, room);
    l->shared = arena_array(l->arena, struct symbol *, m->variable_count + 1);
    module_parts(l);
    if (!functions_declare(l) || !each_variable(l, variable_declare))
        return false;
    for (u32 i = 0; i < m->variable_count; i++)
        if (!is_device_variable(&m->variables[i]) && !other_declare(l, &m->variables[i]))
            return false;
    for (u32 i = 0; i < m->prototype_count; i++) {
        const struct ptx_statement *s = &m->prototypes[i];
        if (global_find(l, s->part, s->label))
            return lower_error(l, s->place, "'%s' is declared twice", s->label);
        enum symbol_kind kind =
            s->kind == PTX_CALLPROTOTYPE ? SYMBOL_PROTOTYPE : SYMBOL_CALLTARGETS;
        global_define(l, s->part, s->label, kind)->statement = s;
    }
    return each_variable(l, variable_fill);
}
