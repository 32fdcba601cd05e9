/*
 * Names: scopes, register groups, declarations in a body.
 *
 *  N1  A register group (%r<100>) may be enormous: only registers that are used get a number.
 *  N2  An inner scope hides names of outer ones, groups included.
 */
#include "isa/ptx/lower.h"
#include <stdio.h>
#include <stdlib.h>

static u32 hash_text(const char *text, size_t length)
{
    u32 hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (u8)text[i]) * 16777619u;
    return hash ^ hash >> 15;
}

static struct name_entry *probe(const struct name_table *names, const char *name, size_t length)
{
    u32 mask = names->capacity - 1;
    for (u32 i = hash_text(name, length) & mask;; i = (i + 1) & mask) {
        struct name_entry *entry = &names->entries[i];
        if (!entry->name || (!strncmp(entry->name, name, length) && !entry->name[length]))
            return entry;
    }
}

static void names_grow(struct name_table *names)
{
    struct name_table bigger = {NULL, names->count, names->capacity ? names->capacity * 2 : 16};
    bigger.entries = calloc(bigger.capacity, sizeof *bigger.entries);
    for (u32 i = 0; i < names->capacity; i++)
        if (names->entries[i].name)
            *probe(&bigger, names->entries[i].name, strlen(names->entries[i].name)) =
                names->entries[i];
    free(names->entries);
    *names = bigger;
}

void names_put(struct name_table *names, const char *name, void *value)
{
    if (2 * (names->count + 1) > names->capacity)
        names_grow(names);
    struct name_entry *entry = probe(names, name, strlen(name));
    if (!entry->name)
        names->count++;
    *entry = (struct name_entry){name, value};
}

void *names_get(const struct name_table *names, const char *name, size_t length)
{
    return names->capacity ? probe(names, name, length)->value : NULL;
}

void names_free(struct name_table *names)
{
    free(names->entries);
    *names = (struct name_table){0};
}

struct symbol *scope_find(const struct fn *fn, const char *name)
{
    size_t length = strlen(name);
    for (const struct scope *scope = fn->scope; scope; scope = scope->parent) {
        struct symbol *symbol = names_get(&scope->names, name, length);
        if (symbol)
            return symbol;
    }
    return NULL;
}

struct symbol *scope_define(struct fn *fn, const char *name, enum symbol_kind kind,
                            struct ptx_place place)
{
    if (names_get(&fn->scope->names, name, strlen(name))) {
        lower_error(fn->l, place, "'%s' is declared twice", name);
        return NULL;
    }
    struct symbol *symbol = arena_new(fn->l->arena, struct symbol);
    symbol->kind = kind;
    symbol->name = name;
    names_put(&fn->scope->names, name, symbol);
    return symbol;
}

/* Looks in one scope for the name itself, or for a group's name followed by an index without
 * leading zeros. */
static struct symbol *find_in_scope(const struct scope *scope, const char *name, size_t length,
                                    u32 *index)
{
    struct symbol *symbol = names_get(&scope->names, name, length);
    if (symbol && (symbol->kind != SYMBOL_REGISTERS || !symbol->declaration->count)) {
        *index = 0;
        return symbol;
    }
    u64 value = 0, scale = 1;
    for (size_t split = length; split-- > 1 && scale <= 1000000000;) {
        if (name[split] < '0' || name[split] > '9')
            break;
        value += (u64)(name[split] - '0') * scale;
        scale *= 10;
        if (name[split] == '0' && split + 1 < length)
            continue;
        symbol = names_get(&scope->names, name, split);
        if (symbol && symbol->kind == SYMBOL_REGISTERS && value < symbol->declaration->count) {
            *index = (u32)value;
            return symbol;
        }
    }
    return NULL;
}

