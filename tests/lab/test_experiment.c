/*
 * Experiment files: ok_* are read, err_* are refused with the place and message that their first
 * line states; the built-in ones are read too. The folder is the first argument.
 */
#include "lab/experiment.h"
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

extern const struct builtin_file builtin_experiments[], builtin_workloads[];
static const struct lab_files files = {builtin_experiments, builtin_workloads};
static const char *folder; /* set once by main */

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* "# error: 5:3: text" against what was said. */
static bool as_stated(const char *path, const struct error *error)
{
    char line[1024] = "", stated[2400];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    line[strcspn(line, "\n")] = '\0';
    const char *place = strrchr(error->place, '/');
    snprintf(stated, sizeof stated, "# error: %s: %s", place ? place + 1 : error->place,
             error->message);
    if (!strcmp(line, stated))
        return true;
    print_error("%s:\n  stated  %s\n  is      %s\n", path, line, stated);
    return false;
}

static void inputs(void **state)
{
    struct dirent **list;
    int count = scandir(folder, &list, NULL, by_name);
    u32 right = 0, wrong = 0, bad = 0;
    for (int i = 0; i < count; i++) {
        struct arena *arena = arena_create();
        struct error error = {0};
        const char *name = list[i]->d_name, *path = arena_printf(arena, "%s/%s", folder, name);
        if (!strncmp(name, "ok_", 3)) {
            right++;
            if (!experiment_load(arena, &files, path, &error)) {
                print_error("%s: %s: %s\n", name, error.place, error.message);
                bad++;
            }
        } else if (!strncmp(name, "err_", 4)) {
            wrong++;
            bad += experiment_load(arena, &files, path, &error) || !as_stated(path, &error);
        }
        arena_destroy(arena);
        free(list[i]);
    }
    free(list);
    assert_true(right >= 2 && wrong >= 20);
    assert_int_equal(bad, 0);
}

static void everything(void **state)
{
    struct arena *arena = arena_create();
    struct error error = {0};
    const struct experiment *one =
        experiment_load(arena, &files, arena_printf(arena, "%s/ok_all_keys.yaml", folder), &error);
    assert_non_null(one);
    assert_string_equal(one->name, "all-keys");
    assert_string_equal(one->figure, "figure 5");
    assert_int_equal(one->suite.count, 3);
    assert_true(one->members[0] && one->members[1] && one->members[2]);
    assert_string_equal(one->suite.rows[0].arguments[1], "1024");
    assert_string_equal(one->suite.rows[1].quick[0], "--quick");
    assert_null(one->suite.rows[1].arguments[0]);
    assert_null(one->suite.rows[2].workload);
    assert_int_equal(one->configuration_count, 3);
    const struct configuration *more = experiment_configuration(one, "more", 4);
    assert_string_equal(more->machine, "gtx480");
    assert_int_equal(one->settings.count, 1);
    assert_string_equal(one->settings.list[0].value, "4");
    assert_int_equal(more->settings.count, 1);
    assert_string_equal(more->settings.list[0].value, "8");
    assert_string_equal(more->mechanisms.list[0].settings.list[0].key, "mode");
    assert_int_equal(more->mechanisms.count, 2);
    assert_int_equal(one->space.size, 3 * 3); /* configurations, workloads */
    assert_null(experiment_configuration(one, "mor", 3));
    assert_int_equal(experiment_column(one, "gain", 4), 0);
    assert_true(one->columns[0].rows[0].given && one->columns[0].rows[0].value == 8.6);
    assert_false(one->columns[0].rows[1].given);
    assert_true(one->columns[0].groups[0].given && one->columns[0].groups[0].value == 9.5);
    assert_true(one->means[0] && one->means[1] &&
                !one->means[2]); /* published, named; not the third */
    assert_int_equal(one->columns[0].mean, MEAN_GROWTH);
    assert_int_equal(one->columns[1].digits, 3);
    assert_int_equal(one->orderings[0].place, ON_MEAN);
    assert_int_equal(one->orderings[1].place, ON_EACH);
    assert_true(one->orderings[1].members[0] && one->orderings[1].members[1] &&
                !one->orderings[1].members[2]);
    assert_true(!one->orderings[2].members[0] && one->orderings[2].members[1]);
    arena_destroy(arena);
}

