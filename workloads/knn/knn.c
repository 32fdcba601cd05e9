/*
 * The records nearest to a place, from lines of text that are read a batch at a time: the device
 * finds the distances of a batch, the host keeps the nearest of all. Blocks are half a warp.
 */
#include "common/workload.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    RECORDS,
    BATCH,
    NEAREST,
    NORTH,
    EAST,
};

static const struct option_row options[] = {
    [RECORDS] = {"records", NULL, "number of records", 60000, 15000, 1, 1 << 24},
    [BATCH] = {"batch", NULL, "records per launch", 15000, 0, 1, 1 << 24},
    [NEAREST] = {"nearest", NULL, "number of nearest records to find", 5, 0, 1, 1024},
    [NORTH] = {"latitude", "degrees", "latitude of the location", 30, 0, -90, 90},
    [EAST] = {"longitude", "degrees", "longitude of the location", -90, 0, -180, 180},
    {0},
};

static const struct program program = {"knn", "Finds the records nearest to a location.", options};

/* A record: "000123 1987-08-13  34.2 -118.5 045\n": number, date, latitude, longitude, wind. */
enum {
    RECORD = 35, /* characters */
    LATITUDE = 18,
    LATITUDE_WIDTH = 5,
    LONGITUDE = 24,
    LONGITUDE_WIDTH = 6,
};

static char *random_records(struct workload *w, size_t count)
{
    char *text = zeroed(count * RECORD + 1, 1);
    for (size_t i = 0; i < count; i++) {
        unsigned year = 1950 + random_below(w, 60), month = 1 + random_below(w, 12);
        unsigned day = 1 + random_below(w, 28), wind = random_below(w, 150);
        double north = ((int)random_below(w, 1801) - 900) / 10.0;
        double east = ((int)random_below(w, 3601) - 1800) / 10.0;
        int length =
            snprintf(text + i * RECORD, RECORD + 1, "%06u %04u-%02u-%02u %5.1f %6.1f %03u\n",
                     (unsigned)i % 1000000, year, month, day, north, east, wind);
        if (length != RECORD)
            fail(w, "record %zu has %d characters", i, length);
    }
    return text;
}

/* A record with the square of its distance, in square tenths of a degree. */
struct place {
    long square;
    cl_uint record;
};

static long tenths(const char *text)
{
    return lround(10 * strtod(text, NULL));
}

static struct place *places(const char *text, cl_uint count, long north, long east)
{
    struct place *list = zeroed(count, sizeof *list);
    for (cl_uint i = 0; i < count; i++) {
        long dy = tenths(text + (size_t)i * RECORD + LATITUDE) - north;
        long dx = tenths(text + (size_t)i * RECORD + LONGITUDE) - east;
        list[i] = (struct place){dx * dx + dy * dy, i};
    }
    return list;
}

static int by_distance(const void *a, const void *b)
{
    const struct place *one = a, *other = b;
    if (one->square != other->square)
        return one->square < other->square ? -1 : 1;
    return one->record < other->record ? -1 : 1;
}

/* Where a record belongs in the list of the nearest so far: behind those not farther. */
static void keep(cl_uint *list, size_t *used, size_t room, const float *distances, cl_uint record)
{
    size_t place = *used;
    while (place > 0 && distances[list[place - 1]] > distances[record])
        place--;
    if (place == room)
        return;
    *used += *used < room;
    for (size_t i = *used - 1; i > place; i--)
        list[i] = list[i - 1];
    list[place] = record;
}

/* Batch after batch; their distances lie behind each other, the nearest in list. */
static void search(struct workload *w, const char *text, float *distances, cl_uint *list,
                   size_t room)
{
    cl_uint records = (cl_uint)option(w, RECORDS), batch = (cl_uint)option(w, BATCH);
    cl_int north = (cl_int)option(w, NORTH) * 10, east = (cl_int)option(w, EAST) * 10;
    struct shape block = {"BLOCK", 16};
    workload_build(w, &block, 1,
                   "-D RECORD=%d -D LATITUDE=%d -D LATITUDE_WIDTH=%d -D LONGITUDE=%d "
                   "-D LONGITUDE_WIDTH=%d",
                   RECORD, LATITUDE, LATITUDE_WIDTH, LONGITUDE, LONGITUDE_WIDTH);
    cl_mem text_device = workload_output(w, (size_t)batch * RECORD);
    cl_mem distances_device = workload_output(w, batch * sizeof *distances);
    cl_kernel kernel = workload_kernel(w, "distances");
    size_t used = 0;
    for (cl_uint done = 0; done < records; done += batch) {
        cl_uint now = records - done < batch ? records - done : batch;
        workload_write(w, text_device, text + (size_t)done * RECORD, (size_t)now * RECORD);
        workload_args(w, kernel, ARG(text_device), ARG(distances_device), ARG(now), ARG(north),
                      ARG(east));
        workload_launch(w, kernel, &block, pieces(now, block.x), 1, 1);
        workload_read(w, distances_device, distances + done, now * sizeof *distances);
        for (cl_uint i = done; i < done + now; i++)
            keep(list, &used, room, distances, i);
    }
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_uint records = (cl_uint)option(w, RECORDS), nearest = (cl_uint)option(w, NEAREST);
    nearest = nearest < records ? nearest : records;
    char *text = random_records(w, records);
    float *distances = zeroed(records, sizeof *distances);
    double *expected = zeroed(records, sizeof *expected);
    cl_uint *list = zeroed(nearest, sizeof *list), *right = zeroed(nearest, sizeof *right);
    struct place *all = places(text, records, option(w, NORTH) * 10, option(w, EAST) * 10);
    for (cl_uint i = 0; i < records; i++)
        expected[i] = sqrt((double)all[i].square) / 10;
    qsort(all, records, sizeof *all, by_distance);
    for (cl_uint i = 0; i < nearest; i++)
        right[i] = all[i].record;

    search(w, text, distances, list, nearest);
    /* Squares below 2^24 are exact; OpenCL allows three units in the last place to the root and
     * two and a half to the quotient. */
    check_floats(w, "distances", distances, expected, records, 11 * 0x1p-24, 0);
    check_ints(w, "nearest records", list, right, nearest);
    printf("nearest: %.*s\n", RECORD - 1, text + (size_t)right[0] * RECORD);
    free(text);
    free(distances);
    free(expected);
    free(list);
    free(right);
    free(all);
    return workload_close(w);
}
