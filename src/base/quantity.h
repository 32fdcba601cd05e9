/* Quantities as text for people: few digits, a unit, groups of three. */
#ifndef BASE_QUANTITY_H
#define BASE_QUANTITY_H

#include "base/arena.h"

/* 12345678 -> "12 345 678" */
const char *count_text(struct arena *arena, u64 value);
/* "131 M": three digits and a prefix; below 1000 exactly. */
const char *amount_text(f64 amount, char *text, size_t size);
/* "1.25 ms": three digits and a unit. */
const char *time_text(f64 seconds, char *text, size_t size);
/* "12.3 nJ": three digits and a unit; "-" for none. */
const char *energy_text(f64 pj, char *text, size_t size);
/* "129 KiB": three digits and a unit; bytes below 1024 exactly. */
const char *bytes_text(f64 bytes, char *text, size_t size);

#endif
