/* The state registry: see state.h; its visitors: see state_walk.h. */
#include "base/state_walk.h"

#include <stdlib.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

void state_owner(struct state_list *list, const char *owner, u64 copies)
{
    list->owner = owner;
    list->copies = copies;
}

void state_add(struct state_list *list, const char *unit, const char *name, u64 entries, u32 bits,
               enum state_class class, const char *help)
{
    assert(list->owner);
    list->empty = !entries || !bits;
    if (list->empty)
        return;
    struct state_row *row = vec_push(&list->rows);
    *row = (struct state_row){unit, name, help, list->owner, list->copies, entries, bits, class};
}

void state_shape(struct state_list *list, struct array_shape shape)
{
    if (list->empty)
        return;
    assert(list->rows.count);
    list->rows.data[list->rows.count - 1].shape = shape;
}

void state_flops(struct state_list *list, const char *unit, const char *name, u64 entries, u32 bits,
                 enum state_class class, const char *help)
{
    state_add(list, unit, name, entries, bits, class, help);
    state_shape(list, (struct array_shape){.flip_flops = true});
}

void state_table(struct state_list *list, const char *unit, const char *name, u64 entries, u32 bits,
                 enum state_class class, const char *help)
{
    state_add(list, unit, name, entries, bits, class, help);
    state_shape(list, (struct array_shape){.read_ports = 1, .write_ports = 1});
}

void state_free(struct state_list *list)
{
    vec_free(&list->rows);
}

struct state_row *state_find(const struct state_list *list, const char *element)
{
    const char *dot = strchr(element, '.');
    const size_t length = dot ? (size_t)(dot - element) : 0;
    for (u32 i = 0; dot && i < list->rows.count; i++) {
        struct state_row *row = &list->rows.data[i];
        if (row->name[0] == dot[1] && row->unit[0] == element[0] && !strcmp(row->name, dot + 1) &&
            !strncmp(row->unit, element, length) && !row->unit[length])
            return row;
    }
    return NULL;
}

u64 state_owner_bits(const struct state_row *row)
{
    return row->replaced ? 0 : row->entries * row->bits;
}

u64 state_bits(const struct state_row *row)
{
    return row->copies * state_owner_bits(row);
}

u64 state_backed_bits(const struct state_row *row)
{
    return row->replaced ? 0 : row->entries * row->backed;
}

u64 state_live_bits(const struct state_row *row)
{
    return row->unseen ? 0 : state_backed_bits(row);
}

u32 state_index_bits(u64 count)
{
    return count <= 2 ? 1 : 64 - (u32)__builtin_clzll(count - 1);
}

/* ---- visitors ---- */

void state_visit(struct state_list *list, state_visit_fn *visit, u32 which, const void *machine)
{
    if (list->empty)
        return;
    struct state_row *row = &list->rows.data[list->rows.count - 1];
    struct state_walk walk = {.mode = WALK_COUNT, .machine = machine};
    row->visit = visit;
    row->which = which;
    visit(&walk, row, NULL, 0);
    assert(walk.bits && walk.bits <= row->bits);
    row->backed = walk.bits;
    row->class = STATE_LIVE;
}

void state_hash_by(struct state_list *list, state_hash_fn *hash)
{
    if (!list->empty)
        list->rows.data[list->rows.count - 1].hash = hash;
}

void state_unseen(struct state_list *list)
{
    if (!list->empty)
        list->rows.data[list->rows.count - 1].unseen = true;
}

u64 state_hash_covered(const struct state_row *row, void *owner, u64 hash)
{
    return hash;
}

/* Keys of the first eight words, and what is added for each eight words more. */
static const u32 keys[8] = {0x9E3779B9, 0x7F4A7C15, 0xF39CC060, 0x5CEDC834,
                            0x1082276B, 0xF3A27251, 0xF86C6A11, 0xD1C22B4D};
static const u32 steps[8] = {0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F,
                             0x165667B1, 0xD3A2646D, 0xFD7046C5, 0xB55A4F09};

