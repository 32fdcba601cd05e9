/* Finds the nearest centre of each point, a point a thread. */

/* Puts the points' features one behind the other, so that threads read neighbours. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void turn(__global const float *points, __global float *by_feature, uint count, uint features)
{
    uint i = get_global_id(0);

    if (i < count)
        for (uint f = 0; f < features; f++)
            by_feature[f * count + i] = points[i * features + f];
}

__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void assign(__global const float *by_feature, __constant float *centres, __global uint *nearest,
            uint count, uint features, uint clusters)
{
    uint i = get_global_id(0), best = 0;
    float least = INFINITY;

    if (i >= count)
        return;
    for (uint c = 0; c < clusters; c++) {
        float distance = 0;
        for (uint f = 0; f < features; f++) {
            float away = by_feature[f * count + i] - centres[c * features + f];
            distance += away * away;
        }
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    nearest[i] = best;
}
