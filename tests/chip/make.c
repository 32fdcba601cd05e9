/* See make.h. */
#include "make.h"

#include "chip/maps.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static u32 value(const json_t *machine, const char *part, const char *name)
{
    return (u32)json_integer_value(json_object_get(json_object_get(machine, part), name));
}

static void stop(const char *what)
{
    fprintf(stderr, "make_chip: %s\n", what);
    abort();
}

/* Any sequence without a period that matters. */
static u16 some_delay(void *user, u32 core, u32 bank, u32 entry, u32 word)
{
    const u32 number = ((core * 64 + bank) * 512 + entry) * 64 + word;
    return (u16)(DELAY_ONE + (number * 2654435761u >> 16) % (DELAY_ONE / 2));
}

static void fill(struct chip *chip, struct arena *arena, make_delay *delay, void *user)
{
    const struct file_plan *plan = &chip->plan;
    chip->cores = arena_array(arena, struct chip_core, plan->cores);
    for (u32 core = 0; core < plan->cores; core++) {
        struct chip_core *own = &chip->cores[core];
        own->delays = arena_array(arena, u16, file_plan_words(plan));
        own->first = arena_array(arena, u32, plan->banks * plan->entries + 1);
        own->cells = arena_array(arena, struct weak_cell, 1);
        for (u32 bank = 0; bank < plan->banks; bank++)
            for (u32 entry = 0; entry < plan->entries; entry++)
                for (u32 word = 0; word < plan->words; word++)
                    own->delays[word_index(plan, bank, entry, word)] =
                        delay(user, core, bank, entry, word);
    }
}

void make_chip(struct hd_config *config, make_delay *delay, void *user)
{
    struct arena *arena = arena_create();
    struct chip chip = {.volts = 0.9, .threshold = 0.35, .floor = 0.5};
    struct error error = {0};
    struct hd_error own = {0};
    size_t bytes;
    char *text = hd_config_json(config);
    json_t *machine = json_loads(text, 0, NULL);
    if (!file_plan_make(&chip.plan, value(machine, "gpu", "cores"),
                        value(machine, "core", "registers"), value(machine, "collect", "banks"),
                        value(machine, "collect", "bank_bits"), value(machine, "core", "warp_size"),
                        &error))
        stop(error.message);
    fill(&chip, arena, delay ? delay : some_delay, user);
    u8 *maps = chip_maps_write(&chip, &bytes);
    if (!hd_config_chip(config, maps, bytes, "made", &own))
        stop(own.message);
    free(maps);
    json_decref(machine);
    hd_free(text);
    arena_destroy(arena);
}
