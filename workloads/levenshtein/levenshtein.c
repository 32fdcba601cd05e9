/*
 * Edit distances (Levenshtein) of pairs of strings. The device fills the whole table of each pair;
 * the host goes along its diagonals (Ukkonen, Myers): how far does one get with so many edits?
 */
#include "common/workload.h"
#include <stdlib.h>
#include <string.h>

enum {
    PAIRS,
    LENGTH,
};

enum {
    LETTERS = 26,
    MOST_LENGTH = 1024,
};

static const struct option_row options[] = {
    [PAIRS] = {"pairs", NULL, "number of pairs of strings", 4096, 500, 1, 1 << 20},
    [LENGTH] = {"length", "letters", "length of the longest strings", 64, 24, 4, MOST_LENGTH},
    {0},
};

static const struct program program = {"levenshtein", "Edit distances of pairs of strings.",
                                       options};

/* Appends a copy of a string in which every fourth letter or so was changed, dropped or doubled. */
static size_t spoiled_copy(struct workload *w, const unsigned char *from, size_t length,
                           unsigned char *to, size_t most)
{
    size_t made = 0;
    for (size_t i = 0; i < length && made < most; i++) {
        uint32_t what = random_below(w, 12);
        if (what == 0)
            continue;
        to[made++] = what == 1 ? (unsigned char)random_below(w, LETTERS) : from[i];
        if (what == 2 && made < most)
            to[made++] = from[i];
    }
    return made;
}

/* Half of the pairs are alike. starts has a place more than there are strings. */
static void random_pairs(struct workload *w, unsigned char *letters, cl_uint *starts, size_t pairs,
                         size_t most)
{
    for (size_t s = 0; s < 2 * pairs; s++) {
        unsigned char *string = letters + starts[s];
        size_t length = most / 4 + random_below(w, (uint32_t)(most - most / 4 + 1));
        for (size_t i = 0; i < length; i++)
            string[i] = (unsigned char)random_below(w, LETTERS);
        if (s % 4 == 1)
            length =
                spoiled_copy(w, letters + starts[s - 1], starts[s] - starts[s - 1], string, most);
        starts[s + 1] = starts[s] + (cl_uint)length;
    }
}

/* The fewest edits with which the diagonal where both strings end is followed to its end. On diagonal
 * d, the letter j of b stands opposite letter j - d of a. */
static cl_uint distance(const unsigned char *a, int a_length, const unsigned char *b, int b_length)
{
    enum {
        MIDDLE = MOST_LENGTH + 1,
        NOT_REACHED = -(1 << 20),
    };
    int reached[2][2 * MIDDLE + 1]; /* how many letters of b, by diagonal; before and now */
    for (int d = 0; d <= 2 * MIDDLE; d++)
        reached[0][d] = reached[1][d] = NOT_REACHED;
    for (int edits = 0;; edits++) {
        const int *before = reached[edits % 2] + MIDDLE;
        int *now = reached[(edits + 1) % 2] + MIDDLE;
        for (int d = -edits < -a_length ? -a_length : -edits; d <= edits && d <= b_length; d++) {
            int j = edits == 0 ? 0 : before[d] + 1;            /* a letter changed */
            j = before[d - 1] + 1 > j ? before[d - 1] + 1 : j; /* one of b is new */
            j = before[d + 1] > j ? before[d + 1] : j;         /* one of a was dropped */
            j = j > b_length ? b_length : j;
            j = j - d > a_length ? a_length + d : j;
            while (j >= 0 && j - d >= 0 && j < b_length && j - d < a_length && a[j - d] == b[j])
                j++;
            now[d] = j;
        }
        if (now[b_length - a_length] == b_length)
            return (cl_uint)edits;
    }
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    cl_uint pairs = (cl_uint)option(w, PAIRS);
    size_t most = (size_t)option(w, LENGTH), bytes = 2 * pairs * most;
    unsigned char *letters = zeroed(bytes, 1);
    cl_uint *starts = zeroed(2 * (size_t)pairs + 1, sizeof *starts);
    cl_uint *distances = zeroed(pairs, sizeof *distances);
    cl_uint *expected = zeroed(pairs, sizeof *expected);
    random_pairs(w, letters, starts, pairs, most);
    for (size_t i = 0; i < pairs; i++) {
        const cl_uint *s = starts + 2 * i;
        expected[i] =
            distance(letters + s[0], (int)(s[1] - s[0]), letters + s[1], (int)(s[2] - s[1]));
    }

    struct shape block = {"BLOCK", 64};
    workload_build(w, &block, 1, NULL);
    cl_mem letters_device = workload_input(w, letters, bytes);
    cl_mem starts_device = workload_input(w, starts, (2 * (size_t)pairs + 1) * sizeof *starts);
    cl_mem rows = workload_output(w, (most + 1) * pairs * sizeof(cl_uint));
    cl_mem distances_device = workload_output(w, pairs * sizeof *distances);
    cl_kernel kernel = workload_kernel(w, "edit_distance");
    workload_args(w, kernel, ARG(letters_device), ARG(starts_device), ARG(rows),
                  ARG(distances_device), ARG(pairs));
    workload_launch(w, kernel, &block, pieces(pairs, block.x), 1, 1);

    workload_read(w, distances_device, distances, pairs * sizeof *distances);
    check_ints(w, "distances", distances, expected, pairs);
    free(letters);
    free(starts);
    free(distances);
    free(expected);
    return workload_close(w);
}
