/* Reads the state of raw programs: see state.h. */
#include "isa/si/state.h"

#include "base/text.h"
#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct state_parser {
    struct arena *arena;
    const char *file;
    struct error *error;
    char path[160]; /* of the current value: "waves[2].vgpr.5" */
    struct si_state *state;
    bool *said_lds; /* by group: a wave has given lds_bytes, lds */
    bool *said_hex;
};

/* Enters a key or element; leave() takes the return value. */
static size_t enter(struct state_parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static size_t enter(struct state_parser *p, const char *format, ...)
{
    size_t length = strlen(p->path);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->path + length, sizeof p->path - length, format, arguments);
    va_end(arguments);
    return length;
}

static void leave(struct state_parser *p, size_t length)
{
    p->path[length] = 0;
}

static bool fail(struct state_parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool fail(struct state_parser *p, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set(p->error, ERROR_INPUT, p->file, "%s: %s", *p->path ? p->path : "the state",
                     text);
}

/* A description of a value for messages; short values in full. */
static const char *shown(struct state_parser *p, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return arena_printf(
            p->arena, "\"%s\"",
            text_printable(p->arena, arena_printf(p->arena, "%.40s", json_string_value(value))));
    case JSON_INTEGER:
        return arena_printf(p->arena, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    case JSON_REAL:
        return arena_printf(p->arena, "%.17g", json_real_value(value));
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    default:
        return "null";
    }
}

static bool expect(struct state_parser *p, const json_t *value, json_type type, const char *what)
{
    if (json_typeof(value) == type)
        return true;
    return fail(p, "expected %s, found %s", what, shown(p, value));
}

/* A number of `bits` bits. */
static bool number(struct state_parser *p, const json_t *value, u32 bits, u64 *to)
{
    u64 most = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    const char *what = bits == 64   ? "a number or a string \"0x...\" of at most 64 bits"
                       : bits == 32 ? "a number or a string \"0x...\" of at most 32 bits"
                                    : "0 or 1";
    if (json_is_integer(value)) {
        i64 given = json_integer_value(value);
        if (given < 0 && bits == 32 && given >= INT32_MIN) {
            *to = (u32)given;
            return true;
        }
        *to = (u64)given;
        if (given >= 0 && *to <= most)
            return true;
    } else if (json_is_string(value)) {
        const char *text = json_string_value(value);
        if (text[0] == '0' && tolower((u8)text[1]) == 'x' && text_u64(text, to) == TEXT_OK &&
            *to <= most)
            return true;
    } else if (json_is_real(value)) {
        return fail(p, "expected %s, found the real number %s: write a float as its bits", what,
                    shown(p, value));
    }
    return fail(p, "expected %s, found %s", what, shown(p, value));
}

static bool limited(struct state_parser *p, const json_t *value, u32 low, u32 high, u32 step,
                    u32 *to)
{
    u64 given;
    if (!number(p, value, 32, &given))
        return false;
    if (given < low || given > high || given % step)
        return fail(p, "expected %s%u to %u, found %s", step == 4 ? "a multiple of 4, " : "", low,
                    high, shown(p, value));
    *to = (u32)given;
    return true;
}

static int digit(char c)
{
    return isdigit((u8)c) ? c - '0' : isxdigit((u8)c) ? tolower((u8)c) - 'a' + 10 : -1;
}

/* Bytes in hexadecimal, in order of address. */
static bool hex(struct state_parser *p, const json_t *value, u8 **data, u64 *bytes)
{
    if (!expect(p, value, JSON_STRING, "a string of hexadecimal digits"))
        return false;
    const char *text = json_string_value(value);
    size_t length = json_string_length(value);
    if (length % 2)
        return fail(p, "expected two hexadecimal digits per byte, found %zu digits", length);
    *data = arena_alloc_aligned(p->arena, length / 2, 1);
    *bytes = length / 2;
    for (size_t i = 0; i < length; i++) {
        int one = digit(text[i]);
        if (one < 0)
            return fail(p, "expected only hexadecimal digits, but character %zu is '%s'", i + 1,
                        text_printable(p->arena, arena_strndup(p->arena, text + i, 1)));
        (*data)[i / 2] = (u8)((*data)[i / 2] << 4 | one);
    }
    return true;
}

/* A register's number as a key. */
static bool register_key(struct state_parser *p, const char *key, const char *letter, u32 count,
                         u32 *index)
{
    u64 given = count;
    for (const char *c = key; *c; c++)
        if (!isdigit((u8)*c) || c - key > 3)
            given = UINT64_MAX;
    if (given == UINT64_MAX || !*key || text_u64(key, &given) != TEXT_OK || given >= count ||
        (key[0] == '0' && key[1]))
        return fail(p, "'%s' is not a %s register: expected \"0\" to \"%u\"",
                    text_printable(p->arena, arena_printf(p->arena, "%.40s", key)), letter,
                    count - 1);
    *index = (u32)given;
    return true;
}

static bool read_sgprs(struct state_parser *p, json_t *object, struct si_wave *wave)
{
    const char *key;
    json_t *value;
    if (!expect(p, object, JSON_OBJECT, "an object of scalar registers"))
        return false;
    json_object_foreach(object, key, value)
    {
        u32 index;
        u64 given;
        if (!register_key(p, key, "scalar", SI_STATE_SGPRS, &index))
            return false;
        size_t up = enter(p, ".%u", index);
        if (!number(p, value, 32, &given))
            return false;
        wave->sgpr[index] = (u32)given;
        leave(p, up);
    }
    return true;
}

static bool read_lanes(struct state_parser *p, const json_t *array, u32 *lanes)
{
    if (!expect(p, array, JSON_ARRAY, "an array of lane values"))
        return false;
    if (json_array_size(array) > SI_STATE_LANES)
        return fail(p, "%zu lanes, but a wave has %d", json_array_size(array), SI_STATE_LANES);
    for (size_t i = 0; i < json_array_size(array); i++) {
        u64 given;
        size_t up = enter(p, "[%zu]", i);
        if (!number(p, json_array_get(array, i), 32, &given))
            return false;
        lanes[i] = (u32)given;
        leave(p, up);
    }
    return true;
}

void state_vgprs(struct arena *arena, struct si_wave *wave, u32 count)
{
    if (count <= wave->vgpr_count)
        return;
    u32(*rows)[SI_STATE_LANES] = arena_alloc(arena, (size_t)count * sizeof *rows);
    if (wave->vgpr_count)
        memcpy(rows, wave->vgpr, wave->vgpr_count * sizeof *rows);
    wave->vgpr = rows;
    wave->vgpr_count = count;
}

static bool read_vgprs(struct state_parser *p, json_t *object, struct si_wave *wave)
{
    const char *key;
    json_t *value;
    u32 count = 0, index = 0;
    if (!expect(p, object, JSON_OBJECT, "an object of vector registers"))
        return false;
    json_object_foreach(object, key, value)
    {
        if (!register_key(p, key, "vector", SI_STATE_VGPRS, &index))
            return false;
        count = MAX(count, index + 1);
    }
    state_vgprs(p->arena, wave, count);
    json_object_foreach(object, key, value)
    {
        if (!register_key(p, key, "vector", SI_STATE_VGPRS, &index))
            return false;
        size_t up = enter(p, ".%u", index);
        if (!read_lanes(p, value, wave->vgpr[index]))
            return false;
        leave(p, up);
    }
    return true;
}

/* The group's LDS: its size and bytes may come from any of its waves. */
static bool read_lds_size(struct state_parser *p, const json_t *value, u32 group)
{
    u32 bytes = 0;
    struct si_group *g = &p->state->groups[group];
    if (!limited(p, value, 0, SI_STATE_LDS_BYTES, 1, &bytes))
        return false;
    if (p->said_lds[group] && bytes != g->lds_bytes)
        return fail(p, "%u bytes, but another wave of workgroup %u has %u", bytes, g->id,
                    g->lds_bytes);
    p->said_lds[group] = true;
    g->lds_bytes = bytes;
    return true;
}

static bool read_lds(struct state_parser *p, const json_t *value, u32 group)
{
    struct si_group *g = &p->state->groups[group];
    u8 *data;
    u64 bytes;
    if (!hex(p, value, &data, &bytes))
        return false;
    if (bytes > g->lds_bytes)
        return fail(p, "%" PRIu64 " bytes, but workgroup %u has lds_bytes %u", bytes, g->id,
                    g->lds_bytes);
    u8 *all = arena_alloc(p->arena, g->lds_bytes);
    memcpy(all, data, bytes);
    if (p->said_hex[group] && memcmp(all, g->lds, g->lds_bytes) != 0)
        return fail(p, "differs from the value in another wave of workgroup %u", g->id);
    p->said_hex[group] = true;
    g->lds = all;
    return true;
}

enum key {
    KEY_WORKGROUP,
    KEY_THREADS,
    KEY_PC,
    KEY_LDS_BYTES,
    KEY_SGPR,
    KEY_VGPR,
    KEY_EXEC,
    KEY_VCC,
    KEY_SCC,
    KEY_M0,
    KEY_MODE,
    KEY_LDS
};
static const char *const wave_keys[] = {"workgroup", "threads", "pc",  "lds_bytes", "sgpr", "vgpr",
                                        "exec",      "vcc",     "scc", "m0",        "mode", "lds"};

/* Every key must be one of the list. */
static bool check_keys(struct state_parser *p, json_t *object, const char *const *keys,
                       size_t count)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        size_t i = 0;
        while (i < count && strcmp(keys[i], key) != 0)
            i++;
        if (i < count)
            continue;
        const char *near = nearest_word(key, keys, count);
        char list[160] = "";
        for (size_t k = 0; k < count; k++) {
            size_t used = strlen(list);
            snprintf(list + used, sizeof list - used, "%s%s", k ? ", " : "", keys[k]);
        }
        return fail(p, "unknown key '%s'%s%s%s: expected %s",
                    text_printable(p->arena, arena_printf(p->arena, "%.40s", key)),
                    near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "", list);
    }
    return true;
}

