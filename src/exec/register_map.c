/*
 * Maps of a register file, for launches in which a mechanism may move registers: see
 * register_file.h.
 *
 * A register is in one row, except for the lanes of its pieces. `used` says which lanes of a row
 * belong to a register; only claim, release and place change it.
 */
#include "base/arena.h"
#include "exec/register_parts.h"

#include <stdio.h>
#include <stdlib.h>

static lane_set all_lanes(const struct register_file *file)
{
    return ~0ull >> (MAX_LANES - file->lanes);
}

/* ---- storage ---- */

u32 register_file_add(struct register_file *file, u32 rows)
{
    const u32 first = file->declared + file->added;
    assert(!file->storage);
    file->added += rows;
    return first;
}

void register_file_map(struct register_file *file)
{
    assert(!file->storage);
    file->mapped = true;
}

void register_map_destroy(struct register_file *file)
{
    free(file->cells);
    free(file->used);
    free(file->map_words);
    free(file->all_apart);
    free(file->pieces);
}

static void *grow(void *old, size_t before, size_t after, size_t size)
{
    u8 *memory = checked(realloc(old, after * size));
    memset(memory + before * size, 0, (after - before) * size);
    return memory;
}

/* Adds rows; existing ones keep their contents. The number never decreases: an earlier launch may
 * have needed more rows than declared. */
static void more_rows(struct register_file *file, u32 rows)
{
    if (rows <= file->cell_rows)
        return;
    const u32 pieces = 1 + rows * PIECES_PER_ROW;
    file->cells = grow(file->cells, (size_t)file->cell_rows * file->lanes,
                       (size_t)rows * file->lanes, sizeof *file->cells);
    file->used = grow(file->used, file->cell_rows, rows, sizeof *file->used);
    file->cell_rows = rows;
    free(file->pieces);
    file->pieces = checked(calloc(pieces, sizeof *file->pieces));
    for (u32 p = 1; p < pieces; p++)
        file->pieces[p].next = p + 1 < pieces ? p + 1 : NO_PIECE;
    file->free_piece = 1;
}

void register_map_layout(struct register_file *file)
{
    const struct register_layout *layout = &file->layout;
    const size_t words = layout->rows / 64 + 1;
    more_rows(file, register_file_rows(file));
    free(file->map_words);
    free(file->all_apart);
    file->map_words =
        checked(calloc((size_t)layout->frames * layout->rows, 2 * sizeof *file->map_words));
    file->all_apart = checked(malloc(words * sizeof *file->all_apart));
    memset(file->all_apart, 0xff, words * sizeof *file->all_apart);
    for (u32 f = 0; f < layout->frames; f++) {
        u32 *rows = file->map_words + (size_t)f * 2 * layout->rows;
        file->maps[f] =
            (struct register_map){.file = file, .rows = rows, .pieces = rows + layout->rows};
    }
}

/* ---- the view of a map ---- */

static void read_rows(const struct register_map *map, u32 reg, u32 *to)
{
    const struct register_file *file = map->file;
    if (map->rows[reg] == NO_ROW)
        memset(to, 0, file->lanes * sizeof *to);
    else
        memcpy(to, register_file_row(file, map->rows[reg]), file->lanes * sizeof *to);
    for (u32 p = map->pieces[reg]; p != NO_PIECE; p = file->pieces[p].next)
        for (lane_set set = file->pieces[p].lanes; set; set &= set - 1) {
            const u32 lane = first_lane(set), row = file->pieces[p].row;
            to[lane] = row == NO_ROW ? 0 : register_file_row(file, row)[lane];
        }
}

static bool is_kept(const struct register_map *map, u32 reg)
{
    return UNLIKELY(map->keeper) && register_elsewhere(map->keeper, reg);
}

static void view_read(const struct register_view *view, const struct warp *warp, u32 reg, u32 *row)
{
    const struct register_map *map = warp->map;
    if (is_kept(map, reg))
        map->keeper->read(map->keeper, warp, reg, row);
    else
        read_rows(map, reg, row);
}

static void view_whole(const struct register_view *view, struct warp *warp, u32 reg)
{
    const struct register_map *map = warp->map;
    if (is_kept(map, reg))
        map->keeper->whole(map->keeper, warp, reg);
}

u32 register_map_find(const struct register_map *map, u32 reg, u32 lane)
{
    const struct register_piece *pieces = map->file->pieces;
    for (u32 p = map->pieces[reg]; p != NO_PIECE; p = pieces[p].next)
        if (pieces[p].lanes >> lane & 1)
            return pieces[p].row;
    return map->rows[reg];
}

