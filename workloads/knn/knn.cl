/*
 * How far the places of records are from a given one. A record is a line of text; a thread reads the
 * two numbers of one.
 */

/* The number in these characters, "  -12.3" for example, without its point: in tenths. */
int tenths(__global const char *text, int width)
{
    int value = 0;
    bool negative = false;

    for (int i = 0; i < width; i++) {
        int letter = text[i];
        if (letter == '-')
            negative = true;
        else if (letter >= '0' && letter <= '9')
            value = 10 * value + letter - '0';
    }
    return negative ? -value : value;
}

__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void distances(__global const char *records, __global float *distances, uint count, int latitude,
               int longitude)
{
    uint i = get_global_id(0);

    if (i >= count)
        return;
    __global const char *record = records + i * RECORD;
    int north = tenths(record + LATITUDE, LATITUDE_WIDTH) - latitude;
    int east = tenths(record + LONGITUDE, LONGITUDE_WIDTH) - longitude;
    distances[i] = sqrt((float)(north * north + east * east)) / 10;
}
