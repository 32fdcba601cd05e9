/*
 * curand_kernel.h: sequences against those of NVIDIA's header (CUDA 13.0), for the same seed, subsequence and offset. The first
 * words of Philox with seed 0 are also the known answer of its authors.
 */
#include "check.h"
#include <cmath>
#include <initializer_list>
#include <curand_kernel.h>

enum generator { XORWOW, PHILOX, MRG };

static const struct expected {
    generator generator;
    unsigned long long seed, subsequence, offset;
    unsigned words[6];
    double reals[7]; /* uniform, of double; two normal, two of double; uniform */
} rows[] = {
    {XORWOW, 0x0ull, 0x0ull, 0x0ull, {3179217846u, 1883133293u, 2220552389u, 674260989u, 306521119u, 1986458431u}, {0.227643266, 0.144065166, -0.927174926, 1.57642365, -0.185901606, -0.129504565, 0.230237812}},
    {PHILOX, 0x0ull, 0x0ull, 0x0ull, {1713891541u, 3781805453u, 3159862348u, 2600524760u, 4175744164u, 1555169499u}, {0.693930924, 0.0370940808, 2.54409719, -1.18635809, 0.820780756, -1.38999537, 0.604630649}},
    {MRG, 0x0ull, 0x0ull, 0x0ull, {545508615u, 1368065476u, 1327943825u, 3546985268u, 951893240u, 2290915747u}, {0.480774194, 0.35555988, -1.99624109, 0.0734365433, 0.562857401, -0.887711333, 0.326329678}},
    {XORWOW, 0x1ull, 0x0ull, 0x0ull, {2898200796u, 3111669439u, 2179589753u, 379598403u, 3593604917u, 525081800u}, {0.187584832, 0.375358492, 1.38948154, -0.6726017, -0.262479507, 1.12068427, 0.206533656}},
    {PHILOX, 0x1ull, 0x0ull, 0x0ull, {3823634032u, 3842641596u, 2515673792u, 3054873127u, 2886210587u, 3754282174u}, {0.475593239, 0.656103169, -0.580955744, -1.56715536, 0.0919767268, 0.39351485, 0.143372685}},
    {MRG, 0x1ull, 0x0ull, 0x0ull, {1860102995u, 403207181u, 975854239u, 891564283u, 2719027692u, 151811380u}, {0.992060661, 0.0823984361, -0.113795266, -0.578224421, 0.185179111, 0.995051552, 0.296114057}},
    {XORWOW, 0x4d2ull, 0x1ull, 0x0ull, {3522650202u, 3978931785u, 2198015705u, 2308946676u, 3475686971u, 75263415u}, {0.449337572, 0.136307664, 0.846454799, 1.11008441, -0.740216326, 0.824513534, 0.959600329}},
    {PHILOX, 0x4d2ull, 0x1ull, 0x0ull, {3507855656u, 1392278645u, 3354607383u, 253049307u, 118660703u, 1698527859u}, {0.115283117, 0.52732889, 1.80789053, -0.502855241, -0.634622199, 0.758900122, 0.808513403}},
    {MRG, 0x4d2ull, 0x1ull, 0x0ull, {653317650u, 2890950871u, 2749090064u, 2410030135u, 1992398857u, 2170368389u}, {0.38535285, 0.0979305223, 0.481460541, 2.02595496, 1.55518672, -0.601114984, 0.559743106}},
    {XORWOW, 0x4d2ull, 0x5ull, 0x7ull, {3351265907u, 3629609298u, 415430802u, 1173093345u, 689711927u, 2227153417u}, {0.126060918, 0.190428741, -0.459682643, -1.08721137, 0.474230375, 1.47244057, 0.856031656}},
    {PHILOX, 0x4d2ull, 0x5ull, 0x7ull, {1925342002u, 648658203u, 3633236749u, 143597841u, 3521664514u, 3248267170u}, {0.219480887, 0.32289216, -0.0460085049, 1.35926187, 1.85162337, 0.732042799, 0.171800047}},
    {MRG, 0x4d2ull, 0x5ull, 0x7ull, {2068833513u, 469510173u, 681930214u, 929420860u, 3667764238u, 2341050593u}, {0.912206352, 0.254690133, 0.827352166, -1.53062832, -0.316234605, -1.01446628, 0.71147877}},
    {XORWOW, 0x123456789abcdefull, 0xf4243ull, 0x1001ull, {904200664u, 2310886847u, 722426168u, 3815029327u, 2904382960u, 2306818744u}, {0.668238819, 0.995602114, -0.788970351, -1.08173716, -1.60604135, -0.838707323, 0.275300443}},
    {PHILOX, 0x123456789abcdefull, 0xf4243ull, 0x1001ull, {3462280702u, 174696176u, 4211142821u, 1634070798u, 2308526013u, 2391291437u}, {0.20895128, 0.432246939, 0.0205056574, 0.651530385, 0.531554616, 0.371519721, 0.735666573}},
    {MRG, 0x123456789abcdefull, 0xf4243ull, 0x1001ull, {261575660u, 668944866u, 799912178u, 1322028092u, 582458190u, 3138972125u}, {0.958706439, 0.867482003, -0.889942646, -0.394311041, 0.0305890862, 0.335694809, 0.491873115}},
    {XORWOW, 0x2aull, 0xffffffffffull, 0x123456789aull, {262487912u, 191769079u, 2817123458u, 1778729177u, 2432799842u, 3431860199u}, {0.0897309035, 0.025818944, -1.03321457, 0.00505736284, 1.09310344, 0.692631014, 0.0567683503}},
    {PHILOX, 0x2aull, 0xffffffffffull, 0x123456789aull, {2922519103u, 3066432486u, 1706141137u, 962431803u, 1674304934u, 149020868u}, {0.178407475, 0.283546421, 2.04516649, 0.233758762, 0.579510101, 0.601579718, 0.773329139}},
    {MRG, 0x2aull, 0xffffffffffull, 0x123456789aull, {2916077564u, 3352805832u, 791320982u, 3403580266u, 176838691u, 1798079739u}, {0.709151149, 0.928220635, 0.8044402, 1.11687469, -0.423867579, 1.33156413, 0.143875003}},
};
static const expected four = {PHILOX, 5, 6, 3, {727262183u, 311226061u, 57572703u, 3210548837u, 1453444312u, 4260505171u},
                              {-0.968185902, 1.68111062, 0.440619561, 0.447200438, 0.982353015, -2.32236677, 0}};

