/* States and traces of raw programs as JSON, for the adapter. See json.h. */
#include "json.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *hex64(u64 value)
{
    char text[24];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
    return json_string(text);
}

static json_t *hex_bytes(const u8 *data, u32 bytes)
{
    char *text = malloc(2 * (size_t)bytes + 1);
    assert(text);
    for (u32 i = 0; i < bytes; i++) {
        text[2 * i] = "0123456789abcdef"[data[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[data[i] & 15];
    }
    json_t *out = json_stringn(text, 2 * (size_t)bytes);
    free(text);
    return out;
}

static u64 pair_of(const struct wave *w, u32 at)
{
    return (u64)w->scalars[at + 1] << 32 | w->scalars[at];
}

static json_t *wave_json(const struct machine *m, const struct wave *w)
{
    json_t *out = json_object(), *sgpr = json_object(), *vgpr = json_object();
    char key[8];
    for (u32 i = 0; i < 104; i++) {
        snprintf(key, sizeof key, "%u", i);
        if (w->scalars[i])
            json_object_set_new(sgpr, key, json_integer(w->scalars[i]));
    }
    for (u32 i = 0; i < V_LAST; i++) {
        json_t *lanes = json_array();
        for (u32 lane = 0; lane < LANES; lane++)
            json_array_append_new(lanes, json_integer(w->vectors[i][lane]));
        snprintf(key, sizeof key, "%u", i);
        json_object_set_new(vgpr, key, lanes);
    }
    json_object_set_new(out, "workgroup", json_integer(w->group));
    json_object_set_new(out, "threads", json_integer(w->threads));
    json_object_set_new(out, "pc", json_integer((json_int_t)w->pc));
    json_object_set_new(out, "lds_bytes", json_integer(w->lds_bytes));
    json_object_set_new(out, "sgpr", sgpr);
    json_object_set_new(out, "vgpr", vgpr);
    json_object_set_new(out, "exec", hex64(emu_exec(w)));
    json_object_set_new(out, "vcc", hex64(pair_of(w, VCC)));
    json_object_set_new(out, "scc", json_integer(w->scc));
    json_object_set_new(out, "m0", json_integer(w->scalars[M0]));
    json_object_set_new(out, "mode", json_integer(w->mode));
    json_object_set_new(out, "lds", hex_bytes(m->lds[w->group], w->lds_bytes));
    return out;
}

char *state_json(const struct machine *m)
{
    json_t *out = json_object(), *waves = json_array(), *memory = json_array();
    for (u32 i = 0; i < m->wave_count; i++)
        json_array_append_new(waves, wave_json(m, &m->waves[i]));
    for (u32 i = 0; i < m->region_count; i++) {
        json_t *region = json_object();
        json_object_set_new(region, "address", hex64(m->regions[i].address));
        json_object_set_new(region, "hex", hex_bytes(m->regions[i].data, m->regions[i].bytes));
        json_array_append_new(memory, region);
    }
    json_object_set_new(out, "waves", waves);
    json_object_set_new(out, "memory", memory);
    char *text = json_dumps(out, JSON_COMPACT);
    json_decref(out);
    return text;
}

static u64 number(const json_t *value)
{
    if (json_is_string(value))
        return strtoull(json_string_value(value), NULL, 0);
    return (u64)json_integer_value(value);
}

static u32 digit(char c)
{
    return (u32)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
}

static void bytes_of(const char *hex, u8 *data, u32 bytes)
{
    for (u32 i = 0; hex && i < bytes && hex[2 * i] && hex[2 * i + 1]; i++)
        data[i] = (u8)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
}

static void wave_read(json_t *json, struct machine *m, struct wave *w)
{
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(json, "sgpr"), key, value)
        w->scalars[strtoul(key, NULL, 10) % SCALARS] = (u32)number(value);
    json_object_foreach(json_object_get(json, "vgpr"), key,
                        value) for (u32 lane = 0; lane < json_array_size(value) && lane < LANES;
                                    lane++) w->vectors[strtoul(key, NULL, 10) % VECTORS][lane] =
        (u32)number(json_array_get(value, lane));
    u64 exec = number(json_object_get(json, "exec")), vcc = number(json_object_get(json, "vcc"));
    memcpy(&w->scalars[EXEC], &exec, 8);
    memcpy(&w->scalars[VCC], &vcc, 8);
    w->scalars[M0] = (u32)number(json_object_get(json, "m0"));
    w->scc = (u32)number(json_object_get(json, "scc"));
    w->mode = (u32)number(json_object_get(json, "mode"));
    w->group = (u32)number(json_object_get(json, "workgroup"));
    bytes_of(json_string_value(json_object_get(json, "lds")), m->lds[w->group % MAX_GROUPS],
             LDS_BYTES);
}

bool state_from_json(const char *text, struct machine *m)
{
    json_t *json = json_loads(text, 0, NULL), *value;
    size_t i;
    if (!json)
        return false;
    emu_init(m);
    json_array_foreach(json_object_get(json, "waves"), i, value) if (i < MAX_WAVES)
        wave_read(value, m, &m->waves[m->wave_count++]);
    json_array_foreach(json_object_get(json, "memory"), i, value)
    {
        const char *hex = json_string_value(json_object_get(value, "hex"));
        emu_region(m, number(json_object_get(value, "address")), (u32)strlen(hex) / 2);
        bytes_of(hex, m->regions[i].data, m->regions[i].bytes);
    }
    json_decref(json);
    return true;
}

static void add(struct record *r, enum space space, u32 lane, u64 where, u32 value, bool optional)
{
    if (r->count == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 64;
        r->writes = realloc(r->writes, r->capacity * sizeof *r->writes);
        assert(r->writes);
    }
    r->writes[r->count++] = (struct write){space, lane, where, value, 0, EXACT, 0, optional};
}

/* A pair is reported as a whole even if only half of it was written. */
static void add_pair(struct record *r, json_t *value, u32 at)
{
    if (!value)
        return;
    u64 both = number(value);
    add(r, SPACE_SCALAR, 0, at, (u32)both, true);
    add(r, SPACE_SCALAR, 0, at + 1, (u32)(both >> 32), true);
}

static void add_bytes(struct record *r, json_t *list, enum space space)
{
    size_t i;
    json_t *value;
    json_array_foreach(list, i, value)
    {
        const char *hex = json_string_value(json_object_get(value, "hex"));
        u64 at = number(json_object_get(value, "address"));
        u32 lane = (u32)number(json_object_get(value, "lane"));
        for (u32 b = 0; hex && hex[2 * b]; b++)
            add(r, space, lane, at + b, digit(hex[2 * b]) << 4 | digit(hex[2 * b + 1]), false);
    }
}

bool record_from_json(const char *text, size_t length, struct record *r)
{
    json_t *json = json_loadb(text, length, 0, NULL), *value;
    const char *key;
    if (!json)
        return false;
    memset(r, 0, sizeof *r);
    r->wave = (u32)number(json_object_get(json, "wave"));
    r->pc = number(json_object_get(json, "pc"));
    const char *said = json_string_value(json_object_get(json, "text"));
    snprintf(r->text, sizeof r->text, "%.90s", said ? said : "");
    json_object_foreach(json_object_get(json, "sgpr"), key, value)
        add(r, SPACE_SCALAR, 0, strtoul(key, NULL, 10), (u32)number(value), false);
    json_object_foreach(json_object_get(json, "vgpr"), key,
                        value) for (u32 lane = 0; lane < json_array_size(value);
                                    lane++) if (!json_is_null(json_array_get(value, lane)))
        add(r, SPACE_VECTOR, lane, strtoul(key, NULL, 10), (u32)number(json_array_get(value, lane)),
            false);
    add_pair(r, json_object_get(json, "vcc"), VCC);
    add_pair(r, json_object_get(json, "exec"), EXEC);
    if ((value = json_object_get(json, "m0")))
        add(r, SPACE_SCALAR, 0, M0, (u32)number(value), false);
    if ((value = json_object_get(json, "scc")))
        add(r, SPACE_SCC, 0, 0, (u32)number(value), false);
    if ((value = json_object_get(json, "mode")))
        add(r, SPACE_MODE, 0, 0, (u32)number(value), false);
    add_bytes(r, json_object_get(json, "lds"), SPACE_LDS);
    add_bytes(r, json_object_get(json, "memory"), SPACE_MEMORY);
    json_decref(json);
    return true;
}
