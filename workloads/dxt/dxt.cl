/*
 * Block texture compression, DXT1 or BC1: 4x4 texels become two colours of 16 bits and for each
 * texel a code of 2 bits, which chooses one of them or of two mixtures. A block of threads sorts the
 * texels along the axis on which they differ most. Each thread then tries its share of the
 * partitions of this order into four clusters, one a code, with the two colours that suit the
 * partition best; the partition with the smallest error wins.
 */
#define TEXELS 16

/* The axis along which colours differ most: the eigenvector of their covariances that belongs to
 * the largest eigenvalue, by powers of the matrix. All threads find it, rather than wait for one. */
float3 main_axis(__local const float4 *colours, float3 mean)
{
    float3 squares = 0, mixed = 0; /* xx yy zz, and xy yz zx */

    for (int i = 0; i < TEXELS; i++) {
        float3 away = colours[i].xyz - mean;
        squares += away * away;
        mixed += away * away.yzx;
    }
    float3 x = (float3)(squares.x, mixed.x, mixed.z), y = (float3)(mixed.x, squares.y, mixed.y);
    float3 z = (float3)(mixed.z, mixed.y, squares.z);
    float3 axis = squares.x >= squares.y && squares.x >= squares.z ? x
                  : squares.y >= squares.z                         ? y
                                                                   : z;
    for (int i = 0; i < POWERS; i++) {
        axis = axis.x * x + axis.y * y + axis.z * z;
        float largest = max(max(fabs(axis.x), fabs(axis.y)), fabs(axis.z));
        axis = largest > 0 ? axis / largest : axis;
    }
    return axis;
}

/* The nearest colour that 5, 6 and 5 bits can say, as three whole numbers. */
float3 levels(float3 colour)
{
    return floor(clamp(colour, 0.0f, 1.0f) * (float3)(31, 63, 31) + 0.5f);
}

uint packed(float3 levels)
{
    return (uint)levels.x << 11 | (uint)levels.y << 5 | (uint)levels.z;
}

/* How far the partition's texels lie from what its codes decode to, less a constant of the block.
 * Also gives the two colours that make this least. */
float try(__local const float4 *sorted, float3 total, uint codes, float3 *first, float3 *second)
{
    float aa = 0, bb = 0, ab = 0; /* sums of weights of the first and the second colour */
    float3 to_first = 0;

    for (int i = 0; i < TEXELS; i++) {
        uint code = codes >> 2 * i & 3;
        float b = code & 2 ? (1 + (code & 1)) / 3.0f : code, a = 1 - b;
        aa += a * a;
        bb += b * b;
        ab += a * b;
        to_first += a * sorted[i].xyz;
    }
    float3 to_second = total - to_first;
    float scale = 1 / (aa * bb - ab * ab);
    *first = levels((to_first * bb - to_second * ab) * scale);
    *second = levels((to_second * aa - to_first * ab) * scale);
    float3 one = *first / (float3)(31, 63, 31), two = *second / (float3)(31, 63, 31);
    float3 error = one * one * aa + two * two * bb +
                   2 * (one * two * ab - one * to_first - two * to_second);
    return error.x + error.y + error.z;
}

/* The two words of a compressed block. Where the first colour is the smaller one, code 3 would mean
 * black: so they are exchanged, and with them the codes. order: where sorted texels lie. */
uint2 encode(float3 first, float3 second, uint codes, __local const int *order)
{
    uint one = packed(first), two = packed(second), words = 0;

    for (int i = 0; i < TEXELS; i++)
        words |= (codes >> 2 * i & 3) << 2 * order[i];
    if (one < two)
        return (uint2)(one << 16 | two, words ^ 0x55555555);
    return (uint2)(two << 16 | one, one > two ? words : 0);
}

/* partitions: codes of the sorted texels, 2 bits each. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void compress(__global const uint *picture, int width, __constant uint *partitions, int count,
              __global uint2 *compressed)
{
    __local float4 colours[TEXELS], sorted[TEXELS];
    __local float along[TEXELS], errors[BLOCK_X];
    __local int order[TEXELS], winners[BLOCK_X];
    int lane = get_local_id(0), block = get_group_id(0), across = width / 4;
    float3 total = 0, first = 0, second = 0;
    float least = FLT_MAX;
    int best = 0;

    if (lane < TEXELS) {
        int x = block % across * 4 + lane % 4, y = block / across * 4 + lane / 4;
        uint texel = picture[y * width + x]; /* red is the lowest byte */
        colours[lane] = (float4)(texel & 255, texel >> 8 & 255, texel >> 16 & 255, 0) / 255;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TEXELS; i++)
        total += colours[i].xyz;
    float3 axis = main_axis(colours, total / TEXELS);
    if (lane < TEXELS)
        along[lane] = dot(colours[lane].xyz, axis);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < TEXELS) {
        int rank = 0;
        for (int i = 0; i < TEXELS; i++)
            rank += along[i] < along[lane] || (along[i] == along[lane] && i < lane);
        sorted[rank] = colours[lane];
        order[rank] = lane;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = lane; i < count; i += BLOCK_X) {
        float3 one, two;
        float error = try(sorted, total, partitions[i], &one, &two);
        if (error < least) {
            least = error;
            best = i;
            first = one;
            second = two;
        }
    }
    errors[lane] = least;
    winners[lane] = lane;
    for (int apart = BLOCK_X / 2; apart > 0; apart /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < apart && errors[lane + apart] < errors[lane]) {
            errors[lane] = errors[lane + apart];
            winners[lane] = winners[lane + apart];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == winners[0])
        compressed[block] = encode(first, second, partitions[best], order);
}