struct results {
    unsigned words[6];
    double reals[7];
};

template <typename State> __global__ void draw(expected in, results *out)
{
    State state;
    curand_init(in.seed, in.subsequence, in.offset, &state);
    for (int i = 0; i < 6; i++)
        out->words[i] = curand(&state);
    out->reals[0] = curand_uniform(&state);
    out->reals[1] = curand_uniform_double(&state);
    out->reals[2] = curand_normal(&state);
    out->reals[3] = curand_normal(&state);
    out->reals[4] = curand_normal_double(&state);
    out->reals[5] = curand_normal_double(&state);
    out->reals[6] = curand_uniform(&state);
}

__global__ void draw_four(expected in, results *out)
{
    curandStatePhilox4_32_10_t state;
    curand_init(in.seed, in.subsequence, in.offset, &state);
    const uint4 a = curand4(&state), b = curand4(&state);
    out->words[0] = a.x, out->words[1] = a.y, out->words[2] = a.z, out->words[3] = a.w;
    out->words[4] = b.x, out->words[5] = b.w;
    const float4 normal = curand_normal4(&state);
    const double2 uniform = curand_uniform2_double(&state), normals = curand_normal2_double(&state);
    out->reals[0] = normal.x, out->reals[1] = normal.w;
    out->reals[2] = uniform.x, out->reals[3] = uniform.y;
    out->reals[4] = normals.x, out->reals[5] = normals.y;
    out->reals[6] = 0;
}

/* Skipping ahead is what as many draws do. */
template <typename State> __global__ void skip(int steps, int *wrong)
{
    State walked, skipped;
    curand_init(7, 3, 0, &walked);
    skipped = walked;
    for (int i = 0; i < steps; i++)
        curand(&walked);
    skipahead((unsigned long long)steps, &skipped);
    for (int i = 0; i < 5; i++)
        *wrong += curand(&walked) != curand(&skipped);
}

static void compare(const expected &row, const results &drawn)
{
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 6; i++)
        CHECK(row.words[i] == drawn.words[i]);
    for (int i = 0; i < 7; i++)
        CHECK(std::fabs(row.reals[i] - drawn.reals[i]) <= 3e-7 * (1 + std::fabs(row.reals[i])));
}

int main()
{
    results *drawn;
    int *wrong;
    OK(cudaMallocManaged(&drawn, sizeof *drawn));
    OK(cudaMallocManaged(&wrong, sizeof *wrong));
    for (const expected &row : rows) {
        if (row.generator == XORWOW)
            draw<curandStateXORWOW_t><<<1, 1>>>(row, drawn);
        else if (row.generator == PHILOX)
            draw<curandStatePhilox4_32_10_t><<<1, 1>>>(row, drawn);
        else
            draw<curandStateMRG32k3a_t><<<1, 1>>>(row, drawn);
        compare(row, *drawn);
    }
    draw_four<<<1, 1>>>(four, drawn);
    compare(four, *drawn);
    for (int steps : {1, 3, 4, 5, 1000}) {
        skip<curandState><<<1, 1>>>(steps, wrong);
        skip<curandStatePhilox4_32_10_t><<<1, 1>>>(steps, wrong);
        skip<curandStateMRG32k3a_t><<<1, 1>>>(steps, wrong);
    }
    OK(cudaDeviceSynchronize());
    CHECK(*wrong == 0);
    return done("random");
}
