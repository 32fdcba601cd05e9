/* Configurations and files of points: see resolver.h. */
#include "lab/resolver.h"

#include "chip/maps.h"
#include "heddle/heddle.h"
#include "variation/choice.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
    CONFIGURATIONS = 64, /* kept at a time */
    MOST_USES = 4096, /* of a configuration that is kept: it remembers where each value came from */
    RECENT = 64,      /* results kept at a time; a power of two */
    FILE_LIMIT = 1 << 29, /* largest file that is hashed, in bytes */
    NAME_BYTES = 4096     /* of paths inside arguments */
};

/* A configuration that is kept (V1). */
struct kept_configuration {
    char *shape; /* machine, mechanisms, and keys that are set */
    struct hd_config *config;
    u32 uses;
};

/* What a recipe was resolved to (V3). */
struct recent_result {
    char *shape, *values; /* values: of the keys that are set */
    char *json;
    enum code_target target;
    char chip[SHA256_TEXT]; /* hash of its maps, or "" */
};

/* A file of chips that stays open: to check all of it takes longer than to read a chip. */
struct open_chips {
    char *path;
    struct chips_reader *reader;
};

struct hashed_file {
    char *path;
    char hash[SHA256_TEXT];
};

struct resolver {
    struct kept_configuration kept[CONFIGURATIONS];
    u32 next; /* the one that is replaced next */
    struct recent_result recent[RECENT];
    u32 next_recent;
    VEC(struct set_parameter) parameters;
    VEC(struct hashed_file) files;
    VEC(struct open_chips) chips;
};

struct resolver *resolver_create(void)
{
    return checked(calloc(1, sizeof(struct resolver)));
}

static void forget(struct kept_configuration *one)
{
    free(one->shape);
    if (one->config)
        hd_config_destroy(one->config);
    *one = (struct kept_configuration){0};
}

static void forget_result(struct recent_result *one)
{
    free(one->shape);
    free(one->values);
    if (one->json)
        hd_free(one->json);
    *one = (struct recent_result){0};
}

void resolver_destroy(struct resolver *resolver)
{
    if (!resolver)
        return;
    for (u32 i = 0; i < CONFIGURATIONS; i++)
        forget(&resolver->kept[i]);
    for (u32 i = 0; i < RECENT; i++)
        forget_result(&resolver->recent[i]);
    for (u32 i = 0; i < resolver->parameters.count; i++) {
        free(resolver->parameters.data[i].key);
        hd_free(resolver->parameters.data[i].missing);
    }
    vec_free(&resolver->parameters);
    for (u32 i = 0; i < resolver->files.count; i++)
        free(resolver->files.data[i].path);
    vec_free(&resolver->files);
    for (u32 i = 0; i < resolver->chips.count; i++) {
        chips_close(resolver->chips.data[i].reader);
        free(resolver->chips.data[i].path);
    }
    vec_free(&resolver->chips);
    free(resolver);
}

/* ---- configurations ---- */

static bool at_place(struct error *error, struct text_place at, const struct hd_error *from)
{
    char place[256];
    return error_set(error, ERROR_INPUT, place_text(at, place, sizeof place), "%s%s%s", from->place,
                     from->place[0] ? ": " : "", from->message);
}

static bool set_one(struct hd_config *config, const char *prefix, const struct setting *one,
                    struct error *error)
{
    struct hd_error own = {0};
    char *text;
    if (asprintf(&text, "%s%s%s=%s", prefix ? prefix : "", prefix ? "." : "", one->key,
                 one->value) < 0)
        host_memory_exhausted();
    bool ok = hd_config_set(config, text, &own);
    free(text);
    return ok || at_place(error, one->place, &own);
}

