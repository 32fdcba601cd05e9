/* Expands COMPONENT_DEF to `const struct component <COMPONENT>_component`; needs COMPONENT_HELP. */
#include "base/component.h"

#define COMPONENT_PASTE_(a, b) a##b
#define COMPONENT_PASTE(a, b) COMPONENT_PASTE_(a, b)
#define COMPONENT_TEXT_(a) #a
#define COMPONENT_TEXT(a) COMPONENT_TEXT_(a)
#define COMPONENT_PARAMS struct COMPONENT_PASTE(COMPONENT, _params)
#define COMPONENT_STATS struct COMPONENT_PASTE(COMPONENT, _stats)

#define COMPONENT_TYPE_u32 PARAM_U32
#define COMPONENT_TYPE_u64 PARAM_U64
#define COMPONENT_TYPE_f64 PARAM_F64

static const struct param COMPONENT_PASTE(COMPONENT, _param_table)[] = {
#define PARAM(type, name, initial, min, max, unit, help)                                         \
    {#name, COMPONENT_TYPE_##type, offsetof(COMPONENT_PARAMS, name), initial, min, max, 0, unit, \
     help},
#define FLAG(name, initial, help) \
    {#name, PARAM_BOOL, offsetof(COMPONENT_PARAMS, name), initial, 0, 1, 0, "", help},
#define CHOICE(name, initial, choices, help) \
    {#name, PARAM_CHOICE, offsetof(COMPONENT_PARAMS, name), initial, 0, 0, choices, "", help},
#define LIST(name, most, min, max, unit, help)                                         \
    {#name, PARAM_LIST, offsetof(COMPONENT_PARAMS, name),        0, min, max, 0, unit, \
     help,  (most),     offsetof(COMPONENT_PARAMS, name##_count)},
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
    {0},
};

static const struct stat COMPONENT_PASTE(COMPONENT, _stat_table)[] = {
#define PARAM(type, name, initial, min, max, unit, help)
#define FLAG(name, initial, help)
#define CHOICE(name, initial, choices, help)
#define LIST(name, most, min, max, unit, help)
#define PRODUCT(name, solved, factors, unit, help)
#define STAT(name, unit, help) {#name, offsetof(COMPONENT_STATS, name), unit, help},
#define RATE(name, numerator, denominator, unit, help)
#include COMPONENT_DEF
#undef STAT
#undef RATE
    {0},
};

static const struct rate COMPONENT_PASTE(COMPONENT, _rate_table)[] = {
#define STAT(name, unit, help)
#define RATE(name, numerator, denominator, unit, help)                                          \
    {#name, offsetof(COMPONENT_STATS, numerator), offsetof(COMPONENT_STATS, denominator), unit, \
     help},
#include COMPONENT_DEF
#undef STAT
#undef RATE
#undef PRODUCT
    {0},
};

static const struct product COMPONENT_PASTE(COMPONENT, _product_table)[] = {
#define PRODUCT(name, solved, factors, unit, help) {#name, #solved, factors, unit, help},
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
    {0},
};

const struct component COMPONENT_PASTE(COMPONENT, _component) = {
    COMPONENT_TEXT(COMPONENT),
    COMPONENT_HELP,
    COMPONENT_PASTE(COMPONENT, _param_table),
    ARRAY_LEN(COMPONENT_PASTE(COMPONENT, _param_table)) - 1,
    sizeof(COMPONENT_PARAMS),
    COMPONENT_PASTE(COMPONENT, _stat_table),
    ARRAY_LEN(COMPONENT_PASTE(COMPONENT, _stat_table)) - 1,
    COMPONENT_PASTE(COMPONENT, _rate_table),
    ARRAY_LEN(COMPONENT_PASTE(COMPONENT, _rate_table)) - 1,
    COMPONENT_PASTE(COMPONENT, _product_table),
    ARRAY_LEN(COMPONENT_PASTE(COMPONENT, _product_table)) - 1,
};

#undef COMPONENT_PASTE
#undef COMPONENT_PASTE_
#undef COMPONENT_TEXT
#undef COMPONENT_TEXT_
#undef COMPONENT_PARAMS
#undef COMPONENT_STATS
#undef COMPONENT_TYPE_u32
#undef COMPONENT_TYPE_u64
#undef COMPONENT_TYPE_f64
#undef COMPONENT
#undef COMPONENT_DEF
#undef COMPONENT_HELP
