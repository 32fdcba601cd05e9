/* The state registry: see state.h. */
#include "base/state.h"

#include <stdlib.h>

void state_owner(struct state_list *list, const char *owner, u64 copies)
{
    list->owner = owner;
    list->copies = copies;
}

void state_add(struct state_list *list, const char *unit, const char *name, u64 entries, u32 bits,
               enum state_class class, const char *help)
{
    assert(list->owner);
    list->empty = !entries || !bits;
    if (list->empty)
        return;
    struct state_row *row = vec_push(&list->rows);
    *row = (struct state_row){unit, name, help, list->owner, list->copies, entries, bits, class};
}

void state_shape(struct state_list *list, struct array_shape shape)
{
    if (list->empty)
        return;
    assert(list->rows.count);
    list->rows.data[list->rows.count - 1].shape = shape;
}

void state_flops(struct state_list *list, const char *unit, const char *name, u64 entries, u32 bits,
                 enum state_class class, const char *help)
{
    state_add(list, unit, name, entries, bits, class, help);
    state_shape(list, (struct array_shape){.flip_flops = true});
}

void state_table(struct state_list *list, const char *unit, const char *name, u64 entries, u32 bits,
                 enum state_class class, const char *help)
{
    state_add(list, unit, name, entries, bits, class, help);
    state_shape(list, (struct array_shape){.read_ports = 1, .write_ports = 1});
}

void state_free(struct state_list *list)
{
    vec_free(&list->rows);
}

struct state_row *state_find(const struct state_list *list, const char *element)
{
    const char *dot = strchr(element, '.');
    const size_t length = dot ? (size_t)(dot - element) : 0;
    for (u32 i = 0; dot && i < list->rows.count; i++) {
        struct state_row *row = &list->rows.data[i];
        if (row->name[0] == dot[1] && row->unit[0] == element[0] && !strcmp(row->name, dot + 1) &&
            !strncmp(row->unit, element, length) && !row->unit[length])
            return row;
    }
    return NULL;
}

u64 state_owner_bits(const struct state_row *row)
{
    return row->replaced ? 0 : row->entries * row->bits;
}

u64 state_bits(const struct state_row *row)
{
    return row->copies * state_owner_bits(row);
}

u32 state_index_bits(u64 count)
{
    return count <= 2 ? 1 : 64 - (u32)__builtin_clzll(count - 1);
}
