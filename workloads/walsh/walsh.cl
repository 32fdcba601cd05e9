/*
 * Fast Walsh transforms: in each step, a and b of a pair `stride` apart become a + b and a - b. Two
 * steps are done at once, on four elements. Steps whose strides stay within a section of SECTION
 * elements are done in local memory.
 */

/* Two steps, with strides 2 and 1, on four elements. */
float4 two_steps(float4 v)
{
    float4 first = (float4)(v.x + v.z, v.y + v.w, v.x - v.z, v.y - v.w);
    return (float4)(first.x + first.y, first.x - first.y, first.z + first.w, first.z - first.w);
}

/* Two steps with strides 2 * stride and stride, on the whole array: four elements a thread. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void transform_apart(__global float *numbers, uint stride, uint quads)
{
    uint n = get_global_id(0), within = n & (stride - 1);
    uint i = 4 * (n - within) + within;

    if (n >= quads)
        return;
    float4 v = (float4)(numbers[i], numbers[i + stride], numbers[i + 2 * stride],
                        numbers[i + 3 * stride]);
    v = two_steps(v);
    numbers[i] = v.x;
    numbers[i + stride] = v.y;
    numbers[i + 2 * stride] = v.z;
    numbers[i + 3 * stride] = v.w;
}

/* All steps within a section. */
__kernel __attribute__((reqd_work_group_size(SECTION_BLOCK_X, 1, 1)))
void transform_sections(__global float *numbers)
{
    __local float section[SECTION];
    uint lane = get_local_id(0), start = get_group_id(0) * SECTION;
    uint stride = SECTION / 4;

    for (uint i = lane; i < SECTION; i += SECTION_BLOCK_X)
        section[i] = numbers[start + i];
    for (; stride > 0; stride /= 4) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint n = lane; n < SECTION / 4; n += SECTION_BLOCK_X) {
            uint within = n & (stride - 1);
            uint i = 4 * (n - within) + within;
            float4 v = (float4)(section[i], section[i + stride], section[i + 2 * stride],
                                section[i + 3 * stride]);
            v = two_steps(v);
            section[i] = v.x;
            section[i + stride] = v.y;
            section[i + 2 * stride] = v.z;
            section[i + 3 * stride] = v.w;
        }
    }
#if SECTION_STEPS % 2
    /* The step that is left has stride 1: a section with an odd number of steps. */
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 2 * lane; i < SECTION; i += 2 * SECTION_BLOCK_X) {
        float a = section[i], b = section[i + 1];
        section[i] = a + b;
        section[i + 1] = a - b;
    }
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lane; i < SECTION; i += SECTION_BLOCK_X)
        numbers[start + i] = section[i];
}

__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void multiply(__global float *a, __global const float *b, float factor, uint count)
{
    uint i = get_global_id(0);

    if (i < count)
        a[i] *= b[i] * factor;
}
