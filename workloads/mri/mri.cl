/*
 * Sums for the reconstruction of a magnetic resonance image from samples that do not lie on a grid:
 * for each voxel, the sum over all samples of their value times exp(2 pi sqrt(-1) k.x).
 */
struct sample {
    float kx, ky, kz; /* place in the space of frequencies */
    float real, imaginary;
};

/* The value of each sample: what was measured times the conjugate of the coil's sensitivity. */
__kernel __attribute__((reqd_work_group_size(SAMPLES_X, 1, 1)))
void weigh(__global const float *coil_real, __global const float *coil_imaginary,
           __global const float *measured_real, __global const float *measured_imaginary,
           __global float *real, __global float *imaginary, int samples)
{
    int i = get_group_id(0) * get_local_size(0) + get_local_id(0);

    if (i < samples) {
        float a = coil_real[i], b = coil_imaginary[i];
        float c = measured_real[i], d = measured_imaginary[i];
        real[i] = a * c + b * d;
        imaginary[i] = a * d - b * c;
    }
}

/* Adds the samples in constant memory to each voxel, one voxel per thread. The phase is reduced to
 * half a turn on both sides, where fast sines are accurate. */
__kernel __attribute__((reqd_work_group_size(VOXELS_X, 1, 1)))
void add_samples(__global const float *xs, __global const float *ys, __global const float *zs,
                 __constant struct sample *samples, __global float *real,
                 __global float *imaginary, int voxels, int count)
{
    int i = get_group_id(0) * get_local_size(0) + get_local_id(0);

    if (i >= voxels)
        return;
    float x = xs[i], y = ys[i], z = zs[i], sum_real = real[i], sum_imaginary = imaginary[i];
    for (int k = 0; k < count; k++) {
        float turns = samples[k].kx * x + samples[k].ky * y + samples[k].kz * z;
        float angle = 6.283185307f * (turns - rint(turns));
        float cosine = native_cos(angle), sine = native_sin(angle);
        sum_real += samples[k].real * cosine - samples[k].imaginary * sine;
        sum_imaginary += samples[k].imaginary * cosine + samples[k].real * sine;
    }
    real[i] = sum_real;
    imaginary[i] = sum_imaginary;
}
