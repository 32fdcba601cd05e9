/*
 * Potentials of particles in boxes, and the forces on them: each particle against all of its own box
 * and of the boxes around it. One box per block, one particle per thread; a block has more threads
 * than a box has particles. Neighbouring boxes go through local memory one after the other.
 */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void interact(__global const float4 *places, __global const float *charges,
              __global const int *neighbours, __global const int *neighbour_counts,
              __global float4 *results, __local float4 *own, __local float4 *other,
              __local float *other_charges, int particles, int most_neighbours, float sharpness)
{
    int box = get_group_id(0), first = box * particles;

    for (int i = get_local_id(0); i < particles; i += get_local_size(0))
        own[i] = places[first + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < neighbour_counts[box]; k++) {
        int other_first = neighbours[box * most_neighbours + k] * particles;
        for (int i = get_local_id(0); i < particles; i += get_local_size(0)) {
            other[i] = places[other_first + i];
            other_charges[i] = charges[other_first + i];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = get_local_id(0); i < particles; i += get_local_size(0)) {
            float4 sum = results[first + i]; /* a force and the potential */
            for (int j = 0; j < particles; j++) {
                float x = own[i].x - other[j].x, y = own[i].y - other[j].y;
                float z = own[i].z - other[j].z;
                float potential = other_charges[j] * exp(-sharpness * (x * x + y * y + z * z));
                float force = 2 * sharpness * potential;
                sum.x += force * x;
                sum.y += force * y;
                sum.z += force * z;
                sum.w += potential;
            }
            results[first + i] = sum;
        }
        barrier(CLK_LOCAL_MEM_FENCE); /* all are done with this neighbour */
    }
}
