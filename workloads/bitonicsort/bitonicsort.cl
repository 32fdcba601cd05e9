/*
 * Bitonic sorting: pairs `stride` apart are put in order, ascending where the index has no bit
 * `size`. Sizes double until they are the array's; within each, strides halve. Strides that stay
 * within a section of two keys a thread are done in local memory.
 */
#define SECTION (2 * BLOCK_X)

/* The lower of pair number n, of those `stride` apart (a power of two). */
uint lower_of(uint n, uint stride)
{
    return 2 * n - (n & (stride - 1));
}

/* All strides from `stride` down to 1 on the section in local memory. start is the section's place
 * in the array: the direction depends on it. */
void merge(__local uint *keys, uint start, uint size, uint stride)
{
    for (; stride > 0; stride /= 2) {
        uint low = lower_of(get_local_id(0), stride);
        bool ascending = ((start + low) & size) == 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint a = keys[low], b = keys[low + stride];
        if ((a > b) == ascending) {
            keys[low] = b;
            keys[low + stride] = a;
        }
    }
}

void load(__local uint *section, __global const uint *keys, uint start)
{
    section[get_local_id(0)] = keys[start + get_local_id(0)];
    section[get_local_id(0) + BLOCK_X] = keys[start + get_local_id(0) + BLOCK_X];
}

void store(__global uint *keys, __local const uint *section, uint start)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    keys[start + get_local_id(0)] = section[get_local_id(0)];
    keys[start + get_local_id(0) + BLOCK_X] = section[get_local_id(0) + BLOCK_X];
}

/* All sizes up to a section. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void sort_sections(__global uint *keys)
{
    __local uint section[SECTION];
    uint start = get_group_id(0) * SECTION;

    load(section, keys, start);
    for (uint size = 2; size <= SECTION; size *= 2)
        merge(section, start, size, size / 2);
    store(keys, section, start);
}

/* One stride that leaves the section. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void merge_apart(__global uint *keys, uint size, uint stride)
{
    uint low = lower_of(get_global_id(0), stride);
    uint a = keys[low], b = keys[low + stride];

    if ((a > b) == ((low & size) == 0)) {
        keys[low] = b;
        keys[low + stride] = a;
    }
}

/* The strides of a size that stay within sections. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void merge_sections(__global uint *keys, uint size)
{
    __local uint section[SECTION];
    uint start = get_group_id(0) * SECTION;

    load(section, keys, start);
    merge(section, start, size, SECTION / 2);
    store(keys, section, start);
}
