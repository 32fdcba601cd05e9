/* The least a program does with hidden arguments. */
__kernel void ids(__global int *out, uint n)
{
    uint i = get_global_id(0);
    if (i < n)
        out[i] = 5;
}
