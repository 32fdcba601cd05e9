/*
 * A chip that a user names:
 *
 *     FILE.db:NUMBER                               a chip of a file of chips
 *     draw:SEED[,RANDOM:SYSTEMATIC]:NUMBER         drawn now, for the machine, with its defaults
 *     FILE                                         the maps of one chip ('heddle chip --maps')
 */
#ifndef VARIATION_CHOICE_H
#define VARIATION_CHOICE_H

#include "variation/database.h"
#include <jansson.h>

/* Its maps as bytes (chip/maps.h), to free with free(); NULL and an error on failure. `machine`: as
 * hd_config_json has it, for chips that are drawn. */
u8 *chip_choice_read(const char *text, const json_t *machine, size_t *bytes, struct error *error);
bool chip_choice_is_drawn(const char *text);
/* The number after the last colon; UINT32_MAX, which no file has, if it is too large. */
u32 chip_choice_number(const char *text);
/* The length of what is before it; 0: the text is the path of maps. */
size_t chip_choice_file(const char *text);

#endif
