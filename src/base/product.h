/* Sizes that are products of parameters, such as the bytes of a cache: struct product. */
#ifndef BASE_PRODUCT_H
#define BASE_PRODUCT_H

#include "base/arena.h"
#include "base/component.h"

/* The product with this name; NULL: the component has none. */
const struct product *product_find(const struct component *component, const char *name);
bool product_has_factor(const struct product *product, const char *name);
/* The value of the product for these parameters of the component. */
u64 product_value(const struct component *component, const struct product *product,
                  const void *params);
/* Sets the parameter `solved` so that the product is `value`. False and an error if no number in
 * the parameter's range does that; nothing is changed then. */
bool product_solve(const struct component *component, const struct product *product, void *params,
                   u64 value, const char *place, struct error *error);

#endif
