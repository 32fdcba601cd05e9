/*
 * The state registry: every storage element of the modelled machine, declared where it is modelled.
 *
 * A row gives the number and width of entries in one owner (one core, one slice, one channel ...).
 * Sizes for area and energy, targets for faults, and `heddle machines NAME --storage` are taken
 * from these rows.
 *
 * A row whose bits the model holds names a visitor (base/state_walk.h), which walks the bits of an
 * entry: to flip one, to read them, or to hash them. So what is listed as live is what can be
 * flipped.
 */
#ifndef BASE_STATE_H
#define BASE_STATE_H

#include "base/arena.h"

enum state_class {
    STATE_LIVE,    /* the model holds the values, of some bits of an entry at least */
    STATE_COUNTED, /* size only: the model does not hold the values */
};

/* The organisation of an element, for its area and energy. All zero: one bank with one read/write
 * port and one entry per access. */
struct array_shape {
    u32 banks;       /* 0 means 1; entries are spread over them */
    u32 access_bits; /* width of an access; 0: an entry */
    u8 read_ports;   /* read-only ports */
    u8 write_ports;  /* write-only ports; with neither kind set, one read/write port */
    bool searched;   /* content-addressed: every access compares all entries of a bank */
    bool compared;   /* tags: compared at the array, only the result leaves it */
    bool flip_flops; /* flip-flops in logic, not cells of an array */
    bool data;       /* registers, shared memory or cache lines: holds data of programs */
};

struct state_row;
struct state_walk;
/* Visits the bits of an entry of `owner`, from the lowest on. owner NULL: there is no machine, and
 * only the widths of the parts count. */
typedef void state_visit_fn(struct state_walk *walk, const struct state_row *row, void *owner,
                            u64 entry);

/* Continues a hash with all entries of an owner's row that are in use. */
typedef u64 state_hash_fn(const struct state_row *row, void *owner, u64 hash);

struct state_row {
    const char *unit; /* the component: "fetch" */
    const char *name; /* "pc" */
    const char *help;
    const char *owner; /* "core", "slice", "channel", "chip" */
    u64 copies;        /* number of owners in the machine */
    u64 entries;       /* per owner */
    u32 bits;          /* per entry */
    enum state_class class;
    struct array_shape shape;
    const char *replaced;  /* the mechanism that has others in its place; NULL: it is built */
    state_visit_fn *visit; /* NULL: none; */
    u32 which;             /* distinguishes rows with the same visitor, */
    u32 backed;            /* and the bits of an entry that it visits */
    state_hash_fn *hash;   /* for canonical hashes; NULL: the visitor's */
    bool
        unseen; /* its bits can be flipped, but no flip was seen to act: it does not count as live */
};

struct state_list {
    VEC(struct state_row) rows;
    const char *owner; /* of rows added from now on */
    u64 copies;
    bool empty; /* the last state_add added nothing */
};

/* Rows added from here on belong to one of `copies` such owners. */
void state_owner(struct state_list *list, const char *owner, u64 copies);
/* Adds a row, unless it has no entries or no bits. */
void state_add(struct state_list *list, const char *unit, const char *name, u64 entries, u32 bits,
               enum state_class class, const char *help);
/* Sets the shape of the row of the last state_add, if that added one. */
void state_shape(struct state_list *list, struct array_shape shape);
/* state_add() for flip-flops. */
void state_flops(struct state_list *list, const char *unit, const char *name, u64 entries, u32 bits,
                 enum state_class class, const char *help);
/* state_add() for an array with one read and one write port: queues, tables. */
void state_table(struct state_list *list, const char *unit, const char *name, u64 entries, u32 bits,
                 enum state_class class, const char *help);
/* Names the visitor of the row of the last state_add, if that added one, and makes the row live.
 * `machine`: the parameters of the owner, from which the visitor takes its widths. */
void state_visit(struct state_list *list, state_visit_fn *visit, u32 which, const void *machine);
/* Gives the row of the last state_add, if that added one, a function that hashes all of it faster than
 * its visitor; it may leave out what another row's function covers. */
void state_hash_by(struct state_list *list, state_hash_fn *hash);
/* No flip of the row of the last state_add, if that added one, changed anything in 1,000 tries in each of
 * the programs of tests/live/audit.py. */
void state_unseen(struct state_list *list);
void state_free(struct state_list *list);
/* The row of "unit.name"; NULL: there is none. */
struct state_row *state_find(const struct state_list *list, const char *element);
/* Bits of all copies of a row; none of one that is replaced. */
u64 state_bits(const struct state_row *row);
/* The same of one owner. */
u64 state_owner_bits(const struct state_row *row);
/* Of these, the bits that can be flipped; and those that count as live. */
u64 state_backed_bits(const struct state_row *row);
u64 state_live_bits(const struct state_row *row);
/* Bits needed to number `count` items: at least 1. */
u32 state_index_bits(u64 count);

#endif
