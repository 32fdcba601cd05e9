/* A register file between launches with frames of different sizes: what its rows hold (G4). */
#include "exec/register_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    WIDTH = 32,
    ROWS = 50
};

static void clear(u8 *at, size_t bytes)
{
    memset(at, 0, bytes);
}

/* A launch whose warps have `registers` each; one of them comes to the core and stays. */
struct launch {
    struct lanes_memory moves;
    struct image image;
    struct exec exec;
    struct warp warp;
};

static struct launch *begin(struct register_file *file, u32 header, u32 registers, u32 frames)
{
    struct launch *launch = calloc(1, sizeof *launch);
    const struct register_layout layout = {header, registers, frames, 0};
    launch->moves.clear = clear;
    launch->image.moves = &launch->moves;
    launch->image.warp_size = WIDTH;
    launch->image.chunks = 1;
    launch->exec.image = &launch->image;
    launch->exec.register_rows = registers;
    launch->warp.exec = &launch->exec;
    register_file_begin(file, &layout);
    register_file_take(file, &launch->warp);
    return launch;
}

static u32 word(u32 row, u32 lane)
{
    return row * 1000 + lane + 1;
}

static void fill(struct register_file *file)
{
    for (u32 row = 0; row < register_file_rows(file); row++)
        for (u32 lane = 0; lane < WIDTH; lane++)
            register_file_row(file, row)[lane] = word(row, lane);
}

/* Rows of the first frame are those of a warp that has just started; the others keep theirs. */
static void rows_are_carried_over(void **state)
{
    static const struct {
        u32 header, registers, frames;
    } next[] = {{1, 7, 5}, {4, 20, 2}, {2, 10, 4}, {0, 50, 1}};
    for (u32 i = 0; i < ARRAY_LEN(next); i++) {
        struct register_file *file = register_file_create(WIDTH, ROWS, 0, true);
        struct launch *first = begin(file, 2, 10, 4);
        assert_int_equal(register_file_rows(file), ROWS);
        fill(file);
        register_file_give(file, &first->warp);
        struct launch *second = begin(file, next[i].header, next[i].registers, next[i].frames);
        for (u32 row = 0; row < ROWS; row++)
            for (u32 lane = 0; lane < WIDTH; lane++)
                assert_int_equal(register_file_row(file, row)[lane],
                                 row < next[i].registers ? 0 : word(row, lane));
        register_file_destroy(file);
        free(first);
        free(second);
    }
}

/* A file that keeps nothing uses its storage again, and makes more when a launch needs it. */
static void frames_are_apart(void **state)
{
    struct register_file *file = register_file_create(WIDTH, ROWS, 0, false);
    struct launch *first = begin(file, 2, 10, 4), *second = begin(file, 3, 25, 2);
    struct launch *third = begin(file, 3, 40, 3);
    assert_int_equal(register_file_rows(file), 120);
    for (u32 r = 0; r < 40; r++)
        assert_int_equal(*register_word(&third->warp, r, 0), 0);
    fill(file);
    for (u32 row = 0; row < 120; row++)
        assert_int_equal(register_file_row(file, row)[WIDTH - 1], word(row, WIDTH - 1));
    register_file_destroy(file);
    free(first);
    free(second);
    free(third);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_carried_over),
        cmocka_unit_test(frames_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
