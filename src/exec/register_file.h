/*
 * The vector register file of a core, in timing mode: rows of one 32-bit word per lane, as many as
 * the machine declares (core.registers / core.warp_size). The values of vector registers are stored
 * there and nowhere else; rows that belong to no warp exist, too, and keep what was last written to
 * them (G4).
 *
 * A warp's masks, scalars and registers are reached from one base pointer (S3 of image.h), so that
 * operands are base + offset. Therefore storage is an array of frames, one for each warp that a
 * core can hold: `header` rows for masks, scalars and the engine's own use, then `rows` of the
 * file, which are those allocated to a warp: its registers, rounded up to the unit of allocation.
 * Physical row p is row p % rows of frame p / rows; rows that do not fill a frame follow the last
 * one. Register r of a warp in frame f is row f * rows + r, and a block's warps take the lowest
 * free frames. All warps of a launch have frames of the same size.
 *
 * Invariants
 *  G1  A frame belongs to at most one warp, from block_start to block_end.
 *  G2  Registers read as zero at the start of a block: an architectural reset of the rows allocated
 *      to the block, and of no others.
 *  G3  If a mechanism may move registers, a lane of a row belongs to at most one register.
 *  G4  When a launch with frames of another size begins on the core, the contents of all rows are
 *      preserved if the file `keeps` them: if a mechanism is on, which could read them. Otherwise
 *      nothing reads rows that belong to no warp.
 *
 * A file that is `mapped`, because a mechanism fills the `allocate` seam, stores rows apart from
 * the frames, and a warp has a map: the row of each register and, for lanes that are elsewhere,
 * pieces of other rows. Dynamic instructions read and commit through it (warp->registers is its
 * view). A frame is then a window for instructions that act on registers in place, from
 * register_open to register_close; at other times its rows are undefined.
 *
 * If a launch has more resident warps than the declared rows have frames (launch.registers is
 * smaller than what the kernel uses, or groups of raw code differ), there are more rows than
 * declared: register_file_rows returns their number.
 *
 * Scalar registers are entries of a second file if the machine declares one
 * (core.scalar_registers). Their map is always the identity: entry e is scalar e % scalars of frame
 * e / scalars. Entries beyond the frames are not stored.
 *
 * Functional runs have no file: a block's registers are in its own storage (block.c).
 */
#ifndef EXEC_REGISTER_FILE_H
#define EXEC_REGISTER_FILE_H

#include "exec/warp.h"

#define NO_ROW UINT32_MAX
enum {
    MOST_FRAMES = 128,  /* warps of a core, and those of a block that is being started */
    PIECES_PER_ROW = 8, /* average capacity of a mapped file: 128-bit entries */
    NO_PIECE = 0
};

/* How a launch divides a file. */
struct register_layout {
    u32 header; /* rows for masks, scalars and the engine's own use in a frame */
    u32 rows;   /* of the file, in a frame */
    u32 frames;
    u32 scalars; /* entries of the scalar file allocated to a warp; 0: there is none */
};

/* Lanes of a register that are not in its row. */
struct register_piece {
    lane_set lanes;
    u32 row; /* with the same lanes; NO_ROW: nowhere: they read as 0 and writes are lost */
    u32 next;
};

/* Where the registers of a warp are, in a mapped file. */
struct register_map {
    struct register_view view;
    const struct register_view *keeper; /* for registers that a mechanism keeps in its own form,
                                         * or NULL */
    struct register_file *file;
    u32 *rows;   /* by register */
    u32 *pieces; /* by register: the first one */
    bool open;   /* the warp's frame holds all its registers: register_open */
};

struct register_file {
    u32 lanes;
    u32 declared, declared_scalars;
    u32 added;                     /* rows added by mechanisms, numbered from `declared` on */
    bool keeps;                    /* G4 */
    bool mapped;                   /* the members at the end are used */
    struct register_layout layout; /* of `storage` */
    struct register_layout next;   /* of the current or the last launch */
    u64 taken[MOST_FRAMES / 64];   /* frames */
    u32 *storage;                  /* pages that are never used take no memory */
    size_t bytes;                  /* size of storage */