static bool read_wave_key(struct state_parser *p, enum key key, json_t *value, struct si_wave *wave)
{
    u64 given = 0;
    u32 small = 0;
    switch (key) {
    case KEY_WORKGROUP:
        return true; /* read before */
    case KEY_THREADS:
        return limited(p, value, 1, SI_STATE_LANES, 1, &wave->threads);
    case KEY_PC:
        if (!limited(p, value, 0, UINT32_MAX & ~3u, 4, &small))
            return false;
        wave->pc = small;
        return true;
    case KEY_LDS_BYTES:
    case KEY_LDS:
        return true; /* read when all groups are known */
    case KEY_SGPR:
        return read_sgprs(p, value, wave);
    case KEY_VGPR:
        return read_vgprs(p, value, wave);
    case KEY_EXEC:
        return number(p, value, 64, &wave->exec);
    case KEY_VCC:
        return number(p, value, 64, &wave->vcc);
    case KEY_SCC:
        if (!number(p, value, 1, &given))
            return false;
        wave->scc = (u32)given;
        return true;
    case KEY_M0:
    case KEY_MODE:
        if (!number(p, value, 32, &given))
            return false;
        *(key == KEY_M0 ? &wave->m0 : &wave->mode) = (u32)given;
        return true;
    }
    return true;
}

