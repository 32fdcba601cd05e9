/* Texture and surface instructions of a chunk of lanes: texels are read like any global memory. */
#include "exec/float_soft.h"
#include "exec/memory_view.h"
#include "exec/texture.h"

/* One texel, or element of a surface, of each lane. */
struct texel_access {
    _Alignas(32) u32 low[LANES], high[LANES];
    struct access access;
};

static void set_address(struct texel_access *a, u32 lane, u64 address)
{
    a->low[lane] = (u32)address;
    a->high[lane] = (u32)(address >> 32);
}

/* False: a lane's bytes are not in memory, or not aligned. */
static bool find(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk,
                 struct texel_access *a, u32 mask, u32 bytes, bool write)
{
    const struct addresses addresses = {a->low, a->high, 0, true, SPACE_GLOBAL, 0, UINT32_MAX};
    if (!mask)
        return true;
    if (!access_find(warp, pc, step, chunk, &addresses, mask, bytes, write, &a->access))
        return false;
    access_pointers(&a->access, mask);
    return true;
}

static u32 global_lane(const struct warp *warp, const struct chunk *chunk, u32 lane)
{
    return LANES * (u32)(chunk - warp->chunks) + lane;
}

static bool bad_handle(struct warp *warp, u32 pc, const struct chunk *chunk, u32 lane, u64 handle)
{
    fault_at(warp, pc, global_lane(warp, chunk, lane), OUTCOME_OUT_OF_BOUNDS,
             "no texture or surface has the handle 0x%llx", (unsigned long long)handle);
    return false;
}

/* ---- fetches ---- */

static u32 channel(const struct texture *t, const u8 *texel, u32 result)
{
    const u32 from = t->select[result];
    return from == CHANNEL_ZERO  ? 0
           : from == CHANNEL_ONE ? texel_one(&t->format)
                                 : texel_load(&t->format, texel, from);
}

static f64 float_of(u32 word)
{
    f32 value;
    memcpy(&value, &word, sizeof value);
    return (f64)value;
}

static u32 word_of(f64 value)
{
    const f32 narrow = (f32)value;
    u32 word;
    memcpy(&word, &narrow, sizeof word);
    return value != value ? 0x7fffffff : word;
}

struct fetch {
    struct texture_plan plan[LANES];
    f64 sum[4][LANES];
    u32 result[4][LANES];
};

/* Adds texel `k` of a lane; NULL: one beyond the border. */
static void add(struct fetch *fetch, u32 lane, u32 k, const u8 *texel)
{
    const struct texture_plan *plan = &fetch->plan[lane];
    const struct texture *t = plan->texture;
    if (plan->gather) {
        const u32 c = plan->component;
        fetch->result[k][lane] = texel ? channel(t, texel, c) : t->border[c];
        return;
    }
    for (u32 c = 0; c < 4; c++) {
        const u32 word = texel ? channel(t, texel, c) : t->border[c];
        fetch->result[c][lane] = word;
        if (plan->weighted)
            fetch->sum[c][lane] += plan->weight[k] * float_of(word);
    }
}

/* The k-th texel of all lanes that have one. */
static bool fetch_round(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask,
                        u32 k, struct fetch *fetch)
{
    struct texel_access a = {0};
    u32 left = 0;
    for (u32 set = mask; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        const struct texture_plan *plan = &fetch->plan[lane];
        if (k < plan->count && plan->outside >> k & 1) {
            add(fetch, lane, k, NULL);
        } else if (k < plan->count) {
            left |= 1u << lane;
            set_address(&a, lane, plan->address[k]);
        }
    }
    while (left) { /* lanes may have textures of different formats */
        const u32 bytes = fetch->plan[first_lane(left)].texture->format.bytes;
        u32 alike = 0;
        for (u32 set = left; set; set &= set - 1)
            if (fetch->plan[first_lane(set)].texture->format.bytes == bytes)
                alike |= set & -set;
        if (!find(warp, pc, step, chunk, &a, alike, bytes, false))
            return false;
        for (u32 set = alike; set; set &= set - 1)
            add(fetch, first_lane(set), k, a.access.at[first_lane(set)]);
        left &= ~alike;
    }
    return true;
}

