/* The maps of one chip as bytes: see maps.h. */
#include "chip/maps.h"

#include <math.h>
#include <stdio.h>

static const char magic[8] = "HEDCHIP1";
enum {
    DIGITS = SHA256_TEXT - 1
};
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "maps are copied as they are in memory");
_Static_assert(sizeof(struct weak_cell) == 4, "cells are copied as they are in memory");

/* The fields before those of the cores. */
struct maps_head {
    char magic[8];
    u32 cores, banks, entries, words, lanes, check_bits;
    f64 volts, threshold, floor;
};

/* ---- writing ---- */

static u8 *put(u8 *at, const void *data, size_t bytes)
{
    memcpy(at, data, bytes);
    return at + bytes;
}

static u8 *put_core(u8 *at, const struct file_plan *plan, const struct chip_core *core)
{
    const u32 entries = plan->banks * plan->entries;
    at = put(at, &core->threshold, sizeof core->threshold);
    at = put(at, core->delays, file_plan_words(plan) * sizeof *core->delays);
    for (u32 i = 0; i < entries; i++) {
        const u16 count = (u16)(core->first[i + 1] - core->first[i]);
        at = put(at, &count, sizeof count);
    }
    return put(at, core->cells, core->first[entries] * sizeof *core->cells);
}

u8 *chip_maps_write(const struct chip *chip, size_t *bytes)
{
    const struct file_plan *plan = &chip->plan;
    const u32 entries = plan->banks * plan->entries;
    struct maps_head head = {.cores = plan->cores,
                             .banks = plan->banks,
                             .entries = plan->entries,
                             .words = plan->words,
                             .lanes = plan->lanes,
                             .check_bits = plan->check_bits,
                             .volts = chip->volts,
                             .threshold = chip->threshold,
                             .floor = chip->floor};
    memcpy(head.magic, magic, sizeof magic);
    *bytes = sizeof head + DIGITS;
    for (u32 i = 0; i < plan->cores; i++)
        *bytes += sizeof(f64) + 2 * ((size_t)file_plan_words(plan) + entries) +
                  4 * (size_t)chip->cores[i].first[entries];
    u8 *data = checked(malloc(*bytes + 1)); /* and the NUL of the digest */
    u8 *at = put(data, &head, sizeof head);
    for (u32 i = 0; i < plan->cores; i++)
        at = put_core(at, plan, &chip->cores[i]);
    struct sha256 hash;
    sha256_start(&hash);
    sha256_add(&hash, data, (size_t)(at - data));
    sha256_text(&hash, (char *)at);
    return data;
}

/* ---- reading ---- */

struct maps_reader {
    const u8 *at, *end;
    struct chip_maps *maps;
    struct error *error;
};

static bool damaged(const struct maps_reader *reader, const char *what)
{
    return error_set(reader->error, ERROR_INPUT, reader->maps->name,
                     "the chip's maps are damaged: %s; expected what 'heddle chip --maps' writes",
                     what);
}

/* The next bytes, or NULL: there are not so many. */
static const u8 *take(struct maps_reader *reader, size_t bytes)
{
    const u8 *at = reader->at;
    if ((size_t)(reader->end - at) < bytes)
        return NULL;
    reader->at += bytes;
    return at;
}

static void *take_copy(struct maps_reader *reader, size_t bytes)
{
    const u8 *from = take(reader, bytes);
    void *copy = from ? arena_alloc(reader->maps->arena, bytes + 1) : NULL;
    if (copy)
        memcpy(copy, from, bytes);
    return copy;
}

static bool take_head(struct maps_reader *reader)
{
    struct chip *chip = &reader->maps->chip;
    struct file_plan *plan = &chip->plan, again;
    struct maps_head head;
    struct error why = {0};
    const u8 *from = take(reader, sizeof head);
    if (from)
        memcpy(&head, from, sizeof head);
    if (!from || memcmp(head.magic, magic, sizeof magic) != 0)
        return error_set(reader->error, ERROR_INPUT, reader->maps->name,
                         "these are no maps of a chip: expected a file that 'heddle chip --maps' "
                         "wrote, or FILE.db:NUMBER");
    *plan = (struct file_plan){head.cores, head.banks, head.entries,
                               head.words, head.lanes, head.check_bits};
    chip->volts = head.volts;
    chip->threshold = head.threshold;
    chip->floor = head.floor;
    if (!head.words || head.words > 1024 || head.lanes > 1024 || head.banks > 4096 ||
        head.entries > 65536 || head.check_bits > CELLS_PER_WORD ||
        (u64)head.banks * head.entries * head.words > 1u << 20 ||
        !file_plan_make(&again, head.cores, file_plan_words(plan), head.banks,
                        head.words * CELLS_PER_WORD, head.lanes, &why))
        return damaged(reader, "its sizes are impossible");
    if (!(isfinite(head.volts) && isfinite(head.threshold) && head.floor >= 0 && head.floor < 2))
        return damaged(reader, "its voltages are impossible");
    return true;
}

