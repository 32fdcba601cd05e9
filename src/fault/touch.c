/*
 * What the golden run does with device memory, so that a fault whose only trace is in memory is
 * decided early: its outputs are those of the golden run but for the words that differ.
 *
 * The L2 reports every sector that is read and every byte that is written; L1 hits are not seen, but
 * a line of an L1 with a wrong word is a difference of state by itself (l1d.data). Words that the
 * golden run writes later are not listed: with one of them wrong, the state is not the golden run's.
 *
 * Pieces of programs' memory are files in the campaign's folder. There, the right contents are those at
 * the end of the last launch, and words that differ are put into memory at the end of the launch
 * (program.c): the program reads them then. If the program allocates memory between launches, nothing
 * is decided in this way.
 */
#include "fault/campaign.h"
#include "fault/site.h"
#include "gpu/time/parts.h"
#include <stdlib.h>
#include <sys/mman.h>

enum {
    MOST_PIECES = 256,
    MOST_WRONG = 4096 /* words: a fault with more of them runs to the end */
};

/* Memory that all processes share; NULL: there is none. */
static u8 *room_of(const struct hd_inject *inject, size_t bytes)
{
    struct error ignored = {0};
    char *path;
    if (!inject->folder) {
        void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        return room == MAP_FAILED ? NULL : room;
    }
    if (asprintf(&path, "%s/memory.%u", inject->folder, inject->touched.count) < 0)
        host_memory_exhausted();
    const bool fresh = inject->role == ROLE_GOLDEN;
    u8 *room = site_map(path, bytes, fresh, &ignored);
    if (room && fresh && !site_reserve(path, 0, bytes, &ignored)) {
        munmap(room, bytes);
        room = NULL;
    }
    free(path);
    return room;
}

static void add_piece(struct hd_inject *inject, const struct allocation *a)
{
    const u64 sectors = a->size / SECTOR_BYTES + 2, words = a->size / 4 + 2;
    struct touched piece = {.address = a->address, .bytes = a->size};
    piece.room = (sectors + words) * sizeof(fs) + a->size;
    u8 *room = room_of(inject, piece.room);
    if (!room)
        return; /* what is wrong there is not listed, and never decided early */
    piece.reads = (fs *)(void *)room;
    piece.writes = piece.reads + sectors;
    piece.final = (u8 *)(piece.writes + words);
    *vec_push(&inject->touched) = piece;
}

/* Allocations that are followed; their number, or 0. */
static u32 list_pieces(const struct hd_inject *inject, const struct allocation **list)
{
    const struct timing *timing = inject->device->timing;
    u32 kept = 0;
    if (!timing->content || !timing->memory.l2->enabled)
        return 0;
    const u32 count = memory_list(inject->device->memory, list, MOST_PIECES);
    for (u32 i = 0; i < count && count <= MOST_PIECES; i++)
        if (!list[i]->read_only && list[i]->address % SECTOR_BYTES == 0)
            list[kept++] = list[i];
    return kept;
}

void touch_create(struct hd_inject *inject)
{
    const struct allocation *list[MOST_PIECES];
    if (inject->touched.count)
        return;
    const u32 count = list_pieces(inject, list);
    for (u32 i = 0; i < count; i++)
        add_piece(inject, list[i]);
}

bool touch_is_current(const struct hd_inject *inject)
{
    const struct allocation *list[MOST_PIECES];
    bool same = list_pieces(inject, list) == inject->touched.count;
    for (u32 i = 0; same && i < inject->touched.count; i++)
        same = list[i]->address == inject->touched.data[i].address &&
               list[i]->size == inject->touched.data[i].bytes;
    return same;
}

void touch_destroy(struct hd_inject *inject)
{
    for (u32 i = 0; i < inject->touched.count; i++)
        munmap(inject->touched.data[i].reads, inject->touched.data[i].room);
    vec_free(&inject->touched);
    vec_free(&inject->wrong);
}

static void note(void *user, u64 sector, u32 written)
{
    struct hd_inject *inject = user;
    const fs stamp = inject->now + 1;
    for (u32 i = 0; i < inject->touched.count; i++) {
        const struct touched *piece = &inject->touched.data[i];
        if (sector + SECTOR_BYTES <= piece->address || sector >= piece->address + piece->bytes)
            continue;
        const u64 at = sector > piece->address ? sector - piece->address : 0;
        if (!written)
            piece->reads[at / SECTOR_BYTES] = stamp;
        for (u32 w = 0; w < SECTOR_BYTES / 4; w++)
            if (written >> 4 * w & 15 && at + 4ull * w < piece->bytes)
                piece->writes[at / 4 + w] = stamp;
        return;
    }
}

void touch_record(struct hd_inject *inject)
{
    if (inject->touched.count)
        content_watch(inject->device->timing->content, note, inject);
}

void touch_finish(struct hd_inject *inject)
{
    struct error error = {0};
    for (u32 i = 0; i < inject->touched.count; i++) {
        const struct touched *piece = &inject->touched.data[i];
        memory_read(inject->device->memory, piece->address, piece->final, piece->bytes, &error);
    }
}

/* False: too many words, or one that is read again. */
static bool list_sector(struct hd_inject *inject, const struct touched *piece, u64 at, fs now)
{
    u8 bytes[SECTOR_BYTES];
    content_newest(inject->device->timing->content, piece->address + at, bytes);
    for (u32 w = 0; w < SECTOR_BYTES && at + w + 4 <= piece->bytes; w += 4) {
        if (!memcmp(bytes + w, piece->final + at + w, 4) || piece->writes[(at + w) / 4] > now)
            continue;
        if (piece->reads[at / SECTOR_BYTES] > now || inject->wrong.count == MOST_WRONG)
            return false;
        struct wrong_word *word = vec_push(&inject->wrong);
        word->address = piece->address + at + w;
        memcpy(word->wrong, bytes + w, 4);
        memcpy(word->right, piece->final + at + w, 4);
    }
    return true;
}

bool touch_differences(struct hd_inject *inject, fs now)
{
    inject->wrong.count = 0;
    for (u32 i = 0; i < inject->touched.count; i++) {
        const struct touched *piece = &inject->touched.data[i];
        for (u64 at = 0; at < piece->bytes; at += SECTOR_BYTES)
            if (!list_sector(inject, piece, at, now))
                return false;
    }
    return inject->wrong.count;
}

void touch_replace(struct hd_inject *inject, bool right)
{
    for (u32 i = 0; i < inject->wrong.count; i++) {
        const struct wrong_word *word = &inject->wrong.data[i];
        const u32 offset = word->address % SECTOR_BYTES;
        u8 bytes[SECTOR_BYTES] = {0};
        memcpy(bytes + offset, right ? word->right : word->wrong, 4);
        content_replace(inject->device->timing->content, word->address - offset, bytes,
                        15u << offset);
    }
}
