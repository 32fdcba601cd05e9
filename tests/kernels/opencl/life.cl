// Conway's game of life on a torus.
kernel void life(global const uchar *in, global uchar *out, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;
    int count = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy)
                count += in[((y + dy + h) % h) * w + (x + dx + w) % w];
    out[y * w + x] = count == 3 || (count == 2 && in[y * w + x]);
}
