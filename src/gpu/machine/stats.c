/* Statistics of a whole machine: see stats.h. */
#include "gpu/machine/stats.h"

static const struct {
    const struct component *component;
    size_t offset;
} parts[] = {
#define COMPONENT_ROW(name) {&name##_component, offsetof(struct machine_stats, name)},
#include "gpu/machine/machine.def"
#undef COMPONENT_ROW
};

void machine_stats_add(struct machine_stats *into, const struct machine_stats *from)
{
    for (u32 i = 0; i < ARRAY_LEN(parts); i++)
        stats_add(parts[i].component, (u8 *)into + parts[i].offset,
                  (const u8 *)from + parts[i].offset);
}

bool machine_stats_between(struct machine_stats *into, const struct machine_stats *later,
                           const struct machine_stats *earlier)
{
    bool counted = false;
    *into = *later;
    for (u32 i = 0; i < ARRAY_LEN(parts); i++) {
        const struct component *component = parts[i].component;
        for (u32 s = 0; s < component->stat_count; s++) {
            size_t at = parts[i].offset + component->stats[s].offset;
            u64 a, b;
            memcpy(&a, (const u8 *)later + at, sizeof a);
            memcpy(&b, (const u8 *)earlier + at, sizeof b);
            a -= b;
            counted |= a != 0;
            memcpy((u8 *)into + at, &a, sizeof a);
        }
    }
    return counted;
}

void machine_stats_json(json_t *into, const struct machine_stats *stats)
{
    for (u32 i = 0; i < ARRAY_LEN(parts); i++)
        stats_json(into, parts[i].component, (const u8 *)stats + parts[i].offset);
}

void machine_stats_each(const struct machine_stats *stats, count_fn *visit, void *user)
{
    for (u32 i = 0; i < ARRAY_LEN(parts); i++)
        stats_each(parts[i].component, stats ? (const u8 *)stats + parts[i].offset : NULL, visit,
                   user);
}
