/* Chips made by hand, for tests of mechanisms that read one. */
#ifndef CHIP_MAKE_H
#define CHIP_MAKE_H

#include "chip/chip.h"
#include "heddle/heddle.h"

/* The delay of a word, in 1 / DELAY_ONE; `words` of an entry. */
typedef u16 make_delay(void *user, u32 core, u32 bank, u32 entry, u32 word);

/* Gives a configuration a chip of its machine, without weak cells. `delay` NULL: delays between 1
 * and 1.5 that differ from word to word. Fails the test if the machine can have no chip. */
void make_chip(struct hd_config *config, make_delay *delay, void *user);

#endif
