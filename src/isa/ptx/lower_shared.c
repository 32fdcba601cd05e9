/*
 * Placement of shared variables, and the call graph.
 *
 * An address of a shared variable is a constant of the program, but every kernel has its own shared
 * memory. So:
 *
 *  S1  A variable that only one kernel can reach (through any function) is private to it; all
 *      others are common. Common variables come first, from offset 0, at the same place for all
 *      kernels; private ones follow, or start at 0 in a kernel that reaches no common one. Private
 *      variables of different kernels overlap.
 *  S2  Dynamic (.extern) arrays start where static shared memory ends, 16-byte aligned. Kernels
 *      that reach the same function that names a dynamic array must agree on the place: it is the
 *      largest of such a group of kernels. A kernel that names none is not affected.
 *  S3  The shared memory of a kernel ends with the last variable that it can reach.
 */
#include "isa/ptx/lower.h"
#include <stdlib.h>

#define NOBODY UINT32_MAX
#define MANY (UINT32_MAX - 1)

struct shared_scan {
    struct lower *l;
    struct callable *unit;
    VEC(u32) callees;
    VEC(u32) shared;
    u8 *seen_function, *seen_shared;
};

static void scan_name(struct shared_scan *scan, const struct ptx_instruction *in,
                      const struct ptx_operand *o, bool top)
{
    const size_t length = strlen(o->name);
    struct symbol *symbol =
        names_get(names_of_part(scan->l, scan->unit->ast->part, o->name, length), o->name, length);
    bool is_call = !strcmp(in->opcode, "call");
    if (symbol && symbol->kind == SYMBOL_FUNCTION) {
        if (!(is_call && top))
            scan->l->program->functions[symbol->index].address_taken = true;
        else if (!scan->seen_function[symbol->index] &&
                 !is_syscall(&scan->l->units[symbol->index])) {
            scan->seen_function[symbol->index] = 1;
            *(u32 *)vec_push(&scan->callees) = symbol->index;
        }
    } else if (symbol && symbol->kind == SYMBOL_SHARED) {
        scan->unit->names_dynamic |= symbol->is_dynamic;
        if (!scan->seen_shared[symbol->index]) {
            scan->seen_shared[symbol->index] = 1;
            *(u32 *)vec_push(&scan->shared) = symbol->index;
        }
    } else if (is_call && top && o->name[0] == '%') {
        scan->unit->calls_indirectly = true;
    }
}

static void scan_operand(struct shared_scan *scan, const struct ptx_instruction *in,
                         const struct ptx_operand *o, bool top)
{
    if (o->name)
        scan_name(scan, in, o, top);
    for (u32 i = 0; i < o->item_count; i++)
        scan_operand(scan, in, &o->items[i], false);
}

static void scan_statements(struct shared_scan *scan, const struct ptx_statement *items, u32 count)
{
    struct callable *unit = scan->unit;
    for (u32 i = 0; i < count; i++) {
        const struct ptx_statement *s = &items[i];
        const struct ptx_declaration *d = &s->declaration;
        if (s->kind == PTX_SCOPE)
            scan_statements(scan, s->items, s->item_count);
        if (s->kind == PTX_DECLARATION && !strcmp(d->space, "shared")) {
            u64 align = declaration_align(d);
            unit->names_dynamic |= d->is_extern;
            if (d->is_extern || !is_pow2(align))
                continue;
            unit->own_align = MAX(unit->own_align, align);
            unit->own_shared = align_up(unit->own_shared, align) + declaration_size(d);
        }
        if (s->kind == PTX_DECLARATION && !strcmp(d->space, "local") && !unit->ast->is_entry &&
            is_pow2(declaration_align(d)))
            scan->l->frame_align = MAX(scan->l->frame_align, declaration_align(d));
        if (s->kind == PTX_STATEMENT)
            for (u32 k = 0; k < s->instruction.operand_count; k++)
                scan_operand(scan, &s->instruction, &s->instruction.operands[k], true);
    }
}

static void scan_units(struct lower *l)
{
    u32 functions = l->program->function_count;
    for (u32 f = 0; f < functions; f++) {
        struct callable *unit = &l->units[f];
        struct shared_scan scan = {.l = l, .unit = unit};
        scan.seen_function = calloc(functions + 1, 1);
        scan.seen_shared = calloc(l->shared_count + 1, 1);
        scan_statements(&scan, unit->ast->body, unit->ast->body_count);
        unit->callee_count = scan.callees.count;
        unit->callees = arena_array(l->arena, u32, scan.callees.count + 1);
        unit->shared_count = scan.shared.count;
        unit->shared = arena_array(l->arena, u32, scan.shared.count + 1);
        if (scan.callees.count)
            memcpy(unit->callees, scan.callees.data, scan.callees.count * sizeof(u32));
        if (scan.shared.count)
            memcpy(unit->shared, scan.shared.data, scan.shared.count * sizeof(u32));
        vec_free(&scan.callees);
        vec_free(&scan.shared);
        free(scan.seen_function);
        free(scan.seen_shared);
    }
}