static bool find_group(struct state_parser *p, json_t *object, u32 index)
{
    struct si_state *state = p->state;
    json_t *value = json_object_get(object, wave_keys[KEY_WORKGROUP]);
    u64 id = 0;
    if (value) {
        size_t up = enter(p, ".workgroup");
        if (!number(p, value, 32, &id))
            return false;
        leave(p, up);
    }
    u32 group = 0;
    while (group < state->group_count && state->groups[group].id != id)
        group++;
    if (group == state->group_count)
        state->groups[state->group_count++] = (struct si_group){.id = (u32)id, .first_wave = index};
    state->groups[group].wave_count++;
    state->waves[index].group = group;
    return true;
}

static bool read_wave(struct state_parser *p, json_t *object, u32 index)
{
    struct si_wave *wave = &p->state->waves[index];
    if (!expect(p, object, JSON_OBJECT, "an object that describes a wave") ||
        !check_keys(p, object, wave_keys, ARRAY_LEN(wave_keys)) || !find_group(p, object, index))
        return false;
    wave->threads = SI_STATE_LANES;
    wave->mode = SI_STATE_MODE;
    for (u32 key = 0; key < ARRAY_LEN(wave_keys); key++) {
        json_t *value = json_object_get(object, wave_keys[key]);
        size_t up = enter(p, ".%s", wave_keys[key]);
        if (value && !read_wave_key(p, (enum key)key, value, wave))
            return false;
        leave(p, up);
        if (key == KEY_THREADS)
            wave->exec = ~0ull >> (SI_STATE_LANES - wave->threads);
    }
    return true;
}

/* Reads one key of all waves that describes their group. */
static bool read_shared(struct state_parser *p, const json_t *waves, enum key key,
                        bool (*read)(struct state_parser *, const json_t *, u32))
{
    for (u32 i = 0; i < p->state->wave_count; i++) {
        const json_t *value = json_object_get(json_array_get(waves, i), wave_keys[key]);
        size_t up = enter(p, "waves[%u].%s", i, wave_keys[key]);
        if (value && !read(p, value, p->state->waves[i].group))
            return false;
        leave(p, up);
    }
    return true;
}