    u32 *cells;     /* all rows */
    u32 cell_rows;  /* capacity */
    lane_set *used; /* by row: lanes that belong to a register */
    struct register_map maps[MOST_FRAMES];
    u32 *map_words; /* `rows` and `pieces` of all maps */
    u64 *all_apart; /* a set of all registers */
    struct register_piece *pieces;
    u32 free_piece; /* the first of a list */
    u32 nowhere;    /* what register_word returns for a lane that is nowhere */
};

struct register_file *register_file_create(u32 lanes, u32 rows, u32 scalars, bool keeps);
void register_file_destroy(struct register_file *file);
/* A launch begins; no frame may be taken. Storage changes when the first warp starts. */
void register_file_begin(struct register_file *file, const struct register_layout *layout);

/* Takes a frame for a warp whose image has the file's layout; masks, scalars and registers are
 * 0. */
void register_file_take(struct register_file *file, struct warp *warp);
void register_file_give(struct register_file *file, struct warp *warp);

/* Existing rows: those declared, those added by mechanisms, and more if needed. */
u32 register_file_rows(const struct register_file *file);
/* The lanes of a physical row. */
u32 *register_file_row(const struct register_file *file, u32 row);
/* The row of a lane of a warp's register, and the entry of one of its scalars. */
u32 register_file_find(const struct register_file *file, const struct warp *warp, u32 reg,
                       u32 lane);
u32 register_file_find_scalar(const struct register_file *file, const struct warp *warp,
                              u32 scalar);

/* ---- mapped files ---- */

/* Adds rows for a mechanism, before the first launch; returns the number of the first. */
u32 register_file_add(struct register_file *file, u32 rows);
/* Lets a mechanism move registers; call before the first launch. */
void register_file_map(struct register_file *file);
/* The rows offered to a warp, by register: those of its frame if they are free. */
void register_map_offer(struct register_file *file, struct warp *warp);
/* Gives the warp the rows of its map, if all exist and are free; they take the contents of its
 * frame. Otherwise `why` says why not, and the warp has none. */
bool register_map_claim(struct register_file *file, struct warp *warp, char *why, size_t size);
/* Puts lanes of a register into another row (NO_ROW: nowhere), with their values, or without: they
 * then take the values there. False: nothing has changed, and `why` says why. */
bool register_map_place(struct warp *warp, u32 reg, lane_set lanes, u32 row, bool with_value,
                        char *why, size_t size);
/* For execution in place: copies all registers to the warp's frame, and changes back. False: the
 * warp has no map, or is open already. */
bool register_open(struct warp *warp);
void register_close(struct warp *warp);

/* ---- registers of any warp ---- */

/* The row of a register, except for pieces of it that are elsewhere. */
static inline u32 *register_row(const struct warp *warp, u32 reg)
{
    if (LIKELY(!warp->map))
        return vector_row(warp, &warp->chunks[0], reg);
    return register_file_row(warp->map->file, warp->map->rows[reg]);
}
/* One lane of a register, wherever it is. */
u32 *register_word(const struct warp *warp, u32 reg, u32 lane);
/* All lanes of a register, through the warp's view. */
void register_read(const struct warp *warp, u32 reg, u32 *row);
/* Writes some lanes of a register, as a dynamic instruction commits them (R2 of warp.h). */
void register_write(struct warp *warp, u32 reg, const u32 *row, lane_set lanes);
/* A mechanism keeps registers of a warp in its own form. */
static inline void register_keep(struct warp *warp, const struct register_view *keeper)
{
    if (warp->map)
        warp->map->keeper = keeper;
    else
        warp->registers = keeper;
}

#endif
