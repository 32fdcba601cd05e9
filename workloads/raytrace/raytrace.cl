/*
 * A ray for each pixel: it finds what it meets first, is lit there unless something stands before
 * the light, and goes on as its mirror image. Rays that miss end in the sky, so threads of a warp
 * take different ways.
 */

/* A sphere; behind the last one the two kinds of tiles of the plane y = 0, which have no place. */
struct surface {
    float4 place;  /* its centre, and its radius */
    float4 colour; /* and the share of light that it mirrors */
};

struct scene {
    float4 eye, light; /* places */
    float4 sky;        /* colour at the horizon, half as bright above */
};

/* How far along a ray of unit length a sphere is met, FAR if not at all. Rays start outside. */
float meet(float3 from, float3 way, float4 sphere)
{
    float3 between = sphere.xyz - from;
    float along = dot(between, way);
    float depth = sphere.w * sphere.w - dot(between, between) + along * along;

    if (depth < 0)
        return FAR;
    float distance = along - sqrt(depth);
    return distance > 0 ? distance : FAR;
}

bool shadowed(__constant struct surface *surfaces, int count, float3 from, float3 way, float light)
{
    for (int i = 0; i < count; i++)
        if (meet(from, way, surfaces[i].place) < light)
            return true;
    return false;
}

__kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1)))
void trace(__constant struct surface *surfaces, int count, __constant struct scene *scene,
           __global float4 *picture, int side)
{
    int column = get_global_id(0), row = get_global_id(1);
    float3 from = scene->eye.xyz, colour = 0;
    float3 way = (float3)(2 * column + 1 - side, side - 2 * row - 1, 2 * side) / side;
    float share = 1; /* of the pixel's light that is still to come */

    if (column >= side || row >= side)
        return;
    way *= rsqrt(dot(way, way));
    for (int mirror = 0; mirror <= MIRRORS; mirror++) {
        float nearest = way.y < 0 ? -from.y / way.y : FAR;
        int met = count;
        for (int i = 0; i < count; i++) {
            float distance = meet(from, way, surfaces[i].place);
            if (distance < nearest) {
                nearest = distance;
                met = i;
            }
        }
        if (nearest >= FAR) {
            colour += share * (1 - 0.5f * fabs(way.y)) * scene->sky.xyz;
            break;
        }
        share /= 1 + HAZE * nearest * nearest;
        from += nearest * way;
        float3 normal = (float3)(0, 1, 0);
        if (met < count)
            normal = (from - surfaces[met].place.xyz) / surfaces[met].place.w;
        else
            met += ((int)floor(from.x) + (int)floor(from.z)) & 1;
        from += NEAR * normal;
        float3 beam = scene->light.xyz - from;
        float reach = sqrt(dot(beam, beam)), bright = AMBIENT, gleam = 0;
        beam /= reach;
        float slope = dot(normal, beam), back = 2 * dot(normal, way);
        way -= back * normal;
        if (slope > 0 && !shadowed(surfaces, count, from, beam, reach)) {
            bright += (1 - AMBIENT) * slope;
            gleam = max(dot(way, beam), 0.0f);
            gleam *= gleam; /* to the sixteenth power */
            gleam *= gleam;
            gleam *= gleam;
            gleam *= gleam;
        }
        float4 own = surfaces[met].colour;
        colour += share * (1 - own.w) * (bright * own.xyz + gleam);
        share *= own.w;
    }
    picture[row * side + column] = (float4)(colour, 1);
}
