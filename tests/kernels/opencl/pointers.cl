// targets: ptx clang14 clang19
// Constant tables of addresses: the loader of a code object has to relocate them.
constant char one[] = "warp", two[] = "weft", three[] = "shuttle";
constant char *constant words[3] = {one, two, three};

kernel void spell(global const uint *which, global char *out)
{
    int i = get_global_id(0);
    constant char *w = words[which[i] % 3];
    int k = 0;
    for (; w[k] && k < 8; k++)
        out[8 * i + k] = w[k];
    for (; k < 8; k++)
        out[8 * i + k] = '.';
}
