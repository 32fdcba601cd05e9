// Images in buffers: edge detection with clamping, box blur by rows, nearest-centre classes.
kernel void sobel(global const uchar *in, global uchar *out, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;
    int p[3][3];
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++)
            p[dy][dx] = in[clamp(y + dy - 1, 0, h - 1) * w + clamp(x + dx - 1, 0, w - 1)];
    int gx = p[0][2] + 2 * p[1][2] + p[2][2] - p[0][0] - 2 * p[1][0] - p[2][0];
    int gy = p[2][0] + 2 * p[2][1] + p[2][2] - p[0][0] - 2 * p[0][1] - p[0][2];
    out[y * w + x] = min((int)(abs(gx) + abs(gy)), 255);
}

kernel void blur(global const uint *in, global uint *out, int w, int radius)
{
    int y = get_global_id(0);
    uint sum = 0;
    for (int x = -radius; x < w; x++) {
        if (x + radius < w)
            sum += in[y * w + x + radius];
        if (x - radius - 1 >= 0)
            sum -= in[y * w + x - radius - 1];
        if (x >= 0)
            out[y * w + x] = sum / (2 * radius + 1);
    }
}

kernel void nearest(global const float2 *points, constant float2 *centres, int k,
                    global int *class, global int *sizes, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float best = INFINITY;
    int which = -1;
    for (int c = 0; c < k; c++) {
        float2 d = points[i] - centres[c];
        float far = fma(d.x, d.x, d.y * d.y);
        if (far < best) {
            best = far;
            which = c;
        }
    }
    class[i] = which;
    atomic_inc(&sizes[which]);
}
