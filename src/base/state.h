/*
 * The state registry: every storage element of the modelled machine, declared where it is modelled.
 *
 * A row says how many entries of how many bits there are in one owner (one core, one slice, one
 * channel ...). Sizes for area and energy, targets for faults, and `heddle machines NAME --storage`
 * come from these rows.
 */
#ifndef BASE_STATE_H
#define BASE_STATE_H

#include "base/arena.h"

enum state_class {
    STATE_LIVE,    /* the model reads it: a flip would act */
    STATE_COUNTED, /* size only: the model does not hold these bits */
};

/* How an element is built, for its area and energy. All zero: one bank that is read or written, one
 * entry at a time, through one port. */
struct array_shape {
    u32 banks;       /* 0 is 1; entries are spread over them */
    u32 access_bits; /* that an access moves; 0: an entry */
    u8 read_ports;   /* beside the ports that do both, */
    u8 write_ports;  /* of which there is one unless these are set */
    bool searched;   /* by content: every access compares all entries of a bank */
    bool compared;   /* tags: what is read is compared at the array and does not leave it */
    bool flip_flops; /* registers of logic, not cells of an array */
};

struct state_row {
    const char *unit; /* the component: "fetch" */
    const char *name; /* "pc" */
    const char *help;
    const char *owner; /* "core", "slice", "channel", "chip" */
    u64 copies;        /* of the owner in the machine */
    u64 entries;       /* in one owner */
    u32 bits;          /* of an entry */
    enum state_class class;
    struct array_shape shape;
    const char *replaced; /* the mechanism that has others in its place; NULL: it is built */
};

struct state_list {
    VEC(struct state_row) rows;
    const char *owner; /* of the rows that are added */
    u64 copies;
    bool empty; /* the last state_add added nothing */
};

/* Rows that are added from here on belong to one of `copies` such owners. */
void state_owner(struct state_list *list, const char *owner, u64 copies);
/* Nothing is added when there are no entries or no bits. */
void state_add(struct state_list *list, const char *unit, const char *name, u64 entries, u32 bits,
               enum state_class class, const char *help);
/* How the row of the last state_add is built; nothing, if it added none. */
void state_shape(struct state_list *list, struct array_shape shape);
/* As state_add, of flip-flops. */
void state_flops(struct state_list *list, const char *unit, const char *name, u64 entries, u32 bits,
                 enum state_class class, const char *help);
/* As state_add, of an array that is read and written at once: queues, tables. */
void state_table(struct state_list *list, const char *unit, const char *name, u64 entries, u32 bits,
                 enum state_class class, const char *help);
void state_free(struct state_list *list);
/* The row of "unit.name"; NULL: there is none. */
struct state_row *state_find(const struct state_list *list, const char *element);
/* Bits of all copies of a row; none of one that is replaced. */
u64 state_bits(const struct state_row *row);
/* The same of one owner. */
u64 state_owner_bits(const struct state_row *row);
/* Bits that number `count` things: at least 1. */
u32 state_index_bits(u64 count);

#endif
