/* Values of parameters: from text into a component's struct, and back as JSON. */
#ifndef BASE_PARAM_VALUE_H
#define BASE_PARAM_VALUE_H

#include "base/arena.h"
#include "base/component.h"
#include "base/error.h"
#include <jansson.h>

/* Stores the value that the parameter's table declares. */
void param_set_default(const struct param *param, void *params);
/* Checks and stores one value from its text. `key` and `place` are for messages. */
bool param_parse(struct arena *arena, const struct param *param, const char *key, const char *text,
                 void *params, const char *place, struct error *error);
json_t *param_json(const struct param *param, const void *params);
/* A declared bound of an integer. Bounds are declared as f64, in which 2^64-1 is 2^64. */
u64 param_integer_bound(f64 bound);

#endif
