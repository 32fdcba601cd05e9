/* The storage of a machine: the rows of the state registry. */
#ifndef GPU_MACHINE_STORAGE_H
#define GPU_MACHINE_STORAGE_H

#include "base/config.h"
#include "base/state.h"

/* Whether a network, an L2 and DRAM are behind the cores: the miaow pipeline has a memory that
 * answers after so many cycles, which is nothing that is built. */
bool storage_has_memory_side(const struct config *config);
/* Fills an empty list; free it with state_free. */
void storage_collect(struct state_list *list, const struct config *config);
/*
 * {"machine", "rows": [{"unit", "name", "owner", "copies", "entries", "bits", "total_bits",
 * "class", "help"}], "owners": [{"owner", "copies", "live_bits", "counted_bits"}], "live_bits",
 * "counted_bits"}: an owner's bits are those of one copy, the last two those of the whole chip. A row
 * that a mechanism replaces has "replaced_by", the mechanism's name, and is in no sum.
 * Where a machine's file says what has been published about it, "published": {"source", "modules":
 * [published_value_json's, with "our_bits", "their_bits", "difference"]}, of one core.
 */
json_t *storage_row_json(const struct state_row *row); /* one of "rows" */
/* `list` has the rows of storage_collect, then those of mechanisms. */
json_t *storage_json(const struct config *config, const struct state_list *list);

#endif