static bool use_mechanism(struct hd_config *config, const struct chosen_mechanism *use,
                          struct error *error)
{
    struct hd_error own = {0};
    struct arena *arena = arena_create();
    bool ok = hd_config_mechanism(config, mechanism_option(arena, use), &own) ||
              at_place(error, use->place, &own);
    for (u32 i = 0; ok && !use->file && i < use->settings.count; i++)
        ok = set_one(config, use->name, &use->settings.list[i], error);
    arena_destroy(arena);
    return ok;
}

/* ---- chips ---- */

/* An open file of chips; NULL and an error on failure. */
static struct chips_reader *open_chips(struct resolver *resolver, const char *path,
                                       struct error *error)
{
    for (u32 i = 0; i < resolver->chips.count; i++)
        if (!strcmp(resolver->chips.data[i].path, path))
            return resolver->chips.data[i].reader;
    struct chips_reader *reader = chips_open(path, error);
    if (reader)
        *(struct open_chips *)vec_push(&resolver->chips) =
            (struct open_chips){checked(strdup(path)), reader};
    return reader;
}

/* The maps of a chip, as chip_choice_read gives them. */
static u8 *read_chip(struct resolver *resolver, const char *text, size_t *bytes,
                     struct error *error)
{
    const size_t length = chip_choice_file(text);
    if (!length)
        return chip_choice_read(text, bytes, error);
    struct arena *arena = arena_create_large(0);
    struct chips_reader *reader = open_chips(resolver, arena_strndup(arena, text, length), error);
    const struct chip *chip =
        reader ? chips_load(reader, chip_choice_number(text), arena, error) : NULL;
    u8 *maps = chip ? chip_maps_write(chip, bytes) : NULL;
    arena_destroy(arena);
    return maps;
}

static bool use_chip(struct resolver *resolver, struct hd_config *config,
                     const struct recipe *recipe, struct error *error)
{
    struct hd_error own = {0};
    struct error inner = {0};
    char place[256], text[2400];
    size_t bytes = 0;
    if (!recipe->chip)
        return true;
    u8 *maps = read_chip(resolver, recipe->chip, &bytes, &inner);
    bool ok =
        maps ? hd_config_chip(config, maps, bytes, recipe->chip, &own) ||
                   at_place(error, recipe->chip_place, &own)
             : error_set(error, ERROR_INPUT, place_text(recipe->chip_place, place, sizeof place),
                         "%s", error_text(&inner, text, sizeof text));
    free(maps);
    return ok;
}

/* Writes what a configuration is kept by, and the values that are set. */
static void describe(const struct recipe *recipe, char **shape, char **values)
{
    size_t lengths[2];
    FILE *shapes = checked(open_memstream(shape, &lengths[0]));
    FILE *list = checked(open_memstream(values, &lengths[1]));
    fprintf(shapes, "%s\n%s\n", recipe->machine, recipe->chip ? recipe->chip : "");
    for (u32 i = 0; i < recipe->mechanism_count; i++)
        for (u32 k = 0; k < recipe->mechanisms[i]->count; k++) {
            const struct chosen_mechanism *use = &recipe->mechanisms[i]->list[k];
            fprintf(shapes, "+%s", use->file ? use->file : use->name);
            for (u32 s = 0; s < use->settings.count; s++)
                fprintf(shapes, ",%s=%s", use->settings.list[s].key, use->settings.list[s].value);
        }
    for (u32 i = 0; i < recipe->settings_count; i++)
        for (u32 s = 0; s < recipe->settings[i]->count; s++) {
            fprintf(shapes, "\n%s", recipe->settings[i]->list[s].key);
            fprintf(list, "%s\n", recipe->settings[i]->list[s].value);
        }
    fclose(shapes);
    fclose(list);
}

static struct kept_configuration *find_kept(struct resolver *resolver, const char *shape)
{
    for (u32 i = 0; i < CONFIGURATIONS; i++) {
        struct kept_configuration *one = &resolver->kept[i];
        if (!one->shape || strcmp(one->shape, shape) != 0)
            continue;
        if (one->uses++ < MOST_USES)
            return one;
        forget(one);
    }
    return NULL;
}

