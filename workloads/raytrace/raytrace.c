/*
 * A picture of spheres on a chequered plane, with shadows and mirror images. Colours jump at edges,
 * where a rounding decides which side a ray meets; so the host traces rays a little beside each
 * pixel as well, and takes any colour between those.
 */
#include "common/workload.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SIDE,
    SPHERES,
    MIRRORS,
};

static const struct option_row options[] = {
    [SIDE] = {"side", "pixels", "width and image height", 256, 64, 1, 8192},
    [SPHERES] = {"spheres", NULL, "spheres on the plane", 6, 0, 0, 32},
    [MIRRORS] = {"mirrors", NULL, "most reflections of a ray", 3, 0, 0, 4},
    {0},
};

static const struct program program = {
    "raytrace", "Renders spheres on a plane, with shadows and reflections.", options};

/* Both of the same layout in the kernel. A sphere; behind the last one the two kinds of tiles of
 * the plane y = 0, which have no place. */
struct surface {
    cl_float4 place;  /* its centre, and its radius */
    cl_float4 colour; /* and the share of light that it mirrors */
};

struct scene {
    cl_float4 eye, light;
    cl_float4 sky; /* colour at the horizon, half as bright above */
};

static const struct scene scene = {
    .eye = {{0.3f, 1.5f, -4}},
    .light = {{-4, 6, -3}},
    .sky = {{0.7f, 0.8f, 0.95f}},
};

static const cl_float4 tiles[2] = {{{0.9f, 0.9f, 0.8f, 0.15f}}, {{0.2f, 0.3f, 0.25f, 0.15f}}};
static const float near = 0x1p-10f;  /* how far from a surface a ray sets out again */
static const float ambient = 0.125f; /* light where the lamp does not shine */
static const float haze = 0x1p-7f;   /* darkens what is far away */
static const float far = 1e30f;

/* Spheres bend rays apart, several times at each mirror. A step in brightness of a screen is 1/255.
 */
static const double tolerance = 0x1p-11;

/* Spheres lie in the cells of a grid, so that they never touch. */
static struct surface *make_surfaces(struct workload *w, int count)
{
    struct surface *spheres = zeroed(count + 2, sizeof *spheres);
    for (int i = 0; i < count; i++) {
        float radius = random_float(w, 0.35f, 0.6f);
        float x = 1.4f * (float)(i % 3 - 1) + random_float(w, -0.1f, 0.1f);
        float z = 1.4f * (float)(i / 3) + random_float(w, -0.1f, 0.1f);
        spheres[i].place = (cl_float4){{x, radius, z, radius}};
        for (int k = 0; k < 3; k++)
            spheres[i].colour.s[k] = random_float(w, 0.3f, 1);
        spheres[i].colour.s[3] = random_float(w, 0.2f, 0.6f);
    }
    spheres[count].colour = tiles[0];
    spheres[count + 1].colour = tiles[1];
    return spheres;
}

/* The same on the host, in double precision and by recursion. */
struct vector {
    double x, y, z;
};

static struct vector vector_of(cl_float4 v)
{
    return (struct vector){v.s[0], v.s[1], v.s[2]};
}

static struct vector sum(struct vector a, double factor, struct vector b)
{
    return (struct vector){a.x + factor * b.x, a.y + factor * b.y, a.z + factor * b.z};
}

