/*
 * Breadth-first search by levels, a node a thread. Node i's edges are to[first[i]] up to, not
 * including, to[first[i + 1]]. Several threads may reach a node in the same level; all of them
 * store the same values, so the order does not matter.
 */

/* From the nodes of the frontier to those not seen before. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void expand(__global const uint *first, __global const uint *to, __global uint *frontier,
            __global const uint *seen, __global uint *reached, __global uint *steps, uint nodes)
{
    uint node = get_global_id(0);

    if (node >= nodes || !frontier[node])
        return;
    uint next_step = steps[node] + 1, end = first[node + 1];
    frontier[node] = 0;
    for (uint i = first[node]; i < end; i++) {
        uint next = to[i];
        if (!seen[next]) {
            steps[next] = next_step;
            reached[next] = 1;
        }
    }
}

/* The nodes reached are the next frontier; *again tells whether there are any. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void advance(__global uint *frontier, __global uint *seen, __global uint *reached,
             __global uint *again, uint nodes)
{
    uint node = get_global_id(0);

    if (node >= nodes || !reached[node])
        return;
    frontier[node] = 1;
    seen[node] = 1;
    reached[node] = 0;
    *again = 1;
}