/* Loads machine and mechanisms into the next place. */
static struct kept_configuration *load(struct resolver *resolver, const struct recipe *recipe,
                                       struct error *error)
{
    struct kept_configuration *one = &resolver->kept[resolver->next++ % CONFIGURATIONS];
    struct hd_error own = {0};
    forget(one);
    one->config = hd_config_create();
    bool ok = hd_config_load(one->config, recipe->machine, &own) ||
              at_place(error, recipe->machine_place, &own);
    for (u32 i = 0; ok && i < recipe->mechanism_count; i++)
        for (u32 k = 0; ok && k < recipe->mechanisms[i]->count; k++)
            ok = use_mechanism(one->config, &recipe->mechanisms[i]->list[k], error);
    if (ok && use_chip(resolver, one->config, recipe, error))
        return one;
    forget(one);
    return NULL;
}

/* Checks that the values fit together; with new mechanisms also that a device can be opened, since
 * only this finds mechanisms that cannot be combined. */
static bool check(const struct kept_configuration *one, bool loaded, const struct recipe *recipe,
                  const char *label, struct error *error)
{
    struct hd_error own = {0};
    char place[256];
    bool ok = hd_config_check(one->config, &own);
    if (ok && loaded) {
        struct hd_device *device = hd_device_open(one->config, &own);
        ok = device;
        if (device)
            hd_device_close(device);
    }
    return ok ||
           error_set(error, ERROR_INPUT, place_text(recipe->machine_place, place, sizeof place),
                     "%s: %s%s%s", label, own.place, own.place[0] ? ": " : "", own.message);
}

static const struct recent_result *find_recent(const struct resolver *resolver, const char *shape,
                                               const char *values)
{
    for (u32 i = 1; i <= RECENT; i++) { /* the latest first */
        const struct recent_result *one = &resolver->recent[(resolver->next_recent - i) % RECENT];
        if (one->shape && !strcmp(one->values, values) && !strcmp(one->shape, shape))
            return one;
    }
    return NULL;
}

/* Notes whether a parameter affects a configuration that sets it. */
static void note_effect(struct resolver *resolver, const struct hd_config *config, const char *key)
{
    u32 at = 0;
    while (at < resolver->parameters.count && strcmp(resolver->parameters.data[at].key, key) != 0)
        at++;
    if (at == resolver->parameters.count)
        *(struct set_parameter *)vec_push(&resolver->parameters) =
            (struct set_parameter){.key = checked(strdup(key))};
    struct set_parameter *one = &resolver->parameters.data[at];
    char *missing = one->acts ? NULL : hd_config_missing(config, key);
    one->acts |= !missing;
    if (one->missing)
        hd_free(missing);
    else
        one->missing = missing;
}

const struct set_parameter *resolver_parameter(const struct resolver *resolver, u32 index)
{
    return index < resolver->parameters.count ? &resolver->parameters.data[index] : NULL;
}

/* The hash of a configuration's chip, or "". */
static void note_chip(const struct hd_config *config, char hash[SHA256_TEXT])
{
    char *text = hd_config_chip_json(config);
    json_t *chip = text ? json_loads(text, 0, NULL) : NULL;
    if (chip)
        snprintf(hash, SHA256_TEXT, "%s", json_string_value(json_object_get(chip, "sha256")));
    json_decref(chip);
    hd_free(text);
}

