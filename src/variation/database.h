/*
 * Chips in an SQLite file: what they were drawn from, their numbers, and their maps.
 *
 *  D1  A file is written beside its target and renamed when it is complete: the target is whole or as
 *      it was before.
 *  D2  The same chips give the same bytes with the same version of SQLite: there is no date and no
 *      path in them.
 *  D3  A file is checked when it is read: header, SQLite's own structure, sizes, a digest of what makes
 *      a chip, and that all of it makes sense. A file that fails is an error, never a wrong chip.
 *
 * Table `facts` has the parameters, `chips` and `cores` a row for each. Blobs are little-endian: of a
 * core, `delays` has a u16 for every word (chip/chip.h), `counts` a u16 for every entry, the number of its
 * cells in `cells`, which has two u16 for each; `sub_banks` has the u16 delay of each sub-bank and
 * `fast` a byte, 1 if it is fast.
 */
#ifndef VARIATION_DATABASE_H
#define VARIATION_DATABASE_H

#include "chip/classes.h"
#include "variation/variation.h"

/* What is the same for all chips of a file. */
struct chips_facts {
    char machine[64];
    char ratio[32]; /* as given: "1:4" */
    struct variation variation;
    struct file_plan plan;
    struct class_rule rule;
    u64 seed;
    f64 kept; /* share of cells whose V_min is kept */
    u32 count;
};

/* ---- writing ---- */

struct chips_writer;

/* Whether a path may become a file of chips: it does not exist or is one. */
bool chips_may_write(const char *path, struct error *error);
struct chips_writer *chips_create(const char *path, const struct chips_facts *facts,
                                  struct error *error);
bool chips_add(struct chips_writer *writer, const struct chip *chip,
               const struct chip_numbers *numbers, const struct core_numbers *cores,
               struct error *error);
/* Completes the file, or removes it on failure. Ends the writer. */
bool chips_commit(struct chips_writer *writer, struct error *error);
/* Removes the file. Ends the writer; NULL is fine. */
void chips_abandon(struct chips_writer *writer);

/* ---- reading ---- */

struct chips_reader;

struct chips_reader *chips_open(const char *path, struct error *error);
void chips_close(struct chips_reader *reader); /* NULL is fine */
const struct chips_facts *chips_facts(const struct chips_reader *reader);
/* Chips are numbered from 0. All of it is in `arena`; NULL and an error on failure. */
struct chip *chips_load(struct chips_reader *reader, u32 number, struct arena *arena,
                        struct error *error);
/* The numbers of a chip, without its maps. */
bool chips_numbers(struct chips_reader *reader, u32 number, struct chip_numbers *numbers,
                   struct error *error);

#endif