struct symbol *register_find(const struct fn *fn, const char *name, const char *component,
                             u32 *index)
{
    size_t length = strlen(name);
    for (const struct scope *scope = fn->scope; scope; scope = scope->parent) {
        struct symbol *symbol = find_in_scope(scope, name, length, index);
        if (!symbol)
            continue;
        if (symbol->kind != SYMBOL_REGISTERS)
            return NULL;
        u32 width = MAX(symbol->declaration->vector, 1);
        u32 lane = 0;
        if (component) {
            static const char letters[] = "xyzw";
            const char *found = strchr(letters, component[0]);
            lane = found ? (u32)(found - letters) : width;
            if (component[1] || lane >= width)
                return NULL;
        }
        *index = *index * width + lane;
        return symbol;
    }
    return NULL;
}

struct register_entry {
    struct symbol *symbol;
    u32 index, id;
};

static struct register_entry *register_probe(struct register_entry *table, u32 room,
                                             const struct symbol *symbol, u32 index)
{
    u64 key = ((u64)(uintptr_t)symbol >> 4) * 0x9e3779b97f4a7c15ull + index * 0xc2b2ae3d27d4eb4full;
    for (u32 i = (u32)(key >> 32) & (room - 1);; i = (i + 1) & (room - 1))
        if (!table[i].symbol || (table[i].symbol == symbol && table[i].index == index))
            return &table[i];
}

u32 vreg_new(struct fn *fn, u32 words, enum type type)
{
    struct vreg *vreg = vec_push(&fn->vregs);
    vreg->words = (u8)words;
    vreg->type = (u8)type;
    return fn->vregs.count - 1;
}

u32 mask_new(struct fn *fn)
{
    return fn->masks++;
}

u32 register_id(struct fn *fn, struct symbol *symbol, u32 index)
{
    if (2 * (fn->register_used + 1) > fn->register_room) {
        u32 room = fn->register_room ? fn->register_room * 2 : 64;
        struct register_entry *bigger = calloc(room, sizeof *bigger);
        for (u32 i = 0; i < fn->register_room; i++)
            if (fn->registers[i].symbol)
                *register_probe(bigger, room, fn->registers[i].symbol, fn->registers[i].index) =
                    fn->registers[i];
        free(fn->registers);
        fn->registers = bigger;
        fn->register_room = room;
    }
    struct register_entry *entry = register_probe(fn->registers, fn->register_room, symbol, index);
    if (entry->symbol)
        return entry->id;
    enum type type = type_parse(symbol->declaration->type);
    u32 id = type == TYPE_PRED ? mask_new(fn) : vreg_new(fn, type_bytes(type) > 4 ? 2 : 1, type);
    if (type == TYPE_B128)
        vreg_new(fn, 2, type); /* lower_wide.c, B1 */
    *entry = (struct register_entry){symbol, index, id};
    fn->register_used++;
    return id;
}

enum type type_parse(const char *text)
{
    for (int t = TYPE_NONE + 1; text && t < TYPE_COUNT; t++) {
        const char *name = type_name((enum type)t);
        if (*name == *text && !strcmp(name, text))
            return (enum type)t;
    }
    return TYPE_NONE;
}

u64 declaration_size(const struct ptx_declaration *d)
{
    u64 size = (u64)type_bytes(type_parse(d->type)) * MAX(d->vector, 1);
    for (u32 i = 0; i < d->dim_count; i++)
        if (__builtin_mul_overflow(size, d->dims[i], &size))
            return UINT64_MAX;
    return size;
}

u32 declaration_align(const struct ptx_declaration *d)
{
    u32 natural = type_bytes(type_parse(d->type)) * MAX(d->vector, 1);
    return MAX(MAX(d->align, natural), 1u);
}

#define LOCAL_LIMIT (1u << 24)

