/* c = a + b: a thread an element, and the last block may hold threads without one. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void add(__global const float *a, __global const float *b, __global float *c, uint count)
{
    uint i = get_global_id(0);

    if (i < count)
        c[i] = a[i] + b[i];
}
