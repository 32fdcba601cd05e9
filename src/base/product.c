/* Sizes that are products of parameters: see product.h. */
#include "base/product.h"

#include "base/arena.h"

const struct product *product_find(const struct component *component, const char *name)
{
    for (u32 i = 0; i < component->product_count; i++)
        if (!strcmp(component->products[i].name, name))
            return &component->products[i];
    return NULL;
}

bool product_has_factor(const struct product *product, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = product->factors; *at; at += strcspn(at, "|"), at += *at == '|')
        if (strcspn(at, "|") == length && !memcmp(at, name, length))
            return true;
    return false;
}

static const struct param *param_named(const struct component *component, const char *name)
{
    const struct param *param = component->params;
    while (strcmp(param->name, name) != 0)
        param++;
    assert(param->type == PARAM_U32); /* products are of whole numbers */
    return param;
}

static u32 value_of(const struct param *param, const void *params)
{
    return *(const u32 *)((const u8 *)params + param->offset);
}

/* The product of the factors. */
static u64 multiply(const struct component *component, const struct product *product,
                    const void *params)
{
    u64 value = 1;
    for (u32 i = 0; i < component->param_count; i++)
        if (product_has_factor(product, component->params[i].name))
            value *= value_of(&component->params[i], params);
    return value;
}

u64 product_value(const struct component *component, const struct product *product,
                  const void *params)
{
    return multiply(component, product, params) *
           value_of(param_named(component, product->solved), params);
}

/* "l1d.ways (4) times l1d.line_bytes (128)" */
static const char *factors_text(struct arena *arena, const struct component *component,
                                const struct product *product, const void *params)
{
    const char *text = "";
    for (u32 i = 0; i < component->param_count; i++)
        if (product_has_factor(product, component->params[i].name))
            text =
                arena_printf(arena, "%s%s%s.%s (%u)", text, *text ? " times " : "", component->name,
                             component->params[i].name, value_of(&component->params[i], params));
    return text;
}

bool product_solve(const struct component *component, const struct product *product, void *params,
                   u64 value, const char *place, struct error *error)
{
    const struct param *solved = param_named(component, product->solved);
    const u64 factors = multiply(component, product, params), quotient = value / factors;
    if (value % factors == 0 && quotient >= solved->min && quotient <= solved->max) {
        *(u32 *)((u8 *)params + solved->offset) = (u32)quotient;
        return true;
    }
    struct arena *arena = arena_create();
    const unsigned long long least = factors * (u64)solved->min;
    const unsigned long long most = factors * (u64)solved->max;
    error_fill(error, ERROR_INPUT, place,
               "%s.%s: no number of %s gives %llu %s: expected a multiple of %llu, %s, from %llu "
               "to %llu",
               component->name, product->name, solved->name, (unsigned long long)value,
               product->unit, (unsigned long long)factors,
               factors_text(arena, component, product, params), least, most);
    arena_destroy(arena);
    return false;
}