static bool declare_memory(struct fn *fn, const struct ptx_declaration *d, enum symbol_kind kind)
{
    struct symbol *symbol = scope_define(fn, d->name, kind, d->place);
    if (!symbol)
        return false;
    symbol->declaration = d;
    symbol->size = declaration_size(d);
    symbol->align = declaration_align(d);
    if (symbol->size > LOCAL_LIMIT || symbol->align > 4096 || !is_pow2(symbol->align))
        return lower_error(fn->l, d->place, "'%s' is too large: at most %u bytes", d->name,
                           LOCAL_LIMIT);
    if (kind == SYMBOL_SHARED) {
        if (d->is_extern) {
            symbol->is_dynamic = true;
            symbol->offset = fn->unit->dynamic_base;
            return true;
        }
        /* lower_module.c walked the same declarations in the same order to find the total. */
        symbol->offset = align_up(fn->unit->shared_base + fn->unit->own_shared, symbol->align);
        fn->unit->own_shared = symbol->offset + symbol->size - fn->unit->shared_base;
        return true;
    }
    if (kind == SYMBOL_LOCAL) {
        symbol->offset = align_up(fn->frame, symbol->align);
        if (symbol->offset + symbol->size > LOCAL_LIMIT)
            return lower_error(fn->l, d->place, "local variables need more than %u bytes",
                               LOCAL_LIMIT);
        fn->frame = (u32)(symbol->offset + symbol->size);
    }
    return true;
}

bool declare(struct fn *fn, const struct ptx_declaration *d)
{
    enum type type = type_parse(d->type);
    if (!strcmp(d->space, "reg")) {
        if (type == TYPE_NONE)
            return lower_error(fn->l, d->place, "registers cannot have type .%s", d->type);
        struct symbol *symbol = scope_define(fn, d->name, SYMBOL_REGISTERS, d->place);
        if (symbol)
            symbol->declaration = d;
        return symbol;
    }
    if (!strcmp(d->space, "local"))
        return declare_memory(fn, d, SYMBOL_LOCAL);
    if (!strcmp(d->space, "shared"))
        return declare_memory(fn, d, SYMBOL_SHARED);
    if (!strcmp(d->space, "param"))
        return declare_memory(fn, d, SYMBOL_ARGUMENT);
    if (!strcmp(d->space, "global") || !strcmp(d->space, "const")) {
        char key[40]; /* lower_module.c, D2 */
        int length = snprintf(key, sizeof key, "\x01%p", (const void *)d);
        struct symbol *symbol =
            names_get(names_of_part(fn->l, d->part, key, (size_t)length), key, (size_t)length);
        if (symbol) {
            names_put(&fn->scope->names, d->name, symbol);
            return true;
        }
    }
    struct symbol *symbol = scope_define(fn, d->name, SYMBOL_OTHER, d->place);
    return symbol;
}

static const struct {
    const char *name;
    u8 special, words;
} specials[] = {
#define SPECIAL(name, words) {#name, SPECIAL_##name, words},
#include "ir/special.def"
#undef SPECIAL
};

/* Names whose spelling differs from the table's, or that share an entry. */
static const struct {
    const char *prefix;
    int special;
} aliases[] = {
    {"envreg", SPECIAL_envreg},
    {"reserved_smem_", SPECIAL_reserved_smem},
    {"cluster_nctaid", SPECIAL_cluster_one},
    {"cluster_nctarank", SPECIAL_cluster_one},
    {"cluster_ctaid", SPECIAL_cluster_zero},
    {"cluster_ctarank", SPECIAL_cluster_zero},
    {"clusterid_x", SPECIAL_ctaid_x}, /* a cluster is one block */
    {"clusterid_y", SPECIAL_ctaid_y},
    {"clusterid_z", SPECIAL_ctaid_z},
};

int special_find(const char *name)
{
    if (name[0] != '%')
        return -1;
    char plain[40];
    size_t length = strlen(++name);
    if (length >= sizeof plain)
        return -1;
    for (size_t i = 0; i <= length; i++)
        plain[i] = name[i] == '.' ? '_' : name[i];
    for (size_t i = 0; i < ARRAY_LEN(specials); i++)
        if (!strcmp(specials[i].name, plain))
            return specials[i].special;
    for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
        if (!strncmp(aliases[i].prefix, plain, strlen(aliases[i].prefix)))
            return aliases[i].special;
    /* %pm0..%pm7 and %pm0_64..%pm7_64 */
    if (plain[0] == 'p' && plain[1] == 'm' && plain[2] >= '0' && plain[2] <= '7')
        return !plain[3] ? SPECIAL_pm : !strcmp(plain + 3, "_64") ? SPECIAL_pm64 : -1;
    return -1;
}

u32 special_words(int special)
{
    return specials[special].words;
}
