/* The register file of a core: see register_file.h. */
#include "base/arena.h"
#include "exec/register_parts.h"

#include <stdlib.h>
#include <sys/mman.h>

static u32 rows_of(const struct register_file *file, const struct register_layout *layout)
{
    return MAX(file->declared, layout->frames * layout->rows) + file->added;
}

/* Words from the start of storage to a row. */
static size_t place_of(const struct register_file *file, const struct register_layout *layout,
                       u32 row)
{
    const u32 frame = layout->rows ? MIN(row / layout->rows, layout->frames) : 0;
    const u32 headers = frame < layout->frames ? frame + 1 : layout->frames;
    return ((size_t)row + (size_t)headers * layout->header) * file->lanes;
}

struct register_file *register_file_create(u32 lanes, u32 rows, u32 scalars, bool keeps)
{
    struct register_file *file = checked(calloc(1, sizeof *file));
    file->lanes = lanes;
    file->declared = rows;
    file->declared_scalars = scalars;
    file->keeps = keeps;
    return file;
}

void register_file_destroy(struct register_file *file)
{
    if (!file)
        return;
    if (file->storage)
        munmap(file->storage, file->bytes);
    register_map_destroy(file);
    free(file);
}

/* Creates storage for a layout. It keeps the contents of the file's rows if the file keeps them; a
 * mapped file has its rows apart from the frames. */
static void make_storage(struct register_file *file, const struct register_layout *to, size_t bytes)
{
    const u32 rows = rows_of(file, to), before = register_file_rows(file);
    const size_t row_bytes = file->lanes * sizeof(u32);
    u32 *storage = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (storage == MAP_FAILED)
        host_memory_exhausted();
    const bool carries = file->storage && file->keeps && !file->mapped;
    for (u32 row = 0; carries && row < MIN(rows, before); row++)
        memcpy(storage + place_of(file, to, row), register_file_row(file, row), row_bytes);
    if (file->storage)
        munmap(file->storage, file->bytes);
    file->storage = storage;
    file->bytes = bytes;
}

/* Gives storage the layout of the launch (G4). */
static void change_layout(struct register_file *file)
{
    const struct register_layout *to = &file->next;
    const size_t rows = rows_of(file, to) + (size_t)to->frames * to->header;
    const size_t bytes = rows * file->lanes * sizeof(u32);
    if (file->keeps || bytes > file->bytes)
        make_storage(file, to, bytes);
    file->layout = *to;
    if (file->mapped)
        register_map_layout(file);
}

void register_file_begin(struct register_file *file, const struct register_layout *layout)
{
    assert(layout->frames <= MOST_FRAMES);
    memset(file->taken, 0, sizeof file->taken);
    file->next = *layout;
    if (!file->storage)
        change_layout(file);
}

/* The lowest free frame. */
static u32 take_frame(struct register_file *file)
{
    for (u32 w = 0; w < ARRAY_LEN(file->taken); w++)
        if (~file->taken[w]) {
            const u32 frame = w * 64 + first_lane(~file->taken[w]);
            file->taken[w] |= file->taken[w] + 1;
            return frame;
        }
    return MOST_FRAMES;
}

void register_file_take(struct register_file *file, struct warp *warp)
{
    const struct image *image = warp->exec->image;
    if (UNLIKELY(memcmp(&file->layout, &file->next, sizeof file->layout)))
        change_layout(file);
    const struct register_layout *layout = &file->layout;
    warp->frame = take_frame(file);
    assert(warp->frame < layout->frames && warp->exec->register_rows <= layout->rows);
    u32 *frame =
        file->storage + (size_t)warp->frame * (layout->header + layout->rows) * file->lanes;
    image->moves->clear((u8 *)frame,
                        (layout->header + warp->exec->register_rows) * file->lanes * sizeof *frame);
    for (u32 c = 0; c < image->chunks; c++)
        warp->chunks[c].base = (u8 *)(frame + LANES * c);
    warp->map = NULL;
}

void register_file_give(struct register_file *file, struct warp *warp)
{
    if (warp->map)
        register_map_release(warp);
    file->taken[warp->frame / 64] &= ~(1ull << warp->frame % 64);
}

u32 register_file_rows(const struct register_file *file)
{
    return rows_of(file, &file->layout);
}

u32 *register_file_row(const struct register_file *file, u32 row)
{
    assert(row < register_file_rows(file));
    if (file->mapped)
        return file->cells + (size_t)row * file->lanes;
    return file->storage + place_of(file, &file->layout, row);
}

u32 register_file_find(const struct register_file *file, const struct warp *warp, u32 reg, u32 lane)
{
    if (warp->map)
        return register_map_find(warp->map, reg, lane);
    return warp->frame * file->layout.rows + reg;
}

u32 register_file_find_scalar(const struct register_file *file, const struct warp *warp, u32 scalar)
{
    return warp->frame * file->layout.scalars + scalar;
}