/* ---- registers of any warp ---- */

u32 *register_word(const struct warp *warp, u32 reg, u32 lane)
{
    if (LIKELY(!warp->map))
        return &vector_row(warp, &warp->chunks[0], reg)[lane];
    struct register_file *file = warp->map->file;
    const u32 row = register_map_find(warp->map, reg, lane);
    file->nowhere = 0;
    return row == NO_ROW ? &file->nowhere : &register_file_row(file, row)[lane];
}

void register_read(const struct warp *warp, u32 reg, u32 *row)
{
    if (warp->registers && register_elsewhere(warp->registers, reg))
        warp->registers->read(warp->registers, warp, reg, row);
    else
        memcpy(row, vector_row(warp, &warp->chunks[0], reg),
               warp->exec->image->warp_size * sizeof *row);
}

static void write_lanes(u32 *to, const u32 *from, lane_set lanes)
{
    for (; lanes; lanes &= lanes - 1)
        to[first_lane(lanes)] = from[first_lane(lanes)];
}

void register_write(struct warp *warp, u32 reg, const u32 *row, lane_set lanes)
{
    const struct register_map *map = warp->map;
    if (!map) {
        write_lanes(vector_row(warp, &warp->chunks[0], reg), row, lanes);
        return;
    }
    const struct register_file *file = map->file;
    for (u32 p = map->pieces[reg]; p != NO_PIECE; p = file->pieces[p].next) {
        const struct register_piece *piece = &file->pieces[p];
        if (piece->row != NO_ROW)
            write_lanes(register_file_row(file, piece->row), row, lanes & piece->lanes);
        lanes &= ~piece->lanes;
    }
    if (map->rows[reg] != NO_ROW)
        write_lanes(register_file_row(file, map->rows[reg]), row, lanes);
}

/* ---- in place ---- */

bool register_open(struct warp *warp)
{
    if (LIKELY(!warp->map) || warp->map->open)
        return false;
    for (u32 r = 0; r < warp->exec->register_rows; r++)
        register_read(warp, r, vector_row(warp, &warp->chunks[0], r));
    warp->map->open = true;
    return true;
}

void register_close(struct warp *warp)
{
    struct register_map *map = warp->map;
    u32 row[MAX_LANES];
    map->open = false;
    for (u32 r = 0; r < warp->exec->register_rows; r++) {
        const u32 *now = vector_row(warp, &warp->chunks[0], r);
        lane_set changed = 0;
        register_read(warp, r, row);
        for (u32 lane = 0; lane < map->file->lanes; lane++)
            changed |= (lane_set)(row[lane] != now[lane]) << lane;
        if (!changed)
            continue;
        const bool kept = is_kept(map, r);
        register_write(warp, r, now, kept ? all_lanes(map->file) : changed);
        if (kept)
            map->keeper->whole(map->keeper, warp, r);
    }
}

/* ---- allocation ---- */

/* The lowest free row that no mechanism has added. */
static u32 lowest_free(const struct register_file *file)
{
    for (u32 row = 0; row < register_file_rows(file); row++)
        if (!file->used[row] && row - file->declared >= file->added)
            return row;
    return NO_ROW;
}

void register_map_offer(struct register_file *file, struct warp *warp)
{
    struct register_map *map = &file->maps[warp->frame];
    *map = (struct register_map){
        .file = file,
        .rows = map->rows,
        .pieces = map->pieces,
        .view = {.apart = file->all_apart, .read = view_read, .whole = view_whole},
    };
    for (u32 r = 0; r < warp->exec->register_rows; r++) {
        u32 row = warp->frame * file->layout.rows + r;
        if (row >= file->declared)
            row += file->added;
        if (file->used[row])
            row = lowest_free(file);
        map->rows[r] = row;
        map->pieces[r] = NO_PIECE;
        if (row != NO_ROW) /* until the offer is complete, so that none is offered twice */
            file->used[row] = all_lanes(file);
    }
    for (u32 r = 0; r < warp->exec->register_rows; r++)
        if (map->rows[r] != NO_ROW)
            file->used[map->rows[r]] = 0;
}

static void release(struct register_file *file, struct register_map *map, u32 reg)
{
    lane_set lanes = all_lanes(file);
    for (u32 p = map->pieces[reg], next; p != NO_PIECE; p = next) {
        struct register_piece *piece = &file->pieces[p];
        next = piece->next;
        lanes &= ~piece->lanes;
        if (piece->row != NO_ROW)
            file->used[piece->row] &= ~piece->lanes;
        piece->next = file->free_piece;
        file->free_piece = p;
    }
    map->pieces[reg] = NO_PIECE;
    if (map->rows[reg] != NO_ROW)
        file->used[map->rows[reg]] &= ~lanes;
    map->rows[reg] = NO_ROW;
}

