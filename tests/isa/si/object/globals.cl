/* A pointer that only a loader can fill in (OpenCL 2.0). */
__global int counter = 5;
__global int *__global pointer = &counter;
__kernel void globals(__global int *out)
{
    out[get_global_id(0)] = *pointer + counter;
    counter = 7;
}