static double product(struct vector a, struct vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static struct vector unit(struct vector a)
{
    return sum((struct vector){0}, 1 / sqrt(product(a, a)), a);
}

struct world {
    const struct surface *spheres;
    int count;
};

/* Which object a ray meets first: a sphere's number, count for the plane, -1 for none. */
static int first_met(const struct world *world, struct vector from, struct vector way,
                     double *distance)
{
    int met = -1;
    *distance = INFINITY;
    for (int i = 0; i < world->count; i++) {
        const cl_float *place = world->spheres[i].place.s;
        struct vector away = sum(from, -1, vector_of(world->spheres[i].place));
        /* |away + t way| = radius, of which the smaller t is wanted */
        double half = product(away, way), rest = product(away, away) - place[3] * place[3];
        double root = half * half - rest;
        double t = root < 0 ? -1 : -half - sqrt(root);
        if (t > 0 && t < *distance) {
            *distance = t;
            met = i;
        }
    }
    if (way.y < 0 && -from.y / way.y < *distance) {
        *distance = -from.y / way.y;
        met = world->count;
    }
    return met;
}

/* Lamp and surroundings at a point: their light, and the gleam of the lamp along a mirrored ray. */
static double light_at(const struct world *world, struct vector at, struct vector normal,
                       struct vector mirrored, double *gleam)
{
    struct vector beam = sum(vector_of(scene.light), -1, at);
    double reach = sqrt(product(beam, beam)), distance, slope;
    beam = unit(beam);
    slope = product(normal, beam);
    *gleam = 0;
    if (slope <= 0)
        return ambient;
    int met = first_met(world, at, beam, &distance);
    if (met >= 0 && distance < reach)
        return ambient;
    *gleam = pow(fmax(product(mirrored, beam), 0), 16);
    return ambient + (1 - ambient) * slope;
}

static struct vector colour_of(const struct world *world, struct vector from, struct vector way,
                               long mirrors)
{
    double distance, gleam;
    int met = first_met(world, from, way, &distance);
    if (met < 0)
        return sum((struct vector){0}, 1 - fabs(way.y) / 2, vector_of(scene.sky));
    struct vector at = sum(from, distance, way), normal = {0, 1, 0};
    cl_float4 own = tiles[(long)(floor(at.x) + floor(at.z)) & 1];
    if (met < world->count) {
        own = world->spheres[met].colour;
        normal = unit(sum(at, -1, vector_of(world->spheres[met].place)));
    }
    at = sum(at, near, normal);
    struct vector mirrored = sum(way, -2 * product(way, normal), normal);
    double bright = light_at(world, at, normal, mirrored, &gleam);
    struct vector lit = sum((struct vector){gleam, gleam, gleam}, bright, vector_of(own));
    struct vector colour = sum((struct vector){0}, 1 - own.s[3], lit);
    if (mirrors > 0)
        colour = sum(colour, own.s[3], colour_of(world, at, mirrored, mirrors - 1));
    return sum((struct vector){0}, 1 / (1 + haze * distance * distance), colour);
}

/* What the parts of a colour lie between. */
struct range {
    double low[3], high[3];
};

static double width_of(const struct range *range)
{
    double width = 0;
    for (int part = 0; part < 3; part++)
        width = fmax(width, range->high[part] - range->low[part]);
    return width;
}

/* Widens the range to the colours at a place of the picture and at eight points around it. */
static void look_around(const struct workload *w, const struct world *world, double x, double y,
                        double aside, struct range *range)
{
    double half = (double)option(w, SIDE) / 2;
    for (int k = 0; k < 9; k++) {
        double right = x + (k % 3 - 1) * aside - half, up = half - y - (k / 3 - 1) * aside;
        struct vector way = unit((struct vector){right / half, up / half, 2});
        struct vector colour = colour_of(world, vector_of(scene.eye), way, option(w, MIRRORS));
        double parts[3] = {colour.x, colour.y, colour.z};
        for (int part = 0; part < 3; part++) {
            range->low[part] = fmin(range->low[part], parts[part]);
            range->high[part] = fmax(range->high[part], parts[part]);
        }
    }
}

/* For each pixel the nearest to what was computed that lies between the colours found close by, or
 * twice as far to either side. Counts pixels where these differ, so that the check says little. */
static size_t expect(const struct workload *w, const struct world *world, const float *got,
                     double *expected)
{
    long side = option(w, SIDE);
    /* In pixels; roundings move a ray hundreds of times less. */
    double aside = (double)side * 0x1p-14;
    size_t vague = 0;
    for (long i = 0; i < side * side; i++) {
        struct range range = {{9, 9, 9}, {-9, -9, -9}};
        double x = (double)(i % side) + 0.5, y = (double)(i / side) + 0.5;
        look_around(w, world, x, y, aside, &range);
        if (width_of(&range) > tolerance) /* there may be more between */
            for (int closer = 4; closer <= 256; closer *= 4)
                look_around(w, world, x, y, aside / closer, &range);
        for (int part = 0; part < 3; part++) {
            double width = 2 * (range.high[part] - range.low[part]), value = got[4 * i + part];
            value = fmax(value, range.low[part] - width);
            expected[4 * i + part] = fmin(value, range.high[part] + width);
        }
        expected[4 * i + 3] = 1;
        vague += width_of(&range) > 1.0 / 32;
    }
    return vague;
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_int side = (cl_int)option(w, SIDE), count = (cl_int)option(w, SPHERES);
    size_t pixels = (size_t)side * side;
    struct surface *surfaces = make_surfaces(w, count);

    struct shape block = {"BLOCK", 16, 8};
    workload_build(w, &block, 1, "-D NEAR=%af -D AMBIENT=%af -D HAZE=%af -D FAR=%af -D MIRRORS=%ld",
                   near, ambient, haze, far, option(w, MIRRORS));
    cl_mem surfaces_device = workload_input(w, surfaces, (count + 2) * sizeof *surfaces);
    cl_mem scene_device = workload_input(w, &scene, sizeof scene);
    cl_mem picture_device = workload_output(w, pixels * sizeof(cl_float4));
    cl_kernel trace = workload_kernel(w, "trace");
    workload_args(w, trace, ARG(surfaces_device), ARG(count), ARG(scene_device),
                  ARG(picture_device), ARG(side));
    workload_launch(w, trace, &block, pieces(side, block.x), pieces(side, block.y), 1);

    float *picture = zeroed(pixels, sizeof(cl_float4));
    double *expected = zeroed(4 * pixels, sizeof *expected);
    workload_read(w, picture_device, picture, pixels * sizeof(cl_float4));
    size_t vague = expect(w, &(struct world){surfaces, count}, picture, expected);
    check_floats(w, "picture", picture, expected, 4 * pixels, 0, tolerance);
    check_true(w, vague <= pixels / 16 + 1, "%zu of %zu pixels lie at edges", vague, pixels);
    free(surfaces);
    free(picture);
    free(expected);
    return workload_close(w);
}
