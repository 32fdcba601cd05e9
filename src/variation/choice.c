/* Chips that users name: see choice.h. */
#include "variation/choice.h"

#include "base/text.h"
#include "chip/maps.h"
#include "variation/draw.h"
#include "variation/machine.h"

enum {
    MAPS_LIMIT = 1 << 28 /* bytes of the largest file of maps */
};

size_t chip_choice_file(const char *text)
{
    const char *colon = strrchr(text, ':');
    const bool number = colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")];
    return number ? (size_t)(colon - text) : 0;
}

u32 chip_choice_number(const char *text)
{
    u64 number;
    const size_t length = chip_choice_file(text);
    return text_u64(text + length + 1, &number) == TEXT_OK && number < UINT32_MAX ? (u32)number
                                                                                  : UINT32_MAX;
}

static u8 *read_database(const char *path, u32 number, size_t *bytes, struct error *error)
{
    struct chips_reader *reader = chips_open(path, error);
    if (!reader)
        return NULL;
    struct arena *arena = arena_create_large(0);
    const struct chip *chip = chips_load(reader, number, arena, error);
    u8 *data = chip ? chip_maps_write(chip, bytes) : NULL;
    arena_destroy(arena);
    chips_close(reader);
    return data;
}

/* ---- chips drawn now ---- */

static const char prefix[] = "draw:";
static const f64 kept_share = 0.02; /* as heddle chip does */

bool chip_choice_is_drawn(const char *text)
{
    return !strncmp(text, prefix, sizeof prefix - 1);
}

/* SEED[,RANDOM:SYSTEMATIC]; `text` is changed. */
static bool parse_head(char *text, u64 *seed, struct variation *variation, struct error *error)
{
    char *ratio = strchr(text, ',');
    if (ratio)
        *ratio++ = '\0';
    return (text_u64(text, seed) == TEXT_OK && *seed <= INT64_MAX &&
            (!ratio || variation_ratio(variation, ratio, error))) ||
           error_set(error, ERROR_USAGE, "",
                     "'%s%.40s' names no chip: expected draw:SEED:NUMBER or "
                     "draw:SEED,RANDOM:SYSTEMATIC:NUMBER, as draw:7,1:4:0",
                     prefix, text);
}

static u8 *draw(u32 number, u64 seed, const struct variation *variation,
                const struct file_plan *plan, size_t *bytes)
{
    struct arena *arena = arena_create_large(0);
    struct chip_source source;
    chip_source_make(&source, arena, variation, plan, seed, kept_share);
    u8 *data = chip_maps_write(chip_draw(&source, number, arena), bytes);
    chip_source_end(&source);
    arena_destroy(arena);
    return data;
}

static u8 *read_drawn(const char *text, const json_t *machine, size_t *bytes, struct error *error)
{
    const u32 nm = (u32)machine_number(machine, "energy", "nm");
    const struct variation_node *node = variation_node(nm);
    const size_t length = chip_choice_file(text);
    struct variation variation;
    struct file_plan plan;
    u64 seed;
    if (!node) {
        error_set(error, ERROR_UNSUPPORTED, text,
                  "energy.nm of the machine is %u, for which no constants are known: expected 45, "
                  "32, 28 or 11",
                  nm);
        return NULL;
    }
    machine_variation(&variation, node, machine);
    const size_t before = sizeof prefix - 1;
    char *head = checked(strndup(text + before, length > before ? length - before : 0));
    bool ok = parse_head(head, &seed, &variation, error) &&
              variation_check(&variation, text, error) && machine_file_plan(&plan, machine, error);
    free(head);
    return ok ? draw(chip_choice_number(text), seed, &variation, &plan, bytes) : NULL;
}

u8 *chip_choice_read(const char *text, const json_t *machine, size_t *bytes, struct error *error)
{
    const size_t length = chip_choice_file(text);
    if (chip_choice_is_drawn(text))
        return read_drawn(text, machine, bytes, error);
    if (!length)
        return (u8 *)text_read_file(text, false, MAPS_LIMIT, bytes, error);
    char *path = checked(strndup(text, length));
    u8 *data = read_database(path, chip_choice_number(text), bytes, error);
    free(path);
    return data;
}
