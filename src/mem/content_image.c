/* Content and the image: launch boundaries, system calls, and lines for mechanisms
 * (mem/content.h). */
#include "mem/content_parts.h"

/* Writes bytes to the image; `undo`: so that content_conceal can restore it. */
struct pour {
    struct content *content;
    const struct l2_slice *slice;
    bool undo;
};

static void pour_sector(const struct pour *pour, u64 sector, const u8 *bytes, u32 bits)
{
    if (pour->undo && bits) {
        struct exposed *old = vec_push(&pour->content->exposed);
        old->sector = sector;
        image_read(pour->content, sector, old->bytes);
    }
    image_write(pour->content, sector, bytes, bits);
}

static void pour_move(void *user, struct content_move *move)
{
    EACH_SECTOR(i, move->sectors)
    pour_sector(user, move->line + (u64)i * SECTOR_BYTES, move->bytes + (size_t)i * SECTOR_BYTES,
                mask_sector(move->mask, i));
}

static void pour_line(void *user, const struct cache_line *line)
{
    const struct pour *pour = user;
    if (!line->dirty)
        return;
    const u64 address = content_address(pour->content, pour->slice, line->address);
    EACH_SECTOR(i, line->dirty)
    pour_sector(pour, address + (u64)i * SECTOR_BYTES, line->bytes + (size_t)i * SECTOR_BYTES,
                content_known(line, i));
}

static void pour_all(struct content *content, bool undo)
{
    const struct memory_system *m = content->memory_system;
    struct pour pour = {.content = content, .undo = undo};
    for (u32 unit = 0; unit < m->units; unit++) {
        pour.slice = m->slices[unit];
        content_each_write(content, unit, pour_move, &pour);
        if (m->l2_params.enabled)
            cache_each_line(pour.slice->cache, pour_line, &pour);
    }
}

void content_flush(struct content *content)
{
    pour_all(content, false);
}

void content_expose(struct content *content)
{
    pour_all(content, true);
}

void content_expose_store(struct content *content, const struct content_entry *entry)
{
    struct pour pour = {.content = content, .undo = true};
    for (u32 i = 0; i < content->line_bytes / SECTOR_BYTES && !entry->entered; i++)
        pour_sector(&pour, entry->base + (u64)i * SECTOR_BYTES,
                    entry->bytes + (size_t)i * SECTOR_BYTES, mask_sector(entry->mask, i));
}

void content_conceal(struct content *content)
{
    while (content->exposed.count) {
        const struct exposed *old = &content->exposed.data[--content->exposed.count];
        image_write(content, old->sector, old->bytes, UINT32_MAX);
    }
}

/* ---- lines from the image ---- */

/* Lines that get their bytes from the image. */
struct refill {
    const struct content *content;
    const struct l2_slice *slice; /* NULL: line addresses are device addresses */
};

static void refill_line(void *user, const struct cache_line *line)
{
    const struct refill *refill = user;
    const u64 address = refill->slice
                            ? content_address(refill->content, refill->slice, line->address)
                            : line->address;
    EACH_SECTOR(i, line->valid | line->dirty)
    image_read(refill->content, address + (u64)i * SECTOR_BYTES,
               line->bytes + (size_t)i * SECTOR_BYTES);
}

void content_reload_cache(const struct content *content, const struct cache *cache)
{
    struct refill refill = {.content = content};
    cache_each_line(cache, refill_line, &refill);
}

void content_reload(struct content *content)
{
    const struct memory_system *m = content->memory_system;
    struct refill refill = {.content = content};
    for (u32 unit = 0; unit < m->units && m->l2_params.enabled; unit++) {
        refill.slice = m->slices[unit];
        cache_each_line(refill.slice->cache, refill_line, &refill);
    }
}

/* ---- for mechanisms and faults (mem/services.h) ---- */

bool memory_system_line(const struct memory_system *m, u32 slice, u32 set, u32 way,
                        struct cache_line *line)
{
    if (!m->content || slice >= m->units || !cache_line_at(m->slices[slice]->cache, set, way, line))
        return false;
    line->address = content_address(m->content, m->slices[slice], line->address);
    return true;
}

void memory_system_lose(struct memory_system *m, u32 slice, u32 set, u32 way)
{
    struct cache_line line;
    if (!memory_system_line(m, slice, set, way, &line))
        return;
    EACH_SECTOR(i, line.dirty)
    {
        content_below_l2(m->content, line.address, i, line.bytes + (size_t)i * SECTOR_BYTES);
        mask_remove(line.written, i, UINT32_MAX);
    }
}
