/* Visitors of the miaow pipeline's storage elements (base/state_walk.h, core/live.h); storage.c names
 * them. `which` of a row: as its visitor says. */
#ifndef CORE_MIAOW_LIVE_H
#define CORE_MIAOW_LIVE_H

#include "core/live.h"
#include "core/miaow/miaow.h"

/* fetch, queues, issue */
state_visit_fn miaow_visit_pc, miaow_visit_fetch_turn, miaow_visit_half, miaow_visit_ready;
state_visit_fn miaow_visit_in_flight, miaow_visit_class_turn, miaow_visit_write_turn;
state_visit_fn miaow_visit_tag, miaow_visit_group;
/* words.c: words and PCs in the queues, arriving there, and in decode; the instructions at issue, as
 * words and PC. */
state_visit_fn miaow_visit_words, miaow_visit_arrival, miaow_visit_decoding, miaow_visit_halves;
state_visit_fn miaow_visit_entries;
/* Sets of slots; which: enum miaow_set. */
state_visit_fn miaow_visit_set;
enum miaow_set {
    SET_RUNNING,
    SET_HUNGRY,
    SET_VALID,
    SET_MEMORY_WAIT,
    SET_PARKED,
};
state_visit_fn miaow_visit_vector_busy, miaow_visit_scalar_busy, miaow_visit_special_busy;
/* A word or pair of scalars of each warp; which: enum scalar. */
state_visit_fn miaow_visit_scalar;
/* units; which: 0, or UNIT_SIMF for the floating-point units */
state_visit_fn miaow_visit_sources, miaow_visit_results, miaow_visit_written, miaow_visit_queue;
state_visit_fn miaow_visit_reads, miaow_visit_read_addresses, miaow_visit_lane;
/* For canonical hashes: busy bits of all registers; instructions in the units' passes and queues; an
 * access that has not taken effect; the front end and the instructions at issue. */
state_hash_fn miaow_hash_busy, miaow_hash_units, miaow_hash_access, miaow_hash_slots;
/* lsu.c */
state_visit_fn miaow_visit_addresses, miaow_visit_data, miaow_visit_masks;

#endif
