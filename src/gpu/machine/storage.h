/* The storage of a machine: the rows of the state registry. */
#ifndef GPU_MACHINE_STORAGE_H
#define GPU_MACHINE_STORAGE_H

#include "base/config.h"
#include "base/state.h"

/* Whether the machine has a network, an L2 and DRAM: the miaow pipeline's memory, which answers
 * after a fixed number of cycles, is not modelled as hardware. */
bool storage_has_memory_side(const struct config *config);
/* Fills an empty list; free it with state_free. */
void storage_collect(struct state_list *list, const struct config *config);
/*
 * {"machine", "rows": [{"unit", "name", "owner", "copies", "entries", "bits", "total_bits",
 * "class", "live_bits", "help"}], "owners": [{"owner", "copies", "live_bits", "counted_bits",
 * "control_bits", "live_control_bits"}], and the same four for the chip}: live bits are those that
 * the model holds and can flip, control bits those outside data arrays; an owner's bits are those of
 * one copy. A row that a mechanism replaces has "replaced_by", the mechanism's name, and is in no
 * sum.
 * If the machine file has published values, "published": {"source", "modules":
 * [published_value_json's, with "our_bits", "their_bits", "difference"]}, of one core.
 */
json_t *storage_row_json(const struct state_row *row); /* one of "rows" */
/* {unit: {name: bits of one owner}} */
json_t *storage_bits_json(const struct state_list *list);
/* `list` has the rows of storage_collect, then those of mechanisms. */
json_t *storage_json(const struct config *config, const struct state_list *list);

#endif
