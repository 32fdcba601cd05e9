/* A chip that a user names: FILE.db:NUMBER, a chip of a file of chips, or FILE, the maps of one chip
 * that 'heddle chip --maps' wrote. */
#ifndef VARIATION_CHOICE_H
#define VARIATION_CHOICE_H

#include "variation/database.h"

/* Its maps as bytes (chip/maps.h), to free with free(); NULL and an error on failure. */
u8 *chip_choice_read(const char *text, size_t *bytes, struct error *error);
/* The number in FILE.db:NUMBER; UINT32_MAX, which no file has, if it is too large. */
u32 chip_choice_number(const char *text);
/* The length of the file's name in FILE.db:NUMBER, or 0: the text is the path of maps. */
size_t chip_choice_file(const char *text);

#endif
