/* A page about chips that differ: maps of one of them, histograms over all. */
#ifndef LAB_CHIP_PAGE_H
#define LAB_CHIP_PAGE_H

#include "variation/database.h"
#include <stdio.h>

/* `numbers` are those of all chips of the file. The same chips give the same bytes. */
void chip_page(FILE *to, const struct chips_facts *facts, const struct chip *chip,
               const struct core_numbers *cores, const struct chip_numbers *numbers);

#endif
