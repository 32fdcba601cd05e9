/* Expands COMPONENT_DEF to `struct <COMPONENT>_params` and `struct <COMPONENT>_stats`. */
#include "base/component.h"

#define COMPONENT_PASTE_(a, b) a##b
#define COMPONENT_PASTE(a, b) COMPONENT_PASTE_(a, b)

struct COMPONENT_PASTE(COMPONENT, _params) {
#define PARAM(type, name, initial, min, max, unit, help) type name;
#define FLAG(name, initial, help) bool name;
#define CHOICE(name, initial, choices, help) u32 name;
#define LIST(name, most, min, max, unit, help) \
    u32 name##_count;                          \
    f64 name[most];
#define PRODUCT(name, solved, factors, unit, help)
#define STAT(name, unit, help)
#define RATE(name, numerator, denominator, unit, help)
#include COMPONENT_DEF
#undef PARAM
#undef FLAG
#undef CHOICE
#undef LIST
#undef PRODUCT
#undef STAT
#undef RATE
    u8 params_end; /* a component may have no parameters */
};

struct COMPONENT_PASTE(COMPONENT, _stats) {
#define PARAM(type, name, initial, min, max, unit, help)
#define FLAG(name, initial, help)
#define CHOICE(name, initial, choices, help)
#define LIST(name, most, min, max, unit, help)
#define PRODUCT(name, solved, factors, unit, help)
#define STAT(name, unit, help) u64 name;
#define RATE(name, numerator, denominator, unit, help)
#include COMPONENT_DEF
#undef PARAM
#undef FLAG
#undef CHOICE
#undef LIST
#undef PRODUCT
#undef STAT
#undef RATE
    u8 stats_end; /* a component may have no statistics */
};

extern const struct component COMPONENT_PASTE(COMPONENT, _component);

#undef COMPONENT_PASTE
#undef COMPONENT_PASTE_
#ifndef COMPONENT_HELP /* else the table follows */
#undef COMPONENT
#undef COMPONENT_DEF
#endif
