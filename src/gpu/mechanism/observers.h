/*
 * Mechanisms in runs without time: those that only look on (hooks.h) see every instruction of a
 * launch, one by one, and count as they do on a core.
 */
#ifndef GPU_MECHANISM_OBSERVERS_H
#define GPU_MECHANISM_OBSERVERS_H

#include "gpu/mechanism/mechanisms.h"

struct exec;
struct look;
struct thread_block;

/* All of `set` have `look`. */
struct look *look_create(const struct mechanism_set *set);
void look_destroy(struct look *look);
/* `exec` is prepared, and watched until look_end; it may have a fault afterwards. */
void look_begin(struct look *look, struct exec *exec);
void observe_block(struct look *look, struct thread_block *block, bool started);
void look_end(struct look *look, struct exec *exec);
/* Counters of the last launch. */
const u8 *look_counts(const struct look *look);

#endif
