// Rays against spheres: nearest hit and a shade, spheres given in constant memory.
struct sphere {
    float4 centre; // w: radius
    uint colour;
};

kernel void rays(constant struct sphere *spheres, int count, global uint *image, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;
    float dx = (x + 0.5f) / w - 0.5f, dy = (y + 0.5f) / h - 0.5f, dz = 1.0f;
    float norm = sqrt(fma(dx, dx, fma(dy, dy, dz * dz)));
    dx /= norm;
    dy /= norm;
    dz /= norm;
    float nearest = 1e30f;
    int hit = -1;
    for (int i = 0; i < count; i++) {
        float4 c = spheres[i].centre;
        float b = fma(dx, c.x, fma(dy, c.y, dz * c.z));
        float q = fma(c.x, c.x, fma(c.y, c.y, c.z * c.z)) - c.w * c.w;
        float disc = fma(b, b, -q);
        if (disc < 0.0f)
            continue;
        float t = b - sqrt(disc);
        if (t > 0.0f && t < nearest) {
            nearest = t;
            hit = i;
        }
    }
    uint colour = 0x202020;
    if (hit >= 0)
        colour = spheres[hit].colour ^ (uint)(nearest * 16.0f);
    image[y * w + x] = colour;
}