/* Sets all values, checks them and keeps the result; takes `shape` and `values`. */
static const struct recent_result *resolve(struct resolver *resolver, const struct recipe *recipe,
                                           const char *label, char *shape, char *values,
                                           struct error *error)
{
    struct kept_configuration *kept = find_kept(resolver, shape);
    bool loaded = !kept;
    bool ok = kept || (kept = load(resolver, recipe, error));
    for (u32 i = 0; ok && i < recipe->settings_count; i++)
        for (u32 s = 0; ok && s < recipe->settings[i]->count; s++)
            ok = set_one(kept->config, NULL, &recipe->settings[i]->list[s], error);
    if (!ok || !check(kept, loaded, recipe, label, error)) {
        if (kept)
            forget(kept); /* some of its values are those of this recipe, some are not */
        free(shape);
        free(values);
        return NULL;
    }
    for (u32 i = 0; i < recipe->settings_count; i++)
        for (u32 s = 0; s < recipe->settings[i]->count; s++)
            note_effect(resolver, kept->config, recipe->settings[i]->list[s].key);
    struct recent_result *one = &resolver->recent[resolver->next_recent++ % RECENT];
    struct hd_machine_info info;
    struct hd_error own = {0};
    if (loaded)
        kept->shape = checked(strdup(shape));
    forget_result(one);
    *one = (struct recent_result){shape, values, hd_config_json(kept->config), CODE_PTX, ""};
    note_chip(kept->config, one->chip);
    if (hd_config_info(kept->config, &info, &own))
        one->target = code_target_of(info.lanes, info.address_bits);
    return one;
}

bool resolver_configure(struct resolver *resolver, const struct recipe *recipe, const char *label,
                        struct resolved *resolved, struct error *error)
{
    char *shape, *values;
    describe(recipe, &shape, &values);
    const struct recent_result *one = find_recent(resolver, shape, values);
    if (one) {
        free(shape);
        free(values);
    } else {
        one = resolve(resolver, recipe, label, shape, values, error);
    }
    if (one)
        *resolved = (struct resolved){one->json, one->target, one->chip};
    return one;
}

/* ---- files ---- */

const char *resolver_file(struct resolver *resolver, const char *path, struct error *error)
{
    for (u32 i = 0; i < resolver->files.count; i++)
        if (!strcmp(resolver->files.data[i].path, path))
            return resolver->files.data[i].hash;
    size_t length;
    char *text = text_read_file(path, false, FILE_LIMIT, &length, error);
    if (!text)
        return NULL;
    struct hashed_file *file = vec_push(&resolver->files);
    struct sha256 hash;
    sha256_start(&hash);
    sha256_add(&hash, text, length);
    sha256_text(&hash, file->hash);
    file->path = checked(strdup(path));
    free(text);
    return file->hash;
}

static bool add_if_file(struct resolver *resolver, const char *name, struct sha256 *hash,
                        struct error *error)
{
    struct stat status;
    if (!*name || stat(name, &status) != 0 || !S_ISREG(status.st_mode))
        return true;
    const char *sum = resolver_file(resolver, name, error);
    if (sum)
        sha256_add(hash, sum, SHA256_TEXT);
    return sum;
}

/* Adds the input of an argument in the form of `heddle run --arg`: in:FILE, bytes:FILE or
 * inout:IN:OUT. An output is no input even if it exists. */
static bool add_argument(struct resolver *resolver, const char *text, struct sha256 *hash,
                         struct error *error)
{
    char name[NAME_BYTES];
    const char *colon = strchr(text, ':');
    if (!colon || !strncmp(text, "out:", 4))
        return true;
    size_t length = strncmp(text, "inout:", 6) ? strlen(colon + 1) : strcspn(colon + 1, ":");
    if (length >= sizeof name)
        return true;
    memcpy(name, colon + 1, length);
    name[length] = '\0';
    return add_if_file(resolver, name, hash, error);
}

bool resolver_add_inputs(struct resolver *resolver, const char *const *words, struct sha256 *hash,
                         struct error *error)
{
    for (; *words; words++) {
        const char *equals = strchr(*words, '=');
        if (!add_if_file(resolver, *words, hash, error) ||
            !add_argument(resolver, *words, hash, error) ||
            (equals && (!add_if_file(resolver, equals + 1, hash, error) ||
                        !add_argument(resolver, equals + 1, hash, error))))
            return false;
    }
    return true;
}
