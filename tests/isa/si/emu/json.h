/* States and traces of raw programs as JSON. */
#ifndef SI_JSON_H
#define SI_JSON_H

#include <jansson.h>

#include "gen.h"

char *state_json(const struct machine *machine); /* to be freed */
bool state_from_json(const char *text, struct machine *machine);
/* A line of a trace. */
bool record_from_json(const char *text, size_t length, struct record *record);

#endif