static bool read_waves(struct state_parser *p, json_t *waves)
{
    struct si_state *state = p->state;
    if (!waves)
        return fail(p, "expected a key \"waves\"");
    size_t up = enter(p, "waves");
    if (!expect(p, waves, JSON_ARRAY, "an array of waves"))
        return false;
    size_t count = json_array_size(waves);
    if (!count || count > SI_STATE_WAVES)
        return fail(p, "%zu waves, expected 1 to %d", count, SI_STATE_WAVES);
    leave(p, up);
    state->wave_count = (u32)count;
    state->waves = arena_array(p->arena, struct si_wave, count);
    state->groups = arena_array(p->arena, struct si_group, count);
    p->said_lds = arena_array(p->arena, bool, count);
    p->said_hex = arena_array(p->arena, bool, count);
    for (u32 i = 0; i < count; i++) {
        up = enter(p, "waves[%u]", i);
        if (!read_wave(p, json_array_get(waves, i), i))
            return false;
        leave(p, up);
    }
    if (!read_shared(p, waves, KEY_LDS_BYTES, read_lds_size) ||
        !read_shared(p, waves, KEY_LDS, read_lds))
        return false;
    for (u32 i = 0; i < state->group_count; i++)
        if (!state->groups[i].lds)
            state->groups[i].lds = arena_alloc(p->arena, state->groups[i].lds_bytes);
    return true;
}

static int by_address(const void *a, const void *b)
{
    const struct si_region *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static bool read_region(struct state_parser *p, json_t *object, struct si_region *region)
{
    static const char *const keys[] = {"address", "hex"};
    if (!expect(p, object, JSON_OBJECT, "an object with address and hex") ||
        !check_keys(p, object, keys, ARRAY_LEN(keys)))
        return false;
    json_t *address = json_object_get(object, keys[0]), *data = json_object_get(object, keys[1]);
    if (!address || !data)
        return fail(p, "expected the keys \"address\" and \"hex\"");
    size_t up = enter(p, ".address");
    if (!number(p, address, 64, &region->address))
        return false;
    leave(p, up);
    up = enter(p, ".hex");
    if (!hex(p, data, &region->data, &region->bytes))
        return false;
    leave(p, up);
    if (region->bytes > UINT64_MAX - region->address)
        return fail(p, "0x%" PRIx64 " and %" PRIu64 " bytes exceed 64-bit addresses",
                    region->address, region->bytes);
    return true;
}

static bool read_memory(struct state_parser *p, json_t *memory)
{
    struct si_state *state = p->state;
    if (!memory)
        return true;
    size_t up = enter(p, "memory");
    if (!expect(p, memory, JSON_ARRAY, "an array of regions"))
        return false;
    size_t count = json_array_size(memory);
    state->regions = arena_array(p->arena, struct si_region, count);
    for (size_t i = 0; i < count; i++) {
        struct si_region *region = &state->regions[state->region_count];
        size_t here = enter(p, "[%zu]", i);
        if (!read_region(p, json_array_get(memory, i), region))
            return false;
        leave(p, here);
        state->region_count += region->bytes > 0;
    }
    qsort(state->regions, state->region_count, sizeof *state->regions, by_address);
    for (u32 i = 1; i < state->region_count; i++) {
        const struct si_region *a = &state->regions[i - 1], *b = a + 1;
        if (b->address - a->address < a->bytes)
            return fail(p, "regions at 0x%" PRIx64 " (%" PRIu64 " bytes) and 0x%" PRIx64 " overlap",
                        a->address, a->bytes, b->address);
    }
    leave(p, up);
    return true;
}

static bool read_root(struct state_parser *p, json_t *root)
{
    static const char *const keys[] = {"waves", "memory"};
    return expect(p, root, JSON_OBJECT, "an object with waves and memory") &&
           check_keys(p, root, keys, ARRAY_LEN(keys)) &&
           read_waves(p, json_object_get(root, keys[0])) &&
           read_memory(p, json_object_get(root, keys[1]));
}

struct si_state *state_read(struct arena *arena, const char *text, size_t length, const char *file,
                            struct error *error)
{
    struct state_parser parser = {
        .arena = arena, .file = file, .error = error, .state = arena_new(arena, struct si_state)};
    json_error_t json_error;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &json_error);
    if (!root) {
        char place[256];
        snprintf(place, sizeof place, "%.200s:%d:%d", file, json_error.line, json_error.column);
        error_fill(error, ERROR_INPUT, place, "not JSON: %s",
                   text_printable(arena, json_error.text));
        return NULL;
    }
    bool ok = read_root(&parser, root);
    json_decref(root);
    return ok ? parser.state : NULL;
}
