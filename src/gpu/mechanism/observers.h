/*
 * Observers in functional runs. Mechanisms that change nothing (observe in core/hooks.h) see every
 * instruction of a launch, one by one, and count as they do on a core.
 */
#ifndef GPU_MECHANISM_OBSERVERS_H
#define GPU_MECHANISM_OBSERVERS_H

#include "gpu/mechanism/mechanisms.h"

struct exec;
struct observers;
struct thread_block;

/* Every mechanism of `set` is an observer. */
struct observers *observers_create(const struct mechanism_set *set);
void observers_destroy(struct observers *observers);
/* `exec` is prepared, and observed until observers_end; it may have a fault afterwards. */
void observers_begin(struct observers *observers, struct exec *exec);
void observers_block(struct observers *observers, struct thread_block *block, bool started);
void observers_end(struct observers *observers, struct exec *exec);
/* Counters of the last launch. */
const u8 *observers_counts(const struct observers *observers);

#endif