/* Functions a kernel can reach; `list` has room for all. */
static u32 reach(const struct lower *l, u32 kernel, u32 *list, u8 *seen)
{
    u32 count = 0, functions = l->program->function_count;
    memset(seen, 0, functions);
    list[count++] = kernel;
    seen[kernel] = 1;
    bool indirect = false;
    for (u32 i = 0; i < count; i++) {
        const struct callable *unit = &l->units[list[i]];
        for (u32 k = 0; k < unit->callee_count; k++) {
            if (!seen[unit->callees[k]]) {
                seen[unit->callees[k]] = 1;
                list[count++] = unit->callees[k];
            }
        }
        for (u32 f = 0; unit->calls_indirectly && !indirect && f < functions; f++) {
            if (l->program->functions[f].address_taken && !seen[f]) {
                seen[f] = 1;
                list[count++] = f;
            }
        }
        indirect |= unit->calls_indirectly;
    }
    return count;
}

struct placement {
    struct lower *l;
    u32 *owner;          /* by function: the only kernel that reaches it, NOBODY or MANY */
    u32 *variable_owner; /* by shared variable: as `owner` */
    u32 *list;
    u8 *seen;
    u32 *group; /* by kernel: another kernel of its group (union-find) */
    u64 *end;   /* by kernel: end of its static shared memory */
    u64 common_end;
};

static u32 merge_owner(u32 a, u32 b)
{
    return a == NOBODY ? b : b == NOBODY || a == b ? a : MANY;
}

static void find_owners(struct placement *p)
{
    struct lower *l = p->l;
    for (u32 k = 0; k < l->program->function_count; k++) {
        if (!l->program->functions[k].is_kernel)
            continue;
        u32 count = reach(l, k, p->list, p->seen);
        for (u32 i = 0; i < count; i++)
            p->owner[p->list[i]] = merge_owner(p->owner[p->list[i]], k);
    }
    for (u32 f = 0; f < l->program->function_count; f++)
        for (u32 i = 0; i < l->units[f].shared_count; i++) {
            u32 *owner = &p->variable_owner[l->units[f].shared[i]];
            *owner = merge_owner(*owner, p->owner[f]);
        }
}

static u64 place_variable(struct symbol *symbol, u64 at)
{
    u64 align = declaration_align(symbol->declaration);
    symbol->align = (u32)align;
    symbol->size = declaration_size(symbol->declaration);
    symbol->offset = align_up(at, align);
    return symbol->offset + symbol->size;
}

static u64 place_own(struct callable *unit, u64 at)
{
    if (!unit->own_shared)
        return at;
    unit->shared_base = align_up(at, unit->own_align);
    return unit->shared_base + unit->own_shared;
}

static void place_common(struct placement *p)
{
    struct lower *l = p->l;
    u64 at = 0;
    for (u32 v = 0; v < l->shared_count; v++)
        if (!l->shared[v]->is_dynamic && p->variable_owner[v] == MANY)
            at = place_variable(l->shared[v], at);
    for (u32 f = 0; f < l->program->function_count; f++)
        if (p->owner[f] == MANY)
            at = place_own(&l->units[f], at);
    /* variables that no kernel reaches may be anywhere */
    for (u32 v = 0; v < l->shared_count; v++)
        if (!l->shared[v]->is_dynamic && p->variable_owner[v] == NOBODY)
            place_variable(l->shared[v], 0);
    p->common_end = at;
}

static bool reaches_common(const struct placement *p, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        const struct callable *unit = &p->l->units[p->list[i]];
        if (p->owner[p->list[i]] == MANY && unit->own_shared)
            return true;
        for (u32 k = 0; k < unit->shared_count; k++)
            if (!p->l->shared[unit->shared[k]]->is_dynamic &&
                p->variable_owner[unit->shared[k]] == MANY)
                return true;
    }
    return false;
}

static void place_private(struct placement *p, u32 kernel)
{
    struct lower *l = p->l;
    u32 count = reach(l, kernel, p->list, p->seen);
    u64 at = reaches_common(p, count) ? p->common_end : 0;
    for (u32 i = 0; i < count; i++) {
        struct callable *unit = &l->units[p->list[i]];
        for (u32 k = 0; k < unit->shared_count; k++) {
            struct symbol *symbol = l->shared[unit->shared[k]];
            u32 *owner = &p->variable_owner[unit->shared[k]];
            if (symbol->is_dynamic || *owner != kernel || symbol->size)
                continue;
            at = place_variable(symbol, at);
        }
        if (p->owner[p->list[i]] == kernel)
            at = place_own(unit, at);
    }
    p->end[kernel] = at;
}