static void built_in(void **state)
{
    u32 count = 0;
    for (const struct builtin_file *file = builtin_experiments; file->name; file++) {
        struct arena *arena = arena_create();
        struct error error = {0};
        if (strncmp(file->name, "suite-", 6) != 0) {
            const struct experiment *one = experiment_load(arena, &files, file->name, &error);
            if (!one)
                fail_msg("%s: %s", error.place, error.message);
            assert_string_equal(one->name, file->name);
            assert_true(one->paper[0] && one->figure[0]);
            if (!strncmp(one->figure, "figure ", 7)) /* others are named in words */
                assert_in_range(one->figure[7], '0', '9');
            count++;
        }
        arena_destroy(arena);
    }
    assert_true(count >= 2);
}

static void names(void **state)
{
    struct arena *arena = arena_create();
    struct error error = {0};
    assert_null(experiment_load(arena, &files, "xiang-fig55", &error));
    assert_non_null(strstr(error.message, "did you mean 'xiang-fig"));
    assert_null(experiment_load(arena, &files, "./nothing.yaml", &error));
    assert_string_equal(error.place, "./nothing.yaml");
    arena_destroy(arena);
}

/* Points of a space: their number, order and values; zipped axes and exclusions. */
static void points(void **state)
{
    struct arena *arena = arena_create();
    struct error error = {0};
    const struct experiment *one =
        experiment_load(arena, &files, arena_printf(arena, "%s/ok_axes.yaml", folder), &error);
    assert_non_null(one);
    const struct space *space = &one->space;
    assert_false(one->tabular);
    assert_int_equal(space->axis_count, 8);
    assert_int_equal(space->group_count, 7);
    assert_int_equal(space->size, 2ull * 5 * 2 * 3 * 3 * 2 * 2);
    static const char *const names[] = {"configuration", "l1d.sets", "gpu",   "mechanism",
                                        "l2.sets",       "seed",     "other", "workload"};
    for (u32 i = 0; i < space->axis_count; i++)
        assert_string_equal(space->axes[i].name, names[i]);
    assert_string_equal(space->axes[1].values[3].label, "64");
    assert_string_equal(space->axes[1].values[4].label, "100");
    assert_true(space->axes[1].numbers[2] == 32 && !space->axes[3].numbers);
    assert_string_equal(space->axes[3].values[1].label, "uniform:mode=intra+filter_cache");
    assert_string_equal(space->axes[3].values[2].label, "uniform:mode=inter");
    u32 values[SPACE_MAX_AXES];
    u64 excluded = 0, expected = 0;
    for (u64 i = 0; i < space->size; i++) {
        space_values(space, i, values);
        assert_int_equal(space_point(space, values), i);
        assert_int_equal(values[3], values[4]); /* zipped */
        bool small = values[1] <= 1 && values[2] == 1, third = values[5] == 2 && values[7] == 1;
        expected += small || third;
        excluded += space_excludes(space, i);
        assert_int_equal(space_excludes(space, i), small || third);
    }
    assert_true(expected == excluded && excluded > 0);
    space_values(space, 1, values);
    assert_int_equal(values[7], 1); /* the last axis varies fastest */
    assert_int_equal(one->baseline[0], 0);
    assert_int_equal(one->baseline[1], -1);
    assert_int_equal(one->baseline[3], 0);
    arena_destroy(arena);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs),   cmocka_unit_test(everything), cmocka_unit_test(points),
        cmocka_unit_test(built_in), cmocka_unit_test(names),
    };
    if (argc != 2)
        return 2;
    folder = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
