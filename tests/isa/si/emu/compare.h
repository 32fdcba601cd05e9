/* A program through Heddle and through the emulator, instruction by instruction. */
#ifndef SI_COMPARE_H
#define SI_COMPARE_H

#include "gen.h"

/* What Heddle made of a program. */
struct outcome {
    struct record *records; /* in the order of commitment */
    u32 count, capacity;
    struct machine *end;
    const char *differs; /* a run that was not watched came to another end */
    char error[400];     /* of the load or the launch; empty when it ran */
};

/* adapter.c: the only file that knows Heddle's interface. */
struct heddle;
struct heddle *heddle_open(void);
void heddle_close(struct heddle *heddle);
bool heddle_run(struct heddle *heddle, const struct program *p, struct outcome *out);
void outcome_free(struct outcome *out);

/* compare.c */
struct tally {
    u64 programs, instructions, differences;
    u32 bad[OPS], seen[OPS];
    u32 shown, show_limit; /* reports printed, and at most */
};
/* Counts and prints differences; what Heddle wrote is taken over, so one difference is told once.
 */
bool compare_run(struct heddle *heddle, const struct program *p, struct tally *tally);

#endif
