/* A load of the first hidden words only: the hardest to tell apart. */
__kernel void dims(__global int *out)
{
    out[get_global_id(0)] = get_work_dim();
}