/* Sums of products over whole groups of eight words. */
static void sum_products(u64 sum[4], const u32 *words, u32 count)
{
    for (u32 i = 0; i + 8 <= count; i += 8)
        for (u32 k = 0; k < 4; k++) {
            const u32 low = words[i + 2 * k] + keys[2 * k] + i / 8 * steps[2 * k];
            const u32 high = words[i + 2 * k + 1] + keys[2 * k + 1] + i / 8 * steps[2 * k + 1];
            sum[k] += (u64)low * high;
        }
}

#ifdef __x86_64__
static __attribute__((target("avx2"))) void sum_products_avx2(u64 sum[4], const u32 *words,
                                                              u32 count)
{
    __m256i key = _mm256_loadu_si256((const __m256i *)keys), total = _mm256_setzero_si256();
    const __m256i step = _mm256_loadu_si256((const __m256i *)steps);
    for (u32 i = 0; i + 8 <= count; i += 8) {
        const __m256i x = _mm256_loadu_si256((const __m256i *)(words + i));
        const __m256i y = _mm256_add_epi32(x, key);
        total = _mm256_add_epi64(total, _mm256_mul_epu32(y, _mm256_srli_epi64(y, 32)));
        key = _mm256_add_epi32(key, step);
    }
    _mm256_storeu_si256((__m256i *)sum, total);
}
#endif

u64 hash_words(u64 hash, const u32 *words, u32 count)
{
    u64 sum[4] = {0};
#ifdef __x86_64__
    if (LIKELY(__builtin_cpu_supports("avx2")))
        sum_products_avx2(sum, words, count);
    else
#endif
        sum_products(sum, words, count);
    for (u32 i = count & ~7u; i < count; i++)
        hash = hash_word(hash, words[i]);
    hash = hash_word(hash, sum[0] + sum[1] * 0x9E3779B97F4A7C15ull);
    return hash_word(hash, sum[2] + sum[3] * 0xC2B2AE3D27D4EB4Full + count);
}

enum state_flip state_flip(const struct state_row *row, void *owner, u64 bit)
{
    struct state_walk walk = {.mode = WALK_FLIP, .bit = (u32)(bit % row->bits)};
    if (!row->visit || row->replaced || bit >= state_owner_bits(row) || walk.bit >= row->backed)
        return FLIP_COUNTED;
    row->visit(&walk, row, owner, bit / row->bits);
    return !walk.used ? FLIP_UNUSED : walk.dead ? FLIP_DEAD : FLIP_DONE;
}

bool state_get(const struct state_row *row, void *owner, u64 entry, u64 *bits)
{
    struct state_walk walk = {.mode = WALK_READ, .out = bits};
    if (!row->visit || entry >= row->entries)
        return false;
    memset(bits, 0, (row->bits + 63) / 64 * sizeof *bits);
    row->visit(&walk, row, owner, entry);
    return walk.used;
}

u64 state_hash(const struct state_row *row, void *owner, u64 hash, bool canonical)
{
    struct state_walk walk = {.mode = WALK_HASH, .hash = hash, .canonical = canonical};
    if (canonical && row->hash)
        return row->replaced ? hash : row->hash(row, owner, hash);
    for (u64 entry = 0; row->visit && !row->replaced && entry < row->entries; entry++) {
        const u64 before = walk.hash;
        walk.bits = 0;
        row->visit(&walk, row, owner, entry);
        if (walk.hash != before) /* the same contents elsewhere are another state */
            walk.hash = hash_word(walk.hash, entry);
    }
    return walk.hash;
}

bool walk_words(struct state_walk *walk, u32 *words, u32 count)
{
    bool changed = false;
    for (u32 i = 0; i < count && walk->mode != WALK_COUNT; i++) {
        u64 word = words ? words[i] : 0;
        if (walk_field(walk, &word, 32) && words) {
            words[i] = (u32)word;
            changed = true;
        }
    }
    walk->bits += walk->mode == WALK_COUNT ? 32 * count : 0;
    return changed;
}
