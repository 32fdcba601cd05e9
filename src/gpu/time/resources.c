/* Resource tables: see resources.h. */
#include "gpu/time/resources.h"

#include <assert.h>
#include <string.h>

void resources_init(struct resources *resources, const struct amounts *capacity, enum fit fit)
{
    memset(resources, 0, sizeof *resources);
    resources->fit = fit;
    resources->warps = capacity->of[RESOURCE_WARPS];
    for (u32 r = RESOURCE_VECTORS; r < RESOURCES; r++)
        resources->tables[r].size = capacity->of[r];
}

/* The free range before the range at `index`, or after the last one: its start and size. */
static u32 gap_before(const struct resource_table *table, u32 index, u32 *size)
{
    const struct resource_range *before = index ? &table->ranges[index - 1] : NULL;
    const u32 start = before ? before->start + before->size : 0;
    const u32 end = index < table->count ? table->ranges[index].start : table->size;
    *size = end - start;
    return start;
}

u32 resource_find(const struct resource_table *table, enum fit fit, u32 size)
{
    u32 found = UINT32_MAX, largest = 0;
    if (!size)
        return 0;
    for (u32 i = 0; i <= table->count; i++) {
        u32 free_size;
        const u32 start = gap_before(table, i, &free_size);
        if (free_size < size || free_size <= largest)
            continue;
        found = start;
        if (fit == FIT_FIRST)
            break;
        largest = free_size;
    }
    return found;
}

static u32 taken(const struct resource_table *table)
{
    u32 sum = 0;
    for (u32 i = 0; i < table->count; i++)
        sum += table->ranges[i].size;
    return sum;
}

bool resources_suffice(const struct resources *resources, const struct amounts *needs)
{
    if (resources->warps - resources->warps_taken < needs->of[RESOURCE_WARPS])
        return false;
    for (u32 r = RESOURCE_VECTORS; r < RESOURCES; r++)
        if (resources->tables[r].size - taken(&resources->tables[r]) < needs->of[r])
            return false;
    return true;
}

bool resources_fit(const struct resources *resources, const struct amounts *needs)
{
    if (resources->warps - resources->warps_taken < needs->of[RESOURCE_WARPS])
        return false;
    for (u32 r = RESOURCE_VECTORS; r < RESOURCES; r++)
        if (resource_find(&resources->tables[r], resources->fit, needs->of[r]) == UINT32_MAX)
            return false;
    return true;
}

static void insert(struct resource_table *table, struct resource_range range)
{
    u32 at = table->count;
    assert(at < RESOURCE_OWNERS);
    for (; at && table->ranges[at - 1].start > range.start; at--)
        table->ranges[at] = table->ranges[at - 1];
    table->ranges[at] = range;
    table->count++;
}

void resources_take(struct resources *resources, u32 owner, const struct amounts *needs)
{
    assert(owner < RESOURCE_OWNERS && !resources->warps_of[owner]);
    assert(resources_fit(resources, needs));
    resources->warps_of[owner] = needs->of[RESOURCE_WARPS];
    resources->warps_taken += needs->of[RESOURCE_WARPS];
    for (u32 r = RESOURCE_VECTORS; r < RESOURCES; r++) {
        struct resource_table *table = &resources->tables[r];
        const u32 size = needs->of[r];
        if (size)
            insert(table, (struct resource_range){resource_find(table, resources->fit, size), size,
                                                  owner});
    }
}

void resources_give(struct resources *resources, u32 owner)
{
    resources->warps_taken -= resources->warps_of[owner];
    resources->warps_of[owner] = 0;
    for (u32 r = RESOURCE_VECTORS; r < RESOURCES; r++) {
        struct resource_table *table = &resources->tables[r];
        u32 kept = 0;
        for (u32 i = 0; i < table->count; i++)
            if (table->ranges[i].owner != owner)
                table->ranges[kept++] = table->ranges[i];
        table->count = kept;
    }
}
