/* Chips that users name: see choice.h. */
#include "variation/choice.h"

#include "base/text.h"
#include "chip/maps.h"

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

u8 *chip_choice_read(const char *text, size_t *bytes, struct error *error)
{
    const size_t length = chip_choice_file(text);
    if (!length)
        return (u8 *)text_read_file(text, false, MAPS_LIMIT, bytes, error);
    char *path = checked(strndup(text, length));
    u8 *data = read_database(path, chip_choice_number(text), bytes, error);
    free(path);
    return data;
}