static bool take_core(struct maps_reader *reader, struct chip_core *core)
{
    struct chip_maps *maps = reader->maps;
    const struct file_plan *plan = &maps->chip.plan;
    const u32 entries = plan->banks * plan->entries;
    const u8 *threshold = take(reader, sizeof core->threshold);
    if (threshold)
        memcpy(&core->threshold, threshold, sizeof core->threshold);
    core->delays = take_copy(reader, file_plan_words(plan) * sizeof *core->delays);
    const u16 *counts = take_copy(reader, entries * sizeof *counts);
    if (!threshold || !core->delays || !counts)
        return damaged(reader, "they end too early");
    core->first = arena_array(maps->arena, u32, entries + 1);
    for (u32 i = 0; i < entries; i++)
        core->first[i + 1] = core->first[i] + counts[i];
    core->cells = take_copy(reader, core->first[entries] * sizeof *core->cells);
    return core->cells ? chip_cells_fit(&maps->chip, core) || damaged(reader, "cells are wrong")
                       : damaged(reader, "they end too early");
}

static bool check_digest(struct maps_reader *reader, const u8 *data, size_t bytes)
{
    struct chip_maps *maps = reader->maps;
    struct sha256 hash;
    sha256_start(&hash);
    sha256_add(&hash, data, bytes - DIGITS);
    sha256_text(&hash, maps->sha256);
    return !memcmp(maps->sha256, data + bytes - DIGITS, DIGITS) ||
           damaged(reader, "they do not match their digest");
}

struct chip_maps *chip_maps_read(const void *data, size_t bytes, const char *name,
                                 struct error *error)
{
    struct chip_maps *maps = checked(calloc(1, sizeof *maps));
    struct maps_reader reader = {data, (const u8 *)data + bytes, maps, error};
    maps->owners = 1;
    maps->arena = arena_create_large(0);
    snprintf(maps->name, sizeof maps->name, "%s", name);
    bool ok = take_head(&reader) && (bytes >= sizeof(struct maps_head) + DIGITS ||
                                     damaged(&reader, "they end too early"));
    reader.end -= ok ? DIGITS : 0;
    ok = ok && check_digest(&reader, data, bytes);
    if (ok)
        maps->chip.cores = arena_array(maps->arena, struct chip_core, maps->chip.plan.cores);
    for (u32 i = 0; ok && i < maps->chip.plan.cores; i++)
        ok = take_core(&reader, &maps->chip.cores[i]);
    ok = ok && (reader.at == reader.end || damaged(&reader, "they are too long"));
    if (ok)
        return maps;
    chip_maps_release(maps);
    return NULL;
}

struct chip_maps *chip_maps_share(struct chip_maps *maps)
{
    if (maps)
        maps->owners++;
    return maps;
}

void chip_maps_release(struct chip_maps *maps)
{
    if (!maps || --maps->owners)
        return;
    arena_destroy(maps->arena);
    free(maps);
}

/* ---- machines ---- */

static void describe(const struct file_plan *plan, char *text, size_t size)
{
    snprintf(text, size, "%u cores with %u banks of %u entries of %u bits, registers of %u lanes",
             plan->cores, plan->banks, plan->entries, plan->words * CELLS_PER_WORD, plan->lanes);
}

bool chip_maps_fit(const struct chip_maps *maps, const struct file_plan *plan, const char *machine,
                   struct error *error)
{
    const struct file_plan *own = &maps->chip.plan;
    char has[128], wants[128];
    if (own->cores == plan->cores && own->banks == plan->banks && own->entries == plan->entries &&
        own->words == plan->words && own->lanes == plan->lanes)
        return true;
    describe(own, has, sizeof has);
    describe(plan, wants, sizeof wants);
    return error_set(error, ERROR_USAGE, maps->name,
                     "the chip has %s; machine '%s' has %s: expected a chip that "
                     "'heddle chip --machine %s' drew",
                     has, machine, wants, machine);
}
