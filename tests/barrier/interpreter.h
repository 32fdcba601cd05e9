/*
 * What the idioms must give: each work-item is a coroutine that runs to its next barrier, one after
 * the other. Nothing of Heddle takes part.
 */
#ifndef TESTS_BARRIER_INTERPRETER_H
#define TESTS_BARRIER_INTERPRETER_H

enum {
    ITEMS = 128, /* of a block: N of idioms.h */
    IDIOM_COUNT = 18
};

extern const char *const idiom_names[IDIOM_COUNT];

/* Values that all idioms take as `in`. */
void interpreter_input(unsigned in[ITEMS]);
/* Runs idiom `which`. */
void interpreter_run(int which, unsigned out[ITEMS], const unsigned in[ITEMS]);

#endif