void register_map_release(struct warp *warp)
{
    for (u32 r = 0; r < warp->exec->register_rows; r++)
        release(warp->map->file, warp->map, r);
    warp->registers = NULL;
    warp->map = NULL;
}

/* Whether a register may use these lanes of a row. */
static bool may_have(const struct register_file *file, u32 row, lane_set lanes, u32 reg, char *why,
                     size_t size)
{
    const u32 rows = register_file_rows(file);
    if (row >= rows)
        snprintf(why, size, "R%u in row %u of a register file of %u rows", reg, row, rows);
    else if (file->used[row] & lanes)
        snprintf(why, size, "R%u in row %u, of which a register has these lanes already", reg, row);
    else
        return true;
    return false;
}

bool register_map_claim(struct register_file *file, struct warp *warp, char *why, size_t size)
{
    struct register_map *map = &file->maps[warp->frame];
    const lane_set lanes = all_lanes(file);
    for (u32 r = 0; r < warp->exec->register_rows; r++) {
        if (may_have(file, map->rows[r], lanes, r, why, size)) {
            file->used[map->rows[r]] = lanes;
            continue;
        }
        while (r--)
            file->used[map->rows[r]] = 0;
        return false;
    }
    warp->map = map;
    for (u32 r = 0; r < warp->exec->register_rows; r++)
        register_write(warp, r, vector_row(warp, &warp->chunks[0], r), lanes);
    warp->registers = &map->view;
    return true;
}

/* ---- moves ---- */

/* Lanes of a register that are in this row. */
static lane_set lanes_in(const struct register_map *map, u32 reg, u32 row)
{
    const struct register_piece *pieces = map->file->pieces;
    lane_set lanes = all_lanes(map->file), there = 0;
    for (u32 p = map->pieces[reg]; p != NO_PIECE; p = pieces[p].next) {
        lanes &= ~pieces[p].lanes;
        if (pieces[p].row == row)
            there |= pieces[p].lanes;
    }
    return map->rows[reg] == row ? there | lanes : there;
}

/* Removes lanes from all pieces of a register. */
static void take_out(struct register_map *map, u32 reg, lane_set lanes)
{
    struct register_file *file = map->file;
    for (u32 *at = &map->pieces[reg]; *at != NO_PIECE;) {
        const u32 p = *at;
        struct register_piece *piece = &file->pieces[p];
        piece->lanes &= ~lanes;
        if (piece->lanes) {
            at = &piece->next;
            continue;
        }
        *at = piece->next;
        piece->next = file->free_piece;
        file->free_piece = p;
    }
}

static void set_place(struct register_map *map, u32 reg, lane_set lanes, u32 row)
{
    struct register_file *file = map->file;
    for (lane_set set = lanes; set; set &= set - 1) {
        const u32 lane = first_lane(set), from = register_map_find(map, reg, lane);
        if (from != NO_ROW)
            file->used[from] &= ~(1ull << lane);
    }
    take_out(map, reg, lanes);
    if ((lanes | lanes_in(map, reg, row)) == all_lanes(file)) {
        take_out(map, reg, all_lanes(file));
        map->rows[reg] = row;
    } else if (map->rows[reg] != row) {
        const u32 p = file->free_piece;
        file->free_piece = file->pieces[p].next;
        file->pieces[p] = (struct register_piece){lanes, row, map->pieces[reg]};
        map->pieces[reg] = p;
    }
    if (row != NO_ROW)
        file->used[row] |= lanes;
}

bool register_map_place(struct warp *warp, u32 reg, lane_set lanes, u32 row, bool with_value,
                        char *why, size_t size)
{
    struct register_map *map = warp->map;
    u32 value[MAX_LANES];
    assert(map && !map->open && reg < warp->exec->register_rows);
    lanes &= all_lanes(map->file);
    if (row != NO_ROW && row < register_file_rows(map->file))
        lanes &= ~lanes_in(map, reg, row);
    if (!lanes)
        return true;
    if (row != NO_ROW && !may_have(map->file, row, lanes, reg, why, size))
        return false;
    if (map->file->free_piece == NO_PIECE) {
        snprintf(why, size, "a piece of R%u elsewhere, and %u pieces for each row are taken", reg,
                 PIECES_PER_ROW);
        return false;
    }
    if (with_value)
        read_rows(map, reg, value);
    set_place(map, reg, lanes, row);
    if (with_value)
        register_write(warp, reg, value, lanes);
    return true;
}
