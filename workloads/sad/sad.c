/*
 * Sums of absolute differences for motion search, as video encoders need them: for blocks of seven
 * shapes and all displacements. The device adds up small blocks; the host makes a table of sums over
 * all rectangles that begin at the upper left corner, one for each displacement.
 */
#include "common/workload.h"
#include <stdlib.h>

enum {
    WIDTH,
    HEIGHT,
};

enum {
    RANGE = 16,
    SIDE = 2 * RANGE + 1,
    POSITIONS = SIDE * SIDE,
    SHARE = 18, /* displacements of a thread: 61 threads */
    WHOLE = 16, /* side of the largest block */
};

static const struct option_row options[] = {
    [WIDTH] = {"width", "pixels", "width of the pictures", 176, 32, WHOLE, 2048, .multiple = WHOLE},
    [HEIGHT] = {"height", "pixels", "height of the pictures", 144, 16, WHOLE, 2048,
                .multiple = WHOLE},
    {0},
};

static const struct program program = {
    "sad", "Sums of absolute differences between two pictures, for motion search.", options};

/* The shapes of blocks, in pixels. */
enum {
    KINDS = 7,
};
static const struct {
    const char *name;
    int width, height;
} kinds[KINDS] = {
    {"4x4", 4, 4},   {"8x4", 8, 4},   {"4x8", 4, 8},     {"8x8", 8, 8},
    {"16x8", 16, 8}, {"8x16", 8, 16}, {"16x16", 16, 16},
};

static size_t sums_of(int kind, int width, int height)
{
    return (size_t)(width / kinds[kind].width) * (height / kinds[kind].height) * POSITIONS;
}

static int clamped(int x, int end)
{
    return x < 0 ? 0 : x >= end ? end - 1 : x;
}

/* The reference: random dots, smoothed along rows. The current picture: the same, moved and with
 * noise. */
static void random_pictures(struct workload *w, unsigned char *reference, unsigned char *current,
                            int width, int height)
{
    for (int i = 0; i < width * height; i++)
        reference[i] =
            (unsigned char)(((i % width ? reference[i - 1] : 128) + random_below(w, 256)) / 2);
    for (int i = 0; i < width * height; i++) {
        int x = clamped(i % width + 5, width), y = clamped(i / width - 3, height);
        current[i] =
            (unsigned char)clamped(reference[y * width + x] + (int)random_below(w, 17) - 8, 256);
    }
}

/* table[y][x]: differences of all pixels above y and left of x, for one displacement. */
static void sum_table(const unsigned char *current, const unsigned char *reference, int *table,
                      int width, int height, int position)
{
    int right = position % SIDE - RANGE, down = position / SIDE - RANGE;
    for (int y = 0; y < height; y++)
        for (int x = 0, row = 0; x < width; x++) {
            row += abs(current[y * width + x] -
                       reference[clamped(y + down, height) * width + clamped(x + right, width)]);
            table[(y + 1) * (width + 1) + x + 1] = table[y * (width + 1) + x + 1] + row;
        }
}

static void expect(int *expected[KINDS], const unsigned char *current,
                   const unsigned char *reference, int width, int height)
{
    int *table = zeroed((size_t)(width + 1) * (height + 1), sizeof *table), row = width + 1;
    for (int position = 0; position < POSITIONS; position++) {
        sum_table(current, reference, table, width, height, position);
        for (int kind = 0; kind < KINDS; kind++) {
            int across = kinds[kind].width, down = kinds[kind].height, block = 0;
            for (int y = 0; y < height; y += down)
                for (int x = 0; x < width; x += across, block++) {
                    const int *corner = table + y * row + x;
                    expected[kind][block * POSITIONS + position] = corner[down * row + across] -
                                                                   corner[across] -
                                                                   corner[down * row] + corner[0];
                }
        }
    }
    free(table);
}

static void search(struct workload *w, cl_mem current, cl_mem reference, cl_mem sums[KINDS],
                   cl_int width, cl_int height)
{
    enum {
        SEARCH,
        QUARTERS,
        WHOLES,
        SHAPES,
    };
    struct shape shapes[SHAPES] = {
        {"SEARCH", pieces(POSITIONS, SHARE)}, {"QUARTERS", 32, 4}, {"WHOLE", 32}};
    workload_build(w, shapes, SHAPES, "-D RANGE=%d", RANGE);
    cl_int share = (cl_int)pieces(POSITIONS, shapes[SEARCH].x);
    cl_kernel smallest = workload_kernel(w, "sad_4x4"), middle = workload_kernel(w, "sad_8x8");
    cl_kernel largest = workload_kernel(w, "sad_16x16");
    workload_args(w, smallest, ARG(current), ARG(reference), ARG(sums[0]), ARG(width), ARG(height),
                  ARG(share));
    workload_launch(w, smallest, &shapes[SEARCH], width / 4, height / 4, 1);
    workload_args(w, middle, ARG(sums[0]), ARG(sums[1]), ARG(sums[2]), ARG(sums[3]));
    workload_launch(w, middle, &shapes[QUARTERS], width / WHOLE, height / WHOLE, 1);
    workload_args(w, largest, ARG(sums[3]), ARG(sums[4]), ARG(sums[5]), ARG(sums[6]));
    workload_launch(w, largest, &shapes[WHOLES], width / WHOLE, height / WHOLE, 1);
}

static void compare(struct workload *w, int kind, cl_mem device, int *expected, size_t count)
{
    cl_ushort *sums = zeroed(count, sizeof *sums);
    int *got = zeroed(count, sizeof *got);
    workload_read(w, device, sums, count * sizeof *sums);
    for (size_t i = 0; i < count; i++)
        got[i] = sums[i];
    check_ints(w, kinds[kind].name, got, expected, count);
    free(sums);
    free(got);
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    int width = (int)option(w, WIDTH), height = (int)option(w, HEIGHT);
    size_t pixels = (size_t)width * height;
    unsigned char *reference = zeroed(pixels, 1), *current = zeroed(pixels, 1);
    int *expected[KINDS];
    cl_mem sums[KINDS];
    random_pictures(w, reference, current, width, height);
    for (int kind = 0; kind < KINDS; kind++) {
        expected[kind] = zeroed(sums_of(kind, width, height), sizeof(int));
        sums[kind] = workload_output(w, sums_of(kind, width, height) * sizeof(cl_ushort));
    }
    search(w, workload_input(w, current, pixels), workload_input(w, reference, pixels), sums, width,
           height);

    expect(expected, current, reference, width, height);
    for (int kind = 0; kind < KINDS; kind++) {
        compare(w, kind, sums[kind], expected[kind], sums_of(kind, width, height));
        free(expected[kind]);
    }
    free(reference);
    free(current);
    return workload_close(w);
}
