/*
 * Potentials and forces of particles that act on each other within a cut-off: a cube of boxes, each
 * particle against those of its own box and of the boxes around it. The device follows lists of
 * neighbours; the host takes each pair of particles once, both ways.
 */
#include "common/workload.h"
#include <math.h>
#include <stdlib.h>

enum {
    BOXES,
    PARTICLES,
};

enum {
    MOST_NEIGHBOURS = 27, /* and the box itself */
    THREADS = 128,
};

static const struct option_row options[] = {
    [BOXES] = {"boxes", NULL, "boxes along each side of the cube", 4, 2, 1, 32},
    [PARTICLES] = {"particles", NULL, "particles per box", 100, 36, 1, 1024},
    {0},
};

static const struct program program = {
    "lavamd", "Potentials and forces of particles in neighbouring boxes.", options};

static const float sharpness = 0.5f; /* potential of a charge: exp(-sharpness * distance^2) */

struct cube {
    int side, boxes, particles;
    cl_float4 *places; /* [boxes][particles]; boxes have a side of 1 */
    float *charges;
    cl_int *neighbours, *neighbour_counts; /* [boxes][MOST_NEIGHBOURS] */
    double *forces[3], *potentials;        /* expected */
};

static void place_of_box(const struct cube *c, int box, int place[3])
{
    place[0] = box % c->side;
    place[1] = box / c->side % c->side;
    place[2] = box / c->side / c->side;
}

static void list_neighbours(struct cube *c)
{
    for (int box = 0; box < c->boxes; box++) {
        int at[3];
        place_of_box(c, box, at);
        for (int k = 0; k < MOST_NEIGHBOURS; k++) {
            int x = at[0] + k % 3 - 1, y = at[1] + k / 3 % 3 - 1, z = at[2] + k / 9 - 1;
            if (x >= 0 && x < c->side && y >= 0 && y < c->side && z >= 0 && z < c->side)
                c->neighbours[box * MOST_NEIGHBOURS + c->neighbour_counts[box]++] =
                    (z * c->side + y) * c->side + x;
        }
    }
}

static struct cube random_cube(struct workload *w)
{
    struct cube c = {.side = (int)option(w, BOXES), .particles = (int)option(w, PARTICLES)};
    c.boxes = c.side * c.side * c.side;
    size_t count = (size_t)c.boxes * c.particles;
    c.places = zeroed(count, sizeof *c.places);
    c.charges = zeroed(count, sizeof *c.charges);
    c.neighbours = zeroed((size_t)c.boxes * MOST_NEIGHBOURS, sizeof *c.neighbours);
    c.neighbour_counts = zeroed(c.boxes, sizeof *c.neighbour_counts);
    c.potentials = zeroed(count, sizeof(double));
    for (int k = 0; k < 3; k++)
        c.forces[k] = zeroed(count, sizeof(double));
    for (size_t i = 0; i < count; i++) {
        int at[3];
        place_of_box(&c, (int)i / c.particles, at);
        for (int k = 0; k < 3; k++)
            c.places[i].s[k] = (float)at[k] + random_float(w, 0, 1);
        c.charges[i] = random_float(w, 0.1f, 1);
    }
    list_neighbours(&c);
    return c;
}

/* Particle i on particle j and j on i. */
static void interact(struct cube *c, int i, int j)
{
    double away[3], square = 0;
    for (int k = 0; k < 3; k++) {
        away[k] = (double)c->places[i].s[k] - c->places[j].s[k];
        square += away[k] * away[k];
    }
    double strength = exp(-sharpness * square);
    c->potentials[i] += c->charges[j] * strength;
    if (i == j)
        return;
    c->potentials[j] += c->charges[i] * strength;
    for (int k = 0; k < 3; k++) {
        c->forces[k][i] += 2 * sharpness * c->charges[j] * strength * away[k];
        c->forces[k][j] -= 2 * sharpness * c->charges[i] * strength * away[k];
    }
}

static bool near(const struct cube *c, int box, int other)
{
    int a[3], b[3];
    place_of_box(c, box, a);
    place_of_box(c, other, b);
    return abs(a[0] - b[0]) <= 1 && abs(a[1] - b[1]) <= 1 && abs(a[2] - b[2]) <= 1;
}

static void expect(struct cube *c)
{
    for (int box = 0; box < c->boxes; box++)
        for (int other = 0; other <= box; other++)
            for (int i = 0; near(c, box, other) && i < c->particles; i++)
                for (int j = 0; j < (other < box ? c->particles : i + 1); j++)
                    interact(c, box * c->particles + i, other * c->particles + j);
}

static void interact_on_device(struct workload *w, const struct cube *c, cl_float4 *results)
{
    struct shape block = {"BLOCK", THREADS};
    workload_build(w, &block, 1, NULL);
    cl_int particles = c->particles, most_neighbours = MOST_NEIGHBOURS;
    size_t count = (size_t)c->boxes * particles, boxes = c->boxes;
    cl_mem places = workload_input(w, c->places, count * sizeof *c->places);
    cl_mem charges = workload_input(w, c->charges, count * sizeof *c->charges);
    cl_mem neighbours =
        workload_input(w, c->neighbours, boxes * MOST_NEIGHBOURS * sizeof *c->neighbours);
    cl_mem counts = workload_input(w, c->neighbour_counts, boxes * sizeof *c->neighbour_counts);
    cl_mem device = workload_output(w, count * sizeof *results);
    cl_kernel kernel = workload_kernel(w, "interact");
    workload_args(w, kernel, ARG(places), ARG(charges), ARG(neighbours), ARG(counts), ARG(device),
                  ARG_LOCAL(particles * sizeof(cl_float4)),
                  ARG_LOCAL(particles * sizeof(cl_float4)), ARG_LOCAL(particles * sizeof(float)),
                  ARG(particles), ARG(most_neighbours), ARG(sharpness));
    workload_launch(w, kernel, &block, boxes, 1, 1);
    workload_read(w, device, results, count * sizeof *results);
}

int main(int argc, char **argv)
{
    static const char *names[] = {"forces along x", "forces along y", "forces along z"};
    struct workload *w = workload_open(&program, argc, argv);
    struct cube c = random_cube(w);
    size_t count = (size_t)c.boxes * c.particles;
    cl_float4 *results = zeroed(count, sizeof *results);
    float *one = zeroed(count, sizeof *one);
    interact_on_device(w, &c, results);
    expect(&c);

    /* All terms of a potential are positive: a rounding for each of them, and some for the
     * exponential and its argument, which is at most 6. A term of a force is at most twice that of
     * the potential, as neighbours are at most 2 away. */
    double rounding = (27.0 * c.particles + 32) * 0x1p-24, largest = 0;
    for (size_t i = 0; i < count; i++) {
        one[i] = results[i].s[3];
        largest = fmax(largest, c.potentials[i]);
    }
    check_floats(w, "potentials", one, c.potentials, count, rounding, 0);
    for (int k = 0; k < 3; k++) {
        for (size_t i = 0; i < count; i++)
            one[i] = results[i].s[k];
        check_floats(w, names[k], one, c.forces[k], count, 0, 2 * rounding * largest);
        free(c.forces[k]);
    }
    free(c.places);
    free(c.charges);
    free(c.neighbours);
    free(c.neighbour_counts);
    free(c.potentials);
    free(results);
    free(one);
    return workload_close(w);
}