static u32 group_of(struct placement *p, u32 kernel)
{
    while (p->group[kernel] != kernel)
        kernel = p->group[kernel] = p->group[p->group[kernel]];
    return kernel;
}

/* Dynamic arrays (S2): kernels that share a function naming one form a group. */
static void place_dynamic(struct placement *p)
{
    struct lower *l = p->l;
    u32 functions = l->program->function_count;
    u32 *first = malloc((functions + 1) * sizeof *first); /* by function: a kernel reaching it */
    u64 *base = calloc(functions + 1, sizeof *base), align = 16;
    for (u32 f = 0; f < functions; f++) {
        first[f] = NOBODY;
        p->group[f] = f;
    }
    for (u32 v = 0; v < l->shared_count; v++)
        if (l->shared[v]->is_dynamic)
            align = MAX(align, declaration_align(l->shared[v]->declaration));
    for (u32 k = 0; k < functions; k++) {
        if (!l->program->functions[k].is_kernel)
            continue;
        u32 count = reach(l, k, p->list, p->seen);
        for (u32 i = 0; i < count; i++) {
            u32 f = p->list[i];
            if (!l->units[f].names_dynamic)
                continue;
            if (first[f] == NOBODY)
                first[f] = k;
            p->group[group_of(p, k)] = group_of(p, first[f]);
        }
    }
    for (u32 k = 0; k < functions; k++) {
        u64 *end = &base[group_of(p, k)];
        *end = MAX(*end, align_up(p->end[k], align));
    }
    for (u32 f = 0; f < functions; f++)
        if (l->units[f].names_dynamic && first[f] != NOBODY)
            l->units[f].dynamic_base = base[group_of(p, first[f])];
    free(first);
    free(base);
}

static bool finish_units(struct placement *p)
{
    struct lower *l = p->l;
    for (u32 f = 0; f < l->program->function_count; f++) {
        struct callable *unit = &l->units[f];
        u64 end = unit->own_shared ? unit->shared_base + unit->own_shared : 0;
        for (u32 i = 0; i < unit->shared_count; i++) {
            const struct symbol *symbol = l->shared[unit->shared[i]];
            if (!symbol->is_dynamic)
                end = MAX(end, symbol->offset + symbol->size);
        }
        if (unit->names_dynamic)
            end = MAX(end, unit->dynamic_base);
        if (end > WINDOW_BYTES)
            return lower_error(l, unit->ast->place,
                               "'%s' needs more shared memory than is possible", unit->ast->name);
        unit->shared_end = end;
        unit->own_shared = 0; /* counted again as the body is lowered */
    }
    return true;
}

bool module_shared(struct lower *l)
{
    u32 functions = l->program->function_count;
    for (u32 v = 0; v < l->shared_count; v++) {
        const struct ptx_declaration *d = l->shared[v]->declaration;
        u32 align = declaration_align(d);
        if (declaration_size(d) > WINDOW_BYTES || !is_pow2(align) || align > 65536)
            return lower_error(l, d->place, "'%s' is too large for shared memory", d->name);
    }
    scan_units(l);
    for (u32 f = 0; f < functions; f++)
        if (l->units[f].own_shared > WINDOW_BYTES)
            return lower_error(l, l->units[f].ast->place,
                               "'%s' needs more shared memory than is possible",
                               l->units[f].ast->name);
    struct placement p = {.l = l};
    p.owner = malloc((functions + 1) * sizeof(u32));
    p.variable_owner = malloc((l->shared_count + 1) * sizeof(u32));
    memset(p.owner, 0xff, (functions + 1) * sizeof(u32));
    memset(p.variable_owner, 0xff, (l->shared_count + 1) * sizeof(u32));
    p.list = calloc(functions + 1, sizeof(u32));
    p.group = calloc(functions + 1, sizeof(u32));
    p.seen = calloc(functions + 1, 1);
    p.end = calloc(functions + 1, sizeof(u64));
    find_owners(&p);
    place_common(&p);
    for (u32 k = 0; k < functions; k++)
        if (l->program->functions[k].is_kernel)
            place_private(&p, k);
    place_dynamic(&p);
    bool fine = finish_units(&p);
    free(p.owner);
    free(p.variable_owner);
    free(p.list);
    free(p.group);
    free(p.seen);
    free(p.end);
    return fine;
}
