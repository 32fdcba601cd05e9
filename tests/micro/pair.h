/* A program on two rigs, without and with a mechanism: both must store the same. */
#ifndef TESTS_MICRO_PAIR_H
#define TESTS_MICRO_PAIR_H

#include "rig.h"

struct pair {
    struct rig *plain, *other;
    u32 count, *expected, *found; /* words of memory: without and with */
};

/* Runs the kernels with one pointer, to `words` words for each thread; the same threads must execute as
 * many instructions. */
struct pair pair_run(struct rig *plain, struct rig *other, u32 blocks, u32 threads, u32 words);
/* Whether all words are the same. */
bool pair_same(const struct pair *pair);
/* Fails the test if not, with this text. */
void pair_expect_same(const struct pair *pair, const char *text);
void pair_close(struct pair pair);

/* How often an instruction has issued. */
u32 issues(const struct rig *rig, u32 inst);

#endif