static bool fetch_step(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask)
{
    const struct inst *inst = warp_inst(warp, pc);
    const u32 stride = warp->exec->image->warp_size;
    struct fetch fetch;
    u32 most = 0;
    memset(fetch.sum, 0, sizeof fetch.sum);
    for (u32 set = mask; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        struct texture_words words;
        texture_read_words(warp, step, chunk, inst, lane, &words);
        if (!texture_plan(warp->exec->textures, inst, &words, &fetch.plan[lane]))
            return bad_handle(warp, pc, chunk, lane, words.handle);
        most = MAX(most, fetch.plan[lane].count);
    }
    for (u32 k = 0; k < most; k++)
        if (!fetch_round(warp, pc, step, chunk, mask, k, &fetch))
            return false;
    u32 *row = chunk_row(chunk, step, SLOT_DST);
    for (u32 c = 0; row && c < inst->dst[0].count; c++)
        for (u32 set = mask; set; set &= set - 1) {
            const u32 lane = first_lane(set);
            row[c * stride + lane] =
                fetch.plan[lane].weighted ? word_of(fetch.sum[c][lane]) : fetch.result[c][lane];
        }
    return true;
}

/* ---- surfaces ---- */

/* Moves the elements of a lane; `words` are its registers, one for each element of up to 32 bits. */
static void move_element(const struct inst *inst, const struct texture *t, u32 *row, u32 stride,
                         u8 *at)
{
    const u32 bytes = type_bytes(inst->type), each = bytes > 4 ? 2 : 1;
    const bool write = inst->op == OP_sust;
    for (u32 e = 0; e < inst->vector && inst->imm & SURFACE_FORMATTED; e++) {
        const u32 c = t->select[e];
        if (write && c < t->format.components) {
            const u32 word = texel_store(&t->format, row[e * stride], c);
            memcpy(at + t->format.shift[c] / 8, &word, t->format.bits[c] / 8);
        } else if (!write) {
            row[e * stride] = channel(t, at, e);
        }
    }
    if (inst->imm & SURFACE_FORMATTED)
        return;
    for (u32 e = 0; e < inst->vector * each; e++) {
        u32 *word = &row[e * stride];
        if (write) {
            memcpy(at + e * MIN(bytes, 4u), word, MIN(bytes, 4u));
        } else {
            *word = 0;
            memcpy(word, at + e * MIN(bytes, 4u), MIN(bytes, 4u));
        }
    }
}

static u32 surface_bytes(const struct inst *inst, const struct texture *t)
{
    return inst->imm & SURFACE_FORMATTED ? t->format.bytes : type_bytes(inst->type) * inst->vector;
}

/* Lanes whose elements have the same size. */
static void move_elements(struct warp *warp, const struct inst *inst, struct chunk *chunk,
                          const struct texel_access *a, const struct texture *const *texture,
                          u32 *row, u32 mask)
{
    const struct addresses addresses = {a->low, a->high, 0, true, SPACE_GLOBAL, 0, UINT32_MAX};
    for (u32 set = mask; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        move_element(inst, texture[lane], row + lane, warp->exec->image->warp_size,
                     a->access.at[lane]);
        if (inst->op == OP_sust && exec_records(warp->exec))
            access_record(warp, chunk, lane, &addresses, &a->access,
                          surface_bytes(inst, texture[lane]));
    }
}

