/* No hidden arguments, a line each. */
__kernel void tiny(__global int *out)
{
    int a = out[1];
    out[0] = a + 5;
}
