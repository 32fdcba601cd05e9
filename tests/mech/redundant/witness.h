/* A mechanism that holds the marks of analysis/redundancy.h to their word; see witness.c. */
#ifndef REDUNDANT_WITNESS_H
#define REDUNDANT_WITNESS_H

struct hd_config;
/* The default machine, with all mechanisms that are built in and this one, "witness". */
struct hd_config *witness_config(void);

struct mechanism;
/* The same as a list, NULL-terminated. */
const struct mechanism *const *witness_mechanisms(void);

#endif