static bool surface_step(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk,
                         u32 mask)
{
    const struct inst *inst = warp_inst(warp, pc);
    const u32 stride = warp->exec->image->warp_size;
    const bool write = inst->op == OP_sust;
    struct texel_access a = {0};
    const struct texture *texture[LANES] = {0};
    u32 inside = 0;
    for (u32 set = mask; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        struct texture_words words;
        u64 address = 0;
        bool is_inside;
        texture_read_words(warp, step, chunk, inst, lane, &words);
        if (!surface_plan(warp->exec->textures, inst, &words, &address, &is_inside))
            return bad_handle(warp, pc, chunk, lane, words.handle);
        if (!is_inside && inst->key2 == SURFACE_TRAP) {
            fault_at(warp, pc, global_lane(warp, chunk, lane), OUTCOME_OUT_OF_BOUNDS,
                     "surface access out of range: coordinates %d, %d, %d", (i32)words.word[0],
                     (i32)words.word[1], (i32)words.word[2]);
            return false;
        }
        texture[lane] = texture_bound(warp->exec->textures, words.handle);
        inside |= (u32)is_inside << lane;
        set_address(&a, lane, address);
    }
    u32 *row = chunk_row(chunk, step, write ? 1 : SLOT_DST);
    if (!write && row)
        lanes_clear(row, stride, inst->dst[0].count, mask & ~inside);
    for (u32 left = inside; left;) {
        const u32 bytes = surface_bytes(inst, texture[first_lane(left)]);
        u32 alike = 0;
        for (u32 set = left; set; set &= set - 1)
            if (surface_bytes(inst, texture[first_lane(set)]) == bytes)
                alike |= set & -set;
        if (!find(warp, pc, step, chunk, &a, alike, bytes, write))
            return false;
        if (row)
            move_elements(warp, inst, chunk, &a, texture, row, alike);
        left &= ~alike;
    }
    return true;
}

bool texture_step(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask)
{
    return warp_inst(warp, pc)->op == OP_tex ? fetch_step(warp, pc, step, chunk, mask)
                                             : surface_step(warp, pc, step, chunk, mask);
}

u32 texture_bytes(const struct warp *warp, const struct step *step, const struct chunk *chunk,
                  const struct inst *inst, u32 mask)
{
    struct texture_words words;
    texture_read_words(warp, step, chunk, inst, first_lane(mask), &words);
    const struct texture *t = texture_bound(warp->exec->textures, words.handle);
    if (!t)
        return 1;
    return inst->op == OP_tex ? t->format.bytes : surface_bytes(inst, t);
}

u32 texture_addresses(const struct warp *warp, const struct step *step, const struct chunk *chunk,
                      const struct inst *inst, u32 lane, u64 *address)
{
    struct texture_words words;
    struct texture_plan plan;
    u32 count = 0;
    bool inside;
    texture_read_words(warp, step, chunk, inst, lane, &words);
    if (inst->op != OP_tex)
        return surface_plan(warp->exec->textures, inst, &words, address, &inside) && inside;
    if (!texture_plan(warp->exec->textures, inst, &words, &plan))
        return 0;
    for (u32 k = 0; k < plan.count; k++)
        if (!(plan.outside >> k & 1))
            address[count++] = plan.address[k];
    return count;
}

/* ---- queries ---- */

static u32 query(const struct texture *t, enum texture_query what)
{
    switch (what) {
    case QUERY_WIDTH:
        return t->size[0];
    case QUERY_HEIGHT:
        return t->size[1];
    case QUERY_DEPTH:
        return t->size[2];
    case QUERY_LEVELS:
        return t->levels;
    case QUERY_SAMPLES:
        return 1;
    case QUERY_LAYERS:
        return t->layers;
    case QUERY_DATA_TYPE:
        return t->data_type;
    case QUERY_CHANNEL_ORDER:
        return t->channel_order;
    case QUERY_NORMALIZED:
        return !!(t->sampler & SAMPLER_NORMALIZED);
    case QUERY_FILTER:
        return !!(t->sampler & SAMPLER_LINEAR);
    default:
        return sampler_address(t->sampler, what - QUERY_ADDRESS_X);
    }
}

void texture_query_step(struct warp *warp, struct step *step, struct chunk *chunk,
                        const struct inst *inst, u32 mask)
{
    u32 *to = chunk_row(chunk, step, SLOT_DST);
    for (u32 set = to ? mask : 0; set; set &= set - 1) {
        const u32 lane = first_lane(set);
        struct texture_words words;
        texture_read_words(warp, step, chunk, inst, lane, &words);
        const struct texture *t = texture_bound(warp->exec->textures, words.handle);
        to[lane] = t ? query(t, inst->key) : 0;
    }
}
